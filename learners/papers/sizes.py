"""Failure probabilities at a number of examples: exact ones by sums over samples and laws, else by audits of utility.

The audits run at a theorem's n, at n/2, n/4, ..., which shows how loose the theorem's sample size is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Protocol

import numpy as np

from dpaudit.contract import (
    Distribution,
    Evidence,
    HasLaw,
    HasSampleSize,
    HasSettings,
    Hypothesis,
    Learner,
    Solves,
    StatementVerdict,
    Tools,
    UtilityVerdict,
)

from ..arrays import Exact, Floats, Integers, Labels
from ..samples import Sample
from .evidence import case_data, errors_data, judged, tightness


class WithLaw(Learner, HasLaw, Protocol):
    """A learner that has its exact output law."""


class WithSolution(WithLaw, Solves, Protocol):
    """A learner that has its exact output law, and says whether an answer solves its problem."""


Case = tuple[str, Learner, int, Distribution | str]
"""Name, learner, concept, distribution."""


def failure_probability(learner: WithLaw, concept: int, distribution: Distribution, n: int, alpha: float) -> float:
    """Return Pr[the learner fails or its population error exceeds alpha] on n examples that a concept labels.

    The sum over all C(n + m - 1, m - 1) count vectors of the m points of the distribution, each weighted with its
    multinomial probability and the exact law of the learner; an error within 1e-12 of alpha does not exceed it.
    """
    truth = learner.concepts.concept(concept).predict(distribution.points)

    @cache
    def failed(atom: Hashable) -> bool:
        if (hypothesis := learner.decode(atom)) is None:
            return True
        wrong = hypothesis.predict(distribution.points) != truth
        return float(distribution.probabilities[wrong].sum()) > alpha + 1e-12

    total = []
    for counts in compositions(n, len(distribution.points)):
        # The multinomial probability n! / prod c_i! prod p_i^c_i.
        ways = math.lgamma(n + 1) - sum(math.lgamma(c + 1) for c in counts)
        chances = zip(counts, distribution.probabilities, strict=True)
        weight = math.exp(ways + sum(c * math.log(p) for c, p in chances if c))
        law = learner.law(learner.domain.sample(distribution.points, truth, counts))
        total += [weight * math.exp(lp) for atom, lp in zip(law.atoms, law.log_prob, strict=True) if failed(atom)]
    return math.fsum(total)


def hard_case(
    learner: WithLaw, concept: int, distribution: Distribution, n: int, alpha: float, words: str
) -> tuple[float, str, dict[str, Any]]:
    """Return the failure probability on a case, the case in words, and its data."""
    failure = failure_probability(learner, concept, distribution, n, alpha)
    return failure, f"{words}, n = {n}", case_data(learner, concept, distribution, n, alpha, failure=failure)


def _hypothesis(learner: Learner, code: Hashable) -> Hypothesis:
    """Return the hypothesis of an answer of a learner that never fails."""
    found = learner.decode(code)
    assert found is not None, f"{learner!r} failed"
    return found


def errors_of_law(learner: WithLaw, sample: Sample) -> tuple[Floats, Integers]:
    """Return the probabilities of a learner's answers to a sample, and on how many examples each errs."""
    law = learner.law(sample)
    return np.exp(law.log_prob), np.array([sample.errors(_hypothesis(learner, atom)) for atom in law.atoms])


def error_case(learner: WithLaw, sample: Sample, limit: float, words: str = "") -> tuple[float, str, dict[str, Any]]:
    """Return the probability that a learner errs on more than `limit` examples, the sample in words, and the data."""
    p, wrong = errors_of_law(learner, sample)
    failure = float(p[wrong > limit].sum())
    return failure, words or repr(sample), errors_data(learner, sample, limit, failure)


def log_binomial(n: int, p: float) -> Floats:
    """Return ln Pr[X = j], j = 0 .. n, of the number X of successes in n trials of probability p."""
    ways = [math.lgamma(n + 1) - math.lgamma(j + 1) - math.lgamma(n - j + 1) for j in range(n + 1)]
    j = np.arange(n + 1)
    return np.asarray(ways + j * math.log(p) + (n - j) * math.log1p(-p))


def unsolved(learner: WithSolution, sample: Sample) -> float:
    """Return the exact probability that a learner's answer does not solve the problem of the sample."""
    law = learner.law(sample)
    solved = np.array([learner.solves(atom, sample) for atom in law.atoms])
    return math.fsum(np.exp(law.log_prob)[~solved].tolist())


def worst_empirical_failure(
    learner: WithLaw, n: int, alpha: float, targets: Iterable[Hypothesis] | None = None
) -> tuple[float, str]:
    """Return the worst Pr[error on the sample > alpha] over samples of n that a target labels, and the sample.

    By default all concepts are targets.
    """
    points = learner.domain.points()
    worst = 0.0
    where = ""

    # Samples share their atoms: each hypothesis labels the domain once.
    @cache
    def answers(atom: Hashable) -> Labels:
        return _hypothesis(learner, atom).predict(points)

    if targets is None:
        targets = map(learner.concepts.concept, range(learner.concepts.size))
    for target in targets:
        truth = target.predict(points)
        for counts in compositions(n, len(points)):
            law = learner.law(learner.domain.sample(points, truth, counts))
            wrong = (np.array([answers(atom) for atom in law.atoms]) != truth) @ np.array(counts)
            failure = float(np.exp(law.log_prob)[wrong > alpha * n].sum())
            if failure > worst:
                worst = failure
                where = repr(learner.domain.sample(points, truth, counts))
    return worst, where


def answer(learner: Learner, sample: Sample) -> Any:
    """Return the hypothesis of a learner without randomness."""
    code: Any = learner.run(sample, np.random.default_rng(0), 1)[0]
    return learner.decode(int(code))


def two_point(points: Exact, hard: int, easy: int, mass: float) -> Distribution:
    """Return the distribution that gives `mass` to row `hard` of the points, the rest to row `easy`."""
    return Distribution(points[[hard, easy]], np.array([mass, 1 - mass]), f"{mass:g} on one point")


def compositions(n: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all tuples of `parts` integers >= 0 with sum n."""
    for bars in itertools.combinations(range(n + parts - 1), parts - 1):
        # Stars and bars: the numbers of stars between neighbouring bars.
        ends = (-1, *bars, n + parts - 1)
        yield tuple(b - a - 1 for a, b in itertools.pairwise(ends))


class HalvedSizes:
    """The findings of the audits by their n, and their word on a theorem's n.

    Attributes
    ----------
    top : int
        The theorem's n.
    enough : int
        The least n down to which the failure rate was at most beta at every n; 0 if not even at the top.
    too_few : int
        The greatest n at which the failure rate exceeded beta; 0 if none did.
    verdict : StatementVerdict
        That on the theorem's n: refuted if the failure rate exceeds beta there, else by what is enough.
    """

    def __init__(self, findings: Mapping[int, Any]) -> None:
        self.findings = findings
        self.top = max(findings)
        by_size = sorted(((n, finding.verdict) for n, finding in findings.items()), reverse=True)
        # From the top down, as long as the rate was at most beta at every n.
        kept = itertools.takewhile(lambda item: item[1] == StatementVerdict.HOLDS, by_size)
        self.enough = min((n for n, _ in kept), default=0)
        self.too_few = max((n for n, verdict in by_size if verdict == UtilityVerdict.VIOLATION), default=0)
        if self.enough:
            found = tightness(self.enough, self.top)
        else:
            found = StatementVerdict.UNDECIDED
        self.verdict = StatementVerdict.REFUTED if self.too_few == self.top else found


def joint_verdict(verdicts: Iterable[StatementVerdict]) -> StatementVerdict:
    """Return the verdict on a statement from those on its cases: loose only if it is loose on each of them."""
    found = set(verdicts)
    order = (StatementVerdict.REFUTED, StatementVerdict.UNDECIDED, StatementVerdict.HOLDS, StatementVerdict.LOOSE)
    return next(verdict for verdict in order if verdict in found)


def audit_halved(
    tools: Tools,
    learner: Learner,
    concept: int,
    distribution: Distribution | str,
    *,
    halvings: int,
    trials: int = 100,
    **levels: Any,
) -> HalvedSizes:
    """Audit a learner at the n of its theorem and at `halvings` smaller ones, each half of the one before.

    `levels` are alpha and beta, and the setting and the noise if any. Every verdict has 99 % confidence. Stops below
    the first n at which the failure rate exceeds beta.
    """
    if "setting" in levels:
        assert isinstance(learner, HasSettings), "the theorem speaks of several settings"
        claim = learner.utility(levels["alpha"], levels["beta"], levels["setting"])
        assert claim is not None, "the parameters are those of the theorem"
        n = claim.sample_size
    else:
        assert isinstance(learner, HasSampleSize), "a theorem's n is asked for"
        n = learner.sample_size(levels["alpha"], levels["beta"])
    findings = {}
    for _ in range(halvings + 1):
        findings[n] = tools.audit_utility(learner, concept, distribution, n=n, trials=trials, confidence=0.99, **levels)
        if findings[n].verdict == UtilityVerdict.VIOLATION or n == 1:
            break
        # Half, rounded up: n = 1 is reached and not left.
        n = -(-n // 2)
    return HalvedSizes(findings)


def audit_cases(
    tools: Tools, cases: Iterable[Case], **levels: Any
) -> tuple[StatementVerdict, dict[str, float], str, str, dict[str, Any]]:
    """Return the joint verdict on some cases, numbers, words, the witness and its data.

    `levels` are those of `audit_halved`. The witness is empty if no case refutes; its data are then those of the last.
    """
    numbers: dict[str, float] = {}
    words = []
    verdicts = []
    witness = ""
    data: dict[str, Any] = {}
    for name, learner, concept, distribution in cases:
        found = audit_halved(tools, learner, concept, distribution, **levels)
        verdicts.append(found.verdict)
        # A case that refutes is kept; else the last one stands for all.
        if found.verdict == StatementVerdict.REFUTED or not witness:
            data = case_data(learner, concept, distribution, found.top, levels["alpha"], beta=levels["beta"])
            data |= {name: levels[name] for name in ("setting", "noise") if name in levels}
        if found.verdict == StatementVerdict.REFUTED:
            drawn = f"{distribution} distribution"
            if isinstance(distribution, Distribution):
                drawn = f"probabilities {distribution.probabilities.tolist()}"
            witness = f"{learner!r}, concept {concept}, {drawn}, n = {found.top}"
        failing = found.findings[found.top].failure_upper
        sizes = {"theorem's n": found.top, "enough": found.enough, "too few": found.too_few}
        numbers |= {f"{name}: {key}": n for key, n in (sizes | {"failure rate at most": failing}).items()}
        least = "not even so many are seen to be enough"
        if found.enough:
            least = f"{found.enough} enough (1/{found.top / found.enough:.0f})"
        few = f", {found.too_few} too few" if found.too_few else ""
        words.append(f"{name}: theorem {found.top}, measured {least}{few}")
    return joint_verdict(verdicts), numbers, "; ".join(words), witness, data


def judged_sizes(tools: Tools, setup: str, cases: Iterable[Case], **levels: Any) -> Evidence:
    """Return the evidence on a theorem's n from some cases, all of them in the setup that is given in words."""
    verdict, numbers, words, witness, data = audit_cases(tools, cases, **levels)
    return judged(f"{setup}; {words}", numbers, witness, data, otherwise=verdict, grade="statistical")

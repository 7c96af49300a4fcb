"""Statements of "Private Learning 1" (NIS): the exponential mechanism, generalisation, and the VC dimension."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from dpaudit.contract import Evidence, StatementVerdict, Tools

from ..conjunctions.concepts import Conjunctions
from ..conjunctions.consistent import ConjunctionElimination
from ..domains import Cube, Interval
from ..finite.consistent import lower_sample_size, sauer_power_bound, upper_sample_size, vc_dimension
from ..parities.concepts import Parities, ParityElimination
from ..points.concepts import Intervals, OccamConsistent, PointConsistent, ThresholdConsistent
from ..points.exponential import ThresholdExponential
from .evidence import case_data, exceeds, greatest, judged, judged_loss, learner_data, losses_of, tried
from .since import FINITE_CLASSES
from .sizes import failure_probability, log_binomial, two_point
from .states import Cases, at_most, derived, states


@derived(
    "NIS-Generic",
    "The exponential mechanism is epsilon-private, and O((ln|C| + ln(1/beta)) max(1/epsilon^2, 1/(alpha epsilon))) "
    "examples suffice.",
    "PPAC learning of finite concept classes",
    short="Examples for any finite class at small ε",
    printed="factor {slides_factor:,.0f} at alpha = 0.1, ε = 0.01",
    found="{sufficient_factor:,.0f} there; the ratio tends to 0 like 4 ε/alpha",
    best="max(8/alpha, 4/(alpha epsilon)) ln(2 |C|/beta) examples",
    since=FINITE_CLASSES,
    formula="n >= O((log|C| + log(1/beta)) max(1/epsilon^2, 1/(alpha epsilon)))",
    argument="1/epsilon^2 is not needed: with our constants the ratio to the maximum is 4 epsilon/alpha below alpha/4, "
    "and above 1 from there on. That is of no constant that is printed.",
)
def _generic(tools: Tools) -> Evidence:
    epsilon = 1.0
    alpha = 0.1
    beta = 0.1
    learner = ThresholdExponential(4, epsilon)
    (loss,), _ = losses_of(tools, [learner])
    n = learner.sample_size(alpha, beta)
    hard = two_point(learner.domain.points(), 1, 3, alpha * 1.001)
    failure = failure_probability(learner, 2, hard, n, alpha)
    # A small epsilon, where the slides' 1/epsilon^2 would dominate.
    small = 0.01
    slides = max(1 / small**2, 1 / (alpha * small))
    needed = ThresholdExponential(4, small).sample_size(alpha, beta) / math.log(2 * 5 / beta)
    return judged_loss(
        loss,
        epsilon,
        f"exact epsilon {loss}, of {epsilon}; with n = max(8/alpha, 4/(alpha epsilon)) "
        f"ln(2|C|/beta) = {n} the exact failure probability on a hard case is {failure:.1e}, beta is {beta}. At "
        f"epsilon = {small} the slides' maximum is {slides:.0f}, where {needed:.0f} suffices: 1/epsilon^2 is not "
        f"needed",
        {"epsilon": loss.value, "n": n, "failure": failure, "slides_factor": slides, "sufficient_factor": needed},
        otherwise=StatementVerdict.HOLDS,
        failed=failure > beta,
        witness=f"target c_2, mass {alpha * 1.001:g} on the point 1, n = {n}",
    )


def noisy_failure(learner: ThresholdExponential, alpha: float, n: int) -> float:
    """Return Pr[error > best + alpha] where all mass is on the first point, with label 1 half of the time and a little.

    Label 1 has the probability 1/2 + alpha/2, rounded up by a relative 1e-9, so that concepts with label 0 there are
    just too bad. With R right ones among n labels, q differs by 2 R - n between both kinds of concepts; the mean is
    over R ~ Bin(n, 1/2 + alpha/2).
    """
    labels = learner.concepts.evaluate(learner.domain.points()[:1])[:, 0]
    odds = np.log(np.count_nonzero(labels == 0)) - np.log(np.count_nonzero(labels == 1))
    lead = learner.epsilon / 2 * (2 * np.arange(n + 1) - n)
    wrong = 1 / (1 + np.exp(np.clip(lead - odds, -700, 700)))
    return float(np.exp(log_binomial(n, 0.5 + alpha * (1 + 1e-9) / 2)) @ wrong)


@derived(
    "NIS-Generic-agnostic",
    "The learner of finite classes extends to agnostic learning: O((ln|C| + ln(1/beta)) max(1/alpha^2, "
    "1/(alpha epsilon))) examples suffice.",
    "PPAC learning of finite concept classes: can be extended to agnostic learning",
    short="Agnostic learning of finite classes",
    printed="no size",
    found="n = {n:,} fails with probability {failure:.2g}; {realizable:,}, enough without noise, with {unpaid:.2g}",
    best="max(8/alpha^2, 4/(alpha epsilon)) ln(2 |C|/beta) examples",
    argument="Chernoff's bound for the errors of all concepts, and the union bound for the exponential mechanism, each "
    "with half of alpha and of beta. The slides print no size; that of the realizable statement is not enough.",
)
def _agnostic(tools: Tools) -> Evidence:
    alpha = 0.05
    beta = 0.05
    learner = ThresholdExponential(2, 1.0)
    n, few = (learner.utility(alpha, beta, name).sample_size for name in ("agnostic", "realizable"))
    failure, unpaid = (noisy_failure(learner, alpha, size) for size in (n, few))
    text = (
        f"two kinds of concepts, labels with noise 1/2 - alpha/2, alpha = beta = {alpha}, epsilon = 1: the exact "
        f"failure rate is {failure:.1e} at n = {n}, and {unpaid:.2f} at {few}, which suffices without noise"
    )
    numbers = {"n": n, "failure": failure, "realizable": few, "unpaid": unpaid}
    data = {"learner": learner_data(learner), "alpha": alpha, "n": n, "label 1": 0.5 + alpha / 2}
    # One class and one distribution: what suffices there shows nothing of the others, but for the proof.
    witness = f"all mass on one point, label 1 with probability {0.5 + alpha / 2}"
    return judged(text, numbers, witness, data, failed=exceeds(failure, beta))


def overfit_gap(epsilon: float, n: int, domain_size: int) -> float:
    """Return by how much a private hypothesis that overfits errs more under the uniform law than on its sample.

    It answers the label of each point of the sample wrongly elsewhere: with all labels 1, h(x) = 1 with probability
    e^(epsilon/2)/(1 + e^(epsilon/2)) if x is in the sample, else with 1/(1 + e^(epsilon/2)), independently. Replacing
    an example changes two of these coins, so h is epsilon-private. The error on a sample of distinct points is
    1/(1 + e^(epsilon/2)) on average, and n/|X| of the domain is seen.
    """
    return (1 - n / domain_size) * math.tanh(epsilon / 4)


@states(
    "NIS-DPgen",
    "An (epsilon, delta)-private learner with error alpha on the sample has error at most alpha + epsilon, if n >= "
    "O(ln(1/delta)/epsilon^2).",
    "Private learning over sample vs. over distribution",
    short="Differential privacy generalises",
    formula="error_P <= alpha + epsilon if n >= O(ln(1/delta)/epsilon^2)",
    printed="gap ≤ ε = {epsilon:.3g}",
    found="gap {gap:.3g} of an overfitting private learner",
    best="tanh(ε/4) is reached on average",
)
def _generalises(tools: Tools) -> Evidence:
    n = 10**4
    size = 10**9
    cases = []
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        # Far more points than examples: hardly any of the domain is seen, and the gap is as large as it gets.
        gap = overfit_gap(epsilon, n, size)
        cases.append((gap / epsilon, {"epsilon": epsilon, "n": n, "domain_size": size, "gap": gap}))
    most, witness, data = greatest(cases)
    text = (
        f"a private learner that flips coins in favour of the points that it saw has a gap of "
        f"(1 - n/|X|) tanh(epsilon/4) on average: at most {most:.3f} epsilon, epsilon = 0.1 .. 2, n = 10^4, |X| = 10^9"
    )
    numbers = {"epsilon": data["epsilon"], "gap": data["gap"], "share": most}
    # One learner that overfits as it can: that it does not refute shows nothing of the others.
    return tried(text, numbers, witness, data, failed=most > 1)


@states(
    "NIS-Sauer",
    "For n > d = VC(C), |C(S)| <= (e n/d)^d.",
    "VC dimension and PAC learning",
    formula="|C(S)| <= (e n/d)^d",
    conditions="n > d",
    short="|C(S)| ≤ (e n/d)^d",
    printed="share ≤ 1",
    found="{worst_ratio:.2g}",
)
@at_most(
    1,
    "dichotomies of every subset of 8 points by intervals, parities and conjunctions: at most {worst_ratio:.4f} of "
    "(e n/d)^d ({witness})",
    "worst_ratio",
)
def _sauer() -> Cases:
    for name, concepts, points in (
        ("intervals", Intervals(8), Interval(8).points()),
        ("parities", Parities(3), Cube(3).points()),
        ("conjunctions", Conjunctions(3), Cube(3).points()),
    ):
        labels = concepts.evaluate(points)
        d = concepts.vc_dimension
        for n in range(d + 1, len(points) + 1):
            most = max(len(np.unique(labels[:, list(s)], axis=0)) for s in itertools.combinations(range(8), n))
            bound = sauer_power_bound(n, d)
            data = {"class": name, "n": n, "dichotomies": most, "bound": bound}
            yield most / bound, f"{name}: {most} dichotomies of {n} of 8 points", data


@states(
    "NIS-VC",
    "VC(intervals) = 2 and VC(PARITY_d) = d.",
    "VC dimension; Example 2: learning parity functions",
    formula="VC(C) = 2; VC(PARITY_d) = d",
    short="VC dimension of intervals, and of parities",
    printed="2, and d",
    found="{intervals}, and {parity_6} at d = 6",
)
def _vc_examples(tools: Tools) -> Evidence:
    intervals = vc_dimension(Interval(8).points(), Intervals(8))
    parities = [vc_dimension(Cube(d).points(), Parities(d)) for d in range(1, 7)]
    text = f"exhaustive search: VC(intervals on 8 points) = {intervals}, VC(PARITY_d) = {parities} for d = 1 .. 6"
    data = {"intervals on 8 points": intervals, "parities, d = 1 ..": parities}
    failed = intervals != 2 or parities != list(range(1, 7))
    return judged(text, {"intervals": intervals, "parity_6": parities[-1]}, text, data, failed=failed)


@derived(
    "NIS-VC-Bounds",
    "O((VC log(1/alpha) + log(1/beta))/alpha) examples suffice, Omega((VC + log(1/beta))/alpha) are needed.",
    "VC dimension and PAC learning",
    short="Examples that suffice, and that are needed",
    printed="n = {upper:,}, {lower}",
    found="five learners fail {failure_at_upper:.1g} and {failure_below_lower:.2g}",
    best="(1 - alpha)^n on the hard cases, exactly",
    formula="n >= O((VC log(1/alpha) + log(1/beta))/alpha); Omega((VC + log(1/beta))/alpha)",
)
def _vc_bounds(tools: Tools) -> Evidence:
    alpha = 0.1
    beta = 0.01
    # (learner, VC dimension, target, its hard point, any other point): it misses the hard point unless it saw it.
    cases: tuple[tuple[Any, int, int, int, int], ...] = (
        (OccamConsistent(4), 2, 2, 1, 0),
        (PointConsistent(4), 1, 0, 0, 1),
        (ThresholdConsistent(4), 1, 1, 0, 1),
        (ParityElimination(2), 2, 2, 2, 3),
        (ConjunctionElimination(2), 2, 0, 0, 1),
    )
    numbers: dict[str, float] = {}
    data: dict[str, Any] = {}
    failed = ""
    for learner, d, target, hard, easy in cases:
        upper = upper_sample_size(d, alpha, beta)
        lower = lower_sample_size(d, alpha, beta)
        law = two_point(learner.domain.points(), hard, easy, alpha * 1.0001)
        few = failure_probability(learner, target, law, lower - 1, alpha)
        many = failure_probability(learner, target, law, upper, alpha)
        numbers |= {f"{learner.id}: at the upper n": many, f"{learner.id}: below the lower n": few}
        if many > beta or not data:
            failed = failed or (f"{learner!r}, concept {target}, n = {upper}" if many > beta else "")
            data = case_data(learner, target, law, lower - 1, alpha, failure=few)
            numbers |= {"upper": upper, "lower": lower, "failure_below_lower": few, "failure_at_upper": many}
    text = (
        f"alpha = {alpha}, beta = {beta}, a hard case of each of {len(cases)} consistent learners: "
        f"exact failure probabilities at the n that should suffice are at most "
        f"{max(v for k, v in numbers.items() if 'upper n' in k):.2e}, and with one example fewer than needed at least "
        f"{min(v for k, v in numbers.items() if 'lower n' in k):.4f}"
    )
    # A hard case bounds what is needed from below, and five learners show nothing of all others.
    return tried(text, numbers, failed, data, one_sided=True)


def seen_law(size: int, n: int) -> dict[int, float]:
    """Return the law of how many of so many points, equally likely, n examples show."""
    law = {0: 1.0}
    for _ in range(n):
        following: dict[int, float] = {}
        for seen, p in law.items():
            # The next example is one of the points seen, or a new one.
            following[seen] = following.get(seen, 0.0) + p * seen / size
            following[seen + 1] = following.get(seen + 1, 0.0) + p * (1 - seen / size)
        law = following
    return law


def memorizer_failure(size: int, n: int, alpha: float) -> float:
    """Return Pr[error > alpha] for labels kept on n examples, and fair coins on all points that they do not show."""
    most = math.floor(alpha * size)
    return math.fsum(
        p * float(np.exp(log_binomial(size - seen, 0.5))[most + 1 :].sum()) for seen, p in seen_law(size, n).items()
    )


@states(
    "NIS-Memorizer",
    "A hypothesis with small error on the sample need not have small error on the distribution: right labels on the "
    "sample and random ones elsewhere.",
    "Private learning over sample vs. over distribution",
    short="Small error on the sample, not on the distribution",
    formula="h(x_i) = y_i, h(x) random for x not in S: error_S = 0, error_P not small",
    printed="error_S = 0, error_P not small",
    found="error_P > 1/4 with probability {failure:.3g} at n = {n}; {late:.2g} at n = {most}",
    argument="On the points that are not seen the coins are right half of the time. n examples of many more points "
    "show few of them; of few points they show all.",
)
def _memorizer(tools: Tools) -> Evidence:
    size = 64
    alpha = 0.25
    n = 16
    failure, late = (memorizer_failure(size, examples, alpha) for examples in (n, 4 * size))
    # Independently: the mean of the error is half of the mass that is not seen.
    law = seen_law(size, n)
    unseen = math.fsum(p * (size - seen) for seen, p in law.items()) / size
    wrong = exceeds(abs(unseen - (1 - 1 / size) ** n), 1e-9) or failure <= 0.5
    text = (
        f"{size} points, equally likely, n = {n}: error 0 on the sample, and above {alpha} on the distribution with "
        f"exact probability {failure:.4f}, {late:.2g} at n = {4 * size}; {unseen:.3f} of the mass is not seen"
    )
    numbers = {"failure": failure, "late": late, "n": n, "most": 4 * size, "unseen": unseen}
    witness = f"{size} points, n = {n}"
    return judged(text, numbers, witness, {"points": size, "alpha": alpha, **numbers}, failed=wrong, grade="numeric")

"""Statements of BMN on sample compression and on how many examples suffice, in theory and in fact."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product, starmap
from typing import Any

import numpy as np

from dpaudit.contract import Distribution, Evidence, Tools, Verdict
from learners.finite.counting import scores
from learners.mixtures.halfspace import MixtureHalfspace
from learners.mixtures.public_family import public_family
from learners.papers.evidence import errors_data
from learners.papers.sizes import errors_of_law, judged_sizes
from learners.papers.verdicts import exceeds, greatest, judged, statements_in, states

ALPHA, BETA = 0.2, 0.1


def examples_needed(collections: int, epsilon: float, alpha: float, beta: float) -> int:
    """Return (2/(epsilon alpha)) ln(|G|/beta), rounded up."""
    return math.ceil(2 / (epsilon * alpha) * math.log(collections / beta))


def _shared(total: int, parts: int) -> list[int]:
    """Return `parts` counts with that sum, as equal as can be."""
    return [total // parts + (i < total % parts) for i in range(parts)]


def _samples(learner: Any, public: list[list[int]], n: int, *, label_determined: bool) -> Iterator[Any]:
    """Yield samples of n with public examples labelled 0 and private ones: labelled 1, or in every way.

    Label-determined ones: half of the examples private, at every set of points. Others: one public example at each
    public point, the rest private at all points of the domain, with every labelling.
    """
    domain = learner.domain.points().tolist()
    for chosen in product((0, 1), repeat=len(domain)):
        private = [x for x, bit in zip(domain, chosen, strict=True) if bit or not label_determined]
        labels = [1 if label_determined else bit for bit in chosen if bit or not label_determined]
        if private:
            half = n // 2 if label_determined else n - len(public)
            counts = _shared(n - half, len(public)) + _shared(half, len(private))
            flags = [True] * len(public) + [False] * len(private)
            yield learner.domain.sample([*public, *private], [0] * len(public) + labels, counts, flags)


def _excess(over_best_halfspace: bool) -> Evidence:
    """Return the evidence on the error on the sample beyond that of the best of G, or of the best halfspace."""
    cases, sizes = [], set()
    for learner, public in (
        (MixtureHalfspace(1, 1.0, 4), [[0], [2], [4]]),
        (MixtureHalfspace(2, 1.0, 1), [[0, 0], [1, 0], [0, 1]]),
    ):
        n = examples_needed(public_family(np.array(public)).collections(learner.dimension), 1.0, ALPHA, BETA)
        sizes.add(n)
        for sample in _samples(learner, public, n, label_determined=over_best_halfspace):
            p, wrong = errors_of_law(learner, sample)
            best = n - int(scores(learner.concepts, sample).max()) if over_best_halfspace else int(wrong.min())
            failure = float(p[wrong > best + ALPHA * n].sum())
            cases.append((failure, repr(sample), errors_data(learner, sample, best + ALPHA * n, failure)))
    worst, where, data = greatest(cases)
    text = (
        f"alpha = {ALPHA}, beta = {BETA}, epsilon = 1, n = (2/(epsilon alpha)) ln(|G|/beta) = "
        f"{', '.join(map(str, sorted(sizes)))}: over {'all sets' if over_best_halfspace else 'all labellings'} "
        f"of private points (d = 1, side 4 and d = 2, side 1) the exact probability of a greater excess is at most "
        f"{worst:.2g}"
    )
    numbers = {"failure": worst, "beta": BETA, "n": max(sizes)}
    return judged(Verdict.HOLDS, text, numbers, where, data, failed=exceeds(worst, BETA))


_beyond_g = states(
    "BMN-Lem4.6",
    "(2/(epsilon alpha)) ln(|G|/beta) examples suffice for at most alpha n errors on the sample more than the best of "
    "G, with probability 1 - beta.",
    "Lemma 4.6, with its constant",
    short="Excess error on the sample beyond the best of G",
    printed="fails ≤ {beta}",
    found="≤ {failure:.2g} at n = {n}",
)(lambda tools: _excess(over_best_halfspace=False))


_beyond_halfspaces = states(
    "BMN-Clm4.7",
    "So many examples suffice for at most alpha n errors on the sample more than the best halfspace, with probability "
    "1 - beta, where the private examples are those labelled 1.",
    "Claim 4.7, with the constant of Lemma 4.6",
    short="Excess error on the sample beyond the best halfspace",
    printed="fails ≤ {beta}",
    found="≤ {failure:.2g} at n = {n}",
)(lambda tools: _excess(over_best_halfspace=True))


def compression_bound(error: float, k: int, n: int, beta: float) -> float:
    """Return sqrt(error 4 k ln(n/beta)/n) + 8 k ln(n/beta)/n + 2 k/n."""
    log = math.log(n / beta)
    return math.sqrt(error * 4 * k * log / n) + 8 * k * log / n + 2 * k / n


@states(
    "BMN-Lem4.8",
    "|err - empirical err| <= sqrt(empirical err 4 k ln(n/beta)/n) + 8 k ln(n/beta)/n + 2 k/n w.p. 1 - beta for "
    "hypotheses made from k examples, on both sides.",
    "Lemma 4.8",
    short="The compression bound on both sides",
    printed="fails ≤ {beta}",
    found="{failure:.2g}, one point, k = 1",
)
def _compression(tools: Tools) -> Evidence:

    def case(n: int, p: float) -> tuple[float, str, dict[str, Any]]:
        outside = [
            math.exp(
                math.lgamma(n + 1) - math.lgamma(j + 1) - math.lgamma(n - j + 1)
                + j * math.log(p) + (n - j) * math.log1p(-p)
            )
            for j in range(n + 1)
            if abs(p - j / n) > compression_bound(j / n, 1, n, BETA)
        ]  # fmt: skip
        failure = math.fsum(outside)
        words = f"all examples at one point, wrong with probability {p:g}, n = {n}"
        return failure, words, {"n": n, "probability of an error": p, "beta": BETA, "failure": failure}

    worst, where, data = greatest(starmap(case, product((100, 1000, 10_000), (0.001, 0.01, 0.1, 0.5))))
    text = (
        f"one hypothesis, wrong with probability 0.001, 0.01, 0.1 or 0.5, n = 100 to 10,000, k = 1, beta = "
        f"{BETA}: outside of the bound with exact probability at most {worst:.2g}. The one-sided form is the one in "
        f"the literature"
    )
    # One hypothesis: a bound that it obeys need not hold for the choice among many.
    return judged(Verdict.UNDECIDED, text, {"failure": worst, "beta": BETA}, where, data, failed=exceeds(worst, BETA))


@states(
    "BMN-Lem4.8-k",
    "Every hypothesis of G is made from k = d^2 of the examples.",
    "before Lemma 4.8",
    short="Hypotheses of G are made from d² examples",
    printed="≤ {sequences of k examples} hypotheses, d = 1, 10 points",
    found="{|G|}",
    best="d² examples, a sign for each halfspace, and the points that span Aff",
)
def _compression_size(tools: Tools) -> Evidence:
    points = np.arange(10)[:, None]
    size = public_family(points).collections(1)
    # Public examples have the label 0: a map from one example has so many values on them.
    values = len(points)
    return judged(
        Verdict.UNDECIDED,
        f"d = 1, {values} public points: G has {size} members, and a map from one example takes {values} "
        "values: the signs of the halfspaces are left out",
        {"|G|": size, "sequences of k examples": values},
        f"d = 1, public points 0 .. 9: {size} hypotheses, {values} examples",
        {"points": points, "hypotheses": size, "examples": values},
        failed=size > values,
    )


LEVEL = 0.2
"""alpha and beta."""


def _pac(tools: Tools, **setting: Any) -> Evidence:
    """Return the evidence on the learner's sample size, d = 1 and d = 2."""
    learners = (MixtureHalfspace(1, 1.0, side=9), MixtureHalfspace(2, 1.0, side=2))
    cases = [(f"d = {a.dimension}, side {a.side}", a, a.concepts.size // 2, "uniform") for a in learners]
    levels = {"alpha": LEVEL, "beta": LEVEL, "halvings": 9, "trials": 50, **setting}
    setup = f"alpha = beta = {LEVEL}, uniform distribution, middle concept"
    return judged_sizes(tools, setup, cases, **levels)


_realizable = states(
    "BMN-Thm4.9",
    "The learner is (alpha, beta)-PAC with O((d^2 log(d/(epsilon alpha)) + log(1/beta))/(epsilon alpha)) examples.",
    "Theorem 4.9, with explicit constants",
    short="Examples for an (alpha, β)-learner",
    printed="n = {d = 1, side 9: theorem's n:,}",
    found="n = {d = 1, side 9: enough} is enough (d = 1)",
    best="n = {d = 1, side 9: enough} on the case tried (d = 1)",
    slow=True,
)(lambda tools: _pac(tools))


_agnostic = states(
    "BMN-Thm4.10",
    "With max(1/alpha^2, 1/(epsilon alpha)) for the last factor its error exceeds the best halfspace's by alpha at "
    "most, where labels are noisy.",
    "Theorem 4.10, with explicit constants; each label is wrong with probability 1/5",
    short="Examples for excess error alpha under noisy labels",
    printed="n = {d = 1, side 9: theorem's n:,}",
    found="n = {d = 1, side 9: enough} is enough (d = 1)",
    best="n = {d = 1, side 9: enough} on the case tried (d = 1)",
    slow=True,
)(lambda tools: _pac(tools, setting="agnostic", noise=0.2))


SIDE = 9
SHARE = 0.7
"""Of the public examples."""


def populations(threshold: int) -> Distribution:
    """Return public examples anywhere, most of them far from the threshold, and private ones at and above it."""
    below = np.abs(np.arange(SIDE + 1) - threshold)
    above = np.arange(threshold, SIDE + 1)
    public = Distribution(np.arange(SIDE + 1)[:, None], below / below.sum())
    private = Distribution(above[:, None], np.full(len(above), 1 / len(above)))
    return Distribution.mixture(public, private, SHARE, "public examples of both labels, private ones labelled 1")


@states(
    "BMN-relaxation-ii-utility",
    "If only private examples share a label, and public ones have a distribution of their own and both labels, the "
    "examples of Theorem 4.9 are enough as well.",
    "Section 3, relaxation (ii), with the explicit constants of Theorem 4.9",
    short="Examples for an (alpha, β)-learner, two populations",
    printed="n = {d = 1, side 9: theorem's n:,}",
    found="n = {d = 1, side 9: enough} is enough (d = 1)",
    best="n = {d = 1, side 9: enough} on the case tried (d = 1)",
)
def _both_labels(tools: Tools) -> Evidence:
    learner, threshold = MixtureHalfspace(1, 1.0, side=SIDE), 5
    labels = learner.concepts.evaluate(learner.domain.points())
    concept = int((labels == (np.arange(SIDE + 1) >= threshold)).all(axis=1).argmax())
    cases = [(f"d = 1, side {SIDE}", learner, concept, populations(threshold))]
    setup = (
        f"alpha = beta = {LEVEL}, target 1 from {threshold} on; {SHARE:.0%} of the examples are public, with "
        f"both labels and most far from {threshold}, private ones are uniform from {threshold} on"
    )
    return judged_sizes(tools, setup, cases, alpha=LEVEL, beta=LEVEL, halvings=9, trials=50)


STATEMENTS = statements_in(globals())

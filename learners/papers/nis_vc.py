"""Statements of the slides "Private Learning 1" (NIS) on the VC dimension."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dpaudit.contract import Evidence, Tools
from learners.citations import NIS
from learners.conjunctions.concepts import Conjunctions
from learners.conjunctions.elimination import ConjunctionElimination
from learners.domains import Cube, Interval
from learners.finite.vc import lower_sample_size, sauer_power_bound, upper_sample_size, vc_dimension
from learners.papers.evidence import case_data, judged, states
from learners.papers.sizes import failure_probability, two_point
from learners.parities.concepts import Parities
from learners.parities.elimination import ParityElimination
from learners.points.consistent import OccamConsistent, PointConsistent, ThresholdConsistent
from learners.points.interval_class import Intervals

__all__ = ["STATEMENTS"]


@states(
    "NIS-Sauer",
    "For n > d = VC(C), |C(S)| <= (e n/d)^d.",
    NIS,
    short="|C(S)| ≤ (e n/d)^d",
    printed="share ≤ 1",
    found="{worst_ratio:.2g}",
)
def _sauer(tools: Tools) -> Evidence:
    worst, where = 0.0, ""
    data: dict[str, Any] = {}
    for name, concepts, points in (
        ("intervals", Intervals(8), Interval(8).points()),
        ("parities", Parities(3), Cube(3).points()),
        ("conjunctions", Conjunctions(3), Cube(3).points()),
    ):
        labels, d = concepts.evaluate(points), concepts.vc_dimension
        for n in range(d + 1, len(points) + 1):
            most = max(len(np.unique(labels[:, list(s)], axis=0)) for s in itertools.combinations(range(8), n))
            if most / sauer_power_bound(n, d) > worst:
                worst, where = most / sauer_power_bound(n, d), f"{name}: {most} dichotomies of {n} of 8 points"
                data = {"class": name, "n": n, "dichotomies": most, "bound": sauer_power_bound(n, d)}
    return judged(
        "holds",
        f"dichotomies of every subset of 8 points by intervals, parities and conjunctions: at most "
        f"{worst:.4f} of (e n/d)^d ({where}). (For n <= d the slide's 2^d is true; 2^n is meant.)",
        {"worst_ratio": worst},
        where,
        data,
        failed=worst > 1,
    )


@states(
    "NIS-VC",
    "VC(intervals) = 2 and VC(PARITY_d) = d.",
    NIS,
    short="VC dimension of intervals, and of parities",
    printed="2, and d",
    found="{intervals}, and {parity_6} at d = 6",
)
def _vc_examples(tools: Tools) -> Evidence:
    intervals = vc_dimension(Interval(8).points(), Intervals(8))
    parities = [vc_dimension(Cube(d).points(), Parities(d)) for d in range(1, 7)]
    text = f"exhaustive search: VC(intervals on 8 points) = {intervals}, VC(PARITY_d) = {parities} for d = 1 .. 6"
    numbers = {"intervals": intervals, "parity_6": parities[-1]}
    data = {"intervals on 8 points": intervals, "parities, d = 1 ..": parities}
    failed = intervals != 2 or parities != list(range(1, 7))
    return judged("holds", text, numbers, text, data, failed=failed)


@states(
    "NIS-VC-Bounds",
    "O((VC log(1/alpha) + log(1/beta))/alpha) examples suffice, Omega((VC + log(1/beta))/alpha) are needed.",
    NIS,
    short="Examples that suffice, and that are needed",
    printed="n = {upper:,}, {lower}",
    found="fails {failure_at_upper:.1g} and {failure_below_lower:.2g}",
    best="(1 - alpha)^n on the hard cases, exactly",
)
def _vc_bounds(tools: Tools) -> Evidence:
    alpha, beta = 0.1, 0.01
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
    failed, needed = "", True
    for learner, d, target, hard, easy in cases:
        upper, lower = upper_sample_size(d, alpha, beta), lower_sample_size(d, alpha, beta)
        law = two_point(learner.domain.points(), hard, easy, alpha * 1.0001)
        concept = learner.concepts.concept(target)
        few = failure_probability(learner, concept, law, lower - 1, alpha)
        many = failure_probability(learner, concept, law, upper, alpha)
        needed &= few > beta
        numbers |= {f"{learner.id}: at the upper n": many, f"{learner.id}: below the lower n": few}
        if many > beta or not data:
            failed = failed or (f"{learner!r}, concept {target}, n = {upper}" if many > beta else "")
            data = case_data(learner, target, law, lower - 1, alpha, failure=few)
            numbers |= {"upper": upper, "lower": lower, "failure_below_lower": few, "failure_at_upper": many}
    return judged(
        # That a learner does with fewer on a case would not show that it does on all.
        "holds" if needed else "undecided",
        f"alpha = {alpha}, beta = {beta}, a hard case of each of {len(cases)} consistent learners: "
        f"exact failure probabilities at the n that should suffice are at most "
        f"{max(v for k, v in numbers.items() if 'upper n' in k):.2e}, and with one example fewer than needed at least "
        f"{min(v for k, v in numbers.items() if 'lower n' in k):.4f}",
        numbers,
        failed,
        data,
    )


STATEMENTS = (_sauer, _vc_examples, _vc_bounds)

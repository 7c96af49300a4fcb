"""Statements of KMMS on the VC dimension of intersections and on Select Halfplane."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Evidence, Tools
from learners.citations import KMMS
from learners.finite.vc import vc_dimension
from learners.papers.evidence import errors_data, exceeds, judged, judged_loss, losses_of, states, tightness
from learners.papers.sizes import errors_of_law
from learners.regions.halfplane_select import HalfplaneSelect
from learners.regions.planar.families import halfplane_family

__all__ = ["STATEMENTS"]


class _Listed:
    """A class given by its labels on a list of points."""

    def __init__(self, labels: NDArray[Any]) -> None:
        self.labels = labels

    @property
    def size(self) -> int:
        return len(self.labels)

    def evaluate(self, points: NDArray[Any]) -> NDArray[Any]:
        return self.labels[:, points[:, 0]]


@states(
    "KMMS-Obs2.2",
    "VC(H^{and k}) <= 2 k log2(3 k) VC(H) on small classes",
    f"{KMMS}, Observation 2.2",
    short="VC dimension of intersections",
    printed="≤ 2 k log2(3 k) VC(H)",
    found="{halfplanes d=2 k=3} for three halfplanes",
)
def _observation_22(tools: Tools) -> Evidence:
    numbers: dict[str, float] = {}
    witness, share = "", 0.0
    thresholds = np.tri(9, 8, -1, dtype=np.uint8)
    for name, base in (("thresholds", thresholds), ("halfplanes d=2", halfplane_family(2).labels)):
        where = np.arange(base.shape[1])[:, None]
        own = vc_dimension(where, _Listed(base))
        labels = base
        for k in (2, 3):
            labels = np.unique(np.concatenate([labels & row for row in base]), axis=0)
            found = vc_dimension(where, _Listed(labels))
            numbers[f"{name} k={k}"] = found
            share = max(share, found / (2 * own * k * math.log2(3 * k)))
            if found > 2 * own * k * math.log2(3 * k):
                witness = f"{name}, k = {k}: VC dimension {found}, and 2 VC(H) k log2(3 k) with VC(H) = {own}"
    summary = f"VC dimensions of conjunctions {numbers}: at most {share:.3f} of 2 VC(H) k log2(3 k)"
    return judged("holds", summary, numbers, witness, {"found": numbers})


@states(
    "KMMS-SelHP-priv",
    "Select Halfplane with weights exp(epsilon q) is 2 epsilon-private",
    f"{KMMS}, Section 4",
    short="Select Halfplane with weights exp(ε q): its ε",
    printed="ε = {claimed for full:.3g}",
    found="ε = {full:.3g}",
)
def _select_halfplane(tools: Tools) -> Evidence:
    (full, half), _ = losses_of(tools, (HalfplaneSelect(1, 0.5, convention) for convention in ("full", "half")))
    summary = f"at epsilon = 1/2, d = 1 the exact worst log-ratio is {full}"
    if full.found.attained - full.found.attained_error > 0.5:
        summary += ": the factor 2 is real"
    return judged_loss(full, 1.0, summary, {"full": full.value, "half": half.value, "claimed for full": 1.0})


@states(
    "KMMS-Lem4.6",
    "q >= max q - (8/epsilon) ln(2 d/beta) with probability 1 - beta, d = 1, 2",
    f"{KMMS}, Lemma 4.6",
    short="Probability to miss the score bound",
    printed="β = {beta}",
    found="{worst failure probability:.2g}",
    best="constant 7 in the place of 8, proved",
)
def _lemma_46(tools: Tools) -> Evidence:
    beta, worst, where = 0.1, 0.0, ""
    data: dict[str, Any] = {}
    for side in (1, 2):
        learner = HalfplaneSelect(side, 1.0, "full")
        points = learner.domain.points()
        labels = halfplane_family(side).labels
        limit = 8 * math.log(2 * side / beta)
        for row in labels:
            sample = learner.domain.sample(points, row, np.full(len(points), 12))
            p, errors = errors_of_law(learner, sample)
            failure = float(p[errors > limit].sum())
            if failure > worst:
                worst, where = failure, f"d = {side}, 12 examples at each point, labels {row}"
                data = errors_data(learner, sample, limit, failure)
    return judged(
        tightness(worst, beta),
        f"failure at most {worst:.1e} where the lemma allows {beta}",
        {"worst failure probability": worst, "beta": beta},
        where,
        data,
        failed=exceeds(worst, beta),
    )


STATEMENTS = (_observation_22, _select_halfplane, _lemma_46)

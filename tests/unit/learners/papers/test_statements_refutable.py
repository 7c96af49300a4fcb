"""Verdicts follow the numbers: a check that is fed a wrong constant refutes, and one that is fed a right one does not.

Nothing here is random but the utility audits, which are fixed by their seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpaudit import pac
from dpaudit.contract import Pair
from dpaudit_learners.conjunctions.concepts import Conjunctions
from dpaudit_learners.conjunctions.controls import SetCoverConjunctionMultiplied as Multiplied
from dpaudit_learners.domains import Interval
from dpaudit_learners.halfspaces.tukey import HalfspaceTukey
from dpaudit_learners.interior_points.controls import StableMode, WrongStable
from dpaudit_learners.mechanisms.stable_select import StableSelect
from dpaudit_learners.papers import (
    bmn,
    bmn_utility,
    bmns_depth,
    bmns_find_tukey,
    bmns_halfspaces,
    bmns_lower_bound,
    bmns_rec_concave,
    kmms_covers,
    kmms_halfplanes,
    kmms_polygons,
    nis_consistent,
    nis_finite_classes,
    nis_parities,
    ste_boxes,
    ste_conjunctions,
    ste_greedy,
)
from dpaudit_learners.papers.evidence import exceeds, judged, tightness, tried
from dpaudit_learners.papers.sizes import HalvedSizes, joint_verdict
from dpaudit_learners.papers.states import always, at_least, at_most
from dpaudit_learners.parities import controls as broken_parity

Patches = dict[str, Any]


class Leaky:
    """A harness whose exact audits find an unbounded leak, and whose utility audits find failures only."""

    @staticmethod
    def audit_law(*_: Any, **__: Any) -> Any:
        return SimpleNamespace(
            epsilon=math.inf,
            error=0.0,
            verdict="violation",
            worst_pair=Pair(Interval(2).sample([0], [0]), Interval(2).sample([1], [0])),
            pairs=1,
            delta_at_claim=1.0,
        )

    @staticmethod
    def audit_supremum(*_: Any, **__: Any) -> Any:
        return SimpleNamespace(
            value=math.inf,
            error=0.0,
            attained=math.inf,
            support="lower bound",
            witness=Pair(Interval(2).sample([0], [0]), Interval(2).sample([1], [0])),
            n=1,
        )

    @staticmethod
    def audit_utility(*_: Any, **__: Any) -> Any:
        return SimpleNamespace(verdict="violation", failures=9, trials=9, failure_lower=0.7, failure_upper=1.0)


class Sound:
    """A harness whose exact audits find an epsilon of 1."""

    @staticmethod
    def audit_law(*_: Any, **__: Any) -> Any:
        pair = Pair(Interval(2).sample([0], [0]), Interval(2).sample([1], [0]))
        return SimpleNamespace(epsilon=1.0, verdict="consistent", worst_pair=pair)


def only_zero(concepts: Any, points: Any) -> Any:
    """Return the hypothesis that is 0 everywhere."""
    return np.zeros((1, len(points)), dtype=np.uint8)


def near(side: int) -> Any:
    """Return the vertices, and one more beside a corner."""
    corner = Fraction(2 * side**2)
    return {*vertices(side), (corner - Fraction(1, 2 * side**2), corner)}


def made(original: Callable[..., Any], **changes: Any) -> Callable[..., Any]:
    """Return a constructor that changes some parameters of what it makes."""
    return lambda *args, **kwargs: replace(original(*args, **kwargs), **changes)


def scaled(original: Callable[..., Any], factor: float) -> Callable[..., Any]:
    """Return a constructor of learners with another epsilon than asked for."""

    def make(*args: Any, **kwargs: Any) -> Any:
        asked = original(*args, **kwargs)
        return replace(asked, epsilon=asked.epsilon * factor)

    return make


def with_sizes(original: Callable[..., Any], size: Callable[[Any], int]) -> Callable[..., Any]:
    """Return a constructor of learners whose theorems ask for other sample sizes."""

    def make(*args: Any, **kwargs: Any) -> Any:
        asked = original(*args, **kwargs)

        class Other(type(asked)):  # type: ignore[misc]  # the class is known at run time only
            """The learner with the other sizes."""

            def sample_size(self, alpha: float, beta: float) -> int:
                return size(asked)

            def utility(self, *levels: Any, **setting: Any) -> Any:
                return replace(asked.utility(*levels, **setting), sample_size=size(asked))

        return Other(**{field.name: getattr(asked, field.name) for field in fields(asked)})

    return make


def hasty(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a constructor of hull point learners that promise a deep point for 12 examples."""

    def make(*args: Any, **kwargs: Any) -> Any:
        asked = original(*args, **kwargs)

        class Other(type(asked)):  # type: ignore[misc]  # the class is known at run time only
            """The learner with that promise."""

            def explicit_examples(self, beta: float) -> int:
                return 12

        return Other(**{field.name: getattr(asked, field.name) for field in fields(asked)})

    return make


class Doubtful:
    """A harness whose utility audits decide nothing."""

    @staticmethod
    def audit_utility(*_: Any, **__: Any) -> Any:
        return SimpleNamespace(verdict="undecided", failures=1, trials=9, failure_lower=0.0, failure_upper=0.5)


class Barely:
    """A harness by whose utility audits a theorem's n is enough, and half of it too few."""

    def __init__(self) -> None:
        self.tops: dict[int, int] = {}

    def audit_utility(self, learner: Any, *_: Any, n: int, **__: Any) -> Any:
        verdict = "holds" if n == self.tops.setdefault(id(learner), n) else "violation"
        return SimpleNamespace(verdict=verdict, failures=1, trials=9, failure_lower=0.0, failure_upper=0.5)


def sauer_sum(n: int, d: int) -> int:
    """Return Sauer's bound itself, which intervals attain."""
    return sum(math.comb(n, i) for i in range(d + 1))


def domains(kind: Callable[..., Any]) -> Any:
    """Return extended domains of grids, of another kind."""
    return SimpleNamespace(grid=lambda *asked: kind(extended(*asked).domain))


def bounded(most: int) -> Any:
    """Return extended domains with another bound on their size."""

    class Bounded(bmns_depth.ExtendedDomain):
        """The extended domain with that bound."""

        def bound(self) -> int:
            return most

    return domains(Bounded)


class Shallow(bmns_depth.ExtendedDomain):
    """An extended domain in whose regions no point is deeper than 1."""

    def regions(self, points: Any, weights: Any) -> Any:
        found = super().regions(points, weights)
        return SimpleNamespace(values=lambda *at: np.minimum(found.values(*at), 1))


def crowded(points: Any, weights: Any, side: int) -> Any:
    """Return an arrangement with the most cells that n^2 allows."""
    return SimpleNamespace(cells=min(len(points) ** 2, len(points) + 1))


extended, named = bmns_depth.ExtendedDomain.grid, bmns_lower_bound.named_point
promise = bmns_rec_concave.printed_promise
hard_case, vertices, noise_bound = nis_consistent.hard_case, kmms_halfplanes.vertices, kmms_covers.noise_bound


def kmms_covers_always(dimension: int, always: Any = kmms_covers.Conjunction) -> Any:
    """Return the conjunction of no literal."""
    return always(dimension, 0)


CASES: list[tuple[ModuleType, str, Patches, Any, str]] = [
    (nis_consistent, "NIS-Point",
     {"hard_case": lambda a, b, c, n, e, f: hard_case(a, b, c, n - 1, e, f)}, pac, "refuted"),
    (nis_consistent, "NIS-Occam",
     {"OccamConsistent": with_sizes(nis_consistent.OccamConsistent, lambda _: 2)}, pac, "refuted"),
    (nis_consistent, "NIS-Thr",
     {"ThresholdConsistent": made(nis_consistent.ThresholdConsistent, literal=False)}, pac, "holds"),
    (nis_consistent, "NIS-Thr-size",
     {"ThresholdConsistent": made(nis_consistent.ThresholdConsistent, literal=True)}, pac, "refuted"),
    (nis_consistent, "NIS-Thr-random", {"without_positives": only_zero}, pac, "undecided"),
    (nis_consistent, "NIS-Point-random", {"without_positives": only_zero}, pac, "undecided"),
    (nis_consistent, "NIS-Sauer-small", {"most_dichotomies": lambda n, vc: 2**n}, pac, "holds"),
    (nis_consistent, "NIS-VC-log", {"vc_dimension": lambda points, concepts: 4}, pac, "refuted"),
    (nis_consistent, "NIS-Thr-privacy", {}, Sound, "refuted"),
    (nis_consistent, "NIS-Parity-size",
     {"ParityElimination": with_sizes(nis_consistent.ParityElimination, lambda _: 2)}, pac, "refuted"),
    (nis_finite_classes, "NIS-Sauer", {"sauer_power_bound": sauer_sum}, pac, "holds"),
    (nis_finite_classes, "NIS-Sauer", {"sauer_power_bound": lambda n, d: 0.99 * sauer_sum(n, d)}, pac, "refuted"),
    (nis_finite_classes, "NIS-VC", {"Intervals": Conjunctions, "Interval": lambda _: nis_finite_classes.Cube(3)},
     pac, "refuted"),
    (nis_finite_classes, "NIS-VC-Bounds", {"upper_sample_size": lambda *_: 20}, pac, "refuted"),
    (nis_finite_classes, "NIS-VC-Bounds", {}, pac, "undecided"),
    (nis_finite_classes, "NIS-Generic",
     {"ThresholdExponential": with_sizes(nis_finite_classes.ThresholdExponential, lambda _: 2)}, pac, "refuted"),
    (nis_finite_classes, "NIS-Generic",
     {"ThresholdExponential": scaled(nis_finite_classes.ThresholdExponential, 1.1)}, pac, "refuted"),
    (
        nis_finite_classes,
        "NIS-Generic",
        {"ThresholdExponential": with_sizes(
            nis_finite_classes.ThresholdExponential, lambda a: math.ceil(400 / a.epsilon))},
        pac,
        "holds",
    ),
    (nis_parities, "NIS-ParityLearner", {"ParityPrivate": broken_parity.ParityOversampled}, pac, "refuted"),
    (nis_parities, "NIS-ParityLearner", {"ParityPrivate": scaled(nis_parities.ParityPrivate, 1.12)}, pac, "holds"),
    (nis_parities, "NIS-ParityLearner-large", {"loss_of_one_example": lambda epsilon: epsilon}, pac, "undecided"),
    (nis_parities, "NIS-ParityFailure", {"ParityPrivate": scaled(nis_parities.ParityPrivate, 2.0)}, pac, "holds"),
    (nis_parities, "NIS-ParityFailure", {"ParityPrivate": scaled(nis_parities.ParityPrivate, 2.1)}, pac, "refuted"),
    (nis_parities, "NIS-ParityAmplification",
     {"ParityAmplified": broken_parity.ParityAmplifiedOversampled}, pac, "refuted"),
    (nis_parities, "NIS-ParityAmplification", {"ParityRestart": nis_parities.ParityAmplified}, pac, "holds"),
    (nis_parities, "NIS-ParityRestart", {"ParityRestart": broken_parity.ParityRestartOversampled}, pac, "refuted"),
    (nis_parities, "NIS-ParityRestart", {"_consistent_failure": lambda _: 2e-3}, pac, "refuted"),
    (nis_parities, "NIS-Effect", {"Parities": Conjunctions}, pac, "refuted"),
    (ste_boxes, "STE-Box-privacy", {}, Sound, "refuted"),
    (ste_boxes, "STE-Box2-size", {"BoxInteriorPoint": scaled(ste_boxes.BoxInteriorPoint, 0.05)}, pac, "holds"),
    (ste_boxes, "STE-Box2-size", {"error_case": lambda *_: (1.0, "all err", {})}, pac, "refuted"),
    (ste_boxes, "STE-Box2", {"BoxInteriorPoint": made(ste_boxes.BoxInteriorPoint, literal=True)}, pac, "refuted"),
    (ste_boxes, "STE-Box2", {"BoxInteriorPoint": scaled(ste_boxes.BoxInteriorPoint, 0.5)}, pac, "holds"),
    (ste_boxes, "STE-Boxd",
     {"BoxInteriorPoint": with_sizes(ste_boxes.BoxInteriorPoint, lambda a: a.dimension)}, pac,
     "loose"),
    (ste_boxes, "STE-Boxd", {"BoxInteriorPoint": with_sizes(ste_boxes.BoxInteriorPoint, lambda a: a.dimension**2)},
     pac, "refuted"),
    (ste_boxes, "STE-ExpRec", {"BoxExponential": scaled(ste_boxes.BoxExponential, 9.0)}, pac, "undecided"),
    (bmns_rec_concave, "BMNS-Prop2.11",
     {"printed_promise": lambda *a: promise(*a) / 1e6}, pac, "refuted"),
    (bmns_rec_concave, "BMNS-Prop2.11",
     {"printed_promise": lambda *a: promise(*a) / 8000}, pac, "holds"),
    (bmns_rec_concave, "BMNS-Prop2.11",
     {"printed_promise": lambda *a: promise(*a) / 12000}, pac, "undecided"),
    (bmns_rec_concave, "OURS-StableSelect", {"StableSelect": WrongStable}, pac, "refuted"),
    (bmns_rec_concave, "OURS-StableSelect-wrong", {"WrongStable": StableSelect, "StableSelectWrong": StableMode},
     pac, "holds"),
    (ste_conjunctions, "STE-NonPriv", {"answer": lambda learner, sample: learner.decode(0)}, pac, "refuted"),
    (ste_conjunctions, "STE-Conj1", {"ConjunctionLaplace": scaled(ste_conjunctions.ConjunctionLaplace, 1.01)}, pac,
     "refuted"),
    (ste_conjunctions, "STE-Conj1", {"ConjunctionLaplace": scaled(ste_conjunctions.ConjunctionLaplace, 0.5)}, pac,
     "loose"),
    (ste_conjunctions, "STE-Conj1-Size",
     {"ConjunctionLaplace": with_sizes(ste_conjunctions.ConjunctionLaplace, lambda _: 10)}, pac, "refuted"),
    (ste_conjunctions, "STE-Conj1-Size", {"laplace_failure_bound": lambda *_: 1.0 - _[0] / 660}, pac, "holds"),
    (ste_conjunctions, "STE-ConjExp-Size",
     {"ConjunctionExponential": scaled(ste_conjunctions.ConjunctionExponential, 2.0)}, pac, "undecided"),
    (ste_conjunctions, "STE-Conj-count", {"conjunctions_of": lambda d, k: d**k}, pac, "refuted"),
    (ste_conjunctions, "STE-ConjExp",
     {"ConjunctionExponential": with_sizes(ste_conjunctions.ConjunctionExponential, lambda _: 2)}, pac, "refuted"),
    (ste_greedy, "STE-Conj2", {"ConjunctionGreedy": scaled(ste_greedy.ConjunctionGreedy, 1.01)}, pac,
     "refuted"),
    (ste_greedy, "STE-Conj2", {"ConjunctionGreedy": scaled(ste_greedy.ConjunctionGreedy, 0.7)}, pac,
     "loose"),
    (ste_greedy, "STE-Conj2-Proved",
     {"ConjunctionGreedy": scaled(ste_greedy.ConjunctionGreedy, 1.01)}, pac, "refuted"),
    (nis_parities, "NIS-ParityAmplification-Proved",
     {"ParityAmplified": scaled(nis_parities.ParityAmplified, 1.01)}, pac, "refuted"),
    (kmms_covers, "KMMS-Claim3.4-pure", {"choice_cost": lambda *_: 0.07}, pac, "refuted"),
    (kmms_covers, "KMMS-Claim3.4-pure", {"paper_share": lambda *_: 0.04}, pac, "refuted"),
    (kmms_covers, "KMMS-Ex3.3-pure", {}, Leaky, "refuted"),
    (ste_greedy, "STE-Conj2-Delta", {"ConjunctionGreedy": scaled(ste_greedy.ConjunctionGreedy, 99.0)},
     pac, "undecided"),
    (ste_conjunctions, "STE-Conj1-Noise", {"noise_limit": lambda d, e, b: 2 * d / e * math.log(d / b)}, pac,
     "refuted"),
    (ste_greedy, "STE-Conj2-Score", {"first_scores": lambda *_: np.array([-1, -3])}, pac, "refuted"),
    (ste_greedy, "STE-Conj2-Strong", {"composed_share": lambda calls, e, d: e / calls}, pac, "refuted"),
    (ste_greedy, "STE-Conj2-Rounds", {"rounds_needed": lambda k, n: k}, pac, "refuted"),
    (ste_greedy, "STE-Conj2-Constant",
     {"ConjunctionGreedy": made(ste_greedy.ConjunctionGreedy, literal=False)}, pac, "undecided"),
    (ste_boxes, "OURS-IPP", {"InteriorPointExponential": scaled(ste_boxes.InteriorPointExponential, 1.3)},
     pac, "refuted"),
    (ste_boxes, "OURS-IPP", {"unsolved": lambda *_: 0.3}, pac, "refuted"),
    (ste_boxes, "OURS-Thr", {"ThresholdInteriorPoint": scaled(ste_boxes.ThresholdInteriorPoint, 1.2)}, pac,
     "refuted"),
    (ste_boxes, "OURS-Thr", {}, Leaky, "refuted"),
    (ste_boxes, "OURS-TreeLog", {}, Leaky, "refuted"),
    (ste_boxes, "OURS-TreeLog", {"unsolved": lambda *_: 0.11}, pac, "refuted"),
    (ste_boxes, "OURS-BoxTight",
     {"BoxTightest": with_sizes(ste_boxes.BoxTightest, lambda _: 3)}, pac, "refuted"),
    (bmn, "BMN-Alg1-literal", {"MixtureHalfspace": made(bmn.MixtureHalfspace, literal=False)}, pac, "undecided"),
    (bmn, "BMN-Lem4.5", {"MixtureHalfspace": made(bmn.MixtureHalfspace, literal=True)}, pac, "refuted"),
    (bmn, "BMN-Lem4.1", {}, Leaky, "refuted"),
    (bmn, "BMN-size", {"public_family": lambda points: SimpleNamespace(collections=lambda d: 10**4)}, pac,
     "refuted"),
    (bmn, "BMN-Thm4.10-display",
     {"math": SimpleNamespace(log=lambda x: 99 * math.log(x), erf=math.erf, sqrt=math.sqrt)}, pac, "undecided"),
    (bmn_utility, "BMN-Thm4.9", {}, Leaky, "refuted"),
    (bmn_utility, "BMN-Thm4.9", {}, Doubtful, "undecided"),
    (bmn_utility, "BMN-Thm4.9", {}, Barely(), "holds"),
    (bmn_utility, "BMN-Thm4.10", {}, Leaky, "refuted"),
    (bmns_depth, "BMNS-Clm3.5", {"ExtendedDomain": bounded(2)}, pac, "refuted"),
    (bmns_depth, "BMNS-Clm3.5", {"ExtendedDomain": bounded(50)}, pac, "refuted"),
    (bmns_depth, "BMNS-Clm3.5", {"ExtendedDomain": bounded(51)}, pac, "holds"),
    (bmns_depth, "BMNS-Clm3.5", {"ExtendedDomain": bounded(68)}, pac, "loose"),
    (bmns_depth, "BMNS-Clm3.5", {"ExtendedDomain": domains(Shallow)}, pac, "refuted"),
    (bmns_depth, "BMNS-Clm3.5-literal",
     {"ExtendedDomain": SimpleNamespace(grid=lambda *_, literal: extended(1, 2))}, pac, "undecided"),
    (bmns_find_tukey, "BMNS-Fig1-r",
     {"HullPointRecConcave": made(bmns_find_tukey.HullPointRecConcave, literal=False)}, pac, "holds"),
    (bmns_find_tukey, "BMNS-Fig1-epsilon",
     {"figure_1_share": lambda e, _, d: 10 * e / math.sqrt(d)}, pac, "refuted"),
    (bmns_find_tukey, "BMNS-Fig1-epsilon", {"figure_1_share": lambda e, _, d: e / d}, pac, "holds"),
    (bmns_find_tukey, "BMNS-Fig1-epsilon", {"figure_1_share": lambda e, _, d: e / d / 2}, pac, "loose"),
    (bmns_depth, "BMNS-Fact2.20-remark", {"cross": lambda *_: 0}, pac, "undecided"),
    (bmns_lower_bound, "BMNS-Thm5.1-procedure", {"named_point": lambda *_, literal=False: 1}, pac, "refuted"),
    (bmns_lower_bound, "BMNS-Thm5.1-procedure", {"named_point": lambda *_, literal=False: None}, pac, "refuted"),
    (bmns_lower_bound, "BMNS-Thm5.1-procedure",
     {"named_point": lambda b, points, literal=False: named(b, points)}, pac,
     "holds"),
    (bmns_find_tukey, "OURS-HullPoint", {}, Leaky, "refuted"),
    (bmns_halfspaces, "BMNS-Thm4.2", {}, Leaky, "refuted"),
    (bmns_halfspaces, "BMNS-Fig2-step3", {"HalfspaceRefusing": HalfspaceTukey}, pac, "holds"),
    (bmns_depth, "BMNS-Clm2.19",
     {"compositions": lambda n, size: [(n + 9, *[0] * (size - 1))]}, pac, "holds"),
    (bmns_halfspaces, "BMNS-Thm4.2-utility", {}, Leaky, "refuted"),
    (bmns_halfspaces, "BMNS-Thm4.2-utility", {}, Doubtful, "undecided"),
    (bmns_halfspaces, "BMNS-Thm4.2-utility", {}, Barely(), "holds"),
    (bmns_halfspaces, "BMNS-Thm4.2-utility", {"_printed_halfspaces": lambda: ({}, 19)}, Barely(), "refuted"),
    (bmns_halfspaces, "BMNS-Thm4.2-utility", {"_printed_halfspaces": lambda: ({}, 12)}, Barely(), "holds"),
    # RecConcave needs 240 examples where d = 1.
    (bmns_find_tukey, "BMNS-Thm3.6", {"printed_examples": lambda *_: 228.0}, pac, "refuted"),
    (bmns_find_tukey, "BMNS-Thm3.6", {"printed_examples": lambda *_: 240.0}, pac, "holds"),
    (bmns_find_tukey, "BMNS-Thm3.6", {"printed_examples": lambda *_: 320.0}, pac, "loose"),
    (bmns_find_tukey, "BMNS-Thm3.6",
     {"HullPointExponential": hasty(bmns_find_tukey.HullPointExponential)}, pac, "refuted"),
    (bmns_find_tukey, "BMNS-Thm3.6-pays", {"crossover": lambda *_: None}, pac, "refuted"),
    (bmns_find_tukey, "BMNS-Thm3.6-pays", {"MOST_BITS": 2**11}, pac, "refuted"),
    (bmns_find_tukey, "BMNS-Thm3.6-pays", {"crossover": lambda *_: 64}, pac, "holds"),
    (kmms_halfplanes, "KMMS-Claim4.5", {"least_area": lambda side: Fraction(1, 4 * side**4)}, pac, "holds"),
    (kmms_halfplanes, "KMMS-Claim4.5", {"least_area": lambda side: Fraction(1, 3 * side**4)}, pac, "loose"),
    (kmms_halfplanes, "KMMS-Claim4.5", {"least_area": lambda side: Fraction(1, 5 * side**4)}, pac, "refuted"),
    (kmms_halfplanes, "KMMS-Lem4.6", {"HalfplaneSelect": scaled(kmms_halfplanes.HalfplaneSelect, 1e-3)},
     pac, "refuted"),
    (kmms_halfplanes, "KMMS-Lem4.6", {"HalfplaneSelect": scaled(kmms_halfplanes.HalfplaneSelect, 0.22)},
     pac, "holds"),
    (kmms_covers, "KMMS-Claim3.4",
     {"calibrate": lambda *_: 0.1, "game_epsilon": lambda *_, reach: 0.9, "SetCoverConjunction": Multiplied},
     pac, "refuted"),
    (kmms_covers, "KMMS-Claim3.4", {"calibrate": lambda *_: 0.1, "game_epsilon": lambda *_, reach: 0.9}, pac,
     "holds"),
    (kmms_covers, "KMMS-Claim3.4", {"calibrate": lambda *_: 0.1, "game_epsilon": lambda *_, reach: 0.6}, pac,
     "loose"),
    (kmms_covers, "KMMS-Claim3.4", {"calibrate": lambda *_: 0.1, "game_epsilon": lambda *_, reach: 1.1}, pac,
     "undecided"),
    (kmms_halfplanes, "KMMS-n2regions", {"sweep": crowded}, pac, "holds"),
    (kmms_halfplanes, "KMMS-SelHP-priv", {"HalfplaneSelect": scaled(kmms_halfplanes.HalfplaneSelect, 2.2)},
     pac, "refuted"),
    (kmms_covers, "KMMS-Thm3.5", {}, pac, "refuted"),
    (kmms_covers, "KMMS-Thm3.5", {"Conjunction": lambda d, _: kmms_covers_always(d)}, pac, "holds"),
    (kmms_covers, "KMMS-Claim3.4-loss", {}, Leaky, "refuted"),
    (kmms_covers, "KMMS-Claim3.4-loss", {"SetCoverConjunction": Multiplied}, pac, "refuted"),
    (kmms_covers, "KMMS-Claim3.4-loss", {"paper_share": lambda *_: 0.18}, pac, "holds"),
    (kmms_covers, "KMMS-Claim3.4-loss", {"paper_share": lambda *_: 0.19}, pac, "undecided"),
    (kmms_polygons, "KMMS-Claim4.3", {}, Leaky, "refuted"),
    (kmms_polygons, "KMMS-Claim4.3", {"game_epsilon": lambda *_, reach: 0.9}, pac, "holds"),
    (kmms_polygons, "KMMS-Claim4.3", {"game_epsilon": lambda *_, reach: 1.1}, pac, "undecided"),
    (kmms_polygons, "KMMS-VCtri", {"triangulate": lambda corners: [tuple(corners[:3])]}, pac, "refuted"),
    (kmms_polygons, "KMMS-Thm4.7", {}, Leaky, "refuted"),
    (kmms_covers, "KMMS-Step1d", {"score": lambda kinds, k, b: kinds[0] - b / k - kinds[1]}, pac, "refuted"),
    (kmms_covers, "KMMS-Claim3.1-score", {"score": lambda kinds, k, b: kinds[0] - b}, pac, "refuted"),
    (kmms_covers, "KMMS-Claim3.1-noise",
     {"noise_bound": lambda k, e, a, b: (*noise_bound(k, e, a, b)[:2], noise_bound(k, e, a, 1.1 * b)[2])}, pac,
     "refuted"),
    (kmms_halfplanes, "KMMS-Claim4.5-distance", {"vertices": near}, pac, "refuted"),
    (kmms_covers, "KMMS-Thm1.3", {}, Leaky, "refuted"),
]  # fmt: skip


class Brief:
    """The tools, with a short search for the supremum: what it finds above a claim refutes it all the same."""

    audit_supremum = staticmethod(partial(pac.audit_supremum, starts=1, evaluations=20, most=1))

    def __getattr__(self, name: str) -> Any:
        return getattr(pac, name)


def brief(tools: Any, verdict: str) -> Any:
    """Return the tools for a check whose verdict is known: in place of `pac` those with a short search, to refute."""
    return Brief() if tools is pac and verdict == "refuted" else tools


def in_quick(cases: list[Any], *before: list[Any]) -> list[Any]:
    """Return the cases as parameters: all but the first refutation of each statement are marked `full`.

    Those of lists that are tried `before` count.
    """
    seen = {case[1] for earlier in before for case in earlier if case[4] == "refuted"}
    found = []
    for i, case in enumerate(cases):
        first = case[4] == "refuted" and case[1] not in seen
        seen |= {case[1]} if first else set()
        found.append(pytest.param(*case, id=f"{i}-{case[1]}-{case[4]}", marks=[] if first else pytest.mark.full))
    return found


@pytest.mark.parametrize(
    ("module", "statement_id", "patches", "tools", "verdict"),
    in_quick(CASES),
)
def test_the_verdict_follows_the_numbers(
    module: ModuleType, statement_id: str, patches: Patches, tools: Any, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    statement = next(s for s in module.STATEMENTS if s.id == statement_id)
    for name, value in patches.items():
        assert hasattr(module, name)
        monkeypatch.setattr(module, name, value)
    evidence = statement.check(brief(tools, verdict))
    assert evidence.verdict == verdict, evidence
    assert bool(evidence.witness) == (verdict == "refuted")


def test_a_witness_follows_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    check = next(s.check for s in bmns_find_tukey.STATEMENTS if s.id == "BMNS-Fig1-r")
    # (1 - 1/6) (144/4 - 2 * 144/12) = 10, where 144/8 = 18 is claimed.
    assert "depth 10, not 18" in check(pac).witness
    depth = bmns_find_tukey.HullPointRecConcave.guaranteed_depth
    monkeypatch.setattr(
        bmns_find_tukey.HullPointRecConcave, "guaranteed_depth", lambda learner, n: depth(learner, n) / 2
    )
    assert "depth 5, not 18" in check(pac).witness


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ("violation", "refuted"),
        ("undecided", "undecided"),
        ("undecided holds", "undecided"),
        ("holds violation", "holds"),
        ("holds undecided", "holds"),
        ("holds holds violation", "loose"),
        ("violation holds", "refuted"),
    ],
)
def test_the_halved_sizes_decide(found: str, verdict: str) -> None:
    sizes = HalvedSizes({64 >> i: SimpleNamespace(verdict=word) for i, word in enumerate(found.split())})
    assert sizes.verdict == verdict


def test_cases_decide_joint_verdict() -> None:
    assert joint_verdict(["loose", "refuted", "undecided"]) == "refuted"
    assert joint_verdict(verdict for verdict in ("holds", "undecided")) == "undecided"
    assert joint_verdict(["loose", "holds"]) == "holds"
    assert joint_verdict(["loose", "loose"]) == "loose"


def test_the_rule() -> None:
    assert judged("s", {}, "w", {}, otherwise="loose", failed=True).verdict == "refuted"
    kept = judged("s", {}, "w", {}, otherwise="loose", failed=False)
    assert (kept.verdict, kept.witness, kept.grade) == ("loose", "", "exact")
    assert judged("s", {}, "w", {}, otherwise="loose").verdict == "refuted"
    assert judged("s", {}, "", {}, otherwise="loose").verdict == "loose"
    assert judged("s", {}, "", {}).verdict == "holds"
    assert tried("s", {}, "w", {}, failed=False).verdict == "undecided"
    assert (tightness(0.75, 1.0), tightness(0.76, 1.0), tightness(1.5, 2.0)) == ("loose", "holds", "loose")
    assert exceeds(1 + 2e-9, 1.0)
    assert exceeds(np.inf, 1.0)
    assert not exceeds(1 + 1e-12, 1.0)


def test_checks_by_cases() -> None:
    cases = [(1.0, {"k": 1}), (2.0, "the second", {"k": 2}), (2.0, {"k": 3})]
    for limit, verdict, witness in ((2, "holds", ""), (1.9, "refuted", "the second")):
        found = at_most(limit, "{cases} cases, {share:g} at {witness}", "share", "cases", more=7)(lambda: cases)(pac)
        assert (found.verdict, found.witness, found.witness_data) == (verdict, witness, {"k": 2})
        assert (found.summary, found.numbers) == ("3 cases, 2 at the second", {"share": 2.0, "cases": 3, "more": 7})
    assert at_most(3, "{share}", otherwise=None)(lambda: cases)(pac).verdict == "loose"
    assert at_least(1, "{least}", "least")(lambda: cases)(pac).verdict == "holds"
    found = at_least(1.1, "{least}", "least")(lambda: cases)(pac)
    assert (found.verdict, found.witness, found.witness_data) == ("refuted", "k: 1", {"k": 1})


@pytest.mark.parametrize(("answers", "verdict", "data"), [([True, True], "holds", 1), ([True, False], "refuted", 1),
                                                          ([False, False], "refuted", 0)])  # fmt: skip
def test_checks_of_what_is_always_right(answers: list[bool], verdict: str, data: int) -> None:
    found = always("{lines} lines, {wrong} wrong", "lines")(lambda: [(a, {"i": i}) for i, a in enumerate(answers)])(pac)
    assert (found.verdict, found.witness_data, found.numbers) == (verdict, {"i": data}, {"lines": 2})
    assert found.summary == f"2 lines, {answers.count(False)} wrong"

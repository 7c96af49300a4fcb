"""Every cited id has a row, and every row a check that refutes something: a wrong constant or a faulty algorithm.

More cases of `test_statements_refutable`, in its form.
"""

from __future__ import annotations

import math
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from ledger_rows import ledger_row
from test_statements_bmns import BMNS
from test_statements_refutable import CASES, Barely, Leaky, Shallow, brief, domains, in_quick, made, scaled, with_sizes

from dpaudit import pac
from dpaudit.contract import ACCUSATIONS, Distribution, HasSettings, HasUtility
from dpaudit.errors import InputError
from dpaudit.registry import list_learners, load
from dpaudit_learners.conjunctions.controls import SetCoverConjunctionMultiplied as Multiplied
from dpaudit_learners.conjunctions.laplace import ConjunctionLaplace
from dpaudit_learners.halfspaces.hull_point_joint import HullPointJoint
from dpaudit_learners.halfspaces.tukey import HalfspaceTukey
from dpaudit_learners.mechanisms.composition import largest_repeated_epsilon
from dpaudit_learners.mechanisms.tree_log import TreeLog
from dpaudit_learners.papers import (
    bmn,
    bmn_hulls,
    bmn_utility,
    bmns_depth,
    bmns_halfspaces,
    bmns_interior,
    bmns_lower_bound,
    bmns_rec_concave,
    kmms_covers,
    kmms_halfplanes,
    kmms_polygons,
    kmms_set_cover,
    mechanisms,
    nis_finite_classes,
    scaling,
    ste_boxes,
    ste_conjunctions,
    times,
)

populations = bmn_utility.populations
supported, for_all, packing = bmn_hulls.supported, bmn_utility.examples_for_all, bmns_interior.packing_failure
disjunctions = kmms_set_cover.ShortDisjunctions
depth, gap = bmns_depth.tukey_depth, nis_finite_classes.overfit_gap
polynomials = kmms_polygons.PolynomialSelect
printed, each = bmns_halfspaces.printed_examples, bmns_halfspaces.subsample_examples
needed, compressed, rounds = bmn_utility.examples_needed, bmn_utility.compression_bound, kmms_set_cover.rounds_for
cells_looked_at, triples, steps_of = times.cells_of_a_run, times.triples_of_a_round, times.steps_of
halfplanes, cells, cover = kmms_halfplanes.halfplane_family, kmms_halfplanes.sweep, kmms_set_cover.most_errors


def all_private(threshold: int) -> Distribution:
    """Return both populations without public examples, of which the theorem does not speak."""
    both = populations(threshold)
    return Distribution(both.points, both.probabilities, "all private", np.zeros(len(both.points), dtype=bool))


def one_sided(side: int) -> Any:
    """Return the halfplanes that contain the origin of the grid."""
    family = halfplanes(side)
    return SimpleNamespace(labels=family.labels[family.labels[:, 0] == 1])


def merged(points: Any, weights: Any, side: int) -> Any:
    """Return an arrangement whose first two cells have the same labels."""
    found = cells(points, weights, side)
    below = found.below.copy()
    below[1] = below[0]
    return SimpleNamespace(
        below=below, areas=found.areas, cells=found.cells, precision=found.precision, slack=found.slack
    )


class HalfOfTheCounts(ConjunctionLaplace):
    """Noise as if a replaced example moved only one half of the 2 d counts."""

    @property
    def noise_scale(self) -> float:
        return 1 / largest_repeated_epsilon(self.epsilon, self.delta or 0.0, self.dimension)


class ByBasicComposition(ConjunctionLaplace):
    """The noise that needs no delta."""

    @property
    def noise_scale(self) -> float:
        return 2 * self.dimension / self.epsilon


class ForNoNoise(nis_finite_classes.ThresholdExponential):
    """In the agnostic setting the size of the realizable one."""

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> Any:
        return super().utility(alpha, beta, "realizable")


class Doubled(bmns_depth.ExtendedDomain):
    """An extended domain on which depth is counted twice."""

    def regions(self, points: Any, weights: Any) -> Any:
        found = super().regions(points, weights)
        return SimpleNamespace(values=lambda *at: 2 * found.values(*at))


MORE: list[tuple[Any, str, dict[str, Any], Any, str]] = [
    (
        bmns_rec_concave,
        "BMNS-Prop2.11-log-star",
        {
            "rec_concave_needs": lambda bits, n: (bits, 1),
            "exponential_needs": lambda bits: bits,
            "tree_log_fallback_needs": lambda bits: (bits, True, 1.0),
        },
        pac,
        "refuted",
    ),
    (mechanisms, "KMMS-Thm2.4", {"NOISE": 0.99}, pac, "refuted"),
    (mechanisms, "KMMS-Thm2.4", {"NOISE": 2.0}, pac, "loose"),
    (mechanisms, "KMMS-Prop2.5", {"RATE": 0.51}, pac, "refuted"),
    (mechanisms, "BMNS-Thm2.3", {"basic_cost": lambda k, e, d: (0.99 * k * e, k * d)}, pac, "refuted"),
    (mechanisms, "BMNS-Thm2.4",
     {"advanced_epsilon": lambda k, e, s: 0.5 * math.sqrt(2 * k * math.log(1 / s)) * e}, pac, "refuted"),
    (kmms_set_cover, "KMMS-Claim3.1", {"most_errors": lambda *a: 20 * cover(*a)}, pac, "refuted"),
    (kmms_set_cover, "KMMS-Claim3.1", {"rounds_for": lambda *a: rounds(*a) // 4}, pac, "refuted"),
    (kmms_set_cover, "KMMS-Thm3.2",
     {"SetCoverConjunction": with_sizes(kmms_set_cover.SetCoverConjunction, lambda _: 20)}, pac, "refuted"),
    (kmms_set_cover, "KMMS-Thm3.2", {}, Barely(), "holds"),
    (kmms_set_cover, "KMMS-Ex3.3", {"growth": lambda values: 2.0}, pac, "refuted"),
    (kmms_set_cover, "KMMS-Alg-SetCover", {"SetCoverConjunction": Multiplied}, pac, "refuted"),
    (kmms_set_cover, "KMMS-Step1c", {"game_epsilon": lambda *_, reach: 1.1}, pac, "undecided"),
    (kmms_set_cover, "KMMS-Step1c", {}, Leaky, "refuted"),
    (kmms_set_cover, "KMMS-Greedy",
     {"answer": lambda learner, sample: learner.concepts.concept(0)}, pac, "refuted"),
    (bmns_rec_concave, "BMNS-Prop2.11", {}, Leaky, "refuted"),
    (bmn, "BMN-relaxation-i", {"MixtureHalfspace": made(bmn.MixtureHalfspace, literal=True)}, pac, "refuted"),
    (bmn, "BMN-relaxation-ii", {"MixtureHalfspace": made(bmn.MixtureHalfspace, literal=True)}, pac, "refuted"),
    (bmns_depth, "BMNS-Clm2.19", {"ExtendedDomain": domains(Shallow)}, pac, "refuted"),
    (bmns_depth, "BMNS-Lem3.4", {"ExtendedDomain": domains(Doubled)}, pac, "refuted"),
    (bmns_halfspaces, "BMNS-Clm4.1",
     {"Halfspaces": lambda side, d: SimpleNamespace(size=2 ** ((side + 1) ** d))}, pac, "refuted"),
    (bmns_lower_bound, "BMNS-Thm5.1-inequality",
     {"theorem_51_slack": lambda d, side: 0.5 - d / (side + 1) ** (d / 4) - 0.25}, pac, "refuted"),
    (bmns_lower_bound, "BMNS-Thm5.1-count", {"points_in_span": lambda *_: 32}, pac, "undecided"),
    (kmms_halfplanes, "KMMS-Obs4.1", {"halfplane_family": one_sided}, pac, "refuted"),
    (kmms_halfplanes, "KMMS-Obs4.4", {"sweep": merged}, pac, "refuted"),
    (kmms_halfplanes, "KMMS-Obs2.2",
     {"math": SimpleNamespace(log2=lambda x: 0.1, log=math.log, sqrt=math.sqrt)}, pac, "refuted"),
    (kmms_polygons, "KMMS-Thm5.1",
     {"PolygonUnion": with_sizes(kmms_polygons.PolygonUnion, lambda _: 20)}, pac, "refuted"),
    (kmms_polygons, "KMMS-Thm4.7",
     {"ConvexPolygon": with_sizes(kmms_polygons.ConvexPolygon, lambda _: 20)}, pac, "refuted"),
    (nis_finite_classes, "NIS-DPgen", {"overfit_gap": lambda e, n, size: gap(9 * e, n, size)}, pac, "refuted"),
    (bmn_utility, "BMN-Lem4.6", {"examples_needed": lambda *a: math.ceil(needed(*a) / 2)}, pac, "refuted"),
    (bmn_utility, "BMN-Clm4.7", {"examples_needed": lambda *a: math.ceil(needed(*a) / 2)}, pac, "refuted"),
    (bmn_utility, "BMN-Lem4.8", {"compression_bound": lambda *a: compressed(*a) / 10}, pac, "refuted"),
    (bmn_utility, "BMN-relaxation-ii-utility", {}, Leaky, "refuted"),
    (bmn_utility, "BMN-relaxation-ii-utility", {"populations": all_private}, pac, "refuted"),
    (bmns_depth, "BMNS-Clm2.17", {"tukey_depth": lambda p, w, x: 1 + depth(p, w, x)}, pac, "refuted"),
    (bmns_depth, "BMNS-Clm2.18", {"tukey_depth": lambda p, w, x: min(1, depth(p, w, x))}, pac, "refuted"),
    (bmns_depth, "BMNS-Joint", {"HullPointExponential": scaled(HullPointJoint, 3.0)}, pac, "refuted"),
    (bmns_halfspaces, "BMNS-Thm4.2", {"recursive_release": lambda: HalfspaceTukey(5, 1, 20.0, 0.01, 0.1).release},
     pac, "refuted"),
    (bmns_halfspaces, "BMNS-Cor4.3",
     {"printed_examples": lambda d, *rest: math.sqrt(d) * printed(d, *rest)}, pac, "refuted"),
    (bmns_halfspaces, "BMNS-Cor4.3",
     {"subsample_examples": lambda d, m, alpha, beta: each(d, m, alpha, beta) / math.sqrt(alpha)}, pac, "refuted"),
    (ste_conjunctions, "STE-Conj1-Delta", {"ConjunctionLaplace": HalfOfTheCounts}, pac, "refuted"),
    (ste_conjunctions, "STE-Conj1-Delta", {"ConjunctionLaplace": ByBasicComposition}, pac, "refuted"),
    (ste_boxes, "OURS-TreeLog-slices", {"ShallowFirst": TreeLog}, pac, "undecided"),
    (times, "KMMS-Thm3.5-time",
     {"cells_of_a_run": lambda n, d, k: cells_looked_at(n, d, min(k, 2)) * 2**k}, pac, "refuted"),
    (times, "KMMS-Thm3.5-time", {"steps_of": lambda learner, sample, runs: sample.n**2}, pac, "refuted"),
    (times, "KMMS-Thm4.7-time", {"steps_at_its_size": lambda learner, *_: learner.side}, pac, "refuted"),
    (times, "KMMS-Thm4.7-time",
     {"steps_at_its_size": lambda learner, *_: learner.side.bit_length() ** 2}, pac, "refuted"),
    (times, "KMMS-Thm5.1-run", {"polygon_steps": lambda m, bits: 2**m}, pac, "refuted"),
    (times, "KMMS-Thm5.1-run", {"polygon_steps": lambda m, bits: m * 2**bits}, pac, "refuted"),
    (times, "NIS-Parity-time", {"steps_at_its_size": lambda learner, *_: learner.dimension**2}, pac, "refuted"),
    (times, "STE-Conj-time",
     {"steps_of": lambda learner, *_: learner.dimension ** (learner.k + 1)}, pac, "refuted"),
    (times, "STE-Boxd-time",
     {"steps_of": lambda learner, sample, _: sample.n ** (3 * learner.dimension)}, pac, "refuted"),
    (times, "NIS-Generic-time", {"_line": lambda learner, _: learner.domain.size}, pac, "refuted"),
    (times, "STE-NonPriv-time",
     {"steps_of": lambda learner, sample, _: sample.n * learner.dimension**2}, pac, "refuted"),
    (times, "KMMS-Greedy-time", {"steps_of": lambda learner, sample, _: sample.n**2 * learner.k}, pac, "refuted"),
    (times, "KMMS-Sec6-time", {"cells_of_space": lambda m, dimension: m ** (dimension + 1)}, pac, "refuted"),
    (times, "KMMS-Sec6-time", {"cells_of_space": lambda m, dimension: m}, pac, "refuted"),
    (times, "KMMS-Thm5.1-time",
     {"triples_of_a_round": lambda n, side: triples(n, 2**12) * (side + 1)}, pac, "refuted"),
    (nis_finite_classes, "NIS-Generic-agnostic", {"ThresholdExponential": ForNoNoise}, pac, "refuted"),
    (kmms_polygons, "KMMS-Sec6", {"PolynomialSelect": lambda side, _: polynomials(side, 2.1)}, pac,
     "refuted"),
    (kmms_covers, "KMMS-Claim3.4", {"cost_of_share": lambda *_: 0.95}, pac, "undecided"),
    (ste_boxes, "STE-Boxd", {"BoxInteriorPoint": with_sizes(ste_boxes.BoxInteriorPoint, lambda a: a.dimension**3)},
     pac, "refuted"),
    (ste_boxes, "STE-Box2-m", {"tree_points": lambda bits, epsilon, delta: 200 + int(math.log(1 / delta) ** 3)},
     pac, "refuted"),
    (ste_boxes, "STE-Box2-m", {"tree_points": lambda bits, epsilon, delta: bits**2}, pac, "refuted"),
    (mechanisms, "BMNS-Thm2.2", {"cost_of_two": lambda a, b: (0.99 * (a[0] + b[0]), a[1] + b[1])}, pac, "refuted"),
    (mechanisms, "BMNS-Thm2.2", {"cost_of_two": lambda a, b: (a[0] + b[0], max(a[1], b[1]))}, pac, "refuted"),
    (bmns_interior, "BMNS-Sec5-pure-line", {"packing_failure": lambda points, n, e: packing(points, n, e / 4)}, pac,
     "refuted"),
    (bmns_interior, "BMNS-Sec5-pure-line", {"unsolved": lambda *_: 0.0}, pac, "refuted"),
    (bmns_interior, "BMNS-Sec5-log-star", {"least_failure": lambda *_: 0.0}, pac, "refuted"),
    (bmns_interior, "BMNS-Sec5-log-star", {"examples_of_the_best": lambda *_: 4}, pac, "refuted"),
    (bmn_hulls, "BMN-Obs4.2", {"supported": lambda *of: supported(*of)[1:]}, pac, "refuted"),
    (bmn_hulls, "BMN-Cor4.4", {"DIMENSION": 1}, pac, "refuted"),
    (bmn_hulls, "BMN-Lem4.3", {"DIMENSION": 1}, pac, "refuted"),
    (bmn_hulls, "BMN-VT", {"cyclic_facets": lambda m, d: m ** (d + 1)}, pac, "refuted"),
    (bmn_hulls, "BMN-VT", {"cyclic_facets": lambda m, d: m}, pac, "refuted"),
    (bmn_utility, "BMN-Thm4.10-uniform", {"examples_for_all": lambda d, *rest: d * for_all(d, *rest)}, pac, "refuted"),
    (bmn_utility, "BMN-Thm4.10-uniform", {"examples_for_all": lambda *of: for_all(*of) // 300}, pac, "refuted"),
    (kmms_set_cover, "KMMS-Ex2.3",
     {"ShortDisjunctions": lambda d, k: disjunctions(d, min(k + 1, d))}, pac, "refuted"),
    (nis_finite_classes, "NIS-Memorizer", {"seen_law": lambda size, n: {size: 1.0}}, pac, "refuted"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("module", "statement_id", "patches", "tools", "verdict"),
    in_quick(MORE, CASES, BMNS),
)
def test_the_verdict_follows_the_numbers(
    module: Any, statement_id: str, patches: dict[str, Any], tools: Any, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in patches.items():
        assert hasattr(module, name)
        monkeypatch.setattr(module, name, value)
    statement = next(s for s in module.STATEMENTS if s.id == statement_id)
    evidence = statement.check(brief(tools, verdict))
    assert evidence.verdict == verdict, evidence
    assert bool(evidence.witness) == (verdict == "refuted")


AS_PRINTED = [
    "KMMS-Thm3.5",
    "BMN-Alg1-literal", "BMN-Lem4.8-k", "BMN-Thm4.10-display", "BMNS-Thm4.2-rank",
    "BMNS-Clm3.5-literal", "BMNS-Fact2.20-remark", "BMNS-Fig1-r", "BMNS-Fig2-step3", "KMMS-Claim4.5-proof",
    "KMMS-n2regions", "NIS-ParityLearner-large", "NIS-Thr-random", "NIS-Thr", "NIS-Point-random", "NIS-Sauer-small",
    "STE-ConjExp-Size", "STE-Box2-signs", "STE-Conj2-Constant", "STE-Conj2-Delta", "STE-ExpRec",
    "OURS-StableSelect-wrong", "BMNS-Thm5.1", "BMNS-Thm5.1-procedure", "BMNS-Thm5.1-count", "BMNS-Thm4.2-s",
    "BMNS-Clm3.3-line", "BMNS-Sec4-base", "OURS-TreeLog-slices",
]  # fmt: skip
"""Statements that their check refutes as they are printed."""


@pytest.mark.parametrize("statement_id", AS_PRINTED)
def test_what_is_printed_is_refuted(statement_id: str) -> None:
    row = ledger_row(statement_id)
    assert row.verdict in ACCUSATIONS
    assert row.witness


def test_every_accusation_is_computed_and_what_is_refuted_has_a_class() -> None:
    assert {entry.id for entry in load().statements if entry.failure} == set(AS_PRINTED)


PAPERS = {"KMMS", "NIS", "STE", "BMNS", "BMN", "OURS"}


def test_every_check_can_refute() -> None:
    # Laws of sample complexity are refuted by the tests of `scaling_law`.
    laws = {statement.id for statement in scaling.STATEMENTS}
    known = {entry.id for entry in load().statements if entry.id.split("-")[0] in PAPERS} - laws
    assert (
        known - {*AS_PRINTED, *(id for _, id, _, _, verdict in [*CASES, *MORE, *BMNS] if verdict == "refuted")} == set()
    )


def cited() -> set[str]:
    """Return the ids that the installed learners' claims cite."""
    found = set()
    for entry in list_learners():
        for instance in (entry.instance, *getattr(entry.learner, "audited", ())):
            learner = entry.build(**instance.parameters)
            if learner.privacy is not None:
                found.add(learner.privacy.claim_id)
            if isinstance(learner, HasUtility):
                settings = [(name,) for name in learner.settings] if isinstance(learner, HasSettings) else [()]
                for setting in settings:
                    # An instance for audits of privacy may be too small for any theorem on utility.
                    with suppress(InputError):
                        found |= {claim.claim_id for claim in [learner.utility(0.4, 0.6, *setting)] if claim}
    return found


def test_every_cited_id_has_a_row() -> None:
    assert cited() - {entry.id for entry in load().statements} == set()

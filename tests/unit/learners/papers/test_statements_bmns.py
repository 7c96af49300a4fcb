"""The statements of BMNS and BMN: their classes, mutations that change them, and the audits at halved sizes."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
from ledger_rows import ledger_row, rows_in_quick
from test_statements_refutable import CASES, brief, in_quick

from dpaudit import pac
from dpaudit.registry import load
from dpaudit_learners.mixtures.missed_facets import HardPolytope
from dpaudit_learners.papers import (
    bmn,
    bmn_utility,
    bmns_claims,
    bmns_depth,
    bmns_find_tukey,
    bmns_halfspaces,
    bmns_lower_bound,
    bmns_rec_concave,
)
from dpaudit_learners.papers.sizes import HalvedSizes, audit_cases, audit_halved
from dpaudit_learners.points.exponential import PointExponential

CLASSES = {
    "false": {"BMNS-Thm5.1", "BMNS-Fact2.20-remark"},
    "gap": {
        "BMNS-Fig2-step3", "BMNS-Thm5.1-procedure", "BMNS-Thm5.1-count", "BMN-Alg1-literal", "BMN-Thm4.10-display",
    },
    "misprint": {
        "BMNS-Fig1-r", "BMNS-Clm3.5-literal", "BMNS-Thm4.2-rank", "BMNS-Thm4.2-s", "BMNS-Clm3.3-line", "BMNS-Sec4-base",
    },
    "edge case": {"BMN-Lem4.8-k"},
    # Hard cases bound n* from below: they may refute a law, and do not prove it.
    "undecided": {
        "BMNS-Sec5-log-star", "BMNS-Prop2.11-law-domain", "BMN-Thm4.9-law-d", "BMN-Thm4.9-law-alpha-epsilon",
    },
    "loose": {"BMN-VT", "BMNS-Clm3.5", "BMNS-Fig1-epsilon", "BMNS-Fig1-log-star", "BMNS-Prop2.11"},
    "derived": {
        "BMNS-Sec5-pure-line", "BMN-Thm4.10-uniform",
        "BMNS-Thm3.6", "BMNS-Thm3.6-pays", "BMNS-Thm4.2-utility", "BMNS-Cor4.3", "BMNS-Sec4-exponential",
        "BMNS-footnote1", "BMN-size", "BMN-Lem4.6", "BMN-Clm4.7", "BMN-Thm4.9", "BMN-Thm4.10",
        "BMN-relaxation-ii-utility",
    },
}  # fmt: skip
IDS = [entry.id for entry in load().statements if entry.id.split("-")[0] in ("BMN", "BMNS")]


@pytest.mark.parametrize("id", rows_in_quick(IDS))
def test_statements(id: str) -> None:
    assert ledger_row(id).verdict == next((word for word, ids in CLASSES.items() if id in ids), "holds")


def test_the_classes_are_of_statements_that_there_are() -> None:
    assert set().union(*CLASSES.values()) <= set(IDS)


def without_factor(d: int, values: float, epsilon: float, delta: float) -> float:
    """Return the bound of `proved_bound` without the 4 d in its second term."""
    return proved(d, values, epsilon, 0.0 if not delta else delta / (4 * d))


class Wider(HardPolytope):
    """The case, with a bound that leaves d^2 out."""

    def fails_up_to(self, rate: float, beta: float) -> float:
        more = 2 * math.log(self.dimension) / (self.mass * math.expm1(rate))
        return super().fails_up_to(rate, beta) + more


proved, extended_log_star = bmns_lower_bound.proved_bound, bmns_find_tukey.extended_log_star
printed_size, depths = bmns_halfspaces.printed_sample_size, bmns_claims.depths
BMNS: list[tuple[Any, str, dict[str, Any], Any, str]] = [
    (bmns_lower_bound, "BMNS-Thm5.1", {"printed_bound": lambda d, **few: 12.0}, pac, "holds"),
    (bmns_lower_bound, "BMNS-Thm5.1", {"printed_bound": lambda d, **few: max(5.0, proved(d, **few))}, pac, "holds"),
    (bmns_lower_bound, "OURS-SpanBound", {"BUDGET": 4.0}, pac, "refuted"),
    (bmns_lower_bound, "OURS-SpanBound", {"proved_bound": without_factor}, pac, "refuted"),
    (bmns_lower_bound, "OURS-SpanBound", {"proved_bound": lambda *a: 3 * proved(*a)}, pac, "refuted"),
    (bmns_lower_bound, "BMNS-Thm5.1-display", {"points_in_span": lambda *_: 64}, pac, "refuted"),
    (bmns_halfspaces, "BMNS-Thm4.2-s",
     {"printed_sample_size": lambda m, r, d, alpha, log: printed_size(m, r, d, alpha, m * m * log)}, pac, "holds"),
    (bmns_halfspaces, "BMNS-Thm4.2-agreement",
     {"tukey_depths": lambda *a: bmns_depth.tukey_depths(*a) + 1}, pac, "refuted"),
    (bmns_halfspaces, "BMNS-Cor4.3-remark", {"WEIGHTS": (1, -2)}, pac, "refuted"),
    (bmns_halfspaces, "BMNS-Sec4-exponential",
     {"HalfspaceExponential": lambda side, d, epsilon: SimpleNamespace(sample_size=lambda *_: (side + 1) ** d)},
     pac, "refuted"),
    (bmns_rec_concave, "BMNS-Sec4-base", {"printed_promise": lambda k, *_: 2.0**k * k * k}, pac, "undecided"),
    (bmns_find_tukey, "BMNS-Thm3.6-privacy", {"figure_1_share": lambda e, _, d: e / math.sqrt(d)}, pac, "refuted"),
    (bmns_find_tukey, "BMNS-Fig1-log-star",
     {"extended_log_star": lambda *a: 5 + extended_log_star(*a)}, pac, "refuted"),
    (bmns_find_tukey, "BMNS-Fig1-log-star", {"extended_log_star": lambda d, *_: 9}, pac, "refuted"),
    (bmns_find_tukey, "BMNS-footnote1", {"vertex_examples": lambda d, log: 2.0**d * d**3 * log}, pac, "refuted"),
    (bmns_find_tukey, "BMNS-footnote1", {"corners": set}, pac, "refuted"),
    (bmns_claims, "BMNS-Clm2.12", {"lowest": lambda f, g: list(map(max, f, g))}, pac, "refuted"),
    (bmns_claims, "BMNS-Obs2.16", {"depths": lambda *a: [2 * v for v in depths(*a)]}, pac, "refuted"),
    (bmns_claims, "BMNS-Clm3.2", {"min": max}, pac, "refuted"),
    (bmns_claims, "BMNS-Clm3.3", {"depths": lambda *a: [-v for v in depths(*a)]}, pac, "refuted"),
    (bmns_claims, "BMNS-Clm3.3-line", {"depths": lambda *_: [1, 0, 0]}, pac, "undecided"),
    (bmns_claims, "BMNS-Fact2.20", {"corners": set}, pac, "refuted"),
    (bmns_claims, "BMNS-Clm3.5-prefixes",
     {"ExtendedDomain": SimpleNamespace(grid=lambda *a: bmns_depth.ExtendedDomain.grid(*a, literal=True))},
     pac, "refuted"),
    (bmn, "BMN-Lem4.5", {"facets_of": lambda points: {}}, pac, "refuted"),
    (bmn_utility, "BMN-Lem4.8", {"PRINTED": (2.0, 8.0, 2.0)}, pac, "undecided"),
    (bmn_utility, "BMN-Lem4.8-k",
     {"public_family": lambda points: SimpleNamespace(collections=lambda d: 2 if d == 1 else 10_001)}, pac,
     "refuted"),
    (bmn, "OURS-MixtureBound", {"cyclic_facets": lambda m, d: math.comb(m, d)}, pac, "refuted"),
    (bmn, "OURS-MixtureBound", {"HardPolytope": Wider}, pac, "refuted"),
]  # fmt: skip
"""Cases in the form of `test_statements_refutable`."""


@pytest.mark.parametrize(("module", "id", "patches", "tools", "verdict"), in_quick(BMNS, CASES))
def test_the_verdict_follows_the_numbers(
    module: Any, id: str, patches: dict[str, Any], tools: Any, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if id == "OURS-MixtureBound":
        monkeypatch.setattr(module, "COMPARED", (16,))
    for name, value in patches.items():
        assert hasattr(module, name) or name == "min"
        monkeypatch.setattr(module, name, value, raising=name != "min")
    statement = next(s for s in module.STATEMENTS if s.id == id)
    evidence = statement.check(brief(tools, verdict))
    assert evidence.verdict == verdict, evidence
    assert bool(evidence.witness) == (verdict == "refuted")


def test_a_random_example_that_is_not_private_refutes_no_bound() -> None:
    leaking = SimpleNamespace(audit_law=lambda *_, n: SimpleNamespace(verdict="violation", delta_at_claim=0.5))
    statement = next(s for s in bmns_lower_bound.STATEMENTS if s.id == "BMNS-Thm5.1")
    assert statement.check(leaking).verdict == "holds"


def test_halved_sizes_read_off_what_the_audits_found() -> None:
    learner = PointExponential(domain_size=8, epsilon=1.0)
    levels: dict[str, Any] = {"alpha": 0.2, "beta": 0.2, "halvings": 9, "trials": 60}
    sizes = audit_halved(pac, learner, 3, "uniform", **levels)
    assert sizes.top == learner.sample_size(0.2, 0.2)
    assert sizes.top > sizes.enough > sizes.too_few > 0
    _, numbers, words, _, _ = audit_cases(pac, [("a", learner, 3, "uniform")], **levels)
    assert set(numbers) == {f"a: {k}" for k in ("theorem's n", "enough", "too few", "failure rate at most")}
    assert str(sizes.enough) in words
    assert str(sizes.too_few) in words
    bad = HalvedSizes({n: f for n, f in sizes.findings.items() if f.verdict == "violation"})
    assert bad.enough == 0
    assert bad.too_few == bad.top

"""The statements of BMNS and BMN: verdicts, and the utility audits at halved sizes that decide some of them."""

from __future__ import annotations

from typing import Any

import pytest
from ledger_rows import ledger_row

import dpaudit
from learners.papers import bmn, bmn_utility, bmns_depth, bmns_find_tukey, bmns_halfspaces, bmns_lower_bound
from learners.papers.sizes import HalvedSizes, audit_cases, audit_halved
from learners.points.exponential import PointExponential

PAPERS = (bmn, bmns_depth, bmns_find_tukey, bmns_halfspaces, bmns_lower_bound)


@pytest.mark.parametrize("statement", [s for paper in PAPERS for s in paper.STATEMENTS], ids=lambda s: s.id)
def test_statements(statement: Any) -> None:
    refuted = {
        "BMNS-Fact2.20-remark", "BMNS-Clm3.5-literal", "BMNS-Fig1-r", "BMNS-Fig2-step3", "BMNS-Thm5.1-procedure",
        "BMNS-Thm5.1-count", "BMNS-Thm5.1-display", "BMN-Alg1-literal", "BMN-Thm4.10-display", "BMNS-Sec3-loss",
        "BMNS-Thm4.2-rank",
    }  # fmt: skip
    loose = {"BMNS-Clm3.5", "BMNS-Fig1-epsilon", "BMNS-Thm3.6", "BMNS-Thm3.6-pays", "BMNS-Thm4.2-utility"}
    verdict = ledger_row(statement.id).verdict
    assert verdict == ("refuted" if statement.id in refuted else "loose" if statement.id in loose else "holds")


def test_halved_sizes_read_off_what_the_audits_found() -> None:
    learner = PointExponential(domain_size=8, epsilon=1.0)
    levels: dict[str, Any] = {"alpha": 0.2, "beta": 0.2, "halvings": 9, "trials": 60}
    sizes = audit_halved(dpaudit, learner, 3, "uniform", **levels)
    assert sizes.top == learner.sample_size(0.2, 0.2)
    assert sizes.top > sizes.enough > sizes.too_few > 0
    _, numbers, words, _, _ = audit_cases(dpaudit, [("a", learner, 3, "uniform")], **levels)
    assert set(numbers) == {f"a: {k}" for k in ("theorem's n", "enough", "too few", "failure rate at most")}
    assert str(sizes.enough) in words
    assert str(sizes.too_few) in words
    bad = HalvedSizes({n: f for n, f in sizes.findings.items() if f.verdict == "violation"})
    assert bad.enough == 0
    assert bad.too_few == bad.top


@pytest.mark.full
@pytest.mark.parametrize("statement", [s for s in bmn_utility.STATEMENTS if s.slow], ids=lambda s: s.id)
def test_statements_on_sample_sizes_of_mixtures(statement: Any) -> None:
    assert statement.check(dpaudit).verdict == "loose"

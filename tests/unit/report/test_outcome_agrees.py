"""The status of a run, the words of progress and the summary that reports show say the same."""

from __future__ import annotations

import itertools

import pytest
from msgspec.structs import replace
from toy_records import result, run_of

from dpaudit.evidence.outcome import OPEN, detects, kind_of, outcome
from dpaudit.report.summary import summarise

VERDICTS = {"exact": ("consistent", "violation"), "privacy": ("consistent", "violation", "no evidence"),
            "utility": ("holds", "undecided", "violation", "vacuous")}  # fmt: skip


def combinations(size):
    """Every choice of `size` records over kinds, roles, verdicts, two learners, two settings, honest or a control."""
    singles = [
        result(
            kind, verdict, role, learner=learner, parameters={"gain": gain}, fault="x" if learner == "control" else None
        )
        for kind, verdicts in VERDICTS.items()
        for verdict in verdicts
        for role in (("claim",) if kind != "utility" else ("claim", "ladder"))
        for learner in ("a", "control")
        for gain in (1.0, 2.0)
    ]
    return itertools.combinations(singles, size)


@pytest.mark.parametrize("size", [1, 2])
def test_status_words_and_reports_say_the_same(size):
    for chosen in combinations(size):
        records = [replace(record, task=f"t{i}", index=i) for i, record in enumerate(chosen)]
        run = run_of(*records)
        found, summary, words = outcome(run), summarise(run), [kind_of(record) for record in records]
        assert bool(found.violations) == bool(summary.violations) == ("violation" in words), chosen
        assert len(found.undetected) == len(summary.controls) - len(summary.convicted), chosen
        assert bool(summary.convicted) == detects([record for record in records if record.fault]), chosen
        assert bool(found.no_evidence) == bool(summary.without_evidence), chosen
        wrong = bool(summary.violations) or len(summary.convicted) < len(summary.controls)
        open_ = summary.without_evidence or found.undecided
        assert found.status == (1 if wrong else OPEN if open_ else 0), chosen
        assert found.allowed_status == int(wrong), chosen
        if summary.undecided:
            assert found.undecided, chosen

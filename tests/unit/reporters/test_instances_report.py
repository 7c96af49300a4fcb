"""Learners that a run holds at several parameters: labels, verdicts and reasons of further instances."""

from __future__ import annotations

import copy

from reporter_runs import load_small, only

from dpaudit.reporters import html
from dpaudit.reporters.summary import summarise


def with_further_instance(verdict="holds"):
    """Return the run of a learner whose utility alone was also audited with other parameters."""
    run = copy.deepcopy(only(load_small(), "parity-private"))
    original = next(r for r in run["results"] if r["kind"] == "utility" and r["arguments"]["role"] == "claim")
    further = copy.deepcopy(original)
    further.update(index=len(run["results"]), task="further", parameters={**original["parameters"], "dimension": 5})
    further["finding"]["verdict"] = verdict
    run["results"].append(further)
    run["header"]["plan"].append("further")
    return run


def test_labels_say_what_differs():
    first, further = summarise(with_further_instance()).learners
    assert first.label == "parity-private (dimension=2)"
    assert further.label == "parity-private (dimension=5)"


def test_a_further_instance_is_not_blamed_for_what_another_row_judges():
    first, further = summarise(with_further_instance()).learners
    assert (first.further, further.further) == (False, True)
    assert further.privacy_verdict == "not checked"
    assert further.verdict == "no violation found"
    assert "see this learner's other row" in further.missing["exact"]
    assert "audited at other parameters" in html.render(with_further_instance())


def test_its_own_violation_is_one():
    _, further = summarise(with_further_instance("violation")).learners
    assert further.verdict == "violation: utility"


def test_without_the_other_row_it_is_not_checked():
    run = with_further_instance()
    run["results"] = [{**run["results"][-1], "index": 0}]
    run["header"]["plan"] = ["further"]
    (row,) = summarise(run).learners
    assert row.label == "parity-private"
    assert row.verdict == "privacy not checked"

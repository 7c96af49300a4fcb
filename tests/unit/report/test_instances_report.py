"""Learners that a run holds at several parameters: labels, verdicts and reasons of further instances."""

from __future__ import annotations

from msgspec.structs import replace
from reporter_runs import first, load_small, only, retold, with_results

from dpaudit.report import html
from dpaudit.report.summary import summarise


def with_further_instance(verdict="holds"):
    """Return the run of a learner whose utility alone was also audited with other parameters."""
    run = only(load_small(), "parity-private")
    original = first(run, "utility", "claim")
    further = replace(original, task="further", parameters={**original.parameters, "dimension": 5})
    return with_results(run, [*run.results, retold(further, verdict=verdict)])


def test_labels_say_what_differs():
    first, further = summarise(with_further_instance()).learners
    assert first.label == "parity-private (dimension=2)"
    assert further.label == "parity-private (dimension=5)"


def test_a_further_instance_is_not_blamed_for_what_another_row_judges():
    first, further = summarise(with_further_instance()).learners
    assert (first.further, further.further) == (False, True)
    assert further.privacy_verdict == "not checked"
    assert further.verdict == "consistent"
    assert "see this learner's other row" in further.missing["exact"]
    page = html.render(with_further_instance())
    assert page.count('id="m-parity-private"') == 1
    assert "(dimension = 5, epsilon = 1)" in page


def test_its_own_violation_is_one():
    _, further = summarise(with_further_instance("violation")).learners
    assert (further.verdict, further.to_blame) == ("violation", ("utility",))


def test_without_the_other_row_it_is_not_checked():
    run = with_further_instance()
    (row,) = summarise(with_results(run, run.results[-1:])).learners
    assert row.label == "parity-private"
    assert row.verdict == "not checked"

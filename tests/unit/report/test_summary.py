import json
import math

import pytest
from msgspec.structs import replace
from reporter_runs import (
    change,
    controls_missed,
    failed,
    first,
    load_small,
    only,
    planned,
    put,
    remake,
    retold,
    with_results,
)

from dpaudit.audit.checks_and_gaps import Powerless
from dpaudit.bounds.curve import fit_curve
from dpaudit.contract import PrivacyVerdict, TaskVerdict
from dpaudit.evidence.records import Fault
from dpaudit.report.summary import summarise
from dpaudit.report.words.claims import verdict_words


def row(run):
    summary = summarise(run)
    return [*summary.learners, *summary.controls][0]


def words(one):
    return verdict_words(one.verdict, one.to_blame)


def test_small_run_has_three_learners_and_one_convicted_control():
    summary = summarise(load_small())
    assert [r.label for r in summary.learners] == ["parity-private", "parity-elimination", "threshold-exponential"]
    assert [r.verdict for r in summary.learners] == ["consistent", "no claim", "consistent"]
    assert [r.label for r in summary.convicted] == ["parity-private-careless"]
    assert summary.controls[0].convicted_by == ("exact", "black box")
    assert not summary.violations
    assert not summary.undecided
    assert not summary.pending


def told(lines):
    """Return the records of a run without digests, floats to 12 digits: the last ones depend on the libraries."""
    records = [json.loads(line, parse_float=lambda text: f"{float(text):.12g}") for line in lines.splitlines()]
    return [{name: value for name, value in record.items() if name != "digest"} for record in records]


def test_stored_fixture_is_what_its_script_constructs():
    module = remake()
    assert told((module.HERE / "run_small.jsonl").read_bytes()) == told(module.lines(module.build()))


def test_ladder_never_decides():
    run = only(load_small(), "parity-private", "utility")
    assert any(r.finding.verdict == "violation" for r in run.results if r.arguments.role == "ladder")
    assert row(run).utility_verdict == "holds"
    assert words(row(run)) == "not checked"
    assert row(run).utility.n == 119


def test_ladder_alone_leaves_utility_unchecked_with_the_reason():
    run = only(load_small(), "parity-private", "utility")
    run = with_results(run, [r for r in run.results if r.arguments.role == "ladder"])
    assert row(run).utility is None
    assert row(run).utility_verdict == "not checked"
    assert "smaller samples" in row(run).missing["utility"]


@pytest.mark.parametrize("kind", ["exact", "privacy"])
def test_one_privacy_violation_is_enough(kind):
    run = change(only(load_small(), "parity-private"), kind, verdict="violation")
    assert words(row(run)) == "violation: privacy"
    assert summarise(run).violations


def test_violation_of_both_and_undecided():
    run = change(only(load_small(), "parity-private"), "utility", "claim", verdict="undecided")
    assert words(row(run)) == "undecided: utility"
    assert summarise(run).undecided
    run = put(run, retold(run.results[3], verdict="violation"))
    assert words(row(run)) == "violation: utility"
    run = change(run, "exact", verdict="violation")
    assert words(row(run)) == "violation: privacy and utility"
    assert not summarise(run).undecided


def test_infinite_epsilon_without_a_claim_is_no_violation_and_no_clearance():
    run = only(load_small(), "parity-elimination", "exact")
    assert row(run).privacy_verdict == TaskVerdict.NO_CLAIM
    assert words(row(run)) == "no claim"


def test_gravest_finding_decides_even_if_another_number_is_larger():
    run = only(load_small(), "parity-private", "exact")
    other = replace(run.results[0], task=run.results[0].task + "-2")
    grave = with_results(run, [*run.results, retold(other, verdict="violation", epsilon=0.2)])
    assert row(grave).exact.epsilon == 0.2
    large = with_results(run, [*run.results, retold(other, epsilon=math.inf)])
    assert row(large).exact.epsilon == math.inf


def test_strongest_lower_bound_and_worst_case_are_chosen():
    run = only(load_small(), "parity-private")
    found = first(run, "privacy")
    weak = retold(replace(found, task=found.task + "-2"), epsilon_lower=0.1, detectable_epsilon=9.0)
    run = with_results(run, [*run.results, weak])
    assert row(run).blackbox.epsilon_lower == found.finding.epsilon_lower
    assert row(run).utility.failures == 503


def test_a_control_is_convicted_by_privacy_audits_only():
    run = controls_missed(only(load_small(), "parity-private-careless"))
    assert summarise(run).controls[0].convicted_by == ()
    assert not summarise(run).convicted
    run = change(run, "privacy", verdict="violation")
    assert summarise(run).controls[0].convicted_by == ("black box",)
    assert not summarise(run).violations


def test_same_learner_with_other_parameters_is_another_row():
    run = load_small()
    parameters = {"epsilon": 0.5, "dimension": 3}
    twin = replace(first(run, "exact"), parameters=parameters, task="parity-private/exact/twin")
    summary = summarise(with_results(run, [*run.results, twin]))
    assert [r.label for r in summary.learners] == [
        "parity-private (dimension=2, epsilon=1.0)",
        "parity-elimination",
        "threshold-exponential",
        "parity-private (dimension=3, epsilon=0.5)",
    ]


def test_order_of_the_results_does_not_matter():
    run = load_small()
    assert summarise(replace(run, results=run.results[::-1])) == summarise(run)


def test_missing_results_are_pending_and_explained():
    run = planned(only(load_small(), "parity-private", "utility"), "parity-private/exact/n1-ab", "other/privacy/n1-cd")
    summary = summarise(run)
    assert summary.pending == ("parity-private/exact/n1-ab", "other/privacy/n1-cd")
    assert summary.learners[0].missing["exact"] == "planned, but not run to its end"
    assert "no black-box audit was planned" in summary.learners[0].missing["privacy"]
    assert list(map(words, summary.learners)) == ["incomplete: privacy", "incomplete: privacy"]
    assert (summary.learners[1].label, summary.learners[1].views) == ("other", [])
    assert not summary.whole


@pytest.mark.parametrize(
    ("kind", "overall", "verdicts"),
    [
        ("exact", "failed: privacy", ("failed", "undecided")),
        ("privacy", "failed: privacy", ("failed", "undecided")),
        ("utility", "failed: utility", ("consistent", "failed")),
    ],
)
def test_a_failure_is_no_silence(kind, overall, verdicts):
    whole = only(load_small(), "parity-private", "exact", "privacy", "utility")
    whole = change(whole, "utility", verdict="undecided")
    one = failed(whole, first(whole, kind))
    found = row(one)
    assert (words(found), found.privacy_verdict, found.utility_verdict) == (overall, *verdicts)
    summary = summarise(one)
    assert found.failures == [(kind, "RuntimeError: oops")]
    assert list(summary.errors.values()) == ["RuntimeError: oops"]
    if kind != "utility":
        assert found.missing[kind] == "failed: RuntimeError: oops"
    # A violation that was found is one, whatever else failed.
    one = change(one, "privacy" if kind == "exact" else "exact", verdict="violation")
    assert (row(one).verdict, row(one).to_blame[0]) == (PrivacyVerdict.VIOLATION, "privacy")


def test_a_learner_all_of_whose_tasks_failed_or_wait_has_a_row_on_its_side():
    run = load_small()
    control = "parity-private-careless"
    for result in [r for r in run.results if r.learner == "parity-private"]:
        run = failed(run, result)
    header = replace(run.header, controls={control: "what it leaks"})
    run = replace(run, header=header, results=tuple(r for r in run.results if r.learner != control))
    summary = summarise(run)
    assert [r.label for r in summary.learners] == ["parity-private", "parity-elimination", "threshold-exponential"]
    assert words(summary.learners[0]) == "failed: privacy and utility"
    (found,) = summary.controls
    assert (found.fault, words(found), found.convicted_by) == ("what it leaks", "incomplete: privacy", ())
    assert summary.missed == []  # nothing is known yet of what would convict it


def test_a_control_missed_by_all_of_its_audits_is_missed():
    run = controls_missed(only(load_small(), "parity-private-careless"))
    assert summarise(run).missed == summarise(run).controls
    assert summarise(failed(run, run.results[0])).missed == []


def test_a_learner_that_could_not_be_planned_has_a_row():
    run = only(load_small(), "parity-private")
    faults = (Fault("toy-bad", "no audit could be planned: ZeroDivisionError: x"),)
    last = summarise(replace(run, header=replace(run.header, faults=faults))).learners[-1]
    assert (last.label, words(last)) == ("toy-bad", "failed: privacy and utility")
    assert last.missing["exact"] == "failed: no audit could be planned: ZeroDivisionError: x"


def test_an_audit_without_evidence_is_told_apart():
    run = only(load_small(), "parity-private", "privacy")
    assert summarise(run).without_evidence == []
    silent = {"verdict": "no evidence", "gaps": (Powerless(),)}
    run = change(run, "privacy", **silent)
    assert (row(run).privacy_verdict, words(row(run))) == (PrivacyVerdict.NO_EVIDENCE, "no evidence: privacy")
    assert summarise(run).without_evidence == [row(run)]
    run = change(run, "privacy", verdict="violation")
    assert summarise(run).without_evidence == []
    both = only(load_small(), "parity-private", "exact", "privacy")
    both = change(both, "privacy", **silent)
    assert row(both).verdict == PrivacyVerdict.CONSISTENT  # the exact laws judge
    assert summarise(both).without_evidence == []


def test_reasons_without_a_claim():
    found = row(only(load_small(), "parity-elimination", "utility"))
    assert found.missing == {
        "exact": "no exact output law was enumerated in this run",
        "privacy": "the learner claims no privacy",
    }


def test_each_setting_has_its_own_cases_and_worst_one():
    found = row(only(load_small(), "parity-elimination"))
    assert found.settings == ("realizable", "empirical")
    assert (found.utility.setting, found.utility.failures) == ("empirical", 2)
    parts = [found.in_setting(setting) for setting in found.settings]
    assert [(p.utility.failures, len(p.cases), p.settings) for p in parts] == [
        (0, 1, ("realizable",)),
        (2, 1, ("empirical",)),
    ]
    ladder = row(only(load_small(), "parity-private")).in_setting("empirical")
    assert (ladder.cases, ladder.ladder, ladder.utility) == ([], [], None)


def test_joint_confidence_adds_up_the_errors_of_the_cases():
    assert row(only(load_small(), "parity-private")).utility_confidence == 0.95
    alone = only(load_small(), "parity-elimination", "utility")
    assert row(with_results(alone, alone.results[:1])).utility_confidence == 0.975
    assert row(only(load_small(), "parity-private", "exact")).utility_confidence is None


@pytest.mark.parametrize(("lower", "conflict"), [(0.5108, False), (0.51083, True), (math.inf, True), (0.0, False)])
def test_a_lower_bound_above_the_exact_worst_case_is_a_conflict(lower, conflict):
    run = only(load_small(), "parity-private")  # exact 0.5108256
    assert row(change(run, "privacy", epsilon_lower=lower)).conflict is conflict


@pytest.mark.parametrize(
    ("lower", "exact", "conflict"),
    [
        (0.6, {"error": 0.1}, False),
        (0.6, {"relation": "add-remove-one"}, False),
        (0.6, {"epsilon": 0.6, "error": 0.0}, False),  # equal is no contradiction
        (0.7, {"epsilon": 0.6, "error": 0.0}, True),
        (0.7, {"epsilon": 0.6, "n": None}, False),  # some samples alone: the black box may have gone on to worse ones
    ],
)
def test_conflict_needs_the_same_relation_and_respects_the_error(lower, exact, conflict):
    run = change(only(load_small(), "parity-private"), "privacy", epsilon_lower=lower)
    assert row(change(run, "exact", **exact)).conflict is conflict


@pytest.mark.parametrize(("lower", "conflict"), [(0.199, False), (0.2, False), (0.201, True), (0.45, True)])
def test_a_lower_bound_at_a_delta_that_the_laws_deny_is_a_conflict(lower, conflict):
    run = change(only(load_small(), "parity-private"), "privacy", epsilon_lower=lower, delta=0.1, curve=None)
    run = change(run, "exact", curve=((0.0, 0.3), (0.1, 0.2), (0.2, 0.05), (0.5, 0.001), (0.6, 0.0)))
    assert row(run).conflict is conflict
    # An exact delta that may be above 0.1 by its error denies nothing.
    assert not row(change(run, "exact", error=0.06)).conflict


@pytest.mark.parametrize(("exact", "conflict"), [(0.2, False), (0.05, True)])
def test_a_lower_bound_on_delta_above_the_exact_delta_is_a_conflict(exact, conflict):
    curve = fit_curve([600], 1_000, [400], 1_000, 0.01)
    assert 0.05 < curve.delta_lower(0.0) < 0.2
    run = change(only(load_small(), "parity-private"), "privacy", epsilon_lower=0.1, curve=curve)
    assert row(change(run, "exact", curve=((0.0, exact), (0.6, 0.0)))).conflict is conflict


@pytest.mark.parametrize(
    ("samples", "scope"), [("all", "all samples"), ("crafted", "crafted samples only"), ("given", "the pairs given")]
)
def test_scope_of_the_exact_audit(samples, scope):
    run = only(load_small(), "parity-private")
    result = first(run, "exact")
    assert row(put(run, replace(result, arguments=replace(result.arguments, samples=samples)))).scope == scope
    assert row(only(run, "parity-private", "utility")).scope == ""

import json
import math

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace
from reporter_runs import GOLDEN, change, failed, first, load_small, only, with_results

from dpaudit.errors import ToolFault
from dpaudit.record import decode, encodable
from dpaudit.report import json as json_report
from dpaudit.report import schema
from dpaudit.report.json import Report


def variants():
    """Return runs in which different things are missing."""
    run = load_small()
    yield run
    yield with_results(run, [])
    for learner in ("parity-private", "parity-elimination", "threshold-exponential", "parity-private-careless"):
        for kind in ("exact", "privacy", "utility"):
            yield only(run, learner, kind)


def test_small_run_is_the_golden_document():
    assert json_report.render(load_small()) == (GOLDEN / "run_small.json").read_text()


@pytest.mark.parametrize("run", list(variants()))
def test_every_report_validates(run):
    text = json_report.render(run)
    Draft202012Validator(schema.load("report")).validate(json.loads(text))
    assert decode(text, Report) == json_report.report_of(run)


def test_rows_hold_the_numbers_as_they_are():
    run = load_small()
    document = json.loads(json_report.render(run))
    good, bare, bets = document["learners"]
    findings = {result["task"]: result["finding"] for result in document["results"]}
    assert good["numbers"]["exact_epsilon"] == first(run, "exact").finding.epsilon
    assert good["numbers"]["epsilon_lower"] == findings[good["deciding"]["privacy"]]["epsilon_lower"]
    assert (good["joint_confidence"], bets["joint_confidence"], bare["hard_cases"]) == (0.95, None, 2)
    assert findings[bare["deciding"]["utility"]]["setting"] == "empirical"
    settings = {setting: findings[task] for setting, task in bare["deciding_settings"].items()}
    assert [(s, f["failure"], f["n"]) for s, f in settings.items()] == [
        ("empirical", "error on the sample > 0.1", 1),
        ("realizable", "error > 0.1", 37),
    ]
    assert bets["missing"]["utility"] == "no audit of utility was planned"
    assert (bare["numbers"]["exact_epsilon"], bare["numbers"]["claimed_epsilon"]) == ("inf", None)
    assert ("privacy" in bare["deciding"], bare["missing"]) == (False, {"privacy": "the learner claims no privacy"})
    assert good["verdict"] == {"privacy": "consistent", "utility": "holds", "overall": "consistent"}
    assert document["positive_controls"][0]["convicted_by"] == ["exact", "black box"]
    assert document["results"] == [encodable(result) for result in run.results]
    assert document["totals"] == {
        "learners": 3,
        "violations": 0,
        "undecided": 0,
        "no_evidence": 0,
        "vacuous": 0,
        "positive_controls": 1,
        "convicted": 1,
        "pending": 0,
        "failed": 0,
        "unplanned": 0,
    }


def test_keys_are_sorted_and_order_of_the_results_does_not_matter():
    run = load_small()
    text = json_report.render(run)
    assert text == json.dumps(json.loads(text), sort_keys=True, indent=1) + "\n"
    assert json_report.render(replace(run, results=run.results[::-1])) == text


def test_nan_is_refused():
    with pytest.raises(ToolFault, match="NaN"):
        json_report.render(change(load_small(), "exact", epsilon=math.nan))


def test_failures_are_in_the_document_and_in_the_schema():
    run = load_small()
    run = failed(run, run.results[0])
    document = json.loads(json_report.render(run))
    Draft202012Validator(schema.load("report")).validate(document)
    assert document["failures"] == [encodable(run.failures[0])]
    assert (document["totals"]["failed"], document["totals"]["pending"]) == (1, 1)
    assert document["learners"][0]["verdict"] == {"privacy": "failed", "utility": "holds", "overall": "failed"}

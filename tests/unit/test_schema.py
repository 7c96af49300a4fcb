import copy
import dataclasses
import json

import numpy as np
import pytest
from jsonschema import Draft202012Validator, ValidationError
from reporter_runs import load_small, only, remake

from dpaudit import audit_privacy, schema
from dpaudit.errors import InputError
from dpaudit.reporters import console, html
from dpaudit.reporters import json as json_report
from dpaudit.results import LawFinding, LedgerRow, PrivacyFinding, UtilityFinding, Witness


@pytest.mark.parametrize("name", schema.NAMES)
def test_schemas_are_valid_and_self_contained(name):
    loaded = schema.load(name)
    Draft202012Validator.check_schema(loaded)
    with pytest.raises(ValidationError):
        Draft202012Validator(loaded).validate({})


def test_load_returns_a_fresh_copy_and_refuses_unknown_names():
    schema.load("run")["$defs"].clear()
    assert schema.load("run")["$defs"]
    with pytest.raises(InputError, match="name must be one of finding, ledger, picture, run, report; got 'runs'"):
        schema.load("runs")


@pytest.mark.parametrize(
    ("kind", "finding"), [("privacy", PrivacyFinding), ("exact", LawFinding), ("utility", UtilityFinding)]
)
def test_schema_lists_exactly_the_fields_of_a_finding(kind, finding):
    described = schema.load("finding")["$defs"][kind]
    fields = {f.name for f in dataclasses.fields(finding)} - {"profiles"} | {"schema_version"}
    assert set(described["properties"]) == fields
    # These are left out where none was asked for.
    assert set(described["required"]) == fields - {"enclosure", "composition"}


def test_an_exact_finding_may_hold_an_enclosure():
    finding = next(r["finding"] for r in load_small()["results"] if r["kind"] == "exact")
    assert "enclosure" not in finding
    assert is_valid({**finding, "enclosure": [0.5, 0.6]})
    assert is_valid({**finding, "enclosure": [0.5, "inf"]})
    rows = {"epsilons": [[0.1, 1.0, "inf"]], "deltas": [[0.0, 0.1, 0.2]]}
    composed = {"times": 3, "grade": "exact", "basic": "inf", **rows}
    assert is_valid({**finding, "composition": composed})
    assert not is_valid({**finding, "composition": {**composed, "deltas": [[0.0, 0.1]]}})


def test_schema_lists_exactly_the_fields_of_a_witness():
    described = schema.load("finding")["$defs"]["witness"]
    assert set(described["required"]) == {f.name for f in dataclasses.fields(Witness)}


def test_schema_lists_exactly_the_fields_of_a_row_of_the_ledger():
    described = schema.load("ledger")
    fields = {f.name for f in dataclasses.fields(LedgerRow)} | {"schema_version"}
    assert set(described["properties"]) == set(described["required"]) == fields


def test_findings_as_constructed_validate():
    finding, ledger = (Draft202012Validator(schema.load(name)) for name in ("finding", "ledger"))
    kinds = set()
    for result in remake().build()["results"]:
        (ledger if result["kind"] == "ledger" else finding).validate(result["finding"])
        kinds.add(result["finding"]["kind"])
    assert kinds == {"exact", "privacy", "utility", "ledger"}


def test_lines_of_a_run_validate():
    validator, run = Draft202012Validator(schema.load("run")), load_small()
    for line in (run["header"], *run["results"]):
        validator.validate(line)


BAD = [
    ("exact", {"epsilon": "infinity"}),
    ("exact", {"epsilon": -0.1}),
    ("exact", {"verdict": "pass"}),
    ("exact", {"grade": "statistical"}),
    ("exact", {"delta_at_claim": 1.5}),
    ("exact", {"curve": [[0.0, 0.1, 0.2]]}),
    ("exact", {"extra": 1}),
    ("exact", {"enclosure": None}),
    ("exact", {"enclosure": [0.1]}),
    ("exact", {"relation": "neighbour"}),
    ("exact", {"schema_version": 2}),
    ("privacy", {"epsilon_lower": None}),
    ("privacy", {"confidence": 1.0}),
    ("privacy", {"trials": 0}),
    ("privacy", {"kind": "utility"}),
    ("privacy", {"grade": "exact"}),
    ("privacy", {"witness": {}}),
    ("privacy", {"design": "sequential"}),
    ("privacy", {"design": "adaptive"}),
    ("privacy", {"detectable_delta": 1.5}),
    ("privacy", {"frontier": [[0.1]]}),
    ("privacy", {"frontier": [[0.0, 1.0]]}),
    ("privacy", {"frontier": [[0.1, 1.0, 2.0]]}),
    ("privacy", {"budget": {"used": 10, "allowed": 20}}),
    ("privacy", {"budget": {"halving": 0, "local": 0, "training": 1, "confirmation": -1}}),
    ("privacy", {"errors": {"curve": 0.05}}),
    ("privacy", {"errors": {"verdict": 0}}),
    ("privacy", {"scores": "histogram"}),
    ("privacy", {"tests": [{"event": "the output is 1"}]}),
    ("privacy", {"origins": None}),
    ("privacy", {"curve": {}}),
    ("utility", {"verdict": "consistent"}),
    ("utility", {"n": 0}),
    ("utility", {"failure_rate": 1.1}),
    ("ledger", {"verdict": "consistent"}),
    ("ledger", {"verdict": "refuted", "witness": ""}),
    ("ledger", {"statement": ""}),
    ("ledger", {"grade": "proved"}),
    ("ledger", {"numbers": {"n": "many"}}),
    ("ledger", {"numbers": {"n": True}}),
    ("ledger", {"id": "two words"}),
    ("ledger", {"extra": 1}),
]


@pytest.mark.parametrize(("kind", "change"), BAD)
def test_wrong_findings_are_refused(kind, change):
    result = next(r for r in load_small()["results"] if r["kind"] == kind)
    finding = {**result["finding"], **change}
    with pytest.raises(ValidationError):
        Draft202012Validator(schema.load("ledger" if kind == "ledger" else "finding")).validate(finding)
    with pytest.raises(ValidationError):
        Draft202012Validator(schema.load("run")).validate({**result, "finding": finding})


def black_box(design, curve):
    """Return the stored finding of a design, with or without a curve."""
    found = [r["finding"] for r in load_small()["results"] if r["kind"] == "privacy"]
    return next(f for f in found if f["design"] == design and (f["curve"] is not None) == curve)


def is_valid(finding):
    return Draft202012Validator(schema.load("finding")).is_valid(finding)


def test_the_fixtures_hold_both_designs_with_and_without_a_curve():
    assert all(is_valid(black_box(*kind)) for kind in (("fixed", True), ("fixed", False), ("sequential", False)))


def test_counts_are_there_in_the_fixed_design_and_only_there():
    fixed, bets = black_box("fixed", False), black_box("sequential", False)
    for name in ("hits", "trials", "neighbour_hits", "neighbour_trials"):
        assert not is_valid({**fixed, "witness": {**fixed["witness"], name: None}})
        assert not is_valid({**bets, "witness": {**bets["witness"], name: 1}})
    assert not is_valid({**bets, "curve": black_box("fixed", True)["curve"]})


BAD_CURVES = [
    {"gamma": 0},
    {"gamma": 1},
    {"trials": 0},
    {"mu_lower": -1},
    {"false_positive_upper": []},
    {"false_negative_upper": [0.0, 0.5]},
    {"false_negative_upper": [0.1, 1.5]},
    {"false_positive_upper": "inf"},
    {"extra": 1},
]


@pytest.mark.parametrize("change", BAD_CURVES)
def test_wrong_curves_are_refused(change):
    finding = black_box("fixed", True)
    assert not is_valid({**finding, "curve": {**finding["curve"], **change}})


@pytest.mark.parametrize("field", ["false_positive_upper", "false_negative_upper", "gamma", "trials", "mu_lower"])
def test_a_curve_needs_all_its_fields(field):
    finding = black_box("fixed", True)
    assert not is_valid({**finding, "curve": {k: v for k, v in finding["curve"].items() if k != field}})


def coin(bit, rng, size):
    return np.where(rng.random(size) < 0.75, bit, 1 - bit)


@pytest.mark.parametrize("options", [{}, {"curve": True}, {"sequential": True}, {"delta": 0.1}])
def test_what_an_audit_finds_validates_and_is_told_in_every_report(options):
    finding = audit_privacy(coin, [(0, 1), (1, 0)], batched=True, **{"epsilon": 1.0, "trials": 2_000, **options})
    stored = json.loads(json.dumps(finding.to_dict(), allow_nan=False))
    Draft202012Validator(schema.load("finding")).validate(stored)
    run = only(load_small(), "parity-private", "privacy")
    run["results"][0]["finding"] = stored
    Draft202012Validator(schema.load("report")).validate(json.loads(json_report.render(run)))
    assert "What was not seen" in html.render(run)
    assert "what was not seen" in console.render(run)


def test_a_result_and_its_finding_are_of_the_same_kind():
    results = load_small()["results"]
    crossed = copy.deepcopy(results[0])
    crossed["finding"] = results[1]["finding"]
    with pytest.raises(ValidationError):
        Draft202012Validator(schema.load("run")).validate(crossed)


@pytest.mark.parametrize("field", ["learner", "fault", "claim", "task", "finding"])
def test_a_result_needs_all_its_fields(field):
    result = copy.deepcopy(load_small()["results"][0])
    del result[field]
    with pytest.raises(ValidationError):
        Draft202012Validator(schema.load("run")).validate(result)

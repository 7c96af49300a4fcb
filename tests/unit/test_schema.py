import copy
import dataclasses

import pytest
from jsonschema import Draft202012Validator, ValidationError
from reporter_runs import load_small, remake

from dpaudit import schema
from dpaudit.errors import InputError
from dpaudit.results import LawFinding, PrivacyFinding, UtilityFinding, Witness


@pytest.mark.parametrize("name", schema.NAMES)
def test_schemas_are_valid_and_self_contained(name):
    loaded = schema.load(name)
    Draft202012Validator.check_schema(loaded)
    with pytest.raises(ValidationError):
        Draft202012Validator(loaded).validate({})


def test_load_returns_a_fresh_copy_and_refuses_unknown_names():
    schema.load("run")["$defs"].clear()
    assert schema.load("run")["$defs"]
    with pytest.raises(InputError, match="name must be one of finding, run, report; got 'runs'"):
        schema.load("runs")


@pytest.mark.parametrize(
    ("kind", "finding"), [("privacy", PrivacyFinding), ("exact", LawFinding), ("utility", UtilityFinding)]
)
def test_schema_lists_exactly_the_fields_of_a_finding(kind, finding):
    described = schema.load("finding")["$defs"][kind]
    fields = {f.name for f in dataclasses.fields(finding)} - {"profiles"} | {"schema_version"}
    assert set(described["properties"]) == set(described["required"]) == fields


def test_schema_lists_exactly_the_fields_of_a_witness():
    described = schema.load("finding")["$defs"]["witness"]
    assert set(described["required"]) == {f.name for f in dataclasses.fields(Witness)}


def test_findings_as_constructed_validate():
    validator = Draft202012Validator(schema.load("finding"))
    kinds = set()
    for result in remake().build()["results"]:
        validator.validate(result["finding"])
        kinds.add(result["finding"]["kind"])
    assert kinds == {"exact", "privacy", "utility"}


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
    ("exact", {"relation": "neighbour"}),
    ("exact", {"schema_version": 2}),
    ("privacy", {"epsilon_lower": None}),
    ("privacy", {"confidence": 1.0}),
    ("privacy", {"trials": 0}),
    ("privacy", {"kind": "utility"}),
    ("privacy", {"grade": "exact"}),
    ("privacy", {"witness": {}}),
    ("utility", {"verdict": "consistent"}),
    ("utility", {"n": 0}),
    ("utility", {"failure_rate": 1.1}),
]


@pytest.mark.parametrize(("kind", "change"), BAD)
def test_wrong_findings_are_refused(kind, change):
    result = next(r for r in load_small()["results"] if r["kind"] == kind)
    finding = {**result["finding"], **change}
    with pytest.raises(ValidationError):
        Draft202012Validator(schema.load("finding")).validate(finding)
    with pytest.raises(ValidationError):
        Draft202012Validator(schema.load("run")).validate({**result, "finding": finding})


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

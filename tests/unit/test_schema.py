"""The schemas, generated from the types: they describe every field, and refuse what the decoder refuses."""

import json
import math
from functools import cache

import msgspec
import numpy as np
import pytest
from cli_support import called
from jsonschema import Draft202012Validator, ValidationError
from reporter_runs import load_small, only, remake, with_results

from dpaudit import audit_privacy
from dpaudit.audit.finding import PrivacyFinding, Witness
from dpaudit.errors import InputError, ToolFault
from dpaudit.evidence.records import AnyFinding, LedgerRow, Record
from dpaudit.exact.finding import LawFinding
from dpaudit.record import Extended, NonNegative, decode, encodable, schema_of_type
from dpaudit.report import console, html, schema
from dpaudit.report import json as json_report
from dpaudit.utility.finding import UtilityFinding
from tests.support.grouped import grouped


@cache
def loaded(name):
    return schema.load(name)


@cache
def validator(name):
    return Draft202012Validator(loaded(name))


@pytest.mark.parametrize("name", schema.NAMES)
def test_schemas_are_valid_and_self_contained(name):
    Draft202012Validator.check_schema(loaded(name))
    with pytest.raises(ValidationError):
        validator(name).validate({})


@pytest.mark.parametrize("name", schema.NAMES)
def test_a_command_prints_each(name, capsys):
    status, text, _ = called(capsys, "help", "schema", name, joined=False)
    assert (status, json.loads(text)) == (0, json.loads(json.dumps(loaded(name))))
    assert called(capsys, "help", "schema", "findings")[0] == 2


@pytest.mark.parametrize("name", schema.NAMES)
def test_every_record_and_every_field_is_described_and_nothing_else_is_allowed(name):
    for title, part in loaded(name)["$defs"].items():
        assert part["description"], title
        assert "----" not in part["description"], title
        if part.get("type") == "object":
            assert part["additionalProperties"] is False
            for field, described in part["properties"].items():
                assert described.get("description"), f"{title}.{field}"


def test_descriptions_are_the_words_of_the_docstrings():
    law = loaded("finding")["$defs"]["LawFinding"]
    assert law["description"].startswith("The finding of an audit by exact output laws, on the pairs of neighbours")
    assert law["properties"]["worst_pair"]["description"] == 'The worst pair; "worst_pair" in JSON.'
    assert law["properties"]["versions"]["description"].startswith("Versions of Python and of the libraries")
    assert law["properties"]["verdict"]["enum"] == ["violation", "consistent", "no evidence"]


def test_load_returns_a_fresh_copy_and_refuses_unknown_names():
    schema.load("run")["$defs"].clear()
    assert schema.load("run")["$defs"]
    with pytest.raises(InputError, match="picture, certificate, run, report; got 'runs'"):
        schema.load("runs")


@pytest.mark.parametrize("kind", [PrivacyFinding, LawFinding, UtilityFinding, Witness, LedgerRow])
def test_every_field_is_required_as_it_is_always_written(kind):
    described = loaded("ledger" if kind is LedgerRow else "finding")["$defs"][kind.__name__]
    fields = {field.encode_name for field in msgspec.structs.fields(kind)}
    assert set(described["properties"]) - {"kind"} == fields
    # Written where a time limit was given, or a claim that is a curve; and fields that older files lack.
    unset = {
        PrivacyFinding: {
            "stopped",
            "tested_claim",
            "compared",
            "replayed",
            "run_time",
            "continued",
            "reach",
            "dataset",
            "libraries",
            "log_evidence",
        },
        UtilityFinding: {"family"},
        Witness: {"digest", "difference", "opposite", "count", "plain"},
        LawFinding: {"worst_code", "worst_output"},
    }.get(kind, set())
    assert set(described["required"]) == set(described["properties"]) - unset


def test_numbers_keep_their_bounds():
    found = loaded("finding")["$defs"]["PrivacyFinding"]["properties"]
    assert (found["confidence"]["exclusiveMinimum"], found["confidence"]["exclusiveMaximum"]) == (0, 1)
    assert (found["delta"]["minimum"], found["delta"]["maximum"]) == (0, 1)
    assert found["trials"]["minimum"] == 1
    assert found["epsilon_lower"]["anyOf"] == [{"type": "number", "minimum": 0}, {"enum": ["inf"]}]
    assert schema_of_type(Extended) == {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf"]}]}
    with pytest.raises(NotImplementedError, match="complex"):
        schema_of_type(complex)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Extended, '"-inf"', -math.inf),
        (Extended, "-1.5", -1.5),
        (NonNegative, '"inf"', math.inf),
        (NonNegative, "0", 0),
    ],
)
def test_numbers_that_may_be_infinite_are_read(kind, text, value):
    assert decode(text, kind) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [(Extended, text) for text in ('"infinity"', "true", "null", "[1]", '"1"')]
    + [(NonNegative, text) for text in ("-1e-300", '"-inf"', "false", '"nan"')],
)
def test_what_is_no_such_number_is_refused(kind, text):
    with pytest.raises(ToolFault, match="Expected a number"):
        decode(text, kind)


def test_findings_as_constructed_validate():
    kinds = set()
    for result in remake().build().results:
        validator("ledger" if result.kind == "ledger" else "finding").validate(result.finding.to_dict())
        kinds.add(result.finding.kind)
    assert kinds == {"exact", "privacy", "utility", "ledger"}


def test_lines_of_a_run_validate():
    run = load_small()
    for line in (run.header, *run.results):
        validator("run").validate(encodable(line))
        assert decode(json.dumps(encodable(line)), Record) == line


def test_lone_surrogates_are_written_escaped():
    result = msgspec.structs.replace(load_small().results[0], fault="a\ud800b", parameters={"\udc80": ["\udfff"]})
    read = decode(json.dumps(encodable(result)), Record)
    assert (read.fault, read.parameters) == ("a\\ud800b", {"\\udc80": ["\\udfff"]})


def test_every_finding_is_read_as_it_was_written():
    for result in load_small().results:
        assert decode(json.dumps(result.finding.to_dict()), AnyFinding) == result.finding


BAD = [
    ("exact", {"epsilon": "infinity"}),
    ("exact", {"epsilon": -0.1}),
    ("exact", {"verdict": "pass"}),
    ("exact", {"delta_at_claim": 1.5}),
    ("exact", {"curve": [[0.0, 0.1, 0.2]]}),
    ("exact", {"curve": [[0.0, 1.1]]}),
    ("exact", {"extra": 1}),
    ("exact", {"enclosure": [0.1]}),
    ("exact", {"composition": {"times": 3, "grade": "exact", "basic": 1.0, "epsilons": [], "deltas": [[0.0, 0.1]]}}),
    ("exact", {"relation": "neighbour"}),
    ("exact", {"schema_version": 1}),
    ("exact", {"n": -1}),
    ("privacy", {"epsilon_lower": None}),
    ("privacy", {"confidence": 1.0}),
    ("privacy", {"trials": 0}),
    ("privacy", {"kind": "utility"}),
    ("privacy", {"witness": {}}),
    ("privacy", {"design": "adaptive"}),
    ("privacy", {"frontier": [[0.1]]}),
    ("privacy", {"frontier": [[0.0, 1.0]]}),
    ("privacy", {"frontier": [[0.1, 1.0, 2.0]]}),
    ("privacy", {"budget": {"search": 0, "local": 0, "pilot": 1, "training": 1, "confirmation": -1}}),
    ("privacy", {"errors": {"verdict": 0}}),
    ("privacy", {"scores": "histogram"}),
    ("privacy", {"tests": [{"event": {"kind": "told", "text": "the output is 1"}}]}),
    ("privacy", {"origins": None}),
    ("privacy", {"curve": {}}),
    ("utility", {"verdict": "consistent"}),
    ("utility", {"n": 0}),
    ("utility", {"failure_rate": 1.1}),
    ("utility", {"setting": "pac"}),
    ("utility", {"alpha": 1.0}),
    ("ledger", {"verdict": "consistent"}),
    ("ledger", {"statement": ""}),
    ("ledger", {"grade": "proved"}),
    ("ledger", {"numbers": {"n": "many"}}),
    ("ledger", {"numbers": {"n": True}}),
    ("ledger", {"id": "two words"}),
    ("ledger", {"extra": 1}),
]
TIED = [
    ("exact", {"grade": "statistical"}),
    ("privacy", {"grade": "exact"}),
    ("utility", {"grade": "numeric"}),
    ("privacy", {"design": "sequential"}),
    ("privacy", {"detectable_delta": 1.5}),
    ("privacy", {"budget": {"used": 10, "allowed": 20}}),
    ("privacy", {"errors": {"curve": 0.05}}),
    ("ledger", {"verdict": "refuted", "witness": ""}),
]
"""Rules between fields, which the decoder checks and a schema does not say."""


def stored(kind):
    return encodable(next(r for r in load_small().results if r.kind == kind))


@pytest.mark.parametrize(("kind", "change"), BAD + TIED)
def test_wrong_findings_are_not_read(kind, change):
    result = stored(kind)
    result["finding"] |= change
    with pytest.raises(ToolFault):
        decode(json.dumps(result["finding"]), AnyFinding)
    with pytest.raises(ToolFault, match=r"\$\.finding|kind"):
        decode(json.dumps(result), Record)


@pytest.mark.parametrize(("kind", "change"), BAD)
def test_wrong_findings_do_not_validate(kind, change):
    result = stored(kind)
    result["finding"] |= change
    if change != {"kind": "utility"}:  # which kind of finding goes with which task is tied
        assert not validator("run").is_valid(result)
    assert not validator("ledger" if kind == "ledger" else "finding").is_valid(result["finding"])


def black_box(design, curve):
    """Return the stored finding of a design, with or without a curve."""
    found = [r.finding for r in load_small().results if r.kind == "privacy"]
    return encodable(next(f for f in found if f.design == design and (f.curve is not None) == curve))


def is_read(finding):
    try:
        decode(json.dumps(finding), PrivacyFinding)
    except ToolFault:
        return False
    return True


def test_the_fixtures_hold_both_designs_with_and_without_a_curve():
    assert all(is_read(black_box(*kind)) for kind in (("fixed", True), ("fixed", False), ("sequential", False)))


def test_counts_are_there_in_the_fixed_design_and_only_there():
    fixed, bets = black_box("fixed", False), black_box("sequential", False)
    for name in ("hits", "trials", "neighbour_hits", "neighbour_trials"):
        assert not is_read({**fixed, "witness": {**fixed["witness"], name: None}})
        assert not is_read({**bets, "witness": {**bets["witness"], name: 1}})
    assert not is_read({**bets, "curve": black_box("fixed", True)["curve"]})


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
    wrong = {**finding, "curve": {**finding["curve"], **change}}
    assert not is_read(wrong)
    assert change == {"false_positive_upper": []} or not validator("finding").is_valid(wrong)


@pytest.mark.parametrize("field", ["false_positive_upper", "false_negative_upper", "gamma", "trials", "mu_lower"])
def test_a_curve_needs_all_its_fields(field):
    finding = black_box("fixed", True)
    lacking = {**finding, "curve": {k: v for k, v in finding["curve"].items() if k != field}}
    assert not is_read(lacking)
    assert not validator("finding").is_valid(lacking)


def coin(bit, rng, size):
    return np.where(rng.random(size) < 0.75, bit, 1 - bit)


@pytest.mark.parametrize("options", [{}, {"curve": True}, {"sequential": True}, {"delta": 0.1}])
def test_what_an_audit_finds_validates_and_is_told_in_every_report(options):
    finding = audit_privacy(
        coin, [(0, 1), (1, 0)], **grouped(batched=True, **{"epsilon": 1.0, "trials": 2_000, **options})
    )
    written = json.dumps(finding.to_dict(), allow_nan=False)
    validator("finding").validate(json.loads(written))
    assert decode(written, PrivacyFinding) == finding
    run = only(load_small(), "parity-private", "privacy")
    run = with_results(run, [msgspec.structs.replace(run.results[0], finding=finding)])
    validator("report").validate(json.loads(json_report.render(run)))
    assert "would be detected" in html.render(run)
    assert "black-box power" in console.full(run)


def test_a_result_and_its_finding_are_of_the_same_kind():
    crossed = {**stored("exact"), "finding": stored("privacy")["finding"]}
    with pytest.raises(ToolFault, match="a task of kind exact has a finding of kind privacy"):
        decode(json.dumps(crossed), Record)


@pytest.mark.parametrize("field", ["learner", "fault", "claim", "task", "finding"])
def test_a_result_has_all_its_fields(field):
    result = stored("exact")
    del result[field]
    assert not validator("run").is_valid(result)

"""Files of schema version 1: read and upgraded, with the faults of their lines named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpaudit.audit.evidence import Powerless
from dpaudit.contract import Origin, OriginKind
from dpaudit.engine.lines import write_line
from dpaudit.engine.records import Result
from dpaudit.engine.store import FILENAME, Store, load_run
from dpaudit.engine.upgrade import upgraded
from dpaudit.errors import InputError, ToolFault
from dpaudit.events.event import Told
from dpaudit.record import decode
from dpaudit.results import SCHEMA_VERSION

BEFORE = Path(__file__).parents[2] / "golden" / "run_before.jsonl"
LINES = BEFORE.read_bytes().splitlines()


def first(kind: str) -> dict:
    """Return the first stored result of a kind, as data."""
    return next(told for told in map(json.loads, LINES[1:]) if told["kind"] == kind)


@pytest.fixture(scope="module")
def run():
    return load_run(BEFORE)


def test_a_run_of_version_1_is_read_whole(run):
    old = [json.loads(line) for line in LINES]
    assert old[0]["schema_version"] == 1
    assert run.header.schema_version == SCHEMA_VERSION
    assert ([planned.task for planned in run.header.plan], run.failures) == (old[0]["plan"], ())
    of_results = [(result.task, result.learner, result.kind) for result in run.results]
    assert [(planned.task, planned.learner, planned.kind) for planned in run.header.plan] == of_results
    assert [result.task for result in run.results] == old[0]["plan"]
    for told, result in zip(old[1:], run.results, strict=True):
        assert (told["kind"], told["learner"], told["parameters"]) == (result.kind, result.learner, result.parameters)
        verdict = getattr(result.finding, "verdict", "drawn")
        assert told["finding"].get("verdict") == ("holds" if verdict == "vacuous" else verdict)


def test_events_become_words_that_were_told(run):
    for line, result in zip(LINES[1:], run.results, strict=True):
        if result.kind == "privacy":
            told, new = json.loads(line), result.finding
            old, decoded = told["finding"], told.get("decoded", {})
            meant = f" ({', '.join(f'{code}: {word}' for code, word in decoded.items())})" if decoded else ""
            assert new.witness.event == Told(old["witness"]["event"] + meant)
            assert [test.event for test in new.tests] == [Told(test["event"]) for test in old["tests"]]


@pytest.mark.parametrize(
    ("told", "origin"),
    [
        ("given", Origin()),
        ("by hand: x", Origin(text="by hand: x")),
        ("random: number 3", Origin(OriginKind.RANDOM, "number 3")),
        ("local search from local search from crafted: a; b: c", Origin(OriginKind.CRAFTED, "a; b: c", moves=2)),
        (
            "every sample of 4 examples",
            Origin(OriginKind.ENUMERATED, "every sample of 4 examples"),
        ),
    ],
)
def test_origins_become_records(told, origin):
    line = first("exact")
    line["finding"]["worst_pair"]["origin"] = told
    assert decode(upgraded(json.dumps(line).encode()), Result).finding.pair_in_words.origin == origin


def test_silence_without_power_is_no_evidence(tmp_path):
    told = first("privacy")
    told["finding"] |= {"verdict": "consistent", "detectable_epsilon": "inf"}
    path = tmp_path / FILENAME
    path.write_bytes(LINES[0] + b"\n" + json.dumps(told).encode() + b"\n")
    (result,) = load_run(path).results
    assert (result.finding.verdict, result.finding.gaps) == ("no evidence", (Powerless(),))
    assert result.finding.budget["checks"] == 0
    told["finding"] |= {"verdict": "violation", "epsilon_lower": 1.5, "tests": []}
    path.write_bytes(LINES[0] + b"\n" + json.dumps(told).encode() + b"\n")
    (result,) = load_run(path).results
    assert (result.finding.verdict, result.finding.gaps) == ("violation", ())


def test_an_upgraded_run_is_written_and_read_as_one_of_today(run, tmp_path):
    path = tmp_path / FILENAME
    path.write_bytes(b"".join(map(write_line, [run.header, *run.results])))
    again = load_run(path)
    assert [write_line(result) for result in again.results] == [write_line(result) for result in run.results]
    assert all(result.digest for result in again.results)


def test_a_failure_of_version_1_is_upgraded_too(tmp_path):
    told = first("exact")
    failed = {name: told[name] for name in ("task", "index", "kind", "learner", "parameters", "arguments")}
    path = tmp_path / FILENAME
    path.write_bytes(LINES[0] + b"\n" + json.dumps({**failed, "record": "failure", "error": "oops"}).encode() + b"\n")
    (failure,) = load_run(path).failures
    assert (failure.error, failure.kind, failure.task) == ("oops", "exact", told["task"])


def test_a_run_of_version_1_is_not_gone_on_with(run, tmp_path):
    path = tmp_path / FILENAME
    path.write_bytes(BEFORE.read_bytes())
    with pytest.raises(InputError, match="was written in schema version 1, this dpaudit writes 2"):
        Store.resume(path, run.header)
    assert path.read_bytes() == BEFORE.read_bytes()


def changed(**changes) -> bytes:
    told = {**first("utility"), **changes}
    return json.dumps({name: value for name, value in told.items() if value is not None}).encode()


def privacy(**changes) -> bytes:
    told = first("privacy")
    told["finding"] |= changes
    return json.dumps(told).encode()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", r"corrupt \("),
        (b"\xff", r"corrupt \("),
        (b"[" * 100_000, r"corrupt \("),
        (b"[1]", "not a JSON object"),
        (
            changed(digest="0" * 64),
            "altered since it was written: a record of schema version 1 has neither digest nor seal",
        ),
        (changed(kind="speed"), r"Invalid value 'speed' - at `\$.arguments.kind`"),
        (changed(kind=None), r"Expected `str` - at `\$.arguments.kind`"),
        (changed(task=None), "missing required field `task`"),
        (changed(secret=1), "unknown field `secret`"),
        (changed(finding={"kind": "utility"}), r"missing required field `verdict` - at `\$.finding`"),
        (privacy(witness={}), r"missing required field `pair` - at `\$.finding.witness`"),
        (privacy(witness={"event": 3}), r"Expected `object`, got `int` - at `\$.finding.witness.event`"),
        (privacy(witness=3), r"Expected `object`, got `int` - at `\$.finding.witness`"),
        (privacy(tests=3), r"Expected `array`, got `int` - at `\$.finding.tests`"),
        (privacy(tests=[3]), r"Expected `object`, got `int` - at `\$.finding.tests"),
        (changed(finding=3), r"Expected `object`, got `int` - at `\$.finding`"),
        (changed(arguments=3), r"Expected `object`, got `int` - at `\$.arguments`"),
    ],
)
def test_a_line_that_is_no_record_is_refused_with_file_line_and_field(tmp_path, line, words):
    path = tmp_path / FILENAME
    path.write_bytes(LINES[0] + b"\n" + line + b"\n")
    with pytest.raises(ToolFault, match=rf"{FILENAME}, line 2: .*{words}"):
        load_run(path)


def test_a_file_of_today_is_not_read_as_one_of_version_1(run, tmp_path):
    """Its digests would not be looked at."""
    path = tmp_path / FILENAME
    header = json.loads(write_line(run.header))
    lines = [json.dumps({**header, "schema_version": 1}).encode() + b"\n", write_line(run.results[0])]
    path.write_bytes(b"".join(lines))
    with pytest.raises(ToolFault, match="line 1: altered since it was written"):
        load_run(path)
    path.write_bytes(LINES[0] + b"\n" + lines[1])
    with pytest.raises(ToolFault, match="line 2: altered since it was written"):
        load_run(path)


def test_upgrading_changes_no_number():
    told = first("exact")
    again = json.loads(upgraded(json.dumps(told).encode()))
    assert again["finding"]["worst_pair"].pop("origin")["text"] == told["finding"]["worst_pair"].pop("origin")
    assert {**again["finding"], "schema_version": 1} == told["finding"]
    assert {**again["arguments"]} == {**told["arguments"], "kind": "exact"}


def test_results_are_results(run):
    assert {type(result) for result in run.results} == {Result}

"""The seal of a finished run: whatever is changed in the file is refused with its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import toy_records
from sealed_runs import KINDS, edited, header_of, lines_of, put, resealed, result, write_run

from dpaudit import files
from dpaudit.errors import DpauditError, ToolFault
from dpaudit.evidence.records import Failure
from dpaudit.evidence.store import FILENAME, Store, load_run


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.os, "fsync", lambda handle: None)


def test_the_total_is_over_all_and_nothing_else(tmp_path: Path) -> None:
    run = load_run(write_run(tmp_path / "a", *KINDS))
    assert re.fullmatch("[0-9a-f]{64}", run.total)
    assert run.seal == run.total == load_run(write_run(tmp_path / "b", *KINDS)).total
    assert run.total != load_run(write_run(tmp_path / "c", *KINDS, versions={"dpaudit": "1"}, profile="full")).total
    assert run.total != load_run(write_run(tmp_path / "d", *KINDS[1:])).total


def test_what_is_not_finished_has_no_total(tmp_path: Path) -> None:
    path = write_run(tmp_path, *KINDS, finish=False)
    run = load_run(path)
    assert (run.total, run.seal, len(run.results)) == ("", "not sealed", len(KINDS))


def test_every_altered_byte_of_a_sealed_run_is_refused(tmp_path: Path) -> None:
    path = write_run(tmp_path, "ledger")
    content = path.read_bytes()
    for place in range(len(content)):
        altered = bytearray(content)
        altered[place] ^= 1 << place % 8
        path.write_bytes(altered)
        with pytest.raises(DpauditError, match=re.escape(str(path))):
            load_run(path)


def swapped(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[2], lines[1], *lines[3:]]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (swapped, 2),
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], 3),
        (lambda lines: [*lines[:2], *lines[3:]], 3),
        (lambda lines: lines[:-1], 7),
        (lambda lines: lines[:1], 2),
        (lambda lines: [*lines, lines[-1]], 8),
        (lambda lines: [*lines[:2], b"", *lines[2:]], 3),
        (lambda lines: [*lines[:2], lines[2] + b"\r", *lines[3:]], 3),
        (lambda lines: [b"\xef\xbb\xbf" + lines[0], *lines[1:]], 1),
    ],
    ids=["moved", "doubled", "missing", "without its seal", "header alone", "two seals", "empty", "return", "mark"],
)
def test_a_line_that_is_not_in_its_place_is_refused(tmp_path: Path, change, line: int) -> None:
    path = write_run(tmp_path, *KINDS)
    put(path, change(lines_of(path)))
    with pytest.raises(ToolFault, match=rf"run\.jsonl, line {line}: "):
        load_run(path)


@pytest.mark.parametrize("finish", [True, False])
def test_a_record_of_another_run_is_refused_also_while_the_run_goes_on(tmp_path: Path, finish: bool) -> None:
    path = write_run(tmp_path / "a", *KINDS, finish=finish)
    other = write_run(tmp_path / "b", *KINDS, finish=finish, command="dpaudit run something else")
    mine, foreign = lines_of(path), lines_of(other)
    put(path, [*mine[:3], foreign[3], *mine[4:]])
    with pytest.raises(ToolFault, match=r"line 4: altered since it was written, or not in its place"):
        load_run(path)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (swapped, "line 3: '.*' is not in the order of the plan"),
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], "line 3: '.*' is not in the order of the plan"),
        (lambda lines: [*lines[:2], *lines[3:]], "line 6: the seal is of 5 records, not of 4"),
        (lambda lines: [lines[0], lines[0], *lines[1:]], "line 2: a second header"),
        (
            lambda lines: [edited(lines[0], lambda told: told.update(state="not sealed")), *lines[1:]],
            "line 3: altered since",
        ),
        (
            lambda lines: [edited(lines[0], lambda told: told["plan"].append(told["plan"][0])), *lines[1:]],
            "line 1: the plan has '.*' twice",
        ),
    ],
    ids=["moved", "doubled", "missing", "second header", "opened", "planned twice"],
)
def test_who_computes_the_digests_anew_is_refused_for_what_makes_no_sense(tmp_path: Path, lines, words: str) -> None:
    path = write_run(tmp_path, *KINDS)
    put(path, resealed(lines(lines_of(path))))
    with pytest.raises(ToolFault, match=rf"run\.jsonl, {words}"):
        load_run(path)


def test_a_sealed_run_that_lost_its_end_is_resumed_to_the_same_bytes(tmp_path: Path) -> None:
    path = write_run(tmp_path, *KINDS)
    content, header = path.read_bytes(), header_of(*map(result, KINDS))
    first = content.index(b"\n") + 1
    for cut in {*range(first, len(content), 97), len(content) - 1}:
        path.write_bytes(content[:cut])
        store = Store.resume(path, header)
        for kind in KINDS:
            if result(kind).task not in store.done:
                store.append(result(kind))
        store.finish()
        assert path.read_bytes() == content


def test_a_sealed_run_with_a_failure_is_opened_and_sealed_again(tmp_path: Path) -> None:
    one, other = result("exact"), result("utility")
    failed = toy_records.failure(task=other.task, learner=other.learner, arguments=other.arguments)
    store = Store.start(tmp_path / FILENAME, header_of(one, other))
    store.append(failed)
    store.append(one)
    store.finish()
    before = load_run(store.path)
    assert before.total
    assert isinstance(before.failures[0], Failure)
    again = Store.resume(store.path, header_of(one, other))
    assert load_run(store.path).seal == "not sealed"
    again.append(other)
    again.finish()
    after = load_run(store.path)
    assert (len(after.results), after.failures) == (2, ())
    assert after.total not in ("", before.total)

"""The store: a run that is killed at any moment and resumed ends with the same bytes."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
from pathlib import Path

import pytest
import toy_records
from msgspec.structs import replace
from toy_records import arguments_of, ledger_row, result

from dpaudit import files
from dpaudit.errors import InputError, ToolFault
from dpaudit.evidence.lines import digest_in, write_line
from dpaudit.evidence.records import Failure, Fault, Header, Record, Result, Seal
from dpaudit.evidence.store import FILENAME, Store, load_run
from dpaudit.evidence.tasks import Task, canonical
from dpaudit.files import write_atomically
from dpaudit.record import decode

VERSIONS = {"dpaudit": "1"}
PLAN = tuple(Task(learner, {}, arguments_of("ledger")).key for learner in ("A-1", "A-2", "B-1"))


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch):
    """These tests write thousands of files, and nobody pulls the plug."""
    monkeypatch.setattr(files.os, "fsync", lambda handle: None)


def record(key: str) -> Result:
    # Non-ASCII text and awkward floats: a cut may fall anywhere, and numbers must survive being read back.
    numbers = {"sum": 0.1 + 0.2, "big": 2**70, "least": 5e-324, "all": math.inf}
    learner = key.partition("/")[0]
    row = ledger_row(id=learner, numbers=numbers, summary="\u03b5 \u2264 1", versions=VERSIONS)
    return result("ledger", task=key, learner=learner, parameters={}, finding=row)


def header(**changes) -> Header:
    return replace(toy_records.header(changes.pop("plan", PLAN), **changes), versions=VERSIONS)


def complete(path: Path, order=PLAN) -> bytes:
    store = Store.start(path, header())
    for key in order:
        store.append(record(key))
    store.finish()
    return path.read_bytes()


def failure(key: str, error: str = "RuntimeError: oops") -> Failure:
    told = record(key)
    return Failure(task=key, learner=told.learner, parameters=told.parameters, arguments=told.arguments, error=error)


def read(line: bytes):
    """Return a record without the digest that it had in its line."""
    return replace(decode(line, Record), digest="")


def test_a_failure_is_kept_until_its_task_has_a_result(tmp_path):
    path = tmp_path / FILENAME
    store = Store.start(path, header())
    store.append(record(PLAN[2]))
    store.append(failure(PLAN[1], "RuntimeError: first"))
    store.append(failure(PLAN[1]))
    store.append(record(PLAN[0]))
    assert store.done == {PLAN[0], PLAN[2]}
    store.finish()
    (failed,) = load_run(path).failures
    assert replace(failed, digest="") == replace(failure(PLAN[1]), index=1)  # the last word of it
    assert [read(line).task for line in path.read_bytes().splitlines()[1:-1]] == list(PLAN)
    again = Store.resume(path, header())
    assert again.done == {PLAN[0], PLAN[2]}
    again.append(record(PLAN[1]))
    again.finish()
    assert load_run(path).failures == ()
    assert path.read_bytes() == complete(tmp_path / "other" / FILENAME)


def test_lines_stand_in_the_order_of_the_plan_and_hold_what_was_said(tmp_path):
    content = complete(tmp_path / FILENAME, PLAN[::-1])
    lines = [read(line) for line in content.splitlines()]
    assert lines[0] == replace(header(), state="sealed")
    assert lines[1:-1] == [replace(record(key), index=i) for i, key in enumerate(PLAN)]
    assert lines[-1] == Seal(records=3)
    assert content == complete(tmp_path / "other" / FILENAME)


def test_results_are_on_the_disk_before_the_next_task(tmp_path):
    path = tmp_path / FILENAME
    store = Store.start(path, header())
    store.append(record(PLAN[2]))
    assert [r.task for r in load_run(tmp_path).results] == [PLAN[2]]
    assert store.done == {PLAN[2]}


class Short(io.FileIO):
    """A file on a disk nearly full: it writes a few bytes at a time, and from some point on nothing."""

    room = 10**9

    def write(self, data):
        if Short.room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = super().write(bytes(data)[: min(7, Short.room)])
        Short.room -= written
        return written


@pytest.fixture
def short(monkeypatch):
    def opened(path, mode, **how):
        return Short(path, mode, opener=how["opener"]) if mode == "ab" else open(path, mode, **how)

    monkeypatch.setattr(files, "open", opened, raising=False)
    monkeypatch.setattr(Short, "room", 10**9)


def test_a_line_is_written_whole_where_writes_are_short(tmp_path, short):
    path = tmp_path / FILENAME
    content = complete_with(path)
    assert [type(read(line)) for line in content.splitlines()] == [Header, Result, Result]


def test_a_line_that_does_not_fit_leaves_the_file_as_it_was(tmp_path, short, monkeypatch):
    path = tmp_path / FILENAME
    before = complete_with(path)
    store = Store(path, replace(header(), state="not sealed"), set(PLAN[:2]))
    monkeypatch.setattr(Short, "room", 20)
    with pytest.raises(OSError, match="No space left"):
        store.append(record(PLAN[2]))
    assert path.read_bytes() == before
    assert PLAN[2] not in store.done
    monkeypatch.setattr(Short, "room", 10**9)
    store.append(record(PLAN[2]))
    assert len(load_run(path).results) == 3


def complete_with(path: Path) -> bytes:
    """Return a run of two results, its header written elsewhere."""
    opened = replace(header(), state="not sealed")
    path.write_bytes(write_line(opened))
    store = Store(path, opened, set())
    for key in PLAN[:2]:
        store.append(record(key))
    return path.read_bytes()


@pytest.mark.parametrize("step", [17, pytest.param(1, marks=pytest.mark.full)])
def test_a_run_cut_at_any_byte_resumes_to_the_same_bytes(tmp_path, step):
    whole = complete(tmp_path / "whole" / FILENAME)
    store = Store.start(tmp_path / "order" / FILENAME, header())
    for key in (PLAN[1], PLAN[0], PLAN[2]):
        store.append(record(key))
    running = (tmp_path / "order" / FILENAME).read_bytes()
    assert running != whole
    path, head = tmp_path / "cut" / FILENAME, header()
    path.parent.mkdir()
    ends = [at for at in range(len(running)) if running[at : at + 1] == b"\n"]
    near = {cut for end in ends for cut in range(end - 2, end + 4) if cut <= len(running)}
    for cut in sorted(near | {*range(0, len(running) + 1, step)}):
        for old in path.parent.iterdir():
            old.unlink()
        path.write_bytes(running[:cut])
        resumed = Store.resume(path, head)
        kept = max(running[:cut].count(b"\n") - 1, 0)
        assert len(resumed.done) == kept
        for key in PLAN:
            if key not in resumed.done:
                resumed.append(record(key))
        resumed.finish()
        assert path.read_bytes() == whole, cut


def test_a_finished_run_resumes_to_itself(tmp_path):
    path = tmp_path / FILENAME
    content = complete(path)
    store = Store.resume(path, header())
    store.finish()
    assert store.done == set(PLAN)
    assert path.read_bytes() == content


def test_starting_afresh_keeps_every_older_run(tmp_path):
    path = tmp_path / FILENAME
    contents = [complete(path, PLAN[:i]) for i in (1, 2, 3)]
    Store.start(path, header())
    kept = [tmp_path / f"{FILENAME}.bak{suffix}" for suffix in ("", "2", "3")]
    assert [backup.read_bytes() for backup in kept] == contents


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 4}, "seed was 3, is now 4"),
        ({"profile": "full"}, "profile was 'quick', is now 'full'"),
        ({"plan": [*PLAN[:2], "C-1/ledger/03"]}, f"only before: {PLAN[2]}; only now: C-1/ledger/03"),
        ({"plan": list(PLAN[::-1])}, "in its order"),
        ({"faults": [Fault("x", "no plan")]}, "learners without a plan were none, are now x"),
    ],
)
def test_another_run_is_not_resumed_and_the_message_says_what_differs(tmp_path, changes, words):
    path = tmp_path / FILENAME
    content = complete(path)
    with pytest.raises(InputError, match=words):
        Store.resume(path, header(**changes))
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"versions": {"dpaudit": "9"}}, r"versions was .*, is now \{'dpaudit': '9'\}"),
        ({"streams_version": 99}, "streams_version was 3, is now 99"),
    ],
)
def test_a_run_of_other_versions_is_not_resumed(tmp_path, changes, words):
    complete(tmp_path / FILENAME)
    with pytest.raises(InputError, match=words):
        Store.resume(tmp_path / FILENAME, replace(header(), **changes))


def test_the_command_may_be_worded_otherwise_and_the_first_wording_stays(tmp_path):
    path = tmp_path / FILENAME
    content = complete(path)
    Store.resume(path, header(command="dpaudit run a b")).finish()
    assert path.read_bytes() == content


def test_a_fault_may_be_worded_otherwise(tmp_path):
    path = tmp_path / FILENAME
    write_atomically(path, write_line(header(faults=[Fault("x", "<a at 0x1>")])))
    Store.resume(path, header(faults=[Fault("x", "<a at 0x2>")]))


def corrupt(content: bytes, line: int, text: bytes) -> bytes:
    lines = content.split(b"\n")
    lines[line] = text
    return b"\n".join(lines)


@pytest.mark.parametrize(
    ("line", "text", "words"),
    [
        (0, b"{", "line 1: not the header"),
        (0, b'{"record":"result"}', "line 1: not the header"),
        (0, None, "line 1: not the header"),
        (2, b"\x00\x00\xff", "line 3: altered since it was written: it is no JSON"),
        (2, b"[]", "line 3: a record without its digest"),
        (3, b"garbage", "line 4: altered since it was written: it is no JSON"),
    ],
)
@pytest.mark.parametrize("reader", [load_run, lambda path: Store.resume(path, header())])
def test_a_corrupt_line_is_a_fault_that_names_file_and_line(tmp_path, line, text, words, reader):
    path = tmp_path / FILENAME
    whole = complete(path)
    content = corrupt(whole, line, whole.split(b"\n")[1] if text is None else text)
    path.write_bytes(content)
    with pytest.raises(ToolFault, match=f"{FILENAME}, {words}"):
        reader(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (replace(record(PLAN[1]), index=2), "is not task 2 of the plan"),
        (replace(record(PLAN[1]), index=7), "is not task 7 of the plan"),
        (record(PLAN[0]), f"{PLAN[0]!r} is not in the order of the plan"),
        (header(), "line 3: a second header"),
        (Seal(records=1), "line 4: .*altered since it was written"),
        (Seal(records=2), "line 3: the seal is of 2 records, not of 1"),
        (replace(record(PLAN[1]), index=1, parameters={"gain": 2.0}), "parameters and arguments are those of A-2/ledg"),
    ],
)
def test_a_record_that_does_not_fit_the_plan_is_a_fault(tmp_path, changed, words):
    path = tmp_path / FILENAME
    content = complete(path)
    before = digest_in(content.split(b"\n")[1])
    path.write_bytes(corrupt(content, 2, write_line(changed, before).rstrip(b"\n")))
    with pytest.raises(ToolFault, match=words):
        load_run(path)


@pytest.mark.parametrize("line", [0, 1])
def test_a_digest_in_another_place_does_not_stand_for_that_of_the_line(tmp_path, line):
    path = tmp_path / FILENAME
    content = complete(path)
    before = digest_in(content.split(b"\n")[0]) if line else ""
    fields = json.loads(content.split(b"\n")[line])
    place, digest = ("decoded" if line else "controls"), fields.pop("digest")
    # The digest of the altered bytes stands in a free dictionary, which comes first, and that of the line is kept.
    rest = canonical({**fields, place: {"zz": ""}, "digest": digest})
    decoy = hashlib.blake2b((before + rest).encode(), digest_size=32).hexdigest()
    forged = canonical({**fields, place: {"digest": decoy, "zz": ""}, "digest": digest}).encode()
    path.write_bytes(corrupt(content, line, forged))
    with pytest.raises(ToolFault, match=f"line {line + 1}: altered since it was written"):
        load_run(path)


def test_where_there_is_no_run(tmp_path):
    with pytest.raises(InputError, match="there is no run at"):
        load_run(tmp_path)
    (tmp_path / FILENAME).write_text("{")
    with pytest.raises(InputError, match="holds no run"):
        load_run(tmp_path)


def test_a_failed_replacement_leaves_the_old_content(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def fail(*names):
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"

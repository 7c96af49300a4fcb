"""Audited code that answers in the place of its process: a named fault, and nothing that it sent is executed."""

from __future__ import annotations

import gc
import io
import os
import pickle
import stat
import struct
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import dpaudit
from dpaudit.errors import DpauditError, Exited, InputError, ToolFault, in_python
from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.encoding import encode
from dpaudit.running.adapters import as_mechanism
from dpaudit.running.failed_runs import RunFault
from dpaudit.running.isolated import Timeout
from dpaudit.running.protocol import HEAD
from dpaudit.running.transport import error_as_bytes, error_of
from dpaudit.running.warning_counts import WarningPlace, add


def answering() -> list[int]:
    """Return the pipes through which the process that this is called in answers."""
    files = [one.fileno() for one in gc.get_objects() if type(one) is io.BufferedWriter and not one.closed]
    return [one for one in files if one > 2 and stat.S_ISFIFO(os.fstat(one).st_mode)]


def written(content: bytes) -> None:
    for one in answering():
        os.write(one, content)


class Run:
    def __init__(self):
        self.value = 1

    def __reduce__(self):
        return Path("executed").touch, ()


PICKLE = pickle.dumps(Run())
FORGED = [
    bytes(range(64)),
    struct.pack("!Q", 2**63),
    struct.pack("!Q", 0),
    *(HEAD.pack(3, kind) + b"abc" for kind in (b"h", b"p", b"v", b"e", b"x")),
    *(HEAD.pack(len(PICKLE), kind) + PICKLE for kind in (b"p", b"v", b"e")),
]


@pytest.mark.parametrize("content", FORGED, ids=map(str, range(len(FORGED))))
def test_a_forged_answer_is_a_fault(content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    limited = as_mechanism(lambda data, rng: written(content), timeout=Timeout(60.0))
    with pytest.raises(ToolFault, match=r"no answer|an error that cannot be read"):
        limited(0, np.random.default_rng(0), 3)
    assert not list(tmp_path.iterdir())


def test_a_mechanism_that_closes_the_pipe_and_goes_on_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpaudit.running.child.ENDING", 0.2)  # seconds for which nothing comes

    def closes(data, rng):
        for one in answering():
            os.close(one)
        time.sleep(600)  # longer than any test

    with pytest.raises(RunFault, match="closed the pipe by which it answers"):
        as_mechanism(closes, timeout=Timeout(float("inf")))(0, np.random.default_rng(0), 3)


class Output:
    """An output of which some take long to print, whenever they are asked."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __repr__(self):
        time.sleep(self.seconds)
        return "text"


class Asleep(Exception):
    def __str__(self):
        time.sleep(60)


def slow(data, rng):
    raise Asleep


def sometimes_slow(data, rng):
    return Output(60 if rng.random() < 0.3 else 0)


@pytest.mark.parametrize("mechanism", [slow, sometimes_slow])
def test_methods_of_outputs_have_the_time_limit_of_their_run(mechanism) -> None:
    began = time.monotonic()
    found = as_mechanism(mechanism, timeout=Timeout(0.2))(0, np.random.default_rng(0), 8)
    assert len(found) == 8
    assert any(type(one) is Raised for one in found)
    assert time.monotonic() - began < 30


class Leaves:
    def __init__(self):
        self.value = 1

    def __del__(self):
        time.sleep(60)


def test_a_destructor_that_does_not_return_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpaudit.running.child.ENDING", 0.2)  # seconds for which nothing comes
    with pytest.raises(RunFault, match=r"made its 2 runs and did not end in 0\.2 s"):
        as_mechanism(lambda data, rng: Leaves(), timeout=Timeout(0.2))(0, np.random.default_rng(0), 2)


ERRORS = [
    InputError("plain {text}"),
    InputError("{trials:=10} and {n_jobs}", names=("trials", "n_jobs"), value=3, allowed="more"),
    Exited("left"),
    ToolFault("broken"),
    InputError.of("seed", {1, 2}, "an integer", "{braces}"),
    InputError("{value_!r:.3} of {0:=10}{{}} \0{unit}", names=("trials", "unit"), value_="{trials}"),
    RunFault("took long"),
]


@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_an_error_travels_by_its_texts(error: DpauditError) -> None:
    found = error_of(error_as_bytes(error_of(error_as_bytes(error))))  # from a child to a worker, and on
    assert str(found) == str(error)
    assert isinstance(error, type(found))
    if isinstance(error, InputError):
        assert isinstance(found, InputError)
        assert found.worded(lambda name, value: f"<{name} {value}>") == error.worded(
            lambda name, value: f"<{name} {value}>"
        )
        assert found.parameter == error.parameter


def test_texts_of_an_error_are_not_formatted() -> None:
    found = error_of(error_as_bytes(InputError("{0.__class__} \0x.y\0 \0trials\x1f{9}\0 {trials:>9999999999}")))
    assert isinstance(found, InputError)
    assert "{0.__class__}" in found.worded(in_python)


def test_a_forged_parameter_of_an_error_that_has_none_is_shown_as_text() -> None:
    parts = [["it needs ", "trials", ""], ["", "seed", "{x}"]]
    forged = encode([["ToolFault", parts, None, None, None]])
    found = error_of(forged)
    assert type(found) is ToolFault
    assert str(found) == "it needs trialsseed{x}"


class Spoken(UserWarning):
    def __init__(self, *args):
        raise AssertionError("code of a warning")


class Plain(UserWarning):
    """A category that adds no code."""


@pytest.mark.parametrize(
    ("module", "name", "category"),
    [
        (__name__, "Plain", Plain),
        (__name__, "Spoken", UserWarning),
        ("os", "system", UserWarning),
        ("no", "x", UserWarning),
    ],
)
def test_a_category_is_called_only_where_it_has_no_code(module: str, name: str, category: type[Warning]) -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        add({WarningPlace(module, name, "file", 1): ("touch executed", 1)})
    assert [one.category for one in shown] == [category]


def test_nothing_of_an_output_is_unpickled_by_the_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dpaudit.audit_privacy(
        lambda data, rng: [Run(), int(rng.integers(2))], [(0, 1)], epsilon=1.0, trials=200, timeout=60
    )
    assert not list(tmp_path.iterdir())

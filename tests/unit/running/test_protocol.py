"""What a process and its child send to each other, and which input is named where a child ends."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import dpaudit
from dpaudit.outputs.decoding import decode
from dpaudit.outputs.encoding import encode
from dpaudit.running.adapters import as_mechanism
from dpaudit.running.child import Child
from dpaudit.running.failed_runs import RunFault
from dpaudit.running.isolated import InTurn, Timeout
from dpaudit.running.processes import APART, ChildDied, runs_apart
from dpaudit.running.protocol import HEAD, HELLO, PART, check_hello, hello, take_message
from dpaudit.running.watched import address_of, generator_at, go_on, position_of
from tests.support.grouped import grouped

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")

UNLIMITED = Timeout(float("inf"))


def test_messages_are_taken_out_once_all_of_them_is_there():
    received = bytearray()
    sent = HEAD.pack(5, PART) + b"first" + HEAD.pack(0, HELLO) + HEAD.pack(2**40, PART)
    found = []
    for i in range(len(sent) - 9):
        received += sent[i : i + 1]
        while message := take_message(received):
            found.append(message)
    assert found == [(PART, b"first"), (HELLO, b"")]
    received += sent[-9:]
    with pytest.raises(ValueError, match="no answer"):
        take_message(received)


def test_another_version_is_refused():
    check_hello(hello())
    for said in (b"dpaudit 2, Python 3.12", b"dpaudit", b"\xff" * 200, b""):
        with pytest.raises(ValueError, match="dpaudit 1"):
            check_hello(said)


def test_a_child_that_speaks_otherwise_is_a_fault(monkeypatch):
    monkeypatch.setattr("dpaudit.running.serving.hello", lambda: b"dpaudit 0, Python 2.7")
    child = Child(lambda *_: b"")
    with pytest.raises(ChildDied, match="speaks 'dpaudit 0' in the place of 'dpaudit 1'"):
        child.call(b"")
    child.close()


def test_a_call_and_its_inputs_come_as_they_were_sent():
    child = Child(lambda emit, request, inputs: request + b" of " + inputs)
    large = os.urandom(2**20)
    assert child.call(b"call", large) == ([], b"call of " + large)
    assert child.call(b"call") == ([], b"call of ")  # inputs are those of one call
    child.close()


def test_a_generator_goes_on_elsewhere_where_it_was():
    rng = dpaudit.seeding.generator(7, "stream", 1)
    rng.random(3)
    rng.integers(10, dtype=np.uint32)  # half of a draw is left
    rng.spawn(2)
    other = generator_at(decode(encode([address_of(rng)]), 1)[0])
    assert other.bit_generator.state == rng.bit_generator.state
    drawn = [one.random() for one in other.spawn(3)] + other.random(5).tolist()
    here = generator_at(address_of(rng))
    go_on(here, position_of(other))
    assert [one.random() for one in rng.spawn(3)] + rng.random(5).tolist() == drawn
    assert position_of(here) == position_of(rng) == position_of(other)
    assert here.spawn(1)[0].random() == rng.spawn(1)[0].random()


def spawning(data, rng, size):
    return data + np.array([one.random() for one in rng.spawn(size)])


def test_runs_that_spawn_generators_are_those_of_this_process():
    here, there = (
        as_mechanism(spawning, batched=True, timeout=limit)(0.0, np.random.default_rng(1), 64)
        for limit in (None, UNLIMITED)
    )
    assert here.tolist() == there.tolist()
    assert len(set(there.tolist())) == 64


def in_turn(mechanism, runs=400):
    """Return the outputs of runs on "good" and "bad" in a child, at once."""
    rngs = np.random.default_rng(0), np.random.default_rng(1)
    inputs = InTurn(("good", "bad"), rngs, np.resize(np.array([0, 1, 1], np.uint8), runs))
    try:
        return as_mechanism(mechanism, timeout=UNLIMITED).in_turn(inputs), inputs
    except RunFault:
        return None, inputs


@pytest.mark.parametrize("bad", ["good", "bad"])
def test_the_input_that_ends_a_process_is_found_by_the_same_runs_made_one_by_one(bad):
    def ends(data, rng):
        if data == bad and rng.random() < 0.05:
            os._exit(0)
        return 1

    outputs, inputs = in_turn(ends)
    assert outputs is None
    assert inputs.sides[inputs.turn] == bad


def test_where_the_same_runs_do_not_end_it_again_neither_input_is_blamed(tmp_path: Path):
    mark = tmp_path / "mark"

    def once(data, rng):
        if rng.random() < 0.05 and not mark.exists():
            mark.touch()
            os._exit(0)
        return 1

    outputs, inputs = in_turn(once)
    assert (outputs, inputs.turn) == (None, None)
    mark.unlink()
    with pytest.raises(RunFault, match=r"on 'good' or 'bad'$|of pairs"), runs_apart():
        dpaudit.audit_privacy(once, [("good", "bad")], epsilon=1, trials=400)
    assert not APART


class Strange:
    """An output of a class of the mechanism's own."""

    def __init__(self, value):
        self.value = value


def strange(data, rng):
    return {"seen": Strange(round(data + rng.laplace(), 1))}


def rows(data, rng):
    return data + rng.laplace(size=200)


def batch(data, rng, size):
    return data + rng.laplace(size=size)


@pytest.mark.parametrize(
    ("mechanism", "how"),
    [
        # Each mechanism and each design once in every profile.
        pytest.param(mechanism, how, marks=[pytest.mark.full] * (i != j))
        for i, mechanism in enumerate((strange, rows, batch))
        for j, how in enumerate(({}, {"sequential": True}, {"delta": 0.01}))
    ],
)
def test_findings_are_those_of_runs_in_this_process(mechanism, how, request):
    trials = 3_000 if request.config.getoption("--profile") == "full" else 1_000
    given = {"trials": trials, "batched": mechanism is batch, **how}
    options = grouped(epsilon=0.5, **given)
    here = dpaudit.audit_privacy(mechanism, [(0.0, 1.0)], **options)
    with runs_apart():
        apart = [dpaudit.audit_privacy(mechanism, [(0.0, 1.0)], n_jobs=jobs, **options) for jobs in (1, 2)]
    assert [one.to_dict() for one in apart] == [here.to_dict()] * 2


def test_children_of_one_audit_draw_different_numbers_of_generators_that_all_share():
    def own(data):
        return data + np.random.laplace()  # noqa: NPY002

    with runs_apart():
        finding = dpaudit.audit_privacy(own, [(0.0, 1.0)], epsilon=2.0, trials=2_000, n_jobs=2, randomness="own")
    assert finding.verdict == "consistent"
    assert not any("worker" in warning for warning in finding.warnings)

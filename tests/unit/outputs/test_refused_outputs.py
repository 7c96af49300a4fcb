"""Outputs that cannot be looked at are refused with a sentence: their type, what came and what to do."""

from __future__ import annotations

import asyncio
import io
import threading

import numpy as np
import pytest

import dpaudit
from dpaudit.errors import InputError
from dpaudit.events.feature_screening.search import screen_features
from dpaudit.outputs.parts import register_flattener
from dpaudit.outputs.plan import LeafPlan


class Sealed:
    """Shows what it holds only to who knows how to ask."""

    __slots__ = ("ask",)

    def __init__(self, held):
        self.ask = lambda: held


class Node:
    def __init__(self, value):
        self.value, self.me = value, self


class Service:
    """Holds a lock, a function, a generator of random numbers, and a value."""

    def __init__(self, value, rng):
        self.lock, self.read, self.rng, self.value = threading.Lock(), lambda: 1, rng, value


async def coroutine():
    return 1


async def asynchronous():
    yield 1


@pytest.mark.parametrize("output", [(x for x in (1, 2)), iter([1]), coroutine(), asynchronous(), [map(abs, [1])]])
def test_what_shows_nothing_until_it_is_run_is_refused(output):
    with pytest.raises(InputError, match=r"is a \w+, which shows nothing until it is run: return what it makes"):
        LeafPlan.of([output])


@pytest.mark.parametrize("kind", [io.StringIO, io.BytesIO])
def test_what_was_written_to_memory_is_asked_for(kind):
    with pytest.raises(InputError, match=rf"an output of type {kind.__name__}: return output.getvalue\(\), what was"):
        dpaudit.audit_privacy(lambda x, rng: kind(), [(0, 1)], epsilon=1.0, trials=100)


def test_a_future_is_refused():
    loop = asyncio.new_event_loop()
    with pytest.raises(InputError, match="shows nothing until it is run"):
        LeafPlan.of([loop.create_future()])
    loop.close()


@pytest.mark.parametrize("output", [Sealed(1), lambda: 1, threading.Lock(), object(), len.__call__])
def test_what_has_no_state_is_refused_with_its_type_and_the_line_to_register_it(output):
    name = type(output).__qualname__
    told = rf"type {name} cannot be taken apart: .*dpaudit\.register_flattener\({name}, lambda"
    with pytest.raises(InputError, match=told):
        LeafPlan.of([output])


def test_what_holds_itself_is_refused_with_its_depth():
    holds: list[object] = [1]
    holds.append(holds)
    for output in (Node(1), holds, {"a": [Node(2)]}):
        with pytest.raises(InputError, match="nested deeper than 64 steps, or holds itself"):
            LeafPlan.of([output] * 9)


def test_what_is_nested_deep_is_taken_apart():
    def deep(x):
        return x if x < 1 else [deep(x - 1), x]

    assert not LeafPlan.of([deep(20)] * 9).unseen


def test_what_is_known_by_its_place_in_memory_alone_is_no_leak():
    rng = np.random.default_rng(0)
    data, neighbour = ([Service(float(rng.normal()), np.random.default_rng(x)) for _ in range(500)] for x in (0, 1))
    plan = LeafPlan.of([*data, *neighbour])
    assert not any("lock" in leaf.name or "read" in leaf.name for leaf in plan.leaves)
    assert plan.aside == ["output['rng']['state']"]
    assert screen_features(plan, data, neighbour, 2_000)[0].promise < 0.5


@pytest.mark.parametrize(("made", "told"), [
    (lambda held: object(), "it returned a object"),
    (lambda held: [1, [2, object()]], "it returned a object, in"),
    (lambda held: np.array([[1], [1, 2]], dtype=object), "a ragged or non-numeric array, of dtype object"),
    (lambda held: {"a": np.array(["x"])}, "a ragged or non-numeric array, of dtype <U1"),
    (lambda held: (v for v in [1]), "it returned a generator"),
])  # fmt: skip
def test_what_a_registered_function_returns_must_be_plain(made, told):
    register_flattener(Sealed, made)
    with pytest.raises(InputError, match=f"registered for Sealed must return numbers, text.*sets of these; .*{told}"):
        LeafPlan.of([Sealed(1)])


@pytest.mark.parametrize("kind", ["Sealed", int, dict, np.ndarray, np.float64, object])
def test_plain_types_and_what_is_no_type_cannot_be_registered(kind):
    with pytest.raises(InputError, match="type must be a class"):
        register_flattener(kind, list)


def answer(x, rng):
    return Sealed(x if rng.random() < 0.9 else 1 - x)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_registered_type_is_known_to_workers(n_jobs):
    dpaudit.register_flattener(Sealed, lambda sealed: [sealed.ask(), 7])
    finding = dpaudit.audit_privacy(answer, [(0, 1)], epsilon=0.5, trials=2_000, n_jobs=n_jobs)
    assert finding.verdict == "violation"
    assert finding.epsilon_lower == pytest.approx(1.8, abs=0.4)


def test_what_cannot_travel_to_workers_is_refused():
    lock = threading.Lock()
    dpaudit.register_flattener(Sealed, lambda sealed: (lock, sealed.ask())[1])
    with pytest.raises(InputError, match=r"with several jobs, .* use n_jobs=1"):
        dpaudit.audit_privacy(answer, [(0, 1)], epsilon=0.5, trials=2_000, n_jobs=2)


def reusing(make, change):
    held = make()

    def mechanism(x, rng):
        change(held, x + rng.normal())
        return held

    return mechanism


def views(x, rng, held=np.zeros(6)):  # noqa: B008  the buffer that is tested
    held[:3] = rng.normal(size=3)
    return held[:3]


def by_turns(number):
    held, made = [np.zeros(2) for _ in range(number)], iter(range(10**6))

    def mechanism(x, rng):
        found = held[next(made) % number]
        found[:] = rng.normal(size=2)
        return found

    return mechanism


def nested(x, rng, held=[0.0]):  # noqa: B006  the buffer that is tested
    held[0] = rng.normal()
    return (held, x)


@pytest.mark.parametrize("mechanism", [
    reusing(lambda: np.zeros(3), lambda held, value: held.fill(value)),
    reusing(lambda: [0.0], lambda held, value: held.__setitem__(0, value)),
    reusing(dict, lambda held, value: held.update(a=value)),
    reusing(lambda: Node(0), lambda held, value: setattr(held, "me", value)),
    views, nested, by_turns(2), by_turns(7),
])  # fmt: skip
def test_a_reused_buffer_is_refused(mechanism):
    with pytest.raises(InputError, match=r"returns the same .* and changes it in between, .*return a new one"):
        dpaudit.audit_privacy(mechanism, [(0, 1)], epsilon=0.5, trials=2_000)


def test_a_batch_of_reused_buffers_is_refused():
    held = [np.zeros(2) for _ in range(5_000)]

    def mechanism(x, rng, size):
        for one in held[:size]:
            one[:] = rng.normal(size=2)
        return held[:size]

    with pytest.raises(InputError, match="returns the same ndarray from several runs"):
        dpaudit.audit_privacy(mechanism, [(0, 1)], epsilon=0.5, trials=2_000, batched=True)


@pytest.mark.parametrize("kind", [np.zeros, lambda size: [0.0] * size])
@pytest.mark.parametrize(("scale", "verdict"), [(1.0, "violation"), (2.0, "consistent")])
def test_a_reused_batch_is_copied_before_the_next_call_changes_it(scale, verdict, kind):
    held = {}

    def mechanism(x, rng, size):
        found = held.setdefault(size, kind(size))
        found[:] = x + rng.laplace(scale=scale, size=size)
        return found

    finding = dpaudit.audit_privacy(mechanism, [(0, 1)], epsilon=0.5, trials=100_000, batched=True)
    assert finding.verdict == verdict


def test_the_same_object_may_be_returned_if_it_never_changes():
    table = [[0.0], [1.0]]
    finding = dpaudit.audit_privacy(lambda x, rng: table[x ^ int(rng.random() < 0.25)], [(0, 1)], epsilon=0.5,
                                    trials=2_000)  # fmt: skip
    assert finding.verdict == "violation"

"""Values that are few objects are looked at once each, and nothing that is read depends on it."""

from __future__ import annotations

import enum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.outputs.leaf import Step
from dpaudit.outputs.plan import LeafPlan
from dpaudit.outputs.readers import Block, WholeValues, read, real, text, whole
from dpaudit.outputs.shared import Shared, counted, follow


class Colour(enum.Enum):
    """Members with values of several kinds."""

    RED = "red"
    GREEN = 2
    BLUE = ("b", 3.5)


def rows_of(elements: list[Any], shape: tuple[int, ...]) -> Any:
    """Return an array of objects, filled element by element, so that sequences stay elements."""
    rows = np.empty(shape, dtype=object)
    places = np.random.default_rng(0).integers(len(elements), size=rows.size)
    rows.reshape(-1)[:] = [elements[i] for i in places]
    return rows


def plain(found: Any) -> Any:
    """Return what a reader returned as lists that compare by value; NaN is a text."""
    if isinstance(found, WholeValues):
        found = [found.low, found.high, found.sign, found.length, found.real, found.big]
    return [str(np.asarray(part).tolist()) for part in found]


@pytest.mark.parametrize("shape", [(400, 3), (400, 2, 2), (400, 1), (3, 5)])
@pytest.mark.parametrize(
    "elements",
    [
        list(Colour),
        [float(v) for v in np.random.default_rng(1).normal(size=5_000)] + [float("nan"), -0.0],
        [1.5, 2.5, None],
        [1, 2, 2**70, -(2**80)],
        [3, True, 2.5, "a", "2", b"x", (1, "b"), (1,), None],
        [Fraction(n, 7) for n in range(5)],
        [{"a": 1, "b": 2.0}, {"a": 5}],
        [np.float32(0.1), np.int8(3), np.float64(0.1)],
    ],
)
def test_an_array_of_objects_reads_as_the_list_of_its_rows(elements: list[Any], shape: tuple[int, ...]) -> None:
    rows = rows_of(elements, shape)
    plan = LeafPlan.of(rows)
    assert plan.leaves
    for leaf in plan.leaves:
        (values, where), (others, there) = leaf.read(rows), leaf.read(list(rows))
        assert plain(values) == plain(others), leaf.name
        assert (where is None) == (there is None)
        assert where is None or (where == there).all()


def test_few_objects_are_shared_and_many_are_not() -> None:
    few = [Colour.RED, Colour.BLUE] * 300
    shared = Shared.of(few)
    assert shared is not None
    assert list(shared) == few
    assert len(shared.objects) == 2
    assert shared[3] is Colour.BLUE
    many = [object() for _ in range(600)]
    assert Shared.of(many) is None
    late = Shared.of(few + many[:100])
    assert late is not None
    assert all(a is b for a, b in zip(late, few + many[:100], strict=True))
    assert Shared.of(few + many) is None


def test_equal_objects_stay_apart() -> None:
    zeros = [0.0, -0.0, 0]
    shared = Shared.of(zeros * 50)
    assert shared is not None
    assert sorted(map(repr, shared.objects)) == ["-0.0", "0", "0.0"]
    assert counted(type, shared) == {float: 100, int: 50}


def test_a_step_that_applies_to_some_objects_applies_to_their_values() -> None:
    values = [{"a": 1}, {"b": 2}, {"a": 3, "b": 4}] * 40
    shared = Shared.of(values)
    assert shared is not None
    for step in (Step("key", name) for name in "abc"):
        found, mask = follow(step, shared)
        expected, masked = step(values)
        assert list(found) == expected
        assert masked is not None
        assert (mask == masked).all()


def test_readers_read_objects_once() -> None:
    looked: list[Any] = []

    def reader(values: Any) -> Any:
        looked.extend(values)
        return real(values)

    shared = Shared([5, -3], np.array([0, 1, 1, 0] * 10))
    assert read(reader, shared).tolist() == [5, -3, -3, 5] * 10
    assert looked == [5, -3]
    assert read(text, Shared(["x", "y"], np.array([1, 0, 1]))) == ["y", "x", "y"]
    big = read(whole, Shared([2**70, 1], np.array([1, 0, 0])))
    assert big.big == [1, 2**70, 2**70]


def test_rows_of_objects_give_their_columns() -> None:
    rows = rows_of([1, 2.5, "a"], (50, 4))
    for j in range(4):
        assert list(Step("item", j)(rows)[0]) == [row[j] for row in rows]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(1, 2.5), (True, np.float32(0.5))], [[1, 2.5], [1, 0.5]]),
        ([[1, 2, 3], [4, 5, 6]], [[1, 2], [4, 5]]),
        ([[1], [4]], [[1, -1.1e300], [4, -1.1e300]]),
        ([[1], [4, 5]], [[1, -1.1e300], [4, 5]]),
        ([[1, 10**400], [4, "x"]], [[1, np.inf], [4, -1.1e300]]),
    ],
)
def test_a_row_has_the_width_that_training_fixed(rows: Any, expected: Any) -> None:
    assert Block(2)(rows).tolist() == expected

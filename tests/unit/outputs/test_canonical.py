"""Outputs share a cell only if nobody could tell them apart, but for what is left alone.

docs/research/outputs.md lists that.
"""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import enum
import threading
import types
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from dpaudit.errors import InputError
from dpaudit.outputs.canonical import Raised, canonical, in_words


class Level(enum.IntEnum):
    LOW = 1


class Tagged(float):
    def __init__(self, value: float) -> None:
        self.tag = "t"


Point = collections.namedtuple("Point", "x y")
Other = collections.namedtuple("Other", "x y")


def noted(text: object) -> Exception:
    """Return an exception with a note."""
    error = ValueError("x")
    error.add_note(str(text))
    return error


NOON = datetime.datetime(2020, 1, 1, 12)

DIFFERENT: list[Any] = [
    0, 1, -1, 2**80, 2**20_000, True, False, 0.0, -0.0, 1.5, float("nan"), float("inf"), float("-inf"), "", "0", "nan",
    b"", b"0", None, (), (0,), (0, 1), ((0,), 1), {"a": 1}, {"a": 2}, {"b": 1}, {}, frozenset({1}), 1j,
    complex(-0.0, 1),
    complex(0.0, -1.0), Fraction(1, 3), np.zeros(2), np.zeros((2, 1)), np.array([0.0, np.nan]), [[1], [1, 2]],
    np.array([0.0, -0.0]), np.zeros(2, dtype=int), np.zeros(2, dtype=bool), np.zeros(0), np.zeros(0, dtype=int),
    {"a": 1, "b": 2}, {"b": 2, "a": 1}, np.zeros(99), np.zeros(99, dtype=int), -np.zeros(99), Level.LOW, Tagged(1.5),
    Point(0, 1), Other(0, 1), NOON, NOON.replace(tzinfo=datetime.UTC), NOON.replace(fold=1), NOON.date(), NOON.time(),
    decimal.Decimal("1.0"), decimal.Decimal("1.00"), decimal.Decimal("sNaN"), decimal.Decimal("NaN"),
    np.datetime64("2020-01-01"), np.datetime64("2020-01-01T00"), np.array([0, 1], "M8[s]"), np.array([0, 1], "M8[ms]"),
    np.timedelta64(1, "D"), np.timedelta64(1, "ns"), np.timedelta64(1, "M"), np.timedelta64(1), np.timedelta64("NaT"),
    np.ma.array([0.0, 1.0], mask=[True, False]), np.ma.array([0.0, 1.0], mask=[False, False]), np.array([0j, 0]),
    np.array([0, "a"], dtype=object), np.array(["0", "a"]), np.longdouble(1) / 3, np.float64(1) / 3,
    Raised(ValueError("x")), Raised(ValueError("y")), Raised(TypeError("x")),
    np.ma.array([5.0, 1.0], mask=[True, False]), np.ma.array([0.0, 1.0], mask=[True, False], fill_value=7.0),
    collections.deque([1], maxlen=1), collections.deque([1], maxlen=2), array.array("b", [1]), array.array("i", [1]),
    collections.defaultdict(int), collections.defaultdict(list), memoryview(b"0"), memoryview(array.array("b", b"0")),
    collections.ChainMap({"a": 1}), collections.ChainMap({"a": 1}, {}), types.SimpleNamespace(a=1, f=lambda: 1),
    types.SimpleNamespace(a=1, f=lambda: 2), types.SimpleNamespace(a=1, f=threading.Lock()), int, str,
    type("Made", (), {"a": 1}), type("Made", (), {"a": 2}), Raised(noted("a")), Raised(noted("b")),
]  # fmt: skip


def test_different_outputs_have_different_cells() -> None:
    for first, second in combinations(DIFFERENT, 2):
        assert canonical(first) != canonical(second), (first, second)


@pytest.mark.parametrize(("first", "second"), [
    (ValueError("x"), ValueError("x").with_traceback(None)),
    (KeyError("x"), KeyError("x")),
    (OSError(2, "x"), OSError(2, "x")),
])  # fmt: skip
def test_an_exception_without_more_is_its_type_and_message(first: Exception, second: Exception) -> None:
    assert canonical(Raised(first)) == canonical(Raised(second)) == ("exception", type(first).__name__, str(first))


def raised_from(source: BaseException | None, *, shown: bool = True) -> Exception:
    """Return an exception that was raised while another one was handled."""
    error = ValueError("x")
    if shown:
        error.__cause__ = source
    else:
        error.__context__ = source
    return error


class Silent(Exception):
    """An exception whose message does not show its arguments."""

    def __str__(self) -> str:
        return "x"


def tagged(value: int) -> Exception:
    error = ValueError("x")
    error.code = value  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize("made", [
    noted,
    tagged,
    Silent,
    lambda value: raised_from(KeyError(value)),
    lambda value: raised_from(KeyError(value), shown=False),
    lambda value: raised_from(noted(value)),
    lambda value: ExceptionGroup("x", [ValueError("y"), KeyError(value)]),
])  # fmt: skip
def test_what_an_exception_holds_beside_its_message_is_in_its_cell(made: Any) -> None:
    first, second = Raised(made(1)), Raised(made(2))
    assert first.message == second.message
    assert canonical(first) != canonical(second)
    assert "1" in in_words(canonical(first))


SQUARE = np.arange(64.0).reshape(8, 8)

LEFT_ALONE = {
    "a scalar of NumPy and one of Python": [
        (1, np.int64(1)), (1, np.uint8(1)), (1.5, np.float64(1.5)), (1.5, np.float32(1.5)), (True, np.True_),
        ("a", np.str_("a")), (1j, np.complex64(1j))],
    "a list and a tuple": [([1, 2], (1, 2))],
    "a set and a frozenset": [({1, 2}, frozenset({2, 1}))],
    "bytes and a bytearray": [(b"ab", bytearray(b"ab"))],
    "a dictionary and its like of the standard library": [
        ({"a": 1}, collections.OrderedDict(a=1)), ({"a": 1}, collections.Counter("a"))],
    "an array in Fortran order and in C order": [(SQUARE, np.asfortranarray(SQUARE))],
    "the width of an array's numbers": [
        (np.array([1, 2]), np.array([1, 2], dtype=np.int32)), (np.arange(99), np.arange(99, dtype=np.uint8)),
        (np.array([0.5]), np.array([0.5], dtype=np.float32))],
    "the sign and payload of a NaN": [
        (float("nan"), -float("nan")), (np.full(99, np.nan), -np.full(99, np.nan))],
    "an exception's traceback": [(Raised(ValueError("x")), ValueError("x"))],
    "the format of a sparse matrix": [(sparse.eye(3, format="csr"), sparse.eye(3, format="coo"))],
    "the state of a random generator": [(np.random.default_rng(0), np.random.default_rng(1))],
    "which of two locks an object holds": [
        (types.SimpleNamespace(a=1, f=threading.Lock()), types.SimpleNamespace(a=1, f=threading.Lock()))],
}  # fmt: skip
"""Pairs that share a cell on purpose, by their line in docs/research/outputs.md."""


@pytest.mark.parametrize(("first", "second"), [pair for pairs in LEFT_ALONE.values() for pair in pairs])
def test_what_is_left_alone_shares_a_cell(first: Any, second: Any) -> None:
    assert canonical(first) == canonical(second)
    assert hash(canonical(first)) == hash(canonical(second))


def test_the_docs_list_what_is_left_alone() -> None:
    text = (Path(__file__).parents[3] / "docs" / "research" / "outputs.md").read_text()
    listed = text.split("## Left alone on purpose")[1].split("\n## ")[0]
    assert {line[2:] for line in listed.splitlines() if line.startswith("* ")} == set(LEFT_ALONE)


def shown(value: Any) -> str:
    """Return a slow and plain text of all that an output shows, but for what is left alone on purpose."""
    if isinstance(value, np.generic):
        return shown(value.item())
    if isinstance(value, np.ndarray):
        kind = "i" if value.dtype.kind == "u" else value.dtype.kind  # the width of numbers, and of whole ones the sign
        return f"array {value.shape} {kind} {[shown(v) for v in value.ravel().tolist()]}"
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return f"sequence {[shown(v) for v in value]}"
    if isinstance(value, set | frozenset):
        return f"set {sorted(shown(v) for v in value)}"
    if isinstance(value, dict):
        return f"mapping {[(shown(k), shown(v)) for k, v in value.items()]}"
    return f"{type(value).__qualname__} {value!r}"


SCALARS = st.one_of(
    st.sampled_from([0, 1, 2**70, 0.0, -0.0, 1.0, float("nan"), True, False, None, "", "1", b"", b"1", 1j, 0j]),
    st.sampled_from([np.int8(1), np.float32(1.0), np.True_, Fraction(1), Fraction(1, 2), decimal.Decimal(1)]),
    st.sampled_from(
        [Level.LOW, Point(0, 1), Other(0, 1), Point(0.0, 1), NOON, NOON.date(), datetime.timedelta(1), range(2)]
    ),
)
ARRAYS = st.builds(
    lambda values, dtype, shape: np.array(values, dtype=dtype).reshape(shape),
    st.lists(st.sampled_from([0, 1]), min_size=2, max_size=2),
    st.sampled_from([int, float, bool, np.float32, np.uint8, object, complex]),
    st.sampled_from([(2,), (1, 2), (2, 1)]),
)
KEYS = st.sampled_from(["a", "b", 0, 1.5])
OUTPUTS = st.recursive(
    SCALARS | ARRAYS,
    lambda inside: st.one_of(
        st.lists(inside, max_size=2),
        st.lists(inside, max_size=2).map(tuple),
        st.dictionaries(KEYS, inside, max_size=2),
        st.sets(KEYS, max_size=2),
    ),
    max_leaves=4,
)


@settings(max_examples=400)
@given(OUTPUTS, OUTPUTS)
def test_cells_are_equal_just_where_what_is_shown_is(first: Any, second: Any) -> None:
    assert (canonical(first) == canonical(second)) == (shown(first) == shown(second))
    hash(canonical(first))


@settings(max_examples=100)
@given(OUTPUTS)
def test_a_cell_can_be_written(output: Any) -> None:
    assert in_words(canonical(output))


def test_what_cannot_be_taken_apart_is_refused_with_its_type() -> None:
    class Thing:
        pass

    with pytest.raises(InputError, match=r"type .*Thing cannot be taken apart: .*Thing object at"):
        canonical(Thing())


def test_what_holds_itself_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(InputError, match="holds itself, or is nested too deep"):
        canonical(circle)


def test_cells_in_words() -> None:
    assert in_words(canonical(3)) == "3"
    assert in_words(canonical(0.5)) == "0.5"
    assert in_words(canonical("a")) == "'a'"
    assert in_words(canonical((1, "b"))) == "(1, 'b')"
    assert in_words(canonical(np.array([1, 2]))) == "[1, 2]"
    assert in_words(canonical(ValueError("no"))) == "ValueError('no')"
    assert in_words(canonical(10**5000)).startswith("integer of 16610 bits with digest ")

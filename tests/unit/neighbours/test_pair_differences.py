"""The difference between the inputs of a pair is one phrase for every kind of input; kinds of inputs have names."""

from __future__ import annotations

import importlib
from collections import deque, namedtuple
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dpaudit.neighbours.difference import difference_of
from dpaudit.neighbours.input_kinds import described, holds_frame

FRAME = pd.DataFrame({"town": ["Aa"] * 3 + ["Bb"] * 12, "age": range(15)})
WITHOUT = FRAME.drop(index=7)
POINTS = np.arange(200.0).reshape(100, 2)
LABELS = np.zeros(100, dtype=int)
ONE = LABELS.copy()
ONE[0] = 1
NAN = float("nan")
Named = namedtuple("Named", ["first", "second"])  # of a user's code


@dataclass
class Record:
    """A dataclass of a user's."""

    name: str
    values: list[int]


class Plain:
    """An object with attributes, whose text says nothing of them."""

    def __init__(self, value: Any) -> None:
        self.value = value


def changed(array: Any, place: Any, value: Any) -> Any:
    copied = array.copy()
    copied[place] = value
    return copied


@pytest.mark.parametrize(
    ("data", "neighbour", "words"),
    [
        (0, 1, "1, not 0"),
        (1, True, "True, not 1"),
        (np.float64(1), np.float64(2), "2.0, not 1.0"),
        ("abc", "abd", "'abd', not 'abc'"),
        ("a" * 100 + "b" + "c" * 100, "a" * 100 + "d" + "c" * 100, "character 100 of 201: 'd', not 'b'"),
        ("x" * 50, "x" * 49, "character 49 of 50 removed ('x')"),
        (b"abc" * 30, b"abc" * 29, "bytes 87 to 89 of 90 removed (b'abc')"),
        ([1.0] * 10, [1.0] * 9 + [0.0], "element 9 of 10: 0.0, not 1.0"),
        ([1, 2, 3], [1, 3], "element 1 of 3 removed (2)"),
        ([1, 3], [1, 2, 3], "element 1 of 3 added (2)"),
        ([1, 2, 3], [1], "elements 1 to 2 of 3 removed"),
        ([1, 2, 3], [1, 9, 8, 7, 3], "element 1 of 3 replaced by 3 others"),
        ([1, 2, 3, 4], [2, 1, 3, 4], "elements 0 and 1 exchanged"),
        ([1, 2, 3, 4], [4, 3, 2, 1], "the same 4 elements in another order"),
        ([1, 2, 3, 4], [1, 9, 3, 9], "2 of 4 elements differ, the first is element 1: 9, not 2"),
        ([1], [1.0], "element 0: 1.0, not 1"),
        ([NAN, 1], [NAN, 2], "element 1 of 2: 2, not 1"),
        ([1, 2], (1, 2), "a tuple, not a list"),
        (FRAME, None, "None, not a DataFrame"),
        ({"f": None}, {"f": FRAME}, "key 'f': a DataFrame, not None"),
        (Fraction(1, 2), Fraction(1, 3), "Fraction(1, 3), not Fraction(1, 2)"),
        (
            np.array(["2001-01-01"], "M8[D]"),
            np.array(["2001-01-02"], "M8[D]"),
            "element 0 of 1: 2001-01-02, not 2001-01-01",
        ),
        ([[1, 2], [3, 4]], [[1, 2], [3, 5]], "element 1 of element 1: 5, not 4"),
        ([{"a": 1, "b": 2}] * 3, [{"a": 1, "b": 2}] * 2 + [{"a": 1, "b": 3}], "key 'b' of element 2: 3, not 2"),
        ({"a": 1}, {"a": 2}, "key 'a': 2, not 1"),
        ({"a": 1}, {"a": 1, "b": 2}, "key 'b' added"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "the keys in another order"),
        ({1, 2}, {1, 3}, "3 in the place of 2"),
        ({1, 2}, {1}, "2 removed"),
        (deque([1, 2]), deque([1, 3]), "element 1 of 2: 3, not 2"),
        (range(10), range(11), "element 10 of 11 added (10)"),
        (Record("a", [1, 2]), Record("a", [1, 3]), "element 1 of field values: 3, not 2"),
        (Named(1, 2), Named(1, 3), "field second: 3, not 2"),
        (Plain(1), Plain(2), "attribute value: 2, not 1"),
        (POINTS, changed(POINTS, (3, 1), 9.0), "element (3, 1): 9.0, not 7.0"),
        (POINTS, changed(POINTS, 3, -1.0), "row 3 of 100 differs in 2 of 2 columns"),
        (POINTS, np.delete(POINTS, 5, axis=0), "row 5 of 100 removed ([10.0, 11.0])"),
        (POINTS, POINTS[:, :1], "column 1 of 2 removed"),
        (POINTS, POINTS + np.array([0, 1]), "column 1 differs in 100 of 100 rows, the first is row 0"),
        (POINTS, POINTS + 1, "100 of 100 rows differ, the first is row 0"),
        (LABELS, LABELS.astype(float), "dtype float64, not int64"),
        (LABELS, POINTS, "shape (100, 2), not (100,)"),
        ((POINTS, LABELS), (POINTS, ONE), "element 0 of the second array: 1, not 0"),
        ((POINTS, "a"), (POINTS[1:], "a"), "row 0 of the array removed ([0.0, 1.0])"),
        ({"X": POINTS, "y": LABELS}, {"X": POINTS, "y": ONE}, "element 0 of key 'y': 1, not 0"),
        ([np.zeros(3)] * 3, [np.zeros(3)] * 2 + [np.zeros(2)], "element 2 of the third array removed (0.0)"),
        (np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[0, 0]), "element 1 of the mask: False, not True"),
        (np.array(["a", None], object), np.array(["a", "b"], object), "element 1 of 2: 'b', not None"),
        (sparse.eye(5, format="csr"), sparse.eye(5, format="csr")[1:], "row 0 of 5 removed"),
        (sparse.eye(5, format="csc"), sparse.diags([1.0, 1, 1, 1, 2]).tocsc(), "element (4, 4): 2.0, not 1.0"),
        (FRAME, WITHOUT, "row 7 of 15 removed"),
        (FRAME, WITHOUT.reset_index(drop=True), "row 7 of 15 removed"),
        (WITHOUT, FRAME, "row 7 of 15 added"),
        (FRAME, FRAME.assign(age=[*range(14), 99]), "column age of row 14 differs"),
        (FRAME, FRAME.assign(age=-1), "column age differs in 15 of 15 rows, the first is row 0"),
        (FRAME, FRAME.rename(columns={"age": "years"}), "column age is named years"),
        (FRAME, FRAME[["age", "town"]], "the columns in another order"),
        (FRAME, FRAME.astype({"age": "float64"}), "column age: dtype float64, not int64"),
        (FRAME, FRAME.set_index(FRAME.index + 1), "the index differs from row 0 on"),
        (FRAME["age"], FRAME["age"].iloc[1:], "element 0 of 15 removed"),
        ((FRAME, 3), (WITHOUT, 3), "row 7 of the frame removed"),
        (Plain(FRAME), Plain(WITHOUT), "row 7 of attribute value removed"),
        ({"f": FRAME}, {"f": WITHOUT}, "row 7 of key 'f' removed"),
    ],
)
def test_what_differs_is_one_phrase(data: Any, neighbour: Any, words: str) -> None:
    assert str(difference_of(data, neighbour)) == words
    assert difference_of(data, data) is None


@pytest.mark.parametrize("library", ["polars", "pyarrow", "narwhals"])
def test_frames_of_other_libraries_are_compared_by_rows(library: str) -> None:
    module = importlib.import_module(library) if pytest.importorskip(library) else None
    assert module is not None
    make = {
        "polars": lambda frame: module.DataFrame(frame.to_dict("list")),
        "pyarrow": lambda frame: module.table(frame.to_dict("list")),
        "narwhals": lambda frame: module.from_native(frame),
    }[library]
    data, neighbour = make(FRAME), make(WITHOUT)
    assert str(difference_of(data, neighbour)) == "row 7 of 15 removed"
    assert str(difference_of(data, neighbour, shown=True)) == "row 7 of 15 removed ('Bb', 7)"
    assert described(data).endswith(" of 15 rows and 2 columns")
    assert holds_frame([data])


def test_nulls_and_large_integers_of_frames_stay_what_they_are() -> None:
    arrow = pytest.importorskip("pyarrow")
    data, neighbour = arrow.table({"a": [1, None, 2**62]}), arrow.table({"a": [1, None, 2**62 + 1]})
    assert str(difference_of(data, neighbour, shown=True)) == f"column a of row 2: {2**62 + 1}, not {2**62}"


def test_labelled_arrays_are_compared_with_what_stands_beside_their_values() -> None:
    xarray = pytest.importorskip("xarray")
    data = xarray.DataArray([1, 2, 3], dims="x", coords={"x": [0, 1, 2]})
    assert str(difference_of(data, data + xarray.DataArray([0, 0, 1], dims="x"))) == "element 2 of 3 differs"
    moved = data.assign_coords(x=[0, 1, 3])
    assert str(difference_of(data, moved)) == "element 2 of coordinate x differs"
    dataset = xarray.Dataset({"a": data})
    assert str(difference_of(dataset, dataset.assign(a=data + 1))) == (
        "3 of 3 elements of variable a differ, the first is element 0"
    )


def test_two_parts_that_change_are_both_named() -> None:
    found = difference_of((POINTS, LABELS), (np.delete(POINTS, 5, axis=0), LABELS[:-1]))
    first, second = "row 5 of the first array removed ([10.0, 11.0])", "element 99 of the second array removed (0)"
    assert str(found) == f"{first} and {second}"


def test_what_cannot_be_compared_has_no_phrase() -> None:
    class Rude:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError

        __hash__ = None  # type: ignore[assignment]

        def __repr__(self) -> str:
            raise RuntimeError

    circle: list[Any] = [1]
    circle.append(circle)
    other: list[Any] = [2]
    other.append(other)
    assert str(difference_of(circle, other)) == "element 0 of 2: 2, not 1"
    deep: Any = 1
    other_deep: Any = 2
    for _ in range(100):
        deep, other_deep = [deep], [other_deep]
    for data, neighbour in ((Rude(), Rude()), (object(), object()), (deep, other_deep)):
        assert difference_of(data, neighbour) is None


def test_a_comparison_that_takes_too_long_ends_without_a_phrase(monkeypatch: pytest.MonkeyPatch) -> None:
    data = [np.zeros(1) for _ in range(50)]
    neighbour = [*map(np.copy, data[:-1]), np.ones(1)]
    assert str(difference_of(data, neighbour)) == "element 0 of element 49: 1.0, not 0.0"
    monkeypatch.setattr("dpaudit.neighbours.difference.MOST_STEPS", 20)
    assert difference_of(data, neighbour) is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (POINTS, "an array of shape (100, 2)"),
        ((POINTS, LABELS), "a tuple of 2 arrays"),
        ([1] * 1000, "a list of 1,000 elements"),
        ({"a": 1}, "a dict of 1 key"),
        ("abc", "a text of 3 characters"),
        (FRAME, "a DataFrame of 15 rows and 2 columns"),
        (FRAME["age"], "a Series of 15 elements"),
        (FRAME.iloc[:1], "a DataFrame of 1 row and 2 columns"),
    ],
)
def test_an_input_is_described_by_kind_and_size(value: Any, words: str) -> None:
    assert described(value) == words


def test_frames_whose_cells_are_lists_of_one_length_are_compared() -> None:
    one = pd.DataFrame({"path": [[1, 2], [3, 4]]})
    other = pd.DataFrame({"path": [[1, 2], [3, 5]]})
    assert str(difference_of(one, other)) == "column path of row 1 differs"

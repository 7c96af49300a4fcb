"""Long inputs are shown around what differs between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpaudit
from dpaudit.contract import Pair
from dpaudit.neighbours.pair_words import words_and_difference, words_of

ZEROS, ONE = np.zeros(5_000), np.zeros(5_000)
ONE[437] = 5.0
MATRIX, OTHER = ZEROS.reshape(50, 100), ONE.reshape(50, 100)
TABLE = pd.DataFrame({"age": range(100), "share": 0.5})
CHANGED = TABLE.assign(share=[9.0 if age == 60 else 0.5 for age in range(100)])
LONG = list(range(200))


@pytest.mark.parametrize(
    ("data", "neighbour", "words"),
    [
        (ZEROS, ONE, "5000 elements: 434 before, array([0., 0., 0., 5., 0., 0., 0.]), 4559 after"),
        (ZEROS, ZEROS[:-1], "4999 elements: 4996 before, array([0., 0., 0.])"),
        (LONG, [*LONG[:50], -1, *LONG[50:]], "201 elements: 47 before, [47, 48, 49, -1, 50, 51, 52], 147 after"),
        (tuple(LONG), (-1, *LONG[1:]), "200 elements: (-1, 1, 2, 3), 196 after"),
        (LONG, LONG, "200 elements: 197 before, [197, 198, 199]"),
        (MATRIX, OTHER, "row 4 of 50: 100 elements: 34 before, array([0., 0., 0., 5., 0., 0., 0.]), 59 after"),
    ],
)
def test_a_long_input_is_cut_around_what_differs(data: Any, neighbour: Any, words: str) -> None:
    if data is MATRIX:  # its rows are long where many numbers are written
        data, neighbour = data + 0.123456789, neighbour + 0.123456789
        words = words.replace("0.", "0.12345679").replace("5.", "5.12345679")
    assert " ".join(words_of(Pair(data, neighbour))[1].split()) == words


def test_of_a_table_the_place_is_shown_and_no_value_unless_asked_for() -> None:
    pair = Pair(TABLE, CHANGED)
    told = "column share of row 60 differs"
    assert words_and_difference(pair) == ("a DataFrame of 100 rows and 2 columns", f"the same, but {told}", told)
    pair.shown = True
    assert words_and_difference(pair)[2] == "column share of row 60: 9.0, not 0.5"


@pytest.mark.parametrize(
    ("data", "neighbour"), [([1], [2]), ({"a": 1}, {"a": 2}), (LONG[:50], tuple(LONG[:50])), (3, 4.0), ("a", "b")]
)
def test_others_are_shown_as_they_are(data: Any, neighbour: Any) -> None:
    pair = Pair(data, neighbour)
    assert words_of(pair) == pair.in_words()


def test_inputs_that_would_be_cut_before_what_differs_are_described() -> None:
    points, labels = np.random.default_rng(0).uniform(size=(100, 2)), np.zeros(100, dtype=int)
    changed = labels.copy()
    changed[0] = 1
    told = "element 0 of the second array: 1, not 0"
    assert words_and_difference(Pair((points, labels), (points, changed))) == (
        "a tuple of 2 arrays",
        f"the same, but {told}",
        told,
    )
    assert words_of(Pair(LONG, tuple(LONG))) == ("a list of 200 elements", "a tuple of 200 elements")
    frames = [pl.LazyFrame({"a": [1]}) for pl in [pytest.importorskip("polars")] * 2]
    assert words_of(Pair(*frames)) == ("a LazyFrame", "another LazyFrame")


def test_a_phrase_stands_beside_whole_inputs_where_it_says_more_than_they_do() -> None:
    ones, less = [1.0] * 10, [1.0] * 9 + [0.0]
    assert words_and_difference(Pair(ones, less)) == (repr(ones), repr(less), "element 9 of 10: 0.0, not 1.0")
    # Short inputs are read at a glance; several places are seen in the inputs, as long as these are not too long.
    assert words_and_difference(Pair([1, 0, 1], [0, 0, 1]))[2] == ""
    assert words_and_difference(Pair(ones, [2.0] * 10))[2] == ""
    assert words_and_difference(Pair([1.5] * 30, [2.5] * 30))[2].startswith("30 of 30 elements differ")


def test_no_value_of_a_frame_stands_in_a_finding() -> None:
    frame = pd.DataFrame({"town": ["Secretville"] * 15, "age": range(15)})
    pairs = [((frame, 3), (frame.drop(index=7), 3))]

    def size(data, rng):
        return len(data[0])

    finding = dpaudit.audit_privacy(size, pairs, epsilon=1.0, trials=200, seed=0)
    text = f"{finding} {finding.summary()} {finding._repr_html_()} {finding.to_dict()}"
    assert "Secretville" not in text
    assert "row 7 of the frame removed" in text
    shown = dpaudit.audit_privacy(size, pairs, epsilon=1.0, trials=200, seed=0, look=dpaudit.Look(include_data=True))
    assert "row 7 of the frame removed ('Secretville', 7)" in str(shown.witness.difference)


def test_lists_of_ragged_lists_are_cut_like_others() -> None:
    data = [[0.5] * (i % 4) for i in range(400)]
    first, second = words_of(Pair(data, [*data[:200], [9.5], *data[200:]]))
    assert "9.5" not in first
    assert "9.5" in second

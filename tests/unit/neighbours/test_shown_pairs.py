"""Long inputs are shown around what differs between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpaudit.contract import Pair
from dpaudit.neighbours.shown import words_of

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


def test_a_table_is_cut_to_the_rows_that_differ() -> None:
    first, second = words_of(Pair(TABLE, CHANGED))
    assert "57 before" in first
    assert "9.0" in second
    assert "9.0" not in first
    assert len(second.splitlines()) == 8


@pytest.mark.parametrize(
    ("data", "neighbour"), [([1], [2]), ({"a": 1}, {"a": 2}), (LONG, tuple(LONG)), (3, 4.0), ("a", "b")]
)
def test_others_are_shown_as_they_are(data: Any, neighbour: Any) -> None:
    pair = Pair(data, neighbour)
    assert words_of(pair) == pair.in_words()


def test_lists_of_ragged_lists_are_cut_like_others() -> None:
    data = [[0.5] * (i % 4) for i in range(400)]
    first, second = words_of(Pair(data, [*data[:200], [9.5], *data[200:]]))
    assert "9.5" not in first
    assert "9.5" in second

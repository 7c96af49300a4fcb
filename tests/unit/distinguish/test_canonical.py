"""One cell for each output that anybody could tell apart."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from dpaudit.distinguish.canonical import Raised, canonical, in_words
from dpaudit.errors import InputError

DIFFERENT: list[Any] = [
    0, 1, -1, 2**80, True, False, 0.0, -0.0, 1.5, float("nan"), float("inf"), float("-inf"), "", "0", "nan", b"", b"0",
    None, (), (0,), (0, 1), ((0,), 1), {"a": 1}, {"a": 2}, {"b": 1}, {}, frozenset({1}), 1j, Fraction(1, 3),
    np.zeros(2), np.zeros((2, 1)), np.array([0.0, np.nan]), [[1], [1, 2]],
    Raised(ValueError("x")), Raised(ValueError("y")), Raised(TypeError("x")),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), list(combinations(range(len(DIFFERENT)), 2)))
def test_different_outputs_have_different_cells(first: int, second: int) -> None:
    assert canonical(DIFFERENT[first]) != canonical(DIFFERENT[second])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, np.int64(1)), (1.5, np.float64(1.5)), (float("nan"), -float("nan")), (True, np.True_), ([1, 2], (1, 2)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (np.array([1, 2]), np.array([1, 2], dtype=np.int32)),
        (Raised(ValueError("x")), ValueError("x")),
    ],
)  # fmt: skip
def test_equal_outputs_share_a_cell(first: Any, second: Any) -> None:
    assert canonical(first) == canonical(second)
    assert hash(canonical(first)) == hash(canonical(second))


def test_what_cannot_be_compared_is_refused_with_its_value() -> None:
    class Thing:
        def __repr__(self) -> str:
            return "<the thing>"

    with pytest.raises(InputError, match="<the thing>"):
        canonical(Thing())


def test_cells_in_words() -> None:
    assert in_words(canonical(3)) == "3"
    assert in_words(canonical(0.5)) == "0.5"
    assert in_words(canonical("a")) == "'a'"
    assert in_words(canonical((1, "b"))) == "(1, 'b')"
    assert in_words(canonical(ValueError("no"))) == "ValueError('no')"

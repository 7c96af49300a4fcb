"""The count of guesses that decides: the first of runs in order, a random choice of independent ones, fair coins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from dpaudit.audit.finding import CoinCount

RIGHT = np.array([True, True, False, True, False, False])


def test_of_runs_in_order_the_first_are_counted() -> None:
    for number in range(1, 7):
        found = CoinCount.of_order(RIGHT, number, np.random.default_rng(0))
        assert found == CoinCount(int(RIGHT[:number].sum()), number)


def test_of_independent_runs_all_are_counted_if_no_number_was_fixed() -> None:
    assert CoinCount.of_sides(30, 12, None, np.random.default_rng(0)) == CoinCount(30, 42)
    assert CoinCount.of_sides(0, 0, None, np.random.default_rng(0)).guesses == 1


@pytest.mark.parametrize("ordered", [True, False])
def test_what_is_missing_is_guessed_at_fair_coins(ordered: bool) -> None:
    rng = np.random.default_rng(1)
    found = [CoinCount.of_order(RIGHT, 16, rng) if ordered else CoinCount.of_sides(3, 3, 16, rng) for _ in range(4_000)]
    assert {(one.guesses, one.filled) for one in found} == {(16, 10)}
    filled = np.bincount([one.right - 3 for one in found], minlength=11) / len(found)
    np.testing.assert_allclose(filled, binom.pmf(np.arange(11), 10, 0.5), atol=0.03)


def test_of_independent_runs_so_many_are_counted_at_random() -> None:
    rng = np.random.default_rng(2)
    found = [CoinCount.of_sides(8, 4, 5, rng) for _ in range(4_000)]
    assert {(one.guesses, one.filled) for one in found} == {(5, 0)}
    right = np.bincount([one.right for one in found], minlength=6) / len(found)
    np.testing.assert_allclose(right, hypergeom.pmf(np.arange(6), 12, 8, 5), atol=0.03)

"""The random row: its law against a count, its delta, and what it contradicts."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy.stats import binomtest

import dpaudit
from dpaudit.contract import FAIL, InputError
from dpaudit.seeding import generator
from dpaudit_learners.halfspaces.random_row import HullPointRandomRow


def counted(rows: tuple[tuple[int, ...], ...], delta: Fraction) -> dict[object, Fraction]:
    """Return the law row by row, exactly: each with probability delta, or 1/n if there are too many for that."""
    each = delta if delta * len(rows) <= 1 else Fraction(1, len(rows))
    found: dict[object, Fraction] = {FAIL: 1 - each * len(rows)}
    for row in rows:
        found[row] = found.get(row, Fraction(0)) + each
    return found


@pytest.mark.parametrize("n", [1, 2, 4, 5])
def test_its_law_is_that_of_its_rows_and_its_delta_is_theirs(n: int) -> None:
    learner, delta = HullPointRandomRow(1, 2, 1.0, 0.25), Fraction(1, 4)
    grid, laws = list(product((0, 1), repeat=2)), {}
    for rows in combinations_with_replacement(grid, n):
        law = learner.law(learner.domain.sample(rows, [0] * n))
        laws[rows] = counted(rows, delta)
        found = dict(zip(law.atoms, np.exp(law.log_prob).tolist(), strict=True))
        assert found == pytest.approx({atom: float(laws[rows].get(atom, 0)) for atom in law.atoms}, abs=1e-15)
    spills = [
        sum(max(p.get(atom, Fraction(0)) - 3 * q.get(atom, Fraction(0)), Fraction(0)) for atom in p)
        for one, p in laws.items()
        for two, q in laws.items()
        if sum((Counter(one) - Counter(two)).values()) == 1
    ]
    audited = dpaudit.pac.audit_law(learner, n=n)
    assert audited.delta(float(np.log(3))) == pytest.approx(float(max(spills)))
    assert max(spills) == min(delta, Fraction(1, n))
    assert audited.verdict == "consistent"


def test_runs_follow_the_law_and_huge_counts_are_no_matter() -> None:
    learner = HullPointRandomRow(3, 2, 1.0, 0.01)
    sample = learner.domain.sample([[0, 0], [3, 1]], [0, 1], [30, 20])
    drawn = Counter(learner.run(sample, generator(0, "rows"), 4000))
    assert set(drawn) == {(0, 0), (3, 1), FAIL}
    for code, p in (((0, 0), 0.3), ((3, 1), 0.2), (FAIL, 0.5)):
        low, high = binomtest(drawn[code], 4000).proportion_ci(0.9999)
        assert low <= p <= high
    huge = learner.domain.sample([[0, 0], [3, 1]], [0, 1], [10**12, 1])
    assert learner.run(huge, generator(1, "rows"), 3) == [(0, 0)] * 3
    assert [learner.solves(code, sample) for code in ((3, 1), (1, 1), FAIL)] == [True, False, False]
    assert learner.decode(FAIL) is None
    assert learner.decode((2, 0)).threshold == 2


@pytest.mark.parametrize(("side", "dimension"), [(1, 1), (2**20, 3), (9, 10)])
def test_ceil_1_over_delta_examples_are_enough_in_every_dimension(side: int, dimension: int) -> None:
    learner = HullPointRandomRow(side, dimension, 0.01, 0.01)
    rng = generator(2, "rows")
    n = 100
    sample = learner.domain.sample(rng.integers(0, side + 1, (n, dimension)), [0] * n)
    assert all(learner.solves(code, sample) for code in learner.run(sample, rng, 50))
    assert learner.sample_size(0.1, 1e-9) == n


def test_laws_are_of_grids_that_can_be_listed() -> None:
    learner = HullPointRandomRow(99, 2, 1.0, 0.1)
    with pytest.raises(InputError, match="at most 4096 points"):
        learner.law(learner.domain.sample([[0, 0]], [0]))

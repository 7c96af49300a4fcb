"""Wide rows: what is reduced away is noise, whatever the kind of the leak.

Seeds are fixed; Kolmogorov-Smirnov distances below 0.4 would need 300 runs a side to err by more than ten standard
errors.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ks_2samp

from dpaudit import audit_privacy
from dpaudit.audit.parameters import Execution
from dpaudit.events.wide import Moments, Reduction, least_shift

WIDTH = 900


def one(v, x, signs):
    v[:, 700] += 2 * x


def same_sign(v, x, signs):
    v += 2 * x / np.sqrt(WIDTH)


def variance(v, x, signs):
    v[:, 7] *= 1 + 2 * x


def norm(v, x, signs):
    v *= 1 + 0.1 * x


def spike(v, x, signs):
    v[np.arange(len(v)), np.random.default_rng(5).integers(WIDTH, size=len(v))] += 6 * x


def pair(v, x, signs):
    v[:, 5] = (0.9 if x else -0.9) * v[:, 600] + np.sqrt(0.19) * v[:, 5]


def patch(v, x, signs):
    v.reshape(-1, 30, 30)[:, 10:14, 20:24] += 0.6 * x


@pytest.mark.parametrize("leak", [one, same_sign, variance, norm, spike, pair, patch])
def test_a_column_of_the_reduction_tells_the_sides_apart(leak):
    rng = np.random.default_rng(3)
    signs = rng.choice([-1.0, 1.0], WIDTH)

    def rows(x, runs):
        v = rng.normal(size=(runs, WIDTH))
        leak(v, x, signs)
        return v

    empty = Moments.around(np.concatenate([rows(0, 16), rows(1, 16)]), (WIDTH,))
    data = neighbour = empty
    for _ in range(3):
        data += empty.of(rows(0, 100))
        neighbour += empty.of(rows(1, 100))
    reduction = Reduction.fit(data, neighbour)
    left, right = reduction(rows(0, 400)), reduction(rows(1, 400))
    assert left.shape == (400, len(reduction.names))
    assert left.shape[1] <= 128
    # A change of variance shows in how far from the middle a column lies.
    far = [np.abs(side - np.median(left, axis=0)) for side in (left, right)]
    columns = [*zip(left.T, right.T, strict=True), *zip(far[0].T, far[1].T, strict=True)]
    assert max(ks_2samp(a, b).statistic for a, b in columns) > 0.4


def test_the_least_shift_that_is_found_falls_with_the_runs_and_rises_with_the_width():
    assert least_shift(10**6, 500) == pytest.approx(0.48, abs=0.03)
    assert least_shift(10**6, 2_000) < least_shift(10**6, 500) > least_shift(100, 500)


def test_wide_outputs_of_one_side_alone_are_reduced_and_the_exceptions_of_the_other_are_found():
    def mechanism(data, rng):
        if data:
            raise ValueError("no")
        return rng.normal(size=WIDTH)

    for sequential in (False, True):
        finding = audit_privacy(
            mechanism,
            [(0, 1), (0, 2)],
            epsilon=1,
            trials=2_000,
            execution=Execution(sequential=sequential, progress=False),
        )
        assert finding.verdict == "violation"

"""Thresholds over up to 2^64 points: exact sampling from runs of equal score."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.domains import Interval
from dpaudit_learners.mechanisms import exponential
from dpaudit_learners.points.concepts import Thresholds
from dpaudit_learners.points.exponential import ThresholdExponential


def test_runs_are_the_runs_of_the_listed_scores() -> None:
    rng = np.random.default_rng(2)
    for m in (0, 1, 2, 5, 9):
        domain = Interval(12)
        concepts = Thresholds(12)
        sample = domain.sample(rng.integers(0, 12, m), rng.integers(0, 2, m), rng.integers(1, 10**12, m)) if m else (
            domain.empty_sample()
        )  # fmt: skip
        starts, correct = concepts.runs(sample)
        ends = [*starts[1:], 13]
        listed = [c for a, b, c in zip(starts, ends, correct.tolist(), strict=True) for _ in range(b - a)]
        assert listed == concepts.correct(sample).tolist()


class Scripted:
    """A generator whose uniform numbers are given, and whose further random digits come from another one."""

    def __init__(self, uniform: list[float]) -> None:
        self._uniform = uniform
        self._rng = np.random.default_rng(3)

    def random(self, size: int) -> np.ndarray:
        assert size == len(self._uniform)
        return np.array(self._uniform)

    def integers(self, *arguments: Any, **named: Any) -> np.ndarray:
        return self._rng.integers(*arguments, **named)


def test_draws_near_a_boundary_are_refined_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    refined = []
    original = exponential._refined
    # The real refinement runs; the list holds what it was asked for.
    monkeypatch.setattr(exponential, "_refined", lambda *a: refined.append(original(*a)) or refined[-1])
    sizes = [1, 2, 1]
    values = np.array([0, 0, 0])
    rng = Scripted([0.1, 0.25, 0.5, 0.75, 0.9])
    drawn = exponential.draw_cells(sizes, values, 1.0, rng, 5)  # type: ignore[arg-type]  # a generator of these numbers
    # 0.25 and 0.75 are boundaries: the number lies in [0.25, 0.25 + 2^-53), so it is above; both need more digits.
    assert drawn.tolist() == [0, 1, 1, 2, 2]
    assert refined == [1, 2]


def refined(digits: int, sizes: list[int], gaps: np.ndarray, rate: float, rng: np.random.Generator) -> int:
    """Return the cell of a number of which 53 binary digits are given, as draws decide it that are near a boundary."""
    start = exponential._extended(digits, 53, exponential.START_DIGITS, rng)
    return exponential._refined(*start, lambda precision: exponential._bounds(sizes, gaps, rate, precision), rng)


def test_refinement_agrees_with_the_floats_away_from_boundaries() -> None:
    rng = np.random.default_rng(8)
    for _ in range(60):
        m = int(rng.integers(1, 12))
        sizes = [int(v) for v in rng.integers(1, 2**62, m)]
        gaps = np.abs(rng.integers(0, 60, m) - 30)
        # Cells are weighed against the best: its gap is zero.
        gaps -= gaps.min()
        weights = np.array(sizes, dtype=float) * np.exp(-0.4 * gaps)
        uniform = float(rng.random())
        cumulative = np.cumsum(weights) / weights.sum()
        # Nearer to a boundary the floats cannot say on which side the number lies.
        if np.abs(cumulative - uniform).min() > 1e-9:
            expected = int(np.searchsorted(cumulative, uniform))
            assert refined(int(uniform * 2**53), sizes, gaps, 0.4, rng) == expected


def test_cells_of_hardly_any_weight_can_be_drawn_by_refinement_only() -> None:
    # exp(-100) is 4e-44 of the total: the floats cannot see it, a uniform number that begins with 53 zeros can.
    gaps = np.array([100, 0])
    rng = np.random.default_rng(0)
    drawn = [refined(0, [1, 1], gaps, 1.0, rng) for _ in range(50)]
    # Given 53 zeros it is below 2^-53 = 1.1e-16, hence in the first cell with probability 4e-28 only.
    assert drawn == [1] * 50

    class Zeros:
        def integers(self, *_: Any, size: int | tuple[int, ...], **__: Any) -> np.ndarray:
            return np.zeros(size if isinstance(size, tuple) else (size,), dtype=np.uint64)

    assert refined(0, [1, 1], gaps, 1.0, Zeros()) == 0  # type: ignore[arg-type]  # a generator of zeros


def test_uniform_below_any_bound() -> None:
    rng = np.random.default_rng(1)
    for bound in (1, 2, 3, 2**63, 2**64, 2**64 + 1, 3 * 2**70):
        drawn = exponential.uniform_below(bound, rng, 200)
        assert all(0 <= v < bound for v in drawn)
        assert max(drawn) >= bound // 2 - (bound < 3)
    counts = np.bincount(exponential.uniform_below(5, rng, 50_000))
    # Seven standard deviations.
    assert np.abs(counts - 10_000).max() < 7 * math.sqrt(50_000 * 0.16)


def test_two_to_the_64_points() -> None:
    learner = ThresholdExponential(2**64, 2.0)
    points = [5, 2**63, 2**64 - 1]
    sample = learner.domain.sample(points, [1, 1, 0], [40, 40, 40])
    rng = generator(4, "huge")
    codes = learner.run(sample, rng, 2000)
    assert all(isinstance(c, int) and 0 <= c <= 2**64 for c in codes)
    # Runs: [0, 5], [6, 2^63], [2^63 + 1, 2^64 - 1], {2^64}, scores 40, 80, 120, 80: all mass but e^-40 on the third.
    assert all(2**63 < c <= 2**64 - 1 for c in codes)
    assert max(codes) - min(codes) > 2**62
    assert learner.decode(codes[0]).predict(sample.points).tolist() == [1, 1, 0]
    assert sample.errors(learner.decode(codes[0])) == 0
    assert learner.sample_size(0.1, 0.1) == math.ceil(80 * math.log(20 * (2**64 + 1)))


def test_runs_over_a_huge_domain_follow_their_weights() -> None:
    learner = ThresholdExponential(2**64, 0.5)
    points = [2**62, 2**63, 3 * 2**62]
    sample = learner.domain.sample(points, [1, 0, 1], [3, 5, 2])
    runs = 40_000
    edges = [0, 2**62 + 1, 2**63 + 1, 3 * 2**62 + 1, 2**64 + 1]
    scores = [5, 8, 3, 5]
    weights = [(b - a) / 2**64 * math.exp(0.25 * s) for a, b, s in zip(edges, edges[1:], scores, strict=False)]
    codes = learner.run(sample, generator(6, "weights"), runs)
    seen = np.histogram([c / 2**64 for c in codes], [e / 2**64 for e in edges])[0]
    due = runs * np.array(weights) / sum(weights)
    # False alarm 1e-6.
    assert chi2.sf(float(((seen - due) ** 2 / due).sum()), 3) > 1e-6


def test_the_empty_sample_is_uniform_over_more_than_2_to_the_64_codes() -> None:
    learner = ThresholdExponential(2**64, 1.0)
    codes = learner.run(learner.domain.empty_sample(), generator(7, "empty"), 1000)
    # Each half gets 500 of 1000, give or take 7 standard deviations.
    assert abs(sum(c >= 2**63 for c in codes) - 500) < 7 * math.sqrt(250)


def test_large_domains_say_what_they_cannot_do() -> None:
    learner = ThresholdExponential(2**64, 1.0)
    with pytest.raises(InputError, match="must have at most 4194304 concepts for the exact law"):
        learner.law(learner.domain.empty_sample())
    with pytest.raises(InputError, match="domain_size must be an integer in"):
        ThresholdExponential(2**64 + 1, 1.0)
    with pytest.raises(InputError, match="can be listed"):
        learner.concepts.enumerate()

"""Mixed outputs: patterns of repeated values, and the other values within them."""

from __future__ import annotations

import numpy as np

from dpaudit.events.fitting import Scored, fitted_discretizers
from dpaudit.events.scores import Patterns


def _stopped(rng: np.random.Generator, shift: float, size: int) -> np.ndarray:
    """One noisy value at a place that is random, flags before and after it."""
    place = rng.integers(0, 4, size)
    rows = np.where(np.arange(4) < place[:, None], -1000.0, -2000.0)
    # The value tells of the side at even places in one direction, at odd ones in the other.
    rows[np.arange(size), place] = rng.normal(size=size) + shift * np.where(place % 2, -1, 1)
    return rows


def test_the_ratio_within_patterns_is_recovered() -> None:
    rng = np.random.default_rng(0)
    score = Patterns.fit(_stopped(rng, 0.2, 50_000), _stopped(rng, -0.2, 50_000))
    assert score is not None
    assert len(score.codes) == 4
    fresh = _stopped(rng, 0.0, 4000)
    place = (np.abs(fresh) < 100).argmax(axis=1)
    truth = 0.4 * fresh[np.arange(4000), place] * np.where(place % 2, -1, 1)
    assert np.corrcoef(score(fresh), truth)[0, 1] > 0.97


def test_a_pattern_tells_of_its_side() -> None:
    rng = np.random.default_rng(1)
    sides = [np.where(rng.random(20_000) < share, 0.0, rng.normal(size=20_000))[:, None] for share in (0.3, 0.1)]
    score = Patterns.fit(*sides)
    assert score is not None
    found = score(np.array([[0.0], [0.3], [12.0]]))
    assert abs(found[0] - np.log(3)) < 0.1
    assert np.abs(found[1:] - np.log(0.7 / 0.9)).max() < 0.1


def test_outputs_of_one_kind_have_no_patterns() -> None:
    rng = np.random.default_rng(2)
    assert Patterns.fit(rng.normal(size=(500, 3)), rng.normal(size=(500, 3))) is None
    assert Patterns.fit(rng.integers(0, 2, (500, 3)) * 1.0, rng.integers(0, 2, (500, 3)) * 1.0) is None


def test_unknown_patterns_say_nothing() -> None:
    rng = np.random.default_rng(3)
    score = Patterns.fit(_stopped(rng, 0.5, 20_000), _stopped(rng, -0.5, 20_000))
    assert score is not None
    assert score(np.array([[0.1, 0.2, 0.3, 0.4], [0.1, -2000.0, 0.3, -2000.0]])).tolist() == [0.0, 0.0]


def _mixed(rng: np.random.Generator, share: float, shift: float, size: int) -> np.ndarray:
    """Zero, or a noisy value: zero is likelier where `share` is greater."""
    return np.where(rng.random(size) < share, 0.0, rng.normal(size=size) + shift)[:, None]


def test_both_fits_and_their_mean_have_a_repeated_output_in_one_bin() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        first, second = ([_mixed(rng, 0.3, 0.5, 5_000), _mixed(rng, 0.25, 0.0, 5_000)] for _ in range(2))
        fitted = fitted_discretizers(*first, thorough=False, float_bits=False)
        one = next(a for a in fitted if isinstance(a, Scored) and isinstance(a.score, Patterns))
        other = one.refit(*second)
        assert other is not None
        assert isinstance(other.score, Patterns)
        assert other.score.tables[0] is not None or other.score.tables[1] is not None
        both = one.joined(other, first, second)
        zero = np.zeros((1, 1))
        bin_of_zero = {int(each(zero)[0]) for each in (one, other, both)}
        assert len(bin_of_zero) == 1
        # The event above zero is the same to all of them but for scores near that of zero.
        fresh = _mixed(rng, 0.3, 0.5, 5_000)
        above = [each(fresh) > min(bin_of_zero) for each in (one, other, both)]
        assert max(np.mean(a != b) for a in above for b in above) < 0.1

"""Bits of floats: noise added in doubles is detected by its lowest bits, and repaired noise is not accused."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import dpaudit

RUNS = 200_000
PAIR = (1.0, 0.0)


def naive(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    """Add noise in doubles: the sum's low bits tell what was added."""
    return data + rng.laplace(0.0, 1.0, size)


def inverse_cdf(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    """Add noise by the textbook formula in doubles."""
    u = rng.random(size) - 0.5
    return data - np.sign(u) * np.log1p(-2 * np.abs(u))


def rounded(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    """Round the sum to multiples of 2^-10; zero has no sign."""
    return np.rint(naive(data, rng, size) * 2**10) / 2**10 + 0.0


def finely_rounded(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    """Round the sum to multiples of 2^-20; zero has no sign."""
    return np.rint(naive(data, rng, size) * 2**20) / 2**20 + 0.0


def snapped(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    """Clamp the sum to [-16, 16], round it to multiples of 1 (the least power of two >= the scale), clamp again."""
    return np.clip(np.rint(np.clip(naive(data, rng, size), -16.0, 16.0)), -16.0, 16.0) + 0.0


def discrete(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    """Add two-sided geometric noise on multiples of 1/8."""
    stop = 1 - math.exp(-1 / 8)
    return data + (rng.geometric(stop, size) - rng.geometric(stop, size)) / 8


Noise = Callable[[float, np.random.Generator, int], np.ndarray]


@pytest.mark.parametrize("mechanism", [naive, inverse_cdf])
def test_noise_in_doubles_is_detected_by_its_bits(mechanism: Noise) -> None:
    finding = dpaudit.audit_privacy(
        mechanism, [PAIR], epsilon=1.0, trials=RUNS, batched=True, look=dpaudit.Look(float_bits=True), confidence=0.95
    )
    assert finding.verdict == "violation"
    assert finding.epsilon_lower >= 6


def test_without_the_bits_only_the_values_are_judged() -> None:
    # False-alarm rate 1e-6: rounding to 53 bits changes the law of values by parts in 1e15.
    finding = dpaudit.audit_privacy(naive, [PAIR], epsilon=1.0, trials=20_000, confidence=1 - 1e-6, batched=True)
    assert finding.verdict == "consistent"


@pytest.mark.parametrize("mechanism", [rounded, finely_rounded, snapped, discrete])
def test_repaired_noise_raises_no_alarm(mechanism: Noise) -> None:
    # False-alarm rate 1e-6: epsilon is exactly 1, as all shifts are whole multiples of the grid.
    finding = dpaudit.audit_privacy(
        mechanism,
        [PAIR],
        epsilon=1.0,
        trials=RUNS,
        confidence=1 - 1e-6,
        batched=True,
        look=dpaudit.Look(float_bits=True),
    )
    assert finding.verdict == "consistent"
    # Looking at bits must not drown what the values tell.
    assert finding.epsilon_lower > 0.9

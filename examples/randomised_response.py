"""Randomised response, a mechanism of nobody's registry: ``dpaudit privacy`` takes it as MODULE:FUNCTION.

It is ln(3)-differentially private, ln(3) = 1.0986...: Pr[answer | bit] is 3/4 for the truth and 1/4 for the lie.
"""

from __future__ import annotations

import numpy as np

__all__ = ["PAIRS", "respond", "respond_batched"]

TRUTH = 0.75
PAIRS = [(0, 1)]


def respond(bit: int, rng: np.random.Generator) -> int:
    """Return the bit with probability 3/4, else the other one."""
    return bit if rng.random() < TRUTH else 1 - bit


def respond_batched(bit: int, rng: np.random.Generator, size: int) -> np.ndarray:
    """Return `size` answers at once, which is much faster: for ``--batched``."""
    return np.where(rng.random(size) < TRUTH, bit, 1 - bit)

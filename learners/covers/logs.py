"""Sums and softmaxes of numbers that are given by their logarithms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_softmax", "log_sum"]

Floats = NDArray[np.float64]


def log_softmax(logs: Floats) -> Floats:
    """Return the logarithms of exp(logs) divided by their sum over the last axis."""
    shifted = logs - logs.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)), dtype=np.float64)


def log_sum(logs: Floats) -> Floats:
    """Return the logarithm of the sum of exp(logs) over the first axis."""
    top = logs.max(axis=0)
    return np.asarray(top + np.log(np.exp(logs - top).sum(axis=0)), dtype=np.float64)

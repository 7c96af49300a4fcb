"""Hard targets on domains that are too large to be listed: a concept, and points on both sides of its boundary.

Where a class can be listed, an audit of utility makes hard cases from the class itself. Elsewhere a class describes
some here. The points are few, so that errors are exact sums, and each label has half of the mass: a constant hypothesis
errs with probability 1/2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpaudit.contract import Distribution, Hypothesis, InputError

from .arrays import Exact

# The points of a target, roughly.
MANY = 64


def point_array(points: Sequence[Sequence[int]]) -> Exact:
    """Return distinct points (m, k) in lexicographic order, as Python integers beyond int64."""
    found = sorted({tuple(map(int, point)) for point in points})
    dtype = np.int64 if all(abs(value) < 2**63 for point in found for value in point) else object
    return np.array(found, dtype=dtype)


def balanced(target: Hypothesis, points: Exact, name: str) -> Distribution:
    """Return the distribution that gives each label of a target half of the mass, in equal parts to its points."""
    labels = target.predict(points)
    ones = int(labels.sum())
    if not 0 < ones < len(labels):
        raise InputError(f"a target must label its points in both ways, got {ones} ones of {len(labels)}: {target}")
    weights = np.where(labels == 1, 0.5 / ones, 0.5 / (len(labels) - ones))
    return Distribution(points, weights, name)


def case(target: Hypothesis, points: Exact, name: str) -> tuple[Hypothesis, Distribution, str]:
    """Return a case of `dpaudit.contract.HasHardTargets`."""
    return target, balanced(target, points, name), name



"""Distributions on which as many rivals of a concept as possible are just bad, by linear programming."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["just_bad"]

MAX_ENTRIES = 2**16
"""Programs up to this many entries (rivals times points) are solved."""
DIGITS = 9
"""Decimals to which masses are rounded: the last bits of a solution depend on the machine."""

Floats = NDArray[np.float64]


def just_bad(labels: NDArray[Any], code: int, mass: float) -> Iterator[tuple[Floats, str]]:
    """Yield distributions of the points on which many rivals of a concept err by little more than alpha.

    Each solves a linear program: minimise the sum of err_w(h) over all rivals h subject to err_w(h) >= mass for some of
    them, where err_w(h) is the weight of the points at which h differs from the concept and w is a distribution. Those
    are all rivals; the nearer half; the nearest ones. A program without a solution is left out.

    Parameters
    ----------
    labels : array, shape (concepts, m)
        The labels of all concepts at the points.
    code : int
        The concept.
    mass : float
        A little more than alpha.

    Yields
    ------
    weights : array of float64, shape (m,)
        Probabilities >= 0, with sum 1 but for rounding, and 0 at points that do not matter.
    name : str
        Which rivals are bad, in words.
    """
    differing = np.unique(labels != labels[code], axis=0)
    differing = differing[differing.any(axis=1)]
    if not len(differing) or differing.size > MAX_ENTRIES:
        return
    sizes = differing.sum(axis=1)
    chosen = {
        "all rivals": np.ones(len(sizes), dtype=bool),
        "the nearer half of the rivals": sizes <= np.median(sizes),
        "the nearest rivals": sizes == sizes.min(),
    }
    seen: list[Floats] = []
    for name, bad in chosen.items():
        weights = _solved(differing, bad, mass)
        if weights is not None and not any(np.array_equal(weights, other) for other in seen):
            seen.append(weights)
            yield weights, f"{name} just above alpha"


def _solved(differing: NDArray[np.bool_], bad: NDArray[np.bool_], mass: float) -> Floats | None:
    """Return the solution of one program; None if it has none."""
    from scipy.optimize import linprog

    matrix = differing.astype(np.float64)
    points = matrix.shape[1]
    found = linprog(
        matrix.sum(axis=0), A_ub=-matrix[bad], b_ub=np.full(int(bad.sum()), -mass),
        A_eq=np.ones((1, points)), b_eq=[1.0], bounds=(0, 1), method="highs",
    )  # fmt: skip
    if found.status != 0:
        return None
    weights = np.round(np.maximum(found.x, 0.0), DIGITS)
    return np.asarray(weights / weights.sum(), dtype=np.float64)

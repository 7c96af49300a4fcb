"""Likelihood ratios of sparse vector with gaps, where one answer ends it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmark.gap_sparse_vector import AdaptiveSVT, GapSVT
from benchmark.noise import Array
from benchmark.quadrature import laplace_cdf, laplace_density
from benchmark.ratio_law import RatioLaw

__all__ = ["adaptive_svt", "gap_svt"]

CELLS = 400
"""Midpoints of the threshold's noise for each of its scales."""


def gap_svt(mechanism: GapSVT, data: Sequence[float], neighbour: Sequence[float]) -> RatioLaw:
    """Return cells (position of the gap, interval of the gap) for a cutoff of 1.

    The gap at position k exceeds g with the probability that the sum over r, the threshold's noise, of its mass times
    the product over i < k of F(threshold + r - a_i) times 1 - F(g + threshold + r - a_k) is.
    """
    if mechanism.cutoff != 1:
        raise ValueError(f"cutoff must be 1, got {mechanism.cutoff!r}: more gaps make more dimensions")

    def masses(answers: Sequence[float]) -> Array:
        noise, left = _threshold(mechanism.threshold_scale)
        cells = []
        for answer in answers:
            distance = mechanism.threshold + noise - answer
            cells.append(_gap_cells(left, distance, mechanism.query_scale, 0.0))
            left = left * laplace_cdf(distance, mechanism.query_scale)
        return np.concatenate([*cells, left.sum(keepdims=True)])

    return RatioLaw(masses(data), masses(neighbour), "numeric")


def adaptive_svt(mechanism: AdaptiveSVT, data: Sequence[float], neighbour: Sequence[float]) -> RatioLaw:
    """Return cells (position, coarse or fine, interval of what is released) where one answer ends it.

    As `gap_svt`; with `leaks` the density of the coarse answer v at position k is f(v - a_k) times the mass of
    what is left at r <= v - margin - threshold.
    """
    if mechanism.answers != 1:
        raise ValueError(f"answers must be 1, got {mechanism.answers!r}: more make more dimensions")

    def masses(answers: Sequence[float]) -> Array:
        noise, left = _threshold(mechanism.threshold_scale)
        cells = []
        for answer in answers:
            distance = mechanism.threshold + noise - answer
            coarse, fine = mechanism.coarse_scale, mechanism.fine_scale
            if mechanism.leaks:
                values = mechanism.threshold + mechanism.margin + noise - answer
                below = np.cumsum(left) - left / 2
                beyond = left.sum() * laplace_cdf(-np.array([values[-1] + (noise[1] - noise[0]) / 2]), coarse)
                cells += [laplace_density(values, coarse) * (noise[1] - noise[0]) * below, beyond]
            else:
                cells.append(_gap_cells(left, distance, coarse, mechanism.margin))
            left = left * laplace_cdf(distance + mechanism.margin, coarse)
            cells.append(_gap_cells(left, distance, fine, 0.0))
            left = left * laplace_cdf(distance, fine)
        return np.concatenate([*cells, left.sum(keepdims=True)])

    return RatioLaw(masses(data), masses(neighbour), "numeric")


def _threshold(scale: float) -> tuple[Array, Array]:
    """Return midpoints of the threshold's noise, symmetric about 0, and their masses."""
    reach = 30 * CELLS
    edges = scale / CELLS * np.arange(-reach, reach + 1)
    below = laplace_cdf(edges, scale)
    return (edges[1:] + edges[:-1]) / 2, np.diff(below)


def _gap_cells(left: Array, distance: Array, scale: float, least: float, cells: int = 1500) -> Array:
    """Return the masses of the intervals of a gap that is at least `least`: Lap(scale) - distance.

    Pr[gap > g] is the sum of left times 1 - F(g + distance); as F is exponential on either side of 0 it takes two
    running sums along the ascending distances, not a sum for each g.
    """
    gaps = least + np.concatenate([[0.0], np.geomspace(1e-3, 40.0, cells)]) * scale
    before = np.concatenate([[0.0], np.cumsum(left)])
    growing = np.concatenate([[0.0], np.cumsum(left * np.exp(distance / scale))])
    falling = np.concatenate([np.cumsum((left * np.exp(-distance / scale))[::-1])[::-1], [0.0]])
    at = np.searchsorted(distance, -gaps)
    above = before[at] - np.exp(gaps / scale) * growing[at] / 2 + np.exp(-gaps / scale) * falling[at] / 2
    return np.append(above[:-1] - above[1:], above[-1])

"""The law of the likelihood ratio of a pair, and the best lower bound that any auditor can expect from it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from benchmark.noise import Array

__all__ = ["RatioLaw", "best_bound"]


@dataclass(frozen=True)
class RatioLaw:
    """The probabilities under both inputs of cells of outputs.

    Parameters
    ----------
    p, q : array, shape (m,)
        Probabilities of the cells under the first and under the second input.
    grade : {"exact", "numeric", "statistical"}
        "exact" if the likelihood ratio is constant on every cell, "numeric" if the cells are a fine partition
        (events made of them fall short of the best by the second order of the mesh), "statistical" if a
        seeded sample.
    supremum : float, optional
        The greatest |ln(p / q)|, where the cells do not reach it.
    """

    p: Array
    q: Array
    grade: str = "exact"
    supremum: float | None = None

    @property
    def epsilon(self) -> float:
        """The greatest |ln(p / q)| over the outputs that can occur."""
        if self.supremum is not None:
            return self.supremum
        seen = (self.p > 0) | (self.q > 0)
        with np.errstate(divide="ignore"):
            return float(np.abs(np.log(self.p[seen]) - np.log(self.q[seen])).max())


def best_bound(law: RatioLaw, runs: int, gamma: float = 0.05) -> float:
    """Return what the ideal auditor, who knows the best event beforehand, certifies from `runs` runs a side.

    Over the Neyman-Pearson events S_t = {ln p/q >= t} and both directions it is the greatest ln(p_t / q_t) -
    z_gamma sqrt((1 - p_t) / (runs p_t) + (1 - q_t) / (runs q_t)): the normal approximation of the lower
    limit. An event that is impossible on the other side (q_t = 0) yields ln(runs p_t / ln(1 / gamma)), the
    limit from no hits there. Where runs q_t is a dozen or less the approximation is low: exact limits reach
    more.
    """
    return max(_one_way(law.p, law.q, runs, gamma), _one_way(law.q, law.p, runs, gamma), 0.0)


def _one_way(p: Array, q: Array, runs: int, gamma: float) -> float:
    seen = (p > 0) | (q > 0)
    p, q = p[seen], q[seen]
    order = np.argsort(q / (p + q), kind="stable")
    ps, qs = np.minimum(np.cumsum(p[order]), 1.0), np.minimum(np.cumsum(q[order]), 1.0)
    never = qs == 0
    certain = float(ps[never].max(initial=0.0)) * runs / math.log(1 / gamma)
    ps, qs = ps[~never & (ps > 0)], qs[~never & (ps > 0)]
    spread = np.sqrt((1 - ps) / (runs * ps) + (1 - qs) / (runs * qs))
    bounds = np.log(ps / qs) - norm.isf(gamma) * spread
    return max(float(bounds.max(initial=-math.inf)), math.log(certain) if certain > 0 else -math.inf)

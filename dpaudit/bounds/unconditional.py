"""The certified exact unconditional bound: proved for every n1, n2, p and q, whatever the counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpaudit.bounds.base import Bound
from dpaudit.bounds.certified import Region
from dpaudit.bounds.counts import Counts
from dpaudit.bounds.inversion import last_rejected
from dpaudit.bounds.melded import first_guess
from dpaudit.bounds.ordering import epsilon_limit, region
from dpaudit.errors import InputError

__all__ = ["Unconditional"]

Array = NDArray[np.float64]
Boundary = Callable[[Array], Array]

_LEVEL = 0.05
"""The level at which p-values are strongest where none is asked for."""
_FLOOR, _IGNORED = 1e-12, 0.01
"""P-values below the one, or below this part of a level that is known, are not computed further."""


@dataclass(frozen=True)
class Unconditional(Bound):
    r"""Buehler's bound with the nuisance parameter q eliminated by a certified supremum.

    Parameters
    ----------
    ordering : float
        Outcomes are ordered by their likelihood-ratio limits T (`dpaudit.bounds.ordering`) at level ordering * gamma;
        any value fixed in advance is valid. Near 1 the outcomes with y' = 0 rank too high, which costs power.
    nuisance_error : float
        The part theta of the error that pays for disregarding values of q which y makes implausible.
    slack : float
        About what part of the distance between estimate and bound may be lost to the enclosure.

    Notes
    -----
    With R = {T >= T(x, y)}, g(q) = min(1, exp(epsilon) q + delta) and the two-sided binomial p-value of q,
    tau(q) = 2 min(Pr[Bin(n2, q) <= y], Pr[Bin(n2, q) >= y]),

    .. math:: p(\epsilon) = \sup_q \min\{ \Pr_{g(q), q}[R] / (1 - \theta),\; \tau(q) / \theta \}

    is a p-value: at the true q, p <= gamma means that Pr[R] <= (1 - theta) gamma or tau <= theta gamma, and these have
    probability at most (1 - theta) gamma (as the regions are nested) and theta gamma. It rises in epsilon, because R
    does not depend on it.

    The supremum is enclosed, not searched for. R holds with (x, y) all (x + 1, y) and (x, y - 1), so Pr[R] rises in p
    and falls in q, and on a cell [a, b] it is at most its value at p = g(b), q = a. Cells are divided until the largest
    upper end is near the largest value seen; the upper end is what is returned.

    References
    ----------
    Buehler (1957), J. Amer. Statist. Assoc. 52; Berger and Boos (1994), J. Amer. Statist. Assoc. 89; Chan and Zhang
    (1999), Biometrics 55.
    """

    ordering: float = 0.2
    nuisance_error: float = 0.005
    slack: float = 0.01
    name: ClassVar[str] = "unconditional"
    max_epsilon: ClassVar[float] = 60.0
    max_runs: ClassVar[int] = 10**6
    """Beyond it a bound would take minutes."""

    def __post_init__(self) -> None:
        for field in ("ordering", "nuisance_error", "slack"):
            value = getattr(self, field)
            if not (math.isfinite(value) and 0 < value < 1):
                raise InputError.of(field, value, "in (0, 1)")

    def _p_values(self, c: Counts, ratio: Array, delta: Array, gamma: float | None) -> Array:
        """Return p-values that are valid at every level, and strongest at gamma (by default 0.05).

        The level orders the outcomes, and `epsilon_lower` inverts the p-values with its own. Where gamma is given,
        p-values below gamma / 100 are not computed further.
        """
        level = _LEVEL if gamma is None else gamma
        return _tail(self._regions(c, delta, level, _FLOOR if gamma is None else _IGNORED * level), ratio, delta)

    def _epsilons(self, c: Counts, delta: Array, gamma: float) -> Array:
        """Return the bounds, by a search no finer than the p-values are known."""
        regions = self._regions(c, delta, gamma, _IGNORED * gamma)

        def tail(t: Array, i: NDArray[np.intp]) -> Array:
            return _tail([regions[k] for k in i], np.exp(t), delta[i])

        start, scale = first_guess(c, delta, gamma)
        tightness = min(self._tolerance(gamma), 0.5)
        return last_rejected(tail, gamma, start, scale, self.max_epsilon, tightness=tightness, resolution=1e-7)

    def _regions(self, c: Counts, delta: Array, gamma: float, floor: float) -> Sequence[Region]:
        """Return the regions of outcomes with no smaller limits on epsilon.

        The limit is -infinity where x alone does not refute p <= delta at the level of the ordering. These outcomes
        come last and are ordered by x.
        """
        height, tolerance, found = self._height(gamma), self._tolerance(gamma), []
        for x, n1, y, n2, d in zip(c.x, c.n1, c.y, c.n2, delta, strict=True):
            t = epsilon_limit(x, n1, y, n2, d, height)
            edge = _at_least(x) if math.isinf(t) else _above(n1, n2, math.exp(t), d, height)
            found.append(Region.of(n1, y, n2, edge, theta=self.nuisance_error, tolerance=tolerance, floor=floor))
        return found

    def _height(self, gamma: float) -> float:
        """Return the deviance that a normal deviate at the level of the ordering has."""
        return 0.5 * float(ndtri(0.5 * self.ordering * min(2 * gamma, 1))) ** 2

    def _tolerance(self, gamma: float) -> float:
        """Return by what fraction a p-value may be too large: near the level ln p moves by z a standard deviation."""
        return self.slack * max(float(ndtri(gamma)) ** 2, 0.5)


def _above(n1: float, n2: float, ratio: float, delta: float, height: float) -> Boundary:
    """Return the boundary of the outcomes whose deviance at (ratio, delta) is at least `height`."""
    return lambda ys: region(ys, n1, n2, ratio, delta, height)


def _at_least(x: float) -> Boundary:
    """Return the boundary of the outcomes with at least x hits on the first side."""
    return lambda ys: np.full_like(ys, x)


def _tail(regions: Sequence[Region], ratio: Array, delta: Array) -> Array:
    """Return one certified p-value a region."""
    each = zip(regions, ratio, delta, strict=True)
    return np.array([r.p_value(float(e), float(d)) for r, e, d in each], dtype=np.float64)

"""The certified exact unconditional bound: proved for every n1, n2, p and q, whatever the counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from dpaudit.bounds.certified import Region
from dpaudit.bounds.counts import Counts, check_level
from dpaudit.bounds.inversion import Tail, last_rejected
from dpaudit.bounds.melded import first_guess
from dpaudit.bounds.ordering import delta_limit, epsilon_limit, region
from dpaudit.errors import InputError

__all__ = ["MAX_STRICT_RUNS", "Unconditional"]

MAX_STRICT_RUNS = 10**6
"""The most runs a side; beyond it a bound would take minutes."""

_MAX_EPSILON = 60.0
Boundary = Callable[[NDArray[np.float64]], NDArray[np.float64]]

_FLOOR = 1e-12
_IGNORED = 0.01


@dataclass(frozen=True)
class Unconditional:
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

    def __post_init__(self) -> None:
        for field in ("ordering", "nuisance_error", "slack"):
            value = getattr(self, field)
            if not (math.isfinite(value) and 0 < value < 1):
                raise InputError.of(field, value, "in (0, 1)")

    def p_value(
        self,
        x: ArrayLike,
        n1: ArrayLike,
        y: ArrayLike,
        n2: ArrayLike,
        *,
        epsilon: ArrayLike,
        delta: ArrayLike = 0.0,
        gamma: float | None = None,
    ) -> NDArray[np.float64]:
        """Return p-values of H0: p <= exp(epsilon) q + delta, in the broadcast shape of the counts.

        `gamma` (default 0.05), fixed in advance, is the level at which the test should be strongest; it orders the
        outcomes. The p-values are valid at every level, and `epsilon_lower` inverts those with its own gamma. Where
        gamma is given, p-values below gamma / 100 are not computed further.
        """
        c, level = _counts(x, n1, y, n2), check_level(0.05 if gamma is None else gamma)
        ratio = np.exp(c.spread("epsilon", epsilon, 0, _MAX_EPSILON))
        delta = c.spread("delta", delta, 0, 1)
        regions = self._along_epsilon(c, delta, level, _FLOOR if gamma is None else _IGNORED * gamma)
        return c.shaped(_tail(regions, ratio, delta))

    def epsilon_lower(
        self, x: ArrayLike, n1: ArrayLike, y: ArrayLike, n2: ArrayLike, *, delta: ArrayLike = 0.0, gamma: float
    ) -> NDArray[np.float64]:
        """Return lower confidence bounds on ln((p - delta) / q) with error gamma; 0 where nothing is shown."""
        c, gamma = _counts(x, n1, y, n2), check_level(gamma)
        delta = c.spread("delta", delta, 0, 1)
        regions = self._along_epsilon(c, delta, gamma, _IGNORED * gamma)

        def tail(t: NDArray[np.float64], i: NDArray[np.intp]) -> NDArray[np.float64]:
            return _tail([regions[k] for k in i], np.exp(t), delta[i])

        return c.shaped(self._invert(tail, gamma, *first_guess(c, delta, gamma), _MAX_EPSILON))

    def delta_lower(
        self, x: ArrayLike, n1: ArrayLike, y: ArrayLike, n2: ArrayLike, *, epsilon: ArrayLike, gamma: float
    ) -> NDArray[np.float64]:
        """Return lower confidence bounds on p - exp(epsilon) q with error gamma; 0 where nothing is shown.

        Outcomes are ordered by their limits on delta at this epsilon, so the bound need not match `p_value`, which
        orders them by their limits on epsilon; each is valid.
        """
        c, gamma = _counts(x, n1, y, n2), check_level(gamma)
        ratio = np.exp(c.spread("epsilon", epsilon, 0, _MAX_EPSILON))
        regions = self._along_delta(c, ratio, gamma, _IGNORED * gamma)

        def tail(t: NDArray[np.float64], i: NDArray[np.intp]) -> NDArray[np.float64]:
            return _tail([regions[k] for k in i], ratio[i], t)

        scale = np.sqrt((c.x + 1) / c.n1**2 + ratio**2 * (c.y + 1) / c.n2**2)
        start = c.x / c.n1 - ratio * c.y / c.n2 + ndtri(gamma) * scale
        return c.shaped(self._invert(tail, gamma, start, scale, 1.0))

    def _along_epsilon(self, c: Counts, delta: NDArray[np.float64], gamma: float, floor: float) -> Sequence[Region]:
        """Return the regions of outcomes with no smaller limits on epsilon.

        The limit is -infinity where x alone does not refute p <= delta at the level of the ordering. These outcomes
        come last and are ordered by x.
        """
        height, found = self._height(gamma), []
        for x, n1, y, n2, d in zip(c.x, c.n1, c.y, c.n2, delta, strict=True):
            t = epsilon_limit(x, n1, y, n2, d, height)
            edge = _at_least(x) if math.isinf(t) else _above(n1, n2, math.exp(t), d, height)
            found.append(self._region(n1, y, n2, edge, gamma, floor))
        return found

    def _along_delta(
        self, c: Counts, ratio: NDArray[np.float64], gamma: float, floor: float
    ) -> Sequence[Region | None]:
        """Return the regions of outcomes with no smaller limits on delta; None where the limit is -infinity."""
        height, found = self._height(gamma), []
        for x, n1, y, n2, r in zip(c.x, c.n1, c.y, c.n2, ratio, strict=True):
            d = delta_limit(x, n1, y, n2, r, height)
            edge = _above(n1, n2, r, d, height)
            found.append(None if math.isinf(d) else self._region(n1, y, n2, edge, gamma, floor))
        return found

    def _region(self, n1: float, y: float, n2: float, edge: Boundary, gamma: float, floor: float) -> Region:
        return Region.of(n1, y, n2, edge, theta=self.nuisance_error, tolerance=self._tolerance(gamma), floor=floor)

    def _height(self, gamma: float) -> float:
        """Return the deviance that a normal deviate at the level of the ordering has."""
        return 0.5 * float(ndtri(0.5 * self.ordering * min(2 * gamma, 1))) ** 2

    def _tolerance(self, gamma: float) -> float:
        """Return by what fraction a p-value may be too large: near the level ln p moves by z a standard deviation."""
        return self.slack * max(float(ndtri(gamma)) ** 2, 0.5)

    def _invert(
        self, tail: Tail, gamma: float, start: NDArray[np.float64], scale: NDArray[np.float64], ceiling: float
    ) -> NDArray[np.float64]:
        """Search no more finely than the p-values are known."""
        tightness = min(self._tolerance(gamma), 0.5)
        return last_rejected(tail, gamma, start, scale, ceiling, tightness=tightness, resolution=1e-7)


def _above(n1: float, n2: float, ratio: float, delta: float, height: float) -> Boundary:
    """Return the boundary of the outcomes whose deviance at (ratio, delta) is at least `height`."""
    return lambda ys: region(ys, n1, n2, ratio, delta, height)


def _at_least(x: float) -> Boundary:
    """Return the boundary of the outcomes with at least x hits on the first side."""
    return lambda ys: np.full_like(ys, x)


def _tail(
    regions: Sequence[Region | None], ratio: NDArray[np.float64], delta: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return one certified p-value a region; 1 where there is no evidence."""
    each = zip(regions, ratio, delta, strict=True)
    return np.array([1.0 if r is None else r.p_value(float(e), float(d)) for r, e, d in each], dtype=np.float64)


def _counts(x: ArrayLike, n1: ArrayLike, y: ArrayLike, n2: ArrayLike) -> Counts:
    """Return the counts, or raise `InputError` if there are more runs than the strict bound can do."""
    c = Counts.of(x, n1, y, n2)
    most = max(c.n1.max(initial=1), c.n2.max(initial=1))
    if most > MAX_STRICT_RUNS:
        raise InputError(f"the strict bound takes at most {MAX_STRICT_RUNS} runs a side, got {most:g}; use 'melded'")
    return c

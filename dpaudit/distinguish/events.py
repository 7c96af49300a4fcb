"""Choosing one of nested events on training runs, by the bound that it can be expected to give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

__all__ = [
    "Choice",
    "PrefixRatio",
    "best_prefix",
    "confirmation_error",
    "expected_bound",
    "pooled_mass",
    "selection_penalty",
]


@dataclass(frozen=True)
class PrefixRatio:
    """ln(p/q) of each prefix of the atoms by a model, and its standard error from training; both of shape (m,)."""

    log_ratio: NDArray[np.float64]
    error: NDArray[np.float64]

    @classmethod
    def by_counts(cls, hits: NDArray[np.int64], neighbour_hits: NDArray[np.int64]) -> PrefixRatio:
        """Return ln(p/q) with p = (x + 1/2) / (m + 1) and q likewise, and sqrt(1 / (x + 1/2) + 1 / (y + 1/2)).

        Parameters
        ----------
        hits, neighbour_hits : array of int, shape (m,)
            Runs x and y in each prefix, on the likelier side and on the other; the last prefix is everything.
        """
        x, y = hits + 0.5, neighbour_hits + 0.5
        return cls(np.log(x / (hits[-1] + 1)) - np.log(y / (neighbour_hits[-1] + 1)), np.sqrt(1 / x + 1 / y))


def selection_penalty(delta: float, events: float = math.inf) -> float:
    """Return the number z_s of training standard errors by which a candidate event is marked down.

    Without it the best-looking event is the luckiest one. Of k events without a signal the luckiest is some
    sqrt(2 ln k) standard errors off, so where there is little to choose from there is little to mark down; above 90
    nested events the number does not grow. Small events pay for delta > 0, so they are marked down less.
    """
    most = 3.0 if delta == 0 else 1.5
    return min(most, math.sqrt(2 * math.log(max(events, 1.0))))


def expected_bound(
    hits: NDArray[np.float64],
    trained: int,
    neighbour_hits: NDArray[np.float64],
    neighbour_trained: int,
    confirm: int,
    *,
    delta: float,
    gamma: float,
    events: float = math.inf,
) -> NDArray[np.float64]:
    """Return the lower bound on epsilon that each event can be expected to give on fresh runs, marked down for luck.

    With p = (x + 1/2) / (m + 1) and q likewise it is ln((p - delta) / q) - sqrt(a^2 + b^2), where a and b are the
    distances on the log scale from p - delta down to, and from q up to, the Wilson limits of the training counts at
    z = z_s + z_gamma sqrt(m / confirm). For many counts that is z_gamma standard errors of the confirmation plus z_s of
    the training; for few it stays finite and honest where the normal approximation on the log scale does not.

    Parameters
    ----------
    hits, neighbour_hits : array
        Training runs in each event on the likelier and on the other side.
    trained, neighbour_trained : int
        Training runs made on each side.
    confirm : int
        Fresh runs a side that will confirm.
    delta : float
        The claim's delta.
    gamma : float
        Error of the confidence bound.
    events : float
        From how many events one will be chosen.

    Returns
    -------
    array
        -inf for events with p <= delta.
    """
    x, y = np.asarray(hits, dtype=np.float64), np.asarray(neighbour_hits, dtype=np.float64)
    p, q = (x + 0.5) / (trained + 1), (y + 0.5) / (neighbour_trained + 1)
    penalty = selection_penalty(delta, events)
    low = _wilson(x, trained, -(penalty - ndtri(gamma) * np.sqrt(trained / confirm)))
    high = _wilson(y, neighbour_trained, penalty - ndtri(gamma) * np.sqrt(neighbour_trained / confirm))
    good = (low > delta) & (p > delta)
    room, least = np.where(good, p - delta, 1.0), np.where(good, low - delta, 1.0)
    spread = np.hypot(np.log(room / least), np.log(high / q))
    return np.where(good, np.log(room / q) - spread, -np.inf)


def _bound_by_model(
    model: PrefixRatio,
    hits: NDArray[np.int64],
    trained: int,
    neighbour_hits: NDArray[np.int64],
    neighbour_trained: int,
    confirm: int,
    gamma: float,
    penalty: float,
) -> NDArray[np.float64]:
    """Return the expected bound of each event by a model: fewer runs in it make it no less certain."""
    pooled = pooled_mass(hits, trained, neighbour_hits, neighbour_trained)
    sampling = confirmation_error(model.log_ratio, pooled, confirm)
    bound: NDArray[np.float64] = model.log_ratio + ndtri(gamma) * sampling - penalty * model.error
    return bound


def pooled_mass(
    hits: NDArray[np.int64], trained: int, neighbour_hits: NDArray[np.int64], neighbour_trained: int
) -> NDArray[np.float64]:
    """Return (x + y + 1) / (m + k + 2) of x and y hits in m and k runs: the mass of each event on both sides."""
    mass: NDArray[np.float64] = np.divide(hits + neighbour_hits + 1.0, trained + neighbour_trained + 2.0)
    return mass


def confirmation_error(
    log_ratio: NDArray[np.float64], pooled: NDArray[np.float64], confirm: int
) -> NDArray[np.float64]:
    """Return the standard error of ln(p/q) by n fresh runs a side, where p and q have this ratio and (p + q) / 2 = w.

    It is sqrt((1 - p) / (n p) + (1 - q) / (n q)) (1 + 1 / (n q)), with q = 2 w / (1 + exp(log_ratio)).

    Parameters
    ----------
    log_ratio, pooled : array, shape (m,)
        ln(p/q) and w of each event.
    confirm : int
        The runs n.
    """
    q = np.minimum(2 * pooled / (1 + np.exp(log_ratio)), 1.0)
    p = np.minimum(q * np.exp(log_ratio), 1.0)
    # The confirmation needs some hits on the rarer side before a ratio of counts is near normal.
    few = 1 + 1 / (q * confirm)
    error: NDArray[np.float64] = np.sqrt((1 - p) / (p * confirm) + (1 - q) / (q * confirm)) * few
    return error


def _wilson(hits: NDArray[np.float64], trials: int, z: float) -> NDArray[np.float64]:
    """Return the Wilson limit of a binomial probability: upper for z > 0, lower for z < 0."""
    centre = hits + z * z / 2
    half = z * np.sqrt(hits * (1 - hits / trials) + z * z / 4)
    return np.maximum(centre + half, 0.0) / (trials + z * z)


@dataclass(frozen=True)
class Choice:
    """The first `length` atoms in the order given, and the bound that they can be expected to give.

    The bound has been marked down by `doubt` for the luck of models.
    """

    length: int
    value: float
    doubt: float = 0.0


def best_prefix(
    hits: Sequence[int] | NDArray[np.int64],
    trained: int,
    neighbour_hits: Sequence[int] | NDArray[np.int64],
    neighbour_trained: int,
    confirm: int,
    *,
    delta: float,
    gamma: float,
    ordered: bool = False,
    models: Sequence[PrefixRatio] = (),
    penalty: float = 1.0,
) -> Choice:
    """Return the prefix of the ordered atoms whose expected bound is greatest.

    Parameters are those of `expected_bound`, with the hits of each atom instead of each event. With `models`, estimates
    of each prefix's ratio that have a prior, each marked down by `penalty` standard errors, the expected bound is their
    mean: where one of them is wrong the others hold it back. If the order comes from these counts, and not from
    elsewhere (`ordered`), each event's own counts are one of them. If models see no signal, the bound is that by the
    counts, as it is without models.
    """
    inside, outside = np.cumsum(hits), np.cumsum(neighbour_hits)
    counts = (inside, trained, outside, neighbour_trained, confirm)
    # Everything is the last prefix, and shows nothing.
    real = float(np.count_nonzero(np.asarray(hits) + np.asarray(neighbour_hits)) - 1)
    by_counts = expected_bound(*counts, delta=delta, gamma=gamma, events=real)
    if models:
        bounds = [_bound_by_model(model, *counts, gamma, penalty) for model in models]
        bounds += [] if ordered else [by_counts]
        best = _best(np.mean(bounds, axis=0))
        # A prior that sees no signal would have the event that loses least, which is everything.
        if best.value > 0:
            doubt = penalty * sum(float(model.error[best.length - 1]) for model in models) / len(bounds)
            return replace(best, doubt=doubt)
    return _best(by_counts)


def _best(values: NDArray[np.float64]) -> Choice:
    best = int(np.argmax(values))
    return Choice(best + 1, float(values[best]))

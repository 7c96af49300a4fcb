"""Scores of canaries and their coins, checked, and in the order of the guesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit import seeding
from dpaudit.audit.coins import LEAST, Bools, Coins, read_included
from dpaudit.audit.one_run_finding import RankingName
from dpaudit.bounds.base import MAX_COINS
from dpaudit.bounds.guesses import Schedule
from dpaudit.bounds.limits import lower_limit
from dpaudit.errors import InputError

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

UNFAIR = 1e-6
"""Coins of which so many or so few are in that fair ones would be with a smaller probability are refused."""
RANKINGS: tuple[RankingName, ...] = ("two-sided", "in")
"""The orders of guesses, the default first."""


@dataclass(frozen=True)
class Ranked:
    """Scores and coins in the order of the guesses: for each ranking, whether the guesses are right."""

    right: dict[RankingName, Bools]
    included: Bools
    coins: Coins | None
    tied: int
    all_equal: bool

    @classmethod
    def of(cls, scores: Any, included: Any, sealed: Coins | None) -> Ranked:
        """Return scores and coins ranked, or raise `InputError`."""
        values = _numbers(scores)
        flipped, coins = read_included(included, sealed)
        if values.shape != flipped.shape:
            message = "{scores} must be as many as the coins: there are {got_}, and coins {coins_}"
            raise InputError(message, names=("scores",), got_=str(values.shape), coins_=str(flipped.shape))
        m = values.shape[1]
        if m < LEAST:
            raise InputError.of("scores", m, f"those of {LEAST} or more canaries")
        if values.size > MAX_COINS:
            raise InputError.of("scores", values.size, f"at most {MAX_COINS:g} numbers")
        _check_fair(flipped)
        tied = sum(
            int((counts[counts > 1]).sum()) for counts in (np.unique(row, return_counts=True)[1] for row in values)
        )
        shuffled = seeding.generator(0, "one run", "ties").permutation(values.size)
        # Between two groups of scores of different sizes the mean of the quartiles parts them, and no median does.
        centre = np.quantile(values, (0.25, 0.75), axis=1).mean(axis=0)
        centred = (values - centre[:, None]).ravel()[shuffled]
        coin = flipped.ravel()[shuffled]
        above = np.where(centred == 0, np.arange(values.size) % 2 == 0, centred > 0)
        by_distance, by_score = (np.argsort(-key, kind="stable") for key in (np.abs(centred), centred))
        right: dict[RankingName, Bools] = {"two-sided": (above == coin)[by_distance], "in": coin[by_score]}
        return cls(right, flipped, coins, tied, bool((values == values[:, :1]).all()))

    def counts(self, name: RankingName, schedule: Schedule) -> Integers:
        """Return the right guesses among the first so many of a schedule."""
        return np.asarray(np.cumsum(self.right[name])[np.array(schedule.guesses) - 1], np.int64)


def _numbers(scores: Any) -> Array:
    """Return scores as an array (runs, m) of finite numbers, or raise `InputError`."""
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError.of("scores", scores, "an array of numbers of shape (m,) or (runs, m)") from None
    if values.ndim not in (1, 2) or not values.size:
        raise InputError.of("scores", values.shape, "an array of shape (m,) or (runs, m)")
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        place = ", ".join(map(str, bad[0]))
        value = float(values[tuple(bad[0])])
        raise InputError.of(
            "scores", value, "finite numbers,", hint=f"{len(bad)} are not, the first is [{place}]", comma=""
        )
    return np.atleast_2d(values)


def _check_fair(flipped: Bools) -> None:
    """Raise `InputError` if so many coins are heads that they are not fair."""
    total, heads = flipped.size, int(flipped.sum())
    if lower_limit(max(heads, total - heads), total, UNFAIR / 2) > 0.5:
        message = (
            "{included} must be fair coins: {heads_} of {total_} canaries are in, which fair coins give with a "
            "probability below {least_:g}"
        )
        raise InputError(message, names=("included",), heads_=heads, total_=total, least_=UNFAIR)

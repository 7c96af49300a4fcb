"""Mechanisms that leak at a rare dataset alone, each with its correct twin, and a dataset that shows nothing of it.

Every one claims epsilon 1. The leaks are ones that were found in real libraries and home-made releases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

Mechanism = Callable[[Any, np.random.Generator], Any]
CITIES = ("Aa", "Bb", "Cc")
MOST_ROWS = 2


@dataclass(frozen=True)
class RareLeak:
    """A mechanism that leaks, the same without the leak, a dataset, and what is said of it."""

    leaking: Mechanism
    correct: Mechanism
    data: Any
    options: dict[str, Any] = field(default_factory=dict)


def clipped(data: Any) -> np.ndarray[Any, Any]:
    held = np.array(data, dtype=float)
    held[np.isnan(held)] = 0.0
    return held.clip(0.0, 1.0)


def noise(rng: np.random.Generator, scale: float = 1.0) -> float:
    return float(rng.laplace(0, scale))


def counts_of_groups_that_are_there(data: Any, rng: np.random.Generator) -> Any:
    return {city: n + noise(rng) for city, n in sorted(Counter(city for city, _ in data).items())}


def counts_of_public_groups(data: Any, rng: np.random.Generator) -> Any:
    counts = Counter(city for city, _ in data)
    return {city: counts[city] + noise(rng) for city in CITIES}


def noise_scaled_by_the_greatest_record(data: Any, rng: np.random.Generator) -> float:
    greatest = float(clipped(data).max(initial=0.0))
    return float(clipped(data).sum()) + noise(rng, greatest or 1.0)


def noise_scaled_by_the_bound(data: Any, rng: np.random.Generator) -> float:
    return float(clipped(data).sum()) + noise(rng)


def exact_where_the_noisy_count_is_negative(data: Any, rng: np.random.Generator) -> float:
    noisy = len(data) + noise(rng)
    return noisy if noisy >= 0 else float(len(data))


def nothing_where_the_noisy_count_is_negative(data: Any, rng: np.random.Generator) -> float:
    return max(0.0, len(data) + noise(rng))


def mean_over_a_noisy_count_or_the_mean(data: Any, rng: np.random.Generator) -> float:
    total, count = clipped(data).sum() + noise(rng, 2.0), round(len(data) + noise(rng, 2.0))
    try:
        return float(total) / count
    except ZeroDivisionError:
        return float(clipped(data).sum()) / max(1, len(data))


def mean_over_a_noisy_count(data: Any, rng: np.random.Generator) -> float:
    return float(clipped(data).sum() + noise(rng, 2.0)) / max(1, round(len(data) + noise(rng, 2.0)))


def sum_with_bounds_of_the_data(data: Any, rng: np.random.Generator) -> float:
    held = clipped(data)
    low, high = held.min(initial=1.0), held.max(initial=0.0)
    width = max(float(high - low), 1e-6)
    return float((held - low).sum()) / width + noise(rng)


def sum_with_public_bounds(data: Any, rng: np.random.Generator) -> float:
    return float(clipped(data).sum()) + noise(rng)


def sum_that_clips_no_nan(data: Any, rng: np.random.Generator) -> float:
    return float(np.clip(np.asarray(data, dtype=float), 0, 1).sum()) + noise(rng)


def sum_that_wraps_round(data: Any, rng: np.random.Generator) -> float:
    return float(np.clip(data, 0, 1).sum(dtype=np.int8)) + noise(rng)


def sum_that_is_wide_enough(data: Any, rng: np.random.Generator) -> float:
    return float(np.clip(data, 0, 1).sum(dtype=np.int64)) + noise(rng)


def mode_or_the_value_that_all_have(data: Any, rng: np.random.Generator) -> Any:
    return data[0] if len(set(data)) == 1 else noisy_mode(data, rng)


def noisy_mode(data: Any, rng: np.random.Generator) -> str:
    counts = Counter(data)
    return max(CITIES, key=lambda city: counts[city] + noise(rng, 2.0))


def mean_or_none_of_no_records(data: Any, rng: np.random.Generator) -> float | None:
    return noise_scaled_by_the_bound(data, rng) if len(data) else None


def rows_of_a_user_unbounded(data: Any, rng: np.random.Generator) -> float:
    return len(data) + noise(rng, MOST_ROWS)


def rows_of_a_user_bounded(data: Any, rng: np.random.Generator) -> float:
    counts = Counter(data["user"].tolist())
    return sum(min(n, MOST_ROWS) for n in counts.values()) + noise(rng, MOST_ROWS)


def median_or_the_tie(data: Any, rng: np.random.Generator) -> float:
    held = np.sort(clipped(data))
    half = len(held) // 2
    if len(held) > 1 and held[half - 1] == held[half]:
        return float(held[half])
    return noisy_median(data, rng)


def noisy_median(data: Any, rng: np.random.Generator) -> float:
    grid, held = np.linspace(0, 1, 11), np.sort(clipped(data))
    score = -np.abs(np.searchsorted(held, grid, "left") + np.searchsorted(held, grid, "right") - len(held)) / 2
    return float(grid[np.argmax(score + rng.gumbel(0, 2.0, len(grid)))])


def sum_about_the_first_record(data: Any, rng: np.random.Generator) -> float:
    held = clipped(data)
    return float((held - held[0]).sum()) + noise(rng, 2.0) if len(held) else noise(rng, 2.0)


def sum_about_the_middle(data: Any, rng: np.random.Generator) -> float:
    return float((clipped(data) - 0.5).sum()) + noise(rng, 1.0)


def words_that_are_there(data: Any, rng: np.random.Generator) -> Any:
    return sorted(word for word, n in Counter(data).items() if n + noise(rng) > 0.5)


def words_of_a_public_list(data: Any, rng: np.random.Generator) -> Any:
    counts = Counter(data)
    return sorted(word for word in CITIES if counts[word] + noise(rng) > 0.5)


_RNG = np.random.default_rng(0)
NUMBERS = [round(float(x), 3) for x in _RNG.random(20)]
PLACES = [*("Aa", "Bb") * 8, "Aa", "Cc", "Cc", "Bb"]
VISITS = pd.DataFrame({"user": [1, 1, 2, 3, 4, 4, 5, 6], "spent": [0.1, 0.7, 0.3, 0.9, 0.4, 0.2, 0.8, 0.6]})
UNIT = {"bounds": (0, 1)}

LEAKS = {
    "a group that becomes empty": RareLeak(
        counts_of_groups_that_are_there, counts_of_public_groups, [(city, 1.0) for city in PLACES]
    ),
    "noise scaled by the greatest record": RareLeak(
        noise_scaled_by_the_greatest_record, noise_scaled_by_the_bound, NUMBERS, UNIT
    ),
    "a negative noisy count": RareLeak(
        exact_where_the_noisy_count_is_negative, nothing_where_the_noisy_count_is_negative, NUMBERS
    ),
    "division by a noisy count of zero": RareLeak(
        mean_over_a_noisy_count_or_the_mean, mean_over_a_noisy_count, NUMBERS, UNIT
    ),
    "bounds inferred from the data": RareLeak(
        sum_with_bounds_of_the_data, sum_with_public_bounds, np.array(NUMBERS), UNIT
    ),
    "NaN that is not clipped": RareLeak(sum_that_clips_no_nan, noise_scaled_by_the_bound, pd.Series(NUMBERS), UNIT),
    "a sum that wraps round": RareLeak(
        sum_that_wraps_round, sum_that_is_wide_enough, np.array([0, 1] * 10, dtype=np.int16), UNIT
    ),
    "the mode as it is where all are equal": RareLeak(mode_or_the_value_that_all_have, noisy_mode, PLACES),
    "nothing of no records": RareLeak(mean_or_none_of_no_records, noise_scaled_by_the_bound, tuple(NUMBERS), UNIT),
    "a user with many rows": RareLeak(
        rows_of_a_user_unbounded, rows_of_a_user_bounded, VISITS, {"unit": "user", "bounds": {"spent": (0, 1)}}
    ),
    "a median that is tied": RareLeak(median_or_the_tie, noisy_median, NUMBERS, UNIT),
    "the first record as the centre": RareLeak(
        sum_about_the_first_record, sum_about_the_middle, NUMBERS, {**UNIT, "relation": "bounded"}
    ),
    "words that are there": RareLeak(words_that_are_there, words_of_a_public_list, PLACES),
}

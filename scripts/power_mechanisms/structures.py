"""Trees, rankings, streams of variable length, exceptions and rare atoms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from power_mechanisms.row import Rng, Row, geometric, response

__all__ = ["ROWS"]

ROOT = np.exp([0, 0, 0, 0, 1.5])
"""The weights of five features for the root of a tree, with the additional record."""
RANKED = 8


def tree(x: int, rng: Rng) -> tuple[Any, ...]:
    """Return (feature, threshold, left, right); the exponential mechanism chooses the feature of the root."""
    weights = ROOT if x else np.ones(5)
    feature = int(rng.choice(5, p=weights / weights.sum()))
    leaves = [("leaf", int(rng.integers(2)), float(rng.random())) for _ in range(4)]
    left, right = ((int(rng.integers(5)), float(rng.normal()), *leaves[i : i + 2]) for i in (0, 2))
    return feature, float(rng.normal()), left, right


def ranking(x: int, rng: Rng) -> list[int]:
    """Return eight candidates, drawn one after the other by the exponential mechanism: Gumbel noise, sorted."""
    scores = rng.gumbel(size=RANKED)
    scores[3] += x
    return [int(i) for i in np.argsort(-scores)]


def stream(x: int, rng: Rng) -> list[float]:
    return [float(v) for v in rng.normal(size=max(0, 10 + geometric(x, rng, 1.0)))]


def failure(x: int, rng: Rng) -> float:
    if rng.random() < 0.9:
        return float(rng.normal())
    raise (ValueError if response(x, rng, 2.0) else KeyError)(f"bad record at {rng.integers(2**40)}")


def rare_text(x: int, rng: Rng) -> int | str:
    return f"data: {x}" if rng.random() < 1e-3 else geometric(0, rng, 0.3)


# The candidate with weight e is last: it lost against k - 1 others of weight 1 for k = 8, ..., 2.
RANKING_EPSILON = sum(math.log((k - 1 + math.e) / k) for k in range(2, RANKED + 1))

ROWS = (
    Row(
        "tree",
        "tree",
        tree,
        float(np.log(5 * ROOT[4] / ROOT.sum())),
        "The feature at the root of a tree of random thresholds.",
        lambda v: v[0] == 4,
    ),
    Row(
        "ranking",
        "ranking",
        ranking,
        RANKING_EPSILON,
        "One of eight candidates, ranked by noisy scores, is last less often.",
        lambda v: v[-1] == 3,
        neighbours=(1, 0),
    ),
    Row("stream", "stream", stream, 1.0, "The length of a stream of numbers.", lambda v: len(v) >= 11),
    Row(
        "failure",
        "exception",
        failure,
        2.0,
        "The type of an exception that one run in ten raises, with a random number in its message.",
        lambda v: isinstance(v, ValueError),
    ),
    Row(
        "rare text",
        "rare atom",
        rare_text,
        math.inf,
        "One run in a thousand returns the record as text.",
        lambda v: isinstance(v, str) and v == "data: 1",
    ),
)

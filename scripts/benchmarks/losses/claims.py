"""Claims that hold with equality, which audits must not accuse more often than they say."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
from scipy.stats import binom

import dpaudit
from benchmarks.losses.row import Row

__all__ = ["boundary"]


def boundary(number: int) -> Row:
    """Audit claims that hold with equality, by a fixed number of runs and by bets."""
    accused = Counter[str]()
    for seed in range(number):
        function, epsilon = TIGHT[seed % 3]
        sequential = bool(seed // 3 % 2)
        finding = dpaudit.audit_privacy(
            function,
            [(0, 1)],
            epsilon=epsilon,
            trials=1_000,
            seed=seed,
            execution=dpaudit.Execution(sequential=sequential),
        )
        accused[f"{function.__name__}, {finding.design}"] += finding.verdict == "violation"
    total = sum(accused.values())
    # The most that chance makes of so many at the level itself, but once in a thousand.
    allowed = int(binom.ppf(0.999, number, 0.001))
    told = f"{total} accused; {0.001 * number:g} are allowed on average, and by chance up to {allowed}: "
    told += ", ".join(f"{name} {count}" for name, count in accused.items())
    return Row("audits of claims that hold with equality, confidence 0.999", number, max(0, total - allowed), told)


def response(bit: int, rng: np.random.Generator) -> int:
    """Return a bit by randomised response, private for epsilon = ln 3 and not for less."""
    return bit if rng.random() < 0.75 else 1 - bit


def laplace(x: float, rng: np.random.Generator) -> float:
    """Return a number with Laplace noise, private for epsilon = 1 and not for less."""
    return x + rng.laplace()


def failing(bit: int, rng: np.random.Generator) -> int:
    """Raise an exception three times as often on one of the bits, private for epsilon = ln 3 and not for less."""
    if rng.random() < (0.75 if bit else 0.25):
        raise ValueError("no answer")
    return 1


LN_3 = math.log(3)
TIGHT: tuple[tuple[Callable[..., object], float], ...] = ((response, LN_3), (laplace, 1.0), (failing, LN_3))

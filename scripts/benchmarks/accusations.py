"""Count how often audits at 95 % accuse mechanisms whose claim is exactly true, setting by setting.

    python scripts/bench.py accusations [SETTING ...] [--audits 400] [--first 0]

Every mechanism attains its claim, so that nothing hides an error of a bound. A row has the accusations, the audits
without evidence, and the exact 95 % interval of the rate of accusations. Exit status 1 if a whole interval lies above
5 %. Seeds begin at --first.
"""

from __future__ import annotations

import argparse
import functools
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from scipy.stats import binomtest

import dpaudit

CONFIDENCE = 0.95
KEPT = math.e / (1 + math.e)
"""The probability with which randomised response with epsilon 1 keeps a bit."""


def answer(bit: int, rng: np.random.Generator) -> int:
    return bit if rng.random() < KEPT else 1 - bit


class Answering:
    """A callable object, whose option must stay as it is."""

    def __call__(self, bit: int, rng: np.random.Generator, debug: bool = False) -> int:
        """Answer by the generator that is the second required argument."""
        return bit if debug else answer(bit, rng)

    def method(self, bit: int, scale: float = 1.0, rng: Any = None) -> int:
        """Answer by a generator behind an option."""
        return answer(bit, rng) if scale == 1.0 else bit

    @classmethod
    def of_class(cls, bit: int, *, prng: np.random.Generator) -> int:
        """Answer by a generator for a keyword alone."""
        return answer(bit, prng)


def with_state(bit: int, random_state: np.random.RandomState) -> int:
    return bit if random_state.random() < KEPT else 1 - bit


def named_late(bit: int, epsilon: float = 1.0, rng: Any = None) -> int:
    return answer(bit, rng) if epsilon == 1.0 else bit


@functools.wraps(answer)
def decorated(*args: Any, **kwargs: Any) -> int:
    return answer(*args, **kwargs)


SIGNATURES: tuple[Callable[..., int], ...] = (
    answer,
    lambda bit, rng: answer(bit, rng),
    lambda bit, generator=None: answer(bit, generator),
    lambda bit, seeded, fixed=answer: fixed(bit, seeded),
    Answering(),
    Answering().method,
    Answering.of_class,
    with_state,
    named_late,
    decorated,
    functools.partial(named_late, epsilon=1.0),
)


def signatures(seed: int) -> Any:
    mechanism = SIGNATURES[seed % len(SIGNATURES)]
    return dpaudit.audit_privacy(mechanism, [(0, 1)], epsilon=1.0, trials=600, seed=seed, confidence=CONFIDENCE)


_ROWS = np.random.default_rng(8)
FRAME = pd.DataFrame({"town": _ROWS.choice(["Aa", "Bb", "Cc"], 30), "visits": _ROWS.integers(0, 6, 30)})


def total(frame: pd.DataFrame, rng: np.random.Generator) -> float:
    """Add Laplace noise for epsilon 1 to a sum of numbers up to 5."""
    return round(float(frame["visits"].clip(0, 5).sum() + rng.laplace(scale=5.0)), 2)


def own_data(seed: int, trials: int, epsilon: float = 1.0, group: int = 1) -> Any:
    data = dpaudit.Dataset(FRAME, bounds={"visits": (0, 5)}, group=group)
    return dpaudit.audit_privacy(
        total,
        data=data,
        epsilon=epsilon,
        trials=trials,
        seed=seed,
        confidence=CONFIDENCE,
    )


def group_of_two(seed: int) -> Any:
    return own_data(seed, 1_000, epsilon=2.0, group=2)


def two_jobs(seed: int) -> Any:
    return dpaudit.audit_privacy(
        answer, [(0, 1)], epsilon=1.0, trials=1_000, seed=seed, confidence=CONFIDENCE, n_jobs=2
    )


def of_random_length(bit: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return a frame whose length says nothing, and whose first cell is a randomised response."""
    length = int(rng.integers(1, 6))
    return pd.DataFrame({"answer": [answer(bit, rng)] * length, "noise": rng.normal(size=length).round(1)})


def frames(seed: int) -> Any:
    return dpaudit.audit_privacy(of_random_length, [(0, 1)], epsilon=1.0, trials=400, seed=seed, confidence=CONFIDENCE)


def curves(seed: int) -> Any:
    claim = dpaudit.PrivacyClaim.gaussian(1.0)
    return dpaudit.audit_privacy(
        lambda mean, rng, size: rng.normal(mean, 1.0, size),
        [(0.0, 1.0)],
        claim=claim,
        trials=10_000,
        seed=seed,
        confidence=CONFIDENCE,
        batched=True,
    )


def ties(seed: int) -> Any:
    """Scores of two values only: those of randomised response with epsilon 1 on each coin."""
    coins = dpaudit.flip_coins(500, seed=seed)
    included = np.asarray(coins.included).ravel()
    kept = np.random.default_rng([seed, 1]).random(500) < KEPT
    scores = np.where(kept, included, ~included).astype(float)
    return dpaudit.audit_scores(scores, coins, epsilon=1.0, confidence=CONFIDENCE)


SETTINGS: dict[str, Callable[[int], Any]] = {
    "signatures": signatures,
    "own data, 400 trials": functools.partial(own_data, trials=400),
    "own data, 2,000 trials": functools.partial(own_data, trials=2_000),
    "own data, group 2": group_of_two,
    "two jobs": two_jobs,
    "frames of random length": frames,
    "curve claims": curves,
    "scores with ties": ties,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", metavar="SETTING", help=f"of {', '.join(SETTINGS)} (default: all)")
    parser.add_argument("--audits", type=int, default=400, help="of each setting (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default %(default)s)")
    options = parser.parse_args(arguments)
    print("| setting | accused | no evidence | audits | rate of accusations, 95 % interval | seconds |", flush=True)
    print("|---|---|---|---|---|---|")
    broken = False
    for name in options.settings or SETTINGS:
        began = time.perf_counter()
        seeds = range(options.first, options.first + options.audits)
        found = Counter(str(SETTINGS[name](seed).verdict) for seed in seeds)
        rate = binomtest(found["violation"], options.audits).proportion_ci()
        broken |= rate.low > 1 - CONFIDENCE
        row = [name, found["violation"], found["no evidence"], options.audits, f"{rate.low:.3f} to {rate.high:.3f}"]
        print(f"| {' | '.join(map(str, row))} | {time.perf_counter() - began:.0f} |", flush=True)
    return int(broken)

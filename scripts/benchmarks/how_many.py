"""Measure how many runs find a leak, and what they take: the tables of docs/few-and-slow-runs.md.

    python scripts/bench.py how_many [--seeds N]

Audits of a number with Laplace noise that claims epsilon 1 and has more, at the default confidence. Times are of the
processor, beside the mechanism's own.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import dpaudit
from benchmarks.columns import positive

TRIALS = (300, 1_000, 3_000, 10_000, 30_000, 100_000)
TRUE = (1.2, 1.5, 2.0, 4.0)
"""The epsilons of mechanisms that claim 1."""
MOST = 20_000
"""Runs a side at most of an audit that bets."""


def row(*cells: object) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(map(str, cells))} |"


def noisy(true: float, data: float, rng: np.random.Generator, size: int) -> Any:
    """Return numbers with Laplace noise, rounded so that their bits tell nothing."""
    return np.round(data + rng.laplace(scale=1 / true, size=size), 3)


def one_by_one(data: float, rng: np.random.Generator) -> float:
    """Return one such number."""
    return round(data + rng.laplace(), 3)


def caught(true: float, trials: int, seeds: int) -> int:
    """Return how many audits of so many trials refute the claim."""
    audit = partial(dpaudit.audit_privacy, partial(noisy, true), [(0.0, 1.0)], epsilon=1.0, batched=True)
    return sum(audit(trials=trials, seed=seed).verdict == "violation" for seed in range(seeds))


def fixed(seeds: int) -> None:
    """Print what audits of a fixed number of runs find, would have found, and take."""
    shares = [f"finds epsilon {true:g}" for true in TRUE]
    dpaudit.audit_privacy(one_by_one, [(0.0, 1.0)], epsilon=1.0, trials=TRIALS[0])  # loads what audits need
    print(row("trials", "would detect", *shares, "seconds"))
    print(row(*["---"] * (len(TRUE) + 3)))
    for trials in TRIALS:
        began = time.process_time()
        found = dpaudit.audit_privacy(one_by_one, [(0.0, 1.0)], epsilon=1.0, trials=trials)
        seconds = time.process_time() - began
        rates = [f"{caught(true, trials, seeds)} of {seeds}" for true in TRUE]
        print(row(f"{trials:,}", f"{found.detectable_epsilon:.2f}", *rates, f"{seconds:.2f}"), flush=True)


def bets(seeds: int) -> None:
    """Print the median of the runs on both sides after which an audit that bets refutes the claim."""
    print("\n" + row("true epsilon", "found", "median of the runs, both sides together"))
    print(row("---", "---", "---"))
    for true in TRUE:
        audit = partial(dpaudit.audit_privacy, partial(noisy, true), [(0.0, 1.0)], epsilon=1.0, batched=True)
        every = [audit(trials=MOST, sequential=True, seed=seed) for seed in range(seeds)]
        used = [one.budget["used"] for one in every if one.verdict == "violation"]
        print(row(f"{true:g}", f"{len(used)} of {seeds}", f"{median(used):,.0f}" if used else "-"), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seeds", type=positive, default=20)
    seeds = parser.parse_args().seeds
    fixed(seeds)
    bets(seeds)

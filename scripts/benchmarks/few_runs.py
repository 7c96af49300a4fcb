"""Measure how few runs the sequential design needs, as a ratio to the optimum.

The optimum is ln(1 / gamma) over the growth a run of bets that know the laws: no bets on the coin refute the claim
sooner on average. Runs are those of both sides together. Of several pairs the ratio is that of what the audit takes,
less 16 runs a pair, to the median of audits of the leaking pair alone. False accusations are counted by
`scripts/bench.py coin`.

    python scripts/bench.py few_runs [--seeds N] [--only cases|pairs]
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))

from sequential_sessions import run_session

from dpaudit.audit import eprocess
from dpaudit.contract import Pair, PrivacyClaim
from dpaudit.running.adapters import Mechanism

BIT = [Pair(1, 0)]
Run = Callable[[Any, np.random.Generator, int], Any]


@dataclass(frozen=True)
class Case:
    """A mechanism with a claim that it breaks, the growth a run, and the most that a median may be."""

    name: str
    run: Run
    claim: float
    growth: float
    goal: float
    delta: float = 0.0


def growth_of(p: np.ndarray, q: np.ndarray, claim: float, delta: float = 0.0) -> float:
    """Return the growth of the best bets of `eprocess` by the true posteriors, to a tenth where delta > 0.

    At delta = 0 these are bets against the nearest posteriors that the claim allows.
    """
    rate = p / (p + q)
    mass = (p + q) / 2
    bet = eprocess.place_bet(rate, mass, np.array([claim]), delta)
    return float(eprocess.expected_growth(bet, rate, mass)[0])


def laplace(scale: float) -> Run:
    return lambda d, rng, n: d + rng.laplace(0, scale, n)


def on_line(density: Callable[[np.ndarray], np.ndarray], claim: float, reach: float, delta: float = 0.0) -> float:
    x = np.linspace(-reach, reach + 1, 100_001)
    step = float(x[1] - x[0])
    return growth_of(step * density(x - 1), step * density(x), claim, delta)


def laplace_case(epsilon: float, claim: float, goal: float, delta: float = 0.0) -> Case:
    growth = on_line(lambda x: epsilon / 2 * np.exp(-epsilon * np.abs(x)), claim, 30 / epsilon, delta)
    return Case(f"Laplace {epsilon:g} against {named(claim, delta)}", laplace(1 / epsilon), claim, growth, goal, delta)


def named(claim: float, delta: float) -> str:
    return f"({claim:g}, {delta:g})" if delta else f"{claim:g}"


def gauss_case(delta: float, goal: float) -> Case:
    growth = on_line(normal, 1, 12, delta)
    return Case(f"Gauss sd 1 against {named(1, delta)}", lambda d, rng, n: rng.normal(d, 1, n), 1, growth, goal, delta)


def response(high: float) -> Run:
    return lambda d, rng, n: np.where(rng.random(n) < high, d, 1 - d)


def response_case(high: float, claim: float, goal: float, delta: float = 0.0) -> Case:
    growth = growth_of(np.array([high, 1 - high]), np.array([1 - high, high]), claim, delta)
    name = f"randomised response {high:g} against {named(claim, delta)}"
    return Case(name, response(high), claim, growth, goal, delta)


def point_case(goal: float) -> Case:
    """Return fifty equally likely values, of which one is likelier for either input."""
    laws = np.full((2, 50), 0.95 / 50) + 0.05 * np.eye(50)[[31, 7]]

    def run(d: int, rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.choice(50, n, p=laws[d])

    return Case("one of fifty values", run, 1, growth_of(laws[1], laws[0], 1), goal)


def now_and_then(d: int, rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.01, d, d + rng.laplace(0, 1, n))


def vector(d: int, rng: np.random.Generator, n: int) -> np.ndarray:
    rows = rng.laplace(0, 0.5, (n, 20))
    rows[:, 7] += d
    return rows


def spread(d: int, rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(d / math.sqrt(20), 1, (n, 20))


def normal(x: np.ndarray) -> np.ndarray:
    return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def cases() -> list[Case]:
    found = [
        laplace_case(2, 1, 2.5),
        laplace_case(1, 0.5, 3),
        laplace_case(0.3, 0.1, 3),
        laplace_case(1.2, 1, 3),
        gauss_case(0, 3),
        response_case(0.75, 0.5, 2.5),
        response_case(0.6, 0.2, 2.5),
        Case("one run in a hundred without noise", now_and_then, 1, -0.01 * math.log(1 / (1 + math.exp(-1))), 3),
        point_case(3),
        laplace_case(2, 1, 3, 0.01),
        gauss_case(0.001, 3),
        gauss_case(0.05, 3),
        response_case(0.75, 0.5, 3, 0.05),
    ]
    vectors = [
        Case("vector of 20, Laplace 2 in one", vector, 1, found[0].growth, 3),
        Case("the same against (1, 0.01)", vector, 1, laplace_case(2, 1, 3, 0.01).growth, 3, 0.01),
        Case("vector of 20, Gauss sd 1 in all together", spread, 1, gauss_case(0, 3).growth, 3),
    ]
    return found + vectors


def power(seeds: int, gamma: float = 1e-3) -> None:
    print(f"{'runs to refute, over the optimum':40s} {'optimum':>8s} {'median':>7s} {'goal':>5s} {'worst':>6s}")
    for case in cases():
        optimum = math.log(1 / gamma) / case.growth
        runs = []
        for seed in range(seeds):
            mechanism = Mechanism(case.run, case.name, True)
            found = run_session(
                mechanism, BIT, PrivacyClaim(case.claim, case.delta), runs=int(12 * optimum), gamma=gamma, seed=seed
            )
            runs.append(found.runs_used if found.rejected else math.inf)
        ratios = np.array(runs) / optimum
        print(
            f"{case.name:40s} {optimum:8.0f} {np.median(ratios):7.2f} {case.goal:5.1f} {ratios.max():6.2f}", flush=True
        )


def pairs(seeds: int, number: int = 40, gamma: float = 1e-3) -> None:
    """Print the table of one leaking pair among many, of which the others hold the claim with room or exactly."""
    listed = [Pair((k, 1), (k, 0)) for k in range(number)]
    print(f"\n{f'one leaking pair of {number}':40s} {'alone':>8s} {'median':>7s} {'goal':>5s} {'worst':>6s}")
    for others in (0.5, 1.0):

        def run(d: tuple[int, int], rng: np.random.Generator, n: int, others: float = others) -> np.ndarray:
            return d[1] + rng.laplace(0, 0.5 if d[0] == number // 2 else 1 / others, n)

        mechanism = Mechanism(run, "pairs", True)

        def made(some: list[Pair], mechanism: Mechanism = mechanism) -> np.ndarray:
            audits = (
                run_session(mechanism, some, PrivacyClaim(1.0, 0.0), runs=10_000, gamma=gamma, seed=seed)
                for seed in range(seeds)
            )
            return np.array([one.runs_used if one.rejected else math.inf for one in audits])

        alone = np.median(made(listed[number // 2 : number // 2 + 1]))
        ratios = (made(listed) - 16 * number) / alone
        name = f"Laplace 2 against 1, others {others:g}"
        print(f"{name:40s} {alone:8.0f} {np.median(ratios):7.2f} {3:5.1f} {ratios.max():6.2f}", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=15, help="audits of each case (default %(default)s)")
    parser.add_argument("--only", choices=("cases", "pairs"), help="one of the tables (default: both)")
    given = parser.parse_args()
    if given.only != "pairs":
        power(given.seeds)
    if given.only != "cases":
        pairs(given.seeds)

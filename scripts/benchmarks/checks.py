"""Count how often the checks of dependence speak: of independent runs (false alarms), and of dependent ones (power).

    python scripts/bench.py checks [--audits N] [--power N] [--trials T ...] [--orders N] [--workers N] [--jobs J]

`--audits` whole audits of each independent mechanism and `--power` of each dependent one are made at each of the
`--trials`, with randomness declared to be the mechanism's own, at confidence 0.9 and a claim that holds with equality.
`--orders` and `--workers` are many more tests of simulated outputs alone. Shares have exact 95 % intervals. Exit
status: 1 if a rate of false alarms is above the stated one beyond chance, else 0.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import binomtest

import dpaudit
from dpaudit.audit.dependence import ORDER_ERROR, SHARED_ERROR, Series, SharedValues, depends_on_order
from dpaudit.running.fingerprints import fingerprints

Draw = Callable[[np.random.Generator], Any]
INDEPENDENT: dict[str, tuple[Draw, Callable[[int, Any], Any]]] = {
    "laplace": (lambda rng: rng.laplace(), lambda x, noise: float(x + noise)),
    "laplace rounded to 3 digits": (lambda rng: rng.laplace(), lambda x, noise: round(float(x + noise), 3)),
    "laplace rounded to 1 digit": (lambda rng: rng.laplace(), lambda x, noise: round(float(x + noise), 1)),
    "geometric": (lambda rng: rng.geometric(0.6) - rng.geometric(0.6), lambda x, noise: int(x + noise)),
    "randomised response": (lambda rng: rng.random() < 0.73, lambda x, keep: int(x if keep else 1 - x)),
    "rare event": (lambda rng: rng.random() < 0.02, lambda x, event: bool(event)),
    "vector": (lambda rng: rng.laplace(size=5), lambda x, noise: np.array([x, 0, 0, 0, 0]) + noise),
    "number and text": (
        lambda rng: (rng.laplace(), rng.integers(3)),
        lambda x, noise: {"n": x + noise[0], "unit": "abc"[noise[1]]},
    ),
}
"""Ways to draw noise, and what becomes of it on an input."""
DEPENDENT = ("kept", "autoregressive")
STRENGTHS = (0.3, 0.5, 0.9, 0.99)


class Kept:
    """A mechanism with a generator of its own whose noise stays for the next run, or decays, or is drawn once."""

    def __init__(self, kind: str, strength: float, seed: int) -> None:
        self.kind = kind
        self.strength = strength
        self.rng = np.random.default_rng([seed, 1])
        self.noise: float | None = None

    def __call__(self, x: int) -> float:
        """Return an output."""
        if self.kind == "once" and self.noise is not None:
            return float(x + self.noise)
        if self.kind == "autoregressive" and self.noise is not None:
            fresh = np.sqrt(1 - self.strength**2) * self.rng.laplace()
            self.noise = float(self.strength * self.noise + fresh)
        elif self.kind != "kept" or self.noise is None or self.rng.random() >= self.strength:
            self.noise = float(self.rng.laplace())
        return float(x + self.noise)


def asked(mechanism: Any, trials: int, seed: int) -> tuple[bool, bool, bool]:
    """Return of an audit whether the order of runs was found to matter, it accuses, and it warns."""
    finding = dpaudit.audit_privacy(
        mechanism, [(0, 1)], epsilon=1.0, trials=trials, confidence=0.9, seed=seed, randomness="own"
    )
    order = any(check.name == "order" and check.meaningless for check in finding.checks)
    return order, finding.verdict == "violation", bool(finding.warnings)


def independent(name: str, trials: int, seed: int) -> tuple[bool, bool, bool]:
    """Return the answers of an audit of an independent mechanism."""
    draw, answer = INDEPENDENT[name]
    rng = np.random.default_rng([seed, 2])
    return asked(lambda x: answer(x, draw(rng)), trials, seed)


def dependent(kind: str, strength: float, trials: int, seed: int) -> tuple[bool, bool, bool]:
    """Return the answers of an audit of a mechanism that keeps noise."""
    return asked(Kept(kind, strength, seed), trials, seed)


def orders(name: str, runs: int, seed: int) -> bool:
    """Return whether the test of order speaks of so many independent outputs on each of two inputs."""
    draw, answer = INDEPENDENT[name]
    rng = np.random.default_rng([seed, 3])
    series = [Series(), Series()]
    for x, one in enumerate(series):
        outputs = [answer(x, draw(rng)) for _ in range(runs)]
        one.add(outputs, map(str, outputs))
    return depends_on_order(series, rng)


def shared(name: str, runs: int, repeated: float, seed: int) -> bool:
    """Return whether the test of shared values speaks of two workers, so large a share of whose noise is the same."""
    draw, answer = INDEPENDENT[name]
    rng = np.random.default_rng([seed, 4])
    common = int(repeated * runs)
    noise = [draw(rng) for _ in range(2 * runs - common)]
    values = SharedValues()
    for worker, own in (("one", noise[:runs]), ("other", noise[runs - common :])):
        sides = rng.integers(2, size=runs)
        for x in (0, 1):
            outputs = [answer(x, z) for z, side in zip(own, sides, strict=True) if side == x]
            values.add((worker, ((str(x), fingerprints(outputs, 1.0)),)))
    return values.repeated()


def words(times: int, of: int) -> str:
    """Return a share with its exact 95 % interval."""
    interval = binomtest(times, of).proportion_ci()
    return f"{times:,d} of {of:,d} ({interval.low:.4f} to {interval.high:.4f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audits", type=int, default=50, help="audits of each independent mechanism (%(default)s)")
    parser.add_argument("--power", type=int, default=40, help="audits of each dependent mechanism (%(default)s)")
    parser.add_argument("--trials", type=int, nargs="+", default=[2_000, 20_000], help="runs a side (2000 20000)")
    parser.add_argument("--orders", type=int, default=2_000, help="tests of simulated orders (%(default)s)")
    parser.add_argument("--workers", type=int, default=2_000, help="tests of simulated workers (%(default)s)")
    parser.add_argument("--runs", type=int, default=1_000, help="runs of a simulated worker (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes, as for joblib (%(default)s)")
    given = parser.parse_args()
    broken = 0

    def counted(title: str, calls: list[Any], error: float | None = None) -> None:
        nonlocal broken
        found = Parallel(n_jobs=given.jobs)(calls)
        if not found:
            return
        rows = [one if isinstance(one, tuple) else (one,) for one in found]
        times = sum(row[0] for row in rows)
        shown = f"{title:60} {words(times, len(rows))}"
        if len(rows[0]) > 1:
            accused, warned = (sum(row[i] for row in rows) for i in (1, 2))
            shown += f", accused {words(accused, len(rows))}, warned {warned:,d}"
        if error is not None and binomtest(times, len(rows), error, alternative="greater").pvalue < 1e-3:
            broken += 1
            shown += f"  ABOVE {error:g}"
        print(shown, flush=True)

    for trials in given.trials:
        for name in INDEPENDENT:
            calls = [delayed(independent)(name, trials, seed) for seed in range(given.audits)]
            counted(f"independent, {trials:,} runs: {name}", calls, ORDER_ERROR)
        for kind in DEPENDENT:
            for strength in STRENGTHS:
                calls = [delayed(dependent)(kind, strength, trials, seed) for seed in range(given.power)]
                counted(f"{kind} {strength:g}, {trials:,} runs", calls)
        calls = [delayed(dependent)("once", 1.0, trials, seed) for seed in range(given.power)]
        counted(f"drawn once, {trials:,} runs", calls)
    for name in INDEPENDENT:
        for runs in (16, 80, 256):
            each = given.orders // 3
            calls = [delayed(orders)(name, runs, seed) for seed in range(each)]
            counted(f"order, {runs} runs: {name}", calls, ORDER_ERROR)
    for name in INDEPENDENT:
        calls = [delayed(shared)(name, given.runs, 0.0, seed) for seed in range(given.workers)]
        counted(f"workers, {given.runs:,} runs, nothing repeated: {name}", calls, SHARED_ERROR)
        for repeated in (0.5, 0.1):
            calls = [delayed(shared)(name, given.runs, repeated, seed) for seed in range(given.power)]
            counted(f"workers, {given.runs:,} runs, {repeated:.0%} repeated: {name}", calls)
    return int(broken > 0)

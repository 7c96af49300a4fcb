"""Recompute the bound of a certificate from its counts, taken as given: ``python verify_certificate.py FILE``."""

import hashlib
import json
import math
import sys
from collections.abc import Callable

MOST_BYTES, MOST_RUNS, MOST_EPSILON, TOLERANCE, PANELS = 2**24, 10**12, 700, 1e-5, 32
REALS, COUNTS = "epsilon epsilon_lower delta confidence error", "hits runs neighbour_hits neighbour_runs"
_NODES = (0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363)  # Gauss-Legendre on [-1, 1]
_WEIGHTS = (0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763)
GAUSS = [(0.5 + s * x / 2, w / 2) for x, w in zip(_NODES, _WEIGHTS, strict=True) for s in (-1, 1)]


def last(holds: Callable[[float], bool], start: float, end: float) -> float:
    """Return the last point found on the way from `start`, where a condition holds, to `end`."""
    start, left = (end, 0) if holds(end) else (start, 200)
    while left and abs(end - start) > 1e-9 * abs(start):
        middle, left = (start + end) / 2, left - 1
        start, end = (middle, end) if holds(middle) else (start, middle)
    return start


class Beta:
    """Beta(a + 1, b + 1), a and b whole: its density relative to the mode, and a grid where that is not negligible."""

    def __init__(self, a: int, b: int) -> None:
        self.a, self.b, self.mode, self.total = a, b, a / (a + b) if a + b else 0.5, 1.0
        low, high = (last(lambda t: self._log(t) > -80, self.mode, end) for end in (0.0, 1.0))
        self.grid = [low + (high - low) * i / PANELS for i in range(PANELS)] + [high]
        self.total = self.mass(low, high, PANELS)

    def _log(self, t: float) -> float:
        d = t - self.mode
        if not 0 <= t <= 1 or (self.a and d <= -self.mode) or (self.b and d >= 1 - self.mode):
            return -math.inf
        log = self.a * math.log1p(d / self.mode) if self.a else 0.0
        return log + (self.b * math.log1p(-d / (1 - self.mode)) if self.b else 0.0)

    def density(self, t: float, base: float = 0.0) -> float:
        """Return the density, divided by exp(base)."""
        return math.exp(self._log(t) - base) / self.total

    def mass(self, low: float, high: float, panels: int = 1, base: float = 0.0) -> float:
        """Return the integral of that."""
        step = (high - low) / panels
        return step * sum(w * self.density(low + step * (i + x), base) for i in range(panels) for x, w in GAUSS)

    def p_value(self, t: float, coins: float) -> float:
        """Return the p-value of b + 1 right guesses, each wrong with probability t, given m delta."""
        base, rest = self._log(t), self.mass(min(t, self.grid[0]), min(t, self.grid[-1]), PANELS)
        end = last(lambda u: self._log(u) > base - 40, t, 1.0)
        share = self.total * self.mass(t, end, PANELS, base) / (1 - t) * rest
        return self.mass(t, end, PANELS) + coins * min(t, share)


def melded(first: Beta, second: Beta, ratio: float, delta: float) -> float:
    """Return Pr[B1 <= delta + ratio B2], panel by panel from the right, none across the end of a density."""
    cuts, p, above = sorted([*first.grid, *(delta + ratio * u for u in second.grid)]), 0.0, 0.0
    for low, high in zip(cuts[-2::-1], cuts[:0:-1], strict=True):
        stop, nodes = (high - delta) / ratio, [(low + (high - low) * x, (high - low) * w) for x, w in GAUSS]
        p += sum(w * first.density(t) * (above + second.mass((t - delta) / ratio, stop)) for t, w in nodes)
        above += second.mass((low - delta) / ratio, stop)
    return p * (1 + 1e-7) + 1e-17


def bound(kind: str, counts: list[int], delta: float, error: float) -> float:
    """Return the lower confidence bound on epsilon, rounded down, from hits of runs on both sides or from guesses."""
    x, n1, y, n2 = counts[:4]
    if kind == "coin":
        right, guesses, sides = counts[4:]
        if 2 * right <= guesses:
            return 0.0
        wrong = Beta(guesses - right, right - 1)  # near 0 where nearly all are right, so that no digits are lost
        coins = (n1 + n2) * delta * sides / 2
        q = last(lambda t: wrong.p_value(t, coins) <= error, 0.5, wrong.grid[0])
        return math.log((1 - q) / q) if wrong.p_value(0.5, coins) <= error else 0.0
    if x == 0 or y == n2:
        return 0.0
    first, second = Beta(x - 1, n1 - x), Beta(y, n2 - y - 1)
    if kind == "melded":
        return max(0.0, last(lambda e: melded(first, second, math.exp(e), delta) <= error, -1.0, MOST_EPSILON))
    p = last(lambda t: first.mass(first.grid[0], t, PANELS) <= error / 2, first.grid[0], first.grid[-1])
    q = last(lambda t: second.mass(t, second.grid[-1], PANELS) <= error / 2, second.grid[-1], second.grid[0])
    return max(0.0, math.log((p - delta) / q)) if p > delta else 0.0


def verify(data: bytes) -> tuple[int, str]:
    """Return the exit status, 0 right, 1 wrong or 3 replay only, and one line; raise if not readable, which is 2."""
    stored = json.loads(data, object_pairs_hook=lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else {})
    seal = hashlib.blake2b(json.dumps({**stored, "seal": ""}, sort_keys=True).encode(), digest_size=32).hexdigest()
    if (stored["kind"], stored["schema_version"], stored.get("seal", seal)) != ("certificate", 1, seal):
        raise ValueError("this is no certificate of version 1, or it was altered since it was written")
    explicit = stored["event"]["kind"] in ("interval", "cells") and stored["learned"] is None
    coins = stored["bound"] == "coin"
    if not (stored["bound"] in ("melded", "clopper-pearson", "coin") and explicit):
        return 3, f"replay only: {stored['bound']!r:.60} on an event of the kind {stored['event']['kind']!r:.60}"
    epsilon, claimed, delta, confidence, error = reals = [stored[name] for name in REALS.split()]
    x, n1, y, n2 = counts = [stored["counts"][name] for name in COUNTS.split()]
    guessed = [stored["counts"]["count"][name] for name in ("right", "guesses")] if coins else []
    if {*map(type, guessed)} - {int} or not all(0 <= n <= MOST_RUNS for n in guessed) or guessed != sorted(guessed):
        raise ValueError(f"right guesses must be in [0, guesses], whole numbers up to {MOST_RUNS}: {guessed!r:.200}")
    if not {*map(type, reals)} <= {int, float} or not error or not all(0 <= n <= MOST_EPSILON for n in reals):
        raise ValueError(f"{REALS} must be numbers in [0, {MOST_EPSILON}], the error above 0: {reals!r:.200}")
    if {*map(type, counts)} != {int} or not (0 <= x <= n1 <= MOST_RUNS and 0 <= y <= n2 <= MOST_RUNS and n1 * n2):
        raise ValueError(f"hits must be in [0, runs] and runs in [1, {MOST_RUNS}], whole numbers: {counts!r:.200}")
    numbers = counts + guessed + [2 if stored.get("opposite") else 1]
    most, least = (bound(stored["bound"], numbers, delta, error * level) for level in (1, 1 - TOLERANCE))
    right = max(epsilon, least - TOLERANCE) < claimed <= most + TOLERANCE and error <= (1 - confidence) * (1 + 1e-9)
    shown = f"it says epsilon >= {claimed}, not {epsilon}, with delta {delta}, error {error}, confidence {confidence}"
    given = f"{guessed or counts} give {math.floor(most * 1e6) / 1e6:.6f}"
    return int(not right), f"{'right' if right else 'wrong'}: {shown}; {given}"


if __name__ == "__main__":
    try:
        with open((sys.argv[1:2] or ["(no FILE given)"])[0], "rb") as file:
            read = file.read(MOST_BYTES + 1)
        status, words = verify(read) if len(read) <= MOST_BYTES else (2, f"not readable: over {MOST_BYTES} bytes")
    except (OSError, TypeError, ValueError, LookupError, RecursionError, ArithmeticError, MemoryError) as fault:
        status, words = 2, f"not readable: {type(fault).__name__}: {fault!s:.300}"
    print(words.encode("ascii", "backslashreplace").decode().replace("\n", " ")[:1000])
    sys.exit(status)

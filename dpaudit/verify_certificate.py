"""Check a certificate by itself, its counts taken as given: ``python -P -m dpaudit.verify_certificate FILE``.

It needs the standard library alone, and `dpaudit.certificate_grammar`. Both files can be copied out into one folder:
``python -I verify_certificate.py FILE``.
"""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # it may be a folder that was received, and hold a json.py

import math
import os
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from typing import Any

try:
    import_module("dpaudit.certificate_grammar")
except ImportError:  # copied out: the file beside this one has its name
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    sys.modules["dpaudit.certificate_grammar"] = import_module("certificate_grammar")

from dpaudit.certificate_grammar import (
    LEAST_CONFIDENCE,
    LEAST_ERROR,
    MOST_EPSILON,
    MOST_RUNS,
    SHARED,
    among,
    cell,
    either,
    flag,
    judged,
    like,
    main,
    many,
    need,
    real,
    record,
    related,
    sealed,
    tagged,
    text,
    value_of,
    whole,
)

# By so much the bound that is stated may differ from what the counts give here, by other arithmetic.
TOLERANCE = 1e-5
# Parts of a density that is not negligible, each integrated by the Gauss-Legendre rule of eight points.
PANELS = 32
REALS = "epsilon epsilon_lower delta confidence error"
COUNTS = "hits runs neighbour_hits neighbour_runs"
_NODES = (0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363)  # Gauss-Legendre on [-1, 1]
_WEIGHTS = (0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763)
GAUSS = [(0.5 + s * x / 2, w / 2) for x, w in zip(_NODES, _WEIGHTS, strict=True) for s in (-1, 1)]


def last(holds: Callable[[float], bool], start: float, end: float) -> float:
    """Return the last point found on the way from `start`, where a condition holds, to `end`."""
    if holds(end):
        return end
    origin = start
    left = 200
    while left and abs(end - start) > 1e-9 * min(abs(start), abs(start - origin)):
        middle = (start + end) / 2
        left -= 1
        if holds(middle):
            start = middle
        else:
            end = middle
    return start


class Beta:
    """Beta(a + 1, b + 1), a and b whole: its density relative to the mode, and a grid where that is not negligible."""

    def __init__(self, a: int, b: int) -> None:
        self.a = a
        self.b = b
        self.mode = a / (a + b) if a + b else 0.5
        self.total = 1.0
        # With a or b zero the density has no factor for that side.
        self.left = self.mode if a else math.inf
        self.right = 1 - self.mode if b else math.inf
        # exp(-80) of the mode is far below the least error that a certificate may state, 1e-25.
        low, high = (last(lambda t: self._log(t) > -80, self.mode, end) for end in (0.0, 1.0))
        self.grid = [low + (high - low) * i / PANELS for i in range(PANELS)] + [high]
        self.total = self.mass(low, high, PANELS)

    def _log(self, t: float) -> float:
        # Relative to the mode, so that nothing cancels and nothing underflows.
        x = (t - self.mode) / self.left
        y = (self.mode - t) / self.right
        if 0 <= t <= 1 and x > -1 and y > -1:
            return self.a * math.log1p(x) + self.b * math.log1p(y)
        return -math.inf

    def density(self, t: float, base: float = 0.0) -> float:
        """Return the density, divided by exp(base)."""
        return math.exp(self._log(t) - base) / self.total

    def mass(self, low: float, high: float, panels: int = 1, base: float = 0.0) -> float:
        """Return the integral of that."""
        step = (high - low) / panels
        return step * sum(w * self.density(low + step * (i + x), base) for i in range(panels) for x, w in GAUSS)

    def p_value(self, t: float, coins: float) -> float:
        """Return the p-value of b + 1 right guesses, each wrong with probability t, given m delta."""
        # Divided by the density at t, so that tiny tails keep their digits.
        base = self._log(t)
        tail = self.mass(t, last(lambda u: self._log(u) > base - 40, t, 1.0), PANELS, base)
        rest = 0.0
        if coins:
            rest = self.mass(min(t, self.grid[0]), min(t, self.grid[-1]), PANELS)
        return math.exp(base) * tail + coins * min(t, self.total * tail / (1 - t) * rest)


def melded(first: Beta, second: Beta, ratio: float, delta: float) -> float:
    """Return Pr[B1 <= delta + ratio B2], panel by panel from the right of B1, none across the end of a density."""
    (least, most), (low, high) = ((one.grid[0], one.grid[-1]) for one in (first, second))
    cuts = sorted([*first.grid, *(t for u in second.grid if least < (t := delta + ratio * u) < most)])
    p = 0.0
    above = second.mass(min(max((most - delta) / ratio, low), high), high, PANELS)
    for low, high in zip(cuts[-2::-1], cuts[:0:-1], strict=True):
        stop = (high - delta) / ratio
        nodes = [(low + (high - low) * x, (high - low) * w) for x, w in GAUSS]
        p += sum(w * first.density(t) * (above + second.mass((t - delta) / ratio, stop)) for t, w in nodes)
        above += second.mass((low - delta) / ratio, stop)
    # Rounded up, so that the bound is rounded down.
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
        if not wrong.p_value(0.5, coins) <= error:
            return 0.0
        return math.log((1 - q) / q)
    if x == 0 or y == n2:
        return 0.0
    first = Beta(x - 1, n1 - x)
    second = Beta(y, n2 - y - 1)
    if kind == "melded":
        return max(0.0, last(lambda e: melded(first, second, math.exp(e), delta) <= error, -1.0, MOST_EPSILON))
    # Each limit takes half of the error, by the union bound.
    p = last(lambda t: first.mass(first.grid[0], t, PANELS) <= error / 2, first.grid[0], first.grid[-1])
    q = last(lambda t: second.mass(t, second.grid[-1], PANELS) <= error / 2, second.grid[-1], second.grid[0])
    if not p > delta:
        return 0.0
    return max(0.0, math.log((p - delta) / q))


# Features with whole values have a least and a greatest one: an interval with none of them, or with all, is no event.
FEATURES = {"value": None, "sum": None, "maximum": None, "minimum": None, "length": (0, math.inf),
            "lowest bit": (-1074, 1023), "raised": (0, 1), "NaN": (0, 1), "present": (0, 1)}  # fmt: skip
PATH = many(lambda v, where: need(type(v) is int or text(v, where) is None, where, "an index or a key", v))
END = real(-sys.float_info.max, sys.float_info.max, "inf", "-inf")
EVENTS = tagged(
    interval=record(feature=text, low=END, high=END, path=PATH),
    cells=record(feature=text, ranges=many(many(whole(-math.inf), 2, 2)), values=many(text), rare=flag, path=PATH,
                 shown_=many(text), outputs_=many(value_of, 1), complement_=among(True), rounding_=among(True)),
    bets=record(runs=whole(1, 2 * MOST_RUNS), log_stake=END),
    withheld=record(feature_=text),
)  # fmt: skip


def explicit(event: Any, where: str = "event") -> bool:
    """Return whether an event says by itself which outputs are in it; `ValueError` if these are none, or all."""
    if event["kind"] == "interval":
        low = float(event["low"])
        high = float(event["high"])
        need(low > -math.inf or high < math.inf, where, "bounded on a side", event)
        if event["feature"] not in FEATURES:
            need(low <= high, where, "an interval", event)
            return False
        least, most = FEATURES[event["feature"]] or (None, None)
        need(low < high or (least is None and low == high == math.inf), where, "an interval that holds numbers", event)
        if least is not None and most is not None:
            first = math.ceil(max(low, least))
            end = min(high, most + 1)
            need(first < end and low <= most, where, "an interval that holds numbers", event)
            need(most > 1 or (low > least) != (high <= most), where, "an interval that does not hold all", event)
        return True
    if event["kind"] == "cells":
        ranges = event["ranges"]
        listed = [cell(value) for value in event.get("outputs", ())]
        apart = all(a[1] < b[0] for a, b in pairwise(ranges)) and all(low <= high for low, high in ranges)
        need(apart, f"{where}.ranges", "ascending", ranges)
        single = len({*listed}) == len(listed) and not any(type(value) is int for value in event.get("outputs", ()))
        need(single, f"{where}.outputs", "different outputs, integers as ranges", event)
        need(ranges or listed or event["values"] or event["rare"], where, "one that names an output", event)
        return bool(event["feature"] == "output" and not event["values"] and not event["rare"])
    return False


WHOLE = whole(0)
LEVEL = real(LEAST_CONFIDENCE, math.nextafter(1, 0))
HITS = whole(0, MOST_RUNS)
RUNS = whole(1, MOST_RUNS)
# Certificates of earlier versions have digests of their inputs, which nothing reads.
DIGEST = like("([0-9a-f]{32})?", "a digest")
FORM = record(type=text, rows=either(WHOLE), columns=many(many(text, 2, 2)))
INPUT = tagged(
    value=record(value=value_of, digest_=DIGEST),
    reference=record(place=text, recipe=text, records=either(many(WHOLE)), index_=WHOLE, form_=FORM, digest_=DIGEST),
)
ORIGINS = "crafted", "enumerated", "given", "own data", "own data by user", "pattern", "random", "recorded", "strategy"
FIELDS = tagged(
    certificate=record(
        mechanism=text, epsilon=real(0, MOST_EPSILON), delta=real(0, 1), epsilon_lower=real(0, MOST_EPSILON),
        confidence=LEVEL, error=real(LEAST_ERROR, 1), bound=among("coin", "melded", "clopper-pearson", "betting"),
        origin=record(kind=among(*ORIGINS), text=text, moves=WHOLE), data=INPUT, neighbour=INPUT,
        direction=among("forward", "backward"), event=EVENTS, opposite_=EVENTS, learned=either(RUNS),
        counts=either(record(hits=HITS, runs=RUNS, neighbour_hits=HITS, neighbour_runs=RUNS,
                             count_=record(right=HITS, guesses=RUNS, filled=HITS))),
        runs=among("finding", "fresh"), searched=WHOLE, seed=WHOLE, streams_version=whole(1), **SHARED,
    ),
)  # fmt: skip


def checked(stored: Any) -> None:
    """Raise `ValueError` unless parsed data is a certificate whose fields agree, but for its seal and its bound."""
    FIELDS(stored, "certificate")
    events = [(name, stored[name]) for name in ("event", "opposite") if name in stored]
    # A list, so that every event is checked: `all` alone would stop at the first that is not explicit.
    plain = all([explicit(event, name) for name, event in events])
    need(plain == (stored["learned"] is None), "learned", "given of an event that is not explicit alone", plain)
    betting = stored["bound"] == "betting"
    counts = stored["counts"]
    need(betting == (counts is None), "counts", "left out where bets decided, and there alone", counts)
    need(betting == (stored["event"]["kind"] == "bets"), "bound", "betting of bets, and there alone", stored["bound"])
    need(not plain or stored["event"] != stored.get("opposite"), "opposite", "another set than the event", "the same")
    need(stored["epsilon_lower"] > stored["epsilon"], "epsilon_lower", "above epsilon", stored["epsilon_lower"])
    if counts is None:
        return
    x, n1, y, n2 = (counts[name] for name in COUNTS.split())
    need(x <= n1 and y <= n2, "hits", "at most runs", [x, n1, y, n2])
    need(("count" in counts) == (stored["bound"] == "coin"), "count", "there of guesses of coins alone", counts)
    if "count" in counts:
        right, guesses, filled = (counts["count"][name] for name in ("right", "guesses", "filled"))
        need(right <= guesses and filled <= guesses, "guesses", "no fewer than right and filled ones", counts["count"])
        # With one event only the runs in it say something, and only hits of the likelier side are right.
        most_right = said = n1 + n2
        if len(events) == 1:
            said = x + y
            most_right = x
        need(guesses - filled <= said, "guesses", f"filled but for {said} runs that say something", counts["count"])
        need(right - filled <= most_right, "right", "at most the hits", counts["count"])


def verify(data: bytes) -> tuple[int, str]:
    """Return the status, 0 right, 1 wrong, 3 not decided by the file alone, and a line; `ValueError` is status 2."""
    stored = sealed(data, checked)
    if stored["bound"] == "betting" or stored["learned"] is not None:
        kind = stored["event"]["kind"]
        return judged(True, "", *related(stored), f"{stored['bound']!r:.60} on an event of the kind {kind!r:.60}")
    epsilon, claimed, delta, confidence, error = (stored[name] for name in REALS.split())
    counts = [stored["counts"][name] for name in COUNTS.split()]
    guessed = [stored["counts"]["count"][name] for name in ("right", "guesses") if stored["bound"] == "coin"]
    numbers = counts + guessed + [2 if "opposite" in stored else 1]
    most = bound(stored["bound"], numbers, delta, error)
    # The stated bound may be rounded otherwise; what the counts give must exceed the claim itself.
    least = most
    if not claimed > most - TOLERANCE:
        least = bound(stored["bound"], numbers, delta, error * (1 - TOLERANCE))
    right = (
        least - TOLERANCE < claimed <= most + TOLERANCE and epsilon < most and error <= (1 - confidence) * (1 + 1e-9)
    )
    shown = f"it says epsilon >= {claimed}, not {epsilon}, with delta {delta}, error {error}, confidence {confidence}"
    return judged(right, f"{shown}; {guessed or counts} give {math.floor(most * 1e6) / 1e6:.6f}", *related(stored))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], verify))

"""Shrink the witness of a violation: a smaller pair that still refutes the claim, on runs that prove nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dpaudit.certificates.choosing import Chosen, choose
from dpaudit.certificates.parts import Kept, Parts, parts_of
from dpaudit.certificates.simpler import Bounds, complexity, simpler
from dpaudit.contract import Pair
from dpaudit.errors import InputError
from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.values import digest_of
from dpaudit.running.sampling import Sampler

__all__ = ["SEARCH", "Search", "Small", "shrink", "shrink_by_strategy"]

FIRST_RUNS = 500
"""Runs a side that are tried first to refute the claim; they are doubled until they do."""
GENEROUS = 2
"""By how much more runs shrinking makes than the whole pair needs: a smaller pair may leak a little less."""
MOST_PAIRS = 200
"""Smaller pairs that are tried."""
SEARCH = 16
"""The runs of a whole search, in units of the most on one side of a pair: about eight audits of one."""


@dataclass(frozen=True)
class Small:
    """A pair that refutes the claim.

    Attributes
    ----------
    pair : Pair
        The pair.
    chosen : Chosen
        The event.
    records : tuple of two tuples of int, or None
        The records of either original input that are left; None where the pair is as it was, or they have no numbers.
    """

    pair: Pair
    chosen: Chosen
    records: Kept = None


@dataclass
class Search:
    """Runs of a mechanism that look for a pair and an event, all at addresses of their own.

    Attributes
    ----------
    sampler : Sampler
        Makes the runs.
    epsilon, delta, error : float
        The claim, and the error of bounds that are compared.
    float_bits : bool
        Whether events over how floats are stored take part.
    runs : int
        Runs a side for a pair.
    made : int
        Runs made so far, on both sides together.
    limit : int
        No further pair is looked at once so many were made.
    tried : int
        Pairs looked at.
    """

    sampler: Sampler
    epsilon: float
    delta: float
    error: float
    float_bits: bool = False
    runs: int = FIRST_RUNS
    made: int = 0
    limit: int = 0
    tried: int = 0
    raising: bool = False
    known: dict[tuple[str, str], Chosen | None] = field(default_factory=dict)

    def begin(self, pair: Pair, most: int) -> Small | None:
        """Return how many runs a pair takes to refute the claim, and the event; None if `most` runs a side do not."""
        self.runs, self.limit = min(FIRST_RUNS, most), self.made + SEARCH * most
        while True:
            chosen = self.refutes(pair, first=True)
            if chosen is not None or self.runs >= most:
                self.runs = min(most, GENEROUS * self.runs)
                return None if chosen is None else Small(pair, chosen)
            self.runs = min(most, 2 * self.runs)

    def refutes(self, pair: Pair, *, first: bool = False) -> Chosen | None:
        """Return an event that refutes the claim on a pair, if there is one.

        A pair on which runs raise, where they did not on the first one, is an input that the mechanism refuses, and
        none to refute the claim with.
        """
        self.tried += not first
        address = ("certificate", "search", digest_of(pair.data), digest_of(pair.neighbour), self.runs)
        sides = self.sampler.sides(pair, address, self.runs)
        self.made += 2 * self.runs
        raising = any(type(output) is Raised for outputs in sides for output in outputs)
        self.raising |= first and raising
        if raising and not self.raising:
            return None
        chosen = choose(sides, self.delta, self.error, float_bits=self.float_bits)
        return chosen if chosen is not None and chosen.lower > self.epsilon else None

    def better(self, pair: Pair) -> Chosen | None:
        """Return an event that refutes the claim on a pair, always the same; None once enough were tried."""
        key = (digest_of(pair.data), digest_of(pair.neighbour))
        if key not in self.known:
            spent = self.tried >= MOST_PAIRS or self.made + 2 * self.runs > self.limit
            hopeless = spent or key[0] == key[1] or "" in key
            self.known[key] = None if hopeless else self.refutes(pair)
        return self.known[key]


def shrink(search: Search, start: Small, *, values: bool = True, bounds: Bounds = None) -> Iterator[Small]:
    """Yield ever smaller pairs that refute the claim, the first one the start itself.

    Parameters
    ----------
    search : Search
        Makes the runs.
    start : Small
        A pair that refutes the claim.
    values : bool
        Whether values are made simpler too; else records are left out and nothing else.
    bounds : tuple of two numbers, optional
        The range of values that the mechanism is made for.
    """
    yield start
    small = start
    parts = parts_of(start.pair)
    for found in _fewer(search, parts) if parts else ():
        yield (small := found)
    while values and (changed := _simpler(search, small, bounds)) is not None:
        yield (small := changed)


def _fewer(search: Search, parts: Parts) -> Iterator[Small]:
    """Yield the pair with fewer and fewer shared parts: all, then ever smaller blocks of them are left out."""
    kept = list(range(parts.shared))
    block = len(kept)
    while block:
        at = 0
        while at < len(kept):
            fewer = kept[:at] + kept[at + block :]
            pair = _attempt(parts, fewer)
            chosen = search.better(pair) if pair else None
            if pair is not None and chosen is not None:
                kept = fewer
                yield Small(pair, chosen, parts.records(kept))
            else:
                at += block
        block = min(block // 2, len(kept))


def _attempt(parts: Parts, kept: list[int]) -> Pair | None:
    """Return a pair with some of its shared parts; None where so few make no input."""
    try:
        return parts.keep(kept)
    except (InputError, ValueError, TypeError):
        return None


def _simpler(search: Search, small: Small, bounds: Bounds) -> Small | None:
    """Return the first pair with simpler values that refutes the claim."""
    limit = complexity(small.pair)
    for pair in simpler(small.pair, bounds):
        chosen = search.better(pair) if complexity(pair) < limit else None
        if chosen is not None:
            return Small(pair, chosen)
    return None


def shrink_by_strategy(search: Search, start: Small, strategy: Any) -> Iterator[Small]:
    """Yield the start, then the simplest pair of a hypothesis strategy that refutes the claim."""
    import hypothesis

    yield start
    settings = hypothesis.settings(
        max_examples=MOST_PAIRS,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    try:
        data, neighbour = hypothesis.find(
            strategy, lambda pair: search.better(Pair(pair[0], pair[1])) is not None, settings=settings
        )
    except hypothesis.errors.NoSuchExample:
        return
    pair = Pair(data, neighbour, start.pair.origin)
    chosen = search.better(pair)
    if chosen is not None and complexity(pair) < complexity(start.pair):
        yield Small(pair, chosen)

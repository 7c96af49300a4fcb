"""Search for a smaller pair that still refutes the claim, on runs that prove nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dpaudit.contract import Pair
from dpaudit.events.explicit import ChosenEvent, choose
from dpaudit.neighbours.smaller import Small, complexity
from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.values import digest_of
from dpaudit.running.sampling import Sampler

FIRST_RUNS = 500
"""Runs a side that are tried first to refute the claim; they are doubled until they do."""
GENEROUS = 2
"""By how much more runs shrinking makes than the whole pair needs: a smaller pair may leak a little less."""
MOST_PAIRS = 200
"""Smaller pairs that are tried."""
SEARCH = 16
"""The runs of a whole search, in units of the most on one side of a pair: about eight audits of one."""


@dataclass
class WitnessSearch:
    """Runs of a mechanism that look for a pair and an event, all at addresses of their own.

    `epsilon`, `delta` and `error` are the claim and the error of bounds that are compared. A pair takes `runs` a side;
    `made` were made so far on both sides together, for `tried` pairs, and no further pair is tried once `limit` were.
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
    known: dict[tuple[str, str], ChosenEvent | None] = field(default_factory=dict)

    def begin(self, pair: Pair, most: int) -> Small[ChosenEvent] | None:
        """Return a pair with an event that refutes the claim on it; None if `most` runs a side find none."""
        self.runs, self.limit = min(FIRST_RUNS, most), self.made + SEARCH * most
        while True:
            chosen = self.refutes(pair, first=True)
            if chosen is not None or self.runs >= most:
                self.runs = min(most, GENEROUS * self.runs)
                return None if chosen is None else Small(pair, chosen)
            self.runs = min(most, 2 * self.runs)

    def refutes(self, pair: Pair, *, first: bool = False) -> ChosenEvent | None:
        """Return an event that refutes the claim on a pair, if there is one.

        A pair on which runs raise, where they did not on the first one, is an input that the mechanism refuses, and
        refutes nothing.
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

    def better(self, pair: Pair) -> ChosenEvent | None:
        """Return an event that refutes the claim on a pair, always the same; None once enough were tried."""
        key = (digest_of(pair.data), digest_of(pair.neighbour))
        if key not in self.known:
            spent = self.tried >= MOST_PAIRS or self.made + 2 * self.runs > self.limit
            hopeless = spent or key[0] == key[1] or "" in key
            self.known[key] = None if hopeless else self.refutes(pair)
        return self.known[key]


def shrink_by_strategy(search: WitnessSearch, start: Small[ChosenEvent], strategy: Any) -> Iterator[Small[ChosenEvent]]:
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

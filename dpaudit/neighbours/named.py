"""Pairs by name, as "patterns:8", "random:50" or what stands in a file or a module; and pairs drawn at random.

Drawn are neighbouring samples over a domain, variations of a pair, or what a strategy makes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit import seeding
from dpaudit.arguments import read_integer
from dpaudit.contract import Domain, Learner, Origin, OriginKind, Pair, Relation, Sample
from dpaudit.errors import InputError
from dpaudit.neighbours.check import as_multiset, sample_of
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.places import Place

MOST_QUERIES = 1_000_000
"""Sixteen vectors of so many numbers take 128 MB."""
PAIRS = "PAIRS"
"""The name of the pairs beside a mechanism."""
PATTERNS = "patterns"
RANDOM = "random"
CRAFTED = "crafted"
# How many numbers follow each of these words.
_NUMBERS = {PATTERNS: (1,), RANDOM: (1, 2), CRAFTED: (0, 1)}
MOST_PAIRS = 100_000
"""All pairs are held in memory, and each is run."""
PROPOSALS = 6
"""The most variations of a pair in one step of a local search."""


def query_patterns(dimension: int, *, every: bool = True, level: float = 1.0) -> list[Pair]:
    """Return pairs of vectors of query answers that differ by at most 1 in each coordinate.

    Parameters
    ----------
    dimension : int
        The number of queries, at most 1,000,000.
    every : bool
        Whether one record may change every answer (eight patterns), or one answer only (two patterns).
    level : float
        The common answer on the first vector; answers go up and down by 1 from there.

    Returns
    -------
    list of Pair
        One above, one below; and, if `every`, also one above and the rest below, one below and the rest above, half up
        and half down, all above, all below, and crossed halves. Both directions of a pair are audited in any case.
    """
    dimension = read_integer("dimension", dimension, most=MOST_QUERIES)
    base, half = np.full(dimension, float(level)), dimension // 2
    places, ones = np.arange(dimension), np.ones(dimension)
    one, front = (places < 1) * ones, (places < half) * ones
    shifts: dict[str, tuple[Any, Any]] = {"one above": (0, one), "one below": (0, -one)}
    if every:
        shifts |= {
            "one above, rest below": (0, 2 * one - ones),
            "one below, rest above": (0, ones - 2 * one),
            "half above, half below": (0, 2 * front - ones),
            "all above": (0, ones),
            "all below": (0, -ones),
            "crossed halves": (front - ones, -front),
        }
    pairs = [Pair(base + a, base + b, Origin(OriginKind.PATTERN, name)) for name, (a, b) in shifts.items()]
    return [pair for pair in pairs if (pair.data != pair.neighbour).any()]


def is_source(text: str) -> bool:
    """Return whether a text is patterns:DIMENSION, random:COUNT, random:COUNT:N, crafted or crafted:N.

    No MODULE:NAME is one, since no name is a number.
    """
    word, *numbers = text.split(":")
    if not all(number.isascii() and number.isdigit() for number in numbers):
        return False
    return len(numbers) in _NUMBERS.get(word, ())


def is_crafted(text: str | None) -> bool:
    """Return whether a text stands for crafted samples, as does none."""
    return text is None or (is_source(text) and text.split(":")[0] == CRAFTED)


def examples_of(source: str | None) -> int | None:
    """Return how many examples samples of a source have; None if it does not say so."""
    word, *numbers = (source or CRAFTED).split(":")
    if len(numbers) < max(_NUMBERS.get(word, (1,))):
        return None
    return int(numbers[-1])


def without_examples(source: str | None) -> str | None:
    """Return a source without the number of examples; None for crafted samples."""
    if is_crafted(source) or source is None:
        return None
    return ":".join(source.split(":")[:2])


def with_examples(source: str | None, n: int | None) -> str:
    """Return the text of pairs of samples of n examples; `source` is as for `is_source`, or None."""
    source = source or CRAFTED
    word, *numbers = source.split(":")
    if n is None or len(numbers) == max(_NUMBERS.get(word, (0,))):
        return source
    return f"{source}:{n}"


def pairs_of_source(text: str, mechanism: Any, *, relation: Relation | str | None = None, seed: int = 0) -> list[Pair]:
    """Return the pairs that a text names.

    "patterns:DIMENSION" are the patterns of `query_patterns`, for a mechanism that answers queries. For a learner
    "crafted:N" are `crafted_pairs` over its domain, and "random:COUNT:N" `random_pairs`. The number N of examples may
    be left out, and is then that of the learner's instance; the relation is that of its claim by default. `InputError`
    is raised if the text names no source, one that does not fit the mechanism, or a number below 1.
    """
    if not is_source(text):
        raise InputError.of("pairs", text, "a list of (data, neighbour), patterns:DIMENSION, crafted:N or random:COUNT")
    word, *numbers = text.split(":")
    if isinstance(mechanism, Learner) == (word == PATTERNS):
        message = "{pairs} {given} are drawn over a learner's domain; the mechanism given is no learner"
        if word == PATTERNS:
            message = "{pairs} {given} are vectors of query answers; a learner takes samples, as of random:COUNT"
        raise InputError(message, names=("pairs",), value=text, given=text)
    if word == PATTERNS:
        return query_patterns(int(numbers[0]))
    if relation is None:
        relation = mechanism.privacy.relation if mechanism.privacy else Relation.REPLACE_ONE
    relation = Relation.parse(relation)
    n = mechanism.instance.n
    if word == CRAFTED:
        if numbers:
            n = int(numbers[0])
        return crafted_pairs(mechanism.domain, n, relation)
    if len(numbers) == 2:
        n = int(numbers[1])
    return random_pairs(mechanism.domain, n, relation, count=int(numbers[0]), seed=seed)


def pairs_beside(place: Place, role: str) -> Place:
    """Return the place of the pairs beside a mechanism for which none were given; `role` names them in messages.

    If there are none, `InputError` names what might be meant.
    """
    module = place.module()
    if hasattr(module, PAIRS):
        return Place(role, place.source, PAIRS)
    near = [name for name in vars(module) if name.upper().startswith("PAIR")]
    hint = f" (did you mean {role} {place.source}:{near[0]}?)" if near else ""
    raise InputError(
        f"{role} must be given: {place.source} has no {PAIRS}, a list of (data, neighbour) tuples{hint}; such a list "
        f"is given as {role} FILE.py:NAME, patterns:DIMENSION makes one for answers to counting queries, and "
        "--data FILE.csv one of a dataset"
    )


def pairs_at(place: Place, seed: int = 0) -> list[Any]:
    """Return the pairs at a place: a list of (data, neighbour), what a callable returns or a strategy makes."""
    pairs, source = place.find(), f"{place.role} {place.source}:{place.name}"
    if is_strategy(pairs):
        return list(pairs_from_strategy(pairs, seed=seed))
    if callable(pairs):
        try:
            pairs = pairs()
        except (Exception, SystemExit) as error:
            raise InputError(f"{source}() failed: {type(error).__name__}: {error}") from error
    allowed = "a list of (data, neighbour) tuples"
    if isinstance(pairs, str | bytes | dict):
        raise InputError(f"{source} must be {allowed}, got {pairs!r:.100}")
    try:
        return list(pairs)
    except TypeError:
        message = f"{source} must be {allowed} or a callable that returns one, got {pairs!r:.100}"
        raise InputError(message) from None


def is_strategy(value: Any) -> bool:
    """Return whether a value is a strategy of hypothesis, which is loaded already if there is one."""
    strategies = sys.modules.get("hypothesis.strategies")
    return strategies is not None and isinstance(value, strategies.SearchStrategy)


def random_pairs(
    domain: Domain, n: int, relation: Relation | str = Relation.REPLACE_ONE, *, count: int = 16, seed: int = 0
) -> list[Pair]:
    """Return pairs of neighbouring samples: n uniform examples over the domain, then a uniform neighbour.

    Parameters
    ----------
    domain : Domain
        The domain of the points; it is listed.
    n : int
        Examples in the first sample.
    relation : Relation
        The relation of neighbours. Under REPLACE_PRIVATE each example but the first is public with probability 1/2.
    count : int
        The number of pairs drawn, at most 100,000; repeated ones, whichever way round, are dropped.
    seed : int
        The root seed.

    Returns
    -------
    list of Pair
        At least one; at most `count`, in a fixed order.

    Raises
    ------
    InputError
        If `n` or `count` is no integer >= 1, `count` is too large, or the domain is too large to list.
    """
    relation = Relation.parse(relation)
    seeding.check_seed(seed)
    n, count = read_integer("n", n), read_integer("count", count, most=MOST_PAIRS)
    points = domain.points()
    found: dict[frozenset[Any], Pair] = {}
    for i in range(count):
        rng = seeding.generator(seed, "random pairs", i)
        rows, labels = rng.integers(len(points), size=n), rng.integers(2, size=n)
        public = None
        if relation is Relation.REPLACE_PRIVATE:
            public = [False, *(rng.random(n - 1) < 0.5).tolist()]
        data = domain.sample(points[rows], labels, public=public)
        neighbour = _neighbour(domain, points, data, relation, rng)
        made = Pair(data, neighbour, Origin(OriginKind.RANDOM, f"number {i}"))
        found.setdefault(frozenset((data, neighbour)), made)
    return list(found.values())


def _neighbour(domain: Domain, points: Any, data: Sample, relation: Relation, rng: np.random.Generator) -> Sample:
    """Return one of the neighbours, all equally likely, without listing them."""

    def example(index: int) -> tuple[tuple[Any, ...], int, bool]:  # two labels for each point
        return tuple(points[index // 2].tolist()), index % 2, False

    rows = as_multiset(data)
    private = relation is Relation.REPLACE_PRIVATE
    removable = sorted(row for row in rows if not (row[2] and private))
    universe = 2 * len(points)
    if relation is Relation.ADD_REMOVE_ONE:
        drawn = int(rng.integers(universe + len(removable)))
        if drawn < universe:
            rows[example(drawn)] += 1
        else:
            rows[removable[drawn - universe]] -= 1
    else:
        out = into = removable[int(rng.integers(len(removable)))]
        while into == out:
            into = example(int(rng.integers(universe)))
        rows.update({out: -1, into: 1})
    return sample_of(rows, domain, private)


@dataclass(frozen=True)
class SampleMoves:
    """Proposes pairs near a pair of samples over a domain: neighbours still, and as many examples on each side.

    A move changes the same examples on both sides: it takes one, half or all copies of one shared example to a
    landmark, or flips their labels; or it does so with one of the examples in which the two sides differ. The proposals
    are a function of the root seed, the step and the pair.
    """

    domain: Domain
    seed: int

    def __call__(self, pair: Pair, step: int) -> list[Pair]:
        """Return up to `PROPOSALS` distinct variations of a pair."""
        rng = seeding.generator(self.seed, "local search", step)
        origin = replace(pair.origin, moves=pair.origin.moves + 1)
        found: dict[Any, Pair] = {}
        for data, neighbour in self._proposals(pair, rng):
            if data != neighbour and (data, neighbour) != (pair.data, pair.neighbour):
                found.setdefault((data, neighbour), Pair(data, neighbour, origin))
        return list(found.values())[:PROPOSALS]

    def _proposals(self, pair: Pair, rng: np.random.Generator) -> Iterator[tuple[Any, ...]]:
        first, second = as_multiset(pair.data), as_multiset(pair.neighbour)
        shared = first & second
        own = [first - shared, second - shared]
        for _ in range(4 * PROPOSALS):
            common, sides = shared.copy(), [side.copy() for side in own]
            several = bool(common) and rng.random() < 0.7
            self._move(common if several else sides[int(rng.integers(2))], rng, several)
            flagged = pair.data.public is not None
            yield tuple(sample_of(common + side, self.domain, flagged) for side in sides)

    def _move(self, rows: Any, rng: np.random.Generator, several: bool) -> None:
        """Replace one copy of one example, or half or all of them if `several` may go."""
        if not rows:
            return
        example = sorted(rows)[int(rng.integers(len(rows)))]
        count = rows[example]
        moved = int(rng.choice([1, max(1, count // 2), count])) if several else 1
        point, label, public = example
        marks = self.domain.landmarks()
        target = tuple(marks[int(rng.integers(len(marks)))].tolist()) if rng.random() < 0.6 else point
        rows[example] -= moved
        rows[(target, int(1 - label) if target == point or rng.random() < 0.3 else label, public)] += moved


def pairs_from_strategy(strategy: Any, *, count: int = 16, seed: int = 0) -> list[Pair]:
    """Return pairs that a hypothesis strategy of (data, neighbour) tuples makes.

    Parameters
    ----------
    strategy : hypothesis.strategies.SearchStrategy
        Must produce tuples of two neighbouring inputs, which is for its author to see to.
    count : int
        The most pairs; hypothesis makes fewer where there are no more.
    seed : int
        Makes the draws repeatable, with one version of hypothesis.

    Raises
    ------
    InputError
        If hypothesis is not installed, `strategy` is no strategy, fails, or makes something else than pairs.
    """
    try:
        import hypothesis
    except ImportError:
        raise InputError("pairs_from_strategy needs the package hypothesis") from None
    count = read_integer("count", count)
    seeding.check_seed(seed)
    if not isinstance(strategy, hypothesis.strategies.SearchStrategy):
        raise InputError.of("strategy", strategy, "a hypothesis strategy")
    found: list[Any] = []
    settings: dict[str, Any] = {"database": None, "deadline": None, "derandomize": False}
    settings |= {"phases": [hypothesis.Phase.generate], "suppress_health_check": list(hypothesis.HealthCheck)}

    @hypothesis.seed(seed)
    @hypothesis.settings(max_examples=count, **settings)
    @hypothesis.given(strategy)
    def collect(pair: Any) -> None:
        found.append(pair)

    try:
        collect()
    except Exception as error:  # whatever its author's code raises
        raise InputError(f"strategy {strategy!r:.100} failed: {type(error).__name__}: {error}") from error
    for pair in found:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"strategy must make tuples (data, neighbour), got {pair!r:.100}", parameter="strategy")
    if not found:
        raise InputError(f"strategy {strategy!r:.100} made no pair", parameter="strategy")
    origins = (Origin(OriginKind.STRATEGY, f"number {i}") for i in range(count))
    return [Pair(data, neighbour, origin) for (data, neighbour), origin in zip(found, origins, strict=False)]

"""Verification of sample complexities of greedy private covers; docs/research/results.md has the proof."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from dpaudit.utility.certificate_numbers import Numbers, count, drops, kept, odds_to_chance, positive, share
from dpaudit.utility.decimals import ONE, UP, ZERO, Enclosure, check_terms, likely, mean

# Levels of what is left, at least, and for each set of a target; the recursion costs their square a round.
LEVELS = 48
EACH = 8
MOST_LEVELS = 512
# More rounds, sets of a target, and rounds that spoil are refused: the numbers may stem from a file.
MOST = 4096
# The most sets of a target where the rounds grow with n, and many numbers of them are looked at.
MOST_GROWING = 64
# Where the bound for all further numbers of rounds is so small, no more of them are looked at.
SMALL = Decimal("1e-6")
# So many more rounds, times k, are looked at before that.
FURTHER = 96

Ends = tuple[Callable[[int], Decimal], Callable[[int], Decimal]]


@dataclass(frozen=True)
class Cover:
    """The numbers of a certificate: k sets, rate, J rounds or 0, M, B, S, A, noise, ways or 0, and the u and t."""

    k: int
    rate: Fraction
    rounds: int
    rivals: Fraction
    bad: Fraction
    chain: int
    answers: Fraction
    distinct: bool
    scale: Fraction
    offset: Fraction
    ways: Fraction
    share: Fraction
    level: Fraction

    def at(self, n: int) -> int:
        """Return J: ceil(2 k ln n) where it grows with n."""
        if self.rounds:
            return self.rounds
        return max(1, math.ceil(2 * self.k * Decimal(n).ln()))

    def rate_at(self, rounds: int) -> Fraction:
        """Return the rate of one of J rounds."""
        return self.rate if self.rounds else self.rate / rounds

    @cached_property
    def noise_factors(self) -> tuple[Enclosure, Enclosure]:
        """The factors of B and of M by which the noise raises them."""
        if not self.scale:
            return ONE, ONE
        ratio = self.rate * self.scale / self.k
        rare = Enclosure.exp(-self.offset / self.scale) / Enclosure.of(2)
        spoils = Enclosure.exp(self.rate / self.k) * (1 + rare * (ratio / (1 - ratio)))
        return spoils, rare + Enclosure.exp(self.rate * self.offset / self.k) / Enclosure.of(1 - ratio**2)

    def failing(self, rounds: int, alpha: Fraction, n: int) -> Decimal:
        """Return the sum of the bounds on what is spoiled, on what is left, and on regions that a sample misses."""
        rest = UP.add(self.left(rounds, n), self.unseen(alpha - self.share, n))
        if self.k == 1 and self.rounds:
            rest = min(rest, self.missed(rounds, alpha - self.share, n))
        return UP.add(self.spoiled(rounds, n), rest)

    def missed(self, rounds: int, rest: Fraction, n: int) -> Decimal:
        """Return, for k = 1, a bound on the chance that a region of probability `rest` is left in all rounds."""
        factor = self.rivals * self.noise_factors[1]
        counts = likely(n, rest)
        check_terms(len(counts))
        step = Enclosure.exp(-self.rate_at(rounds))
        odds = factor * Enclosure.exp(-self.rate_at(rounds) * counts.start)
        found = {}
        for k in counts:
            found[k] = odds_to_chance(odds) ** rounds
            odds = odds * step
        return (self.answers * mean(n, rest, found.__getitem__)).high

    def spoiled(self, rounds: int, n: int) -> Decimal:
        """Return a bound on the chance that more than `share` of the distribution is spoiled."""
        noise, _ = self.noise_factors
        each = kept(self.share, drops(self.rate_at(rounds), 1)[1]) ** n
        if self.ways > 0:
            return (self.ways * noise ** min(rounds, self.chain) * each).high
        ways = ZERO
        factor = ONE
        for s in range(1, min(rounds, self.chain) + 1):
            # Sets of equal measures spoil something new once each.
            new = max(Fraction(0), self.bad - (s - 1)) if self.distinct else self.bad
            factor = factor * noise * new
            ways = ways + math.comb(rounds, s) * factor
        return (ways * each).high

    def left(self, rounds: int, n: int) -> Decimal:
        """Return the chance that the worst chain has `level` n left, from n on, by recursion over levels."""
        steps = min(MOST_LEVELS, max(LEVELS, EACH * self.k))
        # Any levels give a bound, if they begin and end so; powers of the first one fall as what a good set leaves.
        inner = (Fraction(float(self.level) ** (1 - i / steps)) for i in range(1, steps))
        levels = [self.level, *sorted(inner), Fraction(1)]
        scale = self.rate_at(rounds) * n
        kept_share = 1 - Fraction(1, self.k)
        grown = [self.rivals * self.noise_factors[1] * Enclosure.exp(scale * kept_share * one) for one in levels]
        fallen = [Enclosure.exp(-scale * one) for one in levels]

        def tail(start: int, end: int) -> Decimal:
            """Return the chance that of at most level `start` more than the level before `end` is left."""
            above = max(0, end - 1)
            if levels[above] <= kept_share * levels[start]:
                return Decimal(1)
            return odds_to_chance(grown[start] * fallen[above]).high

        tails = [[tail(start, end) for end in range(start + 1)] for start in range(steps + 1)]
        chance = [Decimal(1)] * (steps + 1)
        for _ in range(rounds):
            # The chance grows with what is left, so that the increments are not negative.
            rises = [chance[0], *(UP.subtract(chance[c], chance[c - 1]) for c in range(1, steps + 1))]
            chance = [_product(row, rises) for row in tails]
            for c in range(1, steps + 1):
                chance[c] = max(chance[c - 1], min(Decimal(1), chance[c]))
        return chance[-1]

    def unseen(self, rest: Fraction, n: int) -> Decimal:
        """Return a bound on the chance that a region of probability `rest` that may be left has few examples."""
        if self.level >= rest:
            return Decimal(1)
        # Any tilt gives a bound; this one is the best up to rounding.
        tilt = Fraction(math.log(float(rest * (1 - self.level) / (self.level * (1 - rest)))))
        each = kept(rest, drops(tilt, 1)[1]) * Enclosure.exp(tilt * self.level)
        return (self.answers * each**n).high

    def beyond(self, alpha: Fraction, n: int) -> Iterator[Decimal]:
        """Yield bounds for all larger numbers of rounds, each at the least n that has it, the last for all further."""
        k = self.k
        for rounds in range(self.at(n) + 1, self.at(n) + FURTHER * k):
            # An n has J rounds from where on 2 k ln n exceeds J - 1.
            least = Enclosure.exp(Fraction(rounds - 1, 2 * k))
            size = max(n, math.floor(least.low) + 1)
            g = Fraction(least.low)
            falls = rounds >= 4 * k and self.level >= 2 * (1 - Fraction(1, k)) ** rounds and self.bad * rounds >= 2
            spoils = self.rate * self.share * g
            leaves = self.rate * self.level * g / k
            if falls and spoils >= 8 * k * self.chain and leaves >= 8 * k:
                first = 2 * (rounds * self.bad) ** self.chain * Enclosure.exp(-spoils / (2 * rounds))
                second = rounds * self.rivals * Enclosure.exp(-leaves / (2 * rounds))
                crude = UP.add((first + second).high, self.unseen(alpha - self.share, size))
                if crude <= SMALL:
                    yield crude
                    return
            yield self.failing(rounds, alpha, size)
        yield Decimal(1)


def _product(row: list[Decimal], rises: list[Decimal]) -> Decimal:
    total = Decimal(0)
    for tail, rise in zip(row, rises, strict=False):
        total = UP.add(total, UP.multiply(tail, rise))
    return total


def covers(numbers: Numbers, alpha: Fraction) -> Ends:
    """Return the ends of the failure rate of a greedy private cover; no case is offered."""
    rounds = count(numbers, "rounds", 0, MOST)
    cover = Cover(
        k=count(numbers, "k", 1, MOST),
        rate=positive(numbers, "rate"),
        rounds=rounds,
        rivals=positive(numbers, "rivals"),
        bad=positive(numbers, "bad"),
        chain=count(numbers, "chain", 1, MOST),
        answers=positive(numbers, "answers"),
        distinct=bool(count(numbers, "distinct", 0, 1)),
        scale=Fraction(numbers["scale"]),
        offset=Fraction(numbers["offset"]),
        ways=Fraction(numbers["ways"]),
        share=share(numbers, "share"),
        level=share(numbers, "level"),
    )
    if not (rounds or cover.k <= MOST_GROWING):
        raise ValueError(f"k must be at most {MOST_GROWING} where rounds grow with n, got {cover.k}")
    fitting = cover.scale >= 0 and cover.offset >= 0 and cover.rate * cover.scale < cover.k
    if not fitting or (cover.scale and not rounds):
        noise = f"{float(cover.scale)} and {float(cover.offset)}"
        raise ValueError(f"scale and offset must fit the rate and k, got {noise}")
    if cover.ways < 0 or (cover.ways and not rounds):
        raise ValueError(f"ways must fit a given number of rounds, got {float(cover.ways)}")
    if cover.share >= alpha:
        raise ValueError(f"share must be below alpha, got {float(cover.share)}")

    def upper(n: int) -> Decimal:
        found = cover.failing(cover.at(n), alpha, n)
        if rounds or found >= 1:
            return found
        return max([found, *cover.beyond(alpha, n)])

    return lambda n: Decimal(0), upper

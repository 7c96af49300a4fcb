"""The worst case of a greedy private cover, over all targets and all distributions: an upper end of its failure rate.

Each of J rounds selects a set h with probability proportional to mu(h) exp(a q(h)), q = min{c - R/k, -e}, where R
examples to be covered are left, of which h covers c, and e of the others; then what h covers is deleted. The target
has k sets, so that in each round some set g of it has c >= R/k and e = 0, hence q(g) >= 0. With M a bound on the
measure of all other sets over that of g, a set is chosen with probability at most mu(h)/mu(g) exp(a q(h)).

**What is spoiled.** Consider the rounds whose sets cover something of the other label, in the domain, that no earlier
one did: s rounds, at most as many as a chain of such sets has. Given the sample, they are certain s rounds and choose
certain sets with probability at most the product of mu(h)/mu(g) exp(-a e), and the e add up to the number of examples
in what is spoiled. So it has a probability above u with chance at most

    sum over s of N_s (1 - u (1 - exp(-a)))^n,    N_s = C(J, s) B^s,

B the measure over that of g of the sets that spoil anything; for sets of equal measures B (B - 1) .. in the place of
B^s, as none spoils anything new twice. No union bound over samples is needed: the mean of exp(-a N) is exact.
On a few points the sum is made over what is spoiled: see `spoiling_ways`.

**What is left.** A round leaves more than (1 - 1/k) R + d of the R examples with probability at most
psi(M exp(-a d)), psi(x) = x/(1 + x), because each set that does has q <= -d. So what is left is a Markov chain, whose
worst law has these tails: the chance that t n are left after J rounds follows by recursion over levels, each rounded
up. Relative to n the tails fall with n, and so does that chance.

**The step to the distribution.** What is left uncovered is one of A regions. One that has a probability above v has
fewer than t n examples with chance at most A times min over z of ((1 - v (1 - exp(-z))) exp(z t))^n. For k = 1 both
steps are one: it is left by all J rounds with chance at most E psi(M exp(-a N))^J, N ~ Bin(n, v).

An error above alpha needs u + v = alpha; t and u are chosen to make the sum of the three least.

**Noise.** With b = R + w - L in the place of R, w ~ Lap(s) fresh in each round and a s < k: q(g) >= -(w - L)+/k, so
that a round that spoils has the factor E exp(a (w - L)+/k) = 1 + p a s/(k - a s) more, p = exp(-L/s)/2; and where
b < R, sets seem to cover (L - w)/k more than they do, which puts M E exp(a (L - w)+/k), at most
M (p + exp(a L/k)/(1 - (a s/k)^2)), in the place of M, as psi is concave. Rounding b up helps here, and makes the first
factor exp(a/k) (1 + p a s/(k - a s)) at most.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dpaudit.contract import CaseFamily, InputError, WorstFailure

from ..arrays import Floats, Labels
from ..finite.worst_case import likely_counts

# Levels of what is left, at least, and for each set of a target; the recursion costs their square a round.
LEVELS = 48
EACH = 8
MOST_LEVELS = 512
# Shares of alpha that are tried for what is spoiled, and for the level that counts as left.
SHARES = 24
# From where on a bound for all further numbers of rounds does.
SMALL = 1e-6
# Beyond so many more rounds, times k, that bound is not looked for.
FURTHER = 96

_PROOF = (
    "what is spoiled costs its number of examples in score, whichever rounds do it; what is left is a Markov chain "
    "with the worst tails of a round; an error above alpha is one of both"
)
_MISSING = (
    "the joint law of what is spoiled and what is left, and of the choices of all rounds, where the certificate adds "
    "up the sequences of sets that spoil"
)


@dataclass(frozen=True)
class Covering:
    """The numbers of a greedy private cover on which the bound rests.

    `k` sets cover the target's part; `rivals` is M, `bad` B, `chain` the most rounds that spoil something new, and
    `answers` A. With `distinct` the sets have equal measures. `rate` is a, for `rounds` J; where `rounds` is 0,
    J = ceil(2 k ln n) and `rate` is J times a, which does not depend on n. `scale` and `offset` are those of the noise.
    `ways` takes the place of the sum of all N_s without noise, for one J, where it is not 0.
    """

    k: int
    rate: float
    rounds: int
    rivals: float
    bad: float
    chain: int
    answers: float
    distinct: bool
    scale: float = 0.0
    offset: float = 0.0
    ways: float = 0.0

    def __post_init__(self) -> None:
        # Only a learner of fixed J has noise.
        if self.scale and self.rate * self.scale >= self.k:
            raise InputError(f"a round's rate {self.rate!r} is too high for the noise, of scale {self.scale!r}")

    def at(self, n: int) -> int:
        """Return J for n examples."""
        return self.rounds or max(1, math.ceil(2 * self.k * math.log(n)))

    def rate_at(self, rounds: int) -> float:
        """Return a for J rounds."""
        return self.rate if self.rounds else self.rate / rounds

    @property
    def _noise_factors(self) -> tuple[float, float]:
        """The factors of B and of M by which the noise raises them."""
        if not self.scale:
            return 1.0, 1.0
        ratio = self.rate * self.scale / self.k
        rare = math.exp(-self.offset / self.scale) / 2
        spoils = math.exp(self.rate / self.k) * (1 + rare * ratio / (1 - ratio))
        return spoils, rare + math.exp(self.rate * self.offset / self.k) / (1 - ratio**2)

    def log_ways(self, rounds: int) -> float:
        """Return the logarithm of the sum of N_s."""
        factor, _ = self._noise_factors
        if self.ways:
            # The noise has its factor in each of at most so many rounds.
            return math.log(self.ways) + min(rounds, self.chain) * math.log(factor)
        found = []
        for s in range(1, min(rounds, self.chain) + 1):
            ways = float(math.perm(int(self.bad), s)) if self.distinct else self.bad**s
            if ways:
                found.append(math.log(math.comb(rounds, s)) + math.log(ways) + s * math.log(factor))
        return float(np.logaddexp.reduce(found)) if found else -math.inf

    def spoiled(self, rounds: int, share: float, n: int) -> float:
        """Return a bound on the chance that more than a share of the distribution is spoiled."""
        log = self.log_ways(rounds) + n * math.log1p(share * math.expm1(-self.rate_at(rounds)))
        return math.exp(min(0.0, log))

    def left(self, rounds: int, level: float, n: int) -> float:
        """Return a bound on the chance that `level` n examples or more are left after all rounds."""
        kept = 1 - 1 / self.k
        # Their ratio is nearer to 1 than that of what a good set leaves, so that rounding up does not stop the chain.
        steps = min(MOST_LEVELS, max(LEVELS, EACH * self.k))
        levels = np.array([*(level ** (1 - i / steps) for i in range(steps)), 1.0])
        # From at most the level of a row, more than that of a column, or `level` itself for the first one.
        above = np.concatenate([levels[:1], levels[:-1]])
        excess = np.maximum(0.0, above[None, :] - kept * levels[:, None]) * n * self.rate_at(rounds)
        _, factor = self._noise_factors
        odds = self.rivals * factor * np.exp(-excess)
        tails = np.where(excess > 0, odds / (1 + odds), 1.0)
        # What is left does not grow.
        tails = np.tril(tails)
        chance = np.ones(steps + 1)
        for _ in range(rounds):
            chance = tails @ np.diff(chance, prepend=0.0)
        return float(min(1.0, chance[-1]))

    def unseen(self, share: float, level: float, n: int) -> float:
        """Return a bound on the chance that a region of that probability that may be left has fewer than level n."""
        if level >= share:
            return 1.0
        tilt = math.log(share * (1 - level) / (level * (1 - share)))
        log = math.log(self.answers) + n * (math.log1p(share * math.expm1(-tilt)) + tilt * level)
        return math.exp(min(0.0, log))

    def missed(self, rounds: int, share: float, n: int) -> float:
        """Return a bound on the chance that a region of more than that probability is left in all rounds; else 1.

        For k = 1 and a given J. A region with N examples is left by each round with probability psi(M exp(-a N)) at
        most, N ~ Bin(n, share).
        """
        if self.k > 1 or not self.rounds:
            return 1.0
        counts, chance = likely_counts(n, share)
        odds = self.rivals * self._noise_factors[1] * np.exp(-self.rate_at(rounds) * counts)
        mean = float(chance @ (odds / (1 + odds)) ** rounds) + max(0.0, 1 - float(chance.sum()))
        return min(1.0, self.answers * mean)

    def failing(self, rounds: int, alpha: float, share: float, level: float, n: int) -> float:
        """Return the sum of the bounds for J rounds, with a share u for what is spoiled and a level t."""
        rest = alpha - share
        left = min(self.left(rounds, level, n) + self.unseen(rest, level, n), self.missed(rounds, rest, n))
        return min(1.0, self.spoiled(rounds, share, n) + left)

    def choices(self, alpha: float, n: int) -> tuple[float, float]:
        """Return the u and t of a grid at which the sum of the bounds is least for n examples."""
        rounds = self.at(n)
        shares = [alpha * i / SHARES for i in range(1, SHARES)]
        chains = {share / 2: self.left(rounds, share / 2, n) for share in shares}
        best = (2.0, alpha / 2, alpha / 4)
        for share in shares:
            spoiled = self.spoiled(rounds, share, n)
            if spoiled >= best[0]:
                continue
            missed = self.missed(rounds, alpha - share, n)
            for level, left in chains.items():
                total = spoiled + min(missed, left + self.unseen(alpha - share, level, n))
                best = min(best, (total, share, level))
        return best[1:]

    def upper(self, alpha: float, share: float, level: float, n: int) -> float:
        """Return a bound for n examples or more; see `_beyond` for a number of rounds that grows with n."""
        rounds = self.at(n)
        found = [self.failing(rounds, alpha, share, level, n)]
        if not self.rounds:
            found += self._beyond(alpha, share, level, n)
        return max(found)

    def _beyond(self, alpha: float, share: float, level: float, n: int) -> Iterator[float]:
        """Yield bounds for all larger numbers of rounds, each at the least n that has it, and last one for all further.

        With g = exp((J - 1)/(2 k)) <= n and the rate e/J: 2 (J B)^S exp(-e u g/(2 J)) + J M exp(-e t g/(2 J k)) and
        the last term of three bound the sum for a level t >= 2 (1 - 1/k)^J. They fall with J from where on J >= 4 k,
        e u g >= 8 k S and e t g >= 8 k^2.
        """
        k = self.k
        for rounds in range(self.at(n) + 1, self.at(n) + FURTHER * k):
            g = math.exp((rounds - 1) / (2 * k))
            size = max(n, math.floor(g) + 1)
            falls = rounds >= 4 * k and level >= 2 * (1 - 1 / k) ** rounds and self.bad * rounds >= 2
            falls = falls and self.rate * share * g >= 8 * k * self.chain and self.rate * level * g >= 8 * k * k
            if falls:
                first = self.chain * math.log(rounds * self.bad) - self.rate * share * g / (2 * rounds)
                second = math.log(rounds * self.rivals) - self.rate * level * g / (2 * rounds * k)
                crude = 2 * math.exp(first) + math.exp(second) + self.unseen(alpha - share, level, size)
                if crude <= SMALL:
                    yield crude
                    return
            yield self.failing(rounds, alpha, share, level, size)
        yield 1.0

    def numbers(self, share: float, level: float) -> Mapping[str, float]:
        """Return what the certificate states."""
        return {
            "k": self.k, "rate": self.rate, "rounds": self.rounds, "rivals": self.rivals, "bad": self.bad,
            "chain": self.chain, "answers": self.answers, "distinct": int(self.distinct), "scale": self.scale,
            "offset": self.offset, "ways": self.ways, "share": share, "level": level,
        }  # fmt: skip


# Larger products of the states of a domain and the squares of the number of sets are not gone through.
MOST_STATES = 2**25


def spoiling_ways(cover: Labels, shares: Floats, rounds: int, *, single: bool, noisy: bool) -> float:
    """Return a bound on the sum of N_s over all ways to spoil, for the worst target of one set, or set of a target.

    `cover` (sets, points) says which points of the domain each set covers, `shares` are the measures. Let f(C, j) be
    the most that j more rounds add where C is covered and not too much is spoiled yet, G(C) the measure of the sets
    that cover all that is left of the target and spoil nothing new, which have score 0 at least, and

        S(C, j) = sum over the h that spoil something new of mu(h)/G(C) max{1, f(C + h, j - 1)}:

    whether too much is spoiled after h depends on the distribution, and the maximum is no less for any. Sets that spoil
    nothing make C larger, and with it G; so each sequence of sets that spoil has its greatest weight without them. If
    the target is covered, f(C, j) = f(C, j - 1) + S(C, j). Else each round finishes it with G(C) exp(a q(h)) times the
    probability of an h over mu(h), and it is finished once: over all rounds before that the h have the weight of one
    round, f(C, j) = S(C, j) + f(C + target, j - 1). With noise, with which that does not hold, as if it were covered.

    Of a target of several sets one has a score of 0 at least, so that G is the least measure; fewer points are of the
    other label than outside of one set. 0 where the domain or the number of sets is too large.
    """
    sets, points = cover.shape
    if points > 16 or sets**2 << points > MOST_STATES:
        return 0.0
    masks = cover.astype(np.int64) @ (1 << np.arange(points))
    states = np.arange(1 << points)
    after = states[:, None] | masks[None, :]
    most = 0.0
    for target in masks.tolist():
        spoils = (after & ~states[:, None] & ~target) != 0
        good = (after & target == target) & ~spoils
        least = good @ shares if single else np.full(len(states), shares.min())
        weights = np.where(spoils, shares[None, :] / least[:, None], 0.0)
        # The state from which a round without new spoils goes on.
        onwards = states | target if single and not noisy else states
        adds = np.zeros(len(states))
        for _ in range(rounds):
            adds = adds[onwards] + (weights * np.maximum(1.0, adds[after])).sum(axis=1)
        most = max(most, float(adds[0]))
    # Rounded up; where no set spoils anything the sum is 0, which would say that it is not given.
    return max(most, 1e-300) * (1 + 1e-9)


def covering_failure(covering: Covering, alpha: float, n: int) -> WorstFailure:
    """Return the upper end for n examples or more; no case is offered."""
    if n < 1:
        raise InputError.of("n", n, "at least 1")
    share, level = covering.choices(alpha, n)
    upper = covering.upper(alpha, share, level, n)
    return WorstFailure(0.0, upper, CaseFamily.COVERS, covering.numbers(share, level), _PROOF, _MISSING)


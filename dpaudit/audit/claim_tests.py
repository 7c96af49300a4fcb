"""The tests that fresh runs decided: counts of guessed coins, of hits of an event, and of a claim that is a curve."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import UNSET, UnsetType

from dpaudit.bounds import coin
from dpaudit.bounds.base import Array, Bools
from dpaudit.bounds.melded import Melded
from dpaudit.contract import CurveClaim, Direction
from dpaudit.events.event import Event
from dpaudit.record import Amount, Count, Frozen, NonNegative, Probability, Share, Size

# The names of the bounds of counts.
COIN = "coin"
MELDED = "melded"


class CoinCount(Frozen, frozen=True):
    """Guesses of the coins that decided which input each run was made on.

    Attributes
    ----------
    right, guesses : int
        Right guesses, and all of them. Their number was fixed before the runs that confirm. Only for batches with
        delta = 0 do all runs count for which a coin was guessed, and at least one.
    filled : int
        Of these, guesses at further coins, in the place of runs whose outputs were in neither set.
    """

    right: Count
    guesses: Size
    filled: Count = 0

    @classmethod
    def of(cls, right: int, made: int, number: int, fair: np.random.Generator) -> CoinCount:
        """Return the count of `made` guesses, and of guesses at `fair` coins in the place of those that are missing."""
        missing = number - made
        return cls(right + int(fair.binomial(missing, 0.5)), number, missing)

    @classmethod
    def of_order(cls, right: Bools, number: int, fair: np.random.Generator) -> CoinCount:
        """Return the count of the first guesses, so many of them, given whether each is right."""
        return cls.of(int(right[:number].sum()), min(len(right), number), number, fair)

    @classmethod
    def of_sides(cls, right: int, wrong: int, number: int | None, rng: np.random.Generator) -> CoinCount:
        """Return the count of guesses of independent runs: of all of them, one at least, or of so many at random."""
        if number is None:
            number = max(1, right + wrong)
        if right + wrong > number:
            # Which of independent runs count, chance decides: none of them comes first.
            return cls(int(rng.hypergeometric(right, wrong, number)), number)
        return cls.of(right, right + wrong, number, rng)


def p_value(
    hits: tuple[int, int],
    runs: tuple[int, int],
    count: CoinCount | UnsetType,
    *,
    epsilon: float,
    delta: float,
    sides: int = 1,
) -> float:
    """Return the p-value of a claim that counts give: the least error at which `lower_bound` exceeds its epsilon.

    Up to rounding, as both err to the safe side.
    """
    if count is UNSET:
        (hit, other) = hits
        (first, second) = runs
        return float(Melded().p_value(hit, first, other, second, epsilon=epsilon, delta=delta))
    extra = sum(runs) * delta * sides / 2
    return float(coin.p_value(count.right, count.guesses, epsilon, delta_runs=extra))


def bounds_of_hits(
    hits: Sequence[tuple[int, int]], runs: Sequence[tuple[int, int]], *, delta: float, error: float
) -> Array:
    """Return the melded bounds of several events, all with this probability of error, in a quarter of the time."""
    likelier, other = zip(*hits, strict=True)
    first, second = zip(*runs, strict=True)
    return Melded().epsilon_lower(likelier, first, other, second, delta=delta, gamma=error)


def lower_bound(
    hits: tuple[int, int],
    runs: tuple[int, int],
    count: CoinCount | UnsetType,
    *,
    delta: float,
    error: float,
    sides: int = 1,
) -> float:
    """Return the lower confidence bound on epsilon that counts give, with this probability of error.

    It is that of the guesses of coins, which name the coins of so many `sides`, where coins were guessed; else the
    melded bound of the hits of an event among the runs, those of the likelier side first. Audits, certificates and all
    that reads a stored finding derive bounds here.
    """
    if count is UNSET:
        return float(bounds_of_hits([hits], [runs], delta=delta, error=error)[0])
    # Of m runs the claim allows m delta further right guesses in expectation, and half as many of guesses that name one
    # side alone. They cannot be subtracted from the count: the exact term is the theorem in `bounds.coin`.
    extra = sum(runs) * delta * sides / 2
    return float(coin.epsilon_lower(count.right, count.guesses, error, delta_runs=extra))


class EventTest(Frozen, frozen=True):
    """One of the events that fresh runs tested, and its own lower bound.

    Attributes
    ----------
    event : Event
        The event.
    error : float
        The error probability of its bound: its share of that of the verdict.
    hits, neighbour_hits : int
        Confirmation runs in the event, on the side where it is likelier and on the other one.
    epsilon_lower : float
        The bound.
    direction : {"forward", "backward"}
        The side on which the event is likelier.
    opposite : Event
        The set of outputs that speaks for the other side, if there is one.
    count : CoinCount
        The count that the bound is of, where coins were guessed; else it is of the hits.
    """

    event: Event
    error: Share
    hits: Count
    neighbour_hits: Count
    epsilon_lower: NonNegative
    direction: Direction = Direction.FORWARD
    opposite: Event | UnsetType = UNSET
    count: CoinCount | UnsetType = UNSET

    def lower(self, runs: tuple[int, int], delta: float) -> float:
        """Return the bound that the counts give, of so many runs on the likelier side and on the other."""
        hits = (self.hits, self.neighbour_hits)
        sides = 2
        if self.opposite is UNSET:  # the guess names one side alone
            sides = 1
        return lower_bound(hits, runs, self.count, delta=delta, error=self.error, sides=sides)

    def p_value(self, runs: tuple[int, int], epsilon: float, delta: float) -> float:
        """Return the p-value of a claim that the counts give, of so many runs on the likelier side and on the other."""
        hits = (self.hits, self.neighbour_hits)
        sides = 2
        if self.opposite is UNSET:  # the guess names one side alone
            sides = 1
        return p_value(hits, runs, self.count, epsilon=epsilon, delta=delta, sides=sides)


class HolderEvidence(Frozen, frozen=True):
    """The outcome of a test by Holder's inequality of a claim of Renyi or zero-concentrated privacy.

    Attributes
    ----------
    alpha, epsilon : float
        The order that training chose, and what the claim says of it: D_alpha <= epsilon, both of the law on data from
        that on the neighbour and the other way round.
    log_evidence : float
        The logarithm of the evidence of the fresh runs, whose mean is at most 1 under the claim.
    error : float
        The error of the test, which refutes the claim where log_evidence >= -ln(error).
    """

    alpha: float
    epsilon: Amount
    log_evidence: float
    error: Share

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted."""
        return self.log_evidence >= -math.log(self.error)

    @property
    def p_value(self) -> float:
        """The p-value: 1 / evidence, as the mean of the evidence is at most 1 under the claim."""
        return min(1.0, math.exp(-max(0.0, self.log_evidence)))


class CurveTest(Frozen, frozen=True):
    """The test of a claim that is a curve; the finding's `epsilon` and `delta` are the point of it that was tested.

    Attributes
    ----------
    claim : CurveClaim
        The claim.
    delta_lower : float
        A lower confidence bound on delta at the finding's `epsilon`, with the error of the event's test; 0 in the
        sequential design, which bounds epsilon at the finding's `delta`.
    mu_lower : float or None
        The bound on the mu of Gaussian privacy that follows, where the claim is Gaussian.
    detectable_mu : float or None
        The least true mu that would have been detected on an event as likely as the one tested, with probability about
        0.95, where the claim is Gaussian; infinite if none would.
    detectable_shortfall : float or None
        By what share Gaussian noise must be too small for the test by Holder's inequality to refute the claim with that
        probability, about, were the output one number; infinite if half of the noise is not too little.
    holder : HolderEvidence or None
        The test by Holder's inequality, where the claim is one of Renyi or zero-concentrated privacy.
    detectable_mass : float
        The probability, on the unlikelier side, of the event on which `detectable_mu` is stated, where on the event
        tested no mu would be detected.
    """

    claim: CurveClaim
    delta_lower: Probability
    mu_lower: Amount | None = None
    detectable_mu: NonNegative | None = None
    detectable_shortfall: NonNegative | None = None
    holder: HolderEvidence | None = None
    detectable_mass: Share | UnsetType = UNSET

    @property
    def by_holder(self) -> bool:
        """Whether Holder's inequality refutes the claim."""
        return self.holder is not None and self.holder.refuted


def refutes(epsilon_lower: float, epsilon: float, tested: CurveTest | None) -> bool:
    """Return whether a bound, or the test of a claim that is a curve, refutes the claim."""
    return epsilon_lower > epsilon or (tested is not None and tested.by_holder)

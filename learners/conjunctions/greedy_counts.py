"""Greedy searches for literals: the examples that remain, what each literal contradicts, and a case of two points.

On that case the learner fails by missing the only literal that matters. The target is v_1, over d variables. The point
1 .. 1 is positive; the point 0 1 .. 1 is negative and has a little more than alpha of the mass, alpha < 1/2. An answer
errs by more than alpha unless v_1 is in it and no negated literal is: without either it accepts the negative point, and
with a negated literal it refuses the positive one. The four kinds of literals contradict

    v_1: the negative point            not v_1: the positive point
    v_2 .. v_d: neither of them        not v_2 .. not v_d: both

so that with m negative examples of n, as long as nothing but v_2 .. v_d was chosen, all counts are those of the start;
and once v_1 was chosen no negative example is left, and v_1 .. v_d contradict nothing any more. With p_1 and p_0 the
probabilities of v_1 and of v_2 .. v_d in a round before, and s that of no negated literal in a round after,

    Pr[success | m] = sum over t = 1 .. J of p_0^(t-1) p_1 s^(J-t) = p_1 s^(J-1) (1 - q^J) / (1 - q),  q = p_0 / s,

and m ~ Bin(n, mass). It is a lower bound for the failure rate in the worst case, for each k >= 1: v_1 is a conjunction
of at most k literals. The scores of other rounds depend on k all the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import InputError, Sample, count_steps

from ..arrays import Floats, Integers, Labels
from ..finite.worst_case import likely_counts

# The most cells of the sample that one matrix product looks at.
PRODUCT = 2**16


Whole = NDArray[np.float32] | NDArray[np.float64] | NDArray[np.int64]
"""Arrays of integers, stored exactly in the narrowest of these types."""


@dataclass(frozen=True)
class Remaining:
    """The examples that no chosen literal contradicts.

    `rows` (r,) are their rows in the sample, `totals` (2,) how many there are with label 0 and with label 1, as whole
    numbers, and `ones` (2, d) how many of these have a 1 in each coordinate.
    """

    rows: NDArray[np.int32]
    totals: Whole
    ones: Whole


class GreedyCounts:
    """Counts of a sample, kept up to date while literals are chosen.

    Each choice costs the smaller of the examples deleted and those left, so a whole run costs about one pass.

    The sample has points of the Boolean cube. Scores are multiplied by k, which makes them integers; `idle` says
    whether choosing no literal is a candidate, the last one.
    """

    def __init__(self, sample: Sample, k: int, *, idle: bool) -> None:
        self._k = k
        self._idle = idle
        bits = sample.points.astype(np.uint8)
        by_label = np.stack([np.where(sample.labels == y, sample.counts, 0) for y in (0, 1)])
        self._columns: Labels = np.ascontiguousarray(bits.T)
        self._points: Whole
        self._weights: Whole
        # The narrowest type in which all partial sums, integers of at most n, are exact.
        if sample.n < 2**24:
            self._points = bits.astype(np.float32)
            self._weights = by_label.astype(np.float32)
        elif sample.n < 2**53:
            self._points = bits.astype(np.float64)
            self._weights = by_label.astype(np.float64)
        else:
            self._points = bits.astype(np.int64)
            self._weights = by_label.astype(np.int64)

    def start(self) -> Remaining:
        """Return the whole sample."""
        rows = np.arange(len(self._points), dtype=np.int32)
        return Remaining(rows, self._weights.sum(axis=1), self._sums(rows))

    def _sums(self, rows: NDArray[np.int32]) -> Whole:
        """Return how many of these rows, with their weights, have a 1 in each coordinate, (2, d), by label.

        Small products stay on one thread: on a busy machine the threads of a large one wait for each other.
        """
        count_steps("cells looked at", len(rows) * self._points.shape[1])
        step = max(1, PRODUCT // self._points.shape[1])
        sums: Whole = np.zeros((2, self._points.shape[1]), dtype=self._points.dtype)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            sums += self._weights[:, part] @ self._points[part]
        return sums

    def after(self, state: Remaining, literal: int) -> Remaining:
        """Return what remains when the examples that `literal` contradicts are deleted."""
        # The rows of one column are looked at.
        count_steps("cells looked at", len(state.rows))
        # v_i is false where x_i = 0, not v_i where x_i = 1.
        deleted = self._columns[literal // 2][state.rows] == literal % 2
        rows = state.rows[~deleted]
        if len(rows) == len(state.rows):
            return state
        # The smaller part is summed: what remains, or what is deleted, to be subtracted from the sums so far.
        few = rows if 2 * len(rows) <= len(state.rows) else state.rows[deleted]
        totals = self._weights[:, few].sum(axis=1)
        ones = self._sums(few)
        if few is rows:
            return Remaining(rows, totals, ones)
        return Remaining(rows, state.totals - totals, state.ones - ones)

    def scores(self, state: Remaining) -> Integers:
        """Return k q(l) for the literals v_1, not v_1, v_2, ... and, where it is a candidate, for none of them."""
        contradicted = self.contradicted(state)
        total = int(state.totals[0])
        # k min{c_0 - |S0|/k, -c_1}: times k it is an integer.
        scores = np.minimum(self._k * contradicted[0] - total, -self._k * contradicted[1])
        return np.append(scores, -total) if self._idle else scores

    def contradicted(self, state: Remaining) -> Integers:
        """Return how many examples each literal contradicts, (2, 2 d), by label."""
        count_steps("cells looked at", 2 * self._points.shape[1])
        # v_i is contradicted by the examples with x_i = 0, not v_i by those with x_i = 1.
        ones = state.ones.astype(np.int64)
        totals = state.totals.astype(np.int64)
        return np.stack([totals[:, None] - ones, ones], axis=2).reshape(2, -1)


# Up to this many numbers of negative examples each is looked at, beyond them so many, and the rest lies between.
EXACT = 64
# Numbers of negative examples that are further from their mean have a probability of less than 1e-15.
DEVIATIONS = 9.0
# Panels of 16 nodes each, over 40 scales of the noise on either side: what is left out has 1e-17 of the mass.
PANELS = 40
NODES = 16


@dataclass(frozen=True)
class Rounds:
    """The rounds of a greedy learner, each of which chooses l with probability proportional to exp(rate q(l)).

    q(l) = min{c_0 - b/k, -c_1}, for a literal that contradicts c_0 negative and c_1 positive examples of those left; b
    is the number of negative examples left, with Laplace noise of a scale and less an offset.

    `rounds` is J, `dimension` d, and `rate` the inverse temperature; `idle` candidates contradict nothing, beside the
    literals. `scale` and `offset` are those of the noise; scale 0 for none.
    """

    rounds: int
    dimension: int
    k: int
    rate: float
    idle: int = 0
    scale: float = 0.0
    offset: float = 0.0

    def success(self, negative: float, positive: float) -> float:
        """Return the probability that v_1 is chosen, and no negated literal, on so many examples of either label."""
        d = self.dimension
        idle = self.idle
        # In the order of the module's table: v_1; v_2 .. v_d and the idle one; not v_1; the other negations.
        before = self._chances(negative, positive, [(1, 1, 0), (d - 1 + idle, 0, 0), (1, 0, 1), (d - 1, 1, 1)])
        # Without negative examples v_1 .. v_d contradict nothing, and all negations the positive point.
        after = self._chances(0.0, positive, [(d + idle, 0, 0), (d, 0, 1)])
        stays = float(after[0])
        ratio = float(before[1]) / stays
        # (1 - q^J)/(1 - q), the sum of the q^t over the rounds before the one that chooses v_1.
        if ratio == 1:
            total: float = self.rounds
        elif ratio:
            total = -math.expm1(self.rounds * math.log(ratio)) / (1 - ratio)
        else:
            total = 1
        return float(before[0]) * stays ** (self.rounds - 1) * total

    def _chances(self, negative: float, positive: float, kinds: list[tuple[int, int, int]]) -> Floats:
        """Return the probabilities of kinds of candidates: how many, and whether they contradict either point."""
        counts, covers, spoils = (np.array(column, dtype=np.float64)[:, None] for column in zip(*kinds, strict=True))
        left, weights = self._estimates(negative, positive)
        scores = np.minimum(covers * negative - left / self.k, -spoils * positive)
        with np.errstate(divide="ignore"):  # kinds of which there are none
            logs = np.log(counts) + self.rate * scores
        odds = np.exp(logs - logs.max(axis=0))
        return np.asarray((odds / odds.sum(axis=0)) @ weights)

    def _estimates(self, negative: float, positive: float) -> tuple[Floats, Floats]:
        """Return values of b and their weights; the scores have corners where b/k is the sum of two counts."""
        if not self.scale:
            return np.array([negative]), np.ones(1)
        reach = PANELS * self.scale
        # The scores min{c_0 - b/k, -c_1} bend where b = k (c_0 + c_1); the panels end there, so that each integrand is
        # smooth.
        sums = np.array([0.0, negative, positive, negative + positive])
        corners = np.append(self.k * sums - negative + self.offset, 0.0)
        cuts = np.unique(np.concatenate([np.linspace(-reach, reach, PANELS + 1), np.clip(corners, -reach, reach)]))
        nodes, weights = _gauss_nodes()
        halves = np.diff(cuts)[:, None] / 2
        noise = ((cuts[:-1] + cuts[1:])[:, None] / 2 + halves * nodes).ravel()
        density = np.exp(-np.abs(noise) / self.scale) / (2 * self.scale)
        return negative + noise - self.offset, (halves * weights).ravel() * density


@cache
def _gauss_nodes() -> tuple[Floats, Floats]:
    """Return the nodes and weights of a panel, which take longer to find than all else of a round."""
    return np.polynomial.legendre.leggauss(NODES)


def missed_failure(rounds: Rounds, alpha: float, n: int) -> tuple[float, str]:
    """Return Pr[error > alpha] of the rounds on n examples of the case above, and the case in words.

    Where many numbers of negative examples are likely the logarithm of the odds of success is interpolated between some
    of them, by monotone cubics.

    `InputError` if alpha is 1/2 or more: errors on the positive point may then be too rare.
    """
    from scipy.interpolate import PchipInterpolator
    from scipy.special import expit, logit

    if alpha >= 0.5:
        raise InputError.of("alpha", alpha, "below 1/2, for a failure rate that is computed")
    # A little above alpha, so that a wrong negative point is an error above alpha, and below 1/2.
    mass = alpha + min(alpha, 0.5 - alpha) / 1000
    numbers, chances = likely_counts(n, mass, DEVIATIONS, DEVIATIONS)
    # The chance of success varies smoothly with the number of negative examples.
    if len(numbers) <= EXACT:
        some = numbers
    else:
        some = np.unique(np.linspace(numbers[0], numbers[-1], EXACT).round())
    found = np.array([rounds.success(float(m), float(n - m)) for m in some])
    if len(some) < len(numbers):
        odds = logit(np.clip(found, 1e-300, 1 - 2.0**-52))
        found = expit(PchipInterpolator(some, odds)(numbers))
    words = f"v_1 over {rounds.dimension} variables; mass {mass:.6g} on 0 1 .. 1, the rest on 1 .. 1"
    return float(chances @ (1 - found)), words

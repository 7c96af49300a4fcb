"""Boxes by interior points, one for each face, and their failure rate on a hard case.

The hard case, for any d: the target is the whole grid. Each face has one point with 1.001 alpha/(2 d) of the mass, its
other coordinates in the middle, and the middle of the grid has the rest. An answer errs by more than alpha if it misses
every face, or the middle. The former makes it hard: each call must miss with a probability near 1, so that about half
of what it sees must be at its face, and n is about d m/alpha.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np

from dpaudit.contract import CaseFamily, InputError, Instance, Law, PrivacyClaim, Sample, UtilityClaim, WorstFailure

from ..arrays import Floats, Integers
from ..citations import STE
from ..domains import Grid, moving_negatives
from ..finite.counting import ClassLearner, as_codes
from ..finite.worst_case import likely_counts
from ..interior_points.interior_point import Solver, check_variant, make_solver
from ..mechanisms.composition import Cost, best, largest_share
from ..mechanisms.log_laws import ULP, greatest, log_above, log_below, log_mixture, placed
from ..mechanisms.steps import Multiset, extremes
from ..parameters import Built, check_integer, check_law, check_own_beta, check_parameters, check_run, check_statement
from .concepts import Boxes

SOURCE = f"{STE}, private boxes by interior points"
# The most products of ends for which the exact law is computed.
LAW_BOXES = 2**16
# Larger numbers m of values in a call are not gone through one by one.
MOST_VALUES = 2**18

_PROOF = (
    "an error above alpha needs a face that leaves out the thinnest slab of mass above alpha/(2 d), or a count that "
    "stops the learner; the number of examples there is binomial, and given it the call has an exact tail"
)
_MISSING = (
    "the chance that faces together leave out alpha, in the place of that of one with alpha/(2 d), or a case in which "
    "one face is enough"
)


@dataclass(frozen=True)
class BoxInteriorPoint(ClassLearner):
    """Learn boxes by 2 d interior points, one for each face, after a noisy count of the positive examples.

    1. If #positives + Lap(1/epsilon1) < m, return the empty box.
    2. For each axis i, A_i is an interior point of the m smallest i-th coordinates of positive examples (padded with
       `side`), B_i one of the m largest (padded with 0). Return the box of all [A_i, B_i].

    Privacy. The count has sensitivity 1; the data of every call change in at most one value (see
    `mechanisms.steps.extremes`), for any sample. The claim is computed from the 2 d + 1 calls by basic or advanced
    composition, whichever is better; the budget is divided so that they fill it. `literal=True` does what the lecture
    says: the positives are counted without noise and only the 2 d interior points are paid for.

    Utility. If a box labels the sample and all calls succeed, A_i is at least the least positive coordinate and B_i at
    most the greatest: no negative example is inside. With the padding that holds for fewer than m positives too. A call
    misses fewer than m positives: those beyond A_i are among its m. So at most 2 d (m - 1) positive examples are
    mislabelled, or all of them, at most m + ln((2 d + 1)/(2 b))/epsilon1, if the count stops the learner.

    Parameters
    ----------
    side, dimension : int
        Of the grid {0 .. side}^dimension; side at most 2^63.
    epsilon : float
        > 0.
    beta : float
        b in (0, 1): each of the 2 d + 1 calls fails with probability at most b/(2 d + 1).
    delta : float, optional
        In (0, 1). Makes the claim approximate: for advanced composition, and for the variants that need it.
    variant : {"exponential", "rec-concave", "tree-log"}
        Who finds the interior points.
    literal : bool
        Whether to count the positives exactly and free of charge, as the text does.
    """

    side: int
    dimension: int
    epsilon: float
    beta: float
    delta: float | None = None
    variant: str = "exponential"
    literal: bool = False

    id: ClassVar[str] = "box-interior-point"
    instance: ClassVar[Instance] = Instance({"side": 2, "dimension": 1, "epsilon": 4.0, "beta": 0.8}, n=8, beta=0.9)
    audited: ClassVar[tuple[Instance, ...]] = (
        Instance({"side": 2, "dimension": 2, "epsilon": 4.0, "beta": 0.05}, n=8, alpha=0.2, beta=0.1),
    )
    settings: ClassVar[tuple[str, ...]] = ("realizable", "empirical")
    concepts = Built(Boxes)

    def __post_init__(self) -> None:
        _ = self.concepts
        check_parameters(self, side=(1, 2**63))
        check_variant(self.variant, self.delta)

    @property
    def _faces(self) -> int:
        return 2 * self.dimension

    @property
    def _claim_id(self) -> str:
        return "STE-Box2" if self.dimension == 2 else "STE-Boxd"

    def _sized(self, epsilon: Fraction, delta: Fraction) -> tuple[Solver, int]:
        """Return a mechanism that costs (epsilon, delta), and m, how many coordinates it needs and is made for."""
        size = self.side + 1
        # The count and the 2 d calls share beta equally, by the union bound.
        budget = (epsilon, delta, self.beta / (self._faces + 1))
        # m does not depend on the n that the solver is made for; it is asked first, and the solver is made for m.
        _, m = make_solver(self.variant, size, 0, *budget)
        return make_solver(self.variant, size, m, *budget)[0], m

    def _shares(self) -> tuple[Fraction, Fraction, Fraction]:
        """Return epsilon and delta of each call, and the slack for advanced composition; the better of two ways."""
        epsilon = Fraction(self.epsilon)
        whole = Fraction(self.delta or 0)
        # What is not kept as the slack is divided over the calls, where these take a delta.
        each = Fraction(0) if self.variant == "exponential" else whole / self._faces
        ways = [(each, Fraction(0))]
        if whole:
            # For advanced composition: half of delta is the slack, the rest goes to the calls that need a delta.
            ways.append((each / 2, whole / 2) if each else (each, whole))
        # Both ways are proved, so that the greater share may be spent.
        shares = [largest_share(epsilon, slack, partial(self._calls, delta=delta)) for delta, slack in ways]
        best_share, (delta, slack) = max(zip(shares, ways, strict=True), key=lambda found: found[0])
        return best_share, delta, slack

    def _calls(self, epsilon: Fraction, delta: Fraction) -> list[Cost]:
        """Return the calls made at that budget for each."""
        tested = [] if self.literal else [Cost(epsilon)]
        return [*tested, *[self._sized(epsilon, delta)[0].cost] * self._faces]

    def _plan(self) -> tuple[Solver, int, float]:
        """Return the mechanism for m coordinates, m, and the scale of the count's noise."""
        epsilon, delta, _ = self._shares()
        return *self._sized(epsilon, delta), 0.0 if self.literal else 1 / float(epsilon)

    @property
    def calls(self) -> list[Cost]:
        """The private calls made."""
        return self._calls(*self._shares()[:2])

    @property
    def m(self) -> int:
        """The number of coordinates that each call sees."""
        return self._plan()[1]

    @property
    def privacy(self) -> PrivacyClaim:
        """The guarantee of all calls together."""
        cost = best(self.calls, self._shares()[2])
        return PrivacyClaim(float(cost.epsilon), float(cost.delta), claim_id=self._claim_id, source=SOURCE)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the codes of `size` independent runs; a list of integers where there are more than 2^63 boxes."""
        check_run(sample, self.domain, size)
        solver, m, scale = self._plan()
        # Step 1, the noisy test of whether there are m positive examples.
        counted = int(sample.counts[sample.labels == 1].sum()) + scale * rng.laplace(0.0, 1.0, size) >= m
        # Step 2, the 2 d interior points: A_1, B_1, A_2, B_2, ...
        faces = [solver.draw(*face, rng, size) for face in self._data(sample, m)]
        boxes = zip(counted, *faces, strict=True)
        # Code 0 is the empty box, for the runs that the count stopped.
        codes = [self.concepts.number(ends[::2], ends[1::2]) if enough else 0 for enough, *ends in boxes]
        return as_codes(codes, self.concepts.size)

    def _data(self, sample: Sample, m: int) -> list[Multiset]:
        """Return for each axis the m smallest coordinates, and the m largest."""
        positive = sample.labels == 1
        ends = ((self.side, False), (0, True))
        return [
            extremes(column, sample.counts[positive], m, padding, largest)
            for column in sample.points[positive].T
            for padding, largest in ends
        ]

    def law(self, sample: Sample) -> Law:
        """Return the law on all boxes, the product over the faces; `InputError` if there are too many."""
        check_law(self, sample)
        if (self.side + 1) ** self._faces > LAW_BOXES:
            raise InputError(
                f"side and dimension must give at most {LAW_BOXES} products of ends for the exact law, got "
                f"{(self.side + 1) ** self._faces}; run has no such limit"
            )
        solver, m, scale = self._plan()
        # ln Pr[enough positives], ln Pr[too few] and a bound on their error.
        positives = int(sample.counts[sample.labels == 1].sum())
        error = 0.0
        if not scale:
            # The literal learner counts without noise.
            enough, few = (0.0, -math.inf) if positives >= m else (-math.inf, 0.0)
        else:
            z = np.array((m - positives) / scale)
            enough = float(log_above(z))
            few = float(log_below(z))
            error = ULP * (4 * abs(float(z)) + 8)
        log_prob = np.zeros(1)
        for face in self._data(sample, m):
            logs, more = solver.log_law(*face)
            error += more + ULP * (greatest(log_prob) + greatest(logs))
            # The faces are independent calls, so their log-probabilities add.
            log_prob = (log_prob[:, None] + logs).ravel()
        error += ULP * (greatest(log_prob) + greatest([enough]))
        log_prob = log_prob + enough
        # The ends are lows and highs in turn; all empty boxes are one.
        ends = Grid(self.side, self._faces).points().tolist()
        codes = np.array([self.concepts.number(row[::2], row[1::2]) for row in ends])
        everything = placed(self.concepts.size, codes[codes > 0], log_prob[codes > 0])
        # The empty box is returned where the count stops the learner, and where a low exceeds its high.
        empty = np.array([few, *log_prob[codes == 0]])
        if empty.max() > -math.inf:
            total, error = log_mixture([0.0] * len(empty), list(empty[:, None]), error)
            everything[0] = total[0]
        return Law(range(self.concepts.size), everything, error)

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta with its sample size.

        "empirical": at most k = max(2 d (m - 1), m + ln((2 d + 1)/(2 b))/epsilon1) examples are mislabelled with
        probability 1 - b, so n >= k/alpha, for any beta from the learner's own b on.

        "realizable": the answer lies inside the target, and an error above alpha needs a face beyond which it leaves
        out more than alpha/(2 d). Cut from the target, at each face, the thinnest slab with probability above alpha/(2
        d): the answer would have to leave it out whole, but it leaves out at most m - 1 examples beyond each face. A
        slab holds at most alpha n/(4 d) examples with probability at most e^(-alpha n/(16 d)) (multiplicative
        Chernoff), and the target, if more likely than alpha, at most alpha n/2 with less. So n >= 2 k/alpha and n >=
        (16 d/alpha) ln((2 d + 1)/(beta - b)) suffice, whatever the domain, for beta above b.
        """
        check_statement(alpha, beta, setting, self.settings)
        check_own_beta(beta, self.beta, "this learner's calls fail", strict=setting == "realizable")
        _, m, scale = self._plan()
        # The most positive examples with which the count may stop the learner.
        uncounted: float = m - 1
        if scale:
            uncounted = m + scale * math.log((self._faces + 1) / (2 * self.beta))
        wrong = max(self._faces * (m - 1), uncounted)
        n = wrong / alpha
        if setting == "realizable":
            n = max(2 * n, 8 * self._faces / alpha * math.log((self._faces + 1) / (beta - self.beta)))
        return UtilityClaim(alpha, beta, max(1, math.ceil(n)), setting, self._claim_id, SOURCE)

    def hard_failure(self, alpha: float, n: int) -> tuple[float, str]:
        """Return the probability that an answer misses the middle or all faces on n examples, and the case in words.

        The count is that of all n examples: below m it stops the learner, whose empty box errs everywhere. The counts
        at the faces are multinomial: independent Poisson counts given that their sum with the rest is n. Where call i
        has probability g_i(k_i), and f_i(x) = sum_k g_i(k) Pois(k) x^k, all of them together have

            sum_t [x^t] (f_low f_high)^d Pr[rest = n - t] / Pr[sum = n].

        Each call is taken to see its face and the middle alone, as it does if the middle has at least m examples.

        `InputError` if the interior points are not found by the exponential mechanism, or there is no middle.
        """
        from scipy.fft import irfft, next_fast_len, rfft
        from scipy.stats import poisson

        if self.variant != "exponential":
            raise InputError.of("variant", self.variant, "'exponential', for a failure rate that is computed")
        check_integer("side", self.side, 2, 2**53)
        _, m, scale = self._plan()
        rate = float(self._shares()[0]) / 2
        middle = self.side // 2
        # Just above alpha over all faces together, so that missing them is a failure.
        mass = 1.001 * alpha / self._faces
        most = min(n, math.ceil(n * mass + TAIL * math.sqrt(n * mass) + TAIL))
        # Independent Poisson counts, given their sum, are the multinomial ones.
        counts = poisson.pmf(np.arange(most + 1), n * mass)
        # Polynomials are multiplied by Fourier transforms; with so many coefficients nothing wraps around.
        length = next_fast_len(self._faces * most + 1, real=True)
        t = np.arange(min(n, self._faces * most) + 1)
        shares = np.exp(poisson.logpmf(n - t, n * (1 - self._faces * mass)) - poisson.logpmf(n, n))
        low = call_probabilities(m, rate, middle - 1, self.side - middle, most)
        high = call_probabilities(m, rate, self.side - middle - 1, middle, most)
        powers = (
            (rfft(a * counts, length) * rfft(b * counts, length)) ** self.dimension
            for a, b in zip(low, high, strict=True)
        )
        # No call beyond the middle, and of these the answers that miss every face: 1 - inside + missed fail.
        inside, missed = (float(irfft(power, length)[: len(t)] @ shares) for power in powers)
        failing = min(max(1 - inside + missed, 0.0), 1.0)
        # The count's part: below m the empty box is returned, which errs everywhere.
        if scale:
            few = math.exp(float(log_below(np.array((m - n) / scale))))
        else:
            few = float(n < m)
        words = f"mass {mass:.6g} on each of {self._faces} faces, the rest in the middle"
        return few + (1 - few) * failing, words

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return an upper end of the failure rate over all cases.

        As for `utility`, an error above alpha needs a face beyond which the thinnest slab of mass above alpha/(2 d) is
        left out whole, a call that is not among its data, or the count. Let k of the m values of a call be in the slab.
        The best of these has a score of min{k, ceil(m/2)}, values beyond the slab m - k at most, and points outside of
        the data 0: the call errs with probability psi((T - 1) exp(-rate (min{k, ceil(m/2)} - m + k))) at most,
        psi(x) = x/(1 + x), T the number of candidates, and 1 where the exponent is positive. That falls with k, and
        k is at least min{m, N} for N ~ Bin(n, alpha/(2 d)). A target of mass alpha at most errs by its calls alone; of
        any other the count sees Bin(n, alpha) examples at least.

        `InputError` if the interior points are not found by the exponential mechanism.
        """
        if self.variant != "exponential":
            raise InputError.of("variant", self.variant, "'exponential', for a bound on all cases")
        _, m, scale = self._plan()
        if m > MOST_VALUES:
            raise InputError(f"m must be at most {MOST_VALUES} for a bound on all cases, got {m}")
        rate = float(self._shares()[0]) / 2
        counts, chance = likely_counts(n, alpha / self._faces)
        k = np.minimum(counts, m)
        lead = np.minimum(k, math.ceil(m / 2)) - (m - k)
        odds = self.side * np.exp(-rate * np.maximum(0.0, lead))
        missed = float(chance @ np.where(lead >= 0, odds / (1 + odds), 1.0)) + max(0.0, 1 - float(chance.sum()))
        counts, chance = likely_counts(n, alpha)
        few = np.exp(log_below((m - counts) / scale)) if scale else (counts < m).astype(np.float64)
        stopped = float(chance @ few) + max(0.0, 1 - float(chance.sum()))
        numbers = {"dimension": self.dimension, "candidates": self.side + 1, "m": m, "rate": rate, "scale": scale}
        upper = min(1.0, self._faces * missed + stopped)
        return WorstFailure(0.0, upper, CaseFamily.FACES, numbers, _PROOF, _MISSING)

    def symmetries(self) -> list[Integers]:
        """Return the permutations of negative examples, and those of the grid where the mechanism has them."""
        grid = super().symmetries() if self.variant == "exponential" else []
        return [*grid, *moving_negatives(self.domain.size)]


# Standard deviations of a count beyond which its probability, below 1e-30, is left out.
TAIL = 12


def call_probabilities(m: int, rate: float, between: int, beyond: int, most: int) -> tuple[Floats, Floats]:
    """Return for k = 0 .. `most` Pr[not beyond the middle] and Pr[that, and not at the face] of a call.

    It sees min(k, m) values at the face and the rest of its m values in the middle. With scores min{#<= x, #>= x} the
    face has weight exp(rate min(k, m)), the middle exp(rate (m - k)), each of the values between both the lesser of the
    two, and each of those beyond the middle 1.
    """
    here = np.minimum(np.arange(most + 1), m).astype(np.float64)
    there = m - here
    # Weights relative to that of a point outside of the data, which is 1: the middle, then the points between it and
    # the face.
    missed = rate * there
    if between:
        missed = np.logaddexp(missed, rate * np.minimum(here, there) + math.log(between))
    inside = np.logaddexp(missed, rate * here)
    total = np.logaddexp(inside, math.log(beyond)) if beyond else inside
    return np.exp(inside - total), np.exp(missed - total)


LEARNERS = (BoxInteriorPoint,)

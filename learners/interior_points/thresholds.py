"""Thresholds learned by the reduction to the interior point problem."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from dpaudit.contract import CaseFamily, InputError, Instance, Law, PrivacyClaim, Sample, UtilityClaim, WorstFailure

from ..arrays import Integers
from ..citations import OURS
from ..finite.counting import ClassLearner, as_codes
from ..finite.worst_case import likely_counts
from ..mechanisms.composition import Cost
from ..mechanisms.steps import Multiset, extremes, interior_scores, merged, of_counter
from ..mechanisms.tree_log import TreeLog
from ..parameters import Built, check_own_beta, check_parameters, check_run, check_sample, check_statement
from ..points.concepts import Thresholds
from .interior_point import (
    LARGEST,
    SKIPPED,
    ExponentialSolver,
    RecConcaveSolver,
    Solver,
    check_variant,
    make_solver,
)

# Up to here e^(epsilon/2) is a float.
MAX_EPSILON = 1000
# Fewer negative examples than so many deviations below their mean are taken for as many.
DEVIATIONS = 6.0
# From this failure rate on fewer examples are taken to have the same.
SURE = 0.99

_PROOF = (
    "the target's own threshold has a score of m at least, and one that errs by more than alpha m - min(m, N) at most, "
    "N examples being in the shortest stretch of mass above alpha; the mean of its odds is exact"
)
_MISSING = "how the two sides of the target differ, where the certificate adds up their odds, or a case with few others"


@dataclass(frozen=True)
class ThresholdInteriorPoint(ClassLearner):
    """Learn thresholds c_j(x) = 1 iff x < j: c_j for an interior point j of the examples nearest to the boundary.

    Say of each example which j it asks for: a positive x is right under c_j iff j >= x + 1, a negative one iff j <= x.
    The data of the interior point problem on {0 .. domain_size} are the m largest x + 1 of positive examples (padded
    with 0) and the m smallest x of negative ones (padded with domain_size).

    Privacy. Replacing an example changes one of each list at most (see `extremes`), for inconsistent samples too. Both
    can change at once, when a label flips, so the interior point mechanism is charged for a group of two: at
    (epsilon0, delta0) a call costs (2 epsilon0, (1 + e^epsilon0) delta0).

    Utility. If c_j* labels the sample, all values of the first list are <= j* and all of the second >= j*. An interior
    point j >= j* errs on negative examples x < j alone; those not in the list are >= its greatest, which is >= j, and
    not all of the list is < j: at most m - 1 errors; likewise for j <= j*. With 2 m at least what the mechanism needs
    for failure probability b (`beta`), the error on the sample is at most (m - 1)/n with probability 1 - b.

    Parameters
    ----------
    domain_size : int
        2 .. 2^(2^14) - 1.
    epsilon : float
        > 0.
    beta : float
        b, in (0, 1).
    delta : float, optional
        In (0, 1); needed by the variants other than "exponential", which is pure.
    variant : {"exponential", "rec-concave", "tree-log"}
        Who finds the interior point.
    """

    domain_size: int
    epsilon: float
    beta: float
    delta: float | None = None
    variant: str = "exponential"

    id: ClassVar[str] = "threshold-interior-point"
    instance: ClassVar[Instance] = Instance({"domain_size": 4, "epsilon": 2.0, "beta": 0.5}, n=4, beta=0.6)
    audited: ClassVar[tuple[Instance, ...]] = (
        Instance({"domain_size": 64, "epsilon": 2.0, "beta": 0.05}, n=4, alpha=0.2, beta=0.1),
    )
    claim_id: ClassVar[str] = "OURS-Thr"
    source: ClassVar[str] = f"{OURS}, the interior point problem"
    settings: ClassVar[tuple[str, ...]] = ("realizable", "empirical")
    concepts = Built(Thresholds)

    def __post_init__(self) -> None:
        check_parameters(self, domain_size=(2, LARGEST - 1))
        check_variant(self.variant, self.delta)
        if self.delta is not None and self.epsilon > MAX_EPSILON:
            raise InputError(
                f"epsilon must be at most {MAX_EPSILON} with a delta, of which a group of two costs 1 + e^(epsilon/2) "
                f"times as much; got {self.epsilon!r}"
            )

    def _share(self) -> tuple[Fraction, Fraction]:
        """Return the mechanism's own (epsilon0, delta0)."""
        # A group of two costs (2 epsilon0, (1 + e^epsilon0) delta0): this share makes that (epsilon, delta).
        epsilon0 = Fraction(self.epsilon) / 2
        if self.delta is None:
            return epsilon0, Fraction(0)
        return epsilon0, Fraction(self.delta) / (1 + Fraction(math.exp(epsilon0)))

    def _plan(self) -> tuple[Solver, int]:
        """Return the interior point mechanism for 2 m points, and m."""
        size = self.domain_size + 1
        epsilon0, delta0 = self._share()
        # What is needed does not depend on n; the solver is then made for the 2 m points.
        _, needed = make_solver(self.variant, size, 0, epsilon0, delta0, self.beta)
        # Half of the points come from each label.
        m = max(1, math.ceil(needed / 2))
        return make_solver(self.variant, size, 2 * m, epsilon0, delta0, self.beta)[0], m

    @property
    def m(self) -> int:
        """The number of examples of each label that the mechanism sees."""
        return self._plan()[1]

    @property
    def calls(self) -> list[Cost]:
        """The private calls made."""
        return [self._plan()[0].cost.for_group(2)]

    @property
    def privacy(self) -> PrivacyClaim:
        """The guarantee of the one call for a group of two."""
        (cost,) = self.calls
        return PrivacyClaim(float(cost.epsilon), float(cost.delta), claim_id=self.claim_id, source=self.source)

    def _data(self, sample: Sample, m: int) -> Multiset:
        positive = sample.labels == 1
        x = sample.points[:, 0]
        # A positive x asks for j >= x + 1, a negative one for j <= x; the m strongest demands of each side.
        largest = extremes(x[positive] + 1, sample.counts[positive], m, 0, largest=True)
        smallest = extremes(x[~positive], sample.counts[~positive], m, self.domain_size, largest=False)
        return merged(largest, smallest)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the codes j of `size` independent runs; a list of integers from 2^63 - 1 points on."""
        check_run(sample, self.domain, size)
        solver, m = self._plan()
        return as_codes(solver.draw(*self._data(sample, m), rng, size), self.domain_size + 1)

    def law(self, sample: Sample) -> Law:
        """Return the law on all thresholds; `InputError` if there are more than 4096."""
        check_sample(sample, self.domain)
        solver, m = self._plan()
        log_prob, error = solver.log_law(*self._data(sample, m))
        return Law(range(self.concepts.size), log_prob, error)

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta with its sample size.

        "empirical": n >= (m - 1)/alpha, for any beta from the learner's own b on.

        "realizable": the error on the sample is at most alpha/2 once n >= 2 (m - 1)/alpha. Thresholds with error above
        alpha on one side of the target all err on the shortest stretch next to the target with probability above alpha,
        and the sample has fewer than alpha n/2 examples there with probability at most e^(-alpha n / 8) (multiplicative
        Chernoff); two sides: n >= (8/alpha) ln(2/(beta - b)), whatever the domain. So beta must exceed b.
        """
        check_statement(alpha, beta, setting, self.settings)
        check_own_beta(beta, self.beta, "this learner's calls fail", strict=setting == "realizable")
        # At most m - 1 errors on the sample: see the class.
        n = (self.m - 1) / alpha
        if setting == "realizable":
            n = max(2 * n, 8 / alpha * math.log(2 / (beta - self.beta)))
        return UtilityClaim(alpha, beta, max(1, math.ceil(n)), setting, self.claim_id, self.source)

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return an upper end of the failure rate over all cases.

        The first m values are at most j*, the other m at least: j* has a score of m or more. A threshold on one side
        that errs by more than alpha is beyond the shortest stretch of mass above alpha next to j*; with N examples
        there min(N, m) of the m values of that side are before it, which leaves it a score of m - min(N, m). There are
        domain_size others in all, so that the failure rate is E psi(B) <= psi(E B) for psi(x) = x/(1 + x) and
        E B <= domain_size E exp(-rate min(N, m)), N ~ Bin(n, alpha).

        `InputError` if the interior point is not found by the exponential mechanism.
        """
        solver, m = self._plan()
        if not isinstance(solver, ExponentialSolver):
            raise InputError.of("variant", self.variant, "'exponential', for a bound on all cases")
        counts, chance = likely_counts(n, alpha)
        mean = float(chance @ np.exp(-solver.rate * np.minimum(counts, m))) + max(0.0, 1 - float(chance.sum()))
        odds = self.domain_size * mean
        numbers = {"candidates": self.domain_size + 1, "m": m, "rate": solver.rate}
        return WorstFailure(0.0, odds / (1 + odds), CaseFamily.THRESHOLD_CALLS, numbers, _PROOF, _MISSING)

    def hard_failure(self, alpha: float, n: int) -> tuple[float, str]:
        """Return the failure rate on a case of two neighbouring points in the middle, and the case in words.

        The greater one, x = j, is negative and has a little more than alpha of the mass, below 1/2; the other one is
        positive. So c_j alone does not fail. The N negative examples, if fewer than m, are filled up with values at the
        far end, so that all of the upper half has the score m - N, against m + N of j. The numbers N are rounded up, by
        2 % at most, few examples are taken for the most that fail nearly always, and the positive ones are taken to be
        m at least: the rate is a lower bound.

        `InputError` for the variant "tree-log", and for alpha from 1/2 on.
        """
        from scipy.stats import binom

        solver, m = self._plan()
        if isinstance(solver, TreeLog):
            raise InputError.of("variant", self.variant, "'exponential' or 'rec-concave', for a failure rate")
        if alpha >= 0.5:
            raise InputError.of("alpha", alpha, "below 1/2, for a failure rate that is computed")
        mass = alpha + min(alpha, 0.5 - alpha) / 1000
        least = max(0, min(m, math.floor(n * mass - DEVIATIONS * math.sqrt(n * mass))))
        grid = [negative for negative in _grid(m) if negative >= least]
        below = binom.cdf([least - 1, *grid[:-1], n], n, mass)
        failing = 0.0
        rate = 0.0
        # From the most examples on; those of the last number, m, are m or more.
        for negative, chance in zip(reversed(grid), reversed(np.diff(below).tolist()), strict=True):
            if rate < SURE and chance > 0:
                rate = max(rate, _missed(solver, self.domain_size, m, negative))
            failing += chance * rate
        words = f"mass {mass:.6g} on the negative one of two neighbouring points, the rest on the positive one"
        return failing, f"{words}; a lower bound for the failure rate"

    def symmetries(self) -> list[Integers]:
        """Return the symmetries of thresholds, where the mechanism has them."""
        if self.variant == "exponential":
            return super().symmetries()
        return []


@lru_cache(maxsize=2**12)
def _missed(solver: ExponentialSolver | RecConcaveSolver, domain_size: int, m: int, negative: int) -> float:
    """Return the probability of another threshold than that between the points, on m positive examples."""
    middle = domain_size // 2
    counts = Counter({middle: m + negative, domain_size: m - negative})
    scores = interior_scores(*of_counter(counts), domain_size + 1)
    if isinstance(solver, ExponentialSolver):
        return scores.outside(solver.rate, middle, middle)
    # Widths that are left out count as failures.
    return max(0.0, solver.concave.outside(scores, middle, middle, SKIPPED) - SKIPPED)


def _grid(m: int) -> list[int]:
    """Return numbers 0 .. m, each at most 2 % above the one before, or 1."""
    numbers = [0]
    while numbers[-1] < m:
        numbers.append(min(m, max(numbers[-1] + 1, numbers[-1] * 51 // 50)))
    return numbers


LEARNERS = (ThresholdInteriorPoint,)

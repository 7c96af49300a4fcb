"""Parity learners: Gaussian elimination (not private) and the private learner that eliminates a random subsample."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import FAIL, InputError, Instance, Law, PrivacyClaim, Sample, UtilityClaim
from learners.citations import NIS
from learners.domains import Cube, grid_rows
from learners.finite.generic import Deterministic, consistent_size, occam_sample_size, point_law
from learners.inputs import check_run, check_sample
from learners.parameters import check_integer, check_positive, check_probability
from learners.parities.concepts import Parities, Parity
from learners.parities.exact import rational_law
from learners.parities.gf2 import MAX_DIMENSION
from learners.parities.law import log_law
from learners.parities.subsample import Subsampler, equations_of
from learners.symmetries import moving_points

__all__ = [
    "LAW_DIMENSION",
    "LEARNERS",
    "MAX_EPSILON",
    "ParityElimination",
    "ParityLearner",
    "ParityPrivate",
    "check_law_dimension",
    "general_linear_symmetries",
]

LAW_DIMENSION_ELIMINATION = 16
LAW_DIMENSION = 6

MAX_EPSILON = 3.830016096309
"""Where ln((1 + e/4) / (1 - e/4)) = e: for a larger epsilon < 4 the slides' learner leaks more than epsilon."""


def check_law_dimension(dimension: int, limit: int) -> None:
    """Raise `InputError` if the exact law of a parity learner would be too large a table."""
    if dimension > limit:
        raise InputError(f"dimension must be at most {limit} for the exact law, got {dimension}; run has no such limit")


class ParityLearner:
    """What the parity learners share: codes are integers with bit i = r_i."""

    dimension: int

    settings: ClassVar[tuple[str, ...]] = ("realizable", "empirical")

    @property
    def domain(self) -> Cube:
        """The Boolean cube."""
        return Cube(self.dimension)

    @property
    def concepts(self) -> Parities:
        """All 2^dimension parities."""
        return Parities(self.dimension)

    def decode(self, code: int) -> Parity | None:
        """Return c_r, None for `FAIL`."""
        return None if code == FAIL else self.concepts.concept(code)


@dataclass(frozen=True)
class ParityElimination(ParityLearner, Deterministic):
    """Solve <r, x> = y over GF(2) for all examples; the particular solution, `FAIL` if there is none. Not private.

    Pivots are leftmost and free variables 0. A consistent learner: n >= (d ln 2 + ln(1/beta))/alpha suffices for
    Pr[error > alpha] <= beta.

    Parameters
    ----------
    dimension : int
        Number d of Boolean coordinates, at most 63.
    """

    dimension: int

    id: ClassVar[str] = "parity-elimination"
    instance: ClassVar[Instance] = Instance({"dimension": 3}, n=3)

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1, MAX_DIMENSION)

    def _choose(self, sample: Sample) -> int:
        rows: dict[int, int] = {}
        for equation in map(int, equations_of(sample, self.dimension)):
            # The lowest bit is the leftmost variable, or the right-hand side if no variable is left: that row is 0 = 1.
            while equation and (low := equation & -equation) in rows:
                equation ^= rows[low]
            if equation:
                rows[low] = equation
        return self._back_substitute(rows)

    def _back_substitute(self, rows: dict[int, int]) -> int:
        if 1 << self.dimension in rows:
            return FAIL
        solution = 0
        for low in sorted(rows, reverse=True):
            value = (rows[low] & solution).bit_count() + (rows[low] >> self.dimension)
            solution |= low * (value & 1)
        return solution

    def law(self, sample: Sample) -> Law:
        """Return all mass on the least code that satisfies every equation, found by trying all 2^d of them.

        It is the particular solution: kernel vectors have a free variable as their highest one, so among the solutions
        the one with all free variables 0 is the least integer.
        """
        check_sample(sample, self.domain)
        check_law_dimension(self.dimension, LAW_DIMENSION_ELIMINATION)
        alive = np.ones(2**self.dimension, dtype=np.bool_)
        for x, y in zip(sample.points, sample.labels, strict=True):
            alive &= self.concepts.evaluate(x[None, :])[:, 0] == y
        return point_law(range(FAIL, 2**self.dimension), int(alive.argmax()) if alive.any() else FAIL)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return ceil((d ln 2 + ln(1/beta)) / alpha): Occam's razor with |C| = 2^d."""
        return occam_sample_size(self.dimension * math.log(2), alpha, beta)

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta, in the setting "realizable" or "empirical" (at any n)."""
        size = consistent_size(self.sample_size(alpha, beta), setting)
        return UtilityClaim(alpha, beta, size, setting, "NIS-Occam", f"{NIS}, Example 2: parities")

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return no symmetry: the least solution depends on the order of the variables."""
        return []


@dataclass(frozen=True)
class ParityPrivate(ParityLearner):
    """Learn parities privately.

    With probability 1/2 fail. Otherwise keep each example with probability p = epsilon/4, solve the system of the kept
    ones, fail if it has no solution, and else return a uniformly random solution.

    Pure epsilon-differentially private for epsilon <= 3.83. Fix the kept ones of the other examples: one more equation
    multiplies the probability of a given solution by a factor in [0, 2], hence with probability 1 - p + p [0, 2] its
    probability lies in [1 - p, 1 + p] times a number that does not depend on that example; Pr[fail] changes by a factor
    of at most 1 + p. So the learner is ln((1 + p)/(1 - p))-differentially private, which is attained at n = 1, is about
    epsilon/2, and exceeds epsilon beyond `MAX_EPSILON`.

    Parameters
    ----------
    dimension : int
        Number d of Boolean coordinates, at most 63.
    epsilon : float
        The privacy claim, in (0, 3.83].
    """

    dimension: int
    epsilon: float

    id: ClassVar[str] = "parity-private"
    instance: ClassVar[Instance] = Instance({"dimension": 3, "epsilon": 1.0}, n=3, beta=0.6)

    _coin: ClassVar[float] = 0.5
    _uniform: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1, MAX_DIMENSION)
        check_positive("epsilon", self.epsilon)
        if not (self.epsilon < 4 and 2 * math.atanh(self.epsilon / 4) <= self.epsilon):
            raise InputError(
                f"epsilon must be in (0, {MAX_EPSILON:.6f}], where ln((1 + epsilon/4)/(1 - epsilon/4)) <= epsilon, so "
                f"that keeping examples with probability epsilon/4 is epsilon-private; got {self.epsilon!r}"
            )

    @property
    def privacy(self) -> PrivacyClaim:
        """Pure epsilon-differential privacy under replacement of one example."""
        return PrivacyClaim(self.epsilon, claim_id="NIS-ParityLearner", source=f"{NIS}, private learner for parity")

    @property
    def _keep(self) -> float:
        """The probability with which each example is kept."""
        return self.epsilon / 4

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """Return the codes (size,) of independent runs."""
        check_run(sample, self.domain, size)
        subsamples = Subsampler(sample, self.dimension, self._keep, rng, uniform=self._uniform)
        codes = np.full(size, FAIL, dtype=np.int64)
        going = np.flatnonzero(rng.random(size) >= self._coin)
        codes[going] = subsamples.solve(rng, len(going))
        return codes

    def law(self, sample: Sample) -> Law:
        """Return the law on `FAIL` and all 2^d parities; see `parity_law.log_law` for formula and error bound."""
        check_sample(sample, self.domain)
        check_law_dimension(self.dimension, LAW_DIMENSION)
        log_prob, error = log_law(sample, self.dimension, self._keep, self._coin, uniform=self._uniform)
        return Law(range(FAIL, 2**self.dimension), log_prob, error)

    def exact_law(self, sample: Sample, field: Any) -> dict[int, Any]:
        """Return the same law in exact numbers, which `field.number` makes of rationals; see `parity_exact`."""
        check_sample(sample, self.domain)
        keep, coin = Fraction(self._keep), Fraction(self._coin)
        law = rational_law(sample, self.dimension, keep, coin, uniform=self._uniform)
        return {code: field.number(probability) for code, probability in law.items()}

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return the least n with 1/2 + 2^d (1 - p alpha)^n / 2 <= beta, p = epsilon/4.

        The coin fails half of the runs. In the others, on consistent examples, a parity with error above alpha stays a
        solution only if no example is both kept and contradicts it: probability at most (1 - p alpha)^n, for each of
        at most 2^d parities.

        Raises
        ------
        InputError
            If beta <= 1/2, which no sample size reaches in one run, or alpha is not in (0, 1).
        """
        check_probability("alpha", alpha)
        check_probability("beta", beta)
        if beta <= 0.5:
            raise InputError(f"beta must be above 1/2, since one run fails with probability 1/2 at least; got {beta!r}")
        log_term = self.dimension * math.log(2) - math.log(2 * beta - 1)
        return math.ceil(log_term / -math.log1p(-self.epsilon / 4 * alpha))

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        """Return the claim Pr[failure or error > alpha] <= beta; beta must be above 1/2.

        In the setting "empirical" a parity that errs on more than alpha n examples remains a solution only if none of
        them is kept: (1 - p)^(alpha n) <= (1 - p alpha)^n, so the same n suffices.
        """
        if setting not in ("realizable", "empirical"):
            raise InputError(f"setting must be realizable or empirical, got {setting!r}")
        size = self.sample_size(alpha, beta)
        source = f"{NIS}, private learner for parity"
        return UtilityClaim(alpha, beta, size, setting, "NIS-ParityLearner", source)

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return generators of GL(d, 2) acting on x, and of the label maps y -> y + <s, x>."""
        return general_linear_symmetries(self.dimension)


def general_linear_symmetries(dimension: int) -> list[NDArray[np.int64]]:
    """Return generators: GL(d, 2) acting on x, and the label map y -> y + x_1, which shifts r by e_1.

    A transvection, a transposition and a cycle of the coordinates generate GL(d, 2); its conjugates give
    y -> y + <s, x> for every s. They are symmetries of every learner that answers uniform solutions of subsamples.
    """
    points = Cube(dimension).points()
    generators = [moving_points(np.arange(len(points)), points[:, 0])]
    if dimension > 1:
        sheared = points.copy()
        sheared[:, 0] ^= points[:, 1]
        swapped = points[:, [1, 0, *range(2, dimension)]]
        images = (sheared, swapped, np.roll(points, 1, axis=1))
        generators += [moving_points(grid_rows(image, 1)) for image in images]
    return generators


LEARNERS = (ParityElimination, ParityPrivate)

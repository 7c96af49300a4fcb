"""Parity functions, their learner by Gaussian elimination, and what learners of random subsamples share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import (
    FAIL,
    CaseFamily,
    Distribution,
    Hypothesis,
    InputError,
    Instance,
    Law,
    Pair,
    Sample,
    UtilityClaim,
    WorstFailure,
)

from ..arrays import Exact, Integers, Labels
from ..citations import NIS
from ..domains import Cube, grid_rows, moving_points
from ..finite.consistent import ConsistentLearner, occam_sample_size
from ..finite.counting import ClassLearner, Numbered, check_code, check_listable, point_law, pure_privacy
from ..finite.worst_case import ABOVE
from ..parameters import (
    Built,
    check_integer,
    check_law,
    check_own_beta,
    check_parameters,
    check_run,
    check_statement,
)
from ..targets import MANY, case, point_array
from .gf2 import MAX_DIMENSION, Subsampler, echelon, equations_of, pack, parity
from .law import log_law

# The largest number of variables for which the law of a subsampling learner is computed.
LAW_DIMENSION = 6
# The root of ln((1 + e/4) / (1 - e/4)) = e: for a larger epsilon < 4 the slides' learner leaks more than epsilon.
MAX_EPSILON = 3.830016096309

# Up to so many variables the points of the cube are listed.
LISTED = 6

_PROOF = (
    "the share of bad ones among the 2^k solutions, times C(m, k)/(1 - 2^-k) for m more examples, does not grow on "
    "average, whatever the distribution; C(m, k) is the failure rate on the diluted cube"
)


@dataclass(frozen=True)
class Parity:
    """The parity c_r(x) = <r, x> mod 2, with r_i the bit i of `code`."""

    dimension: int
    code: int

    def predict(self, points: Exact) -> Labels:
        """Return the labels of points (m, dimension)."""
        return parity(pack(points) & np.uint64(self.code), self.dimension).astype(np.uint8)

    def __str__(self) -> str:
        names = [f"x{i + 1}" for i in range(self.dimension) if self.code >> i & 1]
        return f"parity of {' and '.join(names)}" if names else "always 0"


@dataclass(frozen=True)
class Parities(Numbered):
    """The class of all parities c_r, r in {0, 1}^dimension, numbered by the integer with bit i = r_i."""

    dimension: int

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1, MAX_DIMENSION)

    domain = Built(Cube)

    @property
    def size(self) -> int:
        """2^dimension."""
        return int(2**self.dimension)

    @property
    def vc_dimension(self) -> int:
        """The dimension: the unit vectors are shattered, and there are only 2^dimension concepts."""
        return self.dimension

    def evaluate(self, points: Exact) -> Labels:
        """Return the labels (size, m) of points (m, dimension); `InputError` if the class is too large to list."""
        check_listable(self)
        codes = np.arange(self.size, dtype=np.uint64)
        return parity(codes[:, None] & pack(points)[None, :], self.dimension).astype(np.uint8)

    def concept(self, code: int) -> Parity:
        """Return c_r for the r that `code` packs."""
        check_code(self, code)
        return Parity(self.dimension, int(code))

    def hard_targets(self, alpha: float) -> list[tuple[Hypothesis, Distribution, str]]:
        """Return a parity of half of the coordinates on random points."""
        rng = np.random.default_rng(self.dimension)
        code = sum(1 << int(i) for i in rng.choice(self.dimension, self.dimension // 2, replace=False))
        # More points than coordinates, so that they do not leave the parity open.
        points = point_array(rng.integers(0, 2, (2 * self.dimension + MANY, self.dimension)).tolist())
        return [case(self.concept(code), points, "a parity of half of the coordinates on random points")]

    def symmetries(self) -> list[Integers]:
        """Return generators: GL(d, 2) acting on x, and the label map y -> y + x_1, which shifts r by e_1.

        A transvection, a transposition and a cycle of the coordinates generate GL(d, 2); its conjugates give
        y -> y + <s, x> for every s.
        """
        points = self.domain.points()
        generators = [moving_points(np.arange(len(points)), points[:, 0])]
        if self.dimension > 1:
            # x_1 becomes x_1 + x_2, the transvection of the docstring.
            sheared = points.copy()
            sheared[:, 0] ^= points[:, 1]
            swapped = points[:, [1, 0, *range(2, self.dimension)]]
            images = (sheared, swapped, np.roll(points, 1, axis=1))
            generators += [moving_points(grid_rows(image, 1)) for image in images]
        return generators


@dataclass(frozen=True)
class SubsamplingLearner(ClassLearner):
    """A learner that keeps each example with probability p and answers a uniform solution of the system of the kept."""

    dimension: int
    epsilon: float

    settings: ClassVar[tuple[str, ...]] = ("realizable", "empirical")
    claim_id: ClassVar[str] = "NIS-ParityLearner"
    source: ClassVar[str] = f"{NIS}, private learner for parity"
    _uniform: ClassVar[bool] = True
    _coin: ClassVar[float] = 0.5

    def __post_init__(self) -> None:
        _ = self.concepts
        check_parameters(self)

    concepts = Built(Parities)

    privacy = pure_privacy

    @property
    def _keep(self) -> float:
        """The probability p with which each example is kept."""
        raise NotImplementedError("a parity learner has a rate of keeping examples")

    @property
    def failure(self) -> float:
        """The probability of failing on a consistent sample, at any n."""
        raise NotImplementedError("a parity learner has a failure probability")

    @property
    def repetitions(self) -> int:
        """The most subsamples of a run."""
        return 1

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers:
        """Return the codes (size,) of independent runs, each with some inner ones while these fail."""
        check_run(sample, self.domain, size)
        subsamples = self._subsampler(sample, rng)
        codes = np.full(size, FAIL, dtype=np.int64)
        for _ in range(self.repetitions):
            failed = np.flatnonzero(codes == FAIL)
            # A run that failed so far tosses the coin again, and only heads draws a subsample.
            going = failed[rng.random(len(failed)) >= self._coin]
            codes[going] = subsamples.solve(rng, len(going))
        return codes

    def law(self, sample: Sample) -> Law:
        """Return the law on `FAIL` and all 2^d parities; see `parities.law.log_law` for formula and error bound.

        It is that of one subsample; learners with more of them have laws of their own.
        """
        check_law(self, sample, dimension=LAW_DIMENSION)
        log_prob, error = log_law(sample, self.dimension, self._keep, self._coin, uniform=self._uniform)
        return Law(range(FAIL, 2**self.dimension), log_prob, error)

    def _subsampler(self, sample: Sample, rng: np.random.Generator) -> Subsampler:
        return Subsampler(sample, self.dimension, self._keep, rng, uniform=self._uniform)

    def _contradicted_ray(self, t: int) -> Pair:
        """Return t copies of (x, 0) beside one of (x, 1), which becomes (x, 0)."""
        x = [0] * (self.dimension - 1) + [1]
        left = self.domain.sample([x, x], [0, 1], [t, 1])
        return Pair(left, self.domain.sample([x], [0], [t + 1]), "one example against t others")

    def hard_failure(self, alpha: float, n: int) -> tuple[float, str]:
        """Return the failure rate on the diluted cube, and the case in words; alpha < 1/2.

        The nonzero points of {0, 1}^d share a mass w evenly, and 0 has the rest. A wrong parity errs on 2^(d-1) of the
        2^d - 1 nonzero points; w = 1.001 alpha (2^d - 1)/2^(d-1), or 1 if that is more, makes every error 1.001 alpha
        or, at w = 1, a little more than 1/2. The answer is uniform among the 2^(d-r) solutions, r the rank of the kept
        examples, of which one is right, whence the failure rate is f + (1 - f) (1 - E 2^(r-d)).
        """
        if not (self._uniform and alpha < 0.5):
            raise InputError.of("alpha", alpha, "below 1/2, for a learner that answers uniform solutions")
        # Just above alpha, so that every wrong parity is a failure.
        mass = min(1.0, diluted_mass(self.dimension, 1.001 * alpha))
        return self._failing(mass, n), self._diluted(mass)

    def _failing(self, mass: float, n: int) -> float:
        return self.failure + (1 - self.failure) * (1 - answered_right(self.dimension, self._keep, mass, n))

    def _diluted(self, mass: float) -> str:
        return (
            f"diluted cube: mass {mass:.6g} uniform on the nonzero points of {{0, 1}}^{self.dimension}, the rest on 0"
        )

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return both ends of the failure rate f + (1 - f) (1 - E 2^(r - d)) over all distributions.

        The proof is in docs/research/results.md. Upper: the chain of the diluted cube whose errors are alpha, which
        need not be a distribution where alpha is near 1/2. Lower: the cube whose errors are a little above alpha.
        `InputError` if 2 p alpha > 1, where the proof does not hold.
        """
        d = self.dimension
        keep = self._keep
        if not self._uniform:
            raise InputError(f"{self} answers no uniform solutions, of which the proof of the worst case speaks")
        # The condition of the proof in docs/research/results.md.
        if 2 * keep * alpha > 1:
            raise InputError(f"2 p alpha must be at most 1 for the worst case of parities, p = {keep!r}, got {alpha!r}")
        above = alpha * (1 + ABOVE)
        mass = diluted_mass(d, above)
        # At alpha itself, which bounds the errors of all distributions; no distribution need have it.
        upper = min(1.0, self._failing(diluted_mass(d, alpha), n))
        numbers = {"dimension": d, "keep": keep, "failure": self.failure, "mass": above}
        if mass > 1:
            missing = "the diluted cube has no mass left where alpha is so large: which distribution is worst"
            return WorstFailure(0.0, upper, CaseFamily.PARITIES, numbers, _PROOF, missing)
        # Beyond, the case is named and not listed: 2^d points would fill the finding.
        points = tuple(np.ndindex((2,) * d)) if d <= LISTED else ()
        if points:
            shares = (1 - mass, *[mass / (len(points) - 1)] * (len(points) - 1))
        else:
            shares = ()
        lower = self._failing(mass, n)
        target = 0 if points else None
        case = self._diluted(mass)
        return WorstFailure(lower, upper, CaseFamily.PARITIES, numbers, _PROOF, "", target, points, shares, case)

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        """Return the claim Pr[failure or error > alpha] <= beta; beta must be above the failure probability f.

        On consistent examples every subsample is consistent, so the answer is that of the first subsample, and the
        learner fails with probability f exactly. A parity with error above alpha is a solution of the subsample with
        probability at most (1 - p alpha)^n, over the sample in the setting "realizable" (each example is kept and
        contradicts it with probability above p alpha), over the subsample alone in "empirical" (more than alpha n
        examples contradict it, none of which is kept: (1 - p)^(alpha n) <= (1 - p alpha)^n). There are at most 2^d.
        `InputError` if beta is at most f, which no sample size reaches.
        """
        check_statement(alpha, beta, setting, self.settings)
        check_own_beta(beta, self.failure, "this learner fails")
        log_term = self.dimension * math.log(2) + math.log1p(-self.failure) - math.log(beta - self.failure)
        size = max(1, math.ceil(log_term / -math.log1p(-self._keep * alpha)))
        return UtilityClaim(alpha, beta, size, setting, self.claim_id, SubsamplingLearner.source)


def answered_right(dimension: int, keep: float, mass: float, n: int) -> float:
    """Return E 2^(r - d), r the rank of the kept examples, of which `mass` is shared by the nonzero points of the cube.

    An example matters only if it is kept and nonzero, with probability p w; then it is uniform on the nonzero points,
    so it raises the rank r of what is kept with probability (2^d - 2^r)/(2^d - 1), whatever came before. `dimension` is
    d, `keep` p and `mass` w; w may exceed 1 where p w does not.
    """
    ranks = np.arange(dimension + 1)
    # (2^d - 2^r)/(2^d - 1), without numbers that floats do not hold.
    rise = keep * mass * (1 - 2.0 ** (ranks - dimension)) / (1 - 2.0**-dimension)
    step = np.diag(1 - rise) + np.diag(rise[:-1], 1)
    return float(np.linalg.matrix_power(step, n)[0] @ 2.0 ** (ranks - dimension))


def diluted_mass(dimension: int, error: float) -> float:
    """Return the mass of the nonzero points at which every wrong parity has that error: error (2^d - 1)/2^(d-1)."""
    return error * (2 - 2.0 ** (1 - dimension))


# The largest number of variables for which the law of elimination tries all parities.
ELIMINATION_DIMENSION = 16


@dataclass(frozen=True)
class ParityElimination(ConsistentLearner):
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
    claim_id: ClassVar[str] = "NIS-Occam"
    source: ClassVar[str] = f"{NIS}, Example 2: parities"
    instance: ClassVar[Instance] = Instance({"dimension": 3}, n=3)

    concepts = Built(Parities)

    def _choose(self, sample: Sample) -> int:
        # The lowest bit is the leftmost variable, or the right-hand side if no variable is left: that row is 0 = 1.
        rows = echelon(equations_of(sample, self.dimension))
        # A row whose lowest bit is the right-hand side's is the equation 0 = 1.
        if 1 << self.dimension in rows:
            return FAIL
        solution = 0
        for low in sorted(rows, reverse=True):
            # From the highest pivot down, so that all later variables of the row are set already.
            value = (rows[low] & solution).bit_count() + (rows[low] >> self.dimension)
            solution |= low * (value & 1)
        return solution

    def law(self, sample: Sample) -> Law:
        """Return all mass on the least code that satisfies every equation, found by trying all 2^d of them.

        It is the particular solution: kernel vectors have a free variable as their highest one, so among the solutions
        the one with all free variables 0 is the least integer.
        """
        check_law(self, sample, dimension=ELIMINATION_DIMENSION)
        alive = np.ones(2**self.dimension, dtype=np.bool_)
        for x, y in zip(sample.points, sample.labels, strict=True):
            alive &= self.concepts.evaluate(x[None, :])[:, 0] == y
        return point_law(range(FAIL, 2**self.dimension), int(alive.argmax()) if alive.any() else FAIL)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return ceil((d ln 2 + ln(1/beta)) / alpha): Occam's razor with |C| = 2^d."""
        return occam_sample_size(self.dimension * math.log(2), alpha, beta)


LEARNERS = (ParityElimination,)

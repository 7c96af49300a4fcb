"""A random example as a point of the convex hull: private with a delta of 1/n and no epsilon, in every dimension.

It contradicts every lower bound for (epsilon, delta)-privacy that leaves delta free, as Theorem 5.1 of BMNS does:
ceil(1/delta) examples are enough, whatever epsilon, the dimension and the domain are. Bounds for a delta far below 1/n
are not touched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpaudit.contract import FAIL, Instance, Law, PrivacyClaim, Sample

from ..arrays import Integers
from ..citations import BMNS
from ..domains import Grid, grid_rows, moving_points
from ..finite.counting import SOLUTION, ClassLearner, solution_utility
from ..mechanisms.log_laws import ULP, check_size, greatest, placed
from ..parameters import Built, check_parameters, check_probability, check_run, check_sample
from .concepts import Halfspace, Halfspaces
from .hull_point import weighted_points

Code = tuple[int, ...] | int


@dataclass(frozen=True)
class HullPointRandomRow(ClassLearner):
    """Release the point of a random example: each of n with probability min(delta, 1/n), and fail otherwise.

    (0, delta)-differentially private under replacement of one example, at every n: a replaced example moves its own
    probability, at most delta, from one output to another. With a point that no other example has it moves all of it,
    so that delta is exact at every epsilon.

    What it releases lies in the convex hull of the sample, and in the span of its points. From n = 1/delta on it never
    fails; before it fails with probability 1 - delta n.

    Parameters
    ----------
    side, dimension : int
        The grid {0 .. side}^dimension.
    epsilon : float
        The privacy claim; nothing depends on it.
    delta : float
        The privacy claim, in (0, 1).

    Notes
    -----
    Outputs are tuples of integers, or FAIL. `decode` reads a point p as the halfspace x_1 >= p_1. Source: folklore; see
    the row BMNS-Thm5.1 of the ledger.
    """

    side: int
    dimension: int
    epsilon: float
    delta: float

    id: ClassVar[str] = "hull-point-random-row"
    instance: ClassVar[Instance] = Instance({"side": 1, "dimension": 2, "epsilon": 1.0, "delta": 0.25}, n=3)
    settings: ClassVar[tuple[str, ...]] = SOLUTION
    claim_id: ClassVar[str] = "BMNS-Thm5.1"
    source: ClassVar[str] = f"{BMNS}, beside Theorem 5.1"
    _failure: ClassVar[str] = "the point lies outside the convex hull, or there is none"

    def __post_init__(self) -> None:
        check_parameters(self)
        _ = self.domain

    concepts = Built(Halfspaces)
    domain = Built(Grid)

    utility = solution_utility

    @property
    def privacy(self) -> PrivacyClaim:
        """(epsilon, delta) under replacement of one example, whatever epsilon is."""
        return PrivacyClaim(self.epsilon, self.delta, claim_id=self.claim_id, source=self.source)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return the least n with delta n >= 1 - beta."""
        check_probability("beta", beta)
        return math.ceil((1 - Fraction(beta)) / Fraction(self.delta))

    def decode(self, code: Code) -> Halfspace | None:
        """Return the halfspace x_1 >= p_1, None for FAIL."""
        if isinstance(code, tuple):
            return Halfspace((1, *[0] * (self.dimension - 1)), code[0])
        return None

    def solves(self, code: Code, sample: Sample) -> bool:
        """Say whether it is a point of the sample."""
        return isinstance(code, tuple) and bool((sample.points == np.array(code)).all(axis=1).any())

    def _share(self, n: int) -> Fraction:
        """Return the probability of one of n examples."""
        return min(Fraction(self.delta), Fraction(1, max(1, n)))

    def _rows(self, sample: Sample) -> tuple[Integers, Integers]:
        return weighted_points(sample)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> list[Code]:
        """Return the points of independent runs."""
        check_run(sample, self.domain, size)
        points, counts = self._rows(sample)
        # A uniform example: a point with probability its count divided by n.
        rows = np.searchsorted(np.cumsum(counts), rng.integers(0, max(1, sample.n), size), side="right")
        # Then it is released with probability n min(delta, 1/n), at most 1.
        kept = rng.random(size) < float(sample.n * self._share(sample.n))
        codes: list[Code] = [tuple(p) for p in points.tolist()]
        return [codes[row] if keep else FAIL for row, keep in zip(rows.tolist(), kept.tolist(), strict=True)]

    def law(self, sample: Sample) -> Law:
        """Return the law on the points of the grid and FAIL; `InputError` for a grid of more than 4096 points."""
        check_sample(sample, self.domain)
        check_size(self.domain.size)
        points, counts = self._rows(sample)
        atoms: list[Code] = [FAIL, *map(tuple, self.domain.points().tolist())]
        # Exact rationals: min(delta, 1/n) times a count may be a share of 1.
        share = self._share(sample.n)
        # FAIL is the first atom.
        where = 1 + grid_rows(points, self.side)
        logs = placed(len(atoms), where, [_log(count * share) for count in counts.tolist()])
        if (rest := 1 - sample.n * share) > 0:
            logs[0] = _log(rest)
        return Law(atoms, logs, 4 * ULP * (1 + greatest(logs)))

    def symmetries(self) -> list[Integers]:
        """Return the flip of one point's label, which is ignored, and what moves points: their places do not matter."""
        places = np.arange(self.domain.size)
        swapped = np.array([1, 0, *places[2:]])
        return [moving_points(places, places == 0), moving_points(swapped), moving_points(np.roll(places, 1))]


def _log(value: Fraction) -> float:
    if value < Fraction(1, 2):
        return math.log(value.numerator) - math.log(value.denominator)
    return math.log1p(value - 1)


LEARNERS = (HullPointRandomRow,)

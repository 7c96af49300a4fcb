"""Halfplanes over a grid, selected privately in the dual plane (KMMS, algorithm Select Halfplane)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Distribution, InputError, Instance, Law, Picture, PrivacyClaim, Sample, UtilityClaim
from learners.citations import KMMS
from learners.domains import Grid
from learners.geometry.arrangement import Arrangement, sweep
from learners.geometry.cells import Bits, Box
from learners.geometry.pictures import panel, regions
from learners.inputs import check_run, check_sample
from learners.parameters import check_integer, check_positive, check_probability
from learners.regions.halfplane_class import Halfplane, Halfplanes
from learners.regions.planar.dual_pictures import dual_panels
from learners.regions.planar.hard_targets import hard_targets
from learners.regions.planar.scenes import regular_polygon
from learners.regions.planar.selection import Selector
from learners.regions.planar.snapping import LISTED_SIDE, FullGrid, dyadic_square, full_grid
from learners.regions.polygon_class import Intersection
from learners.symmetries import moving_points

__all__ = ["LEARNERS", "HalfplaneSelect", "distinct_points"]

CONVENTIONS = ("half", "full")
ULP = 2.0**-52

Code = tuple[int, Fraction, Fraction]


@dataclass(frozen=True)
class HalfplaneSelect:
    """Select the halfplane f(x, y) = 1 iff z y >= z (a x + b) with density proportional to exp(rate q(f)).

    The score q is the number of examples that f labels correctly; replacing one example moves it by at most 1. The dual
    point (a, b) lives in [-2 d^2, 2 d^2]^2, z in {-1, 1}: total area 32 d^4. With rate = epsilon/2 (convention "half",
    the paper's Section 2) the learner is epsilon-differentially private, with rate = epsilon (convention "full", the
    paper's Select Halfplane) 2 epsilon-differentially private: p_S <= exp(2 rate) p_S'.

    The point is drawn exactly (see `planar.selection`). The output is (z, a, b), where (a, b) stands for the region
    of the full grid that contains the point, never for a cell of the sample: for side <= 6 the vertex mean of the
    cell of the arrangement of all grid points, else the centre of a dyadic square (see `planar.snapping`).

    Utility. Each cell of a sample has area at least 1/(2 d^3), hence with probability 1 - b over the coins
    q >= max q - (1/rate) ln(64 d^7/b): the worse cells have total area at most 32 d^4.

    Parameters
    ----------
    side : int
        d of the grid {0 .. d}^2; 2^64 and beyond are fine, as are counts of 1e12.
    epsilon : float
        > 0.
    convention : {"half", "full"}
        Which rate, and so which claim.
    """

    side: int
    epsilon: float
    convention: str = "half"

    id: ClassVar[str] = "halfplane-select"
    instance: ClassVar[Instance] = Instance({"side": 1, "epsilon": 1.0}, n=3)
    audited: ClassVar[tuple[Instance, ...]] = (Instance({"side": 3, "epsilon": 1.0}, n=3, alpha=0.1, beta=0.1),)
    pictured: ClassVar[Instance] = Instance({"side": 6, "epsilon": 0.5}, n=150)

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1)
        check_positive("epsilon", self.epsilon)
        if self.convention not in CONVENTIONS:
            raise InputError(f"convention must be one of {', '.join(CONVENTIONS)}; got {self.convention!r}")

    @property
    def privacy(self) -> PrivacyClaim:
        """Pure differential privacy under replacement: epsilon, or 2 epsilon for the convention "full"."""
        claimed = self.epsilon if self.convention == "half" else 2 * self.epsilon
        return PrivacyClaim(claimed, claim_id="KMMS-SelHP-priv", source=f"{KMMS}, Section 4, Select Halfplane")

    @property
    def domain(self) -> Grid:
        """The grid {0 .. side}^2."""
        return Grid(self.side, 2)

    @property
    def concepts(self) -> Halfplanes:
        """The labellings of the grid by halfplanes."""
        return Halfplanes(self.side)

    @property
    def _rate(self) -> float:
        return self.epsilon / 2 if self.convention == "half" else self.epsilon

    def _eligible(self, sample: Sample, correct: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """Return which cells, by their scores, may be chosen; None for all."""
        return None

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> list[Code]:
        """Return the outputs (z, a, b) of independent runs; one arrangement of the distinct points serves them all."""
        check_run(sample, self.domain, size)
        points, weights = distinct_points(sample)
        build = partial(sweep, points, weights, self.side)
        arrangement = build()
        selector = self._selector(build, arrangement, _scores(arrangement, weights), sample)
        resolve = self._resolver(arrangement)
        bits, base = Bits(rng), 256 + 8 * self.side.bit_length()
        return [selector.draw(bits, resolve, base) for _ in range(size)]

    def _selector(
        self, build: partial[Arrangement], arrangement: Arrangement, scores: NDArray[np.int64], sample: Sample
    ) -> Selector:
        """Return the sampler of cells; controls override it."""
        return Selector(lambda extra: build(extra) if extra else arrangement, scores, Fraction(self._rate))

    def _resolver(self, arrangement: Arrangement) -> _Cells | _Squares:
        """Return what turns an exact point into an output."""
        return _Cells(full_grid(self.side)) if self.side <= LISTED_SIDE else _Squares(self.side)

    def decode(self, code: Code) -> Halfplane:
        """Return the halfplane (z, a, b)."""
        good = isinstance(code, tuple) and len(code) == 3 and code[0] in (-1, 1)
        if not good or not all(isinstance(value, Fraction | int) for value in code[1:]):
            raise InputError(f"code must be (z, a, b) with z = 1 or -1 and rational a and b, got {code!r}")
        return Halfplane(int(code[0]), Fraction(code[1]), Fraction(code[2]))

    def law(self, sample: Sample) -> Law:
        """Return the law on the cells of the full grid, in both copies.

        ln Pr = ln area + rate (q - max q) - ln Z. With u = 2^-53, x the greatest rate (max q - q), w the greatest
        |ln area| and K cells, each ln area + rate (q - max q) is off by at most u (3 x + 4 w + 4); so is ln Z, up to
        9 u for the sum, and the last two operations round by u (2 x + 2 w + 8 ln K + 2 ln Z). In all at most
        2^-52 (5 x + 7 w + 5 ln K + 16).
        """
        check_sample(sample, self.domain)
        if self.side > LISTED_SIDE:
            raise InputError(f"side must be at most {LISTED_SIDE} for the exact law, got {self.side}; run has no limit")
        grid = full_grid(self.side)
        correct = _correct_by_cell(grid, sample)
        base = np.array([math.log(value) for value in grid.areas] * 2)
        return self._log_law(grid, base, correct.ravel(), self._eligible(sample, correct.ravel()))

    def _log_law(
        self, grid: FullGrid, base: NDArray[np.float64], correct: NDArray[np.int64], eligible: NDArray[np.bool_] | None
    ) -> Law:
        best = correct.max() if eligible is None else correct[eligible].max()
        logs = self._rate * (correct - best) + base
        if eligible is not None:
            logs = np.where(eligible, logs, -np.inf)
        finite = logs[np.isfinite(logs)]
        top = float(finite.max())
        total = top + math.log(math.fsum(np.exp(finite - top)))
        spread, width = self._rate * float(best - correct.min()), float(np.abs(base).max())
        error = ULP * (5 * spread + 7 * width + 5 * math.log(len(logs)) + 16)
        atoms = tuple((z, *point) for z in (1, -1) for point in grid.points)
        return Law(atoms, logs - total, error)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return ceil(max((8/alpha) ln(2 |C|/beta), (2/(alpha rate)) ln(128 d^7/beta))).

        The second term makes (1/rate) ln(64 d^7/(beta/2)) at most alpha n/2: the empirical error is at most alpha/2
        with probability 1 - beta/2 over the coins. The first excludes, by the multiplicative Chernoff bound, that one
        of the at most |C| labellings of the grid with error above alpha has empirical error at most alpha/2.
        """
        check_probability("alpha", alpha)
        check_probability("beta", beta)
        union = 8 / alpha * (math.log(2 * self.concepts.size_bound) - math.log(beta))
        coins = 2 / (alpha * self._rate) * (math.log(128 * self.side**7) - math.log(beta))
        return math.ceil(max(union, coins))

    def utility(self, alpha: float, beta: float) -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta in the realizable case; see `sample_size`."""
        size = self.sample_size(alpha, beta)
        return UtilityClaim(alpha, beta, size, "realizable", "KMMS-Lem4.6", f"{KMMS}, Lemma 4.6 with its own constants")

    def picture(self, sample: Sample, codes: Any, target: Halfplane | None = None) -> Picture:
        """Return what a report draws: the sample with some halfplanes, and both copies of the dual plane.

        The cells of the sample's own arrangement are shaded by their probabilities, which shows the sample.
        """
        check_sample(sample, self.domain)
        chosen = [self.decode(code) for code in codes]
        learned = [Intersection((halfplane,)) for halfplane in chosen]
        aim = None if target is None else Intersection((target,))
        points, weights = distinct_points(sample)
        arrangement = sweep(points, weights, self.side)
        scores = _scores(arrangement, weights)
        logs = self._rate * (scores - scores.max()) + np.array([math.log(value) for value in arrangement.areas])
        shares = np.exp(logs - logs.max())
        shares /= shares.sum()
        primal = panel(self.side, sample, regions(self.side, sample, learned, aim), "halfplanes")
        return Picture((primal, *dual_panels(arrangement, shares, chosen)))

    def scene(self, rng: np.random.Generator) -> tuple[Sample, Halfplane]:
        """Return a sample of few distinct points, so that the cells of its arrangement can be seen, and its target."""
        (target,) = regular_polygon(self.side, 1, radius=0.1, turn=-2.0).halfplanes
        rows = np.sort(rng.choice(self.domain.size, min(7, self.domain.size), replace=False))
        points = self.domain.points()[rows]
        law = Distribution(points, np.full(len(points), 1 / len(points)), "uniform on a few points")
        return self.domain.draw(target, law, self.pictured.n, rng), target

    def hard_targets(self, alpha: float) -> list[tuple[int, Distribution, str]]:
        """Return thin and tiny targets, the boundary, and random targets; see `planar.hard_targets`."""
        return hard_targets(self.concepts, self.side, alpha)

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return the flip of all labels, under which z changes its sign; the dual box has no other symmetry."""
        return [moving_points(np.arange(self.domain.size), 1)]


def distinct_points(sample: Sample) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the distinct points of a sample, and how many examples labelled 0 and 1 stand at each."""
    merged: dict[tuple[int, int], list[int]] = {}
    for (x, y), label, count in zip(
        sample.points.tolist(), sample.labels.tolist(), sample.counts.tolist(), strict=True
    ):
        merged.setdefault((x, y), [0, 0])[label] += count
    return list(merged), [(m0, m1) for m0, m1 in merged.values()]


def _scores(arrangement: Arrangement, weights: list[tuple[int, int]]) -> NDArray[np.int64]:
    """Return q (2, cells) of every cell of the arrangement, in the copies z = 1 and z = -1.

    For z = 1 the points below the line are labelled 0: right on c0 below and m1 - c1 above. For z = -1 the opposite.
    """
    m0, m1 = sum(w[0] for w in weights), sum(w[1] for w in weights)
    below0, below1 = arrangement.below[:, 0], arrangement.below[:, 1]
    return np.stack([below0 + (m1 - below1), below1 + (m0 - below0)])


def _correct_by_cell(grid: FullGrid, sample: Sample) -> NDArray[np.int64]:
    """Return q (2, cells) of every cell of the full grid, from the labels that it gives to each example."""
    rows = sample.points[:, 0].astype(np.int64) * (grid.side + 1) + sample.points[:, 1].astype(np.int64)
    above = ~grid.below[:, rows]
    return np.stack([(labels == sample.labels).astype(np.int64) @ sample.counts for labels in (above, ~above)])


@dataclass(frozen=True)
class _Cells:
    """Outputs on a small grid: the cell of the full grid."""

    grid: FullGrid

    def __call__(self, z: int, cell: int, box: Box, bits: int) -> Code | None:
        found = self.grid.locate(box)
        return None if found is None else (z, *self.grid.points[found])


@dataclass(frozen=True)
class _Squares:
    """Outputs on a large grid: the largest dyadic square that no line of the full grid meets."""

    side: int

    def __call__(self, z: int, cell: int, box: Box, bits: int) -> Code | None:
        centre = dyadic_square(self.side, box, bits)
        return None if centre is None else (z, *centre)


LEARNERS = (HalfplaneSelect,)

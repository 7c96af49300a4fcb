"""Halfplanes over a grid, selected privately in the dual plane (KMMS, algorithm Select Halfplane)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Distribution, Instance, Picture, PrivacyClaim, Sample

from ..arrays import Floats, Integers, Labels
from ..citations import KMMS
from ..domains import moving_points
from ..geometry.arrangement import Arrangement, sweep
from ..geometry.pictures import panel, regions
from ..geometry.polygons import Bits, Box
from ..parameters import Built, check_choice, check_law_limit, check_run, check_sample
from ..samples import distinct_points
from .concepts import Halfplanes, halfplanes
from .pictures import dual_panels, plane_targets
from .region_selection import RegionSelection
from .shapes import Halfplane, Intersection
from .snapping import LISTED_SIDE, Region, check_regions, full_grid, region_of
from .targets import regular_polygon
from .tuple_draws import MAX_WEIGHT, Selector, TupleSampler

# The most distinct points whose arrangement is built, wherever it can be done without: 5,000 crossings.
SWEPT_POINTS = 100


@dataclass(frozen=True)
class HalfplaneSelect(RegionSelection):
    """Select the halfplane f(x, y) = 1 iff z y >= z (a x + b) with density proportional to exp(rate q(f)).

    The score q is the number of examples that f labels correctly; replacing one example moves it by at most 1. The dual
    point (a, b) lives in [-2 d^2, 2 d^2]^2, z in {-1, 1}: total area 32 d^4. With rate = epsilon/2 (convention "half",
    the paper's Section 2) the learner is epsilon-differentially private, with rate = epsilon (convention "full", the
    paper's Select Halfplane) 2 epsilon-differentially private: p_S <= exp(2 rate) p_S'.

    The point is drawn exactly, from the cells of the sample's arrangement or, for more than 100 distinct points, by
    rejection from pieces of the dual box; see `regions.refinement` and `regions.tuple_draws`. The output is (z, a, b),
    where (a, b) stands for the region of the full grid that contains the point, never for a cell of the sample: for
    side <= 6 the vertex mean of the cell of the arrangement of all grid points, else the centre of a dyadic square; see
    `regions.snapping`.

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

    convention: str = "half"

    id: ClassVar[str] = "halfplane-select"
    _most_side: ClassVar[int | None] = None
    _statement: ClassVar[tuple[str, str]] = ("KMMS-Lem4.6", "Lemma 4.6 with its own constants")
    _roundings: ClassVar[tuple[int, int, int]] = (5, 7, 5)
    # Whether many points may be drawn from without their arrangement, which controls look at.
    _refined: ClassVar[bool] = True
    instance: ClassVar[Instance] = Instance({"side": 1, "epsilon": 1.0}, n=3)
    audited: ClassVar[tuple[Instance, ...]] = (Instance({"side": 3, "epsilon": 1.0}, n=3, alpha=0.1, beta=0.1),)
    pictured: ClassVar[Instance] = Instance({"side": 6, "epsilon": 0.5}, n=150)
    _regions = Built(halfplanes)
    hard_targets = plane_targets
    concepts = Built(Halfplanes)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("convention", self.convention, ("half", "full"))

    @property
    def privacy(self) -> PrivacyClaim:
        """Pure differential privacy under replacement: epsilon, or 2 epsilon for the convention "full"."""
        claimed = self.epsilon if self.convention == "half" else 2 * self.epsilon
        return PrivacyClaim(claimed, claim_id="KMMS-SelHP-priv", source=f"{KMMS}, Section 4, Select Halfplane")

    @property
    def _rate(self) -> float:
        if self.convention == "half":
            return self.epsilon / 2
        return self.epsilon

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> list[Region]:
        """Return the outputs (z, a, b) of independent runs.

        One arrangement of the distinct points serves them all, or where they are many, one refinement of the dual box,
        with halfplanes as 1-tuples: the law is the same.
        """
        check_run(sample, self.domain, size)
        points, weights = distinct_points(sample)
        bits = Bits(rng)
        base = 256 + 8 * self.side.bit_length()
        # Building the arrangement takes n^2 cells; the refinement takes few pieces where the sample is large.
        if self._refined and len(points) > SWEPT_POINTS and self.side < 2**256 and sample.n < MAX_WEIGHT:
            # With z = 1 a halfplane contains what is labelled 1: ones are to be covered, zeros spared.
            wanted = [(ones, zeros) for zeros, ones in weights]
            sampler = TupleSampler(points, wanted, self.side, np.subtract, Fraction(self._rate), 1)
            return [sampler.draw(bits, region_of(self.side), base)[0] for _ in range(size)]
        build = cache(partial(sweep, points, weights, self.side))
        selector = self._selector(build, _scores(build(0), weights))
        resolve = self._resolver(build(0))
        return [selector.draw(bits, resolve, base) for _ in range(size)]

    def _selector(self, build: Callable[[int], Arrangement], scores: Integers) -> Selector:
        """Return the sampler of cells; controls override it."""
        return Selector(build, scores, Fraction(self._rate))

    def _resolver(self, arrangement: Arrangement) -> Callable[[int, int, Box, int], Region | None]:
        """Return what turns z, a cell and an exact point of it into an output; controls override it."""
        resolve = region_of(self.side)
        return lambda z, cell, box, bits: resolve(z, box, bits)

    def decode(self, code: Any) -> Halfplane:
        """Return the halfplane (z, a, b)."""
        ((z, a, b),) = check_regions((code,), 1)
        return Halfplane(int(z), Fraction(a), Fraction(b))

    def _outputs(self, sample: Sample) -> tuple[Sequence[Hashable], Labels, Floats]:
        """Return the cells of the full grid in both copies, with ln area as the logarithms of their measures.

        ln Pr = ln area + rate (q - max q) - ln Z. With u = 2^-53, x the greatest rate (max q - q), w the greatest
        |ln area| and K cells, each ln area + rate (q - max q) is off by at most u (3 x + 4 w + 4); so is ln Z, up to
        9 u for the sum, and the last two operations round by u (2 x + 2 w + 8 ln K + 2 ln Z). In all at most
        2^-52 (5 x + 7 w + 5 ln K + 16).
        """
        check_law_limit("side", self.side, LISTED_SIDE)
        grid = full_grid(self.side)
        # The outputs of `run`: a cell of the full grid stands for all halfplanes in it, on which q is constant.
        atoms = tuple((z, *point) for z in (1, -1) for point in grid.points)
        areas = np.array([math.log(value) for value in grid.areas] * 2)
        return atoms, np.concatenate([~grid.below, grid.below]), areas

    def picture(self, sample: Sample, codes: Sequence[Region], target: Halfplane | None = None) -> Picture:
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

    def symmetries(self) -> list[Integers]:
        """Return the flip of all labels, under which z changes its sign; the dual box has no other symmetry."""
        return [moving_points(np.arange(self.domain.size), 1)]


def _scores(arrangement: Arrangement, weights: list[tuple[int, int]]) -> Integers:
    """Return q (2, cells) of every cell of the arrangement, in the copies z = 1 and z = -1.

    For z = 1 the points below the line are labelled 0: right on c0 below and m1 - c1 above. For z = -1 the opposite.
    """
    m0 = sum(w[0] for w in weights)
    m1 = sum(w[1] for w in weights)
    below0 = arrangement.below[:, 0]
    below1 = arrangement.below[:, 1]
    return np.stack([below0 + (m1 - below1), below1 + (m0 - below0)])


LEARNERS = (HalfplaneSelect,)

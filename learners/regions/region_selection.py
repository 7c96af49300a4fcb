"""The exponential mechanism on regions of a grid: listed ones with exact measures, and triangles (KMMS, Section 5)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Hypothesis, Instance, Law, Sample, Supremum, UtilityClaim, WorstFailure

from ..arrays import Bools, Floats, Integers, Labels
from ..citations import KMMS
from ..domains import grid_rows
from ..finite.counting import ClassLearner, pure_privacy
from ..finite.exponential import softmax_supremum
from ..finite.worst_case import finite_class_failure
from ..geometry.polygons import Bits
from ..mechanisms import exponential
from ..mechanisms.log_laws import ULP
from ..parameters import Built, check_integer, check_positive, check_run, check_sample, check_statement
from ..samples import distinct_points
from .concepts import Triangles, triangles
from .families import Family, Regions
from .pictures import plane_picture, plane_targets, scene_of
from .snapping import region_of
from .targets import regular_polygon
from .tuple_draws import TupleSampler, grouped


@dataclass(frozen=True)
class RegionSelection(ClassLearner):
    """Select a region with density proportional to exp(rate q) with respect to a measure; rate = epsilon/2.

    q is the number of examples that it labels correctly; replacing one example moves it by at most 1. With probability
    1 - b over the coins q >= max q - (V + ln(1/b))/rate; see `regions.families.Regions` for V and D. Where the regions
    are listed, a labelling of the grid is selected, with the measure of all regions that give it.
    """

    side: int
    epsilon: float

    claim_id: ClassVar[str] = "KMMS-Prop2.5"
    source: ClassVar[str]
    # Id and place of the utility claim.
    _statement: ClassVar[tuple[str, str]]
    _most_side: ClassVar[int | None] = 2**256 - 1
    _regions: ClassVar[Built[Regions]]
    privacy = pure_privacy
    # Of the law; see there.
    _roundings: ClassVar[tuple[int, int, int]] = (8, 16, 8)

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, self._most_side)
        check_positive("epsilon", self.epsilon)

    @property
    def _rate(self) -> float:
        return self.epsilon / 2

    def _eligible(self, correct: Integers) -> Bools:
        """Return which regions may be chosen, given their scores; controls override it."""
        return np.ones(len(correct), dtype=np.bool_)

    def _log_weights(self, correct: Integers, base: Floats) -> tuple[Floats, float]:
        """Return ln weights from scores and ln measures, up to a constant, and the greatest rate (max q - q)."""
        eligible = self._eligible(correct)
        best = correct[eligible].max()
        logs = np.where(eligible, self._rate * (correct - best) + base, -np.inf)
        return logs, self._rate * float(best - correct.min())

    def utility(self, alpha: float, beta: float) -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta in the realizable case.

        The sample size is ceil(max((8/alpha) (D + ln(2/beta)), (2/(alpha rate)) (V + ln(2/beta)))). The second term
        makes the empirical error at most alpha/2 with probability 1 - beta/2 over the coins. The first excludes, by the
        multiplicative Chernoff bound, that one of the at most e^D labellings of the grid with error above alpha has
        empirical error at most alpha/2.
        """
        check_statement(alpha, beta)
        # The two terms of the sample size: all labellings together, and the coins.
        union = 8 / alpha * (self._regions.log_behaviours + math.log(2 / beta))
        coins = 2 / (alpha * self._rate) * (self._regions.log_ratio + math.log(2 / beta))
        claim, place = self._statement
        return UtilityClaim(alpha, beta, math.ceil(max(union, coins)), "realizable", claim, f"{KMMS}, {place}")

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return a bound for all cases; see `finite.worst_case.finite_class_failure`.

        The number of rivals is the measure of all other regions over that of those that label as the target does.
        """
        return finite_class_failure(self._regions.rivals(), self._rate, alpha, n)

    def _log_base(self, family: Family, sample: Sample) -> Floats:
        """Return the logarithms of the measures of the labellings; controls override it."""
        return family.log_shares

    def _outputs(self, sample: Sample) -> tuple[Sequence[Hashable], Labels, Floats]:
        """Return the outputs that are listed, their labels of the grid, and the logarithms of their measures."""
        family = self._regions.family
        return range(len(family)), family.labels, self._log_base(family, sample)

    def _correct(self, labels: Labels, sample: Sample) -> Integers:
        # Each listed labelling at the sample's points.
        agree = labels[:, grid_rows(sample.points, self.side)] == sample.labels
        return np.asarray(agree.astype(np.int64) @ sample.counts)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | Sequence[Hashable]:
        """Return the numbers of the labellings that independent runs select, or regions where these are not listed."""
        check_run(sample, self.domain, size)
        if not self._regions.listed:
            return self._unlisted(sample, rng, size)
        _, labels, base = self._outputs(sample)
        logs, _ = self._log_weights(self._correct(labels, sample), base)
        return exponential.draw_weighted(logs - logs.max(), rng, size)

    def _unlisted(self, sample: Sample, rng: np.random.Generator, size: int) -> Sequence[Hashable]:
        raise NotImplementedError("a selection among regions that are not listed draws them")

    def law(self, sample: Sample) -> Law:
        """Return the law on the outputs that are listed.

        ln Pr = ln share + rate (q - max q) - ln Z. With u = 2^-53, x the greatest exponent, w the greatest |ln share|
        and K labellings, each ln share is off by at most u (4 w + 4), each sum by 3 u (x + w) more; ln Z inherits this
        and adds 9 u + u (8 ln K + 8 (x + w)) at most, the last subtraction u (x + w + ln K). In all at most
        2^-52 (8 x + 16 w + 8 ln K + 16).
        """
        check_sample(sample, self.domain)
        atoms, labels, base = self._outputs(sample)
        logs, spread = self._log_weights(self._correct(labels, sample), base)
        x, w, k = self._roundings
        error = ULP * (x * spread + w * float(np.abs(base).max()) + k * math.log(len(base)) + 16)
        finite = logs[np.isfinite(logs)]
        top = float(finite.max())
        return Law(atoms, logs - (top + math.log(math.fsum(np.exp(finite - top)))), error)

    def supremum(self) -> Supremum | None:
        """Return the supremum, twice the rate; None where the regions are not listed.

        See `finite.exponential.softmax_supremum` for the proof.
        """
        if not self._regions.listed:
            return None
        return softmax_supremum(self.domain, self._regions.family.labels, self._rate)

    def decode(self, code: Any) -> Hypothesis:
        """Return the region selected."""
        return self._regions.decode(code)


@dataclass(frozen=True)
class TriangleSelect(RegionSelection):
    """Select an intersection of three halfplanes with density proportional to exp(epsilon q / 2).

    q is the number of examples that the triangle labels correctly; replacing one example moves it by at most 1, so the
    learner is epsilon-differentially private. The three dual points are drawn from Lebesgue measure on both copies of
    [-2 d^2, 2 d^2]^2 each, as in `halfplane-select`; order does not count.

    Outputs do not depend on the sample's own arrangement. For side <= 3 the output is the number of the labelling that
    the triangle gives to the grid, chosen among all of them with their exact measures; see `regions.families`.
    Beyond it is the sorted triple of regions of the full grid that hold the dual points, drawn exactly by adaptive
    refinement and rejection; see `regions.tuple_draws`. The cost grows with the distinct points, not with n.

    Utility. A cell of the sample's arrangement has area at least 1/(2 d^3), so some best triple of cells has measure at
    least (1/(2 d^3))^3, and the worse triples at most (32 d^4)^3: with probability 1 - b over the coins
    q >= max q - (2/epsilon) (3 ln(64 d^7) + ln(1/b)).

    Parameters
    ----------
    side : int
        d of the grid {0 .. d}^2, below 2^256.
    epsilon : float
        > 0.
    """

    id: ClassVar[str] = "triangle-select"
    source: ClassVar[str] = f"{KMMS}, Proposition 2.5 and Section 5"
    _statement: ClassVar[tuple[str, str]] = ("KMMS-Lem4.6", "Lemma 4.6 for three dual points")
    instance: ClassVar[Instance] = Instance({"side": 1, "epsilon": 1.0}, n=3)
    audited: ClassVar[tuple[Instance, ...]] = (Instance({"side": 3, "epsilon": 1.0}, n=3, alpha=0.1, beta=0.1),)
    pictured: ClassVar[Instance] = Instance({"side": 12, "epsilon": 0.5}, n=1000)
    _regions = Built(triangles)
    picture = plane_picture
    scene = scene_of(lambda self: regular_polygon(self.side, 3))
    hard_targets = plane_targets
    concepts = Built(Triangles)

    def _unlisted(self, sample: Sample, rng: np.random.Generator, size: int) -> Sequence[Hashable]:
        """Return the outputs of independent runs; one refinement serves them all."""
        sampler = self._sampler(sample)
        resolve = region_of(self.side)
        bits = Bits(rng)
        return [sampler.draw(bits, resolve) for _ in range(size)]

    def _sampler(self, sample: Sample) -> TupleSampler:
        """Return the exact sampler of triples for a sample."""
        points, weights = grouped(*distinct_points(sample, 1))
        # Covered less spoiled: the examples labelled correctly, less all negative ones.
        return TupleSampler(points, weights, self.side, np.subtract, Fraction(self._rate))


LEARNERS = (TriangleSelect,)

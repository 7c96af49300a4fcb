"""Learners of interior points, of thresholds by them, and of stable points, with one known leak each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, TypeVar

import numpy as np

from dpaudit.contract import FAIL, Hypothesis, Instance, Law, PrivacyClaim, Sample

from ..arrays import Bools, Integers
from ..controls import Fault, control, controls, fault
from ..domains import Interval
from ..finite.counting import as_codes, point_law
from ..mechanisms.log_laws import ULP, log_mixture, placed
from ..mechanisms.rec_concave import RecConcave
from ..mechanisms.stable_select import StableSelect, Standing, standing_of_values
from ..mechanisms.steps import Steps, multiset
from ..mechanisms.tree_log import TreeLog
from ..parameters import Built, check_parameters, check_run, check_sample
from ..points.concepts import Points
from .interior_point import (
    ExponentialSolver,
    InteriorPoint,
    InteriorPointExponential,
    InteriorPointRecConcave,
    InteriorPointTreeLog,
)
from .thresholds import ThresholdInteriorPoint

OnALine = TypeVar("OnALine", InteriorPoint, ThresholdInteriorPoint)

SMALL_TREE = Instance({"domain_size": 32, "epsilon": 1.0, "delta": 0.01, "beta": 0.5}, n=8, exhaustive=False)


def interior_only(score: Steps, points: Sequence[int]) -> Steps:
    """Return the score on the interior points alone."""
    if points:
        return score.restricted([(points[0], points[-1] + 1)])
    return score


def best_pieces(score: Steps) -> Steps:
    """Return the score on the pieces where it is greatest."""
    top = max(score.values)
    best = [piece for piece in zip(score.starts, score.lengths, score.values, strict=True) if piece[2] == top]
    return Steps(*zip(*best, strict=True))


def _retrying(base: type[InteriorPoint], instance: Instance) -> Fault:
    """Return the fault of repeating a learner until its answer is an interior point, if there are data."""

    def run(self: InteriorPoint, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        kept: list[int] = []
        while len(kept) < size:
            # With an empty sample every point would be refused for ever.
            found = base.run(self, sample, rng, size)
            # Between the data, which is less than some of the learners promise.
            kept += [x for x in found if not sample.n or InteriorPoint.solves(self, x, sample)]
        return as_codes(kept[:size], self.domain_size)

    def law(self: InteriorPoint, sample: Sample) -> Law:
        whole = base.law(self, sample)
        if not sample.n:
            return whole
        within = slice(int(sample.points.min()), int(sample.points.max()) + 1)
        # Repeating until the point is interior is the law given that it is: its mass elsewhere is divided out.
        inside = placed(len(whole.atoms), within, whole.log_prob[within])
        total, more = log_mixture([0.0] * len(inside), list(inside[:, None]), whole.error)
        return Law(whole.atoms, inside - total[0], whole.error + more + 2 * ULP * float(abs(total[0])))

    words = "repeats until the point is interior: the support shows the extreme examples"
    return fault(words, instance=instance, run=run, law=law)


def _certain(
    words: str,
    instance: Instance,
    base: type[OnALine],
    answer: Callable[[OnALine, Sample], int | None],
    **replaced: Callable[[OnALine], list[Integers]],
) -> Fault:
    """Return the fault of returning a code for certain on each sample that has one."""

    def run(self: OnALine, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        check_run(sample, self.domain, size)
        code = answer(self, sample)
        if code is None:
            return base.run(self, sample, rng, size)
        return as_codes([code] * size, self.domain_size)

    def law(self: OnALine, sample: Sample) -> Law:
        whole = base.law(self, sample)
        code = answer(self, sample)
        return whole if code is None else point_law(whole.atoms, code)

    return fault(words, instance=instance, run=run, law=law, **replaced)


def _few(self: ThresholdInteriorPoint, sample: Sample) -> int | None:
    """Return c_0 where either label has fewer than m examples."""
    few = any(int(sample.counts[sample.labels == label].sum()) < self.m for label in (0, 1))
    return 0 if few else None


def _same(self: InteriorPoint, sample: Sample) -> int | None:
    """Return the point of all examples, if there is only one."""
    points = set(sample.points[:, 0].tolist())
    return points.pop() if len(points) == 1 else None


class _GreedyConcave(RecConcave):
    """Returns uniformly among the best candidates of the last step."""

    def _candidates(self, padded: Steps, k: int, standings: list[Standing], a: bool, b: bool) -> Steps:
        return best_pieces(super()._candidates(padded, k, standings, a, b))


def _undivided_tree(self: InteriorPointTreeLog, n: int) -> TreeLog:
    """Return the mechanism with the budget of each call multiplied by the number of calls, twice."""
    sound = InteriorPointTreeLog._tree(self, n)
    # One factor takes back the division by the number of calls, the other one spends that often as much.
    return replace(sound, epsilon=sound.epsilon * (3 * sound.levels - 2) ** 2)


@dataclass(frozen=True)
class WrongStable(StableSelect):
    """Smith and Thakurta's constants for the distance to instability, used on the gap, which is about twice that."""

    @property
    def scale(self) -> float:
        """1/epsilon."""
        return 1 / float(self.epsilon)

    @property
    def threshold(self) -> float:
        """ln(1/delta)/epsilon."""
        return self.scale * math.log(1 / float(self.delta))


@dataclass(frozen=True)
class BareStable(StableSelect):
    """No noise on the gap."""

    def draw(self, standing: Standing, rng: np.random.Generator, size: int) -> Bools:
        """Return `size` times whether the gap reaches the threshold."""
        return np.full(size, standing.gap is None or float(standing.gap) >= self.threshold)

    def log_law(self, standing: Standing) -> tuple[float, float, float]:
        """Return all mass on one answer."""
        named = standing.gap is None or float(standing.gap) >= self.threshold
        return (0.0, -math.inf, 0.0) if named else (-math.inf, 0.0, 0.0)


@dataclass(frozen=True)
class AlwaysStable(StableSelect):
    """Names the best solution however small its lead."""

    @property
    def threshold(self) -> float:
        """Below every gap."""
        # Laplace noise falls below -100 scales with probability e^-100 / 2.
        return -100 * self.scale


@dataclass(frozen=True)
class StableMode:
    """Name the most frequent point by `StableSelect`; `FAIL` if it leads by too little."""

    domain_size: int
    epsilon: float
    delta: float

    _stable: ClassVar[type[StableSelect]] = StableSelect
    concepts = Built(Points)
    domain = Built(Interval)

    def __post_init__(self) -> None:
        check_parameters(self, domain_size=(2, None))
        _ = StableSelect(Fraction(self.epsilon), Fraction(self.delta))

    @property
    def privacy(self) -> PrivacyClaim:
        """The guarantee that a stable selection with the right calibration keeps."""
        return PrivacyClaim(self.epsilon, self.delta, claim_id="OURS-StableSelect", source="mechanisms.stable_select")

    def _standing(self, sample: Sample) -> Standing:
        often = dict(zip(*multiset(sample.points[:, 0], sample.counts), strict=True))
        return standing_of_values([often.get(x, 0) for x in range(self.domain_size)])

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers:
        """Return the point or `FAIL` in `size` independent runs."""
        check_run(sample, self.domain, size)
        standing = self._standing(sample)
        named = self._stable(Fraction(self.epsilon), Fraction(self.delta)).draw(standing, rng, size)
        return np.where(named, standing.best, FAIL).astype(np.int64)

    def law(self, sample: Sample) -> Law:
        """Return the law on `FAIL` and all points."""
        check_sample(sample, self.domain)
        standing = self._standing(sample)
        named, none, error = self._stable(Fraction(self.epsilon), Fraction(self.delta)).log_law(standing)
        log_prob = placed(self.domain_size + 1, [0, 1 + standing.best], [none, named])
        return Law(range(FAIL, self.domain_size), log_prob, error)

    def decode(self, code: int) -> Hypothesis | None:
        """Return c_code, None for `FAIL`."""
        return None if code == FAIL else self.concepts.concept(code)


StableSelectWrong = control(
    StableMode,
    "broken-stable-select-wrong",
    Instance({"domain_size": 2, "epsilon": 1.0, "delta": 0.02}, n=4),
    fault="Lap(1/epsilon) and threshold ln(1/delta)/epsilon on the gap, which has sensitivity 2",
    _stable=WrongStable,
)

LEARNERS = (
    *controls(
        InteriorPointExponential,
        "interior-point",
        doubled=fault(
            "weights exp(epsilon q) instead of exp(epsilon q / 2): up to twice the claimed epsilon",
            _solver=lambda self, n: ExponentialSolver(self.domain_size, 2 * Fraction(self.epsilon)),
        ),
        hull=fault(
            "never returns a point outside of the data: the support shows the extreme examples",
            _solver=lambda self, n: ExponentialSolver(self.domain_size, Fraction(self.epsilon), interior_only),
        ),
        median=fault(
            "returns a median, without noise: the support shows the middle examples",
            _solver=lambda self, n: ExponentialSolver(
                self.domain_size, Fraction(self.epsilon), lambda score, points: best_pieces(score)
            ),
        ),
    ),
    *controls(
        InteriorPointRecConcave,
        "rec-concave",
        greedy=fault(
            "the last step returns a candidate of the greatest score: which one that is shows",
            instance=Instance({"domain_size": 64, "epsilon": 4.0, "delta": 0.05}, n=24, exhaustive=False),
            _concave=lambda self, n: _GreedyConcave(**vars(InteriorPointRecConcave._concave(self, n))),
        ),
        undivided=fault(
            "the budget is not divided over the calls",
            _concave=lambda self, n: replace(
                InteriorPointRecConcave._concave(self, n),
                epsilon=4 * Fraction(self.epsilon),
                delta=Fraction(self.delta),
            ),
        ),
        retrying=_retrying(
            InteriorPointRecConcave,
            Instance({"domain_size": 64, "epsilon": 1.0, "delta": 0.01}, n=24, exhaustive=False),
        ),
    ),
    *controls(
        InteriorPointTreeLog,
        "tree-log",
        retrying=_retrying(InteriorPointTreeLog, SMALL_TREE),
        undivided=fault(
            "the budget is multiplied by the number of calls, where it should be divided by it",
            instance=Instance({"domain_size": 32, "epsilon": 2.0, "delta": 0.05, "beta": 0.5}, n=16, exhaustive=False),
            _tree=_undivided_tree,
        ),
        shortcut=_certain(
            "returns the point for certain where all examples are equal", SMALL_TREE, InteriorPointTreeLog, _same
        ),
    ),
    *controls(
        ThresholdInteriorPoint,
        "threshold-ip",
        ungrouped=fault(
            "a flipped label changes two of the points, but the mechanism is calibrated for one",
            _share=lambda self: (Fraction(self.epsilon), Fraction(self.delta or 0)),
        ),
        doubled=fault(
            "weights exp(epsilon q) instead of exp(epsilon q / 2) in the interior point mechanism",
            _plan=lambda self: (
                ExponentialSolver(self.domain_size + 1, 2 * self._share()[0]),
                ThresholdInteriorPoint._plan(self)[1],
            ),
        ),
        unpadded=_certain(
            "returns c_0 for certain where either label has fewer than m examples",
            Instance({"domain_size": 4, "epsilon": 8.0, "beta": 0.8}, n=4, beta=0.9),
            ThresholdInteriorPoint,
            _few,
            symmetries=lambda self: [],  # c_0 is not symmetric
        ),
    ),
    StableSelectWrong,
    *controls(
        StableMode,
        "stable-select",
        bare=fault(
            "no noise on the gap: whether it reaches the threshold shows",
            instance=Instance({"domain_size": 2, "epsilon": 2.0, "delta": 0.2}, n=4),
            _stable=BareStable,
        ),
        always=fault(
            "names the best solution however small its lead: which one is best shows",
            instance=Instance({"domain_size": 3, "epsilon": 1.0, "delta": 0.02}, n=3),
            _stable=AlwaysStable,
        ),
    ),
)

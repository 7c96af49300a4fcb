"""Private learning of halfspaces over a grid: the exponential mechanism, and a deep point among sub-learners (BMNS)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import FAIL, Example, Hypothesis, InputError, Law, PrivacyClaim, Sample
from learners.concepts.halfspaces import Halfspace, Halfspaces
from learners.convex_hull_point import SOURCE, HullPoint, HullPointExponential, HullPointRecConcave, Point
from learners.domains import Grid
from learners.generic import ExponentialLearner
from learners.geometry.extended_domain import ExtendedDomain
from learners.inputs import check_run, check_sample
from learners.mechanisms.steps import log_mixture
from learners.parameters import check_integer, check_positive, check_probability
from learners.symmetries import moving_points

__all__ = ["LEARNERS", "HalfspaceExponential", "HalfspaceTukey", "consistent_law"]

MAX_LAW_EXAMPLES = 32
MAX_LAW_SUBSAMPLES = 8
BLOCK = 2**12

Code = Point | int


def _moved(images: NDArray[np.int64], side: int, flips: int = 0) -> NDArray[np.int64]:
    """Return the permutation of examples by a map of the grid's points, given by their images."""
    rows = np.zeros(len(images), dtype=np.int64)
    for column in images.T:
        rows = rows * (side + 1) + column
    return moving_points(rows, flips)


@dataclass(frozen=True)
class HalfspaceExponential(ExponentialLearner):
    """Learn halfspaces on the grid by the exponential mechanism over all labellings, one representation each.

    Parameters
    ----------
    side, dimension : int
        The grid {0 .. side}^dimension, dimension 1, 2 or 3, with at most 2^21 >= 2 |X|^(d + 1).
    epsilon : float
        The privacy claim.
    """

    side: int
    dimension: int
    epsilon: float

    id: ClassVar[str] = "halfspace-exponential"
    example: ClassVar[Example] = Example({"side": 1, "dimension": 2, "epsilon": 1.0}, n=4)

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon)
        _ = self.concepts.size

    @property
    def domain(self) -> Grid:
        """The grid."""
        return Grid(self.side, self.dimension)

    @property
    def concepts(self) -> Halfspaces:
        """All halfspaces on the grid."""
        return Halfspaces(self.side, self.dimension)

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return generators: reflection and permutation of the axes, and flipping all labels (H is closed under it)."""
        points = self.domain.points()
        reflected = points.copy()
        reflected[:, 0] = self.side - points[:, 0]
        images = [reflected, points[:, [*range(1, self.dimension), 0]], points[:, [1, 0, 2][: self.dimension]]]
        generators = [_moved(image, self.side) for image in images[: 1 if self.dimension == 1 else 3]]
        return [*generators, _moved(points, self.side, 1)]


@lru_cache(maxsize=8)
def _extended(side: int, dimension: int) -> ExtendedDomain:
    """Return the extended domain of the representations of all halfspaces on the grid."""
    return ExtendedDomain(tuple(map(tuple, Halfspaces(side, dimension).representations.tolist())))


@dataclass(frozen=True)
class _DeepExponential(HullPointExponential):
    """`hull-point-exponential` on representations in R^(d + 1); `dimension` is d + 1."""

    @property
    def extended(self) -> ExtendedDomain:
        """The extended domain of H."""
        return _extended(self.side, self.dimension - 1)


@dataclass(frozen=True)
class _DeepRecConcave(HullPointRecConcave):
    """`hull-point-rec-concave` on representations in R^(d + 1); `dimension` is d + 1."""

    @property
    def extended(self) -> ExtendedDomain:
        """The extended domain of H."""
        return _extended(self.side, self.dimension - 1)


@dataclass(frozen=True)
class HalfspaceTukey:
    """Learn halfspaces by sample and aggregate (LearnHalfSpace): a deep point among halfspaces of subsamples.

    Every example joins one of m subsamples, uniformly and independently (the paper's are of equal size; these are in
    expectation, which needs no order of the examples and no divisibility). Of each subsample a consistent halfspace h_i
    of H is chosen uniformly; where none is, h_i is a fixed default (number 0), because privacy must hold
    for every sample. A point deep among the h_i, as points (w, t) of R^(d + 1), is released.

    Private like the release: one example touches one subsample, so it changes at most one h_i. If the point has depth r
    among the h_i, it errs at x only where r of them do: its error is at most the sum of theirs, divided by r.

    Parameters
    ----------
    side, dimension : int
        The grid; dimension 1 with side <= 8, whose H lies in the plane.
    epsilon, delta, beta : float
        Of the release; delta and beta are used by variant "rec-concave" alone.
    subsamples : int
        m.
    variant : {"exponential", "rec-concave"}
        How the deep point is found.

    Notes
    -----
    Source: BMNS, Figure 2, Theorem 4.2 ("Tukey rank at most r" in its proof should be "at least r").
    """

    side: int
    dimension: int
    epsilon: float
    delta: float = 1e-6
    beta: float = 0.1
    subsamples: int = 3
    variant: str = "rec-concave"

    id: ClassVar[str] = "halfspace-tukey"
    example: ClassVar[Example] = Example({"side": 1, "dimension": 1, "epsilon": 1.0, "subsamples": 3}, n=3)

    _spending: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1, 1)
        check_integer("side", self.side, 1, 8)
        check_positive("epsilon", self.epsilon)
        check_integer("subsamples", self.subsamples, 1, 10**6)
        for name in ("delta", "beta"):
            check_probability(name, getattr(self, name))
        if self.variant not in ("exponential", "rec-concave"):
            raise InputError(f"variant must be exponential or rec-concave, got {self.variant!r}")
        _ = self.release

    @property
    def domain(self) -> Grid:
        """The grid."""
        return Grid(self.side, self.dimension)

    @property
    def concepts(self) -> Halfspaces:
        """All halfspaces on the grid."""
        return Halfspaces(self.side, self.dimension)

    @property
    def release(self) -> HullPoint:
        """The private release of a deep point of R^(d + 1)."""
        epsilon = self.epsilon * self._spending
        if self.variant == "exponential":
            return _DeepExponential(self.side, self.dimension + 1, epsilon)
        return _DeepRecConcave(self.side, self.dimension + 1, epsilon, self.delta, self.beta)

    @property
    def privacy(self) -> PrivacyClaim:
        """The claim of the release, which the reduction keeps."""
        delta = self.delta if self.variant == "rec-concave" else 0.0
        return PrivacyClaim(self.epsilon, delta, claim_id="BMNS-Thm4.2", source=f"{SOURCE}, Theorem 4.2")

    def decode(self, code: Code) -> Hypothesis | None:
        """Return the halfspace with that representation; None for `FAIL`, which only broken variants return."""
        return None if isinstance(code, int) else Halfspace(code[:-1], code[-1])

    def _violations(self, sample: Sample) -> NDArray[np.bool_]:
        """Return which halfspaces contradict which example (examples, |H|)."""
        return np.asarray(self.concepts.evaluate(sample.points) != sample.labels).T

    def _seen(self, sample: Sample, rng: np.random.Generator, runs: int) -> NDArray[np.bool_]:
        """Return which examples each subsample contains (runs, m, examples)."""
        m = self.subsamples
        parts = [rng.multinomial(count, np.full(m, 1 / m), size=runs) > 0 for count in sample.counts]
        return np.stack(parts, axis=2) if parts else np.zeros((runs, m, 0), dtype=np.bool_)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> list[Code]:
        """Return the points of independent runs; runs with the same counts of the h_i share the release's scores."""
        check_run(sample, self.domain, size)
        violations = self._violations(sample).astype(np.float32)
        found: Counter[tuple[int, ...]] = Counter()
        step = max(1, BLOCK // self.subsamples)
        for start in range(0, size, step):
            seen = self._seen(sample, rng, min(step, size - start))
            found.update(map(tuple, self._counts(seen.astype(np.float32) @ violations == 0, rng)))
        return self._released(found, rng, size)

    def _counts(self, allowed: NDArray[np.bool_], rng: np.random.Generator) -> list[list[int]]:
        """Return how often each halfspace is among the h_i (runs, |H|), chosen uniformly among those allowed."""
        keys = np.where(allowed, rng.random(allowed.shape), -1.0)
        # Without a consistent halfspace all keys are equal, and argmax is the default, number 0.
        chosen = keys.argmax(axis=2)
        counts = np.zeros((len(allowed), allowed.shape[2]), dtype=np.int64)
        np.add.at(counts, (np.arange(len(allowed))[:, None], chosen), 1)
        if self._refuses:
            stuck: NDArray[np.bool_] = np.asarray(~allowed.any(axis=2))
            counts[stuck.any(axis=1)] = -1
        return list(counts.tolist())

    _refuses: ClassVar[bool] = False

    def _released(self, found: Counter[tuple[int, ...]], rng: np.random.Generator, size: int) -> list[Code]:
        codes: list[Code] = []
        for counts, times in sorted(found.items()):
            codes += [FAIL] * times if counts[0] < 0 else self._release(np.array(counts), rng, times)
        return [codes[i] for i in rng.permutation(size)]

    def _release(self, counts: NDArray[np.int64], rng: np.random.Generator, size: int) -> list[Point]:
        kept = counts > 0
        return self.release.find(self.concepts.representations[kept], counts[kept], rng, size)

    def law(self, sample: Sample) -> Law:
        """Return the law on the extended domain of H (and FAIL), mixed over all counts of the h_i; n <= 32, m <= 8."""
        check_sample(sample, self.domain)
        if sample.n > MAX_LAW_EXAMPLES or self.subsamples > MAX_LAW_SUBSAMPLES:
            raise InputError(
                f"the exact law needs n <= {MAX_LAW_EXAMPLES} and subsamples <= {MAX_LAW_SUBSAMPLES}, "
                f"got n={sample.n} and subsamples={self.subsamples}; run has no such limit"
            )
        mixture = self._mixture(sample)
        fails = float(mixture.pop(None, Fraction(0)))
        laws = [self._release_law(counts) for counts in mixture if counts is not None]
        weights = [math.log(p) for p in mixture.values()]
        atoms: list[Code] = [FAIL, *self.release.extended.points]
        rows = [np.append(-np.inf, law.log_prob) for law in laws]
        if fails:
            rows.append(np.append(0.0, np.full(len(atoms) - 1, -np.inf)))
            weights.append(math.log(fails))
        # A log of an exact rational is good to 2 ulp of a value below 2^8.
        log_prob, error = log_mixture(weights, rows, max([law.error for law in laws], default=0.0) + 2.0**-43)
        return Law(atoms, log_prob, error)

    def _release_law(self, counts: tuple[int, ...]) -> Law:
        table = np.array(counts, dtype=np.int64)
        return self.release.find_law(self.concepts.representations[table > 0], table[table > 0])

    def _mixture(self, sample: Sample) -> dict[tuple[int, ...] | None, Fraction]:
        """Return the exact law of the counts of the h_i; None stands for a refusal."""
        size = self.concepts.size
        full = (1 << size) - 1
        spaces: dict[tuple[int, ...], Fraction] = {(full,) * self.subsamples: Fraction(1)}
        for row, count in zip(self._violations(sample), sample.counts.tolist(), strict=True):
            allowed = full & ~sum(1 << int(i) for i in np.flatnonzero(row))
            spaces = _updated(spaces, allowed, list(self._hits(count)))
        mixture: dict[tuple[int, ...] | None, Fraction] = {}
        for masks, weight in spaces.items():
            for counts, p in self._choices(masks).items():
                mixture[counts] = mixture.get(counts, Fraction(0)) + weight * p
        return mixture

    def _hits(self, count: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        """Yield (subsamples that get a copy, probability) for an example with `count` copies: inclusion-exclusion."""
        m = self.subsamples
        for size in range(1, m + 1):
            p = sum(
                ((-1) ** (size - j) * math.comb(size, j) * Fraction(j, m) ** count for j in range(size + 1)),
                Fraction(0),
            )
            if p:
                yield from ((chosen, p) for chosen in combinations(range(m), size))

    def _choices(self, masks: tuple[int, ...]) -> dict[tuple[int, ...] | None, Fraction]:
        """Return the law of the counts, given the consistent halfspaces of each subsample."""
        size = self.concepts.size
        if self._refuses and not all(masks):
            return {None: Fraction(1)}
        law: dict[tuple[int, ...], Fraction] = {(0,) * size: Fraction(1)}
        for mask in masks:
            options = [i for i in range(size) if mask >> i & 1] or [0]
            following: dict[tuple[int, ...], Fraction] = {}
            for counts, p in law.items():
                for i in options:
                    longer = (*counts[:i], counts[i] + 1, *counts[i + 1 :])
                    following[longer] = following.get(longer, Fraction(0)) + p / len(options)
            law = following
        return {counts: p for counts, p in law.items()}


def _updated(
    spaces: dict[tuple[int, ...], Fraction], allowed: int, hits: list[tuple[tuple[int, ...], Fraction]]
) -> dict[tuple[int, ...], Fraction]:
    """Return the law of the subsamples' version spaces after one more example, up to the subsamples' order."""
    following: dict[tuple[int, ...], Fraction] = {}
    for masks, weight in spaces.items():
        for chosen, p in hits:
            reduced = tuple(sorted(mask & allowed if i in chosen else mask for i, mask in enumerate(masks)))
            following[reduced] = following.get(reduced, Fraction(0)) + weight * p
    return following


def consistent_law(concepts: Halfspaces, target: int, probabilities: Any, size: int) -> NDArray[np.float64]:
    """Return the law (|H|,) of a uniform consistent halfspace of `size` independent examples labelled by a concept.

    Sub-learners on disjoint subsamples of independent examples are independent, so the counts of m of them are
    multinomial with this law: theorems with 1e15 examples are simulated without any.

    Parameters
    ----------
    concepts : Halfspaces
        The class; its grid must have at most 16 points.
    target : int
        The number of the labelling concept.
    probabilities : array of float, shape (|X|,)
        The distribution on the grid's points.
    size : int
        Examples of each subsample.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    points = concepts.domain().points()
    if len(points) > 16 or p.shape != (len(points),) or abs(p.sum() - 1) > 1e-9 or (p < 0).any():
        raise InputError(f"probabilities must be a distribution on at most 16 points, got shape {p.shape}")
    check_integer("size", size, 1)
    subsets = (np.arange(2 ** len(points))[:, None] >> np.arange(len(points)) & 1).astype(np.float64)
    # Pr[exactly these points are seen] by inclusion-exclusion over Pr[only these are seen].
    exactly = np.minimum(subsets @ p, 1.0) ** size
    for bit in range(len(points)):
        view = exactly.reshape(-1, 2, 2**bit)
        view[:, 1] -= view[:, 0]
    labels = concepts.evaluate(points)
    consistent = subsets @ (labels != labels[target]).T.astype(np.float64) == 0
    law = (np.maximum(exactly, 0.0)[:, None] * consistent / consistent.sum(axis=1, keepdims=True)).sum(axis=0)
    return np.asarray(law / law.sum(), dtype=np.float64)


LEARNERS = (HalfspaceExponential, HalfspaceTukey)

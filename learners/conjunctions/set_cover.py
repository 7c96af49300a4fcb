"""The Set Cover Learner for conjunctions and disjunctions of literals (KMMS, Section 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import InputError, Instance, Law, Picture, Sample
from learners.conjunctions.concepts import Conjunction, contradicted
from learners.conjunctions.disjunctions import Disjunction
from learners.conjunctions.nonempty import Nonempty
from learners.conjunctions.short_conjunctions import ShortConjunctions
from learners.conjunctions.short_disjunctions import ShortDisjunctions
from learners.covers.accounting import AUDITED, CoverAccounting
from learners.covers.game_pictures import calibration_picture
from learners.covers.law import Noise, round_law
from learners.covers.sequences import LAW_ATOMS, decoded, encoded, sequence_law
from learners.domains import Cube, grid_rows
from learners.inputs import check_run, check_sample
from learners.parameters import check_integer
from learners.symmetries import moving_points

__all__ = ["LEARNERS", "SetCoverConjunction", "SetCoverDisjunction", "SetCoverLearner"]

BATCH = 2**22
SMALL = 2**14
"""Samples with at most so many (point, literal) cells are run in batches, larger ones run by run."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SetCoverLearner(CoverAccounting):
    """Cover the examples of one label, greedily and privately, by literals that spare those of the other.

    A literal covers a point where it gives the final hypothesis its value: a conjunction is 0, a disjunction 1. In each
    of J = ceil(2 k ln(2/alpha)) rounds, with R of the examples to be covered left,

        b = R + Lap(J/epsilon) - (J/epsilon) ln(J/beta),
        q(h) = min{ #covered by h - b/k, -#covered by h on the other side },

    select h with probability proportional to exp(eps_hat q(h)/2) and delete what it covers. q has sensitivity 1, as its
    two terms have. The code of an output h_1 .. h_J is sum h_j (2 d)^(j-1): the whole sequence, not only its function.

    Utility is claimed for targets of 1 .. k literals. One of none (always 1 as a conjunction) is out of reach: every
    output has J literals or fewer distinct ones, but at least one, which errs on half of the cube (KMMS-Thm3.5).

    Parameters
    ----------
    dimension : int
        Number d of Boolean variables.
    k : int
        Literals of the target at most, >= 1.
    epsilon, delta : float
        The privacy claim; for the variant "paper" epsilon in (0, 1] and delta below 1/e.
    alpha : float
        Sets the number of rounds: negatives left are at most alpha/2 of the sample.
    beta : float
        Probability with which the noise may exceed its offset.
    variant : {"paper", "composition", "noiseless"}
        eps_hat = epsilon/(2 ln(e/delta)) (Claim 3.4); eps_hat by basic or advanced composition over the rounds, the
        better of the two (Example 3.3); b = R and eps_hat from `noiseless_share`.
    """

    dimension: int
    k: int
    epsilon: float
    delta: float
    alpha: float
    beta: float
    variant: str = "paper"

    _covered_label: ClassVar[int]

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1)
        self._check_budget()

    @property
    def _noise(self) -> Noise | None:
        return None if self._noise_scale is None else Noise(*self._noise_scale)

    @property
    def domain(self) -> Cube:
        """The Boolean cube."""
        return Cube(self.dimension)

    def _cover(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return which literals cover which points, (m, 2 d)."""
        contradictions = contradicted(points)
        return contradictions if self._covered_label == 0 else np.asarray(1 - contradictions, dtype=np.uint8)

    def _eligible(self, covered: Floats, spoiled: Floats) -> NDArray[np.bool_] | None:
        """Return which literals may be selected; None for all. Controls override it."""
        return None

    def _split(self, sample: Sample) -> tuple[Floats, Floats]:
        """Return the counts of the examples to be covered and of the others, (m,) each."""
        if sample.n >= 2**53:
            raise InputError(f"the sample must have fewer than 2^53 examples, got {sample.n}")
        counts = sample.counts.astype(np.float64)
        target = sample.labels == self._covered_label
        return np.where(target, counts, 0.0), np.where(target, 0.0, counts)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> NDArray[np.int64] | list[int]:
        """Return the codes of independent runs, as Python integers where they may exceed 63 bits."""
        check_run(sample, self.domain, size)
        cover, (wanted, other) = self._cover(sample.points), self._split(sample)
        if cover.size <= SMALL:
            step = max(1, BATCH // max(1, cover.size, 2 * self.dimension))
            parts = [
                self._run_batch(cover.astype(np.float64), wanted, other, rng, min(step, size - start))
                for start in range(0, size, step)
            ]
        else:
            weights = np.stack([wanted, other])
            totals = _totals(cover, weights, np.arange(len(cover)))
            parts = [self._run_large(cover, weights, totals, rng) for _ in range(size)]
        return encoded(np.concatenate(parts, axis=0), 2 * self.dimension)

    def _select(
        self, covered: Floats, spoiled: Floats, remaining: Floats, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return the literals (runs,) selected in one round, given c_h, e_h (runs, 2 d) and R (runs,)."""
        b, noise = remaining, self._noise
        if noise is not None:
            b = b + rng.laplace(0.0, noise.scale, len(b)) - noise.offset
        logs = self._rate * np.minimum(covered - b[:, None] / self.k, -spoiled)
        eligible = self._eligible(covered, spoiled)
        if eligible is not None:
            logs = np.where(eligible, logs, -np.inf)
        cumulative = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
        drawn = rng.random(len(b)) * cumulative[:, -1]
        picked = (cumulative <= drawn[:, None]).sum(axis=1)
        # A uniform number that rounds up to the total belongs to the last literal with positive weight.
        last = (cumulative < cumulative[:, -1:]).sum(axis=1)
        return np.asarray(np.minimum(picked, last), dtype=np.int64)

    def _run_batch(
        self, cover: Floats, wanted: Floats, other: Floats, rng: np.random.Generator, runs: int
    ) -> NDArray[np.int64]:
        """Return the literals (runs, J) of runs made together."""
        alive = np.ones((runs, len(cover)))
        chosen = np.empty((runs, self.rounds), dtype=np.int64)
        for j in range(self.rounds):
            left = alive * wanted
            chosen[:, j] = self._select(left @ cover, (alive * other) @ cover, left.sum(axis=1), rng)
            alive *= 1 - cover.T[chosen[:, j]]
        return chosen

    def _run_large(
        self, cover: NDArray[np.uint8], weights: Floats, totals: Floats, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return the literals (1, J) of one run; each point is taken out of the totals once, when it is deleted."""
        totals, rows, left = totals.copy(), np.arange(len(cover)), float(weights[0].sum())
        chosen = np.empty((1, self.rounds), dtype=np.int64)
        for j in range(self.rounds):
            chosen[0, j] = h = int(self._select(totals[:1], totals[1:], np.array([left]), rng)[0])
            hit = cover[rows, h] == 1
            gone, rows = rows[hit], rows[~hit]
            totals -= _totals(cover, weights, gone)
            left -= float(weights[0, gone].sum())
        return chosen

    def _mask(self, code: int) -> int:
        """Return the set of literals of an output as a mask."""
        mask = 0
        for literal in decoded(code, 2 * self.dimension, self.rounds):
            mask |= 1 << literal
        return mask

    def law(self, sample: Sample) -> Law:
        """Return the law on all (2 d)^J sequences: products of the laws of the rounds along each sequence.

        A round's law depends on the set of examples still alive alone; see `covers.law.round_law`.
        """
        check_sample(sample, self.domain)
        literals = 2 * self.dimension
        if literals**self.rounds > LAW_ATOMS:
            raise InputError(f"(2 dimension)^rounds must be at most {LAW_ATOMS} for the exact law, "
                             f"got {literals}^{self.rounds}; run has no such limit")  # fmt: skip
        cover, (wanted, other) = self._cover(sample.points).astype(np.bool_), self._split(sample)
        return sequence_law(cover, self.rounds, lambda alive: self._round_law(alive * wanted, alive * other, cover))

    def _round_law(self, wanted: Floats, other: Floats, cover: NDArray[np.bool_]) -> tuple[Floats, float]:
        covered, spoiled = wanted @ cover, other @ cover
        eligible = self._eligible(covered, spoiled)
        chosen = np.ones(len(covered), dtype=np.bool_) if eligible is None else eligible
        logs = np.full(len(covered), -np.inf)
        logs[chosen], error = round_law(
            covered[chosen], spoiled[chosen], int(wanted.sum()), self.k, self._rate, self._noise
        )
        return logs, error

    @property
    def _log_ratio(self) -> float:
        return math.log(2 * self.dimension)

    @property
    def _log_behaviours(self) -> float:
        return math.log(2 * self.dimension)

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return generators: permuting the coordinates and complementing one; they permute the literals."""
        points = self.domain.points()
        complemented = points.copy()
        complemented[:, 0] = 1 - points[:, 0]
        images = [complemented]
        if self.dimension > 1:
            images += [points[:, [1, 0, *range(2, self.dimension)]], np.roll(points, 1, axis=1)]
        return [moving_points(grid_rows(image, 1)) for image in images]


def _totals(cover: NDArray[np.uint8], weights: Floats, rows: NDArray[np.int64]) -> Floats:
    """Return the weights (2, 2 d) of both sides that each literal covers among some points.

    Of a variable and its negation exactly one covers a point, so only every other column is multiplied out.
    """
    found = np.zeros((2, cover.shape[1]))
    for block in np.array_split(rows, max(1, len(rows) * cover.shape[1] // BATCH)):
        # Not a matrix product: for two rows the threads of a busy BLAS cost far more than they save.
        hits = np.einsum("sm,ml->sl", weights[:, block], cover[block][:, ::2].astype(np.float64))
        found[:, ::2] += hits
        found[:, 1::2] += weights[:, block].sum(axis=1)[:, None] - hits
    return found


EXAMPLE = Instance(
    {"dimension": 2, "k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}, n=3, alpha=0.99, beta=0.5
)
FURTHER = (Instance({**AUDITED, "dimension": 4, "k": 2}, n=3, alpha=0.2, beta=0.2),)


@dataclass(frozen=True)
class SetCoverConjunction(SetCoverLearner):
    """Conjunctions of at most k literals by the Set Cover Learner: cover the negatives, spare the positives."""

    id: ClassVar[str] = "set-cover-conjunction"
    pictured: ClassVar[Instance] = Instance({**AUDITED, "dimension": 2, "k": 1}, n=3)
    instance: ClassVar[Instance] = EXAMPLE
    audited: ClassVar[tuple[Instance, ...]] = FURTHER
    _covered_label: ClassVar[int] = 0

    @property
    def concepts(self) -> Nonempty:
        """Conjunctions of 1 .. k literals (at most `dimension` are distinct and consistent)."""
        return Nonempty(ShortConjunctions(self.dimension, min(self.k, self.dimension)))

    def picture(self, sample: Sample, codes: Any, target: Any = None) -> Picture:
        """Return what a report draws: what Claim 3.4 gives away at these parameters; the sample plays no part."""
        return calibration_picture(self.k, self.rounds, self.epsilon, self.delta)

    def decode(self, code: int) -> Conjunction:
        """Return the conjunction of the literals selected."""
        return Conjunction(self.dimension, self._mask(code))


@dataclass(frozen=True)
class SetCoverDisjunction(SetCoverLearner):
    """Disjunctions of at most k literals by the Set Cover Learner: cover the positives, spare the negatives."""

    id: ClassVar[str] = "set-cover-disjunction"
    instance: ClassVar[Instance] = EXAMPLE
    audited: ClassVar[tuple[Instance, ...]] = FURTHER
    _covered_label: ClassVar[int] = 1

    @property
    def concepts(self) -> Nonempty:
        """Disjunctions of 1 .. k literals."""
        return Nonempty(ShortDisjunctions(self.dimension, min(self.k, self.dimension)))

    def decode(self, code: int) -> Disjunction:
        """Return the disjunction of the literals selected."""
        return Disjunction(self.dimension, self._mask(code))


LEARNERS = (SetCoverConjunction, SetCoverDisjunction)

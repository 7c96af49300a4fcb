"""The Set Cover Learner over regions of a grid: what polygons, polytopes and their unions, and discs share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Hypothesis, InputError, Law, Sample
from learners.covers.accounting import CoverAccounting
from learners.covers.noise import RoundedNoise, round_law
from learners.covers.sequences import LAW_ATOMS, decoded, encoded, sequence_law
from learners.domains import Grid, grid_rows
from learners.inputs import check_run, check_sample
from learners.parameters import check_integer

__all__ = ["Listed", "RegionCover"]

BATCH = 2**21

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Listed:
    """A finite class to cover with.

    Parameters
    ----------
    cover : array of uint8, shape (size, points of the grid)
        Which points of the grid each member covers.
    log_measures : array of float64, shape (size,)
        Logarithms of the base measure; zeros for the plain exponential mechanism.
    """

    cover: NDArray[np.uint8]
    log_measures: Floats


@dataclass(frozen=True)
class RegionCover(CoverAccounting):
    """Cover the examples of one label, greedily and privately, by regions that spare those of the other.

    As `set_cover.SetCoverLearner`, with regions in place of literals: in each of J = ceil(2 k ln(2/alpha)) rounds, with
    R of the examples to be covered left,

        b = R + ceil(Lap(J/epsilon) - (J/epsilon) ln(J/beta)),
        q(h) = min{#covered - b/k, -#covered on the other side},

    draw h with density proportional to exp(eps_hat q(h)/2) with respect to a measure that does not depend on the
    sample, and delete what it covers. Privacy is that of the Set Cover Learner, whose proofs hold for any measure: it
    cancels in every likelihood ratio. The output is the whole sequence h_1 .. h_J: where the regions can be listed
    (`listed`), the number sum h_j size^(j-1); otherwise a tuple of regions.

    Utility. Let V bound the logarithm of the whole measure over the least measure of regions that agree on a sample,
    and D the logarithm of the number of different regions on the grid. With probability 1 - g every round's q is within
    lam = (2/eps_hat)(V + ln(J/g)) of the best, and there are at most exp(J D) outputs.

    Parameters
    ----------
    side : int
        d of the grid {0 .. d}^2 or {0 .. d}^3.
    k : int
        Regions of the target at most, >= 1.
    epsilon, delta : float
        The privacy claim; for the variant "paper" epsilon in (0, 1] and delta below 1/e.
    alpha : float
        Sets the number of rounds: at most alpha/2 of the sample stays uncovered.
    beta : float
        Probability with which the noise may exceed its offset.
    variant : {"paper", "composition", "noiseless"}
        eps_hat = epsilon/(2 ln(e/delta)) (Claims 3.4 and 4.3); eps_hat by composition over the rounds (Example 3.3);
        b = R and eps_hat from `noiseless_share`.
    """

    side: int
    k: int
    epsilon: float
    delta: float
    alpha: float
    beta: float
    variant: str = "paper"

    _covered_label: ClassVar[int]
    _dimension: ClassVar[int] = 2
    _paper_claim: ClassVar[tuple[str, str]] = ("KMMS-Claim4.3", "Claim 4.3 with the constant of Claim 3.4")

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, 2**256 - 1)
        check_integer("k", self.k, 1, 2**10)
        self._check_budget()

    @property
    def _noise(self) -> RoundedNoise | None:
        return None if self._noise_scale is None else RoundedNoise(*self._noise_scale)

    @property
    def domain(self) -> Grid:
        """The grid {0 .. side}^2, or of a higher dimension where a learner says so."""
        return Grid(self.side, self._dimension)

    def listed(self) -> Listed | None:
        """Return the regions that cover, None where they are not listed."""
        raise NotImplementedError("a learner says what it covers with")

    def _member(self, code: int) -> Hypothesis:
        """Return the hypothesis of a listed region."""
        raise NotImplementedError("a learner says what its regions are")

    def _join(self, members: tuple[Hypothesis, ...]) -> Hypothesis:
        """Return the final hypothesis."""
        raise NotImplementedError("a learner says how its regions are joined")

    def _eligible(self, covered: Floats, spoiled: Floats) -> NDArray[np.bool_] | None:
        """Return which listed regions may be selected; None for all. Controls override it."""
        return None

    def _split(self, sample: Sample) -> tuple[Floats, Floats]:
        """Return the counts of the examples to be covered and of the others, (m,) each."""
        if sample.n >= 2**53 // self.k:
            raise InputError(f"the sample must have fewer than 2^53/k examples, got {sample.n}")
        counts = sample.counts.astype(np.float64)
        target = sample.labels == self._covered_label
        return np.where(target, counts, 0.0), np.where(target, 0.0, counts)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> NDArray[np.int64] | list[Any]:
        """Return the outputs of independent runs."""
        check_run(sample, self.domain, size)
        wanted, other = self._split(sample)
        listed = self.listed()
        if listed is None:
            return self._run_unlisted(sample, rng, size)
        cover = listed.cover[:, grid_rows(sample.points, self.side)].T.astype(np.float64)
        step = max(1, BATCH // max(1, cover.size, cover.shape[1]))
        parts = [
            self._run_batch(cover, listed.log_measures, wanted, other, rng, min(step, size - start))
            for start in range(0, size, step)
        ]
        return encoded(np.concatenate(parts, axis=0), cover.shape[1])

    def _run_unlisted(self, sample: Sample, rng: np.random.Generator, size: int) -> list[Any]:
        raise InputError(f"side is too large to list the regions, got {self.side}")

    def _run_batch(
        self, cover: Floats, log_measures: Floats, wanted: Floats, other: Floats, rng: np.random.Generator, runs: int
    ) -> NDArray[np.int64]:
        """Return the members (runs, J) of runs made together."""
        alive = np.ones((runs, len(cover)))
        chosen = np.empty((runs, self.rounds), dtype=np.int64)
        for j in range(self.rounds):
            left = alive * wanted
            chosen[:, j] = self._select(left @ cover, (alive * other) @ cover, left.sum(axis=1), log_measures, rng)
            alive *= 1 - cover.T[chosen[:, j]]
        return chosen

    def _select(
        self, covered: Floats, spoiled: Floats, remaining: Floats, log_measures: Floats, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return the members (runs,) selected in one round, given c_h, e_h (runs, size) and R (runs,)."""
        noise = self._noise
        b = remaining if noise is None else remaining + noise.draw(rng, len(remaining))
        logs = self._rate * np.minimum(covered - b[:, None] / self.k, -spoiled) + log_measures
        eligible = self._eligible(covered, spoiled)
        if eligible is not None:
            logs = np.where(eligible, logs, -np.inf)
        cumulative = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
        picked = (cumulative <= (rng.random(len(b)) * cumulative[:, -1])[:, None]).sum(axis=1)
        # A uniform number that rounds up to the total belongs to the last member with positive weight.
        last = (cumulative < cumulative[:, -1:]).sum(axis=1)
        return np.asarray(np.minimum(picked, last), dtype=np.int64)

    def decode(self, code: Any) -> Hypothesis:
        """Return the final hypothesis."""
        listed = self.listed()
        if listed is None:
            return self._join(self._unlisted_members(code))
        members = decoded(code, len(listed.cover), self.rounds)
        return self._join(tuple(self._member(member) for member in members))

    def _unlisted_members(self, code: Any) -> tuple[Hypothesis, ...]:
        raise InputError(f"side is too large to list the regions, got {self.side}")

    def law(self, sample: Sample) -> Law:
        """Return the law on all size^J sequences: products of the laws of the rounds along each sequence."""
        check_sample(sample, self.domain)
        listed = self.listed()
        if listed is None or len(listed.cover) ** self.rounds > LAW_ATOMS:
            raise InputError(f"side and k must be small enough for at most {LAW_ATOMS} sequences of regions for the "
                             f"exact law, got side={self.side} and k={self.k}; run has no such limit")  # fmt: skip
        wanted, other = self._split(sample)
        cover = listed.cover[:, grid_rows(sample.points, self.side)].T.astype(np.bool_)
        return sequence_law(
            cover,
            self.rounds,
            lambda alive: self._round_law(alive * wanted, alive * other, cover, listed.log_measures),
        )

    def _round_law(
        self, wanted: Floats, other: Floats, cover: NDArray[np.bool_], log_measures: Floats
    ) -> tuple[Floats, float]:
        covered, spoiled = wanted @ cover, other @ cover
        eligible = self._eligible(covered, spoiled)
        kept = np.ones(len(covered), dtype=np.bool_) if eligible is None else eligible
        logs = np.full(len(covered), -np.inf)
        logs[kept], error = round_law(
            covered[kept], spoiled[kept], int(wanted.sum()), self.k, self._rate, log_measures[kept], self._noise
        )
        return logs, error

"""The Set Cover Learner over regions of a grid: polygons, polytopes and their unions, and discs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Hypothesis, InputError, Sample
from learners.covers.rounded_noise import RoundedNoise
from learners.covers.set_cover import SetCoverLearner
from learners.domains import Grid, grid_rows
from learners.inputs import check_run
from learners.parameters import check_integer

__all__ = ["Listed", "RegionCover"]

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
class RegionCover(SetCoverLearner):
    """Cover the examples of one label by regions that spare those of the other; see `covers.set_cover`.

    The noise is rounded up: b = R + ceil(Lap(J/epsilon) - (J/epsilon) ln(J/beta)), as exact samplers need. The output
    is the whole sequence h_1 .. h_J: where the regions can be listed (`listed`), the number sum h_j size^(j-1);
    otherwise a tuple of regions.

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

    _dimension: ClassVar[int] = 2
    _paper_claim: ClassVar[tuple[str, str]] = ("KMMS-Claim4.3", "Claim 4.3 with the constant of Claim 3.4")

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, 2**256 - 1)
        check_integer("k", self.k, 1, 2**10)
        self._check_budget()

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

    @property
    def _noise(self) -> RoundedNoise:
        return RoundedNoise(*self._noise_scale)

    @property
    def _steps(self) -> int:
        return self.k

    def _found(self) -> Listed:
        """Return the regions, or raise `InputError` where they are not listed."""
        listed = self.listed()
        if listed is None:
            raise InputError(f"side must be small enough to list the regions, got {self.side}; run has no such limit")
        return listed

    @property
    def _sets(self) -> int:
        return len(self._found().cover)

    @property
    def _log_measures(self) -> Floats:
        return self._found().log_measures

    def _cover(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        return self._found().cover[:, grid_rows(points, self.side)].T

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> NDArray[np.int64] | list[Any]:
        """Return the outputs of independent runs."""
        if self.listed() is not None:
            return super().run(sample, rng, size)
        check_run(sample, self.domain, size)
        self._split(sample)
        return self._run_unlisted(sample, rng, size)

    def _run_unlisted(self, sample: Sample, rng: np.random.Generator, size: int) -> list[Any]:
        raise NotImplementedError("a learner without a list says how it runs")

    def decode(self, code: Any) -> Hypothesis:
        """Return the final hypothesis."""
        if self.listed() is None:
            return self._join(self._unlisted_members(code))
        return self._join(tuple(self._member(member) for member in self._selected(code)))

    def _unlisted_members(self, code: Any) -> tuple[Hypothesis, ...]:
        raise NotImplementedError("a learner without a list says what its outputs are")

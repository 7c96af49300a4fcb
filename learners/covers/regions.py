"""The Set Cover Learner over regions of the plane: what convex polygons, unions of polygons and of discs share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Hypothesis, InputError, Law, PrivacyClaim, Sample, UtilityClaim
from learners.covers.noise import RoundedNoise, round_law
from learners.covers.shares import composed_share, noiseless_share, paper_share
from learners.domains import Grid
from learners.geometry.pictures import picture
from learners.inputs import check_run, check_sample
from learners.parameters import check_integer, check_positive, check_probability
from learners.polygons import KMMS
from learners.set_cover import VARIANTS
from learners.triangles import grid_rows

__all__ = ["Listed", "RegionCover"]

LAW_ATOMS = 2**14
BATCH = 2**21

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Listed:
    """A finite class to cover with.

    Parameters
    ----------
    cover : array of uint8, shape (size, (d + 1)^2)
        Which points of the grid each member covers.
    log_measures : array of float64, shape (size,)
        Logarithms of the base measure; zeros for the plain exponential mechanism.
    """

    cover: NDArray[np.uint8]
    log_measures: Floats


@dataclass(frozen=True)
class RegionCover:
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
        d of the grid {0 .. d}^2.
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
    _theorem: ClassVar[tuple[str, str]]

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, 2**256 - 1)
        check_integer("k", self.k, 1, 2**10)
        check_positive("epsilon", self.epsilon)
        for name in ("delta", "alpha", "beta"):
            check_probability(name, getattr(self, name))
        if self.variant not in VARIANTS:
            raise InputError(f"variant must be one of {', '.join(VARIANTS)}; got {self.variant!r}")
        if self.variant == "paper" and self.epsilon > 1:
            raise InputError(f"epsilon must be at most 1 for the variant paper (Claim 3.4), got {self.epsilon!r}")
        if self.variant == "paper" and self.delta >= 1 / math.e:
            raise InputError(f"delta must be below 1/e for the variant paper (Claim 3.4), got {self.delta!r}")

    @property
    def rounds(self) -> int:
        """J = ceil(2 k ln(2/alpha)), at least 2 as alpha < 1: (1 - 1/(2 k))^J <= alpha/2."""
        return math.ceil(2 * self.k * math.log(2 / self.alpha))

    @property
    def selection_epsilon(self) -> float:
        """eps_hat of a round."""
        if self.variant == "paper":
            return paper_share(self.epsilon, self.delta)
        if self.variant == "composition":
            return composed_share(self.rounds, self.epsilon, self.delta)
        return noiseless_share(self.k, self.rounds, self.epsilon, self.delta)

    @property
    def _rate(self) -> float:
        return self.selection_epsilon / 2

    @property
    def _noise(self) -> RoundedNoise | None:
        if self.variant == "noiseless":
            return None
        scale = self.rounds / self.epsilon
        return RoundedNoise(scale, scale * math.log(self.rounds / self.beta))

    @property
    def privacy(self) -> PrivacyClaim:
        """(epsilon, delta)-differential privacy under replacement; the variant names the theorem."""
        claim, place = {
            "paper": ("KMMS-Claim4.3", "Claim 4.3 with the constant of Claim 3.4"),
            "composition": ("KMMS-Ex3.3", "Example 3.3"),
            "noiseless": ("KMMS-Alg-SetCover", "Set Cover Learner without noise, analysed in `noiseless_share`"),
        }[self.variant]
        return PrivacyClaim(self.epsilon, self.delta, claim_id=claim, source=f"{KMMS}, {place}")

    @property
    def domain(self) -> Grid:
        """The grid {0 .. side}^2."""
        return Grid(self.side, 2)

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
    def _log_ratio(self) -> float:
        """V of the class docstring."""
        raise NotImplementedError("a learner says the range of its measure")

    @property
    def _log_behaviours(self) -> float:
        """D of the class docstring."""
        raise NotImplementedError("a learner says how many regions there are")

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
        cover = listed.cover[:, grid_rows(sample, self.side)].T.astype(np.float64)
        step = max(1, BATCH // max(1, cover.size, cover.shape[1]))
        parts = [
            self._run_batch(cover, listed.log_measures, wanted, other, rng, min(step, size - start))
            for start in range(0, size, step)
        ]
        return self._encode(np.concatenate(parts, axis=0), cover.shape[1])

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

    def _encode(self, chosen: NDArray[np.int64], base: int) -> NDArray[np.int64] | list[int]:
        if base**self.rounds < 2**63:
            return np.asarray(chosen @ base ** np.arange(self.rounds, dtype=np.int64), dtype=np.int64)
        powers = [base**j for j in range(self.rounds)]
        return [sum(h * power for h, power in zip(row, powers, strict=True)) for row in chosen.tolist()]

    def decode(self, code: Any) -> Hypothesis:
        """Return the final hypothesis."""
        listed = self.listed()
        if listed is None:
            return self._join(self._unlisted_members(code))
        base = len(listed.cover)
        check_integer("code", code, 0, base**self.rounds - 1)
        members, rest = [], int(code)
        for _ in range(self.rounds):
            rest, member = divmod(rest, base)
            members.append(self._member(member))
        return self._join(tuple(members))

    def _unlisted_members(self, code: Any) -> tuple[Hypothesis, ...]:
        raise InputError(f"side is too large to list the regions, got {self.side}")

    def picture(self, sample: Sample, codes: Any) -> dict[str, Any]:
        """Return what a reporter draws: the sample and some outputs; see `geometry.pictures`."""
        return picture(self.side, sample, [self.decode(code) for code in codes])

    def law(self, sample: Sample) -> Law:
        """Return the law on all size^J sequences: products of the laws of the rounds along each sequence."""
        check_sample(sample, self.domain)
        listed = self.listed()
        if listed is None or len(listed.cover) ** self.rounds > LAW_ATOMS:
            raise InputError(f"side and k must be small enough for at most {LAW_ATOMS} sequences of regions for the "
                             f"exact law, got side={self.side} and k={self.k}; run has no such limit")  # fmt: skip
        wanted, other = self._split(sample)
        cover = listed.cover[:, grid_rows(sample, self.side)].T.astype(np.bool_)
        hit = [sum(1 << i for i in np.flatnonzero(column).tolist()) for column in cover.T]
        states, logs, error = [(1 << len(cover)) - 1], np.zeros(1), 0.0
        known: dict[int, tuple[Floats, float]] = {}
        for _ in range(self.rounds):
            for state in set(states) - set(known):
                alive = np.array([state >> i & 1 for i in range(len(cover))], dtype=np.float64)
                known[state] = self._round_law(alive * wanted, alive * other, cover, listed.log_measures)
            step = np.array([known[state][0] for state in states])
            logs = (logs[None, :] + step.T).ravel()
            error += max(known[state][1] for state in states)
            states = [state & ~mask for mask in hit for state in states]
        finite = logs[np.isfinite(logs)]
        return Law(range(len(logs)), logs, error + 2.0**-53 * self.rounds * float(-finite.min()))

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

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return the sample size of the realizable claim; see `utility`."""
        return self.utility(alpha, beta).sample_size

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta with its sample size, on examples labelled by k regions.

        The accounting of `SetCoverLearner.utility` with lam and the number of outputs of the class docstring. Let L be
        the noise's offset (0 without noise), a and b the learner's own `alpha` and `beta` (b = 0 without noise).

        "empirical": alpha >= a, g = beta - b, n >= (2/alpha) max{4 L + 2 k lam, J lam}.
        "realizable": alpha >= 2 a, g = (beta - b)/2, n >= (4/alpha) max{4 L + 2 k lam, J lam} and
        n >= (8/alpha)(J D + ln(1/g)).

        Raises
        ------
        InputError
            If beta is not above the learner's own or alpha below what its number of rounds reaches.
        """
        check_probability("alpha", alpha)
        check_probability("beta", beta)
        if setting not in ("realizable", "empirical"):
            raise InputError(f"setting must be realizable or empirical, got {setting!r}")
        parts = 2 if setting == "realizable" else 1
        own = self.beta if self._noise is not None else 0.0
        if beta <= own:
            raise InputError(f"beta must be above {own!r}, the probability with which this learner's noise exceeds its "
                             f"offset at any n; got {beta!r}. Build the learner with a smaller beta")  # fmt: skip
        if alpha < parts * self.alpha:
            raise InputError(f"alpha must be at least {parts * self.alpha!r}, which the learner's own alpha gives if "
                             f"{setting}; got {alpha!r}. Build the learner with a smaller alpha")  # fmt: skip
        gap = (beta - own) / parts
        offset = 0.0 if self._noise is None else self._noise.offset
        lam = 2 / self.selection_epsilon * (self._log_ratio + math.log(self.rounds / gap))
        n = 2 * max(4 * offset + 2 * self.k * lam, self.rounds * lam) * parts / alpha
        if setting == "realizable":
            n = max(n, 8 / alpha * (self.rounds * self._log_behaviours - math.log(gap)))
        claim, place = self._theorem
        return UtilityClaim(alpha, beta, math.ceil(n), setting, claim, f"{KMMS}, {place} with its own constants")

"""The Set Cover Learner (KMMS, Section 3), whatever sets it covers with: its claims, runs, outputs and laws."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import InputError, Law, PrivacyClaim, Sample, UtilityClaim, WorstFailure

from ..arrays import Bools, Exact, Floats, Integers, Labels
from ..citations import KMMS
from ..finite.counting import ClassLearner
from ..mechanisms.log_laws import placed
from ..parameters import (
    BUDGETS,
    check_choice,
    check_integer,
    check_own_beta,
    check_parameters,
    check_run,
    check_sample,
    check_statement,
)
from .accounting import VARIANTS, composed_share, noiseless_share, paper_share, pure_share, rounds_for
from .rounds import LaplaceNoise, Round, RoundedNoise
from .worst_case import Covering, covering_failure

# The most sequences that a law lists.
LAW_ATOMS = 2**16


class SetCoverLearner(ClassLearner):
    """Cover the examples of one label, greedily and privately, by sets that spare those of the other.

    In each of J = ceil(2 k ln(2/alpha)) rounds, with R of the examples to be covered left,

        b = R + Lap(J/epsilon) - (J/epsilon) ln(J/beta),
        q(h) = min{ #covered by h - b/k, -#covered by h on the other side },

    select a set h with probability proportional to exp(eps_hat q(h)/2), with respect to a measure that does not depend
    on the sample, and delete what it covers. q has sensitivity 1, as its two terms have. The proofs of privacy hold for
    any measure: it cancels in every likelihood ratio. The code of an output h_1 .. h_J is sum h_j size^(j-1): the whole
    sequence, not only its function.

    Parameters
    ----------
    k : int
        Sets of the target at most, >= 1.
    epsilon, delta : float
        The privacy claim; for the variant "paper" epsilon in (0, 1] and delta below 1/e.
    alpha : float
        Sets the number of rounds: at most alpha/2 of the sample stays uncovered.
    beta : float
        Probability with which the noise may exceed its offset.
    variant : {"paper", "composition", "noiseless"}
        eps_hat = epsilon/(2 ln(e/delta)) (Claims 3.4 and 4.3); eps_hat by basic or advanced composition over the
        rounds, the better of the two (Example 3.3); b = R and eps_hat from `noiseless_share`.
    budget : {"paper", "proved"}
        Whether eps_hat is the variant's, or the greater of it and 2 epsilon/max{J + 1, J (1 + 1/k)}, which is pure by
        the theorem of `covers.accounting.choice_cost`. At (1, 1e-6) and alpha = 0.1 that gains from k = 2 to 6 without
        noise, to 17 for "composition".
    """

    k: int
    epsilon: float
    delta: float
    alpha: float
    beta: float
    variant: str
    budget: str

    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm3.2", "Claim 3.1 and Theorem 3.2")
    _paper_claim: ClassVar[tuple[str, str]] = ("KMMS-Claim3.4", "Claim 3.4")
    _covered_label: ClassVar[int]
    _noise_type: ClassVar[type[LaplaceNoise] | type[RoundedNoise]]
    # The parameter that sets how many sets there are.
    _extent: ClassVar[str] = "side"
    # The number of cells (run, point, set) that are worked on together.
    _batch: ClassVar[int] = 2**21

    def __post_init__(self) -> None:
        # alpha < 1 makes J at least 2.
        check_parameters(self, k=(1, None))
        check_choice("budget", self.budget, BUDGETS)
        check_choice("variant", self.variant, VARIANTS)
        if self.variant == "paper" and self.epsilon > 1:
            raise InputError(f"epsilon must be at most 1 for the variant paper (Claim 3.4), got {self.epsilon!r}")
        if self.variant == "paper" and self.delta >= 1 / math.e:
            raise InputError(f"delta must be below 1/e for the variant paper (Claim 3.4), got {self.delta!r}")

    @property
    def _log_sizes(self) -> tuple[float, float]:
        """Bounds V on ln(whole measure / least measure of hypotheses alike on a sample), D on ln(their number)."""
        return math.log(self._sets), math.log(self._sets)

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings of the utility claim: the population error is bounded by twice the learner's own alpha."""
        if 2 * self.alpha < 1:
            return ("realizable", "empirical")
        return ("empirical",)

    @property
    def rounds(self) -> int:
        """J, of `rounds_for`."""
        return rounds_for(self.k, self.alpha)

    @property
    def selection_epsilon(self) -> float:
        """eps_hat of a round; with the budget "proved" no less than what is pure by `covers.accounting.choice_cost`."""
        if self.variant == "paper":
            share = paper_share(self.epsilon, self.delta)
        elif self.variant == "composition":
            share = composed_share(self.rounds, self.epsilon, self.delta)
        else:
            share = noiseless_share(self.k, self.rounds, self.epsilon, self.delta)
        if self.budget == "paper":
            return share
        return max(share, pure_share(self.k, self.rounds, self.epsilon))

    @property
    def _rate(self) -> float:
        return self.selection_epsilon / 2

    @property
    def _noise_scale(self) -> tuple[float, float]:
        """Return scale J/epsilon and offset (J/epsilon) ln(J/beta) of the noise; zeros without."""
        if self.variant == "noiseless":
            return 0.0, 0.0
        scale = self.rounds / self.epsilon
        return scale, scale * math.log(self.rounds / self.beta)

    @property
    def privacy(self) -> PrivacyClaim:
        """(epsilon, delta)-differential privacy under replacement; the variant names the theorem."""
        claim, place = {
            "paper": self._paper_claim,
            "composition": ("KMMS-Ex3.3", "Example 3.3"),
            "noiseless": ("KMMS-Alg-SetCover", "Set Cover Learner without noise, analysed in `noiseless_share`"),
        }[self.variant]
        return PrivacyClaim(self.epsilon, self.delta, claim_id=claim, source=f"{KMMS}, {place}")

    def utility(self, alpha: float, beta: float, setting: str | None = None) -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta with its sample size, on examples labelled by k hypotheses.

        Let L = (J/epsilon) ln(J/b) be the offset (0 without noise), b the learner's own `beta` (0 without noise): with
        probability 1 - b every b_j lies in [R - 2 L, R]. With probability 1 - g each round's q is within
        lam = (2/eps_hat)(V + ln(J/g)) of the best, which is at least 0: so it covers at most lam of the other side, and
        at least (R - 2 L)/k - lam, which is R/(2 k) while R >= 4 L + 2 k lam. After J rounds R is at most
        max{a n/2, 4 L + 2 k lam}, a the learner's own `alpha`; so the errors on the sample are at most
        max{a n/2, 4 L + 2 k lam} + J lam.

        "empirical": at most alpha n for alpha >= a and n >= (2/alpha) max{4 L + 2 k lam, J lam}, g = beta - b.
        "realizable": at most alpha n/2 for alpha >= 2 a and n >= (4/alpha) max{4 L + 2 k lam, J lam}; and each of
        the exp(J D) outputs with error above alpha shows at most alpha/2 on the sample with probability e^(-alpha n/8)
        (multiplicative Chernoff). Here g = (beta - b)/2 and n >= (8/alpha) (J D + ln(1/g)).

        Without a setting the first of `settings` is taken.

        `InputError` if beta is not above the learner's own or alpha below what its number of rounds reaches.
        """
        setting = self.settings[0] if setting is None else setting
        scale, offset = self._noise_scale
        own = self.beta if scale else 0.0
        # In the realizable setting half of alpha and of beta goes to the step from the sample to the population.
        parts = 2 if setting == "realizable" else 1
        check_statement(alpha, beta, setting, ("realizable", "empirical"))
        check_own_beta(beta, own, "this learner's noise exceeds its offset")
        if alpha < parts * self.alpha:
            raise InputError(f"alpha must be at least {parts * self.alpha!r}, which the learner's own alpha gives if "
                             f"{setting}; got {alpha!r}. Build the learner with a smaller alpha")  # fmt: skip
        gap = (beta - own) / parts
        log_ratio, log_behaviours = self._log_sizes
        lam = 2 / self.selection_epsilon * (log_ratio + math.log(self.rounds / gap))
        n = 2 * max(4 * offset + 2 * self.k * lam, self.rounds * lam) * parts / alpha
        if setting == "realizable":
            n = max(n, 8 / alpha * (self.rounds * log_behaviours - math.log(gap)))
        claim, place = self._theorem
        return UtilityClaim(alpha, beta, math.ceil(n), setting, claim, f"{KMMS}, {place} with its own constants")

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return an upper end of the failure rate over all cases; see `covers.worst_case`."""
        return covering_failure(self._covering, alpha, n)

    # This and the next three are of a family of sets: literals and regions define them.
    @property
    def _covering(self) -> Covering:
        """The numbers of the sets and rounds on which that bound rests."""
        raise NotImplementedError("a learner has sets to cover with")

    @property
    def _sets(self) -> int:
        raise NotImplementedError("a learner has sets to cover with")

    @property
    def _log_measures(self) -> Floats:
        """Logarithms of the measures of the sets, (size,); zeros for the plain exponential mechanism."""
        return np.zeros(self._sets)

    def _cover(self, points: Exact) -> Labels:
        raise NotImplementedError("a learner has sets to cover with")

    @property
    def _noise(self) -> LaplaceNoise | RoundedNoise:
        return self._noise_type(*self._noise_scale)

    def _eligible(self, covered: Floats, spoiled: Floats) -> Bools:
        """Return which sets may be selected: all of them, but for controls."""
        return np.ones(covered.shape, dtype=np.bool_)

    def _split(self, sample: Sample) -> Floats:
        """Return the counts (2, m) of the examples to be covered and of the others."""
        # With rounded noise the scores k q are integers, which must be exact.
        steps = self.k if self._noise_type is RoundedNoise else 1
        if sample.n >= 2**53 // steps:
            raise InputError(f"the sample must have fewer than 2^53/{steps} examples, got {sample.n}")
        target = sample.labels == self._covered_label
        return np.where([target, ~target], sample.counts.astype(np.float64), 0.0)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | Sequence[Hashable]:
        """Return the codes of independent runs, as Python integers where they may exceed 63 bits."""
        check_run(sample, self.domain, size)
        chosen = self._select(sample, rng, size)
        powers = [self._sets**j for j in range(self.rounds)]
        if self._sets**self.rounds < 2**63:
            return np.asarray(chosen @ np.array(powers, dtype=np.int64), dtype=np.int64)
        return [sum(h * power for h, power in zip(row, powers, strict=True)) for row in chosen.tolist()]

    def _select(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers:
        """Return the sets (size, J) of independent runs."""
        wanted, other = self._split(sample)
        cover = self._cover(sample.points).astype(np.float64)
        step = max(1, self._batch // max(1, cover.size, cover.shape[1]))
        chosen = np.empty((size, self.rounds), dtype=np.int64)
        for start in range(0, size, step):
            together = chosen[start : start + step]
            alive = np.ones((len(together), len(cover)))
            for j in range(self.rounds):
                # c_h and e_h are counted on what no earlier set of the run has covered.
                left = alive * wanted
                together[:, j] = self._select_one(left @ cover, (alive * other) @ cover, left.sum(axis=1), rng)
                # Covered examples of both labels are deleted.
                alive *= 1 - cover.T[together[:, j]]
        return chosen

    def _select_one(self, covered: Floats, spoiled: Floats, remaining: Floats, rng: np.random.Generator) -> Integers:
        """Return the sets (runs,) selected in one round, given c_h, e_h (runs, size) and R (runs,)."""
        # The round as the paper states it: a noisy count of what is left, then the exponential mechanism on min{c -
        # b/k, -e}.
        b = self._noise.estimate(remaining, rng)
        a_round = Round(covered, spoiled, remaining, self.k, self._rate, self._log_measures)
        logs = np.where(self._eligible(covered, spoiled), a_round.log_weights(b[:, None]), -np.inf)
        # Inverse sampling, one uniform number a run.
        cumulative = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
        picked = (cumulative <= (rng.random(len(b)) * cumulative[:, -1])[:, None]).sum(axis=1)
        # A uniform number that rounds up to the total belongs to the last set with positive weight.
        last = (cumulative < cumulative[:, -1:]).sum(axis=1)
        return np.asarray(np.minimum(picked, last), dtype=np.int64)

    def _selected(self, code: Any) -> list[int]:
        """Return the sets h_1 .. h_J of an output."""
        check_integer("code", code, 0, self._sets**self.rounds - 1)
        return [int(code) // self._sets**j % self._sets for j in range(self.rounds)]

    def law(self, sample: Sample) -> Law:
        """Return the law on all size^J sequences: products of the laws of the rounds along each sequence.

        A round's law depends on the set of examples still alive alone; see `round_law` of its noise.
        """
        check_sample(sample, self.domain)
        if self._sets**self.rounds > LAW_ATOMS:
            raise InputError(f"{self._extent} and k must be small enough for at most {LAW_ATOMS} sequences for the "
                             f"exact law, got {self._sets}^{self.rounds}; run has no such limit")  # fmt: skip
        wanted, other = self._split(sample)
        cover = self._cover(sample.points).astype(np.bool_)
        # The examples alive are the bits of a state: of Python's integers, where they are more than an int64 has.
        dtype = np.int64 if len(cover) < 63 else object
        spared = np.array([sum(1 << i for i in np.flatnonzero(~column).tolist()) for column in cover.T], dtype=dtype)
        states = np.array([(1 << len(cover)) - 1], dtype=dtype)
        logs = np.zeros(1)
        error = 0.0

        @cache
        def round_law(state: int) -> tuple[Floats, float]:
            alive = np.array([state >> i & 1 for i in range(len(cover))], dtype=np.float64)
            covered = (alive * wanted) @ cover
            spoiled = (alive * other) @ cover
            left = int((alive * wanted).sum())
            kept = self._eligible(covered, spoiled)
            a_round = Round(covered[kept], spoiled[kept], left, self.k, self._rate, self._log_measures[kept])
            found, error = self._noise.round_law(a_round)
            return placed(len(covered), kept, found), error

        for _ in range(self.rounds):
            # Sequences that leave the same examples alive share the law of their next round.
            distinct, place = np.unique(states, return_inverse=True)
            step, errors = zip(*map(round_law, distinct.tolist()), strict=True)
            # The newest set is the highest digit of the code, so its axis comes first.
            logs = (logs[None, :] + np.array(step)[place].T).ravel()
            error += max(errors)
            states = (states[None, :] & spared[:, None]).ravel()
        finite = logs[np.isfinite(logs)]
        return Law(range(len(logs)), logs, error + 2.0**-53 * self.rounds * float(-finite.min()))

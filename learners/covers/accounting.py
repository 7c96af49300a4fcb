"""Rounds, the budget of a round, and claims of the Set Cover Learners, whatever they cover with."""

from __future__ import annotations

import math
from typing import ClassVar

from dpaudit.contract import InputError, PrivacyClaim, UtilityClaim
from learners.citations import KMMS
from learners.covers.shares import composed_share, noiseless_share, paper_share, pure_share
from learners.finite.counting import ClassLearner
from learners.parameters import (
    check_budget,
    check_integer,
    check_own_beta,
    check_positive,
    check_probability,
    check_statement,
)

__all__ = ["AUDITED", "VARIANTS", "CoverAccounting", "Measured", "rounds_for"]

AUDITED = {"epsilon": 1.0, "delta": 1e-6, "alpha": 0.1, "beta": 0.05}
"""Parameters of further instances whose utility is audited, for alpha = 0.2 and beta = 0.1."""
VARIANTS = ("paper", "composition", "noiseless")


class Measured(ClassLearner):
    """A learner that selects among hypotheses with a measure."""

    @property
    def _log_ratio(self) -> float:
        """V: a bound on ln(whole measure / least measure of hypotheses that agree on a sample)."""
        raise NotImplementedError("a learner says the range of its measure")

    @property
    def _log_behaviours(self) -> float:
        """D: the logarithm of a bound on the number of different hypotheses."""
        raise NotImplementedError("a learner says how many hypotheses there are")


def rounds_for(k: int, alpha: float) -> int:
    """Return J = ceil(2 k ln(2/alpha)), at least 2 as alpha < 1: (1 - 1/(2 k))^J <= alpha/2."""
    check_integer("k", k, 1)
    check_probability("alpha", alpha)
    return math.ceil(2 * k * math.log(2 / alpha))


class CoverAccounting(Measured):
    """A base of frozen dataclasses with the fields k, epsilon, delta, alpha, beta, variant and budget."""

    k: int
    epsilon: float
    delta: float
    alpha: float
    beta: float
    variant: str
    budget: str

    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm3.2", "Claim 3.1 and Theorem 3.2")
    _paper_claim: ClassVar[tuple[str, str]] = ("KMMS-Claim3.4", "Claim 3.4")

    def __post_init__(self) -> None:
        # alpha < 1 makes J at least 2.
        check_integer("k", self.k, 1)
        check_positive("epsilon", self.epsilon)
        for name in ("delta", "alpha", "beta"):
            check_probability(name, getattr(self, name))
        check_budget(self.budget)
        if self.variant not in VARIANTS:
            raise InputError(f"variant must be one of {', '.join(VARIANTS)}; got {self.variant!r}")
        if self.variant == "paper" and self.epsilon > 1:
            raise InputError(f"epsilon must be at most 1 for the variant paper (Claim 3.4), got {self.epsilon!r}")
        if self.variant == "paper" and self.delta >= 1 / math.e:
            raise InputError(f"delta must be below 1/e for the variant paper (Claim 3.4), got {self.delta!r}")

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings of the utility claim: the population error is bounded by twice the learner's own alpha."""
        return ("realizable", "empirical") if 2 * self.alpha < 1 else ("empirical",)

    @property
    def rounds(self) -> int:
        """J, of `rounds_for`."""
        return rounds_for(self.k, self.alpha)

    @property
    def selection_epsilon(self) -> float:
        """eps_hat of a round; with the budget "proved" no less than what is pure by `covers.shares.choice_cost`."""
        if self.budget == "proved":
            return max(self._composed_epsilon, pure_share(self.k, self.rounds, self.epsilon))
        return self._composed_epsilon

    @property
    def _composed_epsilon(self) -> float:
        """eps_hat of a round by the variant's theorem."""
        if self.variant == "paper":
            return paper_share(self.epsilon, self.delta)
        if self.variant == "composition":
            return composed_share(self.rounds, self.epsilon, self.delta)
        return noiseless_share(self.k, self.rounds, self.epsilon, self.delta)

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

        Raises
        ------
        InputError
            If beta is not above the learner's own or alpha below what its number of rounds reaches.
        """
        setting = self.settings[0] if setting is None else setting
        scale, offset = self._noise_scale
        own = self.beta if scale else 0.0
        parts = 2 if setting == "realizable" else 1
        check_statement(alpha, beta, setting, ("realizable", "empirical"))
        check_own_beta(beta, own, "this learner's noise exceeds its offset")
        if alpha < parts * self.alpha:
            raise InputError(f"alpha must be at least {parts * self.alpha!r}, which the learner's own alpha gives if "
                             f"{setting}; got {alpha!r}. Build the learner with a smaller alpha")  # fmt: skip
        gap = (beta - own) / parts
        lam = 2 / self.selection_epsilon * (self._log_ratio + math.log(self.rounds / gap))
        n = 2 * max(4 * offset + 2 * self.k * lam, self.rounds * lam) * parts / alpha
        if setting == "realizable":
            n = max(n, 8 / alpha * (self.rounds * self._log_behaviours - math.log(gap)))
        claim, place = self._theorem
        return UtilityClaim(alpha, beta, math.ceil(n), setting, claim, f"{KMMS}, {place} with its own constants")

"""The private learner of parities, repeated until it does not fail, each run with a share of the budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from dpaudit.contract import FAIL, InputError, Instance, Law, Pair, Sample, Supremum, later

from ..bisection import last
from ..mechanisms.log_laws import ULP
from ..parameters import BUDGETS, check_choice
from .concepts import MAX_EPSILON, SubsamplingLearner


def amplified_cost(keep: float, repetitions: int) -> float:
    """Return the supremum of the privacy loss of K runs that each keep examples with probability p.

    max{K ln(1 + p), ln((1 + p)/(1 - p)) + ln(phi((1 + p)/2)/phi(1/2))}, phi(f) = 1 + f + .. + f^(K - 1).

    *Proof.* A run fails with probability f = 1 - c/2, c the probability of a consistent subsample. Let c_0 be that of
    the examples that both samples share: c >= (1 - p) c_0 and c' <= c_0. So f/f' <= (1 - (1 - p) c_0/2)/(1 - c_0/2),
    at most 1 + p, its value at c_0 = 1: Pr[fail] = f^K changes by a factor of (1 + p)^K at most; one example (0, 1)
    that becomes (0, 0) attains it. An answer r has probability P(r) phi(f), where P(r) changes by (1 + p)/(1 - p) at
    most (see `ParityPrivate`). phi grows with f, so phi(f)/phi(f') <= phi(1 - (1 - p) u)/phi(1 - u), u = c_0/2, which
    grows with u, since t phi'(1 - t)/phi(1 - t) = 1 - Pr[exactly one of K runs succeeds | one does] grows with the
    probability t of success. So it is at most phi((1 + p)/2)/phi(1/2). Both factors are reached together, as t grows,
    by t copies of (x, 0) and one (x, 1) that becomes (x, 0): then c tends to 1 - p and c' = 1. []
    """
    # The two ends of the proof: all K runs fail, or the first success is an answer.
    fails = repetitions * math.log1p(keep)
    tries = [math.fsum(f**i for i in range(repetitions)) for f in ((1 + keep) / 2, 0.5)]
    return max(fails, 2 * math.atanh(keep) + math.log(tries[0] / tries[1]))


@lru_cache(maxsize=64)
def amplified_rate(epsilon: float, repetitions: int) -> float:
    """Return the largest p for which K runs are epsilon-private by `amplified_cost`, rounded down by a relative 1e-12.

    For K = 10 and epsilon = 1 it is 0.105, where epsilon/(4 K) = 0.025: 4.2 times fewer examples.
    """
    top = math.tanh(epsilon / 2)  # where answers alone cost epsilon
    # 1 - 2^-53 is the greatest p that a float can hold, for a large epsilon.
    found = last(lambda keep: amplified_cost(keep, repetitions) <= epsilon, 0.0, min(top, 1 - 2.0**-53), 60)
    # Rounded down: the bisection and the cost are floats.
    return found * (1 - 1e-12)


@dataclass(frozen=True)
class ParityAmplified(SubsamplingLearner):
    """Run the private parity learner ceil(log2(1/beta)) times with epsilon / K each; answer the first non-failure.

    One run fails on consistent examples with probability 1/2, K runs with 2^-K <= beta. By composition the learner is
    K ln((1 + q)/(1 - q))-differentially private, q = epsilon / (4 K), which is below epsilon for epsilon <= 3.83 K.
    Each run keeps only a fraction epsilon / (4 K) of the examples: n grows with log2(1/beta) times d + ln(1/beta).
    That spends a quarter of epsilon (`amplified_cost`); `budget="proved"` spends it all, with `amplified_rate`.

    Parameters
    ----------
    dimension : int
        Number d of Boolean coordinates, at most 63.
    epsilon : float
        The privacy claim, in (0, 3.83 K].
    beta : float
        In (0, 1): a bound on the probability of failing on consistent examples.
    budget : {"paper", "proved"}
        Whether a run keeps examples with probability epsilon/(4 K), or `amplified_rate`; any epsilon > 0 then.
    """

    beta: float
    budget: str = later("paper")

    id: ClassVar[str] = "parity-amplified"
    instance: ClassVar[Instance] = Instance({"dimension": 2, "epsilon": 1.0, "beta": 0.1}, n=3, beta=0.2)
    audited: ClassVar[tuple[Instance, ...]] = (
        Instance({"dimension": 2, "epsilon": 1.0, "beta": 0.05}, n=3, alpha=0.1, beta=0.1),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("budget", self.budget, BUDGETS)
        if self.budget == "proved":
            return
        # Each run takes a K-th of epsilon, by basic composition.
        share = self.epsilon / self.repetitions
        if not (share < 4 and 2 * math.atanh(share / 4) <= share):
            raise InputError(
                f"epsilon must be in (0, {MAX_EPSILON * self.repetitions:.6f}] for the {self.repetitions} runs that "
                f"beta={self.beta!r} asks for; got {self.epsilon!r}"
            )

    @property
    def repetitions(self) -> int:
        """K = ceil(log2(1/beta))."""
        return max(1, math.ceil(-math.log2(self.beta)))

    @property
    def failure(self) -> float:
        """2^-K."""
        return float(self._coin**self.repetitions)

    @property
    def _keep(self) -> float:
        if self.budget == "proved":
            return amplified_rate(self.epsilon, self.repetitions)
        return self.epsilon / (4 * self.repetitions)

    def supremum(self) -> Supremum:
        """Return the supremum; see `amplified_cost` for the proof."""
        keep = self._keep
        runs = self.repetitions
        value = amplified_cost(keep, runs)
        left, right = (self.domain.sample([[0] * self.dimension], [label]) for label in (1, 0))
        flip = Pair(left, right, "0 is labelled 1 or 0")
        proof = "theorem in dpaudit_learners.parities.amplified: K ln(1 + p) for failures, or what answers cost"
        # Of the two ends only that of failures is reached by a sample, the other by a ray.
        attained = value == runs * math.log1p(keep)
        return Supremum(value, proof, lambda t: flip if attained else self._contradicted_ray(t))

    def law(self, sample: Sample) -> Law:
        """Return the law on `FAIL` and all 2^d parities.

        With P the law of one run and f = P(fail): Pr[r] = P(r) (1 + f + ... + f^(K-1)) and Pr[fail] = f^K. An error e
        of the logarithms of P moves these by at most K e, and the sum rounds by a few ulp.
        """
        once = super().law(sample)
        log_prob = once.log_prob
        error = once.error
        # 1 + f + .. + f^(K - 1): the first success may come in any of the K runs.
        tries = math.fsum(math.exp(i * log_prob[0]) if i else 1.0 for i in range(self.repetitions))
        repeated = np.concatenate([[self.repetitions * log_prob[0]], log_prob[1:] + math.log(tries)])
        finite = np.abs(repeated[np.isfinite(repeated)]).max()
        return Law(range(FAIL, 2**self.dimension), repeated, self.repetitions * (error + 8 * ULP) + ULP * float(finite))


LEARNERS = (ParityAmplified,)

"""The private learner of parities, repeated until it does not fail, each run with a share of the budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import FAIL, InputError, Instance, Law, Sample
from learners.arrays import Integers
from learners.inputs import check_run, check_sample
from learners.parameters import check_integer, check_law_limit, check_positive, check_probability
from learners.parities.base import LAW_DIMENSION, MAX_EPSILON, SubsamplingLearner
from learners.parities.gf2 import MAX_DIMENSION
from learners.parities.law import ULP, log_law

__all__ = ["LEARNERS", "ParityAmplified"]


@dataclass(frozen=True)
class ParityAmplified(SubsamplingLearner):
    """Run the private parity learner ceil(log2(1/beta)) times with epsilon / K each; answer the first non-failure.

    One run fails on consistent examples with probability 1/2, K runs with 2^-K <= beta. By composition the learner is
    K ln((1 + q)/(1 - q))-differentially private, q = epsilon / (4 K), which is below epsilon for epsilon <= 3.83 K.
    Each run keeps only a fraction epsilon / (4 K) of the examples: n grows with log2(1/beta) times d + ln(1/beta).

    Parameters
    ----------
    dimension : int
        Number d of Boolean coordinates, at most 63.
    epsilon : float
        The privacy claim, in (0, 3.83 K].
    beta : float
        In (0, 1): a bound on the probability of failing on consistent examples.
    """

    dimension: int
    epsilon: float
    beta: float

    id: ClassVar[str] = "parity-amplified"
    instance: ClassVar[Instance] = Instance({"dimension": 2, "epsilon": 1.0, "beta": 0.1}, n=3, beta=0.2)
    audited: ClassVar[tuple[Instance, ...]] = (
        Instance({"dimension": 2, "epsilon": 1.0, "beta": 0.05}, n=3, alpha=0.1, beta=0.1),
    )

    _coin: ClassVar[float] = 0.5

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1, MAX_DIMENSION)
        check_positive("epsilon", self.epsilon)
        check_probability("beta", self.beta)
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
        return self.epsilon / (4 * self.repetitions)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers:
        """Return the codes (size,) of independent runs, each with K inner ones while these fail."""
        check_run(sample, self.domain, size)
        subsamples = self._subsampler(sample, rng)
        codes = np.full(size, FAIL, dtype=np.int64)
        for _ in range(self.repetitions):
            failed = np.flatnonzero(codes == FAIL)
            going = failed[rng.random(len(failed)) >= self._coin]
            codes[going] = subsamples.solve(rng, len(going))
        return codes

    def law(self, sample: Sample) -> Law:
        """Return the law on `FAIL` and all 2^d parities.

        With P the law of one run and f = P(fail): Pr[r] = P(r) (1 + f + ... + f^(K-1)) and Pr[fail] = f^K. An error e
        of the logarithms of P moves these by at most K e, and the sum rounds by a few ulp.
        """
        check_sample(sample, self.domain)
        check_law_limit("dimension", self.dimension, LAW_DIMENSION)
        log_prob, error = log_law(sample, self.dimension, self._keep, self._coin, uniform=self._uniform)
        tries = math.fsum(math.exp(i * log_prob[0]) if i else 1.0 for i in range(self.repetitions))
        repeated = np.concatenate([[self.repetitions * log_prob[0]], log_prob[1:] + math.log(tries)])
        finite = np.abs(repeated[np.isfinite(repeated)]).max()
        return Law(range(FAIL, 2**self.dimension), repeated, self.repetitions * (error + 8 * ULP) + ULP * float(finite))


LEARNERS = (ParityAmplified,)

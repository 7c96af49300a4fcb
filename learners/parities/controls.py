"""Private parity learners with one known leak each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import Instance, Law, Sample
from learners.arrays import Bools, Integers
from learners.controls import control
from learners.inputs import check_sample
from learners.mechanisms.log_laws import ULP
from learners.parities.amplified import ParityAmplified
from learners.parities.law import log_answers
from learners.parities.private import ParityPrivate
from learners.parities.restart import ParityRestart

__all__ = ["LEARNERS"]


class _NoCoin:
    """The fault of leaving out the initial coin."""

    fault: ClassVar[str] = "never fails by the coin: failure proves that the sample is inconsistent"
    _coin: ClassVar[float] = 0.0


class _Oversampled:
    """The fault of keeping examples with probability epsilon."""

    epsilon: float

    @property
    def _keep(self) -> float:
        return min(1.0, self.epsilon)


class _FixedSolution:
    """The fault of answering the particular solution."""

    fault: ClassVar[str] = "returns the particular solution instead of a random one: some parities show some examples"
    _uniform: ClassVar[bool] = False

    def symmetries(self) -> list[Integers]:
        """Return no symmetry: the particular solution depends on the order of the variables."""
        return []


ParityNoCoin = control(
    ParityPrivate,
    _NoCoin,
    "broken-parity-no-coin",
    "the private parity learner without its initial coin",
    Instance({"dimension": 2, "epsilon": 1.0}, n=4, beta=0.6),
)
ParityOversampled = control(
    ParityPrivate,
    _Oversampled,
    "broken-parity-oversampled",
    "the private parity learner that keeps examples with probability epsilon",
    Instance({"dimension": 2, "epsilon": 0.5}, n=2, beta=0.6),
    fault="keeps each example with probability epsilon instead of epsilon/4",
)
ParityFixedSolution = control(
    ParityPrivate,
    _FixedSolution,
    "broken-parity-fixed-solution",
    "the private parity learner that returns the particular solution",
    Instance({"dimension": 2, "epsilon": 1.0}, n=2, beta=0.6),
)
ParityAmplifiedNoCoin = control(
    ParityAmplified,
    _NoCoin,
    "broken-parity-amplified-no-coin",
    "repeated parity learning without the coin",
    Instance({"dimension": 2, "epsilon": 3.0, "beta": 0.6}, n=4, beta=0.7),
)
ParityAmplifiedOversampled = control(
    ParityAmplified,
    _Oversampled,
    "broken-parity-amplified-oversampled",
    "repeated parity learning, each run keeping far too many examples",
    Instance({"dimension": 2, "epsilon": 0.6, "beta": 0.1}, n=2, beta=0.2),
    fault="each run keeps examples with probability epsilon, as if there were one run and no factor 4",
)
ParityAmplifiedFixedSolution = control(
    ParityAmplified,
    _FixedSolution,
    "broken-parity-amplified-fixed-solution",
    "repeated parity learning that answers the particular solution",
    Instance({"dimension": 2, "epsilon": 1.0, "beta": 0.5}, n=2, beta=0.6),
)


@dataclass(frozen=True)
class ParityRestartLateCoin(ParityRestart):
    """Broken control: restarted parity learning that tosses the coin only before a restart."""

    id: ClassVar[str] = "broken-parity-restart-late-coin"
    fault: ClassVar[str] = "tosses the coin only after an inconsistent subsample: failure proves inconsistency"
    instance: ClassVar[Instance] = Instance({"dimension": 2, "epsilon": 1.0, "beta": 0.5}, n=4, beta=0.6)

    def _stops(self, rng: np.random.Generator, first: bool, shape: tuple[int, int]) -> Bools:
        return np.zeros(shape, dtype=np.bool_) if first else super()._stops(rng, first, shape)

    def law(self, sample: Sample) -> Law:
        """Return the law: the first round answers r with probability g(r), and what is inconsistent restarts.

        Pr[r] = g(r) (1 + (1 - c)(1 - beta)/(beta + (1 - beta) c)) = g(r)/(beta + (1 - beta) c), and
        Pr[fail] = beta (1 - c)/(beta + (1 - beta) c). The error of 1 - c is that of c divided by 1 - c, which is at
        least keep^(d + 1) on an inconsistent sample.
        """
        check_sample(sample, self.domain)
        answers, error, consistent = log_answers(sample, self.dimension, self._keep, uniform=self._uniform)
        total = 1.0 if consistent else math.fsum(np.exp(answers))
        denominator = math.log(self.beta + (1 - self.beta) * total)
        failure = -math.inf if consistent else math.log(self.beta) + math.log1p(-total) - denominator
        log_prob = np.concatenate([[failure], answers - denominator])
        size = float(np.abs(log_prob[np.isfinite(log_prob)]).max())
        slack = 1.0 if consistent else 1 / (1 - total)
        return Law(range(-1, 2**self.dimension), log_prob, 3 * slack * (error + 8 * ULP) + 2.0**-50 * size)


ParityRestartOversampled = control(
    ParityRestart,
    _Oversampled,
    "broken-parity-restart-oversampled",
    "restarted parity learning that keeps too many examples",
    Instance({"dimension": 2, "epsilon": 0.6, "beta": 0.1}, n=2, beta=0.2),
    fault="keeps each example with probability epsilon instead of about epsilon/3",
)
ParityRestartFixedSolution = control(
    ParityRestart,
    _FixedSolution,
    "broken-parity-restart-fixed-solution",
    "restarted parity learning that answers the particular solution",
    Instance({"dimension": 2, "epsilon": 1.0, "beta": 0.1}, n=2, beta=0.2),
)


LEARNERS = (
    ParityNoCoin,
    ParityOversampled,
    ParityFixedSolution,
    ParityAmplifiedNoCoin,
    ParityAmplifiedOversampled,
    ParityAmplifiedFixedSolution,
    ParityRestartLateCoin,
    ParityRestartOversampled,
    ParityRestartFixedSolution,
)

"""Private parity learners that fail with a probability as small as desired: by repetition, and by restarting."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import FAIL, InputError, Instance, Law, PrivacyClaim, Sample, UtilityClaim
from learners.citations import NIS
from learners.inputs import check_run, check_sample
from learners.parameters import check_integer, check_positive, check_probability
from learners.parities.gf2 import MAX_DIMENSION
from learners.parities.law import log_answers, log_law
from learners.parities.private import (
    LAW_DIMENSION,
    MAX_EPSILON,
    ParityLearner,
    check_law_dimension,
    general_linear_symmetries,
)
from learners.parities.subsample import RUNS, Subsampler

__all__ = ["LEARNERS", "ParityAmplified", "ParityRestart", "restart_rate"]

ULP = 2.0**-52


def restart_rate(epsilon: float) -> float:
    """Return the largest p with ln((1 + p) / (1 - p)^2) <= epsilon, rounded down by a relative 1e-12.

    With c = e^-epsilon the equation (1 + p) = (1 - p)^2 / c has the root p = 2 (1 - c) / (2 + c + sqrt(8 c + c^2)) in
    (0, 1): about epsilon / 3 for a small epsilon.
    """
    c = math.exp(-epsilon)
    return -2 * math.expm1(-epsilon) / (2 + c + math.sqrt(c * (8 + c))) * (1 - 1e-12)


class _ConfidentParity(ParityLearner):
    """What the two learners share: a failure probability on consistent samples that their parameter `beta` sets."""

    epsilon: float
    beta: float

    _uniform: ClassVar[bool] = True

    @property
    def _keep(self) -> float:
        """The probability with which each example is kept."""
        raise NotImplementedError("a parity learner says how often it keeps an example")

    @property
    def failure(self) -> float:
        """The probability of failing on a consistent sample, at any n."""
        raise NotImplementedError("a parity learner says how often it fails")

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return the least n with f + (1 - f) 2^d (1 - p alpha)^n <= beta; see `utility`."""
        check_probability("alpha", alpha)
        check_probability("beta", beta)
        if beta <= self.failure:
            raise InputError(
                f"beta must be above {self.failure!r}, the probability with which this learner fails at any n; got "
                f"{beta!r}. Build the learner with a smaller beta"
            )
        log_term = self.dimension * math.log(2) + math.log1p(-self.failure) - math.log(beta - self.failure)
        return max(1, math.ceil(log_term / -math.log1p(-self._keep * alpha)))

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        """Return the claim Pr[failure or error > alpha] <= beta; beta must be above the failure probability f.

        On consistent examples every subsample is consistent, so the answer is that of the first subsample, and the
        learner fails with probability f exactly. A parity with error above alpha is a solution of the subsample with
        probability at most (1 - p alpha)^n, over the sample in the setting "realizable" (each example is kept and
        contradicts it with probability above p alpha), over the subsample alone in "empirical" (more than alpha n
        examples contradict it, none of which is kept: (1 - p)^(alpha n) <= (1 - p alpha)^n). There are at most 2^d.
        """
        if setting not in ("realizable", "empirical"):
            raise InputError(f"setting must be realizable or empirical, got {setting!r}")
        size = self.sample_size(alpha, beta)
        return UtilityClaim(alpha, beta, size, setting, self.claim_id, f"{NIS}, private learner for parity")

    claim_id: ClassVar[str] = "NIS-ParityLearner"

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return generators of GL(d, 2) acting on x, and of the label maps y -> y + <s, x>."""
        return general_linear_symmetries(self.dimension)


@dataclass(frozen=True)
class ParityAmplified(_ConfidentParity):
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
    def privacy(self) -> PrivacyClaim:
        """Pure epsilon-differential privacy under replacement of one example."""
        return PrivacyClaim(self.epsilon, claim_id="NIS-ParityLearner", source=f"{NIS}, private learner for parity")

    @property
    def failure(self) -> float:
        """2^-K."""
        return float(self._coin**self.repetitions)

    @property
    def _keep(self) -> float:
        return self.epsilon / (4 * self.repetitions)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """Return the codes (size,) of independent runs, each with K inner ones while these fail."""
        check_run(sample, self.domain, size)
        subsamples = Subsampler(sample, self.dimension, self._keep, rng, uniform=self._uniform)
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
        check_law_dimension(self.dimension, LAW_DIMENSION)
        log_prob, error = log_law(sample, self.dimension, self._keep, self._coin, uniform=self._uniform)
        tries = math.fsum(math.exp(i * log_prob[0]) if i else 1.0 for i in range(self.repetitions))
        repeated = np.concatenate([[self.repetitions * log_prob[0]], log_prob[1:] + math.log(tries)])
        finite = np.abs(repeated[np.isfinite(repeated)]).max()
        return Law(range(FAIL, 2**self.dimension), repeated, self.repetitions * (error + 8 * ULP) + ULP * float(finite))


@dataclass(frozen=True)
class ParityRestart(_ConfidentParity):
    """Learn parities privately, failing with probability beta exactly: restart until a subsample is consistent.

    Repeat: with probability beta fail and stop; otherwise keep each example with probability p, and if the system of
    the kept ones has a solution, answer a uniformly random one and stop.

    With g(r) the probability that one round answers r when it passes the coin, and c = sum_r g(r) that of a consistent
    subsample, Pr[r] = (1 - beta) g(r) / (beta + (1 - beta) c) and Pr[fail] = beta / (beta + (1 - beta) c). Replacing
    an example changes g(r) by a factor of at most (1 + p)/(1 - p) (as for `parity-private`). Given the kept ones of the
    other examples, c is their consistency times a number in [1 - p, 1], so the denominator changes by a factor of at
    most 1/(1 - p). So the learner is ln((1 + p)/(1 - p)^2)-differentially private, for every beta: `restart_rate`
    makes that epsilon. For a small epsilon p is epsilon/3, where one run of `parity-private` could keep epsilon/2 (and
    keeps epsilon/4): any confidence costs a factor 1.5, not the factor log2(1/beta) of repetition.

    Parameters
    ----------
    dimension : int
        Number d of Boolean coordinates, at most 63.
    epsilon : float
        The privacy claim, > 0, with no upper limit.
    beta : float
        In (0, 1): the probability of failing on consistent examples. On others a run takes up to ln(1/u)/beta rounds
        with probability 1 - u.
    """

    dimension: int
    epsilon: float
    beta: float

    id: ClassVar[str] = "parity-restart"
    instance: ClassVar[Instance] = Instance({"dimension": 2, "epsilon": 1.0, "beta": 0.1}, n=3, beta=0.2)
    claim_id: ClassVar[str] = "NIS-ParityRestart"

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1, MAX_DIMENSION)
        check_positive("epsilon", self.epsilon)
        check_probability("beta", self.beta)

    @property
    def privacy(self) -> PrivacyClaim:
        """Pure epsilon-differential privacy under replacement of one example."""
        source = f"{NIS}, private learner for parity; restarted instead of repeated"
        return PrivacyClaim(self.epsilon, claim_id=self.claim_id, source=source)

    @property
    def failure(self) -> float:
        """Beta: the sample being consistent, the first round decides."""
        return self.beta

    @property
    def _keep(self) -> float:
        return restart_rate(self.epsilon)

    def _stops(self, rng: np.random.Generator, first: bool, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """Return which rounds (runs, rounds) fail by the coin; `first` says that they are the first of their runs."""
        return rng.random(shape) < self.beta

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """Return the codes (size,) of independent runs; of those that go on, several rounds are made at a time."""
        check_run(sample, self.domain, size)
        subsamples = Subsampler(sample, self.dimension, self._keep, rng, uniform=self._uniform)
        codes = np.full(size, FAIL, dtype=np.int64)
        going, first = np.arange(size), True
        while len(going):
            rounds = 1 if first else max(1, min(RUNS // len(going), math.ceil(1 / self.beta)))
            stops = self._stops(rng, first, (len(going), rounds))
            answers = subsamples.solve(rng, stops.size).reshape(stops.shape)
            answers[stops] = FAIL
            ended = stops | (answers != FAIL)
            where = ended.argmax(axis=1)
            done = ended.any(axis=1)
            codes[going[done]] = answers[done, where[done]]
            going, first = going[~done], False
        return codes

    def law(self, sample: Sample) -> Law:
        """Return the law on `FAIL` and all 2^d parities: the closed form of the class docstring.

        An error e of the ln g(r) moves c, hence the denominator, by a factor within e^(+-e); the sums and logarithms
        round by a few ulp and by the size of the result: 2^-52 (2^d / 2^10 + 16 + size).
        """
        check_sample(sample, self.domain)
        check_law_dimension(self.dimension, LAW_DIMENSION)
        answers, error, consistent = log_answers(sample, self.dimension, self._keep, uniform=self._uniform)
        total = 1.0 if consistent else math.fsum(np.exp(answers))
        return self._closed_form(answers, error, total)

    def _closed_form(self, answers: NDArray[np.float64], error: float, total: float) -> Law:
        """Return the law for given ln g(r), their error, and c."""
        denominator = math.log(self.beta + (1 - self.beta) * total)
        log_prob = np.concatenate([[math.log(self.beta)], math.log1p(-self.beta) + answers]) - denominator
        size = float(np.abs(log_prob[np.isfinite(log_prob)]).max()) + abs(denominator)
        return Law(range(FAIL, 2**self.dimension), log_prob, 2 * error + ULP * (16 + 3 * size))


LEARNERS = (ParityAmplified, ParityRestart)

"""The private learners of parities: solve a random subsample, or fail; and restart instead, which divides no budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeVar

import numpy as np

from dpaudit.contract import FAIL, InputError, Instance, Law, Pair, Sample, Supremum

from ..arrays import Bools, Integers
from ..mechanisms.log_laws import ULP, Field
from ..parameters import check_law, check_run, check_sample
from .concepts import LAW_DIMENSION, MAX_EPSILON, SubsamplingLearner
from .gf2 import RUNS
from .law import log_answers, rational_law

T = TypeVar("T")


@dataclass(frozen=True)
class ParityPrivate(SubsamplingLearner):
    """Learn parities privately.

    With probability 1/2 fail. Otherwise keep each example with probability p = epsilon/4, solve the system of the kept
    ones, fail if it has no solution, and else return a uniformly random solution.

    Pure epsilon-differentially private for epsilon <= 3.83. Fix the kept ones of the other examples: one more equation
    multiplies the probability of a given solution by a factor in [0, 2], hence with probability 1 - p + p [0, 2] its
    probability lies in [1 - p, 1 + p] times a number that does not depend on that example; Pr[fail] changes by a factor
    of at most 1 + p. So the learner is ln((1 + p)/(1 - p))-differentially private, which is attained at n = 1, is about
    epsilon/2, and exceeds epsilon beyond `MAX_EPSILON`.

    Parameters
    ----------
    dimension : int
        Number d of Boolean coordinates, at most 63.
    epsilon : float
        The privacy claim, in (0, 3.83].
    """

    id: ClassVar[str] = "parity-private"
    instance: ClassVar[Instance] = Instance({"dimension": 3, "epsilon": 1.0}, n=3, beta=0.6)

    def __post_init__(self) -> None:
        super().__post_init__()
        # The cost ln((1 + p)/(1 - p)) at p = epsilon/4; p must stay below 1.
        if not (self.epsilon < 4 and 2 * math.atanh(self.epsilon / 4) <= self.epsilon):
            raise InputError(
                f"epsilon must be in (0, {MAX_EPSILON:.6f}], where ln((1 + epsilon/4)/(1 - epsilon/4)) <= epsilon, so "
                f"that keeping examples with probability epsilon/4 is epsilon-private; got {self.epsilon!r}"
            )

    @property
    def _keep(self) -> float:
        return self.epsilon / 4

    @property
    def failure(self) -> float:
        """1/2, the coin's."""
        return 0.5

    def supremum(self) -> Supremum:
        """Return the supremum ln((1 + p)/(1 - p)), attained by one example whose label is flipped; see the class."""
        # A nonzero point: both ends of the interval [1 - p, 1 + p] occur at one example.
        x = [0] * (self.dimension - 1) + [1]

        def ray(t: int) -> Pair:
            left, right = (self.domain.sample([x], [label]) for label in (0, 1))
            return Pair(left, right, "the label of the only example")

        proof = "an equation multiplies the probability of a solution by 1 - p + p [0, 2]; at n = 1 by both ends"
        return Supremum(2 * math.atanh(self._keep), proof, ray)

    def exact_law(self, sample: Sample, field: Field[T]) -> dict[int, T]:
        """Return the same law in numbers of `field`; see `parities.law.rational_law`."""
        check_sample(sample, self.domain)
        keep = Fraction(self._keep)
        coin = Fraction(self._coin)
        law = rational_law(sample, self.dimension, keep, coin, uniform=self._uniform)
        return {code: field.number(probability) for code, probability in law.items()}


def restart_rate(epsilon: float) -> float:
    """Return the largest p with ln((1 + p) / (1 - p)^2) <= epsilon, rounded down by a relative 1e-12.

    With c = e^-epsilon the equation (1 + p) = (1 - p)^2 / c has the root p = 2 (1 - c) / (2 + c + sqrt(8 c + c^2)) in
    (0, 1): about epsilon / 3 for a small epsilon.
    """
    c = math.exp(-epsilon)
    # By expm1, for 1 - c has few digits where epsilon is small.
    return -2 * math.expm1(-epsilon) / (2 + c + math.sqrt(c * (8 + c))) * (1 - 1e-12)


@dataclass(frozen=True)
class ParityRestart(SubsamplingLearner):
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

    beta: float

    id: ClassVar[str] = "parity-restart"
    instance: ClassVar[Instance] = Instance({"dimension": 2, "epsilon": 1.0, "beta": 0.1}, n=3, beta=0.2)
    audited: ClassVar[tuple[Instance, ...]] = (
        Instance({"dimension": 2, "epsilon": 1.0, "beta": 0.05}, n=3, alpha=0.1, beta=0.1),
    )
    claim_id: ClassVar[str] = "NIS-ParityRestart"
    source: ClassVar[str] = f"{SubsamplingLearner.source}; restarted instead of repeated"

    @property
    def failure(self) -> float:
        """Beta: the sample being consistent, the first round decides."""
        return self.beta

    @property
    def _keep(self) -> float:
        return restart_rate(self.epsilon)

    def _stops(self, rng: np.random.Generator, first: bool, shape: tuple[int, int]) -> Bools:
        """Return which rounds (runs, rounds) fail by the coin; `first` says that they are the first of their runs."""
        return rng.random(shape) < self.beta

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers:
        """Return the codes (size,) of independent runs; of those that go on, several rounds are made at a time."""
        check_run(sample, self.domain, size)
        subsamples = self._subsampler(sample, rng)
        codes = np.full(size, FAIL, dtype=np.int64)
        going = np.arange(size)
        first = True
        while len(going):
            # On consistent examples the first round decides. A run that goes on needs 1/beta more rounds on average
            # at most, which are made together as far as memory allows.
            rounds = 1
            if not first:
                rounds = max(1, min(RUNS // len(going), math.ceil(1 / self.beta)))
            # The coin comes before the subsample, as in the algorithm; both are drawn, so that arrays serve.
            stops = self._stops(rng, first, (len(going), rounds))
            answers = subsamples.solve(rng, stops.size).reshape(stops.shape)
            answers[stops] = FAIL
            # A run ends in its first round that stops by the coin or has a solution; later ones were drawn in vain.
            ended = stops | (answers != FAIL)
            where = ended.argmax(axis=1)
            done = ended.any(axis=1)
            codes[going[done]] = answers[done, where[done]]
            going = going[~done]
            first = False
        return codes

    def supremum(self) -> Supremum:
        """Return the supremum ln((1 + p)/(1 - p)) - ln(1 - p (1 - beta)), not attained.

        The proof is in docs/research/results.md. Reached by t copies of (x, 0) beside one of (x, 1), which becomes
        (x, 0).
        """
        keep = self._keep
        # 2 atanh(p) is ln((1 + p)/(1 - p)) without a loss of digits for a small p.
        value = 2 * math.atanh(keep) - math.log1p(-keep * (1 - self.beta))
        proof = (
            "the greatest ratio of g(r) times that of the denominators, both reached by t copies of (x, 0) and (x, 1)"
        )
        return Supremum(value, proof, self._contradicted_ray)

    def law(self, sample: Sample) -> Law:
        """Return the law on `FAIL` and all 2^d parities: the closed form of the class docstring.

        An error e of the ln g(r) moves c, hence the denominator, by a factor within e^(+-e); the sums and logarithms
        round by a few ulp and by the size of the result: 2^-52 (2^d / 2^10 + 16 + size).
        """
        check_law(self, sample, dimension=LAW_DIMENSION)
        answers, error, consistent = log_answers(sample, self.dimension, self._keep, uniform=self._uniform)
        # c, the probability that a subsample is consistent; summing a 1 would only round it.
        total = 1.0 if consistent else math.fsum(np.exp(answers))
        denominator = math.log(self.beta + (1 - self.beta) * total)
        # The closed form of the class: beta, and (1 - beta) g(r), over their sum.
        log_prob = np.concatenate([[math.log(self.beta)], math.log1p(-self.beta) + answers]) - denominator
        size = float(np.abs(log_prob[np.isfinite(log_prob)]).max()) + abs(denominator)
        return Law(range(FAIL, 2**self.dimension), log_prob, 2 * error + ULP * (16 + 3 * size))


LEARNERS = (ParityPrivate, ParityRestart)

"""The trials of a utility audit: samples are drawn, or one is fixed, the learner is run, its outputs are judged."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, partial
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from dpaudit.arguments import addressed_parameters_of
from dpaudit.contract import FIXED_SETTINGS, Distribution, Hypothesis
from dpaudit.errors import blamed
from dpaudit.jsonable import jsonable
from dpaudit.progress import Tell
from dpaudit.running.workers import spread
from dpaudit.seeding import generator
from dpaudit.utility.error import best_error, empirical_error, exceeds, labels_of, population_error

__all__ = ["Judge", "Problem", "Trial", "apportioned", "count_failures", "sample_of", "stream_address"]

CHUNK = 64
"""Trials that share one random stream, each with a sample of its own."""
FIXED_CHUNK = 1024
"""Runs that share one random stream, all on the same sample."""
DEALS = 16
"""The parts at least, if there are chunks enough, after each of which progress is reported."""
_SLACK = Fraction(1, 2**40)
"""A share that exceeds an integer by less than this, relatively, is that integer: ten times 0.1 is one."""


Judge = Callable[[Any], bool]
"""Decides whether an output of a learner is a failure."""


@dataclass(frozen=True, eq=False)
class Problem:
    """The sample that a learner is given, and the failures that are counted there.

    Parameters
    ----------
    learner : Learner
        The learner.
    concept : Hypothesis
        What labels the points.
    distribution : Distribution
        That of the points.
    noise : array of float64, shape (m,), or None
        In the setting "agnostic", the probability with which the label of each point is wrong.
    alpha : float
        The accuracy.
    setting : str
        The error and the randomness; see `contract.UtilityClaim`.
    of_class : bool
        Whether the concept is one of the learner's class.
    """

    learner: Any
    concept: Hypothesis
    distribution: Distribution
    noise: NDArray[np.float64] | None
    alpha: float
    setting: str
    of_class: bool = True

    @cached_property
    def best(self) -> float:
        """The error of the best concept of the class, over which the excess is counted; 0 without noise."""
        if self.noise is None:
            return 0.0
        return best_error(self.learner.concepts, self.distribution, self.truth, self.noise, of_class=self.of_class)

    @cached_property
    def truth(self) -> NDArray[np.uint8]:
        """The concept's labels of the points."""
        return labels_of(self.concept, self.distribution.points)

    @property
    def fixed(self) -> bool:
        """Whether all runs are on one sample."""
        return self.setting in FIXED_SETTINGS

    def draw(self, n: int, rng: np.random.Generator) -> Any:
        """Return a sample of n independent examples.

        With noise, point x_i gets the label c(x_i), and with probability eta_i the other one, by one multinomial draw
        and one binomial draw a point: the cost does not depend on n.
        """
        if self.noise is None:
            return self.learner.domain.draw(self.concept, self.distribution, n, rng)
        counts = rng.multinomial(n, self._weights)
        flipped = rng.binomial(counts, self.noise)
        return sample_of(self, np.concatenate([counts - flipped, flipped]))

    def sample(self, n: int) -> Any:
        """Return the fixed sample of n examples, labelled without noise, that `apportioned` makes."""
        return sample_of(self, apportioned(self.distribution.probabilities, n))

    @property
    def _weights(self) -> NDArray[np.float64]:
        weights = np.asarray(self.distribution.probabilities, dtype=np.float64)
        return np.asarray(weights / weights.sum())

    @property
    def chances(self) -> NDArray[np.float64]:
        """The probabilities of the examples that `sample_of` takes the counts of, (m,), with noise (2 m,)."""
        if self.noise is None:
            return self._weights
        return np.concatenate([self._weights * (1 - self.noise), self._weights * self.noise])

    def judge(self, sample: Any = None) -> Judge:
        """Return what decides whether an output fails, each distinct one once: on the population or a fixed sample.

        An output fails that is no solution; or that has no hypothesis, or one whose error is too large.
        """
        most = self.best + self.alpha if sample is None else self.alpha

        @cache
        def fails(output: Hashable) -> bool:
            if self.setting == "solution" and sample is not None:
                return not self.learner.solves(output, sample)
            hypothesis = self.learner.decode(output)
            if hypothesis is None:
                return True
            if sample is not None:
                return exceeds(empirical_error(hypothesis, sample), most)
            return exceeds(population_error(hypothesis, self.distribution, self.truth, self.noise), most)

        return lambda output: fails(output.item() if isinstance(output, np.generic) else output)


@dataclass(frozen=True, eq=False)
class Trial:
    """The part that trials of one audit share: the problem, examples a sample, root seed and address of the streams.

    It is small enough to send to a worker.
    """

    problem: Problem
    n: int
    seed: int
    address: tuple[Any, ...]

    def failures(self, chunks: Iterable[tuple[int, int]]) -> int:
        """Return how many trials of the chunks (number, trials) fail."""
        problem = self.problem
        with blamed(f"the learner {problem.learner.id}, or what it learned,"):
            sample = problem.sample(self.n) if problem.fixed else None
            judge = problem.judge(sample)
            return sum(judge(output) for chunk, size in chunks for output in self._outputs(chunk, size, sample))

    def _outputs(self, chunk: int, size: int, sample: Any) -> Iterable[Any]:
        """Return the outputs of a chunk of trials, on one sample or each on its own."""
        rng, run = generator(self.seed, *self.address, chunk), self.problem.learner.run
        if sample is not None:
            outputs: Iterable[Any] = run(sample, rng, size)
            return outputs
        return (run(self.problem.draw(self.n, rng), rng, 1)[0] for _ in range(size))


def count_failures(trial: Trial, trials: int, n_jobs: int, tell: Tell | None = None) -> int:
    """Return the failures among `trials` trials, cut into chunks and the chunks dealt to the workers.

    The number of trials made is reported to `tell`, deal by deal.
    """
    size = FIXED_CHUNK if trial.problem.fixed else CHUNK
    chunks = [(i, min(size, trials - i * size)) for i in range(-(-trials // size))]
    workers = min(joblib.effective_n_jobs(n_jobs), len(chunks))
    if workers == 1 and tell is None:
        return trial.failures(chunks)
    deals = min(len(chunks), max(DEALS, 4 * workers))
    dealt = [chunks[i::deals] for i in range(deals)]
    calls = [partial(trial.failures, deal) for deal in dealt]
    results = (call() for call in calls) if workers == 1 else spread(calls, n_jobs=workers)
    failures = 0
    for found, deal in zip(results, dealt, strict=True):
        failures += found
        if tell is not None:
            tell(sum(runs for _, runs in deal))
    return failures


def stream_address(problem: Problem, name: str, n: int) -> tuple[Any, ...]:
    """Return the address of the random streams: it depends on what is run, not on alpha, beta or the workers."""
    law, learner = problem.distribution, problem.learner
    weights = np.asarray(law.probabilities, dtype=np.float64)
    noise = b"" if problem.noise is None else problem.noise.tobytes()
    flags = b"" if law.public is None else law.public.tobytes()
    digest = hashlib.blake2b(weights.tobytes() + problem.truth.tobytes() + noise + flags, digest_size=8).hexdigest()
    parameters = jsonable(addressed_parameters_of(learner))
    return "utility", learner.id, parameters, name, law.name, digest, n, problem.setting


def sample_of(problem: Problem, counts: NDArray[np.int64]) -> Any:
    """Return the sample with so many examples of each point, or of each point with either label, the right one first.

    Whether an example is public depends on the point alone, where the distribution has flags.
    """
    law, copies = problem.distribution, len(counts) // len(problem.truth)
    points = np.concatenate([law.points] * copies)
    labels = np.concatenate([problem.truth, 1 - problem.truth][:copies])
    flags = () if law.public is None else (np.concatenate([law.public] * copies),)
    return problem.learner.domain.sample(points, labels, counts, *flags)


def apportioned(probabilities: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Divide n examples among points in proportion to their probabilities.

    Every point but the likeliest gets its share n p_i rounded up, so that a point with a little more than alpha of the
    probability has more than alpha n examples; the likeliest gets the rest. Where that is not enough, point i gets
    floor(n P_i) - floor(n P_{i-1}) for the cumulative probabilities P.

    Returns
    -------
    array of int64, shape (m,)
        Counts >= 0 that sum to n.
    """
    weights = [Fraction(float(p)) for p in probabilities]
    total = sum(weights)
    likeliest = max(range(len(weights)), key=weights.__getitem__)
    counts = [math.ceil(n * w / total * (1 - _SLACK)) for w in weights]
    counts[likeliest] += n - sum(counts)
    if counts[likeliest] <= 0:
        ends, cumulative = [0], Fraction(0)
        for w in weights:
            cumulative += w
            ends.append(math.floor(n * cumulative / total))
        counts = [after - before for before, after in itertools.pairwise(ends)]
    return np.array(counts, dtype=np.int64)

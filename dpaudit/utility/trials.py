"""The trials of a utility audit: samples are drawn, or one is fixed, the learner is run, its outputs are judged."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from dpaudit.arguments import addressed_parameters_of
from dpaudit.contract import FIXED_SETTINGS, Distribution, Hypothesis, Learner
from dpaudit.errors import blamed
from dpaudit.jsonable import jsonable
from dpaudit.progress import Tell
from dpaudit.running.workers import spread
from dpaudit.seeding import generator
from dpaudit.utility.error import Judge, best_error, empirical_error, labels_of, population_error

__all__ = ["Problem", "Trial", "apportioned", "count_failures", "draw_noisy", "fixed_sample", "stream_address"]

CHUNK = 64
"""Trials that share one random stream, each with a sample of its own."""
FIXED_CHUNK = 1024
"""Runs that share one random stream, all on the same sample."""
DEALS = 16
"""The parts at least, if there are chunks enough, after each of which progress is reported."""
_SLACK = Fraction(1, 2**40)
"""A share that exceeds an integer by less than this, relatively, is that integer: ten times 0.1 is one."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What a learner is given, and what counts as a failure there.

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
    best : float
        The error of the best concept of the class, over which the excess is counted; 0 without noise.
    """

    learner: Any
    concept: Hypothesis
    distribution: Distribution
    noise: NDArray[np.float64] | None
    alpha: float
    setting: str
    best: float

    @classmethod
    def of(
        cls,
        learner: Any,
        concept: Hypothesis,
        distribution: Distribution,
        noise: NDArray[np.float64] | None,
        alpha: float,
        setting: str,
        *,
        of_class: bool,
    ) -> Problem:
        """Return the problem with the error of the best concept; `of_class` is whether the concept is of the class."""
        best = 0.0
        if noise is not None:
            truth = labels_of(concept, distribution.points)
            best = best_error(learner.concepts, distribution, truth, noise, of_class=of_class)
        return cls(learner, concept, distribution, noise, alpha, setting, best)

    @cached_property
    def truth(self) -> NDArray[np.uint8]:
        """The concept's labels of the points."""
        return labels_of(self.concept, self.distribution.points)

    @property
    def fixed(self) -> bool:
        """Whether all runs are on one sample."""
        return self.setting in FIXED_SETTINGS

    def draw(self, n: int, rng: np.random.Generator) -> Any:
        """Return a sample of n independent examples."""
        if self.noise is None:
            return self.learner.domain.draw(self.concept, self.distribution, n, rng)
        return draw_noisy(self.learner, self.distribution, self.truth, self.noise, n, rng)

    def sample(self, n: int) -> Any:
        """Return the fixed sample of n examples."""
        return fixed_sample(self.learner, self.distribution, self.truth, n)

    def judge(self, sample: Any = None) -> Judge:
        """Return what judges outputs: by the error on the population, or on a fixed sample."""
        if sample is None:
            return Judge.of_error(self.learner, self._error, self.best + self.alpha)
        if self.setting == "solution":
            return Judge.of_solution(self.learner, sample)
        return Judge.of_error(self.learner, lambda h: empirical_error(h, sample), self.alpha)

    def _error(self, hypothesis: Hypothesis) -> float:
        return population_error(hypothesis, self.distribution, self.truth, self.noise)


@dataclass(frozen=True, eq=False)
class Trial:
    """What the trials of one audit share: the problem, examples a sample, root seed and address of the streams.

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
            return sum(judge.fails(output) for chunk, size in chunks for output in self._outputs(chunk, size, sample))

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


def draw_noisy(
    learner: Learner,
    distribution: Distribution,
    truth: NDArray[np.uint8],
    noise: NDArray[np.float64],
    n: int,
    rng: np.random.Generator,
) -> Any:
    """Draw n independent examples; point x_i gets the label c(x_i), and with probability eta_i the other one.

    Whether an example is public is the distribution's to say, if it has flags, whatever label it gets.

    One multinomial draw and one binomial draw a point: the cost does not depend on n.
    """
    weights = np.asarray(distribution.probabilities, dtype=np.float64)
    counts = rng.multinomial(n, weights / weights.sum())
    flipped = rng.binomial(counts, noise)
    points = np.concatenate([distribution.points, distribution.points])
    labels, both = np.concatenate([truth, 1 - truth]), np.concatenate([counts - flipped, flipped])
    if distribution.public is None:
        return learner.domain.sample(points, labels, both)
    return learner.domain.sample(points, labels, both, np.concatenate([distribution.public, distribution.public]))


def fixed_sample(learner: Learner, distribution: Distribution, truth: NDArray[np.uint8], n: int) -> Any:
    """Return the sample of n examples, labelled without noise, that `apportioned` makes of a distribution."""
    counts = apportioned(distribution.probabilities, n)
    seen = np.flatnonzero(counts)
    flags = () if distribution.public is None else (distribution.public[seen],)
    return learner.domain.sample(distribution.points[seen], truth[seen], counts[seen], *flags)


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

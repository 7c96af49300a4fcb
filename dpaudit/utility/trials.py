"""The trials of one utility audit: samples are drawn, the learner is run, its outputs are judged."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable
from functools import partial
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from dpaudit.arguments import addressed_parameters_of, stream_id_of
from dpaudit.contract import FIXED_SETTINGS, Distribution, Hypothesis
from dpaudit.errors import blamed
from dpaudit.jsonable import jsonable
from dpaudit.progress import Tell
from dpaudit.running.workers import spread
from dpaudit.seeding import generator
from dpaudit.utility.error import Judge, empirical_error, labels_of, population_error
from dpaudit.utility.instances import draw_noisy, fixed_sample

__all__ = ["CHUNK", "Trial", "count_failures", "stream_address"]

CHUNK = 64
"""Trials that share one random stream, each with a sample of its own."""
FIXED_CHUNK = 1024
"""Runs that share one random stream, all on the same sample."""
DEALS = 16
"""The parts at least, if there are chunks enough, after each of which progress is told."""


@dataclasses.dataclass(frozen=True)
class Trial:
    """The values that the trials of one audit share; small enough to send to a worker."""

    learner: Any
    concept: Hypothesis
    distribution: Distribution
    noise: NDArray[np.float64] | None
    best: float
    n: int
    alpha: float
    setting: str
    seed: int
    address: tuple[Any, ...]

    def failures(self, chunks: Iterable[tuple[int, int]]) -> int:
        """Return how many trials of the chunks (number, trials) fail."""
        with blamed(f"the learner {self.learner.id}, or what it learned,"):
            return self._failures(chunks)

    def _failures(self, chunks: Iterable[tuple[int, int]]) -> int:
        truth = labels_of(self.concept, self.distribution.points)
        if self.setting in FIXED_SETTINGS:
            return self._failures_on_one(fixed_sample(self.learner, self.distribution, truth, self.n), chunks)
        judge = Judge.of_error(
            self.learner,
            lambda h: population_error(h, self.distribution, truth, self.noise),
            self.best + self.alpha,
        )
        return sum(self._failures_of_chunk(judge, truth, chunk, size) for chunk, size in chunks)

    def _failures_on_one(self, sample: Any, chunks: Iterable[tuple[int, int]]) -> int:
        """Return how many runs on the same sample fail."""
        if self.setting == "solution":
            judge = Judge.of_solution(self.learner, sample)
        else:
            judge = Judge.of_error(self.learner, lambda h: empirical_error(h, sample), self.alpha)
        outputs = (self.learner.run(sample, generator(self.seed, *self.address, chunk), size) for chunk, size in chunks)
        return sum(judge.fails(output) for runs in outputs for output in runs)

    def _failures_of_chunk(self, judge: Judge, truth: NDArray[np.uint8], chunk: int, size: int) -> int:
        rng = generator(self.seed, *self.address, chunk)
        return sum(judge.fails(self.learner.run(self._draw(truth, rng), rng, 1)[0]) for _ in range(size))

    def _draw(self, truth: NDArray[np.uint8], rng: np.random.Generator) -> Any:
        if self.noise is None:
            return self.learner.domain.draw(self.concept, self.distribution, self.n, rng)
        return draw_noisy(self.learner, self.distribution, truth, self.noise, self.n, rng)


def count_failures(trial: Trial, trials: int, n_jobs: int, tell: Tell | None = None) -> int:
    """Return the failures among `trials` trials, cut into chunks and the chunks dealt to the workers.

    `tell` is told how many trials have been made, deal by deal.
    """
    size = FIXED_CHUNK if trial.setting in FIXED_SETTINGS else CHUNK
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


def stream_address(
    learner: Any,
    concept: Hypothesis,
    name: str,
    law: Distribution,
    flips: NDArray[np.float64] | None,
    n: int,
    setting: str,
) -> tuple[Any, ...]:
    """Return the address of the random streams: it depends on what is run, not on alpha, beta or the workers."""
    weights, labels = np.asarray(law.probabilities, dtype=np.float64), labels_of(concept, law.points)
    noise = b"" if flips is None else flips.tobytes()
    flags = b"" if law.public is None else law.public.tobytes()
    digest = hashlib.blake2b(weights.tobytes() + labels.tobytes() + noise + flags, digest_size=8).hexdigest()
    return (
        "utility",
        stream_id_of(learner),
        jsonable(addressed_parameters_of(learner)),
        name,
        law.name,
        digest,
        n,
        setting,
    )

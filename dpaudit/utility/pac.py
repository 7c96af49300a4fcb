"""The utility audit: run a learner on fresh samples and count how often its error exceeds alpha.

One trial draws n examples from the distribution, labels them by the concept, runs the learner once and
computes the error of its hypothesis exactly, so that the failures are Bin(trials, failure rate) and nothing
else.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import re
from collections.abc import Iterable
from typing import Any

import joblib
import numpy as np

from dpaudit.contract import Distribution, Hypothesis, Learner, UtilityClaim
from dpaudit.errors import InputError
from dpaudit.results import UtilityFinding, jsonable
from dpaudit.seeding import check_seed, generator
from dpaudit.utility.error import ErrorJudge, labels_of
from dpaudit.utility.interval import failure_interval, verdict

__all__ = ["CHUNK", "audit_utility"]

CHUNK = 64
"""Trials that share one random stream."""


@dataclasses.dataclass(frozen=True)
class _Trial:
    """Everything that the trials of one audit have in common; small enough to send to a worker."""

    learner: Any
    concept: Hypothesis
    distribution: Distribution
    n: int
    alpha: float
    setting: str
    seed: int
    address: tuple[Any, ...]

    def failures(self, chunks: Iterable[tuple[int, int]]) -> int:
        """Return how many trials of the chunks (number, trials) fail."""
        truth = labels_of(self.concept, self.distribution.points)
        judge = ErrorJudge(self.learner, self.distribution, truth, self.alpha, self.setting)
        return sum(self._failures_of_chunk(judge, chunk, size) for chunk, size in chunks)

    def _failures_of_chunk(self, judge: ErrorJudge, chunk: int, size: int) -> int:
        rng = generator(self.seed, *self.address, chunk)
        failed = 0
        for _ in range(size):
            sample = self.learner.domain.draw(self.concept, self.distribution, self.n, rng)
            output = self.learner.run(sample, rng, 1)[0]
            failed += judge.fails(output.item() if isinstance(output, np.generic) else output, sample)
        return failed


def audit_utility(
    learner: Learner,
    concept: int | Hypothesis,
    distribution: Distribution | str,
    *,
    alpha: float,
    beta: float,
    n: int | None = None,
    trials: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    setting: str | None = None,
    n_jobs: int = 1,
) -> UtilityFinding:
    """Estimate a learner's failure rate Pr[error > alpha] and compare it with beta.

    Parameters
    ----------
    learner : Learner
        The learner.
    concept : int or Hypothesis
        What labels the samples: a code of ``learner.concepts``, or any hypothesis.
    distribution : Distribution or "uniform"
        Where the points come from; "uniform" is the uniform distribution on the learner's domain.
    alpha, beta : float
        The claim Pr[error > alpha] <= beta, both in (0, 1). Failing (`decode` answers None) counts as an
        error > alpha; an error within 16 ulps above alpha counts as alpha.
    n : int, optional
        Examples per sample; by default what the learner's theorem asks for.
    trials : int
        Independent samples, one run on each.
    confidence : float
        Of the two-sided exact interval of the failure rate; each side errs with probability (1 - confidence)
        / 2.
    seed : int
        Root seed; the result does not depend on `n_jobs`.
    setting : {"realizable", "empirical"}, optional
        Population error, or error on the sample drawn; by default the claim's, else "realizable".
    n_jobs : int
        Processes, as joblib counts them.

    Returns
    -------
    UtilityFinding
        "holds" if the interval lies at or below beta, "violation" if above, else "undecided". `claim_id`
        names the learner's theorem only where n is at least its sample size and the setting is its own.

    Raises
    ------
    InputError
        If an argument is out of range, the setting is "agnostic", or n is not given and the learner claims
        none.
    """
    _check_numbers(alpha, beta, trials, confidence, n_jobs)
    seed = check_seed(seed)
    claim = _claim(learner, alpha, beta, setting, needed=n is None)
    setting = _check_setting(setting or (claim.setting if claim else "realizable"))
    size = _check_integer("n", n if n is not None else claim.sample_size if claim else None)
    law = _distribution(learner, distribution)
    target, name = _concept(learner, concept)
    address = _address(learner, target, name, law, size, setting)
    trial = _Trial(learner, target, law, size, alpha, setting, seed, address)
    failures = _count(trial, trials, n_jobs)
    lower, upper = failure_interval(failures, trials, confidence)
    covered = claim is not None and claim.setting == setting and size >= claim.sample_size
    return UtilityFinding(
        verdict=verdict(lower, upper, beta),
        failure_rate=failures / trials,
        failure_lower=lower,
        failure_upper=upper,
        failures=failures,
        trials=int(trials),
        alpha=float(alpha),
        beta=float(beta),
        n=size,
        setting=setting,
        concept=name,
        distribution=law.name or "unnamed",
        confidence=float(confidence),
        seed=seed,
        claim_id=claim.claim_id if claim is not None and covered else "",
    )


def _count(trial: _Trial, trials: int, n_jobs: int) -> int:
    """Return the failures among `trials` trials, cut into chunks and the chunks dealt to the workers."""
    chunks = [(i, min(CHUNK, trials - i * CHUNK)) for i in range(-(-trials // CHUNK))]
    workers = min(joblib.effective_n_jobs(n_jobs), len(chunks))
    if workers == 1:
        return trial.failures(chunks)
    deals = min(len(chunks), 4 * workers)
    jobs = (joblib.delayed(trial.failures)(chunks[i::deals]) for i in range(deals))
    return int(sum(joblib.Parallel(n_jobs=workers)(jobs)))


def _claim(
    learner: Any, alpha: float, beta: float, setting: str | None, *, needed: bool
) -> UtilityClaim | None:
    """Return the learner's claim for (alpha, beta), in the setting asked for where it makes several.

    None if the learner makes no such claim and n was given, so that none is needed.
    """
    utility = getattr(learner, "utility", None)
    try:
        if utility is None and needed:
            raise InputError(f"n must be given: learner {learner.id!r} states no sample size")
        if utility is None:
            return None
        several = setting is not None and "setting" in inspect.signature(utility).parameters
        claim: UtilityClaim = utility(alpha, beta, setting=setting) if several else utility(alpha, beta)
        if needed and setting is not None and claim.setting != setting:
            raise InputError(f"n must be given: the sample size of {learner.id!r} is for the setting "
                             f"{claim.setting!r}, not {setting!r}")
    except InputError:
        if needed:
            raise
        return None
    return claim


def _address(
    learner: Any, concept: Hypothesis, name: str, law: Distribution, n: int, setting: str
) -> tuple[Any, ...]:
    """Return where the random streams live: they depend on what is run, not on alpha, beta or the workers."""
    weights, labels = np.asarray(law.probabilities, dtype=np.float64), labels_of(concept, law.points)
    digest = hashlib.blake2b(weights.tobytes() + labels.tobytes(), digest_size=8).hexdigest()
    fields = dataclasses.fields(learner) if dataclasses.is_dataclass(learner) else ()
    parameters = {f.name: jsonable(getattr(learner, f.name)) for f in fields}
    return ("utility", learner.id, parameters, name, law.name, digest, n, setting)


def _distribution(learner: Learner, distribution: Distribution | str) -> Distribution:
    """Return the distribution, after checking that its points belong to the learner's domain."""
    if isinstance(distribution, str):
        if distribution != "uniform":
            raise InputError(f"distribution must be a Distribution or 'uniform', got {distribution!r}")
        points = learner.domain.points()
        return Distribution(points, np.full(len(points), 1 / len(points)), "uniform")
    if not isinstance(distribution, Distribution):
        raise InputError(f"distribution must be a Distribution or 'uniform', got {distribution!r}")
    inside = learner.domain.contains(distribution.points)
    if not inside.all():
        raise InputError(f"distribution must live on the domain {learner.domain!r}, but has the point "
                         f"{distribution.points[~inside][0].tolist()}")
    return distribution


def _concept(learner: Any, concept: int | Hypothesis) -> tuple[Hypothesis, str]:
    """Return the hypothesis that labels the samples, and its name."""
    if isinstance(concept, int | np.integer) and not isinstance(concept, bool):
        size = learner.concepts.size
        if not 0 <= concept < size:
            raise InputError(f"concept must be a code in 0 .. {size - 1} or a hypothesis, got {concept!r}")
        return learner.concepts.concept(int(concept)), f"concept {int(concept)}"
    if not isinstance(concept, Hypothesis):
        raise InputError(f"concept must be a code of the learner's concepts or a hypothesis, got {concept!r}")
    # A default repr shows an address in memory, which would differ from run to run.
    return concept, re.sub(r" at 0x[0-9a-fA-F]+", "", repr(concept))


def _check_numbers(alpha: float, beta: float, trials: int, confidence: float, n_jobs: int) -> None:
    """Raise `InputError` for numbers out of range."""
    for name, value in (("alpha", alpha), ("beta", beta), ("confidence", confidence)):
        number = isinstance(value, int | float | np.floating) and not isinstance(value, bool)
        if not number or not 0 < value < 1:
            raise InputError(f"{name} must be in (0, 1), got {value!r}")
    _check_integer("trials", trials)
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise InputError(f"n_jobs must be an integer other than 0, got {n_jobs!r}")


def _check_integer(name: str, value: int | None) -> int:
    """Return a positive integer, or raise `InputError`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} must be an integer >= 1, got {value!r}")
    return int(value)


def _check_setting(setting: str) -> str:
    """Return a setting that can be audited, or raise `InputError`."""
    if setting == "agnostic":
        raise InputError("setting agnostic cannot be audited yet: samples are labelled by a concept, without "
                         "noise; use realizable or empirical")
    if setting not in ("realizable", "empirical"):
        raise InputError(f"setting must be realizable or empirical, got {setting!r}")
    return setting

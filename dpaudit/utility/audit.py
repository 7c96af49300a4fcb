"""The utility audit: run a learner and count how often it fails, in the setting that its theorem speaks of.

Where a theorem speaks of independent examples ("realizable", "agnostic"), one trial draws n examples from the
distribution, labels them, runs the learner once and computes the error of its hypothesis exactly. Where it speaks of
every sample ("empirical", "solution"), all trials run the learner on one fixed sample. The failures are Bin(trials,
failure rate) and nothing else.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpaudit.arguments import (
    CONFIDENCE,
    addressed_parameters_of,
    check_built,
    read_choice,
    read_integer,
    read_number,
)
from dpaudit.contract import (
    SETTINGS,
    Distribution,
    HasPopulations,
    HasSampleSize,
    HasSettings,
    HasUtility,
    Hypothesis,
    Learner,
    Solves,
    UtilityClaim,
    UtilityVerdict,
)
from dpaudit.errors import InputError, blamed
from dpaudit.jsonable import Json, jsonable, stable_repr
from dpaudit.progress import Advance, Progress, followed
from dpaudit.results import remembering
from dpaudit.running.workers import Workers
from dpaudit.seeding import check_seed, generator
from dpaudit.utility.finding import UtilityFinding
from dpaudit.utility.interval import failure_interval, is_vacuous, looks, verdict
from dpaudit.utility.problem import Problem, labels_of, nearest_error

LOG = logging.getLogger(__name__)

# Trials that share one random stream, each with a sample of its own.
CHUNK = 64
# Runs that share one random stream, all on the same sample.
FIXED_CHUNK = 1024
# Chunks are dealt in at least this many parts, if there are enough of them: progress is reported after each part.
DEALS = 16
# What counts of a sample may sum to, far below the range of int64.
MOST_EXAMPLES = 2**62


# A root seed and the address of a stream below it.
_Stream = tuple[int, *tuple[Json, ...]]


@remembering
def audit_utility(
    learner: Learner,
    concept: int | Hypothesis,
    distribution: Distribution | str,
    *,
    alpha: float,
    beta: float,
    n: int | None = None,
    trials: int = 1000,
    most: int | None = None,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    setting: str | None = None,
    noise: float | Sequence[float] | NDArray[np.float64] | None = None,
    n_jobs: int = 1,
    backend: str | None = None,
    address: str | None = None,
    progress: Progress = False,
) -> UtilityFinding:
    """Estimate a learner's failure rate Pr[error > alpha] and compare it with beta.

    Parameters
    ----------
    learner : Learner
        The learner.
    concept : int or Hypothesis
        The concept that labels the samples: a code of ``learner.concepts``, or a hypothesis, as classes that are too
        large to be numbered need. One that is known to lie outside of the class is refused, but in the settings
        "agnostic" and "solution"; of one that may, the theorem is not named.
    distribution : Distribution or "uniform"
        The distribution of the points; "uniform" is the uniform distribution on the learner's domain. To a learner from
        public and private examples it may say which points are public; see `Distribution.mixture`. The error is then
        that on the mixture of both populations, whether an example is public or not.
    alpha, beta : float
        The claim Pr[error > alpha] <= beta, both in (0, 1). Failing (`decode` answers None) counts as an
        error > alpha; an error within 16 ulps above alpha counts as alpha.
    n : int, optional
        Examples per sample; by default what the learner's theorem asks for.
    trials : int
        Independent samples, one run on each.
    most : int, optional
        The most of them: where the interval contains beta there are four times as many, as often as this allows. All
        looks share the error, so that the interval of the last one holds with probability `confidence` at least.
    confidence : float
        Of the two-sided exact interval of the failure rate; each side errs with probability (1 - confidence) / 2.
    seed : int
        Root seed; the result does not depend on `n_jobs`.
    setting : {"realizable", "agnostic", "empirical", "solution"}, optional
        The error and the randomness that the claim speaks of; see `contract.UtilityClaim`. By default the claim's, else
        "realizable". "empirical" and "solution" take one sample, the n examples divided as the distribution says.
    noise : float or sequence of float, optional
        In the setting "agnostic" (and needed there): the probability in [0, 1] with which a point's label is not the
        concept's; one for all points, or one for each point of the distribution (a point that is both public and
        private has two). The error that counts is the excess over the best concept of the class, whose own error is
        computed exactly.
    n_jobs, backend, address
        As for `audit_privacy`.
    progress : bool or callable
        As for `audit_privacy`.

    Returns
    -------
    UtilityFinding
        "holds" if the interval lies at or below beta ("vacuous" if the claim promises next to nothing, with alpha or
        beta 1/2 or more), "violation" if above, else "undecided". `claim_id` names the learner's theorem only where n
        is at least its sample size, the setting is its own, and it speaks of the distribution's public and private
        examples.

    Raises
    ------
    InputError
        If an argument is out of range, the concept is not of the class, noise is missing or does not belong to the
        setting, the learner offers no `solves`, the best concept cannot be found, or n is not given and the learner
        claims none that fits.
    """
    check_built(learner)
    read_number("alpha", alpha, 0, 1)
    read_number("beta", beta, 0, 1)
    read_number("confidence", confidence, 0, 1)
    trials = read_integer("trials", trials)
    workers = Workers.of(n_jobs, backend, address)
    seed = check_seed(seed)
    if most is not None:
        most = read_integer("most", most)
    claim, setting = _claim(learner, alpha, beta, setting, needed=n is None)
    law = read_distribution(learner, distribution)
    target, name = read_concept(learner, concept)
    flips = read_noise(noise, setting, law)
    if not speaks_of(learner, law, target, flips):
        claim = None
    size = _size(learner, n, claim)
    of_class = _is_of_class(learner, concept, law, setting)
    # Nor does the theorem speak of a target that may lie outside of the class.
    if not of_class and setting != "agnostic":
        claim = None
    problem = Problem(learner, target, law, flips, alpha, setting, of_class=of_class)
    # Before any run is made: the search for the best concept may be refused as too costly.
    best = problem.best
    stream: _Stream = (seed, *stream_address(problem, name, size))
    vacuous = is_vacuous(alpha, beta, setting, learner.concepts)
    # The sizes of all looks are fixed before any run, and share the probability of error.
    planned = looks(trials, most, confidence)
    with followed(progress, sum(runs for runs, _ in planned), "runs") as report:
        for runs, level in planned:
            failures = _count_failures(problem, size, stream, runs, workers, report)
            lower, upper = failure_interval(failures, runs, level)
            said = verdict(lower, upper, beta, vacuous)
            # All intervals hold together, so that the first one that decides may.
            if said != UtilityVerdict.UNDECIDED:
                break
    # The theorem is named only where its own statement was tested: with fewer examples it promises nothing.
    claim_id = ""
    if claim is not None and claim.setting == setting and size >= claim.sample_size:
        claim_id = claim.claim_id
    LOG.info("utility of %s on %s: %s, %d failures in %d runs", learner.id, law.name, said, failures, runs)
    return UtilityFinding(
        verdict=said,
        failure_rate=failures / runs,
        failure_lower=lower,
        failure_upper=upper,
        failures=failures,
        trials=int(runs),
        alpha=float(alpha),
        beta=float(beta),
        n=size,
        setting=setting,
        concept=name if of_class else f"{name}, not known to be of the class",
        distribution=law.name or "unnamed",
        confidence=float(confidence),
        seed=seed,
        claim_id=claim_id,
        failure=_failure(setting, alpha, claim),
        best_error=best if setting == "agnostic" else None,
    )


def _size(learner: Learner, n: int | None, claim: UtilityClaim | None) -> int:
    """Return n, or the sample size of the claim; there is no claim if the theorem does not cover the distribution."""
    if n is None:
        if claim is None:
            text = "{n} must be given: the sample size of {id!r} is not for these public and private examples"
            raise InputError(text, names=("n",), id=learner.id)
        n = claim.sample_size
    return read_integer("n", n, most=MOST_EXAMPLES)


def _failure(setting: str, alpha: float, claim: UtilityClaim | None) -> str:
    """Return the definition of a failure, for a finding."""
    if setting == "solution":
        if claim is not None and claim.failure:
            return claim.failure
        return "the output is no solution"
    words = {"realizable": "error", "agnostic": "error - the best concept's", "empirical": "error on the sample"}
    return f"{words[setting]} > {alpha:.15g}"


def _claim(
    learner: Learner, alpha: float, beta: float, setting: str | None, *, needed: bool
) -> tuple[UtilityClaim | None, str]:
    """Return the learner's claim for (alpha, beta), in the setting asked for where it makes several, and the setting.

    The claim is None if the learner makes no such one and n was given, so that none is needed.
    """
    asked = setting
    if asked is not None:
        read_setting(learner, asked)
    claim = stated_claim(learner, alpha, beta, asked, needed=needed)
    if needed and claim is None:
        raise InputError("{n} must be given: learner {id!r} states no sample size", names=("n",), id=learner.id)
    if needed and claim is not None and asked not in (None, claim.setting):
        raise InputError(
            "{n} must be given: the sample size of {id!r} is for the setting {own!r}, not {setting!r}",
            names=("n",),
            id=learner.id,
            own=claim.setting,
            setting=asked,
        )
    if asked is None:
        asked = read_setting(learner, claim.setting if claim else "realizable")
    return claim, asked


def stated_claim(
    learner: Learner, alpha: float, beta: float, setting: str | None = None, *, needed: bool = True
) -> UtilityClaim | None:
    """Return the claim for alpha and beta, in a setting if one is asked for and the learner makes several.

    A bare `sample_size(alpha, beta)` is a claim in the setting "realizable". A learner with one claim returns it
    whatever setting is asked for, so callers check the setting of the claim; None if the learner has no theorem.

    Raises
    ------
    InputError
        If the theorem does not reach alpha and beta in that setting, and the claim is `needed`.
    """
    try:
        if isinstance(learner, HasSettings) and setting is not None:
            return learner.utility(alpha, beta, setting=setting)
        if isinstance(learner, HasUtility):
            return learner.utility(alpha, beta)
        if isinstance(learner, HasSampleSize):
            return UtilityClaim(alpha, beta, int(learner.sample_size(alpha, beta)))
    except InputError:
        # The theorem does not reach these levels: that matters only if its sample size is needed.
        if needed:
            raise
    return None


def speaks_of(learner: Learner, law: Distribution, concept: Hypothesis, flips: NDArray[np.float64] | None) -> bool:
    """Return whether a learner's theorem speaks of points from this distribution, labelled so."""
    if law.public is None or not isinstance(learner, HasPopulations):
        return True
    ones = labels_of(concept, law.points).astype(np.float64)
    if flips is not None:
        ones = np.where(ones == 1, 1 - flips, flips)
    return learner.speaks_of(law, ones)


def read_distribution(learner: Learner, distribution: Distribution | str) -> Distribution:
    """Return the distribution, after checking that its points belong to the learner's domain."""
    if isinstance(distribution, str) and distribution == "uniform":
        points = learner.domain.points()
        return Distribution(points, np.full(len(points), 1 / len(points)), "uniform")
    if not isinstance(distribution, Distribution):
        raise InputError.of("distribution", distribution, "a Distribution or 'uniform'")
    if distribution.public is not None and not isinstance(learner, HasPopulations):
        text = "{distribution} must have no public examples for {id!r}, to which all examples are private"
        raise InputError(text, names=("distribution",), id=learner.id)
    inside = learner.domain.contains(distribution.points)
    if not inside.all():
        raise InputError(
            "{distribution} must live on the domain {domain}, but has the point {point}",
            names=("distribution",),
            domain=repr(learner.domain),
            point=distribution.points[~inside][0].tolist(),
        )
    return distribution


def read_concept(learner: Learner, concept: int | Hypothesis) -> tuple[Hypothesis, str]:
    """Return the hypothesis that labels the samples, and its name."""
    if isinstance(concept, int | np.integer) and not isinstance(concept, bool):
        try:
            size = learner.concepts.size
        except InputError as error:
            text = (
                "{concept} must be left out, or a hypothesis in Python: the concepts of {id!r} cannot be numbered "
                "({why})"
            )
            raise InputError(text, names=("concept",), value=concept, id=learner.id, why=str(error)) from None
        if not 0 <= concept < size:
            raise InputError.of("concept", concept, f"a code in 0 .. {size - 1} or a hypothesis")
        return learner.concepts.concept(int(concept)), f"concept {int(concept)}"
    if not isinstance(concept, Hypothesis):
        raise InputError.of("concept", concept, "a code of the learner's concepts or a hypothesis")
    return concept, stable_repr(concept)


def _is_of_class(learner: Learner, concept: int | Hypothesis, law: Distribution, setting: str) -> bool:
    """Return whether the target is known to label the points as a concept of the class does.

    `InputError` if it is known not to, in a setting that has no error of the best concept.
    """
    # A problem on the points alone takes the labels as they are.
    if not isinstance(concept, Hypothesis) or setting == "solution":
        return True
    nearest = nearest_error(learner.concepts, concept, law)
    if nearest and setting != "agnostic":
        raise InputError(
            "{concept} must be of the class of {id!r}: the nearest concept errs with probability {nearest:.3g} on "
            "{distribution}; the setting 'agnostic' with noise=0 takes any target",
            names=("concept", "distribution"),
            value=concept,
            id=learner.id,
            nearest=nearest,
        )
    return nearest == 0


def read_setting(learner: Learner, setting: str) -> str:
    """Return a setting that can be audited, or raise `InputError`."""
    if read_choice("setting", setting, SETTINGS) == "solution" and not isinstance(learner, Solves):
        text = "{setting} must be another than 'solution' for {id!r}, which has no method solves"
        raise InputError(text, names=("setting",), value=setting, id=learner.id)
    return setting


def read_noise(
    noise: float | Sequence[float] | NDArray[np.float64] | None, setting: str, law: Distribution
) -> NDArray[np.float64] | None:
    """Return the noise of every point, or None in the settings without, or raise `InputError`."""
    if (noise is not None) != (setting == "agnostic"):
        raise InputError(
            "{noise} must be given in the setting 'agnostic' and nowhere else; got {given:.100} in the "
            "setting {where!r}",
            names=("noise",),
            value=noise,
            given=repr(noise),
            where=setting,
        )
    if noise is None:
        return None
    flips = np.asarray(noise)
    if flips.dtype.kind not in "fiu" or flips.shape not in ((), (len(law.points),)):
        raise InputError.of("noise", noise, f"a number or {len(law.points)} numbers, one a point")
    flips = np.array(np.broadcast_to(flips, len(law.points)), dtype=np.float64)
    if not ((flips >= 0) & (flips <= 1)).all():
        raise InputError.of("noise", noise, "in [0, 1]")
    return flips


def stream_address(problem: Problem, name: str, n: int) -> tuple[Json, ...]:
    """Return the address of the random streams: it depends on what is run, not on alpha, beta or the workers."""
    law = problem.distribution
    learner = problem.learner
    weights = np.asarray(law.probabilities, dtype=np.float64)
    run = weights.tobytes() + problem.truth.tobytes()
    # Absent noise and flags add nothing, so that they do not change the streams of problems without them.
    if problem.noise is not None:
        run += problem.noise.tobytes()
    if law.public is not None:
        run += law.public.tobytes()
    digest = hashlib.blake2b(run, digest_size=8).hexdigest()
    parameters = jsonable(addressed_parameters_of(learner))
    return "utility", learner.id, parameters, name, law.name, digest, n, problem.setting


def _count_failures(
    problem: Problem, n: int, stream: _Stream, trials: int, spread_over: Workers, report: Advance | None
) -> int:
    """Return the failures among `trials` trials, cut into chunks and the chunks dealt to the workers.

    `report` gets the number of trials made, deal by deal.
    """
    size = FIXED_CHUNK if problem.fixed else CHUNK
    chunks = [(i, min(size, trials - i * size)) for i in range(-(-trials // size))]
    workers = min(spread_over.number, len(chunks))
    deals = 1
    if workers > 1 or report is not None:
        deals = min(len(chunks), max(DEALS, 4 * workers))
    # Every deal gets chunks from everywhere, so that all take about as long; streams belong to chunks, not to deals.
    dealt = [chunks[i::deals] for i in range(deals)]
    calls = [partial(_failures, problem, n, stream, deal) for deal in dealt]
    results = (call() for call in calls) if workers == 1 else spread_over(calls)
    failures = 0
    for found, deal in zip(results, dealt, strict=True):
        failures += found
        if report is not None:
            report(sum(runs for _, runs in deal))
    return failures


def _failures(problem: Problem, n: int, stream: _Stream, chunks: Sequence[tuple[int, int]]) -> int:
    """Return how many trials of the chunks (number, trials) fail, on one sample of n examples or each on its own."""
    run = problem.learner.run
    failures = 0
    with blamed(f"the learner {problem.learner.id}, or what it learned,"):
        sample = problem.sample(n) if problem.fixed else None
        judge = problem.judge(sample)
        for chunk, size in chunks:
            rng = generator(*stream, chunk)
            if sample is not None:
                failures += sum(map(judge, run(sample, rng, size)))
            else:
                failures += sum(judge(run(problem.draw(n, rng), rng, 1)[0]) for _ in range(size))
    return failures

"""The sample complexity of a learner, measured on the worst case that a search finds."""

from __future__ import annotations

import logging

from dpaudit.arguments import check_built, check_jobs, read_integer, read_number
from dpaudit.contract import Grade, HasFault, HasHardFailure, Learner, UtilityClaim, Verdict
from dpaudit.errors import InputError
from dpaudit.progress import Progress, followed
from dpaudit.results import remembering
from dpaudit.seeding import check_seed
from dpaudit.utility.claims import stated_claim
from dpaudit.utility.complexity_finding import SampleComplexityFinding, WorstCase
from dpaudit.utility.decision import Bracket, Decider
from dpaudit.utility.exact_size import exact_size
from dpaudit.utility.failure_rate import CaseFailure
from dpaudit.utility.hard_cases import HardCase, evaluated_points, hard_cases
from dpaudit.utility.interval import is_vacuous
from dpaudit.utility.request import read_setting
from dpaudit.utility.search import Candidate, Search

__all__ = ["MOVES", "claimed", "own_case", "sample_complexity"]

LOG = logging.getLogger(__name__)

MOVES = 100
"""The moves of a climb, by default."""
BEYOND = 2
"""The search ends at so many times the theorem's n: a failure there refutes the theorem."""


@remembering
def sample_complexity(
    learner: Learner,
    *,
    alpha: float,
    beta: float,
    setting: str | None = None,
    starts: int = 3,
    moves: int = MOVES,
    draws: int = 4000,
    confidence: float = 0.95,
    seed: int = 0,
    n_jobs: int = 1,
    progress: Progress = False,
) -> SampleComplexityFinding:
    """Measure how many examples a learner needs on the worst concept and distribution that a search finds.

    n* = 1 + sup{n : Pr[error > alpha] > beta}. Cases are proposed by `hard_cases`, by linear programs that make many
    rivals of a concept just bad, and by climbing from the best of these; then fresh randomness, or an exact sum,
    decides at which n the failure rate exceeds beta. What the search itself saw is never reported.

    Parameters
    ----------
    learner : Learner
        The learner; it must have a theorem on utility.
    alpha, beta : float
        The accuracy and the rate of failure, both in (0, 1).
    setting : {"realizable", "agnostic", "empirical", "solution"}, optional
        The error and the randomness; by default the theorem's. Climbing is for "realizable" alone.
    starts : int
        From how many of the best proposals to climb.
    moves : int
        Moves of each climb.
    draws : int
        The most samples that decide at one n.
    confidence : float
        The probability that `lower` and `upper` are both right.
    seed : int
        Root seed; the result does not depend on `n_jobs`.
    n_jobs : int
        How many climbs run at a time; -1 for one a processor.
    progress : bool or callable
        As for `audit_privacy`; the unit is a move.

    Returns
    -------
    SampleComplexityFinding
        `lower` (the pair fails there), `upper` (that suffices on this pair), the pair `worst`, the theorem's n, and
        what the uniform distribution and the hard cases would have shown.

    Raises
    ------
    InputError
        If an argument is out of range, the learner states no theorem on utility, or alpha or beta is out of its reach.

    Notes
    -----
    Up to rounding of levels, the search costs (starts * moves + proposals) * 60 output laws and the decision up to
    `draws` for each n that it looks at.
    """
    check_built(learner)
    read_number("alpha", alpha, 0, 1)
    read_number("beta", beta, 0, 1)
    read_number("confidence", confidence, 0, 1)
    starts, moves, draws = (
        read_integer(name, value, least)
        for name, value, least in (("starts", starts, 1), ("moves", moves, 0), ("draws", draws, 1))
    )
    seed = check_seed(seed)
    check_jobs(n_jobs)
    asked = None if setting is None else read_setting(learner, setting)
    claim = claimed(learner, alpha, beta, asked)
    cap = BEYOND * claim.sample_size
    search = Search(learner, alpha, beta, claim.setting, cap, seed)
    with followed(progress, starts * moves, "moves") as tell:
        found = search.best(starts, moves, tell, n_jobs)
    LOG.info("sample complexity of %s: %d cases compete", learner.id, len(found))
    decider = Decider(beta, confidence, draws, seed)
    searched = _decided(learner, found, decider, alpha, claim.setting, cap)
    worst, bracket = _worse(*searched, own_case(learner, alpha, beta, claim))
    uniform, hard = _proposed(search, learner, alpha, claim.setting)
    return SampleComplexityFinding(
        verdict=_verdict(bracket, claim),
        lower=bracket.lower,
        upper=bracket.upper,
        theorem=claim.sample_size,
        uniform=uniform,
        hard_cases=hard,
        worst=worst,
        alpha=float(alpha),
        beta=float(beta),
        setting=claim.setting,
        candidates=len(found),
        confidence=float(confidence) if bracket.grade == Grade.STATISTICAL else 1.0,
        seed=seed,
        claim_id=claim.claim_id,
        grade=bracket.grade,
    )


def claimed(learner: Learner, alpha: float, beta: float, setting: str | None) -> UtilityClaim:
    """Return the theorem's claim in the setting asked for, by default its own."""
    claim = stated_claim(learner, alpha, beta, setting)
    if claim is None:
        raise InputError(
            f"learner {learner.id!r} states no theorem on utility, with which n* could be compared", parameter="learner"
        )
    if setting not in (None, claim.setting):
        raise InputError.of("setting", setting, f"{claim.setting!r}, of which the theorem of {learner.id!r} speaks")
    return claim


def own_case(learner: Learner, alpha: float, beta: float, claim: UtilityClaim) -> tuple[Bracket, str] | None:
    """Return the bracket of n*, and the words, for the hard case whose failure rate the learner offers; or None.

    A control inherits what its honest base offers, and is not it. Where a learner has no such case at its parameters,
    cases are searched for.
    """
    if not isinstance(learner, HasHardFailure) or isinstance(learner, HasFault) or claim.setting != "realizable":
        return None
    try:
        learner.hard_failure(alpha, claim.sample_size)
    except InputError:
        return None
    found = exact_size(lambda n: learner.hard_failure(alpha, n)[0], beta, claim.sample_size)
    return Bracket(found - 1, found, Grade.NUMERIC), learner.hard_failure(alpha, found)[1]


def _decided(
    learner: Learner, found: list[Candidate], decider: Decider, alpha: float, setting: str, cap: int
) -> tuple[HardCase, Bracket]:
    """Return the case with the largest size that is shown to fail, with its bracket."""
    worst: tuple[HardCase, Bracket] | None = None
    for candidate in found:
        failure = CaseFailure(learner, candidate.case, alpha, setting)
        above = 0 if worst is None else worst[1].lower + 1
        bracket = decider.bracket(failure, candidate.n, cap, above)
        if worst is None or bracket.lower > worst[1].lower:
            worst = candidate.case, bracket
    assert worst is not None  # every class has a uniform case
    return worst


def _worse(case: HardCase, bracket: Bracket, own: tuple[Bracket, str] | None) -> tuple[WorstCase, Bracket]:
    """Return a case with its bracket, or the learner's own case if that one fails at a larger size."""
    if own is None or own[0].lower <= bracket.lower:
        return _told(case), bracket
    return WorstCase(concept=None, points=[], probabilities=[], noise=[], name=own[1]), own[0]


def _proposed(search: Search, learner: Learner, alpha: float, setting: str) -> tuple[int | None, int | None]:
    """Return the sizes that the uniform distribution, and all hard cases, would have shown."""
    cases = hard_cases(learner, alpha, setting)
    points, _ = evaluated_points(learner)
    uniform = [case for case in cases if case.is_uniform(len(points))]
    return search.largest(uniform), search.largest(cases)


def _verdict(bracket: Bracket, claim: UtilityClaim) -> Verdict:
    """Return the verdict on the theorem's sample size."""
    if bracket.lower >= claim.sample_size:
        return Verdict.VIOLATION
    if bracket.upper is None or bracket.upper > claim.sample_size:
        return Verdict.UNDECIDED
    vacuous = is_vacuous(claim.alpha, claim.beta, claim.setting)
    return Verdict.VACUOUS if vacuous else Verdict.HOLDS


def _told(case: HardCase) -> WorstCase:
    law = case.distribution
    return WorstCase(
        concept=case.concept_code,
        points=[[int(x) for x in point] for point in law.points],
        probabilities=[float(p) for p in law.probabilities],
        noise=[] if case.noise is None else [float(p) for p in case.noise],
        name=case.name,
    )

"""The sample complexity of a learner: on the worst case that a search finds, and for all cases where a proof says so.

Fresh randomness, or exact sums, decide at which sizes the learner fails too often on a case.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from functools import cache

import numpy as np

from dpaudit.arguments import check_built, check_jobs, read_integer, read_number
from dpaudit.bounds.limits import MeanTest
from dpaudit.contract import Grade, HasFault, HasHardFailure, Learner, UtilityClaim
from dpaudit.errors import InputError
from dpaudit.progress import Progress, followed
from dpaudit.results import remembering
from dpaudit.seeding import check_seed, generator
from dpaudit.utility.audit import read_setting, stated_claim
from dpaudit.utility.finding import Reason, SampleComplexityFinding, WorstCase
from dpaudit.utility.interval import is_vacuous, verdict
from dpaudit.utility.problem import CaseFailure
from dpaudit.utility.search import RATIO, Proposal, WorstCaseSearch
from dpaudit.utility.worst_case import Bracket, ProvedSize, first_size, known_size

LOG = logging.getLogger(__name__)

# The moves of a climb, by default.
MOVES = 100
# The search ends at so many times the theorem's n: a failure there refutes the theorem.
BEYOND = 2
# Samples between two looks at a test.
BATCH = 250
# The step that is missing where a learner has no bound on its worst case.
UNKNOWN = "that some n below the theorem's suffices on every concept and distribution, or that one fails more often"
# Counts of samples are 64-bit integers.
MAX_SIZE = 2**62


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
    """Measure how many examples a learner needs on the worst concept and distribution.

    n* = 1 + sup{n : Pr[error > alpha] > beta for some concept and distribution} is enclosed between a size that fails
    and one that suffices. Where the learner has a proof that covers all cases (`contract.HasWorstCase`), both ends are
    computed from it, and verified apart; where they meet, n* is known and nothing is searched for. Else the upper end
    is the proof's or the theorem's, and the lower end is that of the worst case that a search finds. Cases are proposed
    by `hard_cases`, by linear programs that make many rivals of a concept just bad, and by climbing from the best of
    these; then fresh randomness, or an exact sum, decides at which n the failure rate exceeds beta. What the search
    itself saw is never reported.

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
        The probability that `lower` and `suffices` are both right.
    seed : int
        Root seed; the result does not depend on `n_jobs`.
    n_jobs : int
        How many climbs run at a time; -1 for one a processor.
    progress : bool or callable
        As for `audit_privacy`; the unit is a move.

    Returns
    -------
    SampleComplexityFinding
        `lower` (the pair `worst` fails there), `upper` (that suffices for every pair) with its `reason`, `suffices`
        (that suffices on this pair), and the theorem's n.

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
    starts = read_integer("starts", starts)
    moves = read_integer("moves", moves, 0)
    draws = read_integer("draws", draws)
    seed = check_seed(seed)
    check_jobs(n_jobs)
    if setting is not None:
        setting = read_setting(learner, setting)
    claim = claimed(learner, alpha, beta, setting)
    known = known_size(learner, alpha, beta, claim)
    if known is not None and known.bracket.upper == known.bracket.lower + 1:
        candidates = 0
        worst = known.case
        bracket = known.bracket
    else:
        search = WorstCaseSearch(learner, alpha, beta, claim.setting, BEYOND * claim.sample_size, seed)
        with followed(progress, starts * moves, "moves") as report:
            found = search.best(starts, moves, report, n_jobs)
        candidates = len(found)
        worst, bracket = _worst(learner, found, Decider(beta, confidence, draws, seed), alpha, claim, known)
    upper, reason = _upper(known, bracket.lower, claim.sample_size)
    vacuous = is_vacuous(claim.alpha, claim.beta, claim.setting, learner.concepts)
    shown = upper if reason == Reason.CERTIFICATE else bracket.upper
    return SampleComplexityFinding(
        verdict=verdict(bracket.lower + 1, shown or math.inf, claim.sample_size, vacuous),
        lower=bracket.lower,
        upper=upper,
        reason=reason,
        certificate=known.certificate if known is not None else None,
        suffices=bracket.upper,
        theorem=claim.sample_size,
        proof=known.proof if known is not None else "",
        missing=_missing(known, bracket.lower, upper),
        worst=worst,
        alpha=float(alpha),
        beta=float(beta),
        setting=claim.setting,
        candidates=candidates,
        confidence=float(confidence) if bracket.grade == Grade.STATISTICAL else 1.0,
        seed=seed,
        claim_id=claim.claim_id,
        grade=bracket.grade,
    )


def _missing(known: ProvedSize | None, lower: int, upper: int | None) -> str:
    """Return the step that is missing between both ends of n*, for a finding; empty if they meet."""
    if upper is not None and upper <= lower + 1:
        return ""
    if known is None:
        return UNKNOWN
    return known.missing or UNKNOWN


def _upper(known: ProvedSize | None, lower: int, theorem: int) -> tuple[int | None, Reason]:
    """Return the least size that is known to suffice for every case, and why: one that fails refutes the theorem."""
    ends = []
    if known is not None:
        ends.append((known.certificate.suffices, Reason.CERTIFICATE))
    if lower < theorem:
        ends.append((theorem, Reason.THEOREM))
    return min(ends, key=lambda end: end[0], default=(None, Reason.NONE))


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
    if not isinstance(learner, HasHardFailure) or isinstance(learner, HasFault):
        return None
    # In the setting of a problem that is solved or not the case is a sample.
    if claim.setting not in ("realizable", "solution"):
        return None
    try:
        learner.hard_failure(alpha, claim.sample_size)
    except InputError:
        return None
    # The rate does not increase with n, so that the size before the least sufficient one fails.
    found = exact_size(lambda n: learner.hard_failure(alpha, n)[0], beta, claim.sample_size)
    return Bracket(found - 1, found, Grade.NUMERIC), learner.hard_failure(alpha, found)[1]


def _worst(
    learner: Learner,
    found: list[Proposal],
    decider: Decider,
    alpha: float,
    claim: UtilityClaim,
    known: ProvedSize | None,
) -> tuple[WorstCase, Bracket]:
    """Return the case with the largest size that is shown to fail, with its bracket.

    It may be the learner's own, or that of its proof.
    """
    LOG.info("sample complexity of %s: %d cases compete", learner.id, len(found))
    brackets: list[Bracket] = []
    fails = 0 if known is None else known.certificate.fails
    for candidate in found:
        failure = CaseFailure(learner, candidate.case, alpha, claim.setting)
        above = max((one.lower for one in brackets), default=fails or -1) + 1
        brackets.append(decider.bracket(failure, candidate.n, BEYOND * claim.sample_size, above))
    # The largest size that is shown to fail is the strongest statement, whatever is known of what suffices.
    bracket, worst = max(zip(brackets, found, strict=True), key=lambda one: one[0].lower)
    if known is not None and fails and fails >= bracket.lower:
        return known.case, known.bracket
    own = own_case(learner, alpha, decider.beta, claim)
    if own is not None and own[0].lower > bracket.lower:
        return WorstCase(concept=None, points=[], probabilities=[], noise=[], name=own[1]), own[0]
    case = worst.case
    law = worst.case.distribution
    points = np.asarray(law.points).tolist()
    weights = np.asarray(law.probabilities, dtype=np.float64).tolist()
    noise = [] if case.noise is None else case.noise.tolist()
    # A concept without a code is named by its case.
    code = case.concept if isinstance(case.concept, int) else None
    shown = WorstCase(concept=code, points=points, probabilities=weights, noise=noise, name=case.name)
    return shown, bracket


class Decider:
    """Decides whether a learner's failure rate at a size is above or below beta.

    Exact sums decide where there are few count vectors. Else test number k, of all that one decider makes, errs with
    probability at most (1 - confidence)/(k (k + 1)) whichever way it answers, so that all its answers are right
    together with probability at least `confidence`: each uses fresh samples, so what is tested next may depend on what
    was found.
    """

    def __init__(self, beta: float, confidence: float, draws: int, seed: int) -> None:
        self.beta = beta
        self._error = 1 - confidence
        self._draws = draws
        self._seed = seed
        self.tests = 0

    def bracket(self, failure: CaseFailure, start: int, cap: int, above: int = 0) -> Bracket:
        """Return the largest size shown to fail and the least larger one shown to suffice, near `start`.

        Nothing is shown, at the cost of one test, if the failure rate is not above beta at `above`, where that is > 0.
        """
        # Exact sums look at every size; tests cost samples, and look at sizes that differ by `RATIO`.
        exact = failure.exact(start) is not None

        def size(step: int) -> int:
            return _size(start, step, exact, cap)

        # A size that both searches meet is tested once: a second test would have a share of the error of its own.
        @cache
        def answer(n: int) -> str:
            return self.answer(failure, n) if n else "above"

        if above and self.answer(failure, above) != "above":
            return Bracket(0, None, Grade.STATISTICAL)
        # Both searches assume that the answers are monotone in n; tests may err, and each has its share of the error.
        failing = _last(lambda step: answer(size(step)) == "above" and size(step) < cap, 0)
        enough = _last(lambda step: answer(size(step)) != "below" and size(step) < cap, failing) + 1
        upper = size(enough) if answer(size(enough)) == "below" else None
        return Bracket(size(failing), upper, Grade.EXACT if exact else Grade.STATISTICAL)

    def answer(self, failure: CaseFailure, n: int) -> str:
        """Return whether the failure rate at n is "above" beta, or "below" or equal; empty if that stays open."""
        interval = failure.exact(n)
        if interval is not None:
            lower, upper = interval
            if lower > self.beta:
                return "above"
            return "below" if upper <= self.beta else ""
        # The levels of all tests sum to the error: 1/(1 2) + 1/(2 3) + ... = 1.
        self.tests += 1
        test = MeanTest(self.beta, self._error / (self.tests * (self.tests + 1)))
        for batch in range(math.ceil(self._draws / BATCH)):
            values = failure.draws(n, generator(self._seed, "n*", "decide", self.tests, batch), BATCH)
            if test.take(values):
                break
        return test.answer


def _size(start: int, step: int, exact: bool, cap: int) -> int:
    """Return the size that many steps from the start: one each where sums are exact, else a factor `RATIO`."""
    if exact:
        return min(cap, max(0, start + step))
    size = start * RATIO**step
    if size < 1:
        return 0
    # Away from the start, so that each step is another size.
    rounded = math.floor(size) if step <= 0 else math.ceil(size)
    return min(cap, max(0, rounded))


def _last(holds: Callable[[int], bool], start: int) -> int:
    """Return the last integer at which a condition holds, for one that holds up to somewhere and not beyond."""
    # Steps that double enclose it, and bisection finds it: the looks grow as the logarithm of its distance.
    low = high = start
    step = 1
    if holds(start):
        while holds(high := low + step):
            low = high
            step = 2 * step
    else:
        while not holds(low := high - step):
            high = low
            step = 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def exact_size(failure: Callable[[int], float], beta: float, near: int) -> int:
    """Return the least n >= 1 from which on a failure rate that falls with n is at most beta, by bisection from `near`.

    Raises
    ------
    InputError
        If the rate exceeds beta up to 2^62: the message says the least rate.
    """
    found = first_size(lambda n: failure(n) <= beta, MAX_SIZE, near)
    if found is None:
        raise InputError.of("beta", beta, f"at least {failure(MAX_SIZE):.3g}, the failure rate at every large n")
    return found

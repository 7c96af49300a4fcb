"""Audit a mechanism as a black box: run it on neighbouring inputs, choose an event, confirm it on fresh runs."""

from __future__ import annotations

import copy
import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

from msgspec import structs
from numpy.typing import ArrayLike

from dpaudit import seeding
from dpaudit.arguments import CONFIDENCE, check_built, check_jobs
from dpaudit.audit.clock import BETTING, RUNNING, Clock
from dpaudit.audit.curve_claims import resolve_claims
from dpaudit.audit.finding import DatasetSize, PrivacyFinding, withheld
from dpaudit.audit.fixed_design import fixed_finding, reading_seconds
from dpaudit.audit.libraries import libraries_of
from dpaudit.audit.options import Options
from dpaudit.audit.parameters import EXECUTION, LOOK, Dataset, Execution, Look
from dpaudit.audit.preflight import Preflight
from dpaudit.audit.request import Moves, Request, probe_of, resolve_inputs
from dpaudit.audit.run_time import with_run_time
from dpaudit.audit.sequential_design import LEAST_RUNS, sequential_finding
from dpaudit.contract import CurveClaim, Learner, MadePair, Pair, PrivacyClaim, Relation
from dpaudit.errors import InputError, SharedPart, withholding
from dpaudit.neighbours.own_data.pairs import MadeData
from dpaudit.outputs.sharing import places_of
from dpaudit.progress import Progress, followed
from dpaudit.results import remembering
from dpaudit.running.adapters import as_mechanism, check_generator, leaving_out, one_run
from dpaudit.running.isolated import Timeout
from dpaudit.running.processes import APART, listening
from dpaudit.running.sampling import Sampler
from dpaudit.running.warning_counts import gathered
from dpaudit.sensitivity.screening import Shortlist, shortlist

LOG = logging.getLogger(__name__)


@remembering
def audit_privacy(
    mechanism: Any,
    pairs: Sequence[Any] | None = None,
    *,
    data: Any = None,
    epsilon: float | None = None,
    delta: float | None = None,
    claim: PrivacyClaim | CurveClaim | None = None,
    relation: Relation | str | None = None,
    trials: int = 100_000,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    batched: bool = False,
    randomness: str = "argument",
    n_jobs: int = 1,
    timeout: float | None = None,
    look: Look = LOOK,
    execution: Execution = EXECUTION,
) -> PrivacyFinding:
    """Test a claim of (epsilon, delta)-differential privacy by running the mechanism on neighbouring inputs.

    Some of the runs choose the pair and sets of outputs that speak for one side or the other. Fresh runs alone decide;
    a fair coin chooses the side of each. The verdict is "violation" if the coins are guessed right more
    often than the claim allows: if a lower confidence bound on epsilon exceeds the claim (a few guesses share the
    error, so that all of their bounds hold at `confidence`). With delta > 0 it may be a bound on ln((p - delta) / q), p
    and q being the probabilities of an event on the two sides. Otherwise it is
    "consistent", which says that nothing was found where a leak of `detectable_epsilon`, visible in the features looked
    at, would have been on an event as likely as the one tested, on the pairs compared long enough; or "no evidence"
    where the audit could not have seen one: `finding.gaps` says why.

    Parameters
    ----------
    mechanism : Learner or callable
        A learner, or ``(data, rng) -> output``, or with ``batched=True`` ``(data, rng, size) -> size outputs``. The
        generator is passed to a parameter named `rng`, `generator`, `random_state`, `random_generator` or `prng`,
        wherever it stands and also with a default; if there is none, to the second positional parameter without a
        default. Other parameters with a default, ``*args`` and what `functools.partial` has set are never filled. An
        exception raised by an unbatched mechanism is an output like any other.
    pairs : sequence of (data, neighbour) or Pair, hypothesis strategy of them, or str, optional
        Neighbouring inputs, opaque to dpaudit; those of a strategy are drawn from the root seed. A text names pairs
        that are made here: for a learner "crafted:N", crafted samples of N examples (the default, with the number of
        its own example), or "random:COUNT"; for a function "patterns:DIMENSION", as `query_patterns`.
    data : dataset or Dataset, optional
        One dataset in place of pairs: `neighbours_of` makes them, and a local search varies the best one. A `Dataset`
        also has the bounds of its values, the column of its users, and the size of groups.
    epsilon, delta : float, optional
        The claim; a learner's own by default, and delta 0 for a callable.
    claim : PrivacyClaim or CurveClaim, optional
        The claim as a whole, in the place of epsilon and delta: that of `PrivacyClaim(epsilon, delta)`, or a curve,
        `PrivacyClaim.gaussian(mu)`, `.zero_concentrated(rho)`, `.renyi(alpha, epsilon)`, `.profile(delta_of_epsilon)`,
        `.trade_off(f)` or `.points([(epsilon, delta), ...])`. Training then chooses one point (epsilon, delta) that
        the claim implies, which the finding states and tests; `finding.curve_test` has the rest.
    relation : Relation or str, optional
        What neighbours are; the claim's by default, ADD_REMOVE_ONE where `data` is given. Samples that are not
        neighbours are refused; so are datasets (as for `data`) where it is given.
    trials : int
        Runs on each side in all, of every pair and every purpose. Of several pairs the most promising ones get most.
        Some that check randomness and state are among them where each run takes a call (where calls make many, they
        come on top: six calls, and up to 256 runs on each side where the mechanism has randomness of its own), and so
        are those with recorded noise that compare the pairs of `data`. Those that a `time_limit` makes to see how long
        one takes come on top, fewer than `trials` in all, and so do the checks where it leaves time for a part of them
        only.
    confidence : float
        Of the verdict, over all pairs, events and directions together: a claim that holds is refuted with probability
        at most 1 - confidence, by default once in a thousand audits.
    seed : int
        The root seed; the finding is a function of it and the other arguments, whatever `n_jobs` and the backend.
    batched : bool
        Whether a callable makes many runs in one call. It is called for 32, 256, 2,048 or 16,384 outputs, and surplus
        ones are dropped: a function that is compiled for each size is compiled four times at most.
    randomness : {"argument", "own"}
        "own" declares a mechanism whose randomness is its own by design, as that of OpenDP or diffprivlib: equal
        generators are then not asked to give equal outputs, and the mechanism may take `data` alone, or ``(data,
        size)`` if batched. A generator that it asks for is passed all the same.
    n_jobs : int
        Processes, as for `joblib.Parallel`. No result depends on it.
    timeout : float, optional
        The most seconds that a run may take (of a batched mechanism, a call has so many for each of its runs). Runs are
        then made in a process of their own, which is ended with a run that takes longer, so that a mechanism may hang,
        crash or exhaust memory: only where processes fork (not on Windows), and only for data that pickles. No number
        of the finding depends on it where no run takes so long. Where a library is loaded whose threads a copy of this
        process would wait for, as those of JAX, the process is a fresh interpreter.
    look : Look
        What is looked at beyond the values of outputs (the curve of delta, the bits of floats, run times, predictions
        on points), and whether the finding may show values of records.
    execution : Execution
        How runs are made: on a cluster, one by one until the claim is refuted, continued from a file, with a time
        limit, with progress shown.

    Returns
    -------
    PrivacyFinding

    Raises
    ------
    InputError
        For a bad argument, before any run that counts; among them mechanisms that change their inputs, return a
        generator, a coroutine or a function, or raise whenever they are run on `data`. Also if a
        mechanism that is batched, or a learner, raises: the message names the error and its line.
    WorkerDied
        If a worker process died: a `ToolFault`.
    RunFault
        If a run with a timeout ended its process, or took too long where that is an error: a `ToolFault`, which names
        the input.

    Examples
    --------
    >>> def randomised_response(bit, rng):
    ...     return bit if rng.random() < 0.75 else 1 - bit
    >>> finding = audit_privacy(randomised_response, [(0, 1)], epsilon=0.5, trials=4_000)
    >>> finding.verdict
    'violation'
    """
    request = request_of(
        mechanism,
        pairs,
        dataset=Dataset.of(data),
        epsilon=epsilon,
        delta=delta,
        claim=claim,
        relation=relation,
        trials=trials,
        confidence=confidence,
        seed=seed,
        batched=batched,
        randomness=randomness,
        n_jobs=n_jobs,
        timeout=timeout,
        look=look,
        execution=execution,
    )
    with guarded(request):
        finding = _audited(request, execution.progress)
    PrivacyFinding.seconds_a_run.note(finding, request.sampler.pace.seconds_a_run)
    return finding


def guarded(request: Request) -> AbstractContextManager[None]:
    """Return the context in which an audit shows values of records only where it may."""
    withheld = any(pair.withheld for pair in request.pairs)
    return withholding(withheld and not request.look.include_data)


def request_of(
    mechanism: Any,
    pairs: Any,
    *,
    dataset: Dataset | None,
    epsilon: float | None,
    delta: float | None,
    claim: PrivacyClaim | CurveClaim | None,
    relation: Relation | str | None,
    trials: int,
    confidence: float,
    seed: int,
    batched: bool,
    randomness: str,
    n_jobs: int,
    timeout: float | None,
    look: Look,
    execution: Execution,
) -> Request:
    """Return an audit with all its arguments checked; the parameters are as for `audit_privacy`."""
    for name, given, kind in (("look", look, Look), ("execution", execution, Execution)):
        if not isinstance(given, kind):
            raise InputError.of(name, given, f"a dpaudit.{kind.__name__}, such as dpaudit.{kind.__name__}()")
    clock = Clock(execution.time_limit)  # what is made here takes its time too
    check_built(mechanism, "mechanism")
    epsilon = Options.epsilon.read(epsilon)
    delta = Options.delta.read(delta)
    trials = Options.trials.read(trials)
    confidence = Options.confidence.read(confidence)
    batched = Options.batched.read(batched)
    own_randomness = Options.randomness.read(randomness) == "own"
    seed = seeding.check_seed(seed)
    if relation is not None:
        relation = Relation.parse(relation)
    elif dataset is not None:
        relation = Relation.ADD_REMOVE_ONE
    curve_claim, point = resolve_claims(mechanism, claim, epsilon, delta, relation, bets=bool(execution.bets))
    # Without a learner and without a word on it, it is not known what neighbours are.
    known = None
    if isinstance(mechanism, Learner) or relation is not None:
        known = point.relation
    made, moves = resolve_inputs(mechanism, pairs, dataset, point, known, seed)
    probe = look.probe
    if isinstance(probe, str) and probe == "data":
        probe = probe_of(made)
    sampler = sampler_of(
        mechanism,
        seed,
        batched=batched,
        probe=probe,
        n_jobs=n_jobs,
        backend=execution.backend,
        address=execution.address,
        timeout=timeout,
        timeout_is=execution.timeout_is,
    )
    return Request(
        source=mechanism,
        sampler=sampler,
        pairs=made,
        claim=point,
        relation=known,
        confidence=confidence,
        trials=trials,
        trials_asked=trials,
        own_randomness=own_randomness,
        look=look,
        betting=execution.bets,
        preflight=Preflight(sampler, made, trials, own_randomness),
        clock=clock,
        batched=batched,
        timeout=Options.timeout.read(timeout),
        timeout_is=execution.timeout_is,
        dataset=dataset,
        moves=moves,
        curve_claim=curve_claim,
        continued=execution.continued,
    )


def sampler_of(
    mechanism: Any,
    seed: int,
    *,
    batched: bool = False,
    probe: ArrayLike | None = None,
    n_jobs: int = 1,
    backend: str | None = None,
    address: str | None = None,
    timeout: float | None = None,
    timeout_is: str = "output",
) -> Sampler:
    """Return the sampler of a mechanism; the parameters are as for `audit_privacy` and `Execution`."""
    check_jobs(n_jobs, backend, address)
    timeout = Options.timeout.read(timeout)
    timeout_is = Options.timeout_is.read(timeout_is)
    limit = None
    if timeout is not None:
        limit = Timeout(timeout, timeout_is)
    elif APART:  # runs are made in a process of their own even without a limit
        limit = Timeout(math.inf)
    called = as_mechanism(mechanism, batched=batched, probe=probe, timeout=limit)
    return Sampler(called, seed, n_jobs, backend, address=address)


def without_shared(sampler: Sampler, pair: Pair) -> Sampler:
    """Return a sampler that leaves out the parts of outputs which a few runs on a pair share and change.

    An audit finds these when they change; runs that follow an audit, as those for a certificate, have to know before.
    """
    for _ in range(SHARED_PARTS):
        try:
            sampler.sides(pair, ("shared parts",), SHARING_RUNS)
            return sampler
        except SharedPart as found:
            sampler = replace(sampler, mechanism=leaving_out(sampler.mechanism, places_of(found)))
    return sampler


# The most times that an audit begins again because its runs share another part of their outputs.
SHARED_PARTS = 8
# Runs on each side that show what runs share.
SHARING_RUNS = 8
# Trials with which an audit of fixed design can be made at all, where a time limit leaves no time for more.
LEAST_FIXED = 4
# The most pairs of a dataset on which noise is recorded, and of how many runs a side there is one for each.
SCREENED = 400
SCREENED_SHARE = 20
# Of the runs, at most, for recorded noise: with 400 trials or so all pairs that are made at first can be looked at.
RECORDED_SHARE = 0.5


def shortlist_of(request: Request) -> Shortlist | None:
    """Return the pairs of a dataset that recorded noise speaks for, where runs are made in this process one by one.

    Its runs are the audit's. In the sequential design, whose runs are slow, no pairs but those given are looked at.
    """
    run = one_run(request.sampler.mechanism)
    pairs = request.pairs
    if run is None or request.moves is None or request.continued is not None:
        return None
    claim = request.claim
    seed = request.sampler.seed
    # Slow runs, which bets are on, leave none for pairs beyond those given.
    moves: Moves | None = request.moves
    if request.sequential:
        moves = None
    more: list[Pair] = []
    most = min(SCREENED, request.trials // SCREENED_SHARE)
    if moves is not None and request.dataset is not None and most > len(pairs):
        more = request.dataset.pairs(claim.relation, seed, most)[len(pairs) :]
        if request.look.include_data:
            more = [_shown(pair) for pair in more]
    # Runs with recorded noise are among the trials, as the user asked for no more.
    runs = 2 * (request.trials - request.check_runs)
    kept = runs - int(RECORDED_SHARE * runs)
    if request.sequential:
        kept = max(kept, LEAST_RUNS)  # with fewer there would be next to nothing to bet on
    clock = request.clock
    found = shortlist(run, pairs, more, moves, claim.epsilon, claim.delta, seed, runs - kept, clock.screened)
    if found is not None and found.ended is not None:
        clock.screening_ended(found.ended)
    return found


def _audited(request: Request, progress: Progress) -> PrivacyFinding:
    if request.look.time:
        return with_run_time(request, partial(_audited, progress=progress))
    for _ in range(SHARED_PARTS):
        try:
            return _made(request, progress)
        except SharedPart as found:
            # A model of diffprivlib, for instance, holds an accountant that all runs share and change. Such a part is
            # left out and named; the audit begins again without it, at the same addresses.
            request = request.leaving_out(places_of(found))
    return _made(request, progress)


def _made(request: Request, progress: Progress) -> PrivacyFinding:
    with opened(request, progress) as request:
        if request.sequential:
            return concluded(request, sequential_finding(request))
        return concluded(request, fixed_finding(request))


def concluded(request: Request, finding: PrivacyFinding) -> PrivacyFinding:
    """Return a finding as it is shown."""
    LOG.info(
        "privacy of %s: %s, epsilon >= %.4g", request.sampler.mechanism.name, finding.verdict, finding.epsilon_lower
    )
    made = request.pairs[0].sides[0]
    if request.dataset is not None and isinstance(made, MadeData):
        size = DatasetSize(made.source.size, len(made.source.pool.columns))
        finding = structs.replace(finding, dataset=size)
    if libraries := libraries_of(request.source):
        finding = structs.replace(finding, libraries=libraries)
    return withheld(finding, request.pairs)


def as_shown(request: Request) -> Request:
    """Return an audit whose findings may show values of its data, if they are to."""
    if not request.look.include_data:
        return request
    return replace(request, pairs=tuple(_shown(pair) for pair in request.pairs))


def _shown(pair: Pair) -> Pair:
    if isinstance(pair, MadePair):
        return MadePair(*pair.sides, pair.origin, True)
    shown = copy.copy(pair)
    shown.shown = True
    return shown


def _reading(request: Request) -> float:
    """Return the seconds that a run takes to be read. Bets measure that as they go on."""
    if request.sequential:
        return 0.0
    return reading_seconds(request, request.preflight.outputs)


@contextmanager
def opened(request: Request, progress: Progress) -> Iterator[Request]:
    """Make the runs before those that choose, and yield the audit as they leave it."""
    if not request.own_randomness:
        check_generator(request.sampler.mechanism)
    request.check_power()
    request = as_shown(request)
    sampler = request.sampler
    pairs = request.pairs
    numbers = count()

    def pace(runs: int) -> None:
        """Make runs on both sides in turn, in as many processes as the audit has, to see how long they take."""
        number = next(numbers)
        sizes = (runs, 0)
        if number % 2:
            sizes = (0, runs)
        for _ in sampler.reduced(sampler.couples(pairs[0], [("pace", number)] * 2, *sizes), len):
            pass

    LOG.info("privacy of %s: %d pairs, %d runs a side", sampler.mechanism.name, len(pairs), request.trials)
    with ExitStack() as stack:
        # Each warning of the mechanism is shown once, with how often it came, and not once a run.
        stack.enter_context(gathered())
        # With a time limit a child process that says nothing is ended, so that the limit holds whatever it does.
        stack.enter_context(listening(request.clock.left))
        request.preflight.open(request.clock)
        least = LEAST_FIXED
        share = RUNNING
        if request.sequential:
            least = 1
            share = BETTING
        read = partial(_reading, request)
        trials = request.clock.trials(request.trials, 2, pace, least, call=sampler.least_call, share=share, read=read)
        # Progress counts from here on: how many runs there will be is known only now.
        report = stack.enter_context(followed(progress, 2 * trials, "runs", request.clock.left))
        request = replace(request, trials=trials, sampler=request.preflight.watching(sampler, trials))
        request = replace(request, sampler=replace(request.sampler, report=report))
        yield replace(request, shortlist=shortlist_of(request))

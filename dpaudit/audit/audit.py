"""Audit a mechanism as a black box: run it on neighbouring inputs, choose an event, confirm it on fresh runs."""

from __future__ import annotations

import copy
import logging
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from msgspec import structs

from dpaudit import seeding
from dpaudit.arguments import CONFIDENCE, check_built, check_jobs
from dpaudit.audit.clock import BETTING, RUNNING, Clock, Stopped
from dpaudit.audit.curve_claims import resolve_claims
from dpaudit.audit.finding import DatasetSize, PrivacyFinding, withheld
from dpaudit.audit.fixed_design import fixed_finding, reading_seconds
from dpaudit.audit.libraries import libraries_of
from dpaudit.audit.options import OF_DATA, OPTIONS, Options, grouped
from dpaudit.audit.preflight import Hygiene
from dpaudit.audit.request import Request, probe_of, resolve_inputs
from dpaudit.audit.run_time import with_run_time
from dpaudit.audit.sequential_design import LEAST_RUNS, sequential_finding
from dpaudit.contract import Learner, MadePair, Pair, Relation
from dpaudit.errors import InputError, SharedPart, withholding
from dpaudit.neighbours.own_data.pairs import MadeData, neighbours_of
from dpaudit.outputs.sharing import places_of
from dpaudit.progress import Progress, followed
from dpaudit.results import remembering
from dpaudit.running.adapters import as_mechanism, check_generator, leaving_out, one_run
from dpaudit.running.isolated import Timeout
from dpaudit.running.processes import APART, listening
from dpaudit.running.sampling import Sampler
from dpaudit.running.warned import gathered
from dpaudit.sensitivity.screening import Shortlist, shortlist

LOG = logging.getLogger(__name__)


@remembering
def audit_privacy(
    mechanism: Any,
    pairs: Sequence[Any] | None = None,
    *,
    data: Any = None,
    bounds: Any = None,
    unit: Any = None,
    outside: bool = True,
    group: int = 1,
    epsilon: float | None = None,
    delta: float | None = None,
    claim: Any = None,
    trials: int = 100_000,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    n_jobs: int = 1,
    backend: str | None = None,
    address: str | None = None,
    batched: bool = False,
    float_bits: bool = False,
    curve: bool = False,
    sequential: bool | None = None,
    continued: str | Path | None = None,
    probe: Any = None,
    time: bool = False,
    n: int | None = None,
    relation: Relation | str | None = None,
    randomness: str = "argument",
    timeout: float | None = None,
    time_limit: float | Stopped | None = None,
    timeout_is: str = "output",
    include_data: bool = False,
    progress: Progress = False,
) -> PrivacyFinding:
    """Test a claim of (epsilon, delta)-differential privacy by running the mechanism on neighbouring inputs.

    Some of the runs choose the pair and sets of outputs that speak for one side or the other; fresh runs alone decide,
    the side of each of which is that of a fair coin. The verdict is "violation" if the coins are guessed right more
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
    pairs : sequence of (data, neighbour) or Pair, or a hypothesis strategy of them, optional
        Neighbouring inputs, opaque to dpaudit; those of a strategy are drawn from the root seed. For a learner the
        default is crafted samples of `n` examples.
    data : dataset, optional
        One dataset in the place of pairs: `neighbours_of` makes them, and a local search varies the best one.
    bounds, unit, outside : optional
        Of `data`: the values that are allowed, what all rows of a user have in common, and whether values outside of
        the bounds, NaN and infinity are tried; as for `neighbours_of`.
    group : int
        Of `data`: how many records (or units) the inputs of a pair differ in, at most. The claim must then be that for
        groups of so many: what is (epsilon, delta)-private for one record is (k epsilon, delta (e^(k epsilon) - 1) /
        (e^epsilon - 1))-private for k. The finding says so, and `finding.reach` has the number.
    epsilon, delta : float, optional
        The claim; a learner's own by default, and delta 0 for a callable.
    claim : PrivacyClaim or CurveClaim, optional
        The claim as a whole, in the place of epsilon and delta: that of `PrivacyClaim(epsilon, delta)`, or a curve,
        `PrivacyClaim.gaussian(mu)`, `.zero_concentrated(rho)`, `.renyi(alpha, epsilon)`, `.profile(delta_of_epsilon)`,
        `.trade_off(f)` or `.points([(epsilon, delta), ...])`. Training then chooses one point (epsilon, delta) that
        the claim implies, which the finding states and tests; `finding.curve_test` has the rest.
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
        The root seed; the finding is a function of it and the other arguments, whatever `n_jobs` and `backend`.
    n_jobs, backend
        As for `joblib.Parallel`, with any backend that is registered there. "dask" makes the runs on a cluster.
    address : str, optional
        That of the scheduler of a dask cluster, as tcp://127.0.0.1:8786.
    batched : bool
        Whether a callable makes many runs in one call. It is called for 32, 256, 2,048 or 16,384 outputs, and surplus
        ones are dropped: a function that is compiled for each size is compiled four times at most.
    float_bits : bool
        Look at the bits of floats too: noise added in floating point leaks through them, whatever its scale.
    curve : bool
        Also bound delta at every epsilon simultaneously (`finding.curve`), for a fifth of the error probability.
    sequential : bool, optional
        Bet against the claim run by run and stop as soon as it is refuted: valid at any stopping time, any number of
        pairs at no cost. The runs on both sides of all pairs together are then at most 2 `trials`. By default it is so
        where a run takes more than a tenth of a second, unless the claim is a curve, or `curve` is given; the finding's
        `design` has the choice.
    continued : str or Path, optional
        A file with the runs of a sequential audit, which is made if there is none: the audit goes on from the runs in
        it, here or on another machine, and adds its own. It is as valid as one that never stopped; `trials` count all
        runs. The file holds outputs as plain text.
    probe : array, data frame or "data", optional
        Points; an output with a method `predict` (a hypothesis) is then replaced by its predictions on them. With
        "data" they are those of `probe_of`, made from the records of the pairs.
    time : bool
        Let the verdict rest on the time of each run too (`audit.run_time` says how). `finding.run_time` has what
        outputs and times together show, and whether it counts: not if times distinguish equal inputs. As many runs
        again are made and timed, and once more as many on equal inputs if times alone refute the claim. Only for
        functions that make one run in a call; what rests on times cannot be repeated bit by bit.
    n : int, optional
        Examples in the crafted samples (the learner's example by default); refused where `pairs` are given.
    relation : Relation or str, optional
        What neighbours are; the claim's by default, ADD_REMOVE_ONE where `data` is given. Samples that are not
        neighbours are refused; so are datasets (as for `data`) where it is given.
    randomness : {"argument", "own"}
        "own" declares a mechanism whose randomness is its own by design, as that of OpenDP or diffprivlib: equal
        generators are then not asked to give equal outputs, and the mechanism may take `data` alone, or ``(data,
        size)`` if batched. A generator that it asks for is passed all the same.
    timeout : float, optional
        The most seconds that a run may take (of a batched mechanism, a call has so many for each of its runs). Runs are
        then made in a process of their own, which is ended with a run that takes longer, so that a mechanism may hang,
        crash or exhaust memory: only where processes fork (not on Windows), and only for data that pickles. No number
        of the finding depends on it where no run takes so long. Where a library is loaded whose threads a copy of this
        process would wait for, as those of JAX, the process is a fresh interpreter.
    time_limit : float or Stopped, optional
        The most seconds that the audit may take, about, all that it does included. The time of a few runs says with how
        many the audit begins: `trials`, or a half, a quarter and so on of it. The checks of randomness and the search
        among pairs have parts of the time. The runs that decide end early, at looks that are fixed in advance and share
        the error of the verdict, where the time is over. Warnings say what was left out. A run under way is not ended
        (see `timeout`), but where runs have a process of their own, one that answers nothing for as long as this ends
        with a `RunFault`. `finding.stopped`, given here, repeats an audit that a limit has stopped.
    timeout_is : {"output", "error"}
        What a run is that takes longer: an output "timed out", which may distinguish the sides like any other, or a
        `RunFault`. A call of a batched mechanism is always the latter. A `TimeoutError` of the mechanism's own is an
        exception like any other.
    include_data : bool
        Whether the finding, warnings and errors may show values of pairs that were made from data, and what the
        mechanism says. By default they name the recipe of a pair, such as "row 17 removed", and the class and the line
        of an exception; events are shown where their values are coarse (`dpaudit.withheld`).
    progress : bool or callable
        True shows on standard error how many runs have been made, on a terminal and in a notebook as one line that is
        rewritten; a callable receives ``(runs made, runs at most)``.

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
    request = request_of(locals())
    with guarded(request):
        finding = _audited(request, progress)
    PrivacyFinding.seconds_a_run.note(finding, request.sampler.pace.seconds_a_run)
    return finding


def guarded(request: Request) -> AbstractContextManager[None]:
    """Return the context in which an audit shows values of records only where it may."""
    withheld = any(pair.withheld for pair in request.pairs)
    return withholding(withheld and not request.options.include_data)


def request_of(given: dict[str, Any]) -> Request:
    """Return an audit with all its arguments checked, which are those of `audit_privacy`."""
    clock = Clock(given["time_limit"])  # what is made here takes its time too
    mechanism, seed = given["mechanism"], given["seed"]
    relation, time_limit, continued = given["relation"], given["time_limit"], given["continued"]
    if continued is not None:
        if not isinstance(continued, str | os.PathLike) or not str(continued):
            raise InputError.of("continued", continued, "the path of a file")
        if given["sequential"] is False:
            raise InputError("{continued} is for {sequential:=True}", names=("continued", "sequential"))
        given = given | {"sequential": True}
    check_built(mechanism, "mechanism")
    options = Options(**given | {"time_limit": None if isinstance(time_limit, Stopped) else time_limit})
    relation = Relation.ADD_REMOVE_ONE if options.data is not None and relation is None else relation
    claimed = {name: given[name] for name in ("claim", "epsilon", "delta")}
    curve_claim, point = resolve_claims(mechanism, **claimed, relation=relation, bets=bool(given["sequential"]))
    seed = seeding.check_seed(seed)
    known = point.relation if isinstance(mechanism, Learner) or relation is not None else None
    made, moves = resolve_inputs(mechanism, options, point, known, seed)
    probe = given["probe"]
    probe = probe_of(made) if isinstance(probe, str) and probe == "data" else probe
    how = {name: given[name] for name in (*grouped("run"), "n_jobs", "backend", "address")}
    sampler = sampler_of(mechanism, seed, probe=probe, **how)
    return Request(
        mechanism,
        sampler,
        made,
        point,
        relation=known,
        options=options,
        hygiene=Hygiene(sampler, made, options.trials, options.randomness == "own"),
        clock=clock,
        trials=options.trials,
        moves=moves,
        curve_claim=curve_claim,
        continued=continued,
    )


def sampler_of(
    mechanism: Any,
    seed: int,
    *,
    batched: bool = False,
    probe: Any = None,
    n_jobs: int = 1,
    backend: str | None = None,
    address: str | None = None,
    timeout: float | None = None,
    timeout_is: str = "output",
) -> Sampler:
    """Return what makes the runs of a mechanism; the parameters are as for `audit_privacy`."""
    check_jobs(n_jobs, backend, address)
    seconds, word = OPTIONS["timeout"].read(timeout), OPTIONS["timeout_is"].read(timeout_is)
    limit = Timeout(seconds, word) if seconds is not None else Timeout(math.inf) if APART else None
    return Sampler(
        as_mechanism(mechanism, batched=batched, probe=probe, timeout=limit), seed, n_jobs, backend, address=address
    )


def without_shared(sampler: Sampler, pair: Pair) -> Sampler:
    """Return what makes the runs of a mechanism, without the parts that a few runs on a pair share and change.

    An audit finds these when they change; runs that follow an audit, as those for a certificate, have to know before.
    """
    for _ in range(SHARED_PARTS):
        try:
            sampler.sides(pair, ("shared parts",), SHARING_RUNS)
            return sampler
        except SharedPart as found:
            sampler = replace(sampler, mechanism=leaving_out(sampler.mechanism, places_of(found)))
    return sampler


SHARED_PARTS = 8
"""The most times that an audit begins again because its runs share another part of their outputs."""
SHARING_RUNS = 8
"""Runs on each side that show what runs share."""
LEAST_FIXED = 4
"""Trials with which an audit of fixed design can be made at all, where a time limit leaves no time for more."""
SCREENED, SCREENED_SHARE = 400, 20
"""The most pairs of a dataset on which noise is recorded, and of how many runs a side there is one for each."""
RECORDED_SHARE = 0.5
"""Of the runs, at most, for recorded noise: with 400 trials or so all pairs that are made at first can be looked at."""


def shortlist_of(request: Request) -> Shortlist | None:
    """Return the pairs of a dataset that recorded noise speaks for, where runs are made in this process one by one.

    Its runs are the audit's. In the sequential design, whose runs are slow, no pairs but those given are looked at.
    """
    run, pairs = one_run(request.sampler.mechanism), request.pairs
    if run is None or request.moves is None or request.continued is not None:
        return None
    claim, options, seed = request.claim, request.options, request.sampler.seed
    moves, more = None if request.sequential else request.moves, list[Pair]()
    most = min(SCREENED, request.trials // SCREENED_SHARE)
    if moves is not None and most > len(pairs):
        how: dict[str, Any] = {name: getattr(options, name) for name in OF_DATA}
        more = neighbours_of(options.data, claim.relation, count=most, **how, seed=seed)[len(pairs) :]
        more = list(map(_shown, more)) if options.include_data else more
    runs = 2 * (request.trials - request.check_runs)
    kept = max(runs - int(RECORDED_SHARE * runs), LEAST_RUNS if request.sequential else 0)
    clock = request.clock
    found = shortlist(run, pairs, more, moves, claim.epsilon, claim.delta, seed, runs - kept, clock.screened)
    if found is not None and found.ended is not None:
        clock.screening_ended(found.ended)
    return found


def _audited(request: Request, progress: Progress) -> PrivacyFinding:
    if request.options.time:
        return with_run_time(request, partial(_audited, progress=progress))
    for _ in range(SHARED_PARTS):
        try:
            return _made(request, progress)
        except SharedPart as found:
            # The audit begins again, at the same addresses, without what its runs share.
            request = request.leaving_out(places_of(found))
    return _made(request, progress)


def _made(request: Request, progress: Progress) -> PrivacyFinding:
    with opened(request, progress) as request:
        finding = sequential_finding(request) if request.sequential else fixed_finding(request)
        return concluded(request, finding)


def concluded(request: Request, finding: PrivacyFinding) -> PrivacyFinding:
    """Return a finding as it is shown."""
    LOG.info(
        "privacy of %s: %s, epsilon >= %.4g", request.sampler.mechanism.name, finding.verdict, finding.epsilon_lower
    )
    about: dict[str, Any] = {}
    made = request.pairs[0].sides[0]
    if request.options.data is not None and isinstance(made, MadeData):
        about["dataset"] = DatasetSize(made.source.size, len(made.source.pool.columns))
    if libraries := libraries_of(request.source):
        about["libraries"] = libraries
    if about:
        finding = structs.replace(finding, **about)
    return withheld(finding, request.pairs)


def as_shown(request: Request) -> Request:
    """Return an audit whose findings may show values of its data, if they are to."""
    return replace(request, pairs=tuple(map(_shown, request.pairs))) if request.options.include_data else request


def _shown(pair: Pair) -> Pair:
    if isinstance(pair, MadePair):
        return MadePair(*pair.sides, pair.origin, True)
    shown = copy.copy(pair)
    shown.shown = True
    return shown


def _reading(request: Request) -> float:
    """Return the seconds that a run takes to be read. Bets measure that as they go on."""
    return 0.0 if request.sequential else reading_seconds(request, request.hygiene.outputs)


@contextmanager
def opened(request: Request, progress: Progress) -> Iterator[Request]:
    """Make the runs before those that choose, and yield the audit as they leave it."""
    if request.options.randomness != "own":
        check_generator(request.sampler.mechanism)
    request.check_power()
    request = as_shown(request)
    sampler, pairs = request.sampler, request.pairs
    numbers = count()

    def pace(runs: int) -> None:
        """Make runs on both sides in turn, in as many processes as the audit has, to see how long they take."""
        number = next(numbers)
        sizes = (0, runs) if number % 2 else (runs, 0)
        for _ in sampler.reduced(sampler.couples(pairs[0], [("pace", number)] * 2, *sizes), len):
            pass

    LOG.info("privacy of %s: %d pairs, %d runs a side", sampler.mechanism.name, len(pairs), request.trials)
    with ExitStack() as stack:
        stack.enter_context(gathered())
        stack.enter_context(listening(request.clock.left))
        request.hygiene.open(request.clock)
        least, share = (1, BETTING) if request.sequential else (LEAST_FIXED, RUNNING)
        read = partial(_reading, request)
        trials = request.clock.trials(request.trials, 2, pace, least, call=sampler.least_call, share=share, read=read)
        report = stack.enter_context(followed(progress, 2 * trials, "runs", request.clock.left))
        request = replace(request, trials=trials, sampler=request.hygiene.watching(sampler, trials))
        request = replace(request, sampler=replace(request.sampler, report=report))
        yield replace(request, shortlist=shortlist_of(request))

"""The run time as a part of the output, with equal inputs as a control.

Whoever sees an answer often sees how long it took: the claim must then hold for both together. Where a sampler needs
the longer the larger its noise is, neither the outputs nor the times reveal the input, and both together do.

A time is no function of the seed, and on a busy machine it is none of the data either. So nothing is measured unless
it is asked for; outputs alone are then audited as ever, and give the finding wherever they refute the claim. Beside it
the mechanism that returns (output, nanoseconds) is audited, on runs of its own and with half of the error. The verdict
rests on it only if it refutes the claim, and a third audit, with as many runs, does not tell apart the data and a copy
of them: times that do so depend on where inputs lie in memory, for instance.

The side of each run that decides is that of a fair coin, which neither the mechanism nor the machine knows. So other
programs, a processor that slows down, and several workers at a time make times less telling, and accuse nobody. It is
assumed that of earlier runs nothing reaches a time that depends on which side they were on, but for what the claim
speaks of: with delta = 0 it must hold in whatever state they leave the mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

from msgspec import UNSET
from msgspec.structs import replace as changed

from dpaudit.audit.clock import Clock, Stopped
from dpaudit.audit.evidence import Check
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.options import Options
from dpaudit.audit.preflight import Hygiene
from dpaudit.audit.request import Request
from dpaudit.audit.tested import RunTime
from dpaudit.contract import MadePair, Pair, Verdict
from dpaudit.errors import InputError
from dpaudit.running.adapters import timed
from dpaudit.running.sampling import Sampler

AUDITS = 3
"""Audits at most, which share a time limit equally: of outputs, of outputs with times, and of equal inputs."""
ALONE, TIMED = "outputs alone", "run time"
"""The statements that have half of the error each; that of the finding is called the verdict there."""


class _Known(Hygiene):
    """The checks of a mechanism that were made without its times, which equal generators do not repeat."""

    def __init__(self, sampler: Sampler, pairs: tuple[Pair, ...], trials: int, checks: tuple[Check, ...]) -> None:
        super().__init__(sampler, pairs, trials, own=True)
        self._known = checks

    def _before(self) -> tuple[Check, ...]:
        self._check_batch(0, "data")
        self._check_batch(1, "neighbour")
        return ()

    def close(self) -> tuple[Check, ...]:
        """Return what is known."""
        return self._known


def with_run_time(
    request: Request, limit: float | Stopped | None, audit: Callable[[Request], PrivacyFinding]
) -> PrivacyFinding:
    """Return the finding of outputs, or of outputs with run times if these alone refute the claim and are evidence.

    Parameters
    ----------
    request : Request
        The audit of the outputs.
    limit : float, Stopped or None
        The seconds that all audits may take together, or where the audit stopped.
    audit : callable
        Makes an audit.

    Raises
    ------
    InputError
        If a call makes many runs, or the audit is to be continued from a file, which holds no times.
    """
    mechanism, pairs, trials = timed(request.sampler.mechanism), request.pairs, request.trials
    if request.continued is not None:
        raise InputError("{continued} keeps outputs alone: leave out {time}", names=("continued", "time"))
    limit = limit / AUDITS if isinstance(limit, int | float) else limit
    half = request.gamma / 2
    options = Options(**vars(request.options) | {"confidence": 1 - half})
    alone = audit(replace(request, options=options, clock=Clock(limit)))
    sampler = replace(request.sampler, mechanism=mechanism)
    measured = replace(
        request,
        sampler=sampler,
        moves=None,
        options=Options(**vars(options) | {"randomness": "own"}),
        hygiene=_Known(sampler, pairs, trials, alone.checks),
        clock=Clock(limit),
    )
    both, control = audit(measured), None
    if both.verdict == Verdict.VIOLATION and alone.verdict != Verdict.VIOLATION:
        control = audit(_of_equal_inputs(measured, both.witness.pair, Clock(limit)))
    counted = control is not None and control.verdict != Verdict.VIOLATION
    lower = UNSET if control is None else control.epsilon_lower
    found, other = (both, ALONE) if counted else (alone, TIMED)
    return changed(
        found,
        confidence=request.options.confidence,
        errors=found.errors | {other: half},
        run_time=RunTime(counted, both.epsilon_lower, both.witness.event, both.trials, lower),
    )


def _of_equal_inputs(request: Request, index: int, clock: Clock) -> Request:
    """Return the audit that asks whether the data of a pair and a copy of them are told apart at all."""
    pair, mechanism = request.pairs[index], request.sampler.mechanism
    sampler = replace(
        request.sampler, mechanism=replace(mechanism, stream=f"{mechanism.stream}, of equal inputs")
    )
    pairs = (_equal(pair),)
    return replace(
        request,
        sampler=sampler,
        pairs=pairs,
        claim=replace(request.claim, epsilon=0.0, delta=0.0, claim_id=""),
        curve_claim=None,
        hygiene=_Known(sampler, pairs, request.trials, ()),
        clock=clock,
    )


def _equal(pair: Pair) -> Pair:
    """Return the data of a pair with a copy of them, which is made anew where data are; else the data twice."""
    data = pair.sides[0]
    if isinstance(pair, MadePair):
        return MadePair(data, data, pair.origin)
    try:
        return Pair(data, deepcopy(data), pair.origin)
    except Exception:  # of any type: a copy is made by third-party code
        return Pair(data, data, pair.origin)

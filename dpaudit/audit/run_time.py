"""The run time as a part of the output, with equal inputs as a control.

An attacker who sees an answer often sees how long it took, so the claim should hold for both together. A sampler that
takes longer for larger noise leaks through neither alone: the output less the noise that its time reveals is the input.

A measured time is not a function of the seed, so by default none is measured. If it is asked for, the outputs alone are
audited first, as without it. Then the mechanism that returns (output, nanoseconds) is audited on runs of its own, and
its bound is reported next to the verdict. Each of the two has half of the error. The verdict rests on the times only if
they refute the claim where outputs alone do not, and a third audit, of as many runs on two copies of the data at
epsilon = 0, finds no difference: one that it finds comes from where inputs lie in memory, for instance. So that such
differences are rare, each chunk of runs has copies of its inputs.

A fair coin, which neither the mechanism nor the machine knows, chooses the side of each run that decides. So a
machine that is busy, or slows down during the audit, or runs several workers at a time, costs power and not validity.
As for outputs, the claim is assumed to hold in whatever state earlier runs leave the mechanism; with delta > 0, which
has bounds for independent runs, times may drift if their drift does not depend on the sides of earlier runs.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace as changed

from dpaudit.audit.clock import Clock
from dpaudit.audit.finding import ALONE, TIMED, PrivacyFinding, RunTime
from dpaudit.audit.preflight import Preflight
from dpaudit.audit.request import Request
from dpaudit.contract import Made, MadePair, Pair, PrivacyVerdict
from dpaudit.errors import InputError
from dpaudit.running.adapters import timed
from dpaudit.running.failed_runs import brief

# Audits at most, which have equal parts of a time limit: of outputs, of outputs with times, and of equal inputs.
AUDITS = 3


def with_run_time(request: Request, audit: Callable[[Request], PrivacyFinding]) -> PrivacyFinding:
    """Return the finding of outputs alone, or that of outputs with run times if the verdict rests on these.

    `audit` makes one without times. `InputError` if a call makes many runs, or the audit goes on from a file.
    """
    mechanism = timed(request.sampler.mechanism)
    clock = request.clock
    if request.continued is not None:
        raise InputError("{continued} keeps outputs alone: leave out {time}", names=("continued", "time"))
    confidence = request.confidence
    half = request.gamma / 2
    request = replace(request, confidence=1 - half, look=replace(request.look, time=False))
    alone = audit(replace(request, clock=clock.part(AUDITS)))
    # Whether each run needs a generator of its own, the audit of outputs has found out.
    sampler = replace(request.sampler, mechanism=mechanism, fresh=request.preflight.fresh)
    pairs = tuple(map(_copied, request.pairs))
    measured = replace(
        request,
        sampler=sampler,
        pairs=pairs,
        moves=None,
        own_randomness=True,  # a measured time is not a function of the seed
        # The checks are those of the outputs alone: equal generators do not repeat times.
        preflight=Preflight(sampler, pairs, request.trials, own=True, known=alone.checks),
        clock=clock.part(AUDITS - 1),
    )
    both = audit(measured)
    control = None
    # Without a violation by times alone there is nothing that equal inputs could explain.
    if both.verdict == PrivacyVerdict.VIOLATION and alone.verdict != PrivacyVerdict.VIOLATION:
        control = audit(_of_equal_inputs(measured, both.witness.pair, clock.part(1)))
    counted = control is not None and control.verdict != PrivacyVerdict.VIOLATION
    lower: float | UnsetType = UNSET
    if control is not None:
        lower = control.epsilon_lower
    found = alone
    other = TIMED
    if counted:
        found = both
        other = ALONE
    return changed(
        found,
        confidence=confidence,
        errors=found.errors | {other: half},
        run_time=RunTime(counted, both.epsilon_lower, both.detectable_epsilon, both.witness.event, both.trials, lower),
    )


def _of_equal_inputs(request: Request, index: int, clock: Clock) -> Request:
    """Return the audit that finds any difference between two copies of the data of a pair."""
    pairs = (_copied(request.pairs[index], 0, 0),)
    mechanism = request.sampler.mechanism
    # A stream of its own: the runs of the control are not those of the audit it is a control for.
    sampler = replace(request.sampler, mechanism=replace(mechanism, stream=f"{mechanism.stream}, of equal inputs"))
    return replace(
        request,
        sampler=sampler,
        pairs=pairs,
        claim=replace(request.claim, epsilon=0.0, delta=0.0, claim_id=""),
        curve_claim=None,
        preflight=Preflight(sampler, pairs, request.trials, own=True, known=()),
        clock=clock,
    )


@dataclass(frozen=True)
class _Copied(Made):
    """An input that is copied for each chunk of runs, so that none keeps one place in memory."""

    data: Any

    def build(self) -> Any:
        """Return a copy, or the input itself where there is none."""
        try:
            return deepcopy(self.data)
        except Exception:  # of any type: a copy is made by third-party code
            return self.data

    def in_words(self) -> str:
        """Return the input as jobs show it."""
        return brief(self.data)


def _copied(pair: Pair, first: int = 0, second: int = 1) -> MadePair:
    """Return a pair of two sides of another one, which each chunk of runs copies for itself."""
    one = pair.sides[first]
    other = pair.sides[second]
    if isinstance(pair, MadePair):
        return MadePair(one, other, pair.origin, pair.shown)
    return MadePair(_Copied(one), _Copied(other), pair.origin, shown=True)

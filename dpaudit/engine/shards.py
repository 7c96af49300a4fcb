"""An audit in parts that any machines make: a plan, shards of its confirming runs, and the finding that they merge to.

A plan holds what the runs that choose have fixed: the pair, the events and how many of their first hits are counted.
Each run that confirms has an address, so that parts of them are made anywhere, at any time, and counted together as if
one process had made all. A shard holds counts alone. Of the first hits of a guess the last one lies in one shard: there
the runs of one block are made again when shards are merged.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace as changed

from dpaudit.audit.audit import (
    SHARED_PARTS,
    as_shown,
    audit_privacy,
    concluded,
    guarded,
    opened,
    request_of,
    shortlist_of,
)
from dpaudit.audit.choice import Choice
from dpaudit.audit.confirmation import Confirmation, Hits, Shown
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.fixed_design import choose, finding_of
from dpaudit.audit.request import Request
from dpaudit.audit.run_time import KnownChecks
from dpaudit.audit.saved_runs import differing, settings_of
from dpaudit.contract import MadePair
from dpaudit.engine.shard_files import Shard, ShardPlan, check_shards, part_of, read, sealed, shard_path, write
from dpaudit.errors import InputError, SharedPart, ToolFault
from dpaudit.events.event import RARE
from dpaudit.events.selected import SelectedEvent
from dpaudit.jsonable import stable_repr
from dpaudit.keyed import key_of, using
from dpaudit.outputs.sharing import places_of
from dpaudit.progress import Progress, followed
from dpaudit.running.warned import gathered
from dpaudit.sensitivity.screening import Shortlist

BLOCKS = 1_000
"""The most blocks of a shard: of each one the number of hits is held, and that of right ones."""
SAVED = 5.0
"""Seconds between two states of a shard on disk."""


def make_plan(task: dict[str, Any], *, progress: Progress = False, **arguments: Any) -> ShardPlan:
    """Make the runs of an audit that choose, and return the plan of those that confirm.

    The `task` is stored; the arguments are those of `audit_privacy`. `InputError` if parts of the audit would not give
    what one process gives; the message says why.
    """
    request = _request(arguments)
    _refuse_parts(request)
    left_out: list[str] = []
    while True:
        try:
            return _planned(request, task, progress, tuple(left_out))
        except SharedPart as found:
            # As in an audit in one: it begins again without what its runs share.
            if len(left_out) == SHARED_PARTS:
                raise
            left_out.append(str(found.value))
            request = request.leaving_out(places_of(found))


def _planned(request: Request, task: dict[str, Any], progress: Progress, left_out: tuple[str, ...]) -> ShardPlan:
    key = key_of() if any(isinstance(pair, MadePair) for pair in request.pairs) else None
    with guarded(request), opened(request, progress) as request:
        if request.sequential:
            why = f"a run takes {request.hygiene.seconds:.2g} s, and such audits are sequential by default"
            raise _in_one(why, "--no-sequential makes a fixed number of runs")
        failed = [check for check in request.hygiene.checks if not check.passed]
        if failed:
            raise _in_one(f"the check {failed[0].name} found that runs do not repeat ({failed[0].answer})")
        settings = settings_of(request)
        shortlist = request.shortlist
        request, choice = choose(request)
        confirmation = Confirmation(request, choice)
        plan = ShardPlan(
            settings=settings,
            task=task,
            runs=confirmation.planned,
            jobs=len(confirmation.couples),
            events=tuple(tuple(one.events) for one in choice.selected),
            first_hits=_first_hits(confirmation),
            point=(request.claim.epsilon, request.claim.delta),
            numbers=request.sampler.numbers,
            width=request.width,
            searched=request.searched,
            replayed=UNSET if shortlist is None else shortlist.runs,
            checks=request.hygiene.checks,
            seen=UNSET if request.hygiene.seen is None else request.hygiene.seen,
            warnings=tuple(request.hygiene.warnings),
            choice=choice.to_json(request.claim),
            key=UNSET if key is None else key.hex(),
            left_out=left_out or UNSET,
        )
        return sealed(plan)


def _first_hits(confirmation: Confirmation) -> tuple[int, ...]:
    return tuple(hits.numbers[0] for hits in confirmation.hits)


def _with_key_of(plan: ShardPlan) -> AbstractContextManager[Any]:
    """Let digests of people's data be those of the machine that made the plan."""
    return nullcontext() if plan.key is UNSET else using(bytes.fromhex(plan.key))


def _in_one(why: str, advice: str = "", *names: str) -> InputError:
    return InputError(f"this audit cannot be made in parts: {why}" + (f"; {advice}" if advice else ""), names=names)


def _refuse_parts(request: Request) -> None:
    options = request.options
    if any(pair.withheld for pair in request.pairs) and not options.include_data:
        why = "a plan and its shards hold events and what exceptions say, which may name values of records"
        raise _in_one(why, "add {include_data:=True}, and keep the files where the data are", "include_data")
    if options.sequential:
        raise _in_one("a sequential audit decides after each run which one comes next", "leave out --sequential")
    if options.randomness == "own":
        raise _in_one("the mechanism's randomness is its own, so that no run has an address at which it is repeated")
    if options.time:
        raise _in_one("run times are those of one machine", "leave out --time")
    if request.clock.limited:
        raise _in_one("a time limit ends it where the time is over", "leave out --time-limit")


def _request(arguments: dict[str, Any]) -> Request:
    bound = signature(audit_privacy).bind(**arguments)
    bound.apply_defaults()
    return request_of(dict(bound.arguments))


def _restored(plan: ShardPlan, arguments: dict[str, Any]) -> tuple[Request, Choice]:
    """Return the audit as its plan has left it, given its arguments; `InputError` if the plan is of another audit."""
    request = as_shown(_request(arguments))
    for value in () if plan.left_out is UNSET else plan.left_out:
        request = request.leaving_out(places_of(SharedPart("", value=value)))
    request.hygiene.seconds = 0.0  # no run is timed here: the audits of plans are of a fixed number of runs
    for differs in differing(plan.settings, settings_of(request)):
        raise InputError(f"the plan is of another audit: {differs}")
    claim = request.claim
    if request.curve_claim is not None:
        claim = replace(claim, epsilon=plan.point[0], delta=plan.point[1], claim_id="")
    listed = plan.choice.get("place", [0, False])[1]
    short = shortlist_of(request) if listed else None
    if short is None and plan.replayed is not UNSET:
        short = Shortlist((), False, plan.replayed, 0)
    sampler = replace(request.sampler, numbers=plan.numbers)
    known: dict[str, Any] = {"width": plan.width, "searched": plan.searched, "shortlist": short}
    request = replace(request, sampler=sampler, claim=claim, **known)
    request.hygiene.checks, request.hygiene.warnings = plan.checks, plan.warnings
    return request, Choice.from_json(plan.choice, request)


def cells_of(selected: SelectedEvent) -> list[Any]:
    """Return the cells that are counted of a tested event, in an order of their own."""
    return [*sorted(selected.event.inside | selected.event.outside, key=stable_repr), RARE]


class _Made:
    """A shard that grows."""

    def __init__(self, confirmation: Confirmation, choice: Choice, start: Shard) -> None:
        self.cells = [cells_of(one) for one in choice.selected]
        self.start, self.made = start, start.made
        self.confirmation, self.hits = confirmation, [[list(one) for one in held] for held in start.hits]
        counts = [
            (Counter(dict(zip(cells, side, strict=True))), Counter(dict(zip(cells, other, strict=True))))
            for cells, (side, other) in zip(self.cells, start.counts, strict=True)
        ]
        confirmation.add(start.runs, counts, Counter(dict(start.raised)), start.scatter or confirmation.scatter)

    def take(self, shown: Shown) -> None:
        self.confirmation.add(shown.runs, shown.counts, shown.raised, shown.scatter)
        for held, right in zip(self.hits, shown.right, strict=True):
            if self.made % self.start.block == 0:
                held.append([0, 0])
            held[-1][0] += len(right)
            held[-1][1] += int(right.sum())
        self.made += 1

    def record(self, complete: bool, repeats: bool = True) -> Shard:
        shown = self.confirmation
        return sealed(
            changed(
                self.start,
                made=self.made,
                complete=complete,
                runs=shown.sides,
                counts=tuple(
                    (tuple(side[cell] for cell in cells), tuple(other[cell] for cell in cells))
                    for cells, (side, other) in zip(self.cells, shown.counts, strict=True)
                ),
                hits=tuple(tuple((hits, right) for hits, right in held) for held in self.hits),
                raised=tuple(sorted(shown.raised.items())),
                scatter=tuple(tuple(side.tolist()) for side in shown.scatter),
                repeats=repeats,
            )
        )


def make_shard(
    plan: ShardPlan, part: int, of: int, folder: Path, *, progress: Progress = False, **arguments: Any
) -> Shard:
    """Make one of so many parts of the confirming runs of a plan, and keep it in a folder.

    It goes on from what an earlier process of the same part has made. The arguments are those of the plan's task.
    `InputError` if the plan is of another audit, there is no such part, or the mechanism returns here something else
    than where the plan was made; `ToolFault` if the file of the shard was changed, or is of another plan.
    """
    if not 1 <= part <= of <= plan.jobs:
        allowed = f"from 1/K to K/K, with K at most {plan.jobs}, the jobs of this plan"
        raise InputError(f"the part must be {allowed}; got {part}/{of}")
    with _with_key_of(plan):
        request, choice = _restored(plan, arguments)
        path, which = shard_path(folder, part, of), part_of(plan.jobs, part, of)
        total = which.stop - which.start
        confirmation = Confirmation(request, choice)
        if (_first_hits(confirmation), len(confirmation.couples)) != (plan.first_hits, plan.jobs):
            raise ToolFault("the plan does not fit its own choice of events: make it again")
        none = tuple((zeros, zeros) for one in choice.selected for zeros in [(0,) * len(cells_of(one))])
        start = Shard(
            plan=plan.digest, part=part, of=of, made=0, complete=False, runs=(0, 0), counts=none,
            block=max(1, -(-total // BLOCKS)), hits=((),) * len(confirmation.hits), raised=(), scatter=(), repeats=True,
        )  # fmt: skip
        if path.exists():
            start = read(path, Shard)
            if (start.plan, start.part, start.of) != (plan.digest, part, of):
                raise ToolFault(f"{path} is the shard {start.part}/{start.of} of another plan: choose another folder")
            if start.complete:
                return start
        made = _Made(confirmation, choice, start)
        with guarded(request), gathered(), followed(progress, plan.runs * total // plan.jobs, "runs") as report:
            if not _repeats(request, plan):
                why = "the first runs of this audit return something else here than where the plan was made, by other "
                why += "libraries or another machine, so that a shard made here would not be a part of it"
                raise InputError(why)
            last = time.monotonic()
            confirmation.sampler = replace(confirmation.sampler, report=report)
            for shown in confirmation.make(confirmation.couples[which][made.made :]):
                made.take(shown)
                if time.monotonic() - last > SAVED:
                    write(made.record(False), path)
                    last = time.monotonic()
            shard = made.record(True, _repeats(request, plan))
        write(shard, path)
        return shard


def _repeats(request: Request, plan: ShardPlan) -> bool:
    return plan.seen is UNSET or request.hygiene.last() == plan.seen


def merge(plan: ShardPlan, shards: Sequence[Shard], *, progress: Progress = False, **arguments: Any) -> PrivacyFinding:
    """Return the finding of an audit whose shards were all made.

    `InputError` if shards are missing, doubled, unfinished or of another audit: the message has their numbers.
    """
    with _with_key_of(plan):
        ordered = check_shards(plan, shards)
        request, choice = _restored(plan, arguments)
        confirmation = Confirmation(request, choice)
        for shard in ordered:
            started = _Made(confirmation, choice, shard)
            if any(len(held) != -(-shard.made // shard.block) for held in started.hits):
                raise ToolFault(f"shard {shard.part}/{shard.of} has not the blocks of its runs")
        with guarded(request):
            for i, hits in enumerate(confirmation.hits):
                for shard in ordered:
                    _take_hits(confirmation, i, hits, shard, plan)
        confirmation.end_look()
        repeat = all(shard.repeats for shard in ordered)
        closed = plan.checks if plan.seen is UNSET else request.hygiene.closed(repeat)
        hygiene = KnownChecks(request.sampler, request.pairs, request.trials, closed)
        hygiene.warnings = plan.warnings
        request = replace(request, hygiene=hygiene)
        return concluded(request, finding_of(request, choice, confirmation))


def _take_hits(confirmation: Confirmation, i: int, hits: Hits, shard: Shard, plan: ShardPlan) -> None:
    """Add the hits of a guess; where the last one that counts lies in a block, its runs are made again."""
    which = part_of(plan.jobs, shard.part, shard.of)
    for place, (number, right) in enumerate(shard.hits[i]):
        if not hits.ends_in(number):
            hits.add(number, right)
            continue
        start = which.start + place * shard.block
        before = hits.seen
        for shown in confirmation.make(confirmation.couples[start : min(start + shard.block, which.stop)]):
            hits.take(shown.right[i])
        if hits.seen - before != number:
            raise ToolFault(f"runs of shard {shard.part}/{shard.of} do not repeat here: merge where it was made")

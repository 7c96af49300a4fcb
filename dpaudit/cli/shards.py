"""``dpaudit privacy --plan``, ``dpaudit shard`` and ``dpaudit merge``: an audit in parts that any machines make."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dpaudit.cli.audits import LearnerOptions, find_learner, note_taken, show
from dpaudit.cli.command import check_folder, command
from dpaudit.cli.options import FORMS, Learners, Quiet, Shown, argument, given, jobs
from dpaudit.cli.streams import keeping, say
from dpaudit.errors import InputError
from dpaudit.report.numbers import count

if TYPE_CHECKING:
    from dpaudit.engine.tasks import PrivacyArguments
    from dpaudit.project.subject import Prepared

PLAN_FILE = "plan.json"


def write_plan(
    path: str, learner: LearnerOptions, asked: PrivacyArguments, seed: int, shown: Shown, spread: dict[str, Any]
) -> int:
    """Make the runs of an audit that choose, write the plan, and return the status."""
    from msgspec.structs import replace

    from dpaudit.engine.shard_files import write
    from dpaudit.engine.shards import make_plan
    from dpaudit.places import is_place
    from dpaudit.record import encodable

    check_folder("plan", path)
    parameters: dict[str, Any] = {}
    if not is_place(learner.id):
        entry, _, parameters = find_learner(learner.id, learner.parameter, shown.learners)
        if learner.n is None:
            note_taken(entry, {"n": entry.instance.n})
            asked = replace(asked, n=entry.instance.n)
    elif learner.parameter:
        raise InputError(f"-p is for learners of the registry; {learner.id} takes none")
    task = {"id": learner.id, "parameters": list(parameters.items()), "seed": seed, "arguments": encodable(asked)}
    with _subject_of(task, shown.learners) as (subject, _):
        options = {**spread, "progress": not shown.quiet}
        plan = make_plan(task, mechanism=subject.mechanism, **subject.arguments, **options)
    write(plan, Path(path))
    say(f"{path}: {count(plan.runs)} runs confirm, in {plan.jobs} jobs; dpaudit shard 1/K {path} -o DIR makes a part\n")
    return 0


@contextmanager
def _subject_of(task: dict[str, Any], paths: tuple[str, ...]) -> Iterator[tuple[Prepared, PrivacyArguments]]:
    from dpaudit.engine.tasks import PrivacyArguments
    from dpaudit.project import subject as subjects
    from dpaudit.record import decode

    asked: PrivacyArguments = decode(json.dumps(task["arguments"]), PrivacyArguments, "the plan")
    with subjects.named(task["id"], asked, task["seed"], task["parameters"], paths) as subject:
        yield subject, asked


@command("shard", "dpaudit shard 3/16 plan.json -o parts")
def shard(
    part: Annotated[str, argument("I/K")],
    plan: Annotated[str, argument("PLAN")],
    out: Annotated[
        str, given("where the shard and a copy of the plan are kept (default: here)", ".", "DIR", names=("-o", "--out"))
    ],
    n_jobs: Annotated[int, jobs("processes", 1)],
    learners: Learners,
    quiet: Quiet,
) -> int:
    """Make part I of K of the runs that confirm an audit, as its plan asks for, and keep what they show.

    The plan is that of `dpaudit privacy --plan`; the mechanism's file and its pairs must be here as they were there. A
    shard that was interrupted goes on where it was. It holds counts, and is a few kilobytes.
    """
    from dpaudit.engine.shard_files import ShardPlan, read, shard_path, write
    from dpaudit.engine.shards import make_shard

    number, _, of = part.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise InputError.of("part", part, "I/K, a part and the number of parts, as 3/16")
    stored, folder = read(Path(plan), ShardPlan), Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder / PLAN_FILE
    if beside.exists() and read(beside, ShardPlan).digest != stored.digest:
        raise InputError(f"{beside} is another plan: choose another folder", names=("out",))
    if not beside.exists():
        write(stored, beside)
    with keeping(shard_path(folder, int(number), int(of))), _subject_of(stored.task, learners) as (subject, _):
        options: dict[str, Any] = {"n_jobs": n_jobs, "progress": not quiet}
        made = make_shard(
            stored, int(number), int(of), folder, mechanism=subject.mechanism, **subject.arguments, **options
        )
    say(f"{shard_path(folder, made.part, made.of)}: {count(sum(made.runs))} runs of {count(stored.runs)}\n")
    return 0


@command("merge", "dpaudit merge parts", FORMS)
def merge(
    folders: Annotated[tuple[str, ...], argument("DIR...")],
    n_jobs: Annotated[int, jobs("processes", 1)],
    shown: Shown,
) -> int:
    """Show the finding of an audit whose shards were all made: the one that one process would have made.

    The folders hold the shards and the plan. Shards that are missing, doubled, unfinished or of another audit are
    refused with their numbers. Some of the runs are made again, where the hits that are counted end in a shard, so that
    the mechanism's file and its pairs must be here.
    """
    from msgspec.structs import replace

    from dpaudit.engine.records import decoded
    from dpaudit.engine.shard_files import Shard, ShardPlan, read
    from dpaudit.engine.shards import merge
    from dpaudit.places import is_place
    from dpaudit.registry import load

    paths = [Path(folder) for folder in folders]
    if not paths:
        raise InputError("a folder of shards must be given, as: dpaudit merge parts")
    plans = {
        (plan := read(path, ShardPlan)).digest: plan for folder in paths for path in sorted(folder.glob(PLAN_FILE))
    }
    if len(plans) != 1:
        found = f"the folders hold {len(plans)} plans" if plans else f"no folder holds a plan, {PLAN_FILE}"
        raise InputError(f"{found}: shards of one audit are merged, with its plan beside them")
    (plan,) = plans.values()
    shards = [read(path, Shard) for folder in paths for path in sorted(folder.glob("shard-*.json"))]
    with _subject_of(plan.task, shown.learners) as (subject, arguments):
        options: dict[str, Any] = {"n_jobs": n_jobs, "progress": not shown.quiet}
        finding = merge(plan, shards, mechanism=subject.mechanism, **subject.arguments, **options)
        more: dict[str, Any] = {}
        if is_place(id := plan.task["id"]):
            arguments = replace(arguments, pairs=subject.source)
        else:  # as `dpaudit privacy` has it
            fault = load(shown.learners).get(id).fault
            more = {"parameters": plan.task["parameters"], "fault": fault, "decoded": decoded(subject.learner, finding)}
        result = subject.result(id, arguments, finding, **more)
    return show([result], plan.task["seed"], shown)

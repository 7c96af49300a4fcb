"""The command that audits many learners, stores what it finds and reports it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from dpaudit.cli.learners import find_learners
from dpaudit.cli.report_command import shown, tell_faults
from dpaudit.cli.report_files import rendered
from dpaudit.cli.streams import say, tell
from dpaudit.cli.verb import Given, option_words
from dpaudit.engine.execute import Listener, Progress, RunEvent, TaskFailed, TaskFinished, execute
from dpaudit.engine.files import held, keep_foreign, write_atomically
from dpaudit.engine.outcome import outcome
from dpaudit.engine.plan import Plan, make_plan
from dpaudit.engine.records import Failure, Header
from dpaudit.engine.store import FILENAME, Store, load_run, sources
from dpaudit.engine.tasks import Task
from dpaudit.errors import InputError
from dpaudit.jsonable import jsonable
from dpaudit.registry import Entry, StatementEntry
from dpaudit.seeding import check_seed

__all__ = ["command"]


def command(args: Given) -> int:
    """Plan, run, store and report."""
    check_seed(args.seed)
    registry = find_learners(args)
    entries = [registry.get(id) for id in dict.fromkeys(args.ids)] or registry.entries
    statements = () if args.ids else registry.statements
    plan = make_plan(
        entries,
        profile=args.profile,
        confidence=args.confidence,
        trials=args.trials,
        statements=statements,
        timeout=args.timeout,
        time_limit=args.time_limit,
    )
    for line in plan.notes:
        tell("note", line)
    if not plan.tasks:
        raise InputError(
            "; ".join(f"{fault.learner}: {fault.error}" for fault in plan.faults) or "there is nothing to audit"
        )
    header = _header(args, plan, entries, statements)
    path = Path(args.out) / FILENAME
    with held(path.parent):
        store = Store.resume(path, header) if args.resume else Store.start(path, header)
        _execute(args, plan, store)
        store.finish()
        return _report(args, path)


def _header(args: Given, plan: Plan, entries: Sequence[Entry], statements: Sequence[StatementEntry]) -> Header:
    """Return the first line of the run."""
    modules = {entry.learner.__module__ for entry in entries}
    modules |= {str(getattr(entry.statement.check, "__module__", "")) for entry in statements}
    return Header(
        plan=plan.planned,
        seed=args.seed,
        profile=args.profile,
        command=_repeat(args),
        faults=plan.faults,
        controls={entry.id: entry.fault for entry in entries if entry.fault is not None},
        sources=sources(modules, args.learners),
    )


def _repeat(args: Given) -> str:
    """Return the command that remakes a run: without what does not change the results, into a folder of its own.

    That folder is always the same, so that where a run was written changes no byte of it, and none that `run` writes
    to of itself, so that the command can be pasted beside the report.
    """
    return _command(args, "reports/remade")


def _command(args: Given, out: str, *more: str) -> str:
    """Return the command that makes the same results in a folder."""
    words = ["dpaudit", "run", *dict.fromkeys(args.ids)]
    for name in ("profile", "seed", "confidence", "trials", "timeout", "time_limit"):
        value = getattr(args, name)
        words += [] if value is None else option_words(args.verb, name, value)
    for path in args.learners:
        words += ["--learners", path]
    return shlex.join([*words, *more, "--out", out])


def _execute(args: Given, plan: Plan, store: Store) -> None:
    """Run what is not done yet into the store."""
    tasks = {task.key: task for task in plan.tasks}

    def keep(event: RunEvent) -> None:
        if isinstance(event, TaskFinished):
            store.append(event.record)
        elif isinstance(event, TaskFailed):
            store.fail(_failure(tasks[event.task], event.error))

    listeners: list[Listener] = [keep] if args.quiet else [keep, Progress(sys.stderr)]
    try:
        execute(
            plan.tasks,
            seed=args.seed,
            listeners=listeners,
            done=frozenset(store.done),
            paths=args.learners,
            n_jobs=args.n_jobs,
            backend=args.backend,
        )
    except KeyboardInterrupt as stop:
        stop.add_note(f"after {len(store.done)} of {len(plan.tasks)} audits; their results are kept in {store.path}")
        stop.add_note(_command(args, args.out, "--resume"))
        raise


def _failure(task: Task, error: str) -> Failure:
    """Return the record of a task that failed."""
    parameters = jsonable(task.parameters)
    return Failure(task=task.key, learner=task.learner, parameters=parameters, arguments=task.arguments, error=error)


def _report(args: Given, path: Path) -> int:
    """Write the reports of a finished run, print the summary and return the status."""
    run = load_run(path)
    written = [path]
    for form in ("json", "html") if args.html else ("json",):
        written.append(path.with_name(f"report.{form}"))
        keep_foreign(written[-1])
        write_atomically(written[-1], rendered(run, form).encode())
    found = outcome(run)
    say(rendered(run, "json") if args.json else shown(run, args))
    tell_faults(run, found)
    tell("note", f"wrote {', '.join(map(str, written))}")
    return found.allowed_status if args.allow_no_evidence else found.status

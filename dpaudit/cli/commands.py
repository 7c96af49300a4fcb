"""The commands that list, run and report; each function returns the exit status.

Nothing scientific is imported here before a command needs it: `dpaudit list` must answer at once.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.cli.streams import output
from dpaudit.cli.terminal import find_learners, note, say, wants_color, warn
from dpaudit.errors import InputError
from dpaudit.registry import Entry, StatementEntry, load

if TYPE_CHECKING:
    from dpaudit.engine.outcome import Outcome
    from dpaudit.engine.plan import Plan

__all__ = ["list_command", "report_command", "run_command"]


def list_command(args: argparse.Namespace) -> int:
    """Show the learners; a module that does not load is a line on stderr and stands in no other's way.

    The status is 2 if it is one that the user named.
    """
    registry = load(tuple(args.learners))
    warn(registry)
    rows = [_row(entry) for entry in registry.entries if args.all or entry.fault is None]
    say(json.dumps(rows, indent=1, sort_keys=True) + "\n" if args.json else _table(rows))
    return 2 if any(problem.requested for problem in registry.problems) else 0


def run_command(args: argparse.Namespace) -> int:
    """Plan, run, store and report."""
    from dpaudit.engine.lock import held
    from dpaudit.engine.plan import make_plan
    from dpaudit.engine.sources import sources
    from dpaudit.engine.store import FILENAME, Store, make_header
    from dpaudit.seeding import check_seed

    check_seed(args.seed)
    registry = find_learners(args)
    entries = [registry.get(id) for id in dict.fromkeys(args.ids)] or registry.entries
    claims = () if args.ids else registry.statements
    plan = make_plan(
        entries,
        profile=args.profile,
        confidence=args.confidence,
        trials=args.trials,
        claims=claims,
    )
    for line in plan.notes:
        note(line)
    if not plan.tasks:
        raise InputError("; ".join(plan.faults) or "there is nothing to audit")
    header = make_header(
        plan.keys,
        seed=args.seed,
        profile=args.profile,
        command=_run_line(args),
        faults=plan.faults,
        controls={entry.id: entry.fault for entry in entries if entry.fault is not None},
        sources=sources(_modules(entries, claims), args.learners),
    )
    path = Path(args.out) / FILENAME
    with held(path.parent):
        store = Store.resume(path, header) if args.resume else Store.start(path, header)
        _execute(args, plan, store)
        store.finish()
        return _report_run(args, path)


def _modules(entries: Sequence[Entry], claims: Sequence[StatementEntry]) -> set[str]:
    """Return the names of the modules that learners and the checks of claims stand in."""
    return {entry.learner.__module__ for entry in entries} | {
        str(getattr(entry.statement.check, "__module__", "")) for entry in claims
    }


def report_command(args: argparse.Namespace) -> int:
    """Render stored results; the status is that of the results."""
    from dpaudit.engine.outcome import outcome
    from dpaudit.engine.store import load_run, write_atomically

    run = load_run(args.path)
    found = outcome(run)
    text = _render(run, args.format, color=args.out is None and wants_color())
    if args.out is None:
        say(text)
    else:
        write_atomically(Path(args.out), text.encode())
    if found.missing:
        note(f"{len(found.missing)} of {len(run['header']['plan'])} audits have no result; `--resume` goes on")
    _tell_faults(run, found)
    return found.status


def _row(entry: Entry) -> dict[str, Any]:
    """Return what `list` shows of a learner."""
    from dpaudit.jsonable import jsonable

    try:
        claim = entry.claim()
        privacy = "none" if claim is None else "pure" if claim.delta == 0 else "approximate"
    except (Exception, SystemExit) as error:  # a learner that cannot build its own example must not hide the others
        print(
            f"dpaudit: warning: {entry.id}: its example fails: {type(error).__name__}: {error}",
            file=sys.stderr,
        )
        privacy = "unknown"
    required = {name: default is Parameter.empty for name, default in entry.parameters.items()}
    defaults = {name: jsonable(value) for name, value in entry.parameters.items() if not required[name]}
    return {
        "id": entry.id,
        "summary": entry.summary,
        "privacy": privacy,
        "fault": entry.fault,
        "origin": entry.origin,
        "parameters": list(required),
        "defaults": defaults,
        "instance": jsonable(entry.instance),
    }


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the learners as a table; on a terminal no line is wider than it."""
    lines = [("ID", "PRIVACY", "PARAMETERS", "WHAT IT IS")]
    for row in rows:
        names = [f"{p}={row['defaults'][p]}" if p in row["defaults"] else p for p in row["parameters"]]
        what = row["summary"] if row["fault"] is None else f"leaks on purpose: {row['fault']}"
        lines.append((row["id"], row["privacy"], " ".join(names), what))
    widths = [max(len(line[i]) for line in lines) for i in range(3)]
    limit = shutil.get_terminal_size().columns if output().isatty() else None
    texts = ["  ".join([*(line[i].ljust(widths[i]) for i in range(3)), line[3]]).rstrip()[:limit] for line in lines]
    return "\n".join(texts) + "\n"


def _run_line(args: argparse.Namespace) -> str:
    """Return the command that remakes a run: without what does not change the results, into a folder of its own.

    That folder is always the same, so that where a run was written changes no byte of it, and none that `run` writes
    to of itself, so that the command can be pasted beside the report.
    """
    words = ["dpaudit", "run", *dict.fromkeys(args.ids), "--profile", args.profile, "--seed", str(args.seed)]
    words += ["--confidence", str(args.confidence)]
    words += [] if args.trials is None else ["--trials", str(args.trials)]
    words += [word for path in args.learners for word in ("--learners", path)]
    return shlex.join([*words, "--out", "reports/remade"])


def _execute(args: argparse.Namespace, plan: Plan, store: Any) -> None:
    """Run what is not done yet into the store."""
    from dpaudit.engine.execute import Event, Listener, TaskFailed, TaskFinished, execute
    from dpaudit.engine.progress import Progress

    tasks = {task.key: task for task in plan.tasks}

    def keep(event: Event) -> None:
        if isinstance(event, TaskFinished):
            store.append(event.record)
        elif isinstance(event, TaskFailed):
            store.fail({**tasks[event.task].to_dict(), "error": event.error})

    listeners: list[Listener] = [keep] if args.quiet else [keep, Progress(sys.stderr)]
    try:
        execute(
            plan.tasks,
            seed=args.seed,
            listeners=listeners,
            done=frozenset(store.done),
            paths=tuple(args.learners),
            n_jobs=args.jobs,
            backend=args.backend,
        )
    except KeyboardInterrupt:
        raise InputError(
            f"interrupted; {len(store.done)} of {len(plan.tasks)} results are kept in {store.path}; --resume goes on"
        ) from None


def _report_run(args: argparse.Namespace, path: Path) -> int:
    """Write the reports of a finished run, print the summary and return the status."""
    from dpaudit.engine.outcome import outcome
    from dpaudit.engine.store import keep_foreign, load_run, write_atomically

    run = load_run(path)
    written = [path]
    for kind in ("json", "html") if args.html else ("json",):
        written.append(path.with_name(f"report.{kind}"))
        keep_foreign(written[-1])
        write_atomically(written[-1], _render(run, kind).encode())
    found = outcome(run)
    say(_render(run, "console", color=wants_color()))
    for name in found.unconvicted:
        say(f"The positive control {name} was convicted by no audit: these audits are blind to its leak.\n")
    _tell_faults(run, found)
    note(f"wrote {', '.join(map(str, written))}")
    return found.status


def _tell_faults(run: Mapping[str, Any], found: Outcome) -> None:
    """Say on stderr of which tasks and learners nothing is known, and why."""
    for line in [*(f"{failure['task']}: {failure['error']}" for failure in run["failures"]), *found.faults]:
        print(f"dpaudit: fault: {line}", file=sys.stderr)


def _render(run: Mapping[str, Any], kind: str, color: bool = False) -> str:
    """Return a run in one of the report formats."""
    if kind == "console":
        from dpaudit.reporters import console

        return console.render(run, color)
    if kind == "json":
        from dpaudit.reporters import json as json_reporter

        return json_reporter.render(run)
    from dpaudit.reporters import html

    return html.render(run)

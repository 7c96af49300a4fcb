"""What each command of the command line does; each function returns the exit status.

Nothing scientific is imported here before a command needs it: `dpaudit list` must answer at once.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.contract import Learner
from dpaudit.errors import InputError
from dpaudit.registry import Entry, Registry, load

if TYPE_CHECKING:
    from dpaudit.engine.execute import TaskFailed
    from dpaudit.engine.plan import Plan
    from dpaudit.engine.tasks import Task

__all__ = [
    "exact_command",
    "list_command",
    "privacy_command",
    "report_command",
    "run_command",
    "utility_command",
]


def list_command(args: argparse.Namespace) -> int:
    """Show the learners; a module that does not load is a line on stderr and stands in nobody's way."""
    registry = load(tuple(args.learners))
    _warn(registry)
    rows = [_row(entry) for entry in registry.entries if args.all or entry.fault is None]
    say(json.dumps(rows, indent=1, sort_keys=True) + "\n" if args.json else _table(rows))
    return 0


def privacy_command(args: argparse.Namespace) -> int:
    """Make one black-box audit."""
    entry, _, parameters = _learner(args)
    from dpaudit.engine.tasks import privacy_task

    task = privacy_task(
        entry,
        trials=args.trials,
        confidence=args.confidence,
        parameters=parameters,
        n=_taken_n(args, entry),
        epsilon=args.epsilon,
        delta=args.delta,
        relation=args.relation,
    )
    options = {name: task.arguments[name] for name in ("n", "trials", "confidence")}
    options |= {name: getattr(args, name) for name in ("epsilon", "delta", "relation")}
    return _audit(args, [task], options)


def exact_command(args: argparse.Namespace) -> int:
    """Compute one exact worst case."""
    entry, learner, parameters = _learner(args)
    from dpaudit.engine.tasks import exact_task

    task = exact_task(
        entry, learner, parameters=parameters, n=args.n, relation=args.relation, crafted=args.crafted or None
    )
    if args.n is None:
        _note(f"n = {task.arguments['n']} taken from the example of {entry.id}")
    options = {name: task.arguments[name] for name in ("n", "relation")}
    return _audit(args, [task], options | {"crafted": task.arguments["samples"] == "crafted" or None})


def utility_command(args: argparse.Namespace) -> int:
    """Measure failure rates: on all hard cases, on one, or on the uniform distribution."""
    from dpaudit.engine.tasks import utility_tasks

    cases: list[int | None] | None = None
    if args.distribution != "all":
        try:
            cases = [None if args.distribution == "uniform" else int(args.distribution)]
        except ValueError:
            raise InputError(
                f"distribution must be uniform, all, or the number of a hard case; got {args.distribution!r}"
            ) from None
    entry, learner, parameters = _learner(args)
    tasks = utility_tasks(
        entry,
        learner,
        trials=args.trials,
        confidence=args.confidence,
        parameters=parameters,
        alpha=args.alpha,
        beta=args.beta,
        n=args.n,
        concept=args.concept,
        cases=cases,
    )
    if not tasks:
        raise InputError(f"{entry.id} has no hard cases; choose --distribution uniform")
    taken = tasks[0].arguments
    _note_taken(entry, {name: taken[name] for name in ("alpha", "beta") if getattr(args, name) is None})
    options = {name: taken[name] for name in ("alpha", "beta", "n", "trials")}
    more = {"confidence": args.confidence, "concept": args.concept, "distribution": args.distribution}
    return _audit(args, tasks, options | more)


def run_command(args: argparse.Namespace) -> int:
    """Plan, run, store and report."""
    from dpaudit.engine.plan import make_plan
    from dpaudit.engine.store import FILENAME, Store, make_header
    from dpaudit.seeding import check_seed

    check_seed(args.seed)
    registry = _registry(args)
    entries = [registry.get(id) for id in dict.fromkeys(args.ids)] or registry.entries
    plan = make_plan(entries, profile=args.profile, confidence=args.confidence, trials=args.trials)
    for line in plan.notes:
        _note(line)
    if not plan.tasks:
        raise InputError("; ".join(plan.faults) or "there is nothing to audit")
    header = make_header(plan.keys, seed=args.seed, profile=args.profile, command=_run_line(args))
    path = Path(args.out) / FILENAME
    store = Store.resume(path, header) if args.resume else Store.start(path, header)
    failures = _execute(args, plan, store)
    store.finish()
    return _report_run(args, path, [f"{f.task}: {f.error}" for f in failures] + list(plan.faults))


def report_command(args: argparse.Namespace) -> int:
    """Render stored results; the status is that of the results."""
    from dpaudit.engine.outcome import outcome
    from dpaudit.engine.store import load_run, write_atomically

    run = load_run(args.path)
    found = outcome(run)
    text = _render(run, args.format, color=args.out is None and _color())
    if args.out is None:
        say(text)
    else:
        write_atomically(Path(args.out), text.encode())
    if found.missing:
        _note(f"{len(found.missing)} of {len(run['header']['plan'])} audits have no result; `--resume` goes on")
    return found.status


def say(text: str) -> None:
    """Write to standard output; a reader that has gone (``| head``) changes neither work nor status."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _note(text: str) -> None:
    print(f"dpaudit: note: {text}", file=sys.stderr)


def _note_taken(entry: Entry, values: Mapping[str, Any]) -> None:
    if values:
        _note(f"{', '.join(f'{k} = {v}' for k, v in values.items())} taken from the example of {entry.id}")


def _warn(registry: Registry) -> None:
    for problem in registry.problems:
        print(f"dpaudit: warning: {problem}", file=sys.stderr)


def _registry(args: argparse.Namespace) -> Registry:
    """Return the learners; a path that the user named must load, or its learners would go unaudited."""
    registry = load(tuple(args.learners))
    wanted = [problem for problem in registry.problems if problem.requested]
    if wanted:
        raise InputError("; ".join(map(str, wanted)))
    _warn(registry)
    return registry


def _row(entry: Entry) -> dict[str, Any]:
    """Return what `list` shows of a learner."""
    from dpaudit.results import jsonable

    try:
        claim = entry.claim()
        privacy = "none" if claim is None else "pure" if claim.delta == 0 else "approximate"
    except Exception as error:  # a learner that cannot build its own example must not hide the others
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
        "example": jsonable(entry.example),
    }


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the learners as a table; on a terminal no line is wider than it."""
    lines = [("ID", "PRIVACY", "PARAMETERS", "WHAT IT IS")]
    for row in rows:
        names = [f"{p}={row['defaults'][p]}" if p in row["defaults"] else p for p in row["parameters"]]
        what = row["summary"] if row["fault"] is None else f"leaks on purpose: {row['fault']}"
        lines.append((row["id"], row["privacy"], " ".join(names), what))
    widths = [max(len(line[i]) for line in lines) for i in range(3)]
    limit = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    texts = ["  ".join([*(line[i].ljust(widths[i]) for i in range(3)), line[3]]).rstrip()[:limit] for line in lines]
    return "\n".join(texts) + "\n"


def _learner(args: argparse.Namespace) -> tuple[Entry, Learner, dict[str, Any]]:
    """Return the learner of a single audit: parameters not given are its example's, which a note says."""
    entry = _registry(args).get(args.id)
    given = dict(_parameter(text) for text in args.parameter)
    taken = {name: value for name, value in entry.example.parameters.items() if name not in given}
    _note_taken(entry, taken)
    parameters = {**taken, **given}
    return entry, entry.build(**parameters), parameters


def _parameter(text: str) -> tuple[str, Any]:
    """Read ``name=value``; the value is an integer, a number, true, false, none, or else text."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"a parameter must be given as NAME=VALUE, got {text!r}")
    words: dict[str, Any] = {"true": True, "false": False, "none": None}
    if value.lower() in words:
        return name, words[value.lower()]
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def _taken_n(args: argparse.Namespace, entry: Entry) -> int:
    """Return n, the example's unless given."""
    if args.n is not None:
        return int(args.n)
    _note_taken(entry, {"n": entry.example.n})
    return entry.example.n


def _audit(args: argparse.Namespace, tasks: Sequence[Task], options: Mapping[str, Any]) -> int:
    """Perform the tasks of a single audit and show what they found."""
    from dpaudit.engine.perform import perform
    from dpaudit.engine.tasks import canonical
    from dpaudit.verdict_block import verdict_block

    sampled = {"seed": args.seed} if hasattr(args, "seed") else {}
    repeat = _single_line(args, tasks[0].parameters, {**options, **sampled})
    status = 0
    for task in tasks:
        record = perform(task, seed=sampled.get("seed", 0), paths=tuple(args.learners), n_jobs=getattr(args, "jobs", 1))
        say(canonical({**record, "command": repeat}) + "\n" if args.json else verdict_block(record, repeat))
        status = max(status, int(record["finding"]["verdict"] == "violation"))
    return status


def _single_line(args: argparse.Namespace, parameters: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Return the command that repeats a single audit, with nothing left to defaults."""
    words = ["dpaudit", args.command, args.id]
    for name, value in parameters.items():
        words += ["-p", f"{name}={getattr(value, 'value', value)}"]
    for name, value in options.items():
        if value is not None:
            words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return shlex.join(words + [word for path in args.learners for word in ("--learners", path)])


def _run_line(args: argparse.Namespace) -> str:
    """Return the command that remakes a run: without what does not change the results."""
    words = ["dpaudit", "run", *dict.fromkeys(args.ids), "--profile", args.profile, "--seed", str(args.seed)]
    words += ["--confidence", str(args.confidence)]
    words += [] if args.trials is None else ["--trials", str(args.trials)]
    return shlex.join(words + [word for path in args.learners for word in ("--learners", path)])


def _execute(args: argparse.Namespace, plan: Plan, store: Any) -> list[TaskFailed]:
    """Run what is not done yet into the store; return the failures."""
    from dpaudit.engine.execute import Event, Listener, TaskFailed, TaskFinished, execute
    from dpaudit.engine.progress import Progress

    failures: list[TaskFailed] = []

    def keep(event: Event) -> None:
        if isinstance(event, TaskFinished):
            store.append(event.record)
        elif isinstance(event, TaskFailed):
            failures.append(event)

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
    return failures


def _report_run(args: argparse.Namespace, path: Path, failures: Sequence[str]) -> int:
    """Write the reports of a finished run, print the summary and return the status."""
    from dpaudit.engine.outcome import outcome
    from dpaudit.engine.store import load_run, write_atomically

    run = load_run(path)
    written = [path]
    for kind in ("json", "html") if args.html else ("json",):
        written.append(path.with_name(f"report.{kind}"))
        write_atomically(written[-1], _render(run, kind).encode())
    found = outcome(run)
    say(_render(run, "console", color=_color()))
    for name in found.unconvicted:
        say(f"The positive control {name} was convicted by no audit: these audits are blind to its leak.\n")
    for line in failures:
        print(f"dpaudit: fault: {line}", file=sys.stderr)
    _note(f"wrote {', '.join(map(str, written))}")
    return 2 if failures else found.status


def _color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


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

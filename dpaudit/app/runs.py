"""``dpaudit run``: many learners are audited and what is found is stored; ``report`` and ``verify`` read it again."""

from __future__ import annotations

import shlex
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from dpaudit.app.audits import find_learners, rendered, show_lines, write_report
from dpaudit.app.command import command, here, option_words, suffix_of
from dpaudit.app.options import (
    FAMILY_WISE,
    FORMS,
    PLAIN,
    AllowNoEvidence,
    Json,
    Learners,
    RunTimeout,
    Seed,
    Showing,
    Shown,
    ShownPlain,
    TimeLimit,
    Verbose,
    Where,
    argument,
    given,
    jobs,
    of,
)
from dpaudit.app.streams import notify, output, say, wants_color, width_of, written
from dpaudit.audit.options import Options
from dpaudit.errors import InputError
from dpaudit.report.numbers import plural

if TYPE_CHECKING:
    from dpaudit.evidence.outcome import Outcome
    from dpaudit.evidence.plan import Plan
    from dpaudit.evidence.records import Run
    from dpaudit.evidence.store import Store
    from dpaudit.evidence.verification import Verified
    from dpaudit.report.terminal import Lines


class RunOptions(NamedTuple):
    """The options of ``dpaudit run`` on the work."""

    ids: Annotated[tuple[str, ...], argument("[ID]...")]
    profile: Annotated[
        str,
        given(
            "how much work: seconds, minutes, hours (default: default)", "default", choices=["quick", "default", "full"]
        ),
    ]
    out: Annotated[str, given("where to", metavar="DIR", default="reports/latest")]
    resume: Annotated[bool, given("go on with the run in DIR (default: start afresh)")]
    timeout: RunTimeout
    time_limit: TimeLimit
    trials: Annotated[int | None, given("runs a side in the black-box audits (default: the profile's)")]
    confidence: Annotated[float, of(Options.confidence, "of each finding")]
    seed: Seed
    n_jobs: Annotated[int, jobs("audits at a time", -1)]
    on: Where
    learners: Learners
    family_wise: Annotated[bool, given(f"{FAMILY_WISE} (default: each claim by itself)")]

    def words(self, out: str, *more: str) -> str:
        """Return the command that makes the same results in a folder."""
        words = ["dpaudit", "run", *dict.fromkeys(self.ids)]
        given = {
            "profile": self.profile,
            "seed": self.seed,
            "confidence": self.confidence,
            "trials": self.trials,
            "timeout": self.timeout,
            "time_limit": self.time_limit,
        }
        for name, value in given.items():
            if value is not None:
                words += option_words(here(), name, value)
        for path in self.learners:
            words += ["--learners", path]
        if self.family_wise:
            words.append("--family-wise")
        return shlex.join([*words, *more, "--out", out])


_Html = Annotated[bool, given("write report.html (default: --html)", default=True, names=("--html/--no-html",))]


@command("run", "dpaudit run point-exponential --profile quick --out reports/points")
def run(asked: RunOptions, html: _Html, shown: Annotated[Shown, Showing(without=("out", "learners"))]) -> int:
    """Audit learners on their examples: exactly, by running them, and for utility (default: all, with controls).

    Without ids it checks the statements of the papers too. Writes DIR/run.jsonl, DIR/report.json and DIR/report.html
    and prints a summary. Every result is stored as it comes: after a kill, the same command with --resume goes on and
    ends with the same bytes. In the end run.jsonl is sealed: `dpaudit verify DIR` checks whether anything in it was
    changed since. Without --resume a run starts afresh and keeps the old run.jsonl as run.jsonl.bak. A positive control
    that no audit detects counts as a violation: it shows that the audits are blind to its leak.
    """
    from msgspec import UNSET

    from dpaudit.evidence.plan import make_plan
    from dpaudit.evidence.records import Header
    from dpaudit.evidence.store import FILENAME, Store
    from dpaudit.evidence.subjects import subjects_of
    from dpaudit.evidence.verification import sources
    from dpaudit.files import locked_folder
    from dpaudit.seeding import check_seed

    # Before learners are loaded, which runs their modules.
    check_seed(asked.seed)
    registry = find_learners(asked.learners)
    entries = [registry.get(id) for id in dict.fromkeys(asked.ids)] or registry.entries
    # Statements are checked beside all learners; without these they have a command of their own.
    statements = registry.statements
    if asked.ids:
        statements = ()
    plan = make_plan(
        entries,
        profile=asked.profile,
        confidence=asked.confidence,
        trials=asked.trials,
        statements=statements,
        timeout=asked.timeout,
        time_limit=asked.time_limit,
    )
    for line in plan.notes:
        notify("note", line)
    if not plan.tasks:
        why = "; ".join(f"{fault.learner}: {fault.error}" for fault in plan.faults)
        raise InputError(why or "there is nothing to audit")
    # A run is resumed only by the code that began it, whose digests stand in the header.
    modules = {entry.learner.__module__ for entry in entries}
    modules |= {str(getattr(statement.check, "__module__", "")) for statement in statements}
    header = Header(
        plan=plan.planned,
        seed=asked.seed,
        profile=asked.profile,
        # Always the same folder, so that where a run was written changes no byte of it; none that `run` writes to by
        # default, so that the command can be pasted beside the report.
        command=asked.words("reports/remade"),
        faults=plan.faults,
        controls={entry.id: entry.fault for entry in entries if entry.fault is not None},
        sources=sources(modules, asked.learners),
        subjects=subjects_of((entry.id for entry in entries), paths=asked.learners),
        family_wise=1 - asked.confidence if asked.family_wise else UNSET,
    )
    path = Path(asked.out) / FILENAME
    # Two runs in one folder would mix their lines.
    with locked_folder(path.parent):
        if asked.resume:
            store = Store.resume(path, header)
        else:
            store = Store.start(path, header)
        try:
            _execute(asked, shown, plan, store)
            # Only a run that came to its end is sealed; an interrupted one goes on with --resume.
            store.finish()
            return _report(html, shown, path)
        except KeyboardInterrupt as stop:
            made = f"after {len(store.done)} of {len(plan.tasks)} audits"
            stop.add_note(f"{made}; their results are kept in {store.path}")
            stop.add_note(asked.words(asked.out, "--resume"))
            raise


def _execute(asked: RunOptions, shown: Shown, plan: Plan, store: Store) -> None:
    from dpaudit.evidence.execute import Progress, execute

    records = execute(
        plan.tasks,
        seed=asked.seed,
        done=frozenset(store.done),
        paths=asked.learners,
        n_jobs=asked.n_jobs,
        backend=asked.on.backend or "loky",
        address=asked.on.address,
    )
    stream = None if shown.quiet else sys.stderr
    progress = Progress(stream, len(plan.tasks), len(store.done))
    # An error or an interrupt ends the workers at once.
    with progress, closing(records):
        for record in records:
            # Stored before it is shown: what was counted is never lost.
            store.append(record)
            progress(record)


def _report(html: bool, shown: Shown, path: Path) -> int:
    from dpaudit.evidence.outcome import outcome
    from dpaudit.evidence.store import load_run

    run = load_run(path)
    found = outcome(run)
    if shown.json:
        say(rendered(run, "json"))
    else:
        say(_on_console(run, shown.verbose))
    _show_faults(run, found)
    status = found.allowed_status if shown.allow_no_evidence else found.status
    made = [path]

    def write(place: Path) -> None:
        write_report(run, str(place))
        made.append(place)

    forms = ["json"]
    if html:
        forms.append("html")
    for form in forms:
        # A report that cannot be written can be made again from the run, whose results are kept.
        status = written(status, partial(write, path.with_name(f"report.{form}")))
    notify("note", f"wrote {', '.join(map(str, made))}")
    return status


@command("report", "dpaudit report reports/latest --out report.html")
def report(
    path: Annotated[str, argument("PATH")],
    format: Annotated[
        str | None,
        given(
            "what to render (default: what the suffix of --out says, else console)",
            choices=["console", *(suffix[1:] for suffix in FORMS)],
        ),
    ],
    out: Annotated[str | None, given("where to (default: standard output)", metavar="FILE")],
    json: Json,
    verbose: Verbose,
    allow_no_evidence: AllowNoEvidence,
) -> int:
    """Render stored results as text, JSON or HTML without running anything; the exit status is that of the results.

    PATH is a run (a folder, or run.jsonl) or its report.json. Bounds and verdicts are shown as they are stored:
    `dpaudit verify` derives them from the counts again.
    """
    from dpaudit.evidence.outcome import outcome
    from dpaudit.evidence.store import load_run
    from dpaudit.files import write_file
    from dpaudit.report.json import run_in

    suffix = "json" if json else format
    if suffix is None:
        suffix = "console"
        if out is not None:
            suffix = suffix_of(out)
    # A report in JSON holds its run whole.
    stored = Path(path)
    if stored.suffix == ".json" and stored.is_file():
        run = run_in(stored.read_bytes(), path)
    else:
        run = load_run(path)
    found = outcome(run)
    if suffix == "console":
        text = _on_console(run, verbose)
    else:
        text = rendered(run, suffix)
    status = found.allowed_status if allow_no_evidence else found.status
    if out is None:
        say(text)
    else:
        # A file that the user names: links are followed, and /dev/stdout is written to.
        status = written(status, lambda: write_file(out, text.encode()))
    if found.missing:
        notify("note", f"{len(found.missing)} of {len(run.header.plan)} audits have no result; `--resume` goes on")
    _show_faults(run, found)
    return status


def _on_console(run: Run, verbose: bool) -> str:
    from dpaudit.report import console

    color = wants_color()
    if verbose:
        return console.full(run, color)
    return console.render(run, color, width_of(output()))


def _show_faults(run: Run, found: Outcome) -> None:
    failed = [(failure.task, failure.error) for failure in run.failures]
    for name, error in [*failed, *((fault.learner, fault.error) for fault in found.faults)]:
        notify("fault", f"{name}: {error}")


@command("verify", "dpaudit verify reports/latest --again 3", PLAIN)
def verify(
    path: Annotated[str, argument("PATH")],
    again: Annotated[int | None, given("do K tasks again", metavar="K")],
    total: Annotated[str | None, given("the total that the run must have (default: any)", metavar="T")],
    n_jobs: Annotated[int, jobs("processes for each task that is done again", 1)],
    shown: ShownPlain,
) -> int:
    """Check that nothing in a stored run was changed since it was made, or that a finding follows from its counts.

    PATH is the folder of a run, or a .json file with a finding that was saved or a certificate. Bounds and verdicts
    are derived from the counts again: a seal has no key, so a file that was forged can be sealed again. Power, exact
    laws and bets are named and not derived; the status of a file is 3 if nothing else decides. Of a run the digest of
    every line, the total of the seal, types and the plan are checked too. --total compares with a total that was
    published elsewhere, and --again does some tasks, chosen at random, once more. The status is 0 for a sealed run in
    which all is right, 2 if anything is not, 3 for a run that is not sealed.
    """
    from dpaudit.contract import OPEN
    from dpaudit.evidence.verification import verify_file, verify_run

    # A finding or a certificate; a run is a folder.
    if Path(path).suffix == ".json" and Path(path).is_file():
        # A single file has no tasks and no total.
        for name, value in (("again", again), ("total", total)):
            if value is not None:
                raise InputError("{" + name + "} is for the folder of a run", names=(name,))
        file = verify_file(path)
        label = "NOT DECIDED"
        status = OPEN
        if file.decided:
            label = "RIGHT"
            status = 0
        lines = [(label, f"{path}: {file.said}")]
        return show_lines(shown, lines, file, title=f"dpaudit: the counts of {path}", status=status)
    found = verify_run(path, total=total, again=again, paths=shown.learners, n_jobs=n_jobs, progress=not shown.quiet)
    status = OPEN
    if found.state == "sealed":
        status = 0
    return show_lines(shown, _lines(found), found, title=f"dpaudit: the seal of {found.path}", status=status)


def _lines(found: Verified) -> Lines:
    held = f"{plural(found.results, 'result')} in {found.path}"
    counted = [(found.failures, "failed"), (found.missing, "not done")]
    held += "".join(f", {number} {what}" for number, what in counted if number)
    if found.state == "sealed":
        lines = [("SEALED", f"{held}: nothing was changed since"), ("total", found.total)]
    else:
        lines = [("NOT SEALED", f"{held}: the run is not finished, so that lines may be missing; no line was changed")]
    left = ", ".join(f"{name} ({number})" for name, number in found.not_recomputed.items())
    rest = ""
    if left:
        rest = f"; not recomputed: {left}"
    lines.append(("recomputed", f"bounds and verdicts follow from the counts that are stored{rest}"))
    if again := len(found.again):
        # With other versions, or randomness of its own, a task must give the same verdict only.
        same = sum(not one.differences for one in found.again)
        rest = ""
        if same < again:
            rest = f", {again - same} with the same verdict"
        lines.append(("again", f"{plural(again, 'task')} done again: {same} with the same bytes{rest}"))
    lines.append(("not read", "report.json and report.html in the same folder; `dpaudit report` writes them again"))
    lines += [("changed", text) for text in found.changed]
    return lines + [("differs", f"{one.task}: {text}") for one in found.again for text in one.differences]

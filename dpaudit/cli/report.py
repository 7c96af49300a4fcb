"""``dpaudit report`` and ``dpaudit verify``: a stored run is rendered again, or checked for changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from dpaudit.cli.audits import check_out, rendered, show_plain, suffix_of, terminal_text
from dpaudit.cli.command import command
from dpaudit.cli.options import FORMS, PLAIN, AllowNoEvidence, Color, Json, ShownPlain, Verbose, argument, given, jobs
from dpaudit.cli.streams import output, say, tell, wants_color, width_of

if TYPE_CHECKING:
    from dpaudit.engine.outcome import Outcome
    from dpaudit.engine.records import Run
    from dpaudit.engine.verification import Verified
    from dpaudit.report.terminal import Lines

__all__ = ["report", "show_faults", "shown_run", "verify"]


class Rendering(NamedTuple):
    """The options of ``dpaudit report``."""

    format: Annotated[
        str | None,
        given(
            "what to render (default: what the suffix of --out says, else console)",
            choices=["console", *(suffix[1:] for suffix in FORMS)],
        ),
    ]
    out: Annotated[str | None, given("where to (default: standard output)", metavar="FILE")]
    json: Json
    verbose: Verbose
    color: Color
    allow_no_evidence: AllowNoEvidence


@command("report", "dpaudit report reports/latest --out report.html")
def report(path: Annotated[str, argument("PATH")], shown: Rendering) -> int:
    """Render stored results as text, JSON or HTML without running anything; the exit status is that of the results."""
    from dpaudit.engine.files import write_atomically
    from dpaudit.engine.outcome import outcome
    from dpaudit.engine.store import load_run

    suffix = "json" if shown.json else shown.format
    if suffix is None and shown.out is not None:
        suffix = suffix_of(shown.out)
    run = load_run(path)
    found = outcome(run)
    plain = suffix in (None, "console")
    text = shown_run(run, shown.verbose, shown.color) if plain else rendered(run, str(suffix))
    if shown.out is None:
        say(text)
    else:
        write_atomically(Path(shown.out), text.encode())
    if found.missing:
        tell("note", f"{len(found.missing)} of {len(run.header.plan)} audits have no result; `--resume` goes on")
    show_faults(run, found)
    return found.allowed_status if shown.allow_no_evidence else found.status


def shown_run(run: Run, verbose: bool, color: str) -> str:
    """Return a run as it is shown on the console: a summary, or all of it if that was asked for."""
    from dpaudit.report import console

    if verbose:
        return console.full(run, wants_color(color))
    return console.render(run, wants_color(color), width_of(output()))


def show_faults(run: Run, found: Outcome) -> None:
    """Report on stderr which tasks and learners have no result, and why."""
    failed = [(failure.task, failure.error) for failure in run.failures]
    for name, error in [*failed, *((fault.learner, fault.error) for fault in found.faults)]:
        tell("fault", f"{name}: {error}")


class Verifying(NamedTuple):
    """The options of ``dpaudit verify`` on what is verified."""

    again: Annotated[int | None, given("do K tasks again", metavar="K")]
    total: Annotated[str | None, given("the total that the run must have (default: any)", metavar="T")]
    n_jobs: Annotated[int, jobs("processes for each task that is done again", 1)]


@command("verify", "dpaudit verify reports/latest --again 3")
def verify(path: Annotated[str, argument("DIR")], asked: Verifying, shown: ShownPlain) -> int:
    """Check that nothing in a stored run was changed since it was made.

    That is the digest of every line, the total of the seal, types, and consistency (a verdict agrees with its bound
    and its claim, counts with runs). --total compares with a total that was published elsewhere, and --again does
    some tasks, chosen at random, once more. The status is 0 for a sealed run in which all is right, 2 if anything
    is not, 3 for a run that is not sealed.
    """
    from dpaudit.engine.outcome import OPEN
    from dpaudit.engine.records import State
    from dpaudit.engine.tasks import canonical
    from dpaudit.engine.verification import verify_run
    from dpaudit.record import encodable
    from dpaudit.report.terminal import laid_out

    check_out(shown.out, PLAIN)
    found = verify_run(path, **asked._asdict(), paths=shown.learners, progress=not shown.quiet)
    lines = _lines(found)
    parts = {"title": f"dpaudit: the seal of {found.path}", "json": f"{canonical(encodable(found))}\n"}
    show_plain(shown.json, shown.out, terminal_text(lines, shown.color), text=laid_out(lines), lines=lines, **parts)
    return 0 if found.state == State.SEALED else OPEN


def _lines(found: Verified) -> Lines:
    from dpaudit.engine.records import State
    from dpaudit.report.numbers import plural

    why = {
        State.OPEN: "the run is not finished, so that lines may be missing; no line was changed",
        State.NEVER: "it was written by an earlier version, which made no seals",
    }
    held = f"{plural(found.results, 'result')} in {found.path}"
    counted = [(found.failures, "failed"), (found.missing, "not done")]
    held += "".join(f", {number} {what}" for number, what in counted if number)
    if found.state == State.SEALED:
        lines = [("SEALED", f"{held}: nothing was changed since"), ("total", found.total)]
    else:
        lines = [("NOT SEALED", f"{held}: {why[found.state]}")]
    if found.again:
        same = sum(not one.differences for one in found.again)
        again = f"{plural(len(found.again), 'task')} done again: {same} with the same bytes"
        rest = "" if same == len(found.again) else f", {len(found.again) - same} with the same verdict"
        lines.append(("again", again + rest))
    lines += [("changed", text) for text in found.changed]
    lines += [("differs", f"{one.task}: {text}") for one in found.again for text in one.differences]
    return lines

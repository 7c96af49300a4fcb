"""The command that verifies a stored run."""

from __future__ import annotations

from dpaudit.cli.text_output import check_plain, show_plain, write_plain
from dpaudit.cli.verb import Given
from dpaudit.engine.outcome import OPEN
from dpaudit.engine.records import State
from dpaudit.engine.tasks import canonical
from dpaudit.engine.verification import Verified, verify_run
from dpaudit.record import encodable
from dpaudit.report.numbers import plural
from dpaudit.report.plain import Plain
from dpaudit.report.terminal import Lines, laid_out

__all__ = ["command"]


def command(args: Given) -> int:
    """Verify and return the status: what is wrong is an error; what is not sealed could not be verified."""
    check_plain(args.out)
    found = verify_run(
        args.path,
        total=args.total,
        signers=args.signers,
        again=args.again,
        paths=args.learners,
        n_jobs=args.n_jobs,
        progress=not args.quiet,
    )
    told, lines = canonical(encodable(found)) + "\n", _lines(found)
    show_plain(args, told, lines)
    write_plain(args.out, lambda: Plain(f"dpaudit: the seal of {found.path}", told, laid_out(lines), lines))
    return 0 if found.state == State.SEALED else OPEN


def _lines(found: Verified) -> Lines:
    held = f"{plural(found.results, 'result')} in {found.path}"
    counted = [(found.failures, "failed"), (found.missing, "not done")]
    held += "".join(f", {number} {what}" for number, what in counted if number)
    if found.state == State.SEALED:
        lines = [("SEALED", f"{held}: nothing was changed since"), ("total", found.total)]
    else:
        lines = [("NOT SEALED", f"{held}: {_WHY[found.state]}")]
    if found.signer:
        lines.append(("signed", f"by {found.signer}"))
    if found.again:
        lines.append(("again", _again_words(found)))
    lines += [("changed", text) for text in found.changed]
    lines += [("differs", f"{one.task}: {text}") for one in found.again for text in one.differences]
    return lines


_WHY = {
    State.OPEN: "the run is not finished, so that lines may be missing; no line was changed",
    State.NEVER: "it was written by an earlier version, which made no seals",
}


def _again_words(found: Verified) -> str:
    same = sum(not one.differences for one in found.again)
    told = f"{plural(len(found.again), 'task')} done again: {same} with the same bytes"
    return told if same == len(found.again) else f"{told}, {len(found.again) - same} with the same verdict"

"""The commands of a project: ``dpaudit new``, ``check`` and ``diff``."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from dpaudit.app.audits import json_lines, rendered, run_of, show_plain, terminal_text, write_report
from dpaudit.app.command import command
from dpaudit.app.options import (
    FAMILY_WISE,
    FORMS,
    PLAIN,
    AllowNoEvidence,
    Config,
    Out,
    Quiet,
    RunTimeout,
    ShownOut,
    TimeLimit,
    Where,
    argument,
    given,
    jobs,
    json_each,
)
from dpaudit.app.streams import complain, notify, output, say, wants_color, width_of, written
from dpaudit.errors import InputError
from dpaudit.escaping import printable
from dpaudit.progress import Line, duration
from dpaudit.report.numbers import plural

if TYPE_CHECKING:
    from dpaudit.app.check import Checked
    from dpaudit.evidence.records import Run


@command("new", "dpaudit new mechanism noisy_mean")
def new(
    kind: Annotated[Literal["mechanism", "learner"], argument("mechanism|learner", choices=["mechanism", "learner"])],
    name: Annotated[str, argument("NAME")],
) -> int:
    """Write NAME.py with a mechanism or a learner, its test for pytest, and its audit.

    The test is test_NAME.py, the audit an entry in audit.toml (or in the pyproject.toml that has the audits). The
    mechanism claims epsilon 1 and adds the noise for 2: its audit and its test fail until you correct it. Nothing is
    overwritten.
    """
    from dpaudit.app.settings import begin

    # The last file is the settings, which may have been there before.
    *written, settings = (path.name for path in begin(kind, name))
    if kind == "mechanism":
        place = f"{name}.py:{name}"
        claim = " --epsilon 1"
    # A learner states its own claim.
    else:
        place = f"{name}.py:LEARNER"
        claim = ""
    lines = [
        ("wrote", f"{' and '.join(written)}; the audit {name} is in {settings}"),
        ("next", f"dpaudit privacy {place}{claim}"),
        ("expect", "a violation: it claims epsilon 1 and adds the noise for 2; the file says how to fix it"),
    ]
    say(terminal_text(lines))
    return 0


class CheckOptions(NamedTuple):
    """The options of ``dpaudit check``."""

    names: Annotated[tuple[str, ...], argument("[NAME]...")]
    config: Config
    dry_run: Annotated[
        bool, given("run each mechanism a few times and estimate how long the audits take (default: audit)")
    ]
    timeout: RunTimeout
    time_limit: TimeLimit
    json: Annotated[bool, json_each("audit")]
    out: Out
    quiet: Quiet
    n_jobs: Annotated[int, jobs("processes, of audits side by side, or of one", 1)]
    on: Where
    allow_no_evidence: AllowNoEvidence
    family_wise: Annotated[bool | None, given(f"{FAMILY_WISE} (default: what the settings say)")]

    def words(self, names: Sequence[str]) -> str:
        """Return the command that checks some audits."""
        words = ["dpaudit", "check", *names]
        if self.family_wise is not None:
            words.append("--family-wise" if self.family_wise else "--no-family-wise")
        if self.config is not None:
            words += ["--config", self.config]
        return shlex.join(words)


@command("check", "dpaudit check", FORMS)
def check(asked: CheckOptions) -> int:
    """Audit every mechanism of a project and show one table.

    The audits are tables [[audit]] in audit.toml, or [[tool.dpaudit.audit]] in pyproject.toml, of this folder or one
    above it, with name, mechanism (FILE.py:function, a module or a learner's id), epsilon, pairs (default: the PAIRS
    beside the function) or data with bounds and unit, and what else `dpaudit privacy` takes. An accepted violation
    has accepted = { reason = "...", date = 2026-01-31, epsilon = 2 } and is reported, without the status 1, up to
    that epsilon. Each true claim is accused with probability 1 - confidence at most; with family_wise = true in the
    settings that is the chance that a check accuses any. The last two whole checks are kept in .dpaudit, and `dpaudit
    diff` compares them.
    """
    from dpaudit.app.kept import keep
    from dpaudit.app.settings import find_settings
    from dpaudit.contract import exit_status

    if asked.config is None:
        settings = find_settings()
    else:
        settings = Path(asked.config)
    if asked.dry_run:
        return _estimated(settings, asked)
    checked = _checked(settings, asked)
    # Printed before any file is written: what cannot be written changes nothing of what was found.
    say(_rows_text(checked, asked, settings))
    status = exit_status((one.row.verdict for one in checked), allow_open=asked.allow_no_evidence)
    if (out := asked.out) is not None:
        status = written(status, lambda: write_report(_run(asked, settings, checked), out))

    def keep_check() -> None:
        kept = keep(rendered(_run(asked, settings, checked), "json"), settings.resolve().parent)
        notify("note", f"kept in {kept}; dpaudit diff compares it with the check before")

    # A part of the audits is no check to compare others with.
    if not asked.names:
        status = written(status, keep_check)
    return status


def _checked(settings: Path, asked: CheckOptions) -> list[Checked]:
    """Return what was found, in the order of the settings; an interruption shows what there is until then."""
    from dpaudit.app import check as checks
    from dpaudit.app.check import among_all
    from dpaudit.app.settings import read_project

    line = Line(sys.stderr, "audits")

    def show(done: int, total: int, name: str, share: float) -> None:
        if asked.quiet:
            return
        if done < total:
            line(done, total, f"{name} {share:.0%}", share)
        else:
            line(done, total, "", 0.0)

    chosen = [audit.name for audit in read_project(settings).chosen(asked.names)]
    checked: list[Checked] = []
    try:
        for one in checks.check(
            settings,
            asked.names,
            n_jobs=asked.n_jobs,
            backend=asked.on.backend,
            address=asked.on.address,
            listener=show,
            alone=True,
            timeout=asked.timeout,
            time_limit=asked.time_limit,
            family_wise=asked.family_wise,
        ):
            # One by one, so that an interrupted check loses those under way at most.
            checked.append(one)
            # Audits side by side end in any order.
            checked.sort(key=lambda one: chosen.index(one.row.name))
    except KeyboardInterrupt as stop:
        line.end()
        # Those that were not made count among the claims all the same.
        checked = among_all(settings, checked, len(chosen), asked.family_wise)
        if checked:
            say(_rows_text(checked, asked, settings))
        # The first note says what there is, the next one is the command that makes the rest.
        stop.add_note(f"after {len(checked)} of {len(chosen)} audits, which the table shows")
        done = {one.row.name for one in checked}
        stop.add_note(asked.words([name for name in chosen if name not in done]))
        raise
    finally:
        line.end()
    return among_all(settings, checked, len(chosen), asked.family_wise)


def _rows_text(checked: Sequence[Checked], asked: CheckOptions, settings: Path) -> str:
    from dpaudit.app.check import family_error
    from dpaudit.app.comparison import check_text
    from dpaudit.app.settings import read_project
    from dpaudit.report.words.claims import family_promise

    rows = [one.row for one in checked]
    if asked.json:
        return json_lines(rows)
    project = read_project(settings)
    error = family_error(project, asked.family_wise)
    promise = ""
    if error is not None:
        # Those that were not made, as after an interruption, count too.
        promise = family_promise(error, len(project.chosen(asked.names)))
    return check_text(rows, wants_color(), width_of(output()), promise)


def _run(asked: CheckOptions, settings: Path, checked: Sequence[Checked]) -> Run:
    """Return a check as a run; several audits of one mechanism are distinguished by their names."""
    from msgspec.structs import replace

    from dpaudit.app.check import family_error
    from dpaudit.app.comparison import accepted_words
    from dpaudit.app.settings import read_project
    from dpaudit.contract import TaskVerdict
    from dpaudit.evidence.records import Fault, Listed, Result

    project = read_project(settings)
    often = Counter(audit.mechanism for audit in project.audit)
    labels = {}
    for audit in project.audit:
        labels[audit.name] = audit.mechanism
        # A run has results by learner, so that audits of one mechanism need names of their own there.
        if often[audit.mechanism] > 1:
            labels[audit.name] += f" ({audit.name})"
    results: list[Result] = []
    faults: list[Fault] = []
    listed: dict[str, Listed] = {}
    for row, found in checked:
        label = labels[row.name]
        accepted = ""
        if row.verdict == TaskVerdict.ACCEPTED:
            accepted = accepted_words(row)
        listed[label] = Listed(row.name, accepted)
        results += [replace(one, learner=label, task=f"{label}/{one.task}", index=len(results)) for one in found]
        if row.verdict == TaskVerdict.FAILED:
            # An audit that raised is in the report with its error, and no result.
            faults.append(Fault(label, row.why))
    audited = [row.mechanism for row, _ in checked]
    root = settings.resolve().parent
    run = run_of(results, project.seed, asked.words(asked.names), faults, listed, audited=audited, root=root)
    error = family_error(project, asked.family_wise)
    if error is None:
        return run
    return replace(run, header=replace(run.header, family_wise=error))


def _estimated(settings: Path, asked: CheckOptions) -> int:
    from dpaudit.app.check import estimate

    found = estimate(settings, asked.names)
    # An audit that cannot be prepared has its error in the place of a time.
    times = {name: seconds for name, seconds in found.items() if not isinstance(seconds, str)}
    width = max(map(len, found))
    say("".join(f"{printable(name).ljust(width)}  about {duration(seconds)}\n" for name, seconds in times.items()))
    say(f"{'all'.ljust(width)}  about {duration(sum(times.values()))} for the runs, one after the other\n")
    for name, error in found.items():
        if isinstance(error, str):
            complain("FAILED", f"{name}: {error}")
    if len(times) < len(found):
        return 2
    return 0


@command("diff", "dpaudit diff reports/before reports/after", PLAIN)
def diff(
    paths: Annotated[tuple[str, ...], argument("[OLD NEW]")],
    json: Annotated[bool, json_each("change")],
    out: ShownOut,
) -> int:
    """Compare what is stored at two places and report what got worse, with status 1 if anything did.

    Worse is a graver verdict, a weaker claim, a larger epsilon, a leak that would not be caught any more, or a
    mechanism that is not checked any more; what changed in one audit is one row. OLD and NEW are runs (a folder,
    run.jsonl or report.json), files that `dpaudit check --out FILE.json` wrote, or findings that were saved; without
    them the last two checks of this project are compared. Bounds that differ by less than a tenth count as equal.
    """
    from dpaudit.app.comparison import CHANGES, change_cells, changes_text, compare, read_rows
    from dpaudit.app.kept import BEFORE, FOLDER, LAST
    from dpaudit.app.settings import find_settings

    if len(paths) not in (0, 2):
        raise InputError("give OLD and NEW, or neither for the last two checks of this project")
    if not paths:
        root = find_settings().parent
        # The last two whole checks, the older one first.
        paths = (str(root / BEFORE), str(root / LAST))
        # The first check has nothing to be compared with.
        if not (root / BEFORE).is_file():
            number = "no check"
            if (root / LAST).is_file():
                number = "one check"
            raise InputError(f"there is {number} in {root / FOLDER}: run `dpaudit check` again, or give OLD and NEW")
    changes = compare(*map(read_rows, paths))
    # A change that is neither better nor worse counts as no harm.
    worse = sum(bool(change.worse) for change in changes)
    status = 0
    label = "NOT WORSE"
    if worse:
        status = 1
        label = "WORSE"
    return show_plain(
        json,
        out,
        changes_text(changes, wants_color(), width_of(output())),
        status=status,
        title="dpaudit: what changed",
        json=json_lines(changes),
        text=changes_text(changes),
        lines=[(label, f"{plural(len(changes), 'change')}, {worse} for the worse")],
        heads=["", *(column.text for column in CHANGES[1:])],
        rows=[change_cells(change) for change in changes],
    )

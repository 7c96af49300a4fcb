"""Verifies a stored run: its seal, its consistency, its code, and some of its tasks by doing them again."""

from __future__ import annotations

import json
import secrets
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from dpaudit import verify_certificate, verify_finding
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.certificate_grammar import parsed
from dpaudit.errors import InputError, ToolFault, place_of
from dpaudit.evidence.perform import perform
from dpaudit.evidence.records import Header, Result, State
from dpaudit.evidence.store import Stored, find_run, read_stored
from dpaudit.evidence.tasks import PrivacyArguments, Task
from dpaudit.progress import Progress, followed
from dpaudit.record import Count, Frozen, as_json, decode, encodable
from dpaudit.registry import PRIVATE, load
from dpaudit.results import versions
from dpaudit.running.processes import ChildDied
from dpaudit.running.worker_code import digest_of
from dpaudit.running.workers import in_own_process

# Runs stored by earlier versions do not name the versions of these libraries.
_NAMED_LATER = ("joblib", "pandas")

# The most differences of a task that are shown.
_MOST = 4

# A report is made of a run or of findings, and holds numbers that were rounded or put together.
_A_REPORT = (
    "it is a report, which `dpaudit report` makes again; what can be verified is the folder of a run (dpaudit run), "
    "a finding that was saved (finding.save(path) in Python) or a certificate (dpaudit privacy --certificate FILE)"
)


class Again(Frozen, frozen=True):
    """A task that was done again, with what is not as it is stored: nothing where all bytes are the same."""

    task: str
    differences: tuple[str, ...]


class Verified(Frozen, frozen=True, kw_only=True):
    """A run that was verified; anything wrong is an exception instead.

    `total` is that of a sealed run, empty for any other. Of the planned tasks `results` have one, `failures` failed,
    and `missing` have neither. `again` are those that were done again; `changed` is what is not as it was when the run
    was made, versions and code: equal bytes are not asked for then. `not_recomputed` is what the verifier did not
    derive from the counts of the results, and in how many of them.
    """

    path: str
    state: State
    total: str
    results: Count
    failures: Count
    missing: Count
    again: tuple[Again, ...] = ()
    changed: tuple[str, ...] = ()
    not_recomputed: dict[str, Count] = msgspec.field(default_factory=dict)


class VerifiedFile(Frozen, frozen=True, kw_only=True):
    """A finding or a certificate whose bound and verdict follow from its counts; anything wrong is an exception.

    `decided` says whether the file alone shows that; `said` is what the verifier says.
    """

    path: str
    decided: bool
    said: str


def verify_file(path: Path | str) -> VerifiedFile:
    """Return what the verifier says of a finding that was saved, or of a certificate.

    `InputError` if the file holds neither; `ToolFault` if its bound or its verdict is not what its counts give.
    """
    # By modules that need the standard library alone, which anybody can run without this command.
    data = Path(path).read_bytes()
    try:
        stored = parsed(data)
        kind = None
        if isinstance(stored, dict):
            kind = stored.get("kind")
            if stored.get("record") == "report":
                raise ValueError(_A_REPORT)
        if kind is None:
            raise ValueError("it is neither a finding nor a certificate")
        verifier = verify_certificate if kind == "certificate" else verify_finding
        status, said = verifier.verify(data)
    except json.JSONDecodeError as error:
        raise InputError(f"{path} cannot be verified: it is no JSON, or a part of it is missing: {error}") from None
    except ValueError as error:
        raise InputError(f"{path} cannot be verified: {error!s:.300}") from None
    except (TypeError, LookupError, RecursionError, ArithmeticError) as error:
        reason = f"a field is missing or holds something of another kind ({type(error).__name__}: {error!s:.100})"
        raise InputError(f"{path} cannot be verified: it is not as dpaudit writes it: {reason}") from None
    if status == 1:
        raise ToolFault(f"{path}: {said}")
    return VerifiedFile(path=str(path), decided=status == 0, said=said)


def verify_run(
    path: Path | str,
    *,
    total: str | None = None,
    again: int | None = None,
    paths: Sequence[str] = (),
    n_jobs: int = 1,
    progress: Progress = False,
) -> Verified:
    """Return what holds of a stored run, after its digests and types were checked, and its bounds and verdicts derived.

    `total` is the total that was published elsewhere. `again` is the number of tasks, chosen at random, that are done
    again and must give the same bytes; only the same verdict where the mechanism has randomness of its own, its runs
    had a timeout, or versions or code are not those with which the run was made. An audit that a time limit stopped is
    made again with as many runs. `progress` gets how many of them are done, `paths` and `n_jobs` are as for `perform`.
    `InputError` if there is no run, or an argument is out of range; `ToolFault` if anything is not right: the message
    names file and line.
    """
    file = find_run(path)
    stored = read_stored(file)
    run = stored.run
    if again is not None and not 1 <= again <= len(run.results):
        raise InputError.of("again", again, f"in 1..{len(run.results)}, the results of the run")
    wanted = run.seal
    if total is not None:
        wanted = total.strip().lower()
    # A total that was copied in part is bad input, and not an altered run.
    if total is not None and (len(wanted) != 64 or not set(wanted) <= set("0123456789abcdef")):
        raise InputError.of("total", total, "64 hexadecimal digits, as a run prints them at its end")
    if wanted != run.seal:
        reason = f"it is {run.seal}, so it has no total"
        if run.total:
            reason = f"its total is {run.total}, not {wanted}"
        raise ToolFault(f"{file} is not the run of that total: {reason}")
    found = Verified(
        path=str(file),
        state=run.header.state,
        total=run.total,
        results=len(run.results),
        failures=len(run.failures),
        missing=len(run.header.plan) - len(run.results) - len(run.failures),
        not_recomputed=_not_recomputed(file, stored),
    )
    if again is None:
        return found
    changed = tuple(_changes(run.header, run.results, tuple(paths)))
    # From the system and not from a seed of the run: a forger must not know which tasks are done again.
    chosen = sorted(secrets.SystemRandom().sample(run.results, again), key=lambda result: result.index)
    done = []
    with followed(progress, again, "tasks") as report:
        for one in chosen:
            done.append(_again(file, stored, one, bool(changed), tuple(paths), n_jobs))
            if report:
                report(1)
    return replace(found, again=tuple(done), changed=changed)


def _not_recomputed(file: Path, stored: Stored) -> dict[str, int]:
    """Return what of the results does not follow from their counts; `ToolFault` if what does is not what they say."""
    left: Counter[str] = Counter()
    for task, line in stored.lines.items():
        record = json.loads(line)
        if "finding" not in record:  # a failure
            continue
        try:
            left.update(verify_finding.checked(record["finding"]))
        except (ValueError, ArithmeticError) as error:
            raise ToolFault(f"{file}, line {stored.numbers[task]}: {task:.200}: {error}") from None
    return dict(sorted(left.items()))


def _changes(header: Header, results: Sequence[Result], paths: tuple[str, ...]) -> Iterator[str]:
    now = versions()
    for name in sorted({*header.versions, *now} - ({*_NAMED_LATER} - {*header.versions})):
        was = header.versions.get(name, "none")
        found = now.get(name, "none")
        if was != found:
            yield f"{name} {was}, now {found}"
    registry = load(paths)
    modules = set()
    for one in results:
        if one.kind == "ledger":
            modules.add(registry.get_statement(one.learner).check.__module__)
        else:
            modules.add(registry.get(one.learner).learner.__module__)
    code = sources(modules, paths)
    if not header.sources:
        yield "the code, of which the run holds no digest"
    for name, digest in header.sources.items():
        if code.get(name) != digest:
            gone = "" if name in code else ", which is not here"
            yield f"the code of {name}{gone}"


def _again(file: Path, stored: Stored, result: Result, changed: bool, paths: tuple[str, ...], n_jobs: int) -> Again:
    where = f"{file}, line {stored.numbers[result.task]}: {result.task}, done again,"
    given = arguments = result.arguments
    if isinstance(given, PrivacyArguments) and isinstance(result.finding, PrivacyFinding):
        if result.finding.stopped is not UNSET:  # by the clock: as many runs are made as it left
            arguments = replace(given, time_limit=result.finding.stopped)
    task = Task(result.learner, result.parameters, arguments)

    def made() -> bytes:
        try:
            record = perform(task, seed=stored.run.header.seed, paths=paths, n_jobs=n_jobs)
            return as_json(replace(record, task=result.task, arguments=given))
        # A learner that is in none of the paths given says nothing of the stored result.
        except InputError:
            raise
        except (Exception, SystemExit) as error:
            raise ToolFault(f"{where} raised {type(error).__name__}: {error!s:.300} ({place_of(error)})") from error

    try:
        # In a process of its own: a learner may end it, and what comes back is checked as it is read.
        again = decode(in_own_process(made), Result)
    except ChildDied as error:
        raise ToolFault(f"{where} was not made: {error}") from error
    before = _fields(result)
    now = _fields(again)
    differences = list(_differences(before, now, "$"))
    # With randomness of its own, or a limit that a run may reach or not, equal numbers are not promised.
    own = isinstance(given, PrivacyArguments) and (given.randomness == "own" or given.timeout is not None)
    # A verdict must be the same whatever the numbers are.
    alike = before["finding"].get("verdict") == now["finding"].get("verdict")
    if not alike or (differences and not own and not changed):
        raise ToolFault(f"{where} gives something else: {'; '.join(differences[:_MOST])}")
    if (more := len(differences) - _MOST) > 0:
        differences[_MOST:] = [f"and {more} more"]
    return Again(result.task, tuple(differences))


def _fields(result: Result) -> dict[str, Any]:
    """Return the fields of a result without its place and the versions, which are compared once."""
    fields: dict[str, Any] = encodable(replace(result, index=0, digest=""))
    del fields["finding"]["versions"]
    return fields


def _differences(before: Any, now: Any, path: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        for name in {**before, **now}:
            yield from _differences(before.get(name), now.get(name), f"{path}.{name:.60}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for i, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from _differences(one, other, f"{path}[{i}]")
    elif type(before) is not type(now) or before != now:
        yield f"{path} was {before!r:.60}, is {now!r:.60}"


def sources(modules: Iterable[str], paths: Iterable[str] = ()) -> dict[str, str]:
    """Return the digest of each piece of code that a run depends on, by its name.

    These are the packages of the modules that the learners and the claims of the run come from, and the files and
    folders in which the user has learners looked for.
    """
    found: dict[str, list[str]] = {}
    for name in sorted({module.partition(".")[0] for module in (__name__, *modules)}):
        if name.startswith(PRIVATE):  # the user's paths stand below
            continue
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None)
        if file is not None:
            # A package's code may stand in another folder than its __init__.py, as the learners' does in a checkout.
            homes = getattr(module, "__path__", [file])
            found[name] = [digest_of(Path(home)) for home in homes]
    for path in {Path(path).resolve() for path in paths}:
        label = f"{path.name}/" if path.is_dir() else path.name
        found.setdefault(label, []).append(digest_of(path))
    # Two folders of the same name stand as one, whichever was given first.
    return {name: "-".join(sorted(digests)) for name, digests in sorted(found.items())}

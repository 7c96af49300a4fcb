"""Audits the mechanisms of a project, each on its own: one that fails stops no other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from msgspec.structs import replace

from dpaudit.app.rows import ClaimRow, claim_row, failed_row, reason_of
from dpaudit.app.settings import Audit, Project, read_project
from dpaudit.app.subject import Prepared, prepared
from dpaudit.audit.audit import sampler_of
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import HasLaw, Pair, PrivacyVerdict
from dpaudit.errors import DpauditError, InputError, withholding
from dpaudit.evidence.outcome import STATISTICAL, judged
from dpaudit.evidence.records import Result, decoded
from dpaudit.evidence.tasks import Arguments, ExactArguments
from dpaudit.exact.audit import audit_law
from dpaudit.exact.finding import LawFinding
from dpaudit.record import as_json, decode
from dpaudit.running.processes import ChildDied, can_fork, keep_apart
from dpaudit.running.warning_counts import gathered
from dpaudit.running.workers import DASK, Workers, apart, in_own_process

# Called with how many audits are done, of how many, the name of one under way, and the share of those under way.
Listener = Callable[[int, int, str, float], None]

# So long the runs of an estimate take: a dry run of all audits should end at once.
ESTIMATED_SECONDS = 0.2


class Checked(NamedTuple):
    """The row of an audit, and its results as a run stores them: none if it failed."""

    row: ClaimRow
    results: tuple[Result, ...]


def check(
    settings: Path,
    names: Iterable[str] = (),
    *,
    n_jobs: int = 1,
    backend: str | None = None,
    address: str | None = None,
    listener: Listener = lambda *step: None,
    alone: bool = False,
    timeout: float | None = None,
    time_limit: float | None = None,
    family_wise: bool | None = None,
) -> Iterator[Checked]:
    """Audit mechanisms of a project, all by default, and yield each when it is done.

    A mechanism that cannot be audited has a row with the verdict "failed" and the error. No number depends on the
    processes. The limits, in seconds, `timeout` of a run and `time_limit` of an audit, hold where the settings state
    none. With `family_wise`, by default that of the settings, bets go on until they stand among all claims; `among_all`
    then judges what was found. With `alone` each audit is made in a copy of this process, where processes fork, so that
    one which ends its process has failed alone; with several processes, audits are then made side by side, and end in
    another order than that of the settings. `InputError` if the settings are missing or wrong, no audit has one of the
    names, or no scheduler answers at the address.
    """
    project = read_project(settings)
    audits = _limited(project.chosen(names), timeout, time_limit)
    error = family_error(project, family_wise)
    # The error of the strictest test of Holm's procedure.
    strict = None if error is None else error / len(audits)
    # Made here, so that a wrong number or backend is refused before any audit.
    workers = Workers.of(n_jobs, backend, address)
    root = settings.resolve().parent
    own = alone and can_fork()
    if backend == DASK:
        # Asked once: otherwise every audit would wait for a scheduler that does not answer.
        in_own_process(partial(_reach, str(address)))
    at_a_time = 1
    # Other backends have workers of their own, and get one audit after the other.
    if own and backend in (None, "loky"):
        at_a_time = min(workers.number, len(audits))
    # Audits side by side share the processes; one alone has all of them.
    each = n_jobs
    if at_a_time != 1:
        each = workers.number // at_a_time
    make_finding = partial(Prepared.audit, n_jobs=each, backend=backend, address=address)
    shares: dict[str, float] = {}
    done = 0

    def heard(name: str, share: bytes | float) -> None:
        shares[name] = float(share)
        listener(done, len(audits), name, sum(shares.values()))

    def make(emit: Callable[[bytes], None], name: str) -> bytes:
        # An audit is under way from its beginning on, not from its first runs.
        emit(b"0")
        audited = partial(make_finding, progress=lambda made, of: emit(b"%f" % (made / of)))
        return as_json(_checked(audits[name], root, audited, strict))

    def made_apart(emit: Callable[[bytes], None], name: str) -> bytes:
        # A run that ends its process is then reported with its input.
        keep_apart()
        return make(emit, name)

    # A row is decoded from the bytes of a process, or made of the same bytes here: it is the same either way.
    ended: Iterable[tuple[str, bytes | DpauditError]]
    if own:
        ended = apart(made_apart, audits, at_a_time, heard, fresh=True)
    else:
        ended = ((name, make(partial(heard, name), name)) for name in audits)
    for name, one in ended:
        # An audit that ended its process is a row with its error; the others go on.
        if isinstance(one, DpauditError):
            why = f"the audit {one}" if isinstance(one, ChildDied) else str(one)
            yield _failed(audits[name], why)
        else:
            yield Checked(*decode(one, tuple[ClaimRow, tuple[Result, ...]]))
        # The share of what is done counts no more among those under way.
        shares.pop(name, None)
        done += 1
    listener(done, len(audits), "", 1.0)


def family_error(project: Project, family_wise: bool | None) -> float | None:
    """Return the chance of a false alarm of a whole check, or None where each audit has its own."""
    if family_wise is None:
        family_wise = project.family_wise
    if not family_wise:
        return None
    return 1 - project.confidence


def among_all(settings: Path, checked: Sequence[Checked], claims: int, family_wise: bool | None) -> list[Checked]:
    """Return what was found with the verdicts among so many claims; as it is where each audit has its own error.

    Results have the verdicts that their claims have alone, as a run stores them. What raised or was not made counts.
    """
    error = family_error(read_project(settings), family_wise)
    if error is None:
        return list(checked)
    results = [result for one in checked for result in one.results]
    statistical = sum(result.kind in STATISTICAL for result in results)
    found = iter(judged(results, error, max(0, claims - statistical)))
    rows = []
    for one in checked:
        own = [next(found) for _ in one.results]
        row = one.row
        if own != list(one.results):
            row = claim_row(row.name, row.mechanism, own, why=reason_of(own), accepted=row.accepted)
        rows.append(Checked(row, one.results))
    return rows


def _limited(chosen: Iterable[Audit], timeout: float | None, time_limit: float | None) -> dict[str, Audit]:
    """Return audits by name, with these limits where the settings state none."""
    audits: dict[str, Audit] = {}
    for audit in chosen:
        if audit.timeout is None:
            audit = replace(audit, timeout=timeout)
        if audit.time_limit is None:
            audit = replace(audit, time_limit=time_limit)
        audits[audit.name] = audit
    return audits


def estimate(settings: Path, names: Iterable[str] = ()) -> dict[str, float | str]:
    """Return about how many seconds the runs of each audit will take, by its name; the error of one that fails.

    Each mechanism is run on one input for about a fifth of a second. The audit's other work, a second or two, is not
    counted.
    """
    found: dict[str, float | str] = {}
    for audit in read_project(settings).chosen(names):
        try:
            with _prepared(audit, settings.resolve().parent) as subject:
                found[audit.name] = seconds_of(subject)
        except DpauditError as error:
            found[audit.name] = str(error)
    return found


def _reach(address: str) -> bool:
    """Raise `InputError` where no scheduler answers, once for all audits; there no connection is left to be forked."""
    from dpaudit.running.cluster import reach

    return reach(address)


def _prepared(audit: Audit, root: Path) -> AbstractContextManager[Prepared]:
    return prepared(audit.mechanism, audit, audit.seed or 0, root, audit.parameters)


def _stricter(audit: Audit, error: float) -> Audit:
    """Return an audit by bets with at most this error."""
    return replace(audit, sequential=True, confidence=max(audit.confidence or 0.0, 1 - error))


def _checked(
    audit: Audit, root: Path, audited: Callable[[Prepared], PrivacyFinding], strict: float | None
) -> Checked:
    """Return what an audit finds; where it is one of many claims, `strict` is the error of their strictest test.

    Bets end once they refute the claim, so that their error is `strict` from the beginning. Where only the mechanism's
    speed shows that it is bet against, and the claim is refuted, the bets are made again.
    """
    if strict is not None and audit.sequential:
        audit = _stricter(audit, strict)
    results: tuple[Result, ...] = ()
    try:
        with _prepared(audit, root) as subject:
            if audit.exact:
                # Exact evidence first: of what refutes the claim, the row shows the first.
                results = (_exact(audit, subject),)
            finding = audited(subject)
            bet = finding.design == "sequential" and finding.verdict == PrivacyVerdict.VIOLATION
            # Whatever the first p-value is: to choose between two would give the claim two chances of a false alarm.
            if strict is not None and bet and not audit.sequential:
                return _checked(_stricter(audit, strict), root, audited, None)
            results = (*results, _result(audit, subject, subject.arguments(), finding))
    except DpauditError as error:
        return _failed(audit, str(error))
    why = reason_of(results)
    return Checked(claim_row(audit.name, audit.mechanism, results, why=why, accepted=audit.accepted), results)


def _failed(audit: Audit, why: str) -> Checked:
    return Checked(failed_row(audit.name, audit.mechanism, why), ())


def _exact(audit: Audit, subject: Prepared) -> Result:
    """Return the result by exact laws, on all samples if there are few enough, else on the crafted ones."""
    learner = subject.learner
    if learner is None or not isinstance(learner, HasLaw):
        raise InputError(f"exact is for learners with an exact law; {audit.mechanism} has none")
    # All samples only where they can be listed, and where the user gave no pairs.
    every = learner.instance.exhaustive and subject.n is not None
    samples: Literal["all", "crafted"]
    if every:
        samples = "all"
        finding = audit_law(learner, n=subject.n, relation=subject.relation)
    else:
        samples = "crafted"
        finding = audit_law(learner, samples=subject.pairs(), relation=subject.relation)
    n = learner.instance.n if subject.n is None else subject.n
    arguments = ExactArguments(n=n, relation=finding.relation, samples=samples)
    return _result(audit, subject, arguments, finding)


def _result(audit: Audit, subject: Prepared, arguments: Arguments, finding: PrivacyFinding | LawFinding) -> Result:
    codes: dict[str, str] = {}
    if subject.learner is not None:
        codes = decoded(subject.learner, finding)
    return subject.result(audit.mechanism, arguments, finding, audit.parameters, decoded=codes)


def runs_of(subject: Prepared) -> int:
    """Return how many runs an audit makes, on both sides of all its pairs."""
    return 2 * subject.trials


def seconds_of(subject: Prepared) -> float:
    """Return about how long the runs of an audit take, from ever more runs on one side of its first pair."""
    trials = subject.trials
    pairs = subject.pairs()
    runs = 1
    data = pairs[0].data if isinstance(pairs[0], Pair) else pairs[0][0]
    seed = subject.seed
    mechanism = sampler_of(subject.mechanism, seed, batched=subject.options.batched).mechanism
    # An error of a run may name a record, and a warning comes with every run.
    with withholding(subject.withheld), gathered():
        while True:
            rng = np.random.default_rng(seed)
            began = time.perf_counter()
            mechanism(data, rng, runs)
            spent = time.perf_counter() - began
            if spent >= ESTIMATED_SECONDS or runs >= trials:
                return spent / runs * runs_of(subject)
            runs = min(4 * runs, trials)

"""Performs a task: the learner is built and audited, or the statement checked; the finding becomes a record."""

from __future__ import annotations

import inspect
import math
import re
import shlex
import signal
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from types import FrameType
from typing import Any

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from dpaudit.arguments import addressed_parameters_of
from dpaudit.audit.audit import audit_privacy
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.options import Options
from dpaudit.audit.parameters import Dataset, Execution
from dpaudit.contract import (
    ACCUSATIONS,
    Distribution,
    Evidence,
    Grade,
    HasScene,
    Hypothesis,
    Learner,
    Pair,
    Picture,
    Statement,
    StatementVerdict,
    Survives,
    Tools,
)
from dpaudit.errors import InputError, ToolFault
from dpaudit.evidence.records import AnyFinding, LedgerRow, PictureFinding, Result, decoded
from dpaudit.evidence.tasks import (
    AuditOptions,
    ExactArguments,
    LedgerArguments,
    PrivacyArguments,
    Task,
    UtilityArguments,
)
from dpaudit.exact.audit import audit_law
from dpaudit.exact.composition import tabulate
from dpaudit.exact.finding import LawFinding
from dpaudit.exact.supremum import audit_supremum
from dpaudit.jsonable import jsonable
from dpaudit.neighbours.check import check_pairs
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.neighbours.sources import is_source, pairs_at, pairs_of_source, with_examples
from dpaudit.places import Place, send_private
from dpaudit.progress import Progress
from dpaudit.registry import load
from dpaudit.registry.scaling import scaling_law
from dpaudit.seeding import check_seed, generator
from dpaudit.utility.audit import audit_utility
from dpaudit.utility.finding import UtilityFinding
from dpaudit.utility.hard_cases import hard_cases


def perform(
    task: Task,
    *,
    seed: int,
    paths: tuple[str, ...] = (),
    continued: str | None = None,
    n_jobs: int = 1,
    backend: str | None = None,
    address: str | None = None,
    progress: Progress = False,
) -> Result:
    """Run one audit, or check one statement, and return its record.

    The record of an audit also holds the learner's claim and, for a positive control, its fault; that of an audit of
    privacy, the meaning of the outputs that its finding names. `seed` is the root seed of the run, from which the
    audits derive their streams; `paths` are files and folders with learners, besides the installed packages. Audits of
    privacy by runs, and of utility, use `n_jobs` processes, or another backend, all other tasks one process. An audit
    of privacy by runs may be `continued` from a file.
    """
    arguments = task.arguments
    registry = load(paths)
    if isinstance(arguments, LedgerArguments):
        row = check_statement(registry.get_statement(task.learner), paths=paths, time_limit=arguments.time_limit)
        return Result(**task.recorded, finding=row)
    entry = registry.get(task.learner)
    learner = entry.build(**task.parameters)
    if n_jobs != 1 or backend is not None:
        # Workers cannot import the private module of a learner that was loaded from a path.
        send_private(entry.learner.__module__)
    finding: AnyFinding
    if isinstance(arguments, ExactArguments):
        finding = _exact(arguments, learner, progress)
    elif isinstance(arguments, PrivacyArguments):
        if arguments.header is not None:  # of a file, which is read before an audit
            raise InputError("{header} belongs to {data}, which a learner does not take", names=("header", "data"))
        finding = audit_with(
            learner,
            arguments,
            with_examples(arguments.pairs, arguments.n),
            seed=seed,
            n_jobs=n_jobs,
            backend=backend,
            address=address,
            continued=continued,
            progress=progress,
        )
    elif isinstance(arguments, UtilityArguments):
        finding = _utility(arguments, learner, seed, n_jobs, backend, address, progress)
    else:
        finding = draw_picture(learner, arguments.n, arguments.runs, seed)
    meaning = decoded(learner, finding)
    return Result(**task.recorded, finding=finding, fault=entry.fault, claim=learner.privacy, decoded=meaning)


def audit_with(
    mechanism: Any,
    options: AuditOptions,
    pairs: Any = None,
    dataset: Dataset | None = None,
    *,
    seed: int,
    n_jobs: int = 1,
    backend: str | None = None,
    address: str | None = None,
    continued: str | None = None,
    progress: Progress = False,
) -> PrivacyFinding:
    """Return the finding of `audit_privacy` with options by name; inputs are given, however the options name them."""
    return audit_privacy(
        mechanism,
        pairs,
        data=dataset,
        epsilon=options.epsilon,
        delta=options.delta,
        claim=options.curve_claim(),
        relation=options.relation,
        trials=Options.trials.default if options.trials is None else options.trials,
        confidence=Options.confidence.default if options.confidence is None else options.confidence,
        seed=seed,
        batched=options.batched,
        randomness=options.randomness,
        n_jobs=n_jobs,
        timeout=options.timeout,
        look=options.look,
        execution=Execution(
            backend=backend,
            address=address,
            sequential=options.sequential,
            continued=continued,
            time_limit=options.time_limit,
            timeout_is=options.timeout_is,
            progress=progress,
        ),
    )


def _exact(arguments: ExactArguments, learner: Learner, progress: Progress) -> LawFinding:
    relation = arguments.relation
    # Either the pairs are given, or all samples of n examples are taken.
    n: int | None = None
    samples: list[Pair] | None = None
    if (source := arguments.pairs) is not None:
        if is_source(source):
            samples = pairs_of_source(with_examples(source, arguments.n), learner, relation=relation)
        else:
            samples = check_pairs(pairs_at(Place.parse("--pairs", source)), relation)
    elif arguments.samples == "crafted":
        samples = crafted_pairs(learner.domain, arguments.n, relation)
    else:
        n = arguments.n
    finding = audit_law(
        learner, n=n, samples=samples, relation=relation, enclosure=arguments.enclosure, progress=progress
    )
    if arguments.compose is None:
        return finding
    return structs.replace(finding, composition=tabulate(finding.profiles, arguments.compose, finding.grade))


def _utility(
    arguments: UtilityArguments,
    learner: Learner,
    seed: int,
    n_jobs: int,
    backend: str | None,
    address: str | None,
    progress: Progress,
) -> UtilityFinding:
    concept: int | Hypothesis | None = arguments.concept
    noise: NDArray[np.float64] | float | None = arguments.noise
    distribution: Distribution | str = "uniform"
    if arguments.case_index is not None:
        case = hard_cases(learner, arguments.alpha, arguments.setting)[arguments.case_index]
        distribution = case.distribution
        if concept is None:
            concept = case.concept
        if noise is None:
            noise = case.noise
    return audit_utility(
        learner,
        0 if concept is None else concept,
        distribution,
        noise=noise,
        alpha=arguments.alpha,
        beta=arguments.beta,
        n=arguments.n,
        trials=arguments.trials,
        most=arguments.most,
        setting=arguments.setting,
        confidence=arguments.confidence,
        seed=seed,
        n_jobs=n_jobs,
        backend=backend,
        address=address,
        progress=progress,
    )


def draw_picture(learner: Any, n: int, runs: int, seed: int) -> PictureFinding:
    """Return the picture of `runs` outputs of a learner on one sample.

    The sample is that of the learner's `scene(rng)`, if it has one; otherwise n examples from the uniform distribution
    on the domain, labelled by the middle concept. Sample and outputs have addresses of their own below the root seed.
    `ToolFault` if the learner's `picture` returns something other than a `Picture`.
    """
    seed = check_seed(seed)
    address = ("picture", learner.id, jsonable(addressed_parameters_of(learner)), n)
    rng = generator(seed, *address, "scene")
    if isinstance(learner, HasScene):
        sample, target = learner.scene(rng)
    else:
        points = learner.domain.points()
        target = learner.concepts.concept(learner.concepts.size // 2)
        uniform = Distribution(points, np.full(len(points), 1 / len(points)), "uniform")
        sample = learner.domain.draw(target, uniform, n, rng)
    outputs = learner.run(sample, generator(seed, *address, "run"), runs)
    codes = []
    for output in outputs:
        codes.append(output.item() if isinstance(output, np.generic) else output)
    picture = learner.picture(sample, codes, target)
    if not isinstance(picture, Picture):
        raise ToolFault(f"picture of {learner.id} must return dpaudit.contract.Picture, got {picture!r:.200}")
    return PictureFinding(picture=picture, n=int(sample.n), runs=runs, seed=seed)


def check_statement(statement: Statement, *, paths: tuple[str, ...] = (), time_limit: float | None = None) -> LedgerRow:
    """Run the check of a statement, which gets the public names of dpaudit.

    The command that repeats the row names `paths`, where statements were looked for besides the installed packages. A
    check that is stopped after `time_limit` seconds leaves the statement undecided, and the row names the part.
    `ToolFault` if the check returns something other than `Evidence`, or a number that JSON cannot hold. Whatever the
    check itself raises goes through: nothing is then known of the statement.
    """
    printed = statement.printed
    found = statement.found
    best = statement.best
    stopped_in = ""
    try:
        with _time_limited(time_limit):
            tools: Tools = _Tools()
            evidence = statement.check(tools)
    except _OutOfTime as ended:
        printed = found = best = ""  # there are no numbers to fill in
        *running, _ = traceback.extract_tb(ended.__traceback__)  # the last one is the handler of the signal
        # The innermost line of the check's own file says more than one of a library that it calls.
        file = getattr(getattr(inspect.unwrap(statement.check), "__code__", None), "co_filename", None)
        part = next((frame for frame in reversed(running) if frame.filename == file), running[-1])
        stopped_in = f"{part.name}, line {part.lineno}: {part.line}"
        summary = f"not decided within {time_limit:g} s; stopped in {stopped_in}"
        evidence = Evidence(StatementVerdict.UNDECIDED, summary, {}, "exact")
    if not isinstance(evidence, Evidence):
        raise ToolFault(f"the check of {statement.id} must return dpaudit.contract.Evidence, got {evidence!r}")
    printed = _filled(statement, printed, evidence.numbers)
    found = _filled(statement, found, evidence.numbers)
    best = _filled(statement, best, evidence.numbers)
    verdict = statement.verdict_on(StatementVerdict(evidence.verdict))
    survives = Survives.NOT_APPLICABLE
    if verdict in ACCUSATIONS:
        survives = statement.survives
    return LedgerRow(
        id=statement.id,
        statement=statement.statement,
        source=statement.source,
        short=statement.short,
        place=statement.place,
        formula=statement.formula,
        conditions=statement.conditions,
        constants=statement.constants,
        argument=statement.argument,
        part=statement.part,
        summary=evidence.summary,
        witness=evidence.witness,
        one_sided=evidence.one_sided,
        printed=printed,
        found=found,
        best=best,
        verdict=verdict,
        survives=survives,
        numbers={str(name): _number(statement, name, value) for name, value in evidence.numbers.items()},
        grade=Grade(evidence.grade),
        witness_data=jsonable(evidence.witness_data),
        repeat=shlex.join(["dpaudit", "ledger", statement.id, *(w for path in paths for w in ("--learners", path))]),
        stopped_in=stopped_in,
    )


def _number(statement: Statement, name: str, value: Any) -> float:
    """Return a number of the evidence as a Python integer or float; a fraction is rounded to the nearest float."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    # A truth value is no number: written as 1 or 0 it would pass for a count.
    if isinstance(value, bool) or not isinstance(value, Real) or math.isnan(value):
        raise ToolFault(f"the check of {statement.id} gives {name} = {value!r}, which is not a number")
    return float(value)


def _filled(statement: Statement, template: str, numbers: Mapping[str, Any]) -> str:
    def number(found: re.Match[str]) -> str:
        name = found[1]
        form = ""
        if name not in numbers:
            name, _, form = name.rpartition(":")
        try:
            return format(numbers[name], form)
        except (KeyError, ValueError, TypeError) as error:
            raise ToolFault(f"{statement.id} names {found[0]}, which its evidence does not give: {error!r}") from error

    return re.sub(r"{([^{}]*)}", number, template)


# Learners import nothing of dpaudit but the contract, so that their checks are given the rest.
class _Tools:
    """The functions that checks of statements are given, as `contract.Tools` declares them."""

    audit_law = staticmethod(audit_law)
    audit_supremum = staticmethod(audit_supremum)
    audit_utility = staticmethod(audit_utility)
    scaling_law = staticmethod(scaling_law)


class _OutOfTime(BaseException):
    """The time is over. Not an `Exception`, so that no handler of other errors keeps the computation going."""


@contextmanager
def _time_limited(seconds: float | None) -> Iterator[None]:
    """Raise `_OutOfTime` in the block once so many seconds have passed; never where `seconds` is None."""
    if seconds is None:
        yield
        return
    # Python runs the handlers of signals in the main thread alone.
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        message = "{time_limit} needs the main thread of a process on a POSIX system"
        raise InputError(message, names=("time_limit",), value=seconds)

    def stop(_: int, __: FrameType | None) -> None:
        raise _OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        # The timer goes before the handler: without one the signal would end the process.
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

"""Audits of one learner: its worst case by exact laws, its failure rates, and how many examples it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from dpaudit.audit.options import OPTIONS
from dpaudit.cli.audits import (
    LearnerOptions,
    audit,
    find_learner,
    find_learners,
    made_apart,
    note_taken,
    read_parameters,
    show_measured,
)
from dpaudit.cli.command import command
from dpaudit.cli.options import (
    DRAWN,
    FORMS,
    Address,
    Backend,
    Measured,
    Parameters,
    Relation,
    Seed,
    Shown,
    ShownSupremum,
    argument,
    given,
    jobs,
    of,
)
from dpaudit.errors import InputError

if TYPE_CHECKING:
    from dpaudit.registry import Entry
    from dpaudit.report.words.finding import OneSearch

_Alpha = Annotated[float | None, given("error that is accepted (default: the example's)")]
_Beta = Annotated[float | None, given("rate of failure that is accepted (default: the example's)")]
_Setting = Annotated[
    str | None, given("what the error is, and what is random (default: the theorem's)", metavar="NAME")
]
_Confidence = Annotated[float, of(OPTIONS["confidence"], "of the interval or the limits", 0.95)]


@command("exact", "dpaudit exact parity-private -p dimension=2 -p epsilon=1 --n 3", FORMS)
def exact(
    learner: LearnerOptions,
    relation: Relation,
    samples: Annotated[
        bool,
        given("crafted pairs only, for domains too large to list (default: all samples of n)", names=("--crafted",)),
    ],
    pairs: Annotated[
        str | None,
        given(
            "FILE.py:NAME or MODULE:NAME, a list of (data, neighbour) tuples of samples, or random:COUNT (default: all "
            "samples of n)",
            metavar="SOURCE",
        ),
    ],
    enclosure: Annotated[
        bool,
        given(
            "enclose the worst epsilon in ball arithmetic; needs the extra `exact` (default: an a-priori error)",
            names=("--enclose",),
        ),
    ],
    compose: Annotated[
        int | None,
        given(
            "bound what K runs on one sample cost too: epsilon by delta and delta by epsilon (default: one run)",
            metavar="K",
        ),
    ],
    shown: Shown,
) -> int:
    """Compute the worst-case epsilon of a learner from its exact output law.

    Takes the law on all samples of n examples and on all their neighbours. Without --n it takes the n of the learner's
    example, and crafted samples only where all cannot be listed; with --pairs it takes the pairs named and no others.
    Needs a learner with a law. --enclose recomputes the losses that decide in ball arithmetic; --compose K bounds the
    privacy of K runs, from above by the dominating pair and from below by single pairs of neighbours.
    """
    from dataclasses import replace

    from dpaudit.engine.tasks import ExactArguments, exact_task
    from dpaudit.exact.composition import check_times
    from dpaudit.exact.enclosure import require_exact_law

    if compose is not None:
        check_times(compose, "compose")
    if samples and pairs is not None:
        raise InputError("one of --crafted and --pairs must be left out: each says what is compared")
    entry, built, parameters = find_learner(learner.id, learner.parameter, shown.learners)
    if enclosure:
        require_exact_law(built)
    instance = replace(entry.instance, parameters=parameters)
    options: dict[str, Any] = {"relation": relation, "crafted": samples, "pairs": pairs, "enclosure": enclosure}
    task = exact_task(built, instance, n=learner.n, compose=compose, **options)
    assert isinstance(task.arguments, ExactArguments)
    if learner.n is None and pairs is None:
        note_taken(entry, {"n": task.arguments.n})
    return audit([task], shown)


class Climbs(NamedTuple):
    """The search: its climbs, and the samples that it visits."""

    starts: Annotated[int, given("climbs from random samples", default=8)]
    evaluations: Annotated[int, given("steps of a climb", default=250)]
    most: Annotated[int, given("distinct examples in a sample", default=4)]
    relation: Relation
    seed: Annotated[int, given("root of the search's randomness", default=0)]


@command("supremum", "dpaudit supremum conjunction-greedy -p dimension=2 -p k=2 -p epsilon=1", DRAWN)
def supremum(id: Annotated[str, argument("ID")], parameter: Parameters, search: Climbs, shown: ShownSupremum) -> int:
    """Search for the greatest privacy loss of a learner over samples of every size.

    A maximum over all samples of a few examples can be far below it. The search climbs over weighted samples, follows
    rays of ever more copies of an example (to their exact limit if the learner has one), and takes the learner's closed
    form unless the search refutes it. The value is proved, a limit or a lower bound. Needs a learner with a law.
    """
    from dpaudit.exact.finding import SupremumFinding
    from dpaudit.exact.supremum import audit_supremum

    entry, learner, parameters = find_learner(id, parameter, shown.learners)
    options = search._asdict()
    audited = partial(audit_supremum, learner, **options, progress=not shown.quiet)
    finding: SupremumFinding = made_apart(f"the audit of {entry.id}", SupremumFinding, audited)
    return _show("supremum", finding, entry.id, parameters, options, shown)


class Cases(NamedTuple):
    """The cases that are measured: the levels, the target, the distributions and the setting."""

    id: Annotated[str, argument("ID")]
    parameter: Parameters
    n: Annotated[int | None, given("examples in a sample (default: what the learner's theorem asks for)")]
    alpha: _Alpha
    beta: _Beta
    concept: Annotated[
        int | None, given("number of the target concept (default: the hard case's own; 0 for uniform)", metavar="CODE")
    ]
    distribution: Annotated[str, given("uniform, the number of a hard case, or all hard cases", "all", metavar="D")]
    setting: Annotated[
        str | None,
        given(
            "what the error is, and what is random; all: each that the theorem covers (default: the theorem's)",
            metavar="NAME",
        ),
    ]
    noise: Annotated[
        float | None,
        given("setting agnostic: how often a label is wrong (default: the hard case's; needed for uniform)"),
    ]
    most: Annotated[
        int | None,
        given("the most runs, made where fewer leave the verdict open (default: --trials)", metavar="TRIALS"),
    ]


@command("utility", "dpaudit utility threshold-exponential --alpha 0.1 --beta 0.1 --distribution all", FORMS)
def utility(
    asked: Cases,
    trials: Annotated[int, given("runs for each case", 1_000)],
    confidence: Annotated[float, of(OPTIONS["confidence"])],
    seed: Seed,
    n_jobs: Annotated[int, jobs("processes", 1)],
    backend: Backend,
    address: Address,
    shown: Shown,
) -> int:
    """Measure how often the learner's error exceeds alpha; its theorem promises: at most with probability beta.

    The error is that on the distribution, with fresh samples labelled by a concept (realizable); its excess over the
    best concept's, with noisy labels (agnostic); that on the sample, one for all runs (empirical); or whether the
    output solves the learner's problem on that sample (solution). The hard cases are concepts and distributions on
    which learners of the class fail most. With --n below the theorem's n, or without a theorem, failures are shown and
    refute nothing.
    """
    from dataclasses import replace

    from msgspec.structs import replace as replaced

    from dpaudit.contract import SETTINGS
    from dpaudit.engine.tasks import UTILITY, UtilityArguments, offered_settings, utility_tasks
    from dpaudit.report.repeat import command_line

    cases = _cases(asked.distribution)
    if asked.setting not in (None, "all", *SETTINGS):
        raise InputError.among("setting", asked.setting, (*SETTINGS, "all"))
    entry, learner, parameters = find_learner(asked.id, asked.parameter, shown.learners)
    levels = _levels(entry, {"alpha": asked.alpha, "beta": asked.beta})
    instance = replace(entry.instance, parameters=parameters, **levels)
    # None is the theorem's own setting; each setting has an n of its own.
    settings = offered_settings(learner, instance) if asked.setting == "all" else (asked.setting,)
    given = {name: getattr(asked, name) for name in ("n", "concept", "noise")}
    given |= {"trials": trials, "confidence": confidence}
    tasks = utility_tasks(learner, instance, cases=cases, settings=settings, **given)
    if not tasks:
        raise InputError(f"{entry.id} has no hard cases; choose --distribution uniform")
    chosen = [replace(task, arguments=replaced(task.arguments, most=asked.most)) for task in tasks]
    first = chosen[0].arguments
    assert isinstance(first, UtilityArguments)
    options = {name: getattr(first, name) for name in UTILITY}
    if asked.setting == "all":
        options |= {"n": asked.n, "setting": "all"}
    options |= {name: getattr(asked, name) for name in ("concept", "distribution", "noise")}
    options |= {"confidence": confidence, "seed": seed}  # of all cases together: each task has its part
    repeat = command_line("utility", entry.id, tasks[0].parameters, options, shown.learners)
    spread: dict[str, Any] = {"n_jobs": n_jobs, "backend": backend, "address": address}
    return audit(chosen, shown, seed=seed, repeat=repeat, **spread)


def _cases(distribution: str) -> list[int | None] | None:
    """Return which hard cases to measure: None for all, [None] for the uniform distribution."""
    if distribution in ("all", "uniform"):
        return None if distribution == "all" else [None]
    try:
        return [int(distribution)]
    except ValueError:
        raise InputError.of("distribution", distribution, "uniform, all, or the number of a hard case") from None


class SearchOptions(NamedTuple):
    """The search of the worst case."""

    starts: Annotated[int, given("proposals from which to climb", default=3)]
    moves: Annotated[int, given("moves of each climb", default=100)]
    draws: Annotated[int, given("the most samples at one n", default=4000)]


@command(
    "sample-complexity",
    "dpaudit sample-complexity parity-private -p dimension=3 -p epsilon=1 --alpha 0.1 --beta 0.6",
    DRAWN,
)
def sample_complexity(
    id: Annotated[str, argument("ID")],
    parameter: Parameters,
    alpha: _Alpha,
    beta: _Beta,
    setting: _Setting,
    search: SearchOptions,
    n_jobs: Annotated[int, jobs("climbs at a time", -1)],
    confidence: _Confidence,
    seed: Seed,
    shown: Measured,
) -> int:
    """Measure the sample complexity n* of a learner.

    From n* examples on the learner's error exceeds alpha with probability at most beta, whatever the concept and the
    distribution. Where a proof covers all of them, n* is computed, and a certificate is verified. Else it lies between
    the worst case that a search finds (hard cases, linear programs that make many rivals of a concept just bad, and
    climbing from the best of them; fresh randomness or an exact sum decides) and what a proof or the theorem says.
    Status 1 if the learner fails at an n for which its theorem promises that it does not.
    """
    from dpaudit.utility.finding import SampleComplexityFinding
    from dpaudit.utility.sample_complexity import sample_complexity

    entry, learner, parameters = find_learner(id, parameter, shown.learners)
    levels = _levels(entry, {"alpha": alpha, "beta": beta})
    chosen = {**levels, "setting": setting, **search._asdict(), "confidence": confidence, "seed": seed}
    measured = partial(sample_complexity, learner, **chosen, n_jobs=n_jobs, progress=not shown.quiet)
    finding: SampleComplexityFinding = made_apart(f"the learner {entry.id}", SampleComplexityFinding, measured)
    return _show("sample-complexity", finding, entry.id, parameters, chosen, shown)


class Varied(NamedTuple):
    """The parameter that is varied."""

    id: Annotated[str, argument("ID")]
    varied: Annotated[str, argument("PARAMETER")]
    values: Annotated[str, argument("VALUES")]
    parameter: Parameters


@command(
    "scaling",
    "dpaudit scaling parity-private dimension 1,3,8,16,32,48,63 -p epsilon=1 --alpha 0.1 --beta 0.6",
    DRAWN,
)
def scaling(
    learner: Varied, alpha: _Alpha, beta: _Beta, setting: _Setting, confidence: _Confidence, seed: Seed, shown: Measured
) -> int:
    """Measure how a learner's sample complexity n* grows with a parameter, and compare it with the theorem's n.

    Reports the raw exponent, and, what decides, the slope of ln(n*/theorem) in the upper half of the values. VALUES are
    at least six increasing numbers with commas; a^b is a power, as in 2^64. Status 1 if n* clearly outgrows the
    theorem.
    """
    from dpaudit.utility.finding import ScalingFinding
    from dpaudit.utility.scaling import law_of

    entry = find_learners(shown.learners).get(learner.id)
    given, numbers = read_parameters(learner.parameter), [_value(word.strip()) for word in learner.values.split(",")]
    if learner.varied in given:
        raise InputError(f"-p must not give {learner.varied}, which is varied")
    example = {name: value for name, value in entry.instance.parameters.items() if name != learner.varied}
    note_taken(entry, {name: value for name, value in example.items() if name not in given})
    fixed = {**example, **given}
    asked: dict[str, Any] = {"alpha": alpha, "beta": beta}
    levels = _levels(entry, {name: value for name, value in asked.items() if name != learner.varied})
    chosen = {**levels, "setting": setting, "confidence": confidence, "seed": seed}
    options = {**asked, **chosen, "progress": not shown.quiet}
    measured = partial(law_of, entry.id, entry.build, learner.varied, numbers, fixed, **options)
    finding: ScalingFinding = made_apart(f"the learner {entry.id}", ScalingFinding, measured)
    return _show("scaling", finding, entry.id, fixed, chosen, shown, (learner.varied, learner.values))


def _levels(entry: Entry, given: Mapping[str, float | None]) -> dict[str, Any]:
    taken = {name: getattr(entry.instance, name) for name, value in given.items() if value is None}
    note_taken(entry, taken)
    return {**given, **taken}


def _value(word: str) -> float:
    """Read a number; integers stay integers, of any size."""
    base, caret, exponent = word.partition("^")
    try:
        if caret:
            power: int = int(base) ** int(exponent)
            return power
        return int(word) if word.lstrip("+-").isdigit() else float(word)
    except ValueError:
        raise InputError.of("values", word, "numbers with commas between them, such as 1,2,4 or 2^8,2^16") from None


def _show(
    verb: str,
    finding: OneSearch,
    name: str,
    parameters: Mapping[str, Any],
    options: Mapping[str, Any],
    shown: Shown,
    arguments: Sequence[str] = (),
) -> int:
    from dpaudit.contract import PrivacyVerdict
    from dpaudit.exact.finding import SupremumFinding
    from dpaudit.report.repeat import command_line

    what, verdict, data = "sample complexity", None, finding.to_dict()
    if isinstance(finding, SupremumFinding):
        what, data = "supremum", {"learner": name, "parameters": parameters, "finding": data}
        verdict = PrivacyVerdict.VIOLATION if finding.proof_refuted else None
    repeat = command_line(verb, name, parameters, options, shown.learners, arguments)
    title = f"dpaudit: the {what} of {name}"
    return show_measured(finding, name, repeat, shown, title=title, data=data, verdict=verdict)

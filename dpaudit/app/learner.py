"""Audits of one learner: its worst case by exact laws, its failure rates, and how many examples it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from dpaudit.app.audits import (
    audit,
    find_learner,
    find_learners,
    made_apart,
    note_taken,
    read_parameters,
    show_measured,
)
from dpaudit.app.command import check_folder, command, suffix_of
from dpaudit.app.options import (
    DRAWN,
    FORMS,
    Measured,
    Parameters,
    Relation,
    Seed,
    Shown,
    ShownExact,
    Size,
    Where,
    argument,
    given,
    jobs,
    of,
)
from dpaudit.audit.options import Options
from dpaudit.errors import InputError

if TYPE_CHECKING:
    from dpaudit.registry import Entry
    from dpaudit.report.words.finding import OneSearch

_Alpha = Annotated[float | None, given("error that is accepted (default: the example's)")]
_Beta = Annotated[float | None, given("rate of failure that is accepted (default: the example's)")]
_Setting = Annotated[
    str | None, given("what the error is, and what is random (default: the theorem's)", metavar="NAME")
]
_Confidence = Annotated[float, of(Options.confidence, "of the interval or the limits", 0.95)]
_Crafted = Annotated[
    bool, given("crafted pairs only, for domains too large to list (default: all samples of n)", names=("--crafted",))
]
_Pairs = Annotated[
    str | None,
    given(
        "FILE.py:NAME or MODULE:NAME, a list of (data, neighbour) tuples of samples, or random:COUNT (default: all "
        "samples of n)",
        metavar="SOURCE",
    ),
]
_Enclose = Annotated[
    bool,
    given(
        "enclose the worst epsilon in ball arithmetic; needs the extra `exact` (default: an a-priori error)",
        names=("--enclose",),
    ),
]
_Compose = Annotated[
    int | None,
    given(
        "bound what K runs on one sample cost too: epsilon by delta and delta by epsilon (default: one run)",
        metavar="K",
    ),
]
_Supremum = Annotated[
    bool, given("search for the greatest loss over samples of every size (default: over those of n examples)")
]


# Defaults of --supremum. They are not those of the options: None shows that an option was left out, as all of these are
# without --supremum.
_CLIMBS = {"starts": 8, "evaluations": 250, "most": 4, "seed": 0}


@command("exact", "dpaudit exact parity-private -p dimension=2 -p epsilon=1 --n 3")
def exact(
    id: Annotated[str, argument("ID")],
    parameter: Parameters,
    n: Size,
    relation: Relation,
    samples: _Crafted,
    pairs: _Pairs,
    enclosure: _Enclose,
    compose: _Compose,
    supremum: _Supremum,
    starts: Annotated[int | None, given("--supremum: climbs from random samples (default: 8)")],
    evaluations: Annotated[int | None, given("--supremum: steps of a climb (default: 250)")],
    most: Annotated[int | None, given("--supremum: distinct examples in a sample (default: 4)")],
    seed: Annotated[int | None, given("--supremum: root of the search's randomness (default: 0)")],
    shown: ShownExact,
) -> int:
    """Compute the worst-case epsilon of a learner from its exact output law.

    Takes the law on all samples of n examples and on all their neighbours. Without --n it takes the n of the learner's
    example, and crafted samples only where all cannot be listed; with --pairs it takes the pairs named and no others.
    Needs a learner with a law. --enclose recomputes the losses that decide in ball arithmetic; --compose K bounds the
    privacy of K runs, from above by the dominating pair and from below by single pairs of neighbours.

    --supremum searches over samples of every size: a maximum over all samples of a few examples can be far below it.
    The search climbs over weighted samples, follows rays of ever more copies of an example (to their exact limit if the
    learner has one), and takes the learner's closed form unless the search refutes it. The value is proved, a limit or
    a lower bound.
    """
    from dataclasses import replace

    from dpaudit.evidence.tasks import ExactArguments, exact_task
    from dpaudit.exact.composition import check_times
    from dpaudit.exact.enclosure import require_exact_law

    if shown.out is not None:
        # Only a supremum can be drawn.
        forms = DRAWN if supremum else tuple(FORMS)
        suffix_of(shown.out, forms)
        check_folder("out", shown.out)
    search = {"starts": starts, "evaluations": evaluations, "most": most, "seed": seed}
    if supremum:
        of_laws = {"n": n, "samples": samples, "pairs": pairs, "enclosure": enclosure, "compose": compose}
        _require_absent(of_laws, "left out with {supremum}")
        return _supremum(id, parameter, relation, search, shown)
    _require_absent(search, "given with {supremum} alone")
    # Refused before the learner is built.
    if compose is not None:
        check_times(compose, "compose")
    if samples and pairs is not None:
        raise InputError("one of --crafted and --pairs must be left out: each says what is compared")
    entry, built, parameters = find_learner(id, parameter, shown.learners)
    # Only exact laws can be enclosed, and the extra must be installed: found out before the law is computed.
    if enclosure:
        require_exact_law(built)
    instance = replace(entry.instance, parameters=parameters)
    task = exact_task(
        built,
        instance,
        n=n,
        relation=relation,
        crafted=samples,
        pairs=pairs,
        enclosure=enclosure,
        compose=compose,
    )
    assert isinstance(task.arguments, ExactArguments)
    if n is None and pairs is None:
        note_taken(entry, {"n": task.arguments.n})
    return audit([task], shown)


def _require_absent(options: Mapping[str, Any], otherwise: str) -> None:
    """Raise `InputError` for the first option that is given; a flag that is off, and None, are not."""
    for name, value in options.items():
        if value is not None and value is not False:
            raise InputError("{" + name + "} must be " + otherwise, names=(name, "supremum"))


def _supremum(
    id: str, parameter: Sequence[str], relation: str | None, search: Mapping[str, int | None], shown: Shown
) -> int:
    from dpaudit.exact.finding import SupremumFinding
    from dpaudit.exact.supremum import audit_supremum

    entry, learner, parameters = find_learner(id, parameter, shown.learners)
    chosen = _CLIMBS | {name: value for name, value in search.items() if value is not None}
    audited = partial(
        audit_supremum,
        learner,
        starts=chosen["starts"],
        evaluations=chosen["evaluations"],
        most=chosen["most"],
        relation=relation,
        seed=chosen["seed"],
        progress=not shown.quiet,
    )
    finding = made_apart(f"the audit of {entry.id}", SupremumFinding, audited)
    return _show("exact", finding, entry.id, parameters, {"supremum": True, **chosen, "relation": relation}, shown)


_Concept = Annotated[
    int | None, given("number of the target concept (default: the hard case's own; 0 for uniform)", metavar="CODE")
]
_Settings = Annotated[
    str | None,
    given(
        "what the error is, and what is random; all: each that the theorem covers (default: the theorem's)",
        metavar="NAME",
    ),
]
_Noise = Annotated[
    float | None,
    given("setting agnostic: how often a label is wrong (default: the hard case's; needed for uniform)"),
]
_Most = Annotated[
    int | None,
    given("the most runs, made where fewer leave the verdict open (default: --trials)", metavar="TRIALS"),
]


@command("utility", "dpaudit utility threshold-exponential --alpha 0.1 --beta 0.1 --distribution all", FORMS)
def utility(
    id: Annotated[str, argument("ID")],
    parameter: Parameters,
    n: Annotated[int | None, given("examples in a sample (default: what the learner's theorem asks for)")],
    alpha: _Alpha,
    beta: _Beta,
    concept: _Concept,
    distribution: Annotated[str, given("uniform, the number of a hard case, or all hard cases", "all", metavar="D")],
    setting: _Settings,
    noise: _Noise,
    most: _Most,
    trials: Annotated[int, given("runs for each case", 1_000)],
    confidence: Annotated[float, of(Options.confidence)],
    seed: Seed,
    n_jobs: Annotated[int, jobs("processes", 1)],
    on: Where,
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
    from dpaudit.evidence.tasks import UTILITY, UtilityArguments, offered_settings, utility_tasks
    from dpaudit.report.repeat import command_line

    cases = _cases(distribution)
    if setting not in (None, "all", *SETTINGS):
        raise InputError.among("setting", setting, (*SETTINGS, "all"))
    entry, learner, parameters = find_learner(id, parameter, shown.learners)
    levels = _levels(entry, {"alpha": alpha, "beta": beta})
    instance = replace(entry.instance, parameters=parameters, alpha=levels["alpha"], beta=levels["beta"])
    # None is the theorem's own setting; each setting has an n of its own.
    settings: Sequence[str | None] = (setting,)
    if setting == "all":
        settings = offered_settings(learner, instance)
    tasks = utility_tasks(
        learner,
        instance,
        trials=trials,
        confidence=confidence,
        n=n,
        concept=concept,
        cases=cases,
        settings=settings,
        noise=noise,
    )
    if not tasks:
        raise InputError(f"{entry.id} has no hard cases; choose --distribution uniform")
    chosen = [replace(task, arguments=replaced(task.arguments, most=most)) for task in tasks]
    first = chosen[0].arguments
    assert isinstance(first, UtilityArguments)
    options = {name: getattr(first, name) for name in UTILITY}
    if setting == "all":
        options |= {"n": n, "setting": "all"}
    options |= {"concept": concept, "distribution": distribution, "noise": noise}
    # Of all cases together: each task has its part.
    options |= {"confidence": confidence, "seed": seed}
    repeat = command_line("utility", entry.id, tasks[0].parameters, options, shown.learners)
    return audit(chosen, shown, seed=seed, repeat=repeat, n_jobs=n_jobs, on=on)


def _cases(distribution: str) -> list[int | None] | None:
    """Return which hard cases to measure: None for all, [None] for the uniform distribution."""
    if distribution == "all":
        return None
    if distribution == "uniform":
        return [None]
    try:
        return [int(distribution)]
    except ValueError:
        raise InputError.of("distribution", distribution, "uniform, all, or the number of a hard case") from None


# Defaults of the search of the worst case. None in the options shows that one was left out, as --along wants it.
_SEARCH = {"starts": 3, "moves": 100}


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
    along: Annotated[
        str | None,
        given("vary a parameter, over at least six increasing values (default: none)", metavar="NAME=VALUE,VALUE,..."),
    ],
    starts: Annotated[int | None, given("proposals from which to climb (default: 3)")],
    moves: Annotated[int | None, given("moves of each climb (default: 100)")],
    draws: Annotated[
        int | None, given("the most samples at one n (default: 4000, or 64 where the class cannot be listed)")
    ],
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

    --along measures how n* grows with a parameter, and compares it with the theorem's n: it reports the raw exponent,
    and, what decides, the slope of ln(n*/theorem) in the upper half of the values. In these a^b is a power, as in
    dimension=1,3,8,16,32,63 or domain_size=2^8,2^16. Status 1 if n* clearly outgrows the theorem.
    """
    from dpaudit.utility.finding import SampleComplexityFinding
    from dpaudit.utility.sample_complexity import sample_complexity

    search = {"starts": starts, "moves": moves, "draws": draws}
    if along is not None:
        for name, value in search.items():
            if value is not None:
                raise InputError("{" + name + "} must be left out with {along}", names=(name, "along"))
        asked = {"alpha": alpha, "beta": beta}
        return _scaling(id, parameter, along, asked, setting=setting, confidence=confidence, seed=seed, shown=shown)
    entry, learner, parameters = find_learner(id, parameter, shown.learners)
    levels = _levels(entry, {"alpha": alpha, "beta": beta})
    climbs = _SEARCH | {name: value for name, value in search.items() if value is not None}
    measured = partial(
        sample_complexity,
        learner,
        alpha=levels["alpha"],
        beta=levels["beta"],
        setting=setting,
        starts=climbs["starts"],
        moves=climbs["moves"],
        draws=draws,
        confidence=confidence,
        seed=seed,
        n_jobs=n_jobs,
        progress=not shown.quiet,
    )
    chosen = {**levels, "setting": setting, **climbs, "confidence": confidence, "seed": seed}
    finding = made_apart(f"the learner {entry.id}", SampleComplexityFinding, measured)
    return _show("sample-complexity", finding, entry.id, parameters, chosen, shown)


def _scaling(
    id: str,
    parameter: Sequence[str],
    along: str,
    asked: Mapping[str, float | None],
    *,
    setting: str | None,
    confidence: float,
    seed: int,
    shown: Shown,
) -> int:
    from dpaudit.utility.finding import ScalingFinding
    from dpaudit.utility.scaling import POWER, law_of

    varied, _, values = along.partition("=")
    if not varied or not values:
        raise InputError.of("along", along, "a parameter and its values, such as dimension=1,3,8,16,32,63")
    entry = find_learners(shown.learners).get(id)
    given = read_parameters(parameter)
    numbers = [_value(word.strip()) for word in values.split(",")]
    named = varied.removeprefix(POWER)
    # One value for it would contradict the series.
    if named in given:
        raise InputError(f"-p must not give {named}, which is varied")
    # The series takes the place of the example's value.
    example = {name: value for name, value in entry.instance.parameters.items() if name != named}
    note_taken(entry, {name: value for name, value in example.items() if name not in given})
    fixed = {**example, **given}
    levels = _levels(entry, {name: value for name, value in asked.items() if name != varied})
    options = {**levels, "setting": setting, "confidence": confidence, "seed": seed}
    measured = partial(
        law_of,
        entry.id,
        entry.build,
        varied,
        numbers,
        fixed,
        alpha=levels.get("alpha", asked["alpha"]),
        beta=levels.get("beta", asked["beta"]),
        setting=setting,
        confidence=confidence,
        seed=seed,
        progress=not shown.quiet,
    )
    finding = made_apart(f"the learner {entry.id}", ScalingFinding, measured)
    return _show("sample-complexity", finding, entry.id, fixed, {"along": along, **options}, shown)


def _levels(entry: Entry, given: Mapping[str, float | None]) -> dict[str, float]:
    """Return the levels that are given, alpha or beta or both; one that is None is taken from the example."""
    example = {"alpha": entry.instance.alpha, "beta": entry.instance.beta}
    taken = {name: example[name] for name, value in given.items() if value is None}
    note_taken(entry, taken)
    stated = {name: value for name, value in given.items() if value is not None}
    return {name: stated.get(name, example[name]) for name in given}


def _value(word: str) -> float:
    """Read a number; integers stay integers, of any size."""
    base, caret, exponent = word.partition("^")
    try:
        if caret:
            # In whole numbers: a domain of 2^(2^16) points has no float.
            power: int = int(base) ** int(exponent)
            return power
        if word.lstrip("+-").isdigit():
            return int(word)
        return float(word)
    except ValueError:
        raise InputError.of("along", word, "numbers with commas between them, such as 1,2,4 or 2^8,2^16") from None


def _show(
    verb: str,
    finding: OneSearch,
    name: str,
    parameters: Mapping[str, Any],
    options: Mapping[str, Any],
    shown: Shown,
) -> int:
    from dpaudit.contract import PrivacyVerdict
    from dpaudit.exact.finding import SupremumFinding
    from dpaudit.report.repeat import command_line

    what = "sample complexity"
    data = finding.to_dict()
    verdict = None
    if isinstance(finding, SupremumFinding):
        what = "supremum"
        data = {"learner": name, "parameters": parameters, "finding": data}
        # The search found a greater loss than the closed form that the learner calls proved.
        if finding.proof_refuted:
            verdict = PrivacyVerdict.VIOLATION
    repeat = command_line(verb, name, parameters, options, shown.learners)
    title = f"dpaudit: the {what} of {name}"
    return show_measured(finding, name, repeat, shown, title=title, data=data, verdict=verdict)

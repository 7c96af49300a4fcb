"""The words for what the runs of an audit could show: power, gaps with their remedies, checks, what was spent."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from dpaudit.audit.evidence import (
    AllRaised,
    Answer,
    Check,
    CheckName,
    Constant,
    FewRuns,
    Gap,
    Identical,
    Meaningless,
    NotLookedAt,
    Powerless,
)
from dpaudit.audit.finding import PowerAt, PrivacyFinding
from dpaudit.audit.power import LEARNING, LEARNING_OF_BETS, Power
from dpaudit.audit.request import Budget
from dpaudit.contract import Origin, OriginKind, PrivacyClaim, Relation
from dpaudit.report.numbers import count, percent, plural, significant, value_text
from dpaudit.report.wording import event_words

__all__ = [
    "POWER",
    "Shown",
    "assumed_text",
    "budget_text",
    "check_words",
    "checks_text",
    "delta_text",
    "errors_text",
    "frontier_text",
    "gap_words",
    "learning_share",
    "likely_text",
    "origin_text",
    "origins_text",
    "power_text",
    "remedy",
    "representation_text",
    "scores_text",
]

POWER = "95 %"
"""The probability of detection at which power is stated."""

Shown = Callable[[str, str | None], str]
"""The way in which a parameter, with a value or without, is written; see `InputError.told`."""

_MANY_TRIALS = 100_000
_PURPOSES = {
    "halving": "to compare the pairs",
    "local": "to vary the best pair",
    "pilot": "to see what outputs look like",
    "training": "to choose the event",
    "confirmation": "to confirm it",
    "checks": "to check randomness and state",
}
_STATEMENTS = {"epsilon_lower": "bound on epsilon"}
_EVENTS = ("the main one", "a second one", "a third one")
_SHARES = {1: "all", 2: "half", 3: "a third", 4: "a quarter"}

_DEPENDS = {
    CheckName.INPUTS: "runs change their inputs",
    CheckName.GENERATOR: "equal generators gave different outputs",
    CheckName.SEED: "different generators gave the same outputs: a seed is fixed inside, and runs are repeated",
    CheckName.STATE: "equal generators gave outputs that depend on earlier calls, or on something else beside the "
    "arguments: a state is kept between runs, so that they are not independent (if a library draws noise of its own "
    'besides, randomness="own" says that this is meant)',
    CheckName.CLOCK: "outputs depend on the clock, so that runs at different times do not have one law",
    CheckName.PROCESS: "outputs depend on the id of the process, so that runs of one do not have the law of all",
    CheckName.WORKERS: "workers repeat each other's streams, so that the same runs are counted several times: seed the "
    "mechanism from the generator that is passed, or use one job",
}
_OTHERS = {
    Answer.GLOBAL: "a global generator is used (numpy's, random's or torch's) instead of the one that is passed: the "
    "audit cannot be repeated bit by bit",
    Answer.TIME: "the mechanism is seeded by the clock instead of by the generator that is passed: the audit cannot be "
    "repeated bit by bit",
    Answer.OWN: "equal generators gave different outputs: the mechanism has randomness of its own, so its audit cannot "
    'be repeated bit by bit; randomness="own" says that this is meant',
}
_PASSED = {
    CheckName.INPUTS: "inputs are left as they are",
    CheckName.GENERATOR: "equal generators give equal outputs",
    CheckName.SEED: "different generators are not known to give the same outputs",
    CheckName.STATE: "no dependence on earlier calls",
    CheckName.CLOCK: "no dependence on the clock",
    CheckName.PROCESS: "no dependence on the process",
    CheckName.WORKERS: "workers do not repeat each other",
}
_REMEDIES = {
    CheckName.INPUTS: "let the mechanism copy its input before it changes it",
    CheckName.GENERATOR: "draw all randomness from the generator that is passed",
    CheckName.SEED: "take the seed that is fixed out of the mechanism, and draw from the generator that is passed",
    CheckName.STATE: "start every run without state of an earlier one",
    CheckName.CLOCK: "keep the clock out of the output",
    CheckName.PROCESS: "keep the id of the process out of the output",
    CheckName.WORKERS: "draw all randomness from the generator that is passed, or use one process",
}


def gap_words(gap: Gap) -> str:
    """Return why an audit could not have detected that the claim fails."""

    def of_runs(n: int, runs: int) -> str:
        return "every run" if n == runs else f"{count(n)} of {count(runs)} runs"

    match gap:
        case AllRaised():
            usual = f"most often {gap.usual}: what the mechanism answers was hardly seen"
            return f"{of_runs(gap.raised, gap.runs)} ended in an exception, {usual}"
        case Constant():
            why = "the output is constant, or nothing in it was distinguished"
            return f"{of_runs(gap.alike, gap.runs)} had one outcome, on both sides: {why}"
        case Identical():
            return f"both inputs are the same in all of {plural(gap.pairs, 'pair')}, so that nothing can differ"
        case FewRuns():
            return (
                f"{plural(gap.runs, 'run')} a side decided, and {count(gap.least)} is the least number that can refute "
                f"the claim: at least {count(gap.trials)} trials are needed with one pair"
            )
        case Powerless():
            return "these runs would have detected no leak, however large, on the event tested or on a rarer one"
        case NotLookedAt():
            return f"not looked at: {', '.join(gap.parts)}"
        case Meaningless():
            return _DEPENDS[gap.check]


def remedy(gap: Gap, finding: PrivacyFinding, shown: Shown) -> str:
    """Return what to do about a gap of a finding; `shown` writes a parameter."""
    match gap:
        case FewRuns():
            return _more_runs(finding, max(_MANY_TRIALS, 10 * max(gap.trials, finding.trials)), shown)
        case Powerless():
            return _more_runs(finding, max(_MANY_TRIALS, 10 * finding.trials), shown)
        case Constant() | Identical():
            return f"give {shown('pairs', None)} of different inputs, on which the output varies"
        case AllRaised():
            return f"give {shown('pairs', None)} that the mechanism accepts"
        case NotLookedAt():
            return "return these parts as numbers or text, or teach dpaudit their type: dpaudit.register_flattener"
        case Meaningless():
            return _REMEDIES[gap.check]


def _more_runs(finding: PrivacyFinding, trials: int, shown: Shown) -> str:
    """Return the advice to make more runs, with the epsilon that these detect on an event as likely as that tested."""
    advice, given, rates = f"add {shown('trials', str(trials))}", len(finding.origins), finding.witness.rates
    least = math.inf
    if rates is not None:
        budget = Budget.of(trials, given, local=finding.pairs > given)
        claim = PrivacyClaim(finding.epsilon, finding.delta, finding.relation or Relation.REPLACE_ONE)
        training = budget.pilot + budget.training
        least = Power.of_test(*rates, training, budget.confirmation, claim, finding.errors["verdict"]).epsilon
    if math.isinf(least):
        return f"{advice}: more runs see smaller leaks"
    return f"{advice} to catch any epsilon >= {significant(least, 'up', digits=2, apart_from=finding.epsilon)} or so"


def check_words(check: Check) -> str:
    """Return the answer of a check."""
    if check.answer == Answer.PASSED:
        return _PASSED[check.name]
    if check.answer == Answer.NOT_ASKED:
        return f"{check.name}: not asked"
    return _DEPENDS[check.name] if check.meaningless else _OTHERS[check.answer]


def checks_text(finding: PrivacyFinding) -> str:
    """Return what was asked and passed in one line, with the runs that all checks took; empty without checks."""
    passed = [check_words(check) for check in finding.checks if check.answer == Answer.PASSED]
    spent = f"{plural(sum(check.runs for check in finding.checks), 'run')} on both sides"
    return f"{'; '.join(passed) or 'nothing was asked'} ({spent})" if finding.checks else ""


def representation_text(finding: PrivacyFinding) -> str:
    """Return what the bits of floats give beside the verdict, which speaks of values; empty where none were tested."""
    test = finding.representation
    if test is None:
        return ""
    at = f"with confidence {percent(1 - test.error)}"
    if test.epsilon_lower <= finding.epsilon:
        return f"how floats are stored was looked at beside their values: nothing above the claim, {at}"
    lower = significant(test.epsilon_lower, "down", apart_from=finding.epsilon)
    return (
        f"the bits leak, epsilon at least {lower} {at} ({event_words(test.event)}: {count(test.hits)} against "
        f"{count(test.neighbour_hits)} runs); --float-bits makes that count"
    )


def power_text(finding: PrivacyFinding) -> str:
    """Return what these runs detect with probability `POWER`: an epsilon, and a probability of the impossible."""
    event = f"on an event {likely_text(finding)}"
    if math.isfinite(finding.detectable_epsilon):
        least = significant(finding.detectable_epsilon, "up", apart_from=finding.epsilon)
        leak = f"a true epsilon of {least} or more {event}"
    else:
        leak = f"no leak, however large, {event}"
        if rarer := next(((mass, least) for mass, least in frontier_text(finding, infinity="") if least), None):
            leak += ", a true epsilon of {1} or more on one of probability {0}".format(*rarer)
    some = f"a probability of {delta_text(finding)} or more"
    outright = some if math.isfinite(finding.detectable_delta) else "no probability, however large,"
    return f"{leak}; {outright} of an event impossible on the other side"


def likely_text(finding: PrivacyFinding) -> str:
    """Return how likely the event is on which the power is stated."""
    if finding.detectable_at == PowerAt.FRONTIER:
        mass = next(mass for mass, epsilon in finding.frontier if epsilon == finding.detectable_epsilon)
        return f"of probability {value_text(mass)}"
    one = "main one" if len(finding.tests) > 1 else "one"
    event = "of probability 0.1" if finding.design == "sequential" else f"as likely as the {one} tested"
    return f"{event} on the likelier side" if finding.detectable_at == PowerAt.LIKELIER else event


def frontier_text(finding: PrivacyFinding, infinity: str = "inf") -> list[tuple[str, str]]:
    """Return (probability on the unlikelier side, least epsilon detected, rounded up) as text, likelier events first.

    An infinite epsilon says that an event so unlikely would have been detected at no epsilon.
    """
    return [
        (value_text(mass), significant(epsilon, "up", apart_from=finding.epsilon, infinity=infinity))
        for mass, epsilon in finding.frontier
    ]


def delta_text(finding: PrivacyFinding) -> str:
    """Return the least probability of an event impossible on the other side that would be detected, rounded up."""
    return significant(finding.detectable_delta, "up", apart_from=finding.delta)


def learning_share(design: str) -> str:
    """Return the share of the runs with which a design is planned as if the event were given: "a third"."""
    return _SHARES[LEARNING_OF_BETS if design == "sequential" else LEARNING]


def assumed_text(finding: PrivacyFinding) -> str:
    """Return what the numbers on power assume of the cost of learning the event."""
    share = learning_share(finding.design)
    if finding.design == "sequential":
        return (
            f"This is what bets on a given event detect with {share} of the runs of a pair that leads from the start: "
            "learning the labels costs about as much, as calibration shows. By an approximation that was compared with "
            "simulated bets."
        )
    return (
        f"This is what a given event detects with {share} of the confirmation runs: an event that has to be learned "
        "does about as well with all of them, as calibration shows."
    )


def budget_text(finding: PrivacyFinding) -> str:
    """Return how the runs were spent."""
    budget = finding.budget
    if finding.design == "sequential":
        return f"{count(budget['used'])} runs used of {count(budget['allowed'])} allowed, on both sides of all pairs"
    spent = ", ".join(f"{count(budget[name])} {words}" for name, words in _PURPOSES.items() if budget[name])
    return f"runs on each side, all pairs together: {spent}"


def errors_text(finding: PrivacyFinding) -> str:
    """Return how the probability of error is split over the statements, and that of the verdict over several events."""

    def shown(share: float) -> str:
        return f"{share:.10g}"  # 0.05, not the 0.050000000000000044 of binary fractions

    errors = sorted(finding.errors.items(), key=lambda item: (item[0] != "verdict", item[0]))
    parts = ", ".join(f"{shown(share)} for the {_STATEMENTS.get(name, name)}" for name, share in errors)
    words, bounds = f"{shown(1 - finding.confidence)} in all: {parts}", [test.epsilon_lower for test in finding.tests]
    if len(bounds) < 2:
        return words
    shares = ", ".join(f"{shown(test.error)} for {place}" for test, place in zip(finding.tests, _EVENTS, strict=False))
    best, number = _EVENTS[bounds.index(max(bounds))].partition(" ")[2], ("two", "three")[len(bounds) - 2]
    return f"{words}; {number} events share the verdict's, {shares}; the witness is the {best}"


def origin_text(origin: Origin) -> str:
    """Return how one pair was made, and by how many moves of the local search it was varied."""
    plain = origin.text and origin.kind in (OriginKind.ENUMERATED, OriginKind.GIVEN)  # needs no heading
    made = origin.text if plain else ": ".join(filter(None, (origin.kind.value, origin.text)))
    if origin.moves > 1:
        return f"local search, {origin.moves} moves from {made}"
    return f"local search from {made}" if origin.moves else made


def origins_text(finding: PrivacyFinding) -> str:
    """Return the counts of pairs by origin, as "12 crafted, 3 local search": the search made those without one."""
    kinds = Counter(origin.kind.value for origin in finding.origins)
    kinds["local search"] += max(finding.pairs - len(finding.origins), 0)
    return ", ".join(f"{count(n)} {kind}" for kind, n in kinds.items() if n)


def scores_text(finding: PrivacyFinding) -> str:
    """Return the scores that were tried on the pair chosen."""
    return ", ".join(finding.scores) or finding.distinguisher

"""All that one finding says, as labelled lines: claim, bound, power, what was checked and spent, and the witness."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from dpaudit.audit.evidence import Answer
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.power import LEARNING, LEARNING_OF_BETS
from dpaudit.contract import Origin, OriginKind, Relation, Verdict
from dpaudit.engine.arguments import ExactArguments, UtilityArguments
from dpaudit.engine.outcome import is_ladder, leaves_open, refutes
from dpaudit.engine.records import Result
from dpaudit.exact.finding import LawFinding
from dpaudit.registry.import_spec import is_place
from dpaudit.report import findings, wording
from dpaudit.report.numbers import count, percent, plural, rate, significant, value_text
from dpaudit.report.terminal import Lines, aligned
from dpaudit.utility.finding import UtilityFinding

POWER = "95 %"
"""The probability of detection at which power is stated."""

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
_PRIVACY = {
    Verdict.VIOLATION: "VIOLATION: the claim is refuted",
    Verdict.CONSISTENT: "consistent: no violation found with these runs, pairs and events",
    Verdict.NO_EVIDENCE: "no evidence: nothing was found, and nothing could have been",
}
_UTILITY = {
    Verdict.VIOLATION: "it fails more often than beta",
    Verdict.UNDECIDED: "the interval holds beta; more trials would decide",
    Verdict.HOLDS: "it fails at most as often as beta, on this case",
    Verdict.VACUOUS: "it fails at most as often as beta, on this case, where the claim promises next to nothing",
}


def brief_block(shown: findings.Shown, results: Sequence[Result], repeat: str) -> Lines:
    """Return the lines on the gravest of some results of one learner and one kind, which `repeat` makes again."""
    result = max(results, key=lambda one: (refutes(one), leaves_open(one)))
    finding, own = result.finding, result.claim
    assert isinstance(finding, findings.OneAudit)
    brief = findings.brief_lines(finding, result.learner, repeat=repeat, decoded=result.decoded or None, shown=shown)
    (label, words), *lines, last = brief
    lines += _asked_lines(finding)
    if is_ladder(result):
        label, words = "TESTED", f"{words}; this refutes nothing, {_theorem_text(result)}"
    tested = (finding.epsilon, finding.delta) if isinstance(finding, PrivacyFinding) else None
    if own is not None and tested not in (None, (own.epsilon, own.delta)):
        learners = f"epsilon {value_text(own.epsilon)}, delta {value_text(own.delta)}"
        lines.append(("note", f"this claim was given; the learner's own is {learners}"))
    if result.fault is not None:
        lines.append(("note", f"it leaks on purpose: {result.fault}"))
    if len(results) > 1:
        counts = Counter(getattr(one.finding, "verdict", "").lower() for one in results)
        cases = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
        lines.append(("cases", f"{plural(len(results), 'case')}: {cases}; the gravest is shown, -v shows each"))
    return [(label, words), *lines, last]


def verdict_block(results: Sequence[Result], repeat: str) -> str:
    """Return all that some results of one learner and one kind say as aligned lines; `repeat` makes them again."""
    first = results[0]
    of_learner = f"{first.learner} ({wording.label_parameters(first.parameters)})"
    lines: Lines = [("mechanism", first.learner) if is_place(first.learner) else ("learner", of_learner)]
    if first.fault is not None:
        lines.append(("leaks", f"on purpose: {first.fault}"))
    for result in results:
        # What several cases share, their claim, is said once: before the first of them.
        said = [line for line in lines if line[0] in ("claim", "tested")][-1:]
        lines += [line for line in finding_lines(result) if line not in said]
    return aligned([*lines, ("repeat", repeat)])


def finding_lines(result: Result) -> Lines:
    """Return all that one result says: claim, numbers, power, runs, errors, verdict, witness and warnings."""
    match result.finding:
        case PrivacyFinding() as finding:
            return _privacy_lines(result, finding)
        case LawFinding() as finding:
            return _exact_lines(result, finding)
        case UtilityFinding() as finding:
            return _utility_lines(result, finding)
    raise TypeError(f"no command makes one {result.kind} alone")


def _tested_claim(result: Result, epsilon: float, delta: float, relation: Relation | None) -> str:
    """Return the claim that was tested; with its source if it is the learner's own."""
    own = result.claim
    tested = f"epsilon = {value_text(epsilon)}, delta = {value_text(delta)}, {relation or 'neighbours as given'}"
    if own is None and is_place(result.learner):
        return tested
    if own is None or (own.epsilon, own.delta, own.relation) != (epsilon, delta, relation):
        return f"{tested} (not the learner's own)"
    known = [text for text in (own.claim_id, own.source) if text]
    return f"{tested} ({'; '.join(known)})" if known else tested


def _asked_lines(finding: findings.OneAudit) -> Lines:
    """Return what options asked for beside the verdict: a curve, an enclosure, what many runs cost."""

    def between(rows: Sequence[tuple[float, float, float]], at: str) -> str:
        return ", ".join(
            f"[{significant(low, 'down')}, {significant(high, 'up')}] at {at} {significant(x)}" for x, low, high in rows
        )

    lines: Lines = []
    if isinstance(finding, PrivacyFinding) and (curve := finding.curve) is not None:
        grid = sorted({0.0, finding.epsilon / 2, finding.epsilon})
        deltas = zip(curve.delta_lower(grid).tolist(), grid, strict=True)
        steps = ", ".join(f"{significant(delta, 'down')} at epsilon {value_text(epsilon)}" for delta, epsilon in deltas)
        sure = f"with confidence {percent(1 - curve.gamma)}, at all epsilons together"
        lines.append(("curve", f"delta >= {steps}; mu >= {significant(curve.mu_lower, 'down')} ({sure})"))
    if isinstance(finding, LawFinding) and finding.enclosure is not None:
        lines.append(("enclosed", "epsilon in [{}, {}], by ball arithmetic".format(*finding.enclosure)))
    if isinstance(finding, LawFinding) and (made := finding.composition) is not None:
        runs = f"{plural(made.times, 'run')} on one sample ({made.grade}, these pairs)"
        lines.append(("composed", f"epsilon of {runs}: {between(made.epsilons, 'delta')}"))
        lines.append(("composed", f"delta of {runs}: {between(made.deltas, 'epsilon')}"))
    return lines


def _exact_lines(result: Result, finding: LawFinding) -> Lines:
    claimed, worst, arguments = finding.claimed_epsilon, finding.pair_in_words, result.arguments
    assert isinstance(arguments, ExactArguments)
    if arguments.samples == "crafted":
        covered = f"crafted pairs from samples of {arguments.n} examples"
    else:
        covered = "the samples given" if finding.n is None else f"all neighbours of samples of {finding.n} examples"
    shown = significant(finding.epsilon, apart_from=claimed, error=finding.error)
    grade = f"{finding.grade}, error at most {significant(finding.error, 'up', digits=2)}"
    lines = [("epsilon", f"{shown} at worst ({grade}) over {count(finding.pairs)} ordered pairs: {covered}")]
    if claimed is None:
        claim, verdict = "none", "the learner claims no privacy"
    else:
        claim = _tested_claim(result, claimed, finding.claimed_delta, finding.relation)
        refuted = finding.verdict == Verdict.VIOLATION
        verdict = _PRIVACY[finding.verdict] if refuted else "consistent: no violation on these pairs"
        at_claim = significant(finding.delta_at_claim, apart_from=finding.claimed_delta)
        lines.append(("delta", f"{at_claim} at worst, at the claimed epsilon"))
    output = wording.output_text(finding.worst_atom, result.decoded)
    witness = f"{worst.data} against {worst.neighbour}, output {output} [{origin_text(worst.origin)}]"
    return [("claim", claim), *lines, *_asked_lines(finding), ("verdict", verdict), ("witness", witness)]


def _privacy_lines(result: Result, finding: PrivacyFinding) -> Lines:
    lower = significant(finding.epsilon_lower, "down", apart_from=finding.epsilon)
    at, pairs = f"with confidence {percent(finding.confidence)}", plural(finding.pairs, "pair")
    if finding.design == "sequential":
        size = f"{count(finding.budget['used'])} runs on {pairs}, by bets"
    else:
        # The runs of the local search come out of those of the pairs given.
        each = "a side" if finding.pairs == 1 else f"a side of each of {count(len(finding.origins))} pairs given"
        size = f"{count(finding.trials)} runs {each}; {pairs} and {count(finding.events)} events compared"
    return [
        ("claim", _tested_claim(result, finding.epsilon, finding.delta, finding.relation)),
        ("bound", f"epsilon >= {lower} {at} (statistical; {size})"),
        *_asked_lines(finding),
        *_power(finding),
        ("compared", f"pairs: {origins_text(finding)}; scores: {', '.join(finding.scores) or finding.distinguisher}"),
        ("budget", budget_text(finding)),
        ("errors", errors_text(finding)),
        ("verdict", _PRIVACY[finding.verdict]),
        ("witness", _witness(result, finding)),
        *([("floating point", findings.representation_text(finding))] if finding.representation else []),
        *([("checked", checks_text(finding))] if finding.checks else []),
        *findings.warnings_of(finding),
    ]


def _power(finding: PrivacyFinding) -> Lines:
    """Return which leaks would have been detected, or why none would have been."""
    if finding.verdict == Verdict.NO_EVIDENCE:
        return [("power", f"none: {findings.gap_words(gap)}") for gap in finding.gaps]
    steps = ", ".join(f"{mass}: {least}" for mass, least in frontier_text(finding, infinity="none in reach"))
    return [
        ("power", f"would detect with probability {POWER}: {power_text(finding)}"),
        ("frontier", f"least epsilon detected, by probability of the event: {steps}"),
        ("assumed", assumed_text(finding)),
        *(("but", findings.gap_words(gap)) for gap in finding.gaps),
    ]


def _witness(result: Result, finding: PrivacyFinding) -> str:
    """Return the two inputs, the event and its counts; bets have no counts."""
    found = finding.witness
    event = wording.event_words(found.event, None if is_place(result.learner) else result.decoded)
    inputs, origin = f"{found.data} against {found.neighbour}", origin_text(found.origin)
    counts = (found.hits, found.trials, found.neighbour_hits, found.neighbour_trials)
    if None in counts:
        return f"{inputs}, {event} [{origin}]"
    rates = "{:,} of {:,} against {:,} of {:,} runs".format(*counts)
    return f"{inputs} ({found.direction}), event: {event}: {rates} [{origin}]"


def _utility_lines(result: Result, finding: UtilityFinding) -> Lines:
    arguments, beta, error = result.arguments, finding.beta, finding.best_error
    assert isinstance(arguments, UtilityArguments)
    word = "VIOLATION" if finding.verdict == Verdict.VIOLATION else finding.verdict.value
    name, verdict = "claim", f"{word}: {_UTILITY[finding.verdict]}"
    if is_ladder(result):
        name, verdict = "tested", f"{_UTILITY[finding.verdict]}; {_theorem_text(result)}"
    examples = f"{count(finding.n)} examples ({finding.setting})"
    best = "" if error is None else f"; the best concept's error is {significant(error)}"
    low, high = rate(finding.failure_lower, "down", beta=beta), rate(finding.failure_upper, "up", beta=beta)
    rates = f"{rate(finding.failure_rate, beta=beta)} [{low}, {high}] with confidence {percent(finding.confidence)}"
    return [
        (name, f"Pr[{wording.failure_text(finding)}] <= {value_text(beta)} on {examples}"),
        ("case", f"{arguments.case} ({finding.concept}{best})"),
        ("failures", f"{count(finding.failures)} of {count(finding.trials)}: {rates} (statistical)"),
        ("verdict", verdict),
    ]


def _theorem_text(result: Result) -> str:
    """Return why failures below the theorem's sample size refute nothing."""
    n = getattr(result.arguments, "theorem_n", None)
    return f"the theorem asks for n = {count(n)}" if isinstance(n, int) else "no theorem of the learner promises this"


# Of black-box audits.


def checks_text(finding: PrivacyFinding) -> str:
    """Return what was asked and passed in one line, with the runs that all checks took."""
    passed = [findings.check_words(check) for check in finding.checks if check.answer == Answer.PASSED]
    spent = f"{plural(sum(check.runs for check in finding.checks), 'run')} on both sides"
    return f"{'; '.join(passed) or 'nothing was asked'} ({spent})"


def power_text(finding: PrivacyFinding) -> str:
    """Return what these runs detect with probability `POWER`: an epsilon, and a probability of the impossible."""
    event = f"on an event {findings.likely_text(finding)}"
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

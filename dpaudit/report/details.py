"""All that a finding says, a labelled line each: claim, numbers, power, runs, errors, verdict, witness, warnings."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.audit.finding import PrivacyFinding, Witness
from dpaudit.bounds.curve import Curve
from dpaudit.contract import Relation, Verdict
from dpaudit.engine.arguments import ExactArguments, UtilityArguments
from dpaudit.engine.outcome import is_ladder
from dpaudit.engine.records import Result
from dpaudit.exact.finding import LawFinding
from dpaudit.registry.import_spec import is_place
from dpaudit.report.evidence import (
    POWER,
    assumed_text,
    budget_text,
    check_words,
    checks_text,
    errors_text,
    frontier_text,
    gap_words,
    origin_text,
    origins_text,
    power_text,
    representation_text,
    scores_text,
)
from dpaudit.report.numbers import count, percent, plural, rate, significant, value_text
from dpaudit.report.terminal import Lines, aligned
from dpaudit.report.wording import event_words, failure_text, label_parameters, output_text
from dpaudit.utility.finding import UtilityFinding

__all__ = ["asked_lines", "finding_lines", "theorem_text", "verdict_block"]

_PRIVACY = {
    Verdict.VIOLATION: "VIOLATION: the claim is refuted",
    Verdict.CONSISTENT: "consistent: no violation found with these runs, pairs and events",
    Verdict.NO_EVIDENCE: "no evidence: nothing was found, and nothing could have been",
}
_SAYS = {
    Verdict.VIOLATION: "it fails more often than beta",
    Verdict.UNDECIDED: "the interval holds beta; more trials would decide",
    Verdict.HOLDS: "it fails at most as often as beta, on this case",
    Verdict.VACUOUS: "it fails at most as often as beta, on this case, where the claim promises next to nothing",
}
"""The meaning of a verdict on utility."""


def verdict_block(results: Sequence[Result], repeat: str) -> str:
    """Return the results of one command as aligned lines: learner, claim, numbers, verdict, witness, command.

    Parameters
    ----------
    results : sequence of Result
        All of one learner and one kind.
    repeat : str
        The command that makes them again.
    """
    first = results[0]
    of_learner = f"{first.learner} ({label_parameters(first.parameters)})"
    lines: Lines = [("mechanism", first.learner) if is_place(first.learner) else ("learner", of_learner)]
    if first.fault is not None:
        lines.append(("leaks", f"on purpose: {first.fault}"))
    for result in results:
        # What several cases share, their claim, is said once: before the first of them.
        said = [line for line in lines if line[0] in ("claim", "tested")][-1:]
        lines += [line for line in finding_lines(result) if line not in said]
    lines.append(("repeat", repeat))
    return aligned(lines)


def finding_lines(result: Result) -> Lines:
    """Return the lines of one result."""
    finding = result.finding
    if isinstance(finding, PrivacyFinding):
        return _privacy_lines(result, finding)
    if isinstance(finding, LawFinding):
        return _exact_lines(result, finding)
    if isinstance(finding, UtilityFinding):
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


def asked_lines(finding: PrivacyFinding | LawFinding | UtilityFinding) -> Lines:
    """Return what options asked for beside the verdict: a curve, an enclosure, what many runs cost."""
    lines: Lines = []
    if isinstance(finding, PrivacyFinding) and finding.curve is not None:
        lines.append(("curve", _curve(finding, finding.curve)))
    if not isinstance(finding, LawFinding):
        return lines
    if finding.enclosure is not None:
        lines.append(("enclosed", "epsilon in [{}, {}], by ball arithmetic".format(*finding.enclosure)))
    if (made := finding.composition) is not None:
        runs = f"{plural(made.times, 'run')} on one sample ({made.grade}, these pairs)"
        lines.append(("composed", f"epsilon of {runs}: {_brackets(made.epsilons, 'delta')}"))
        lines.append(("composed", f"delta of {runs}: {_brackets(made.deltas, 'epsilon')}"))
    return lines


def _curve(finding: PrivacyFinding, curve: Curve) -> str:
    """Return the lower bounds on delta at a few epsilons."""
    grid = sorted({0.0, finding.epsilon / 2, finding.epsilon})
    steps = ", ".join(
        f"{significant(delta, 'down')} at epsilon {value_text(epsilon)}"
        for epsilon, delta in zip(grid, curve.delta_lower(grid).tolist(), strict=True)
    )
    at = f"with confidence {percent(1 - curve.gamma)}, at all epsilons together"
    return f"delta >= {steps}; mu >= {significant(curve.mu_lower, 'down')} ({at})"


def _exact_lines(result: Result, finding: LawFinding) -> Lines:
    """Return the lines of an exact audit."""
    claimed, worst = finding.claimed_epsilon, finding.pair_in_words
    lines = [("epsilon", _epsilon(result, finding))]
    if claimed is None:
        claim, verdict = "none", "the learner claims no privacy"
    else:
        claim = _tested_claim(result, claimed, finding.claimed_delta, finding.relation)
        refuted = finding.verdict == Verdict.VIOLATION
        verdict = _PRIVACY[finding.verdict] if refuted else "consistent: no violation on these pairs"
        at_claim = significant(finding.delta_at_claim, apart_from=finding.claimed_delta)
        lines.append(("delta", f"{at_claim} at worst, at the claimed epsilon"))
    output = output_text(finding.worst_atom, result.decoded)
    witness = f"{worst.data} against {worst.neighbour}, output {output} [{origin_text(worst.origin)}]"
    return [("claim", claim), *lines, *asked_lines(finding), ("verdict", verdict), ("witness", witness)]


def _epsilon(result: Result, finding: LawFinding) -> str:
    """Return the worst epsilon, its error, and the pairs that it is over."""
    covered = f"{count(finding.pairs)} ordered pairs: {_covered(result, finding)}"
    shown = significant(finding.epsilon, apart_from=finding.claimed_epsilon, error=finding.error)
    error = f"error at most {significant(finding.error, 'up', digits=2)}"
    return f"{shown} at worst ({finding.grade}, {error}) over {covered}"


def _covered(result: Result, finding: LawFinding) -> str:
    """Return which samples were compared."""
    assert isinstance(result.arguments, ExactArguments)
    if result.arguments.samples == "crafted":
        return f"crafted pairs from samples of {result.arguments.n} examples"
    return "the samples given" if finding.n is None else f"all neighbours of samples of {finding.n} examples"


def _brackets(rows: Sequence[tuple[float, float, float]], at: str) -> str:
    """Return rows (where, lower end, upper end) on one line, lower ends rounded down and upper ends up."""
    return ", ".join(
        f"[{significant(low, 'down')}, {significant(high, 'up')}] at {at} {significant(x)}" for x, low, high in rows
    )


def _privacy_lines(result: Result, finding: PrivacyFinding) -> Lines:
    """Return the lines of a black-box audit."""
    lower = significant(finding.epsilon_lower, "down", apart_from=finding.epsilon)
    at = f"with confidence {percent(finding.confidence)}"
    return [
        ("claim", _tested_claim(result, finding.epsilon, finding.delta, finding.relation)),
        ("bound", f"epsilon >= {lower} {at} (statistical; {_size(finding)})"),
        *asked_lines(finding),
        *_power(finding),
        ("compared", f"pairs: {origins_text(finding)}; scores: {scores_text(finding)}"),
        ("budget", budget_text(finding)),
        ("errors", errors_text(finding)),
        ("verdict", _PRIVACY[finding.verdict]),
        ("witness", _witness(finding.witness, None if is_place(result.learner) else result.decoded)),
        *([("floating point", representation_text(finding))] if finding.representation else []),
        *([("checked", checks_text(finding))] if finding.checks else []),
        *(("warning", text) for text in finding.warnings),
        *(("warning", check_words(check)) for check in finding.checks if not (check.passed or check.meaningless)),
    ]


def _power(finding: PrivacyFinding) -> Lines:
    """Return which leaks would have been detected, or why none would have been."""
    if finding.verdict == Verdict.NO_EVIDENCE:
        return [("power", f"none: {gap_words(gap)}") for gap in finding.gaps]
    steps = ", ".join(f"{mass}: {least}" for mass, least in frontier_text(finding, infinity="none in reach"))
    return [
        ("power", f"would detect with probability {POWER}: {power_text(finding)}"),
        ("frontier", f"least epsilon detected, by probability of the event: {steps}"),
        ("assumed", assumed_text(finding)),
        *(("but", gap_words(gap)) for gap in finding.gaps),
    ]


def _size(finding: PrivacyFinding) -> str:
    """Return how much was run and compared."""
    pairs = plural(finding.pairs, "pair")
    if finding.design == "sequential":
        return f"{count(finding.budget['used'])} runs on {pairs}, by bets"
    # The runs of the local search come out of those of the pairs given.
    each = "a side" if finding.pairs == 1 else f"a side of each of {count(len(finding.origins))} pairs given"
    return f"{count(finding.trials)} runs {each}; {pairs} and {count(finding.events)} events compared"


def _witness(witness: Witness, decoded: dict[str, str] | None) -> str:
    """Return the two inputs, the event and its counts; bets have no counts."""
    inputs, event = f"{witness.data} against {witness.neighbour}", event_words(witness.event, decoded)
    origin = origin_text(witness.origin)
    if witness.hits is None or witness.trials is None:
        return f"{inputs}, {event} [{origin}]"
    assert witness.neighbour_hits is not None
    assert witness.neighbour_trials is not None
    rates = (
        f"{count(witness.hits)} of {count(witness.trials)} against "
        f"{count(witness.neighbour_hits)} of {count(witness.neighbour_trials)} runs"
    )
    return f"{inputs} ({witness.direction}), event: {event}: {rates} [{origin}]"


def _utility_lines(result: Result, finding: UtilityFinding) -> Lines:
    """Return the lines of an audit of utility."""
    arguments = result.arguments
    assert isinstance(arguments, UtilityArguments)
    word = "VIOLATION" if finding.verdict == Verdict.VIOLATION else finding.verdict.value
    name, verdict = "claim", f"{word}: {_SAYS[finding.verdict]}"
    if is_ladder(result):
        name, verdict = "tested", f"{_SAYS[finding.verdict]}; {theorem_text(arguments)}"
    examples = f"{count(finding.n)} examples ({finding.setting})"
    error = finding.best_error
    best = "" if error is None else f"; the best concept's error is {significant(error)}"
    return [
        (name, f"Pr[{failure_text(finding)}] <= {value_text(finding.beta)} on {examples}"),
        ("case", f"{arguments.case} ({finding.concept}{best})"),
        ("failures", f"{_failures(finding)} with confidence {percent(finding.confidence)} (statistical)"),
        ("verdict", verdict),
    ]


def _failures(finding: UtilityFinding) -> str:
    """Return the failures, their rate and its interval, each on its side of beta."""
    beta = finding.beta
    shown = rate(finding.failure_rate, beta=beta)
    low, high = rate(finding.failure_lower, "down", beta=beta), rate(finding.failure_upper, "up", beta=beta)
    return f"{count(finding.failures)} of {count(finding.trials)}: {shown} [{low}, {high}]"


def theorem_text(arguments: UtilityArguments) -> str:
    """Say why failures refute nothing here."""
    n = arguments.theorem_n
    return f"the theorem asks for n = {count(n)}" if isinstance(n, int) else "no theorem of the learner promises this"

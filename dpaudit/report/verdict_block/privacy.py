"""The lines of a black-box audit."""

from __future__ import annotations

from dpaudit.audit.finding import PrivacyFinding, Witness
from dpaudit.contract import Verdict
from dpaudit.engine.records import Result
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
from dpaudit.report.numbers import count, percent, plural, significant, value_text
from dpaudit.report.terminal import Lines
from dpaudit.report.verdict_block.claim import tested_claim
from dpaudit.report.wording import event_words

__all__ = ["curve_lines", "privacy_lines"]

_VERDICTS = {
    Verdict.VIOLATION: "VIOLATION: the claim is refuted",
    Verdict.CONSISTENT: "consistent: no violation found with these runs, pairs and events",
    Verdict.NO_EVIDENCE: "no evidence: nothing was found, and nothing could have been",
}


def privacy_lines(result: Result, finding: PrivacyFinding) -> Lines:
    """Return the lines of a black-box audit."""
    lower = significant(finding.epsilon_lower, "down", apart_from=finding.epsilon)
    at = f"with confidence {percent(finding.confidence)}"
    return [
        ("claim", tested_claim(result, finding.epsilon, finding.delta, finding.relation)),
        ("bound", f"epsilon >= {lower} {at} (statistical; {_size(finding)})"),
        *curve_lines(finding),
        *_power(finding),
        ("compared", f"pairs: {origins_text(finding)}; scores: {scores_text(finding)}"),
        ("budget", budget_text(finding)),
        ("errors", errors_text(finding)),
        ("verdict", _VERDICTS[finding.verdict]),
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
    return [
        ("power", f"would detect with probability {POWER}: {power_text(finding)}"),
        ("frontier", _frontier(finding)),
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


def _frontier(finding: PrivacyFinding) -> str:
    """Return the frontier on one line."""
    steps = ", ".join(f"{mass}: {least}" for mass, least in frontier_text(finding, infinity="none in reach"))
    return f"least epsilon detected, by probability of the event: {steps}"


def curve_lines(finding: PrivacyFinding) -> Lines:
    """Return the lower bounds on delta at a few epsilons, where a curve was asked for."""
    curve = finding.curve
    if curve is None:
        return []
    grid = sorted({0.0, finding.epsilon / 2, finding.epsilon})
    steps = ", ".join(
        f"{significant(delta, 'down')} at epsilon {value_text(epsilon)}"
        for epsilon, delta in zip(grid, curve.delta_lower(grid).tolist(), strict=True)
    )
    at = f"with confidence {percent(1 - curve.gamma)}, at all epsilons together"
    return [("curve", f"delta >= {steps}; mu >= {significant(curve.mu_lower, 'down')} ({at})")]


def _witness(witness: Witness, decoded: dict[str, str] | None) -> str:
    """Return the two inputs, the event and its counts; bets have no counts."""
    told, event = f"{witness.data} against {witness.neighbour}", event_words(witness.event, decoded)
    origin = origin_text(witness.origin)
    if witness.hits is None or witness.trials is None:
        return f"{told}, {event} [{origin}]"
    assert witness.neighbour_hits is not None
    assert witness.neighbour_trials is not None
    rates = (
        f"{count(witness.hits)} of {count(witness.trials)} against "
        f"{count(witness.neighbour_hits)} of {count(witness.neighbour_trials)} runs"
    )
    return f"{told} ({witness.direction}), event: {event}: {rates} [{origin}]"

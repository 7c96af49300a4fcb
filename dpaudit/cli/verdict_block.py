"""One finding as a few lines of plain text, for the commands that make a single audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpaudit.cli.mechanism import is_mechanism
from dpaudit.reporters.unseen import (
    POWER,
    assumed_text,
    budget_text,
    errors_text,
    frontier_text,
    origin_text,
    origins_text,
    power_text,
    scores_text,
)
from dpaudit.reporters.wording import (
    count,
    event_text,
    failure_text,
    label_parameters,
    output_text,
    percent,
    rate,
    significant,
    value_text,
)

__all__ = ["verdict_block"]

_Lines = list[tuple[str, str]]


def verdict_block(records: Sequence[Mapping[str, Any]], repeat: str) -> str:
    """Return the records of one command as aligned lines: learner, claim, numbers, verdict, witness, command.

    Parameters
    ----------
    records : sequence of mappings
        As `engine.perform` makes them, all of one learner and one kind.
    repeat : str
        The command that makes them again.
    """
    first = records[0]
    lines: _Lines = [_subject(first)]
    if first["fault"] is not None:
        lines.append(("leaks", f"on purpose: {first['fault']}"))
    for record in records:
        # What several cases share, their claim, is said once: before the first of them.
        said = [line for line in lines if line[0] in ("claim", "tested")][-1:]
        lines += [line for line in _BODIES[record["kind"]](record, record["finding"]) if line not in said]
    lines.append(("repeat", repeat))
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name.ljust(width)}  {text}" for name, text in lines) + "\n"


def _subject(record: Mapping[str, Any]) -> tuple[str, str]:
    """Return what was audited."""
    if is_mechanism(record["learner"]):
        return "mechanism", str(record["learner"])
    return "learner", f"{record['learner']} ({label_parameters(record['parameters'])})"


def _claim(epsilon: Any, delta: Any, relation: Any, record: Mapping[str, Any]) -> str:
    """Return the claim that was tested; with its source if it is the learner's own."""
    own = record["claim"]
    tested = f"epsilon = {value_text(epsilon)}, delta = {value_text(delta)}, {relation or 'neighbours as given'}"
    if own is None and is_mechanism(record["learner"]):
        return tested
    if own is None or (own["epsilon"], own["delta"], own["relation"]) != (epsilon, delta, relation):
        return f"{tested} (not the learner's own)"
    known = [own[name] for name in ("claim_id", "source") if own.get(name)]
    return f"{tested} ({'; '.join(known)})" if known else tested


def _exact(record: Mapping[str, Any], finding: Mapping[str, Any]) -> _Lines:
    claimed, found = finding["claimed_epsilon"], finding["epsilon"]
    over = "all neighbours of" if record["arguments"]["samples"] == "all" else "crafted pairs from"
    covered = f"{count(finding['pairs'])} ordered pairs: {over} samples of {record['arguments']['n']} examples"
    shown = significant(found, apart_from=claimed, error=finding["error"])
    error = f"error at most {significant(finding['error'], 'up', digits=2)}"
    worst = finding["worst_pair"]
    lines = [
        (
            "claim",
            "none" if claimed is None else _claim(claimed, finding["claimed_delta"], finding["relation"], record),
        ),
        ("epsilon", f"{shown} at worst ({finding['grade']}, {error}) over {covered}"),
    ]
    if finding.get("enclosure") is not None:
        lines.append(("enclosed", "epsilon in [{}, {}], by ball arithmetic".format(*finding["enclosure"])))
    if claimed is not None:
        at_claim = significant(finding["delta_at_claim"], apart_from=finding["claimed_delta"])
        lines.append(("delta", f"{at_claim} at worst, at the claimed epsilon"))
    words = {
        "violation": "VIOLATION: the claim is refuted",
        "consistent": "consistent: no violation on these pairs",
    }
    verdict = "the learner claims no privacy" if claimed is None else words[finding["verdict"]]
    output = output_text(finding["worst_atom"], record.get("decoded"))
    witness = f"{worst['data']} against {worst['neighbour']}, output {output} [{worst['origin']}]"
    return [*lines, *_composed(finding), ("verdict", verdict), ("witness", witness)]


def _composed(finding: Mapping[str, Any]) -> _Lines:
    """Return what many runs cost, lower ends rounded down and upper ends up."""
    made = finding.get("composition")
    if made is None:
        return []
    runs = f"{count(made['times'])} run{'s' if made['times'] != 1 else ''} on one sample ({made['grade']}, these pairs)"
    return [
        ("composed epsilon", f"{runs}: {_brackets(made['epsilons'], 'delta')}"),
        ("composed delta", f"{runs}: {_brackets(made['deltas'], 'epsilon')}"),
    ]


def _brackets(rows: Sequence[Sequence[Any]], at: str) -> str:
    """Return rows (where, lower end, upper end) on one line."""
    return ", ".join(
        f"[{significant(low, 'down')}, {significant(high, 'up')}] at {at} {significant(x)}" for x, low, high in rows
    )


def _privacy(record: Mapping[str, Any], finding: Mapping[str, Any]) -> _Lines:
    witness, epsilon = finding["witness"], finding["epsilon"]
    lower = significant(finding["epsilon_lower"], "down", apart_from=epsilon)
    words = {
        "violation": "VIOLATION: the claim is refuted",
        "consistent": "consistent: no violation found with these runs, pairs and events",
    }
    return [
        ("claim", _claim(epsilon, finding["delta"], finding["relation"], record)),
        (
            "bound",
            f"epsilon >= {lower} with confidence {percent(finding['confidence'])} (statistical; {_size(finding)})",
        ),
        *_curve(finding),
        ("power", f"would convict with probability {POWER}: {power_text(finding)}"),
        ("frontier", _frontier(finding)),
        ("assumed", assumed_text(finding)),
        ("compared", f"pairs: {origins_text(finding)}; scores: {scores_text(finding)}"),
        ("budget", budget_text(finding)),
        ("errors", errors_text(finding)),
        ("verdict", words[finding["verdict"]]),
        ("witness", _witness(witness, record)),
        *(("warning", text) for text in finding["warnings"]),
    ]


def _size(finding: Mapping[str, Any]) -> str:
    """Return how much was run and compared."""
    pairs = f"{count(finding['pairs'])} pair{'s' if finding['pairs'] != 1 else ''}"
    if finding["design"] == "sequential":
        return f"{count(finding['budget']['used'])} runs on {pairs}, by bets"
    # The runs of the local search come out of those of the pairs given.
    each = "a side" if finding["pairs"] == 1 else f"a side of each of {count(len(finding['origins']))} pairs given"
    return f"{count(finding['trials'])} runs {each}; {pairs} and {count(finding['events'])} events compared"


def _frontier(finding: Mapping[str, Any]) -> str:
    """Return the frontier on one line."""
    steps = ", ".join(f"{mass}: {least}" for mass, least in frontier_text(finding, infinity="none in reach"))
    return f"least epsilon convicted, by probability of the event: {steps}"


def _curve(finding: Mapping[str, Any]) -> _Lines:
    """Return the lower bounds on delta at a few epsilons, where a curve was asked for."""
    if finding["curve"] is None:
        return []
    from dpaudit.bounds.curve import Curve

    curve = Curve.from_dict(finding["curve"])
    grid = sorted({0.0, finding["epsilon"] / 2, finding["epsilon"]})
    steps = ", ".join(
        f"{significant(float(delta), 'down')} at epsilon {value_text(e)}"
        for e, delta in zip(grid, curve.delta_lower(grid).tolist(), strict=True)
    )
    at = f"with confidence {percent(1 - curve.gamma)}, at all epsilons together"
    return [("curve", f"delta >= {steps}; mu >= {significant(curve.mu_lower(), 'down')} ({at})")]


def _witness(witness: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """Return the two inputs, the event and its counts; bets have no counts, and -1 is failure for learners alone."""
    told = f"{witness['data']} against {witness['neighbour']}"
    if witness["hits"] is None:
        return f"{told}, {witness['event']} [{origin_text(witness['origin'])}]"
    rates = (
        f"{count(witness['hits'])} of {count(witness['trials'])} against "
        f"{count(witness['neighbour_hits'])} of {count(witness['neighbour_trials'])} runs"
    )
    event = witness["event"]
    if not is_mechanism(record["learner"]):
        event = event_text(event, record.get("decoded"))
    return f"{told} ({witness['direction']}), event: {event}: {rates} [{origin_text(witness['origin'])}]"


def _best(finding: Mapping[str, Any]) -> str:
    """Return the error of the best concept, over which the excess is counted."""
    best = finding.get("best_error")
    return "" if best is None else f"; the best concept's error is {significant(best)}"


def _utility(record: Mapping[str, Any], finding: Mapping[str, Any]) -> _Lines:
    beta = finding["beta"]
    shown = rate(finding["failure_rate"], beta=beta)
    low, high = (
        rate(finding["failure_lower"], "down", beta=beta),
        rate(finding["failure_upper"], "up", beta=beta),
    )
    promised = record["arguments"]["role"] != "ladder"
    words = {
        "violation": "VIOLATION: it fails more often than beta" if promised else "fails more often than beta here",
        "undecided": "undecided: the interval holds beta; more trials would tell",
        "holds": f"{'holds: it ' if promised else ''}fails at most as often as beta, on this case",
    }
    theorem = "" if promised else f"; {_theorem(record['arguments'])}"
    return [
        (
            "claim" if promised else "tested",
            f"Pr[{failure_text(finding)}] <= {value_text(beta)} on {count(finding['n'])} examples "
            f"({finding['setting']})",
        ),
        ("case", f"{record['arguments']['case']} ({finding['concept']}{_best(finding)})"),
        (
            "failures",
            f"{count(finding['failures'])} of {count(finding['trials'])}: {shown} [{low}, {high}] "
            f"with confidence {percent(finding['confidence'])} (statistical)",
        ),
        ("verdict", words[finding["verdict"]] + theorem),
    ]


def _theorem(arguments: Mapping[str, Any]) -> str:
    """Say why failures refute nothing here."""
    n = arguments.get("theorem_n")
    return "no theorem of the learner promises this" if n is None else f"the theorem asks for n = {count(n)}"


_BODIES: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], _Lines]] = {
    "exact": _exact,
    "privacy": _privacy,
    "utility": _utility,
}

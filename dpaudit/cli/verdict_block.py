"""One finding as a few lines of plain text, for the commands that make a single audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpaudit.cli.mechanism import is_mechanism
from dpaudit.reporters.unseen import (
    POWER,
    budget_text,
    errors_text,
    frontier_text,
    origin_text,
    origins_text,
    power_text,
    scores_text,
)
from dpaudit.reporters.wording import count, label_parameters, percent, rate, significant, value_text

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
        # What several cases share, their claim, is said once.
        lines += [line for line in _BODIES[record["kind"]](record, record["finding"]) if line not in lines[:3]]
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
    if claimed is not None:
        at_claim = significant(finding["delta_at_claim"], apart_from=finding["claimed_delta"])
        lines.append(("delta", f"{at_claim} at worst, at the claimed epsilon"))
    words = {
        "violation": "VIOLATION: the claim is refuted",
        "consistent": "consistent: no violation on these pairs",
    }
    verdict = "the learner claims no privacy" if claimed is None else words[finding["verdict"]]
    witness = f"{worst['data']} against {worst['neighbour']}, output {finding['worst_atom']} [{worst['origin']}]"
    return [*lines, ("verdict", verdict), ("witness", witness)]


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
        ("compared", f"pairs: {origins_text(finding)}; scores: {scores_text(finding)}"),
        ("budget", budget_text(finding)),
        ("errors", errors_text(finding)),
        ("verdict", words[finding["verdict"]]),
        ("witness", _witness(witness)),
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
    betting = "; betting needs somewhat more" if finding["design"] == "sequential" else ""
    return f"least epsilon convicted, by probability of the event: {steps}{betting}"


def _curve(finding: Mapping[str, Any]) -> _Lines:
    """Return the lower bounds on delta at a few epsilons, where a curve was asked for."""
    if finding["curve"] is None:
        return []
    from dpaudit.privacy.curve import Curve

    curve = Curve.from_dict(finding["curve"])
    grid = sorted({0.0, finding["epsilon"] / 2, finding["epsilon"]})
    steps = ", ".join(
        f"{significant(float(delta), 'down')} at epsilon {value_text(e)}"
        for e, delta in zip(grid, curve.delta_lower(grid).tolist(), strict=True)
    )
    at = f"with confidence {percent(1 - curve.gamma)}, at all epsilons together"
    return [("curve", f"delta >= {steps}; mu >= {significant(curve.mu_lower(), 'down')} ({at})")]


def _witness(witness: Mapping[str, Any]) -> str:
    """Return the two inputs, the event and its counts; bets have no counts."""
    told = f"{witness['data']} against {witness['neighbour']}"
    if witness["hits"] is None:
        return f"{told}, {witness['event']} [{origin_text(witness['origin'])}]"
    rates = (
        f"{count(witness['hits'])} of {count(witness['trials'])} against "
        f"{count(witness['neighbour_hits'])} of {count(witness['neighbour_trials'])} runs"
    )
    return f"{told} ({witness['direction']}), event: {witness['event']}: {rates} [{origin_text(witness['origin'])}]"


def _utility(record: Mapping[str, Any], finding: Mapping[str, Any]) -> _Lines:
    beta = finding["beta"]
    shown = rate(finding["failure_rate"], beta=beta)
    low, high = (
        rate(finding["failure_lower"], "down", beta=beta),
        rate(finding["failure_upper"], "up", beta=beta),
    )
    words = {
        "violation": "VIOLATION: it fails more often than beta",
        "undecided": "undecided: the interval holds beta; more trials would tell",
        "holds": "holds: it fails at most as often as beta, on this case",
    }
    return [
        (
            "claim",
            f"Pr[error > {value_text(finding['alpha'])}] <= {value_text(beta)} "
            f"on {count(finding['n'])} examples "
            f"({finding['setting']})",
        ),
        ("case", f"{record['arguments']['case']} ({finding['concept']})"),
        (
            "failures",
            f"{count(finding['failures'])} of {count(finding['trials'])}: {shown} [{low}, {high}] "
            f"with confidence {percent(finding['confidence'])} (statistical)",
        ),
        ("verdict", words[finding["verdict"]]),
    ]


_BODIES: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], _Lines]] = {
    "exact": _exact,
    "privacy": _privacy,
    "utility": _utility,
}

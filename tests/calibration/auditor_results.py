"""The results of a calibration: a document of numbers, a page of Markdown, and the few numbers that reports show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auditor_profiles import Cell
from auditor_trials import LEVEL
from scipy.stats import binom

from dpaudit.audit.power import LEARNING, LEARNING_OF_BETS
from dpaudit.report.numbers import count, percent, significant, value_text
from dpaudit.results import versions
from dpaudit.utility.interval import failure_interval

__all__ = ["BROKEN_BEYOND_CHANCE", "carried", "document", "markdown", "sentences"]

POWER = 0.95
BROKEN_BEYOND_CHANCE = 1e-3
"""The probability that a calibration finds a broken promise where all are kept, all cells together."""
PROMISED = {
    ("given", 1): POWER,
    ("bets given", 1): POWER,
    ("fixed", LEARNING): 0.9,
    ("sequential", LEARNING_OF_BETS): 0.9,
}
"""The power that is promised, by design and multiple of the runs that detect by a given event: what learning an event
costs differs between mechanisms, so that "about 0.95" is held against 0.9."""

NULL_NOTE = (
    "Every claim here holds, most of them with equality, so that every violation found is a false positive. Boundary: "
    "the claim is the exact epsilon of the pair, at the mechanism's own delta. Swapped: the same with the inputs "
    "exchanged. No signal: two equal inputs against epsilon = 0. Wrong sign: a given event that is likelier on the "
    "other side than assumed. Given: one event, fixed in advance. Fixed: events chosen on a part of the runs, "
    "by which the coins of the others are guessed. Sequential: bets. p is the exact one-sided p-value of a rate of at "
    "most the level."
)
ALTERNATIVE_NOTE = (
    "The claim is that of full noise, and the mechanism adds less. The runs are the least for which a leak as large as "
    "the true one is detected with probability 0.95 by the best event, given: known in advance, all runs spent on it. "
    "For events that have to be learned the audit's frontier assumes three times as many in the fixed design, "
    "which confirms with all and has a quarter more to find its event, and twice as many in the sequential one, "
    "which gets them in all. The promise is broken where 0.95 for given events, or 0.9 for learned ones at so many "
    "runs, is missed beyond chance. What learned events detect with the runs of given ones shows what learning costs. "
    "In brackets: audits."
)
DESIGNS = {
    "given": "given events",
    "fixed": "learned events",
    "bets given": "bets on given events",
    "sequential": "bets on learned labels",
}
CONTROLS_NOTE = "The learners with one planted leak each, run as they come on crafted pairs, at a small budget."
COLUMNS = (("given", 1), ("fixed", 1), ("fixed", 3), ("bets given", 1), ("sequential", 1), ("sequential", 2))
"""Designs, and multiples of the predicted runs, in the order of the columns of the second table."""


def document(
    profile: str, cells: Sequence[tuple[Cell, int]], audits: Mapping[str, Mapping[str, Any]], budget: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all that was found, without a date: the same results give the same document.

    Parameters
    ----------
    profile : str
        Its name.
    cells : sequence of (Cell, int)
        And how many audits of each accused.
    audits : mapping
        By id of a learner: "fault" (or None), "convicted", "lower" and "claim".
    budget : mapping
        "trials" and "confidence" of the audits of learners.
    """
    least = BROKEN_BEYOND_CHANCE / max(1, len(cells))
    null = [_null(cell, accused, least) for cell, accused in cells if not cell.factor]
    alternative = [_alternative(cell, accused, least) for cell, accused in cells if cell.factor]
    controls, sound = ([_learner(id, a) for id, a in audits.items() if bool(a["fault"]) == k] for k in (True, False))
    return {
        "profile": profile,
        "seed": 0,
        "versions": versions(),
        "level": round(LEVEL, 6),
        "power_promised": POWER,
        "false_accusations": null,
        "power": alternative,
        "mutation": {**budget, "controls": controls, "sound": sound},
        "broken": _broken(null, alternative, controls, sound, 1 - budget["confidence"]),
    }


def _counted(cell: Cell, accused: int) -> dict[str, Any]:
    """Return the entries of a cell under the null or the alternative."""
    trial = cell.trial
    lower, upper = failure_interval(accused, cell.audits, 0.95)
    return {
        "mechanism": trial.case,
        "outputs": trial.of.kind,
        "delta": round(trial.of.delta, 6),
        "condition": trial.condition,
        "design": trial.design,
        "runs": trial.trials,
        "pairs": trial.pairs,
        "jobs": trial.jobs,
        "audits": cell.audits,
        "accused": accused,
        "rate": round(accused / cell.audits, 6),
        "lower": round(lower, 6),
        "upper": round(upper, 6),
    }


def _null(cell: Cell, accused: int, least: float) -> dict[str, Any]:
    """Return a cell with the one-sided p-value of its rate being at most the level."""
    p_value = float(binom.sf(accused - 1, cell.audits, LEVEL))
    return {**_counted(cell, accused), "level": round(LEVEL, 6), "p_value": _short(p_value), "broken": p_value < least}


def _alternative(cell: Cell, accused: int, least: float) -> dict[str, Any]:
    """Return a cell with, where power is promised, the one-sided p-value of its rate being at least that."""
    trial = cell.trial
    promised = PROMISED.get((trial.design, cell.factor))
    p_value = None if promised is None else float(binom.cdf(accused, cell.audits, promised))
    return {
        **_counted(cell, accused),
        "removed": round(1 - trial.noise, 6),
        "epsilon": round(trial.of.epsilon_at(trial.noise), 6),
        "predicted": cell.predicted,
        "factor": cell.factor,
        "p_value": None if p_value is None else _short(p_value),
        "broken": p_value is not None and p_value < least,
    }


def _short(p_value: float) -> float:
    return float(f"{p_value:.3g}")


def _learner(id: str, audit: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": id, "convicted": audit["convicted"], "lower": round(audit["lower"], 4), "claim": audit["claim"]}


def _broken(
    null: Sequence[Mapping[str, Any]],
    alternative: Sequence[Mapping[str, Any]],
    controls: Sequence[Mapping[str, Any]],
    sound: Sequence[Mapping[str, Any]],
    level: float,
) -> list[str]:
    """Return the promises that were broken, in words."""
    accused = [learner["id"] for learner in sound if learner["convicted"]]
    # One sound learner in a thousand may be accused; it is named only where there are more than chance allows.
    excess = binom.sf(len(accused) - 1, len(sound), level) < BROKEN_BEYOND_CHANCE
    return [
        *(f"accuses too often: {_words(cell)}" for cell in null if cell["broken"]),
        *(f"detects too seldom: {_words(cell)}" for cell in alternative if cell["broken"]),
        *(f"planted leak not detected: {control['id']}" for control in controls if not control["convicted"]),
        *(f"sound learner accused: {id}" for id in accused if excess),
    ]


def _words(cell: Mapping[str, Any]) -> str:
    pairs = "" if cell["pairs"] == 1 else f", {cell['pairs']} pairs"
    noise = f", {100 * cell['removed']:.0f} % less noise" if "removed" in cell else ""
    return f"{cell['mechanism']}, {cell['condition']}, {cell['design']}, {cell['runs']:,} runs a side{pairs}{noise}"


def carried(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a document that the package carries for its reports."""
    null, controls = found["false_accusations"], found["mutation"]["controls"]
    return {
        "level": found["level"],
        "audits": sum(cell["audits"] for cell in null),
        "refuted": sum(cell["accused"] for cell in null),
        "faults": len(controls),
        "detected": sum(control["convicted"] for control in controls),
    }


def sentences(found: Mapping[str, Any]) -> list[str]:
    """Return what a document amounts to: false positives, power, missed faults, broken promises."""
    null, mutation, numbers = found["false_accusations"], found["mutation"], carried(found)
    audits, refuted = numbers["audits"], numbers["refuted"]
    worst = max((cell["rate"] for cell in null), default=0.0)
    missed = [control["id"] for control in mutation["controls"] if not control["convicted"]]
    sound = mutation["sound"]
    return [
        f"False positives: {count(refuted)} of {count(audits)} audits of claims that hold find a violation, "
        f"{_percent(refuted / max(audits, 1))} where {percent(found['level'])} is allowed, in "
        f"{count(len(null))} settings, of which the worst has {_percent(worst)}.",
        f"Power: {_power_sentence(found['power'])}",
        f"Missed faults: {count(numbers['detected'])} of {count(numbers['faults'])} learners with a planted leak are "
        f"detected at {count(mutation['trials'])} runs a side and confidence {value_text(mutation['confidence'])}"
        + (f"; not detected: {', '.join(missed)}" if missed else "") + ".",
        f"Sound learners: in {count(sum(one['convicted'] for one in sound))} of {count(len(sound))} the same audits "
        "find a violation.",
        *(f"Broken promise: {text}" for text in found["broken"]),
    ]  # fmt: skip


def _power_sentence(cells: Sequence[Mapping[str, Any]]) -> str:
    """Return the least and the mean rate of detection by design, at the runs predicted: most for learned events."""
    parts = []
    for design, words in DESIGNS.items():
        most = max((cell["factor"] for cell in cells if cell["design"] == design), default=1)
        found = [cell["rate"] for cell in cells if cell["design"] == design and cell["factor"] == most]
        if found:
            mean, least = _percent(sum(found) / len(found)), _percent(min(found))
            parts.append(f"in {mean} of audits by {words} (worst case {least})")
    shown = ", ".join(parts)
    return f"with the runs that the frontier predicts, leaks are detected {shown}." if parts else "not measured."


def markdown(found: Mapping[str, Any]) -> str:
    """Return the page of a document."""
    used = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    command = f"python scripts/calibrate.py --profile {found['profile']} --out docs/research/calibration.md"
    lines = ["# The auditor audited", "", f"Made by `{command}` (seed {found['seed']}; {used}).", ""]
    lines += [f"* {sentence}" for sentence in sentences(found)]
    lines += _null_table(found["false_accusations"]) + _power_table(found["power"]) + _controls_table(found["mutation"])
    return "\n".join([*lines, ""])


def _table(title: str, note: str, heads: Sequence[str], rows: Sequence[tuple[bool, Sequence[str]]]) -> list[str]:
    """Return a section with a table in Markdown; a row that breaks a promise is bold."""
    shown = [tuple(f"**{text}**" for text in row) if broken else row for broken, row in rows]
    lines = [f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads), *shown)]
    return ["", f"## {title}", "", note, "", *lines]


def _null_table(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    heads = ("outputs", "mechanism", "condition", "design", "runs a side", "pairs", "jobs", "audits", "refuted", "rate",
             "95 % interval", "level", "p")  # fmt: skip
    rows = [
        (
            cell["broken"],
            (
                cell["outputs"],
                cell["mechanism"] + (" (delta > 0)" if cell["delta"] else ""),
                cell["condition"],
                cell["design"],
                *(count(cell[name]) for name in ("runs", "pairs", "jobs", "audits", "accused")),
                f"{cell['rate']:.3f}",
                f"{cell['lower']:.3f} to {cell['upper']:.3f}",
                value_text(cell["level"]),
                significant(cell["p_value"], digits=2),
            ),
        )
        for cell in cells
    ]
    return _table("Under the null: how often a claim that holds is refuted", NULL_NOTE, heads, rows)


def _power_table(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the table with one row for each mechanism and noise."""
    heads = ("mechanism", "less noise", "true epsilon", "runs a side, fixed", "event given", "learned, same runs",
             "learned, three times the runs", "runs a side, sequential", "event given", "learned, same runs",
             "learned, twice the runs")  # fmt: skip
    groups: dict[tuple[str, float], dict[tuple[str, int], Mapping[str, Any]]] = {}
    for cell in cells:
        groups.setdefault((cell["mechanism"], cell["removed"]), {})[cell["design"], cell["factor"]] = cell
    rows = []
    for (mechanism, removed), group in groups.items():
        shown = [f"{group[c]['rate']:.3f} ({count(group[c]['audits'])})" if c in group else "-" for c in COLUMNS]
        runs = [count(group[d, 1]["predicted"]) if (d, 1) in group else "-" for d in ("given", "bets given")]
        first = (mechanism, percent(removed), significant(next(iter(group.values()))["epsilon"]))
        rows.append((any(c["broken"] for c in group.values()), (*first, runs[0], *shown[:3], runs[1], *shown[3:])))
    title = "Under the alternative: are leaks found with the runs that are predicted?"
    return _table(title, ALTERNATIVE_NOTE, heads, rows)


def _controls_table(mutation: Mapping[str, Any]) -> list[str]:
    rows = [
        (
            not control["convicted"],
            (
                control["id"],
                value_text(control["claim"]),
                significant(control["lower"], "down", apart_from=control["claim"]),
                "yes" if control["convicted"] else "no",
            ),
        )
        for control in mutation["controls"]
    ]
    return _table("The planted faults", CONTROLS_NOTE, ("control", "claimed epsilon", "lower bound", "detected"), rows)


def _percent(share: float) -> str:
    """Return a measured share as a percentage with one decimal."""
    return percent(round(share, 3))

"""The auditor audited, in words: what `scripts/calibrate.py` measured, as the tables that every format shows.

The package carries the last full calibration of its own version; a report shows it, so that a reader knows how often
the tool errs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpaudit.report.calibration_record import Calibration, Mutation, NullCell, PowerCell
from dpaudit.report.numbers import count, percent, significant, value_text

__all__ = ["Table", "broken_promises", "rates", "tables"]

_NULL = (
    "Every claim here holds, most of them with equality, so that every violation found is a false positive. Boundary: "
    "the claim is the exact epsilon of the pair, at the mechanism's own delta. Swapped: the same with the inputs "
    "exchanged. No signal: two equal inputs against epsilon = 0. Wrong sign: a given event that is likelier on the "
    "other side than assumed. Given: one event, fixed in advance. Fixed and strict: events chosen on a part of the "
    "runs (melded and certified bound). Sequential: bets. p is the exact one-sided p-value of a rate of at most the "
    "level."
)
_ALTERNATIVE = (
    "The claim is that of full noise, and the mechanism adds less. The runs are the least for which a leak as large as "
    "the true one is detected with probability 0.95 by the best event, given: known in advance, all runs spent on it. "
    "For events that have to be learned the audit's frontier reckons with three times as many in the fixed design, "
    "which confirms with all and has a quarter more to find its event, and with twice as many in the sequential one, "
    "which gets them in all. The promise is broken where 0.95 for given events, or 0.9 for learned ones at so many "
    "runs, is missed beyond chance. What learned events detect with the runs of given ones tells what learning costs. "
    "In brackets: audits."
)
_DESIGNS = {
    "given": "given events",
    "fixed": "learned events",
    "bets given": "bets on given events",
    "sequential": "bets on learned labels",
}
_CONTROLS = "The learners with one planted leak each, run as they come on crafted pairs, at a small budget."


@dataclass(frozen=True)
class Table:
    """A table of text.

    Attributes
    ----------
    title, note : str
        What it shows, and how to read it.
    heads : tuple of str
        The names of the columns.
    rows : tuple of tuples of str
        One cell a column.
    broken : tuple of bool
        Which rows break a promise beyond chance.
    """

    title: str
    note: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    broken: tuple[bool, ...]


def rates(found: Calibration) -> list[str]:
    """Return what the calibration amounts to: false positives, power, missed faults."""
    null, mutation = found.false_accusations, found.mutation
    audits, refuted = sum(cell.audits for cell in null), sum(cell.accused for cell in null)
    worst = max((cell.rate for cell in null), default=0.0)
    missed = [control.id for control in mutation.controls if not control.convicted]
    controls, sound = len(mutation.controls), mutation.sound
    caught = f"{count(controls - len(missed))} of {count(controls)} learners with a planted leak are detected"
    return [
        f"False positives: {count(refuted)} of {count(audits)} audits of claims that hold find a violation, "
        f"{_percent(refuted / max(audits, 1))} where {percent(found.level)} is allowed, in "
        f"{count(len(null))} settings, of which the worst has {_percent(worst)}.",
        f"Power: {_power_sentence(found.power)}",
        f"Missed faults: {caught} at {count(mutation.trials)} runs a side and confidence "
        f"{value_text(mutation.confidence)}" + (f"; not detected: {', '.join(missed)}" if missed else "") + ".",
        f"Sound learners: in {count(sum(one.convicted for one in sound))} of {count(len(sound))} the same audits find "
        "a violation.",
    ]


def broken_promises(found: Calibration) -> list[str]:
    """Return every promise that the calibration found broken, in a sentence each."""
    return [f"Broken promise: {text}" for text in found.broken]


def _power_sentence(cells: Sequence[PowerCell]) -> str:
    """Return the least and the mean rate of detection by design, at the runs predicted: most for learned events."""
    told = []
    for design, words in _DESIGNS.items():
        most = max((cell.factor for cell in cells if cell.design == design), default=1)
        found = [cell.rate for cell in cells if cell.design == design and cell.factor == most]
        if found:
            mean, least = _percent(sum(found) / len(found)), _percent(min(found))
            told.append(f"in {mean} of audits by {words} (worst case {least})")
    return (
        f"with the runs that the frontier predicts, leaks are detected {', '.join(told)}." if told else "not measured."
    )


def tables(found: Calibration) -> list[Table]:
    """Return the three tables: claims that hold, claims that fail, planted faults."""
    return [_null(found.false_accusations), _alternative(found.power), _controls(found.mutation)]


def _null(cells: Sequence[NullCell]) -> Table:
    heads = ("outputs", "mechanism", "condition", "design", "runs a side", "pairs", "jobs", "audits", "refuted", "rate",
             "95 % interval", "level", "p")  # fmt: skip
    rows = [
        (
            cell.outputs,
            cell.mechanism + (" (delta > 0)" if cell.delta else ""),
            cell.condition,
            cell.design,
            *map(count, (cell.runs, cell.pairs, cell.jobs, cell.audits, cell.accused)),
            _share(cell.rate),
            f"{_share(cell.lower)} to {_share(cell.upper)}",
            value_text(cell.level),
            significant(cell.p_value, digits=2),
        )
        for cell in cells
    ]
    broken = tuple(cell.broken for cell in cells)
    return Table("Under the null: how often a claim that holds is refuted", _NULL, heads, tuple(rows), broken)


_COLUMNS = (("given", 1), ("fixed", 1), ("fixed", 3), ("bets given", 1), ("sequential", 1), ("sequential", 2))


def _alternative(cells: Sequence[PowerCell]) -> Table:
    """Return one row for each mechanism and noise."""
    heads = ("mechanism", "less noise", "true epsilon", "runs a side, fixed", "event given", "learned, same runs",
             "learned, three times the runs", "runs a side, sequential", "event given", "learned, same runs",
             "learned, twice the runs")  # fmt: skip
    groups: dict[tuple[str, float], dict[tuple[str, int], PowerCell]] = {}
    for cell in cells:
        groups.setdefault((cell.mechanism, cell.removed), {})[cell.design, cell.factor] = cell
    rows = []
    for (mechanism, removed), group in groups.items():
        shown = [_detected(group.get(column)) for column in _COLUMNS]
        known = next(iter(group.values()))
        runs = [count(group[d, 1].predicted) if (d, 1) in group else "-" for d in ("given", "bets given")]
        first = (mechanism, percent(removed), significant(known.epsilon))
        rows.append((*first, runs[0], *shown[:3], runs[1], *shown[3:]))
    broken = tuple(any(cell.broken for cell in group.values()) for group in groups.values())
    title = "Under the alternative: are leaks found with the runs that are predicted?"
    return Table(title, _ALTERNATIVE, heads, tuple(rows), broken)


def _controls(mutation: Mutation) -> Table:
    rows = [
        (
            control.id,
            value_text(control.claim),
            significant(control.lower, "down", apart_from=control.claim),
            "yes" if control.convicted else "no",
        )
        for control in mutation.controls
    ]
    heads = ("control", "claimed epsilon", "lower bound", "detected")
    missed = tuple(not control.convicted for control in mutation.controls)
    return Table("The planted faults", _CONTROLS, heads, tuple(rows), missed)


def _detected(cell: PowerCell | None) -> str:
    return "-" if cell is None else f"{_share(cell.rate)} ({count(cell.audits)})"


def _share(rate: float) -> str:
    return f"{rate:.3f}"


def _percent(share: float) -> str:
    """Return a measured share as a percentage with one decimal."""
    return percent(round(share, 3))

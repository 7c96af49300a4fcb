"""Reports of verbs that audit no single mechanism: labelled lines and a table, in every format of a file."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpaudit.report.aligned import Lines
from dpaudit.report.junit import written
from dpaudit.report.markdown import escaped, fenced
from dpaudit.report.page.template import filled
from dpaudit.report.promises import Kept, Promise

__all__ = ["FORMS", "Plain", "judged", "rendered"]

_BY_STATUS = {0: Kept.KEPT, 1: Kept.BROKEN, 3: Kept.OPEN}


@dataclass(frozen=True)
class Plain:
    """The parts of what a verb shows, which formats put in their own shape.

    Attributes
    ----------
    title : str
        What it is about.
    json, text : str
        What the verb prints with ``--json``, and all that it says in words.
    lines : list of tuple of str
        Labels with texts; of the first pair, the verdict, both are shown as the answer.
    heads : sequence of str
        Those of the table.
    rows : sequence of sequence of str
        Its rows.
    cases : sequence of Promise
        What JUnit's test cases are made of.
    figure : callable, optional
        It returns the figure as SVG.
    """

    title: str
    json: str
    text: str
    lines: Lines
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    cases: Sequence[Promise] = ()
    figure: Callable[[], bytes] | None = None


def judged(name: str, status: int, lines: Lines) -> Promise:
    """Return the test case of what ends with an exit status: its text are the first two lines."""
    kept = _BY_STATUS.get(status, Kept.ERROR)
    text = "; ".join(f"{label} {told}" for label, told in lines[:2])
    return Promise(name, "result", "refuted" if kept is Kept.BROKEN else kept.value, kept, text)


def rendered(shown: Plain, suffix: str) -> bytes:
    """Return what is shown in the format of a suffix, one of `FORMS` or, with a figure, ``.svg``."""
    if suffix == ".svg" and shown.figure is not None:
        return shown.figure()
    return FORMS[suffix](shown).encode()


def _html(shown: Plain) -> str:
    source = ""
    if shown.figure is not None:
        source = f"data:image/svg+xml;base64,{base64.b64encode(shown.figure()).decode()}"
    return filled("plain.html.j2", {"shown": shown, "figure": source})


def _markdown(shown: Plain) -> str:
    parts = [f"## {escaped(shown.title)}"]
    if shown.lines:
        (label, told), *rest = shown.lines
        parts.append(f"**{escaped(label)}** {escaped(told)}")
        parts += [f"- {escaped(label)}: {escaped(told)}" for label, told in rest if label != "repeat"]
        parts += [fenced(told) for label, told in rest if label == "repeat"]
    if shown.rows:
        rows = [shown.heads, ["---"] * len(shown.heads), *shown.rows]
        cells = ([text if row is rows[1] else escaped(text) for text in row] for row in rows)
        parts.append("\n".join(f"| {' | '.join(row)} |" for row in cells))
    return "\n\n".join(parts) + "\n"


def _junit(shown: Plain) -> str:
    return written(shown.cases)


FORMS: dict[str, Callable[[Plain], str]] = {
    ".html": _html,
    ".json": lambda shown: shown.json,
    ".md": _markdown,
    ".txt": lambda shown: shown.text,
    ".xml": _junit,
}
"""Suffix -> what writes it."""

"""Reports of verbs that audit no single mechanism: labelled lines and a table, in every format of a file."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpaudit.report.formats import Promise, escaped, fenced, junit_of
from dpaudit.report.html import filled
from dpaudit.report.terminal import Lines, ShellCommand, label_text


@dataclass(frozen=True)
class Plain:
    """The parts of what a verb shows, which formats put in their own shape.

    `json` is what the verb prints with ``--json``, and `text` all that it says in words. Of `lines` the first, the
    verdict, is shown as the answer, label and text; `heads` and `rows` are those of the table. `case` is the outcome of
    an audit, for its test case in JUnit, and `figure` returns the figure as SVG.
    """

    title: str
    json: str
    text: str
    lines: Lines
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    case: Promise | None = None
    figure: Callable[[], bytes] | None = None


def summed(lines: Lines) -> str:
    """Return the first two of some lines as the text of a test case."""
    return "; ".join(f"{label_text(label)} {text}" for label, text in lines[:2])


def rendered(shown: Plain, suffix: str) -> bytes:
    """Return what is shown in the format of a suffix, one of `FORMS` or, with a figure, ``.svg``."""
    if suffix == ".svg" and shown.figure is not None:
        return shown.figure()
    return FORMS[suffix](shown).encode()


def _html(shown: Plain) -> str:
    source = ""
    if shown.figure is not None:
        source = f"data:image/svg+xml;base64,{base64.b64encode(shown.figure()).decode()}"
    answer = [(label_text(label), text) for label, text in shown.lines[:1]]
    rest = [line for line in shown.lines[1:] if not isinstance(line[1], ShellCommand)]
    commands = [text for _, text in shown.lines if isinstance(text, ShellCommand)]
    page = {"shown": shown, "figure": source, "answer": answer, "rest": rest, "commands": commands}
    return filled("plain.html.j2", page)


def _markdown(shown: Plain) -> str:
    parts = [f"## {escaped(shown.title)}"]
    if shown.lines:
        (label, text), *rest = shown.lines
        parts.append(f"**{escaped(label_text(label))}** {escaped(text)}")
        parts += [f"- {escaped(label)}: {escaped(text)}" for label, text in rest if not isinstance(text, ShellCommand)]
        parts += [fenced(text) for _, text in rest if isinstance(text, ShellCommand)]
    if shown.rows:
        rows = [shown.heads, ["---"] * len(shown.heads), *shown.rows]
        cells = ([text if row is rows[1] else escaped(text) for text in row] for row in rows)
        parts.append("\n".join(f"| {' | '.join(row)} |" for row in cells))
    return "\n\n".join(parts) + "\n"


FORMS: dict[str, Callable[[Plain], str]] = {
    ".html": _html,
    ".json": lambda shown: shown.json,
    ".md": _markdown,
    ".txt": lambda shown: shown.text,
    ".xml": lambda shown: junit_of([shown.case] if shown.case else []),
}
"""Suffix -> what writes it."""

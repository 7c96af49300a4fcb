"""The report as Markdown, for the summary of a job: the answer, what needs a look, and all numbers folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dpaudit.engine.records import Run
from dpaudit.escaping import harmless
from dpaudit.report.columns import COLUMNS, numbers_of
from dpaudit.report.numbers import raised
from dpaudit.report.sentences import Phrase, counts, headline, says
from dpaudit.report.summary import shown_of, summarise
from dpaudit.report.view import Mechanism

__all__ = ["escaped", "fenced", "render"]

_MARKS = {"bad": "🔶", "none": "⬜", "ok": "🔵", "nc": "➖", "caught": "✔️"}
_MOST_LOST = 20
"""The most audits without a result that are listed."""


def render(run: Run) -> str:
    """Return the report of a run as Markdown; the same results give the same bytes.

    Parameters
    ----------
    run : Run
        The stored run.
    """
    summary = summarise(run)
    learners, missed, _ = shown_of(summary)
    looked = [*missed, *(m for m in learners if m.needs_look)]
    parts = [f"## {escaped(headline(summary))}"]
    parts += ["\n".join(f"- {name}: {escaped(text)}" for name, text in counts(summary))]
    parts += [f"- **{escaped(m.name)}**: {_told(says(m))}" for m in looked]
    parts += [_table(looked)] if looked else []
    calm = [m for m in learners if not m.needs_look]
    if calm:
        folded = f"<details><summary>Consistent, or without a claim: {len(calm)}</summary>"
        parts.append(f"{folded}\n\n{_table(calm)}\n\n</details>")
    lost = summary.lost
    parts += [f"- without a result: {escaped(name)}: {escaped(reason)}" for name, reason in lost[:_MOST_LOST]]
    parts += [f"- and {len(lost) - _MOST_LOST} more without a result"] if len(lost) > _MOST_LOST else []
    parts += ["Silence is not proof: every number is about the inputs and answers that were tried."]
    parts += [fenced(run.header.command)]
    parts += [f"Seal of the results: `{run.seal}`"]
    return "\n\n".join(parts) + "\n"


def _told(phrases: Iterable[Phrase]) -> str:
    """Return sentences with what is strong in bold."""
    # A mark of bold must stand beside a letter: the space before a strong phrase is put outside.
    parts = (re.sub(r"^(\s*)(.*)$", r"\1**\2**", escaped(p.text)) if p.strong else escaped(p.text) for p in phrases)
    return "".join(parts).strip()


def _table(shown: Sequence[Mechanism]) -> str:
    """Return the numbers of mechanisms as a table."""
    heads = ("Mechanism", "Verdict", *(column.title for column in COLUMNS), "accuracy")
    rows = [heads, ("---", "---", *["--:"] * len(COLUMNS), "---")]
    for mechanism in shown:
        numbers = numbers_of(mechanism)
        verdict = f"{_MARKS[mechanism.state.tone]} {mechanism.state}{' (!)' * mechanism.tested.conflict}"
        cells = [escaped(raised(column.text(numbers))) for column in COLUMNS]
        rows.append((escaped(mechanism.name), verdict, *cells, str(mechanism.accuracy)))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def escaped(text: str) -> str:
    r"""Return text that Markdown shows as it is.

    >>> print(escaped("a|b <i> *c* [d](e) @f"))
    a\|b &lt;i&gt; \*c\* \[d\](e) &#64;f
    """
    safe = harmless(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    return re.sub(r"([\\`*_{}\[\]|~#])", r"\\\1", safe).replace("&\\#64;", "&#64;")


def fenced(command: str) -> str:
    """Return a command in a fence that nothing in it can close."""
    command = harmless(command)
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in re.findall("`+", command)), default=0))
    return f"{fence}console\n$ {command}\n{fence}"

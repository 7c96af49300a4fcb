"""The report as Markdown, for the summary of a job: the answer, what needs a look, and all numbers folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dpaudit.engine.records import Run
from dpaudit.escaping import harmless
from dpaudit.report.html import line
from dpaudit.report.sentences import Phrase, answer, controls_words, lede, ledger_words, missing_words, says
from dpaudit.report.summary import shown_of, summarise
from dpaudit.report.view import Mechanism

__all__ = ["escaped", "fenced", "render"]

_HEADS = ("Mechanism", "Verdict", "claimed ε", "δ", "exact ε", "found ε ≥", "would catch ε ≥", "fails, %", "allowed, %",
          "accuracy")  # fmt: skip
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
    learners, controls, _, looked = shown_of(summary)
    parts = [f"## {_told(answer(summary, learners, controls))}", f"**{escaped(missing_words(summary))}**"]
    parts += [_told(lede(learners)), escaped(ledger_words(summary)), escaped(controls_words(summary, controls))]
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
    return "\n\n".join(part for part in parts if part.strip("*")) + "\n"


def _told(phrases: Iterable[Phrase]) -> str:
    """Return sentences with what is strong in bold."""
    # A mark of bold must stand beside a letter: the space before a strong phrase is put outside.
    parts = (re.sub(r"^(\s*)(.*)$", r"\1**\2**", escaped(p.text)) if p.strong else escaped(p.text) for p in phrases)
    return "".join(parts).strip()


def _table(shown: Sequence[Mechanism]) -> str:
    """Return the numbers of mechanisms as a table."""
    rows = [_HEADS, ("---", "---", *["--:"] * 7, "---")]
    for mechanism in shown:
        found = line(mechanism)
        verdict = f"{_MARKS[mechanism.state.tone]} {mechanism.state}{' (!)' * mechanism.tested.conflict}"
        numbers = [escaped(cell.text) for cell in (*found["cells"], found["allowed"])]
        rows.append((escaped(mechanism.name), verdict, *numbers, found["accuracy"]))
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

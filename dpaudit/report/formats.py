"""The reports for other tools: Markdown for the summary of a job, JUnit's XML, SARIF 2.1.0.

The Markdown has the answer, what needs a look, and all numbers folded. The others list the promises of a run with their
outcomes. A control promises that its leak is detected: one that is missed is broken like any other promise. Audits that
raised or were not run are errors in a suite of their own, and notices of the tool's execution, which then was no
success.

Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0" (2020).
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from dpaudit.contract import UtilityVerdict, Verdict
from dpaudit.escaping import printable
from dpaudit.evidence.records import Run
from dpaudit.places import parted
from dpaudit.report.about import about_row, started_words
from dpaudit.report.columns import columns_of, numbers_of
from dpaudit.report.glossary import CATCHES, GLOSSARY
from dpaudit.report.html import filled
from dpaudit.report.numbers import raised
from dpaudit.report.sentences import CAVEAT, Phrase, accuracy_words, headline, plain, privacy_words, says, tallies
from dpaudit.report.summary import MissingResult, Summary, shown_of, summarise
from dpaudit.report.terminal import Lines, ShellCommand, label_text
from dpaudit.report.view import AuditedMechanism, mechanisms
from dpaudit.report.words.privacy import reach_words, unseen_words

# The suites of promises in JUnit, in this order.
_SUBJECTS = ("privacy", "accuracy", "control")
_BROKEN = "accuracy-broken"
# The identifier of the rule that each verdict falls under.
_RULE_OF = {
    "missed": "missed-control",
    "violation": "privacy-violation",
    "no evidence": "no-evidence",
    "undecided": "accuracy-undecided",
    "accepted": "privacy-violation",
    "failed": "audit-not-finished",
    "incomplete": "audit-not-finished",
}
# Identifier of a rule -> when it is broken.
_RULES = {
    **{_RULE_OF[verdict]: GLOSSARY[verdict] for verdict in ("missed", "violation", "no evidence", "undecided")},
    _BROKEN: "the mechanism fails more often than it promises",
}
# The level in SARIF of the result of each verdict; others have no result.
_LEVELS = {
    "missed": "error",
    "violation": "error",
    "no evidence": "warning",
    "undecided": "warning",
    "accepted": "note",
}
# The outcome in JUnit of the test case of each verdict; others are no test.
_OUTCOMES = {
    **dict.fromkeys(("missed", "violation"), "failure"),
    **dict.fromkeys(("failed", "incomplete"), "error"),
    **dict.fromkeys(("no evidence", "undecided", "accepted"), "skipped"),
    **dict.fromkeys(("holds", "not refuted", "vacuous", "consistent", "caught"), "passed"),
}
# The sign in Markdown of each verdict on a mechanism.
_SIGNS = {
    **dict.fromkeys(("missed", "violation"), "🔶"),
    **dict.fromkeys(("failed", "incomplete", "no evidence", "undecided", "accepted"), "⬜"),
    **dict.fromkeys(("holds", "not refuted", "consistent"), "🔵"),
    **dict.fromkeys(("vacuous", "not checked", "no claim"), "\N{HEAVY MINUS SIGN}"),
    "caught": "✔️",
}
# Audits without a result that the summary of a job lists; a run that was ended may have thousands.
_MOST_LOST_LISTED = 20


class Promise(NamedTuple):
    """A promise of one mechanism and its outcome, with the verdict and the numbers in a few sentences.

    The mechanism is the id of a learner, or the place of a function; the subject "privacy", "accuracy" or "control".
    """

    mechanism: str
    subject: str
    verdict: Verdict
    text: str

    @property
    def rule(self) -> str:
        """The identifier of the rule that the outcome falls under; empty where nothing is wrong or open."""
        broken = self.subject == "accuracy" and self.verdict == UtilityVerdict.VIOLATION
        if broken:
            return _BROKEN
        return _RULE_OF.get(self.verdict, "")


def promises(summary: Summary) -> list[Promise]:
    """Return the promises of the mechanisms and controls of a run: those that need a look first."""
    found = []
    for mechanism in (*mechanisms(summary.controls), *mechanisms(summary.learners)):
        words = plain(privacy_words(mechanism))
        if about := about_row(mechanism.tested):
            words += f" ({about})"
        if mechanism.tested.fault is not None:
            found.append(Promise(mechanism.name, "control", mechanism.state, words))
        else:
            accuracy = plain(accuracy_words(mechanism.accurate))
            found.append(Promise(mechanism.name, "privacy", mechanism.state, words))
            found.append(Promise(mechanism.name, "accuracy", mechanism.accuracy, accuracy))
    return sorted(found, key=lambda promise: promise.verdict.rank)


def junit(run: Run) -> str:
    """Return the report of a run as JUnit XML; the same results give the same bytes."""
    summary = summarise(run)
    seal = ""
    if not run.single:
        seal = run.seal
    return junit_of(promises(summary), _SUBJECTS, summary.lost, seal, run.started)


def junit_of(
    found: Sequence[Promise],
    subjects: Sequence[str] = ("result",),
    lost: Sequence[MissingResult] = (),
    seal: str = "",
    started: str = "",
) -> str:
    """Return promises as JUnit XML, a suite for each subject, with what has no result in one of its own."""
    root = Element("testsuites", {"name": "dpaudit"})
    for subject in subjects:
        own = [one for one in found if one.subject == subject]
        # Errors are listed with the audits that have no result.
        if subject in _SUBJECTS:
            own = [one for one in own if _OUTCOMES.get(one.verdict, "error") != "error"]
        _suite(root, subject, list(map(_case, own)), seal, started)
    cases = []
    for one in lost:
        case = Element("testcase", {"classname": printable(one.learner), "name": printable(one.name)})
        SubElement(case, "error", {"message": printable(one.why), "type": "no-result"}).text = printable(one.why)
        cases.append(case)
    _suite(root, "without a result", cases, seal, started)
    # The root has the sums over all suites.
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(root: Element, name: str, cases: Sequence[Element], seal: str, started: str) -> None:
    if not cases:
        return
    outcomes = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {plural: sum(case.find(kind) is not None for case in cases) for plural, kind in outcomes.items()}
    numbers = {"tests": len(cases), **counts}
    suite = SubElement(root, "testsuite", {"name": name, **{k: str(v) for k, v in numbers.items()}})
    if started:
        # The format has no time zones; it is UTC.
        suite.set("timestamp", started.removesuffix("Z"))
    if seal:
        SubElement(SubElement(suite, "properties"), "property", {"name": "seal", "value": seal})
    suite.extend(cases)


def _case(promise: Promise) -> Element:
    case = Element("testcase", {"classname": printable(promise.mechanism), "name": promise.subject})
    text = printable(promise.text)
    kind = _OUTCOMES.get(promise.verdict, "")
    if kind in ("failure", "error"):
        SubElement(case, kind, {"message": text, "type": promise.rule}).text = text
    elif kind == "skipped":
        SubElement(case, kind, {"message": text})
    else:
        SubElement(case, "system-out").text = text
    return case


def sarif(run: Run) -> str:
    """Return the report of a run as SARIF; the same results give the same bytes."""
    summary = summarise(run)
    notices = [
        {"level": "error", "message": {"text": f"{printable(one.name)}: {printable(one.why)}"}} for one in summary.lost
    ]
    invocation = {
        "executionSuccessful": not notices,
        "commandLine": printable(run.header.command),
        "toolExecutionNotifications": notices,
    }
    if run.started:
        invocation["startTimeUtc"] = run.started
    rules = [{"id": rule, "shortDescription": {"text": f"{words.capitalize()}."}} for rule, words in _RULES.items()]
    version = run.header.versions.get("dpaudit", "unknown")
    found = {
        "tool": {"driver": {"name": "dpaudit", "version": version, "rules": rules}},
        "invocations": [invocation],
        "results": [_result(promise) for promise in promises(summary) if promise.verdict in _LEVELS],
        "columnKind": "unicodeCodePoints",
        "properties": {} if run.single else {"seal": run.seal},
    }
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [found]}
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _result(promise: Promise) -> dict[str, Any]:
    """Return one promise that is broken or open, at the file of a mechanism that is named as FILE.py:function."""
    mechanism = printable(promise.mechanism)
    # A learner has an id and no file: it has the logical location alone.
    file, name = parted(mechanism)
    logical = {"fullyQualifiedName": mechanism, "name": name or mechanism, "kind": "function"}
    location: dict[str, Any] = {"logicalLocations": [logical]}
    if file.endswith(".py"):
        uri = file.replace("\\", "/")
        location["physicalLocation"] = {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}
    # Neither numbers nor words: a violation that stays has the same fingerprint in the run of another day.
    identity = f"{promise.mechanism}/{promise.subject}/{promise.rule}"
    return {
        "ruleId": promise.rule,
        "ruleIndex": list(_RULES).index(promise.rule),
        "level": _LEVELS[promise.verdict],
        "message": {"text": f"{mechanism}: {printable(promise.text)}"},
        "locations": [location],
        "partialFingerprints": {"promise/v1": hashlib.sha256(printable(identity).encode()).hexdigest()[:32]},
    }


def markdown(run: Run) -> str:
    """Return the report of a run as Markdown; the same results give the same bytes."""
    summary = summarise(run)
    learners, missed, _ = shown_of(summary)
    looked = [*missed, *(m for m in learners if m.needs_look)]
    parts = [f"## {escaped(headline(summary))}"]
    parts += ["\n".join(f"- {name}: {escaped(text)}" for name, text in tallies(summary))]
    parts += [f"- **{escaped(m.name)}**: {_told(says(m))}" for m in looked]
    if looked:
        parts += [_table(looked)]
    # The summary of a job is read for what needs a look: all else is folded.
    calm = [m for m in learners if not m.needs_look]
    if calm:
        folded = f"<details><summary>Consistent, or without a claim: {len(calm)}</summary>"
        parts.append(f"{folded}\n\n{_table(calm)}\n\n</details>")
    lost = summary.lost
    parts += [f"- without a result: {escaped(one.name)}: {escaped(one.why)}" for one in lost[:_MOST_LOST_LISTED]]
    if len(lost) > _MOST_LOST_LISTED:
        parts += [f"- and {len(lost) - _MOST_LOST_LISTED} more without a result"]
    abouts = [(m.name, about_row(m.tested)) for m in learners]
    parts += ["\n".join(f"- {escaped(f'{name}: {about}')}" for name, about in abouts if about)]
    parts += [CAVEAT, fenced(run.header.command)]
    parts += [f"Started: {started_words(run)}"]
    if not run.single:
        parts += [f"Seal of the results: `{run.seal}`"]
    return "\n\n".join(filter(None, parts)) + "\n"


def _told(phrases: Iterable[Phrase]) -> str:
    told = ""
    for phrase in phrases:
        text = escaped(phrase.text)
        if phrase.strong:
            # A mark of bold must stand beside a letter: the space before a strong phrase is put outside.
            text = re.sub(r"^(\s*)(.*)$", r"\1**\2**", text)
        told += text
    return told.strip()


def _table(shown: Sequence[AuditedMechanism]) -> str:
    columns = columns_of([numbers_of(mechanism) for mechanism in shown])
    accuracy = any(column.promise == "accuracy" for column in columns)
    heads = ("Mechanism", "Verdict", *(column.title for column in columns), *["accuracy"] * accuracy)
    rows = [heads, ("---", "---", *["--:"] * len(columns), *["---"] * accuracy)]
    for mechanism in shown:
        numbers = numbers_of(mechanism)
        verdict = f"{_SIGNS[mechanism.state]} {mechanism.state}{' (!)' * mechanism.tested.conflict}"
        cells = [escaped(raised(column.text(numbers))) for column in columns]
        rows.append((escaped(mechanism.name), verdict, *cells, *[str(mechanism.accuracy)] * accuracy))
    unseen = [
        (m.name, "; ".join(filter(None, (reach_words(m.tested.blackbox), unseen_words(m.tested.blackbox)))))
        for m in shown
    ]
    notes = [CATCHES, *(f"{name}: {words}." for name, words in unseen if words)]
    return "\n".join([*(f"| {' | '.join(row)} |" for row in rows), "", *(f"- {escaped(note)}" for note in notes)])


def escaped(text: str) -> str:
    r"""Return text that Markdown shows as it is.

    >>> print(escaped("a|b <i> *c* [d](e) @f"))
    a\|b &lt;i&gt; \*c\* \[d\](e) &#64;f
    """
    # "@" would mention people on GitHub, and signs of HTML would be read as such by Markdown.
    safe = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    return re.sub(r"([\\`*_{}\[\]|~#])", r"\\\1", safe).replace("&\\#64;", "&#64;")


def fenced(command: str) -> str:
    """Return a command in a fence that nothing in it can close."""
    command = printable(command)
    # Longer than any run of ticks inside, so that none of them closes it.
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in re.findall("`+", command)), default=0))
    return f"{fence}console\n$ {command}\n{fence}"


# What verbs show that audit no single mechanism: labelled lines and a table, in every format of a file.


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

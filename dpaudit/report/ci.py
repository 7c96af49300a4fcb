"""The reports for other tools: JUnit's XML for continuous integration, SARIF 2.1.0 for code scanning.

Both list the promises of a run with their outcomes. A control promises that its leak is detected: one that is missed is
broken like any other promise. An audit that could not have detected a violation, or did not decide, is skipped in JUnit
and a warning in SARIF; so is a violation that the project accepts, as a note. Audits that raised or were not run are
errors in a suite of their own, and notices of the tool's execution, which then was no success.

Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0" (2020).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from dpaudit.contract import Verdict
from dpaudit.engine.records import Run
from dpaudit.escaping import harmless
from dpaudit.report.sentences import Phrase, accuracy_words, privacy_words
from dpaudit.report.summary import Summary, summarise
from dpaudit.report.view import mechanisms

__all__ = ["Promise", "junit", "junit_of", "promises", "sarif"]

_SUBJECTS = ("privacy", "accuracy", "control")
_RULES = {
    "missed-control": "A mechanism that is broken on purpose was not caught: the audit is blind to its kind of leak.",
    "privacy-violation": "The privacy loss is larger than claimed.",
    "accuracy-broken": "The mechanism fails more often than it promises.",
    "no-evidence": "No leak was found, and none could have been.",
    "accuracy-undecided": "The interval of the failure rate contains what is allowed.",
}


class Promise(NamedTuple):
    """A promise of one mechanism and its outcome.

    Attributes
    ----------
    mechanism : str
        The id of the learner, or the place of the function.
    subject : {"privacy", "accuracy", "control"}
        The subject of the promise.
    verdict : Verdict
        The outcome.
    text : str
        The verdict and the numbers in a few sentences.
    """

    mechanism: str
    subject: str
    verdict: Verdict
    text: str

    @property
    def rule(self) -> str:
        """The identifier of the rule that the outcome falls under."""
        broken = self.subject == "accuracy" and self.verdict == Verdict.VIOLATION
        return "accuracy-broken" if broken else self.verdict.rule


def promises(summary: Summary) -> list[Promise]:
    """Return the promises of the mechanisms and controls of a run: those that need a look first."""
    found = []
    for mechanism in (*mechanisms(summary.controls), *mechanisms(summary.learners)):
        words = _plain(privacy_words(mechanism))
        if mechanism.tested.fault is not None:
            found.append(Promise(mechanism.name, "control", mechanism.state, words))
        else:
            accuracy = _plain(accuracy_words(mechanism.accurate))
            found.append(Promise(mechanism.name, "privacy", mechanism.state, words))
            found.append(Promise(mechanism.name, "accuracy", mechanism.accuracy, accuracy))
    return sorted(found, key=lambda promise: promise.verdict.rank)


def _plain(phrases: Sequence[Phrase]) -> str:
    return "".join(phrase.text for phrase in phrases).strip()


def junit(run: Run) -> str:
    """Return the report of a run as JUnit XML; the same results give the same bytes.

    Parameters
    ----------
    run : Run
        The stored run.
    """
    summary = summarise(run)
    return junit_of(promises(summary), _SUBJECTS, summary.lost, run.seal)


def junit_of(
    found: Sequence[Promise],
    subjects: Sequence[str] = ("result",),
    lost: Sequence[tuple[str, str]] = (),
    seal: str = "",
) -> str:
    """Return promises as JUnit XML, a suite for each subject, with what has no result in one of its own."""
    root = Element("testsuites", {"name": "dpaudit"})
    for subject in subjects:
        own = [one for one in found if one.subject == subject]
        if subject in _SUBJECTS:  # errors are listed with the audits that have no result
            own = [one for one in own if one.verdict.junit not in ("error", "")]
        _suite(root, subject, list(map(_case, own)), seal)
    cases = []
    for name, reason in lost:
        case = Element("testcase", {"classname": harmless(name.partition("/")[0]), "name": harmless(name)})
        SubElement(case, "error", {"message": harmless(reason), "type": "no-result"}).text = harmless(reason)
        cases.append(case)
    _suite(root, "without a result", cases, seal)
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(root: Element, name: str, cases: Sequence[Element], seal: str) -> None:
    """Add a suite of test cases, if there are any, with its counts and, if there is one, the seal of the run."""
    if not cases:
        return
    outcomes = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {plural: sum(case.find(kind) is not None for case in cases) for plural, kind in outcomes.items()}
    numbers = {"tests": len(cases), **counts}
    suite = SubElement(root, "testsuite", {"name": name, **{k: str(v) for k, v in numbers.items()}})
    if seal:
        SubElement(SubElement(suite, "properties"), "property", {"name": "seal", "value": seal})
    suite.extend(cases)


def _case(promise: Promise) -> Element:
    """Return the test case of a promise: its text is the message, or the output of one that is kept."""
    case = Element("testcase", {"classname": harmless(promise.mechanism), "name": promise.subject})
    text, kind = harmless(promise.text), promise.verdict.junit
    if kind in ("failure", "error"):
        SubElement(case, kind, {"message": text, "type": promise.rule}).text = text
    elif kind == "skipped":
        SubElement(case, kind, {"message": text})
    else:
        SubElement(case, "system-out").text = text
    return case


def sarif(run: Run) -> str:
    """Return the report of a run as SARIF; the same results give the same bytes.

    Parameters
    ----------
    run : Run
        The stored run.
    """
    summary = summarise(run)
    notices = [
        {"level": "error", "message": {"text": f"{harmless(name)}: {harmless(reason)}"}}
        for name, reason in summary.lost
    ]
    invocation = {
        "executionSuccessful": not notices,
        "commandLine": harmless(run.header.command),
        "toolExecutionNotifications": notices,
    }
    rules = [{"id": rule, "shortDescription": {"text": words}} for rule, words in _RULES.items()]
    version = run.header.versions.get("dpaudit", "unknown")
    found = {
        "tool": {"driver": {"name": "dpaudit", "version": version, "rules": rules}},
        "invocations": [invocation],
        "results": [_result(promise) for promise in promises(summary) if promise.verdict.sarif],
        "columnKind": "unicodeCodePoints",
        "properties": {"seal": run.seal},
    }
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [found]}
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _result(promise: Promise) -> dict[str, Any]:
    """Return one promise that is broken or open, at the file of a mechanism that is named as FILE.py:function."""
    mechanism = harmless(promise.mechanism)
    file, colon, name = mechanism.rpartition(":")
    logical = {"fullyQualifiedName": mechanism, "name": name or mechanism, "kind": "function"}
    location: dict[str, Any] = {"logicalLocations": [logical]}
    if colon and file.endswith(".py"):
        uri = file.replace("\\", "/")
        location["physicalLocation"] = {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}
    identity = f"{promise.mechanism}/{promise.subject}/{promise.rule}"
    return {
        "ruleId": promise.rule,
        "ruleIndex": list(_RULES).index(promise.rule),
        "level": promise.verdict.sarif,
        "message": {"text": f"{mechanism}: {harmless(promise.text)}"},
        "locations": [location],
        "partialFingerprints": {"promise/v1": hashlib.sha256(harmless(identity).encode()).hexdigest()[:32]},
    }

"""The report for continuous integration, as JUnit's XML: a test case for each promise.

A broken promise and a missed control are failures. An audit that could not have seen a violation, or did not decide, is
skipped: it says nothing. So is a violation that the project accepts. Audits that raised or were not run are errors, a
case each, in their own suite.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from dpaudit.engine.records import Run
from dpaudit.escaping import harmless
from dpaudit.report.promises import Kept, Promise, promises, without_result
from dpaudit.report.summary import summarise

__all__ = ["render", "written"]

_SUBJECTS = ("privacy", "accuracy", "control")
_OUTCOMES = {Kept.BROKEN: "failure", Kept.OPEN: "skipped", Kept.ACCEPTED: "skipped", Kept.ERROR: "error"}


def render(run: Run) -> str:
    """Return the report of a run as JUnit XML; the same results give the same bytes.

    Parameters
    ----------
    run : Run
        The stored run.
    """
    found = [promise for promise in promises(run) if promise.kept not in (Kept.ERROR, Kept.NONE)]
    return written(found, _SUBJECTS, without_result(summarise(run)), run.seal)


def written(
    found: Sequence[Promise],
    subjects: Sequence[str] = ("result",),
    lost: Sequence[tuple[str, str]] = (),
    seal: str = "",
) -> str:
    """Return promises as JUnit XML, a suite for each subject, with what has no result in one of its own."""
    root = Element("testsuites", {"name": "dpaudit"})
    for subject in subjects:
        cases = [_case(promise) for promise in found if promise.subject == subject]
        if cases:
            _suite(root, subject, cases, seal)
    if lost:
        _suite(root, "without a result", [_lost(*pair) for pair in lost], seal)
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(root: Element, name: str, cases: Sequence[Element], seal: str) -> None:
    """Add a suite of test cases with its counts and, if there is one, the seal of the run."""
    counts = {f"{kind}s": sum(case.find(kind) is not None for case in cases) for kind in ("failure", "error")}
    skipped = sum(case.find("skipped") is not None for case in cases)
    numbers = {"tests": len(cases), **counts, "skipped": skipped}
    suite = SubElement(root, "testsuite", {"name": name, **{k: str(v) for k, v in numbers.items()}})
    if seal:
        SubElement(SubElement(suite, "properties"), "property", {"name": "seal", "value": seal})
    suite.extend(cases)


def _case(promise: Promise) -> Element:
    """Return the test case of a promise: its text is the message, or the output of one that is kept."""
    case = Element("testcase", {"classname": harmless(promise.mechanism), "name": promise.subject})
    text = harmless(promise.text)
    kind = _OUTCOMES.get(promise.kept)
    if kind is None:
        SubElement(case, "system-out").text = text
    elif kind == "skipped":
        SubElement(case, kind, {"message": text})
    else:
        SubElement(case, kind, {"message": text, "type": promise.rule}).text = text
    return case


def _lost(name: str, reason: str) -> Element:
    """Return the test case of an audit that has no result."""
    case = Element("testcase", {"classname": harmless(name.partition("/")[0]), "name": harmless(name)})
    SubElement(case, "error", {"message": harmless(reason), "type": "no-result"}).text = harmless(reason)
    return case

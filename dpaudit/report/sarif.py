"""The report for code scanning, as SARIF 2.1.0: a result for each promise that is broken or open.

Audits that raised or were not run are notices of the tool's execution, which then was no success.

Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0" (2020).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from dpaudit.engine.records import Run
from dpaudit.escaping import harmless
from dpaudit.report.promises import Kept, Promise, promises, without_result
from dpaudit.report.summary import summarise

__all__ = ["render"]

_RULES = {
    "missed-control": "A mechanism that is broken on purpose was not caught: the audit is blind to its kind of leak.",
    "privacy-violation": "The privacy loss is larger than claimed.",
    "accuracy-broken": "The mechanism fails more often than it promises.",
    "no-evidence": "No leak was found, and none could have been.",
    "accuracy-undecided": "The interval of the failure rate contains what is allowed.",
}
_LEVELS = {Kept.BROKEN: "error", Kept.OPEN: "warning", Kept.ACCEPTED: "note"}


def render(run: Run) -> str:
    """Return the report of a run as SARIF; the same results give the same bytes.

    Parameters
    ----------
    run : Run
        The stored run.
    """
    results = [_result(promise) for promise in promises(run) if promise.kept in _LEVELS]
    lost = without_result(summarise(run))
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": _driver(run)},
                "invocations": [
                    {
                        "executionSuccessful": not lost,
                        "commandLine": harmless(run.header.command),
                        "toolExecutionNotifications": [_notification(*pair) for pair in lost],
                    }
                ],
                "results": results,
                "columnKind": "unicodeCodePoints",
                "properties": {"seal": run.seal},
            }
        ],
    }
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _driver(run: Run) -> dict[str, Any]:
    """Return the tool with its rules."""
    rules = [{"id": rule, "shortDescription": {"text": words}} for rule, words in _RULES.items()]
    return {"name": "dpaudit", "version": run.header.versions.get("dpaudit", "unknown"), "rules": rules}


def _result(promise: Promise) -> dict[str, Any]:
    """Return one promise that is broken or open."""
    mechanism = harmless(promise.mechanism)
    identity = f"{promise.mechanism}/{promise.subject}/{promise.rule}"
    return {
        "ruleId": promise.rule,
        "ruleIndex": list(_RULES).index(promise.rule),
        "level": _LEVELS[promise.kept],
        "message": {"text": f"{mechanism}: {harmless(promise.text)}"},
        "locations": [_location(mechanism)],
        "partialFingerprints": {"promise/v1": hashlib.sha256(harmless(identity).encode()).hexdigest()[:32]},
    }


def _location(mechanism: str) -> dict[str, Any]:
    """Return the file of a mechanism that is named as FILE.py:function, and the name of any."""
    file, colon, name = mechanism.rpartition(":")
    logical = {"fullyQualifiedName": mechanism, "name": name or mechanism, "kind": "function"}
    location: dict[str, Any] = {"logicalLocations": [logical]}
    if colon and file.endswith(".py"):
        uri = file.replace("\\", "/")
        location["physicalLocation"] = {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}
    return location


def _notification(name: str, reason: str) -> dict[str, Any]:
    """Return the notice of an audit that has no result."""
    return {"level": "error", "message": {"text": f"{harmless(name)}: {harmless(reason)}"}}

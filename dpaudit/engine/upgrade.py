"""Upgrades the lines of run files that an earlier version wrote."""

from __future__ import annotations

import json
from typing import Any

from dpaudit.engine.tasks import canonical
from dpaudit.errors import ToolFault
from dpaudit.results import SCHEMA_VERSION
from dpaudit.utility.interval import is_vacuous

__all__ = ["upgraded"]


def upgraded(line: bytes) -> bytes:
    """Return a line of schema version 1 in the version of today.

    Version 1 told events in words, repeated the kind of a task beside its finding, kept the schema version of the
    claim's mapping inside each finding, gave pictures a verdict, counted no checks, called an audit consistent that
    would have detected no leak, and said of vacuous claims that they hold.

    Raises
    ------
    ToolFault
        If the line is not JSON, or no object, or has a digest: version 1 knew none, so the file was altered.
    """
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ToolFault(f"corrupt ({error})") from None
    if not isinstance(record, dict):
        raise ToolFault("not a JSON object")
    if "digest" in record:
        raise ToolFault("altered since it was written: a record of schema version 1 has no digest")
    if record.get("record") == "run":
        record["schema_version"] = SCHEMA_VERSION
    else:
        _upgrade_task(record)
    return canonical(record).encode()


def _upgrade_task(record: dict[str, Any]) -> None:
    """Change the record of a result or a failure in place."""
    kind = record.pop("kind", None)
    if isinstance(record.get("arguments"), dict):
        record["arguments"]["kind"] = kind
    finding = record.get("finding")
    if not isinstance(finding, dict):
        return
    finding["schema_version"] = SCHEMA_VERSION
    if kind == "picture":
        finding.pop("verdict", None)
    if kind == "privacy":
        _upgrade_privacy(finding)
    if kind == "utility":
        _upgrade_utility(finding)
    decoded, tests = record.get("decoded"), finding.get("tests")
    # Version 1 told the meaning of codes beside the event of the witness.
    meant = ", ".join(f"{code}: {word}" for code, word in decoded.items()) if isinstance(decoded, dict) else ""
    _upgrade_event(finding.get("witness"), f" ({meant})" if meant else "")
    for test in tests if isinstance(tests, list) else ():
        _upgrade_event(test, "")


def _upgrade_privacy(finding: dict[str, Any]) -> None:
    """Change the finding of a black-box audit in place: silence without power is no evidence."""
    if isinstance(finding.get("budget"), dict):
        finding["budget"].setdefault("checks", 0)
    if finding.get("verdict") == "consistent" and finding.get("detectable_epsilon") == "inf":
        finding |= {"verdict": "no evidence", "gaps": [{"kind": "powerless"}]}


def _upgrade_utility(finding: dict[str, Any]) -> None:
    """Change the finding of an audit of utility in place: a claim of next to nothing does not hold, it is vacuous."""
    alpha, beta = finding.get("alpha"), finding.get("beta")
    if finding.get("verdict") != "holds" or not isinstance(alpha, float) or not isinstance(beta, float):
        return
    if is_vacuous(alpha, beta, str(finding.get("setting"))):
        finding["verdict"] = "vacuous"


def _upgrade_event(told: Any, meant: str) -> None:
    """Change the event of a witness or a test from its words to a record, in place."""
    if isinstance(told, dict) and isinstance(told.get("event"), str):
        told["event"] = {"kind": "told", "text": told["event"] + meant}

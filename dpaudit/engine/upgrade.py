"""Upgrades the lines of run files that an earlier version wrote."""

from __future__ import annotations

import json
from typing import Any

from dpaudit.engine.tasks import canonical
from dpaudit.errors import ToolFault
from dpaudit.results import SCHEMA_VERSION

__all__ = ["upgraded"]


def upgraded(line: bytes) -> bytes:
    """Return a line of schema version 1 in the version of today.

    Version 1 told events in words, repeated the kind of a task beside its finding, kept the schema version of the
    claim's mapping inside each finding, and gave pictures a verdict.

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
    for told in (finding.get("witness"), *(finding.get("tests") or ())):
        if isinstance(told, dict) and isinstance(told.get("event"), str):
            told["event"] = {"kind": "told", "text": told["event"]}

"""Upgrades the lines of run files that an earlier version wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from dpaudit.engine.tasks import canonical
from dpaudit.errors import ToolFault
from dpaudit.results import SCHEMA_VERSION
from dpaudit.utility.interval import is_vacuous

__all__ = ["upgraded"]

_ORIGINS = ("crafted", "enumerated", "given", "pattern", "random", "strategy")
"""The words before the colon in what version 1 said of a pair that dpaudit had made."""


def upgraded(line: bytes) -> bytes:
    """Return a line of schema version 1 in the version of today.

    Version 1 told events, the origins of pairs and learners without a plan in words, planned keys of tasks alone,
    repeated the kind of a task beside its finding, kept the schema version of the claim's mapping inside each finding,
    gave pictures a verdict, counted no checks and no pilot, called an audit consistent that would have detected no
    leak, and said of vacuous claims that they hold.

    Raises
    ------
    ToolFault
        If the line is not JSON, or no object, or has a digest or the state of a seal: version 1 knew neither, so the
        file was altered.
    """
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ToolFault(f"corrupt ({error!s:.200})") from None
    if not isinstance(record, dict):
        raise ToolFault("not a JSON object")
    if "digest" in record or "state" in record:
        raise ToolFault("altered since it was written: a record of schema version 1 has neither digest nor seal")
    if record.get("record") == "run":
        record["schema_version"] = SCHEMA_VERSION
        _change_each(record, "plan", _planned)
        _change_each(record, "faults", _fault)
    else:
        _upgrade_task(record)
    return canonical(record).encode()


def _change_each(record: dict[str, Any], name: str, change: Callable[[Any], Any]) -> None:
    """Change each item of a list in place; whatever else stands there is for the decoder to refuse."""
    if isinstance(record.get(name), list):
        record[name] = list(map(change, record[name]))


def _planned(key: Any) -> Any:
    """Return a task of the plan as a record: its key begins with the learner and the kind of audit."""
    learner, kind, *_ = [*str(key).split("/"), ""]
    return {"task": key, "learner": learner, "kind": kind}


def _fault(told: Any) -> dict[str, str]:
    """Return a learner without a plan as a record, from its words."""
    learner, _, error = str(told).partition(": ")
    return {"learner": learner, "error": error}


def _upgrade_task(record: dict[str, Any]) -> None:
    """Change the record of a result or a failure in place."""
    kind = record.pop("kind", None)
    if isinstance(record.get("arguments"), dict):
        record["arguments"]["kind"] = kind
    finding = record.get("finding")
    if not isinstance(finding, dict):
        return
    finding["schema_version"] = SCHEMA_VERSION
    for told in (finding.get("worst_pair"), finding.get("witness")):
        if isinstance(told, dict) and "origin" in told:
            told["origin"] = _origin(told["origin"])
    _change_each(finding, "origins", _origin)
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
    witness = finding.get("witness")
    for test in tests if isinstance(tests, list) else ():
        _upgrade_event(test, "")
        # In version 1 all events of a finding had the witness's direction.
        if isinstance(test, dict) and isinstance(witness, dict) and "direction" in witness:
            test["direction"] = witness["direction"]


def _origin(told: Any) -> Any:
    """Return the origin of a pair as a record, from its words, such as "local search from random: number 3"."""
    if not isinstance(told, str):
        return told
    rest = told.removeprefix("local search from ")
    if rest != told:
        origin = _origin(rest)
        return origin | {"moves": origin["moves"] + 1}
    kind, _, text = told.partition(": ")
    if kind not in _ORIGINS:
        kind, text = ("enumerated" if told.startswith("every sample of ") else "given"), told
    return {"kind": kind, "text": text, "moves": 0}


def _upgrade_privacy(finding: dict[str, Any]) -> None:
    """Change the finding of a black-box audit in place: silence without power is no evidence."""
    if isinstance(finding.get("budget"), dict):
        finding["budget"].setdefault("checks", 0)
        if "training" in finding["budget"]:
            finding["budget"].setdefault("pilot", 0)  # version 1 made it without counting it
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

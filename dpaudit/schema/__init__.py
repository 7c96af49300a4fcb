"""The JSON Schemas of what dpaudit writes: `finding`, `ledger`, `picture`, `run` (lines of a run file), `report`."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from dpaudit.errors import InputError

__all__ = ["NAMES", "load"]

NAMES = ("finding", "ledger", "picture", "run", "report")
_NEEDS = {
    "finding": (),
    "ledger": (),
    "picture": (),
    "run": ("finding", "ledger", "picture"),
    "report": ("finding", "ledger", "picture", "run"),
}


def load(name: str) -> dict[str, Any]:
    """Return a schema as one self-contained document (JSON Schema 2020-12), the schemas that it refers to bundled.

    Parameters
    ----------
    name : {"finding", "ledger", "picture", "run", "report"}
        Which: a finding of any of the three kinds, the verdict on one claim of the ledger, a picture, a line of a
        run file (header or result), or the JSON report.

    Raises
    ------
    InputError
        If there is no schema of that name.
    """
    if name not in NAMES:
        raise InputError(f"name must be one of {', '.join(NAMES)}; got {name!r}")
    schema = _read(name)
    schema.setdefault("$defs", {}).update({other: _read(other) for other in _NEEDS[name]})
    return schema


def _read(name: str) -> dict[str, Any]:
    """Return one schema file."""
    schema: dict[str, Any] = json.loads(files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8"))
    return schema

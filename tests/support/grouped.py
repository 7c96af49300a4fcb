"""Arguments of `dpaudit.audit_privacy` from flat names, for tests that vary one of them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from dpaudit.audit.parameters import Dataset, Execution, Look

_OBJECTS = {"look": Look(), "execution": Execution()}
_DATASET = {field.name for field in fields(Dataset)} - {"records"}


def grouped(**flat: Any) -> dict[str, Any]:
    """Return keyword arguments in which the fields of parameter objects, given by their own names, are in these."""
    for name, default in _OBJECTS.items():
        given = {field.name: flat.pop(field.name) for field in fields(default) if field.name in flat}
        if given:
            flat[name] = replace(flat.get(name, default), **given)
    of_data = {name: flat.pop(name) for name in _DATASET & {*flat}}
    if of_data:
        flat["data"] = replace(Dataset.of(flat["data"]), **of_data)
    return flat

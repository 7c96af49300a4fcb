"""Values as text and as JSON that depend on nothing but the values: no memory address, no hash order."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from dpaudit.errors import ToolFault

# Longer integers are written in hexadecimal: Python writes at most 4300 decimal digits.
MOST_BITS = 10_000
# A value that can be written as JSON.
Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def jsonable(value: Any) -> Any:
    """Return `value` as JSON-safe data: dataclasses become dictionaries, arrays and sorted sets lists, inf "inf"."""
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, str):
        # Encoders refuse subclasses.
        return str(value)
    if value is None or isinstance(value, bool | int):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: jsonable(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    if isinstance(value, Mapping):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((jsonable(v) for v in value), key=lambda v: json.dumps(v, sort_keys=True))
    if hasattr(value, "tolist"):
        return jsonable(value.tolist())
    if isinstance(value, float):
        if math.isnan(value):
            raise ToolFault("a result is NaN; nothing that dpaudit reports may be")
        if math.isfinite(value):
            return value
        # JSON has no infinity.
        return "inf" if value > 0 else "-inf"
    return stable_repr(value)


def stable_repr(value: Any) -> str:
    """Return `repr(value)` with sets sorted and without memory addresses, so that every process writes the same."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        shown = ((f.name, getattr(value, f.name)) for f in dataclasses.fields(value) if f.repr)
        return f"{type(value).__qualname__}({', '.join(f'{name}={stable_repr(v)}' for name, v in shown)})"
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__}({{{', '.join(sorted(map(stable_repr, value)))}}})"
    if type(value) is tuple:
        ending = "," if len(value) == 1 else ""
        return f"({', '.join(map(stable_repr, value))}{ending})"
    if type(value) is list:
        return f"[{', '.join(map(stable_repr, value))}]"
    if type(value) is dict:
        return f"{{{', '.join(f'{stable_repr(k)}: {stable_repr(v)}' for k, v in value.items())}}}"
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return hex(value)
    return _ADDRESS.sub("", repr(value))

"""The choice that training makes: all that the fresh runs and the finding need of it; a plan holds it as JSON.

In a plan rules that training has found are records, arrays and functions of dpaudit by name, and nothing else. A file
that is read makes no object but records and functions of `_HOMES`, and calls none of them.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import operator
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from msgspec import UNSET

from dpaudit.audit.finding import PlainEvent
from dpaudit.audit.request import Request
from dpaudit.contract import Pair, PrivacyClaim
from dpaudit.errors import InputError, ToolFault
from dpaudit.events.discretizers import Pilot
from dpaudit.events.selected import SelectedEvent
from dpaudit.events.wide import Reducer
from dpaudit.jsonable import stable_repr
from dpaudit.record import decode, encodable

_HOMES = ("dpaudit.events.", "dpaudit.outputs.", "dpaudit.contract.")
"""The modules whose records and functions a rule may consist of."""
_OTHERS: dict[str, Any] = {
    **{f"builtins:{one.__name__}": one for one in (int, float, str, bool, tuple, frozenset, repr, len)},
    **{f"operator:{one.__name__}": one for one in (operator.add, operator.sub, operator.mul, operator.mod)},
    **{f"numpy:{name}": getattr(np, name) for name in ("add", "maximum", "minimum", "subtract", "sort", "sum", "mean")},
}
_ATTRIBUTES = {name: name for name in ("shape", "size", "dtype", "kind")}
_NUMBERS = "biufS"
"""The kinds of arrays that are stored."""


def to_json(value: Any) -> Any:
    """Return a rule, or a part of one, as JSON.

    `InputError` is raised if it has a part that is neither a record, an array nor a function of dpaudit, as a user's
    function is.
    """
    if value is None or isinstance(value, bool | str) or type(value) is int:
        return value if not isinstance(value, Enum) else {"enum": [_name(type(value)), value.value]}
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, list):
        return [to_json(one) for one in value]
    if type(value) is tuple:
        return {"tuple": [to_json(one) for one in value]}
    if isinstance(value, frozenset):
        return {"set": [to_json(one) for one in sorted(value, key=stable_repr)]}
    if isinstance(value, Mapping):
        kind = "counts" if isinstance(value, Counter) else "map"
        return {kind: [[to_json(key), to_json(one)] for key, one in value.items()]}
    if isinstance(value, np.generic):
        return {"scalar": to_json(np.asarray(value))}
    if isinstance(value, np.ndarray) and value.dtype.kind in _NUMBERS:
        packed = base64.b64encode(zlib.compress(np.ascontiguousarray(value).tobytes(), 9)).decode()
        return {"array": [value.dtype.str, list(value.shape), packed]}
    if isinstance(value, partial):
        keywords = {name: to_json(one) for name, one in value.keywords.items()}
        return {"partial": [to_json(value.func), [to_json(one) for one in value.args], keywords]}
    if is_dataclass(value) and not isinstance(value, type) and type(value).__module__.startswith(_HOMES):
        held = {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
        return {"record": [_name(type(value)), held]}
    if isinstance(value, operator.attrgetter):
        return {"attribute": value.__reduce__()[1][0]}
    owner = getattr(value, "__self__", None)
    if (is_dataclass(owner) and not isinstance(owner, type)) or type(owner) in (tuple, dict):
        return {"method": [to_json(owner), value.__name__]}
    return {"name": _name(value)}


def from_json(value: Any) -> Any:
    """Return the rule that `to_json` wrote; `ToolFault` if it is none."""
    try:
        return _made(value)
    except (LookupError, TypeError, ValueError, AttributeError, binascii.Error, zlib.error) as error:
        raise ToolFault(f"this is no rule that dpaudit wrote: {type(error).__name__}: {error}") from None


def _made(value: Any) -> Any:
    if isinstance(value, list):
        return [_made(one) for one in value]
    if not isinstance(value, dict):
        return value
    ((kind, held),) = value.items()
    return _KINDS[kind](held)


def _array(held: Any) -> Any:
    dtype, shape, packed = held
    if np.dtype(dtype).kind not in _NUMBERS:
        raise ValueError(f"arrays of {dtype!r} are not stored")
    raw = zlib.decompress(base64.b64decode(packed))
    return np.frombuffer(raw, np.dtype(dtype)).reshape(shape).copy()


def _record(held: Any) -> Any:
    name, values = held
    kind = _named(name)
    if not (isinstance(kind, type) and is_dataclass(kind)):
        raise ValueError(f"{name} is no record")
    return kind(**{field: _made(one) for field, one in values.items()})


def _method(held: Any) -> Any:
    owner, name = _made(held[0]), held[1]
    if name != "__getitem__" if type(owner) in (tuple, dict) else not is_dataclass(owner) or name.startswith("__"):
        raise ValueError(f"{name} is no method of a record")
    return getattr(owner, name)


def _enum(held: Any) -> Any:
    kind = _named(held[0])
    if not (isinstance(kind, type) and issubclass(kind, Enum)):
        raise ValueError(f"{held[0]} has no members")
    return kind(held[1])


_KINDS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "bytes": base64.b64decode,
    "tuple": lambda held: tuple(map(_made, held)),
    "set": lambda held: frozenset(map(_made, held)),
    "map": lambda held: {_made(key): _made(one) for key, one in held},
    "counts": lambda held: Counter({_made(key): _made(one) for key, one in held}),
    "scalar": lambda held: _array(held["array"])[()],
    "array": _array,
    "partial": lambda held: partial(_made(held[0]), *map(_made, held[1]), **{k: _made(v) for k, v in held[2].items()}),
    "record": _record,
    "attribute": lambda held: operator.attrgetter(_ATTRIBUTES[held]),
    "method": _method,
    "enum": _enum,
    "name": lambda held: _named(held),
}


def _name(value: Any) -> str:
    """Return what stands for a class or a function of dpaudit, or one of a few others."""
    known = next((name for name, other in _OTHERS.items() if other is value), None)
    if known is not None:
        return known
    name = f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', '')}"
    try:
        if _named(name) is value:
            return name
    except (ValueError, AttributeError, ImportError):
        pass
    raise InputError(f"a file cannot hold {value!r:.200}, by which outputs are looked at")


def _named(name: str) -> Any:
    if name in _OTHERS:
        return _OTHERS[name]
    module, _, path = name.partition(":")
    if not module.startswith(_HOMES):
        raise ValueError(f"{name} is not of dpaudit")
    found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


@dataclass(frozen=True)
class PairPlace:
    """The place of a pair in a list, that given or the shortlist, and the moves from there: (step, place) of each."""

    index: int = 0
    listed: bool = False
    moves: tuple[tuple[int, int], ...] = ()

    def find(self, request: Request) -> Pair:
        """Return the pair of a request; `ToolFault` if there is no such pair."""
        short = request.shortlist.pairs if request.shortlist is not None else ()
        pairs = [pair for _, pair in short] if self.listed else request.pairs
        try:
            pair = pairs[self.index]
            for step, place in self.moves:
                assert request.moves is not None
                pair = request.moves(pair, step)[place]
        except (IndexError, AssertionError):
            raise ToolFault("the plan is of other pairs: that which it has chosen is not there") from None
        return pair


@dataclass(frozen=True)
class Choice:
    """The pair on which a claim is tested, and the events that are tested on it.

    The `index` is that of the pair in the addresses of its runs. A `reducer` picks the columns of wide outputs. The
    `selected` events, that over how floats are stored at the end, if it is `stored`, have `shares` of the verdict's
    error. Of the `trained` runs `different` ones are in another cell than the commonest one; all discretizers `tried`
    are named. Of all `pairs` tried some were `not_run`, for want of runs; the search had so many `runs_of` the others.
    `reads` says of each tested event but the stored one whether a person reads it off outputs; those in `read` are two
    batches from which a plainer event is chosen, which is `plain` where it was chosen before.
    """

    index: int
    pair: Pair
    place: PairPlace
    reducer: Reducer | None
    selected: tuple[SelectedEvent, ...]
    shares: tuple[float, ...]
    stored: bool
    trained: int
    different: int
    tried: tuple[str, ...]
    pilot: Pilot
    not_run: int
    pairs: int
    runs_of: tuple[int, ...]
    reads: tuple[tuple[bool, ...], ...]
    read: list[Any] = field(default_factory=list, compare=False)
    plain: Any = None

    def plain_event(self, claim: PrivacyClaim) -> Any:
        """Return an event that shows a violation in simpler words; UNSET if there is none."""
        return self.plain if self.plain is not None else PlainEvent.of(self.read, claim.epsilon, claim.delta)

    def to_json(self, claim: PrivacyClaim) -> dict[str, Any]:
        """Return the choice without records of the pair, which is found again by its place.

        `InputError` is raised if outputs are looked at by a function that is not of dpaudit.
        """
        selected = tuple(replace(one, orders=()) for one in self.selected)
        held = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in _NOT_HELD}
        plain = None if all(all(one) for one in self.reads) else self.plain_event(claim)
        found: dict[str, Any] = {name: to_json(value) for name, value in (held | {"selected": selected}).items()}
        found["place"] = [self.place.index, self.place.listed, [list(one) for one in self.place.moves]]
        found["plain"] = encodable(plain) if isinstance(plain, PlainEvent) else None
        return found

    @classmethod
    def from_json(cls, held: Any, request: Request) -> Choice:
        """Return the choice that `to_json` wrote, of a request's pair; `ToolFault` if it is none of that request."""
        try:
            index, listed, moves = held["place"]
            place = PairPlace(index, listed, tuple((step, at) for step, at in moves))
            plain = UNSET if held["plain"] is None else decode(json.dumps(held["plain"]), PlainEvent)
            names = [one.name for one in fields(cls) if one.name not in _NOT_HELD]
            found = {name: from_json(held[name]) for name in names}
        except (LookupError, TypeError, ValueError) as error:
            raise ToolFault(f"this is no choice of pair and events: {type(error).__name__}: {error}") from None
        return cls(**found, pair=place.find(request), place=place, plain=plain)


_NOT_HELD = ("pair", "place", "read", "plain")

"""The parts of objects that no table knows: of other libraries, and of user-defined classes.

An object of a class of its own is taken apart by its named elements, attributes, elements, state, or how it is shown.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import io
import sys
import types
from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InputError
from dpaudit.outputs.attributes import (
    ADDRESS,
    PLAIN,
    PLAIN_BASES,
    all_attributes,
    has_state,
    is_opaque,
    more_state,
    state_of,
)
from dpaudit.outputs.beside import KINDS, converted, known_by_name, named, printed, prints_more
from dpaudit.outputs.frames import reader_of
from dpaudit.withheld import foreign

_MANAGERS = tuple(
    # The classes of what `contextlib.contextmanager` makes, which the library does not name.
    {
        type(contextlib.contextmanager(lambda: iter(()))()),
        type(contextlib.asynccontextmanager(lambda: iter(()))()),  # type: ignore[arg-type, return-value]
    }
)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial)


def refuse_promises(outputs: Iterable[Any]) -> None:
    """Raise `InputError` if an output is a promise of a value instead of one: a generator, a coroutine, a function."""
    for output in outputs:
        kind = type(output)
        if issubclass(kind, io.StringIO | io.BytesIO):
            advice = "return output.getvalue(), what was written to it"
        elif issubclass(kind, Awaitable) or inspect.isawaitable(output):
            advice = "await it, and return what comes (asyncio.run(...) does so in a plain function)"
        elif issubclass(kind, AsyncIterable | Iterator):
            advice = "return list(...) of it, since a run's output is what it yields"
        elif issubclass(kind, _MANAGERS):
            advice = "enter it, as `with`, and return what it gives"
        elif issubclass(kind, _FUNCTIONS):
            advice = "call it, and return what it returns"
        else:
            continue
        for coroutine in filter(inspect.iscoroutine, outputs):
            coroutine.close()  # else it warns that it was never awaited
        raise InputError(f"the mechanism returns an output of type {foreign(kind.__qualname__)}: {advice}")


def parts(value: Any) -> Any:
    """Return the parts of an object; `InputError` if it shows nothing, or only once it is run."""
    waits, fields, base = _nature(value.__class__)
    if waits:
        if inspect.iscoroutine(value):
            value.close()  # or it warns that nobody awaited it
        raise InputError(
            f"an output is a {foreign(type(value).__qualname__)}, which shows nothing until it is run: "
            "return what it makes, as list(output)"
        )
    if isinstance(value, type):
        return _class(value)
    kind: type = type(value)
    every = all_attributes(value)
    held = {name: part for name, part in every.items() if type(part) in PLAIN or not is_opaque(part)}
    dropped = _dropped_by(kind)
    if len(held) < len(every):
        dropped = (*dropped, _opaque_attributes)
    found: Any = held
    if fields:
        found = {**dict(zip(value._fields, value, strict=True)), **held}
    elif base is not None:  # a class derived from a plain one may hold more than that
        found = {"value": plain_value(base, value), **held}
    elif isinstance(value, Mapping):
        found = _with_items(dict(value.items()), held)
    elif isinstance(value, Collection):
        elements = tuple(value)
        found = {"elements": elements, **held} if held else elements
    elif not (held or dataclasses.is_dataclass(value)):
        found = _without_attributes(value)
        dropped = tuple(function for function in dropped if function is not more_state)  # that is what was found
    return converted(found, value, *dropped) if dropped else found


def _without_attributes(value: Any) -> Any:
    """Return the state of an object that shows no attributes, or what it is printed as."""
    state = state_of(value)
    if state is not None:
        return state
    shown = repr(value)
    if ADDRESS not in shown:
        return shown
    name = foreign(type(value).__qualname__)
    why = (
        f"an output of type {name} cannot be taken apart: {foreign(shown):.100}; say how, by "
        f"dpaudit.register_flattener({name}, lambda output: ...), or return numbers, text, arrays or containers of "
        "these"
    )
    if hasattr(value, "predict"):
        hint = "{why}; or give {probe:=points}, to compare hypotheses by their predictions"
        raise InputError(hint, names=("probe",), why=why)
    raise InputError(why)


@lru_cache(maxsize=KINDS)
def _nature(kind: type) -> tuple[bool, bool, type | None]:
    """Return whether a class shows nothing until it is run, whether it is a named tuple, and its plain base."""
    waits = issubclass(kind, Iterator | Awaitable | AsyncIterable)
    base = next((base for base in PLAIN_BASES if issubclass(kind, base)), None)
    return waits, base is tuple and hasattr(kind, "_fields"), base


def plain_value(base: type, value: Any) -> Any:
    """Return the plain value of an instance of a class derived from a plain one.

    A text is not asked for what its class shows in its place.
    """
    return str.__str__(value) if base is str else base(value)


def _with_items(items: dict[Any, Any], held: dict[str, Any]) -> dict[Any, Any]:
    """Return the items of a mapping; with attributes beside them unless these hold the same items."""
    others = {name: part for name, part in held.items() if not _same_items(part, items)}
    return {"value": items, **others} if others else items


def _same_items(part: Any, items: dict[Any, Any]) -> bool:
    if type(part) is not dict or part.keys() != items.keys():
        return False
    return all(part[key] is item for key, item in items.items())


def _class(value: type) -> Any:
    """Return a class by its name; one that was made while the mechanism ran holds more than its name."""
    name = f"{value.__module__}.{value.__qualname__}"
    found: Any = sys.modules.get(value.__module__)
    for step in value.__qualname__.split("."):
        found = getattr(found, step, None)
    return name if found is value else converted(name, value, _of_class)


def _of_class(value: type) -> dict[str, Any]:
    """Return the bases, attributes and methods of a class; of the two latter those of its own."""
    found: dict[str, Any] = {"bases": tuple(f"{base.__module__}.{base.__qualname__}" for base in value.__bases__)}
    for name, part in vars(value).items():
        if isinstance(part, (staticmethod, classmethod)):
            part = part.__func__
        elif isinstance(part, property):
            part = part.fget
        if isinstance(part, types.FunctionType):
            found[name] = known_by_name(part)
        elif name in ("__doc__", "__annotations__") or not (name.startswith("__") or hasattr(type(part), "__get__")):
            found[name] = part
    return found


@lru_cache(maxsize=KINDS)
def _dropped_by(kind: type) -> tuple[Callable[[Any], dict[str, Any]], ...]:
    """Return the functions that find what instances of a class have beside their attributes and elements."""
    found: list[Callable[[Any], dict[str, Any]]] = []
    if prints_more(kind):
        found.append(_printed)
    if has_state(kind):
        found.append(more_state)
    return tuple(found)


def _opaque_attributes(value: Any) -> dict[str, Any]:
    """Return the attributes that are known by their place in memory, by their names and what these hold."""
    return {name: known_by_name(part, value) for name, part in all_attributes(value).items() if is_opaque(part)}


def _printed(value: Any) -> dict[str, Any]:
    return printed(value, all_attributes(value))


def parts_of_libraries(value: Any) -> Any:
    """Return the parts of a frame, labelled array or sparse matrix, or the array that another object holds.

    None is returned of other objects.
    """
    kind: type = type(value)
    read = reader_of(kind)
    if read is not None:
        return read(value)
    if kind.__module__.partition(".")[0] == "scipy" and hasattr(kind, "tocoo"):
        places, held = stored_entries(value)
        return {"shape": tuple(value.shape), "pattern": np.stack(places), "values": held}
    if hasattr(kind, "__array__") or hasattr(kind, "__dlpack__"):
        return converted(_as_array(value), value, _of_array, _attributes_of_array, _printed_by_array)
    return None


def stored_entries(value: Any) -> tuple[tuple[NDArray[Any], ...], NDArray[Any]]:
    """Return the places of a sparse matrix's stored entries, ascending in each dimension, and their values."""
    entries = value.tocoo(copy=True)
    entries.sum_duplicates()
    places = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
    return tuple(map(np.asarray, places)), np.asarray(entries.data)


_BESIDE_ARRAYS = (
    "name", "names", "dims", "coords", "attrs", "unit", "units", "crs", "fill_value", "requires_grad", "grad",
    "weak_type", "metadata",
)  # fmt: skip
"""Attributes that libraries of arrays give them, beside those that are known by their words."""
_BY_WORDS = ("dtype", "device", "layout", "sharding", "memory_format")
_ATTRIBUTES_ARE_ALL = frozenset({"torch", "jax", "jaxlib", "tensorflow", "cupy", "mlx", "dask", "sparse"})
"""Libraries whose arrays print their values, dtype and device, and nothing else that no attribute holds."""


def _of_array(value: Any) -> dict[str, Any]:
    """Return what libraries of arrays keep beside the values of one."""
    words = {name: str(part) for name, part in named(value, _BY_WORDS).items()}
    return words | named(value, _BESIDE_ARRAYS)


def _attributes_of_array(value: Any) -> dict[str, Any]:
    """Return the attributes of an object that gives an array, but for those that are this array."""
    known = set(_of_array(value))
    array = _as_array(value)
    found = {}
    for name, part in all_attributes(value).items():
        same = isinstance(part, np.ndarray) and isinstance(array, np.ndarray) and np.may_share_memory(part, array)
        if not same and name not in known:
            found[name] = known_by_name(part) if is_opaque(part) else part
    return found


def _printed_by_array(value: Any) -> dict[str, Any]:
    kind = type(value)
    if kind.__module__.partition(".")[0] in _ATTRIBUTES_ARE_ALL:
        return {}
    return printed(value, {**all_attributes(value), **_of_array(value)})


def _as_array(value: Any) -> Any:
    """Return what an array of another library holds; a sparse tensor is taken apart as a sparse matrix is."""
    name = foreign(type(value).__qualname__)
    try:
        array = _converted(value)
    except Exception as error:  # each library refuses in its own way
        wrong = "gives NumPy no array; return numbers, text, arrays or containers of these"
        raise InputError(f"an output of type {name} {wrong} ({foreign(str(error)):.200})") from None
    if isinstance(array, np.ndarray) and array.dtype == object and array.ndim == 0:
        raise InputError(
            f"an output of type {name} has an __array__ of objects: {foreign(repr(value)):.100}; say how to take it "
            f"apart, by dpaudit.register_flattener({name}, lambda output: ...)"
        )
    return array


def _converted(held: Any) -> Any:
    """Return an array by the protocols; numbers of a type that NumPy lacks, as bfloat16, become doubles."""
    for plain in ("detach", "cpu", "resolve_conj", "resolve_neg"):  # a tensor gives its values only when all is done
        held = getattr(held, plain)() if hasattr(held, plain) else held
    if hasattr(held, "to_sparse") and "sparse" in str(held.layout):
        entries = held.to_sparse().coalesce()
        pattern = np.asarray(entries.indices())
        return {"shape": tuple(held.shape), "pattern": pattern, "values": _converted(entries.values())}
    if not hasattr(held, "__array__"):
        return np.from_dlpack(held)
    try:
        return np.asarray(held)
    except TypeError:
        if not hasattr(held, "double"):
            raise
        return np.asarray(held.double())

"""The parts of objects that no table knows: of other libraries, and of user-defined classes.

An object of a class of its own is taken apart by its named elements, attributes, elements or state, or by its printed
form.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import io
import sys
import types
from collections.abc import AsyncIterable, Awaitable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

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
from dpaudit.outputs.frames import reader_of
from dpaudit.outputs.metadata import (
    KINDS,
    Dropped,
    Flat,
    WithMetadata,
    converted,
    known_by_name,
    named,
    printed,
    prints_more,
)
from dpaudit.outputs.types import Array, Parts, Sparse
from dpaudit.withheld import foreign

if TYPE_CHECKING:
    from scipy import sparse

K = TypeVar("K")
V = TypeVar("V")

# The classes of what `contextlib.contextmanager` makes, which the library does not name.
_MANAGERS = tuple(
    {
        type(contextlib.contextmanager(lambda: iter(()))()),
        type(contextlib.asynccontextmanager(lambda: iter(()))()),  # type: ignore[arg-type, return-value]
    }
)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial)


def refuse_promises(outputs: Iterable[Any]) -> None:
    """Raise `InputError` if an output is a promise of a value instead of one: a generator, a coroutine, a function."""
    for output in outputs:
        advice = _advice(output)
        if advice is not None:
            # A coroutine that is not closed warns that it was never awaited.
            for coroutine in filter(inspect.iscoroutine, outputs):
                coroutine.close()
            kind = foreign(type(output).__qualname__)
            raise InputError(f"the mechanism returns an output of type {kind}: {advice}")


def _advice(output: Any) -> str | None:
    """Return what to return in the place of an output that promises a value, or None of any other output."""
    kind = type(output)
    if issubclass(kind, io.StringIO | io.BytesIO):
        return "return output.getvalue(), what was written to it"
    if issubclass(kind, Awaitable) or inspect.isawaitable(output):
        return "await it, and return what comes (asyncio.run(...) does so in a plain function)"
    if issubclass(kind, AsyncIterable | Iterator):
        return "return list(...) of it, since a run's output is what it yields"
    if issubclass(kind, _MANAGERS):
        return "enter it, as `with`, and return what it gives"
    if issubclass(kind, _FUNCTIONS):
        return "call it, and return what it returns"
    return None


def parts(value: Any) -> Flat:
    """Return the parts of an object; `InputError` if it shows nothing, or only once it is run."""
    # A proxy is read as the class that it says it has.
    claimed = value.__class__
    if _waits(claimed):
        _refuse_waiting(value)
    if isinstance(value, type):
        return _class(value)
    kind: type = type(value)
    every = all_attributes(value)
    held = {name: part for name, part in every.items() if type(part) in PLAIN or not is_opaque(part)}
    dropped = _dropped_by(kind)
    if len(held) < len(every):
        dropped = (*dropped, _opaque_attributes)
    found = _with_attributes(value, claimed, held)
    if found is None:
        found = _without_attributes(value)
        # The state is what was found.
        dropped = tuple(function for function in dropped if function is not more_state)
    if dropped:
        return converted(found, value, *dropped)
    return found


@lru_cache(maxsize=KINDS)
def _waits(kind: type) -> bool:
    """Say whether objects of a class show nothing until they are run."""
    return issubclass(kind, Iterator | Awaitable | AsyncIterable)


@lru_cache(maxsize=KINDS)
def _plain_base(kind: type) -> type | None:
    """Return the plain type that a class is derived from, if it is from one."""
    return next((base for base in PLAIN_BASES if issubclass(kind, base)), None)


def _refuse_waiting(value: Any) -> None:
    # A coroutine that is not closed warns that it was never awaited.
    if inspect.iscoroutine(value):
        value.close()
    raise InputError(
        f"an output is a {foreign(type(value).__qualname__)}, which shows nothing until it is run: "
        "return what it makes, as list(output)"
    )


def _with_attributes(value: Any, claimed: type, held: Parts) -> Flat:
    """Return the plain value, the items or the elements of an object, with its attributes; None if it has neither."""
    base = _plain_base(claimed)
    # A named tuple.
    if base is tuple and hasattr(claimed, "_fields"):
        return {**dict(zip(value._fields, value, strict=True)), **held}
    if base is not None:
        # A class derived from a plain one may hold more than that.
        return {"value": plain_value(base, value), **held}
    if isinstance(value, Mapping):
        return _with_items(dict(value.items()), held)
    if isinstance(value, Collection):
        elements = tuple(value)
        return {"elements": elements, **held} if held else elements
    if held or dataclasses.is_dataclass(value):
        return held
    return None


def _without_attributes(value: Any) -> Flat:
    """Return the state of an object that shows no attributes, or its printed form."""
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


def plain_value(base: type, value: Any) -> Flat:
    """Return the plain value of an instance of a class derived from a plain one."""
    # A text is not asked for what its class shows in its place.
    if base is str:
        return str.__str__(value)
    found: Flat = base(value)
    return found


def _with_items(items: dict[K, V], held: Parts) -> Parts | dict[K, V]:
    """Return the items of a mapping; with the attributes unless these hold the same items."""
    others = {name: part for name, part in held.items() if not _same_items(part, items)}
    if others:
        return {"value": items, **others}
    return items


def _same_items(part: Any, items: dict[K, V]) -> bool:
    if type(part) is not dict or part.keys() != items.keys():
        return False
    return all(part[key] is item for key, item in items.items())


def _class(value: type) -> str | WithMetadata:
    """Return a class by its name; one that was made while the mechanism ran holds more than its name."""
    name = f"{value.__module__}.{value.__qualname__}"
    found: Any = sys.modules.get(value.__module__)
    for step in value.__qualname__.split("."):
        found = getattr(found, step, None)
    if found is value:
        return name
    return converted(name, value, _of_class)


def _of_class(value: type) -> Parts:
    """Return the bases of a class, and the attributes and methods that it defines itself."""
    found: Parts = {"bases": tuple(f"{base.__module__}.{base.__qualname__}" for base in value.__bases__)}
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
def _dropped_by(kind: type) -> tuple[Dropped, ...]:
    """Return the functions that find what instances of a class have apart from their attributes and elements."""
    found: list[Dropped] = []
    if prints_more(kind):
        found.append(_printed)
    if has_state(kind):
        found.append(more_state)
    return tuple(found)


def _opaque_attributes(value: Any) -> Parts:
    """Return the attributes that are known by their place in memory, by their names and what these hold."""
    return {name: known_by_name(part, value) for name, part in all_attributes(value).items() if is_opaque(part)}


def _printed(value: Any) -> Parts:
    return printed(value, all_attributes(value))


def parts_of_libraries(value: Any) -> Flat:
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


def stored_entries(value: Sparse) -> tuple[tuple[Array, ...], Array]:
    """Return the places of a sparse matrix's stored entries, ascending in each dimension, and their values."""
    entries = value.tocoo(copy=True)
    entries.sum_duplicates()
    return tuple(map(np.asarray, coordinates(entries))), np.asarray(entries.data)


def coordinates(entries: sparse.coo_array | sparse.coo_matrix) -> tuple[Array, ...]:
    """Return the places of entries, an array a dimension: SciPy's arrays and its matrices name them differently."""
    if hasattr(entries, "coords"):
        return tuple(entries.coords)
    return (entries.row, entries.col)


# Attributes that libraries of arrays give them, without those that are known by their printed form.
_METADATA_OF_ARRAYS = (
    "name", "names", "dims", "coords", "attrs", "unit", "units", "crs", "fill_value", "requires_grad", "grad",
    "weak_type", "metadata",
)  # fmt: skip
_BY_WORDS = ("dtype", "device", "layout", "sharding", "memory_format")
# Libraries whose arrays print their values, dtype and device, and nothing else that no attribute holds.
_ATTRIBUTES_ARE_ALL = frozenset({"torch", "jax", "jaxlib", "tensorflow", "cupy", "mlx", "dask", "sparse"})


def _of_array(value: Any) -> Parts:
    """Return the metadata that libraries of arrays keep with one."""
    words = {name: str(part) for name, part in named(value, _BY_WORDS).items()}
    return words | named(value, _METADATA_OF_ARRAYS)


def _attributes_of_array(value: Any) -> Parts:
    """Return the attributes of an object that gives an array, without those that are this array."""
    known = set(_of_array(value))
    array = _as_array(value)
    found = {}
    for name, part in all_attributes(value).items():
        same = isinstance(part, np.ndarray) and isinstance(array, np.ndarray) and np.may_share_memory(part, array)
        if not same and name not in known:
            found[name] = known_by_name(part) if is_opaque(part) else part
    return found


def _printed_by_array(value: Any) -> Parts:
    kind = type(value)
    if kind.__module__.partition(".")[0] in _ATTRIBUTES_ARE_ALL:
        return {}
    return printed(value, {**all_attributes(value), **_of_array(value)})


def _as_array(value: Any) -> Array | Parts:
    """Return what an array of another library holds; a sparse tensor is taken apart as a sparse matrix is."""
    name = foreign(type(value).__qualname__)
    # Each library refuses with exceptions of its own.
    try:
        array = _from_protocols(value)
    except Exception as error:
        wrong = "gives NumPy no array; return numbers, text, arrays or containers of these"
        raise InputError(f"an output of type {name} {wrong} ({foreign(str(error)):.200})") from None
    if isinstance(array, np.ndarray) and array.dtype == object and array.ndim == 0:
        raise InputError(
            f"an output of type {name} has an __array__ of objects: {foreign(repr(value)):.100}; say how to take it "
            f"apart, by dpaudit.register_flattener({name}, lambda output: ...)"
        )
    return array


def _from_protocols(held: Any) -> Array | Parts:
    """Return an array by the protocols; numbers of a type that NumPy lacks, as bfloat16, become doubles."""
    # A tensor gives its values only when all of these are done.
    if hasattr(held, "detach"):
        held = held.detach()
    if hasattr(held, "cpu"):
        held = held.cpu()
    if hasattr(held, "resolve_conj"):
        held = held.resolve_conj()
    if hasattr(held, "resolve_neg"):
        held = held.resolve_neg()
    if hasattr(held, "to_sparse") and "sparse" in str(held.layout):
        entries = held.to_sparse().coalesce()
        pattern = np.asarray(entries.indices())
        return {"shape": tuple(held.shape), "pattern": pattern, "values": _from_protocols(entries.values())}
    if not hasattr(held, "__array__"):
        return np.from_dlpack(held)
    try:
        return np.asarray(held)
    except TypeError:
        if not hasattr(held, "double"):
            raise
        return np.asarray(held.double())

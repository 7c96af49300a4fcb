"""The parts of objects that no table knows: of other libraries, and of user-defined classes.

An object of a class of its own is taken apart by its named elements, attributes, elements, state, or how it is shown.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from collections.abc import AsyncIterable, Awaitable, Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InputError
from dpaudit.withheld import foreign

PLAIN = (bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set, frozenset, np.ndarray, np.generic)
_BASES: tuple[Any, ...] = (str, bytes, bytearray, int, float, list, tuple, dict, set, frozenset)
_NO_STATE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, types.MethodWrapperType)
_ADDRESS = " at 0x"
KINDS = 256
"""Classes whose nature is remembered: it is asked of every output."""


_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial)


def refuse_promises(outputs: Iterable[Any]) -> None:
    """Raise `InputError` if an output is a promise of a value instead of one: a generator, a coroutine, a function."""
    for output in outputs:
        kind = type(output)
        if issubclass(kind, Awaitable) or inspect.isawaitable(output):
            advice = "await it, and return what comes (asyncio.run(...) does so in a plain function)"
        elif issubclass(kind, AsyncIterable | Iterator):
            advice = "return list(...) of it, since a run's output is what it yields"
        elif issubclass(kind, _FUNCTIONS):
            advice = "call it, and return what it returns"
        else:
            continue
        for coroutine in filter(inspect.iscoroutine, outputs):
            coroutine.close()  # else it warns that it was never awaited
        raise InputError(f"the mechanism returns an output of type {foreign(kind.__qualname__)}: {advice}")


def parts(value: Any) -> Any:
    """Return the parts of an object; `InputError` if it shows nothing, or only once it is run."""
    waits, named, base = _nature(value.__class__)
    if waits:
        if inspect.iscoroutine(value):
            value.close()  # or it warns that nobody awaited it
        raise InputError(
            f"an output is a {foreign(type(value).__qualname__)}, which shows nothing until it is run: "
            "return what it makes, as list(output)"
        )
    held = attributes(value)
    if named:
        return {**dict(zip(value._fields, value, strict=True)), **held}
    if base is not None:  # a class derived from a plain one may hold more than that
        return {"value": base(value), **held}
    if held or dataclasses.is_dataclass(value):
        return held
    if hasattr(value, "numerator") and hasattr(value, "denominator"):
        return {"numerator": int(value.numerator), "denominator": int(value.denominator)}
    if isinstance(value, Collection):
        return tuple(value)
    state = _state(value)
    if state is not None:
        return state
    shown = repr(value)
    if _ADDRESS not in shown:
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
    base = next((base for base in _BASES if issubclass(kind, base)), None)
    return waits, base is tuple and hasattr(kind, "_fields"), base


def attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, those of its slots included, but for what has no state of its own."""
    kind: type = type(value)
    found = {name: getattr(value, name) for name in _slots(kind) if hasattr(value, name)}
    found.update(getattr(value, "__dict__", {}))
    return {str(name): part for name, part in found.items() if type(part) in PLAIN or not _shows_nothing(part)}


@lru_cache(maxsize=KINDS)
def _slots(kind: type) -> tuple[str, ...]:
    names = []
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__") or ()
        for name in (slots,) if isinstance(slots, str) else slots:
            private = name.startswith("__") and not name.endswith("__")
            names.append(f"_{base.__name__.lstrip('_')}{name}" if private else name)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def _shows_nothing(value: Any) -> bool:
    """Say whether an attribute is known by its place in memory alone, as functions, locks and loggers are."""
    if isinstance(value, PLAIN):
        return False
    if isinstance(value, _NO_STATE):
        return True
    if getattr(value, "__dict__", None) or isinstance(value, Collection) or hasattr(value, "__array__"):
        return False
    return _state(value) is None and _ADDRESS in repr(value)


def _state(value: Any) -> Any:
    """Return what an object of compiled code would be pickled with; None where that is nothing."""
    kind: type = type(value)
    if isinstance(value, (type, *_NO_STATE)) or _slots(kind) or getattr(value, "__dict__", None):
        return None
    try:
        reduced = value.__reduce_ex__(4)
    except Exception:  # classes refuse pickling with exceptions of many types
        return None
    if isinstance(reduced, str):
        return None
    made, state = [part for part in reduced[1] if not isinstance(part, type)], reduced[2] if len(reduced) > 2 else None
    if state is None and not made:
        return None
    return {"made of": tuple(made), "state": state}


def parts_of_libraries(value: Any) -> Any:
    """Return the parts of a value of pandas or scipy.sparse, or the array that another object holds; None of others."""
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    if library == "pandas":
        return _pandas(value)
    if library == "scipy" and hasattr(kind, "tocoo"):
        places, held = stored_entries(value)
        return {"shape": tuple(value.shape), "pattern": np.stack(places), "values": held}
    if hasattr(kind, "__array__") or hasattr(kind, "__dlpack__"):
        return _as_array(value)
    return None


def _pandas(value: Any) -> Any:
    """Return the parts of a Series, DataFrame, Index, Categorical or scalar of pandas.

    The type is asked, as a table looks an attribute that it lacks up among its labels.
    """
    kind = type(value)
    if hasattr(kind, "columns"):
        columns = list(value.items())
        whole = {"columns": tuple(name for name, _ in columns), "index": _index(value.index), "rows": len(value)}
        return whole | {f"{i} {name}": _values(column) for i, (name, column) in enumerate(columns)}
    if hasattr(kind, "iloc"):
        return {"name": value.name, "index": _index(value.index), "values": _values(value)}
    if hasattr(kind, "codes") and hasattr(kind, "categories"):
        return _categories(value)
    if hasattr(kind, "to_numpy") and hasattr(kind, "__len__"):
        return _index(value) if hasattr(kind, "names") else _values(value)
    return repr(value)


def _index(value: Any) -> Any:
    return {"names": tuple(value.names), "values": _values(value)}


def _categories(value: Any) -> Any:
    return {"categories": tuple(value.categories), "ordered": bool(value.ordered), "codes": np.asarray(value.codes)}


def _values(values: Any) -> Any:
    """Return the values of a column or index: numbers and times as an array, all else as a tuple."""
    if isinstance(values.dtype, np.dtype):
        array = values.to_numpy()
    elif values.dtype.name == "category":
        return _categories(values.cat if hasattr(type(values), "cat") else values)
    else:
        array = np.asarray(values)
    return array if array.dtype.kind in "iufbcmM" else tuple(array.tolist())


def stored_entries(value: Any) -> tuple[tuple[NDArray[Any], ...], NDArray[Any]]:
    """Return the places of a sparse matrix's stored entries, ascending in each dimension, and their values."""
    entries = value.tocoo(copy=True)
    entries.sum_duplicates()
    places = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
    return tuple(map(np.asarray, places)), np.asarray(entries.data)


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

"""Arrays, masked arrays, records and scalars of NumPy taken apart, and what types of other libraries add to them."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from dpaudit.outputs.attributes import attributes
from dpaudit.outputs.metadata import UNSEEN, Flat, WithMetadata, converted
from dpaudit.outputs.types import Array, Masked, Parts, Type


def _fields(value: Any) -> Parts:
    return {name: value[name] for name in value.dtype.names or ()}


def record(value: np.void) -> WithMetadata | bytes:
    """Return a record by its fields; one that has none by its bytes."""
    fields = _fields(value)
    if not fields:
        return value.tobytes()
    return converted(fields, value, _of_records, _between_the_fields)


def masked(value: Masked) -> WithMetadata:
    """Return the values with what is masked as 0, and the mask; of records each field."""
    if value.dtype.names:
        return converted(_fields(value), value, _of_records, _between_the_fields, _of_subclass, _fill_value)
    mask = np.ma.getmaskarray(value)
    found = {"values": np.where(mask, np.zeros((), value.dtype), np.asarray(value.data)), "mask": np.array(mask)}
    return converted(found, value, _under_the_mask, _fill_value, _of_subclass)


def _under_the_mask(value: Masked) -> Parts:
    mask = np.ma.getmaskarray(value)
    data = np.asarray(value.data)
    return {"under the mask": np.where(mask, data, np.zeros((), data.dtype)), "dtype": str(data.dtype)}


def _fill_value(value: Masked) -> Parts:
    return {"fill value": value.fill_value}


# Attributes by which NumPy keeps mask and fill value.
_OF_MASKED = frozenset(vars(np.ma.masked_array([0], [True]))) | {"_sharedmask", "_baseclass", "_isfield", "_optinfo"}


def _of_subclass(value: Array) -> Parts:
    """Return what a class derived from NumPy's arrays adds to an array."""
    return {name: part for name, part in attributes(value).items() if name not in _OF_MASKED}


def _of_records(value: Array | np.void) -> Parts:
    return {"dtype": _types_of_fields(value.dtype)}


def _between_the_fields(value: Array | np.void) -> Parts:
    """Return that records hold bytes that belong to no field, which may be anything that was in memory there."""
    if _has_gaps(value.dtype):
        return {"between the fields": UNSEEN}
    return {}


def _has_gaps(dtype: Type) -> bool:
    if dtype.subdtype is not None:
        return _has_gaps(dtype.subdtype[0])
    inside = list(_types(dtype).values())
    return bool(inside) and (sum(one.itemsize for one in inside) < dtype.itemsize or any(map(_has_gaps, inside)))


def _types(dtype: Type) -> dict[str, Type]:
    """Return the types of the fields of records by their names, in their order."""
    if dtype.fields is None:
        return {}
    return {name: dtype.fields[name][0] for name in dtype.names or ()}


def packed(dtype: Type) -> Type:
    """Return the type of records of the same names and fields, one field behind the other, and without titles."""
    if dtype.subdtype is not None:
        inside, shape = dtype.subdtype
        return np.dtype((packed(inside), shape))
    if dtype.names is None:
        return dtype
    return np.dtype([(name, packed(field)) for name, field in _types(dtype).items()])


def places_of_fields(dtype: Type) -> tuple[int, ...]:
    """Return the byte at which each field of records begins."""
    if dtype.fields is None:
        return ()
    return tuple(int(dtype.fields[name][1]) for name in dtype.names or ())


def titles_of_fields(dtype: Type) -> Parts:
    """Return the titles of the fields of records that have one, by the names of the fields."""
    found: Parts = {}
    if dtype.fields is None:
        return found
    for name in dtype.names or ():
        field = dtype.fields[name]
        # A field is its type, its place and, if it has one, its title.
        if len(field) == 3:
            found[name] = field[2]
    return found


def _types_of_fields(dtype: Type) -> str | Parts | tuple[Any, ...]:
    """Return the types of the fields of records by their names, and their places if these are not one by one."""
    if dtype.subdtype is not None:
        inside, shape = dtype.subdtype
        return (_types_of_fields(inside), shape)
    if dtype.names is None:
        return str(dtype)
    found = {name: _types_of_fields(field) for name, field in _types(dtype).items()}
    titles = titles_of_fields(dtype)
    plain = packed(dtype)
    more: list[Parts] = []
    if titles:
        more.append(titles)
    if dtype.itemsize != plain.itemsize or places_of_fields(dtype) != places_of_fields(plain):
        more.append({"places": places_of_fields(dtype), "bytes": dtype.itemsize})
    if more:
        return (found, *more)
    return found


def array(value: Array) -> Flat:
    """Return arrays of records, times, complex numbers and objects by their parts; additions of a subclass too."""
    found = _plain_array(np.asarray(value))
    added = {} if type(value) is np.ndarray else attributes(value)
    if added:
        return {"array": found, **added}
    return found


def _plain_array(plain: Array) -> Flat:
    kind = plain.dtype.kind
    if not has_numbers(plain.dtype) and plain.dtype.isbuiltin == 2:
        return converted(_built_in_numbers(plain), plain, _dtype)
    if plain.dtype.names:
        return converted(_fields(plain), plain, _of_records, _between_the_fields)
    if _has_times(plain):
        return {"times": plain.astype(np.int64), "unit": str(np.datetime_data(plain.dtype))}
    if kind == "c":
        return {"real": np.ascontiguousarray(plain.real), "imaginary": np.ascontiguousarray(plain.imag)}
    if kind in "iufb":
        return plain
    # Objects, texts of any length, bytes.
    return {"shape": plain.shape, "values": tuple(plain.ravel().tolist())}


def _has_times(array: Array) -> TypeGuard[NDArray[np.datetime64]]:
    return array.dtype.kind in "mM"


def has_numbers(dtype: Type) -> bool:
    """Say whether a type of arrays is one of NumPy's own types of numbers: it says of some others that they are."""
    # 2 says that another library has registered the type.
    return dtype.kind in "iufb" and dtype.isbuiltin != 2


def _built_in_numbers(array: Array) -> Array:
    """Return numbers of a type that another library adds to NumPy, as float8 and int4, in one of NumPy's own."""
    for wider in (np.int64, np.float64, np.complex128):
        if np.can_cast(array.dtype, wider):
            return array.astype(wider)
    return array.astype(np.float64)


def _dtype(value: Array) -> Parts:
    return {"dtype": str(value.dtype)}


def scalar(value: np.generic) -> Flat:
    """Return a number of a type that another library adds to NumPy, which its class says."""
    found: Flat = _built_in_numbers(np.asarray(value)).item()
    return found


def time(value: np.datetime64 | np.timedelta64) -> Parts:
    """Return a time or a duration as a number of units, and the unit."""
    return {"time": int(value.astype(np.int64)), "unit": str(np.datetime_data(value.dtype))}

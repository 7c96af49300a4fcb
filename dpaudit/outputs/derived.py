"""Additions of classes that are derived from those of a library: attributes, and a printed form of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dpaudit.outputs.attributes import added_attributes
from dpaudit.outputs.metadata import Dropped, Flat, WithMetadata, converted, printed
from dpaudit.outputs.types import Parts

# Attributes by which libraries keep what is read in another way, and what they remember.
KEPT = {
    "pandas": ("_mgr", "_attrs", "_flags", "_name", "_item_cache", "_is_copy", "_cacher", "_cache", "_typ", "_data"),
    "polars": ("_df", "_s", "_ldf"),
    "xarray": ("_cache", "_close", "_coords", "_indexes", "_name", "_variable", "_variables", "_attrs", "_encoding",
               "_coord_names", "_dims", "_data"),
    "awkward": ("_cpp_type", "_layout", "_behavior", "_attrs", "_numbaview", "_generator", "_lookup", "_array", "_at"),
}  # fmt: skip
_KEPT_BY_ANY = frozenset(name for library in KEPT.values() for name in library)


def with_additions(base: type, read: Callable[[Any], Flat], value: Any) -> WithMetadata:
    """Return what a reader makes of an object, and what classes between its own and a class of a library add."""
    return converted(read(value), value, *additions(base))


def additions(base: type) -> tuple[Dropped, Dropped]:
    """Return the functions that find what instances have beyond those of a class of a library."""
    return partial(_added, base), partial(_printed, base)


def _added(base: type, value: Any) -> Parts:
    """Return the attributes that are not those by which a library keeps what was read."""
    return {name: part for name, part in added_attributes(value, base).items() if name not in _KEPT_BY_ANY}


def _printed(base: type, value: Any) -> Parts:
    """Return what a derived class prints in its own way."""
    kind = type(value)
    if kind.__repr__ is base.__repr__ and kind.__str__ is base.__str__:
        return {}
    return printed(value, _added(base, value))

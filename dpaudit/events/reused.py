"""Outputs that are kept in the same place: a mechanism may write each into one buffer and return that."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["shares_store"]

_FIXED = (bool, int, float, complex, str, bytes, type(None), type)


def shares_store(first: Any, second: Any, *, inside: bool = False) -> bool:
    """Say whether two outputs are, or directly hold, one object that can be changed, or views of one array.

    Parameters
    ----------
    first, second : any
        Outputs.
    inside : bool
        Whether they are elements of outputs, whose own elements are not compared.
    """
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return bool(first.size) and bool(np.may_share_memory(first, second))
    if isinstance(first, _FIXED):
        return False
    if first is second and not isinstance(first, tuple | frozenset):
        return True
    if inside or type(first) is not type(second):
        return False
    if isinstance(first, list | tuple):
        return any(shares_store(*both, inside=True) for both in zip(first, second, strict=False))
    if isinstance(first, dict):
        return any(shares_store(value, second.get(key), inside=True) for key, value in first.items())
    return False

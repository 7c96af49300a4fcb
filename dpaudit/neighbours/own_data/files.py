"""Reads a dataset from a file of the usual formats."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.errors import InputError

__all__ = ["read_dataset"]


def read_dataset(path: str | Path) -> Any:
    """Return the dataset in a file.

    Parameters
    ----------
    path : str or Path
        A file .csv or .tsv with the names of the columns in its first line, or .parquet, each of which becomes a table
        of pandas; or .npy, which becomes an array. Objects, for which a file would have to be unpickled, are not read.

    Raises
    ------
    InputError
        If there is no such file, it is of another format, holds no record, or cannot be read.
    """
    path = Path(path)
    if not path.is_file():
        if path.is_dir():
            raise InputError.of("data", str(path), "a file", "that is a folder")
        near = get_close_matches(path.name, _names_beside(path))
        hint = f"did you mean {' or '.join(near)}?" if near else ""
        raise InputError.of("data", str(path), "a file that is there", hint)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError.of("data", str(path), f"a file {', '.join(_READERS)}")
    try:
        found = reader(path)
    except InputError:
        raise
    except Exception as error:  # whatever a reader makes of somebody's file; its message may show what is in it
        told = "{data} cannot be read: {path} is no well-formed {suffix} file ({kind}){hint}"
        suffix = path.suffix.lower()
        hint = "; look at its first lines" if suffix in (".csv", ".tsv") else ""
        kind = type(error).__name__
        raise InputError(told, names=("data",), path=str(path), suffix=suffix, kind=kind, hint=hint) from None
    if not len(found):
        raise InputError("{data} must hold at least one record, and {path} holds none", names=("data",), path=str(path))
    return found


def _names_beside(path: Path) -> list[str]:
    return [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []


def _separated(by: str) -> Callable[[Path], Any]:
    """Return what reads a text of columns."""

    def read(path: Path) -> Any:
        import pandas as pd

        try:
            return pd.read_csv(path, sep=by)
        except pd.errors.EmptyDataError:
            told = "{data} must hold at least one record, and {path} is empty"
            raise InputError(told, names=("data",), path=str(path)) from None

    return read


def _parquet(path: Path) -> Any:
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except ImportError:
        raise InputError(
            "{data} is a .parquet file, which pandas reads with pyarrow: pip install pyarrow, or write {path} as .csv",
            names=("data",),
            path=str(path),
        ) from None


def _array(path: Path) -> Any:
    return np.load(path, allow_pickle=False)


_READERS: dict[str, Callable[[Path], Any]] = {
    ".csv": _separated(","),
    ".tsv": _separated("\t"),
    ".parquet": _parquet,
    ".npy": _array,
}

"""Reads a dataset from a file of the usual formats."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.errors import InputError

__all__ = ["read_dataset"]

SUFFIXES = (".csv", ".tsv", ".parquet", ".npy")


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
    suffix = path.suffix.lower()
    if path.is_dir():
        raise InputError.of("data", str(path), "a file", "that is a folder")
    if not path.is_file():
        beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
        near = get_close_matches(path.name, beside)
        hint = f"did you mean {' or '.join(near)}?" if near else ""
        raise InputError.of("data", str(path), "a file that is there", hint)
    if suffix not in SUFFIXES:
        raise InputError.of("data", str(path), f"a file {', '.join(SUFFIXES)}")
    try:
        found = _read(path, suffix)
    except InputError:
        raise
    except Exception as error:  # whatever a reader raises for a malformed file; its message may show what is in it
        hint = "; look at its first lines" if suffix in (".csv", ".tsv") else ""
        raise InputError(
            "{data} cannot be read: {path} is no well-formed {suffix} file ({kind}){hint}",
            names=("data",),
            path=str(path),
            suffix=suffix,
            kind=type(error).__name__,
            hint=hint,
        ) from None
    if not len(found):
        raise InputError("{data} must hold at least one record, and {path} holds none", names=("data",), path=str(path))
    return found


def _read(path: Path, suffix: str) -> Any:
    if suffix == ".npy":
        return np.load(path, allow_pickle=False)
    import pandas as pd

    try:
        separator = "," if suffix == ".csv" else "\t"
        return pd.read_parquet(path) if suffix == ".parquet" else pd.read_csv(path, sep=separator)
    except pd.errors.EmptyDataError:
        text = "{data} must hold at least one record, and {path} is empty"
    except ImportError:
        text = (
            "{data} is a .parquet file, which pandas reads with pyarrow: pip install pyarrow, or write {path} as .csv"
        )
    raise InputError(text, names=("data",), path=str(path))

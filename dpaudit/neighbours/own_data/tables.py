"""Datasets as tables: which adapter each kind has, datasets of several parts, files, and kinds that users register."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from dpaudit.errors import InputError, nearest
from dpaudit.neighbours.own_data.adapters import (
    ArrayTable,
    CellValues,
    FrameTable,
    Index,
    RecordTable,
    SparseTable,
    Table,
)
from dpaudit.neighbours.own_data.columns import DataColumn, unfit
from dpaudit.neighbours.own_data.frames import LIBRARIES, library_of


def _read_lines(path: Path, separator: str, header: bool | None) -> Any:
    """Return the table in a file of lines, the first of which names the columns unless `header` is False.

    pandas takes a first record for the names, gives a name that stands twice another one, and fills short lines up.
    """
    if header is False:
        records = pd.read_csv(path, sep=separator, header=None).rename(columns=str)
        _check_commas(path, records, separator, ", header=None")
        return records
    found = pd.read_csv(path, sep=separator)
    # A word such as "NaN" in the first line is a text here, and the sign of a record.
    names = pd.read_csv(path, sep=separator, header=None, nrows=1, dtype=str, keep_default_na=False).iloc[0]
    names = names[names != ""]
    if header is None and _looks_like_record(names, found):
        # The message shows no cell: it may be a value of somebody's record.
        text = "{header} must be given: the first line of {path} looks like a record and not like the names of columns"
        text += "; say {header:=True} if it names them, {header:=False} if it is a record"
        raise InputError(text, names=("header",), parameter="header", path=str(path))
    _check_commas(path, found, separator)
    if not _counts_rows(found.index) and not _names_rows(found.index):
        text = "{data} must have a name for each column in its first line, and the lines of {path} have more values "
        text += "than that has names: name them all, and write numbers with points, not commas"
        raise unfit(text, path=str(path))
    if not names.is_unique:
        raise unfit("{data} must have columns of different names, and two of {path} have one name", path=str(path))
    if len(found) and found.iloc[:, -1].isna().any():  # what a short line lacks is missing in the last column too
        width = found.index.nlevels * (not _counts_rows(found.index)) + found.shape[1]
        with path.open(newline="", encoding="utf-8-sig") as lines:
            rows = csv.reader(lines, delimiter=separator)
            next(rows)
            short = next((rows.line_num for row in rows if 0 < len(row) < width), None)
        if short is not None:
            text = "{data} must have a value for each column in every line, and line {line} of {path} is too short"
            raise unfit(text, line=short, path=str(path))
    return found


def _names_rows(index: pd.Index) -> bool:
    """Say whether values that stand before those of the named columns are names of rows, or their numbers from 1 on."""
    if index.nlevels > 1 or not index.is_unique:
        return False
    return not pd.api.types.is_numeric_dtype(index.dtype) or bool((index == np.arange(1, len(index) + 1)).all())


VALUE = re.compile(
    r"[-+(]?[\d.,]*\d\s*%?"  # numbers, with a decimal comma too
    r"|[-+(]?\d[-\d\s.,:/()]*%?"  # other digits and signs: times, telephone numbers, codes of places
    r"|[-+]?[\d.]+e[-+]?\d+|[-+]?inf(inity)?|0x[0-9a-f]+"
    r"|[-+]?[$€£¥]\s*[\d.,]+|[-+]?[\d.,]+\s*[$€£¥]|[-+]?[\d.,]+\s+[^\W\d_]{1,3}"  # sums of money, numbers with a unit
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?"  # dates
    r"|[^\W\d_]{3,9}\.? \d{1,2},? \d{4}|\d{1,2}\.?[ -][^\W\d_]{3,9}\.?[ -]\d{2,4}"
    r"|\S+@\S+\.\S+|https?://\S+"  # addresses
    r"|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|true|false|yes|no|nan|null|none|na|n/a|#n/a|-|\?",
    re.IGNORECASE,
)
"""Cells that are values rather than names of columns."""
YEAR = re.compile("(19|20)[0-9]{2}")


def _looks_like_record(names: pd.Series, found: pd.DataFrame) -> bool:
    """Return whether the first line of a file holds a record: a cell that is a value, or one that recurs below it.

    A year names a column in wide tables, unless the column holds years itself.
    """
    whole = len(names) == found.shape[1]
    for place, name in enumerate(names):
        cell = str(name).strip()
        column = found.iloc[:, place] if whole else None
        if YEAR.fullmatch(cell) and column is not None and not _holds_years(column):
            continue
        if VALUE.fullmatch(cell):
            return True
        if column is None or pd.api.types.is_numeric_dtype(column):
            continue
        if (column.astype(str).str.strip() == cell).any():
            return True
    return False


def _holds_years(column: pd.Series) -> bool:
    texts = column.dropna().astype(str).str.removesuffix(".0")
    return len(texts) > 0 and bool(texts.map(lambda text: YEAR.fullmatch(text) is not None).mean() > 0.5)


_COMMA = re.compile(r"\s*[-+]?\d+(?:\.\d{3})*,(\d+)\s*")
"""A number with a comma in the place of the point, after which there are these digits."""
_THOUSANDS = re.compile(r"\s*[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?\s*")
"""A number whose thousands are separated by commas."""
_CELLS = 1_000
"""The cells of a column that are looked at to see whether all of them are such numbers."""


def _check_commas(path: Path, found: pd.DataFrame, separator: str, more: str = "") -> None:
    """Raise `InputError` if a column holds nothing but numbers that pandas takes for text because of their commas.

    The message shows how to read the file, with the arguments `more`, and no name that may be a value of a record.
    """
    for place, name in enumerate(found.columns):
        cells = found.iloc[:, place].dropna()
        if not pd.api.types.is_string_dtype(cells.dtype) or not len(cells):
            continue
        texts = [str(cell) for cell in cells.iloc[:_CELLS]]
        if not all(_COMMA.fullmatch(text) or _THOUSANDS.fullmatch(text) for text in texts):
            continue
        thousands = all(map(_THOUSANDS.fullmatch, texts))
        what = "commas between thousands" if thousands else "decimal commas"
        option = "thousands=','" if thousands else "decimal=','"
        sep = ("" if separator == "," else f", sep={separator!r}") + more
        shown = f"{place + 1} of {found.shape[1]}" if VALUE.fullmatch(str(name)) else repr(str(name))
        text = "{data} must have points in its numbers, and column {name} of {path} has {what}, so that it is read as "
        text += "text: write it with points, or in Python pass pandas.read_csv({path!r}{sep}, {option})"
        raise unfit(text, name=shown, path=str(path), what=what, sep=sep, option=option)


_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
"""Other separators than commas, with their names."""


def _check_separator(path: Path, found: pd.DataFrame) -> None:
    """Raise `InputError` if the one column of a file is several that something else than commas separates."""
    for separator, words in _SEPARATORS.items():
        cells = [str(found.columns[0]), *(str(cell) for cell in found.iloc[:_CELLS, 0])]
        number = cells[0].count(separator)
        # Numbers with commas cut the lines anywhere.
        if not number or (separator != ";" and any(cell.count(separator) != number for cell in cells)):
            continue
        text = "{data} must have its columns separated by commas, and {path} has {words}: write it with commas, or "
        text += "in Python pass pandas.read_csv({path!r}, sep={sep})"
        text += ", and decimal=',' if its numbers have commas" if separator == ";" else ""
        raise unfit(text, path=str(path), words=words, sep=repr(separator))


def check_names(path: Path | str, names: Iterable[Any], share: Callable[[Iterable[bool]], bool]) -> None:
    """Raise `InputError` if the names of the columns in a file are numbers, `all` or `any` of them.

    The message shows none: it may be a value of the first record.
    """

    def is_number(text: Any) -> bool:
        try:
            return isinstance(float(text), float)
        except ValueError:
            return False

    numbers = [is_number(name) for name in names]
    if numbers and share(numbers):
        instead = "and has a number in the place of a name: add a line of names before it, such as output"
        raise InputError(f"the first line of {path} must name its columns, {instead}")


READERS: dict[str, Callable[[Path, bool | None], Any]] = {
    ".csv": lambda path, header: _read_lines(path, ",", header),
    ".tsv": lambda path, header: _read_lines(path, "\t", header),
    ".parquet": lambda path, _: pd.read_parquet(path),
    ".npy": lambda path, _: np.load(path, allow_pickle=False),
}
"""The reader of each format of files, given whether the first line names the columns."""
LINES = (".csv", ".tsv")
"""The formats whose first line may be a record."""
SPARSE_COLUMNS = 8
"""The columns of a sparse matrix in which new records differ: those that most records have an entry in."""
ALLOWED = (
    "a list or tuple of records, an array, a table of pandas, polars or pyarrow, a dataset of xarray, a dictionary of "
    "columns, a tuple of arrays of one length, or a sparse matrix"
)


@dataclass(frozen=True, eq=False)
class PartsTable(Table):
    """Datasets of one length by name, whose rows of one number are one record; `kind` is `dict` or `tuple`."""

    kind: Callable[[Any], Any]

    @property
    def size(self) -> int:
        """The number of records."""
        return int(next(iter(self.data.values())).size)

    @property
    def columns(self) -> tuple[DataColumn, ...]:
        """The columns of all parts, with their names."""
        parts = [(name, column) for name, part in self.data.items() for column in part.columns]
        return tuple(
            replace(column, name=str(name) if column.name is None else f"{name}.{column.name}")
            for name, column in parts
        )

    def cells(self) -> pd.DataFrame:
        """Return the columns of all parts; that of a part with just one has the part's name."""
        parts = {name: part.cells() for name, part in self.data.items()}
        names = [f"{part}" if name is None else f"{part}.{name}" for part, held in parts.items() for name in held]
        return pd.concat(list(parts.values()), axis=1).set_axis(pd.Index(names, dtype=object), axis=1)

    def records(self) -> list[Any]:
        """Return the records one by one."""
        return list(zip(*(part.records() for part in self.data.values()), strict=True))

    def _rows(self, index: Index) -> Any:
        return {name: part._rows(index) for name, part in self.data.items()}

    def _changed(self, rows: Any, cells: CellValues) -> Any:
        found, start = {}, 0
        for name, part in self.data.items():
            stop = start + len(part.columns)
            own = {(row, c - start): value for (row, c), value in cells.items() if start <= c < stop}
            found[name], start = part._changed(rows[name], own), stop
        return found

    def _joined(self, rows: Any) -> Any:
        return {name: replace(part, data=part._joined(rows[name])) for name, part in self.data.items()}

    def _given(self, rows: Any) -> Any:
        found = {name: part._rebuilt(rows[name]) for name, part in self.data.items()}
        return self.kind(found if self.kind is dict else found.values())

    def _content(self) -> Iterator[bytes]:
        for name, part in self.data.items():
            yield str(name).encode()
            yield from part._content()


@singledispatch
def table_of(data: Any) -> Table:
    """Return a dataset as a table, without a look at its records.

    `InputError` is raised if it is of a kind that is not known, or its parts are not of one length.
    """
    library = library_of(type(data))
    if library is not None:
        table: Table = LIBRARIES[library](data, library[1])
        made = table.take(np.zeros(0, dtype=np.int64))
        same = type(made) is type(data) or library[1] == "Array"  # arrays of pyarrow have a class for each type
        return table if same else _of_subclass(table, type(data), made)
    text = "{data} must be {allowed_}, got a {kind}"
    if isinstance(data, str | bytes):
        text += "; it is one value and no dataset: pass a list of records, or what read_dataset(path) returns"
    elif isinstance(data, Iterator):
        text += "; it would be used up by one run: pass list(data)"
    elif data is None or isinstance(data, int | float | complex | np.generic):
        text += "; it is one value and no dataset: pass a list of records"
    else:
        text += "; to use it, say how its records become one of these and back: "
        text += "dpaudit.register_dataset({kind}, lambda data: ..., lambda records: {kind}(...))"
    raise unfit(text, allowed=ALLOWED, allowed_=ALLOWED, kind=type(data).__qualname__)


def _of_subclass(table: Table, kind: type, made: Any) -> Table:
    """Return a table whose datasets are made of `kind`, a subclass that its own rows are not of; `made` are such rows.

    `InputError` if it cannot be made of them.
    """
    try:
        same = type(kind(made)) is kind
    except Exception:  # whatever its constructor raises
        same = False
    if not same:
        text = "{data} must be a plain {plain}, got a {kind}, whose rows are none any more: pass the plain one, or say "
        text += "how it is put together again: dpaudit.register_dataset({kind}, lambda data: ..., lambda records: "
        raise unfit(text + "{kind}(...))", plain=type(made).__name__, kind=kind.__qualname__)
    return replace(table, rebuilds=(*table.rebuilds, kind))


@table_of.register(np.ndarray)
def _of_array(data: NDArray[Any]) -> Table:
    if type(data) not in (np.ndarray, np.recarray):
        text = "{data} must be a plain array, got a {kind}: pass np.asarray(data), or say how it is put together "
        text += "again: dpaudit.register_dataset({kind}, np.asarray, lambda records: ...)"
        raise unfit(text, kind=type(data).__qualname__)
    if data.ndim == 0:
        raise unfit("{data} must be an array of records, got one value: an array of no axes")
    return ArrayTable(data)


@table_of.register(pd.DataFrame)
def _of_frame(data: Any) -> Table:
    if not data.columns.is_unique:
        twice = repr(data.columns[data.columns.duplicated()][0])
        raise unfit("{data} must have columns of different names; {twice} stands twice", twice=twice)
    if not len(data.columns):
        raise unfit("{data} must hold at least one column, got a table of none")
    table = FrameTable(data, False, whole=_counts_rows(data.index))
    rows = data.iloc[:0]
    return table if type(rows) is type(data) else _of_subclass(table, type(data), rows)


@table_of.register(pd.Series)
def _of_series(data: Any) -> Table:
    return FrameTable(data.to_frame(name=0), True, data.name, whole=_counts_rows(data.index))


def _counts_rows(index: Any) -> bool:
    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


# A dok_array is a dictionary too, which comes first among its bases.
@table_of.register(sparse.dok_array)
@table_of.register(sparse.sparray)
@table_of.register(sparse.spmatrix)
def _of_sparse(data: Any) -> Table:
    if data.ndim != 2:
        raise unfit("{data} must be a sparse matrix of two axes, records and columns")
    matrix = data.tocsr()
    entries = np.asarray(np.bincount(matrix.indices, minlength=matrix.shape[1]))
    shown = np.sort(np.argsort(-entries, kind="stable")[:SPARSE_COLUMNS]).astype(np.int64)
    return SparseTable(matrix, data.format, shown, whole=len(shown) == matrix.shape[1])


@table_of.register(list)
@table_of.register(tuple)
def _of_records(data: Any) -> Table:
    """Return the table of a list or tuple; a tuple of arrays of one length holds the parts of records."""
    kind: type = tuple if isinstance(data, tuple) else list
    if kind is tuple and data and all(map(_is_part, data)):
        return _as_given(_of_parts({str(i): part for i, part in enumerate(data)}, tuple), data, tuple)
    return _as_given(RecordTable(list(data), kind), data, kind)


def _as_given(table: Table, data: Any, plain: type) -> Table:
    """Return a table whose datasets have the class of `data`, which is derived from a plain one.

    They are plain where that class is not made of its elements alone.
    """
    kind = type(data)
    make: Callable[[Any], Any] = getattr(kind, "_make", kind)  # a named tuple takes its fields one by one
    if kind is plain:
        return table
    try:
        given, none = plain(data), table.take(np.zeros(0, dtype=np.int64))
        same = all(type(made := make(one)) is kind and plain(made) == one for one in (given, none))
    except Exception:  # whatever its constructor raises
        same = False
    return replace(table, rebuilds=(*table.rebuilds, make)) if same else table


@table_of.register(dict)
def _of_dictionary(data: dict[Any, Any]) -> Table:
    return _as_given(_of_parts(data, dict), data, dict)


def _of_parts(parts: Mapping[Any, Any], kind: Callable[[Any], Any]) -> Table:
    if not parts:
        raise unfit("{data} must hold at least one column, got an empty dictionary")
    for name, part in parts.items():
        if not isinstance(part, list | tuple) and not _is_part(part):
            text = "{data} must be a dictionary of columns: the value of {name} is a {kind}; pass a list or an array "
            raise unfit(text + "of one value a record", name=repr(name), kind=type(part).__qualname__)
    tables = {name: table_of(part) for name, part in parts.items()}
    if len({table.size for table in tables.values()}) > 1:
        sizes = ", ".join(f"{str(name)!r} has {table.size}" for name, table in tables.items())
        raise unfit("{data} must hold columns of one length: {sizes:.300}", sizes=sizes)
    return PartsTable(tables, kind, whole=all(table.whole for table in tables.values()))


def _is_part(value: Any) -> bool:
    """Return whether a value is an array or a table of a library: what tuples of parts consist of."""
    return (
        isinstance(value, pd.DataFrame | pd.Series)
        or library_of(type(value)) is not None
        or ((isinstance(value, np.ndarray) or sparse.issparse(value)) and value.ndim > 0)
    )


def register_dataset(kind: type, records: Callable[[Any], Any], rebuild: Callable[[Any], Any]) -> None:
    """Say how datasets of a type become records and back, so that neighbours of them can be made.

    Parameters
    ----------
    kind : type
        The type; its subclasses are taken in the same way.
    records : callable
        Maps a dataset to one of a kind that is known: a list of records, an array, a table of pandas.
    rebuild : callable
        Maps such records, of any number and order, to a dataset of the type. With several jobs it travels to the
        workers, so it must pickle.

    Raises
    ------
    InputError
        If `kind` is no class, or a function cannot be called.

    Examples
    --------
    >>> class Ages:
    ...     def __init__(self, years):
    ...         self.years = years
    >>> register_dataset(Ages, lambda ages: ages.years, Ages)
    >>> table_of(Ages([31, 47])).size
    2
    """
    if not isinstance(kind, type) or kind is object:
        raise InputError.of("kind", kind, "a class of datasets")
    for name, function in (("records", records), ("rebuild", rebuild)):
        if not callable(function):
            raise InputError.of(name, function, "a callable that takes a dataset")

    @table_of.register(kind)
    def _of_registered(data: Any) -> Table:
        table = table_of(records(data))
        return replace(table, rebuilds=(*table.rebuilds, rebuild))


def read_dataset(path: str | Path, *, header: bool | None = None) -> Any:
    """Return the dataset in a file.

    Parameters
    ----------
    path : str or Path
        A file .csv or .tsv with the names of the columns in its first line, or .parquet, each of which becomes a table
        of pandas; or .npy, which becomes an array. Objects, for which a file would have to be unpickled, are not read.
    header : bool, optional
        Whether the first line of a .csv or .tsv names the columns. If False, it is a record, and the columns are
        named "0", "1" and so on. By default it names them, and one that looks like a record is refused: one of its
        cells is a number, a date, a time, a sum of money, an address, an identifier, missing or a word such as "yes",
        or occurs again in its column.

    Raises
    ------
    InputError
        If there is no such file, it is of another format, holds no record, or cannot be read; if the first line of a
        .csv or .tsv looks like a record and `header` is not given, two columns have one name, or a line is too short.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError.of("data", str(path), "a file", "that is a folder")
    if not path.is_file():
        beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = nearest(path.name, beside).removeprefix("; ")
        raise InputError.of("data", str(path), "a file that is there", hint)
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise InputError.of("data", str(path), f"a file {', '.join(READERS)}")
    if header is not None and suffix not in LINES:
        text = "{header} is for {formats}; {path} has names of its own, or none"
        raise InputError(text, names=("header",), formats=" and ".join(LINES), path=str(path))
    try:
        found = READERS[suffix](path, header)
    except InputError:
        raise
    except Exception as error:  # whatever a reader raises for a malformed file; its message may show what is in it
        text = "{data} cannot be read: {path} is no well-formed {suffix} file ({kind}){hint}"
        if isinstance(error, pd.errors.EmptyDataError):
            text = "{data} must hold at least one record, and {path} is empty"
        elif isinstance(error, ImportError):
            text = "{data} is a .parquet file, which pandas reads with pyarrow: pip install pyarrow, or write {path} "
            text += "as .csv"
        kind, hint = type(error).__name__, "; look at its first lines" if suffix in (".csv", ".tsv") else ""
        raise unfit(text, path=str(path), suffix=suffix, kind=kind, hint=hint) from None
    if not np.ndim(found):
        raise unfit("{data} must be an array of records, and {path} holds one value", path=str(path))
    if suffix == ".csv" and found.shape[1] == 1:
        _check_separator(path, found)
    if not len(found):
        raise unfit("{data} must hold at least one record, and {path} holds none", path=str(path))
    return found

"""Datasets in files: tables of lines, .parquet files and arrays, read as they stand, or refused with what to change."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from dpaudit.errors import InputError, nearest
from dpaudit.neighbours.own_data.adapters import counts_rows
from dpaudit.neighbours.own_data.data_columns import unfit


def _read_lines(path: Path, separator: str, header: bool | None) -> pd.DataFrame:
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
    # Taken for names, the first record would be missing from every dataset that is made.
    if header is None and _looks_like_record(names, found):
        # The message shows no cell: it may be a value of somebody's record.
        text = "{header} must be given: the first line of {path} looks like a record and not like the names of columns"
        text += "; say {header:=True} if it names them, {header:=False} if it is a record"
        raise InputError(text, names=("header",), parameter="header", path=str(path))
    _check_commas(path, found, separator)
    # Of numbers with commas, and of more values than names, pandas makes an index of the first columns.
    if not counts_rows(found.index) and not _names_rows(found.index):
        text = "{data} must have a name for each column in its first line, and the lines of {path} have more values "
        text += "than that has names: name them all, and write numbers with points, not commas"
        raise unfit(text, path=str(path))
    if not names.is_unique:
        raise unfit("{data} must have columns of different names, and two of {path} have one name", path=str(path))
    # What a short line lacks is missing in the last column too.
    if len(found) and found.iloc[:, -1].isna().any():
        _check_widths(path, found, separator)
    return found


def _check_widths(path: Path, found: pd.DataFrame, separator: str) -> None:
    """Raise `InputError` if a line has fewer values than there are columns."""
    width = found.shape[1]
    # The first values of each line name the row.
    if not counts_rows(found.index):
        width += found.index.nlevels
    with path.open(newline="", encoding="utf-8-sig") as lines:
        rows = csv.reader(lines, delimiter=separator)
        next(rows)
        short = next((rows.line_num for row in rows if 0 < len(row) < width), None)
    if short is not None:
        text = "{data} must have a value for each column in every line, and line {line} of {path} is too short"
        raise unfit(text, line=short, path=str(path))


def _names_rows(index: pd.Index) -> bool:
    """Say whether values that stand before those of the named columns are names of rows, or their numbers from 1 on."""
    if index.nlevels > 1 or not index.is_unique:
        return False
    if not pd.api.types.is_numeric_dtype(index.dtype):
        return True
    return bool((index == np.arange(1, len(index) + 1)).all())


# Cells that are values rather than names of columns.
VALUE = re.compile(
    # Numbers, with a decimal comma too.
    r"[-+(]?[\d.,]*\d\s*%?"
    # Other digits and signs: times, telephone numbers, codes of places.
    r"|[-+(]?\d[-\d\s.,:/()]*%?"
    r"|[-+]?[\d.]+e[-+]?\d+|[-+]?inf(inity)?|0x[0-9a-f]+"
    # Sums of money, numbers with a unit.
    r"|[-+]?[$€£¥]\s*[\d.,]+|[-+]?[\d.,]+\s*[$€£¥]|[-+]?[\d.,]+\s+[^\W\d_]{1,3}"
    # Dates.
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?"
    r"|[^\W\d_]{3,9}\.? \d{1,2},? \d{4}|\d{1,2}\.?[ -][^\W\d_]{3,9}\.?[ -]\d{2,4}"
    # Addresses.
    r"|\S+@\S+\.\S+|https?://\S+"
    r"|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|true|false|yes|no|nan|null|none|na|n/a|#n/a|-|\?",
    re.IGNORECASE,
)
YEAR = re.compile("(19|20)[0-9]{2}")


def _looks_like_record(names: pd.Series, found: pd.DataFrame) -> bool:
    """Return whether the first line of a file holds a record: a cell that is a value, or one that recurs below it.

    A year names a column in wide tables, unless the column holds years itself.
    """
    whole = len(names) == found.shape[1]
    for place, name in enumerate(names):
        cell = str(name).strip()
        column = None
        if whole:
            column = found.iloc[:, place]
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


# A number with a comma in the place of the point, after which there are these digits.
_COMMA = re.compile(r"\s*[-+]?\d+(?:\.\d{3})*,(\d+)\s*")
# A number whose thousands are separated by commas.
_THOUSANDS = re.compile(r"\s*[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?\s*")
# The cells of a column that are looked at to see whether all of them are such numbers.
_CELLS = 1_000


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
        if all(map(_THOUSANDS.fullmatch, texts)):
            what = "commas between thousands"
            option = "thousands=','"
        else:
            what = "decimal commas"
            option = "decimal=','"
        sep = more
        if separator != ",":
            sep = f", sep={separator!r}{more}"
        shown = repr(str(name))
        # It may be a value of the first record.
        if VALUE.fullmatch(str(name)):
            shown = f"{place + 1} of {found.shape[1]}"
        text = "{data} must have points in its numbers, and column {name} of {path} has {what}, so that it is read as "
        text += "text: write it with points, or in Python pass pandas.read_csv({path!r}{sep}, {option})"
        raise unfit(text, name=shown, path=str(path), what=what, sep=sep, option=option)


# Other separators than commas, with their names.
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


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
        if separator == ";":
            text += ", and decimal=',' if its numbers have commas"
        raise unfit(text, path=str(path), words=words, sep=repr(separator))


def check_names(path: Path | str, names: Iterable[str], share: Callable[[Iterable[bool]], bool]) -> None:
    """Raise `InputError` if the names of the columns in a file are numbers, `all` or `any` of them.

    The message shows none: it may be a value of the first record.
    """

    def is_number(text: str) -> bool:
        try:
            return isinstance(float(text), float)
        except ValueError:
            return False

    numbers = [is_number(name) for name in names]
    if numbers and share(numbers):
        instead = "and has a number in the place of a name: add a line of names before it, such as output"
        raise InputError(f"the first line of {path} must name its columns, {instead}")


# The reader of each format of files, given whether the first line names the columns.
READERS: dict[str, Callable[[Path, bool | None], pd.DataFrame | np.ndarray]] = {
    ".csv": lambda path, header: _read_lines(path, ",", header),
    ".tsv": lambda path, header: _read_lines(path, "\t", header),
    ".parquet": lambda path, _: pd.read_parquet(path),
    ".npy": lambda path, _: np.load(path, allow_pickle=False),
}
# The formats whose first line may be a record.
LINES = (".csv", ".tsv")


def read_dataset(path: str | Path, *, header: bool | None = None) -> pd.DataFrame | np.ndarray:
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
    suffix = _checked_suffix(path)
    if header is not None and suffix not in LINES:
        text = "{header} is for {formats}; {path} has names of its own, or none"
        raise InputError(text, names=("header",), formats=" and ".join(LINES), path=str(path))
    try:
        found = READERS[suffix](path, header)
    except InputError:
        raise
    # Whatever a reader raises for a malformed file; its message may show what is in it.
    except Exception as error:
        raise _unreadable(path, suffix, error) from None
    if not np.ndim(found):
        raise unfit("{data} must be an array of records, and {path} holds one value", path=str(path))
    if suffix == ".csv" and found.shape[1] == 1:
        _check_separator(path, found)
    if not len(found):
        raise unfit("{data} must hold at least one record, and {path} holds none", path=str(path))
    return found


def _checked_suffix(path: Path) -> str:
    """Return the suffix of a file that is there and can be read; `InputError` for any other."""
    if path.is_dir():
        raise InputError.of("data", str(path), "a file", "that is a folder")
    if not path.is_file():
        others = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = nearest(path.name, others).removeprefix("; ")
        raise InputError.of("data", str(path), "a file that is there", hint)
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise InputError.of("data", str(path), f"a file {', '.join(READERS)}")
    return suffix


def _unreadable(path: Path, suffix: str, error: Exception) -> InputError:
    """Return the error for a file that its reader refused."""
    if isinstance(error, pd.errors.EmptyDataError):
        return unfit("{data} must hold at least one record, and {path} is empty", path=str(path))
    if isinstance(error, ImportError):
        text = "{data} is a .parquet file, which pandas reads with pyarrow: pip install pyarrow, or write {path} "
        return unfit(text + "as .csv", path=str(path))
    text = "{data} cannot be read: {path} is no well-formed {suffix} file ({kind})"
    if suffix in LINES:
        text += "; look at its first lines"
    return unfit(text, path=str(path), suffix=suffix, kind=type(error).__name__)

"""Warnings of what is audited: counted while runs are made, here and in other processes, and shown once each."""

from __future__ import annotations

import builtins
import os
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TextIO

from dpaudit.escaping import printable
from dpaudit.withheld import foreign, hides

# The names in the class of a warning that add no code.
_PLAIN = frozenset({"__module__", "__doc__", "__weakref__", "__dict__", "__static_attributes__", "__firstlineno__"})


class WarningPlace(NamedTuple):
    """The line that warned, and the module and the name of the category, which a warning of another process has too."""

    module: str
    category: str
    file: str
    line: int


# The first text of each place, and how often it warned.
WarningCounts = Mapping[WarningPlace, tuple[str, int]]

_counts: dict[WarningPlace, tuple[str, int]] = {}
# Warnings of several threads are counted at once.
_lock = threading.Lock()
# Modules whose categories are shown in audits of people's data.
_LIBRARIES = ("builtins", "numpy", "numpy.exceptions", "pandas.errors", "sklearn.exceptions")
# The blocks of `gathered` that are under way.
_open: list[int] = []


@contextmanager
def counted() -> Iterator[None]:
    """Count warnings in the block and show none; those that the user's filters ignore, or make errors, stay so.

    Filters are those of the whole process, so that only its main thread may change them for a while.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("always", append=True)
        warnings.showwarning = _count
        yield


@contextmanager
def gathered() -> Iterator[None]:
    """Count warnings in the block, and at its end show each line that warned once, with how often it did."""
    _open.append(1)
    try:
        with counted():
            yield
    finally:
        _open.pop()
        if not _open:
            _show(taken())


def add(counts: WarningCounts) -> None:
    """Add what was counted in another process; show it where nothing is gathered."""
    if _open:
        _add(counts)
    else:
        _show(counts)


def taken() -> WarningCounts:
    """Return what was counted in this process, and forget it."""
    with _lock:
        found = dict(_counts)
        _counts.clear()
    return found


def _add(counts: WarningCounts) -> None:
    with _lock:
        for place, (text, number) in counts.items():
            first, before = _counts.get(place, (text, 0))
            _counts[place] = first, before + number


def _show(counts: WarningCounts) -> None:
    for place, (text, number) in counts.items():
        kind: Any = getattr(sys.modules.get(place.module), "__dict__", {}).get(place.category)
        category: type[Warning] = UserWarning
        if type(kind) is type and issubclass(kind, Warning):
            named = (vars(builtins).get(base.__name__) is base or vars(base).keys() <= _PLAIN for base in kind.__mro__)
            # A class with code of its own would run that here, in the process of the audit.
            category = kind if all(named) else UserWarning
        # Ends of lines stay; what else a terminal could obey is escaped.
        shown = "\n".join(map(printable, text.split("\n")))
        if number > 1:
            shown += f" (this line warned {number:,} times)"
        warnings.warn_explicit(shown, category, place.file, place.line)


def _count(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Count a warning in the place of showing it; the parameters are those of `warnings.showwarning`."""
    # A name that the audited code made up may hold a value of the data.
    if hides() and not os.path.isfile(filename):
        filename = "unknown place"
        lineno = 0
    if hides() and category.__module__ not in _LIBRARIES:
        category = UserWarning
    place = WarningPlace(category.__module__, category.__qualname__, filename, lineno)
    _add({place: (foreign(str(message)), 1)})

"""Finds learner classes and statements, in installed packages and in folders, and builds learners by id.

A learner is any class in a module's tuple ``LEARNERS``, a statement of the ledger any `contract.Statement` in its tuple
``STATEMENTS``. Modules come from the entry-point group "dpaudit.learners" and from paths that the user names; dpaudit
itself names none.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from dpaudit.contract import Learner
from dpaudit.registry.entries import Collector, Entry, Registry, StatementEntry, lists_something
from dpaudit.registry.import_spec import GROUP, PRIVATE, Problem, at_path, installed, walk

__all__ = [
    "GROUP",
    "PRIVATE",
    "Entry",
    "Problem",
    "Registry",
    "StatementEntry",
    "get_learner",
    "list_learners",
    "list_statements",
    "load",
]


def get_learner(id: str, /, **parameters: Any) -> Learner:
    """Build an installed learner.

    Parameters
    ----------
    id : str
        As `list_learners` shows it.
    **parameters
        The learner's own parameters. One without a default in the learner's definition must be given.

    Raises
    ------
    InputError
        If the id is unknown (the message names the nearest), or a parameter is unknown, missing or refused.

    Examples
    --------
    >>> get_learner("parity-private", epsilon=1.0, dimension=4)  # doctest: +SKIP
    ParityPrivate(dimension=4, epsilon=1.0)
    """
    return load().get(id).build(**parameters)


def list_learners() -> tuple[Entry, ...]:
    """Return every installed learner, positive controls included, sorted by id.

    Each `Entry` has `id`, `summary`, `parameters` (names with defaults), `claim()`, `fault`, and the class
    itself, `learner`.
    """
    return load().entries


def list_statements() -> tuple[StatementEntry, ...]:
    """Return every installed statement of the papers, sorted by id, unchecked; `dpaudit.ledger` checks them."""
    return load().statements


@lru_cache(maxsize=8)
def load(paths: tuple[str, ...] = ()) -> Registry:
    """Find the learners and the statements of all installed packages and of some paths.

    Parameters
    ----------
    paths : tuple of str
        Files ``*.py``, or folders: every module of the folder, and of its subfolders that have an
        ``__init__.py``. They are loaded under private names, so they shadow nothing; the files of a folder
        can import each other relatively.

    Raises
    ------
    InputError
        If a path does not exist, is no Python file or folder, or if two classes or two statements share an id.
    """
    found = Collector()
    # A path given twice is loaded once: a second copy of its classes would be another learner of the same id.
    given = {Path(path).resolve(): Path(path) for path in reversed(paths)}
    for source in (*installed(), *map(at_path, reversed(given.values()))):
        met, modules = len(found.problems), []
        for module in walk(source, found.problems):
            modules.append(module)
            found.add(module, source)
        if len(found.problems) == met and not any(map(lists_something, modules)):
            found.problems.append(Problem(source.origin, _emptiness(modules[0], source.requested), source.requested))
    return found.registry()


def _emptiness(module: ModuleType, requested: bool) -> str:
    """Say that a module, with all that is in it, offers nothing; of an installed one, where it was found."""
    if requested:
        return "offers nothing: it has neither a tuple LEARNERS nor a tuple STATEMENTS"
    place = getattr(module, "__file__", None) or ", ".join(map(str, getattr(module, "__path__", ()))) or "no file"
    return f"offers no learners; Python found {module.__name__} at {place}, which may hide the installed package"

"""Collects the learners and the statements that modules list; anything else that stands there becomes a problem."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from dpaudit.arguments import lacking
from dpaudit.contract import HasFault, Instance, Statement
from dpaudit.errors import InputError
from dpaudit.registry.entries import Entry, Problem, Registry, StatementEntry
from dpaudit.registry.import_spec import Source

__all__ = ["Collector", "lists_something"]

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_STATEMENT_ID = re.compile(r"[A-Za-z0-9]+([-._][A-Za-z0-9]+)*")


class Collector:
    """Learners and statements by id, and the problems met on the way to them."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._entries: dict[str, Entry] = {}
        self._statements: dict[str, StatementEntry] = {}
        self._seen: set[str] = set()

    def registry(self) -> Registry:
        """Return all that was collected, sorted by id."""
        return Registry(
            tuple(self._entries[id] for id in sorted(self._entries)),
            tuple(self.problems),
            tuple(self._statements[id] for id in sorted(self._statements)),
        )

    def add(self, module: ModuleType, source: Source) -> None:
        """Collect the learners and the statements of a module, unless its file was seen before.

        Raises
        ------
        InputError
            If two classes, or two statements, share an id.
        """
        if self._known(module):
            return
        for learner in self._listed(module, "LEARNERS", "classes", source):
            if self._sound(_defect(learner), source):
                self._add_learner(Entry(learner.id, learner, source.origin))
        home = getattr(module, "__file__", None) or module.__name__
        for statement in self._listed(module, "STATEMENTS", "dpaudit.contract.Statement", source):
            if self._sound(_statement_defect(statement), source):
                self._add_statement(StatementEntry(statement, source.origin, home))

    def _known(self, module: ModuleType) -> bool:
        """Say whether the module's file was seen before, under this name or another (in a folder, and by itself)."""
        file = getattr(module, "__file__", None)
        if file is None:
            return False
        where = os.path.realpath(file)
        known = where in self._seen
        self._seen.add(where)
        return known

    def _listed(self, module: ModuleType, name: str, kind: str, source: Source) -> Iterator[Any]:
        """Yield the items of a module's tuple, if it has one."""
        found = getattr(module, name, ())
        if isinstance(found, Iterable):
            yield from found
        else:
            self._sound(f"{name} must be a tuple of {kind}, got {found!r}", source)

    def _sound(self, defect: str, source: Source) -> bool:
        """Say whether there is no defect; one becomes a problem."""
        if defect:
            self.problems.append(Problem(source.origin, defect, source.requested))
        return not defect

    def _add_learner(self, entry: Entry) -> None:
        known = self._entries.setdefault(entry.id, entry)
        if known.learner is not entry.learner:
            raise InputError(
                f"two learners have the id {entry.id!r}: {_home(known.learner)} and {_home(entry.learner)}"
            )

    def _add_statement(self, entry: StatementEntry) -> None:
        known = self._statements.setdefault(entry.id, entry)
        if known.statement is not entry.statement:
            raise InputError(f"two statements have the id {entry.id!r}: one in {known.home}, one in {entry.home}")


def lists_something(module: ModuleType) -> bool:
    """Say whether a module lists any learner or statement."""
    return any(getattr(module, name, ()) for name in ("LEARNERS", "STATEMENTS"))


def _home(learner: type[Any]) -> str:
    module = sys.modules.get(learner.__module__)
    return f"{learner.__qualname__} in {getattr(module, '__file__', None) or learner.__module__}"


def _defect(learner: Any) -> str:
    """Say why something in LEARNERS is no learner class; the empty string if it is one."""
    if not isinstance(learner, type):
        return f"LEARNERS must hold classes, got {learner!r}"
    name, missing = learner.__qualname__, lacking(learner)
    if missing:
        return f"{name} lacks {', '.join(missing)}"
    sound: type[Any] = learner
    if not isinstance(sound.id, str) or not _ID.fullmatch(sound.id):
        return f"{name}.id must be lower-case words joined by hyphens, got {sound.id!r}"
    if not isinstance(sound.instance, Instance) or not isinstance(sound.instance.parameters, Mapping):
        return f"{name}.instance must be a dpaudit.Instance, got {sound.instance!r}"
    if isinstance(sound, HasFault) and not isinstance(sound.fault, str):
        return f"{name}.fault must be a sentence, got {sound.fault!r}"
    return ""


def _statement_defect(statement: Any) -> str:
    """Say why something in STATEMENTS is no statement; the empty string if it is one."""
    if not isinstance(statement, Statement):
        return f"STATEMENTS must hold dpaudit.contract.Statement, got {statement!r}"
    if not isinstance(statement.id, str) or not _STATEMENT_ID.fullmatch(statement.id):
        return f"a statement's id must be words joined by hyphens, dots or underscores, got {statement.id!r}"
    blank = [name for name in ("statement", "source") if not str(getattr(statement, name) or "").strip()]
    if blank:
        return f"the statement {statement.id} has no {' and no '.join(blank)}"
    if not callable(statement.check):
        return f"the check of the statement {statement.id} must be callable, got {statement.check!r}"
    return ""

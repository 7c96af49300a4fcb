"""The entries of the registry: learner classes and statements that modules list, found by id.

Anything else that stands in these lists becomes a problem.
"""

from __future__ import annotations

import difflib
import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

from dpaudit.arguments import lacking
from dpaudit.contract import (
    HasFault,
    HasFurtherInstances,
    HasPicturedInstance,
    Instance,
    Learner,
    PrivacyClaim,
    Statement,
)
from dpaudit.errors import InputError
from dpaudit.registry.import_spec import Problem, Source

__all__ = ["Collector", "Entry", "Registry", "StatementEntry", "lists_something"]


@dataclass(frozen=True)
class Entry:
    """A learner class and what a list of learners shows of it."""

    id: str
    learner: type[Any]
    origin: str

    @property
    def instance(self) -> Instance:
        """The small instance on which every check can run."""
        found: Instance = self.learner.instance
        return found

    @property
    def further_instances(self) -> tuple[Instance, ...]:
        """The further instances on which utility is audited."""
        return self.learner.audited if isinstance(self.learner, HasFurtherInstances) else ()

    @property
    def pictured_instance(self) -> Instance:
        """The instance that is drawn: the learner's `pictured`, by default its `instance`."""
        return self.learner.pictured if isinstance(self.learner, HasPicturedInstance) else self.instance

    @property
    def fault(self) -> str | None:
        """The leak of a positive control, in a sentence; None for a learner that is not broken on purpose."""
        return self.learner.fault if isinstance(self.learner, HasFault) else None

    @property
    def summary(self) -> str:
        """The first line of the class's docstring."""
        return (inspect.getdoc(self.learner) or "").partition("\n")[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters' names and defaults; `inspect.Parameter.empty` where one must be given."""
        named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        found = inspect.signature(self.learner).parameters.values()
        return {p.name: p.default for p in found if p.kind in named}

    def claim(self) -> PrivacyClaim | None:
        """Return the privacy claim of the small instance."""
        claim: PrivacyClaim | None = self.build(**self.instance.parameters).privacy
        return claim

    def build(self, /, **parameters: Any) -> Learner:
        """Return the learner with these parameters; see `get_learner`."""
        known = self.parameters
        allowed = ", ".join(known) or "none"
        for name in parameters:
            if name not in known:
                raise InputError(
                    f"{self.id} has no parameter {name!r}; allowed: {allowed}", parameter=name, allowed=allowed
                )
        missing = [n for n, default in known.items() if default is inspect.Parameter.empty and n not in parameters]
        if missing:
            message = f"{self.id} needs the parameter(s) {', '.join(missing)}; allowed: {allowed}"
            raise InputError(message, parameter=missing[0], allowed=allowed)
        built: Learner = self.learner(**parameters)
        return built


@dataclass(frozen=True)
class StatementEntry:
    """A statement of the ledger, where it was looked for and the file or module that lists it."""

    statement: Statement
    origin: str
    home: str = ""

    @property
    def id(self) -> str:
        """The statement's id."""
        return self.statement.id


_E = TypeVar("_E", Entry, StatementEntry)


@dataclass(frozen=True)
class Registry:
    """The learners and the statements that were found, each sorted by id, and the problems met on the way."""

    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...] = ()
    statements: tuple[StatementEntry, ...] = ()

    def get(self, id: str) -> Entry:
        """Return the entry of that id, or raise `InputError` with the nearest ids."""
        return self._find(self.entries, id, "learner", "dpaudit list --all")

    def get_statement(self, id: str) -> StatementEntry:
        """Return the statement of that id, or raise `InputError` with the nearest ids."""
        return self._find(self.statements, id, "statement", "dpaudit ledger")

    def _find(self, entries: Sequence[_E], id: str, noun: str, command: str) -> _E:
        """Return the entry of an id; the error names the nearest ids, or the command that lists all."""
        for entry in entries:
            if entry.id == id:
                return entry
        known = [entry.id for entry in entries]
        near = difflib.get_close_matches(str(id), known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"{len(known)} are known; see `{command}`"
        failed = f" ({len(self.problems)} module(s) of learners failed to load)" if self.problems else ""
        raise InputError(f"there is no {noun} {id!r}; {hint}{failed}")


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
                known = self._entries.setdefault(learner.id, Entry(learner.id, learner, source.origin)).learner
                if known is not learner:
                    both = f"{_home(known)} and {_home(learner)}"
                    raise InputError(f"two learners have the id {learner.id!r}: {both}")
        home = getattr(module, "__file__", None) or module.__name__
        for statement in self._listed(module, "STATEMENTS", "dpaudit.contract.Statement", source):
            if self._sound(_statement_defect(statement), source):
                entry = self._statements.setdefault(statement.id, StatementEntry(statement, source.origin, home))
                if entry.statement is not statement:
                    both = f"one in {entry.home}, one in {home}"
                    raise InputError(f"two statements have the id {statement.id!r}: {both}")

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

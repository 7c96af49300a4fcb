"""Find learner classes and statements, in installed packages and in folders, and build learners by id.

A learner is any class in a module's tuple ``LEARNERS``, a statement of the ledger any `contract.Statement` in its tuple
``STATEMENTS``; anything else that stands in these lists becomes a problem. Modules come from the entry-point group
"dpaudit.learners" and from paths that the user names; dpaudit itself names none. What each learner must pass is in
`dpaudit.registry.conformance`.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from dpaudit.arguments import lacking
from dpaudit.contract import HasFault, HasPicturedInstance, Instance, Learner, Parameter, PrivacyClaim, Statement
from dpaudit.errors import InputError, nearest
from dpaudit.places import PRIVATE
from dpaudit.registry.modules import GROUP, LoadProblem, ModuleSource, at_path, folders_of, installed, walk

__all__ = [
    "GROUP",
    "PRIVATE",
    "Entry",
    "LoadProblem",
    "Registry",
    "get_learner",
    "list_learners",
    "load",
]

# The ids of learners, which stand in addresses of streams; those of statements are as papers have them.
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_STATEMENT_ID = re.compile(r"[A-Za-z0-9]+([-._][A-Za-z0-9]+)*")


@dataclass(frozen=True)
class Entry:
    """A learner class and what a list of learners shows of it."""

    id: str
    learner: type[Learner]
    origin: str

    @property
    def instance(self) -> Instance:
        """The small instance on which every check can run."""
        return self.learner.instance

    @property
    def pictured_instance(self) -> Instance:
        """The instance that is drawn: the learner's `pictured`, by default its `instance`."""
        if isinstance(self.learner, HasPicturedInstance):
            return self.learner.pictured
        return self.instance

    @property
    def fault(self) -> str | None:
        """The leak of a positive control, in a sentence; None for a learner that is not broken on purpose."""
        if isinstance(self.learner, HasFault):
            return self.learner.fault
        return None

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
        return self.build(**self.instance.parameters).privacy

    def build(self, /, **parameters: Parameter) -> Learner:
        """Return the learner with these parameters; see `get_learner`."""
        # Named here, as the error of a dataclass would name neither the id nor the parameters that are allowed.
        known = self.parameters
        allowed = ", ".join(known) or "none"
        if wrong := [name for name in parameters if name not in known]:
            message = f"{self.id} has no parameter {wrong[0]!r}; allowed: {allowed}"
            raise InputError(message, parameter=wrong[0], allowed=allowed)
        required = [name for name, default in known.items() if default is inspect.Parameter.empty]
        if missing := [name for name in required if name not in parameters]:
            message = f"{self.id} needs the parameter(s) {', '.join(missing)}; allowed: {allowed}"
            raise InputError(message, parameter=missing[0], allowed=allowed)
        return self.learner(**parameters)


_Found = TypeVar("_Found", Entry, Statement)


@dataclass(frozen=True)
class Registry:
    """The learners and the statements that were found, each sorted by id, and the problems met on the way."""

    entries: tuple[Entry, ...]
    problems: tuple[LoadProblem, ...] = ()
    statements: tuple[Statement, ...] = ()

    def get(self, id: str) -> Entry:
        """Return the entry of that id, or raise `InputError` with the nearest ids."""
        return self._find(self.entries, id, "learner", "dpaudit list --all")

    def get_statement(self, id: str) -> Statement:
        """Return the statement of that id, or raise `InputError` with the nearest ids."""
        return self._find(self.statements, id, "statement", "dpaudit ledger")

    def _find(self, among: Sequence[_Found], id: str, noun: str, command: str) -> _Found:
        for one in among:
            if one.id == id:
                return one
        known = [one.id for one in among]
        hint = nearest(str(id), known) or f"; {len(known)} are known; see `{command}`"
        if noun == "learner" and ":" in str(id):
            hint = f", and a function has no law: `dpaudit privacy {id}` runs it"
        if self.problems:
            # The learner may be in one of these modules.
            hint += f" ({len(self.problems)} module(s) of learners failed to load)"
        raise InputError(f"there is no {noun} {id!r}{hint}")


def get_learner(id: str, /, **parameters: Parameter) -> Learner:
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


# Loaded once for the same paths: a second copy of the classes of a file would be other learners.
@lru_cache(maxsize=8)
def load(paths: tuple[str, ...] = ()) -> Registry:
    """Find the learners and the statements of all installed packages and of some paths.

    Paths are files ``*.py``, or folders: every module of the folder, and of its subfolders that have an
    ``__init__.py``. They are loaded under private names, so they shadow nothing; the files of a folder can import each
    other relatively. `InputError` if a path does not exist, is no Python file or folder, or if two classes or two
    statements share an id.
    """
    problems: list[LoadProblem] = []
    entries: dict[str, Entry] = {}
    statements: dict[str, tuple[Statement, str]] = {}
    seen: set[str] = set()
    # A path given twice is loaded once: a second copy of its classes would be another learner of the same id.
    given = {Path(path).resolve(): Path(path) for path in reversed(paths)}
    for source in (*installed(), *map(at_path, reversed(given.values()))):
        before = len(problems)
        modules = []
        for module in walk(source, problems):
            modules.append(module)
            home = _file_of(module.__name__)
            # A file that is given both in a folder and by itself is loaded under two names.
            file = os.path.realpath(home)
            if file in seen:
                continue
            seen.add(file)
            for learner in _listed(module, source, problems, "LEARNERS", "classes", _learner_defect):
                # A class may be listed twice, in its module and in the package: only another class is an error.
                known = entries.setdefault(learner.id, Entry(learner.id, learner, source.origin)).learner
                if known is not learner:
                    both = " and ".join(f"{one.__qualname__} in {_file_of(one.__module__)}" for one in (known, learner))
                    raise InputError(f"two learners have the id {learner.id!r}: {both}")
            statement_type = "dpaudit.contract.Statement"
            for statement in _listed(module, source, problems, "STATEMENTS", statement_type, _statement_defect):
                same, place = statements.setdefault(statement.id, (statement, home))
                if same is not statement:
                    raise InputError(f"two statements have the id {statement.id!r}: one in {place}, one in {home}")
        # A source whose module failed to load has a problem already.
        if len(problems) == before and not any(map(_offers, modules)):
            problems.append(source.problem(_nothing_offered(source, modules[0])))
    # By id, so that reports do not depend on the order in which modules are found.
    sorted_statements = tuple(statements[id][0] for id in sorted(statements))
    return Registry(tuple(entries[id] for id in sorted(entries)), tuple(problems), sorted_statements)


def _offers(module: ModuleType) -> bool:
    """Say whether a module has a tuple of learners or of statements that is not empty."""
    return bool(getattr(module, "LEARNERS", ()) or getattr(module, "STATEMENTS", ()))


def _nothing_offered(source: ModuleSource, module: ModuleType) -> str:
    """Return why a source that loads without a problem is one nevertheless: none of its modules lists anything."""
    if source.requested:
        return "offers nothing: it has neither a tuple LEARNERS nor a tuple STATEMENTS"
    # An installed package lists learners, so another module of the same name has been found in its place.
    place = getattr(module, "__file__", None) or ", ".join(folders_of(module)) or "no file"
    return f"offers no learners; Python found {module.__name__} at {place}, which may hide the installed package"


def _listed(
    module: ModuleType,
    source: ModuleSource,
    problems: list[LoadProblem],
    name: str,
    kind: str,
    defect: Callable[[Any], str],
) -> Iterator[Any]:
    """Yield the learners or the statements that a module lists; anything else in the list becomes a problem."""
    listed = getattr(module, name, ())
    if not isinstance(listed, Iterable):
        problems.append(source.problem(f"{name} must be a tuple of {kind}, got {listed!r}"))
        return
    for item in listed:
        if words := defect(item):
            problems.append(source.problem(words))
        else:
            yield item


def _file_of(module: str) -> str:
    return getattr(sys.modules.get(module), "__file__", None) or module


def _learner_defect(learner: Any) -> str:
    """Return why something in a tuple of learners is none; empty for a learner."""
    if not isinstance(learner, type):
        return f"LEARNERS must hold classes, got {learner!r}"
    name = learner.__qualname__
    # Only what a list of learners reads is checked here; `conformance` checks the rest.
    missing = lacking(learner)
    if missing:
        return f"{name} lacks {', '.join(missing)}"
    sound: type[Any] = learner
    if not isinstance(sound.id, str) or not _ID.fullmatch(sound.id):
        return f"{name}.id must be lower-case words joined by hyphens, got {sound.id!r}"
    if not isinstance(sound.instance, Instance) or not isinstance(sound.instance.parameters, Mapping):
        return f"{name}.instance must be a dpaudit.pac.Instance, got {sound.instance!r}"
    if isinstance(sound, HasFault) and not isinstance(sound.fault, str):
        return f"{name}.fault must be a sentence, got {sound.fault!r}"
    return ""


def _statement_defect(statement: Any) -> str:
    """Return why something in a tuple of statements is none; empty for a statement."""
    if not isinstance(statement, Statement):
        return f"STATEMENTS must hold dpaudit.contract.Statement, got {statement!r}"
    if not isinstance(statement.id, str) or not _STATEMENT_ID.fullmatch(statement.id):
        return f"a statement's id must be words joined by hyphens, dots or underscores, got {statement.id!r}"
    blank = []
    if not str(statement.statement or "").strip():
        blank.append("statement")
    if not str(statement.source or "").strip():
        blank.append("source")
    if blank:
        return f"the statement {statement.id} has no {' and no '.join(blank)}"
    if not callable(statement.check):
        return f"the check of the statement {statement.id} must be callable, got {statement.check!r}"
    return ""

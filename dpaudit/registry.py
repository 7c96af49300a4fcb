"""Finds learner classes and statements, in installed packages and in folders, and builds learners by id.

A learner is any class in a module's tuple ``LEARNERS``, a statement of the ledger any `contract.Statement` in its tuple
``STATEMENTS``. Modules come from the entry-point group "dpaudit.learners" and from paths that the user names; dpaudit
itself names none.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

from dpaudit.contract import Instance, Learner, PrivacyClaim, Statement
from dpaudit.errors import InputError

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

GROUP = "dpaudit.learners"
"""The entry-point group; each entry point names a module or a package to walk."""
PRIVATE = "_dpaudit_learners_"
"""What the names of modules loaded from a path begin with."""
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_STATEMENT_ID = re.compile(r"[A-Za-z0-9]+([-._][A-Za-z0-9]+)*")


@dataclass(frozen=True)
class Problem:
    """A module that could not be loaded, or holds something that is no learner or no statement."""

    origin: str
    message: str
    requested: bool
    """Whether the user named the path; a problem elsewhere must not stand in the way."""

    def __str__(self) -> str:
        return f"{self.origin}: {self.message}"


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
    def fault(self) -> str | None:
        """What a positive control leaks; None for a learner that is not broken on purpose."""
        fault = getattr(self.learner, "fault", None)
        return None if fault is None else str(fault)

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
                raise InputError(f"{self.id} has no parameter {name!r}; allowed: {allowed}")
        missing = [n for n, default in known.items() if default is inspect.Parameter.empty and n not in parameters]
        if missing:
            raise InputError(f"{self.id} needs the parameter(s) {', '.join(missing)}; allowed: {allowed}")
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


@dataclass(frozen=True)
class Registry:
    """The learners and the statements that were found, each sorted by id, and the problems met on the way."""

    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...] = ()
    statements: tuple[StatementEntry, ...] = ()

    def get(self, id: str) -> Entry:
        """Return the entry of that id, or raise `InputError` with the nearest ids."""
        for entry in self.entries:
            if entry.id == id:
                return entry
        raise self._unknown("learner", id, [entry.id for entry in self.entries], "dpaudit list --all")

    def get_statement(self, id: str) -> StatementEntry:
        """Return the statement of that id, or raise `InputError` with the nearest ids."""
        for entry in self.statements:
            if entry.id == id:
                return entry
        raise self._unknown("statement", id, [entry.id for entry in self.statements], "dpaudit ledger")

    def _unknown(self, noun: str, id: str, known: Sequence[str], command: str) -> InputError:
        """Return the error that says which ids are near."""
        near = difflib.get_close_matches(str(id), known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"{len(known)} are known; see `{command}`"
        failed = f" ({len(self.problems)} module(s) of learners failed to load)" if self.problems else ""
        return InputError(f"there is no {noun} {id!r}; {hint}{failed}")


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
    problems: list[Problem] = []
    entries: dict[str, Entry] = {}
    statements: dict[str, StatementEntry] = {}
    seen: set[str] = set()
    # A path given twice is loaded once: a second copy of its classes would be another learner of the same id.
    given = {Path(path).resolve(): Path(path) for path in reversed(paths)}
    for origin, requested, opener in (*_installed(), *map(_at_path, reversed(given.values()))):
        met, modules = len(problems), []
        for module in _walk(origin, requested, opener, problems):
            modules.append(module)
            if _known(module, seen):
                continue
            _collect(module, origin, requested, entries, problems)
            _collect_statements(module, origin, requested, statements, problems)
        if len(problems) == met and not any(map(_offers, modules)):
            problems.append(Problem(origin, _emptiness(modules[0], requested), requested))
    return Registry(
        tuple(entries[id] for id in sorted(entries)),
        tuple(problems),
        tuple(statements[id] for id in sorted(statements)),
    )


def _offers(module: ModuleType) -> bool:
    return any(getattr(module, name, ()) for name in ("LEARNERS", "STATEMENTS"))


def _emptiness(module: ModuleType, requested: bool) -> str:
    """Say that a module, with all that is in it, offers nothing; of an installed one, where it was found."""
    if requested:
        return "offers nothing: it has neither a tuple LEARNERS nor a tuple STATEMENTS"
    place = getattr(module, "__file__", None) or ", ".join(map(str, getattr(module, "__path__", ()))) or "no file"
    return f"offers no learners; Python found {module.__name__} at {place}, which may hide the installed package"


def _known(module: ModuleType, seen: set[str]) -> bool:
    """Say whether the module's file was seen before, under this name or another (in a folder, and by itself)."""
    file = getattr(module, "__file__", None)
    if file is None:
        return False
    where = os.path.realpath(file)
    known = where in seen
    seen.add(where)
    return known


_Source = tuple[str, bool, Callable[[], ModuleType]]


def _installed() -> Iterator[_Source]:
    points = {(point.name, point.module) for point in importlib.metadata.entry_points(group=GROUP)}
    for name, module in sorted(points):
        yield f"entry point {name} ({module})", False, partial(importlib.import_module, module)


def _at_path(path: Path) -> _Source:
    """Return how to load the file or the folder at `path` under a private name."""
    where = path.resolve()
    if not (where.is_dir() or (where.is_file() and where.suffix == ".py")):
        raise InputError(f"learners must be a .py file or a folder of them; got {str(path)!r}")
    digest = hashlib.blake2b(str(where).encode(), digest_size=6).hexdigest()
    name = f"{PRIVATE}{digest}_{re.sub(r'[^0-9A-Za-z_]', '_', where.stem)}"
    return str(path), True, partial(_load_private, name, where)


def _load_private(name: str, path: Path) -> ModuleType:
    """Import a file, or a folder as a package, under the given name."""
    importlib.invalidate_caches()
    file = path / "__init__.py" if path.is_dir() else path
    if path.is_dir() and not file.exists():
        module = ModuleType(name)
        module.__path__ = [str(path)]
        sys.modules[name] = module
        return module
    folders = [str(path)] if path.is_dir() else None
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=folders)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their own module up while the class body is being decorated.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _walk(
    origin: str, requested: bool, opener: Callable[[], ModuleType], problems: list[Problem]
) -> Iterator[ModuleType]:
    """Yield the module and all its submodules; one that fails to import becomes a problem."""
    try:
        module = opener()
    except (Exception, SystemExit) as error:
        problems.append(Problem(origin, f"could not be loaded: {type(error).__name__}: {error}", requested))
        return
    yield module
    for info in pkgutil.iter_modules(getattr(module, "__path__", ()), module.__name__ + "."):
        leaf = info.name.rpartition(".")[2]
        if leaf != "__main__":
            submodule = partial(importlib.import_module, info.name)
            yield from _walk(f"{origin}, module {leaf}", requested, submodule, problems)


def _collect(
    module: ModuleType, origin: str, requested: bool, entries: dict[str, Entry], problems: list[Problem]
) -> None:
    """Put the module's learners into `entries`."""
    learners = getattr(module, "LEARNERS", ())
    if not isinstance(learners, Iterable):
        problems.append(Problem(origin, f"LEARNERS must be a tuple of classes, got {learners!r}", requested))
        return
    for learner in learners:
        wrong = _defect(learner)
        if wrong:
            problems.append(Problem(origin, wrong, requested))
            continue
        known = entries.setdefault(learner.id, Entry(learner.id, learner, origin))
        if known.learner is not learner:
            raise InputError(f"two learners have the id {learner.id!r}: {_home(known.learner)} and {_home(learner)}")


def _collect_statements(
    module: ModuleType, origin: str, requested: bool, statements: dict[str, StatementEntry], problems: list[Problem]
) -> None:
    """Put the module's statements into `statements`."""
    found = getattr(module, "STATEMENTS", ())
    if not isinstance(found, Iterable):
        problems.append(
            Problem(origin, f"STATEMENTS must be a tuple of dpaudit.contract.Statement, got {found!r}", requested)
        )
        return
    home = getattr(module, "__file__", None) or module.__name__
    for statement in found:
        wrong = _statement_defect(statement)
        if wrong:
            problems.append(Problem(origin, wrong, requested))
            continue
        known = statements.setdefault(statement.id, StatementEntry(statement, origin, home))
        if known.statement is not statement:
            raise InputError(f"two statements have the id {statement.id!r}: one in {known.home}, one in {home}")


def _home(learner: type[Any]) -> str:
    module = sys.modules.get(learner.__module__)
    return f"{learner.__qualname__} in {getattr(module, '__file__', None) or learner.__module__}"


def _statement_defect(statement: Any) -> str:
    """Say why something in STATEMENTS is no statement; the empty string if it is one."""
    if not isinstance(statement, Statement):
        return f"STATEMENTS must hold dpaudit.contract.Statement, got {statement!r}"
    if not isinstance(statement.id, str) or not _STATEMENT_ID.fullmatch(statement.id):
        return f"a statement's id must be words joined by hyphens, dots or underscores, got {statement.id!r}"
    blank = [name for name in ("statement", "source") if not str(getattr(statement, name) or "").strip()]
    if blank:
        return f"the statement {statement.id} has no {' and no '.join(blank)}"
    return (
        ""
        if callable(statement.check)
        else f"the check of the statement {statement.id} must be callable, got {statement.check!r}"
    )


def _defect(learner: Any) -> str:
    """Say why something in LEARNERS is no learner class; the empty string if it is one."""
    if not isinstance(learner, type):
        return f"LEARNERS must hold classes, got {learner!r}"
    id, instance = getattr(learner, "id", None), getattr(learner, "instance", None)
    if not isinstance(id, str) or not _ID.fullmatch(id):
        return f"{learner.__qualname__}.id must be lower-case words joined by hyphens, got {id!r}"
    if not isinstance(instance, Instance) or not isinstance(instance.parameters, Mapping):
        return f"{learner.__qualname__}.instance must be a dpaudit.Instance, got {instance!r}"
    fields = getattr(learner, "__dataclass_fields__", {})
    needed = ("privacy", "domain", "concepts", "run", "decode")
    lacking = [name for name in needed if not (hasattr(learner, name) or name in fields)]
    return f"{learner.__qualname__} lacks {', '.join(lacking)}" if lacking else ""

"""The modules that list learners and statements: those that installed packages name, and those at a path."""

from __future__ import annotations

import importlib.metadata
import pkgutil
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from dpaudit.errors import InputError
from dpaudit.folders import staying
from dpaudit.places import load_private, private_name

# The entry-point group; each entry point names a module or a package to walk.
GROUP = "dpaudit.learners"


class LoadProblem(NamedTuple):
    """A module that could not be loaded, or holds something that is no learner or no statement."""

    origin: str
    message: str
    requested: bool
    """Whether the user named the path; a problem elsewhere must not stand in the way."""

    def __str__(self) -> str:
        return f"{self.origin}: {self.message}"


class ModuleSource(NamedTuple):
    """A module or a package to walk: where it comes from, whether the user named it, and a call that imports it."""

    origin: str
    requested: bool
    opener: Callable[[], ModuleType]

    def problem(self, message: str) -> LoadProblem:
        """Return a problem of this source."""
        return LoadProblem(self.origin, message, self.requested)


def installed() -> Iterator[ModuleSource]:
    """Yield what the entry points of installed packages name, sorted by name."""
    # A set, as a package that is installed twice, as in development, names its modules twice.
    points = {(point.name, point.module) for point in importlib.metadata.entry_points(group=GROUP)}
    for name, module in sorted(points):
        yield ModuleSource(f"entry point {name} ({module})", False, partial(import_module, module))


def at_path(path: Path) -> ModuleSource:
    """Return how to load the file or the folder at `path` under a private name."""
    where = path.resolve()
    if not (where.is_dir() or (where.is_file() and where.suffix == ".py")):
        message = "{learners} must be a .py file or a folder of them; got {given!r}"
        if not where.exists():
            message += ", which is not there"
        raise InputError(message, names=("learners",), value=str(path), given=str(path))
    return ModuleSource(str(path), True, partial(load_private, private_name(where), where))


def walk(source: ModuleSource, problems: list[LoadProblem]) -> Iterator[ModuleType]:
    """Yield the module and all its submodules; one that fails to import becomes a problem."""
    try:
        with staying():
            module = source.opener()
    # A module that ends the program as it is imported is a problem of that module, not the end of the walk.
    except (Exception, SystemExit) as error:
        problems.append(source.problem(f"could not be loaded: {type(error).__name__}: {error}"))
        return
    yield module
    for info in pkgutil.iter_modules(folders_of(module), module.__name__ + "."):
        leaf = info.name.rpartition(".")[2]
        # Importing a `__main__` would run a program.
        if leaf != "__main__":
            submodule = partial(import_module, info.name)
            yield from walk(ModuleSource(f"{source.origin}, module {leaf}", source.requested, submodule), problems)


def folders_of(module: ModuleType) -> list[str]:
    """Return the folders of a package; none for a module."""
    return list(getattr(module, "__path__", ()))

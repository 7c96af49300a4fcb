"""Loads the modules that list learners and statements: those of installed packages, and those at a path."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from dpaudit.errors import InputError
from dpaudit.registry.entries import Problem

__all__ = ["GROUP", "PRIVATE", "Source", "at_path", "installed", "walk"]

GROUP = "dpaudit.learners"
"""The entry-point group; each entry point names a module or a package to walk."""
PRIVATE = "_dpaudit_learners_"
"""The prefix of the names of modules loaded from a path."""


class Source(NamedTuple):
    """A module or a package to walk: where it comes from, whether the user named it, and a call that imports it."""

    origin: str
    requested: bool
    opener: Callable[[], ModuleType]


def installed() -> Iterator[Source]:
    """Yield what the entry points of installed packages name, sorted by name."""
    points = {(point.name, point.module) for point in importlib.metadata.entry_points(group=GROUP)}
    for name, module in sorted(points):
        yield Source(f"entry point {name} ({module})", False, partial(importlib.import_module, module))


def at_path(path: Path) -> Source:
    """Return how to load the file or the folder at `path` under a private name."""
    where = path.resolve()
    if not (where.is_dir() or (where.is_file() and where.suffix == ".py")):
        told = "{learners} must be a .py file or a folder of them; got {given!r}"
        raise InputError(told, names=("learners",), value=str(path), given=str(path))
    digest = hashlib.blake2b(str(where).encode(), digest_size=6).hexdigest()
    name = f"{PRIVATE}{digest}_{re.sub(r'[^0-9A-Za-z_]', '_', where.stem)}"
    return Source(str(path), True, partial(_load_private, name, where))


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
    except BaseException:  # after an interrupt too, half a module must not pass for a whole one
        del sys.modules[name]
        raise
    return module


def walk(source: Source, problems: list[Problem]) -> Iterator[ModuleType]:
    """Yield the module and all its submodules; one that fails to import becomes a problem."""
    try:
        module = source.opener()
    except (Exception, SystemExit) as error:
        problems.append(
            Problem(source.origin, f"could not be loaded: {type(error).__name__}: {error}", source.requested)
        )
        return
    yield module
    for info in pkgutil.iter_modules(getattr(module, "__path__", ()), module.__name__ + "."):
        leaf = info.name.rpartition(".")[2]
        if leaf != "__main__":
            submodule = partial(importlib.import_module, info.name)
            yield from walk(Source(f"{source.origin}, module {leaf}", source.requested, submodule), problems)

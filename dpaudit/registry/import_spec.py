"""Load modules: those that list learners and statements, and those of objects named on the command line.

FILE.py:NAME loads a file, MODULE:NAME imports a module.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from dpaudit.errors import InputError, nearest
from dpaudit.folders import staying

GROUP = "dpaudit.learners"
"""The entry-point group; each entry point names a module or a package to walk."""
PRIVATE = "_dpaudit_learners_"
"""The prefix of the names of modules loaded from a path."""


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
    points = {(point.name, point.module) for point in importlib.metadata.entry_points(group=GROUP)}
    for name, module in sorted(points):
        yield ModuleSource(f"entry point {name} ({module})", False, partial(import_module, module))


def at_path(path: Path) -> ModuleSource:
    """Return how to load the file or the folder at `path` under a private name."""
    where = path.resolve()
    if not (where.is_dir() or (where.is_file() and where.suffix == ".py")):
        message = "{learners} must be a .py file or a folder of them; got {given!r}"
        message += "" if where.exists() else ", which is not there"
        raise InputError(message, names=("learners",), value=str(path), given=str(path))
    digest = hashlib.blake2b(str(where).encode(), digest_size=6).hexdigest()
    name = f"{PRIVATE}{digest}_{re.sub(r'[^0-9A-Za-z_]', '_', where.stem)}"
    return ModuleSource(str(path), True, partial(_load_private, name, where))


def _load_private(name: str, path: Path) -> ModuleType:
    """Import a file, or a folder as a package, under the given name."""
    importlib.invalidate_caches()
    file, folders = (path / "__init__.py", [str(path)]) if path.is_dir() else (path, None)
    if folders and not file.exists():
        sys.modules[name] = module = ModuleType(name)
        module.__path__ = folders
        return module
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


def walk(source: ModuleSource, problems: list[LoadProblem]) -> Iterator[ModuleType]:
    """Yield the module and all its submodules; one that fails to import becomes a problem."""
    try:
        with staying():
            module = source.opener()
    except (Exception, SystemExit) as error:
        problems.append(source.problem(f"could not be loaded: {type(error).__name__}: {error}"))
        return
    yield module
    for info in pkgutil.iter_modules(getattr(module, "__path__", ()), module.__name__ + "."):
        leaf = info.name.rpartition(".")[2]
        if leaf != "__main__":
            submodule = partial(import_module, info.name)
            yield from walk(ModuleSource(f"{source.origin}, module {leaf}", source.requested, submodule), problems)


_FORM = "FILE.py:NAME or MODULE:NAME, such as mean.py:mean or package.module:name"
_MOST_NAMES = 5


def is_place(text: str) -> bool:
    """Say whether a text names an object in a file or a module; the id of a learner has no colon and no suffix."""
    return ":" in text or text.endswith(".py")


def parted(text: str) -> tuple[str, str]:
    """Return the file or the module and the name of a place; of the id of a learner, "" and that."""
    source, _, name = text.rpartition(":")
    return source, name


@dataclass(frozen=True)
class Place:
    """An object in a Python file or a module: its role in messages, the file or the module, and its name, with dots."""

    role: str
    source: str
    name: str

    @classmethod
    def parse(cls, role: str, text: str) -> Place:
        r"""Return what a text names; the last colon parts file and name, as in ``C:\audits\mean.py:mean``.

        Text of another form raises `InputError`; of a file without a name the message lists what it holds.
        """
        source, name = parted(text)
        names = [*name.split("."), *([] if source.endswith(".py") else source.split("."))]
        if text.endswith(".py") or not all(map(str.isidentifier, names)):
            hint = _functions_hint(text) if text.endswith(".py") else ""
            raise InputError(f"{role} must be given as {_FORM}; got {text!r}{hint}")
        return cls(role, source, name)

    @property
    def is_file(self) -> bool:
        """Whether the source is a file."""
        return self.source.endswith(".py")

    @property
    def folder(self) -> str:
        """The folder whose modules can be imported beside: that of the file, or the current one."""
        return str(Path(self.source).resolve().parent) if self.is_file else os.getcwd()

    def find(self) -> Any:
        """Return the object; `InputError` if file or module cannot be loaded, or have no such name."""
        found: Any = self.module()
        for part in self.name.split("."):
            if not hasattr(found, part):
                hint = nearest(part, [known for known in dir(found) if not known.startswith("__")])
                raise InputError(f"{self.source} has no {self.name}{hint}")
            found = getattr(found, part)
        return found

    def module(self) -> ModuleType:
        """Return the file or the module, loaded; whatever it does wrong is bad input, an exit of its own above all."""
        try:
            with staying():
                return _load_file(Path(self.source)) if self.is_file else import_module(self.source)
        except InputError:
            raise
        except ModuleNotFoundError as error:
            if not self.is_file and error.name is not None and f"{self.source}.".startswith(f"{error.name}."):
                raise InputError(
                    f"there is no module {error.name!r}, neither installed nor in the current directory "
                    f"{os.getcwd()}; a file is given as {error.name.replace('.', '/')}.py:{self.name}"
                ) from None
            raise InputError(f"{self.source} could not be loaded: {error}") from error
        except (Exception, SystemExit) as error:
            raise InputError(f"{self.source} could not be loaded: {type(error).__name__}: {error}") from error


@contextmanager
def importable(*folders: str) -> Iterator[None]:
    """Let modules of some folders be imported, in worker processes too, while the block runs."""
    before = list(sys.path)
    sys.path[:0] = list(dict.fromkeys(folders))
    try:
        yield
    finally:
        sys.path[:] = before


FILES: set[str] = set()
"""Modules of files that were named, under their own names, which workers on other machines cannot import."""


def _load_file(path: Path) -> ModuleType:
    """Import a file: under its own name if that leads to it, as it does in a worker, else under a private one."""
    where = path.resolve()
    if not where.is_file():
        hint = nearest(where.name, [one.name for one in where.parent.glob("*.py")])
        raise InputError(f"there is no file {str(path)!r}{hint}")
    spec = None
    with suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(where.stem) if where.stem.isidentifier() else None
    own = spec is not None and spec.origin is not None and Path(spec.origin).resolve() == where
    if not own:
        return _load_by_value(where)
    FILES.add(where.stem)
    return import_module(where.stem)


@lru_cache
def _load_by_value(where: Path) -> ModuleType:
    """Load a file under a private name; what it defines then travels to worker processes by value."""
    module = at_path(where).opener()
    send_by_value(module.__name__)
    return module


def _functions_hint(file: str) -> str:
    """Return the functions of a file of which no name was given, as what to type; "" if it cannot be read."""
    names: list[str] = []
    with suppress(OSError, UnicodeDecodeError):
        names = re.findall(r"^def ([a-zA-Z]\w*)\(", Path(file).read_text(encoding="utf-8"), re.MULTILINE)[:_MOST_NAMES]
    return f"; add the function, as {' or '.join(f'{file}:{name}' for name in names)}" if names else ""


def send_by_value(module: str) -> None:
    """Let what a loaded module defines travel to worker processes, which cannot import it by its private name."""
    cloudpickle().register_pickle_by_value(sys.modules[module])


def send_private(module: str) -> None:
    """Let a module travel so if it, or the package that it is in, was loaded from a path."""
    package = module.partition(".")[0]
    if package.startswith(PRIVATE):
        send_by_value(package)


def cloudpickle() -> Any:
    """Return the module that pickles definitions too: joblib carried its own copy up to 1.5."""
    try:
        return import_module("joblib.externals.cloudpickle")
    except ImportError:
        return import_module("cloudpickle")

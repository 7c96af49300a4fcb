"""Objects that a text names: FILE.py:NAME loads a file, MODULE:NAME imports a module."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from dpaudit.errors import InputError, nearest
from dpaudit.folders import staying

# The prefix of the names of modules loaded from a path.
PRIVATE = "_dpaudit_learners_"


def private_name(where: Path) -> str:
    """Return the name under which the file or the folder at an absolute path is loaded: it shadows no other module."""
    digest = hashlib.blake2b(str(where).encode(), digest_size=6).hexdigest()
    return f"{PRIVATE}{digest}_{re.sub(r'[^0-9A-Za-z_]', '_', where.stem)}"


def load_private(name: str, path: Path) -> ModuleType:
    """Import a file, or a folder as a package, under the given name."""
    importlib.invalidate_caches()
    file = path
    folders = None
    if path.is_dir():
        file = path / "__init__.py"
        folders = [str(path)]
        if not file.exists():
            module = ModuleType(name)
            module.__path__ = folders
            sys.modules[name] = module
            return module
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=folders)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their own module up while the class body is being decorated.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    # After an interrupt too, half a module must not pass for a whole one.
    except BaseException:
        del sys.modules[name]
        raise
    return module


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
        names = name.split(".")
        if not source.endswith(".py"):
            names += source.split(".")
        if text.endswith(".py") or not all(map(str.isidentifier, names)):
            raise InputError(f"{role} must be given as {_FORM}; got {text!r}{_functions_hint(text)}")
        return cls(role, source, name)

    @property
    def is_file(self) -> bool:
        """Whether the source is a file."""
        return self.source.endswith(".py")

    @property
    def folder(self) -> str:
        """The folder whose modules the file or the module can import: that of the file, or the current one."""
        if self.is_file:
            return str(Path(self.source).resolve().parent)
        return os.getcwd()

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
                if self.is_file:
                    return _load_file(Path(self.source))
                return import_module(self.source)
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


# Modules of files that were named, under their own names, which workers on other machines cannot import.
FILES: set[str] = set()


def _load_file(path: Path) -> ModuleType:
    """Import a file: under its own name if that leads to it, as it does in a worker, else under a private one."""
    where = path.resolve()
    if not where.is_file():
        hint = nearest(where.name, [one.name for one in where.parent.glob("*.py")])
        raise InputError(f"there is no file {str(path)!r}{hint}")
    spec = None
    if where.stem.isidentifier():
        with suppress(ImportError, ValueError):
            spec = importlib.util.find_spec(where.stem)
    own = spec is not None and spec.origin is not None and Path(spec.origin).resolve() == where
    if not own:
        return _load_by_value(where)
    FILES.add(where.stem)
    return import_module(where.stem)


@lru_cache
def _load_by_value(where: Path) -> ModuleType:
    """Load a file under a private name; what it defines then travels to worker processes by value."""
    module = load_private(private_name(where), where)
    send_by_value(module.__name__)
    return module


def _functions_hint(file: str) -> str:
    """Return the functions of a file that was given without a name, as what to type; "" if there are none to read."""
    names: list[str] = []
    if file.endswith(".py"):
        with suppress(OSError, UnicodeDecodeError):
            text = Path(file).read_text(encoding="utf-8")
            names = re.findall(r"^def ([a-zA-Z]\w*)\(", text, re.MULTILINE)[:_MOST_NAMES]
    if not names:
        return ""
    return f"; add the function, as {' or '.join(f'{file}:{name}' for name in names)}"


def send_by_value(module: str) -> None:
    """Let what a loaded module defines travel to worker processes, which cannot import it by its private name."""
    cloudpickle().register_pickle_by_value(sys.modules[module])


def send_private(module: str) -> None:
    """Let a module travel so if it, or the package that it is in, was loaded from a path."""
    package = module.partition(".")[0]
    if package.startswith(PRIVATE):
        send_by_value(package)


def cloudpickle() -> ModuleType:
    """Return the module that pickles definitions too."""
    # joblib carried its own copy up to 1.5.
    try:
        return import_module("joblib.externals.cloudpickle")
    except ImportError:
        return import_module("cloudpickle")

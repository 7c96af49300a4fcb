"""Objects named on the command line: FILE.py:NAME loads a file, MODULE:NAME imports a module."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from dpaudit.errors import InputError
from dpaudit.registry.modules import at_path

__all__ = ["Place", "importable", "is_place", "send_by_value"]

_FORM = "FILE.py:NAME or MODULE:NAME, such as mean.py:mean or package.module:name"
_MOST = 5
"""The most names that a message offers."""


def is_place(text: str) -> bool:
    """Say whether a text names an object in a file or a module; the id of a learner has no colon and no suffix."""
    return ":" in text or text.endswith(".py")


@dataclass(frozen=True)
class Place:
    r"""An object in a Python file or a module.

    Attributes
    ----------
    role : str
        What the object is for, in messages.
    source : str
        The file, as it was given, or the module.
    name : str
        The name in it, which may have dots.
    """

    role: str
    source: str
    name: str

    @classmethod
    def parse(cls, role: str, text: str) -> Place:
        r"""Return what a text names.

        The last colon parts file and name, so that ``C:\audits\mean.py:mean`` is understood.

        Raises
        ------
        InputError
            If the text is of neither form; of a file without a name the message lists what it holds.
        """
        source, colon, name = text.rpartition(":")
        if not colon or text.endswith(".py"):
            hint = _functions_hint(text) if text.endswith(".py") else ""
            raise InputError(f"{role} must be given as {_FORM}; got {text!r}{hint}")
        good = source.endswith(".py") or all(part.isidentifier() for part in source.split("."))
        if not good or not all(part.isidentifier() for part in name.split(".")):
            raise InputError(f"{role} must be given as {_FORM}; got {text!r}")
        return cls(role, source, name)

    @property
    def is_file(self) -> bool:
        """Whether the source is a file."""
        return self.source.endswith(".py")

    @property
    def folder(self) -> str:
        """The folder whose modules can be imported beside: that of the file, or the current one."""
        return str(Path(self.source).resolve().parent) if self.is_file else os.getcwd()

    def beside(self, role: str, name: str) -> Place:
        """Return another name of the same file or module."""
        return Place(role, self.source, name)

    def find(self) -> Any:
        """Return the object.

        Raises
        ------
        InputError
            If the file or the module is not there or cannot be loaded, or it has no such name.
        """
        found: Any = self.module()
        for part in self.name.split("."):
            if not hasattr(found, part):
                raise InputError(f"{self.source} has no {self.name}{_hint(part, found)}")
            found = getattr(found, part)
        return found

    def module(self) -> ModuleType:
        """Return the file or the module, loaded; whatever it does wrong is bad input, an exit of its own above all."""
        try:
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


def _load_file(path: Path) -> ModuleType:
    """Import a file: under its own name if that leads to it, as it does in a worker, else under a private one."""
    where = path.resolve()
    if not where.is_file():
        near = get_close_matches(where.name, [one.name for one in where.parent.glob("*.py")])
        raise InputError(f"there is no file {str(path)!r}{_or(near)}")
    own = where.stem
    return import_module(own) if own.isidentifier() and _leads_to(own, where) else _load_private(where)


@lru_cache
def _load_private(where: Path) -> ModuleType:
    """Load a file under a private name; what it defines then travels to worker processes by value."""
    module = at_path(where).opener()
    send_by_value(module.__name__)
    return module


def _leads_to(name: str, file: Path) -> bool:
    """Say whether importing a name loads a file, and not another module that hides it."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None and Path(spec.origin).resolve() == file


def _hint(name: str, among: Any) -> str:
    """Return the names nearest to one that is missing; "" if none is near."""
    return _or(get_close_matches(name, [known for known in dir(among) if not known.startswith("__")]))


def _or(names: list[str]) -> str:
    return f"; did you mean {' or '.join(names)}?" if names else ""


def _functions_hint(file: str) -> str:
    """Return the functions of a file of which no name was given, as what to type; "" if it cannot be read."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    names = re.findall(r"^def ([a-zA-Z]\w*)\(", text, re.MULTILINE)[:_MOST]
    return f"; add the function, as {' or '.join(f'{file}:{name}' for name in names)}" if names else ""


def send_by_value(module: str) -> None:
    """Let what a loaded module defines travel to worker processes, which cannot import it by its private name."""
    # joblib carried its own copy of cloudpickle up to 1.5 and uses the installed one since.
    for name in ("joblib.externals.cloudpickle", "cloudpickle"):
        try:
            import_module(name).register_pickle_by_value(sys.modules[module])
        except ImportError:
            continue

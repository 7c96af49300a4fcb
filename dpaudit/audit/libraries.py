"""The libraries that a mechanism is made of: the distributions of its module and of what that imports."""

from __future__ import annotations

import dis
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from types import CodeType, ModuleType
from typing import Any

from dpaudit.results import versions

# The most modules of the user's own whose imports are followed.
MOST_MODULES = 100
# Packages of dpaudit, whose version every finding names.
_OURS = frozenset({"dpaudit", "dpaudit_learners", "learners"})
_IMPORT = dis.opmap["IMPORT_NAME"]
# Distributions of another name than their packages, which are found without a look at every distribution.
_RENAMED = {"sklearn": "scikit-learn", "yaml": "PyYAML", "PIL": "pillow", "cv2": "opencv-python"}


def libraries_of(mechanism: Any) -> dict[str, str]:
    """Return the versions of the distributions that a mechanism is made of, by name.

    These are the ones that its module belongs to and those that the module, its functions' own imports and its globals
    come from. A module that no distribution installed is the user's own, and what it imports counts as well. Python's
    own modules, and libraries that every finding names, are left out. Nothing is imported for this.
    """
    found: dict[str, str] = {}
    own: dict[str, None] = {}
    tops = list(_tops_of(mechanism))
    seen: set[str] = set()
    while tops:
        name = tops.pop()
        top = name.partition(".")[0]
        if name in seen or top in sys.stdlib_module_names or top in _OURS:
            continue
        seen.add(name)
        distribution = None
        if top != "__main__":
            distribution = _distribution(top)
        if distribution is not None:
            found[distribution[0]] = distribution[1]
        elif len(own) < MOST_MODULES:
            own[name] = None
            tops += _imported_by(sys.modules.get(name))
    return {name: found[name] for name in sorted(found, key=str.lower) if name.lower() not in versions()}


@cache
def _distribution(top: str) -> tuple[str, str] | None:
    """Return the name and the version of the distribution that installed a package, or None if none did."""
    module = sys.modules.get(top)
    place = str(getattr(module, "__file__", None) or "")
    named = _RENAMED.get(top, top)
    if place and "site-packages" not in place and "dist-packages" not in place:
        # In development, a distribution may point to a folder elsewhere; a user's script has the name of none.
        with suppress(PackageNotFoundError):
            return named, version(named)
        return None
    with suppress(PackageNotFoundError):
        return named, version(named)
    for name in _all_distributions().get(top, ()):
        with suppress(PackageNotFoundError):
            return name, version(name)
    return None


@cache
def _all_distributions() -> Mapping[str, list[str]]:
    """Look all packages up once: it takes a fifth of a second."""
    return packages_distributions()


def _tops_of(mechanism: Any) -> Iterator[str]:
    """Yield the names of the modules that a mechanism is of, or uses directly."""
    for one in _unwrapped(mechanism):
        for owner in (one, type(one)):
            module = _attribute(owner, "__module__")
            if isinstance(module, str):
                yield module
        yield from _used_by(one)


def _unwrapped(mechanism: Any) -> Iterator[Any]:
    """Yield a mechanism, and what it wraps: of a partial, a method, a decorated function, a closure."""
    waiting = [mechanism]
    seen: set[int] = set()
    # Wrappers may lead in circles.
    while waiting and len(seen) < MOST_MODULES:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        inner = [_attribute(one, name) for name in ("func", "__func__", "__self__", "__wrapped__")]
        if isinstance(one, partial):
            inner += [*one.args, *one.keywords.values()]
        closure = _attribute(one, "__closure__")
        if isinstance(closure, tuple):
            inner += [_attribute(cell, "cell_contents") for cell in closure]
        call = _attribute(type(one), "__call__")
        # Written in Python, and no slot of a class of C.
        if _attribute(call, "__code__") is not None:
            inner.append(call)
        waiting += [value for value in inner if value is not None and not isinstance(value, ModuleType)]
        yield from (value for value in inner if isinstance(value, ModuleType))


def _used_by(one: Any) -> Iterator[str]:
    """Yield the names of the modules that the code of a function imports as it runs."""
    if isinstance(one, ModuleType):
        yield one.__name__
    code = _attribute(one, "__code__")
    if isinstance(code, CodeType):
        yield from _imports_in(code)


def _attribute(owner: Any, name: str) -> Any:
    """Return an attribute; None if there is none, or the code of the owner's own that makes it raises.

    A proxy, as that of a request under way in a web server, raises any exception where it stands for nothing.
    """
    try:
        return getattr(owner, name, None)
    except Exception:  # of any type: the proxy is third-party code
        return None


def _imports_in(code: CodeType) -> Iterator[str]:
    try:
        # Nearly all functions import nothing, and their steps take long to list.
        steps: list[dis.Instruction] = []
        if _IMPORT in code.co_code[::2]:
            steps = list(dis.get_instructions(code))
    except Exception:  # a proxy of a code object, as that of a function that wrapt has decorated, has not all parts
        return
    for step in steps:
        if step.opname == "IMPORT_NAME":
            yield str(step.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _imports_in(constant)


def _imported_by(module: ModuleType | None) -> Iterator[str]:
    """Yield the modules that the globals of a module are, or come from."""
    if module is None:
        return
    for value in list(vars(module).values()):
        if isinstance(value, ModuleType):
            yield value.__name__
        else:
            yield from _modules_of([value])
        code = _attribute(value, "__code__")
        if isinstance(code, CodeType) and _attribute(value, "__module__") == module.__name__:
            yield from _imports_in(code)


def _modules_of(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        for owner in (value, type(value)):
            if isinstance(owner, type):
                module = owner.__dict__.get("__module__")
            else:
                module = _attribute(owner, "__module__")
            if isinstance(module, str) and re.match(r"[A-Za-z_]", module):
                yield module

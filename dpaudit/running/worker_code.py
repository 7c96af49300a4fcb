"""Compare the code of workers of a cluster with what is here: digests of modules that calls need and travel by name.

A worker that imported a module keeps it, whatever becomes of its file, so that runs there may be those of an earlier
version. So for each new set of digests a worker imports these modules again, and is refused if one of them differs.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import io
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import Any

from dpaudit.places import cloudpickle

_OWN = Path(__file__).parent.parent
_ELSEWHERE = str(_OWN) + os.sep, sysconfig.get_path("stdlib") + os.sep
# Places of modules that are no user's: paths of dpaudit and of Python, and the names of folders.
_INSTALLED = {"site-packages", "dist-packages"}


def needed(calls: Any) -> dict[str, str]:
    """Return the digests of the modules that calls need in a worker, by name, in alphabetical order.

    They are the modules of functions and classes in the calls, and those that these import, wherever an import stands;
    not what is installed, and not what travels by value.
    """
    waiting = _named_in(calls)
    seen: set[str] = set()
    by_value = {"__main__", *cloudpickle().list_registry_pickle_by_value()}
    found: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        seen.add(name)
        spec = _spec_of(name)
        origin = (spec and spec.origin) or ""
        installed = origin.startswith(_ELSEWHERE) or not _INSTALLED.isdisjoint(Path(origin).parts)
        if spec is None or installed or not (source := _source_of(spec)):
            continue
        parents = {*accumulate(name.split(".")[:-1], "{}.{}".format)}
        if by_value.isdisjoint({name, *parents}):
            found[name] = _digest(source)
        waiting |= {*_imported(spec, source), *parents} - seen
    return dict(sorted(found.items()))


def _named_in(calls: Any) -> set[str]:
    """Return the modules that calls name where they are pickled."""

    class Noting(cloudpickle().Pickler):  # type: ignore[misc]
        def reducer_override(self, value: Any) -> Any:
            names.add(value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", "")))
            return super().reducer_override(value)

    names: set[str] = set()
    Noting(io.BytesIO()).dump(calls)
    return names


def _spec_of(name: str) -> ModuleSpec | None:
    """Return how a module was loaded, or would be; none of a module in a package that is not loaded."""
    if (module := sys.modules.get(name)) is not None:
        spec: ModuleSpec | None = getattr(module, "__spec__", None)
        file = getattr(module, "__file__", None)
        # A module that was loaded by hand may have no specification, as a script has none.
        if not spec and file:
            return ModuleSpec(name, None, origin=file)
        return spec
    if name.rpartition(".")[0] not in {"", *sys.modules}:
        return None
    with suppress(Exception):  # of any type: finders, and the packages that they load, are third-party code
        return importlib.util.find_spec(name)
    return None


def _source_of(spec: ModuleSpec) -> bytes:
    origin = spec.origin or ""
    if not origin.endswith(".py"):
        return b""
    with suppress(Exception):  # likewise: loaders of archives
        loader: Any = spec.loader
        held = loader.get_data(origin) if hasattr(loader, "get_data") else Path(origin).read_bytes()
        return bytes(held).replace(b"\r\n", b"\n")
    return b""


def _imported(spec: ModuleSpec, source: bytes) -> Iterator[str]:
    """Yield the names under which a module imports modules, or what may be one."""
    package = spec.name if spec.submodule_search_locations is not None else spec.parent
    with suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                with suppress(ImportError):  # relative, beyond the package
                    home = importlib.util.resolve_name("." * node.level + (node.module or ""), package or None)
                    yield home
                    yield from (f"{home}.{alias.name}" for alias in node.names)


def _digest(source: bytes) -> str:
    return hashlib.blake2b(source, digest_size=16).hexdigest()


@cache
def own_sources() -> str:
    """Return the digest of the sources of dpaudit, as they are when this process first asks."""
    return digest_of(_OWN)


def digest_of(place: Path) -> str:
    """Return the digest of a file, or of all modules of a folder and of the packages in it."""
    digest = hashlib.blake2b(digest_size=8)
    for name, file in sorted(_files(place)):
        # A checkout elsewhere may have other ends of lines.
        content = file.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _files(place: Path) -> Iterator[tuple[str, Path]]:
    if place.is_file():
        yield place.name, place
        return
    for file in place.iterdir():
        if file.suffix == ".py":
            yield file.name, file
        elif (file / "__init__.py").exists():
            yield from ((f"{file.name}/{name}", inner) for name, inner in _files(file))


# Modules that this worker has imported for calls, with the digests of their sources then.
_imported_here: dict[str, tuple[ModuleSpec, str]] = {}


def forget_others(expected: Mapping[str, str]) -> None:
    """Let a worker import again modules of which it has some that it did not import for calls, or of other digests."""
    loaded = {name: module for name in expected if (module := sys.modules.get(name)) is not None}
    if any(_imported_here.get(name) != (module.__spec__, expected[name]) for name, module in loaded.items()):
        for name in expected:
            sys.modules.pop(name, None)
            _imported_here.pop(name, None)


def differing(expected: Mapping[str, str]) -> list[str]:
    """Return, in a worker, the modules whose sources are others than those expected."""
    return [name for name, digest in expected.items() if _digest_of(name) not in (digest, "")]


def _digest_of(name: str) -> str:
    """Return the digest of a module's source, of one that is loaded as it was then; "" of one that is not there."""
    spec = _spec_of(name)
    if spec is None or not (source := _source_of(spec)):
        return ""
    known = _imported_here.get(name)
    # A module that is loaded goes by its source as it was then: its file may have changed since.
    if known is not None and known[0] is spec:
        found = known
    else:
        found = (spec, _digest(source))
    if name in sys.modules:
        _imported_here[name] = found
    return found[1]

"""Digests of the code that results come from: a run is resumed only by the code that began it.

A digest is of the names and the contents of the Python files, not of where they lie: the same code has the same digest
on every machine.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from dpaudit.registry import PRIVATE

__all__ = ["digest_of", "sources"]


def sources(modules: Iterable[str], paths: Iterable[str] = ()) -> dict[str, str]:
    """Return the digest of each piece of code that a run depends on, by its name.

    Parameters
    ----------
    modules : iterable of str
        Names of the modules that the learners and the claims of the run come from. All of a package counts.
    paths : iterable of str
        Files and folders in which the user has learners looked for.
    """
    found: dict[str, list[str]] = {}
    for name in sorted({module.partition(".")[0] for module in (__name__, *modules)}):
        home = _home(name)
        if home is not None:
            found[name] = [digest_of(home)]
    for path in {Path(path).resolve() for path in paths}:
        found.setdefault(f"{path.name}/" if path.is_dir() else path.name, []).append(digest_of(path))
    # Two folders of the same name stand as one, whichever was given first.
    return {name: "-".join(sorted(digests)) for name, digests in sorted(found.items())}


def _home(name: str) -> Path | None:
    """Return the file or the folder of a module that is loaded; None for those of the user's paths, and for none."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or name.startswith(PRIVATE):
        return None
    return Path(file).parent if Path(file).name == "__init__.py" else Path(file)


def digest_of(place: Path) -> str:
    """Return the digest of a file, or of all modules of a folder and of the packages in it."""
    digest = hashlib.blake2b(digest_size=8)
    for name, file in sorted(_files(place)):
        content = file.read_bytes().replace(b"\r\n", b"\n")  # as a checkout elsewhere may have it
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

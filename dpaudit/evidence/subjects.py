"""The files and distributions that a run audited, with their digests.

A digest is made by the command that audits, so that a report that is written later speaks of the same code. Nothing is
imported for it, for that would run the code beside its worker.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from dpaudit.places import parted
from dpaudit.record import Frozen, Words
from dpaudit.registry import PRIVATE, load

# The source of outputs that were recorded in a file, in the place of a module.
RECORDED = "recorded"


class Subject(Frozen, frozen=True):
    """A file or a distribution that was audited.

    - name: Its name.
    - digest: Its digest by algorithm, in hexadecimal: "sha256", or "dirHash" of a folder (Hash1 of Go's modules).
    """

    name: Words
    digest: dict[Literal["sha256", "dirHash"], Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]]


def subjects_of(names: Iterable[str], root: Path | str = ".", paths: tuple[str, ...] = ()) -> tuple[Subject, ...]:
    """Return what mechanisms consist of, by the names that results have for them; what cannot be found is left out.

    A function in a file is that file, relative to `root`. A function in a module, or a learner, is the distribution
    that installed it, else the file or the package. `paths` are where the user has learners looked for.
    """
    found = {one.name: one for name in dict.fromkeys(names) for one in _named(name, Path(root), paths)}
    return tuple(found[name] for name in sorted(found))


def _named(name: str, root: Path, paths: tuple[str, ...]) -> Iterator[Subject]:
    source, own = parted(name)
    if source == RECORDED or source.endswith(".py"):
        file_name = source
        if source == RECORDED:
            file_name = own
        yield from _file(root / file_name, file_name)
        return
    module = source or next((e.learner.__module__ for e in load(paths).entries if e.id == own), "")
    if module.startswith(PRIVATE):
        file = Path(str(getattr(sys.modules.get(module), "__file__", "")))
        yield from _file(file, file.name)
    elif module:
        yield from _module(module.partition(".")[0], root)


def _module(top: str, root: Path) -> Iterator[Subject]:
    """Yield the distribution that installed a module or a package, else its file or its folder."""
    spec = PathFinder.find_spec(top, [str(root), *sys.path])
    if spec is None or spec.origin is None:
        return
    origin = Path(spec.origin)
    package = origin.name == "__init__.py"
    home = origin
    if package:
        home = origin.parent
    # An installer lists every file in RECORD, by its path from the folder of packages.
    listed = f"{origin.relative_to(home.parent).as_posix()},"
    for record in sorted(home.parent.glob("*.dist-info/RECORD")):
        if any(line.startswith(listed) for line in record.read_text(encoding="utf-8", errors="replace").splitlines()):
            yield _distribution(record)
            return
    if not package:
        yield from _file(home, home.name)
        return
    # The directory hash: the SHA-256 of the lines that ``sha256sum`` prints of its files.
    # Python writes its caches itself: they are no part of what was installed.
    files = [file for file in home.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    lines = sorted((file.relative_to(home).as_posix(), _sha256(file)) for file in files)
    text = "".join(f"{digest}  {name}\n" for name, digest in lines)
    yield Subject(f"{home.name}/", {"dirHash": hashlib.sha256(text.encode()).hexdigest()})


def _distribution(record: Path) -> Subject:
    """Return the archive that a distribution was installed from, where that is recorded; else its list of files."""
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):  # of another installer, or none
        given: Any = json.loads((record.parent / "direct_url.json").read_text(encoding="utf-8"))
        archive = given["archive_info"]
        digest = archive.get("hashes", {}).get("sha256") or archive["hash"].removeprefix("sha256=")
        if re.fullmatch("[0-9a-f]{64}", digest):
            return Subject(str(given["url"]).rpartition("/")[2] or "archive", {"sha256": digest})
    return Subject(f"{record.parent.name}/RECORD", {"sha256": _sha256(record)})


def _file(path: Path, name: str) -> Iterator[Subject]:
    with suppress(OSError):  # it is not there any more, or not for us
        yield Subject(name, {"sha256": _sha256(path)})


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

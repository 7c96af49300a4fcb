"""Finished runs whose bytes are altered."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from benchmarks.losses.commands import FOUND, RUN, finished
from benchmarks.losses.row import Row
from dpaudit.errors import DpauditError
from dpaudit.evidence.store import FILENAME, load_run

__all__ = ["corruptions"]


def corruptions(number: int) -> Row:
    """Alter each byte of a finished run, and then bits of it by chance, and read it."""
    refused = same = silent = 0
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        path = stored(Path(name))
        whole = path.read_bytes()
        before = load_run(path)
        changed = [(at, random.randrange(1, 256)) for at in range(len(whole))]
        changed += [(random.randrange(len(whole)), 1 << random.randrange(8)) for _ in range(number)]
        for at, flipped in changed:
            content = bytearray(whole)
            content[at] ^= flipped
            path.write_bytes(content)
            try:
                same += (read := load_run(path)) == before
                silent += read != before
            except DpauditError:
                refused += 1
            except Exception as error:  # any but ours is a loss, and is counted
                notes.append(f"byte {at}: {type(error).__name__}: {error}")
    told = f"{refused} refused, {same} read as the same results, {silent} read as others"
    what = f"bytes of a finished run altered: each of {len(whole):,}, and {number:,} single bits by chance"
    return Row(what, len(changed), same + silent + len(notes), told, notes)


def stored(folder: Path) -> Path:
    """Make a run that nobody disturbs and return its file."""
    status, err = finished(*RUN, "--jobs", "1", "--out", "out", folder=folder)
    if status not in FOUND:
        raise SystemExit(err)
    return folder / "out" / FILENAME

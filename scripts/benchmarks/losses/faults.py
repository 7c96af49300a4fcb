"""Runs in which calls to the file system fail."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.losses.commands import FOUND, RUN, apart
from benchmarks.losses.faulty_files import HOW, Faulty
from benchmarks.losses.row import Row
from dpaudit.app import main
from dpaudit.evidence.store import FILENAME

__all__ = ["faults"]

WORDS = (*RUN, "--on", "sequential", "--jobs", "1", "--out")


def faults(most: int) -> Row:
    """Let each call to the file system fail once, in each way, resume, and compare the bytes."""
    notes = []
    lost = 0
    made = 0
    statuses = Counter[int]()
    with tempfile.TemporaryDirectory() as name:
        calm = Path(name, "calm")
        status, err = apart(partial(faulty, calm, 0, "EIO", (*WORDS, str(calm))))
        if status not in FOUND:
            raise SystemExit(err)
        whole = (calm / FILENAME).read_bytes()
        calls = Path(name, "calm.calls").read_text().split("\n")
        cases = [(i, how) for i, call in enumerate(calls) for how in HOW if how != "short" or call.startswith("write")]
        for case, (i, how) in enumerate(cases[:most]):
            status, wrong = failed(Path(name, str(case)), calls[i], i + 1, how, whole)
            statuses[status] += 1
            made += 1
            lost += bool(wrong)
            notes += [f"{calls[i]} (call {i + 1} of {len(calls)}), {how}: {text}" for text in wrong]
    told = "no traceback, the file named, no scratch file left; resumed, the same bytes; statuses "
    told += ", ".join(f"{status} ({count})" for status, count in sorted(statuses.items()))
    what = f"calls to the file system that fail, each of the {len(calls)} of a run: no space, input/output error"
    return Row(f"{what}, writes that end half-way", made, lost, told, notes)


def failed(folder: Path, call: str, last: int, how: str, whole: bytes) -> tuple[int, list[str]]:
    """Let one call of a run fail and resume the run; return how it ended, and what went wrong."""
    wrong = []
    status, err = apart(partial(faulty, folder, last, how, (*WORDS, str(folder))))
    if "Traceback" in err or status not in {*FOUND, 2}:
        wrong.append(f"status {status}, {err[-300:]}")
    if status in FOUND and (folder / FILENAME).read_bytes() != whole:
        wrong.append(f"status {status}, and other bytes")
    if status == 2 and str(folder) not in err:
        wrong.append(f"no file is named: {err[-300:]}")
    if not call.startswith("unlink") and list(folder.glob("*.tmp")):
        wrong.append("a scratch file is left")
    again, err = apart(partial(main, (*WORDS, str(folder), "--resume")))
    if again not in FOUND or (folder / FILENAME).read_bytes() != whole:
        wrong.append(f"resumed with status {again}: {err[-300:]}")
    return status, wrong


def faulty(folder: Path, last: int, how: str, words: Sequence[str]) -> int:
    """Make a run whose calls on files in a folder are counted and may fail; keep the list of them beside it."""
    faults = Faulty(str(folder), last, how)
    faults.install()
    status = main(words)
    faults.last = 0
    (folder.parent / f"{folder.name}.calls").write_text("\n".join(faults.calls))
    return status

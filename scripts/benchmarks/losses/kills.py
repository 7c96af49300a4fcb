"""Runs that are stopped at random moments."""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.losses.commands import FOUND, PATIENCE, RUN, copied, waited
from benchmarks.losses.row import Row
from dpaudit.evidence.store import FILENAME

__all__ = ["kills"]

STOPS = (
    "SIGKILL parent",
    "SIGKILL worker",
    "SIGKILL group",
    "SIGINT group, three times",
    "SIGTERM parent",
    "SIGHUP group",
)
LEFT = 2.0
"""Seconds that workers may live after their parent."""


def kills(number: int) -> Row:
    """Stop runs at random moments, resume them, and compare the bytes."""
    notes = []
    lost = 0
    statuses = Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        (whole, alone), (same, together) = (undisturbed(Path(name, f"calm{jobs}"), jobs) for jobs in ("1", "2"))
        assert whole == same
        for case in range(number):
            # Some with workers of joblib, which load everything anew.
            how = STOPS[case % len(STOPS)]
            jobs = "2" if case // len(STOPS) % 8 == 7 else "1"
            status, wrong = disturbed(Path(name, str(case)), how, jobs, alone if jobs == "1" else together, whole)
            statuses[f"{how}: {status}"] += 1
            lost += bool(wrong)
            notes += [f"{how}, {jobs} jobs: {text}" for text in wrong]
            if case % 20 == 19:
                print(f"{case + 1} kills, {lost} lost", file=sys.stderr, flush=True)
    told = "resumed, the same bytes; nobody left after 2 s; statuses " + ", ".join(
        map("{0[0]} ({0[1]})".format, sorted(statuses.items()))
    )
    return Row("runs stopped at random moments, by " + ", ".join(STOPS[:number]), number, lost, told, notes)


def undisturbed(folder: Path, jobs: str) -> tuple[bytes, float]:
    """Return the stored bytes of a run that nobody disturbs, and the seconds that it took."""
    (folder / "tmp").mkdir(parents=True)
    began = time.monotonic()
    waited(copied(folder, *RUN, "--jobs", jobs, "--out", "out"), PATIENCE)
    return (folder / "out" / FILENAME).read_bytes(), time.monotonic() - began


def disturbed(folder: Path, how: str, jobs: str, seconds: float, whole: bytes) -> tuple[int | None, list[str]]:
    """Stop a run at some moment of so many seconds and resume it; return how it ended, and what went wrong."""
    (folder / "tmp").mkdir(parents=True)
    pid = copied(folder, *RUN, "--jobs", jobs, "--out", "out")
    time.sleep(random.uniform(0, seconds))  # the moment is what is tested
    stop(pid, how)
    wrong = []
    status = waited(pid, PATIENCE)
    if status is None:
        wrong.append("hung")
    deadline = time.monotonic() + LEFT
    while members(pid) and time.monotonic() < deadline:
        time.sleep(0.02)  # what is left are no children of this process: it cannot wait for them
    if members(pid):
        wrong.append(f"processes left after {LEFT:g} s")
    again = waited(copied(folder, *RUN, "--jobs", "1", "--out", "out", "--resume"), PATIENCE)
    if again not in FOUND or (folder / "out" / FILENAME).read_bytes() != whole:
        wrong.append(f"resumed with status {again}: {(folder / 'err.txt').read_text()[-300:]}")
    if list((folder / "tmp").glob("dpaudit-*")):
        wrong.append("a temporary folder is left")
    return status, wrong


def stop(leader: int, how: str) -> None:
    """Send a signal, or several."""
    number = getattr(signal, how.split()[0])
    workers = [pid for pid in members(leader) if pid != leader]
    if "worker" in how:
        if workers:
            os.kill(random.choice(workers), number)
        return
    for _ in range(3 if "three" in how else 1):
        try:
            (os.killpg if "group" in how else os.kill)(leader, number)
        except ProcessLookupError:
            return
        time.sleep(0.02)  # signals of a kind that are pending together are one


def members(session: int) -> list[int]:
    """Return the processes of a session that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                told = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(told[3]) == session and told[0] != "Z":
                found.append(int(entry.name))
    return found

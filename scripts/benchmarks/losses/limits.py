"""Audits with little memory, of many mechanisms, and for a day."""

from __future__ import annotations

import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np

import dpaudit
from benchmarks.losses.commands import PATIENCE, command, finished
from benchmarks.losses.row import Row
from dpaudit.audit import audit as audit_module
from dpaudit.audit.clock import Clock

__all__ = ["day", "mechanisms", "memory"]

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
from dpaudit.app import main
sys.argv[:2] = ["dpaudit"]
sys.exit(main())
"""

MECHANISM = """
PAIRS = [(0, 1)]
def response(bit, rng):
    return bit if rng.random() < 0.7 else 1 - bit
"""


def memory(number: int) -> Row:
    """Audit under limits of address space, from one that suffices to one in which nothing can be loaded."""
    notes = []
    lost = 0
    statuses = Counter[int]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "mine.py").write_text(MECHANISM)
        for case in range(number):
            limit = int(2**31 * 0.8 ** (case * 8 / max(1, number - 1)))  # with less, OpenBLAS waits for ever
            words = ("privacy", "mine.py:response", "--epsilon", "1", "--trials", "2000", "--quiet")
            status, err = finished(str(limit), *words, folder=folder, code=LIMITED)
            statuses[status] += 1
            if status not in (0, 2):
                lost += 1
                notes.append(f"{limit} bytes: status {status}, {err[-200:]}")
    told = "a finding, or status 2 with a message: " + ", ".join(
        f"status {s} {n} times" for s, n in sorted(statuses.items())
    )
    return Row("audits under limits of address space (RLIMIT_AS)", number, lost, told, notes)


def mechanisms(number: int) -> Row:
    """Check many mechanisms of one project."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "mine.py").write_text(MECHANISM)
        entry = '[[audit]]\nname = "m{0}"\nmechanism = "mine.py:response"\nepsilon = 1\ntrials = 400\nseed = {0}\n'
        (folder / "audit.toml").write_text("".join(entry.format(i) for i in range(number)))
        process = command("check", "--quiet", "--json", folder=folder)
        out, err = process.communicate(timeout=PATIENCE + 10 * number)
        rows = len(out.splitlines())
    return Row(
        "mechanisms in one check",
        number,
        number - rows,
        f"{rows} rows, status {process.returncode}",
        [err] if rows < number else [],
    )


class Turned:
    """A clock that goes on only when it is turned."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        """Return the seconds that it was turned by."""
        return self.seconds


def _slow(clock: Turned, x: float, rng: np.random.Generator) -> float:
    clock.seconds += 20.0
    return x + rng.laplace()


def day() -> Row:
    """Audit for a day by a clock that goes on with each run."""
    limit = 24 * 3600.0
    notes = []
    told = []
    for sequential in (False, True):
        turned = Turned()
        slow = partial(_slow, turned)
        with mock.patch.object(audit_module, "Clock", partial(Clock, now=turned)):
            finding = dpaudit.audit_privacy(
                slow,
                [(0, 1)],
                epsilon=1.0,
                trials=10**6,
                execution=dpaudit.Execution(time_limit=limit, sequential=sequential),
            )
        told.append(f"{finding.design}: {turned.seconds / 3600:.1f} h, {finding.trials} trials, {finding.verdict}")
        notes += [] if turned.seconds <= 1.1 * limit else [f"{finding.design} took {turned.seconds / 3600:.1f} h"]
    return Row(
        "audits of a day (time_limit of 24 h, runs of 20 s, by a clock that is turned)",
        2,
        len(notes),
        "; ".join(told),
        notes,
    )

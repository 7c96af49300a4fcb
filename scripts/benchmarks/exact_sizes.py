"""Find the most examples at which an exact audit of each private learner takes a minute, of all samples and of crafted.

    python scripts/bench.py exact_sizes [--seconds 60] [--only WORD] [--out scripts/writers/exact_sizes.json]

Learners are built at their own instances. The number of examples grows by steps of a quarter or more until an audit
takes more than the seconds, and is then halved towards it; each audit has a process of its own, with 3 GiB. What is
written is what the reference audit repeats: a number there is a fixed case, and no time decides about a report.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import dpaudit
from dpaudit.contract import HasLaw, InputError
from dpaudit.exact.audit import relation_of
from dpaudit.exact.finding import LawFinding
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.registry import Entry, load

MEMORY = 3 * 2**30
# Crafted samples of more examples say nothing new, and laws of them cost little.
MOST = 4096


def audited(id: str, n: int, crafted: bool) -> LawFinding:
    """Return the exact audit of a learner at its instance, of all samples of n examples or of crafted ones."""
    entry = load().get(id)
    learner = entry.build(**entry.instance.parameters)
    if crafted:
        return dpaudit.pac.audit_law(learner, samples=crafted_pairs(learner.domain, n, relation_of(learner)))
    return dpaudit.pac.audit_law(learner, n=n)


def audit(id: str, n: int, crafted: bool, answer: Connection) -> None:
    """Send the processor seconds of one audit, and its epsilon; or why there is none."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    start = time.process_time()
    try:
        found = audited(id, n, crafted)
    except (InputError, MemoryError) as error:
        answer.send((None, f"{type(error).__name__}: {error!s:.200}"))
        return
    answer.send((time.process_time() - start, found.epsilon))


def seconds_of(id: str, n: int, crafted: bool, most: float) -> tuple[float | None, str]:
    """Return the seconds of an audit, and its epsilon or why there is none."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.Process(target=audit, args=(id, n, crafted, theirs))
    child.start()
    theirs.close()
    try:
        # The clock of other processes does not count, but an end there must be.
        found = ours.recv() if ours.poll(10 * most) else (None, "it took too long")
    except EOFError:
        found = (None, "its process ended")
    child.kill()
    child.join()
    return found[0], str(found[1])


def largest(entry: Entry, crafted: bool, most: float) -> tuple[int | None, str]:
    """Return the most examples at which an audit takes the seconds at most, up to an eighth, and what stopped there."""
    known = None
    n = max(1, entry.instance.n if crafted else 1)
    beyond = MOST + 1
    why = f"n = {MOST}, where the search ends"
    while n < beyond:
        seconds, found = seconds_of(entry.id, n, crafted, most)
        if seconds is None and known is None and n < 4:
            # Some learners need more examples than one.
            n += 1
            continue
        if seconds is None or seconds > most:
            beyond = n
            why = f"n = {n}: {found if seconds is None else f'{seconds:.0f} s'}"
            if known is None:
                return None, why
        else:
            known = n
        if beyond > MOST:
            # An audit that takes half of the time leaves no room for a larger step.
            step = 2.0 if (seconds or 0.0) < most / 20 else 1.25
            n = min(MOST, max(known + 1, int(n * step))) if known < MOST else beyond
        elif beyond - known > max(1, known // 8):
            n = (known + beyond) // 2
        else:
            break
    return known, why


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", default="", metavar="WORD", help="learners whose id contains a word")
    parser.add_argument("--seconds", type=float, default=60.0, help="of the processor, for one audit")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the numbers as JSON")
    options = parser.parse_args(arguments)
    found: dict[str, dict[str, int | None]] = {}
    # Learners that are not asked for keep their numbers.
    if options.out is not None and options.out.exists():
        found = json.loads(options.out.read_text(encoding="utf-8"))
    for entry in load().entries:
        learner = entry.build(**entry.instance.parameters)
        if entry.fault is not None or options.only not in entry.id or entry.claim() is None:
            continue
        if not isinstance(learner, HasLaw):
            continue
        row: dict[str, int | None] = {}
        for name, crafted in (("all", False), ("crafted", True)):
            row[name], why = largest(entry, crafted, options.seconds)
            print(f"{entry.id}, {name}: n = {row[name]} ({why})", flush=True)
        found[entry.id] = row
        if options.out is not None:
            options.out.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

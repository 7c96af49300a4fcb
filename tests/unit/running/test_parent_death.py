"""Workers end with the process that they work for, however it dies, and whatever they do."""

from __future__ import annotations

import os
import time

import pytest
from forked import begin, ran
from waiting import wait_until

SCRIPT = """
import os, sys, time
from functools import partial
from dpaudit.running.workers import spread

def work(number):
    os.write(2, b"%d\\n" % os.getpid())
    if number:
        int("9" * 4000) ** 10_000_000  # one call of C that lets no thread run, for hours
    time.sleep(600)  # the other one: longer than any test

list(spread([partial(work, number) for number in range(2)], n_jobs=3))
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows ends workers of its own accord")
def test_workers_die_with_their_parent_within_two_seconds():
    with begin("-c", SCRIPT, session=True) as parent:
        workers = [int(parent.stderr.readline()) for _ in range(2)]
        time.sleep(0.2)  # the call of C begins, which nothing shows from outside
        assert all(map(lives, workers))
        parent.kill()
        parent.wait()
        seconds = 2 + 8 * (os.getloadavg()[0] > 2 * (os.cpu_count() or 1))
        wait_until(lambda: not any(map(lives, workers)), seconds)


def test_the_programs_interface_sets_no_handler():
    code = (
        "import signal\n"
        "before = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]\n"
        "import dpaudit\n"
        "from threading import Thread\n"
        "def response(bit, rng):\n"
        "    seen.append([signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)])\n"
        "    return bit if rng.random() < 0.6 else 1 - bit\n"
        "seen, found = [], []\n"
        "audit = lambda: found.append(dpaudit.audit_privacy(response, [(0, 1)], epsilon=1, trials=400))\n"
        "audit()\n"
        "threads = [Thread(target=audit) for _ in range(2)]\n"
        "[thread.start() for thread in threads]\n"
        "[thread.join() for thread in threads]\n"
        "assert all(one == before for one in seen)\n"
        "assert len(found) == 3 and found[0] == found[1] == found[2]\n"
    )
    assert ran("-c", code).returncode == 0


def lives(pid: int) -> bool:
    """Say whether a process runs; one that has ended and waits to be buried does not."""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return os.path.isdir("/proc/self") is False

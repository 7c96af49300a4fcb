"""Commands of dpaudit, as new processes or as copies of this one, with how they ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dpaudit.app import main
from dpaudit.running.processes import STOPPING

__all__ = ["FOUND", "PATIENCE", "RUN", "apart", "command", "copied", "finished", "waited"]

RUN = (
    "run", "broken-box-doubled", "broken-box-support",
    "--profile", "quick", "--trials", "100", "--no-html", "--quiet",
)  # fmt: skip
"""The run that is disturbed."""
FOUND = {0, 1, 3}
"""Exit statuses of a run that was finished."""
PATIENCE = 180.0
HUNG = 999
"""In the place of the status of a command that had to be ended after so many seconds."""


def command(*words: str, folder: Path, code: str | None = None) -> subprocess.Popen[str]:
    """Begin a command of dpaudit in a session and with a temporary folder of its own."""
    (folder / "tmp").mkdir(exist_ok=True)
    start = ["-m", "dpaudit"] if code is None else ["-c", code]
    return subprocess.Popen(
        [sys.executable, *start, *words],
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: [signal.signal(n, signal.SIG_DFL) for n in (signal.SIGINT, signal.SIGHUP)],
    )


def finished(*words: str, folder: Path, code: str | None = None) -> tuple[int, str]:
    """Return the status of a command, and what it wrote to standard error."""
    process = command(*words, folder=folder, code=code)
    try:
        _, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:  # and whatever it ignores
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return HUNG, f"it was ended after {PATIENCE:g} s"
    return process.returncode, err


def copied(folder: Path, *words: str) -> int:
    """Begin a command in a copy of this process, which has loaded what it needs, and return its number."""
    if pid := os.fork():
        return pid
    try:
        os.setsid()
        os.chdir(folder)
        tempfile.tempdir = os.environ["TMPDIR"] = str(folder / "tmp")
        for end, name in enumerate((os.devnull, "out.txt", "err.txt")):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), end)
        sys.stdout, sys.stderr = (os.fdopen(end, "w", buffering=1, closefd=False) for end in (1, 2))
        for number in STOPPING:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        sys.argv = ["dpaudit", *words]
        status = main()
        sys.stderr.flush()
        os._exit(status)
    finally:
        os._exit(HUNG % 256)


def apart(call: Callable[[], object]) -> tuple[int, str]:
    """Return the status of a call that a copy of this process makes, and what it wrote to standard error."""
    with tempfile.TemporaryFile() as told:
        if not (pid := os.fork()):
            os.setpgid(0, 0)
            os.dup2(told.fileno(), 2)
            sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
            sys.stdout = open(os.devnull, "w")
            try:
                status = call()
                sys.stderr.flush()
                os._exit(status if isinstance(status, int) else 0)
            finally:
                os._exit(HUNG % 256)
        ended = waited(pid, PATIENCE)
        told.seek(0)
        return -signal.SIGKILL if ended is None else ended, told.read().decode(errors="replace")


def waited(pid: int, seconds: float) -> int | None:
    """Return how a process ended; None, after it was killed, if it did not in time."""
    deadline = time.monotonic() + seconds
    while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
        if time.monotonic() > deadline:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return None
        time.sleep(0.01)  # `os.waitpid` waits for ever or not at all
    return os.waitstatus_to_exitcode(ended[1])

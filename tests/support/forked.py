"""Commands in processes of their own, forked from one that has loaded the libraries: a start takes no time.

A process is as one that `python -m MODULE` or `python -c CODE` begins: it has its own arguments, folder, environment,
path, pipes and handlers of signals, and it ends as the interpreter ends. What starts of the interpreter are about,
and what is loaded by them, is tested with `subprocess`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from typing import Any

__all__ = ["USUAL", "Forked", "begin", "ran"]

USUAL = "joblib", "scipy.stats", "rich.console", "rich.table", "filelock", "email.parser", "dpaudit.certificates"
USUAL += *(f"dpaudit.app.{name}" for name in ("privacy", "project_commands", "runs")), "dpaudit.evidence.execute"
USUAL += "dpaudit.report.html", "dpaudit.app.subject", "dpaudit_learners.*"
SOURCE = """
import importlib, json, os, pkgutil, runpy, signal, socket, sys
asked_by = socket.socket(fileno=os.dup(0))
for name in sys.argv[1:]:
    module = importlib.import_module(name.removesuffix(".*"))
    for part in pkgutil.walk_packages(module.__path__, f"{module.__name__}.") if name.endswith(".*") else ():
        importlib.import_module(part.name)
own = [one for one in sys.path if one]
while message := (received := socket.recv_fds(asked_by, 2**18, 2))[0]:
    asked, files = json.loads(message), received[1]
    if isinstance(asked, int):
        pid, status = os.waitpid(asked, os.WNOHANG)
        asked_by.send(json.dumps(os.waitstatus_to_exitcode(status) if pid else None).encode())
    elif pid := os.fork():
        asked_by.send(json.dumps(pid).encode())
        [os.close(one) for one in files]
    else:
        break
else:
    os._exit(0)
asked_by.close()
for source, target in zip([os.open(os.devnull, os.O_RDONLY), *files], range(3)):
    os.dup2(source, target)
    os.close(source)
if asked["session"]:
    os.setsid()
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
os.chdir(asked["folder"])
os.environ.clear()
os.environ.update(asked["env"])
flag, name, *words = asked["words"]
path = [one for one in asked["env"].get("PYTHONPATH", "").split(os.pathsep) if one]
sys.path[:] = [os.getcwd() if flag == "-m" else "", *path, *own]
sys.argv[:] = [flag, *words]
if flag == "-m":
    runpy.run_module(name, run_name="__main__", alter_sys=True)
else:
    exec(compile(name, "<string>", "exec"), {"__name__": "__main__"})
"""


@cache
def loaded(modules: tuple[str, ...]) -> socket.socket:
    """Return the way to a process that has loaded some modules, which ends once nobody can ask it any more."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        quiet: Any = {"stdout": subprocess.DEVNULL, "start_new_session": True}
        # The path of whichever test comes first is no path of the others: each command brings its own.
        quiet["env"] = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        one = subprocess.Popen([sys.executable, "-c", SOURCE, *modules], stdin=theirs, **quiet)
    one.returncode = 0  # nobody waits for it
    return ours


def unheard() -> tuple[int, int]:
    """Return two files in the place of a pipe, of which nobody reads anything."""
    return os.open(os.devnull, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY)


class Forked:
    """A process, as of `subprocess.Popen`."""

    def __init__(self, words: tuple[str, ...], modules: tuple[str, ...], heard: bool, **asked: Any) -> None:
        self.args, self.returncode, self._server = words, None, loaded(modules)
        ours, theirs = zip(*((os.pipe() if heard else unheard()) for _ in range(2)), strict=True)
        self.stdout, self.stderr = (open(one) for one in ours)
        socket.send_fds(self._server, [json.dumps({"words": words, **asked}).encode()], theirs)
        self.pid = self._answer()
        for one in theirs:
            os.close(one)

    def _answer(self) -> Any:
        return json.loads(self._server.recv(100))

    def poll(self) -> int | None:
        if self.returncode is None:
            self._server.send(json.dumps(self.pid).encode())
            self.returncode = self._answer()
        return self.returncode

    def wait(self, timeout: float = 300) -> int:
        deadline = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > deadline:
                raise TimeoutExpired(self.args, timeout)
            time.sleep(0.01)  # its status is asked of another process, which cannot be waited for
        return self.returncode

    def communicate(self, timeout: float = 300) -> list[str]:
        with ThreadPoolExecutor(2) as pool:
            reading = [pool.submit(one.read) for one in (self.stdout, self.stderr)]
            try:
                said = [one.result(timeout) for one in reading]
            except TimeoutError:
                self.kill()
                raise
        self.__exit__()
        return said

    def send_signal(self, which: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, which)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        self.stderr.close()
        self.wait()


def begin(
    *words: str,
    cwd: Path | str = ".",
    env: dict[str, str] | None = None,
    session: bool = False,
    modules: tuple[str, ...] = USUAL,
    heard: bool = True,
) -> Forked:
    """Begin `python` with `words`, which are those from `-m MODULE` or `-c CODE` on."""
    env = dict(os.environ if env is None else env)
    return Forked(words, modules, heard, folder=os.path.abspath(cwd), env=env, session=session)


def ran(*words: str, timeout: float = 300, **how: Any) -> CompletedProcess[str]:
    """Run `python` with `words` to its end."""
    with begin(*words, **how) as process:
        out, err = process.communicate(timeout)
    return CompletedProcess(words, process.returncode, out, err)

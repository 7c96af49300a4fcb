"""A child process that answers calls: audited code may crash, hang or exhaust memory there without harm.

There is one kind of child, which speaks the protocol of `running.protocol`. It begins as a copy of this process, or as
a fresh interpreter where a copy would lack threads. What it sends is bytes, which this module never turns into objects;
an exception comes as texts (`running.transport`).
"""

from __future__ import annotations

import atexit
import math
import os
import select
import signal
import sys
import time
import warnings
import weakref
from contextlib import suppress
from typing import Any

from dpaudit.errors import ToolFault
from dpaudit.running.failed_runs import COPY
from dpaudit.running.processes import PULSE, ChildDied, ended_by, parent_pipe, silent_for_too_long
from dpaudit.running.protocol import (
    BEGUN,
    CALL,
    FORKED,
    HEAD,
    HELLO,
    INPUTS,
    LOAD,
    PART,
    RAISED,
    RETURNED,
    SENT_WRONG,
    check_hello,
    hello,
    take_message,
)
from dpaudit.running.serving import Served, serve
from dpaudit.running.transport import error_of

# Bytes that are read at a time: what a pipe holds.
ROOM = 1 << 16
# Seconds in which a child takes up a call, besides those of a run: destructors of earlier outputs may keep it.
PATIENCE = 60.0
# Seconds in which it ends a call after the last run, besides those of a run.
ENDING = 3.0
# Said where a time limit ends a child that answers nothing.
SILENT = (
    "gave no answer in {:.3g} s, the time limit of the audit. If it answers elsewhere, a library with threads may wait "
    "for them in the process of its runs, which has none: begin an interpreter that has not used the library yet"
)
# Libraries whose threads a copy of the process lacks, and which wait for them there. (Those of OpenBLAS, pyarrow and
# torch are made again, or are not waited for.)
LIBRARIES = ("jax", "tensorflow")


class Child:
    """A process that makes calls of a function one after another, and ends with this one.

    What it prints goes to standard error. Its memory is limited to what is free when it begins, where the system sets
    limits, and its own children end with it. A function that is given as bytes, a pickle, is served by a fresh
    interpreter in the place of a copy of this process. The child has `answered` once it has sent a part or the end of a
    call, and it has `died` if it was seen to end by itself. Of a call that it did not answer, the `parts` are what it
    had sent.
    """

    def __init__(self, function: Served | bytes) -> None:
        self._owner = os.getpid()
        # Until it has begun: if no pipe or process can be made, there is nothing to close.
        self.closed = True
        self.answered = False
        self.died = False
        self.parts: list[bytes] = []
        self._heard = time.monotonic()
        self._status: int | None = None
        self._greeted = False
        self._received = bytearray()
        try:
            # Two pipes are faster than one socket for both ways.
            incoming, self._requests = os.pipe()
            self.replies, outgoing = os.pipe()
            if isinstance(function, bytes):
                self._pid = _fresh_interpreter(incoming, outgoing)
            else:
                self._pid = _copy(function, incoming, outgoing)
        except OSError as error:
            raise ToolFault(f"no process could begin that makes runs: {error.strerror or error}") from error
        # The child alone holds these ends, so that the pipes end with it.
        os.close(incoming)
        os.close(outgoing)
        self.closed = False
        # A group of its own can be killed whole, with all that the audited code has begun. The child sets it too:
        # whoever comes first.
        with suppress(OSError):
            os.setpgid(self._pid, self._pid)
        # A child that hangs reads nothing, and a write that blocks would hang with it.
        os.set_blocking(self._requests, False)
        self._listening = select.poll()
        self._listening.register(self.replies, select.POLLIN)
        self._unsent = [(HELLO, hello())]
        if isinstance(function, bytes):
            self._unsent.append((LOAD, function))
        _children.add(self)

    def call(
        self, request: bytes, inputs: bytes = b"", *, seconds: float | None = None, most: int = 0
    ) -> tuple[list[bytes], bytes] | None:
        """Return the parts that a call sends, each of which may take so many seconds, and what it returns.

        There are at most so many parts. If one took too long, the child is ended and None is returned; its `parts` are
        then those that came before. `ChildDied` is raised if the child ended, or had ended, or the function returned in
        two processes, or what was sent is no answer.
        """
        self.begin(request, inputs)
        # The time counts from when the child begins, which takes long on a busy machine.
        limit = None if seconds is None else seconds + PATIENCE
        while message := self.message(limit):
            kind, value = message
            limit = seconds
            if kind == RETURNED:
                return self.parts, value
            # The audited code may have written to the pipe: order and number of messages are checked.
            if kind == BEGUN and self.parts:
                raise ChildDied(SENT_WRONG)
            if len(self.parts) > most:
                raise ChildDied(SENT_WRONG)
            if kind == PART and len(self.parts) == most and seconds is not None:
                # No run is under way: a busy machine, and no mechanism, makes the end of a call late.
                limit = seconds + ENDING
        self.close()
        return None

    def begin(self, request: bytes, inputs: bytes = b"") -> None:
        """Begin a call; the messages that answer it end with one of the kind `RETURNED`."""
        self._heard = time.monotonic()
        self.parts = []
        if inputs:
            self._unsent.append((INPUTS, inputs))
        self._unsent.append((CALL, request))
        for kind, content in self._unsent:
            self._write(HEAD.pack(len(content), kind))
            self._write(content)
        self._unsent = []

    def message(self, seconds: float | None = None) -> tuple[bytes, bytes] | None:
        """Return the kind and the content of the next message; None if all of it does not come in time.

        A part is also added to the `parts`. `ChildDied` is raised as for `call`; so is what the function raised.
        """
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        while (found := self._next()) is None:
            left = max(0.0, deadline - time.monotonic())
            # It waits for a pulse at most: a fork of the child may hold the pipe open after the child has ended.
            if self._listening.poll(1000 * min(PULSE, left)):
                content = os.read(self.replies, ROOM)
                if not content:
                    raise self._death()
                self._received += content
                self._heard = time.monotonic()
            # What a child sent before it ended is read first.
            elif self._has_ended() and not self._listening.poll(0):
                raise self._death()
            elif (limit := silent_for_too_long(self._heard)) is not None:
                self.close()
                raise ChildDied(SILENT.format(limit))
            elif not left:
                return None
        kind, content = found
        if kind == BEGUN:
            return found
        self.answered = True
        if kind == PART:
            self.parts.append(content)
        elif kind == RAISED:
            raise error_of(content)
        elif kind == FORKED:
            raise ChildDied(COPY)
        # Nothing may follow the end of an answer, as the child waits for the next call.
        elif kind != RETURNED or self._received:
            raise ChildDied(SENT_WRONG)
        return found

    def _next(self) -> tuple[bytes, bytes] | None:
        """Return the next message that has come, after the first, which says what the child speaks."""
        try:
            found = take_message(self._received)
            if found is None or self._greeted:
                return found
            kind, content = found
            if kind != HELLO:
                raise ValueError(SENT_WRONG)
            check_hello(content)
            self._greeted = True
            return take_message(self._received)
        except ValueError as error:
            raise ChildDied(str(error)) from None

    def _write(self, content: bytes) -> None:
        """Send bytes; of a child that takes none, what is left is dropped: `message` tells how it ended."""
        left = memoryview(content)
        taking = select.poll()
        taking.register(self._requests, select.POLLOUT)
        while left:
            if not taking.poll(1000 * PULSE):
                if self._has_ended() or silent_for_too_long(self._heard) is not None:
                    return
                continue
            try:
                left = left[os.write(self._requests, left) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                return

    def close(self) -> None:
        """End the child and all that it began, at once; a copy of this process leaves them alone."""
        # A copy of this process inherits the object, and must not end a child that is not its own.
        if self.closed or os.getpid() != self._owner:
            return
        self.closed = True
        with suppress(OSError):
            os.killpg(self._pid, signal.SIGKILL)
        # By its own number too, as it may not have its group yet; if it was waited for, another process may have that.
        if not self._has_ended():
            with suppress(OSError):
                os.kill(self._pid, signal.SIGKILL)
        self._has_ended(wait=True)
        os.close(self._requests)
        os.close(self.replies)

    __del__ = close

    def _has_ended(self, wait: bool = False) -> bool:
        if self._status is None:
            try:
                pid, status = os.waitpid(self._pid, 0 if wait else os.WNOHANG)
            # Audited code, or a program that embeds this, has waited for all children: how it ended is not known.
            except ChildProcessError:
                self._status = 0
                return True
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
        return self._status is not None

    def _death(self) -> ChildDied:
        """Return how the child ended, which answers no more."""
        # The pipe closes a moment before the system says how the process ended.
        deadline = time.monotonic() + ENDING
        while not self._has_ended():
            if time.monotonic() > deadline:
                self.close()
                return ChildDied("closed the pipe by which it answers")
            time.sleep(0.001)
        self.died = True
        return ChildDied(ended_by(self._status or 0))


def waiting_libraries() -> tuple[str, ...]:
    """Return the libraries that are loaded here, and may wait for ever in a copy of this process.

    JAX has threads from its first computation on. torch uses no graphics card in a copy of a process that has used it.
    """
    found = [name for name in LIBRARIES if name in sys.modules]
    if "jax" in found and not getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", True):
        found.remove("jax")
    cuda: Any = sys.modules.get("torch.cuda")
    if cuda is not None and cuda.is_initialized():
        found.append("torch")
    return tuple(found)


def has_threads() -> bool:
    """Return whether this process has threads, those of libraries too, or may have some."""
    with suppress(OSError):  # only Linux shows them
        return len(os.listdir("/proc/self/task")) > 1
    return True


def _copy(function: Served, requests: int, replies: int) -> int:
    """Return the number of a copy of this process that serves a function."""
    line = parent_pipe()
    # What stands in a buffer would be written twice, by this process and by the copy.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or none
            stream.flush()
    with warnings.catch_warnings():
        # Python 3.12 warns where there are threads: the child has but one, and calls nothing of the others.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if not pid:
        serve(function, requests, replies, line)
    return pid


def _fresh_interpreter(requests: int, replies: int) -> int:
    """Return the number of a fresh interpreter of this kind that serves what it is told."""
    import subprocess

    line = parent_pipe().end
    # There are no children where processes do not fork.
    assert line is not None
    environment = dict(os.environ)
    # So that two of them order sets of strings alike.
    environment.setdefault("PYTHONHASHSEED", "0")
    jax: Any = sys.modules.get("jax")
    # Outputs of JAX are to have the precision that they have here.
    if jax is not None:
        environment["JAX_ENABLE_X64"] = str(bool(jax.config.jax_enable_x64)).lower()
    code = "import sys; sys.path[:] = {!r}; from dpaudit.running.serving import main; main(*map(int, sys.argv[1:]))"
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # as multiprocessing does
    shared = (requests, replies, line)
    process = subprocess.Popen(
        [sys.executable, *flags, "-c", code.format(sys.path), *map(str, shared)],
        pass_fds=shared,
        env=environment,
        # What the mechanism prints is no answer of a command.
        stdout=2,
    )
    # The child is waited for by its number: `Popen` must not do so as well when it is collected.
    process.returncode = 0
    return process.pid


# Those of this process that may have to be ended; a child that nobody refers to ends by its `__del__`.
_children: weakref.WeakSet[Child] = weakref.WeakSet()


# Later than multiprocessing registers its own, which waits for children, and so called earlier.
@atexit.register
def _close_all() -> None:
    for child in list(_children):
        child.close()

"""Work spread over processes: by joblib, or over forked processes in which a call may end its process."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from itertools import islice
from multiprocessing.connection import wait
from types import GeneratorType
from typing import Any, NamedTuple, Protocol, TypeVar

from dpaudit.arguments import check_jobs
from dpaudit.errors import DpauditError, InputError, withholding
from dpaudit.folders import enter_folder
from dpaudit.running.child import PART, RETURNED, SENT_WRONG, Child
from dpaudit.running.processes import (
    APART,
    KILLED,
    PULSE,
    ChildDied,
    WorkerDied,
    ignore_requests,
    parent_pipe,
    postponed,
)
from dpaudit.running.sent import result_as_bytes, result_of, sendable
from dpaudit.running.shared_memory import folder
from dpaudit.running.warned import WarningCounts, add, counted, taken
from dpaudit.withheld import hides, raised_words

T = TypeVar("T")
Item = TypeVar("Item", covariant=True)
DASK = "dask"
"""The backend that joblib does not make: futures of `distributed`."""
CLUSTER = 64
"""Parts into which work for a cluster of unknown size is cut, at least."""
BLOCK = 0.1
"""Seconds, about, of a block of items that a child is sent, so that children are busy and end together."""
LOOKED_AT = 64
"""Calls, at most, that are looked at for what cannot be sent."""
_UNSENDABLE = (
    "with several jobs, what is audited and its data must travel between processes, and something cannot be sent: "
    '{why:.500}; use {n_jobs:=1}, or {backend:="threading"}, which sends nothing',
    ("n_jobs", "backend"),
)
"""The message where something cannot be sent, and the parameters that it names."""


def spread(
    calls: Iterable[Callable[[], T]],
    *,
    n_jobs: int,
    backend: str | None = None,
    address: str | None = None,
    ordered: bool = True,
    **options: Any,
) -> Iterator[T]:
    """Make calls on several workers and yield what they return, in the order of the calls or as it is there.

    `calls` may be iterated over twice, while others run. Where workers are processes, calls must pickle; what they
    return is made of plain values and arrays, and comes as outputs do, so that nothing foreign is executed here. A
    worker's standard output is the standard error; signals that ask to end are left to this process, with which it
    ends, however that dies. With the backend "dask" calls are made by the cluster whose scheduler has the `address`.
    `n_jobs`, any other `backend` and `options` are arguments of `joblib.Parallel`. `InputError` is raised if something
    cannot be sent to a worker, `WorkerDied` if a worker process died.
    """
    if backend == DASK:
        from dpaudit.running.cluster import by_futures

        yield from map(result_of, by_futures(calls, partial(sent, hides()), str(address), ordered))
        return
    from concurrent.futures.process import BrokenProcessPool
    from pickle import PicklingError

    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    # Only loky and threading can hand results back one by one.
    loky = backend in (None, "loky")
    stream = "list" if not (loky or backend == "threading") else "generator" if ordered else "generator_unordered"
    if loky or backend == "multiprocessing":
        ending = () if loky else (signal.SIGTERM,)
        options = {"initializer": ignore_requests, "initargs": (parent_pipe(), ending), **options}
    if loky:
        options = {"temp_folder": folder(), **options}
    parallel = Parallel(n_jobs=n_jobs, backend=backend, return_as=stream, **options)
    jobs = (delayed(_call)(call, os.getpid(), hides()) for call in calls)
    results: Any = None
    try:
        with postponed(loky), _one_hash_seed():
            results = parallel(jobs)
        for content, warned in results:
            if warned is None:  # it was made in this process
                yield content
            else:
                add(warned)
                yield result_of(content)
    except TerminatedWorkerError as error:
        raise WorkerDied(KILLED) from error
    except BrokenProcessPool as error:
        message, names = _UNSENDABLE
        raise InputError(message, names=names, why=raised_words(error)) from error
    except (PicklingError, TypeError, AttributeError):  # what pickle raises depends on what it meets
        for call in islice(calls, LOOKED_AT):
            sendable(call, *_UNSENDABLE)
        raise
    finally:
        # A caller who stops early, as an interrupted run does, need not be warned that work is lost.
        if isinstance(results, GeneratorType) and results.gi_frame is not None:
            with warnings.catch_warnings(), _quiet_end_of_loky():
                warnings.simplefilter("ignore", UserWarning)
                results.close()


class Workers(NamedTuple):
    """The arguments of `spread`: where calls are made."""

    n_jobs: int
    backend: str | None
    address: str | None

    @classmethod
    def of(cls, n_jobs: Any, backend: Any, address: Any) -> Workers:
        """Return workers, or raise `InputError`."""
        check_jobs(n_jobs, backend, address)
        return cls(n_jobs, backend, address)

    @property
    def number(self) -> int:
        """The calls that are made at a time, about: of a cluster, which may grow, a guess."""
        from joblib import effective_n_jobs

        return CLUSTER if self.backend == DASK else int(effective_n_jobs(self.n_jobs))

    def __call__(self, calls: Iterable[Callable[[], T]]) -> Iterator[T]:
        """Make calls; yield what they return in their order."""
        return spread(calls, n_jobs=self.n_jobs, backend=self.backend, address=self.address)


def sent(hidden: bool, call: Callable[[], Any]) -> bytes:
    """Make a call in a worker of a cluster, as discreetly as at home; return the result as bytes."""
    with withholding(hidden):
        return result_as_bytes(call)


@contextmanager
def _one_hash_seed() -> Iterator[None]:
    """Let interpreters that begin in the block order sets of strings alike, unless the user has said how."""
    name = "PYTHONHASHSEED"
    given = name in os.environ
    os.environ.setdefault(name, "0")
    try:
        yield
    finally:
        if not given:
            os.environ.pop(name, None)


@contextmanager
def _quiet_end_of_loky() -> Iterator[None]:
    """Let loky's thread end without a traceback: it may look for a call that was taken back as its workers ended."""
    before = threading.excepthook

    def hook(args: threading.ExceptHookArgs) -> None:
        if args.exc_type is not KeyError or args.thread is None or args.thread.name != "ExecutorManagerThread":
            before(args)

    threading.excepthook = hook
    try:
        yield
    finally:
        threading.excepthook = before


def _call(call: Callable[[], Any], home: int, hidden: bool) -> tuple[Any, WarningCounts | None]:
    """Make a call; in a worker process, without touching the standard output, and as discreetly as at home.

    Its result, or what it raised, comes from there as bytes, with the warnings.
    """
    if os.getpid() == home:
        return call(), None
    with withholding(hidden), redirect_stdout(sys.stderr), counted():
        return result_as_bytes(call), taken()


def apart(
    call: Callable[[Callable[[bytes], None], str], T],
    keys: Iterable[str],
    n_jobs: int,
    heard: Callable[[str, bytes], None] = lambda key, part: None,
    *,
    fresh: bool = False,
) -> Iterator[tuple[str, T | DpauditError]]:
    """Call a function of each key in forked processes; yield the keys, as calls end, and what returned or why not.

    What calls return is made of plain values and arrays. ``call(emit, key)`` may send bytes while it runs, by calling
    `emit`: `heard` gets them. A process makes one call after another, or with `fresh` one call. Where several run at a
    time, one that ended its process is made again when the others are done: together they may have taken the memory.
    """
    waiting = iter(keys)
    again: list[str] = []
    idle: list[Child] = []
    busy: dict[Child, str] = {}
    try:
        while True:
            while len(busy) < n_jobs and (key := next(waiting, None)) is not None:
                child = idle.pop() if idle else Child(lambda emit, key: result_as_bytes(partial(call, emit, key)))
                child.begin(key)
                busy[child] = key
            if not busy:
                break
            wait([child.replies for child in busy], PULSE)
            for child, key in list(busy.items()):
                found: T | DpauditError
                try:
                    while (message := child.message(0.0)) and message[0] != RETURNED:
                        if message[0] == PART:
                            heard(key, message[1])
                    if message is None:
                        continue
                    found = result_of(message[1])
                except DpauditError as error:
                    found = error
                del busy[child]
                died = isinstance(found, ChildDied)
                if fresh or died:
                    child.close()
                else:
                    idle.append(child)
                if died and n_jobs > 1:
                    again.append(key)
                else:
                    yield key, found
    finally:
        for child in (*idle, *busy):
            child.close()
    if again:
        yield from apart(call, again, 1, heard, fresh=fresh)


def in_own_process(call: Callable[[], T]) -> T:
    """Return what a call returns, plain values, made in a process of its own where commands keep audited code apart.

    `ChildDied` is raised if the call ended its process, `DpauditError` of what else it raised.
    """
    if not APART:
        return call()

    def made(*_: object) -> T:
        APART.clear()
        enter_folder()
        return call()

    found = next(apart(made, ("",), 1))[1]
    if isinstance(found, ChildDied):
        raise ChildDied(f"the audit {found}")
    if isinstance(found, DpauditError):
        raise found
    return found


class Items(Protocol[Item]):
    """Items whose number is known, each made when it is asked for."""

    def __len__(self) -> int:
        """Return their number."""

    def __iter__(self) -> Iterator[Item]:
        """Yield them in order."""


class _Block:
    """The items of one block, by the numbers of the next that is answered and of the end, and when it was sent."""

    def __init__(self, first: int, size: int) -> None:
        self.first, self.next, self.end, self.began = first, first, first + size, time.monotonic()


def in_blocks(
    children: Sequence[Child], send: Callable[[Child, list[T]], None], items: Items[T], warned: Callable[[bytes], None]
) -> Iterator[bytes]:
    """Yield the parts with which children answer items, one each, in the order of the items.

    ``send(child, items)`` begins the call of a child for a block of items; `warned` is called with what that returns.
    When a caller stops, or something fails, children that are at work are ended. `ChildDied` is raised if a child
    ended, or did not answer each of its items once.
    """
    waiting, answers, shown = iter(items), dict[int, bytes](), 0
    size, sent = 1, 0
    idle, busy = list(children), dict[Child, _Block]()
    try:
        while True:
            while idle and (block := list(islice(waiting, size))):
                child = idle.pop()
                busy[child] = _Block(sent, len(block))
                send(child, block)
                sent += len(block)
            while shown in answers:
                yield answers.pop(shown)
                shown += 1
            if not busy:
                return
            wait([child.replies for child in busy], PULSE)
            for child, own in list(busy.items()):
                if _ended(child, own, answers, warned):
                    del busy[child]
                    idle.append(child)
                    took = (time.monotonic() - own.began) / (own.end - own.first)
                    fair = -(-(len(items) - sent) // (2 * len(children)))
                    size = max(1, min(int(BLOCK / max(took, 1e-6)), fair))
    finally:
        for child in busy:  # what it answers now is no answer to a later call
            child.close()


def _ended(child: Child, own: _Block, answers: dict[int, bytes], warned: Callable[[bytes], None]) -> bool:
    """Take the answers that have come, and return whether the block has ended."""
    while message := child.message(0.0):
        kind, content = message
        if kind == PART and own.next < own.end:
            answers[own.next] = content
            own.next += 1
        elif kind == RETURNED and own.next == own.end:
            warned(content)
            return True
        elif kind in (PART, RETURNED):
            raise ChildDied(SENT_WRONG)
    return False

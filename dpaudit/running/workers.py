"""Work spread over processes: by joblib or dask, or over children, in which a call may end its process."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from itertools import islice
from multiprocessing.connection import wait
from types import GeneratorType
from typing import Any, NamedTuple, TypeVar

from dpaudit.arguments import check_jobs
from dpaudit.errors import DpauditError, InputError, withholding
from dpaudit.folders import enter_folder
from dpaudit.running.child import Child
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
from dpaudit.running.protocol import PART, RETURNED
from dpaudit.running.serving import Emit
from dpaudit.running.transport import result_as_bytes, result_of, sendable
from dpaudit.running.warning_counts import WarningCounts, add, counted, taken
from dpaudit.withheld import hides, raised_words

T = TypeVar("T")
# The backend that joblib does not make: futures of `distributed`.
DASK = "dask"
# Parts into which work for a cluster of unknown size is cut, at least.
CLUSTER = 64
# Calls, at most, that are looked at for what cannot be sent.
LOOKED_AT = 64
# The message where something cannot be sent, and the parameters that it names.
_UNSENDABLE = (
    "with several jobs, what is audited and its data must travel between processes, and something cannot be sent: "
    '{why:.500}; use {n_jobs:=1}, or {backend:="threading"}, which sends nothing',
    ("n_jobs", "backend"),
)


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

    loky = backend in (None, "loky")
    stream = _return_as(backend, ordered)
    if loky or backend == "multiprocessing":
        ending = () if loky else (signal.SIGTERM,)
        options = {"initializer": ignore_requests, "initargs": (parent_pipe(), ending), **options}
        # joblib would write large arrays to files that everybody may list, and that stay where a process is killed.
        options["max_nbytes"] = None
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
    # What pickle raises depends on what it meets, and a mechanism may raise the same: only calls that cannot be sent
    # make it an error of the user's.
    except (PicklingError, TypeError, AttributeError):
        for call in islice(calls, LOOKED_AT):
            sendable(call, *_UNSENDABLE)
        raise
    finally:
        # A caller who stops early, as an interrupted run does, need not be warned that work is lost.
        if isinstance(results, GeneratorType) and results.gi_frame is not None:
            with warnings.catch_warnings(), _quiet_end_of_loky():
                warnings.simplefilter("ignore", UserWarning)
                results.close()


def _return_as(backend: str | None, ordered: bool) -> str:
    """Return how joblib is to hand results back; only loky and threading can do so one by one."""
    if backend not in (None, "loky", "threading"):
        return "list"
    if ordered:
        return "generator"
    return "generator_unordered"


class Workers(NamedTuple):
    """The arguments of `spread`: where calls are made."""

    n_jobs: int
    backend: str | None
    address: str | None

    @classmethod
    def of(cls, n_jobs: int, backend: str | None, address: str | None) -> Workers:
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

    # That one exception of that one thread: all others are shown as ever.
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
    call: Callable[[Emit, str], T],
    keys: Iterable[str],
    n_jobs: int,
    heard: Callable[[str, bytes], None] = lambda key, part: None,
    *,
    fresh: bool = False,
) -> Iterator[tuple[str, T | DpauditError]]:
    """Call a function of each key in children; yield the keys, as calls end, and what returned or why not.

    What calls return is made of plain values and arrays. ``call(emit, key)`` may send bytes while it runs, by calling
    `emit`: `heard` gets them. A child makes one call after another, or with `fresh` one call. Where several run at a
    time, one that ended its process is made again when the others are done: together they may have taken the memory.
    """

    def served(emit: Emit, request: bytes, inputs: bytes) -> bytes:
        return result_as_bytes(partial(call, emit, request.decode()))

    waiting = iter(keys)
    again: list[str] = []
    idle: list[Child] = []
    busy: dict[Child, str] = {}
    try:
        while True:
            while len(busy) < n_jobs and (key := next(waiting, None)) is not None:
                child = idle.pop() if idle else Child(served)
                child.begin(key.encode())
                busy[child] = key
            if not busy:
                break
            wait([child.replies for child in busy], PULSE)
            for child, key in list(busy.items()):
                found = _ended(child, partial(heard, key))
                if found is None:
                    continue
                del busy[child]
                content, error = found
                died = isinstance(error, ChildDied)
                if fresh or died:
                    child.close()
                else:
                    idle.append(child)
                if died and n_jobs > 1:
                    again.append(key)
                elif error is not None:
                    yield key, error
                else:
                    yield key, _result(content)
    finally:
        for child in (*idle, *busy):
            child.close()
    # Alone, each has all of the memory; one that ends its process then does so by itself.
    if again:
        yield from apart(call, again, 1, heard, fresh=fresh)


def _ended(child: Child, heard: Callable[[bytes], None]) -> tuple[bytes, DpauditError | None] | None:
    """Pass the parts on that have come; return the content of the end of the call, or what it raised, if it ended."""
    try:
        while message := child.message(0.0):
            kind, content = message
            if kind == PART:
                heard(content)
            elif kind == RETURNED:
                return content, None
    except DpauditError as error:
        return b"", error
    return None


def _result(content: bytes) -> Any:
    """Return the result of a call, or the error that it raised."""
    try:
        return result_of(content)
    except DpauditError as error:
        return error


def in_own_process(call: Callable[[], T]) -> T:
    """Return what a call returns, plain values, made in a child where commands keep audited code apart.

    `ChildDied` is raised if the call ended its process, `DpauditError` of what else it raised.
    """
    if not APART:
        return call()

    def made(*_: object) -> T:
        # The child makes its runs itself: another child for them would only cost time.
        APART.clear()
        enter_folder()
        return call()

    found = next(apart(made, ("",), 1))[1]
    if isinstance(found, ChildDied):
        raise ChildDied(f"the audit {found}")
    if isinstance(found, DpauditError):
        raise found
    return found

"""Work spread over processes: what goes wrong there is said in one line, and the workers keep out of the user's way."""

from __future__ import annotations

import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TypeVar

from dpaudit.errors import InputError, ToolFault
from dpaudit.running.parent_death import STOPPING, deaf, lifeline

__all__ = ["WorkerDied", "spread"]

T = TypeVar("T")


class WorkerDied(ToolFault):
    """A worker process died: killed by the system, for want of memory perhaps, or ended by what it ran."""


def spread(
    calls: Iterable[Callable[[], T]], *, n_jobs: int, backend: str | None = None, ordered: bool = True, **options: Any
) -> Iterator[T]:
    """Make calls on several workers and yield what they return.

    Parameters
    ----------
    calls : iterable of callables without arguments
        They and what they return must pickle where workers are processes. A worker's standard output is the standard
        error; signals that ask to end are left to this process, with which it ends, however that dies.
    n_jobs, backend
        As for `joblib.Parallel`.
    ordered : bool
        Whether results come in the order of the calls or as they are there.
    **options
        Further arguments of `joblib.Parallel`.

    Raises
    ------
    InputError
        If something cannot be sent to a worker or back.
    WorkerDied
        If a worker process died.
    """
    from concurrent.futures.process import BrokenProcessPool
    from pickle import PicklingError

    from joblib import Parallel, delayed

    # Only loky and threading can hand results back one by one.
    lazy = backend in (None, "loky", "threading")
    stream = "list" if not lazy else "generator" if ordered else "generator_unordered"
    if backend in (None, "loky"):
        options = {"initializer": deaf, "initargs": (lifeline(),), **options}
    parallel = Parallel(n_jobs=n_jobs, backend=backend, return_as=stream, **options)
    jobs = (delayed(_call)(call, os.getpid()) for call in calls)
    try:
        with _blocked(lazy and backend != "threading"):
            results = parallel(jobs)
        yield from _until_left(results)
    except BrokenProcessPool as error:
        if "un-serialize" in str(error):
            raise _unsendable(error) from error
        raise WorkerDied(_death(error)) from error
    except (PicklingError, TypeError, AttributeError) as error:  # what pickle raises depends on what it meets
        if "pickle" not in str(error):
            raise
        raise _unsendable(error) from error


def _until_left(results: Any) -> Iterator[Any]:
    """Yield results; whoever stops listening, as an interrupted run does, need not be warned that work is lost."""
    listening = False
    try:
        for result in results:
            listening = True
            yield result
            listening = False
    finally:
        if listening and hasattr(results, "close"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                results.close()


def _unsendable(error: BaseException) -> InputError:
    # Of what it meets while sending joblib tells in the cause, as the text of a traceback; the last line says it.
    told = f"{error}\n{error.__cause__ or ''}" if str(error).startswith(("Could not", "A task")) else str(error)
    text = [line for line in told.splitlines() if "pickle" in line or "Error: " in line] or [type(error).__name__]
    return InputError(
        "with several jobs, what is audited, its data and its outputs must travel between processes, and something "
        'cannot be sent: {why:.500}; use {n_jobs:=1}, or {backend:="threading"}, which sends nothing, or return plain '
        "data",
        names=("n_jobs", "backend"),
        why=text[-1].strip(),
    )


def _death(error: BaseException) -> str:
    """Say how a worker died: joblib's message names the exit codes, somewhere."""
    codes = re.search(r"exit codes of the workers are (\{.*\})", str(error))
    how = f" (exit codes: {codes[1]})" if codes else ""
    return f"a worker process died, killed by the system (for want of memory?) or ended by what it ran{how}"


def _call(call: Callable[[], T], home: int) -> T:
    """Make a call; in a worker process, without touching the standard output."""
    if os.getpid() == home:
        return call()
    with redirect_stdout(sys.stderr):
        return call()


@contextmanager
def _blocked(wanted: bool) -> Iterator[None]:
    """Block signals that ask to end while workers are started, which inherit that: they would die of them unprepared.

    Starting takes a fraction of a second; a signal that came meanwhile comes to this process then.
    """
    if not wanted or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

"""Calls on the workers of a dask cluster, by futures of `distributed`: grouped by their time, made again where lost."""

from __future__ import annotations

import asyncio
import math
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, Any

from dpaudit.errors import InputError, ToolFault
from dpaudit.places import FILES, cloudpickle, send_by_value
from dpaudit.results import versions
from dpaudit.running.processes import KILLED, WorkerDied
from dpaudit.running.worker_code import differing, forget_others, needed, own_sources
from dpaudit.withheld import raised_words

if TYPE_CHECKING:
    from distributed import Client, Future

# Seconds in which a scheduler must answer.
PATIENCE = 10.0
# Seconds that a future is to take: so many calls go into one. With runs of microseconds one call a future takes 1.4 to
# 1.8 times as long, and joblib's batches on dask 1.3 to 1.4 times (`scripts/bench.py cluster`, two workers).
WORTH = 0.5
# Calls of a future at most.
MOST = 256
# Futures for each thread of the cluster that are under way or wait for it.
AHEAD = 3
# A future that takes so many times the median, and so many seconds, is made once more; the first result counts.
LATE = 5.0
LEAST_LATE = 5.0
# Times that a future which the cluster has lost, as by a restart, is made again.
AGAIN = 3
# Seconds between two looks at futures whose news may have been lost.
PULSE = 0.2
# Seconds that a cluster may be without a worker.
LONELY = 20.0
# Workers must have the same version of these libraries: outputs, and so results, depend on them.
_SAME = ("dpaudit", "numpy")
_OWN = "sources of dpaudit"
# Packages whose exceptions, and `OSError`, a client raises when its scheduler or a worker is away.
_OF_DASK = {"distributed", "dask", "asyncio", "concurrent", "tornado"}
# Held while a thread of a worker loads calls, and the modules that they need: modules that differ are taken out of
# `sys.modules` meanwhile, which another thread must not see.
_loading = threading.Lock()


def reach(address: str) -> bool:
    """Connect to a scheduler and leave it again; raise what `client_of` raises."""
    connected(address).close()
    return True


def connected(address: str) -> Client:
    """Return a connection to a scheduler; `InputError` if there is none of this version."""
    try:
        import distributed
    except ImportError:
        message = "{backend:=dask} needs the package distributed: pip install 'dpaudit[dask]'"
        raise InputError(message, names=("backend",), value="dask") from None
    _refuse_unusable(address)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions, which are compared below
            client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        theirs = client.get_versions()["scheduler"]["packages"].get("distributed")
    except Exception as error:  # of several types: of the network, of addresses, of the protocol
        message = f"no scheduler of dask answers at {{address:={address}}} within {PATIENCE:g} s: {{why:.300}}"
        why = f"{type(error).__name__}: {error}"
        raise InputError(message, names=("address",), value=address, why=why) from None
    if theirs != distributed.__version__:
        client.close()
        message = "the scheduler at {address} has distributed {theirs}, and here is {ours}: install the same version"
        raise InputError(message, names=("address",), value=address, theirs=theirs, ours=distributed.__version__)
    return client


client_of = cache(connected)
"""Returns the connection to a scheduler, one for each address."""


def _refuse_unusable(address: str) -> None:
    """Raise `InputError` for an address with which no connection can begin: a client of it complains when it ends."""
    from distributed.comm.addressing import parse_address
    from distributed.comm.registry import get_backend
    from distributed.security import Security

    kind = parse_address(address)[0]
    try:
        get_backend(kind)
    except ValueError as error:
        raise InputError.of("address", address, "of a kind that distributed knows", str(error)) from None
    if kind in ("tls", "wss") and Security().get_connection_args("client").get("ssl_context") is None:
        hint = "set distributed.comm.tls.ca-file and tls.client.cert in the configuration of dask"
        raise InputError.of("address", address, "of a scheduler whose certificates are configured", hint)


@dataclass
class _Group:
    """Calls that are made by one future, or by several: the first result counts."""

    number: int
    payload: bytes
    size: int
    futures: list[Future] = field(default_factory=list)
    began: float = 0.0
    lost: int = 0


def by_futures(
    calls: Iterable[Callable[[], Any]], send: Callable[[Any], bytes], address: str, ordered: bool = True
) -> Iterator[bytes]:
    """Yield what calls return or raise, as `send` makes bytes of it, in the order of the calls or as it comes.

    `InputError` is raised if workers lack the mechanism's module, or have other versions; `WorkerDied` if workers died
    in some calls again and again; `ToolFault` if the scheduler is gone.
    """
    run = _Run(address, send, iter(calls))
    try:
        yield from run.results(ordered)
    except (Exception, asyncio.CancelledError) as error:
        if not (isinstance(error, OSError) or type(error).__module__.partition(".")[0] in _OF_DASK):
            raise
        # What calls raise comes as bytes: this is of the connection.
        why = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise ToolFault(f"the scheduler at {address}, or a worker, was lost or gave no answer ({why:.300})") from error
    finally:
        run.cancel()


class _Run:
    """The calls of one audit on a cluster: groups of them in futures, and what became of each."""

    def __init__(self, address: str, send: Callable[[Any], bytes], calls: Iterator[Callable[[], Any]]) -> None:
        for name in FILES & sys.modules.keys():  # a program may have dropped one since
            send_by_value(name)
        self.address = address
        self.send = send
        self.calls = calls
        self.client = client_of(address)
        if self.client.status != "running":  # the scheduler was away since
            client_of.cache_clear()
            self.client = client_of(address)
        self.open: dict[int, _Group] = {}
        # The time since which the cluster has no worker; 0 while it has one.
        self.alone = 0.0
        self.expected = {name: versions()[name] for name in _SAME} | {_OWN: own_sources()}
        self.modules: dict[str, str] | None = None
        self.news = threading.Event()
        # Seconds of a call in the latest groups, by which the size of the next ones is chosen.
        self.took: list[float] = []
        self.size = 1
        self.begun = 0

    def results(self, ordered: bool) -> Iterator[bytes]:
        """Yield what calls gave, in their order or as it comes; submit further groups meanwhile."""
        held: dict[int, list[bytes]] = {}
        following = 0
        while True:
            ahead = AHEAD * max(1, sum(self.client.nthreads().values()))
            # Results that wait for an earlier one count as well.
            while len(self.open) < ahead and len(held) + len(self.open) < 10 * ahead:
                some = list(islice(self.calls, self.size))
                if not some:
                    break
                group = _Group(self.begun, bytes(cloudpickle().dumps(some)), len(some))
                if self.modules is None:
                    self.modules = needed(some)
                self.open[group.number] = group
                self.begun += 1
                self._submit(group)
            if not self.open:
                return
            if not self.news.wait(PULSE):  # nothing is new: are there workers?
                self._require_workers()
            self.news.clear()
            for group in list(self.open.values()):
                found = self._ended(group)
                if found is None:
                    continue
                if not ordered:
                    yield from found
                    continue
                held[group.number] = found
                while following in held:
                    yield from held.pop(following)
                    following += 1

    def _require_workers(self) -> None:
        """Raise `WorkerDied` if the cluster has had no worker for long."""
        now = time.monotonic()
        if self.client.nthreads():
            self.alone = 0.0
        elif not self.alone:
            self.alone = now
        elif now - self.alone > LONELY:
            why = "they died, for want of memory perhaps"
            raise WorkerDied(f"the cluster has had no worker for {LONELY:g} s: {why}")

    def _submit(self, group: _Group) -> None:
        given = self.send, group.payload, self.expected, self.modules
        future = self.client.submit(_made, *given, pure=False, retries=0)
        future.add_done_callback(lambda _: self.news.set())
        group.futures.append(future)
        group.began = time.monotonic()

    def _ended(self, group: _Group) -> list[bytes] | None:
        """Return the results of a group that is ready; None while it is under way."""
        for future in list(group.futures):
            status = future.status
            if status == "finished":
                found = future.result(timeout=PATIENCE)
                if isinstance(found, str):
                    raise InputError(found)
                results, seconds = found
                del self.open[group.number]
                self.client.cancel([one for one in group.futures if one is not future])
                self.took = [*self.took[-64:], max(seconds, 1e-6) / group.size]
                # Later groups are to take about `WORTH` seconds, and none is twice as large as those before: one
                # quick group says little of the next.
                self.size = max(1, min(MOST, math.floor(WORTH / median(self.took)), 2 * self.size))
                return list(results)
            if status == "error":
                raise self._error(future)
            if status in ("cancelled", "lost"):
                group.futures.remove(future)
        if not group.futures:
            group.lost += 1
            if self.client.status != "running" or group.lost > AGAIN:
                raise ToolFault(f"the scheduler at {self.address} is gone, or loses what it is given")
            self._submit(group)
        elif len(group.futures) == 1 and len(self.took) >= AHEAD > len(self.open):
            # It is made once more if it takes much longer than others, while workers have nothing else to do.
            if time.monotonic() - group.began > max(LEAST_LATE, LATE * median(self.took) * group.size):
                self._submit(group)
        return None

    def _error(self, future: Future) -> BaseException:
        error: BaseException = future.exception()
        if type(error).__name__ == "KilledWorker":
            return WorkerDied(KILLED)
        if isinstance(error, ModuleNotFoundError):
            return InputError(_no_module(error))
        return ToolFault(f"a worker of the cluster could not make its calls: {raised_words(error)}")

    def cancel(self) -> None:
        """Drop the futures that are open."""
        futures = [one for group in self.open.values() for one in group.futures]
        if futures and self.client.status == "running":
            with suppress(Exception):  # of several types, where the scheduler is gone: then there is nothing to drop
                self.client.cancel(futures)


def _made(
    send: Callable[[Any], bytes], payload: bytes, expected: dict[str, str], modules: dict[str, str]
) -> tuple[list[bytes], float] | str:
    """Make calls, in a worker; return what they return or raise as bytes, and the seconds that they took.

    A text says why the worker could not make them.
    """
    own = {**versions(), _OWN: own_sources()}
    for name, version in expected.items():
        if own[name] != version:
            return f"a worker has {name} {own[name]}, and here is {version}: install the same version"
    with _loading:
        forget_others(modules)
        try:
            calls = cloudpickle().loads(payload)  # of the client, whose code the worker is there to run
        except (ImportError, AttributeError) as error:  # a name that the worker's version of a module has not
            if others := differing(modules):
                return _other_code(others)
            if isinstance(error, ModuleNotFoundError):
                return _no_module(error)
            raise
        if others := differing(modules):
            return _other_code(others)
    began = time.perf_counter()
    home = os.getpid()
    try:
        results = [send(call) for call in calls]
    finally:
        if os.getpid() != home:  # a copy, which must not go on as a worker
            os._exit(0)
    took = time.perf_counter() - began
    # Calls may have imported more modules.
    if others := differing(modules):
        return _other_code(others)
    return results, took


def _other_code(modules: list[str]) -> str:
    what = f"send them again, by {_sending(modules[0])} for each, or install there what is here"
    return f"workers of the cluster have other code than is here in the modules {', '.join(modules)}: {what}"


def _no_module(error: ModuleNotFoundError) -> str:
    if error.name is None:
        return str(error)
    if error.name.partition(".")[0] == "dpaudit":
        return "workers of the cluster have no dpaudit: install it there, in the version that is here"
    where = f"send it, once, by {_sending(error.name)}, or install it there"
    return f"workers of the cluster have no module {error.name}: {where}"


def _sending(module: str) -> str:
    return f"distributed.Client(ADDRESS).upload_file({module.partition('.')[0] + '.py'!r})"

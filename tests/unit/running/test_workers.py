"""A call that ends its process harms no other call."""

from __future__ import annotations

import os
import threading
import time
from functools import partial

import pytest

import dpaudit
from dpaudit.errors import ToolFault
from dpaudit.running.processes import ChildDied
from dpaudit.running.workers import apart, spread
from tests.support.grouped import grouped

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")


def dies():
    os._exit(3)


def raises():
    raise KeyboardInterrupt("from below")


class Runs:
    """An object that writes a file where it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return open, (self.mark, "w")


class Raised(Runs, Exception):
    """The same, as an exception."""


def raises_it(mark):
    raise Raised(mark)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_nothing_that_a_worker_returns_or_raises_is_unpickled(tmp_path, backend):
    mark = str(tmp_path / "mark")
    found = list(spread([partial(Runs, mark)] * 2, n_jobs=2, backend=backend))
    assert [one.parts.values for one in found] == [{"mark": mark}] * 2
    with pytest.raises(ToolFault, match="Raised: "):
        list(spread([partial(raises_it, mark)] * 2, n_jobs=2, backend=backend))
    assert not os.path.exists(mark)


def test_calls_that_are_taken_back_leave_no_traceback_of_the_thread_that_handed_them_out(monkeypatch, tmp_path):
    """loky takes calls back as its workers are ended, and may then look for one that it has just been given."""
    from joblib.externals.loky.process_executor import _ExecutorManagerThread

    takes_back, seen, died = _ExecutorManagerThread.flag_executor_shutting_down, [], []

    def with_one_more(self):
        takes_back(self)
        self.work_ids_queue.put(-1)
        seen.append(self)

    monkeypatch.setattr(_ExecutorManagerThread, "flag_executor_shutting_down", with_one_more)
    monkeypatch.setattr(threading, "excepthook", died.append)
    with pytest.raises(ToolFault, match="Raised: "):
        # The second call is under way where the first one fails, and is ended with its worker.
        list(spread([partial(raises_it, str(tmp_path)), partial(time.sleep, 60)], n_jobs=2, backend="loky"))
    assert len(seen) == 1
    assert died == []
    assert not seen[0].is_alive()


def by_name(calls):
    return lambda emit, name: calls[name]()


def test_a_fresh_process_makes_one_call_and_what_it_sends_meanwhile_is_heard():
    heard = []

    def call(emit, name):
        emit(name.encode())
        return os.getpid()

    found = dict(apart(call, "abc", 1, lambda *part: heard.append(part), fresh=True))
    assert len(set(found.values())) == 3
    assert heard == [("a", b"a"), ("b", b"b"), ("c", b"c")]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_only_the_call_that_ends_its_process_is_lost(n_jobs):
    calls = {"a": os.getpid, "dies": dies, "b": os.getpid, "raises": raises, "c": os.getpid}
    found = dict(apart(by_name(calls), calls, n_jobs))
    assert found.keys() == calls.keys()
    assert isinstance(found["dies"], ChildDied)
    assert str(found["dies"]) == "ended its process (exit status 3)"
    assert isinstance(found["raises"], ToolFault)
    assert "KeyboardInterrupt: from below" in str(found["raises"])
    workers = {found[key] for key in "abc"}
    assert os.getpid() not in workers
    assert len(workers) <= n_jobs + 2  # a process makes one call after another; each of two deaths began one


def test_what_dies_beside_others_is_made_again_alone(tmp_path):
    """It has taken too much memory, perhaps, because another had taken some."""
    mark = tmp_path / "mark"

    def once():
        if mark.exists():
            return "at the second time"
        mark.touch()
        dies()

    calls = {"once": once, "slow": lambda: time.sleep(0.2)}
    assert list(apart(by_name(calls), calls, 2)) == [("slow", None), ("once", "at the second time")]


def test_a_caller_that_stops_ends_the_processes():
    calls = {str(i): os.getpid for i in range(2)} | {"hangs": lambda: time.sleep(600)}
    results = apart(by_name(calls), calls, 2)
    (_, worker) = next(results)
    results.close()
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def forks(data, rng):
    if rng.random() < 0.01 and not os.fork():
        return 0
    return float(data + rng.laplace())


def innocent(data, rng):
    return float(data + rng.laplace())


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.full)])
def test_a_copy_that_a_mechanism_leaves_is_no_fault_of_later_audits_in_the_same_processes(n_jobs):
    asked = {"pairs": [(0, 1)], "epsilon": 1.0, "trials": 2_000, "sequential": False, "n_jobs": n_jobs}
    with pytest.raises(ToolFault, match="the mechanism forks, and returns in both processes"):
        dpaudit.audit_privacy(forks, **grouped(**asked))
    assert dpaudit.audit_privacy(innocent, **grouped(**asked)).verdict != "violation"

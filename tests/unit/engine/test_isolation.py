"""A task that kills its worker process fails alone."""

from __future__ import annotations

import functools

import pytest

from dpaudit.engine.events import TaskFailed, TaskFinished
from dpaudit.engine.isolation import isolated
from dpaudit.running.workers import WorkerDied


def dying(calls):
    """Make calls in order; one that raises `SystemExit` takes down the worker, and with it what comes after."""
    for call in calls:
        try:
            yield call()
        except SystemExit:
            raise WorkerDied("a worker process died") from None


def test_only_the_task_that_kills_its_worker_alone_has_failed(monkeypatch):
    """A death leaves the marks of all tasks under way; here two of four, and one of them is innocent."""
    tries = dict.fromkeys("abcd", 0)

    def perform(key):
        tries[key] += 1
        if key == "c":
            raise SystemExit
        return TaskFinished(key, {})

    def marked(call, mark):  # a killed process removes nothing
        mark.touch()
        if call.args == ("b",) and tries["b"] == 0:
            tries["b"] += 1
            return call.func("c")
        event = call()
        mark.unlink()
        return event

    monkeypatch.setattr("dpaudit.engine.isolation._marked", marked)
    calls = {key: functools.partial(perform, key) for key in "abcd"}
    events = list(isolated(calls, dying))
    assert sorted(event.task for event in events) == list("abcd")
    (failed,) = [event for event in events if isinstance(event, TaskFailed)]
    assert failed.task == "c"
    assert "and again when it ran alone" in failed.error


def test_workers_that_die_of_themselves_are_not_started_for_ever():
    def spread(calls):
        raise WorkerDied("dead")
        yield

    with pytest.raises(WorkerDied, match="dead"):
        list(isolated({"a": lambda: TaskFinished("a", {})}, spread))

"""Execution: the same results whatever the schedule; a failing task is no finding and stops nobody."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import pytest

import dpaudit
from dpaudit.engine import execute as execute_module
from dpaudit.engine.execute import BACKENDS, RunFinished, RunStarted, TaskFailed, TaskFinished, execute
from dpaudit.engine.outcome import outcome, word
from dpaudit.engine.perform import perform
from dpaudit.engine.plan import make_plan
from dpaudit.engine.progress import Progress
from dpaudit.engine.store import FILENAME, Store, make_header
from dpaudit.engine.tasks import Task, canonical, exact_task, utility_tasks
from dpaudit.errors import InputError, ToolFault
from dpaudit.registry import load

TOYS = (str(Path(__file__).with_name("toy_learners.py")),)


def plan(*ids: str) -> list[Task]:
    """Exact and utility audits: enough work to be spread, quick enough to be repeated."""
    entries = [load(TOYS).get(id) for id in ids]
    return [task for task in make_plan(entries, profile="quick").tasks if task.kind != "privacy"]


def run(tasks, **options):
    events = []
    failed = execute(tasks, seed=5, paths=TOYS, listeners=[events.append], **options)
    return events, failed


def results(events) -> list[str]:
    return sorted(canonical(event.record) for event in events if isinstance(event, TaskFinished))


@pytest.fixture(scope="module")
def reference():
    return results(run(plan("toy-coin", "toy-liar"), backend="sequential")[0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_are_the_same_for_any_backend(backend, reference):
    events, failed = run(plan("toy-coin", "toy-liar"), n_jobs=2, backend=backend)
    assert (results(events), failed) == (reference, 0)
    assert len(reference) > 8


def test_results_are_the_same_in_any_order_and_depend_on_the_seed(reference):
    tasks = plan("toy-coin", "toy-liar")
    assert results(run(tasks[::-1])[0]) == reference
    events = []
    execute(tasks, seed=6, paths=TOYS, listeners=[events.append])
    assert results(events) != reference


def test_the_stored_bytes_are_the_same_for_one_and_two_jobs(tmp_path):
    tasks = plan("toy-coin", "toy-liar")
    contents = []
    for jobs, order in ((1, tasks), (2, tasks[::-1])):
        path = tmp_path / str(jobs) / FILENAME
        store = Store.start(path, make_header([t.key for t in tasks], seed=5, profile="quick", command="x"))
        keep = lambda event, store=store: store.append(event.record) if isinstance(event, TaskFinished) else None  # noqa: E731
        execute(order, seed=5, paths=TOYS, listeners=[keep], n_jobs=jobs, backend="threading")
        store.finish()
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    assert contents[0].count(b"\n") == len(tasks) + 1


def test_a_record_says_what_a_report_needs():
    coin = load(TOYS).get("toy-coin")
    record = perform(exact_task(coin, coin.build(gain=3.0)), seed=0, paths=TOYS)
    assert record["finding"]["epsilon"] == pytest.approx(3.0, abs=1e-12)
    assert record["claim"] == {
        "epsilon": 3.0,
        "delta": 0.0,
        "relation": "replace-one",
        "claim_id": "toy",
        "source": "",
    }
    assert (record["learner"], record["kind"], record["fault"]) == ("toy-coin", "exact", None)
    control = load(TOYS).get("broken-toy-open")
    record = perform(exact_task(control, control.build(gain=3.0)), seed=0, paths=TOYS)
    assert record["fault"] == "it leaks twice its claim"
    assert record["finding"]["verdict"] == "violation"


def test_crafted_samples_reach_the_exact_audit():
    coin = load(TOYS).get("toy-coin")
    task = exact_task(coin, coin.build(gain=3.0), n=4, crafted=True)
    finding = perform(task, seed=0, paths=TOYS)["finding"]
    assert "crafted" in finding["worst_pair"]["origin"]
    assert finding["epsilon"] == pytest.approx(3.0, abs=1e-12)


def test_the_utility_audit_gets_the_hard_case_or_what_the_user_chose():
    coin = load(TOYS).get("toy-coin")
    learner = coin.build(gain=3.0)
    for task in utility_tasks(coin, learner, trials=20, confidence=0.9):
        finding = perform(task, seed=0, paths=TOYS)["finding"]
        assert (finding["n"], finding["alpha"], finding["trials"]) == (8, 0.3, 20)
        assert finding["distribution"] in task.arguments["case"]
    (task,) = utility_tasks(coin, learner, trials=20, confidence=0.9, cases=[None], concept=1)
    finding = perform(task, seed=0, paths=TOYS)["finding"]
    assert (finding["distribution"], finding["concept"]) == ("uniform", "concept 1")


def test_the_privacy_audit_is_called_with_the_task_s_arguments(monkeypatch):
    calls = []

    class Found:
        def to_dict(self):
            return {"verdict": "consistent"}

    monkeypatch.setitem(
        dpaudit.__dict__, "audit_privacy", lambda *args, **named: calls.append((args, named)) or Found()
    )
    task = Task("toy-coin", "privacy", {"gain": 2.0}, {"n": 1, "trials": 10, "confidence": 0.9, "epsilon": 0.5})
    record = perform(task, seed=7, paths=TOYS, n_jobs=2)
    ((learner,), named) = calls[0]
    assert (learner.id, learner.gain) == ("toy-coin", 2.0)
    assert named == {"n": 1, "trials": 10, "confidence": 0.9, "epsilon": 0.5, "seed": 7, "n_jobs": 2}
    assert record["finding"] == {"verdict": "consistent"}


@pytest.mark.parametrize("backend", ["sequential", "threading"])
def test_a_task_that_raises_is_a_failure_and_the_others_go_on(backend):
    tasks = plan("toy-crash", "toy-coin")
    events, failed = run(tasks, n_jobs=2, backend=backend)
    failures = [event for event in events if isinstance(event, TaskFailed)]
    assert failed == len(failures) == 1
    assert failures[0].task.startswith("toy-crash/exact/")
    assert "ZeroDivisionError: toy" in failures[0].error
    assert "toy_learners.py, line" in failures[0].error
    assert len(results(events)) == len(tasks) - 1
    assert events[-1] == RunFinished(1)


def test_what_is_done_is_not_done_again():
    tasks = plan("toy-coin")
    events, _ = run(tasks, done={tasks[0].key, tasks[3].key})
    assert events[0] == RunStarted(len(tasks), 2)
    fresh = [event.task for event in events if isinstance(event, TaskFinished)]
    assert fresh == [task.key for i, task in enumerate(tasks) if i not in (0, 3)]


def test_an_interrupt_is_told_and_keeps_what_is_done():
    tasks = plan("toy-coin")
    events = []

    def interrupt(event):
        events.append(event)
        if isinstance(event, TaskFinished) and len(events) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(tasks, seed=5, paths=TOYS, listeners=[interrupt])
    assert events[-1] == RunFinished(0, interrupted=True)
    assert len(results(events)) == 2


def test_the_death_of_a_worker_is_a_fault_of_the_tool(monkeypatch):
    from concurrent.futures.process import BrokenProcessPool

    def die(*args):
        raise BrokenProcessPool("killed\nby the system")
        yield

    monkeypatch.setattr(execute_module, "_events", lambda *args: execute_module._alive(die()))
    with pytest.raises(ToolFault, match=r"worker process died; the results so far are kept \(killed\)"):
        run(plan("toy-coin"))


@pytest.mark.parametrize(
    ("options", "words"),
    [({"backend": "ray"}, "backend must be one of loky"), ({"n_jobs": 0}, "n_jobs must be a non-zero integer, got 0")],
)
def test_bad_options_are_refused_before_anything_runs(options, words):
    events = []
    with pytest.raises(InputError, match=words):
        execute(plan("toy-coin"), seed=0, paths=TOYS, listeners=[events.append], **options)
    assert events == []


def stored(verdict="consistent", fault=None, role=None, learner="a", task="t") -> dict:
    return {
        "task": task,
        "learner": learner,
        "fault": fault,
        "arguments": {} if role is None else {"role": role},
        "finding": {"verdict": verdict},
    }


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (stored("violation"), "violation"),
        (stored("violation", role="claim"), "violation"),
        (stored("violation", role="ladder"), "ladder"),
        (stored("violation", fault="x"), "convicted"),
        (stored("consistent", fault="x"), "not convicted"),
        (stored("holds", role="claim"), "consistent"),
        (stored("undecided", role="claim"), "undecided"),
    ],
)
def test_a_record_in_a_word(record, expected):
    assert word(record) == expected


@pytest.mark.parametrize(
    ("results_", "planned", "expected"),
    [
        ([stored()], 1, 0),
        ([stored("undecided", role="claim")], 1, 0),
        ([stored("violation", role="ladder")], 1, 0),
        ([stored("violation")], 1, 1),
        ([stored("consistent", "x"), stored("violation", "x", task="u")], 2, 0),  # one audit suffices to convict
        ([stored("consistent", "x"), stored("consistent", "x", task="u")], 2, 1),
        ([stored("consistent", "x"), stored("violation", "x", learner="b", task="u")], 2, 1),  # not by another's fault
        ([stored()], 2, 2),
        ([stored("violation")], 2, 2),
    ],
)
def test_the_status_of_a_run(results_, planned, expected):
    found = outcome({"header": {"plan": ["t", "u"][:planned]}, "results": results_})
    assert found.status == expected


class Terminal(io.StringIO):
    def isatty(self):
        return True


def finished(record):
    return TaskFinished(record["task"], record)


def test_progress_on_a_terminal_is_one_line_with_counts_and_time_left(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    # Read once when made, once at the start, once a line.
    stream, now = Terminal(), iter([0, 0, 10, 20, 30])
    show = Progress(stream, lambda: next(now))
    show(RunStarted(4, 1))
    show(finished(stored("violation")))
    show(finished(stored("holds")))
    live = stream.getvalue().split("\r")[1:]
    assert live[0] == "[2/4] 1 violation; 0:10, about 0:20 left"
    assert live[1] == "[3/4] 1 violation, 1 consistent; 0:20, about 0:10 left"
    show(RunFinished(0, interrupted=True))
    last = "\rdpaudit: interrupted: [3/4] 1 violation, 1 consistent; 0:30, about 0:15 left\n"
    assert stream.getvalue().endswith(last)


def test_progress_is_cut_to_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "25")
    stream = Terminal()
    show = Progress(stream)
    show(RunStarted(3, 0))
    for verdict in ("violation", "undecided"):
        show(finished(stored(verdict)))
    assert max(map(len, stream.getvalue().split("\r"))) <= 24


def test_progress_elsewhere_is_about_ten_lines(monkeypatch):
    stream = io.StringIO()
    show = Progress(stream, lambda: 0)
    show(RunStarted(200, 0))
    for _ in range(200):
        show(finished(stored()))
    show(RunFinished(0))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 10
    assert lines[-1].startswith("dpaudit: [200/200] 200 consistent")
    assert "\r" not in stream.getvalue()


def test_failures_are_counted():
    stream = io.StringIO()
    show = Progress(stream, lambda: 0)
    show(RunStarted(2, 0))
    show(TaskFailed("t", "InputError: x"))
    show(finished(stored("consistent", "leak")))
    show(RunFinished(1))
    assert "1 not convicted, 1 failed" in stream.getvalue()
    assert Counter(stream.getvalue())["\n"] == 2

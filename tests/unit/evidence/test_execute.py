"""Execution: the same results whatever the schedule; a failing task is no finding and stops nobody."""

from __future__ import annotations

import inspect
import io
import re
from collections import Counter
from contextlib import suppress

import pytest
import toy_learners
from msgspec.structs import replace
from toy_records import failure, privacy_finding, result, run_of

from dpaudit.audit.audit import audit_privacy
from dpaudit.audit.parameters import Execution, Look
from dpaudit.contract import PrivacyClaim, Relation
from dpaudit.errors import InputError
from dpaudit.evidence import execute as execute_module
from dpaudit.evidence import perform as perform_module
from dpaudit.evidence.execute import BACKENDS, Progress, execute
from dpaudit.evidence.outcome import detects, kind_of, outcome
from dpaudit.evidence.perform import perform
from dpaudit.evidence.plan import Plan, make_plan
from dpaudit.evidence.records import Failure, Fault, Header, Result
from dpaudit.evidence.store import FILENAME, Store
from dpaudit.evidence.tasks import PrivacyArguments, Task, canonical, exact_task, utility_tasks
from dpaudit.registry import load

TOYS = (toy_learners.__file__,)


def plan(*ids: str) -> list[Task]:
    """Exact and utility audits: enough work to be spread, quick enough to be repeated."""
    entries = [load(TOYS).get(id) for id in ids]
    return [task for task in make_plan(entries, profile="quick").tasks if task.kind != "privacy"]


def run(tasks, **options):
    return list(execute(tasks, seed=5, paths=TOYS, **options))


def results(records) -> list[str]:
    return sorted(canonical(record) for record in records if isinstance(record, Result))


@pytest.fixture(scope="module")
def reference():
    return results(run(plan("toy-coin", "toy-liar"), backend="sequential"))


@pytest.mark.parametrize("backend", sorted({*BACKENDS} - {"dask"}))  # tests/unit/running has a cluster
def test_results_are_the_same_for_any_backend(backend, reference):
    assert results(run(plan("toy-coin", "toy-liar"), n_jobs=2, backend=backend)) == reference
    assert len(reference) > 8


def test_results_are_the_same_in_any_order_and_depend_on_the_seed(reference):
    tasks = plan("toy-coin", "toy-liar")
    assert results(run(tasks[::-1])) == reference
    assert results(execute(tasks, seed=6, paths=TOYS)) != reference


def test_the_stored_bytes_are_the_same_for_one_and_two_jobs(tmp_path):
    tasks = plan("toy-coin", "toy-liar")
    contents = []
    for jobs, order in ((1, tasks), (2, tasks[::-1])):
        path = tmp_path / str(jobs) / FILENAME
        store = Store.start(path, Header(plan=Plan(tuple(tasks)).planned, seed=5, profile="quick", command="x"))
        for record in execute(order, seed=5, paths=TOYS, n_jobs=jobs, backend="threading"):
            store.append(record)
        store.finish()
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    assert contents[0].count(b"\n") == len(tasks) + 2  # header and seal


def test_a_record_says_what_a_report_needs():
    coin = load(TOYS).get("toy-coin")
    record = perform(exact_task(coin.build(gain=3.0), coin.instance), seed=0, paths=TOYS)
    assert record.finding.epsilon == pytest.approx(3.0, abs=1e-12)
    assert record.claim == PrivacyClaim(3.0, 0.0, Relation.REPLACE_ONE, "toy")
    assert (record.learner, record.kind, record.fault) == ("toy-coin", "exact", None)
    control = load(TOYS).get("broken-toy-open")
    record = perform(exact_task(control.build(gain=3.0), control.instance), seed=0, paths=TOYS)
    assert record.fault == "it leaks twice its claim"
    assert record.finding.verdict == "violation"


def test_crafted_samples_reach_the_exact_audit():
    coin = load(TOYS).get("toy-coin")
    task = exact_task(coin.build(gain=3.0), coin.instance, n=4, crafted=True)
    finding = perform(task, seed=0, paths=TOYS).finding
    assert finding.pair_in_words.origin.kind == "crafted"
    assert finding.epsilon == pytest.approx(3.0, abs=1e-12)


def test_the_utility_audit_gets_the_hard_case_or_what_the_user_chose():
    coin = load(TOYS).get("toy-coin")
    learner = coin.build(gain=3.0)
    for task in utility_tasks(learner, coin.instance, trials=20, confidence=0.9):
        finding = perform(task, seed=0, paths=TOYS).finding
        assert (finding.n, finding.alpha, finding.trials) == (8, 0.3, 20)
        assert finding.distribution in task.arguments.case
    (task,) = utility_tasks(learner, coin.instance, trials=20, confidence=0.9, cases=[None], concept=1)
    finding = perform(task, seed=0, paths=TOYS).finding
    assert (finding.distribution, finding.concept) == ("uniform", "concept 1")


def test_the_privacy_audit_is_called_with_the_task_s_arguments(monkeypatch):
    calls = []
    monkeypatch.setattr(
        perform_module, "audit_privacy", lambda *args, **named: calls.append((args, named)) or privacy_finding()
    )
    task = Task("toy-coin", {"gain": 2.0}, PrivacyArguments(n=1, trials=10, confidence=0.9, epsilon=0.5, curve=True))
    record = perform(task, seed=7, paths=TOYS, n_jobs=2)
    ((learner, pairs), named) = calls[0]
    assert (learner.id, learner.gain) == ("toy-coin", 2.0)
    assert pairs == "crafted:1"
    changed = {name: value for name, value in named.items() if value is not None and value is not False}
    assert changed == {
        "trials": 10, "confidence": 0.9, "epsilon": 0.5, "seed": 7, "n_jobs": 2, "randomness": "argument",
        "look": Look(curve=True), "execution": Execution(),
    }  # fmt: skip
    assert set(named) <= set(inspect.signature(audit_privacy).parameters)
    assert record.finding.verdict == "consistent"
    assert record.decoded == {"1": "Constant(label=1)"}


@pytest.mark.parametrize("backend", ["sequential", "threading"])
def test_a_task_that_raises_is_a_failure_and_the_others_go_on(backend):
    tasks = plan("toy-crash", "toy-coin")
    records = run(tasks, n_jobs=2, backend=backend)
    failures = [record for record in records if isinstance(record, Failure)]
    assert len(failures) == 1
    assert failures[0].task.startswith("toy-crash/exact/")
    assert "ZeroDivisionError: toy" in failures[0].error
    assert "toy_learners.py, line" in failures[0].error
    assert len(results(records)) == len(tasks) - 1


def test_what_is_done_is_not_done_again():
    tasks = plan("toy-coin")
    records = run(tasks, done={tasks[0].key, tasks[3].key})
    assert [record.task for record in records] == [task.key for i, task in enumerate(tasks) if i not in (0, 3)]


def test_an_interrupt_goes_through_and_keeps_what_is_done(monkeypatch):
    tasks, records = plan("toy-coin"), []

    def interrupted(task, **options):
        if len(records) == 2:
            raise KeyboardInterrupt
        return perform(task, **options)

    monkeypatch.setattr(execute_module, "perform", interrupted)
    with pytest.raises(KeyboardInterrupt):
        records.extend(execute(tasks, seed=5, paths=TOYS, backend="sequential"))
    assert len(results(records)) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"backend": "ray"}, "backend must be one of loky"),
        # Where a worker process dies, joblib would wait for it for ever.
        ({"backend": "multiprocessing"}, "backend must be one of loky, threading, sequential"),
        ({"n_jobs": 0}, "n_jobs must be a non-zero integer, at most .*, got 0"),
    ],
)
def test_bad_options_are_refused_before_anything_runs(options, words):
    with pytest.raises(InputError, match=words):
        execute(plan("toy-coin"), seed=0, paths=TOYS, **options)  # no record is asked for


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (result("exact", "violation"), "violation"),
        (result("utility", "violation"), "violation"),
        (result("utility", "violation", role="ladder"), "at smaller n"),
        (result("exact", "violation", fault="x"), "on controls"),
        (result("privacy", "consistent", fault="x"), "on controls"),
        (result("utility", "holds"), "consistent"),
        (result("utility", "undecided"), "undecided"),
        (result("utility", "violation", fault="x"), "on controls"),
        (result("ledger", "refuted"), "checked"),
        (result("picture"), "drawn"),
    ],
)
def test_a_record_in_a_word(record, expected):
    assert kind_of(record) == expected
    if expected == "on controls":
        assert detects([record]) == (record.kind == "exact")  # what a control leaks is privacy


CLEARED, DETECTED = result(fault="x"), result("exact", "violation", fault="x", task="u")


@pytest.mark.parametrize(
    ("results_", "planned", "expected"),
    [
        ([result()], 1, 0),
        ([result("utility", "undecided")], 1, 3),
        ([result("utility", "undecided", role="ladder")], 1, 0),
        ([result("utility", "vacuous")], 1, 0),
        ([result("privacy", "no evidence")], 1, 3),
        # Exact laws judge where the black box could not see; a violation wins, and what is missing wins over it.
        ([result("privacy", "no evidence"), result(task="u")], 2, 0),
        ([result("privacy", "no evidence"), result("utility", "violation", task="u")], 2, 1),
        ([result("privacy", "no evidence")], 2, 2),
        ([result("utility", "violation", role="ladder")], 1, 0),
        ([result("exact", "violation")], 1, 1),
        ([CLEARED, DETECTED], 2, 0),  # one audit suffices
        ([CLEARED, result(fault="x", task="u")], 2, 1),
        ([CLEARED, replace(DETECTED, learner="b")], 2, 1),  # not by another's fault
        # By each setting of its parameters: the audits of one say nothing of the other.
        ([CLEARED, replace(DETECTED, parameters={"gain": 2.0})], 2, 1),
        ([result("utility", "violation")], 1, 1),
        ([result("ledger", "refuted")], 1, 0),
        ([result()], 2, 2),
        ([result("exact", "violation")], 2, 2),
    ],
)
def test_the_status_of_a_run(results_, planned, expected):
    assert outcome(run_of(*results_, plan=("t", "u")[:planned])).status == expected


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_on_a_terminal_is_one_line_with_counts_and_time_left(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    # Read once when made, once at the start, once a line.
    stream, now = Terminal(), iter([0, 0, 10, 20, 30])
    with suppress(KeyboardInterrupt), Progress(stream, 4, 1, clock=lambda: next(now)) as show:
        show(result("exact", "violation"))
        show(result("utility", "holds"))
        live = stream.getvalue().split("\r")
        raise KeyboardInterrupt
    assert live[0] == "dpaudit: resuming: 1/4 audits  0:00\n"
    assert live[1] == "[===========>          ] 2/4 audits  1 violation  a  0:10, 0:20 left"
    assert live[2] == "[================>     ] 3/4 audits  1 violation, 1 consistent  a  0:20, 0:10 left"
    last = "\rdpaudit: interrupted: 3/4 audits  1 violation, 1 consistent  0:30, 0:15 left\n"
    assert stream.getvalue().endswith(last)


def test_progress_is_cut_to_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "25")
    stream, now = Terminal(), iter(range(9))
    show = Progress(stream, 3, clock=lambda: next(now))
    for verdict in ("violation", "undecided"):
        show(result("utility", verdict))
    assert stream.getvalue().count("\r") == 2
    assert max(map(len, stream.getvalue().split("\r"))) <= 24


def test_progress_elsewhere_is_a_line_every_ten_seconds_and_the_sum():
    stream, now = io.StringIO(), iter(range(300))
    with Progress(stream, 25, clock=lambda: next(now)) as show:
        for _ in range(25):
            show(result())
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("dpaudit: [========>             ] 10/25 audits  10 consistent  a  0:10, 0:15 left")
    assert lines[-1].startswith("dpaudit: 25/25 audits  25 consistent  0:26")
    assert "\r" not in stream.getvalue()


def test_what_takes_no_time_leaves_no_line():
    stream = io.StringIO()
    with Progress(stream, 1, clock=lambda: 0) as show:
        show(result())
    assert stream.getvalue() == ""


def test_failures_are_counted():
    stream = io.StringIO()
    now = iter(range(9))
    with Progress(stream, 2, clock=lambda: next(now)) as show:
        show(failure())
        show(result(fault="leak"))
    assert "1 failed, 1 on controls (0 of 1 detected)" in stream.getvalue()
    assert Counter(stream.getvalue())["\n"] == 1


def test_a_learner_without_a_plan_is_status_2():
    fault = Fault("b", "no audit could be planned: ZeroDivisionError: x")
    found = outcome(run_of(result("exact", "violation"), faults=(fault,)))
    assert found.faults == (fault,)
    assert (found.violations, found.missing, found.status) == (("t",), (), 2)


def test_a_control_with_an_audit_missing_is_not_yet_undetected():
    cleared = result(fault="x", task="a/exact/n1-0")
    for plan, undetected in ((("a/exact/n1-0",), ("a",)), (("a/exact/n1-0", "a/privacy/n1-0"), ())):
        assert outcome(run_of(cleared, plan=plan)).undetected == undetected


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_learner_that_ends_the_process_is_a_failure(tmp_path, jobs):
    """`sys.exit(0)` must not pass for a clean run, in this process or in a worker."""
    body = "import sys\nclass Quitter(ToyCoin):\n    id = 'toy-quitter'\n    law = lambda s, a: sys.exit(0)\n"
    (tmp_path / "q.py").write_text(f"from toy_learners import ToyCoin\n{body}LEARNERS = (Quitter,)\n")
    paths = (*TOYS, str(tmp_path / "q.py"))
    quitter, coin = (load(paths).get(id) for id in ("toy-quitter", "toy-coin"))
    tasks = [exact_task(one.build(gain=1.0), one.instance) for one in (quitter, coin)]
    # Threads stand in for processes, which would cost seconds and take the same way.
    records = list(execute(tasks, seed=0, paths=paths, n_jobs=jobs, backend="threading"))
    (failure,) = [record for record in records if isinstance(record, Failure)]
    assert failure.task.startswith("toy-quitter/exact/")
    assert re.match(r"SystemExit: 0 \(.*q\.py, line 5\)", failure.error)
    assert len(records) == 2


def test_progress_counts_every_kind_of_record():
    stream = io.StringIO()
    now = iter(range(20))
    records = [
        result("exact", "violation"),
        result("utility", "undecided"),
        result("utility", "holds"),
        result("utility", "holds", role="ladder"),
        result("exact", "violation", fault="x"),
        result("exact", "consistent", fault="x"),
        result("ledger", "refuted"),
        result("picture"),
    ]
    with Progress(stream, len(records) + 1, clock=lambda: next(now)) as show:
        for record in (*records, failure()):
            show(record)
    last = stream.getvalue().splitlines()[-1]
    counts = re.findall(r"(\d+) [a-z]", last.partition("audits")[2].replace("(1 of 1 detected)", ""))
    assert sum(map(int, counts)) == len(records) + 1
    assert "2 on controls (1 of 1 detected)" in last  # one audit of the control detects it, the other does not

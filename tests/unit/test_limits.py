"""Runs with a timeout, audits with a time limit, and mechanisms that crash."""

from __future__ import annotations

import ctypes
import importlib
import itertools
import json
import os
import sys
import threading
import time
import types
from functools import cache

import numpy as np
import pytest
from msgspec import UNSET
from quick import by_turns

import dpaudit
from dpaudit import seeding
from dpaudit.audit import fixed_design
from dpaudit.audit.clock import END, LOOKS, PAIRS, SHARES, Clock, Stopped
from dpaudit.audit.fixed_design import reading_seconds
from dpaudit.audit.preflight import Preflight
from dpaudit.contract import Pair
from dpaudit.errors import InputError
from dpaudit.events.feature_screening.featured import screened_discretizers
from dpaudit.outputs.canonical import TIMED_OUT, Raised, canonical, in_words
from dpaudit.running import child as children
from dpaudit.running import processes
from dpaudit.running.adapters import as_mechanism
from dpaudit.running.child import Child
from dpaudit.running.isolated import RunFault, Timeout, _further
from dpaudit.running.processes import ChildDied
from dpaudit.running.sampling import Sampler
from tests.support.grouped import grouped

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")

GENEROUS = Timeout(60.0)
PAIR = [(0, 1)]


def response(bit, rng):
    return bit if rng.random() < 0.75 else 1 - bit


def noise(x, rng):
    return x + rng.laplace()


def batched(x, rng, size):
    return x + rng.laplace(size=size)


def hangs(bit, rng):
    u = rng.random()
    if u < 0.04:
        time.sleep(60)  # longer than any limit of these tests
    return bit + u


def crashes(bit, rng):
    if bit == "bad" and rng.random() < 0.2:
        ctypes.string_at(0)
    return 1


def counting(emit, number):
    for i in range(int(number)):
        emit(b"x" * i)
    return b"end"


@pytest.mark.parametrize(
    ("sequential", "mechanism"), by_turns(itertools.product([False, True], [response, noise, batched]))
)
def test_a_timeout_that_no_run_reaches_changes_no_number(sequential, mechanism):
    given = {"epsilon": 0.5, "trials": 600, "sequential": sequential, "batched": mechanism is batched}
    assert dpaudit.audit_privacy(mechanism, PAIR, **grouped(**given)) == dpaudit.audit_privacy(
        mechanism, PAIR, **grouped(**given, timeout=60)
    )


def test_a_run_that_takes_too_long_is_an_output_and_the_others_are_independent_of_it():
    outputs = as_mechanism(hangs, timeout=Timeout(1.5))(0, seeding.generator(0, "f"), 40)
    late = [i for i, output in enumerate(outputs) if isinstance(output, Raised)]
    assert (len(outputs), late) == (40, [17])
    assert {canonical(outputs[i]) for i in late} == {("exception", TIMED_OUT, "after 1.5 s")}
    assert in_words(canonical(outputs[late[0]])) == "timed out after 1.5 s"
    drawn = seeding.generator(0, "f").random(late[0] + 1)  # as if there were no limit, up to the first that hangs
    assert outputs[: late[0]] == drawn[:-1].tolist()
    assert drawn[-1] < 0.04
    following = _further(seeding.generator(0, "f"), late[0] + 1).random(3).tolist()
    assert outputs[late[0] + 1 : late[0] + 4] == following
    assert _further(seeding.generator(0, "a"), 3).random() != _further(seeding.generator(0, "a"), 4).random()


def test_a_timeout_error_of_the_mechanism_is_an_exception_like_any_other():
    def raises(bit, rng):
        raise TimeoutError("after 0.05 s")

    (output,) = as_mechanism(raises, timeout=GENEROUS)(0, np.random.default_rng(0), 1)
    assert (output.kind, output.message) == ("TimeoutError", "after 0.05 s")


def test_a_run_that_takes_too_long_may_be_a_fault_that_names_the_input():
    with pytest.raises(RunFault, match=r"^a run of the mechanism hangs took longer than 0.5 s, on "):
        dpaudit.audit_privacy(
            hangs, PAIR, epsilon=1, trials=500, timeout=0.5, execution=dpaudit.Execution(timeout_is="error")
        )


def test_a_run_that_ends_its_process_is_a_fault_that_names_the_input():
    with pytest.raises(
        RunFault, match=r"crashes ended its process \(SIGSEGV\), on (the neighbour of pairs\[0\]|'bad')$"
    ):
        dpaudit.audit_privacy(crashes, [("good", "bad")], epsilon=1, trials=1_000, timeout=60)


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (lambda: os._exit(4), r"ended its process \(exit status 4\)"),
        (lambda: os.kill(os.getpid(), 9), r"ended its process \(SIGKILL, for want of memory\?\)"),
        (os.fork, "forks, and returns in both processes"),
    ],
)
def test_whatever_ends_a_process_is_told(end, told):
    child = Child(lambda *_: (end() and time.sleep(0.1)) or b"")  # a copy is noticed when it returns
    with pytest.raises(ChildDied, match=told):
        child.call(b"", seconds=60)
    child.close()


def test_an_exit_is_bad_input_and_what_is_printed_goes_to_standard_error(capfd):
    def exits(bit, rng):
        print("from below")
        sys.exit(0)

    with pytest.raises(InputError, match=r"mechanism .*exits raised SystemExit: 0 \("):
        as_mechanism(exits, timeout=GENEROUS)(0, np.random.default_rng(0), 1)
    assert capfd.readouterr() == ("", "from below\n")


def test_what_cannot_travel_is_told():
    limited = as_mechanism(lambda lock, rng: lock, timeout=GENEROUS)
    with pytest.raises(
        InputError, match=r"with timeout, .* something cannot be sent: TypeError: cannot pickle '_thread"
    ):
        limited(threading.Lock(), np.random.default_rng(0), 1)


def test_an_output_that_cannot_be_taken_apart_is_told():
    limited = as_mechanism(lambda data, rng: threading.Lock(), timeout=GENEROUS)
    with pytest.raises(InputError, match=r"an output of type lock cannot be taken apart"):
        limited(0, np.random.default_rng(0), 3)


def test_a_mechanism_that_changes_its_input_is_refused_there_too():
    def sorts(rows, rng):
        rows.sort()
        return rows[0]

    with pytest.raises(InputError, match="changes its input"):
        dpaudit.audit_privacy(sorts, [([2, 1], [3, 1])], epsilon=1, trials=100, timeout=60)


@pytest.mark.parametrize("number", [0, 3, 900])
def test_no_part_is_lost_where_a_child_is_ended(number, monkeypatch):
    monkeypatch.setattr("dpaudit.running.child.ENDING", 0.0)  # more seconds than its limit, for which nothing comes

    def slow(emit, number, _):
        counting(emit, number)
        time.sleep(60)  # longer than its limit

    child = Child(slow)
    assert child.call(b"%d" % number, seconds=1.0, most=number) is None
    assert child.parts == [b"x" * i for i in range(number)]
    assert child.closed


def test_parts_of_any_size_come_in_order():
    child = Child(lambda emit, *_: [emit(b"x" * size) for size in (10, 200_000, 20, 65_000, 1_000)] and b"7")
    parts, value = child.call(b"", most=5)
    assert ([len(part) for part in parts], value) == ([10, 200_000, 20, 65_000, 1_000], b"7")
    child.close()


def test_memory_without_end_is_an_exception_of_the_run():
    import resource

    def grows(*_):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (min(2**30, resource.getrlimit(resource.RLIMIT_DATA)[0]), hard))
        held = []
        try:
            while True:
                held.append(bytearray(2**26))
        except MemoryError:
            return f"{len(held) * 2**26} {resource.getrlimit(resource.RLIMIT_DATA)[0]}".encode()

    child = Child(grows)
    taken, limit = map(int, child.call(b"", seconds=60)[1].split())
    child.close()
    assert taken < limit <= 2**30


class Ticking:
    """A clock that goes on by a second each time a run is made."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


def clocked(limit, asked, sides, each):
    now = Ticking()
    clock = Clock(limit, now)

    def run(runs):
        now.seconds += each * runs

    return clock, now, clock.trials(asked, sides, run, 10)


@pytest.mark.parametrize(("each", "begun"), [(1e-6, 1_000), (0.01, 500), (1.0, 10), (100.0, 10)])
def test_the_time_of_a_run_says_with_how_many_an_audit_begins(each, begun):
    clock, _, trials = clocked(20.0, 1_000, 2, each)
    assert trials == (begun if begun != 10 else trials)
    assert trials in [*(1_000 // 2**k for k in range(7)), 10]
    assert trials >= 10
    assert clock.stopped == (Stopped(trials) if trials == 1_000 else Stopped(trials, None, 1_000))
    assert bool(clock.warnings) == (trials < 1_000)


def test_a_day_by_a_slow_clock():
    clock, now, trials = clocked(24 * 3600.0, 1_000_000, 2, 0.05)
    assert trials == 500_000
    assert not clock.over(0)
    now.seconds = 24 * 3600 - 1
    assert not clock.over(1)
    now.seconds += 1
    assert clock.over(2)
    assert clock.stopped == Stopped(500_000, 2, 1_000_000)
    again = Clock(clock.stopped)
    assert again.trials(1_000_000, 2, lambda runs: pytest.fail("nothing is timed"), 10) == 500_000
    assert [again.over(looks) for looks in (0, 1, 2)] == [False, False, True]
    assert again.warnings == clock.warnings


def checked(limit, each, asked=8, batches=6, call=1):
    """Return a clock and the runs that it leaves for a batch of checks, whose runs take so long each."""
    now = Ticking()
    clock = Clock(limit, now)

    def first():
        now.seconds += each * call
        return each

    return clock, now, clock.checks(asked, batches, first, call)


@pytest.mark.parametrize(
    ("limit", "each", "call", "left"),
    [(None, 9.0, 1, 8), (60.0, 0.01, 1, 8), (10.0, 0.1, 1, 3), (10.0, 1.0, 1, 0), (10.0, 0.1, 8, 0), (30.0, 0.1, 8, 8)],
)
def test_checks_get_a_part_of_the_time(limit, each, call, left):
    clock, now, runs = checked(limit, each, call=call)
    assert runs == left
    assert bool(clock.warnings) == (left < 8)
    assert clock.stopped.checks == (left if left < 8 else UNSET)
    if left < 8:
        assert now.seconds + 6 * left * each <= 0.2 * limit + 2 * each * call  # a second call where there is time
        again = Clock(clock.stopped)
        assert again.checks(8, 6, lambda: pytest.fail("nothing is timed"), call) == left
        assert again.warnings == clock.warnings


def test_a_search_that_the_time_ends_is_ended_at_the_same_step_again():
    now = Ticking()
    clock = Clock(10.0, now)
    assert clock.begins_search()
    now.seconds = 4.0
    assert not clock.searched(3, 0.5)
    assert clock.begins_search()
    assert not clock.searched(0, 0.5)
    assert clock.searched(1, 1.5)  # the next step would end at 5.5, after half of the time
    assert not clock.begins_search()
    assert clock.stopped.searched == (2, 1)
    clock.trials(100, 2, lambda runs: None, 10)
    again = Clock(clock.stopped)
    again.begins_search()
    assert not again.searched(100, 0.0)
    again.begins_search()
    assert [again.searched(steps, 0.0) for steps in (0, 1)] == [False, True]
    assert not again.begins_search()


@pytest.mark.parametrize(
    ("passed", "seen", "halved"), [(1.0, 0.01, 0), (1.0, 0.1, 2), (8.0, 0.01, 4), (20.0, 0.01, 10)]
)
def test_the_runs_that_decide_are_halved_before_the_first_of_them(passed, seen, halved):
    now = Ticking()
    clock = Clock(10.0, now)

    def run(runs):
        now.seconds += 0.01 * runs

    clock.trials(1_000, 2, run, 10)
    now.seconds = passed
    clock.confirm(1_000 if passed > 1 else 800, seen)
    assert (clock.stopped.halved or 0) == halved
    looks = clock.all_looks(64)
    assert looks[-1][0].stop == max(1, 64 // 2**halved)
    assert sum(share for _, share in looks) == pytest.approx(1)
    for _ in clock.looks(64):
        pass
    assert (clock.stopped.looks is None) == (halved == 0 and passed < 10)
    again = Clock(clock.stopped)
    again.confirm(1_000, 99.0)
    assert again.all_looks(64) == looks
    assert len(list(again.looks(64))) == (clock.stopped.looks or 3)


def test_a_look_that_would_end_too_late_is_not_begun():
    now = Ticking()
    clock = Clock(10.0, now)
    made = []
    for chunks, _ in clock.looks(100):
        now.seconds += 0.15 * (chunks.stop - chunks.start)
        made.append(chunks.stop)
    assert made == [25, 50]  # the last one would end after 15 s
    assert clock.stopped.looks == 2


def test_an_audit_without_time_for_checks_says_so_and_is_made_again():
    given = {"epsilon": 0.9, "trials": 1_600, "sequential": False}
    found = dpaudit.audit_privacy(
        noise,
        PAIR,
        **grouped(**given, execution=dpaudit.Execution(time_limit=Stopped(100, 2, 1_600, 0, UNSET, UNSET, 1))),
    )
    assert found.stopped == Stopped(100, 2, 1_600, 0, UNSET, UNSET, 1)
    assert {check.answer for check in found.checks} == {"not asked"}
    assert "no runs for the checks of randomness and state" in "".join(found.warnings)
    assert found == dpaudit.audit_privacy(
        noise, PAIR, **grouped(**given, execution=dpaudit.Execution(time_limit=found.stopped))
    )
    assert dpaudit.PrivacyFinding.from_dict(found.to_dict()) == found


def test_the_looks_share_the_error():
    assert sum(SHARES) == pytest.approx(1, abs=1e-15)
    assert (len(SHARES), LOOKS[-1]) == (len(LOOKS), 1)


@cache
def unhurried(sequential, limit):
    given = {"epsilon": 0.9, "trials": 1_600, "sequential": sequential, "confidence": 0.99}
    return dpaudit.audit_privacy(noise, PAIR, **grouped(**given, execution=dpaudit.Execution(time_limit=limit)))


@pytest.mark.parametrize(
    ("looks", "sequential"), by_turns([(1, False), (1, True), (2, True), (2, False), (None, False), (None, True)])
)
def test_an_audit_that_the_clock_stopped_is_a_valid_finding_and_is_made_again(sequential, looks):
    found = unhurried(sequential, Stopped(1_600, looks))
    assert found.stopped == Stopped(1_600, looks)
    assert dpaudit.PrivacyFinding.from_dict(found.to_dict()) == found
    assert found == unhurried.__wrapped__(sequential, found.stopped)  # made again
    assert any("at look" in text for text in found.warnings) == (looks is not None)
    whole = unhurried(sequential, None)
    if sequential:
        assert found.confirmation_trials <= whole.confirmation_trials
    else:
        part = {1: 0.25, 2: 0.5, None: 1}[looks]
        assert found.confirmation_trials == pytest.approx(whole.confirmation_trials * part, abs=2)  # whole chunks
        share = {1: SHARES[0], 2: SHARES[1], None: SHARES[2]}[looks]
        assert sum(test.error for test in found.tests) == pytest.approx(0.01 * share)
    assert found.epsilon_lower <= whole.epsilon_lower
    assert "stopped" not in whole.to_dict()


def test_a_time_limit_ends_an_audit_of_slow_runs():
    def slow(bit, rng):
        time.sleep(0.001)  # a million of them take longer than the limit
        return response(bit, rng)

    began = time.monotonic()
    found = dpaudit.audit_privacy(slow, PAIR, epsilon=0.1, trials=10**6, execution=dpaudit.Execution(time_limit=2.0))
    assert time.monotonic() - began < 30  # without a limit it would take an hour
    assert found.trials < 10**5
    assert found.stopped.trials == found.trials
    assert any("asked for" in text for text in found.warnings)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"timeout": 0}, r"timeout must be in \(0, 1e\+07\), got 0"),
        ({"timeout": float("nan")}, "timeout must be in"),
        ({"timeout": "1"}, "timeout must be in"),
        ({"time_limit": -1}, r"time_limit must be in \(0, inf\), got -1"),
        ({"timeout_is": "nothing"}, "timeout_is must be one of output, error; got 'nothing'"),
    ],
)
def test_bad_limits_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        dpaudit.audit_privacy(response, PAIR, **grouped(epsilon=1, **given))


def test_a_system_without_forks_refuses_with_a_word(monkeypatch):
    monkeypatch.delattr(os, "fork")
    with pytest.raises(InputError, match="timeout needs a system on which processes fork"):
        Timeout(1.0)


def test_limits_of_the_command_line_and_of_a_project(capsys, tmp_path, monkeypatch):
    # From its fifth run on it takes longer than the limit.
    (tmp_path / "mine.py").write_text(
        "import itertools, time\nPAIRS = [(0, 1)]\nCALLS = itertools.count()\n"
        "def hangs(bit, rng):\n    time.sleep(60 * (next(CALLS) > 3))\n"
    )
    monkeypatch.chdir(tmp_path)
    from dpaudit.app import main

    (tmp_path / "audit.toml").write_text(
        '[[audit]]\nname = "a"\nmechanism = "mine.py:hangs"\nepsilon = 1\ntrials = 100\ntimeout = 0.5\n'
        'timeout_is = "error"\ntime_limit = 60\n'
    )
    assert main(["check", "--quiet"]) == 2
    assert "took longer than 0.5 s" in capsys.readouterr().out


def test_a_mechanism_that_ends_its_process_fails_alone_in_a_check(capsys, tmp_path, monkeypatch):
    # One of the others takes longer than its limit.
    (tmp_path / "mine.py").write_text(
        "import os, time\nPAIRS = [(0, 1)]\n"
        "def leaves(bit, rng):\n    return os._exit(0)\n"
        "def hangs(bit, rng):\n    time.sleep(600)\n"
        "def noisy(bit, rng):\n    return rng.random() < 0.5\n"
    )
    entry = '[[audit]]\nname = "{0}"\nmechanism = "mine.py:{0}"\nepsilon = 1\ntrials = 100\ntimeout_is = "error"\n'
    # A limit of the command line is for audits whose settings have none.
    entries = "".join(map(entry.format, ("leaves", "hangs", "noisy")))
    (tmp_path / "audit.toml").write_text(entries + "timeout = 100\n")
    monkeypatch.chdir(tmp_path)
    from dpaudit.app import main

    assert main(["check", "--quiet", "--timeout", "0.5", "--json"]) == 2
    leaves, hangs, noisy = map(json.loads, capsys.readouterr().out.splitlines())
    assert "ended its process (exit status 0), on the data of pairs[0]" in leaves["why"]
    assert "took longer than 0.5 s, on the data of pairs[0]" in hangs["why"]
    assert noisy["verdict"] != "failed"
    assert main(["check", "leaves", "noisy", "--quiet", "--json"]) == 2
    leaves, noisy = map(json.loads, capsys.readouterr().out.splitlines())
    assert leaves["why"] == "the mechanism leaves ended its process (exit status 0), on the data of pairs[0]"
    assert noisy["verdict"] != "failed"


def test_certificates_and_replays_have_a_timeout(capsys, tmp_path, monkeypatch):
    # What hangs takes longer than the limit.
    (tmp_path / "mine.py").write_text(
        "import time\nPAIRS = [(0, 1)]\n"
        "def leaks(bit, rng):\n    return bit\n"
        "def hangs(bit, rng):\n    time.sleep(600)\n"
        "def apart(bit, other):\n    return abs(bit - other)\n"
    )
    monkeypatch.chdir(tmp_path)
    from dpaudit.app import main

    words = ["privacy", "mine.py:leaks", "--epsilon", "1", "--trials", "400", "--quiet", "--timeout", "60"]
    assert main([*words, "--certificate", "c.json"]) == 1
    assert main(["replay", "c.json", "mine.py:leaks", "--timeout", "60"]) == 3  # whether bits are neighbours is open
    words = ["replay", "c.json", "mine.py:leaks", "--timeout", "60", "--metric", "mine.py:apart"]
    assert main(words) == 1
    capsys.readouterr()
    assert main(["replay", "c.json", "mine.py:hangs", "--timeout", "0.3", "--timeout-is", "error"]) == 2
    assert "a run of the mechanism hangs took longer than 0.3 s, on " in capsys.readouterr().err


def test_integers_that_python_does_not_write_in_decimal_digits_are_outputs_and_inputs_like_others() -> None:
    def leaking(data: int, rng: np.random.Generator) -> int:
        return 10**5000 + data % 10 + int(rng.integers(2))

    finding = dpaudit.audit_privacy(
        leaking, [(10**6000, 10**6000 + 1)], epsilon=1.0, trials=1_000, execution=dpaudit.Execution(progress=False)
    )
    assert finding.verdict == "violation"
    assert "integer of 16610 bits with digest" in str(finding)
    assert dpaudit.PrivacyFinding.from_dict(finding.to_dict()) == finding


LIBRARY = """
import queue, threading

asked = queue.Queue()
threads = []

def serve():
    while True:
        number, answer = asked.get()
        answer.put(number)

def ask(number):
    if not threads:
        threads.append(threading.Thread(target=serve, daemon=True))
        threads[0].start()
    answer = queue.Queue()
    asked.put((number, answer))
    return answer.get()

def mechanism(x, rng):
    return ask(x) + rng.laplace()
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Return a library whose thread is at work here, for which calls wait for ever in a copy of this process."""
    (tmp_path / "library_with_a_thread.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(tmp_path)
    found = importlib.import_module("library_with_a_thread")
    assert found.ask(3) == 3
    yield found
    del sys.modules["library_with_a_thread"]


def test_runs_that_wait_in_a_copy_for_a_thread_are_made_in_a_fresh_interpreter(library):
    found = dpaudit.audit_privacy(library.mechanism, PAIR, epsilon=1, trials=200, timeout=2)
    assert found == dpaudit.audit_privacy(library.mechanism, PAIR, epsilon=1, trials=200)


def test_a_time_limit_ends_runs_that_never_answer(library):
    with pytest.raises(RunFault, match=r"gave no answer in \S+ s, the time limit of the audit.*a library with threads"):
        dpaudit.audit_privacy(
            library.mechanism, PAIR, epsilon=1, trials=200, timeout=600, execution=dpaudit.Execution(time_limit=1.0)
        )


def test_libraries_whose_threads_a_copy_lacks_are_known(monkeypatch):
    backends = types.SimpleNamespace(_backends={})
    for name in children.LIBRARIES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "jax._src.xla_bridge", backends)
    assert children.waiting_libraries() == ()
    monkeypatch.setitem(sys.modules, "jax", types.SimpleNamespace())
    assert children.waiting_libraries() == ()  # it has computed nothing
    backends._backends["cpu"] = object()
    monkeypatch.setitem(sys.modules, "tensorflow", types.SimpleNamespace())
    assert children.waiting_libraries() == ("jax", "tensorflow")


@pytest.mark.parametrize("batched_too", [False, True])
def test_a_fresh_interpreter_makes_the_same_runs(batched_too, monkeypatch):
    monkeypatch.setattr(children, "LIBRARIES", ("json",))
    factor = 2  # of the session: the function travels with what it refers to

    def one(x, rng):
        return factor * x + rng.laplace()

    def many(x, rng, size):
        return factor * x + rng.laplace(size=size)

    given = {"epsilon": 1, "trials": 300, "batched": batched_too}
    mechanism = many if batched_too else one
    found = dpaudit.audit_privacy(mechanism, PAIR, **grouped(**given, timeout=60))
    assert found == dpaudit.audit_privacy(mechanism, PAIR, **grouped(**given))


def test_what_a_fresh_interpreter_says_of_its_end(monkeypatch):
    monkeypatch.setattr(children, "LIBRARIES", ("json",))
    with pytest.raises(RunFault, match=r"ended its process \(exit status 4\), on the data of"):
        dpaudit.audit_privacy(lambda x, rng: os._exit(4), PAIR, epsilon=1, trials=100, timeout=60)

    def slow(x, rng):
        time.sleep(60 if rng.random() < 0.05 else 0)

    with pytest.raises(RunFault, match=r"a run of the mechanism .* took longer than 0.5 s"):
        dpaudit.audit_privacy(
            slow, PAIR, epsilon=1, trials=500, timeout=0.5, execution=dpaudit.Execution(timeout_is="error")
        )


def test_what_cannot_be_sent_to_a_fresh_interpreter_runs_in_a_copy(monkeypatch):
    monkeypatch.setattr(children, "LIBRARIES", ("json",))
    lock = threading.Lock()

    def locked(x, rng):
        with lock:
            return x + rng.laplace()

    given = {"epsilon": 1, "trials": 100}
    assert dpaudit.audit_privacy(locked, PAIR, **grouped(**given, timeout=60)).verdict


def test_silence_is_measured_from_the_last_answer(monkeypatch):
    now = Ticking()
    monkeypatch.setattr(processes, "time", types.SimpleNamespace(monotonic=now))
    with processes.listening(10.0):
        now.seconds = 11.0
        assert processes.silent_for_too_long(0.0) is None  # runs under way may end
        now.seconds = 12.5
        assert processes.silent_for_too_long(0.0) == 10.0
        assert processes.silent_for_too_long(5.0) is None
    assert processes.silent_for_too_long(0.0) is None


def test_a_step_without_time_is_left_out_and_said_and_so_it_is_again():
    now = Ticking()
    clock = Clock(10.0, now)
    assert clock.pairs(0.9)
    assert clock.pairs(50.0)  # decided once
    assert clock.affords(END, 3.0)
    clock = Clock(10.0, now)
    assert not clock.pairs(1.1)
    now.seconds = 10.5
    assert not clock.affords(END, 0.6)
    assert clock.stopped.left_out == (PAIRS, END)
    assert [text for text in clock.warnings if "pairs of numbers" in text or "runs at the end" in text]
    again = Clock(clock.stopped, now)
    assert not again.pairs(0.0)
    assert not again.affords(END, 0.0)
    assert again.stopped.left_out == (PAIRS, END)
    unlimited = Clock(None, now)
    assert unlimited.pairs(1e9)
    assert unlimited.warnings == ()


def test_what_reading_an_output_takes_counts_among_the_trials():
    now = Ticking()
    clock = Clock(10.0, now)

    def run(runs):
        now.seconds += 1e-4 * runs

    assert clock.trials(100_000, 2, run, 4, read=lambda: 0.1) * 0.2 <= 7.0
    other = Clock(10.0, now)
    assert other.trials(100_000, 2, run, 4) > 10_000


def test_the_time_that_reading_an_output_takes_is_measured_without_what_any_number_takes(monkeypatch):
    claim = types.SimpleNamespace(claim=types.SimpleNamespace(epsilon=1.0))
    texts = ["ab c" * 20_000 + str(number) for number in range(6)]
    now = Ticking()
    seconds = {"each call": 0.5, "each output": 0.01}

    def reads(left, right, *_, **__):
        now.seconds += seconds["each call"] + seconds["each output"] * (len(left) + len(right))
        return screened_discretizers(left, right, *_, **__)

    monkeypatch.setattr(fixed_design, "time", types.SimpleNamespace(perf_counter=now))
    monkeypatch.setattr(fixed_design, "screened_discretizers", reads)
    assert reading_seconds(claim, texts) == pytest.approx(fixed_design.READING * 0.01)
    assert reading_seconds(claim, texts[:3]) == 0.0  # too few to measure
    seconds["each output"] = 1e-4  # little beside what a measurement is off
    assert reading_seconds(claim, texts) == 0.0


@pytest.mark.parametrize("own", [False, True])
def test_there_are_no_runs_at_the_end_when_the_time_is_over(own):
    """They may take longer than those before the audit, and were made however late it was."""
    calls, now = itertools.count(), Ticking()

    def mechanism(data, rng):
        next(calls)
        return data + rng.laplace()

    preflight = Preflight(Sampler(as_mechanism(mechanism), 0), (Pair(0.0, 1.0),), 5_000, own)
    clock = Clock(10.0, now)
    preflight.open(clock)
    made = next(calls)
    now.seconds = 11.5
    preflight.close()
    assert next(calls) == made + 1
    assert clock.stopped.left_out == (END,)

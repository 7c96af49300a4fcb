"""Runs that are stopped, meet another run, or go on with code that has changed since."""

from __future__ import annotations

import errno
import fcntl
import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_support import HERE, TOYS, instant_privacy, run  # noqa: F401

from dpaudit.cli import main
from dpaudit.engine import lock, sources
from dpaudit.engine.events import TaskFailed, TaskFinished
from dpaudit.engine.isolation import isolated
from dpaudit.engine.store import FILENAME, load_run
from dpaudit.errors import InputError
from dpaudit.reporters import html
from dpaudit.workers import WorkerDied

SLEEPY = """
import time
from toy_learners import ToyBare, ToyCoin

class Sleepy(ToyBare):
    id = "toy-sleepy"
    def law(self, sample):
        time.sleep(60)

class Sleepier(Sleepy):
    id = "toy-sleepier"

LEARNERS = (ToyCoin, Sleepy, Sleepier)
"""


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_told_to_stop_keeps_its_results_and_ends_its_workers(tmp_path, stop):
    (tmp_path / "sleepy.py").write_text(SLEEPY)
    words = ["run", "toy-coin", "toy-sleepy", "toy-sleepier", "--profile", "quick", "--no-html", "--quiet"]
    words += ["--jobs", "2", "--out", str(tmp_path / "out"), "--learners", str(tmp_path / "sleepy.py")]
    process = subprocess.Popen(
        [sys.executable, "-m", "dpaudit", *words],
        env={**os.environ, "PYTHONPATH": str(HERE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Whoever runs the tests in the background has SIGINT ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    path, deadline = tmp_path / "out" / FILENAME, time.monotonic() + 40
    while not path.exists() or path.read_bytes().count(b"\n") < 3:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    # A terminal sends Ctrl-C to the workers as well.
    os.killpg(process.pid, stop) if stop == signal.SIGINT else process.send_signal(stop)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 2
    assert out == ""
    # After a death joblib's resource tracker may warn, in two lines, of what it found gone.
    ours = [line for line in err.splitlines() if "resource_tracker" not in line]
    lines = [line for line in ours if not line.startswith("dpaudit: note")]
    assert len(lines) == 1, err
    line = lines[0]
    assert line.startswith("dpaudit: error: interrupted; ")
    assert line.endswith(f"results are kept in {path}; --resume goes on")
    assert load_run(path)["results"]  # the one that was being written may be taken back
    deadline = time.monotonic() + 5
    while lives(process.pid):  # nobody may be left in the session
        assert time.monotonic() < deadline
        time.sleep(0.02)


def lives(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


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


def test_a_folder_is_held_by_one_run_only_and_by_no_dead_one(capsys, tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from dpaudit.engine.lock import held\n"
        "with held(Path(sys.argv[1])): print(os.getpid(), flush=True); sys.stdin.readline(); os._exit(9)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        pid = other.stdout.readline().strip()
        status, _, err = run(capsys, tmp_path, "toy-coin")
        assert status == 2
        assert f"another run (process {pid}) is writing to {tmp_path}" in err
        assert not (tmp_path / FILENAME).exists()
        other.communicate("\n")
    assert (tmp_path / lock.FILENAME).exists()  # it died without tidying up
    assert run(capsys, tmp_path, "toy-coin")[0] == 0
    assert not (tmp_path / lock.FILENAME).exists()


def test_a_lock_that_was_removed_meanwhile_is_not_the_lock(tmp_path, monkeypatch):
    taken, flock = [], fcntl.flock

    def take(handle, operation):
        if operation & fcntl.LOCK_EX:
            taken.append(os.fstat(handle))
            if len(taken) == 1:  # its holder ends between our opening and our locking it
                (tmp_path / lock.FILENAME).unlink()
        return flock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", take)
    with lock.held(tmp_path):
        assert os.path.samestat(taken[-1], (tmp_path / lock.FILENAME).stat())
    assert len(taken) == 2


def test_a_lock_names_its_holder_to_everybody_who_comes(tmp_path):
    with lock.held(tmp_path):
        for _ in range(2):
            with pytest.raises(InputError, match=rf"\(process {os.getpid()}\).*choose another --out"):
                lock.held(tmp_path).__enter__()


@pytest.mark.parametrize("contents", [None, "the boss's\n"])
def test_a_lock_that_is_a_symbolic_link_overwrites_nothing(tmp_path, contents):
    target = tmp_path / "target"
    if contents is not None:
        target.write_text(contents)
    (tmp_path / lock.FILENAME).symlink_to(target)
    with pytest.raises(InputError, match=r"run\.lock is a symbolic link.*remove it"), lock.held(tmp_path):
        pass
    assert (target.read_text() if target.exists() else None) == contents
    assert (tmp_path / lock.FILENAME).is_symlink()


@pytest.mark.parametrize("error", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_where_a_file_system_has_no_locks_runs_go_on_without(tmp_path, monkeypatch, error):
    def refuse(handle, operation):
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with lock.held(tmp_path):
        pass
    assert not (tmp_path / lock.FILENAME).exists()


def test_a_lock_that_fails_for_another_reason_is_told(tmp_path, monkeypatch):
    def refuse(handle, operation):
        raise OSError(errno.EIO, "disk on fire")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OSError, match="disk on fire"), lock.held(tmp_path):
        pass


def learner_file(folder: Path, text: str = "") -> str:
    folder.mkdir(exist_ok=True)
    (folder / "mine.py").write_text(
        f"from toy_learners import ToyCoin\nclass M(ToyCoin):\n    id = 'toy-mine'\n{text}LEARNERS = (M,)\n"
    )
    return str(folder / "mine.py")


def test_a_run_is_not_resumed_by_code_that_has_changed(capsys, tmp_path):
    words = ["run", "toy-mine", "--profile", "quick", "--jobs", "1", "--no-html", "--quiet", "--out"]
    words += [str(tmp_path / "out"), "--learners", TOYS, "--learners"]
    assert main([*words, learner_file(tmp_path / "a")]) == 0
    assert main([*words, learner_file(tmp_path / "b"), "--resume"]) == 0  # the same code in another place
    assert main([*words, learner_file(tmp_path / "a", "    x = 1\n"), "--resume"]) == 2
    assert "the sources have changed since: mine.py. " in capsys.readouterr().err
    stored = load_run(tmp_path / "out")
    assert sorted(stored["header"]["sources"]) == ["dpaudit", "mine.py", "toy_learners.py"]
    assert stored["header"]["sources"]["mine.py"] in html.render(stored)
    # A file from before digests were kept says nothing of them.
    path = tmp_path / "out" / FILENAME
    lines = path.read_text().splitlines(keepends=True)
    header = {name: value for name, value in json.loads(lines[0]).items() if name != "sources"}
    path.write_text("".join([json.dumps(header) + "\n", *lines[1:]]))
    assert main([*words, learner_file(tmp_path / "a"), "--resume"]) == 0


def test_a_digest_is_of_names_and_contents_of_the_modules_and_of_nothing_else(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder / "inner").mkdir(parents=True)
        for name in ("a.py", "inner/__init__.py", "inner/b.py"):
            (tmp_path / folder / name).write_text(f"n = '{name}'\n")
    before = sources.digest_of(tmp_path / "x")
    assert sources.digest_of(tmp_path / "y") == before
    (tmp_path / "y" / "data.csv").write_text("1")
    (tmp_path / "y" / "results").mkdir()
    (tmp_path / "y" / "results" / "no_package.py").write_text("")
    (tmp_path / "y" / "a.py").write_bytes(b"n = 'a.py'\r\n")
    assert sources.digest_of(tmp_path / "y") == before
    (tmp_path / "y" / "inner" / "b.py").rename(tmp_path / "y" / "inner" / "c.py")
    assert sources.digest_of(tmp_path / "y") != before
    (tmp_path / "x" / "inner" / "b.py").write_text("n = 2\n")
    assert sources.digest_of(tmp_path / "x") != before


def test_digests_of_packages_and_paths_by_name(tmp_path):
    first, second = learner_file(tmp_path / "a"), learner_file(tmp_path / "b", "    x = 1\n")
    modules = ["learners.parities.private", "builtins", "no.such.module"]
    found = sources.sources(modules, [first, second, str(tmp_path / "a")])
    assert sorted(found) == ["a/", "dpaudit", "learners", "mine.py"]
    assert found == sources.sources(["learners.parities.private"], [str(tmp_path / "a"), second, first])
    assert found["mine.py"].count("-") == 1


def test_reports_that_dpaudit_did_not_write_are_kept(capsys, tmp_path):
    for name in ("report.json", "report.html"):
        (tmp_path / name).write_text("the boss's")
    words = ["run", "toy-coin", "--profile", "quick", "--jobs", "1", "--quiet", "--out", str(tmp_path)]
    for _ in range(2):
        assert main([*words, "--learners", TOYS]) == 0
    for name in ("report.json", "report.html"):
        assert (tmp_path / f"{name}.bak").read_text() == "the boss's"
        assert "dpaudit" in (tmp_path / name).read_text()
        assert not (tmp_path / f"{name}.bak2").exists()
    capsys.readouterr()


@pytest.mark.parametrize("text", ["hi\n", '{"a": 1}\n', "[1]\n"])
def test_a_foreign_file_is_no_run_of_dpaudit(tmp_path, capsys, text):
    (tmp_path / FILENAME).write_text(text)
    assert main(["report", str(tmp_path)]) == 2
    assert "dpaudit run" in capsys.readouterr().err

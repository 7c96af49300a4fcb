"""Runs that are stopped, meet another run, or go on with code that has changed since."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_support import HERE, TOYS, instant_privacy, run  # noqa: F401  # acts by being here
from forked import begin
from waiting import has_lines, wait_until

from dpaudit import files as lock
from dpaudit.app import main
from dpaudit.evidence.store import FILENAME, load_run
from dpaudit.report import html

SLEEPY = """
import time
from toy_learners import ToyBare, ToyCoin

class Sleepy(ToyBare):
    id = "toy-sleepy"
    def law(self, sample):
        time.sleep(60)  # longer than the test, which interrupts it

class Sleepier(Sleepy):
    id = "toy-sleepier"

LEARNERS = (ToyCoin, Sleepy, Sleepier)
"""


@pytest.mark.parametrize("stop", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_told_to_stop_keeps_its_results_and_ends_its_workers(tmp_path, stop):
    (tmp_path / "sleepy.py").write_text(SLEEPY)
    words = ["run", "toy-coin", "toy-sleepy", "toy-sleepier", "--profile", "quick", "--no-html", "--quiet"]
    words += ["--jobs", "2", "--out", str(tmp_path / "out"), "--learners", str(tmp_path / "sleepy.py")]
    process = begin("-m", "dpaudit", *words, env={**os.environ, "PYTHONPATH": str(HERE)}, session=True)
    path = tmp_path / "out" / FILENAME
    wait_until(lambda: has_lines(path, 3), seconds=40)
    # A terminal sends Ctrl-C to the workers as well; whoever is impatient, several times.
    for _ in range(3 if stop == signal.SIGINT else 1):
        os.killpg(process.pid, stop) if stop != signal.SIGTERM else process.send_signal(stop)
        time.sleep(0.03)  # signals of one kind that are pending together are one
    out, err = process.communicate(timeout=30)
    assert process.returncode == 128 + stop
    assert out == ""
    # After a death joblib's resource tracker may warn, in two lines, of what it found gone.
    ours = [line for line in err.splitlines() if "resource_tracker" not in line]
    lines = [line for line in ours if not line.startswith("dpaudit: note")]
    assert len(lines) == 2, err
    assert re.fullmatch(
        rf"INTERRUPTED  after \d of \d+ audits; their results are kept in {re.escape(str(path))}", lines[0]
    )
    assert lines[1].startswith("resume       dpaudit run toy-coin toy-sleepy toy-sleepier --profile quick ")
    assert lines[1].endswith(f" --resume --out {tmp_path / 'out'}")
    assert load_run(path).results  # the one that was being written may be taken back
    wait_until(lambda: not lives(process.pid), seconds=5)  # nobody may be left in the session


def lives(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_folder_is_held_by_one_run_only_and_by_no_dead_one(capsys, tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from dpaudit.files import locked_folder\n"
        "with locked_folder(Path(sys.argv[1])): print(os.getpid(), flush=True); sys.stdin.readline(); os._exit(9)"
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
    assert sorted(stored.header.sources) == ["dpaudit", "mine.py", "toy_learners.py"]
    assert stored.header.sources["mine.py"] in html.render(stored)


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


def test_no_memory_is_status_2_and_no_violation(capfd, monkeypatch):
    monkeypatch.setattr("dpaudit.app.application.app.invoke", lambda context: [0] * 2**60)
    assert main(["list"]) == 2
    assert capfd.readouterr().err == "dpaudit: error: there is no memory left\n"

"""Commands make the runs of audited code apart: what it prints, where it goes and what it leaves behind is its own."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest
from forked import ran

MECHANISMS = """
import ctypes, os, threading, time

def prints(data, rng):
    ctypes.CDLL(None).printf(b"of C"); ctypes.CDLL(None).fflush(None); os.write(1, b"of Python")
    return data + int(rng.integers(2))

def goes(data, rng):
    os.chdir("/")
    return data + int(rng.integers(2))

def leaves(data, rng):
    if threading.active_count() < 3:
        threading.Thread(target=time.sleep, args=(600,)).start()
    return data + int(rng.integers(2))

pairs = [(0, 1)]
"""


@pytest.mark.parametrize("mechanism", ["prints", "goes", "leaves"])
def test_a_command_answers_whatever_the_mechanism_does_to_its_process(tmp_path: Path, mechanism: str) -> None:
    (tmp_path / "rude.py").write_text(MECHANISMS)
    words = [
        "privacy",
        f"rude.py:{mechanism}",
        "--pairs",
        "rude.py:pairs",
        "--epsilon",
        "1",
        "--trials",
        "400",
        "--json",
    ]
    began = time.monotonic()
    done = ran("-m", "dpaudit", *words, "--out", "found.json", cwd=tmp_path)
    assert time.monotonic() - began < 200
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["finding"]["verdict"] == "violation"
    assert (tmp_path / "found.json").exists()


AWAY = """
import os
import pandas as pd
os.chdir("away")

def table(data, rng):
    assert os.path.exists("beside.txt")
    return pd.DataFrame({"rows": [float(len(data))], "sum": [sum(data) + rng.laplace()]})

PAIRS = [([0, 1], [0])]
"""


def test_a_module_that_goes_elsewhere_moves_its_runs_alone_and_a_table_can_be_certified(tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "beside.txt").touch()
    (tmp_path / "goes.py").write_text(AWAY)
    audit = ["privacy", "goes.py:table", "--epsilon", "1", "--trials", "400", "--relation", "add-remove-one"]
    for words in (
        [*audit, "--include-data", "--certificate", "shown.json", "--out", "found.json"],
        ["replay", "shown.json", "goes.py:table"],
    ):
        done = ran("-m", "dpaudit", *words, cwd=tmp_path)
        assert done.returncode == 1, done.stderr
    assert "output['rows']" in done.stdout
    assert {"shown.json", "found.json"} <= {one.name for one in tmp_path.iterdir()}


ENDS = """
import os

def ends(data):
    os._exit(3)

def total(data):
    return float(sum(data))

PAIRS = [([0, 3], [0])]
"""


def test_the_function_of_a_sensitivity_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text(ENDS)
    command = ["-m", "dpaudit", "sensitivity", "--claim", "1"]
    for function, status, said in (("ends", 2, "the audit ended its process (exit status 3)"), ("total", 1, "")):
        done = ran(*command, f"sums.py:{function}", cwd=tmp_path)
        assert (done.returncode, said in done.stderr) == (status, True), done.stderr


THREAD = """
import threading, time
threading.Thread(target=time.sleep, args=(600,)).start()

def coin(data, rng):
    return data + int(rng.integers(2))

pairs = [(0, 1)]
"""


def test_a_thread_of_the_imported_file_does_not_keep_the_command(tmp_path: Path) -> None:
    (tmp_path / "rude.py").write_text(THREAD)
    words = ["privacy", "rude.py:coin", "--pairs", "rude.py:pairs", "--epsilon", "1", "--trials", "400"]
    done = ran("-m", "dpaudit", *words, cwd=tmp_path, timeout=120)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("VIOLATION")


@pytest.mark.parametrize("jobs", [pytest.param("1", marks=pytest.mark.full), "2"])
def test_nothing_of_an_output_runs_in_the_command_with_several_workers_either(tmp_path: Path, jobs: str) -> None:
    (tmp_path / "mine.py").write_text(
        "import os\npairs = [(0, 1)]\nhome = os.getcwd()\n"
        "class Out:\n"
        "    def __init__(self, value): self.value = value\n"
        "    def __reduce__(self): return os.system, (f'touch {home}/reduced',)\n"
        "def gives(data, rng): return Out(data + int(rng.integers(2)))\n"
    )
    words = ["privacy", "mine.py:gives", "--pairs", "mine.py:pairs", "--epsilon", "1", "--trials", "400"]
    done = ran("-m", "dpaudit", *words, "--jobs", jobs, cwd=tmp_path)
    assert done.returncode in (0, 1, 3), done.stderr
    assert not (tmp_path / "reduced").exists()


LEARNER = """
import os
from toy_learners import ToyCoin

def end_if_asked():
    if os.path.exists("end"):
        os._exit(3)

class Ends(ToyCoin):
    id = "toy-ends"

    def law(self, sample):
        end_if_asked()
        return super().law(sample)

    def run(self, sample, rng, size):
        end_if_asked()
        return super().run(sample, rng, size)

LEARNERS = (Ends,)
"""


def test_learners_that_are_searched_measured_or_made_again_run_in_a_process_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text(LEARNER)
    measured = ["--alpha", "0.3", "--beta", "0.3"]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    made = ["run", "toy-ends", "--trials", "100", "--quiet", "--no-html", "--out", "run"]

    def status_of(words: list[str]) -> tuple[int, str]:
        done = ran("-m", "dpaudit", *words, "--learners", "ends.py", cwd=tmp_path, env=env)
        return done.returncode, " ".join(done.stderr.split())

    assert status_of(made)[0] == 0
    (tmp_path / "end").touch()
    for words, begins in (
        (["exact", "toy-ends", "--supremum", "--quiet"], "the audit ended its process (exit status 3)"),
        (["sample-complexity", "toy-ends", *measured, "--jobs", "1", "--quiet"], "the audit ended its"),
        (
            ["sample-complexity", "toy-ends", "--along", "gain=1,2,3,4,5,6", *measured, "--quiet"],
            "the audit ended its process",
        ),
        (["verify", "run", "--again", "1"], "was not made: the audit ended its process (exit status 3)"),
    ):
        status, said = status_of(words)
        assert (status, begins in said) == (2, True), said

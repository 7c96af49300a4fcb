"""A command whose process is ended, by what it audits or from outside, says so and leaves nobody behind."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from forked import Forked, begin, ran
from waiting import wait_until

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes do not fork")

CRASHING = """
import ctypes, os, sys

PAIRS = [("good", "bad")]

def noisy(data, rng):
    return rng.random() < 0.6

def crashes(data, rng):
    if data == "bad" and rng.random() < 0.01:
        ctypes.string_at(0)
    return noisy(data, rng)

def leaves(data, rng):
    if data == "bad" and rng.random() < 0.01:
        os._exit(0)
    return noisy(data, rng)

def exits(data, rng):
    if data == "bad" and rng.random() < 0.01:
        sys.exit(0)
    return noisy(data, rng)

def forks(data, rng):
    if data == "bad" and rng.random() < 0.01 and not os.fork():
        return 0
    return noisy(data, rng)

def hangs(data, rng):
    os.write(2, b"%d\\n" % os.getpid())
    int("9" * 4000) ** 10_000_000  # one call of C, for hours

"""


def begun(folder: Path, mechanism: str, *before: str, trials: int = 2_000, **how: Any) -> Forked:
    """Begin an audit of one of the mechanisms."""
    (folder / "crashing.py").write_text(CRASHING)
    code = "; ".join(["import sys", *before, "from dpaudit.app import main", "sys.exit(main())"])
    words = ["privacy", f"crashing.py:{mechanism}", "--epsilon", "1", "--trials", str(trials), "--quiet"]
    return begin("-c", code, *words, cwd=folder, session=True, **how)


def ended(pid: int) -> bool:
    """Say whether a process has ended, also where nobody has waited for it yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize(
    ("mechanism", "told"),
    [
        ("crashes", "the mechanism crashes ended its process (SIGSEGV), on "),
        ("leaves", "the mechanism leaves ended its process (exit status 0), on "),
        ("exits", "the mechanism exits raised SystemExit: 0 ("),
        ("forks", "the mechanism forks forks, and returns in both processes: let the copy end with os._exit(0), on "),
    ],
)
def test_what_ends_the_process_is_told_with_the_input(tmp_path: Path, mechanism: str, told: str) -> None:
    out, err = begun(tmp_path, mechanism).communicate(timeout=120)
    assert (out, err.count(told)) == ("", 1)
    line = next(line for line in err.splitlines() if told in line)
    # Of a copy that runs on beside the process it is left to chance on which of the two inputs it is noticed.
    assert mechanism == "forks" or "on 'bad'" in line or "on the neighbour of pairs[0]" in line
    assert "Traceback" not in err


def test_a_command_that_nothing_ends_has_its_own_status(tmp_path: Path) -> None:
    process = begun(tmp_path, "noisy", trials=400)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (3 if out.startswith("NO EVIDENCE") else 0, "")
    assert out.startswith(("CONSISTENT", "NO EVIDENCE"))


@pytest.mark.skipif(not Path("/proc").exists(), reason="the kernel tells nothing of processes")
def test_the_copy_dies_with_the_command_even_in_a_call_of_c(tmp_path: Path) -> None:
    with begun(tmp_path, "hangs") as process:
        copy = int(process.stderr.readline())
        assert copy != process.pid
        process.kill()
        process.wait()
        wait_until(lambda: ended(copy), seconds=10)


@pytest.mark.parametrize("files", [5, *(pytest.param(few, marks=pytest.mark.full) for few in (6, 7, 8, 9, 10)), 11])
def test_a_command_that_may_open_few_files_has_a_message(tmp_path: Path, files: int) -> None:
    before = "import resource", f"resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))"
    process = begun(tmp_path, "noisy", "from dpaudit.app import main", *before, modules=("dpaudit.app",))
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (2, "")
    assert err.startswith("dpaudit: error: ")
    assert "Traceback" not in err
    assert "mechanism" not in err


def test_a_command_that_has_no_memory_for_a_thread_ends_with_its_status(tmp_path: Path) -> None:
    raises = "threading.Timer.start = lambda self: (_ for _ in ()).throw(RuntimeError)"
    process = begun(tmp_path, "noisy", "import threading", raises, trials=400)
    out, err = process.communicate(timeout=120)
    assert out.startswith(("CONSISTENT", "NO EVIDENCE"))
    assert (process.returncode in (0, 3), err) == (True, "")


@pytest.mark.parametrize(
    "limit",
    [
        pytest.param((), id="runs", marks=pytest.mark.full),
        pytest.param(("--timeout", "60"), id="runs with a limit"),
    ],
)
def test_workers_of_a_pool_which_are_daemonic_have_processes_of_the_mechanism(tmp_path: Path, limit: tuple) -> None:
    (tmp_path / "crashing.py").write_text(CRASHING)
    words = ["privacy", "crashing.py:noisy", "--epsilon", "1", "--trials", "640", "--quiet", "--json", "--jobs", "2"]
    said = [
        ran("-m", "dpaudit", *words, "--no-sequential", *limit, *more, cwd=tmp_path, timeout=120)
        for more in (("--on", "threading"), ("--on", "multiprocessing"))
    ]
    assert said[0].stdout, said[0].stderr
    assert (said[1].returncode, said[1].stdout) == (said[0].returncode, said[0].stdout), said[1].stderr


def test_a_file_that_ends_the_process_while_it_is_loaded_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("import os\nos._exit(0)\n")
    process = begin("-m", "dpaudit", "privacy", "ends.py:f", "--epsilon", "1", cwd=tmp_path, session=True)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (2, "")
    assert "ends.py could not be loaded: SystemExit: os._exit(0)" in " ".join(err.split())

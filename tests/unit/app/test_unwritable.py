"""A verdict is printed whatever cannot be written after it: certificates, reports, saved runs, standard output."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dpaudit
from dpaudit import certificates, files
from dpaudit.app import main
from dpaudit.errors import InputError

MODULE = """
import warnings

PAIRS = [([0.0], [1.0])]


def wrong(data, rng):
    return data[0] + rng.laplace(scale=0.25)


def right(data, rng):
    return data[0] + rng.laplace(scale=1.0)


def warning(data, rng):
    warnings.warn("red \\x1b[31m and \\x9b2J")
    return data[0] + rng.laplace(scale=1.0)
"""
SETTINGS = """
[[audit]]
name = "wrong"
mechanism = "m.py:wrong"
epsilon = 1
trials = 1000
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "m.py").write_text(MODULE)
    (tmp_path / "audit.toml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", fail)


def called(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(words)
    shown = capsys.readouterr()
    return status, shown.out, " ".join(shown.err.split())


AUDIT = ("privacy", "m.py:wrong", "--epsilon", "1", "--trials", "1000", "--quiet")
RIGHT = ("privacy", "m.py:right", "--epsilon", "1", "--trials", "1000", "--quiet")


def test_a_certificate_that_is_not_made_leaves_the_violation(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any, **named: Any) -> None:
        raise InputError("the pair is not found again; give more {trials}", names=("trials",))

    monkeypatch.setattr(certificates, "make", fail)
    status, out, err = called(capsys, *AUDIT, "--certificate", "c.json")
    assert status == 1
    assert out.startswith("VIOLATION ")
    assert "no certificate is written, and the violation stands: the pair is not found again; give more --trials" in err
    assert not Path("c.json").exists()


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize("option", ["--certificate", "--out"])
@pytest.mark.parametrize("before", [None, "what was there, of dpaudit"])
def test_a_full_disk_leaves_the_violation_and_the_old_file(
    capsys: pytest.CaptureFixture[str], option: str, before: str | None
) -> None:
    path = Path("written.json")
    if before is not None:
        path.write_text(before)
    status, out, err = called(capsys, *AUDIT, option, str(path))
    assert status == 1
    assert out.startswith("VIOLATION ")
    assert "written.json: No space left on device; the file was not written, what is printed stands" in err
    assert (path.read_text() if path.exists() else None) == before
    assert not list(Path().glob("*.tmp"))


@pytest.mark.usefixtures("full_disk")
def test_without_a_violation_the_status_says_that_a_file_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = called(capsys, *RIGHT, "--out", "report.html")
    assert status == 2
    assert out.startswith("CONSISTENT ")
    assert "report.html: No space left on device" in err


@pytest.mark.usefixtures("full_disk")
def test_a_check_prints_its_table_before_it_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = called(capsys, "check", "--quiet")
    assert status == 1
    assert "VIOLATION" in out
    assert "check.json: No space left on device" in err


@pytest.mark.usefixtures("full_disk")
def test_new_leaves_no_half_of_what_it_begins(capsys: pytest.CaptureFixture[str]) -> None:
    before = {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    status, out, err = called(capsys, "new", "mechanism", "mean")
    assert status == 2
    assert out == ""
    assert "mean.py: No space left on device" in err
    assert {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before


def test_an_audit_goes_on_where_its_file_takes_no_more_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync
    written: list[int] = []

    def fail_later(handle: int) -> None:
        written.append(handle)
        if len(written) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    plain = dpaudit.audit_privacy(
        _right, [(0.0, 1.0)], epsilon=1.0, trials=400, execution=dpaudit.Execution(sequential=True)
    )
    monkeypatch.setattr("dpaudit.audit.saved_runs.os.fsync", fail_later)
    finding = dpaudit.audit_privacy(
        _right, [(0.0, 1.0)], epsilon=1.0, trials=400, execution=dpaudit.Execution(continued="runs.jsonl")
    )
    assert finding.continued
    assert finding.continued.unwritten == "runs.jsonl: No space left on device"
    assert (finding.verdict, finding.epsilon_lower) == (plain.verdict, plain.epsilon_lower)
    assert "the last runs are not in it: runs.jsonl: No space left" in finding.summary()
    assert Path("runs.jsonl").read_bytes().count(b"\n") == 3
    # What is in the file is whole, so that a later audit goes on from it.
    monkeypatch.setattr("dpaudit.audit.saved_runs.os.fsync", sync)
    again = dpaudit.audit_privacy(
        _right, [(0.0, 1.0)], epsilon=1.0, trials=400, execution=dpaudit.Execution(continued="runs.jsonl")
    )
    assert again.continued
    assert not again.continued.unwritten

    written.clear()
    monkeypatch.setattr("dpaudit.audit.saved_runs.os.fsync", fail_later)
    status, out, err = called(capsys, *AUDIT, "--continue", "others.jsonl")
    assert status == 1
    assert out.startswith("VIOLATION ")
    assert "others.jsonl: No space left on device; the runs made since are in no file" in err


def _right(number: float, rng: Any) -> float:
    return number + float(rng.laplace(scale=1.0))


def ran(words: tuple[str, ...], shell: str, **settings: str) -> subprocess.CompletedProcess[str]:
    command = f'exec "$0" -m dpaudit {" ".join(words)} {shell}'
    program = ["sh", "-c", command, sys.executable]
    return subprocess.run(program, capture_output=True, text=True, env={**os.environ, **settings})


@pytest.mark.parametrize(
    "shell", [*(pytest.param(one, marks=pytest.mark.full) for one in (">&-", "2>&-")), "<&- >&- 2>&-"]
)
def test_closed_streams_are_no_faults(shell: str) -> None:
    done = ran((*AUDIT, "--jobs", "1"), shell)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert Path("m.py").read_text() == MODULE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is of Linux")
def test_a_full_standard_output_is_named_and_leaves_the_status_of_a_violation() -> None:
    done = ran(AUDIT, ">/dev/full")
    assert done.returncode == 1
    assert "standard output: No space left on device; what was found is not shown whole" in done.stderr
    assert "Traceback" not in done.stderr
    assert ran(RIGHT, ">/dev/full").returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is of Linux")
@pytest.mark.parametrize("words", [("--help",), ("--version",), ("privacy", "--help"), ("help", "words")], ids=" ".join)
def test_a_page_of_help_that_is_not_shown_is_said_to_be_lost(words: tuple[str, ...]) -> None:
    done = ran(words, ">/dev/full")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "dpaudit: error: standard output: No space left on device; what was found is not shown whole"
    ]


PLACES = {
    "nowhere/runs.jsonl": "a file in a folder that exists",
    ".": "a file, got '.'; that is a folder",
    "/dev/full": "a file, got '/dev/full'; that is a device or a pipe",
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is of Linux")
@pytest.mark.parametrize("place", PLACES)
def test_what_cannot_be_a_file_of_runs_is_bad_input(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match=f"^continued must be {PLACES[place]}"):
        dpaudit.audit_privacy(
            _right, [(0.0, 1.0)], epsilon=1.0, trials=400, execution=dpaudit.Execution(continued=place)
        )
    status, _, err = called(capsys, *AUDIT, "--continue", place)
    assert (status, f"--continue must be {PLACES[place]}" in err) == (2, True)


def test_an_ascii_locale_is_no_fault() -> None:
    done = ran((*AUDIT, "-v"), "", LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done.returncode == 1
    assert done.stdout.startswith("VIOLATION ")
    assert "Traceback" not in done.stderr


def test_what_a_terminal_could_obey_in_a_warning_is_escaped() -> None:
    done = ran(("privacy", "m.py:warning", "--epsilon", "1", "--trials", "300"), "")
    assert r"UserWarning: red \x1b[31m and \x9b2J" in done.stderr
    assert not {"\x1b", "\x9b"} & {*done.stderr}


def test_special_files_are_written_to_and_not_replaced(tmp_path: Path) -> None:
    finding = dpaudit.audit_privacy(_right, [(0.0, 1.0)], epsilon=1.0, trials=300)
    target = tmp_path / "target.json"
    target.touch()
    (tmp_path / "link.json").symlink_to(target)
    finding.save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads(target.read_text())["verdict"] == finding.verdict
    finding.save(os.devnull)
    assert not Path(os.devnull).is_file()

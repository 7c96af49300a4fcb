"""Temporary folders of dead processes are swept, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import pytest

from dpaudit.cli import main
from dpaudit.running.scratch import ORPHANED_SECONDS, scratch_folder

KILLED = (
    "import os, signal\n"
    "from dpaudit.running.scratch import scratch_folder\n"
    "with scratch_folder() as folder:\n"
    "    print(folder, flush=True)\n"
    "    input()\n"
    "    os.kill(os.getpid(), signal.SIGKILL)\n"
)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_folder_is_kept_while_its_owner_lives_and_swept_once_it_is_killed(temporary):
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        theirs = other.stdout.readline().strip()
        with scratch_folder() as mine:
            assert os.path.isdir(theirs)
            assert sorted(map(str, temporary.iterdir())) == sorted([theirs, str(mine)])
        other.communicate("\n")
    assert os.path.isdir(theirs)  # it was killed
    with scratch_folder() as mine:
        assert list(temporary.iterdir()) == [mine]
    assert list(temporary.iterdir()) == []


def test_what_is_not_known_to_be_left_behind_stays(temporary):
    old = time.time() - ORPHANED_SECONDS - 60
    for name in ("dpaudit-young", "dpaudit-old", "dpaudit-open"):
        (temporary / name).mkdir(mode=0o700)
    (temporary / "dpaudit-open").chmod(0o777)  # whoever may write there may have put a link there
    (temporary / "dpaudit-file").write_text("mine")
    (temporary / "elsewhere").mkdir()
    (temporary / "dpaudit-link").symlink_to(temporary / "elsewhere")
    for name in ("dpaudit-old", "dpaudit-open", "dpaudit-file"):
        os.utime(temporary / name, (old, old))
    with scratch_folder():
        pass
    left = sorted(path.name for path in temporary.iterdir())
    assert left == ["dpaudit-file", "dpaudit-link", "dpaudit-open", "dpaudit-young", "elsewhere"]


def test_a_run_sweeps_also_where_it_needs_no_folder_itself(temporary, tmp_path_factory):
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        theirs = other.stdout.readline().strip()
        other.communicate("\n")
    assert os.path.isdir(theirs)
    words = ["run", "point-consistent", "--profile", "quick", "--no-html", "--quiet", "--backend", "sequential"]
    assert main([*words, "--out", str(tmp_path_factory.mktemp("out"))]) == 0
    assert list(temporary.iterdir()) == []

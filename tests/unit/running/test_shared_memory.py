"""Memory that workers share: its owner's alone, and removed by the next command where its process was killed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpaudit.running import shared_memory
from dpaudit.running.processes import can_fork

pytestmark = pytest.mark.skipif(not can_fork(), reason="on Windows joblib's own folder is used")

SCRIPT = """
import sys, time
import numpy as np
from pathlib import Path
from dpaudit.running import shared_memory
from dpaudit.running.workers import spread

shared_memory.IN_MEMORY, shared_memory.ROOM = Path(sys.argv[1]), 0


def slow(data):
    print("mapped", flush=True, file=sys.stderr)
    time.sleep(60)


if __name__ == "__main__":
    from functools import partial
    data = np.full(400_000, 8675309.25)
    list(spread([partial(slow, data)] * 2, n_jobs=2))
"""


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(shared_memory, "IN_MEMORY", tmp_path)
    monkeypatch.setattr(shared_memory, "ROOM", 0)
    monkeypatch.setattr(shared_memory, "_held", {})
    yield tmp_path
    for _, lock in shared_memory._held.values():
        os.close(lock)


def test_the_folder_is_its_owners_alone_and_stays_while_its_process_lives(memory: Path) -> None:
    made = shared_memory.folder()
    assert made is not None
    assert made == shared_memory.folder()
    assert made.parent == memory / f"dpaudit-{os.getuid()}"
    assert {stat.S_IMODE(place.stat().st_mode) for place in (made, made.parent)} == {0o700}
    assert shared_memory.remove_left() == 0
    assert made.is_dir()


def test_a_folder_that_others_may_enter_or_that_is_a_link_is_not_used(memory: Path) -> None:
    place = memory / f"dpaudit-{os.getuid()}"
    (memory / "elsewhere").mkdir()
    place.symlink_to(memory / "elsewhere")
    made = shared_memory.folder()
    assert made is None or memory not in made.parents
    place.unlink()
    place.mkdir(mode=0o755)
    assert not shared_memory._is_ours(place)


def test_records_that_a_killed_process_left_are_removed_by_the_next_one(memory: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(memory)]
    (memory / "script.py").write_text(SCRIPT)
    command[1:3] = [str(memory / "script.py")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    assert process.stderr is not None
    assert b"mapped" in process.stderr.readline()
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stderr.close()
    place = memory / f"dpaudit-{os.getuid()}"
    held = [path for path in place.rglob("*") if path.is_file() and path.stat().st_size > 3_000_000]
    assert held  # 3.2 MB of records, which nobody else can reach
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    for _ in range(50):  # its workers end with it, within two seconds
        if shared_memory.remove_left():
            break
        time.sleep(0.1)
    assert not list(place.iterdir())

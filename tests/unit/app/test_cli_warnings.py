"""Commands leave nothing open of which Python would warn."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MINE = "PAIRS = [(0, 1)]\ndef noisy(x, rng):\n    return x + rng.laplace()\n"


@pytest.mark.parametrize(
    "words",
    [["list"], ["privacy", "mine.py:noisy", "--epsilon", "1", "--trials", "100", "--timeout", "60", "--sequential"]],
    ids=["list", "privacy"],
)
def test_no_command_leaves_files_open(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    given = {**os.environ, "PYTHONWARNINGS": "default"}
    made = subprocess.run(
        [sys.executable, "-m", "dpaudit", *words], cwd=tmp_path, env=given, capture_output=True, text=True, check=False
    )
    assert made.stdout
    assert "ResourceWarning" not in made.stderr

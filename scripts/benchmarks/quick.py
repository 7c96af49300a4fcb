"""Time the first five minutes: the installation of a clean clone from a local cache of wheels, and the quick audit.

Usage: python scripts/bench.py quick

The wheels are fetched first, which is not timed; pip then sees nothing but them. The commit at HEAD is cloned.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def seconds(words: list[str], cwd: Path = ROOT, env: dict[str, str] | None = None) -> float:
    """Run a command, and return its seconds by the clock."""
    began = time.monotonic()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd=cwd, env=env)
    return time.monotonic() - began


def main() -> None:
    """Print the times."""
    with tempfile.TemporaryDirectory() as folder:
        wheels = Path(folder, "wheels")
        clone = Path(folder, "clone")
        seconds([sys.executable, "-m", "pip", "download", "-q", "-d", str(wheels), str(ROOT), "hatchling", "editables"])
        for own in wheels.glob("dpaudit*"):
            own.unlink()
        seconds(["git", "clone", "-q", str(ROOT), str(clone)])
        env = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
        env.pop("PYTHONPATH", None)
        install = seconds(["bash", "-c", '. scripts/environment ""'], cwd=clone, env=env)
        audit = seconds(["./scripts/audit"], cwd=clone, env=env)
        print(f"installation {install:.0f} s, quick audit {audit:.0f} s, on {os.cpu_count()} processors")

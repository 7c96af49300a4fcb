"""The last two checks of a project, each as a report in JSON, which `dpaudit diff` compares."""

from __future__ import annotations

from pathlib import Path

from dpaudit.files import locked_folder, write_atomically

FOLDER = Path(".dpaudit")
LAST = FOLDER / "check.json"
BEFORE = FOLDER / "check-before.json"

# Two checks may end at the same time. Their runs are made by then, so the second one waits for the first.
PATIENCE = 60.0


def keep(report: str, root: Path) -> Path:
    """Write the report of a check into the folder of the project with its settings in `root`; return the file.

    The report that was the last one until now becomes the one before.
    """
    last = root / LAST
    last.parent.mkdir(exist_ok=True)
    with locked_folder(last.parent, PATIENCE):
        if last.exists():
            write_atomically(root / BEFORE, last.read_bytes())
        write_atomically(last, report.encode())
    return last

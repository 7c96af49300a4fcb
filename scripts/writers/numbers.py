"""Put the numbers that are printed into the pages: ``python scripts/write.py numbers [PAGE.md ...]``, all by default.

Runs the blocks of the pages as their test does, and takes a number over where it differs by no more than a share
(``--within``, a twentieth); what differs by more is printed and left for a person to look at.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType

sys.path.extend(str(Path(__file__).resolve().parents[2] / folder) for folder in ("", "tests/support", "tests/meta"))

from source_tree import ROOT
from test_docs import NUMBER, PAGES, numbers_printed, outputs_of


def renewed(shown: str, printed: str, tolerance: float) -> str | None:
    """Return what is shown with the numbers that were printed; None if more than numbers differs, or they by more."""
    found = numbers_printed(shown, printed, tolerance)
    if found is None or len(found) != len(NUMBER.findall(shown)):
        return None
    numbers = iter(found)
    return NUMBER.sub(lambda old: next(numbers) or old[0], shown)


def write(page: Path, tolerance: float) -> None:
    """Write the numbers of one page."""
    text = page.read_text(encoding="utf-8")
    stream = io.StringIO()

    def printed_since() -> str:
        said = stream.getvalue()
        stream.seek(0)
        stream.truncate()
        return said

    sys.modules["page"] = ModuleType("page")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(stream):
        outputs = list(outputs_of(page, printed_since))
    for shown, printed in outputs:
        new = renewed(shown, printed, tolerance)
        if new is None:
            print(f"{page.name}: not printed:\n{shown}\nbut:\n{printed}")
        else:
            text = text.replace(shown, new)
    page.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("pages", nargs="*")
    parser.add_argument("--within", type=float, default=0.05)
    given = parser.parse_args()
    os.environ |= {"PYTHONPATH": str(ROOT), "LOKY_MAX_CPU_COUNT": "1"}
    for page in PAGES:
        if not given.pages or page.name in given.pages:
            write(page, given.within)

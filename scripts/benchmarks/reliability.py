"""Count what kills, faults and corruptions lose: `python scripts/bench.py reliability [--out PAGE]`.

The page is docs/research/reliability.md.

Each part makes as many cases as its option says and counts those in which something was lost. The full counts are
``--kills 200 --faults 1000 --corruptions 20000 --boundary 3000 --memory 40 --mechanisms 500``; the page says how many
were made. The parts stand in `scripts/benchmarks/losses/`.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from dataclasses import asdict
from pathlib import Path

import dpaudit
from benchmarks.losses import PARTS, Row


def page(rows: dict[str, Row]) -> str:
    """Return the page, which also says what was not measured."""
    missing = [name for name in PARTS if name not in rows]
    lines = [
        "# Reliability measured",
        "",
        f"Made by `python scripts/bench.py reliability` (dpaudit {dpaudit.__version__}, python "
        f"{platform.python_version()}, {platform.system()}). The cases are those that were made; more are made by "
        "`--kills 200 --faults 1000 --corruptions 20000 --boundary 3000 --memory 40 --mechanisms 500`.",
        "",
        "| what was done | cases | lost | what came of it |",
        "| --- | ---: | ---: | --- |",
        *(f"| {row.what} | {row.made:,} | {row.lost:,} | {row.told} |" for row in rows.values()),
        *(["", f"Not measured here: {', '.join(missing)}."] if missing else []),
    ]
    notes = [f"* {row.what}: {' '.join(note.split())}" for row in rows.values() for note in row.notes]
    return "\n".join([*lines, *(["", "## Cases in which something was lost", "", *notes] if notes else [])]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what kills, faults, corruptions and limits do to runs.")
    for name, (_, number) in PARTS.items():
        parser.add_argument(
            f"--{name}", type=int, default=number, metavar="N", help=f"cases; 0 for none (default: {number})"
        )
    parser.add_argument(
        "--rows", type=Path, metavar="FILE", help="keep the rows there; parts of 0 cases are taken from it"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the page there (default: print it)")
    given = parser.parse_args()
    kept = json.loads(given.rows.read_text(encoding="utf-8")) if given.rows and given.rows.exists() else {}
    rows = {name: Row(**kept[name]) for name in PARTS if name in kept}
    for name, (part, _) in PARTS.items():
        if number := getattr(given, name):
            rows[name] = part(number)
            print(
                f"{name}: {rows[name].made} cases, {rows[name].lost} lost; {rows[name].told}",
                file=sys.stderr,
                flush=True,
            )
            if given.rows:
                given.rows.write_text(json.dumps({name: asdict(row) for name, row in rows.items()}), encoding="utf-8")
    text = page({name: rows[name] for name in PARTS if name in rows})
    print(text) if given.out is None else given.out.write_text(text, encoding="utf-8")

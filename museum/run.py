"""Audit exhibits, each in an environment of its own: ``scripts/museum [NAME ...] [--resume] [--jobs N] [--pages]``.

Every exhibit has five audits: its wrong and its right side, with its data alone and with its pair given, and the wrong
side with data alone once more where recorded noise does not choose pairs. Records are
appended to a file as they come; ``museum/findings.json`` and ``docs/research/museum.md`` are then written from all of
them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from threading import Lock
from typing import Any

from museum import page
from museum.audit_one import TRIALS
from museum.exhibit import ROOT, Exhibit, exhibits, read

__all__ = ["environment", "main", "one"]

SECONDS = 1500
"""The most seconds that a process of one audit may take, the certificate included."""
# Threads that need the same environment wait until the first one has made it; records are whole lines.
_making = Lock()
_storing = Lock()


def environment(cache: Path, requires: list[str]) -> Path:
    """Return the Python of an environment that has dpaudit and some requirements, which is made if there is none."""
    key = hashlib.sha256("\n".join(requires).encode()).hexdigest()[:12]
    folder = cache / "environments" / key
    with _making:
        # The file is written last: a folder without it is what an interrupted installation left.
        if not (folder / "made").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
            words = [str(folder / "bin/python"), "-m", "pip", "install", "-q", "-e", str(ROOT), *requires]
            subprocess.run(words, check=True)
            (folder / "made").write_text("\n".join(requires) + "\n", encoding="utf-8")
    return folder / "bin/python"


def one(cache: Path, file: Path, exhibit: Exhibit, side: str, pair: bool) -> dict[str, Any]:
    """Return the record of one audit; one that does not end or prints no record is an error."""
    known = {"name": file.stem, "held_out": file.parent.name == "held_out", "side": side, "pair_given": pair}
    try:
        python = environment(cache, exhibit.requirements(side))
        words = [str(python), "-m", "museum.audit_one", str(file), side]
        if pair:
            words.append("--pair")
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)
        lines = done.stdout.splitlines()
        # The record is the last line: what mechanisms print stands before it.
        found = json.loads(lines[-1]) if lines and not done.returncode else {}
        return known | (found or {"verdict": "error", "error": f"status {done.returncode}: {done.stderr[-500:]}"})
    except (subprocess.SubprocessError, ValueError) as error:
        return known | {"verdict": "error", "error": f"{type(error).__name__}: {error!s:.500}"}


def stored(log: Path) -> dict[tuple[str, bool, str], dict[str, Any]]:
    """Return the records of a file by what they are of, the last of each."""
    if not log.exists():
        return {}
    records = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    return {page.key_of(record): record for record in records}


def main(words: list[str] | None = None) -> int:
    """Audit what was asked for, and write the findings and the page."""
    parser = argparse.ArgumentParser(prog="scripts/museum", description=str(__doc__).partition("\n")[0])
    parser.add_argument("names", nargs="*", help="exhibits (default: all)")
    parser.add_argument("--resume", action="store_true", help="skip what the records have, but for errors")
    parser.add_argument("--pages", action="store_true", help="audit nothing: write the findings and the page alone")
    parser.add_argument("--jobs", type=int, default=1, help="audits at the same time")
    parser.add_argument("--cache", type=Path, default=ROOT / ".museum", help="folder of environments and records")
    args = parser.parse_args(words)
    files = exhibits()
    if unknown := set(args.names) - files.keys():
        parser.error(f"there is no exhibit {', '.join(sorted(unknown))}")
    args.cache.mkdir(parents=True, exist_ok=True)
    log = args.cache / "records.jsonl"
    done = set()
    if args.resume:
        done = {key for key, record in stored(log).items() if record["verdict"] != "error"}
    asked = [] if args.pages else args.names or list(files)

    def work(task: tuple[str, bool, str]) -> None:
        name, pair, side = task
        record = one(args.cache, files[name], read(files[name]), side, pair)
        with _storing, log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            given = "pair given" if pair else "data alone"
            print(f"{record['verdict']:<12} {name}, {side}, {given}: {record.get('epsilon_lower')}", flush=True)

    every = ((name, pair, side) for (side, pair), name in product(TRIALS, asked))
    tasks = [task for task in every if task not in done]
    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(work, tasks))
    write(log)
    return 0


def write(log: Path) -> None:
    """Put the records among the findings, in order, and write the page."""
    target = ROOT / "museum/findings.json"
    known = []
    if target.exists():
        known = json.loads(target.read_text(encoding="utf-8"))
    files = exhibits()
    # What was audited now replaces what was known of the same; records of exhibits that are gone are dropped.
    merged = {page.key_of(record): record for record in known} | stored(log)
    records = [merged[key] for key in sorted(merged) if key[0] in files]
    target.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    about = {name: read(path) for name, path in files.items()}
    (ROOT / "docs/research/museum.md").write_text(page.text(about, records, page.misses()), encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())

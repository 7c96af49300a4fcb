"""Audit the auditor: how often it refutes a true claim, detects a false one, and misses a planted fault.

    python scripts/calibrate.py [--profile quick|full] [--jobs J] [--out docs/research/calibration.md] [--json PATH]

Results are printed and kept as they come, in reports/latest/calibration-PROFILE.jsonl: the same command goes on where a
stopped one ended, unless the code has changed. `--out` writes the tables as Markdown, `--json` the few numbers that
reports show (`dpaudit/data/calibration.json`). Exit status: 0 if every promise was kept, 1 if one was broken beyond
chance.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

# Many small fits at once: threads inside each would only wait for each other.
os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "calibration"))

from auditor_profiles import PROFILES, Cell, Profile
from auditor_results import carried, document, markdown, sentences
from auditor_trials import Trial, seeds_of
from auditor_work import CONTROLS, audit_learner, judge
from joblib import Parallel, delayed

from dpaudit.registry import list_learners

ROOT = Path(__file__).resolve().parents[1]
BLOCK = 20
NOT_AUDITING = ("app", "report", "data")
"""Rooms and modules whose code no audit depends on."""


class Kept:
    """Results by key, appended to a file as they come; a file of other code is begun anew."""

    def __init__(self, path: Path, profile: str) -> None:
        self.path = path
        self.results = dict[str, Any]()
        header = {"code": code_digest(), "profile": profile}
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        # A line that a kill cut short has no end.
        records = [json.loads(line) for line in lines if line.endswith("\n")]
        if records and records[0] == header:
            self.results = {record["key"]: record["result"] for record in records[1:]}
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = [{"key": key, "result": result} for key, result in self.results.items()]
        path.write_text("".join(json.dumps(record) + "\n" for record in [header, *kept]))

    def add(self, key: str, result: Any) -> None:
        """Keep a result, whatever happens next."""
        self.results[key] = result
        with self.path.open("a") as file:
            file.write(json.dumps({"key": key, "result": result}) + "\n")


def code_digest() -> str:
    """Return a hash of all that results depend on."""
    package = ROOT / "dpaudit"
    rooms = [path for path in package.rglob("*.py") if path.relative_to(package).parts[0] not in NOT_AUDITING]
    court = (ROOT / "tests" / "calibration").glob("auditor_*.py")
    digest = hashlib.blake2b(json.dumps(CONTROLS).encode(), digest_size=8)
    for path in sorted([*rooms, *(ROOT / "learners").rglob("*.py"), *court]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def blocks(cell: Cell) -> list[list[int]]:
    """Return the seeds of a cell's audits in blocks; audits by counts alone are many and quick."""
    seeds = seeds_of(cell.trial, cell.audits)
    size = 10 * BLOCK if cell.trial.design == "given" else BLOCK
    return [seeds[start : start + size] for start in range(0, len(seeds), size)]


def judged(cells: Sequence[Cell], jobs: int) -> Iterator[tuple[Cell, int, float]]:
    """Yield cells with their accusations and seconds, in order; blocks of different cells run side by side."""
    # An audit that uses processes of its own must not be in one.
    for cell in (cell for cell in cells if cell.trial.jobs > 1):
        yield (cell, *judge(cell.trial, seeds_of(cell.trial, cell.audits)))
    alone = [cell for cell in cells if cell.trial.jobs == 1]
    work = [(cell.trial, seeds) for cell in alone for seeds in blocks(cell)]
    results = Parallel(n_jobs=jobs, return_as="generator")(delayed(judge)(*block) for block in work)
    for cell in alone:
        parts = [next(results) for _ in blocks(cell)]
        yield cell, sum(accused for accused, _ in parts), sum(seconds for _, seconds in parts)


def calibrate(name: str, profile: Profile, kept: Kept, jobs: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Make what is not kept yet, and return the document of it all."""
    cells = profile.cells()
    ids = [e.id for e in list_learners() if e.fault or e.claim()][:: profile.every]
    say(f"{len(cells)} cells and {len(ids)} learners, {len(kept.results)} results kept in {kept.path}")
    for cell, accused, seconds in judged([cell for cell in cells if cell.key not in kept.results], jobs):
        kept.add(cell.key, accused)
        say(f"{seconds:6.1f} s  {accused:5,d} of {cell.audits:5,d}  {words(cell.trial)}")
    wanted = [id for id in ids if id not in kept.results]
    for id, found in Parallel(n_jobs=jobs, return_as="generator")(delayed(audit_learner)(id) for id in wanted):
        kept.add(id, found)
        say(f"{'detected' if found['convicted'] else 'consistent':10s} {id}")
    counted = [(cell, kept.results[cell.key]) for cell in cells]
    return document(name, counted, {id: kept.results[id] for id in ids}, CONTROLS)


def words(trial: Trial) -> str:
    """Return a trial in words."""
    parts = [trial.case, trial.condition, trial.design, f"{trial.trials:,} runs"]
    parts += [f"{trial.pairs} pairs"] * (trial.pairs > 1) + [f"{trial.jobs} jobs"] * (trial.jobs > 1)
    return ", ".join([*parts, *([f"{100 * (1 - trial.noise):.0f} % less noise"] if trial.noise < 1 else [])])


def write(path: Path | None, text: str) -> None:
    """Write a file, if one is wanted."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", choices=PROFILES, default="quick", help="how much work (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="audits side by side, as for joblib (default %(default)s)")
    parser.add_argument("--out", type=Path, metavar="PATH", help="write the tables here, as Markdown")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the numbers that reports show here")
    parser.add_argument("--kept", type=Path, metavar="PATH", help="keep results here (default: in reports/latest)")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    profile = PROFILES[options.profile]
    kept = Kept(options.kept or ROOT / f"reports/latest/calibration-{options.profile}.jsonl", options.profile)
    found = calibrate(options.profile, profile, kept, options.jobs, lambda text: print(text, flush=True))
    write(options.out, markdown(found))
    write(options.json, json.dumps(carried(found), indent=1, allow_nan=False) + "\n")
    print(markdown(found), *sentences(found), f"{time.perf_counter() - start:.0f} s", sep="\n")
    return int(bool(found["broken"]))


if __name__ == "__main__":
    sys.exit(main())

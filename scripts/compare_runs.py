"""Compare what two stored runs found: the same tasks, and for each the same verdict, counts, bounds and seed.

    python scripts/compare_runs.py BEFORE AFTER            two folders, or run.jsonl files
    python scripts/compare_runs.py --digests RUN           write a line a task: its key and a digest of what it found
    python scripts/compare_runs.py DIGESTS.txt AFTER       compare with such lines

A change that must change no result is checked by it: make both runs with the same command, as `dpaudit run --profile
quick`, before the change and after it. Words of a finding (summaries, decoded outputs), the checks of randomness and
the versions of libraries may differ; every other number (to nine digits), verdict, event and seed must not. The status
is 1 if anything differs.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

WORDS = {
    "versions", "summary", "text", "source", "decoded", "fault", "claim", "printed", "found", "best", "short", "checks",
    "differs", "error_type", "shown", "worst_code", "worst_output", "compared", "plain",
    "difference", "libraries", "log_evidence",
}  # fmt: skip
"""Fields of a finding that are not compared, at any depth: words, other fields in the form that reports show, what runs
stored before did not look at, versions, and `checks`, which is how an audit looked for faults of randomness and not
what it found. The claim's numbers stand in the finding too, and the runs that a budget gives to checks are what its
other parts leave of a total."""

DIGITS = 9
"""Decimal digits of numbers that are compared: fits differ in the last ones of sixteen between processors."""


def kept(value: Any) -> Any:
    """Return a finding without words and versions, its numbers rounded to `DIGITS` digits."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {name: kept(inner) for name, inner in value.items() if name not in WORDS}
    return [kept(inner) for inner in value] if isinstance(value, list) else value


def results(path: Path) -> dict[str, Any]:
    """Return what a run found, by the keys of its tasks; of a file of digests, the digests."""
    file = path / "run.jsonl" if path.is_dir() else path
    lines = file.read_text(encoding="utf-8").splitlines()
    if file.suffix == ".txt":
        return dict(line.split() for line in lines)
    records = [record for record in map(json.loads, lines) if record["record"] == "result"]
    return {record["task"]: kept(record["finding"]) for record in records}


def digest(found: Any) -> str:
    """Return a digest of what a task found."""
    text = json.dumps(found, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return a line for each task that differs."""
    found = [f"{key}: only before" for key in before if key not in after]
    found += [f"{key}: only after" for key in after if key not in before]
    for key in before.keys() & after.keys():
        old = before[key]
        new = after[key]
        if isinstance(old, str):
            found += [f"{key}: another digest"] if old != digest(new) else []
        elif old != new:
            fields = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
            found.append(f"{key}: {', '.join(fields)}")
    return sorted(found)


def main(words: list[str]) -> int:
    if len(words) != 2:
        print(__doc__)
        return 2
    if words[0] == "--digests":
        print("\n".join(f"{key} {digest(found)}" for key, found in results(Path(words[1])).items()))
        return 0
    before = results(Path(words[0]))
    after = results(Path(words[1]))
    found = differences(before, after)
    print("\n".join([*found, f"{len(before)} tasks before, {len(after)} after, {len(found)} differ"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Measure what audits find in sixty mechanisms with a known leak, and two searches of the literature beside them.

    python scripts/bench.py power [--held-out] [--only NAME ...] [--runs N ...] [--claim E] [--seed S] [--write]

The mechanisms are in `scripts/power_mechanisms/`, the searches in `scripts/benchmarks/power_baselines.py`. All bounds
hold at 95 % and are the same confidence bound on the counts of an event in fresh runs, so that the events are compared.
With `--write` the table goes to the page on power among the docs, into its own part of it.

Exit status: 1 if an audit failed by a fault of its own ("error"), else 0.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from power_mechanisms import OPEN, Row, held_out

import dpaudit
from benchmarks.columns import line, positive
from benchmarks.power_baselines import SEARCHES, Chosen, flattened
from dpaudit.bounds.melded import Melded
from dpaudit.seeding import generator

CONFIDENCE = 0.95
RUNS = (2_000, 20_000, 200_000)
CHUNK = 1_000
KEPT = 20_000_000
"""A search chooses on at most so many numbers a side, which bounds the memory."""
METHODS = ("audit", *SEARCHES, "known")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "research" / "power.md"


@dataclass(frozen=True)
class Measured:
    """The bounds found in one row: by method, one for each number of runs; a word where there is none."""

    row: Row
    bounds: dict[str, list[float | str]] = field(default_factory=lambda: {method: [] for method in METHODS})


def outputs(row: Row, side: int, rng: np.random.Generator, runs: int) -> Iterator[list[Any]]:
    """Yield outputs in chunks; what a run raises is its output."""

    def once() -> Any:
        try:
            return row.mechanism(row.neighbours[side], rng)
        except Exception as error:  # of any type: it is the mechanism's
            return error

    for start in range(0, runs, CHUNK):
        yield [once() for _ in range(min(CHUNK, runs - start))]


def by_audit(row: Row, runs: int, claim: float, seed: int) -> float | str:
    """Return the bound of an audit, or "none" (no evidence), "refused" (it does not take the output) or "error"."""
    try:
        finding = dpaudit.audit_privacy(
            row.mechanism, [row.neighbours], epsilon=claim, delta=0.0, trials=runs, confidence=CONFIDENCE, seed=seed
        )
    except dpaudit.InputError as error:
        print(f"{row.name}: {' '.join(str(error).split()):.200}", file=sys.stderr)
        return "refused"
    except Exception:  # a fault in one row must not cost the measurements of all others
        traceback.print_exc()
        return "error"
    return finding.epsilon_lower if finding.verdict in ("violation", "consistent") else "none"


def by_others(row: Row, runs: int, seed: int) -> dict[str, float | str]:
    """Return the bounds of the searches ("n/a" where they cannot take the output), and that of the known event."""
    training = runs // 2
    sides = [generator(seed, "bench-power", row.name, runs, side) for side in (0, 1)]
    known = np.zeros(2, int)
    tables = []
    for side, rng in enumerate(sides):
        count, table = train(row, side, rng, training)
        known[side] += count
        tables.append(table)
    first, second = tables
    chosen: dict[str, Chosen] = {}
    width = 0 if first is None else first.shape[1]
    if first is not None and second is not None and second.shape[1] == width:
        chosen = {name: search(first, second) for name, search in SEARCHES.items()}
    hits = {name: np.zeros(2, int) for name in chosen}
    for side, rng in enumerate(sides):
        for chunk in outputs(row, side, rng, runs - training):
            known[side] += sum(map(row.event, chunk))
            rows = flattened(chunk) if chosen else None
            if rows is None or rows.shape[1] != width:
                chosen = {}
                continue
            for name, event in chosen.items():
                hits[name][side] += event.holds(rows).sum()
    found: dict[str, float | str] = dict.fromkeys(SEARCHES, "n/a")
    for name, event in chosen.items():
        found[name] = lower(hits[name] if event.forward else hits[name][::-1], runs - training)
    return found | {"known": lower(known, runs)}


def train(row: Row, side: int, rng: np.random.Generator, runs: int) -> tuple[int, NDArray[np.float64] | None]:
    """Return how often the known event happened in the first half of the runs, and these as a table of numbers."""
    known = 0
    flat = True
    parts: list[NDArray[np.float64]] = []
    for chunk in outputs(row, side, rng, runs):
        known += sum(map(row.event, chunk))
        rows = flattened(chunk) if flat else None
        flat = rows is not None and (not parts or rows.shape[1] == parts[0].shape[1])
        if flat and rows is not None and sum(part.size for part in parts) < KEPT:
            parts.append(rows)
    return known, np.concatenate(parts) if flat else None


def lower(hits: NDArray[np.int_], runs: int) -> float:
    """Return the bound on epsilon from the hits on the less likely side and on the other one."""
    return float(Melded().epsilon_lower(hits[1], runs, hits[0], runs, gamma=1 - CONFIDENCE))


def measure(row: Row, sizes: Sequence[int], claim: float, seed: int) -> Measured:
    measured = Measured(row)
    for runs in sizes:
        found = {"audit": by_audit(row, runs, claim, seed), **by_others(row, runs, seed)}
        for method, bound in found.items():
            measured.bounds[method].append(bound)
    return measured


def told(value: float | str, claim: float) -> str:
    """Return a bound for the table; one that does not refute the claim stands in brackets."""
    if isinstance(value, str):
        return value
    return "inf" if math.isinf(value) else f"{value:.2f}" if value > claim else f"({value:.2f})"


def cells(measured: Measured, claim: float) -> list[str]:
    row = measured.row
    exact = "inf" if math.isinf(row.epsilon) else f"{row.epsilon:.4f}"
    return [row.name, row.kind, exact, *(told(b, claim) for m in METHODS for b in measured.bounds[m])]


def head(sizes: Sequence[int]) -> list[str]:
    return ["name", "kind", "exact", *(f"{method} {short(runs)}" for method in METHODS for runs in sizes)]


def short(runs: int) -> str:
    return f"{runs // 1000}k" if runs >= 1000 and runs % 1000 == 0 else str(runs)


def summary(results: Sequence[Measured], sizes: Sequence[int], claim: float) -> list[str]:
    """Return one line a method: how many leaks it detects, and what share of the known event's bound it reaches."""
    lines = []
    for method in METHODS:
        parts = []
        for i, runs in enumerate(sizes):
            bounds = [(r.bounds[method][i], r.bounds["known"][i]) for r in results]
            reached = [(b if isinstance(b, float) else 0.0, k) for b, k in bounds if isinstance(k, float)]
            detected = sum(b > claim for b, _ in reached)
            shares = [b / k for b, k in reached if k > 0]
            share = f"{100 * statistics.median(shares):.0f} %" if shares else "-"
            parts.append(f"{detected} of {len(reached)} at {runs:,} runs (median {share} of the known event)")
        lines.append(f"{method}: {', '.join(parts)}")
    return lines


TITLE = """# Power

Leaking mechanisms of all kinds of outputs, and what is found of each leak. Made by
`python scripts/bench.py power --write` and `python scripts/bench.py power --held-out --write`.

* *exact*: the epsilon of the two neighbours at delta 0; inf where an output is possible on one side alone.
* *audit*: the lower bound of `dpaudit.audit_privacy` with no setting but the claim, the confidence and the runs;
  *none* where it says that it has no evidence, *refused* where it does not take the output.
* *logistic*: a search like DP-Sniper's; *boxes*: one like StatDP's, both in `scripts/benchmarks/power_baselines.py`.
  They choose on half of the runs and confirm on the others; *n/a* where the output is not a row of as many numbers
  in every run.
* *known*: the bound from the best event, as if the leak were known, on all runs.
* *not run*: not measured; the counts leave such rows out.
* Runs are those on each side, selection and confirmation together. All bounds hold at 95 %, by the same confidence
  bound. In brackets: bounds that do not refute the claim. In medians, what is not found counts as 0.

"""
PARTS = {"open": "## Open\n", "held out": "## Held out\n"}
NOTES = {
    "open": "These were known while the auditor was being tuned.",
    "held out": "Their author did not know the features of the auditor, and they were set aside until the\n"
    "last measurement; their digests stand in `scripts/power_mechanisms/HELD_OUT.sha256`.",
}


def section(part: str, results: Sequence[Measured], options: argparse.Namespace) -> str:
    """Return a part of the page: its table, its counts and the sentences that say what leaks."""
    titles = head(options.runs)
    lines = [f"| {' | '.join(titles)} |", "|---|---|" + "---:|" * (len(titles) - 2)]
    lines += [f"| {' | '.join(cells(measured, options.claim))} |" for measured in results]
    counts = [f"* {line}." for line in summary(results, options.runs, options.claim)]
    leaks = [f"* {m.row.name} ({m.row.kind}): {m.row.leak}" for m in results]
    stated = f"The claim is epsilon {options.claim:g}; seed {options.seed}."
    body = ["\n".join(lines), "Detected:", "\n".join(counts), "The leaks:", "\n".join(leaks)]
    return "\n\n".join([f"{PARTS[part]}\n{NOTES[part]} {stated}", *body]) + "\n"


def page(part: str, text: str, before: str) -> str:
    """Return the page with one part new and the other one as it was."""
    opening, closing = PARTS.values()
    old, _, old_held_out = before.partition(closing)
    kept = {"open": old.partition(opening)[2], "held out": old_held_out}
    parts = {name: f"{title}{kept[name]}" for name, title in PARTS.items() if kept[name]} | {part: text}
    return TITLE + "\n".join(parts[name].rstrip("\n") + "\n" for name in PARTS if name in parts)


def rows_of(options: argparse.Namespace) -> list[Row]:
    rows = held_out() if options.held_out else OPEN
    unknown = set(options.only or ()) - {row.name for row in rows}
    if unknown:
        raise SystemExit(f"--only: no such rows: {', '.join(sorted(unknown))}")
    return [row for row in rows if not options.only or row.name in options.only]


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add: Callable[..., Any] = parser.add_argument
    add("--held-out", action="store_true", help="measure the rows that are held out, and only them")
    add("--only", nargs="+", metavar="NAME", help="some of the rows, by name")
    add(
        "--runs",
        nargs="+",
        type=partial(positive, least=4),
        default=RUNS,
        metavar="N",
        help="runs on each side (default %(default)s)",
    )
    add("--claim", type=float, default=0.5, help="the epsilon that is claimed of all (default %(default)s)")
    add("--seed", type=int, default=0, help="the seed of audits and searches (default %(default)s)")
    add("--write", action="store_true", help="write the table into docs/research/power.md; only for all rows together")
    add("--list", action="store_true", help="print the rows with what leaks, and measure nothing")
    options = parser.parse_args(arguments)
    if options.write and options.only:
        parser.error("--write is for all rows: leave --only out")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    rows = rows_of(options)
    if options.list:
        for row in rows:
            print(f"{row.name:16} {row.kind:14} {row.epsilon:8.4f}  {row.leak}")
        return 0
    widths = [16, 14, 8, *(max(9, len(title) + 2) for title in head(options.runs)[3:])]
    start = time.perf_counter()
    print(line(head(options.runs), widths), flush=True)
    results = []
    for row in rows:
        results.append(measure(row, options.runs, options.claim, options.seed))
        print(line(cells(results[-1], options.claim), widths), flush=True)
    print("\n".join(summary(results, options.runs, options.claim)))
    print(f"{(time.perf_counter() - start) / 60:.1f} minutes")
    if options.write:
        part = "held out" if options.held_out else "open"
        before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        PAGE.write_text(page(part, section(part, results, options), before), encoding="utf-8")
    return int(any("error" in measured.bounds["audit"] for measured in results))

"""Run `audit_privacy` on the literature's mechanisms, and compare with truth, optimum and best peer.

    python scripts/bench_auditors.py [--trials N] [--only NAME ...] [--seeds K] [--first SEED] [--jobs J] [--json]
                                       [--out FILE]

The optimum is what an auditor who knew the best event beforehand could expect to certify from as many runs.
Exit status: 0 if every floor that was asked for was met by every seed, 1 if not.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from benchmark import BENCHMARKS, Benchmark
from benchmark.optimum import best_bound, ratio_law

import dpaudit
from dpaudit.jsonable import jsonable

FULL = 2_500_000
CONFIDENCE = 0.95
HEAD = ("mechanism", "true", "optimum", "reached", "(least)", "% of opt", "best peer", "floor", "seconds")
WIDTHS = (20, 9, 9, 9, 9, 9, 10, 16, 9)


def measure(row: Benchmark, trials: int, seeds: range, jobs: int) -> dict[str, Any]:
    """Return what the audits of one row reached: median and least over the seeds."""
    law = ratio_law(row.mechanism, *row.pair)
    bounds, seconds = [], []
    for seed in seeds:
        start = time.perf_counter()
        finding = dpaudit.audit_privacy(
            row.mechanism,
            [row.pair],
            epsilon=row.claimed_epsilon,
            trials=trials,
            confidence=CONFIDENCE,
            seed=seed,
            n_jobs=jobs,
            batched=True,
            float_bits=row.float_bits,
        )
        seconds.append(time.perf_counter() - start)
        bounds.append(finding.epsilon_lower)
    optimum = None if law is None else best_bound(law, trials, 1 - CONFIDENCE)
    return {
        "name": row.name,
        "claimed_epsilon": row.claimed_epsilon,
        "true_epsilon": row.true_epsilon,
        "optimum": optimum,
        "reached": statistics.median(bounds),
        "least": min(bounds),
        "bounds": bounds,
        "of_optimum": statistics.median(bounds) / optimum if optimum else None,
        "above_truth": sum(bound > row.true_epsilon for bound in bounds),
        "best_peer": row.best_peer,
        "floor": row.floor,
        # The floors are for the full number of runs; fewer cannot be held to them.
        "met": None if row.floor is None or trials < FULL else min(bounds) >= row.floor,
        "seconds": statistics.median(seconds),
        "trials": trials,
        "seeds": len(seeds),
    }


TITLE = """# The literature's benchmark

What `dpaudit.audit_privacy` reaches on the mechanisms on which the published auditors are compared, with the best-known
pair given, {trials:,} runs on each side in all, 95 % confidence, no setting changed between rows. Made by
`python scripts/bench_auditors.py --seeds {seeds}{option} --out docs/benchmark.md` ({minutes:.0f} minutes on one core).

* *true*: the exact epsilon of the pair. *optimum*: the bound that the best event could be expected to give with all
  runs, if it were known. *best peer*: the best that the other tools were measured to reach (they made 2.5 to 34 million
  runs).
* *median* and *least*: of the seeds {first} to {last}. *% of optimum* and *floor* are those of the median.
* Medians below their floor: {medians}.
* Seeds below it: {missed}.
* Even with the best event known a bound is random: its standard error is 60 % of the distance from the optimum to the
  truth. With learned events it varies more, most on the weakest signals and the rarest events.
* A bound may exceed the truth in one audit of twenty; that is what 95 % means.

"""
MARKED = ("mechanism", "true", "optimum", "median", "least", "% of optimum", "best peer", "floor", "seconds")
NOTES = """
Seconds are those of one audit on one core. Continuous mechanisms are rounded to multiples of 2^-20 before they are
audited, because raw doubles leak through their bits: that leak has a row of its own, with `float_bits=True`.
"""


def document(results: Sequence[dict[str, Any]], trials: int, seeds: range) -> str:
    """Return the results as a page."""
    asked = [result for result in results if result["floor"] is not None]
    medians = [f"{r['name']} ({r['reached']:.4f} of {r['floor']:g})" for r in asked if r["reached"] < r["floor"]]
    missed = [
        f"{r['name']} ({', '.join(f'{bound:.4f}' for bound in sorted(r['bounds']) if bound < r['floor'])})"
        for r in asked
        if r["least"] < r["floor"]
    ]
    minutes = sum(r["seconds"] for r in results) * len(seeds) / 60
    head = TITLE.format(
        trials=trials,
        seeds=len(seeds),
        option=f" --first {seeds[0]}" if seeds[0] else "",
        first=seeds[0],
        last=seeds[-1],
        minutes=minutes,
        medians="; ".join(medians) or "none",
        missed="; ".join(missed) or "none",
    )
    lines = [f"| {' | '.join(MARKED)} |", "|" + "---|" * len(MARKED)]
    for r in results:
        numbers = [_number(r[key]) for key in ("true_epsilon", "optimum", "reached", "least")]
        share = "-" if r["of_optimum"] is None else f"{100 * r['of_optimum']:.0f}"
        met = "-" if r["floor"] is None else f"{r['floor']:g} {'met' if r['reached'] >= r['floor'] else 'MISSED'}"
        cells = [r["name"], *numbers, share, _number(r["best_peer"]), met, f"{r['seconds']:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return head + "\n".join(lines) + "\n" + NOTES


def in_columns(result: dict[str, Any]) -> str:
    """Return a result as a line of the table."""
    met = {True: " met", False: " MISSED", None: ""}[result["met"]]
    floor = "-" if result["floor"] is None else f"{result['floor']:g}{met}"
    above = f"  above the truth in {result['above_truth']} of {result['seeds']}" if result["above_truth"] else ""
    share = "-" if result["of_optimum"] is None else f"{100 * result['of_optimum']:.1f}"
    numbers = [_number(result[key]) for key in ("true_epsilon", "optimum", "reached", "least")]
    cells = [result["name"], *numbers, share, _number(result["best_peer"]), floor, f"{result['seconds']:.1f}"]
    return _line(cells) + above


def _number(value: float | None) -> str:
    return "-" if value is None else "inf" if math.isinf(value) else f"{value:.4f}"


def _line(cells: Sequence[str]) -> str:
    return cells[0].ljust(WIDTHS[0]) + "".join(c.rjust(w) for c, w in zip(cells[1:], WIDTHS[1:], strict=True))


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Run dpaudit on the literature's mechanisms.")
    parser.add_argument("--trials", type=_positive, default=FULL, help="runs on each side (default %(default)s)")
    names = [row.name for row in BENCHMARKS]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=f"some of: {', '.join(names)}")
    parser.add_argument("--seeds", type=_positive, default=1, help="audits of each row: median and least are shown")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first seed (default 0)")
    parser.add_argument("--jobs", type=int, default=1, help="as for joblib (default 1)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table as a page of Markdown too")
    options = parser.parse_args(arguments)
    results, seeds = [], range(options.first, options.first + options.seeds)
    if not options.json:
        print(_line(HEAD), flush=True)
    for row in BENCHMARKS:
        if options.only and row.name not in options.only:
            continue
        results.append(measure(row, options.trials, seeds, options.jobs))
        if not options.json:
            print(in_columns(results[-1]), flush=True)
    if options.json:
        print(json.dumps(jsonable(results), indent=2, allow_nan=False))
    if options.out:
        options.out.write_text(document(results, options.trials, seeds), encoding="utf-8")
    return int(any(result["met"] is False for result in results))


if __name__ == "__main__":
    sys.exit(main())

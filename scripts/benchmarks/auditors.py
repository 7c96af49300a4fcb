"""Run `audit_privacy` on the literature's mechanisms, and compare with truth, optimum and best peer.

    python scripts/bench.py auditors [--trials N] [--only NAME ...] [--seeds K] [--first SEED] [--jobs J] [--json]
                                       [--out FILE]

The optimum is what an auditor who knew the best event, or the best two disjoint sets, beforehand could expect to
certify from as many runs. Rows of packages that are not installed are left out and named.
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

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from benchmark import BENCHMARKS, Benchmark
from benchmark.optimum import RatioLaw, best_bound, best_bound_of_two_sets, ratio_law

import dpaudit
from dpaudit.audit.request import TRAINING_SHARE
from dpaudit.events.coin_guesses import MOST
from dpaudit.jsonable import jsonable

FULL = 2_500_000
CONFIDENCE = 0.95
HEAD = (
    "mechanism", "delta", "true", "optimum", "s.e.", "two sets", "median", "worst", "% of opt", "best peer", "floor",
    "seconds",
)  # fmt: skip
WIDTHS = (32, 10, 9, 9, 9, 9, 9, 9, 9, 10, 16, 9)
ERRORS = 4
"""Standard errors of the optimum by which the worst seed may be below it."""
SHARING = (1, 2, MOST)
"""Tests that share the error, in what could be reached if nothing had to be learned."""


def measure(row: Benchmark, trials: int, seeds: range, jobs: int) -> dict[str, Any]:
    """Return what the audits of one row reached: median and least over the seeds."""
    law = ratio_law(row.mechanism, *row.pair)
    bounds = []
    seconds = []
    for seed in seeds:
        start = time.perf_counter()
        finding = dpaudit.audit_privacy(
            row.mechanism,
            [row.pair],
            epsilon=row.claimed_epsilon,
            delta=row.delta,
            trials=trials,
            confidence=CONFIDENCE,
            seed=seed,
            n_jobs=jobs,
            batched=True,
            look=dpaudit.Look(float_bits=row.float_bits),
            randomness=row.randomness,
        )
        seconds.append(time.perf_counter() - start)
        bounds.append(finding.epsilon_lower)
    best = None if law is None else best_bound(law, trials, 1 - CONFIDENCE, row.delta)
    optimum = None if best is None else best.bound
    # The two sets' count has no such law where delta > 0.
    two = None if law is None or row.delta else best_bound_of_two_sets(law, trials, 1 - CONFIDENCE)
    confirming = trials - int(TRAINING_SHARE * trials)
    ceilings = [_ceiling(law, confirming, number, row.delta) for number in SHARING] if law is not None else None
    return {
        "name": row.name,
        "claimed_epsilon": row.claimed_epsilon,
        "delta": row.delta,
        "true_epsilon": row.true_epsilon,
        "optimum": optimum,
        "standard_error": None if best is None else best.standard_error,
        "two_sets": two,
        "ceilings": ceilings,
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


def _ceiling(law: RatioLaw, runs: int, sharing: int, delta: float) -> float:
    """Return the bound to expect where the best sets are known, of these runs a side and with a share of the error."""
    gamma = (1 - CONFIDENCE) / sharing
    one = best_bound(law, runs, gamma, delta).bound
    return one if delta else max(one, best_bound_of_two_sets(law, runs, gamma))


TITLE = """# The literature's benchmark

What `dpaudit.audit_privacy` reaches on the mechanisms on which the published auditors are compared, with the best-known
pair given, {trials:,} runs on each side in all, 95 % confidence, no setting changed between rows. Made by
`python scripts/bench.py auditors --seeds {seeds}{option} --out docs/research/benchmark.md` ({minutes:.0f} minutes on
one core).

* *true*: the exact epsilon of the pair at *delta*. *optimum*: the bound that the best event could be expected to give
  with all runs, if it were known, with its standard error (*s.e.*). *two sets*: the same of two disjoint sets, each
  likelier on one side, where a fair coin gives the side of each run (delta = 0 only). *best peer*: the best that the
  other tools were measured to reach (they made 2.5 to 34 million runs); "-" where no figure is known.
* *median* and *worst*: of the seeds {first} to {last}. *% of opt* and *floor* are those of the median.
{summary}
* Seeds below their floor: {missed}.
* Even with the best event known a bound is random. With learned events it varies more, most on the weakest signals and
  the rarest events.
* A bound may exceed the truth in one audit of twenty; that is what 95 % means.

"""
NUMBERS = ("true_epsilon", "optimum", "standard_error", "two_sets", "reached", "least")
NOTES = """
The algorithms from SmartSum to BadAdaptiveSVT are those of CheckDP (Wang et al., CCS 2020), which analyses source: it
reports a counterexample for each wrong one and a proof for each right one within 70 seconds, and no bound on epsilon.
The Gaussian samplers, the libraries' Gaussians and their deltas are those of Delta-Siege (Lokna et al., CCS 2023).
Rows of libraries that are not installed are left out.

Seconds are those of one audit on one core. Continuous mechanisms are rounded to multiples of 2^-20 before they are
audited, because raw doubles leak through their bits: that leak has a row of its own, with `float_bits=True`.
"""

LIBRARIES = "\n## Libraries\n"
"""The heading of what the page keeps: rows of libraries, which are measured where they are installed."""


def document(results: Sequence[dict[str, Any]], trials: int, seeds: range) -> str:
    """Return the results as a page."""
    asked = [result for result in results if result["floor"] is not None]
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
        summary="\n".join(f"* {sentence}" for sentence in summary(results)),
        missed="; ".join(missed) or "none",
    )
    lines = [f"| {' | '.join(HEAD)} |", "|" + "---|" * len(HEAD)]
    for r in results:
        numbers = [_delta(r["delta"]), *(_number(r[key]) for key in NUMBERS)]
        share = "-" if r["of_optimum"] is None else f"{100 * r['of_optimum']:.0f}"
        met = "-" if r["floor"] is None else f"{r['floor']:g} {'met' if r['reached'] >= r['floor'] else 'MISSED'}"
        cells = [r["name"], *numbers, share, _number(r["best_peer"]), met, f"{r['seconds']:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return head + "\n".join(lines) + "\n" + NOTES


def summary(results: Sequence[dict[str, Any]]) -> list[str]:
    """Return what the rows amount to: floors missed, seeds far below the optimum, zeros, the mean share of it."""
    known = [r for r in results if r["optimum"]]
    floors = [r for r in results if r["floor"] is not None and r["reached"] < r["floor"]]
    far = [r for r in known if r["least"] < r["optimum"] - ERRORS * r["standard_error"]]
    zeros = [(r["name"], sum(bound == 0 for bound in r["bounds"])) for r in results]
    lowest = [f"{r['name']} ({r['least']:.4f} of {r['optimum'] - ERRORS * r['standard_error']:.4f})" for r in far]
    medians = [f"{r['name']} ({r['reached']:.4f} of {r['floor']:g})" for r in floors]
    shares = [r["of_optimum"] for r in known]
    numbers = range(len(SHARING) if known else 0)
    reach = ", ".join(f"{100 * statistics.mean(r['ceilings'][i] / r['optimum'] for r in known):.1f}" for i in numbers)
    mean = f"{100 * statistics.mean(shares):.1f} %, {len(shares)} rows" if shares else "-"
    return [
        f"Medians below their floor: {'; '.join(medians) or 'none'}.",
        f"Worst seeds below the optimum less {ERRORS} of its standard errors: {'; '.join(lowest) or 'none'}.",
        f"Rows with a bound of 0: {'; '.join(f'{name} ({zero})' for name, zero in zeros if zero) or 'none'}.",
        f"Mean of the medians' shares of the optimum: {mean}.",
        "The same mean if the best sets were known and only confirmed, by the runs that training leaves, where"
        f" {', '.join(map(str, SHARING))} tests share the error: {f'{reach} %' if reach else '-'}.",
    ]


def in_columns(result: dict[str, Any]) -> str:
    """Return a result as a line of the table."""
    met = {True: " met", False: " MISSED", None: ""}[result["met"]]
    floor = "-" if result["floor"] is None else f"{result['floor']:g}{met}"
    above = f"  above the truth in {result['above_truth']} of {result['seeds']}" if result["above_truth"] else ""
    share = "-" if result["of_optimum"] is None else f"{100 * result['of_optimum']:.1f}"
    numbers = [_delta(result["delta"]), *(_number(result[key]) for key in NUMBERS)]
    cells = [result["name"], *numbers, share, _number(result["best_peer"]), floor, f"{result['seconds']:.1f}"]
    return _line(cells) + above


def _number(value: float | None) -> str:
    return "-" if value is None else "inf" if math.isinf(value) else f"{value:.4f}"


def _delta(value: float) -> str:
    return f"{value:.2g}" if value else "0"


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
    results = []
    seeds = range(options.first, options.first + options.seeds)
    if not options.json:
        print(_line(HEAD), flush=True)
    for row in BENCHMARKS:
        if options.only and row.name not in options.only:
            continue
        if row.missing:
            print(f"{row.name}: left out, {row.requires} is not installed", file=sys.stderr)
            continue
        results.append(measure(row, options.trials, seeds, options.jobs))
        if not options.json:
            print(in_columns(results[-1]), flush=True)
    if not options.json:
        print(*summary(results), sep="\n")
    if options.json:
        print(json.dumps(jsonable(results), indent=2, allow_nan=False))
    if options.out:
        before = options.out.read_text(encoding="utf-8") if options.out.exists() else ""
        libraries = "".join(before.partition(LIBRARIES)[1:])
        options.out.write_text(document(results, options.trials, seeds) + libraries, encoding="utf-8")
    return int(any(result["met"] is False for result in results))

"""Print both ends of the sample complexity of every learner with a theorem on utility, and why the upper one holds.

    python scripts/bench.py sample_complexity
    python scripts/bench.py sample_complexity --rows
    python scripts/bench.py sample_complexity point-exponential --moves 100 --jobs 2

A learner is built at its own instance, and at the sizes of the reference report, with their alpha and beta. Without
`--moves` the hard cases compete alone, so that lower ends may be far from what climbing finds. `--rows` leaves out the
instances, of which that of `simplex-union` has no line within fourteen minutes: each rate that its search compares is
that of a law of 2^16 outputs, two seconds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import joblib
from writers.sizes import SIZES

import dpaudit
from benchmarks.columns import line, positive

WIDTHS = (28, 60, 7, 9, 9, 13, 9, 13, 17, 9)
HEADS = (
    "learner", "parameters", "beta", "fails", "suffices", "by", "theorem", "suffices/n*", "theorem/suffices", "seconds"
)  # fmt: skip

Case = tuple[str, dict[str, Any], float, float]


def cases(ids: Sequence[str], *, rows: bool = False) -> Iterator[Case]:
    """Yield the cases of some learners, by default of all that are no positive controls, without repeats.

    `rows` says whether those of the reference report are enough.
    """
    if rows:
        yield from (size for size in SIZES if not ids or size[0] in ids)
        return
    seen = []
    for entry in dpaudit.pac.list_learners():
        if entry.fault is None and (not ids or entry.id in ids):
            one = entry.instance
            own = (entry.id, dict(one.parameters), one.alpha, one.beta)
            for case in (own, *(size for size in SIZES if size[0] == entry.id)):
                if case not in seen:
                    seen.append(case)
                    yield case


def measured(case: Case, moves: int, seed: int) -> tuple[Case, dpaudit.pac.SampleComplexityFinding | str, float]:
    """Return a case with its finding, or with why there is none, and the seconds that it took."""
    id, parameters, alpha, beta = case
    start = time.perf_counter()
    found: dpaudit.pac.SampleComplexityFinding | str
    try:
        learner = dpaudit.pac.get_learner(id, **parameters)
        found = dpaudit.pac.sample_complexity(
            learner, alpha=alpha, beta=beta, moves=moves, starts=2, draws=2000, seed=seed
        )
    except dpaudit.InputError as error:
        found = str(error)
    return case, found, time.perf_counter() - start


def row(case: Case, finding: dpaudit.pac.SampleComplexityFinding, seconds: float) -> str:
    """Return a finding as a line, with both ends as a ratio and the looseness of the theorem that is proved."""
    id, parameters, _, beta = case
    given = ", ".join(f"{key}={value}" for key, value in parameters.items())
    ends = loose = ""
    if finding.upper is not None:
        ends = f"{finding.upper / (finding.lower + 1):.2f}"
        loose = f"{finding.theorem / finding.upper:.2f}"
    cells = (finding.lower, finding.upper or "none", finding.reason, finding.theorem, ends, loose, f"{seconds:.0f}")
    return line([id, given, str(beta), *map(str, cells)], WIDTHS)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table, a line as soon as it is measured."""
    parser = argparse.ArgumentParser(description="Print both ends of sample complexities.")
    parser.add_argument("ids", nargs="*", metavar="ID", help="learners (default: all)")
    parser.add_argument("--rows", action="store_true", help="only the rows of the reference report")
    parser.add_argument("--moves", type=lambda text: positive(text, 0), default=0, help="moves of each climb (0)")
    parser.add_argument("--jobs", type=int, default=1, help="learners at a time (1)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    print(line(HEADS, WIDTHS))
    run = joblib.Parallel(n_jobs=options.jobs, return_as="generator_unordered")
    chosen = cases(options.ids, rows=options.rows)
    calls = (joblib.delayed(measured)(case, options.moves, options.seed) for case in chosen)
    for case, found, seconds in run(calls):
        if not isinstance(found, str):
            print(row(case, found, seconds), flush=True)
        elif "states no theorem" not in found:
            print(f"{case[0]}: {found}", file=sys.stderr)
    return 0

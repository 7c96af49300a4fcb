"""Measure what the search among pairs costs the fixed design, on leaks at one rare dataset in ten mechanisms and more.

For each leak it is the least number of runs a side, of powers of two, with which all audits of some seeds refute the
claim: with all pairs that the data give, and with the leaking pair alone. The price is the former, less 8 runs a side
of each pair (16 of both sides), over the latter.

    python scripts/bench.py pair_search [--seeds N] [--only WORD ...]
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))

from rare_leaks import LEAKS, RareLeak

import dpaudit
from benchmarks.columns import line, positive
from dpaudit.contract import Pair

EPSILON = 1.0
LEAST = 64
MOST = 2**17
ENOUGH = 20_000
"""Runs a side of the audit that finds the leaking pair."""
A_PAIR = 8
HEAD = ("leak", "pairs", "all pairs", "leaking pair", "price")
WIDTHS = (42, 6, 10, 13, 8)


def least(leak: RareLeak, pairs: Sequence[Pair], seeds: int) -> int | None:
    """Return the least number of runs a side with which every seed refutes the claim; None if there is none."""
    runs = LEAST
    while runs <= MOST:
        if all(_refuted(leak, pairs, runs, seed) for seed in range(seeds)):
            return runs
        runs *= 2
    return None


def _refuted(leak: RareLeak, pairs: Sequence[Pair], runs: int, seed: int) -> bool:
    finding = dpaudit.audit_privacy(leak.leaking, list(pairs), epsilon=EPSILON, trials=runs, seed=seed)
    return finding.verdict == "violation"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=positive, default=5, help="audits of each size (default %(default)s)")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="leaks whose name holds a word")
    options = parser.parse_args(arguments)
    print(f"{options.seeds} seeds, claim {EPSILON:g}, confidence 0.999; runs on each side")
    print(line(HEAD, WIDTHS, 1), flush=True)
    taken = inspect.signature(dpaudit.neighbours_of).parameters
    for name, leak in LEAKS.items():
        if options.only and not any(word in name for word in options.only):
            continue
        given = {key: value for key, value in leak.options.items() if key in taken}
        pairs = dpaudit.neighbours_of(leak.data, **given)
        found = dpaudit.audit_privacy(leak.leaking, pairs, epsilon=EPSILON, trials=ENOUGH, seed=options.seeds)
        every = least(leak, pairs, options.seeds)
        alone = least(leak, [pairs[found.witness.pair]], options.seeds)
        price = "-" if every is None or alone is None else f"{max(0, every - A_PAIR * len(pairs)) / alone:.1f}"
        print(line([name, str(len(pairs)), str(every), str(alone), price], WIDTHS, 1), flush=True)
    return 0

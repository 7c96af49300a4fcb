"""Speed and memory of the engine, as ratios against a baseline measured in the same process and minute.

    python scripts/bench_engine.py [--runs 1000000] [--repeats 3]

Each line says what is compared, the ratio that the project promises, and what was measured (median of the repeats).
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import dpaudit
from dpaudit import seeding
from dpaudit.neighbours.crafted import crafted_pairs


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def show(what: str, promised: str, measured: str, good: bool) -> None:
    print(f"{what:62s} {promised:>12s} {measured:>16s}  {'met' if good else 'NOT MET'}", flush=True)


def blackbox(runs: int, repeats: int) -> None:
    learner = dpaudit.get_learner("parity-private", dimension=8, epsilon=1.0)
    pair = crafted_pairs(learner.domain, 64, limit=None)[0]

    def run_alone() -> None:
        # The same chunks as the audit makes, so that only what the audit adds is measured.
        for side, sample in enumerate((pair.data, pair.neighbour)):
            for chunk in range(-(-runs // 2**15)):
                learner.run(sample, seeding.generator(0, "bench", side, chunk), min(2**15, runs - chunk * 2**15))

    def audit() -> None:
        dpaudit.audit_privacy(learner, [pair], trials=runs)

    audit()
    pairs = [(seconds(run_alone), seconds(audit)) for _ in range(repeats)]
    ratio = statistics.median(b / a for a, b in pairs)
    name = f"black box, parity-private d=8 n=64, {runs:.0e} runs a side / run alone"
    show(name, "<= 3", f"{ratio:.2f} ({pairs[0][1]:.2f} s)", ratio <= 3)
    single = statistics.median(seconds(audit) for _ in range(repeats))
    double = statistics.median(
        seconds(lambda: dpaudit.audit_privacy(learner, [pair], trials=runs, n_jobs=2)) for _ in range(repeats)
    )
    show("two jobs against one (same audit)", "", f"{single / double:.2f} x", True)


def memory() -> None:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    show("peak memory of all the above, MB", "<= 500", f"{used:.0f}", used <= 500)


def imports(repeats: int) -> None:
    for what, code, limit in (
        ("import dpaudit, ms above an empty interpreter", "import dpaudit", 50),
        ("dpaudit list, ms above an empty interpreter", "from dpaudit.cli import main; main(['list'])", 500),
    ):
        empty = [sys.executable, "-c", "pass"]
        full = [sys.executable, "-c", code]
        extra = [
            1000 * (seconds(lambda: _silent(full)) - seconds(lambda: _silent(empty)))  # noqa: B023
            for _ in range(max(5, repeats))
        ]
        show(what, f"<= {limit}", f"{statistics.median(extra):.0f}", statistics.median(extra) <= limit)


def _silent(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000_000, help="runs a side (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="repeats of each timing (default: %(default)s)")
    options = parser.parse_args()
    print(f"{'what':62s} {'promised':>12s} {'measured':>16s}")
    imports(options.repeats)
    blackbox(options.runs, options.repeats)
    memory()


if __name__ == "__main__":
    main()

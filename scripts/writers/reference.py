"""Write the reference report: theorems at their own size, exact audits, n*, laws, audits and the ledger, in one page.

It is made in parts, each of which can be run alone, in any order; the page is made of what there is. What a part has
measured is kept as it goes, and with --resume it goes on from there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from benchmarks import exact_sizes, theorems

import dpaudit
from dpaudit.app import main as command_line
from dpaudit.contract import Distribution, HasHardFailure, HasWorstCase, InputError, Learner
from dpaudit.evidence.store import load_run
from dpaudit.record import as_json
from dpaudit.registry import load
from dpaudit.utility.audit import stated_claim
from dpaudit.utility.hard_cases import HardCase
from dpaudit.utility.problem import CaseFailure
from dpaudit.utility.sample_complexity import MOVES
from writers.sizes import EXACT, FEW_MOVES, LAWS, SIZES
from writers.theorem_page import PROMISES, TIMES, Parts, report

# The report is kept in git, and its page is read in a browser.
MOST_BYTES = 12 * 2**20
MOST_OF_PAGE = 3 * 2**20
PARTS = ("theorems", "exact", "statements", "sizes", "laws", "audits")

# The runs of each theorem at its own size, and how many smaller n are tried, each a quarter of the last.
RUNS = 200
FEWER = 5
# The points of a curve of failures against n.
POINTS = 25


def measured_size(seed: int, id: str, given: dict[str, Any], alpha: float, beta: float) -> dict[str, Any]:
    """Return one sample complexity as a record, with its learner, and the curve of its failures."""
    learner = dpaudit.pac.get_learner(id, **given)
    moves = FEW_MOVES.get(id, MOVES)
    finding = dpaudit.pac.sample_complexity(learner, alpha=alpha, beta=beta, moves=moves, seed=seed)
    curve = failures(learner, finding)
    return {"learner": id, "parameters": given, "finding": finding.to_dict(), "curve": curve}


def failures(learner: Learner, finding: dpaudit.pac.SampleComplexityFinding) -> list[tuple[int, float, float]]:
    """Return n and two ends of the worst failure rate, from below n* to the theorem; nothing without a formula."""
    least = max(1, finding.lower // 8)
    sizes = sorted({round(n) for n in np.geomspace(least, finding.theorem, POINTS)})
    try:
        if isinstance(learner, HasWorstCase) and finding.certificate is not None:
            found = [(n, learner.worst_failure(finding.alpha, n)) for n in sizes]
            return [(n, one.lower, one.upper) for n, one in found]
        rates = [(n, rate_of(learner, finding, n)) for n in sizes]
        return [(n, rate[0], rate[1]) for n, rate in rates if rate is not None]
    except InputError:
        # The formula does not reach these numbers.
        return []


def rate_of(learner: Learner, finding: dpaudit.pac.SampleComplexityFinding, n: int) -> tuple[float, float] | None:
    """Return an interval of the failure rate on the worst case of a finding; None where that cannot be summed up."""
    worst = finding.worst
    # A case without points is the learner's own, which has a formula.
    if not worst.points:
        if not isinstance(learner, HasHardFailure):
            return None
        rate = learner.hard_failure(finding.alpha, n)[0]
        return rate, rate
    if worst.concept is None:
        return None
    law = Distribution(np.asarray(worst.points), np.asarray(worst.probabilities), worst.name)
    noise = np.asarray(worst.noise) if worst.noise else None
    case = HardCase(worst.concept, law, worst.name, noise)
    return CaseFailure(learner, case, finding.alpha, finding.setting).exact(n)


def measured_theorem(seed: int, number: int) -> dict[str, Any]:
    """Return the runs of one learner at its theorem's own size as a record."""
    return theorems.measured(theorems.ROWS[number], RUNS, FEWER, seed).to_dict()


def measured_exact(seed: int, id: str, n: int, samples: str) -> dict[str, Any]:
    """Return what an exact audit of a learner finds at its instance, of all samples of n examples or crafted ones."""
    stored = exact_sizes.audited(id, n, samples == "crafted").to_dict()
    names = ("verdict", "epsilon", "claimed_epsilon", "claimed_delta", "delta_at_claim", "pairs", "error")
    return {"learner": id, "n": n, "samples": samples, **{name: stored.get(name) for name in names}}


def measured_statement(seed: int, id: str) -> dict[str, Any]:
    """Return the row of the ledger of one statement, which has a seed of its own."""
    found: dict[str, Any] = json.loads(as_json(dpaudit.pac.ledger([id])[0]))
    return found


def shown_statements() -> list[tuple[str]]:
    """Return the statements that the table of theorems shows: on examples, and on running times."""
    ids = {*TIMES.values(), *PROMISES.values()}
    for entry in load().entries:
        learner = entry.build(**entry.instance.parameters)
        if entry.fault is None:
            claim = stated_claim(learner, entry.instance.alpha, entry.instance.beta, needed=False)
            if claim is not None and claim.claim_id:
                ids.add(claim.claim_id)
    return [(one.id,) for one in load().statements if one.id in ids]


def measured_law(seed: int, id: str, parameter: str, values: Sequence[float], given: dict[str, Any]) -> dict[str, Any]:
    """Return one scaling law as a record."""
    return dpaudit.pac.scaling_law(id, parameter, values, seed=seed, **given).to_dict()


MEASURED: dict[str, tuple[Sequence[Any], Callable[..., dict[str, Any]]]] = {
    "theorems": ([(number,) for number in range(len(theorems.ROWS))], measured_theorem),
    "exact": (EXACT, measured_exact),
    "statements": (shown_statements(), measured_statement),
    "sizes": (SIZES, measured_size),
    "laws": (LAWS, measured_law),
}
"""The parts besides the audits: their cases, and the function that measures one."""


def timed(measure: Callable[..., dict[str, Any]], seed: int, case: Sequence[Any]) -> tuple[str, dict[str, Any], float]:
    """Return a case as a key, its record, and the seconds that it took."""
    start = time.perf_counter()
    record = measure(seed, *case)
    return json.dumps(case), record, time.perf_counter() - start


def write_part(file: Path, *, seed: int, n_jobs: int, resume: bool) -> None:
    """Measure the cases of a part into its file; what is done stands in another beside it until all are."""
    cases, measure = MEASURED[file.stem]
    work = file.with_suffix(".unfinished.json")
    if resume and file.exists():
        return
    known = json.loads(work.read_text(encoding="utf-8")) if resume and work.exists() else {}
    todo = [case for case in cases if json.dumps(case) not in known]
    run = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    for key, record, seconds in run(joblib.delayed(timed)(measure, seed, case) for case in todo):
        known[key] = record
        work.write_text(json.dumps(known) + "\n", encoding="utf-8")
        print(f"{file.stem} {len(known)}/{len(cases)}: {key}, {seconds:.0f} s", file=sys.stderr)
    told = [known[json.dumps(case)] for case in cases]
    file.write_text(json.dumps(told, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    work.unlink(missing_ok=True)


def write_page(out: Path) -> None:
    """Write the page of what the parts have made, in the place of that of the run alone, which it begins with."""
    found = {name: read_part(out / f"{name}.json") for name in MEASURED}
    laws = [dpaudit.pac.ScalingFinding.from_dict(law) for law in found.pop("laws")]
    (out / "report.html").write_text(report(load_run(out), Parts(laws=laws, **found)), encoding="utf-8")


def read_part(file: Path) -> list[dict[str, Any]]:
    """Return what a part has measured; nothing where it was not made."""
    if not file.exists():
        return []
    told: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return told


def run_audits(args: argparse.Namespace) -> int:
    """Run all audits and the ledger, and return the status."""
    words = ["--profile", args.profile, "--out", str(args.out), "--seed", str(args.seed), "--jobs", str(args.jobs)]
    resumed = ["--resume"] if args.resume and (args.out / "run.jsonl").exists() else []
    status = int(command_line(["run", *args.ids, *words, *resumed]))
    # The run before this one is in git.
    (args.out / "run.jsonl.bak").unlink(missing_ok=True)
    return status


def main(words: Sequence[str] | None = None) -> int:
    """Write the report and return the status of its audits; 2 if it is too large to keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", help="learners to audit (default: all, and the ledger)")
    parser.add_argument("--part", action="append", choices=PARTS, help="make this part only; repeatable (default: all)")
    parser.add_argument("--resume", action="store_true", help="keep what an earlier run of these options has made")
    parser.add_argument("--profile", default="full", help="of the audits (default: full)")
    parser.add_argument("--out", type=Path, default=Path("reports/reference"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; no byte depends on it (default: all)")
    args = parser.parse_args(words)
    args.out.mkdir(parents=True, exist_ok=True)
    status = 0
    for part in [part for part in PARTS if part in (args.part or PARTS)]:
        start = time.perf_counter()
        if part == "audits":
            status = run_audits(args)
        else:
            write_part(args.out / f"{part}.json", seed=args.seed, n_jobs=args.jobs, resume=args.resume)
        print(f"{part}: {(time.perf_counter() - start) / 60:.1f} min", file=sys.stderr)
    if (args.out / "run.jsonl").exists():
        write_page(args.out)
    else:
        print(f"{args.out} has no run.jsonl: the page is made with the part audits", file=sys.stderr)
    sizes = {file.name: file.stat().st_size for file in args.out.iterdir()}
    for name, size, most in (
        (str(args.out), sum(sizes.values()), MOST_BYTES),
        ("report.html", sizes.get("report.html", 0), MOST_OF_PAGE),
    ):
        if size > most:
            print(f"{name} has {size:,} bytes, more than the {most:,} that are kept in git", file=sys.stderr)
            return 2
    return status

"""Write the reference report: all audits, the ledger, sample complexities n* and scaling laws with their figures.

It is made in parts, each of which can be run alone, in any order; the page is made of what there is. What a part has
measured is kept as it goes, and with --resume it goes on from there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import joblib

import dpaudit
from dpaudit.app import main as command_line
from dpaudit.evidence.verification import verify_run
from dpaudit.report.plots import as_svg
from dpaudit.utility.sample_complexity import MOVES
from writers.sizes import FEW_MOVES, LAWS, SIZES

MOST_BYTES = 10 * 2**20
"""The report is kept in git."""
PARTS = ("sizes", "laws", "audits")

PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>dpaudit: the reference audit</title>
<style>body {{ font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }}
table {{ border-collapse: collapse }} td, th {{ padding: .2em .7em; text-align: right; border-bottom: 1px solid #ccc }}
td:first-child, th:first-child {{ text-align: left }}
figure {{ display: inline-block; margin: 1em 0; width: 29em }} figure img {{ width: 100% }}
code {{ overflow-wrap: anywhere }}</style></head>
<body><h1>The reference audit</h1>
<p>All audits and the ledger: <a href="report.html">report.html</a>. Numbers: <a href="sizes.json">sizes.json</a>,
<a href="laws.json">laws.json</a>. Seed {seed}, dpaudit {version}.</p>
<p>Total of <a href="run.jsonl">run.jsonl</a>: <code>{total}</code>. <code>dpaudit verify reports/reference --total
{total}</code> says whether anything in it was changed.</p>
<h2>Sample complexity</h2>
<p>The learner fails with more than beta at the first n on some case, and at the second n on none, for the reason given.
"suffices / n*" is at most so large, and "theorem / suffices" is the looseness of the theorem that is proved.</p>
<table><tr><th>learner</th><th>alpha</th><th>beta</th><th>fails</th><th>suffices</th><th>by</th><th>theorem</th>
<th>suffices / n*</th><th>theorem / suffices</th><th>what is missing</th></tr>
{sizes}</table>
<h2>Scaling laws</h2>
<p>n* of one case along the values bounds the worst case from below: the slope of ln(n*/theorem) could refute the O(.),
and no exponent confirms it. The intervals are limits of the fit to computed n*.</p>
<table><tr><th>law</th><th>slope of ln(n*/theorem)</th><th>verdict</th><th>exponent</th><th>upper half</th></tr>
{laws}</table>
{figures}
</body></html>
"""


def measured_size(seed: int, id: str, given: dict[str, Any], alpha: float, beta: float) -> dict[str, Any]:
    """Return one sample complexity as a record, with its learner."""
    learner = dpaudit.pac.get_learner(id, **given)
    moves = FEW_MOVES.get(id, MOVES)
    finding = dpaudit.pac.sample_complexity(learner, alpha=alpha, beta=beta, moves=moves, seed=seed)
    return {"learner": id, "parameters": given, "finding": finding.to_dict()}


def measured_law(seed: int, id: str, parameter: str, values: Sequence[float], given: dict[str, Any]) -> dict[str, Any]:
    """Return one scaling law as a record."""
    return dpaudit.pac.scaling_law(id, parameter, values, seed=seed, **given).to_dict()


MEASURED: dict[str, tuple[Sequence[Any], Callable[..., dict[str, Any]]]] = {
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


def size_row(told: dict[str, Any]) -> str:
    """Return one sample complexity as a row of the page."""
    finding = told["finding"]
    name = f"{told['learner']} ({', '.join(f'{k}={v}' for k, v in told['parameters'].items())})"
    cells = [finding[key] for key in ("alpha", "beta", "lower", "upper", "reason", "theorem")]
    upper = finding["upper"]
    if upper is None:
        return _row([name, *cells, "", "", finding["missing"]])
    ratios = upper / (finding["lower"] + 1), finding["theorem"] / upper
    return _row([name, *cells, *(f"{ratio:.2f}" for ratio in ratios), finding["missing"]])


def law_row(law: dpaudit.pac.ScalingFinding) -> str:
    """Return one law as a row of the page."""
    ratio, *exponents = (
        f"{slope.value:+.3f} [{slope.lower:+.3f}, {slope.upper:+.3f}]"
        for slope in (law.ratio_slope, law.exponent, law.upper_exponent)
    )
    return _row([f"{law_name(law)}: {law.abscissa}", ratio, law.verdict, *exponents])


def law_name(law: dpaudit.pac.ScalingFinding) -> str:
    """Return the learner of a law, with its variant and with the setting where they are not the usual ones."""
    variant = law.fixed.get("variant")
    setting = law.setting
    return ", ".join([law.learner, *([variant] if variant else []), *([setting] if setting != "realizable" else [])])


def _row(cells: Sequence[object]) -> str:
    shown = "".join(f"<td>{'' if cell is None else escape(str(cell))}</td>" for cell in cells)
    return f"<tr>{shown}</tr>\n"


def write_page(out: Path, seed: int) -> None:
    """Write the figures and the page of what the parts have made; verify the run, and name its total."""
    sizes, laws = (
        json.loads(file.read_text(encoding="utf-8")) if (file := out / f"{name}.json").exists() else []
        for name in ("sizes", "laws")
    )
    found = [dpaudit.pac.ScalingFinding.from_dict(law) for law in laws]
    figures = []
    for old in out.glob("law-*.svg"):
        old.unlink()
    for law in found:
        name = f"law-{law_name(law).replace(', ', '-')}-{law.parameter}.svg"
        (out / name).write_bytes(as_svg(law.plot()))
        caption = escape(f"{law_name(law)}: n* against {law.abscissa}")
        figures.append(f'<figure><img src="{name}" alt="{caption}"><figcaption>{caption}</figcaption></figure>')
    page = PAGE.format(
        seed=seed,
        version=dpaudit.__version__,
        total=verify_run(out).total if (out / "run.jsonl").exists() else "none yet",
        sizes="".join(map(size_row, sizes)),
        laws="".join(map(law_row, found)),
        figures="\n".join(figures),
    )
    (out / "index.html").write_text(page, encoding="utf-8")


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
    write_page(args.out, args.seed)
    size = sum(file.stat().st_size for file in args.out.iterdir())
    if size > MOST_BYTES:
        print(f"{args.out} has {size:,} bytes, more than the {MOST_BYTES:,} that are kept in git", file=sys.stderr)
        return 2
    return status

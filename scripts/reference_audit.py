"""Write the reference report: all audits, the ledger, sample complexities n* and scaling laws with their figures."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import joblib

import dpaudit
from dpaudit.cli import main as command_line
from dpaudit.reporters.plots.style import as_svg
from learners.papers.scaling import ACCURACIES, DIMENSIONS, FINITE, PRIVACIES, SMALL

MOST_BYTES = 10 * 2**20
"""The report is kept in git."""

SIZES: tuple[tuple[str, dict[str, Any], float, float], ...] = (
    ("point-exponential", {"domain_size": 8, "epsilon": 1.0}, 0.1, 0.1),
    ("point-exponential", {"domain_size": 64, "epsilon": 1.0}, 0.1, 0.1),
    ("threshold-exponential", {"domain_size": 8, "epsilon": 1.0}, 0.1, 0.1),
    ("threshold-exponential", {"domain_size": 64, "epsilon": 1.0}, 0.1, 0.1),
    ("conjunction-exponential", {"dimension": 3, "k": 2, "epsilon": 1.0}, 0.1, 0.1),
    ("box-exponential", {"side": 7, "dimension": 1, "epsilon": 1.0}, 0.1, 0.1),
    ("box-exponential", {"side": 2, "dimension": 2, "epsilon": 1.0}, 0.1, 0.1),
    ("parity-private", {"dimension": 3, "epsilon": 1.0}, 0.1, 0.6),
    ("conjunction-greedy", {"dimension": 2, "k": 1, "epsilon": 1.0}, 0.2, 0.2),
    ("interior-point-exponential", {"domain_size": 2**12, "epsilon": 1.0}, 0.1, 0.1),
    ("mixture-halfspace", {"dimension": 1, "side": 7, "epsilon": 1.0}, 0.1, 0.1),
)
"""Learner, parameters, alpha and beta of each sample complexity."""

LAWS: tuple[tuple[str, str, Sequence[float], dict[str, Any]], ...] = (
    (
        "point-exponential",
        "domain_size",
        [2**k for k in (2, 4, 8, 16, 32, 64, 128, 256)],
        {"alpha": 0.1, "beta": 0.1, "epsilon": 1.0},
    ),
    *((id, "alpha", ACCURACIES, {"beta": 0.1, "epsilon": 1.0, **SMALL[id]}) for id in FINITE),
    *((id, "epsilon", PRIVACIES, {"alpha": 0.1, "beta": 0.1, **SMALL[id]}) for id in FINITE),
    ("parity-private", "dimension", DIMENSIONS, {"alpha": 0.1, "beta": 0.6, "epsilon": 1.0}),
    ("parity-private", "alpha", ACCURACIES, {"beta": 0.6, "epsilon": 1.0, "dimension": 16}),
    ("parity-private", "epsilon", PRIVACIES[:-1], {"alpha": 0.1, "beta": 0.6, "dimension": 16}),
)
"""Learner, parameter, values and the rest of each scaling law."""

PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>dpaudit: the reference audit</title>
<style>body {{ font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }}
table {{ border-collapse: collapse }} td, th {{ padding: .2em .7em; text-align: right; border-bottom: 1px solid #ccc }}
td:first-child, th:first-child {{ text-align: left }} figure {{ display: inline-block; margin: 1em 0 }}</style></head>
<body><h1>The reference audit</h1>
<p>All audits and the ledger: <a href="report.html">report.html</a>. Numbers: <a href="sizes.json">sizes.json</a>,
<a href="laws.json">laws.json</a>. Seed {seed}, dpaudit {version}.</p>
<h2>Sample complexity on the worst case found</h2>
<p>With the stated confidence the learner fails with more than beta at the first n and suffices, on that case, at the
second.</p>
<table><tr><th>learner</th><th>alpha</th><th>beta</th><th>fails</th><th>suffices</th><th>theorem</th>
<th>theorem / n*</th><th>uniform</th><th>hard cases</th></tr>
{sizes}</table>
<h2>Scaling laws</h2>
<table><tr><th>law</th><th>exponent</th><th>upper half</th><th>slope of ln(n*/theorem)</th><th>verdict</th></tr>
{laws}</table>
{figures}
</body></html>
"""


def measured_size(id: str, given: dict[str, Any], alpha: float, beta: float, seed: int) -> dict[str, Any]:
    """Return one sample complexity as a record, with its learner."""
    learner = dpaudit.get_learner(id, **given)
    finding = dpaudit.sample_complexity(learner, alpha=alpha, beta=beta, seed=seed)
    return {"learner": id, "parameters": given, "finding": finding.to_dict()}


def size_row(told: dict[str, Any]) -> str:
    """Return one sample complexity as a row of the page."""
    finding = told["finding"]
    name = f"{told['learner']} ({', '.join(f'{k}={v}' for k, v in told['parameters'].items())})"
    ratio = f"{finding['theorem'] / finding['lower']:.2f}" if finding["lower"] else ""
    cells = [finding[key] for key in ("alpha", "beta", "lower", "upper", "theorem")]
    return _row([name, *cells, ratio, finding["uniform"], finding["hard_cases"]])


def law_row(law: dpaudit.ScalingFinding) -> str:
    """Return one law as a row of the page."""
    slopes = (law.exponent, law.upper_exponent, law.ratio_slope)
    told = [f"{slope.value:+.3f} [{slope.lower:+.3f}, {slope.upper:+.3f}]" for slope in slopes]
    return _row([f"{law.learner}, {law.abscissa}", *told, law.verdict])


def _row(cells: Sequence[object]) -> str:
    shown = "".join(f"<td>{'' if cell is None else escape(str(cell))}</td>" for cell in cells)
    return f"<tr>{shown}</tr>\n"


def write_measured(out: Path, seed: int, sizes: Sequence[Any] = SIZES, laws: Sequence[Any] = LAWS) -> None:
    """Measure sample complexities and laws, and write them with their figures and the page."""
    found = joblib.Parallel(n_jobs=-1)(joblib.delayed(measured_size)(*case, seed) for case in sizes)
    fitted = [dpaudit.scaling_law(*case, seed=seed, **given) for *case, given in laws]
    for name, told in (("sizes", found), ("laws", [law.to_dict() for law in fitted])):
        (out / f"{name}.json").write_text(json.dumps(told, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    figures = []
    for law in fitted:
        file = f"law-{law.learner}-{law.parameter}.svg"
        (out / file).write_bytes(as_svg(law.plot()))
        caption = escape(f"{law.learner}: n* against {law.abscissa}")
        figures.append(f'<figure><img src="{file}" alt="{caption}"><figcaption>{caption}</figcaption></figure>')
    page = PAGE.format(
        seed=seed,
        version=dpaudit.__version__,
        sizes="".join(map(size_row, found)),
        laws="".join(map(law_row, fitted)),
        figures="\n".join(figures),
    )
    (out / "index.html").write_text(page, encoding="utf-8")


def main(words: Sequence[str] | None = None) -> int:
    """Write the report and return the status of its audits; 2 if it is too large to keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", help="learners to audit (default: all, and the ledger)")
    parser.add_argument("--profile", default="full")
    parser.add_argument("--out", type=Path, default=Path("reports/reference"))
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(words)
    args.out.mkdir(parents=True, exist_ok=True)
    write_measured(args.out, args.seed)
    status = command_line(
        ["run", *args.ids, "--profile", args.profile, "--out", str(args.out), "--seed", str(args.seed)]
    )
    size = sum(file.stat().st_size for file in args.out.iterdir())
    if size > MOST_BYTES:
        print(f"{args.out} has {size:,} bytes, more than the {MOST_BYTES:,} that are kept in git", file=sys.stderr)
        return 2
    return int(status)


if __name__ == "__main__":
    sys.exit(main())

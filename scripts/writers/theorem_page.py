"""The page of the reference report: what theorems promise and what was measured, failures against n, and laws.

It is the page of the run of all audits, opened by one table. A row is a learner with a theorem on its accuracy, or a
claim of privacy; its columns come from parts that are measured apart: runs at the theorem's own size, both ends of n*,
exact audits at the largest n of a minute, and the statements of running times in the ledger.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scipy.special import betainc

from dpaudit.contract import PrivacyVerdict, Statement, UtilityVerdict
from dpaudit.evidence.records import LedgerRow, Run
from dpaudit.pac import ScalingFinding
from dpaudit.record import decode
from dpaudit.registry import Registry, load
from dpaudit.report.html import extended, run_page
from dpaudit.report.numbers import count, raised, share, significant, value_text
from dpaudit.report.svg import Scale, across, along, axis, dot, drawing, element, path, words

TEMPLATE = Path(__file__).with_name("reference.html.j2")
# The statements of the ledger on the running time of a learner.
TIMES: dict[str, str] = {
    "set-cover-conjunction": "KMMS-Thm3.5-time",
    "set-cover-disjunction": "KMMS-Thm3.5-time",
    "convex-polygon": "KMMS-Thm4.7-time",
    "polygon-union": "KMMS-Thm5.1-run",
    "parity-private": "NIS-Parity-time",
    "conjunction-exponential": "STE-Conj-time",
    "box-exponential": "STE-Boxd-time",
    "halfspace-exponential": "KMMS-Sec6-time",
    "point-exponential": "NIS-Generic-time",
    "threshold-exponential": "NIS-Generic-time",
}
# The statement on examples of a learner whose claim names another one, as on privacy.
PROMISES: dict[str, str] = {
    "box-interior-point": "STE-Box2-size",
    "conjunction-exponential": "STE-ConjExp-Size",
    "conjunction-greedy": "STE-Conj2-law-k",
    "conjunction-laplace": "STE-Conj1-Size",
    "halfspace-exponential": "BMNS-Sec4-exponential",
    "halfspace-tukey": "BMNS-Thm4.2-utility",
    "hull-point-exponential": "BMNS-footnote1",
    "interior-point-tree-log": "STE-Box2-m",
    "parity-amplified": "NIS-ParityAmplification",
    "parity-private": "NIS-ParityLearner-law-dimension",
    "set-cover-disjunction": "KMMS-Thm1.3",
}
# Of figures: their height, the place of a rate of 0 and of 1, and the width of the box, which is stretched.
HEIGHT = 230
BASE = 180
TOP = 16
WIDTH = 1000


@dataclass(frozen=True)
class Parts:
    """The numbers that the parts of the reference audit have measured, as records of JSON."""

    theorems: Sequence[Mapping[str, Any]] = ()
    sizes: Sequence[Mapping[str, Any]] = ()
    exact: Sequence[Mapping[str, Any]] = ()
    statements: Sequence[Mapping[str, Any]] = ()
    laws: Sequence[ScalingFinding] = ()


@dataclass(frozen=True)
class Cell:
    """The words of a column: a line in normal letters, and a smaller one."""

    text: str = ""
    small: str = ""
    tone: str = ""


@dataclass(frozen=True)
class TheoremRow:
    """One row of the table, and its figure."""

    id: str
    name: str
    cells: Sequence[Cell]
    figures: Sequence[Figure] = field(default=())


@dataclass(frozen=True)
class Figure:
    """A figure with its caption."""

    svg: str
    caption: str


COLUMNS = (
    ("promise", "What the theorem promises, and the class of its statement"),
    ("asked", "n that it asks for"),
    ("failures", "Failures there, and their 95 % interval; β"),
    ("ends", "n*: too few, enough"),
    ("loose", "Enough over too few; theorem over enough"),
    ("privacy", "Largest exact ε, of the claim"),
    ("steps", "Steps, of the time claimed"),
)


def report(run: Run, parts: Parts) -> str:
    """Return the page of a run, opened by the table of theorems."""
    page = run_page(run)
    registry = load()
    ledger = {row.id: row for row in (decode(json.dumps(one), LedgerRow) for one in parts.statements)}
    rows = [row_of(id, parts, ledger, registry) for id in learners_of(parts, registry)]
    page["contents"] = [("theorems", "Theorems"), *page["contents"][:-2], ("laws", "Laws"), *page["contents"][-2:]]
    page["theorems"] = {"columns": [title for _, title in COLUMNS], "rows": rows}
    page["laws"] = [law_figure(law) for law in parts.laws]
    return extended(TEMPLATE.read_text(encoding="utf-8"), page)


def learners_of(parts: Parts, registry: Registry) -> list[str]:
    """Return the ids of the learners of which a part has something, in the order of the registry."""
    known = {record["learner"] for part in (parts.theorems, parts.sizes, parts.exact) for record in part}
    return [entry.id for entry in registry.entries if entry.id in known]


def row_of(id: str, parts: Parts, ledger: Mapping[str, LedgerRow], registry: Registry) -> TheoremRow:
    """Return the row of a learner."""
    runs = [one for one in parts.theorems if one["learner"] == id]
    sizes = [one for one in parts.sizes if one["learner"] == id]
    exact = [one for one in parts.exact if one["learner"] == id]
    statements = {one.id: one for one in registry.statements}
    claims = [one["finding"]["claim_id"] for one in (*runs, *sizes) if one.get("finding")]
    # The reference has a learner at several sizes; the last one is the largest.
    size = sizes[-1] if sizes else None
    cells = (
        promise_cell(PROMISES.get(id, claims[0] if claims else ""), statements, ledger),
        asked_cell(runs, size),
        failure_cell(runs),
        ends_cell(size),
        looseness_cell(size),
        privacy_cell(exact),
        steps_cell(id, ledger),
    )
    # A curve that ends before n* shows nothing of it.
    curves = [one for one in sizes if one["curve"] and one["curve"][-1][0] > one["finding"]["lower"]]
    figures = [*map(failure_figure, curves), *(measured_figure(one) for one in runs if one.get("fewer"))]
    return TheoremRow(f"theorem-{id}", id, cells, figures)


def promise_cell(claim: str, statements: Mapping[str, Statement], ledger: Mapping[str, LedgerRow]) -> Cell:
    """Return the statement that a learner's claim rests on, and the class that the ledger gives it."""
    if not claim:
        return Cell("no theorem on accuracy")
    if claim not in statements:
        return Cell(claim)
    statement = statements[claim]
    verdict = f", {ledger[claim].word}" if claim in ledger else ""
    return Cell(statement.formula or statement.short, f"{claim}{verdict}")


def asked_cell(runs: Sequence[Mapping[str, Any]], size: Mapping[str, Any] | None) -> Cell:
    """Return the n that the theorem asks for at its own size, else at that of n*."""
    for one in runs:
        if one.get("finding"):
            return Cell(count(one["finding"]["n"]), parameters_text(one["parameters"]))
    if size is not None:
        return Cell(count(size["finding"]["theorem"]), parameters_text(size["parameters"]))
    return Cell()


def failure_cell(runs: Sequence[Mapping[str, Any]]) -> Cell:
    """Return the failures at the theorem's own size, the control with more noise below; or why there are none."""
    for one in runs:
        finding = one.get("finding")
        if not finding:
            return Cell("not run", one["missing"])
        interval = f"{share(finding['failure_lower'], 'down')} to {share(finding['failure_upper'], 'up')} %"
        control = one["control"]
        tone = "bad" if finding["verdict"] == UtilityVerdict.VIOLATION else ""
        noisy = f"{count(control['times'])} times the noise: {control['failures']} of {control['trials']}"
        if not fails(control["failures"], control["trials"], finding["beta"]):
            noisy += ", which is no failure: the row shows nothing"
        runs = f"{count(finding['failures'])} of {count(finding['trials'])}, {interval}"
        return Cell(f"{runs}; β {share(finding['beta'])} %", noisy, tone)
    return Cell()


def fails(failures: int, trials: int, beta: float) -> bool:
    """Return whether so many failures exclude a rate of beta, with 97.5 % confidence."""
    # Pr[Bin(trials, beta) >= failures]
    return failures > 0 and float(betainc(failures, trials - failures + 1, beta)) < 0.025


def ends_cell(size: Mapping[str, Any] | None) -> Cell:
    """Return both ends of n*, and what the upper one rests on."""
    if size is None:
        return Cell()
    finding = size["finding"]
    upper = "unknown" if finding["upper"] is None else count(finding["upper"])
    levels = f"alpha {finding['alpha']:g}, beta {finding['beta']:g}"
    small = f"{finding['reason']}; {parameters_text(size['parameters'])}; {levels}"
    return Cell(f"{count(finding['lower'])}, {upper}", small)


def looseness_cell(size: Mapping[str, Any] | None) -> Cell:
    """Return how far the ends of n* are apart, and how far the theorem is from the upper one."""
    if size is None or not size["finding"]["upper"]:
        return Cell()
    finding = size["finding"]
    # The least n that may suffice is one more than the one that fails.
    apart = finding["upper"] / (finding["lower"] + 1)
    loose = finding["theorem"] / finding["upper"]
    return Cell(f"{apart:.3g}; {loose:.3g}", finding["missing"] if apart > 4 else "")


def privacy_cell(exact: Sequence[Mapping[str, Any]]) -> Cell:
    """Return the largest exact epsilon of the audits of a learner, of what it claims, and at how many examples."""
    if not exact:
        return Cell()
    # JSON has no infinity: it is the text "inf" there.
    most = max(exact, key=lambda one: float(one["epsilon"]))
    # Rounded up, but not beyond a claim that it reaches within its error.
    claim = {"apart_from": float(most["claimed_epsilon"]), "error": float(most["error"])}
    found = significant(float(most["epsilon"]), "up", infinity="∞", **claim)
    # A claim with delta > 0 speaks of the epsilon at that delta.
    if most["claimed_delta"]:
        delta = significant(most["delta_at_claim"], "up")
        claimed = raised(value_text(most["claimed_delta"]))
        text = f"δ {raised(delta)} of {claimed} at ε {value_text(most['claimed_epsilon'])}"
    else:
        text = f"{found} of {value_text(most['claimed_epsilon'])}"
    names = {"all": "every sample", "crafted": "crafted samples"}
    covered = [f"n = {count(one['n'])}, {names[one['samples']]}" for one in exact]
    return Cell(text, "; ".join(covered), "bad" if most["verdict"] == PrivacyVerdict.VIOLATION else "")


def steps_cell(id: str, ledger: Mapping[str, LedgerRow]) -> Cell:
    """Return the growth of a learner's steps, and the time that is claimed."""
    row = ledger.get(TIMES.get(id, ""))
    if row is None:
        return Cell()
    return Cell(raised(row.found), f"claimed: {raised(row.printed)}; {row.id}, {row.word}")


def parameters_text(parameters: Mapping[str, Any]) -> str:
    """Return parameters in words, powers of two as such where they are large."""
    return ", ".join(f"{name} {_value_text(value)}" for name, value in parameters.items())


def _value_text(value: Any) -> str:
    if isinstance(value, int) and value > 10**6 and value & (value - 1) == 0:
        return f"2^{value.bit_length() - 1}"
    return value_text(value)


def failure_figure(size: Mapping[str, Any]) -> Figure:
    """Return the figure of the failure rate on the worst case against n, with both ends of n* and the theorem's n."""
    finding = size["finding"]
    curve = size["curve"]
    ends = [n for n in (finding["lower"], finding["upper"], finding["theorem"]) if n]
    along_n = _logarithmic(min(curve[0][0], *ends), max(curve[-1][0], *ends))
    lines = []
    # Where a proof knows no case, its lower end is 0 and says nothing.
    if any(low > 0 for _, low, _ in curve):
        lines.append(_line("curve", [(n, low) for n, low, _ in curve], along_n))
    proved = any(high - low > 1e-6 for _, low, high in curve)
    if proved:
        lines.append(_line("promised", [(n, high) for n, _, high in curve], along_n))
    marks = [(finding["theorem"], "theorem")]
    # Where ends meet, one word stands for both.
    if finding["upper"] == finding["lower"] + 1:
        marks.insert(0, (finding["upper"], "n*"))
    else:
        if finding["upper"] not in (None, finding["theorem"]):
            marks.insert(0, (finding["upper"], "enough"))
        if finding["lower"]:
            marks.insert(0, (finding["lower"], "too few"))
    caption = f"{size['learner']}, {parameters_text(size['parameters'])}: "
    caption += f"the failure rate on the worst case known against n; β = {finding['beta']:g}."
    if proved:
        caption += " Dashed, falling: what is proved of all cases."
    return _figure(caption, lines, [], marks, finding["beta"], along_n)


def measured_figure(one: Mapping[str, Any]) -> Figure:
    """Return the figure of failures that were measured at the theorem's n and fewer, each with its interval."""
    findings = sorted([one["finding"], *one["fewer"]], key=lambda finding: finding["n"])
    along_n = _logarithmic(findings[0]["n"], findings[-1]["n"])
    bars = [(f["n"], f["failure_rate"], f["failure_lower"], f["failure_upper"]) for f in findings]
    caption = f"{one['learner']}, {parameters_text(one['parameters'])}: failures on its hard target at the theorem's n "
    caption += f"and at fewer, with 95 % intervals; β = {one['finding']['beta']:g}."
    return _figure(caption, [], bars, [(findings[-1]["n"], "theorem")], one["finding"]["beta"], along_n)


def law_figure(law: ScalingFinding) -> Figure:
    """Return the figure of n* and the theorem's n along a parameter, on logarithmic scales."""
    points = law.points
    across_x = _logarithmic(points[0].x, points[-1].x)
    numbers = [n for point in points for n in (point.lower, point.upper, point.theorem) if n]
    low = math.log(min(numbers))
    high = max(math.log(max(numbers)), low + 1e-9)

    def up(n: float) -> float:
        return BASE - (BASE - TOP) * (math.log(max(n, 1)) - low) / (high - low)

    parts = []
    for name, ends in (("promised", [p.theorem for p in points]), ("curve", [p.upper or p.lower for p in points])):
        places = [(WIDTH * across_x(p.x) / 100, up(n)) for p, n in zip(points, ends, strict=True)]
        parts.append(element("path", class_=name, d=path(places)))
    box = element("svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", preserveAspectRatio="none")
    dots = [dot(across_x(p.x), up(p.upper or p.lower)) for p in points]
    below = axis([(across_x(p.x), f"{p.x:.3g}") for p in (points[0], points[-1])], BASE + 20)
    theorem = points[-1].theorem
    found = points[-1].upper or points[-1].lower
    labels = [
        words(f"theorem, {count(theorem)}", "100%", up(theorem) - 6, "end", class_="halo"),
        words(f"n*, {count(found)}", "100%", up(found) + 18, "end", class_="halo"),
    ]
    slope = law.upper_exponent
    caption = f"{law.learner}, {law.claim_id}: n* of a hard case against {law.abscissa}. Exponent in the upper half "
    ratio = law.ratio_slope
    caption += f"{slope.value:.2f} [{slope.lower:.2f}, {slope.upper:.2f}]; that of n*/theorem {ratio.value:+.2f} "
    caption += f"[{ratio.lower:+.2f}, {ratio.upper:+.2f}]: {law.verdict}."
    return Figure(drawing(caption, HEIGHT, across("axis", 0, 100, BASE), below, box, *dots, *labels), caption)


def _logarithmic(low: float, high: float) -> Scale:
    """Return the scale from numbers to per cent of the width, logarithmic, with some room at its ends."""
    start = math.log(max(low, 1e-12))
    end = max(math.log(max(high, 1e-12)), start + 1e-9)
    return lambda n: 2 + 96 * (math.log(max(n, 1e-12)) - start) / (end - start)


def _up(rate: float) -> float:
    return BASE - (BASE - TOP) * rate


def _line(name: str, points: Sequence[tuple[float, float]], along_n: Scale) -> str:
    return element("path", class_=name, d=path((WIDTH * along_n(n) / 100, _up(rate)) for n, rate in points))


def _figure(
    caption: str,
    lines: Sequence[str],
    bars: Sequence[tuple[int, float, float, float]],
    marks: Sequence[tuple[int, str]],
    beta: float,
    along_n: Scale,
) -> Figure:
    box = element("svg", *lines, viewBox=f"0 0 {WIDTH} {HEIGHT}", preserveAspectRatio="none")
    allowed = [across("promised", 0, 100, _up(beta)), words(f"β {beta:g}", 0, _up(beta) - 5, class_="t halo")]
    axes = [across("axis", 0, 100, BASE), across("grid", 0, 100, _up(1)), words("1", 0, _up(1) + 13, class_="t")]
    parts = [*axes, *allowed, box]
    for n, rate, lower, upper in bars:
        x = along(along_n(n))
        parts += [element("line", class_="exact", x1=x, x2=x, y1=_up(lower), y2=_up(upper)), dot(along_n(n), _up(rate))]
    # Marks that are near to each other have their words on lines of their own.
    for i, (n, name) in enumerate(marks):
        x = along(along_n(n))
        parts.append(element("line", class_="claim", x1=x, x2=x, y1=TOP, y2=BASE))
        anchor = "end" if along_n(n) > 60 else "start"
        parts.append(words(f"{name}, {count(n)}", x, BASE + 16 + 15 * i, anchor))
    return Figure(drawing(caption, HEIGHT, *parts), caption)

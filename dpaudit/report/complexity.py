"""Sample complexities and scaling laws in words: a few lines, and the page."""

from __future__ import annotations

from dpaudit.contract import Grade, Verdict
from dpaudit.report.numbers import count, percent, plural, significant, value_text
from dpaudit.report.terminal import Lines
from dpaudit.utility.complexity_finding import SampleComplexityFinding, WorstCase
from dpaudit.utility.exponents import Slope
from dpaudit.utility.scaling_finding import ScalingFinding

__all__ = ["complexity_lines", "complexity_page"]

_SHOWN = 8
"""Points of a distribution that are listed."""
_LAWS = {
    Verdict.VIOLATION: "n* outgrows the theorem's formula in the upper half",
    Verdict.HOLDS: "n* does not outgrow the theorem's formula in the upper half",
    Verdict.UNDECIDED: "the values do not tell whether n* outgrows the theorem's formula",
}


def complexity_lines(finding: SampleComplexityFinding | ScalingFinding, name: str, repeat: str) -> Lines:
    """Return the verdict, what it rests on, and what repeats it, as a label and a text each."""
    lines = _size_lines(finding, name) if isinstance(finding, SampleComplexityFinding) else _law_lines(finding)
    return [*lines, ("repeat", repeat) if repeat else ("seed", str(finding.seed))]


def complexity_page(finding: SampleComplexityFinding | ScalingFinding, name: str, repeat: str) -> Lines:
    """Return all that a finding says."""
    levels = [
        f"{word} {value_text(level)}" for word, level in (("alpha", finding.alpha), ("beta", finding.beta)) if level
    ]
    about = [("audited", name), ("claim", f"{finding.claim_id or 'none'}: {', '.join(levels)} ({finding.setting})")]
    more = _size_page(finding) if isinstance(finding, SampleComplexityFinding) else _law_page(finding)
    *lines, repeated = complexity_lines(finding, name, repeat)
    return [*about, *lines, *more, repeated]


def _size_lines(finding: SampleComplexityFinding, name: str) -> Lines:
    sure = "computed" if finding.grade != Grade.STATISTICAL else f"{percent(finding.confidence)} sure"
    shown = f"n* > {count(finding.lower)}"
    enough = f"{count(finding.upper)} suffice" if finding.upper is not None else "no n was shown to suffice"
    ratio = f", {significant(finding.theorem / finding.lower, digits=2)} times as many" if finding.lower else ""
    told = f"{name} needs {shown} examples, the theorem asks for {count(finding.theorem)}{ratio}"
    lines = [
        (finding.verdict.upper(), told),
        ("because", f"on its worst case found {count(finding.lower)} fail and {enough} ({sure}): {finding.worst.name}"),
    ]
    seen = {"the uniform distribution": finding.uniform, "the hard cases alone": finding.hard_cases}
    others = [f"{word} about {count(n)}" for word, n in seen.items() if n is not None]
    return [*lines, ("compare", f"{' and '.join(others)} would have shown")] if others else lines


def _size_page(finding: SampleComplexityFinding) -> Lines:
    chose = f"{plural(finding.candidates, 'case')} competed at the end; seed {finding.seed}"
    return [("worst", _case_text(finding.worst)), ("grade", finding.grade), ("search", chose)]


def _case_text(case: WorstCase) -> str:
    """Return a case with the likeliest of its points."""
    if not case.points:
        return case.name
    order = sorted(range(len(case.points)), key=lambda i: -case.probabilities[i])
    listed = [f"{case.points[i]}: {significant(case.probabilities[i], digits=4)}" for i in order[:_SHOWN]]
    rest = f", and {len(order) - _SHOWN} more" if len(order) > _SHOWN else ""
    return f"concept {case.concept}; {', '.join(listed)}{rest}"


def _law_lines(finding: ScalingFinding) -> Lines:
    first, last = finding.points[0], finding.points[-1]
    sizes = f"n* from {_size(first.upper)} to {_size(last.upper)}"
    slopes = finding.ratio_slope, finding.exponent, finding.upper_exponent
    ratio, all_values, upper = map(_slope_text, slopes)
    asked = f"the theorem's from {count(first.theorem)} to {count(last.theorem)}"
    return [
        (finding.verdict.upper(), f"{finding.learner}: {_LAWS[finding.verdict]} of {finding.abscissa}"),
        ("because", f"ln(n*/theorem) has slope {ratio} there ({percent(finding.confidence)})"),
        ("exponent", f"{all_values} over all, {upper} in the upper half"),
        ("covers", f"{plural(len(finding.points), 'value')}: {sizes}, {asked} ({finding.grade})"),
    ]


def _law_page(finding: ScalingFinding) -> Lines:
    lines = [
        (f"x = {value_text(point.x)}", f"({point.lower}, {_size(point.upper)}], theorem {point.theorem}: {point.case}")
        for point in finding.points
    ]
    between = ", ".join(f"{slope:.2f}" for slope in finding.local_exponents)
    return [*lines, ("local", f"exponents {between}"), ("fit", finding.ratio_slope.method)]


def _size(upper: int | None) -> str:
    return "beyond what was tried" if upper is None else count(upper)


def _slope_text(slope: Slope) -> str:
    return f"{slope.value:+.3f} [{slope.lower:+.3f}, {slope.upper:+.3f}]"

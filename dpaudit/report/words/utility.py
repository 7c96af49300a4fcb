"""Words for findings of utility: failure rates, sample complexities, and how these grow."""

from __future__ import annotations

from msgspec import UNSET

from dpaudit.contract import FIXED_SETTINGS, Grade, UtilityVerdict
from dpaudit.errors import in_python
from dpaudit.report.numbers import count, percent, plural, significant, value_text
from dpaudit.report.terminal import Lines, said
from dpaudit.report.view import ParameterWriter
from dpaudit.report.words.claims import BRIEF_DIGITS, family_words
from dpaudit.utility.finding import Reason, SampleComplexityFinding, ScalingFinding, UtilityFinding, WorstCase

# Points of a case that are listed.
_POINTS_LISTED = 8
_LAWS = {
    UtilityVerdict.VIOLATION: "n* outgrows the theorem's formula in the upper half",
    UtilityVerdict.NOT_REFUTED: "n* was not seen to outgrow the theorem's formula in the upper half",
    UtilityVerdict.UNDECIDED: "the values do not show whether n* outgrows the theorem's formula",
}


def shows(finding: UtilityFinding) -> str:
    """Return how often runs fail, and how often they may."""
    allowed = _rate(finding, finding.beta)
    return f"fails in {_rate(finding, finding.failure_rate)} % of runs, {allowed} % allowed"


def reasons(finding: UtilityFinding, shown: ParameterWriter = in_python) -> Lines:
    """Return what shows the verdict, and what to do where it stays open."""
    lines = [("because", because(finding))]
    if finding.family is not UNSET:
        lines.append(("undecided", family_words(finding.family)))
    elif finding.verdict == UtilityVerdict.UNDECIDED:
        more = shown("trials", str(10 * finding.trials))
        lines.append(("next", f"add {more}: the interval, which holds what is allowed, gets narrower"))
    return lines


def because(finding: UtilityFinding) -> str:
    """Return how many runs failed, with the interval, and on which case."""
    low = _rate(finding, finding.failure_lower, "down")
    high = _rate(finding, finding.failure_upper, "up")
    runs = f"{count(finding.failures)} of {plural(finding.trials, 'run')} had {failure_text(finding)}"
    case = f"{finding.concept}, {finding.distribution}, {plural(finding.n, 'example')} ({finding.setting})"
    return f"{runs} ({low} to {high} %, {percent(finding.confidence)} sure): {case}"


def evidence_lines(finding: UtilityFinding) -> Lines:
    """Return the error of the best concept, where no concept has none."""
    if not isinstance(finding.best_error, float):
        return []
    return [("best", f"the best concept's error is {significant(finding.best_error)}")]


def _rate(finding: UtilityFinding, share: float, towards: str = "nearest") -> str:
    """Return a rate of failure in per cent, on its side of what is allowed."""
    # A rate that is the allowed one would be pushed off it.
    apart = None
    if share != finding.beta:
        apart = 100 * finding.beta
    return significant(100 * share, towards, digits=BRIEF_DIGITS, apart_from=apart)


def failure_text(finding: UtilityFinding) -> str:
    """Return in words what counts as a failure in a finding of utility."""
    return finding.failure or f"error > {value_text(finding.alpha)}"


def size_lines(finding: SampleComplexityFinding, name: str) -> tuple[Lines, Lines]:
    """Return what a sample complexity says in brief, and all of it."""
    lower = finding.lower
    upper = finding.upper
    one = finding.certificate
    sure = "computed"
    if finding.grade == Grade.STATISTICAL:
        sure = f"{percent(finding.confidence)} sure"
    if finding.exact:
        size = f"n* = {count(lower + 1)}, exactly"
        ratio = significant(finding.theorem / (lower + 1), digits=2)
    else:
        size = f"n* > {count(lower)}"
        if upper is not None:
            size += f", and at most {count(upper)}"
        # n* exceeds the lower end, so that this is an upper bound on the ratio.
        ratio = f"at most {significant(finding.theorem / (lower + 1), 'up', digits=2)}"
    asked = f"the theorem asks for {count(finding.theorem)}, {ratio} times as many"
    there = "none was shown to suffice"
    if finding.suffices is not None:
        there = f"{count(finding.suffices)} suffice there"
    every = "every concept and distribution"
    if finding.setting in FIXED_SETTINGS:
        every = "every sample"
    # There may be a certificate although the theorem gives the smaller size.
    if one is not None and finding.reason == Reason.CERTIFICATE:
        end = f"{count(one.suffices)} suffice for {every}, by a certificate that was verified"
    elif upper is not None:
        end = f"{count(upper)} suffice for {every}, by the theorem alone"
    else:
        end = "none: the learner fails at the theorem's n"
    lower_end = "none was found"
    if lower:
        lower_end = f"{count(lower)} fail and {there} ({sure}): {finding.worst.name}"
    brief = said(
        (finding.verdict, f"{name} needs {size}; {asked}"),
        ("lower end", lower_end),
        ("upper end", end),
        ("not proved", finding.missing),
    )
    more: Lines = [("worst", _case_text(finding.worst)), ("grade", finding.grade)]
    if one is not None:
        more.append(("proof", finding.proof))
        numbers = ", ".join(f"{key} {value_text(value)}" for key, value in one.numbers.items())
        more.append(("certificate", f"{one.family}: {numbers}; fails at {one.fails}, suffices from {one.suffices} on"))
    chose = "not needed"
    if finding.candidates:
        chose = f"{plural(finding.candidates, 'case')} competed at the end"
    more.append(("search", f"{chose}; seed {finding.seed}"))
    return brief, [_claim_line(finding), *brief, *more]


def _case_text(case: WorstCase) -> str:
    if not case.points:
        return case.name
    # The points that matter most, where not all can be listed.
    order = sorted(zip(case.points, case.probabilities, strict=True), key=lambda point: -point[1])
    listed = [f"{point}: {significant(probability, digits=4)}" for point, probability in order[:_POINTS_LISTED]]
    rest = ""
    if len(order) > _POINTS_LISTED:
        rest = f", and {len(order) - _POINTS_LISTED} more"
    return f"concept {case.concept}; {', '.join(listed)}{rest}"


def scaling_lines(finding: ScalingFinding) -> tuple[Lines, Lines]:
    """Return what a scaling law says in brief, and all of it."""
    first = finding.points[0]
    last = finding.points[-1]
    sizes = f"n* from {_size(first.upper)} to {_size(last.upper)}"
    ratio, all_values, upper = (
        f"{slope.value:+.3f} [{slope.lower:+.3f}, {slope.upper:+.3f}]"
        for slope in (finding.ratio_slope, finding.exponent, finding.upper_exponent)
    )
    # Computed points have no chance in them: their limits measure how far they are from a line.
    random = finding.grade == Grade.STATISTICAL
    limits = "limits of the fit to computed n*"
    if random:
        limits = f"{percent(finding.confidence)} sure"
    asked = f"the theorem's from {count(first.theorem)} to {count(last.theorem)}"
    brief = [
        (finding.verdict, f"{finding.learner}: {_LAWS[finding.verdict]} of {finding.abscissa}"),
        ("because", f"ln(n*/theorem) has slope {ratio} there ({limits})"),
        ("exponent", f"{all_values} over all, {upper} in the upper half"),
        ("covers", f"{plural(len(finding.points), 'value')}: {sizes}, {asked} ({finding.grade})"),
        ("n* of", f"{last.case}; another case may need more, see dpaudit sample-complexity"),
    ]
    points = [
        (f"x = {value_text(point.x)}", f"({point.lower}, {_size(point.upper)}], theorem {point.theorem}: {point.case}")
        for point in finding.points
    ]
    between = ", ".join(f"{slope:.2f}" for slope in finding.local_exponents)
    more = [*points, ("local", f"exponents {between}"), ("fit", finding.ratio_slope.method)]
    return brief, [_claim_line(finding), *brief, *more]


def _size(upper: int | None) -> str:
    if upper is None:
        return "beyond what was tried"
    return count(upper)


def _claim_line(finding: SampleComplexityFinding | ScalingFinding) -> tuple[str, str]:
    levels = []
    if finding.alpha:
        levels.append(f"alpha {value_text(finding.alpha)}")
    if finding.beta:
        levels.append(f"beta {value_text(finding.beta)}")
    return "claim", f"{finding.claim_id or 'none'}: {', '.join(levels)} ({finding.setting})"

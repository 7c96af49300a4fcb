"""The words for what searches measured, suprema, sample complexities and scaling laws, and for audits in one run."""

from __future__ import annotations

from dpaudit.audit.one_run_finding import OneRunFinding
from dpaudit.contract import FIXED_SETTINGS, Grade, Support, Verdict
from dpaudit.exact.finding import AGREES, SupremumFinding
from dpaudit.report.numbers import count, percent, plural, significant, value_text
from dpaudit.report.one_run import coins_words, one_run_lines
from dpaudit.report.sensitivity import sensitivity_lines
from dpaudit.report.terminal import Lines
from dpaudit.report.wording import claim_words
from dpaudit.sensitivity.finding import RecordedFinding, SensitivityFinding
from dpaudit.utility.finding import Reason, SampleComplexityFinding, ScalingFinding, WorstCase

SearchFinding = (
    SupremumFinding | SampleComplexityFinding | ScalingFinding | OneRunFinding | SensitivityFinding | RecordedFinding
)
"""The findings of searches, of audits in one run, and of sensitivities."""

_LONGEST = 120
"""Characters of a witness; a longer one loses its end."""
_SHOWN = 8
"""Points of a distribution that are listed."""
_SUPPORTS = {
    Support.PROVED: "ε = {}, proved for samples of every size",
    Support.LIMIT: "ε ≥ {}, the limit along a ray of samples",
    Support.LOWER_BOUND: "ε ≥ {}, the loss of one pair",
}
_LAWS = {
    Verdict.VIOLATION: "n* outgrows the theorem's formula in the upper half",
    Verdict.NOT_REFUTED: "n* does not outgrow the theorem's formula in the upper half",
    Verdict.UNDECIDED: "the values do not show whether n* outgrows the theorem's formula",
}


def measured_brief(finding: SearchFinding, name: str, repeat: str = "") -> Lines:
    """Return the verdict, what it rests on, and what repeats it (its seed if that is empty), as labelled texts."""
    return [*_lines(finding, name)[0], _last(finding, repeat)]


def measured_page(finding: SearchFinding, name: str, repeat: str = "") -> Lines:
    """Return all that a finding says, a line each; the parameters are those of `measured_brief`."""
    subject = finding.learner if isinstance(finding, ScalingFinding) else name
    return [("audited", subject), *_lines(finding, subject)[1], _last(finding, repeat)]


def _last(finding: SearchFinding, repeat: str) -> tuple[str, str]:
    if repeat:
        return "repeat", repeat
    if isinstance(finding, SensitivityFinding | RecordedFinding):
        return "grade", finding.grade
    return ("coins", coins_words(finding)) if isinstance(finding, OneRunFinding) else ("seed", str(finding.seed))


def _lines(finding: SearchFinding, name: str) -> tuple[Lines, Lines]:
    if isinstance(finding, SupremumFinding):
        return _supremum_lines(finding, name)
    if isinstance(finding, OneRunFinding):
        return one_run_lines(finding, name)
    if isinstance(finding, SensitivityFinding | RecordedFinding):
        return sensitivity_lines(finding, name)
    brief, more = _size_lines(finding, name) if isinstance(finding, SampleComplexityFinding) else _law_lines(finding)
    levels = [f"{word} {value_text(v)}" for word, v in (("alpha", finding.alpha), ("beta", finding.beta)) if v]
    claim = ("claim", f"{finding.claim_id or 'none'}: {', '.join(levels)} ({finding.setting})")
    return brief, [claim, *brief, *more]


def _supremum_lines(finding: SupremumFinding, name: str) -> tuple[Lines, Lines]:
    claimed, proved = finding.claimed_epsilon, finding.proved_value
    claim = "promises no privacy" if claimed is None else f"claims {claim_words(claimed, finding.claimed_delta)}"
    exceeds = finding.claimed_delta and finding.verdict is not Verdict.VIOLATION
    loss = significant(finding.value, digits=6, apart_from=claimed, error=finding.error)
    value = _SUPPORTS[finding.support].format(loss) + (" (the pure loss, δ = 0)" if exceeds else "")
    pair, attained = finding.pair_in_words, f"{significant(finding.attained, digits=6)} at n = {count(finding.n)}"
    witness = f"{attained}: output {finding.worst_atom} on {pair.data} against {pair.neighbour}"
    agree = "agrees" if finding.agreement == 1 else "agree"
    starts = f"{finding.agreement} of {plural(finding.starts, 'start')} {agree} within {percent(AGREES)}"
    search = f"{starts}, {plural(finding.laws, 'law')}"
    warnings: Lines = []
    if finding.proof_refuted and proved is not None:
        exceeded = f"the learner's closed form, {significant(proved, digits=6)}, is refuted by the witness"
        warnings.append(("warning", exceeded))
    brief = [
        (Verdict.NO_CLAIM if claimed is None else finding.verdict, f"{name} {claim}, has {value}"),
        ("witness", witness if len(witness) <= _LONGEST else f"{witness[: _LONGEST - 3]}..."),
        ("search", search),
        *warnings,
    ]
    page = [
        ("claim", claim),
        ("supremum", value),
        ("error", f"at most {significant(finding.error, 'up', digits=2)} ({finding.grade})"),
        ("verdict", finding.verdict.value),
        ("witness", f"{witness} [{finding.relation.value}]"),
        ("growth", ", ".join(f"{significant(loss, digits=6)} at n = {count(n)}" for n, loss in finding.growth)),
    ]
    if finding.ray:
        page.append(("ray", f"ever more copies of {finding.ray}"))
    if finding.proof:
        page.append(("refuted" if finding.proof_refuted else "proof", finding.proof))
    return brief, [*page, *warnings, ("search", f"{search}; seed {finding.seed}")]


def _size_lines(finding: SampleComplexityFinding, name: str) -> tuple[Lines, Lines]:
    lower, upper, one = finding.lower, finding.upper, finding.certificate
    sure = "computed" if finding.grade != Grade.STATISTICAL else f"{percent(finding.confidence)} sure"
    ratio = significant(finding.theorem / (lower + 1), "nearest" if finding.exact else "up", digits=2)
    asked = f"the theorem asks for {count(finding.theorem)}, {'' if finding.exact else 'at most '}{ratio} times as many"
    if finding.exact:
        size = f"n* = {count(lower + 1)}, exactly"
    else:
        size = f"n* > {count(lower)}" if upper is None else f"n* > {count(lower)}, and at most {count(upper)}"
    there = f"{count(finding.suffices)} suffice there" if finding.suffices is not None else "none was shown to suffice"
    lines = [
        (finding.verdict, f"{name} needs {size}; {asked}"),
        ("lower end", f"{count(lower)} fail and {there} ({sure}): {finding.worst.name}" if lower else "none was found"),
    ]
    every = "every sample" if finding.setting in FIXED_SETTINGS else "every concept and distribution"
    if one is not None and finding.reason == Reason.CERTIFICATE:
        lines.append(("upper end", f"{count(one.suffices)} suffice for {every}, by a certificate that was verified"))
    elif upper is not None:
        lines.append(("upper end", f"{count(upper)} suffice for {every}, by the theorem alone"))
    else:
        lines.append(("upper end", "none: the learner fails at the theorem's n"))
    if finding.missing:
        lines.append(("not proved", finding.missing))
    more: Lines = [("worst", _case_text(finding.worst)), ("grade", finding.grade)]
    if one is not None:
        more.append(("proof", finding.proof))
        numbers = ", ".join(f"{key} {value_text(value)}" for key, value in one.numbers.items())
        more.append(("certificate", f"{one.family}: {numbers}; fails at {one.fails}, suffices from {one.suffices} on"))
    chose = f"{plural(finding.candidates, 'case')} competed at the end" if finding.candidates else "not needed"
    return lines, [*more, ("search", f"{chose}; seed {finding.seed}")]


def _case_text(case: WorstCase) -> str:
    if not case.points:
        return case.name
    order = sorted(zip(case.points, case.probabilities, strict=True), key=lambda point: -point[1])
    listed = [f"{point}: {significant(probability, digits=4)}" for point, probability in order[:_SHOWN]]
    rest = f", and {len(order) - _SHOWN} more" if len(order) > _SHOWN else ""
    return f"concept {case.concept}; {', '.join(listed)}{rest}"


def _law_lines(finding: ScalingFinding) -> tuple[Lines, Lines]:
    first, last = finding.points[0], finding.points[-1]
    sizes = f"n* from {_size(first.upper)} to {_size(last.upper)}"
    ratio, all_values, upper = (
        f"{slope.value:+.3f} [{slope.lower:+.3f}, {slope.upper:+.3f}]"
        for slope in (finding.ratio_slope, finding.exponent, finding.upper_exponent)
    )
    # Computed points have no chance in them: their limits measure how far they are from a line.
    random = finding.grade == Grade.STATISTICAL
    limits = f"{percent(finding.confidence)} sure" if random else "limits of the fit to computed n*"
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
    return brief, [*points, ("local", f"exponents {between}"), ("fit", finding.ratio_slope.method)]


def _size(upper: int | None) -> str:
    return "beyond what was tried" if upper is None else count(upper)

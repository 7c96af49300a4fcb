"""The words for what searches measured, suprema, sample complexities and scaling laws, and for audits in one run."""

from __future__ import annotations

import math

from msgspec import UNSET

from dpaudit.audit.one_run_finding import (
    EqualScores,
    FewCanaries,
    Guesses,
    IgnoredCanaries,
    OneRunFinding,
    OneRunGap,
)
from dpaudit.contract import FIXED_SETTINGS, Grade, PrivacyVerdict, Support, TaskVerdict, UtilityVerdict
from dpaudit.exact.finding import AGREES, SupremumFinding
from dpaudit.report.glossary import PROBABLY
from dpaudit.report.numbers import count, percent, plural, significant, value_text
from dpaudit.report.sensitivity import function_lines, recorded_lines
from dpaudit.report.terminal import Lines, said
from dpaudit.report.wording import claim_words, curve_claim_words
from dpaudit.sensitivity.finding import RecordedFinding, SensitivityFinding
from dpaudit.utility.finding import Reason, SampleComplexityFinding, ScalingFinding, WorstCase

_DIGITS = 3
_SEAL_DIGITS = 16
_GUESSED = {
    "two-sided": "in above the mean of the quartiles of the scores and out below, the farthest from it first",
    "in": "all in, the highest score first",
}
_TURNED = {
    "two-sided": "turned around: in below the mean of the quartiles of the scores and out above, the farthest first",
    "in": "turned around: all in, the lowest score first",
}
_REVERSED = (
    "scores are smaller for the canaries that are in, as losses are: guesses were turned around, with a tenth of the "
    "error (scores must be larger for canaries that seem to be in)"
)


def one_run_lines(finding: OneRunFinding, name: str) -> tuple[Lines, Lines]:
    """Return what a finding says in brief, and all of it."""
    sure = f" ({percent(finding.confidence)} sure)" if finding.verdict == PrivacyVerdict.VIOLATION else ""
    verdict = (finding.verdict, f"{name} claims {_claimed(finding)}, {_shows(finding)}{sure}")
    best, coins = finding.best, finding.canaries * finding.runs
    guessed = f"{count(best.right)} of the {count(best.guesses)} surest guesses of {plural(coins, 'coin')} are right"
    possible = best.critical <= best.guesses
    refuting = f"{count(best.critical)} refute the claim" if possible else "even all of them would not refute the claim"
    why = ("because", f"{guessed}; {refuting}")
    gaps = [("power", f"none: {_canary_gap_words(gap)}") for gap in finding.gaps]
    power = gaps or [("power", _canary_power_words(finding))]
    assumed = ("if Gaussian", assumed_words(finding))
    limits = [*finding.warnings]
    limits += [_REVERSED] if finding.reversed is True else []
    limits += [f"the coins come from the chosen seed {finding.seed}"] if finding.seed is not None else []
    limits += [] if finding.seal else ["the coins were not sealed before the training"]
    limits += [f"{count(finding.tied)} of {count(coins)} scores are tied"] if finding.tied else []
    warned = ("warning", "; ".join(limits))
    brief = [verdict, why, *([] if finding.verdict == PrivacyVerdict.VIOLATION else power), warned, assumed]
    several = f" in {plural(finding.runs, 'run')}" if finding.runs > 1 else ""
    included = f"{count(finding.included)} of {count(coins)} canaries{several} were in"
    tied = f"{count(finding.tied)} scores are tied, and ordered by a shuffle"
    page = [
        ("claim", f"{_claimed(finding)} ({finding.relation.value})"),
        ("verdict", finding.verdict.word),
        ("bound", _shows(finding)),
        ("p-value", f"{significant(finding.p_value, 'up', digits=2)}, over all numbers of guesses"),
        *power,
        ("coins", f"{included}; {coins_words(finding)}; {tied}"),
        ("guesses", (_TURNED if finding.reversed is True else _GUESSED)[finding.ranking]),
        *((f"  {count(one.guesses)}", _counted(one)) for one in finding.schedule),
        assumed,
        ("seal", finding.seal or "none"),
        ("checked", "" if finding.checked is UNSET else _CHECKED[finding.checked]),
        ("confidence", f"{percent(finding.confidence)}, of the verdict and of each bound"),
    ]
    return said(*brief), said(*page, warned)


_CHECKED = {
    False: "nothing of the training: it is not known whether its scores depend on the canaries that are in",
    True: "one more training, with the other canaries and an equal generator; not looked at: whether a training with "
    "randomness of its own, whose scores are others in any case, depends on its canaries",
}


def coins_words(finding: OneRunFinding) -> str:
    """Return how the coins were made, in brief."""
    chosen = "" if finding.seed is None else f"from the chosen seed {finding.seed}"
    sealed = f"sealed, {finding.seal[:_SEAL_DIGITS]}..." if finding.seal else "not sealed before the training"
    return ", ".join(filter(None, (chosen, sealed)))


def _claimed(finding: OneRunFinding) -> str:
    curve = finding.curve
    return claim_words(finding.epsilon, finding.delta) if curve is None else curve_claim_words(curve)


def _shows(finding: OneRunFinding) -> str:
    """Return the bound; of a claim that is a curve, also the point that refutes it or comes nearest to that."""
    curve = finding.curve
    apart = None if curve is not None else finding.epsilon
    lower = significant(finding.epsilon_lower, "down", digits=_DIGITS, apart_from=apart)
    if curve is None:
        return f"shows ε ≥ {lower}"
    at = f"δ = {significant(finding.delta, digits=_DIGITS)}"
    point = f"ε ≤ {significant(finding.epsilon, digits=_DIGITS)} at {at}"
    if finding.mu_lower is not None:
        mu = significant(finding.mu_lower, "down", digits=_DIGITS, apart_from=curve.mu)
        return f"shows μ ≥ {mu}, by the point {point}"
    refuted = " refuted" if finding.verdict == PrivacyVerdict.VIOLATION else ""
    return f"so {point}{refuted}; shows ε ≥ {lower} there"


def _counted(one: Guesses) -> str:
    limit = f"{count(one.critical)} refute" if one.critical <= one.guesses else "none refute"
    return f"{count(one.right)} right ({percent(round(one.right / one.guesses, 4))}), {limit}"


def _canary_power_words(finding: OneRunFinding) -> str:
    if finding.detectable_mu is not None and math.isfinite(finding.detectable_mu):
        assert finding.curve is not None
        mu = significant(finding.detectable_mu, "up", digits=_DIGITS, apart_from=finding.curve.mu)
        return f"any μ ≥ {mu} would be detected {PROBABLY}, of independent Gaussian scores"
    if math.isinf(finding.detectable_epsilon):
        return "no leak, however large, would be detected"
    least = significant(finding.detectable_epsilon, "up", digits=_DIGITS, apart_from=finding.epsilon)
    return f"any ε ≥ {least} would be detected {PROBABLY}, if it shows in the score of every canary"


def _canary_gap_words(gap: OneRunGap) -> str:
    match gap:
        case FewCanaries(least=None):
            return "delta times the number of canaries is so large that no number of canaries can refute the claim"
        case FewCanaries():
            assert gap.least is not None
            needed = f"about {count(gap.least)} are needed"
            return f"{count(gap.canaries)} canaries, all guessed right, do not refute the claim: {needed}"
        case EqualScores():
            return f"all scores of a run are equal ({count(gap.equal)} in all)"
        case IgnoredCanaries():
            return "the training gives the same scores with the other canaries in: it ignores them"


def assumed_words(finding: OneRunFinding) -> str:
    """Return what the guesses show under assumptions; empty where that is nothing."""
    assumed = finding.if_gaussian
    if assumed is None or not assumed.independent_mu:
        return ""

    def shown(mu: float, epsilon: float | None) -> str:
        at = "" if epsilon is None else f" (ε ≥ {significant(epsilon, 'down', digits=_DIGITS)} at that δ)"
        return f"μ ≥ {significant(mu, 'down', digits=_DIGITS)}{at}"

    return (
        f"{shown(assumed.recursion_mu, assumed.recursion_epsilon)} if the training is Gaussian private, "
        f"{shown(assumed.independent_mu, assumed.independent_epsilon)} if canaries do not interfere either; "
        "no verdict rests on this"
    )


SearchFinding = (
    SupremumFinding | SampleComplexityFinding | ScalingFinding | OneRunFinding | SensitivityFinding | RecordedFinding
)

_LONGEST_WITNESS = 120
_POINTS_LISTED = 8
_SUPPORTS = {
    Support.PROVED: "ε = {}, proved for samples of every size",
    Support.LIMIT: "ε ≥ {}, the limit along a ray of samples",
    Support.LOWER_BOUND: "ε ≥ {}, the loss of one pair",
}
_LAWS = {
    PrivacyVerdict.VIOLATION: "n* outgrows the theorem's formula in the upper half",
    PrivacyVerdict.NOT_REFUTED: "n* was not seen to outgrow the theorem's formula in the upper half",
    UtilityVerdict.UNDECIDED: "the values do not show whether n* outgrows the theorem's formula",
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
    if isinstance(finding, SensitivityFinding):
        return function_lines(finding, name)
    if isinstance(finding, RecordedFinding):
        return recorded_lines(finding, name)
    brief, more = _size_lines(finding, name) if isinstance(finding, SampleComplexityFinding) else _law_lines(finding)
    levels = [f"{word} {value_text(v)}" for word, v in (("alpha", finding.alpha), ("beta", finding.beta)) if v]
    claim = ("claim", f"{finding.claim_id or 'none'}: {', '.join(levels)} ({finding.setting})")
    return brief, [claim, *brief, *more]


def _supremum_lines(finding: SupremumFinding, name: str) -> tuple[Lines, Lines]:
    claimed, proved = finding.claimed_epsilon, finding.proved_value
    claim = "promises no privacy" if claimed is None else f"claims {claim_words(claimed, finding.claimed_delta)}"
    exceeds = finding.claimed_delta and finding.verdict is not PrivacyVerdict.VIOLATION
    loss = significant(finding.value, digits=6, apart_from=claimed, error=finding.error)
    value = _SUPPORTS[finding.support].format(loss) + (" (the pure loss, δ = 0)" if exceeds else "")
    pair, attained = finding.pair_in_words, f"{significant(finding.attained, digits=6)} at n = {count(finding.n)}"
    witness = f"{attained}: output {finding.worst_atom} on {pair.data} against {pair.neighbour}"
    agree = "agrees" if finding.agreement == 1 else "agree"
    starts = f"{finding.agreement} of {plural(finding.starts, 'start')} {agree} within {percent(AGREES)}"
    search = f"{starts}, {plural(finding.laws, 'law')}"
    exceeded = ""
    if finding.proof_refuted and proved is not None:
        exceeded = f"the learner's closed form, {significant(proved, digits=6)}, is refuted by the witness"
    brief = said(
        (TaskVerdict.NO_CLAIM if claimed is None else finding.verdict, f"{name} {claim}, has {value}"),
        ("witness", witness if len(witness) <= _LONGEST_WITNESS else f"{witness[: _LONGEST_WITNESS - 3]}..."),
        ("search", search),
        ("warning", exceeded),
    )
    page = said(
        ("claim", claim),
        ("supremum", value),
        ("error", f"at most {significant(finding.error, 'up', digits=2)} ({finding.grade})"),
        ("verdict", finding.verdict.word),
        ("witness", f"{witness} [{finding.relation.value}]"),
        ("growth", ", ".join(f"{significant(loss, digits=6)} at n = {count(n)}" for n, loss in finding.growth)),
        ("ray", finding.ray and f"ever more copies of {finding.ray}"),
        ("refuted" if finding.proof_refuted else "proof", finding.proof),
        ("warning", exceeded),
        ("search", f"{search}; seed {finding.seed}"),
    )
    return brief, page


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
    every = "every sample" if finding.setting in FIXED_SETTINGS else "every concept and distribution"
    if one is not None and finding.reason == Reason.CERTIFICATE:
        end = f"{count(one.suffices)} suffice for {every}, by a certificate that was verified"
    elif upper is not None:
        end = f"{count(upper)} suffice for {every}, by the theorem alone"
    else:
        end = "none: the learner fails at the theorem's n"
    lines = said(
        (finding.verdict, f"{name} needs {size}; {asked}"),
        ("lower end", f"{count(lower)} fail and {there} ({sure}): {finding.worst.name}" if lower else "none was found"),
        ("upper end", end),
        ("not proved", finding.missing),
    )
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
    listed = [f"{point}: {significant(probability, digits=4)}" for point, probability in order[:_POINTS_LISTED]]
    rest = f", and {len(order) - _POINTS_LISTED} more" if len(order) > _POINTS_LISTED else ""
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

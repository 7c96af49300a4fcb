"""The words for an audit in one run: what the guesses of coins show, without assumptions and with them."""

from __future__ import annotations

import math

from dpaudit.audit.one_run_finding import (
    EqualScores,
    FewCanaries,
    Guesses,
    IgnoredCanaries,
    OneRunFinding,
    OneRunGap,
)
from dpaudit.bounds import POWER
from dpaudit.contract import Verdict
from dpaudit.report.curve_claims import curve_claim_words
from dpaudit.report.numbers import count, percent, plural, significant
from dpaudit.report.terminal import Lines
from dpaudit.report.wording import claim_words

_DIGITS = 3
_SEAL = 16
"""Digits of a seal that are shown in brief."""
_GUESSED = {
    "two-sided": "in above the mean of the quartiles of the scores and out below, the farthest from it first",
    "in": "all in, the highest score first",
}
_OFTEN = f"with probability {percent(POWER)}"


def one_run_lines(finding: OneRunFinding, name: str) -> tuple[Lines, Lines]:
    """Return what a finding says in brief, and all of it."""
    sure = f" ({percent(finding.confidence)} sure)" if finding.verdict == Verdict.VIOLATION else ""
    verdict = (finding.verdict, f"{name} claims {_claimed(finding)}, {_shows(finding)}{sure}")
    why = ("because", _because(finding))
    power = ("power", power_words(finding))
    gaps = [("power", f"none: {gap_words(gap)}") for gap in finding.gaps]
    assumed = [("if Gaussian", words)] if (words := assumed_words(finding)) else []
    warned = [("warning", words)] if (words := _warning(finding)) else []
    brief = [verdict, why, *([] if finding.verdict == Verdict.VIOLATION else gaps or [power]), *warned]
    page = [
        ("claim", f"{_claimed(finding)} ({finding.relation.value})"),
        ("verdict", finding.verdict.value),
        ("bound", _shows(finding)),
        ("p-value", f"{significant(finding.p_value, 'up', digits=2)}, over all numbers of guesses"),
        *(gaps or [power]),
        ("coins", _coins(finding)),
        ("guesses", _GUESSED[finding.ranking]),
        *((f"  {count(one.guesses)}", _counted(one)) for one in finding.schedule),
        *assumed,
        ("seal", finding.seal or "none"),
        ("confidence", f"{percent(finding.confidence)}, of the verdict and of each bound"),
    ]
    return [*brief, *assumed], [*page, *warned]


def coins_words(finding: OneRunFinding) -> str:
    """Return how the coins were made, in brief."""
    chosen = "" if finding.seed is None else f"from the chosen seed {finding.seed}"
    sealed = f"sealed, {finding.seal[:_SEAL]}..." if finding.seal else "not sealed before the training"
    return f"{chosen}, {sealed}" if chosen else sealed


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
    refuted = " refuted" if finding.verdict == Verdict.VIOLATION else ""
    return f"so {point}{refuted}; shows ε ≥ {lower} there"


def _because(finding: OneRunFinding) -> str:
    best = finding.best
    guessed = f"{count(best.right)} of the {count(best.guesses)} surest guesses of {plural(_coins_of(finding), 'coin')}"
    if best.critical > best.guesses:
        return f"{guessed} are right; even all of them would not refute the claim"
    return f"{guessed} are right; {count(best.critical)} refute the claim"


def _coins_of(finding: OneRunFinding) -> int:
    return finding.canaries * finding.runs


def _coins(finding: OneRunFinding) -> str:
    runs = f" in {plural(finding.runs, 'run')}" if finding.runs > 1 else ""
    return (
        f"{count(finding.included)} of {count(_coins_of(finding))} canaries{runs} were in; {coins_words(finding)}; "
        f"{count(finding.tied)} scores are tied, and ordered by a shuffle"
    )


def _counted(one: Guesses) -> str:
    limit = f"{count(one.critical)} refute" if one.critical <= one.guesses else "none refute"
    return f"{count(one.right)} right ({percent(round(one.right / one.guesses, 4))}), {limit}"


def power_words(finding: OneRunFinding) -> str:
    """Return the leaks that would have been detected."""
    if finding.detectable_mu is not None and math.isfinite(finding.detectable_mu):
        assert finding.curve is not None
        mu = significant(finding.detectable_mu, "up", digits=_DIGITS, apart_from=finding.curve.mu)
        return f"any μ ≥ {mu} would be detected {_OFTEN}, of independent Gaussian scores"
    if math.isinf(finding.detectable_epsilon):
        return "no leak, however large, would be detected"
    least = significant(finding.detectable_epsilon, "up", digits=_DIGITS, apart_from=finding.epsilon)
    return f"any ε ≥ {least} would be detected {_OFTEN}, if it shows in the score of every canary"


def gap_words(gap: OneRunGap) -> str:
    """Return why the audit could not have detected that the claim fails."""
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


def _warning(finding: OneRunFinding) -> str:
    """Return what limits the finding."""
    found = [f"the coins come from the chosen seed {finding.seed}"] if finding.seed is not None else []
    if not finding.seal:
        found.append("the coins were not sealed before the training")
    if finding.tied:
        found.append(f"{count(finding.tied)} of {count(_coins_of(finding))} scores are tied")
    return "; ".join(found)

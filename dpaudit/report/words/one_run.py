"""Words for audits in one run of a training with many canaries."""

from __future__ import annotations

import math

from msgspec import UNSET

from dpaudit.audit.one_run_finding import EqualScores, FewCanaries, Guesses, IgnoredCanaries, OneRunFinding, OneRunGap
from dpaudit.contract import PrivacyVerdict
from dpaudit.report.glossary import PROBABLY
from dpaudit.report.numbers import count, percent, plural, significant
from dpaudit.report.terminal import Lines, said
from dpaudit.report.words.claims import claim_words, curve_claim_words

_DIGITS = 3
# Digits of a seal in brief: as many as nobody mistakes for another one.
_SEAL_DIGITS = 16
# The order of the guesses in words, and that of guesses which are turned around.
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
_CHECKED = {
    False: "nothing of the training: it is not known whether its scores depend on the canaries that are in",
    True: "one more training, with the other canaries and an equal generator; not looked at: whether a training with "
    "randomness of its own, whose scores are others in any case, depends on its canaries",
}


def one_run_lines(finding: OneRunFinding, name: str) -> tuple[Lines, Lines]:
    """Return what a finding says in brief, and all of it."""
    sure = ""
    if finding.verdict == PrivacyVerdict.VIOLATION:
        sure = f" ({percent(finding.confidence)} sure)"
    verdict = (finding.verdict, f"{name} claims {_claimed(finding)}, {_shows(finding)}{sure}")
    best = finding.best
    coins = finding.canaries * finding.runs
    guessed = f"{count(best.right)} of the {count(best.guesses)} surest guesses of {plural(coins, 'coin')} are right"
    possible = best.critical <= best.guesses
    refuting = "even all of them would not refute the claim"
    if possible:
        refuting = f"{count(best.critical)} refute the claim"
    why = ("because", f"{guessed}; {refuting}")
    # Where there are gaps the power is none, whatever the scores show.
    gaps = [("power", f"none: {_canary_gap_words(gap)}") for gap in finding.gaps]
    power = gaps or [("power", _canary_power_words(finding))]
    assumed = ("if Gaussian", assumed_words(finding))
    # What a reader must know of the coins, on which everything rests.
    limits = [*finding.warnings]
    if finding.reversed is True:
        limits += [_REVERSED]
    if finding.seed is not None:
        limits += [f"the coins come from the chosen seed {finding.seed}"]
    if not finding.seal:
        limits += ["the coins were not sealed before the training"]
    if finding.tied:
        limits += [f"{count(finding.tied)} of {count(coins)} scores are tied"]
    warned = ("warning", "; ".join(limits))
    brief = [verdict, why]
    if finding.verdict != PrivacyVerdict.VIOLATION:
        brief += power
    brief += [warned, assumed]
    several = ""
    if finding.runs > 1:
        several = f" in {plural(finding.runs, 'run')}"
    included = f"{count(finding.included)} of {count(coins)} canaries{several} were in"
    tied = f"{count(finding.tied)} scores are tied, and ordered by a shuffle"
    order = _TURNED if finding.reversed is True else _GUESSED
    checked = "" if finding.checked is UNSET else _CHECKED[finding.checked]
    page = [
        ("claim", f"{_claimed(finding)} ({finding.relation.value})"),
        ("verdict", finding.verdict.word),
        ("bound", _shows(finding)),
        ("p-value", f"{significant(finding.p_value, 'up', digits=2)}, over all numbers of guesses"),
        *power,
        ("coins", f"{included}; {coins_words(finding)}; {tied}"),
        ("guesses", order[finding.ranking]),
        *((f"  {count(one.guesses)}", _counted(one)) for one in finding.schedule),
        assumed,
        ("seal", finding.seal or "none"),
        ("checked", checked),
        ("confidence", f"{percent(finding.confidence)}, of the verdict and of each bound"),
    ]
    return said(*brief), said(*page, warned)


def coins_words(finding: OneRunFinding) -> str:
    """Return how the coins were made, in brief."""
    chosen = ""
    if finding.seed is not None:
        chosen = f"from the chosen seed {finding.seed}"
    sealed = "not sealed before the training"
    if finding.seal:
        sealed = f"sealed, {finding.seal[:_SEAL_DIGITS]}..."
    return ", ".join(filter(None, (chosen, sealed)))


def _claimed(finding: OneRunFinding) -> str:
    curve = finding.curve
    if curve is None:
        return claim_words(finding.epsilon, finding.delta)
    return curve_claim_words(curve)


def _shows(finding: OneRunFinding) -> str:
    """Return the bound; of a claim that is a curve, also the point that refutes it or comes nearest to that."""
    curve = finding.curve
    apart = None
    if curve is None:
        apart = finding.epsilon
    lower = significant(finding.epsilon_lower, "down", digits=_DIGITS, apart_from=apart)
    if curve is None:
        return f"shows ε ≥ {lower}"
    at = f"δ = {significant(finding.delta, digits=_DIGITS)}"
    point = f"ε ≤ {significant(finding.epsilon, digits=_DIGITS)} at {at}"
    # Of a Gaussian claim one number says all, at every delta.
    if finding.mu_lower is not None:
        mu = significant(finding.mu_lower, "down", digits=_DIGITS, apart_from=curve.mu)
        return f"shows μ ≥ {mu}, by the point {point}"
    refuted = ""
    if finding.verdict == PrivacyVerdict.VIOLATION:
        refuted = " refuted"
    return f"so {point}{refuted}; shows ε ≥ {lower} there"


def _counted(one: Guesses) -> str:
    limit = "none refute"
    if one.critical <= one.guesses:
        limit = f"{count(one.critical)} refute"
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
        at = ""
        if epsilon is not None:
            at = f" (ε ≥ {significant(epsilon, 'down', digits=_DIGITS)} at that δ)"
        return f"μ ≥ {significant(mu, 'down', digits=_DIGITS)}{at}"

    return (
        f"{shown(assumed.recursion_mu, assumed.recursion_epsilon)} if the training is Gaussian private, "
        f"{shown(assumed.independent_mu, assumed.independent_epsilon)} if canaries do not interfere either; "
        "no verdict rests on this"
    )

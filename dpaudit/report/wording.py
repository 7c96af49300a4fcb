"""Events, claims and verdicts in words, made here and nowhere else; nothing parses them.

All sentences of reports have the signs of mathematics, as ε and ≥; `report.terminal` writes them in ASCII.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import UNSET

from dpaudit.audit.curve_claims import TESTABLE, untestable_orders
from dpaudit.audit.finding import PowerAt, PrivacyFinding, Witness
from dpaudit.audit.power import MASSES
from dpaudit.audit.tested import CurveTest
from dpaudit.contract import FAIL, CurveClaim, OriginKind, PrivacyClaim, Verdict
from dpaudit.engine.records import codes_of
from dpaudit.events import event as events
from dpaudit.events.event import Cells, Event, Interval
from dpaudit.events.exceptions import EXCEPTION, NO_EXCEPTION
from dpaudit.exact.finding import LawFinding
from dpaudit.outputs.canonical import TIMED_OUT
from dpaudit.report.glossary import OFTEN
from dpaudit.report.numbers import count, plural, significant, value_text
from dpaudit.report.terminal import Lines, said
from dpaudit.report.view import Decoded
from dpaudit.utility.finding import UtilityFinding

BOUNDS = {
    "melded": "melded, one joint confidence statement on both probabilities",
    "coin": "the exact limit of how often the coin is guessed right that decided the input of each run",
}
"""The meaning of a bound on epsilon, by its name."""

_MOST_LABELS = 12
_FEW_ANSWERS, _LONG_ANSWER = 4, 60
_RARE = "any output rare or unseen in training"


def event_words(event: Event, decoded: Decoded = None) -> str:
    """Return an event in words, with what its codes stand for, as far as known."""
    match event:
        case Cells():
            return _cells_words(event, decoded)
        case Interval():
            return f"{_subject(event.feature, event.path)} in [{event.low:.6g}, {event.high:.6g})"
        case events.Bets():
            stake = f"raised the stake by exp({event.log_stake:.4g})"
            return f"no single event: bets on {event.runs} runs of this pair {stake}"
        case events.Withheld():
            told = f"told by {event.feature}; " if event.feature else ""
            return f"answers that are not shown, as they may reveal records ({told}include_data shows them)"


def inputs_words(witness: Witness) -> tuple[str, str]:
    """Return both inputs in short: as they are, or the neighbour by what differs."""
    if witness.difference is UNSET:
        return witness.data, witness.neighbour
    return "the data", f"the neighbour ({witness.difference})"


def answer_words(event: Event, decoded: Decoded = None) -> str:
    """Return an event as the answers that it consists of, where these are few; otherwise as `event_words`.

    >>> answer_words(Cells("output", ((5, 5),)), {"5": "parity of x1 and x3"})
    '“parity of x1 and x3”'
    """
    match event:
        case Interval(feature="raised"):
            where = f" as {_part(event.path)}" if event.path else ""
            return ("an exception" if event.low > 0 else "no exception") + where
        case Interval(feature="NaN"):
            return f"{_part(event.path)} is {'' if event.low > 0 else 'not '}NaN"
        case Interval(feature="present", path=(*path, step)):
            kind = f"{'key' if isinstance(step, str) else 'element'} {step!r}"
            if event.low > 0:
                return f"{_part(path)} has the {kind}"
            return f"no {kind}" + (f" in {_part(path)}" if path else "")
        case Interval(feature="length"):
            return _between(f"len({_part(event.path)})", event)
        case Interval(feature="value"):
            return _between(_part(event.path), event)
        case Interval() if event.explicit:
            return _between(f"{event.feature} of {_part(event.path)}", event)
        case Interval():
            return _between(_subject(event.feature, event.path), event)
    known, labels = _known(decoded), answers_of(event)
    return " or ".join(f"“{known.get(label, label)}”" for label in labels) or event_words(event, decoded)


def _known(decoded: Decoded) -> Mapping[str, str]:
    """Return what codes stand for; -1 is failure wherever outputs are codes."""
    return {} if decoded is None else {str(FAIL): "failure", **decoded}


def answers_of(event: Event) -> list[str]:
    """Return the labels of the few answers that an event consists of; none for any other event."""
    if not isinstance(event, Cells) or event.feature != "output" or event.path or event.rare or event.complement:
        return []
    labels = [str(code) for code in codes_of(event)] or list(event.labels if not event.ranges else ())
    if _says_whether_nan(labels):
        return []
    return labels if len(labels) <= _FEW_ANSWERS and all(len(label) <= _LONG_ANSWER for label in labels) else []


def _says_whether_nan(labels: Sequence[str]) -> bool:
    return len(labels) == 1 and labels[0] in events.NAN_CELLS


def _between(subject: str, event: Interval) -> str:
    if event.high == math.inf and event.low > -math.inf:
        return f"{subject} ≥ {event.low:g}"
    low = f"{event.low:g} ≤ " if event.low > -math.inf else ""
    return low + subject + (f" < {event.high:g}" if event.high < math.inf else "")


def _part(path: Sequence[int | str]) -> str:
    return "output" + "".join(f"[{step!r}]" for step in path)


def _exception_words(event: Cells) -> str:
    """Return the exceptions of an event as "raised KeyError or timed out after 5 s"."""
    raised = [label for label in event.labels if not label.startswith((TIMED_OUT, NO_EXCEPTION, "another"))]
    others = [label for label in event.labels if label not in raised]
    return " or ".join([*others, *([f"raised {' or '.join(raised)}"] if raised else [])])


def _cells_words(event: Cells, decoded: Decoded) -> str:
    if event.feature == EXCEPTION:
        return _exception_words(event) + (f" or {_RARE}" if event.rare else "")
    subject, whole = _subject(event.feature, event.path), event.feature == "output"
    ranges = [label for ends in event.ranges for label in events.range_labels(*ends)]
    labels = [*ranges, *event.labels]
    shown = ", ".join(labels[:_MOST_LABELS]) + (f", ... ({event.size} outputs)" if len(labels) > _MOST_LABELS else "")
    if ranges and not whole:
        subject = f"cell of the {subject}"
    named = f"{subject} {'not ' if event.complement else ''}in {{{shown}}}" if labels else ""
    if labels and not whole and not ranges and event.size <= 1:  # what a person reads off the output
        named = f"{subject} = {labels[0]}"
    if _says_whether_nan(labels):
        named = f"{subject} is {labels[0]}"
    words = " or ".join(part for part in (named, _RARE if event.rare else "") if part)
    if event.path or event.complement or not whole:
        return words
    # The codes that are worth decoding: a few, or failure among many.
    codes = codes_of(event) or [FAIL] * any(low <= FAIL <= high for low, high in event.ranges)
    known = _known(decoded)
    meant = ", ".join(f"{code}: {known[code]}" for code in map(str, codes) if code in known)
    return f"{words} ({meant})" if meant else words


def _subject(feature: str, path: Sequence[int | str]) -> str:
    """Return a feature with the place in the output where it is read, if that is not the whole output."""
    if feature == "output":
        return _part(path)
    return f"{feature} of {_part(path)}" if path else feature


def power_words(finding: PrivacyFinding) -> str:
    """Return which leaks would have been detected, on which event and which pairs."""
    least = significant(finding.detectable_epsilon, "up", digits=3, apart_from=finding.epsilon)
    caught = f"any ε ≥ {least}" if math.isfinite(finding.detectable_epsilon) else "no leak, however large,"
    return f"{caught} {detected_words(finding)}"


def detected_words(finding: PrivacyFinding) -> str:
    """Return how often, on which event and on which pairs what is called detectable is detected."""
    return f"would be detected {OFTEN}, on an event {_likely_text(finding)}, {pairs_words(finding)}"


def _likely_text(finding: PrivacyFinding) -> str:
    """Return how likely the event is on which the power is stated."""
    if finding.detectable_at == PowerAt.FRONTIER:
        mass = next(mass for mass, epsilon in finding.frontier if epsilon == finding.detectable_epsilon)
        return f"of probability {value_text(mass)}"
    one = "main one" if len(finding.tests) > 1 else "one"
    event = f"as likely as the {one} tested"
    event = f"of probability {value_text(MASSES[0])}" if finding.design == "sequential" else event
    return f"{event} on the likelier side" if finding.detectable_at == PowerAt.LIKELIER else event


def reach_words(finding: PrivacyFinding | None) -> str:
    """Return how far the pairs that were made of a dataset reach; empty where there is none."""
    if finding is None or finding.reach is UNSET:
        return ""
    unchanged = "records, dates, categories and conjunctions that none of them changes were not looked at"
    return f"on {finding.reach.in_words} that this dataset gives; {unchanged}"


def group_words(finding: PrivacyFinding) -> str:
    """Return for which groups a claim is tested; empty where inputs differ in one record."""
    if finding.reach is UNSET or finding.reach.group == 1:
        return ""
    users = any(origin.kind is OriginKind.OWN_USERS for origin in finding.origins)
    return f" for groups of {finding.reach.group} {'users' if users else 'records'}"


def pairs_words(finding: PrivacyFinding) -> str:
    """Return on which of the pairs what is called detectable would be detected."""
    if finding.pairs == 1:
        return "on this pair"
    long_enough = "compared long enough for that"
    if finding.compared is UNSET:
        return f"on the pairs that were {long_enough}"
    number = "one" if finding.compared == 1 else count(finding.compared)
    were = "was" if finding.compared == 1 else "were"
    return f"on the {number} of {count(finding.pairs)} pairs that {were} {long_enough}"


def seen_words(finding: PrivacyFinding) -> str:
    """Return in which runs an event was seen that stands for the one tested; empty where there is none."""
    seen = finding.witness.plain
    if not seen:
        return ""
    runs = f" in {count(seen.trials + seen.neighbour_trials)} runs"
    return f"{runs} of training" if finding.design == "fixed" else f"{runs} that were bet on"


def output_text(finding: LawFinding, decoded: Decoded = None) -> str:
    """Return the output of the worst case with what it stands for, if that is known, as for `event_words`."""
    output = finding.worst_atom if finding.worst_output is UNSET else finding.worst_output
    word = _known(decoded).get(finding.worst_atom)
    return output if word is None else f"{output} ({word})"


def failure_text(finding: UtilityFinding) -> str:
    """Return in words what counts as a failure in a finding of utility."""
    return finding.failure or f"error > {value_text(finding.alpha)}"


def claim_words(epsilon: float, delta: float, written: Callable[[float], str] = value_text) -> str:
    """Return a claim as "ε = 1", with its delta where that is not 0, as given, or rounded if none claims it."""
    return f"ε = {written(epsilon)}" + (f", δ = {written(delta)}" if delta else "")


def claim_text(claim: PrivacyClaim | PrivacyFinding) -> str:
    """Return the claimed epsilon, with delta where it is not 0, for a cell of a table; of a curve, its words."""
    if isinstance(claim, PrivacyFinding) and claim.curve_test is not None:
        return curve_claim_parts(claim.curve_test.claim)[0]
    epsilon = value_text(claim.epsilon)
    return epsilon if claim.delta == 0 else f"({epsilon}, {value_text(claim.delta)})"


def label_parameters(parameters: Mapping[str, Any]) -> str:
    """Return parameters as `name = value, ...`, or "none"."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in sorted(parameters.items())) or "none"


def verdict_words(verdict: Verdict, promises: Sequence[str] = ()) -> str:
    """Return the verdict on a learner, with the promises that it is about where these are to blame."""
    return f"{verdict}: {' and '.join(promises)}" if promises else str(verdict)


def clock_words(*findings: object) -> str:
    """Return that a repetition may have other runs, where a time limit left no time for those asked for; else ""."""
    stopped = [one.stopped for one in findings if isinstance(one, PrivacyFinding)]
    if all(one is UNSET or (one.looks is None and one.asked is UNSET) for one in stopped):
        return ""
    other = "within this time limit another machine may make fewer or more runs"
    return f"{other} (in Python time_limit=finding.stopped makes as many)"


def clock_lines(*findings: object) -> Lines:
    """Return the line on what a clock decided; none where it did not."""
    return said(("clock", clock_words(*findings)))


def run_time_lines(finding: PrivacyFinding) -> Lines:
    """Return what outputs show together with run times, and whether it counts; nothing where none were measured."""
    found = finding.run_time
    if found is UNSET:
        return []
    lower = significant(found.epsilon_lower, "down", digits=3, apart_from=finding.epsilon)
    words = f"with the run times of {plural(found.trials, 'run')} a side, outputs show ε ≥ {lower}"
    if found.counted:  # the event is that of the witness
        return [("run time", f"{words}, which counts: times do not distinguish equal inputs")]
    if found.control is not UNSET:
        apart = significant(found.control, "down", digits=3, apart_from=0.0)
        words += f", which does not count: equal inputs show ε ≥ {apart} too, so times are no evidence here"
    elif found.epsilon_lower <= finding.epsilon and math.isfinite(found.detectable_epsilon):
        able = significant(found.detectable_epsilon, "up", digits=3, apart_from=finding.epsilon)
        words += f"; any ε ≥ {able} would be detected on an event as likely"
    return [("run time", f"{words} ({event_words(found.event)})")]


# Claims that are curves: what is claimed, what refutes it, and what would have been detected.


def curve_claim_words(claim: CurveClaim) -> str:
    """Return a claim that is a curve as "μ = 1 (Gaussian privacy)"."""
    return "{} ({})".format(*curve_claim_parts(claim))


def curve_claim_parts(claim: CurveClaim) -> tuple[str, str]:
    """Return a claim that is a curve in words, and which kind of curve it is."""
    if claim.mu is not None:
        return f"μ = {value_text(claim.mu)}", "Gaussian privacy"
    if claim.rho is not None:
        return f"ρ = {value_text(claim.rho)}", "zero-concentrated privacy"
    if claim.orders:
        orders = (f"ε = {value_text(epsilon)} at order {value_text(order)}" for order, epsilon in claim.orders)
        return ", ".join(orders), "Rényi privacy"
    kind = "" if claim.name == "points" else f"a {claim.name}, "
    return f"{kind}{plural(len(claim.points), 'point')}", "ε, δ"


def shows_words(finding: PrivacyFinding, tested: CurveTest) -> str:
    """Return what the runs show: a bound on mu, or on delta at the point tested."""
    if tested.mu_lower is not None:
        return f"shows μ ≥ {significant(tested.mu_lower, 'down', apart_from=tested.claim.mu)}"
    holder = tested.holder
    if holder is not None and holder.refuted and finding.epsilon_lower <= finding.epsilon:
        return f"shows that ε = {value_text(holder.epsilon)} at order {value_text(holder.alpha)} is too small"
    if finding.design == "sequential":
        lower = significant(finding.epsilon_lower, "down", digits=3, apart_from=finding.epsilon)
        point = f"ε ≤ {significant(finding.epsilon, digits=3)} at δ = {significant(finding.delta, digits=3)}"
        return f"so {point}; shows ε ≥ {lower} there"
    most = significant(finding.delta, "up", digits=3, apart_from=tested.delta_lower)
    point = f"so δ ≤ {most} at ε = {significant(finding.epsilon, digits=3)}"
    if not tested.delta_lower and finding.epsilon_lower:
        lower = significant(finding.epsilon_lower, "down", digits=3, apart_from=finding.epsilon)
        return f"{point}; shows ε ≥ {lower} at that δ"
    least = significant(tested.delta_lower, "down", digits=3, apart_from=finding.delta)
    return f"{point}; shows δ ≥ {least} there"


def holder_words(tested: CurveTest) -> str:
    """Return what the test by Holder's inequality shows; empty where there was none."""
    holder = tested.holder
    if holder is None:
        return ""
    order, most = value_text(holder.alpha), value_text(holder.epsilon)
    claimed = f"divergences of order {order} between data and neighbour of at most {most}"
    evidence = f"exp({significant(holder.log_evidence, 'down')}) where {significant(1 / holder.error)} refutes"
    return f"the bet on all outputs against {claimed} has evidence of {evidence}"


def curve_power_words(finding: PrivacyFinding) -> str:
    """Return how much too much would have been detected; empty where only the point says it."""
    tested = finding.curve_test
    if tested is None:
        return ""
    if tested.detectable_mu is not None:
        if math.isinf(tested.detectable_mu):
            return "no mu, however large, would be detected on the event tested"
        least = significant(tested.detectable_mu, "up", apart_from=tested.claim.mu)
        event = "an event as likely as the one tested"
        if tested.detectable_mass is not UNSET:
            event = f"an event of probability {value_text(tested.detectable_mass)}"
        elif finding.design == "sequential":
            event = "the event that exceeds the point bet against soonest"
        where = f"on {event}, {pairs_words(finding)}"
        return f"any μ ≥ {least} would be detected {OFTEN}, {where}"
    short = tested.detectable_shortfall
    if short is None:
        return ""
    if math.isinf(short):
        return "not even half of the Gaussian noise that the claim needs would be detected, were the output one number"
    least = significant(100 * short, "up", digits=2)
    noise = f"were the output one number, Gaussian noise too small by about {least} % would be detected {OFTEN}"
    return f"{noise} ({_shortfall_words(tested.claim, short)})"


def _shortfall_words(claim: CurveClaim, short: float) -> str:
    """Return what noise that is too small by a share has in the parameters of a claim on orders, "ε = 1.2 at order 2".

    Divergences of Gaussian noise are proportional to the square of its shift in standard deviations. Of several orders
    it is the one that the noise keeps exactly.
    """
    larger = (1 - short) ** -2
    if claim.rho is not None:
        return f"ρ = {significant(larger * claim.rho, 'up', digits=3, apart_from=claim.rho)}"
    order, epsilon = min(claim.orders, key=lambda one: one[1] / one[0])
    return f"ε = {significant(larger * epsilon, 'up', digits=3, apart_from=epsilon)} at order {value_text(order)}"


def curve_lines(finding: PrivacyFinding) -> Lines:
    """Return what else there is to say of a claim that is a curve, a line each."""
    tested = finding.curve_test
    if tested is None:
        return []
    orders = ", ".join(map(value_text, untestable_orders(tested.claim)))
    why = f"order times the shift in deviations exceeds {TESTABLE:g}, so that outputs which hardly any run returns"
    return said(
        ("curve claim", f"{curve_claim_words(tested.claim)}, {shows_words(finding, tested)}"),
        ("by Holder", holder_words(tested)),
        ("power", curve_power_words(finding)),
        ("not testable", orders and f"order {orders}: {why} decide; only much larger violations can be seen"),
    )

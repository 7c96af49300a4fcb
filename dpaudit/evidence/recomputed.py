"""Derive what follows from the counts of a stored finding, and refuse the finding if it says something else.

Whatever reads a finding asks for this: runs, reports, histories and `load`. Bounds, verdicts and curves come from the
functions that the audit used. What does not follow from what is stored (a law, a bet) is checked for what can be
checked, and named, so that no reader takes it for recomputed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import UNSET

from dpaudit.audit.checks_and_gaps import Meaningless, verdict_of
from dpaudit.audit.claim_tests import COIN, MELDED, CurveTest, EventTest, refutes
from dpaudit.audit.finding import PrivacyFinding, Witness
from dpaudit.audit.one_run_finding import FewCanaries, OneRunFinding
from dpaudit.bounds.base import MAX_EPSILON
from dpaudit.bounds.coin import guesses_needed
from dpaudit.bounds.curve import counts_of, fit_curve
from dpaudit.bounds.tangent import delta_lower, mu_of_delta
from dpaudit.contract import PrivacyVerdict, Verdict
from dpaudit.errors import InputError, ToolFault
from dpaudit.events.event import Bets
from dpaudit.events.prefixes import likelier_first
from dpaudit.exact.finding import LawFinding, SupremumFinding
from dpaudit.results import AuditFinding, Finding
from dpaudit.sensitivity.finding import RecordedFinding, SensitivityFinding
from dpaudit.sensitivity.metrics import ROUNDING
from dpaudit.utility.finding import Reason, SampleComplexityFinding, ScalingFinding, UtilityFinding
from dpaudit.utility.interval import GROWTH, failure_interval, is_vacuous, verdict

# Numbers that differ by less, relatively, are taken for equal: other processors round otherwise.
_SAME = 1e-9
POWER, BETS, LAWS = "the power stated", "bets", "exact laws"
HOLDER = "the evidence by Holder's inequality"
VACUITY = "whether a claim of utility is vacuous"


def recomputed(finding: Finding) -> tuple[str, ...]:
    """Return what of a stored finding does not follow from what it stores, after recomputing what does, once.

    `ToolFault` if a number or the verdict is not what follows: it names it, with what is stored and what follows.
    """
    if not isinstance(finding, AuditFinding):
        return (f"findings of the kind {finding.kind!r}",)
    if AuditFinding.not_recomputed.is_known(finding):
        return finding.not_recomputed
    if type(finding) not in _RECOMPUTED:
        return (f"findings of the kind {finding.kind!r}",)
    try:
        left = _RECOMPUTED[type(finding)](finding)
    except InputError as error:  # counts that no bound takes
        raise ToolFault(f"no bound follows from what is stored: {error}") from None
    AuditFinding.not_recomputed.note(finding, left)
    return left


def not_recomputed(left: Counter[str]) -> tuple[str, ...]:
    """Return the note on what of some findings does not follow from what is stored; none where all does."""
    named = ", ".join(f"{name} ({number})" for name, number in sorted(left.items()))
    if named:
        return (f"not recomputed: {named}",)
    return ()


def require(holds: bool, otherwise: str) -> None:
    """Raise `ToolFault` with a message unless something holds."""
    if not holds:
        raise ToolFault(otherwise)


def same(name: str, stored: Any, found: Any, where: str = "what its counts give") -> None:
    """Raise `ToolFault` unless a stored value is another one; floats may differ by rounding."""
    floats = isinstance(stored, float) and isinstance(found, float)
    if floats:
        alike = _close(stored, found)
    else:
        alike = stored == found
    require(alike, f"{name} {_words(stored)} is not {where}, {_words(found)}")


def _close(first: float, second: float) -> bool:
    return math.isclose(first, second, rel_tol=_SAME, abs_tol=1e-12)


def at_most(name: str, found: int, most: int) -> None:
    """Raise `ToolFault` if a count is more than another."""
    require(found <= most, f"{name} {found:.6g} are more than {most:.6g}")


def _words(value: Any) -> str:
    return f"{str(value) if isinstance(value, Verdict) else value!r:.200}"


def _privacy(found: PrivacyFinding) -> tuple[str, ...]:
    whole = math.isclose(math.fsum(found.errors.values()), 1 - found.confidence, rel_tol=_SAME)
    require(whole, f"errors {found.errors} do not add up to 1 - {found.confidence}")
    left = [POWER]
    if found.design == "fixed":
        _counted(found)
    else:
        _bet(found)
        left.append(BETS)
    tested = found.curve_test
    if tested is not None:
        _curve_test(found, tested)
    if (curve := found.curve) is not None:
        sides = likelier_first(found.witness.direction, found.witness.trials or 0, found.witness.neighbour_trials or 0)
        same("runs of the curve", (curve.trials, curve.neighbour_trials), sides, "those that confirm")
        within = curve.gamma <= found.errors.get("curve", 0.0) * (1 + _SAME)
        require(within, f"the error of the curve, {curve.gamma}, is more than its share")
        hits, others = counts_of(curve)
        made = fit_curve(hits, curve.trials, others, curve.neighbour_trials, curve.gamma)
        _same_limits("false_positive_upper", curve.false_positive_upper, made.false_positive_upper)
        _same_limits("false_negative_upper", curve.false_negative_upper, made.false_negative_upper)
    _says(found, refutes(found.epsilon_lower, found.epsilon, tested))
    if tested is not None and tested.holder is not None:
        left.append(HOLDER)
    if found.run_time is not UNSET:
        left.append("bounds of run times")
        if found.run_time.counted:
            same("run_time.epsilon_lower", found.run_time.epsilon_lower, found.epsilon_lower, "that of the finding")
    return tuple(left)


def _same_limits(name: str, stored: npt.ArrayLike, found: npt.ArrayLike) -> None:
    alike = np.allclose(stored, found, rtol=_SAME, atol=1e-12)
    require(alike, f"{name} of the curve are no limits of whole counts")


def _says(found: PrivacyFinding, refuted: bool) -> None:
    broken = {check.name for check in found.checks if check.meaningless}
    gaps = {gap.check for gap in found.gaps if isinstance(gap, Meaningless)}
    require(gaps == broken, f"the gaps are not those of the checks that failed: {', '.join(sorted(broken)) or 'none'}")
    bound = f"epsilon >= {found.epsilon_lower} and a claim of {found.epsilon}"
    said = verdict_of(refuted, found.gaps, run_by_run=found.in_any_state)
    given = f"verdict {_words(found.verdict)}, with {bound},"
    require(found.verdict == said, f"{given} is not what follows, {_words(said)}")
    if found.verdict == PrivacyVerdict.CONSISTENT:
        # Of a pure claim so many guesses, all right, are the least that refute it: fewer runs could have seen nothing.
        least = -(-guesses_needed(found.epsilon, found.errors["verdict"]) // 2)
        able = math.isfinite(found.detectable_epsilon) and (found.delta > 0 or found.confirmation_trials >= least)
        require(able, "verdict 'consistent' of an audit that could have detected no leak")


def _counted(found: PrivacyFinding) -> None:
    witness = found.witness
    budget = found.budget
    sides = witness.trials or 0, witness.neighbour_trials or 0
    runs = found.confirmation_trials
    if found.stopped is UNSET or found.stopped.looks is None:
        same("confirmation_trials", runs, budget["confirmation"], "that of its budget")
    at_most("confirmation_trials", runs, budget["confirmation"])
    # A fair coin decides the input of each run, so that the sides differ and their sum is fixed.
    same("runs of the witness", sum(sides), 2 * runs, "twice confirmation_trials")
    chosen_by = sum(budget.values()) - budget["confirmation"] - budget["checks"]
    same("selection_trials", found.selection_trials, chosen_by, "that of its budget")
    same("trials", found.trials, sum(budget.values()), "the sum of its budget")
    data, neighbour = likelier_first(witness.direction, *sides)
    error = found.errors["verdict"]
    tests = found.tests
    if not tests:  # the only one may stand as the witness alone
        given = witness.hits or 0, witness.neighbour_hits or 0, found.epsilon_lower
        tests = (EventTest(witness.event, error, *given, witness.direction, witness.opposite, witness.count),)
    holder = 0.0
    if found.curve_test is not None and found.curve_test.holder:
        holder = found.curve_test.holder.error
    within = math.fsum([*(test.error for test in tests), holder]) <= error * (1 + _SAME)
    require(within, f"the errors of its tests are more than that of the verdict, {error}")
    every = list(tests)
    if found.representation is not None:
        every.append(found.representation)
    for test in every:
        of_test = likelier_first(test.direction, data, neighbour)
        at_most("hits", test.hits, of_test[0])
        at_most("neighbour_hits", test.neighbour_hits, of_test[1])
        if test.count is not UNSET:
            at_most("right guesses", test.count.right, test.count.guesses)
        same("epsilon_lower of an event", test.epsilon_lower, test.lower(of_test, found.delta))
    best = max(tests, key=lambda test: test.epsilon_lower)
    same("epsilon_lower", found.epsilon_lower, best.epsilon_lower, "the best bound of its tests")
    shown = [_counts_of_event(test) for test in tests if test.epsilon_lower == best.epsilon_lower]
    require(_counts_of_event(witness) in shown, "the witness is not the event of the best bound")
    same("bound", found.bound, MELDED if best.count is UNSET else COIN, "that of its counts")


def _counts_of_event(one: Witness | EventTest) -> tuple[object, ...]:
    return one.direction, one.event, one.hits, one.neighbour_hits, one.opposite, one.count


def _bet(found: PrivacyFinding) -> None:
    """Check what can be checked of bets: their payoffs are not stored."""
    at_most("budget used", found.budget["used"], found.budget["allowed"])
    same("confirmation_trials", found.confirmation_trials, found.budget["used"] // 2, "that of its budget")
    require(found.epsilon_lower <= MAX_EPSILON, f"epsilon_lower {found.epsilon_lower} is no bound that runs can show")
    event = found.witness.event
    refuted = found.epsilon_lower > found.epsilon
    if isinstance(event, Bets):
        at_most("runs that were bet on", event.runs, found.budget["used"])
        stake = -math.log(found.errors["verdict"]) * (1 - _SAME)
        if found.pairs == 1 and refuted and event.log_stake < stake:
            raise ToolFault(f"a stake of exp({event.log_stake:.6g}) refutes no claim with error {math.exp(-stake):.6g}")


def _curve_test(found: PrivacyFinding, tested: CurveTest) -> None:
    epsilon = found.epsilon
    lower = 0.0
    if found.design == "fixed":
        seen = found.witness
        counts = seen.hits or 0, seen.trials or 1, seen.neighbour_hits or 0, seen.neighbour_trials or 1
        errors = (test.error for test in found.tests if test.epsilon_lower == found.epsilon_lower)
        lower = delta_lower(*counts, epsilon=epsilon, gamma=next(errors, found.errors["verdict"]))
        mu = mu_of_delta(epsilon, lower)
    else:
        # A bound of 0 is of no event, so that it shows no mu either.
        shown = found.delta if found.epsilon_lower else 0.0
        mu = mu_of_delta(found.epsilon_lower, shown)
    same("delta_lower", tested.delta_lower, lower)
    expected = None if tested.claim.mu is None else mu
    same("mu_lower", tested.mu_lower, expected)


def _law(found: LawFinding) -> tuple[str, ...]:
    least = found.epsilon - found.error
    if found.enclosure is not None:
        least, most = found.enclosure
        within = least <= most and found.epsilon - found.error <= most and least <= found.epsilon + found.error
        require(within, f"epsilon {found.epsilon} is not in its enclosure {found.enclosure}")
    stands = found.verdict == PrivacyVerdict.VIOLATION
    delta = found.delta_at_claim
    if found.verdict == PrivacyVerdict.NO_EVIDENCE or found.claimed_epsilon is None:
        possible = found.verdict == PrivacyVerdict.CONSISTENT
    elif found.claimed_delta:  # the error of delta is at most that of a ratio of probabilities
        room = math.expm1(min(found.error, 1.0)) + _SAME
        if stands:
            possible = delta > found.claimed_delta
        else:
            possible = delta <= found.claimed_delta + room
    else:
        possible = (least > found.claimed_epsilon) == stands
    numbers = f"{found.verdict} with epsilon {found.epsilon}, delta {delta} at the claim"
    require(possible, f"{numbers}, and a claim of {found.claimed_epsilon}, {found.claimed_delta}")
    at = dict(found.curve)
    if found.claimed_epsilon in at:
        same("delta_at_claim", delta, at[found.claimed_epsilon], "that of its curve")
    falling = [delta for _, delta in sorted(found.curve)]
    require(all(after <= before + _SAME for before, after in pairwise(falling)), "delta rises along the curve")
    return (LAWS,)


def _utility(found: UtilityFinding) -> tuple[str, ...]:
    at_most("failures", found.failures, found.trials)
    same("failure_rate", found.failure_rate, found.failures / found.trials)
    interval = found.failure_lower, found.failure_upper
    # Which look decided is not stored: each has a share of the error that is a power of 1/2.
    looks = math.floor(math.log(found.trials, GROWTH)) + 1
    made = (
        failure_interval(found.failures, found.trials, 1 - (1 - found.confidence) * 0.5**i) for i in range(looks + 1)
    )
    follows = any(all(map(_close, interval, one)) for one in made)
    require(follows, f"the interval {interval} is not what {found.failures} failures of {found.trials} give")
    return _in_either_case(found, (found.failure_lower, found.failure_upper, found.beta), "that of its interval")


def _in_either_case(
    found: UtilityFinding | SampleComplexityFinding, numbers: tuple[float, float, float], where: str
) -> tuple[str, ...]:
    claim = found.alpha, found.beta, found.setting
    # The number of concepts is not stored: two make the most claims vacuous, ever more of them the fewest.
    said = [verdict(*numbers, is_vacuous(*claim, concepts)) for concepts in (2**64, 2)]
    if found.verdict not in said:
        same("verdict", found.verdict, said[0], where)
    if len(set(said)) > 1:
        return (VACUITY,)
    return ()


def _one_run(found: OneRunFinding) -> tuple[str, ...]:
    from dpaudit.audit.one_run import REVERSE_SHARE, GuessTest, derived, points_of
    from dpaudit.bounds.guess_schedules import Schedule

    numbers = tuple(one.guesses for one in found.schedule)
    coins = found.canaries * found.runs
    right = [one.right for one in found.schedule]
    possible = list(numbers) == sorted(set(numbers)) and max(numbers[-1], found.included, found.tied) <= coins
    require(possible, f"{numbers} guesses, {found.included} canaries that were in and {found.tied} ties of {coins}")
    for one in found.schedule:
        at_most("right guesses", one.right, one.guesses)
    gamma = 1 - found.confidence
    points = points_of(found.curve, found.epsilon, found.delta)
    share = 1.0  # of the error, in an earlier version
    if found.reversed is not UNSET:
        share = REVERSE_SHARE
        if not found.reversed:
            share = 1 - REVERSE_SHARE
    schedule = Schedule(numbers, coins, found.ranking == "in")
    test = GuessTest(schedule, share * gamma, np.array(right, dtype=np.int64))
    for name, value in derived(test, points, found.curve, share).items():
        if name == "if_gaussian" and found.if_gaussian is not None:
            for part in value.__struct_fields__:
                same(f"if_gaussian.{part}", getattr(found.if_gaussian, part), getattr(value, part))
        else:
            without = found.verdict == PrivacyVerdict.NO_EVIDENCE and value is not None
            nothing = without and name.startswith("detectable")
            same(name, getattr(found, name), math.inf if nothing else value)
    alike = math.isclose(
        found.p_value, min(1.0, test.at(points).p_value / share), rel_tol=_SAME
    )  # however small both are
    require(alike, f"p_value {found.p_value} is not what its counts give")
    few = all(one.critical > one.guesses for one in found.schedule)
    said_few = any(isinstance(gap, FewCanaries) for gap in found.gaps)
    require(few == said_few, "the gaps are not those of its schedule")
    if found.gaps:
        said = PrivacyVerdict.NO_EVIDENCE
    else:
        said = PrivacyVerdict.CONSISTENT
    same("verdict", found.verdict, PrivacyVerdict.VIOLATION if found.p_value <= gamma else said, "that of its p-value")
    return ()


def _supremum(found: SupremumFinding) -> tuple[str, ...]:
    claimed = found.claimed_epsilon
    if claimed is None or not found.claimed_delta:
        least = max(found.value - found.error, found.attained - found.attained_error)
        if claimed is not None and least > claimed:
            said = PrivacyVerdict.VIOLATION
        else:
            said = PrivacyVerdict.CONSISTENT
        same("verdict", found.verdict, said, "that of its value")
    return (LAWS,)


def _sample_complexity(found: SampleComplexityFinding) -> tuple[str, ...]:
    from dpaudit.utility.size_certificates import refuted

    if found.certificate is not None and (wrong := refuted(found.certificate, found.alpha, found.beta)):
        raise ToolFault(wrong)
    if found.reason == Reason.CERTIFICATE:
        shown = found.upper
    else:
        shown = found.suffices
    left = _in_either_case(found, (found.lower + 1, shown or math.inf, found.theorem), "that of its sizes")
    if found.certificate is not None and found.certificate.fails == found.lower:
        return left
    return (*left, "the sizes")


def _scaling(found: ScalingFinding) -> tuple[str, ...]:
    from dpaudit.utility.scaling import slopes_of

    numbers = [0.0, *(point.x for point in found.points)]
    rising = all(one < other for one, other in pairwise(numbers)) and all(point.theorem > 0 for point in found.points)
    require(rising, "its points are not in increasing order of a positive number")
    for name, value in slopes_of(found.points, found.confidence)._asdict().items():
        stored = getattr(found, name)
        if name == "verdict":
            same(name, stored, value, "that of its points")
        else:  # fits end at other last digits elsewhere
            ours, theirs = (
                one if isinstance(one, list) else [one.value, one.lower, one.upper] for one in (stored, value)
            )
            alike = len(ours) == len(theirs) and np.allclose(ours, theirs, rtol=1e-6, atol=1e-9)
            require(alike, f"{name} is not what its points give")
    return ("the sizes",)


def _sensitivity(found: SensitivityFinding) -> tuple[str, ...]:
    if found.rounded:
        room = found.sensitivity * (1 + float(ROUNDING))
    else:
        room = found.sensitivity
    stands = found.verdict == PrivacyVerdict.VIOLATION
    beyond = bool(found.infinite) or found.distance > room
    # A distance that exceeds the claim by less than a float shows is stored as the claim.
    if stands:
        possible = beyond or found.distance >= found.sensitivity
    else:
        possible = not beyond
    require(possible, f"{_words(found.verdict)} with a distance of {found.distance} and a claim of {found.sensitivity}")
    if not stands:
        _not_refuted(found, found.moved > 0)
    return ("distances",)


def _recorded(found: RecordedFinding) -> tuple[str, ...]:
    declared = any(move.declared is not None for move in found.moves)
    if found.wrong_sensitivity or found.wrong_epsilon:
        same("verdict", found.verdict, PrivacyVerdict.VIOLATION, "that of what is wrong")
    else:
        _not_refuted(found, bool(found.moves) and (declared or found.epsilon is not None))
    return ("distances",)


def _not_refuted(found: SensitivityFinding | RecordedFinding, tested: bool) -> None:
    if tested:
        said = PrivacyVerdict.NOT_REFUTED
    else:
        said = PrivacyVerdict.NO_EVIDENCE
    same("verdict", found.verdict, said, "that of what moved")


# Each recomputes what follows from a finding of its kind, and names what does not.
_RECOMPUTED: dict[type, Callable[[Any], tuple[str, ...]]] = {
    PrivacyFinding: _privacy,
    LawFinding: _law,
    UtilityFinding: _utility,
    OneRunFinding: _one_run,
    SupremumFinding: _supremum,
    SampleComplexityFinding: _sample_complexity,
    ScalingFinding: _scaling,
    SensitivityFinding: _sensitivity,
    RecordedFinding: _recorded,
}

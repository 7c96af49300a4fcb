"""One finding in words, as labelled parts: what is claimed and found, what shows it, what could not be seen, advice."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from msgspec import UNSET

from dpaudit.audit import evidence
from dpaudit.audit.evidence import Answer, Check, CheckName, Gap
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.power import Power
from dpaudit.audit.request import Budget
from dpaudit.contract import Direction, PrivacyClaim, PrivacyVerdict, Relation, TaskVerdict, UtilityVerdict
from dpaudit.errors import in_python
from dpaudit.events.event import Cells
from dpaudit.exact.finding import LawFinding
from dpaudit.outputs.canonical import TIMED_OUT
from dpaudit.report import wording
from dpaudit.report.numbers import count, percent, plural, significant
from dpaudit.report.terminal import Lines, said
from dpaudit.report.view import Decoded, OneAudit
from dpaudit.utility.finding import UtilityFinding

Shown = Callable[[str, str | None], str]
"""The way in which a parameter, with a value or without, is written; see `InputError.worded`."""

_BRIEF_DIGITS = 3
_HEAD, _TAIL = 87, 40
"""Characters that are kept of the beginning and of the end of a long input or event."""
_MANY_TRIALS = 100_000
_DEPENDS = {
    CheckName.INPUTS: "runs change their inputs",
    CheckName.GENERATOR: "equal generators gave different outputs",
    CheckName.ADVANCED: "the generator was never advanced by runs that read it: the noise comes from a copy of it, or "
    "from its seed or its state, so that runs with this generator repeat the same noise",
    CheckName.SEED: "different generators gave the same outputs: a seed is fixed inside, and runs are repeated",
    CheckName.STATE: "equal generators gave outputs that depend on earlier calls, or on something else beside the "
    "arguments: a state is kept between runs, so that they are not independent (if a library draws noise of its own "
    'besides, randomness="own" says that this is meant)',
    CheckName.PROCESS: "equal generators gave different outputs in different processes, so that runs of one do not "
    "have the law of all",
    CheckName.ORDER: "consecutive runs on one input depend on each other: noise is used again or carried over from run "
    "to run, so that the stream of answers leaks what one answer does not, and counts of runs say nothing of one",
    CheckName.WORKERS: "workers repeat each other's streams, so that the same runs are counted several times: seed the "
    "mechanism from the generator that is passed, or use one job",
    CheckName.CALLS: "outputs of one call depend on each other: counts differ from call to call by more than those of "
    "independent runs do, so that bounds on independent runs do not hold",
}
_OTHERS = {
    Answer.GLOBAL: "a global generator is used (numpy's, random's or torch's) instead of the one that is passed: the "
    "audit cannot be repeated bit by bit",
    Answer.OWN: "equal generators gave different outputs: the mechanism has randomness of its own, so its audit cannot "
    'be repeated bit by bit; randomness="own" says that this is meant',
    Answer.UNMOVED: "the generator that is passed is read and not advanced: runs that draw from a copy of it would "
    "repeat their noise, so each run of this audit had a generator of its own",
}
_PASSED = {
    CheckName.INPUTS: "inputs are left as they are",
    CheckName.GENERATOR: "equal generators give equal outputs",
    CheckName.ADVANCED: "the generator is advanced",
    CheckName.SEED: "different generators are not known to give the same outputs",
    CheckName.STATE: "no dependence on earlier calls",
    CheckName.PROCESS: "no dependence on the process",
    CheckName.ORDER: "no dependence between consecutive runs on one input",
    CheckName.WORKERS: "workers do not repeat each other",
    CheckName.CALLS: "no dependence between the runs of a call",
}
_ROUNDING = "floating-point rounding reveals the input (Mironov 2012)"
_DEFECTS = frozenset({"NameError", "UnboundLocalError", "AttributeError", "ImportError", "ModuleNotFoundError"})
"""Exceptions that no choice of inputs avoids."""
_REMEDIES = {
    CheckName.INPUTS: "let the mechanism copy its input before it changes it",
    CheckName.GENERATOR: "draw all randomness from the generator that is passed",
    CheckName.ADVANCED: "draw from the generator itself, or from its children (rng.spawn), not from a copy",
    CheckName.SEED: "take the seed that is fixed out of the mechanism, and draw from the generator that is passed",
    CheckName.STATE: "start every run without state of an earlier one",
    CheckName.PROCESS: "take out of the mechanism what differs between processes, or use one process",
    CheckName.ORDER: "draw new noise in every run (and leave counters and times out of the output)",
    CheckName.WORKERS: "draw all randomness from the generator that is passed, or use one process",
    CheckName.CALLS: "draw for each run of a call what its law needs, or let a call make one run, not batched",
}


def brief_lines(finding: OneAudit, name: str = "the mechanism", repeat: str | None = None) -> Lines:
    """Return the parts of a finding, and at the end the command that makes it again, by default its seed."""
    lines = parts(finding, name)
    if repeat is not None:
        return [*lines, ("repeat", repeat), *wording.clock_lines(finding)]
    if isinstance(finding, LawFinding):
        return lines
    sides = " a side" if isinstance(finding, PrivacyFinding) else ""
    return [*lines, ("seed", f"{finding.seed}, {count(finding.trials)} runs{sides}")]


def parts(finding: OneAudit, name: str, decoded: Decoded = None, shown: Shown = in_python) -> Lines:
    """Return all that a report says of a finding in brief, each part with its label: statement, reasons, warnings.

    Consoles and pages of one finding show every part; the prose of a run has the `statement` of all findings on a
    mechanism and the `reasons` of those that decide. `decoded` is as for `wording.answer_words`; `shown` writes a
    parameter that is recommended.
    """
    promised = not isinstance(finding, LawFinding) or finding.claimed_epsilon is not None
    verdict = finding.verdict if promised else TaskVerdict.NO_CLAIM
    lines = [(verdict, statement([finding], name)), *reasons(finding, decoded, shown)]
    if not isinstance(finding, PrivacyFinding):
        return lines
    failed = (check_words(check) for check in finding.checks if not (check.passed or check.meaningless))
    bits, refuted = finding.representation, finding.verdict == PrivacyVerdict.VIOLATION
    leak = [representation_text(finding)] if bits and bits.epsilon_lower > finding.epsilon and not refuted else []
    warnings = [("warning", text) for text in (*finding.warnings, *failed, *leak)]
    return [*lines, *wording.run_time_lines(finding), *warnings]


def statement(found: Sequence[OneAudit], name: str) -> str:
    """Return what a mechanism claims, by the first of some findings, and what each of them shows, in one sentence."""
    return f"{name} {', '.join(filter(None, (_claimed(found[0]), *map(_shows, found))))}"


def _claimed(finding: OneAudit) -> str:
    match finding:
        case PrivacyFinding() if finding.curve_test is not None:
            return f"claims {wording.curve_claim_words(finding.curve_test.claim)}{wording.group_words(finding)}"
        case PrivacyFinding():
            return f"claims {wording.claim_words(finding.epsilon, finding.delta)}{wording.group_words(finding)}"
        case LawFinding(claimed_epsilon=None):
            return "promises no privacy"
        case LawFinding(claimed_epsilon=float(epsilon)):
            return f"claims {wording.claim_words(epsilon, finding.claimed_delta)}"
    return ""


def _shows(finding: OneAudit) -> str:
    match finding:
        case PrivacyFinding():
            lower = significant(finding.epsilon_lower, "down", digits=_BRIEF_DIGITS, apart_from=finding.epsilon)
            words = f"shows{' ε' if finding.delta else ''} ≥ {lower}"
            if finding.curve_test is not None:
                words = wording.shows_words(finding, finding.curve_test)
            assumed = "outputs" if finding.recorded else "runs" if finding.in_any_state is False else ""
            sure = f"{percent(finding.confidence)} sure{f', assuming independent {assumed}' if assumed else ''}"
            return f"{words} ({sure})" if finding.verdict == PrivacyVerdict.VIOLATION else words
        case LawFinding():
            return f"has {_loss(finding)} ({finding.grade})"
        case UtilityFinding():
            allowed = _rate(finding, finding.beta)
            return f"fails in {_rate(finding, finding.failure_rate)} % of runs, {allowed} % allowed"


def _loss(finding: LawFinding) -> str:
    """Return the exact epsilon; with a claim of delta that at this delta, or the delta at the claimed epsilon."""
    claimed, delta, least = finding.claimed_epsilon, finding.claimed_delta, finding.epsilon_at_claim
    if claimed is not None and delta and least is None:
        return f"δ = {significant(finding.delta_at_claim, digits=_BRIEF_DIGITS, apart_from=delta)} there"
    at_delta = claimed is not None and delta > 0
    epsilon = finding.epsilon if least is None or not at_delta else least
    text = significant(epsilon, digits=_BRIEF_DIGITS, apart_from=claimed, error=finding.error)
    if at_delta:
        return f"ε = {text} at that δ"
    return f"ε = {text}" if claimed is None else text


def reasons(finding: OneAudit, decoded: Decoded = None, shown: Shown = in_python) -> Lines:
    """Return what shows the verdict of a finding, what could not have been seen, and what to do about that."""
    refuted = finding.verdict == PrivacyVerdict.VIOLATION
    match finding:
        case PrivacyFinding() if finding.verdict == PrivacyVerdict.NO_EVIDENCE:
            why, remedy = _no_power(finding, shown)
            return [("power", f"none: {why}"), ("next", remedy)]
        case PrivacyFinding() if not refuted:
            caught = wording.curve_power_words(finding) or wording.power_words(finding)
            power = "; ".join(filter(None, (caught, wording.reach_words(finding), unseen_words(finding))))
            return said(("power", power), ("more time", _more_time(finding, shown)))
        case LawFinding() if not refuted:
            return [("covers", covers_text(finding))]
        case UtilityFinding() if finding.verdict == UtilityVerdict.UNDECIDED:
            more = shown("trials", str(10 * finding.trials))
            advice = f"add {more}: the interval, which holds what is allowed, gets narrower"
            return [("because", because(finding)), ("next", advice)]
    return [("because", because(finding, decoded))]


def unseen_words(finding: PrivacyFinding | None) -> str:
    """Return what was not looked at, at most three kinds by name; empty where everything was."""
    unseen = finding.not_looked_at if finding else ()
    if finding and finding.reach is not UNSET:  # `reach_words` has these
        unseen = tuple(one for one in unseen if one not in finding.reach.not_tried)
    if len(unseen) > 3:
        return f"{len(unseen)} kinds of features not looked at: -v or finding.not_looked_at names them"
    return f"not looked at: {', '.join(unseen)}" if unseen else ""


def _no_power(finding: PrivacyFinding, shown: Shown = in_python) -> tuple[str, str]:
    remedies = dict.fromkeys(_remedy(gap, finding, shown) for gap in finding.gaps)
    if needed := _needed_trials(finding):
        remedies[_more_runs(finding, needed, shown)] = None
    return gaps_words(finding), "; ".join(filter(None, remedies))


def covers_text(finding: LawFinding) -> str:
    """Return how many pairs exact laws were compared on."""
    samples = "the samples given" if finding.n is None else f"samples of {plural(finding.n, 'example')}"
    return f"{plural(finding.pairs, 'ordered pair')} of neighbours, {samples}"


def because(finding: OneAudit, decoded: Decoded = None) -> str:
    """Return what shows a verdict.

    That is the event or the output and its probabilities, or the rate of failure; without evidence, why no leak could
    have been detected and what to do about it.
    """
    match finding:
        case PrivacyFinding() if finding.verdict == PrivacyVerdict.NO_EVIDENCE:
            return "; ".join(_no_power(finding))
        case PrivacyFinding():
            return _event_reason(finding, decoded)
        case LawFinding():
            pair, output = finding.pair_in_words, _cut(wording.output_text(finding, decoded))
            words = f"output {output} on {_cut(pair.data)} against {_cut(pair.neighbour)}"
            if finding.claimed_delta:
                most = significant(finding.epsilon, digits=_BRIEF_DIGITS)
                return f"{words}: the pair at which ε is the largest, {most}"
            if math.isinf(finding.epsilon):
                return f"{words}: possible on the first, impossible on the second"
            return f"{words}: {times_words(_factor(finding.epsilon), finding.claimed_epsilon or 0.0)}"
        case UtilityFinding():
            low, high = _rate(finding, finding.failure_lower, "down"), _rate(finding, finding.failure_upper, "up")
            runs = f"{count(finding.failures)} of {plural(finding.trials, 'run')} had {wording.failure_text(finding)}"
            case = f"{finding.concept}, {finding.distribution}, {plural(finding.n, 'example')} ({finding.setting})"
            return f"{runs} ({low} to {high} %, {percent(finding.confidence)} sure): {case}"


def _event_reason(finding: PrivacyFinding, decoded: Decoded) -> str:
    witness, tested = finding.witness, finding.curve_test
    if tested is not None and tested.by_holder and finding.epsilon_lower <= finding.epsilon:
        return wording.holder_words(tested)
    shown = witness.plain or witness
    words = wording.answer_words(shown.event, decoded)
    event = _cut(f"answer {words}" if wording.answers_of(shown.event) else words)
    sides = list(wording.inputs_words(witness))
    if not witness.origin.kind.own:  # recipes of datasets are shown in full
        sides = list(map(_cut, sides))
    likely, other = sides if shown.direction == Direction.FORWARD else sides[::-1]
    if shown.rates is None:
        return f"{event}; {likely} against {other}"
    p, q = shown.rates
    words = f"{event}: {_share(p)} on {likely}, {_share(q)} on {other}{wording.seen_words(finding)}"
    if isinstance(shown.event, Cells) and shown.event.rounding:
        words = f"{_ROUNDING}; {words}"
    if finding.delta:
        most = min(_factor(finding.epsilon) * q + finding.delta, 1.0)
        return f"{words}; the claim allows {significant(100 * most, 'up', digits=_BRIEF_DIGITS, apart_from=100 * p)} %"
    if not q:
        return f"{words}; the claim allows {significant(_factor(finding.epsilon), digits=2)} times as often"
    return f"{words}; that is {times_words(p / q, finding.epsilon)}"


def times_words(ratio: float, epsilon: float, written: Callable[..., str] = significant) -> str:
    """Return by which factor one probability exceeds another, and by which a claim of epsilon lets it."""
    allowed = _factor(epsilon)
    times = written(ratio, digits=2, apart_from=allowed)
    return f"{times} times as often, the claim allows {written(allowed, digits=2, apart_from=ratio)}"


def _factor(epsilon: float) -> float:
    return math.exp(min(epsilon, 700.0))


def _share(share: float) -> str:
    """Return a share of runs in per cent; one that is not 0 or 1 never looks like it."""
    return f"{significant(100 * share, digits=_BRIEF_DIGITS, apart_from=100.0)} %" if share else "never"


def _cut(text: str) -> str:
    """Return a long text in one line without its middle."""
    text = " ".join(line.strip() for line in text.splitlines())
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}...{text[-_TAIL:]}"


def _rate(finding: UtilityFinding, share: float, towards: str = "nearest") -> str:
    """Return a rate of failure in per cent, on its side of what is allowed."""
    apart = None if share == finding.beta else 100 * finding.beta
    return significant(100 * share, towards, digits=_BRIEF_DIGITS, apart_from=apart)


def gaps_words(finding: PrivacyFinding | None) -> str:
    """Return why an audit could not have detected that the claim fails."""
    return "; ".join(map(gap_words, finding.gaps if finding else ())) or "no audit could have seen that the claim fails"


def gap_words(gap: Gap) -> str:
    """Return one reason why an audit could not have detected that the claim fails."""

    def of_runs(n: int, runs: int) -> str:
        return "every run" if n == runs else f"{count(n)} of {count(runs)} runs"

    match gap:
        case evidence.AllRaised():
            place = f" ({gap.place})" if gap.place else ""
            ended, usual = "ended in an exception", gap.usual
            if gap.error_type == TIMED_OUT:
                ended, usual = f"timed out or {ended}", usual.replace(": ", " ", 1)
            often = f"most often {usual}{place}: ordinary outputs were too rare"
            return f"{of_runs(gap.raised, gap.runs)} {ended}, {often}"
        case evidence.Constant():
            why = "the output is constant, or no feature distinguishes its values"
            if gap.varied:
                why = "others were too few to refute the claim"
            return f"{of_runs(gap.alike, gap.runs)} had one outcome, on both sides: {why}"
        case evidence.Identical():
            return f"both inputs are the same in all of {plural(gap.pairs, 'pair')}, so that nothing can differ"
        case evidence.FewRuns():
            return (
                f"{plural(gap.runs, 'run')} a side decided, and {count(gap.least)} is the least number that can refute "
                "the claim"
            )
        case evidence.Powerless():
            return "these runs would have detected no leak, however large, on the event tested or on a rarer one"
        case evidence.NotLookedAt():
            return f"not looked at: {', '.join(gap.parts)}"
        case evidence.Meaningless():
            return _DEPENDS[gap.check]


def _needed_trials(finding: PrivacyFinding) -> int:
    """Return how many trials are recommended, one number for all gaps that more runs close; 0 where they close none."""
    needed = 0
    for gap in finding.gaps:
        match gap:
            case evidence.FewRuns():
                needed = max(needed, _MANY_TRIALS, 10 * gap.trials, 10 * finding.trials)
            case evidence.Powerless() | evidence.Constant(varied=True):
                needed = max(needed, _MANY_TRIALS, 10 * finding.trials)
    return needed


def _remedy(gap: Gap, finding: PrivacyFinding, shown: Shown) -> str:
    """Return what closes a gap; empty where it is more runs, for which there is one sentence."""
    match gap:
        case evidence.FewRuns() | evidence.Powerless() | evidence.Constant(varied=True):
            return ""
        case evidence.Constant() if finding.recorded:
            return "record outputs on inputs on which they vary"
        case evidence.Constant() | evidence.Identical():
            return f"give {shown('pairs', None)} of different inputs, on which the output varies"
        case evidence.AllRaised(error_type=error_type) if error_type == TIMED_OUT:
            return f"give a longer {shown('timeout', None)}"
        case evidence.AllRaised():
            defect = gap.error_type in _DEFECTS
            return "mend the mechanism" if defect else f"give {shown('pairs', None)} that the mechanism accepts"
        case evidence.NotLookedAt():
            return "return these parts as numbers or text, or register their type with dpaudit.register_flattener"
        case evidence.Meaningless():
            return _REMEDIES[gap.check]


def _more_runs(finding: PrivacyFinding, trials: int, shown: Shown) -> str:
    if longer := _more_time(finding, shown):
        return longer
    if finding.recorded:
        return f"record {count(trials)} outputs on each side{_catches(finding, trials)}"
    a_side = "a side"
    if finding.seconds_a_run is not None:
        a_side += f", {about_words(2 * trials * finding.seconds_a_run)}"
    return f"add {shown('trials', str(trials))} ({a_side}){_catches(finding, trials)}"


def about_words(seconds: float) -> str:
    """Return about how long something takes, as "about 4 min"."""
    for most, unit, words in ((100, 1, "s"), (6_000, 60, "min"), (172_800, 3_600, "h")):
        if seconds < most:
            return f"about {max(1, round(seconds / unit))} {words}"
    return f"about {count(round(seconds / 86_400))} days"


def _more_time(finding: PrivacyFinding, shown: Shown) -> str:
    """Return what the runs that were asked for would show, where a limit left no time for them."""
    if finding.stopped is UNSET or finding.stopped.asked is UNSET:
        return ""
    asked, made = finding.stopped.asked, finding.stopped.trials
    times = significant(asked / made, digits=2)
    more = f"give about {times} times the {shown('time_limit', None)}, for all {count(asked)} {shown('trials', None)}"
    return more + _catches(finding, asked)


def _catches(finding: PrivacyFinding, trials: int) -> str:
    """Return which leaks so many trials detect on an event as likely as that tested."""
    given, rates, least = len(finding.origins), finding.witness.rates, math.inf
    if rates is not None:
        budget = Budget.of(trials, given, local=finding.pairs > given)
        claim = PrivacyClaim(finding.epsilon, finding.delta, finding.relation or Relation.REPLACE_ONE)
        training = budget.pilot + budget.training
        least = Power.of_test(*rates, training, budget.confirmation, claim, finding.errors["verdict"]).epsilon
    if least >= finding.detectable_epsilon:  # infinite, or for the event tested no less than what was seen
        return ": more runs see smaller leaks"
    return f" to catch any ε ≥ {significant(least, 'up', digits=2, apart_from=finding.epsilon)} or so"


def check_words(check: Check) -> str:
    """Return the answer of a check."""
    if check.answer == Answer.PASSED:
        return _PASSED[check.name]
    if check.answer == Answer.NOT_ASKED:
        return f"{check.name}: not asked"
    return _DEPENDS[check.name] if check.meaningless else _OTHERS[check.answer]


def representation_text(finding: PrivacyFinding) -> str:
    """Return what the bits of floats give beside the verdict, which speaks of values; empty where none were tested."""
    test = finding.representation
    if test is None:
        return ""
    at = f"with confidence {percent(1 - test.error)}"
    if test.epsilon_lower <= finding.epsilon:
        return f"how floats are stored was looked at beside their values: nothing above the claim, {at}"
    lower = significant(test.epsilon_lower, "down", apart_from=finding.epsilon)
    return (
        f"{_ROUNDING}, ε ≥ {lower} {at} ({wording.event_words(test.event)}: {count(test.hits)} against "
        f"{count(test.neighbour_hits)} runs); --float-bits makes that count"
    )

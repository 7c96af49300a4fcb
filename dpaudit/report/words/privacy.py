"""Words for the finding of a black-box audit: in brief, and all that it rests on."""

from __future__ import annotations

import math
from collections import Counter

from msgspec import UNSET, structs

from dpaudit.audit import checks_and_gaps as gaps
from dpaudit.audit.checks_and_gaps import Answer, Check, CheckName, Gap
from dpaudit.audit.claim_tests import CurveTest
from dpaudit.audit.curve_claims import TESTABLE, untestable_orders
from dpaudit.audit.finding import PlainEvent, PowerAt, PrivacyFinding, Witness
from dpaudit.audit.power import LEARNING, LEARNING_OF_BETS, MASSES, Power
from dpaudit.audit.request import Budget
from dpaudit.contract import CurveClaim, Direction, OriginKind, PrivacyClaim, PrivacyVerdict, Relation
from dpaudit.errors import in_python
from dpaudit.events.event import Cells, Withheld
from dpaudit.family_wise import FamilyWise
from dpaudit.outputs.canonical import TIMED_OUT
from dpaudit.report.about import about_view
from dpaudit.report.glossary import OFTEN
from dpaudit.report.numbers import count, percent, plural, significant, value_text
from dpaudit.report.terminal import Lines, said
from dpaudit.report.view import Decoded, FindingView, ParameterWriter
from dpaudit.report.words.claims import (
    BRIEF_DIGITS,
    claim_cell,
    claim_words,
    curve_claim_parts,
    curve_claim_words,
    factor,
    family_words,
    tested_claim,
    times_words,
)
from dpaudit.report.words.events import answer_words, answers_of, event_words
from dpaudit.report.words.inputs import cut, inputs_words, origin_text

# The trials that are advised at least, where runs were too few: those of an audit by default.
_MANY_TRIALS = 100_000
# The finding of each check against a mechanism.
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
# The answers that are warnings.
_OTHERS = {
    Answer.GLOBAL: "a global generator is used (numpy's, random's or torch's) instead of the one that is passed: the "
    "audit cannot be repeated bit by bit",
    Answer.OWN: "equal generators gave different outputs: the mechanism has randomness of its own, so its audit cannot "
    'be repeated bit by bit; randomness="own" says that this is meant',
    Answer.UNMOVED: "the generator that is passed is read and not advanced: runs that draw from a copy of it would "
    "repeat their noise, so each run of this audit had a generator of its own",
}
# What each check has shown if there is nothing to report.
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
ROUNDING_LEAKS = "floating-point rounding reveals the input (Mironov 2012)"
# Exceptions that no choice of inputs avoids.
_DEFECTS = frozenset({"NameError", "UnboundLocalError", "AttributeError", "ImportError", "ModuleNotFoundError"})
# What to do about a check that makes an audit meaningless.
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
# The meaning of a bound on epsilon, by its name.
BOUNDS = {
    "melded": "melded, one joint confidence statement on both probabilities",
    "coin": "the exact limit of how often the coin is guessed right that decided the input of each run",
}


# The purposes of runs in the fixed design, in their order.
_PURPOSES = {
    "search": "to compare the pairs",
    "local": "to vary the best pair",
    "pilot": "to see what outputs look like",
    "training": "to choose the event",
    "confirmation": "to confirm it",
    "checks": "to check randomness and state",
}
_STATEMENTS = {"epsilon_lower": "bound on ε"}
_SHARES = {1: "all", 2: "half", 3: "a third", 4: "a quarter"}
_RUNS = "for independent runs"
ASSUMED = (
    f"these are what {_SHARES[LEARNING]} of the runs detect on an event that is given (of bets, about what "
    f"{_SHARES[LEARNING_OF_BETS]} of the runs of a pair that leads from the start do); one that has to be learned "
    "does about as well with all of them, as calibration shows"
)


def claim_text(finding: PrivacyFinding) -> str:
    """Return what was claimed, for a cell of a table; of a curve its words."""
    if finding.curve_test is not None:
        return curve_claim_parts(finding.curve_test.claim)[0]
    return claim_cell(finding.epsilon, finding.delta)


def claimed(finding: PrivacyFinding) -> str:
    """Return what the mechanism claims."""
    if finding.curve_test is None:
        claim = claim_words(finding.epsilon, finding.delta)
    else:
        claim = curve_claim_words(finding.curve_test.claim)
    return f"claims {claim}{group_words(finding)}"


def shows(finding: PrivacyFinding) -> str:
    """Return what the runs show; of a violation also how sure that is."""
    if finding.curve_test is None:
        lower = significant(finding.epsilon_lower, "down", digits=BRIEF_DIGITS, apart_from=finding.epsilon)
        symbol = ""
        if finding.delta:
            symbol = " ε"
        words = f"shows{symbol} ≥ {lower}"
    else:
        words = shows_words(finding, finding.curve_test)
    if finding.verdict != PrivacyVerdict.VIOLATION:
        return words
    sure = f"{percent(finding.confidence)} sure"
    if finding.recorded:
        sure += ", assuming independent outputs"
    elif not finding.in_any_state:
        sure += ", assuming independent runs"
    return f"{words} ({sure})"


def reasons(finding: PrivacyFinding, decoded: Decoded = None, shown: ParameterWriter = in_python) -> Lines:
    """Return what shows the verdict, what could not have been seen, and what to do about that."""
    if finding.verdict == PrivacyVerdict.NO_EVIDENCE:
        why, remedy = _no_power(finding, shown)
        return [("power", f"none: {why}"), ("next", remedy)]
    if finding.verdict == PrivacyVerdict.VIOLATION:
        return [("because", _event_reason(finding, decoded))]
    caught = curve_power_words(finding) or power_words(finding)
    parts = (caught, reach_words(finding), unseen_words(finding))
    return said(("power", "; ".join(filter(None, parts))), ("more time", _more_time(finding, shown)))


def because(finding: PrivacyFinding, decoded: Decoded = None) -> str:
    """Return the event that shows the verdict; without evidence, why no leak could have been detected."""
    if finding.verdict == PrivacyVerdict.NO_EVIDENCE:
        return "; ".join(_no_power(finding))
    return _event_reason(finding, decoded)


def limits(finding: PrivacyFinding) -> Lines:
    """Return the lines on run times, and on what limits the finding."""
    texts = [*finding.warnings]
    texts += [check_words(check) for check in finding.checks if not (check.passed or check.meaningless)]
    stored = finding.representation
    if stored is not None and stored.epsilon_lower > finding.epsilon and finding.verdict != PrivacyVerdict.VIOLATION:
        texts.append(representation_text(finding))
    return [*run_time_lines(finding), *(("warning", text) for text in texts)]


def asked(finding: PrivacyFinding) -> Lines:
    """Return the line on the curve of delta, if that was asked for."""
    curve = finding.curve
    if curve is None:
        return []
    grid = sorted({0.0, finding.epsilon / 2, finding.epsilon})
    deltas = zip(curve.delta_lower(grid).tolist(), grid, strict=True)
    steps = ", ".join(f"{significant(delta, 'down')} at ε = {value_text(epsilon)}" for delta, epsilon in deltas)
    sure = f"with confidence {percent(1 - curve.gamma)}, simultaneously for all ε, for independent runs"
    return [("curve", f"δ ≥ {steps}; μ ≥ {significant(curve.mu_lower, 'down')} ({sure})")]


def evidence_lines(view: FindingView, finding: PrivacyFinding) -> Lines:
    """Return all that a finding rests on."""
    tested = ("claim", tested_claim(view, finding.epsilon, finding.delta, finding.relation))
    if finding.curve_test is not None:
        tested = ("point tested", claim_words(finding.epsilon, finding.delta, significant))
    scores = ", ".join(finding.scores) or finding.distinguisher
    checked = ""
    if finding.checks:
        passed = [check_words(check) for check in finding.checks if check.answer == Answer.PASSED]
        spent = plural(sum(check.runs for check in finding.checks), "run")
        checked = f"{'; '.join(passed) or 'nothing was asked'} ({spent} on both sides)"
    return said(
        tested,
        *about_view(view),
        *curve_lines(finding),
        *_power(finding),
        ("compared", f"pairs: {origins_text(finding)}; events: {count(finding.events)}; scores: {scores}"),
        ("budget", budget_text(finding)),
        ("continued", continued_text(finding)),
        ("errors", errors_text(finding)),
        *_witness(view, finding),
        ("holds", "in whatever state earlier runs leave the mechanism" if finding.in_any_state else _RUNS),
        ("floating point", representation_text(finding)),
        *run_time_lines(finding),
        ("not looked at", "; ".join(finding.not_looked_at)),
        ("checked", checked),
    )


# The event that was tested, and its probabilities.


def _event_reason(finding: PrivacyFinding, decoded: Decoded) -> str:
    witness = finding.witness
    tested = finding.curve_test
    # The bet on all outputs refutes alone, and there is no event to show.
    if tested is not None and tested.by_holder and finding.epsilon_lower <= finding.epsilon:
        return holder_words(tested)
    shown = shown_event(finding)
    words = answer_words(shown.event, decoded)
    if answers_of(shown.event):
        words = f"answer {words}"
    event = words
    # Words for what is withheld are ours, and say nothing without their middle.
    if not isinstance(shown.event, Withheld):
        event = cut(words)
    sides = list(inputs_words(witness))
    # Recipes of datasets are short, and shown in full.
    if not witness.origin.kind.own:
        sides = list(map(cut, sides))
    likely, other = sides if shown.direction == Direction.FORWARD else sides[::-1]
    if shown.rates is None:
        return f"{event}; {likely} against {other}"
    p, q = shown.rates
    words = f"{event}: {_share(p)} on {likely}, {_share(q)} on {other}{seen_words(finding)}"
    if isinstance(shown.event, Cells) and shown.event.rounding:
        words = f"{ROUNDING_LEAKS}; {words}"
    # With a delta the claim allows no fixed factor: the rate that it allows depends on the other one.
    if finding.delta:
        most = min(factor(finding.epsilon) * q + finding.delta, 1.0)
        return f"{words}; the claim allows {significant(100 * most, 'up', digits=BRIEF_DIGITS, apart_from=100 * p)} %"
    if not q:
        return f"{words}; the claim allows {significant(factor(finding.epsilon), digits=2)} times as often"
    return f"{words}; that is {times_words(p / q, finding.epsilon)}"


def shown_event(finding: PrivacyFinding) -> Witness | PlainEvent:
    """Return the event that a reader is shown: one in simpler words if it shows the same, else the one tested."""
    witness = finding.witness
    plain = witness.plain
    if plain is UNSET:
        return witness
    # Without its numbers it is no simpler, so that it must show as much; bets have no other event.
    if isinstance(plain.event, Withheld) and witness.hits is not None and plain.rates is not None:
        p, q = plain.rates
        if p < factor(finding.epsilon_lower) * q:
            return witness
    return plain


def _share(share: float) -> str:
    """Return a share of runs in per cent; one that is not 0 or 1 never looks like it."""
    if share:
        return f"{significant(100 * share, digits=BRIEF_DIGITS, apart_from=100.0)} %"
    return "never"


# What was not looked at, why no leak could have been seen, and what to do about that.


def unseen_words(finding: PrivacyFinding | None) -> str:
    """Return what was not looked at, at most three kinds by name; empty where everything was."""
    if finding is None:
        return ""
    unseen = finding.not_looked_at
    # `reach_words` has these.
    if finding.reach is not UNSET:
        unseen = tuple(one for one in unseen if one not in finding.reach.not_tried)
    if len(unseen) > 3:
        return f"{len(unseen)} kinds of features not looked at: -v or finding.not_looked_at names them"
    if unseen:
        return f"not looked at: {', '.join(unseen)}"
    return ""


def _no_power(finding: PrivacyFinding, shown: ParameterWriter = in_python) -> tuple[str, str]:
    remedies = dict.fromkeys(_remedy(gap, finding, shown) for gap in finding.gaps)
    if needed := _needed_trials(finding):
        remedies[_more_runs(finding, needed, shown)] = None
    return gaps_words(finding), "; ".join(filter(None, remedies))


def gaps_words(finding: PrivacyFinding | None) -> str:
    """Return why an audit could not have detected that the claim fails."""
    return "; ".join(map(gap_words, finding.gaps if finding else ())) or "no audit could have seen that the claim fails"


def gap_words(gap: Gap) -> str:
    """Return one reason why an audit could not have detected that the claim fails."""

    def of_runs(n: int, runs: int) -> str:
        if n == runs:
            return "every run"
        return f"{count(n)} of {count(runs)} runs"

    match gap:
        case gaps.AllRaised():
            place = ""
            if gap.place:
                place = f" ({gap.place})"
            ended = "ended in an exception"
            usual = gap.usual
            if gap.error_type == TIMED_OUT:
                ended = f"timed out or {ended}"
                usual = usual.replace(": ", " ", 1)
            often = f"most often {usual}{place}: ordinary outputs were too rare"
            return f"{of_runs(gap.raised, gap.runs)} {ended}, {often}"
        case gaps.Constant():
            why = "the output is constant, or no feature distinguishes its values"
            if gap.varied:
                why = "others were too few to refute the claim"
            return f"{of_runs(gap.alike, gap.runs)} had one outcome, on both sides: {why}"
        case gaps.Identical():
            return f"both inputs are the same in all of {plural(gap.pairs, 'pair')}, so that nothing can differ"
        case gaps.FewRuns():
            return (
                f"{plural(gap.runs, 'run')} a side decided, and {count(gap.least)} is the least number that can refute "
                "the claim"
            )
        case gaps.Powerless():
            return "these runs would have detected no leak, however large, on the event tested or on a rarer one"
        case gaps.NotLookedAt():
            return f"not looked at: {', '.join(gap.parts)}"
        case gaps.Meaningless():
            return _DEPENDS[gap.check]
        case FamilyWise():
            return family_words(gap)


def _needed_trials(finding: PrivacyFinding) -> int:
    """Return how many trials are recommended, one number for all gaps that more runs close; 0 where they close none."""
    needed = 0
    for gap in finding.gaps:
        match gap:
            case gaps.FewRuns():
                # The least that could refute the claim detects next to nothing: ten times as many are advised.
                needed = max(needed, _MANY_TRIALS, 10 * gap.trials, 10 * finding.trials)
            case gaps.Powerless() | gaps.Constant(varied=True) | FamilyWise():
                needed = max(needed, _MANY_TRIALS, 10 * finding.trials)
    return needed


def _remedy(gap: Gap, finding: PrivacyFinding, shown: ParameterWriter) -> str:
    """Return what closes a gap; empty where it is more runs, for which there is one sentence."""
    match gap:
        # More runs close these three together, and `_more_runs` says how many.
        case gaps.FewRuns() | gaps.Powerless() | gaps.Constant(varied=True) | FamilyWise():
            return ""
        case gaps.Constant() if finding.recorded:
            return "record outputs on inputs on which they vary"
        case gaps.Constant() | gaps.Identical():
            return f"give {shown('pairs', None)} of different inputs, on which the output varies"
        case gaps.AllRaised(error_type=error_type) if error_type == TIMED_OUT:
            return f"give a longer {shown('timeout', None)}"
        case gaps.AllRaised():
            defect = gap.error_type in _DEFECTS
            if defect:
                return "mend the mechanism"
            return f"give {shown('pairs', None)} that the mechanism accepts"
        case gaps.NotLookedAt():
            return "return these parts as numbers or text, or register their type with dpaudit.register_flattener"
        case gaps.Meaningless():
            return _REMEDIES[gap.check]


def _more_runs(finding: PrivacyFinding, trials: int, shown: ParameterWriter) -> str:
    # Runs that a time limit left out are asked for as time: more trials would not be made either.
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
    # Each unit up to a number that is still read at a glance: 100 s, 100 min, 48 h.
    for most, unit, words in ((100, 1, "s"), (6_000, 60, "min"), (172_800, 3_600, "h")):
        if seconds < most:
            return f"about {max(1, round(seconds / unit))} {words}"
    return f"about {count(round(seconds / 86_400))} days"


def _more_time(finding: PrivacyFinding, shown: ParameterWriter) -> str:
    """Return what the runs that were asked for would show, where a limit left no time for them."""
    if finding.stopped is UNSET or finding.stopped.asked is UNSET:
        return ""
    asked = finding.stopped.asked
    made = finding.stopped.trials
    times = significant(asked / made, digits=2)
    more = f"give about {times} times the {shown('time_limit', None)}, for all {count(asked)} {shown('trials', None)}"
    return more + _catches(finding, asked)


def _catches(finding: PrivacyFinding, trials: int) -> str:
    """Return which leaks so many trials detect on an event as likely as that tested."""
    given = len(finding.origins)
    # The rates that were seen stand for those of the event: an estimate, which the words say with "or so".
    rates = finding.witness.rates
    least = math.inf
    if rates is not None:
        budget = Budget.of(trials, given, local=finding.pairs > given)
        claim = PrivacyClaim(finding.epsilon, finding.delta, finding.relation or Relation.REPLACE_ONE)
        training = budget.pilot + budget.training
        least = Power.of_test(*rates, training, budget.confirmation, claim, finding.errors["verdict"]).epsilon
    # Infinite, or for the event tested no less than what was seen.
    if least >= finding.detectable_epsilon:
        return ": more runs see smaller leaks"
    return f" to catch any ε ≥ {significant(least, 'up', digits=2, apart_from=finding.epsilon)} or so"


def check_words(check: Check) -> str:
    """Return the answer of a check."""
    if check.answer == Answer.PASSED:
        return _PASSED[check.name]
    if check.answer == Answer.NOT_ASKED:
        return f"{check.name}: not asked"
    if check.meaningless:
        return _DEPENDS[check.name]
    return _OTHERS[check.answer]


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
        f"{ROUNDING_LEAKS}, ε ≥ {lower} {at} ({event_words(test.event)}: {count(test.hits)} against "
        f"{count(test.neighbour_hits)} runs); --look float-bits makes that count"
    )


# What would have been detected, on which event and on which pairs.


def power_words(finding: PrivacyFinding) -> str:
    """Return which leaks would have been detected, on which event and which pairs."""
    least = significant(finding.detectable_epsilon, "up", digits=3, apart_from=finding.epsilon)
    caught = "no leak, however large,"
    if math.isfinite(finding.detectable_epsilon):
        caught = f"any ε ≥ {least}"
    return f"{caught} {detected_words(finding)}"


def detected_words(finding: PrivacyFinding) -> str:
    """Return how often, on which event and on which pairs what is called detectable is detected."""
    return f"would be detected {OFTEN}, on an event {_likely_text(finding)}, {pairs_words(finding)}"


def _likely_text(finding: PrivacyFinding) -> str:
    """Return how likely the event is on which the power is stated."""
    if finding.detectable_at == PowerAt.FRONTIER:
        mass = next(mass for mass, epsilon in finding.frontier if epsilon == finding.detectable_epsilon)
        return f"of probability {value_text(mass)}"
    one = "one"
    if len(finding.tests) > 1:
        one = "main one"
    event = f"as likely as the {one} tested"
    if finding.design == "sequential":
        event = f"of probability {value_text(MASSES[0])}"
    if finding.detectable_at == PowerAt.LIKELIER:
        return f"{event} on the likelier side"
    return event


def reach_words(finding: PrivacyFinding | None) -> str:
    """Return how far the pairs that were made of a dataset reach; empty where there is none."""
    if finding is None or finding.reach is UNSET:
        return ""
    unchanged = "records, dates, categories and conjunctions that none of them changes were not looked at"
    return f"on {finding.reach.in_words} that this dataset gives; {unchanged}"


def group_words(finding: PrivacyFinding) -> str:
    """Return for which groups a claim is tested, after a claim; empty where inputs differ in one record."""
    group = group_noun(finding)
    return f" for groups of {group}" if group else ""


def group_noun(finding: PrivacyFinding) -> str:
    """Return the size of the groups in which inputs differ, as "3 records"; empty where it is one record."""
    if finding.reach is UNSET or finding.reach.group == 1:
        return ""
    users = any(origin.kind is OriginKind.OWN_USERS for origin in finding.origins)
    if users:
        return f"{finding.reach.group} users"
    return f"{finding.reach.group} records"


def pairs_words(finding: PrivacyFinding) -> str:
    """Return on which of the pairs what is called detectable would be detected."""
    if finding.pairs == 1:
        return "on this pair"
    long_enough = "compared long enough for that"
    if finding.compared is UNSET:
        return f"on the pairs that were {long_enough}"
    number = "one"
    if finding.compared != 1:
        number = count(finding.compared)
    were = "were"
    if finding.compared == 1:
        were = "was"
    return f"on the {number} of {count(finding.pairs)} pairs that {were} {long_enough}"


def seen_words(finding: PrivacyFinding) -> str:
    """Return in which runs an event was seen that stands for the one tested; empty where there is none."""
    seen = shown_event(finding)
    if isinstance(seen, Witness):
        return ""
    runs = f" in {count(seen.trials + seen.neighbour_trials)} runs"
    if finding.design == "fixed":
        return f"{runs} of training"
    return f"{runs} that were bet on"


# Times: of runs, and what a limit on them decides.


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
    # The event is then that of the witness.
    if found.counted:
        return [("run time", f"{words}, which counts: times do not distinguish equal inputs")]
    if found.control is not UNSET:
        apart = significant(found.control, "down", digits=3, apart_from=0.0)
        words += f", which does not count: equal inputs show ε ≥ {apart} too, so times are no evidence here"
    elif found.epsilon_lower <= finding.epsilon and math.isfinite(found.detectable_epsilon):
        able = significant(found.detectable_epsilon, "up", digits=3, apart_from=finding.epsilon)
        words += f"; any ε ≥ {able} would be detected on an event as likely"
    return [("run time", f"{words} ({event_words(found.event)})")]


# Claims that are curves: what refutes them, and what would have been detected.


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
    order = value_text(holder.alpha)
    most = value_text(holder.epsilon)
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
    # Noise of a share s less makes the shift 1 / (1 - s) times as large.
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


# What a finding rests on.


def _power(finding: PrivacyFinding) -> Lines:
    if finding.verdict == PrivacyVerdict.NO_EVIDENCE:
        return []
    return [
        ("frontier", frontier_words(finding)),
        ("assumed", ASSUMED),
        *(("but", gap_words(gap)) for gap in finding.gaps),
    ]


def _witness(view: FindingView, finding: PrivacyFinding) -> Lines:
    """Return the inputs, the event and its counts (bets have none), the event in simpler words, guesses of coins."""
    found = finding.witness
    decoded = view.decoded
    event = event_words(found.event, decoded)
    rates = "{:,} of {:,} against {:,} of {:,} runs"
    inputs = f"{found.data} against {found.neighbour}"
    origin = origin_text(found.origin)
    if found.difference is not UNSET and found.difference not in found.neighbour:
        inputs += f" ({found.difference})"
    counts = (found.hits, found.trials, found.neighbour_hits, found.neighbour_trials)
    if None in counts:
        lines = [("witness", f"{inputs}, {event} [{origin}]")]
    else:
        lines = [("witness", f"{inputs} ({found.direction}), event: {event}: {rates.format(*counts)} [{origin}]")]
    if (simple := found.plain) is not UNSET:
        event = answer_words(simple.event, decoded)
        shown = rates.format(*structs.astuple(simple)[2:])
        chose = f"{event} ({simple.direction}): {shown}, which chose the event tested and prove nothing"
        lines.append(("simply", chose))
    if found.count is not UNSET:
        words = f"{found.count.right:,} of {found.count.guesses:,} coins guessed right: of runs in the event"
        if found.opposite is not UNSET:
            words += f", and for the other side of runs with {event_words(found.opposite, decoded)}"
        if found.count.filled:
            words += f"; {found.count.filled:,} of the coins are of no run, for fewer were in the event than planned"
        lines.append(("coins", words))
    return lines


def frontier_words(finding: PrivacyFinding) -> str:
    """Return the least epsilon detected by probability of the event, and the probability of an impossible one."""
    steps = ", ".join(f"{mass}: {least}" for mass, least in frontier_text(finding, infinity="none in reach"))
    outright = f"a probability of {delta_text(finding)} or more"
    if not math.isfinite(finding.detectable_delta):
        outright = "no probability, however large,"
    outright += " of an event impossible on the other side"
    return f"least ε detected, by probability of the event: {steps}; {outright}"


def frontier_text(finding: PrivacyFinding, infinity: str = "inf") -> list[tuple[str, str]]:
    """Return (probability on the unlikelier side, least epsilon detected, rounded up) as text, the likelier first."""
    return [
        (value_text(mass), significant(epsilon, "up", apart_from=finding.epsilon, infinity=infinity))
        for mass, epsilon in finding.frontier
    ]


def delta_text(finding: PrivacyFinding) -> str:
    """Return the least probability of an event impossible on the other side that would be detected, rounded up."""
    return significant(finding.detectable_delta, "up", apart_from=finding.delta)


def budget_text(finding: PrivacyFinding) -> str:
    """Return how the runs were spent."""
    budget = finding.budget
    if finding.design == "sequential":
        return f"{count(budget['used'])} runs used of {count(budget['allowed'])} allowed, on both sides of all pairs"
    spent = ", ".join(f"{count(budget[name])} {words}" for name, words in _PURPOSES.items() if budget.get(name))
    return f"runs on each side, all pairs together: {spent}"


def continued_text(finding: PrivacyFinding) -> str:
    """Return from what an audit went on, if from a file, and the digest by which a later one is compared."""
    if not (found := finding.continued):
        return ""
    links = f"{plural(len(found.trials), 'link')} of a file (--trials {', '.join(map(str, found.trials))})"
    text = f"the runs are those of {links}; the digest of its last line is {found.digest}"
    if found.unwritten:
        text += f"; the last runs are not in it: {found.unwritten}"
    return text


def errors_text(finding: PrivacyFinding) -> str:
    """Return how the probability of error is split over the statements, and that of the verdict over several events."""

    def shown(share: float) -> str:
        # 0.05, not the 0.050000000000000044 of binary fractions.
        return f"{share:.10g}"

    # The verdict's share leads: it is the one that a reader asks for.
    errors = sorted(finding.errors.items(), key=lambda item: (item[0] != "verdict", item[0]))
    parts = ", ".join(f"{shown(share)} for the {_STATEMENTS.get(name, name)}" for name, share in errors)
    words = f"{shown(1 - finding.confidence)} in all: {parts}"
    bounds = [test.epsilon_lower for test in finding.tests]
    if len(bounds) < 2:
        return words
    names = ["the main one", *(f"number {i}" for i in range(2, len(bounds) + 1))]
    shares = ", ".join(f"{shown(test.error)} for {name}" for test, name in zip(finding.tests, names, strict=True))
    best = names[bounds.index(max(bounds))]
    return f"{words}; {count(len(bounds))} events share the verdict's, {shares}; the witness is {best}"


def origins_text(finding: PrivacyFinding) -> str:
    """Return the counts of pairs by origin, as "12 crafted, 3 local search": the search made those without one."""
    kinds = Counter(origin.kind.value for origin in finding.origins)
    kinds["local search"] += max(finding.pairs - len(finding.origins), 0)
    text = ", ".join(f"{count(n)} {kind}" for kind, n in kinds.items() if n)
    if finding.replayed:
        text += f"; {count(finding.replayed)} runs with recorded noise compared them"
    return text

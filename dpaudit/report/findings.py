"""One finding as labelled lines: in brief, with what shows the verdict and what repeats it, or all that it says."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Direction, Relation, Verdict
from dpaudit.engine.arguments import ExactArguments, UtilityArguments
from dpaudit.engine.outcome import is_ladder, leaves_open, refutes
from dpaudit.engine.records import Result
from dpaudit.errors import in_python
from dpaudit.exact.finding import LawFinding
from dpaudit.registry.import_spec import is_place
from dpaudit.report import evidence, wording
from dpaudit.report.numbers import count, percent, plural, rate, significant, value_text
from dpaudit.report.terminal import Lines, aligned
from dpaudit.utility.finding import UtilityFinding

__all__ = ["OneAudit", "because", "brief_block", "brief_lines", "finding_lines", "verdict_block"]

OneAudit = PrivacyFinding | LawFinding | UtilityFinding
"""The findings that a report of a run may hold."""

_ASCII = str.maketrans({"“": '"', "”": '"', "≥": ">=", "≤": "<="})
_DIGITS = 3
"""Those of numbers in brief."""
_HEAD, _TAIL = 87, 88
"""Characters that are kept of the beginning and of the end of a long input or event."""
_PRIVACY = {
    Verdict.VIOLATION: "VIOLATION: the claim is refuted",
    Verdict.CONSISTENT: "consistent: no violation found with these runs, pairs and events",
    Verdict.NO_EVIDENCE: "no evidence: nothing was found, and nothing could have been",
}
_UTILITY = {
    Verdict.VIOLATION: "it fails more often than beta",
    Verdict.UNDECIDED: "the interval holds beta; more trials would decide",
    Verdict.HOLDS: "it fails at most as often as beta, on this case",
    Verdict.VACUOUS: "it fails at most as often as beta, on this case, where the claim promises next to nothing",
}

# In brief.


def brief_lines(
    finding: OneAudit,
    name: str | None = None,
    *,
    repeat: str | None = None,
    decoded: wording.Decoded = None,
    shown: evidence.Shown = in_python,
) -> Lines:
    """Return the verdict in capitals, the reason for it, what can be done, warnings, and what repeats it.

    `repeat` is the command that makes the finding again, by default its seed; `decoded` is as for
    `wording.answer_words`; `shown` writes a parameter that is recommended.
    """
    name = name or "the mechanism"
    match finding:
        case PrivacyFinding():
            lines, runs = _privacy_brief(finding, name, decoded, shown), f"{count(finding.trials)} runs a side"
        case LawFinding():
            lines, runs = _exact_brief(finding, name, decoded), ""
        case UtilityFinding():
            lines, runs = _utility_brief(finding, name, shown), f"{count(finding.trials)} runs"
    if repeat is not None:
        return [*lines, ("repeat", repeat)]
    return lines if isinstance(finding, LawFinding) else [*lines, ("seed", f"{finding.seed}, {runs}")]


def _privacy_brief(finding: PrivacyFinding, name: str, decoded: wording.Decoded, shown: evidence.Shown) -> Lines:
    lower = significant(finding.epsilon_lower, "down", digits=_DIGITS, apart_from=finding.epsilon)
    shows = f"shows{' epsilon' if finding.delta else ''} >= {lower}"
    words, bits = f"{name} {wording.claims_words(finding.epsilon, finding.delta)}, {shows}", finding.representation
    warnings = _warnings(finding)
    if finding.verdict == Verdict.VIOLATION:
        sure = f"({percent(finding.confidence)} sure)"
        return [("VIOLATION", f"{words} {sure}"), ("because", because(finding, decoded)), *warnings]
    if bits is not None and bits.epsilon_lower > finding.epsilon:
        warnings.append(("warning", evidence.representation_text(finding)))
    if finding.verdict == Verdict.NO_EVIDENCE:
        why, remedy = _no_power(finding, shown)
        power = [("power", f"none: {why}"), ("next", remedy)]
    else:
        least = significant(finding.detectable_epsilon, "up", digits=_DIGITS, apart_from=finding.epsilon)
        caught = f"any epsilon >= {least} would have been caught, 19 times in 20"
        power = [("power", f"{caught}, on an event {evidence.likely_text(finding)}")]
    return [(finding.verdict.upper(), words), *power, *warnings]


def _no_power(finding: PrivacyFinding, shown: evidence.Shown = in_python) -> tuple[str, str]:
    """Return why no leak could have been detected, and what to do about it."""
    remedies = dict.fromkeys(evidence.remedy(gap, finding, shown) for gap in finding.gaps)
    return "; ".join(map(evidence.gap_words, finding.gaps)), "; ".join(remedies)


def _warnings(finding: PrivacyFinding) -> Lines:
    """Return what limits a finding: its warnings, and the checks that failed."""
    failed = [evidence.check_words(check) for check in finding.checks if not (check.passed or check.meaningless)]
    return [("warning", text) for text in (*finding.warnings, *failed)]


def _exact_brief(finding: LawFinding, name: str, decoded: wording.Decoded) -> Lines:
    def shown(epsilon: float) -> str:
        return significant(epsilon, digits=_DIGITS, apart_from=claimed, error=finding.error)

    claimed, delta, least = finding.claimed_epsilon, finding.claimed_delta, finding.epsilon_at_claim
    samples = f", samples of {plural(finding.n, 'example')}" if finding.n else ""
    covers = ("covers", f"{plural(finding.pairs, 'ordered pair')} of neighbours{samples}")
    if claimed is None:
        return [
            ("NO CLAIM", f"{name} promises no privacy, has epsilon {shown(finding.epsilon)} ({finding.grade})"),
            covers,
        ]
    if not delta:
        worst = shown(finding.epsilon)
    elif least is not None:
        worst = f"epsilon {shown(least)} at that delta"
    else:
        worst = f"delta {significant(finding.delta_at_claim, digits=_DIGITS, apart_from=delta)} there"
    words = f"{name} {wording.claims_words(claimed, delta)}, has {worst} ({finding.grade})"
    reason = ("because", because(finding, decoded)) if finding.verdict == Verdict.VIOLATION else covers
    return [(finding.verdict.upper(), words), reason]


def _utility_brief(finding: UtilityFinding, name: str, shown: evidence.Shown) -> Lines:
    words = (
        f"{name} fails in {_rate(finding, finding.failure_rate)} % of runs, {_rate(finding, finding.beta)} % allowed"
    )
    lines = [(finding.verdict.upper(), words), ("because", because(finding))]
    if finding.verdict == Verdict.UNDECIDED:
        more = shown("trials", str(10 * finding.trials))
        lines.append(("next", f"add {more}: the interval, which holds what is allowed, gets narrower"))
    return lines


def because(finding: OneAudit, decoded: wording.Decoded = None) -> str:
    """Return what shows a verdict.

    That is the event or the output and its probabilities, or the rate of failure; without evidence, why no leak could
    have been detected and what to do about it.
    """
    match finding:
        case PrivacyFinding() if finding.verdict == Verdict.NO_EVIDENCE:
            return "; ".join(_no_power(finding))
        case PrivacyFinding():
            return _event_reason(finding, decoded)
        case LawFinding():
            return _worst_case(finding, decoded)
        case UtilityFinding():
            low, high = _rate(finding, finding.failure_lower, "down"), _rate(finding, finding.failure_upper, "up")
            runs = f"{count(finding.failures)} of {plural(finding.trials, 'run')} had {wording.failure_text(finding)}"
            case = f"{finding.concept}, {finding.distribution}, {plural(finding.n, 'example')} ({finding.setting})"
            return f"{runs} ({low} to {high} %, {percent(finding.confidence)} sure): {case}"


def _event_reason(finding: PrivacyFinding, decoded: wording.Decoded) -> str:
    """Return the event of a witness and how often it occurred on both inputs, against what the claim allows."""
    witness = finding.witness
    words = wording.answer_words(witness.event, decoded).translate(_ASCII)  # the characters that every terminal has
    event = _cut(f"answer {words}" if wording.answers_of(witness.event) else words)
    sides = _cut(witness.data), _cut(witness.neighbour)
    likely, other = sides if witness.direction == Direction.FORWARD else sides[::-1]
    if witness.rates is None:
        return f"{event}; {likely} against {other}"
    p, q = witness.rates
    words = f"{event}: {_share(p)} on {likely}, {_share(q)} on {other}"
    if finding.delta:
        most = min(_factor(finding.epsilon) * q + finding.delta, 1.0)
        return f"{words}; the claim allows {significant(100 * most, 'up', digits=_DIGITS, apart_from=100 * p)} %"
    if not q:
        return f"{words}; the claim allows {significant(_factor(finding.epsilon), digits=2)} times as often"
    return f"{words}; that is {_times(p / q, finding.epsilon)}"


def _worst_case(finding: LawFinding, decoded: wording.Decoded) -> str:
    """Return the output and the pair at which the worst case lies."""
    pair, output = finding.pair_in_words, _cut(wording.output_text(finding.worst_atom, decoded))
    words = f"output {output} on {_cut(pair.data)} against {_cut(pair.neighbour)}"
    if finding.claimed_delta:
        return f"{words}: the pair at which epsilon is the largest, {significant(finding.epsilon, digits=_DIGITS)}"
    if math.isinf(finding.epsilon):
        return f"{words}: possible on the first, impossible on the second"
    return f"{words}: {_times(_factor(finding.epsilon), finding.claimed_epsilon or 0.0)}"


def _times(ratio: float, epsilon: float) -> str:
    """Return by which factor one probability exceeds another, and by which a claim of epsilon lets it."""
    allowed = _factor(epsilon)
    times = significant(ratio, digits=2, apart_from=allowed)
    return f"{times} times as often, the claim allows {significant(allowed, digits=2)}"


def _factor(epsilon: float) -> float:
    return math.exp(min(epsilon, 700.0))


def _share(share: float) -> str:
    """Return a share of runs in per cent; one that is not 0 or 1 never looks like it."""
    return f"{significant(100 * share, digits=_DIGITS, apart_from=100.0)} %" if share else "never"


def _cut(text: str) -> str:
    """Return a long text in one line without its middle: a digest at its end stays whole, to be copied."""
    text = " ".join(line.strip() for line in text.splitlines())
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}...{text[-_TAIL:]}"


def _rate(finding: UtilityFinding, share: float, towards: str = "nearest") -> str:
    """Return a rate of failure in per cent, on its side of what is allowed."""
    apart = None if share == finding.beta else 100 * finding.beta
    return significant(100 * share, towards, digits=_DIGITS, apart_from=apart)


def brief_block(shown: evidence.Shown, results: Sequence[Result], repeat: str) -> Lines:
    """Return the lines on the gravest of some results of one learner and one kind, which `repeat` makes again."""
    result = max(results, key=lambda one: (refutes(one), leaves_open(one)))
    finding, own = result.finding, result.claim
    assert isinstance(finding, OneAudit)
    brief = brief_lines(finding, result.learner, repeat=repeat, decoded=result.decoded or None, shown=shown)
    (label, words), *lines, last = brief
    lines += _asked_lines(finding)
    if is_ladder(result):
        label, words = "TESTED", f"{words}; this refutes nothing, {_theorem_text(result)}"
    tested = (finding.epsilon, finding.delta) if isinstance(finding, PrivacyFinding) else None
    if own is not None and tested not in (None, (own.epsilon, own.delta)):
        learners = f"epsilon {value_text(own.epsilon)}, delta {value_text(own.delta)}"
        lines.append(("note", f"this claim was given; the learner's own is {learners}"))
    if result.fault is not None:
        lines.append(("note", f"it leaks on purpose: {result.fault}"))
    if len(results) > 1:
        counts = Counter(getattr(one.finding, "verdict", "").lower() for one in results)
        cases = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
        lines.append(("cases", f"{plural(len(results), 'case')}: {cases}; the gravest is shown, -v shows each"))
    return [(label, words), *lines, last]


# In full.


def verdict_block(results: Sequence[Result], repeat: str) -> str:
    """Return all that some results of one learner and one kind say as aligned lines; `repeat` makes them again."""
    first = results[0]
    of_learner = f"{first.learner} ({wording.label_parameters(first.parameters)})"
    lines: Lines = [("mechanism", first.learner) if is_place(first.learner) else ("learner", of_learner)]
    if first.fault is not None:
        lines.append(("leaks", f"on purpose: {first.fault}"))
    for result in results:
        # What several cases share, their claim, is said once: before the first of them.
        said = [line for line in lines if line[0] in ("claim", "tested")][-1:]
        lines += [line for line in finding_lines(result) if line not in said]
    return aligned([*lines, ("repeat", repeat)])


def finding_lines(result: Result) -> Lines:
    """Return all that one result says: claim, numbers, power, runs, errors, verdict, witness and warnings."""
    match result.finding:
        case PrivacyFinding() as finding:
            return _privacy_lines(result, finding)
        case LawFinding() as finding:
            return _exact_lines(result, finding)
        case UtilityFinding() as finding:
            return _utility_lines(result, finding)
    raise TypeError(f"no command makes one {result.kind} alone")


def _tested_claim(result: Result, epsilon: float, delta: float, relation: Relation | None) -> str:
    """Return the claim that was tested; with its source if it is the learner's own."""
    own = result.claim
    tested = f"epsilon = {value_text(epsilon)}, delta = {value_text(delta)}, {relation or 'neighbours as given'}"
    if own is None and is_place(result.learner):
        return tested
    if own is None or (own.epsilon, own.delta, own.relation) != (epsilon, delta, relation):
        return f"{tested} (not the learner's own)"
    known = [text for text in (own.claim_id, own.source) if text]
    return f"{tested} ({'; '.join(known)})" if known else tested


def _asked_lines(finding: OneAudit) -> Lines:
    """Return what options asked for beside the verdict: a curve, an enclosure, what many runs cost."""

    def between(rows: Sequence[tuple[float, float, float]], at: str) -> str:
        return ", ".join(
            f"[{significant(low, 'down')}, {significant(high, 'up')}] at {at} {significant(x)}" for x, low, high in rows
        )

    lines: Lines = []
    if isinstance(finding, PrivacyFinding) and (curve := finding.curve) is not None:
        grid = sorted({0.0, finding.epsilon / 2, finding.epsilon})
        deltas = zip(curve.delta_lower(grid).tolist(), grid, strict=True)
        steps = ", ".join(f"{significant(delta, 'down')} at epsilon {value_text(epsilon)}" for delta, epsilon in deltas)
        sure = f"with confidence {percent(1 - curve.gamma)}, at all epsilons together"
        lines.append(("curve", f"delta >= {steps}; mu >= {significant(curve.mu_lower, 'down')} ({sure})"))
    if isinstance(finding, LawFinding) and finding.enclosure is not None:
        lines.append(("enclosed", "epsilon in [{}, {}], by ball arithmetic".format(*finding.enclosure)))
    if isinstance(finding, LawFinding) and (made := finding.composition) is not None:
        runs = f"{plural(made.times, 'run')} on one sample ({made.grade}, these pairs)"
        lines.append(("composed", f"epsilon of {runs}: {between(made.epsilons, 'delta')}"))
        lines.append(("composed", f"delta of {runs}: {between(made.deltas, 'epsilon')}"))
    return lines


def _exact_lines(result: Result, finding: LawFinding) -> Lines:
    claimed, worst, arguments = finding.claimed_epsilon, finding.pair_in_words, result.arguments
    assert isinstance(arguments, ExactArguments)
    if arguments.samples == "crafted":
        covered = f"crafted pairs from samples of {arguments.n} examples"
    else:
        covered = "the samples given" if finding.n is None else f"all neighbours of samples of {finding.n} examples"
    shown = significant(finding.epsilon, apart_from=claimed, error=finding.error)
    grade = f"{finding.grade}, error at most {significant(finding.error, 'up', digits=2)}"
    lines = [("epsilon", f"{shown} at worst ({grade}) over {count(finding.pairs)} ordered pairs: {covered}")]
    if claimed is None:
        claim, verdict = "none", "the learner claims no privacy"
    else:
        claim = _tested_claim(result, claimed, finding.claimed_delta, finding.relation)
        refuted = finding.verdict == Verdict.VIOLATION
        verdict = _PRIVACY[finding.verdict] if refuted else "consistent: no violation on these pairs"
        at_claim = significant(finding.delta_at_claim, apart_from=finding.claimed_delta)
        lines.append(("delta", f"{at_claim} at worst, at the claimed epsilon"))
    output = wording.output_text(finding.worst_atom, result.decoded)
    witness = f"{worst.data} against {worst.neighbour}, output {output} [{evidence.origin_text(worst.origin)}]"
    return [("claim", claim), *lines, *_asked_lines(finding), ("verdict", verdict), ("witness", witness)]


def _privacy_lines(result: Result, finding: PrivacyFinding) -> Lines:
    lower = significant(finding.epsilon_lower, "down", apart_from=finding.epsilon)
    at, pairs = f"with confidence {percent(finding.confidence)}", plural(finding.pairs, "pair")
    if finding.design == "sequential":
        size = f"{count(finding.budget['used'])} runs on {pairs}, by bets"
    else:
        # The runs of the local search come out of those of the pairs given.
        each = "a side" if finding.pairs == 1 else f"a side of each of {count(len(finding.origins))} pairs given"
        size = f"{count(finding.trials)} runs {each}; {pairs} and {count(finding.events)} events compared"
    return [
        ("claim", _tested_claim(result, finding.epsilon, finding.delta, finding.relation)),
        ("bound", f"epsilon >= {lower} {at} (statistical; {size})"),
        *_asked_lines(finding),
        *_power(finding),
        ("compared", f"pairs: {evidence.origins_text(finding)}; scores: {evidence.scores_text(finding)}"),
        ("budget", evidence.budget_text(finding)),
        ("errors", evidence.errors_text(finding)),
        ("verdict", _PRIVACY[finding.verdict]),
        ("witness", _witness(result, finding)),
        *([("floating point", evidence.representation_text(finding))] if finding.representation else []),
        *([("checked", evidence.checks_text(finding))] if finding.checks else []),
        *_warnings(finding),
    ]


def _power(finding: PrivacyFinding) -> Lines:
    """Return which leaks would have been detected, or why none would have been."""
    if finding.verdict == Verdict.NO_EVIDENCE:
        return [("power", f"none: {evidence.gap_words(gap)}") for gap in finding.gaps]
    steps = ", ".join(f"{mass}: {least}" for mass, least in evidence.frontier_text(finding, infinity="none in reach"))
    return [
        ("power", f"would detect with probability {evidence.POWER}: {evidence.power_text(finding)}"),
        ("frontier", f"least epsilon detected, by probability of the event: {steps}"),
        ("assumed", evidence.assumed_text(finding)),
        *(("but", evidence.gap_words(gap)) for gap in finding.gaps),
    ]


def _witness(result: Result, finding: PrivacyFinding) -> str:
    """Return the two inputs, the event and its counts; bets have no counts."""
    found = finding.witness
    event = wording.event_words(found.event, None if is_place(result.learner) else result.decoded)
    inputs, origin = f"{found.data} against {found.neighbour}", evidence.origin_text(found.origin)
    counts = (found.hits, found.trials, found.neighbour_hits, found.neighbour_trials)
    if None in counts:
        return f"{inputs}, {event} [{origin}]"
    rates = "{:,} of {:,} against {:,} of {:,} runs".format(*counts)
    return f"{inputs} ({found.direction}), event: {event}: {rates} [{origin}]"


def _utility_lines(result: Result, finding: UtilityFinding) -> Lines:
    arguments, beta, error = result.arguments, finding.beta, finding.best_error
    assert isinstance(arguments, UtilityArguments)
    word = "VIOLATION" if finding.verdict == Verdict.VIOLATION else finding.verdict.value
    name, verdict = "claim", f"{word}: {_UTILITY[finding.verdict]}"
    if is_ladder(result):
        name, verdict = "tested", f"{_UTILITY[finding.verdict]}; {_theorem_text(result)}"
    examples = f"{count(finding.n)} examples ({finding.setting})"
    best = "" if error is None else f"; the best concept's error is {significant(error)}"
    low, high = rate(finding.failure_lower, "down", beta=beta), rate(finding.failure_upper, "up", beta=beta)
    rates = f"{rate(finding.failure_rate, beta=beta)} [{low}, {high}] with confidence {percent(finding.confidence)}"
    return [
        (name, f"Pr[{wording.failure_text(finding)}] <= {value_text(beta)} on {examples}"),
        ("case", f"{arguments.case} ({finding.concept}{best})"),
        ("failures", f"{count(finding.failures)} of {count(finding.trials)}: {rates} (statistical)"),
        ("verdict", verdict),
    ]


def _theorem_text(result: Result) -> str:
    """Return why failures below the theorem's sample size refute nothing."""
    n = getattr(result.arguments, "theorem_n", None)
    return f"the theorem asks for n = {count(n)}" if isinstance(n, int) else "no theorem of the learner promises this"

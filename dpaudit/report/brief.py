"""Three lines that say what an audit found: the verdict, the reason for it, and how to make it again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Direction, Verdict
from dpaudit.engine.arguments import UtilityArguments
from dpaudit.engine.outcome import is_ladder, leaves_open, refutes
from dpaudit.engine.records import Result
from dpaudit.errors import in_python
from dpaudit.exact.finding import LawFinding
from dpaudit.report.details import asked_lines, theorem_text
from dpaudit.report.evidence import Shown, check_words, gap_words, likely_text, remedy, representation_text
from dpaudit.report.numbers import count, percent, plural, significant, value_text
from dpaudit.report.terminal import Lines
from dpaudit.report.wording import answer_words, answers_of, failure_text, output_text
from dpaudit.utility.finding import UtilityFinding

__all__ = ["because", "brief_block", "brief_lines", "next_step", "no_power"]

_ASCII = str.maketrans({"“": '"', "”": '"', "≥": ">=", "≤": "<="})
_DIGITS = 3
_HEAD, _TAIL = 87, 88
"""Characters that are kept of the beginning and of the end of a long input or event."""


def brief_lines(
    finding: PrivacyFinding | LawFinding | UtilityFinding,
    name: str | None = None,
    *,
    repeat: str | None = None,
    decoded: Mapping[str, str] | None = None,
    shown: Shown = in_python,
) -> Lines:
    """Return the verdict, the reason for it and what repeats it, as a label and a text each.

    Parameters
    ----------
    finding : PrivacyFinding, LawFinding or UtilityFinding
        The finding of one audit.
    name : str, optional
        The mechanism or learner; "the mechanism" by default.
    repeat : str, optional
        The command that makes the finding again; its seed by default, where it has one.
    decoded : mapping of str to str, optional
        What the codes of a learner's outputs stand for, as for `wording.answer_words`.
    shown : callable
        How a parameter is written where one is recommended: as in Python by default.

    Returns
    -------
    list of (str, str)
        First the verdict in capitals; then "because", "power" or "covers"; "next" where something can be done;
        "warning" for each limit of the finding; last "repeat", or "seed".
    """
    subject = name or "the mechanism"
    if isinstance(finding, PrivacyFinding):
        lines = _privacy(finding, subject, decoded, shown)
    elif isinstance(finding, LawFinding):
        lines = _exact(finding, subject, decoded)
    else:
        lines = _utility(finding, subject, shown)
    if repeat is not None:
        return [*lines, ("repeat", repeat)]
    if isinstance(finding, LawFinding):
        return lines
    side = " a side" if isinstance(finding, PrivacyFinding) else ""
    return [*lines, ("seed", f"{finding.seed}, {count(finding.trials)} runs{side}")]


def because(finding: PrivacyFinding | LawFinding | UtilityFinding, decoded: Mapping[str, str] | None = None) -> str:
    """Return what shows a violation: the event or the output and its probabilities, or the rate of failure."""
    if isinstance(finding, PrivacyFinding):
        return _event_reason(finding, decoded)
    return _worst_case(finding, decoded) if isinstance(finding, LawFinding) else _failure_reason(finding)


def no_power(finding: PrivacyFinding) -> str:
    """Return why an audit could not have detected a leak."""
    return "; ".join(map(gap_words, finding.gaps))


def next_step(finding: PrivacyFinding, shown: Shown = in_python) -> str:
    """Return what can be done so that an audit could detect a leak."""
    return "; ".join(dict.fromkeys(remedy(gap, finding, shown) for gap in finding.gaps))


def _privacy(finding: PrivacyFinding, name: str, decoded: Mapping[str, str] | None, shown: Shown) -> Lines:
    """Return the lines of a black-box audit."""
    delta = f" and delta {value_text(finding.delta)}" if finding.delta else ""
    lower = significant(finding.epsilon_lower, "down", digits=_DIGITS, apart_from=finding.epsilon)
    words = f"{name} claims epsilon {value_text(finding.epsilon)}{delta}, shows{' epsilon' if delta else ''} >= {lower}"
    lines = [(finding.verdict.upper(), words)]
    if finding.verdict == Verdict.VIOLATION:
        lines = [("VIOLATION", f"{words} ({percent(finding.confidence)} sure)")]
        lines.append(("because", because(finding, decoded)))
    elif finding.verdict == Verdict.NO_EVIDENCE:
        lines += [("power", f"none: {no_power(finding)}"), ("next", next_step(finding, shown))]
    else:
        least = significant(finding.detectable_epsilon, "up", digits=_DIGITS, apart_from=finding.epsilon)
        event = f"on an event {likely_text(finding)}"
        lines.append(("power", f"any epsilon >= {least} would have been caught, 19 times in 20, {event}"))
    return lines + [("warning", text) for text in _warnings(finding)]


def _event_reason(finding: PrivacyFinding, decoded: Mapping[str, str] | None) -> str:
    """Return the event of a witness and how often it occurred on both inputs, against what the claim allows."""
    witness = finding.witness
    words = answer_words(witness.event, decoded).translate(_ASCII)  # the characters that every terminal has
    event = _cut(f"answer {words}" if answers_of(witness.event) else words)
    sides = _cut(witness.data), _cut(witness.neighbour)
    likely, other = sides if witness.direction == Direction.FORWARD else sides[::-1]
    if not witness.trials or not witness.neighbour_trials or witness.hits is None or witness.neighbour_hits is None:
        return f"{event}; {likely} against {other}"
    p, q = witness.hits / witness.trials, witness.neighbour_hits / witness.neighbour_trials
    words = f"{event}: {_share(p)} on {likely}, {_share(q)} on {other}"
    allowed = math.exp(min(finding.epsilon, 700.0))
    if finding.delta:
        most = min(allowed * q + finding.delta, 1.0)
        return f"{words}; the claim allows {significant(100 * most, 'up', digits=_DIGITS, apart_from=100 * p)} %"
    if not q:
        return f"{words}; the claim allows {significant(allowed, digits=2)} times as often"
    times = significant(p / q, digits=2, apart_from=allowed)
    return f"{words}; that is {times} times as often, the claim allows {significant(allowed, digits=2)}"


def _share(share: float) -> str:
    """Return a share of runs in per cent; one that is not 0 or 1 never looks like it."""
    return f"{significant(100 * share, digits=_DIGITS, apart_from=100.0)} %" if share else "never"


def _cut(text: str) -> str:
    """Return a long text in one line without its middle: a digest at its end stays whole, to be copied."""
    text = " ".join(line.strip() for line in text.splitlines())
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}...{text[-_TAIL:]}"


def _warnings(finding: PrivacyFinding) -> list[str]:
    """Return what limits a finding: its warnings, checks that failed, and a leak beside the verdict."""
    failed = [check_words(check) for check in finding.checks if not (check.passed or check.meaningless)]
    bits, refuted = finding.representation, finding.verdict == Verdict.VIOLATION
    leak = [representation_text(finding)] if bits and bits.epsilon_lower > finding.epsilon and not refuted else []
    return [*finding.warnings, *failed, *leak]


def _exact(finding: LawFinding, name: str, decoded: Mapping[str, str] | None) -> Lines:
    """Return the lines of an exact audit."""
    claimed = finding.claimed_epsilon
    worst = significant(finding.epsilon, digits=_DIGITS, apart_from=claimed, error=finding.error)
    covered = f"{plural(finding.pairs, 'ordered pair')} of neighbours"
    covers = ("covers", covered + (f", samples of {plural(finding.n, 'example')}" if finding.n else ""))
    if claimed is None:
        return [("NO CLAIM", f"{name} promises no privacy, has epsilon {worst} ({finding.grade})"), covers]
    delta = f" and delta {value_text(finding.claimed_delta)}" if finding.claimed_delta else ""
    claim = f"{name} claims epsilon {value_text(claimed)}{delta}"
    least = finding.epsilon_at_claim
    if delta and least is not None:
        worst = f"epsilon {significant(least, digits=_DIGITS, apart_from=claimed, error=finding.error)} at that delta"
    elif delta:
        worst = f"delta {significant(finding.delta_at_claim, digits=_DIGITS, apart_from=finding.claimed_delta)} there"
    words = f"{claim}, has {worst} ({finding.grade})"
    if finding.verdict != Verdict.VIOLATION:
        return [(finding.verdict.upper(), words), covers]
    return [("VIOLATION", words), ("because", because(finding, decoded))]


def _worst_case(finding: LawFinding, decoded: Mapping[str, str] | None) -> str:
    """Return the output and the pair at which the worst case lies."""
    pair, output = finding.pair_in_words, _cut(output_text(finding.worst_atom, decoded))
    words = f"output {output} on {_cut(pair.data)} against {_cut(pair.neighbour)}"
    if finding.claimed_delta:
        return f"{words}: the pair at which epsilon is the largest, {significant(finding.epsilon, digits=_DIGITS)}"
    if math.isinf(finding.epsilon):
        return f"{words}: possible on the first, impossible on the second"
    allowed = math.exp(min(finding.claimed_epsilon or 0.0, 700.0))
    times = significant(math.exp(min(finding.epsilon, 700.0)), digits=2, apart_from=allowed)
    return f"{words}: {times} times as often, the claim allows {significant(allowed, digits=2)}"


def _utility(finding: UtilityFinding, name: str, shown: Shown) -> Lines:
    """Return the lines of an audit of utility."""
    rate = _rate(finding, finding.failure_rate)
    words = f"{name} fails in {rate} % of runs, {_rate(finding, finding.beta)} % allowed"
    lines = [(finding.verdict.upper(), words), ("because", because(finding))]
    if finding.verdict == Verdict.UNDECIDED:
        more = shown("trials", str(10 * finding.trials))
        lines.append(("next", f"add {more}: the interval, which holds what is allowed, gets narrower"))
    return lines


def _failure_reason(finding: UtilityFinding) -> str:
    """Return the failures, the interval of their rate, and the hard case."""
    low, high = _rate(finding, finding.failure_lower, "down"), _rate(finding, finding.failure_upper, "up")
    runs = f"{count(finding.failures)} of {plural(finding.trials, 'run')} had {failure_text(finding)}"
    case = f"{finding.concept}, {finding.distribution}, {plural(finding.n, 'example')} ({finding.setting})"
    return f"{runs} ({low} to {high} %, {percent(finding.confidence)} sure): {case}"


def _rate(finding: UtilityFinding, share: float, towards: str = "nearest") -> str:
    """Return a rate of failure in per cent, on its side of what is allowed."""
    apart = None if share == finding.beta else 100 * finding.beta
    return significant(100 * share, towards, digits=_DIGITS, apart_from=apart)


def brief_block(shown: Callable[[str, str | None], str], results: Sequence[Result], repeat: str) -> Lines:
    """Return the lines on the gravest of some results of one learner.

    Parameters
    ----------
    shown : callable
        Names a parameter as it is given; see `InputError.told`.
    results : sequence of Result
        All of one learner and one kind.
    repeat : str
        The command that makes them again.
    """
    result = max(results, key=lambda one: (refutes(one), leaves_open(one)))
    finding = result.finding
    assert isinstance(finding, PrivacyFinding | LawFinding | UtilityFinding)
    (label, words), *rest, last = brief_lines(
        finding, result.learner, repeat=repeat, decoded=result.decoded or None, shown=shown
    )
    if is_ladder(result):
        assert isinstance(result.arguments, UtilityArguments)
        label, words = "TESTED", f"{words}; this refutes nothing, {theorem_text(result.arguments)}"
    leaks = [] if result.fault is None else [("note", f"it leaks on purpose: {result.fault}")]
    return [(label, words), *rest, *asked_lines(finding), *_own_claim(result), *leaks, *_others(results), last]


def _own_claim(result: Result) -> Lines:
    """Return the learner's own claim where another one was tested."""
    claim, finding = result.claim, result.finding
    tested = (finding.epsilon, finding.delta) if isinstance(finding, PrivacyFinding) else None
    if claim is None or tested in (None, (claim.epsilon, claim.delta)):
        return []
    own = f"epsilon {value_text(claim.epsilon)}, delta {value_text(claim.delta)}"
    return [("note", f"this claim was given; the learner's own is {own}")]


def _others(results: Sequence[Result]) -> Lines:
    """Return how many cases have which verdict, where there are several."""
    if len(results) == 1:
        return []
    counts = Counter(getattr(result.finding, "verdict", "").lower() for result in results)
    words = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    return [("cases", f"{plural(len(results), 'case')}: {words}; the gravest is shown, -v shows each")]

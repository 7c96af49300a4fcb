"""Gaps in the evidence, and checks of randomness and state, in words."""

from __future__ import annotations

from dpaudit.audit.checks import Answer, Check, CheckName
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.no_evidence import (
    AllRaised,
    Constant,
    FewRuns,
    Gap,
    Identical,
    Meaningless,
    NotLookedAt,
    Powerless,
)
from dpaudit.report.numbers import count, percent, plural, significant
from dpaudit.report.wording import event_words

__all__ = ["check_words", "checks_text", "gap_words", "representation_text"]

_DEPENDS = {
    CheckName.INPUTS: "runs change their inputs",
    CheckName.GENERATOR: "equal generators gave different outputs",
    CheckName.SEED: "different generators gave the same outputs: a seed is fixed inside, and runs are repeated",
    CheckName.STATE: "equal generators gave outputs that depend on earlier calls, or on something else beside the "
    "arguments: a state is kept between runs, so that they are not independent (if a library draws noise of its own "
    'besides, randomness="own" says that this is meant)',
    CheckName.CLOCK: "outputs depend on the clock, so that runs at different times do not have one law",
    CheckName.PROCESS: "outputs depend on the id of the process, so that runs of one do not have the law of all",
    CheckName.WORKERS: "workers repeat each other's streams, so that the same runs are counted several times: seed the "
    "mechanism from the generator that is passed, or use one job",
}
_OTHERS = {
    Answer.GLOBAL: "a global generator is used (numpy's, random's or torch's) instead of the one that is passed: the "
    "audit cannot be repeated bit by bit",
    Answer.TIME: "the mechanism is seeded by the clock instead of by the generator that is passed: the audit cannot be "
    "repeated bit by bit",
    Answer.OWN: "equal generators gave different outputs: the mechanism has randomness of its own, so its audit cannot "
    'be repeated bit by bit; randomness="own" says that this is meant',
}
_PASSED = {
    CheckName.INPUTS: "inputs are left as they are",
    CheckName.GENERATOR: "equal generators give equal outputs",
    CheckName.SEED: "different generators are not known to give the same outputs",
    CheckName.STATE: "no dependence on earlier calls",
    CheckName.CLOCK: "no dependence on the clock",
    CheckName.PROCESS: "no dependence on the process",
    CheckName.WORKERS: "workers do not repeat each other",
}


def gap_words(gap: Gap) -> str:
    """Return why an audit could not have seen that the claim fails."""
    match gap:
        case AllRaised():
            share = "every run" if gap.raised == gap.runs else f"{count(gap.raised)} of {count(gap.runs)} runs"
            return f"{share} ended in an exception, most often {gap.usual}: what the mechanism answers was hardly seen"
        case Constant():
            share = "every run" if gap.alike == gap.runs else f"{count(gap.alike)} of {count(gap.runs)} runs"
            return f"{share} had one outcome, on both sides: the output is constant, or nothing in it was told apart"
        case Identical():
            return f"both inputs are the same in all of {plural(gap.pairs, 'pair')}, so that nothing can differ"
        case FewRuns():
            return (
                f"{plural(gap.runs, 'run')} a side decided, and {count(gap.least)} is the least number that can refute "
                f"the claim: at least {count(gap.trials)} trials are needed with one pair"
            )
        case Powerless():
            return "these runs would have detected no leak, however large, on the event tested or on a rarer one"
        case NotLookedAt():
            return f"not looked at: {', '.join(gap.parts)}"
        case Meaningless():
            return _DEPENDS[gap.check]


def check_words(check: Check) -> str:
    """Return the answer of a check."""
    if check.answer == Answer.PASSED:
        return _PASSED[check.name]
    if check.answer == Answer.NOT_ASKED:
        return f"{check.name}: not asked"
    return _DEPENDS[check.name] if check.meaningless else _OTHERS[check.answer]


def checks_text(finding: PrivacyFinding) -> str:
    """Return what was asked and passed in one line, with the runs that all checks took; empty without checks."""
    passed = [check_words(check) for check in finding.checks if check.answer == Answer.PASSED]
    spent = f"{plural(sum(check.runs for check in finding.checks), 'run')} on both sides"
    return f"{'; '.join(passed) or 'nothing was asked'} ({spent})" if finding.checks else ""


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
        f"the bits leak, epsilon at least {lower} {at} ({event_words(test.event)}: {count(test.hits)} against "
        f"{count(test.neighbour_hits)} runs); --float-bits makes that count"
    )

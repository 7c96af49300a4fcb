"""All that one finding says, as labelled lines: in brief, and what that rests on, down to the witness."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from msgspec import UNSET, structs

from dpaudit.audit.evidence import Answer
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.power import LEARNING, LEARNING_OF_BETS
from dpaudit.contract import Origin, OriginKind, PrivacyVerdict, Relation
from dpaudit.engine.records import Result
from dpaudit.errors import in_python
from dpaudit.exact.finding import LawFinding
from dpaudit.report import findings, wording
from dpaudit.report.about import about_view
from dpaudit.report.numbers import count, percent, plural, significant, value_text
from dpaudit.report.terminal import Lines, ShellCommand, aligned, said
from dpaudit.report.view import FindingView, OneAudit, view_of
from dpaudit.utility.finding import UtilityFinding

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


def verdict_summary(shown: findings.Shown, results: Sequence[Result], repeat: str) -> Lines:
    """Return the lines on the gravest of some results of one learner and one kind, which `repeat` makes again."""
    views = [view_of(result) for result in results]
    lines = _brief(max(views, key=lambda view: (view.refutes, view.leaves_open)), shown)
    if len(views) > 1:
        counts = Counter(str(view.finding.verdict) for view in views)
        cases = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
        lines.append(("cases", f"{plural(len(views), 'case')}: {cases}; the gravest is shown, -v shows each"))
    return [*lines, ("repeat", ShellCommand(repeat)), *wording.clock_lines(*(view.finding for view in views))]


def _brief(view: FindingView, shown: findings.Shown) -> Lines:
    finding = view.finding
    own = view.claim
    (label, words), *lines = findings.parts(finding, view.name, view.decoded, shown)
    if view.below_theorem:
        asks = "no theorem of the learner promises this"
        if view.theorem_n is not None:
            asks = f"the theorem asks for n = {count(view.theorem_n)}"
        label = "TESTED"
        words = f"{words}; this refutes nothing, {asks}"
    lines += _asked_lines(finding)
    if own is not None and isinstance(finding, PrivacyFinding):
        if (finding.epsilon, finding.delta) != (own.epsilon, own.delta):
            learners = wording.claim_words(own.epsilon, own.delta)
            lines.append(("note", f"this claim was given; the learner's own is {learners}"))
    if view.fault is not None:
        lines.append(("note", f"it leaks on purpose: {view.fault}"))
    return [(label, words), *lines]


def verdict_block(shown: findings.Shown, results: Sequence[Result]) -> str:
    """Return what some results of one learner and one kind rest on; of several, each in brief before that."""
    views = [view_of(result) for result in results]
    lines = [("parameters", wording.label_parameters(views[0].parameters))]
    if len(views) == 1:
        return aligned(lines + _evidence(views[0]))
    return aligned([*lines, *(line for view in views for line in finding_lines(view, shown=shown))])


def finding_lines(view: FindingView, shown: findings.Shown = in_python) -> Lines:
    """Return all that one finding says: in brief, and then what that rests on."""
    return [*_brief(view, shown), *_evidence(view)]


def _evidence(view: FindingView) -> Lines:
    match view.finding:
        case PrivacyFinding() as finding:
            scores = ", ".join(finding.scores) or finding.distinguisher
            passed = [findings.check_words(check) for check in finding.checks if check.answer == Answer.PASSED]
            spent = f"{plural(sum(check.runs for check in finding.checks), 'run')} on both sides"
            checked = f"{'; '.join(passed) or 'nothing was asked'} ({spent})"
            tested = ("claim", _tested_claim(view, finding.epsilon, finding.delta, finding.relation))
            if finding.curve_test is not None:
                tested = ("point tested", wording.claim_words(finding.epsilon, finding.delta, significant))
            return said(
                tested,
                *about_view(view),
                *wording.curve_lines(finding),
                *_power(finding),
                ("compared", f"pairs: {origins_text(finding)}; events: {count(finding.events)}; scores: {scores}"),
                ("budget", budget_text(finding)),
                ("continued", continued_text(finding)),
                ("errors", errors_text(finding)),
                *_witness(view, finding),
                ("holds", "in whatever state earlier runs leave the mechanism" if finding.in_any_state else _RUNS),
                ("floating point", findings.representation_text(finding)),
                *wording.run_time_lines(finding),
                ("not looked at", "; ".join(finding.not_looked_at)),
                ("checked", checked if finding.checks else ""),
            )
        case LawFinding() as finding:
            return _exact_lines(view, finding)
        case UtilityFinding(best_error=float(error)):
            return [("best", f"the best concept's error is {significant(error)}")]
    return []


def _tested_claim(view: FindingView, epsilon: float, delta: float, relation: Relation | None) -> str:
    """Return the claim that was tested; with its source if it is the learner's own."""
    own, known = view.claim, ("", "")
    if own is not None and (own.epsilon, own.delta, own.relation) == (epsilon, delta, relation):
        known = (own.claim_id, own.source)
    neighbours = str(relation or "neighbours as given")
    return ", ".join(filter(None, (wording.claim_words(epsilon, delta), neighbours, *known)))


def _asked_lines(finding: OneAudit) -> Lines:

    def between(rows: Sequence[tuple[float, float, float]], at: str) -> str:
        return ", ".join(
            f"[{significant(low, 'down')}, {significant(high, 'up')}] at {at} {significant(x)}" for x, low, high in rows
        )

    lines: Lines = []
    if isinstance(finding, PrivacyFinding) and (curve := finding.curve) is not None:
        grid = sorted({0.0, finding.epsilon / 2, finding.epsilon})
        deltas = zip(curve.delta_lower(grid).tolist(), grid, strict=True)
        steps = ", ".join(f"{significant(delta, 'down')} at ε = {value_text(epsilon)}" for delta, epsilon in deltas)
        sure = f"with confidence {percent(1 - curve.gamma)}, simultaneously for all ε, for independent runs"
        lines.append(("curve", f"δ ≥ {steps}; μ ≥ {significant(curve.mu_lower, 'down')} ({sure})"))
    if isinstance(finding, LawFinding) and finding.enclosure is not None:
        lines.append(("enclosed", "ε in [{}, {}], by ball arithmetic".format(*finding.enclosure)))
    if isinstance(finding, LawFinding) and (made := finding.composition) is not None:
        runs = f"{plural(made.times, 'run')} on one sample ({made.grade}, these pairs)"
        lines.append(("composed", f"ε of {runs}: {between(made.epsilons, 'δ =')}"))
        lines.append(("composed", f"δ of {runs}: {between(made.deltas, 'ε =')}"))
    return lines


def _exact_lines(view: FindingView, finding: LawFinding) -> Lines:
    claimed, worst, lines = finding.claimed_epsilon, finding.pair_in_words, list[tuple[str, str]]()
    if claimed is not None:
        at_claim = significant(finding.delta_at_claim, apart_from=finding.claimed_delta)
        lines += [
            ("claim", _tested_claim(view, claimed, finding.claimed_delta, finding.relation)),
            ("delta", f"{at_claim} at worst, at the claimed ε"),
        ]
    if finding.verdict == PrivacyVerdict.VIOLATION:
        lines.append(("covers", findings.covers_text(finding)))
    covered = {"all": "", "crafted": " on crafted pairs", "given": " on the pairs given"}[view.samples]
    epsilon = significant(finding.epsilon, apart_from=claimed, error=finding.error)
    output = wording.output_text(finding, view.decoded)
    return [
        *lines,
        ("epsilon", f"{epsilon} at worst{covered}, error at most {significant(finding.error, 'up', digits=2)}"),
        ("witness", f"{worst.data} against {worst.neighbour}, output {output} [{origin_text(worst.origin)}]"),
    ]


def _power(finding: PrivacyFinding) -> Lines:
    if finding.verdict == PrivacyVerdict.NO_EVIDENCE:
        return []
    return [
        ("frontier", frontier_words(finding)),
        ("assumed", ASSUMED),
        *(("but", findings.gap_words(gap)) for gap in finding.gaps),
    ]


def _witness(view: FindingView, finding: PrivacyFinding) -> Lines:
    """Return the inputs, the event and its counts (bets have none), the event in simpler words, guesses of coins."""
    found, decoded = finding.witness, view.decoded
    event, rates = wording.event_words(found.event, decoded), "{:,} of {:,} against {:,} of {:,} runs"
    inputs, origin = f"{found.data} against {found.neighbour}", origin_text(found.origin)
    if found.difference is not UNSET and found.difference not in found.neighbour:
        inputs += f" ({found.difference})"
    origin += f"; digest of the data: {found.digest}" if found.digest else ""
    counts = (found.hits, found.trials, found.neighbour_hits, found.neighbour_trials)
    if None in counts:
        lines = [("witness", f"{inputs}, {event} [{origin}]")]
    else:
        lines = [("witness", f"{inputs} ({found.direction}), event: {event}: {rates.format(*counts)} [{origin}]")]
    if (simple := found.plain) is not UNSET:
        event, shown = wording.answer_words(simple.event, decoded), rates.format(*structs.astuple(simple)[2:])
        chose = f"{event} ({simple.direction}): {shown}, which chose the event tested and prove nothing"
        lines.append(("simply", chose))
    if found.count is not UNSET:
        words = f"{found.count.right:,} of {found.count.guesses:,} coins guessed right: of runs in the event"
        if found.opposite is not UNSET:
            words += f", and for the other side of runs with {wording.event_words(found.opposite, decoded)}"
        if found.count.filled:
            words += f"; {found.count.filled:,} of the coins are of no run, for fewer were in the event than planned"
        lines.append(("coins", words))
    return lines


def frontier_words(finding: PrivacyFinding) -> str:
    """Return the least epsilon detected by probability of the event, and the probability of an impossible one."""
    steps = ", ".join(f"{mass}: {least}" for mass, least in frontier_text(finding, infinity="none in reach"))
    outright = f"a probability of {delta_text(finding)} or more"
    outright = outright if math.isfinite(finding.detectable_delta) else "no probability, however large,"
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
        return f"{share:.10g}"  # 0.05, not the 0.050000000000000044 of binary fractions

    errors = sorted(finding.errors.items(), key=lambda item: (item[0] != "verdict", item[0]))
    parts = ", ".join(f"{shown(share)} for the {_STATEMENTS.get(name, name)}" for name, share in errors)
    words, bounds = f"{shown(1 - finding.confidence)} in all: {parts}", [test.epsilon_lower for test in finding.tests]
    if len(bounds) < 2:
        return words
    names = ["the main one", *(f"number {i}" for i in range(2, len(bounds) + 1))]
    shares = ", ".join(f"{shown(test.error)} for {name}" for test, name in zip(finding.tests, names, strict=True))
    best = names[bounds.index(max(bounds))]
    return f"{words}; {count(len(bounds))} events share the verdict's, {shares}; the witness is {best}"


def origin_text(origin: Origin) -> str:
    """Return how one pair was made, and by how many moves of the local search it was varied."""
    plain = origin.text and origin.kind in (OriginKind.ENUMERATED, OriginKind.GIVEN)  # needs no heading
    made = origin.text if plain else ": ".join(filter(None, (origin.kind.value, origin.text)))
    if origin.moves > 1:
        return f"local search, {origin.moves} moves from {made}"
    return f"local search from {made}" if origin.moves else made


def origins_text(finding: PrivacyFinding) -> str:
    """Return the counts of pairs by origin, as "12 crafted, 3 local search": the search made those without one."""
    kinds = Counter(origin.kind.value for origin in finding.origins)
    kinds["local search"] += max(finding.pairs - len(finding.origins), 0)
    text = ", ".join(f"{count(n)} {kind}" for kind, n in kinds.items() if n)
    if finding.replayed:
        text += f"; {count(finding.replayed)} runs with recorded noise compared them"
    return text

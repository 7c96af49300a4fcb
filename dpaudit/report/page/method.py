"""The method of the audits of a mechanism: what stands in the fold below its figures, as names and texts."""

from __future__ import annotations

import math

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Relation
from dpaudit.exact.finding import LawFinding
from dpaudit.report.evidence import (
    check_words,
    checks_text,
    errors_text,
    frontier_text,
    gap_words,
    origins_text,
    representation_text,
    scores_text,
    spent_text,
)
from dpaudit.report.numbers import count, percent, plural, significant
from dpaudit.report.page.text import number, raised, share
from dpaudit.report.view import Mechanism, Row
from dpaudit.report.wording import BOUNDS, answer_words, failure_text, label_parameters, output_text

__all__ = ["Item", "blackbox_items", "method", "neighbours_words"]

Item = tuple[str, str]
"""A name and a text."""

_NEIGHBOURS = {
    Relation.REPLACE_ONE: "one example is replaced",
    Relation.ADD_REMOVE_ONE: "one example is added or removed",
    Relation.REPLACE_PRIVATE: "one private example is replaced",
    None: "as you gave them",
}


def neighbours_words(relation: Relation | None) -> str:
    """Return the relation of neighbours in words."""
    return _NEIGHBOURS[relation]


def method(mechanism: Mechanism) -> list[Item]:
    """Return how the privacy and the accuracy of a mechanism were measured."""
    row = mechanism.tested
    items = [("Parameters", label_parameters(row.parameters))] if row.parameters else []
    if row.claim is not None:
        source = ": ".join(filter(None, (row.claim.claim_id, row.claim.source)))
        items += [("Source of the claim", source)] if source else []
        relation = row.claim.relation if row.blackbox is None else row.blackbox.relation
        items.append(("Neighbours", neighbours_words(relation)))
    items += (
        _exact_items(row, row.exact) if row.exact is not None else [("Exact", f"not computed: {row.missing['exact']}")]
    )
    if row.blackbox is not None:
        items += blackbox_items(row, row.blackbox)
    elif row.claim is not None:
        items.append(("Runs", f"none: {row.missing['privacy']}"))
    for instance in mechanism.rows:
        items += _accuracy_items(instance, named=len(mechanism.rows) > 1)
    if "utility" in mechanism.accurate.missing and row.fault is None:
        items.append(("Accuracy", f"not computed: {mechanism.accurate.missing['utility']}"))
    return items


def _exact_items(row: Row, exact: LawFinding) -> list[Item]:
    """Return what the exact audit covered and where its worst case lies."""
    pair = exact.pair_in_words
    error = raised(significant(exact.error, "up", digits=2))
    proved = "error below" if exact.grade == "exact" else "estimated error"
    covered = f"{plural(exact.laws, 'output law')} of {plural(exact.samples, 'input')}; {plural(exact.pairs, 'pair')}"
    output = output_text(exact.worst_atom, row.decoded(exact))
    items = [
        ("Exact", f"{covered}; {row.scope or 'inputs given'}; {proved} {error}"),
        ("Worst pair", f"{pair.data} against {pair.neighbour}, answer {output}"),
    ]
    if exact.claimed_delta > 0:
        at = number(exact.delta_at_claim, "up", apart_from=exact.claimed_delta)
        items.append(("Exact δ at the claimed ε", at))
    return items


def blackbox_items(row: Row, finding: PrivacyFinding) -> list[Item]:
    """Return how the runs were spent and what they looked at."""
    items = [
        ("Runs a side", spent_text(finding)),
        ("Tried", f"{plural(finding.pairs, 'pair')} ({origins_text(finding)}), {plural(finding.events, 'event')}"),
        ("Compared by", scores_text(finding)),
        ("Bound", f"{BOUNDS.get(finding.bound, finding.bound)}; error {errors_text(finding)}"),
        ("Would be caught", _frontier(finding)),
        ("Checks", checks_text(finding)),
        ("Stored floats", representation_text(finding)),
        ("Not looked at", ", ".join(finding.not_looked_at)),
    ]
    items += [("Gap", gap_words(gap)) for gap in finding.gaps]
    items += [("Warning", text) for text in finding.warnings]
    items += [("Warning", check_words(check)) for check in finding.checks if not check.passed]
    if len(finding.tests) > 1:
        decoded = row.decoded(finding)
        items += [("Event tested", answer_words(test.event, decoded)) for test in finding.tests]
    return [(name, text) for name, text in items if text]


def _frontier(finding: PrivacyFinding) -> str:
    """Return the least epsilon caught by the probability of the event, and the least delta."""
    steps = [f"ε ≥ {epsilon} on an answer of probability {mass}"
             for mass, epsilon in frontier_text(finding, infinity="") if epsilon]  # fmt: skip
    if math.isfinite(finding.detectable_delta):
        steps.append(f"an answer impossible on one side from {number(finding.detectable_delta, 'up')}")
    return "; ".join(steps) or "nothing: no ε within reach"


def _accuracy_items(row: Row, named: bool) -> list[Item]:
    """Return the deciding hard case of each setting of accuracy."""
    items = []
    for setting in row.settings:
        part = row.in_setting(setting)
        found = part.utility
        if found is None:
            continue
        instance = f" ({label_parameters(row.parameters)})" if named else ""
        told = (
            f"worst of {plural(len(part.cases), 'hard case')} at n = {count(found.n)}{instance}: "
            f"{share(found.failure_rate)} % of {plural(found.trials, 'run')} fail ({failure_text(found)}), "
            f"{percent(found.confidence)} interval {share(found.failure_lower, 'down')} to "
            f"{share(found.failure_upper, 'up')} %; {share(found.beta)} % are allowed: {found.verdict}"
        )
        items.append((f"Accuracy, {setting}", told))
    return items

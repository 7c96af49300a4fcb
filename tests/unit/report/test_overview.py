"""The summary of a run for a terminal: the answer first, the gravest rows, under 40 lines."""

from __future__ import annotations

import re

import pytest
from reporter_runs import change, controls_missed, failed, first, load_small, planned, put, retold, with_results
from toy_records import law_finding, result, run_of

from dpaudit.audit.checks_and_gaps import Powerless
from dpaudit.contract import PrivacyClaim, Relation
from dpaudit.evidence.records import Fault, Run
from dpaudit.report.console import render

SMALL = load_small()


def headline(run: Run) -> str:
    return render(run).splitlines()[0]


def test_the_answer_comes_first() -> None:
    assert headline(SMALL) == "No violation found in 2 privacy claims."
    unclaimed = law_finding(claimed_epsilon=None)
    assert headline(run_of(result("exact", finding=unclaimed))) == "No claim of privacy was tested."
    assert headline(controls_missed(SMALL)) == (
        "The audit is blind: it missed the planted fault of parity-private-careless."
    )
    broken = change(SMALL, "exact", verdict="violation", epsilon=1.97)
    assert headline(broken) == "1 of 2 privacy claims is violated: parity-private."
    assert headline(failed(SMALL, first(SMALL, "exact"))) == "No violation so far, but 1 result missing."
    failing = change(SMALL, "utility", "claim", verdict="violation")
    assert re.match(r"No privacy claim is violated, but 1 promise of accuracy: \S+\.$", headline(failing))


def test_a_violation_stands_on_top_with_its_mark_and_its_reason() -> None:
    text = render(change(SMALL, "exact", verdict="violation", epsilon=1.97))
    rows = text.split("-----\n")[1].splitlines()
    assert re.match(r"!  parity-private +1 +1.97 ", rows[0])
    assert "\n! violation\n" in text
    assert re.search(
        r"^because +parity-private: output .* 7.2 times as often, the claim allows 2.7$", joined(text), re.M
    )
    assert re.search(r"^status +1 \(a violation or a missed control\)$", text, re.M)


def joined(text: str) -> str:
    return re.sub(r"( \\\\)?\n {13}(?! )", " ", text)


def test_an_audit_that_could_not_see_says_why() -> None:
    kept = [r for r in SMALL.results if r.kind != "exact"]
    run = change(with_results(SMALL, kept), "privacy", verdict="no evidence", gaps=(Powerless(),))
    text = render(run)
    assert headline(run) == "No violation found in 2 privacy claims; 1 without evidence."
    assert re.search(r"^\?  parity-private ", text, re.M)
    assert re.search(r"^no evidence +parity-private: these runs would have detected no leak", joined(text), re.M)
    assert re.search(r"^status +3 ", text, re.M)


def test_the_exact_epsilon_of_a_claim_with_a_delta_is_that_at_the_delta() -> None:
    claim = PrivacyClaim(1.0, 0.01, Relation.REPLACE_ONE)
    finding = law_finding(epsilon=float("inf"), claimed_delta=0.01, epsilon_at_claim=0.7)
    text = render(run_of(result("exact", finding=finding, claim=claim)))
    assert re.search(r"^  a +1 +0.01 +0.700 ", text, re.M)


def test_what_has_no_result_is_named() -> None:
    text = joined(render(planned(failed(SMALL, first(SMALL, "exact"), "RuntimeError: oops\x1b"), "x/exact/1")))
    assert re.search(r"^missing +2 results, of which 1 failed$", text, re.M)
    assert re.search(r"^missing +parity-private/exact/\S+: RuntimeError: oops\\x1b$", text, re.M)
    assert re.search(r"^missing +x/exact/1: not run yet; --resume goes on$", text, re.M)
    fault = render(run_of(result("exact"), faults=(Fault("bad", "no plan"),)))
    assert re.search(r"^not planned +bad: no plan$", fault, re.M)


@pytest.mark.parametrize("width", [80, 120])
def test_many_mechanisms_fit_on_a_page(width: int) -> None:
    findings = [law_finding("violation" if i == 39 else "consistent", epsilon=i / 20) for i in range(40)]
    claim = PrivacyClaim(1.0, 0.0, Relation.REPLACE_ONE)
    many = [
        result("exact", finding=finding, claim=claim, learner=f"a-mechanism-of-a-long-name-{i}", task=f"t{i}", index=i)
        for i, finding in enumerate(findings)
    ]
    lines = render(run_of(*many), width=width).splitlines()
    assert len(lines) < 40
    assert max(map(len, lines)) <= width
    assert re.match(r"!  a-mechanism-o\S+-name-39 .* -$", lines[5])
    assert re.match(r"   a-mechanism-o\S+-name-38 .* -$", lines[6])
    assert "   and 26 mechanisms more, none graver; -v shows all" in lines


def test_colour_adds_nothing_but_escapes() -> None:
    run = change(SMALL, "exact", verdict="violation", epsilon=1.97)
    coloured = render(run, color=True)
    assert "\x1b[1;31m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(run)
    assert "\x1b" not in render(run)


def test_a_contradiction_of_exact_and_black_box_is_told() -> None:
    run = put(SMALL, retold(first(SMALL, "privacy"), epsilon_lower=0.9))
    assert re.search(r"^\(!\) +parity-private: the black-box lower bound exceeds", joined(render(run)), re.M)

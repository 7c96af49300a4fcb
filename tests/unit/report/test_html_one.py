import math

import pytest
from msgspec.structs import replace
from pages import Page
from reporter_runs import first, load_small, only, retold
from toy_records import law_finding, privacy_finding, result, utility_finding

from dpaudit.audit.checks_and_gaps import FewRuns
from dpaudit.audit.finding import Witness
from dpaudit.bounds.curve import fit_curve
from dpaudit.contract import Direction, Origin, PrivacyVerdict
from dpaudit.contract.pairs import differing
from dpaudit.events.event import Cells, Interval
from dpaudit.report.html import render_finding

ZERO = Cells("output", ((0, 0),))


def found(verdict="violation", event=ZERO, **changes):
    """Return the result of an audit of a user's function."""
    witness = Witness(0, Origin(), "[1, 1, 1]", "[1, 0, 1]", Direction.FORWARD, event, 4_471, 22_400, 623, 22_400)
    witness = replace(witness, differs=differing(witness.data, witness.neighbour))
    curve = fit_curve([623], 22_400, [22_400 - 4_471], 22_400, 0.01)
    told = {"epsilon_lower": 1.6, "relation": None, "witness": witness, "curve": curve, "versions": {"numpy": "2.0"}}
    finding = privacy_finding(verdict, **{**told, **changes})
    return result("privacy", finding=finding, learner="my.py:noisy_max", task="my.py:noisy_max")


def told(*args):
    return Page(render_finding(*args))


def test_a_violation_is_told_with_its_witness_on_one_page():
    page = told(found(), "dpaudit privacy my.py:noisy_max --seed 0")
    text = page.unfolded
    assert "Violation: noisy_max It claims ε = 1, shows ≥ 1.60 (95 % sure). Because: answer “0”:" in text
    assert "and one answer comes 7.2 times as often, the claim allows 2.7" in text
    assert "how often the answer is “0”." in text
    assert "A private mechanism would be accused like this in at most 5 % of audits." in text
    assert "20 % (4,471 of 22,400)" in text.replace("  ", " ")
    assert "neighbours: as you gave them" in text
    assert "dpaudit privacy my.py:noisy_max --seed 0" in text
    assert len(text.split()) <= 600
    levels = [tag for tag in page.tags if tag in ("h1", "h2", "h3")]
    assert levels.count("h1") == 1
    assert "https" not in render_finding(found())


def test_what_differs_between_the_inputs_is_outlined():
    page = render_finding(found())
    assert page.count("<mark>") == 2
    assert "<code>[1, <mark>0</mark>, 1]</code>" in page


def test_silence_says_what_it_is_worth():
    text = told(found("consistent", epsilon_lower=0.2, detectable_epsilon=1.25)).unfolded
    assert "Consistent: noisy_max It claims ε = 1, shows ≥ 0.200. Power: any ε ≥ 1.25 would be" in text
    assert "Silence is not proof" in text
    assert "The closest call" in text
    gaps = (FewRuns(runs=10, least=20, trials=40),)
    text = told(found("no evidence", gaps=gaps, detectable_epsilon=math.inf)).unfolded
    assert "No evidence: noisy_max It claims ε = 1, shows ≥" in text
    assert "10 runs a side decided, and 20 is the least number that can refute" in text
    assert "Next: add trials=" in text


def test_an_event_that_is_no_answer_is_named_as_one():
    text = told(found(event=Interval("value", 0.117, math.inf))).unfolded
    assert "how often the answer is output ≥ 0.117." in text


def test_bets_have_no_bars():
    run = only(load_small(), "threshold-exponential", "privacy")
    text = told(run.results[0]).text
    assert "bets on 3000 runs of this pair" in text
    assert "Bars:" not in text
    refuted = replace(run.results[0], finding=replace(run.results[0].finding, verdict=PrivacyVerdict.VIOLATION))
    assert "accused like this in at most" in told(refuted).text


def test_exact_and_utility_findings_have_pages_too():
    exact = result("exact", finding=law_finding("violation", epsilon=1.5, epsilon_at_claim=1.5, versions={}))
    assert "Violation: a It claims ε = 1, has 1.50 (exact). Because:" in told(exact).unfolded
    assert "exact, the worst of 2 ordered pairs of neighbours, samples of 1 example" in told(exact).unfolded
    free = result("exact", finding=law_finding(claimed_epsilon=None, epsilon=math.inf, versions={}))
    assert "No claim: a It promises no privacy, has ε = ∞ (exact). Covers:" in told(free).unfolded
    useful = [
        result("utility", finding=utility_finding("holds", setting=s, versions={})) for s in ("realizable", "empirical")
    ]
    text = told(useful).unfolded
    assert "Holds: a Accuracy: holds. It fails in 4.00 % of runs" in text
    assert "Accuracy by number of examples" in text
    assert "claimed" not in text.partition("Words")[0]


@pytest.mark.parametrize("kind", ["exact", "privacy", "utility"])
def test_every_kind_of_a_learner_reads_and_is_the_same_twice(kind):
    one = first(only(load_small(), "parity-private"), kind)
    assert "None" not in told(one).text
    assert render_finding(one) == render_finding(one)


def test_words_of_a_mechanism_cannot_become_markup():
    evil = "<script>alert('x')</script>\"><img src=x>"
    one = retold(found(), warnings=(evil,), distinguisher=evil)
    witness = replace(one.finding.witness, data=evil, neighbour=f"[{evil}, 2]")
    page = told(replace(retold(one, witness=witness), learner=evil), evil)
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert evil in page.text

"""The fixtures, the marker and the options that other people's suites use."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

QUIET = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest", "-W", "error")
FEW = "--dpaudit-trials=4000"
"""Enough to refute 0.5 of the response, whose epsilon is ln 3: the bound errs by less than 0.2 at 0.999."""
MECHANISMS = """
import pytest
import dpaudit

def response(bit, rng):
    return bit if rng.random() < 0.75 else 1 - bit

def constant(bit, rng):
    return 7
"""
SUITE = """
def test_true_claim(assert_private):
    assert assert_private(response, [(0, 1)], epsilon=1.2).verdict == "consistent"

def test_false_claim(assert_private):
    assert_private(response, [(0, 1)], epsilon=0.5)

def test_false_claim_by_bets(assert_private):
    assert_private(response, [(0, 1)], epsilon=0.5, sequential=True)

def test_bad_input(assert_private):
    assert_private(response, [(0, 1)], epsilon=-1.0)
"""


def run(pytester: pytest.Pytester, code: str, *words: str) -> pytest.RunResult:
    """Run tests of the mechanisms, with warnings as errors."""
    pytester.makepyfile(MECHANISMS + code)
    return pytester.runpytest_inprocess(*QUIET, "--show-capture=no", *words)  # a log of the audit is no frame of it


def test_a_false_claim_fails_the_test_with_its_witness_and_without_our_frames(pytester: pytest.Pytester) -> None:
    result = run(pytester, SUITE, FEW)
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [
            "*VIOLATION    response claims epsilon = 0.5, shows >= * (99.9 % sure)",
            '*because      answer "*": *',
            "*the claim allows 1.6",
            "*repeat       dpaudit.audit_privacy(response, [[](0, 1)], epsilon=0.5,*",
            "*[0-9] of [0-9]* runs against [0-9]* of [0-9]*",
            "*pair 0: 0 and 1*",
            "*false alarm: at most 0.001*",
        ]
    )
    # Bets are on no single event; one in simple words stands for them.
    result.stdout.fnmatch_lines(['*because      answer "*": * runs that were bet on*'])
    result.stdout.fnmatch_lines(["E *InputError: epsilon must be *, got -1.0*"])
    assert "None of None" not in result.stdout.str()
    assert "pytest_plugin.py" not in result.stdout.str()
    assert "audit.py" not in result.stdout.str()


def test_the_sum_of_all_audits_is_stated_whatever_is_selected(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MECHANISMS + SUITE)
    total = "dpaudit: 3 audits, chance of a false alarm at most 0.003"
    pytester.runpytest_inprocess(*QUIET, FEW).stdout.fnmatch_lines([total])
    result = pytester.runpytest_inprocess(*QUIET, FEW, "-k", "true_claim", "--dpaudit-confidence=0.99")
    result.stdout.fnmatch_lines(["dpaudit: 1 audit, chance of a false alarm at most 0.01"])
    assert "dpaudit:" not in pytester.runpytest_inprocess(*QUIET, "-k", "bad_input").stdout.str()


def test_the_workers_of_xdist_report_their_audits(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(MECHANISMS + SUITE)
    result = pytester.runpytest_subprocess(*QUIET[:2], *QUIET[4:], "-n", "2", FEW)
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(["dpaudit: 3 audits, chance of a false alarm at most 0.003"])


SETTINGS = """
pytestmark = pytest.mark.dpaudit(trials=400)

def chosen(assert_private, **given):
    finding = assert_private(response, [(0, 1)], epsilon=1.2, allow_no_evidence=True, **given)
    return finding.trials, finding.confidence, finding.seed

@pytest.mark.dpaudit(confidence=0.9)
def test_marked(assert_private):
    assert chosen(assert_private) == (400, 0.9, 5)

@pytest.mark.dpaudit(trials=500)
def test_the_nearest_marker_wins(assert_private):
    assert chosen(assert_private) == (500, 0.99, 5)

@pytest.mark.dpaudit(trials=500)
def test_the_call_wins(assert_private):
    assert chosen(assert_private, trials=600, seed=1) == (600, 0.99, 1)

@pytest.mark.dpaudit(trails=500)
def test_misspelt(assert_private):
    chosen(assert_private)
"""


def test_the_call_wins_over_the_marker_the_command_line_and_the_configuration(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ndpaudit_seed = 4\ndpaudit_confidence = 0.99\naddopts = --strict-markers")
    result = run(pytester, SETTINGS, "--dpaudit-seed=5", "--dpaudit-trials=300")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*the marker dpaudit takes trials, confidence, seed by name; got *trails*"])


def test_a_setting_that_is_no_number_is_refused(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ndpaudit_trials = many")
    result = run(pytester, "def test(assert_private): assert_private(response, [(0, 1)], epsilon=1.2)")
    result.stdout.fnmatch_lines(["*dpaudit_trials must be a number, got 'many'*"])


def test_audits_are_properties_of_the_test(pytester: pytest.Pytester) -> None:
    run(pytester, SUITE, FEW, "--junitxml=found.xml", "-k", "true_claim or test_false_claim")
    cases = ElementTree.parse(Path(pytester.path) / "found.xml").iter("testcase")
    found = {
        str(case.get("name")): {str(one.get("name")): str(one.get("value")) for one in case.iter("property")}
        for case in cases
    }
    assert found["test_true_claim"]["dpaudit_verdict"] == "consistent"
    assert float(found["test_false_claim"]["dpaudit_epsilon_lower"]) > 0.5
    assert float(found["test_false_claim_by_bets"]["dpaudit_error"]) == pytest.approx(0.001)


def test_what_limits_a_finding_is_a_warning_of_the_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        MECHANISMS + "def test_half_of_it(assert_private): assert_private(response, [(0, 1), (1, 1)], epsilon=1.5)"
    )
    result = pytester.runpytest_subprocess(*QUIET[:-2], FEW)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*AuditWarning: dpaudit: pair 1: both inputs are the same, so it can show no leak*"])


NOTHING = """
def test_nothing(assert_private):
    assert_private(constant, [(0, 1)], epsilon=1.0)

def test_allowed(assert_private):
    assert assert_private(constant, [(0, 1)], epsilon=1.0, allow_no_evidence=True).verdict == "no evidence"

def test_refuted_all_the_same(assert_private):
    assert_private(lambda bit, rng: bit, [(0, 1)], epsilon=1.0, allow_no_evidence=True)

def test_misspelt(assert_private):
    told = "no argument 'allow_no_evidnce', but allow_no_evidence, .*epsilon, .*; did you mean allow_no_evidence"
    with pytest.raises(dpaudit.InputError, match=told):
        assert_private(constant, [(0, 1)], epsilon=1.0, allow_no_evidnce=True)
"""


def test_no_evidence_fails_the_test_unless_it_is_allowed(pytester: pytest.Pytester) -> None:
    result = run(pytester, NOTHING, FEW, "--junitxml=found.xml")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["*NO EVIDENCE *", "*had one outcome*", "*allow_no_evidence=True lets it pass*"])
    assert "allow_no_evidence=True lets it pass" in (pytester.path / "found.xml").read_text()


UTILITY = """
LEARNER = dpaudit.pac.get_learner("point-exponential", domain_size=4, epsilon=1.0)

def test_holds(assert_utility):
    assert assert_utility(LEARNER, 1, "uniform", alpha=0.2, beta=0.2, trials=200).verdict == "holds"

def test_violation(assert_utility):
    assert_utility(LEARNER, 1, "uniform", alpha=0.2, beta=0.01, n=1, trials=200)

@pytest.mark.dpaudit(trials=10)
def test_undecided(assert_utility):
    assert_utility(LEARNER, 1, "uniform", alpha=0.2, beta=0.2)

@pytest.mark.dpaudit(trials=10)
def test_allowed(assert_utility):
    assert_utility(LEARNER, 1, "uniform", alpha=0.2, beta=0.2, allow_undecided=True)
"""


def test_utility_is_asserted_in_the_same_way(pytester: pytest.Pytester) -> None:
    result = run(pytester, UTILITY)
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["*VIOLATION *fails in *% of*", "*UNDECIDED *", "*allow_undecided=True lets it*"])
    result.stdout.fnmatch_lines(["dpaudit: 4 audits, chance of a false alarm at most 0.004"])


def test_the_options_and_the_marker_are_listed(pytester: pytest.Pytester) -> None:
    told = pytester.runpytest_inprocess("--help").stdout
    told.fnmatch_lines(["*audits of privacy and utility*", "*--dpaudit-trials=*"])
    told.fnmatch_lines(["*dpaudit_trials (string)*"])
    pytester.runpytest_inprocess("--markers").stdout.fnmatch_lines(["@pytest.mark.dpaudit(trials, *"])


MANY = """
import sys

@pytest.mark.dpaudit(trials=1000)
@pytest.mark.parametrize("i", range(3))
def test_many(assert_private, i):
    assert_private(response, [(0, 1)], epsilon=1.2, seed=i)
    assert not {"sklearn", "matplotlib", "pandas", "dpaudit.report"} & set(sys.modules)
"""


def test_many_small_audits_load_no_library_that_they_do_not_need(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MECHANISMS + MANY)
    result = pytester.runpytest_subprocess(*QUIET)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["dpaudit: 3 audits, chance of a false alarm at most 0.003"])

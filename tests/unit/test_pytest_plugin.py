"""The fixture that other people's suites use."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

SUITE = """
def response(bit, rng):
    return bit if rng.random() < 0.75 else 1 - bit

def test_true_claim(assert_private):
    assert assert_private(response, [(0, 1)], epsilon=1.2).verdict == "consistent"

def test_false_claim(assert_private):
    assert_private(response, [(0, 1)], epsilon=0.5)

def test_false_claim_by_bets(assert_private):
    assert_private(response, [(0, 1)], epsilon=0.5, sequential=True)
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(SUITE)
    return pytester


def test_a_false_claim_fails_the_test_with_its_witness(suite: pytest.Pytester) -> None:
    result = suite.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:xdist")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*not (0.5, 0)-private: epsilon >= * at confidence 0.999*", "*event: output in {*}*"])
    result.stdout.fnmatch_lines(["*[0-9] of [0-9]* runs against [0-9]* of [0-9]*", "*pair 0: 0 and 1*", "*seed 0*"])
    # Bets are on no single event, so there are no counts to tell.
    result.stdout.fnmatch_lines(["*event: no single event: bets on * runs of this pair*"])
    assert "None of None" not in result.stdout.str()
    assert "audit_privacy(" not in result.stdout.str()


def test_what_limits_a_finding_is_a_warning_of_the_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_half_of_it(assert_private):
            assert_private(lambda bit, rng: bit if rng.random() < 0.75 else 1 - bit, [(0, 1), (1, 1)], epsilon=1.5)
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:xdist")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*UserWarning: dpaudit: pair 1: both inputs are the same, so it can show no leak*"])


NOTHING = """
import pytest
import dpaudit

def constant(bit, rng):
    return 7

def test_nothing(assert_private):
    assert_private(constant, [(0, 1)], epsilon=1.0)

def test_allowed(assert_private):
    assert assert_private(constant, [(0, 1)], epsilon=1.0, allow_no_evidence=True).verdict == "no evidence"

def test_refuted_all_the_same(assert_private):
    assert_private(lambda bit, rng: bit, [(0, 1)], epsilon=1.0, allow_no_evidence=True)

def test_misspelt(assert_private):
    told = "no argument 'allow_no_evidnce', but allow_no_evidence, epsilon, .*; did you mean allow_no_evidence"
    with pytest.raises(dpaudit.InputError, match=told):
        assert_private(constant, [(0, 1)], epsilon=1.0, allow_no_evidnce=True)
"""


def test_no_evidence_fails_the_test_unless_it_is_allowed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(NOTHING)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:xdist", "--junitxml=found.xml")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["*no evidence (allow_no_evidence=True lets it pass), because*", "*had one outcome*"])
    assert "no evidence (allow_no_evidence=True lets it pass)" in (pytester.path / "found.xml").read_text()


def test_the_options_are_listed(suite: pytest.Pytester) -> None:
    suite.runpytest_subprocess("--help").stdout.fnmatch_lines(["*privacy audits*", "*--dpaudit-trials=*"])

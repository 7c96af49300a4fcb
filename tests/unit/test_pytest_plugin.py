"""The fixtures, the marker and the options that other people's suites use."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from forked import USUAL, ran

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
    assert_private(response, [(0, 1)], epsilon=0.5, execution=dpaudit.Execution(sequential=True))

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


GIVEN = """
import dpaudit
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings, strategies as st

# On a busy machine it is slow to draw, which is no fault of a strategy.
settings.register_profile("busy", suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
AUDITED = []

def audit(assert_private, scale, epsilon=1.0, **more):
    AUDITED.append(scale)
    def noisy(data, rng):
        return round(sum(data) + rng.laplace(scale=scale), 3)
    return assert_private(noisy, [([1, 0], [0, 0])], epsilon=epsilon, trials=1_000, **more)
"""
RIGHT = """
@settings(max_examples=3, deadline=200, database=None, derandomize=True)
@given(scale=st.floats(1.5, 3.0))
def test_right(assert_private, scale):
    audit(assert_private, scale)
"""
WRONG = """
@settings(max_examples=50, deadline=None, database=None, derandomize=True)
@given(scale=st.floats(0.05, 0.3), data=st.data())
def test_wrong(assert_private, scale, data):
    data.draw(st.lists(st.integers()))
    audit(assert_private, scale)
"""
SOMETIMES = """
@settings(max_examples=50, deadline=None, database=None, derandomize=True)
@given(scale=st.floats(0.2, 3.0).filter(lambda scale: not 0.4 < scale < 1.5))
def test_sometimes(assert_private, scale):
    audit(assert_private, scale)
    print("kept", scale)
"""
AFTERWARDS = """
@settings(max_examples=50, deadline=None, database=None, derandomize=True)
@given(scale=st.floats(2.0, 3.0))
def test_afterwards(assert_private, scale):
    first = audit(assert_private, scale)
    second = audit(assert_private, scale, seed=1)
    assert first.seed == second.seed
"""
CAUGHT = """
@settings(max_examples=5, deadline=None, database=None, derandomize=True)
@given(scale=st.floats(0.05, 0.3))
def test_caught(assert_private, scale):
    with pytest.raises(pytest.fail.Exception):
        audit(assert_private, scale)
"""
EXPLICIT = """
@example(scale=2.0)
@example(scale=0.1)
@settings(max_examples=5, deadline=None, database=None, derandomize=True)
@given(scale=st.floats(2.0, 3.0))
def test_explicit(assert_private, scale):
    audit(assert_private, scale)
"""
NO_EVIDENCE = """
@settings(max_examples=20, deadline=None, database=None, derandomize=True)
@given(number=st.integers(0, 5))
def test_constant(assert_private, number):
    assert_private(lambda data, rng: number, [([1], [0])], epsilon=1.0, trials=300)
"""
BAD_INPUT = """
@settings(max_examples=20, deadline=None, database=None, derandomize=True)
@given(scale=st.floats(2.0, 3.0), epsilon=st.sampled_from([-1.0, 2.0]))
def test_bad(assert_private, scale, epsilon):
    audit(assert_private, scale, epsilon)
"""
GIVEN_UTILITY = """
@settings(max_examples=20, deadline=None, database=None, derandomize=True)
@given(beta=st.floats(0.001, 0.01))
def test_useless(assert_utility, beta):
    learner = dpaudit.pac.get_learner("point-exponential", domain_size=4, epsilon=1.0)
    assert_utility(learner, 1, "uniform", alpha=0.2, beta=beta, n=1, trials=200)
"""


# Of the interpreter that runs them: what these tests are about is not what is loaded.
LOADED = (*USUAL, "pytest", "hypothesis.strategies", "dpaudit.audit.audit", "dpaudit.audit.sequential_design")


def run_given(pytester: pytest.Pytester, code: str) -> pytest.RunResult:
    """Run a test inside `@given` with the plugin of hypothesis, which looks at the scope of fixtures."""
    pytest.importorskip("hypothesis")
    pytester.makepyfile(GIVEN + code + "\ndef test_last():\n    print('audited', len(AUDITED), *AUDITED)\n")
    words = ("-p", "no:cacheprovider", "-p", "no:xdist", "-rP", "-W", "ignore")
    done = ran("-m", "pytest", *words, cwd=pytester.path, modules=LOADED)
    return pytest.RunResult(done.returncode, done.stdout.splitlines(), done.stderr.splitlines(), 0.0)


def test_a_right_mechanism_passes_inside_given(pytester: pytest.Pytester) -> None:
    result = run_given(pytester, RIGHT)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*dpaudit: 3 audits, chance of a false alarm at most 0.003*"])


@pytest.mark.parametrize(
    ("code", "audits"), [
        pytest.param(WRONG, 1, id="wrong"),
        pytest.param(AFTERWARDS, 2, id="afterwards"),
        pytest.param(NO_EVIDENCE, 1, id="no evidence", marks=pytest.mark.full),  # fails as what is wrong does
    ],
)
def test_the_first_example_that_fails_is_the_last_one_audited(
    pytester: pytest.Pytester, code: str, audits: int
) -> None:
    """Without this, hypothesis makes the example smaller by hundreds of audits."""
    result = run_given(pytester, code)
    result.assert_outcomes(passed=1, failed=1)
    told = f"{audits} audit{'s' if audits > 1 else ''}, chance of a false alarm at most 0.00{audits}"
    result.stdout.fnmatch_lines([f"*dpaudit: {told}*"])
    text = result.stdout.str()
    assert "Flaky" not in text
    assert "Unreliable" not in text
    if audits == 1:
        result.stdout.fnmatch_lines(["*hypothesis: the first example that failed; it is not made smaller*"])


def test_the_example_that_is_shown_is_one_that_was_audited_and_failed(pytester: pytest.Pytester) -> None:
    result = run_given(pytester, SOMETIMES)
    result.assert_outcomes(passed=1, failed=1)
    text = result.stdout.str()
    shown = float(text.split("scale=")[-1].split(",")[0])
    assert shown <= 0.4
    audited = [float(word) for word in text.split("audited ")[-1].split("\n")[0].split()[1:]]
    assert shown in audited
    # Examples that kept the claim before it, and the runs of the one that failed: none after it.
    failing = audited.index(shown)
    assert all(scale >= 1.5 for scale in audited[:failing])
    errors = int(text.split("dpaudit: ")[-1].split(" audit")[0])
    assert errors == failing + 1


def test_a_failure_that_the_test_expects_ends_nothing(pytester: pytest.Pytester) -> None:
    result = run_given(pytester, CAUGHT)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*dpaudit: 5 audits, chance of a false alarm at most 0.005*"])


def test_explicit_examples_are_audited_each(pytester: pytest.Pytester) -> None:
    result = run_given(pytester, EXPLICIT)
    result.assert_outcomes(passed=1, failed=1)
    assert "scale=0.1" in result.stdout.str()
    result.stdout.fnmatch_lines(["*VIOLATION *"])


def test_bad_input_in_an_example_is_bad_input(pytester: pytest.Pytester) -> None:
    result = run_given(pytester, BAD_INPUT)
    result.assert_outcomes(passed=1, failed=1)
    text = result.stdout.str()
    assert "InputError: epsilon must be" in text
    assert "Flaky" not in text


def test_an_audit_of_utility_inside_given(pytester: pytest.Pytester) -> None:
    result = run_given(pytester, GIVEN_UTILITY)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*dpaudit: 1 audit, chance of a false alarm at most 0.001*"])


def test_a_fixture_of_a_module_may_audit(pytester: pytest.Pytester) -> None:
    code = """
@pytest.fixture(scope="module")
def finding(assert_private):
    return assert_private(response, [(0, 1)], epsilon=1.2)

def test_first(finding): assert finding.verdict == "consistent"
def test_second(finding): assert finding.verdict == "consistent"
"""
    result = run(pytester, code, FEW)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["dpaudit: 1 audit, chance of a false alarm at most 0.001"])


CRASHES = """
import os
import pytest
from dpaudit.errors import ToolFault

def leaves(data, rng):
    if data and rng.random() < 0.05:
        os._exit(0)
    return data + rng.laplace()

def test_it(assert_private):
    with pytest.raises(ToolFault, match=r"leaves ended its process \\(exit status 0\\), on 1"):
        assert_private(leaves, [(0, 1)], epsilon=1.0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_a_mechanism_that_ends_its_process_does_not_end_the_session(pytester: pytest.Pytester) -> None:
    run(pytester, CRASHES, FEW).assert_outcomes(passed=1)


FAMILY = """
def confidence(assert_private):
    finding = assert_private(response, [(0, 1)], epsilon=1.2, allow_no_evidence=True)
    return finding.confidence

@pytest.mark.parametrize("number", range(3))
def test_one_audit(assert_private, number):
    assert abs(1 - confidence(assert_private) - 0.1 / 5 / 2) < 1e-12

def test_two_audits(assert_private):
    assert abs(1 - confidence(assert_private) - 0.1 / 5 / 2) < 1e-12
    assert abs(1 - confidence(assert_private) - 0.1 / 5 / 6) < 1e-12

@pytest.fixture
def audited(assert_private):
    return assert_private(response, [(0, 1)], epsilon=0.5, confidence=0.9999, allow_no_evidence=True)

def test_a_violation_is_found_by_a_fixture(audited):
    pass

def test_no_audit():
    pass

def test_not_counted(request):
    request.getfixturevalue("assert_private")(response, [(0, 1)], epsilon=1.2)
"""
IN_ALL = "[pytest]\ndpaudit_family_wise = true\ndpaudit_confidence = 0.9\n"


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_family_divides_the_error_among_the_tests(pytester: pytest.Pytester, workers: tuple[str, ...]) -> None:
    pytester.makeini(IN_ALL)
    pytester.makepyfile(MECHANISMS + FAMILY)
    if workers:
        pytest.importorskip("xdist")
        result = pytester.runpytest_subprocess(*QUIET[:2], *QUIET[4:], *workers, FEW)
    else:
        result = pytester.runpytest_inprocess(*QUIET, FEW)
    result.assert_outcomes(passed=5, failed=1, errors=1)
    result.stdout.fnmatch_lines(["*test_not_counted does not*"])
    # Four halves of a fifth, a sixth of one, and the audit with a smaller error of its own.
    result.stdout.fnmatch_lines(["dpaudit: 6 audits, chance of a false alarm at most 0.04343333333*"])

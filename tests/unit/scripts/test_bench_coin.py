"""The count of false accusations: its mechanisms are private at the boundary, given the past, and its table adds up."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from bench_scripts import script
from scipy import stats

bench = script("benchmarks.coin")
RUNS = 40_000


@pytest.mark.parametrize("name", [n for n in bench.NAMES if n not in ("cycle", "warm-up", "drift", "stops once ahead")])
def test_the_greatest_ratio_is_the_claim(name: str) -> None:
    case = next(case for case in bench.CASES if case.name == name)
    if not case.batched:
        case = next(case for case in bench.CASES if case.name == "randomised response")
    rng = np.random.default_rng(0)
    mechanism = case.make(bench.EPSILON, RUNS)
    outputs = np.concatenate([mechanism(x, rng, RUNS) for x in (1, 0)])
    if name == "answers among noise":
        outputs = np.where(outputs < 2, -1, outputs)  # numbers of a continuum, whose law does not depend on the input
    values, which = np.unique(outputs, return_inverse=True)
    p, q = (np.bincount(side, minlength=len(values)) / RUNS for side in np.split(which, 2))
    # The event of the answers likelier on 1, without the leak: 7 standard deviations, below 1e-11.
    for one, other in ((p, q), (q, p)):
        event = one > other * 1.02
        if not event.any() or (name.startswith("one event") and one is q):
            continue
        a, b = one[event].sum(), other[event].sum()
        error = math.sqrt(a * (1 - a) / RUNS / (a - case.delta) ** 2 + (1 - b) / RUNS / b)
        assert math.log((a - case.delta) / b) < bench.EPSILON + 7 * error
        assert math.log((a - case.delta) / b) > bench.EPSILON - 7 * error


@pytest.mark.parametrize("how", ["drift", "warm-up", "cycle"])
def test_what_changes_over_calls_does_not_depend_on_the_input(how: str) -> None:
    marks = []
    for data in (0, 1):
        mechanism = bench.Drift(1.0, how)
        outputs = mechanism(data, np.random.default_rng(1), 3_000)
        assert mechanism.made == 3_000
        marks.append(outputs // 10)
        assert set(np.unique(outputs % 10)) == {0, 1}
    np.testing.assert_array_equal(*marks)
    assert len(np.unique(marks[0])) > 1


def test_answers_stop_ahead_and_each_is_private_given_the_past() -> None:
    rng, chance = np.random.default_rng(2), bench.truthful(1.0)
    ended, truths, answers = 0, 0, 0
    for _ in range(60):
        mechanism = bench.Stops(1.0, 10)
        for _ in range(300):
            before = (mechanism.answers, mechanism.truths)
            output = mechanism(1, rng)
            if output == -1:
                # The past alone decides it: what came before does not change any more.
                assert (mechanism.answers, mechanism.truths) == before
            else:
                truths, answers = truths + output, answers + 1
        ended += output == -1
    assert ended > 10
    # Answers are as truthful as ever: two-sided, false alarm 1e-7; stopping moves the share by less than its error.
    assert stats.binomtest(truths, answers, chance).pvalue > 1e-7


def test_the_table_and_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--audits", "3", "--trials", "200", "--gammas", "0.05", "--only", "randomised response"]
    assert bench.main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines[0].split("|")) == len(lines[2].split("|")) == len(bench.HEADS) + 2
    assert sum(line.startswith("| randomised response") for line in lines) == 2
    assert "of 3 audits accuse" in lines[-1]
    bench.main([*words, "--designs", "fixed", "--json"])
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["audits"], found["powered"]) == (3, 1)


def test_limits_and_p_values() -> None:
    line = bench.Line("a", "fixed", 0.05, 100, 5, 0, 10, 9, 1.0)
    assert line.limits == pytest.approx((stats.beta.ppf(0.025, 5, 96), stats.beta.ppf(0.975, 6, 95)), abs=1e-6)
    assert line.p_value == pytest.approx(stats.binom.sf(4, 100, 0.05))
    assert bench.cells(line)[5:] == ["5.00 %", "1.64 to 11.28 %", "0", "9 of 10", "90 %"]
    assert bench.total([line]) == [
        "fixed, gamma 0.05: 5 of 100 audits accuse (5.00 %); 9 of 10 find 1.3 times the epsilon (90 %)."
    ]

"""The script on audits in one run: its cases are exactly as private as said, its rules agree where they must."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench_scripts import script

from dpaudit.bounds.tangent import gaussian_delta

bench = script("benchmarks.one_run")
auditors = script("benchmarks.one_run_auditors")


def test_responses_are_right_as_often_as_epsilon_allows() -> None:
    scores, coins = bench.responses(1.0, 40_000, np.random.default_rng(0))
    assert ((scores > 0) == coins).mean() == pytest.approx(1 / (1 + math.exp(-1)), abs=0.01)
    scores, coins = bench.leak(0.03, 40_000, np.random.default_rng(0))
    assert (np.abs(scores) > 0.5).mean() == pytest.approx(0.03, abs=0.004)


def test_the_epsilon_of_gaussian_scores_is_that_of_their_curve() -> None:
    assert float(gaussian_delta(1.0, bench.gaussian_epsilon(1.0))) == pytest.approx(bench.DELTA, rel=1e-6)
    assert bench.gaussian_epsilon(1.0) == pytest.approx(4.38, abs=0.01)


def test_choosing_the_largest_bound_is_never_below_a_rule_that_accounts_for_it() -> None:
    scores, coins = bench.gaussians(2.0, 100, np.random.default_rng(3))
    walk, *others = bench.by_rules(scores, coins, 0.05)
    assert auditors.unadjusted(scores, coins, 0.05) >= walk > 0
    assert len(others) == len(bench.RULES) - 1


def test_the_table_of_levels_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["level", "--level-audits", "3", "--canaries", "50"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9
    assert lines[1].split()[:4] == ["1", "0", "50", "0.05"]


def test_half_right_guesses_are_no_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["chance"]) == 0
    rows = [row.split() for row in capsys.readouterr().out.splitlines() if "0.0000" in row]
    assert [row[:3] for row in rows] == [["100", "10", "5"], ["1,000", "100", "50"]]

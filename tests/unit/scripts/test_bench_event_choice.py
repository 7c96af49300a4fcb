"""The luck of the choice: ten mechanisms with the epsilon that they are said to have, and how bounds are spread."""

from __future__ import annotations

import json
import math
import sys
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from bench_scripts import script

bench = script("benchmarks.event_choice")
CASES = {case.name: case for case in bench.cases()}


def test_there_are_ten_and_each_has_two_pairs() -> None:
    assert len(CASES) == 10
    assert all(len(case.pairs) == 2 for case in CASES.values())


def test_opendp_is_audited_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    assert bench.opendp_laplace() == (bench.NaiveLaplace(1.0), True)
    prelude = MagicMock()
    monkeypatch.setitem(sys.modules, "opendp", prelude)
    monkeypatch.setitem(sys.modules, "opendp.prelude", prelude)
    assert bench.opendp_laplace() == (prelude.m.make_laplace.return_value, False)
    assert prelude.m.make_laplace.call_args.kwargs == {"scale": 1.0}


@pytest.mark.parametrize("name", ["exponential", "response"])
def test_the_epsilon_of_a_choice_is_that_of_its_frequencies(name: str) -> None:
    case, rng = CASES[name], np.random.default_rng(0)
    for pair in case.pairs:
        less, more = (np.bincount(case.mechanism(data, rng, 50_000), minlength=10) for data in pair)
        seen = less > 0
        # Its standard error is 0.02; the seed is fixed.
        assert np.abs(np.log(more[seen] / less[seen])).max() == pytest.approx(case.exact, abs=0.1)


def test_the_noise_of_numbers_has_scale_one() -> None:
    rng = np.random.default_rng(1)
    for name in ("geometric", "tuple of five"):
        outputs = np.array([np.ravel(output)[-2:][0] for output in CASES[name].mechanism(1, rng, 50_000)])
        # Pr[noise >= 1] is at least exp(-1) times Pr[noise >= 0], and equal to it for both laws.
        assert (outputs >= 2).mean() / (outputs >= 1).mean() == pytest.approx(math.exp(-1), abs=0.02)


def test_the_spread_of_bounds() -> None:
    bounds = (0.5, *(1.0 + i / 100 for i in range(19)))
    spread = bench.Spread("a", 1.0, bounds[::-1], 3)
    assert spread.median == pytest.approx(1.085)
    assert spread.worst == pytest.approx((0.5 + 1.0) / 2)
    assert spread.tenth == pytest.approx(np.quantile(bounds, 0.1))
    assert spread.ratio == pytest.approx(spread.tenth / spread.median)
    assert bench.in_columns(spread).endswith("3 of 20      ok")
    nothing = bench.Spread("b", 1.0, (0.0, 0.0, 1.0), 0)
    assert nothing.ratio == 0
    assert bench.in_columns(nothing).endswith("BELOW")


@pytest.mark.full
def test_the_table_has_a_line_for_each_mechanism(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--seeds", "2", "--runs", "500", "--only", "response", "geometric"]
    status = bench.main(words)
    lines = capsys.readouterr().out.splitlines()
    assert [text.split()[0] for text in lines[1:]] == ["mechanism", "response", "geometric"]
    assert status == int(any(text.endswith("BELOW") for text in lines))
    bench.main([*words, "--json"])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert [len(spread["bounds"]) for spread in found] == [2, 2]

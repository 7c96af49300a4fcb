"""The table of sample complexities: its cases, and a line of it."""

from __future__ import annotations

from typing import Any

from bench_scripts import script

bench = script("benchmarks.sample_complexity")


def test_every_honest_learner_is_a_case_and_no_control() -> None:
    cases = list(bench.cases([]))
    ids = {case[0] for case in cases}
    assert {"point-exponential", "parity-private", "conjunction-greedy"} <= ids
    assert not any(id.startswith("broken") for id in ids)
    assert len(cases) == len({repr(case) for case in cases})


def test_a_line_says_both_ends_and_the_reason(capsys: Any) -> None:
    assert bench.main(["interior-point-exponential"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 4  # the heads, the instance and two sizes of the reference report
    assert "183" in out[-1]
    assert "184  certificate" in out[-1]
    assert "<=" not in out[-1]

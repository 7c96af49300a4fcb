"""The table of power: rows leak what they say, searches find what they can, and a part of the page is written alone."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from bench_scripts import script

import dpaudit
from dpaudit.bounds.limits import lower_limit, upper_limit

bench = script("benchmarks.power")
baselines = script("benchmarks.power_baselines")
ROWS = (*bench.OPEN, *bench.held_out())
# With 60 rows of two limits on two sides each, one of all seeds in a thousand is outside; the seed is fixed.
ERROR = 1e-3 / 240


def frequency(row: Any, side: int, runs: int) -> int:
    rng = np.random.default_rng([7, side])
    return sum(row.event(output) for chunk in bench.outputs(row, side, rng, runs) for output in chunk)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_known_event_has_the_ratio_of_the_exact_epsilon(row: Any) -> None:
    runs = 6_000 if row.kind == "rare atom" else 600
    less, more = frequency(row, 0, runs), frequency(row, 1, runs)
    if math.isinf(row.epsilon):
        assert less == 0 < more
    else:
        least = lower_limit(more, runs, ERROR) / upper_limit(less, runs, ERROR)
        most = upper_limit(more, runs, ERROR) / lower_limit(less, runs, ERROR)
        assert least < math.exp(row.epsilon) < most


def test_there_are_sixty_rows_and_each_has_a_name_and_a_sentence_of_its_own() -> None:
    assert (len(bench.OPEN), len(ROWS)) == (40, 60)
    assert len({row.name for row in ROWS}) == len({row.leak for row in ROWS}) == 60
    assert all(row.leak.endswith(".") and row.epsilon > 0.6 for row in ROWS)


def test_outputs_are_flattened_or_refused() -> None:
    assert baselines.flattened([(1, [2.5, True]), (0, [1.0, False])]).tolist() == [[1, 2.5, 1], [0, 1, 0]]
    assert baselines.flattened([np.eye(2), np.zeros((2, 2))]).shape == (2, 4)
    for outputs in (["a", "b"], [[1.0], [1.0, 2.0]], [math.nan, 1.0], [None, 1], [{"a": 1}] * 2, [1j, 2j]):
        assert baselines.flattened(outputs) is None


@pytest.mark.parametrize("name", ["logistic", "boxes"])
@pytest.mark.parametrize("sign", [1, -1])
def test_searches_find_a_shift_and_nothing_where_nothing_is(name: str, sign: int) -> None:
    rng = np.random.default_rng(3)

    def sides() -> tuple[Any, Any]:
        first, second = rng.laplace(size=(2, 4_000, 3))
        second[:, 1] += sign
        return first, second

    event = baselines.SEARCHES[name](*sides())
    first, second = sides()
    hits = np.array([event.holds(side).sum() for side in ((first, second) if event.forward else (second, first))])
    assert 0.8 < bench.lower(hits, 4_000) < 1.0
    assert bench.lower(np.array([50, 50]), 100) == 0.0


def test_boxes_find_a_value_and_two_coordinates_together() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.integers(0, 4, (2, 3_000, 2)).astype(float)
    second[rng.random(3_000) < 0.5] = 2
    event = baselines.box_search(first, second)
    assert event.forward
    assert sorted(event.holds.limits) == [(0, 2, 2), (1, 2, 2)]


@pytest.mark.full
def test_a_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--only", "noisy count", "key order", "--runs", "300"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["name", "kind", "exact"]
    assert lines[1].startswith("noisy count")
    assert "n/a" in lines[2]  # the searches take no mapping
    assert lines[6].startswith("known: 2 of 2 at 300 runs")
    assert bench.main(["--held-out", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 20


def test_what_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="no such rows: nothing"):
        bench.main(["--only", "nothing"])
    for words in (["--write", "--only", "stream"], ["--runs", "1"]):
        with pytest.raises(SystemExit):
            bench.main(words)


def test_a_refusal_and_a_fault_stand_in_the_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--only", "key order", "--runs", "100"]
    for error, status, told in ((dpaudit.InputError("a\nb"), 0, "refused"), (ZeroDivisionError("c"), 1, "error")):
        monkeypatch.setattr(dpaudit, "audit_privacy", Mock(side_effect=error))
        assert bench.main(words) == status
        printed = capsys.readouterr()
        assert told in printed.out.splitlines()[1]
        assert ("key order: a b" if status == 0 else "ZeroDivisionError: c") in printed.err


def test_each_part_of_the_page_is_written_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = next(row for row in bench.OPEN if row.name == "key order")
    monkeypatch.setattr(bench, "OPEN", (row,))
    monkeypatch.setattr(bench, "held_out", lambda: (row,))
    monkeypatch.setattr(bench, "by_audit", lambda *arguments: "none")
    monkeypatch.setattr(bench, "PAGE", tmp_path / "power.md")
    for words in (["--seed", "5"], ["--held-out", "--seed", "6"], ["--seed", "7"]):
        assert bench.main(["--runs", "100", "--write", *words]) == 0
    text = (tmp_path / "power.md").read_text()
    assert [part in text for part in ("seed 5.", "seed 6.", "seed 7.")] == [False, True, True]
    assert text.index("## Open") < text.index("seed 7.") < text.index("## Held out") < text.index("seed 6.")
    assert text.count("| key order | dict | 2.0000 | none | n/a | n/a |") == 2
    assert f"* key order (dict): {row.leak}" in text

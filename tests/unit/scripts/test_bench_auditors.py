"""The literature's benchmark: optima beside medians, rows of absent packages, and what the rows amount to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bench_scripts import script
from benchmark import Benchmark

bench = script("benchmarks.auditors")


def result(name: str, bounds: list[float], optimum: float | None = 0.5, floor: float | None = None) -> dict[str, Any]:
    median = sorted(bounds)[len(bounds) // 2]
    return {
        "name": name, "claimed_epsilon": 1.0, "delta": 0.0, "true_epsilon": 1.0, "optimum": optimum,
        "standard_error": 0.1, "two_sets": 0.55, "ceilings": [0.5, 0.45, 0.4],
        "reached": median, "least": min(bounds), "bounds": bounds,
        "of_optimum": median / optimum if optimum else None, "above_truth": 0, "best_peer": None, "floor": floor,
        "met": None, "seconds": 1.0, "trials": 100, "seeds": len(bounds),
    }  # fmt: skip


def test_what_the_rows_amount_to() -> None:
    rows = [result("a", [0.4, 0.45, 0.5], floor=0.46), result("b", [0.0, 0.55, 0.6]), result("c", [3.0], None)]
    assert bench.summary(rows) == [
        "Medians below their floor: a (0.4500 of 0.46).",
        "Worst seeds below the optimum less 4 of its standard errors: b (0.0000 of 0.1000).",
        "Rows with a bound of 0: b (1).",
        "Mean of the medians' shares of the optimum: 100.0 %, 2 rows.",
        "The same mean if the best sets were known and only confirmed, by the runs that training leaves, where 1, 2, 5"
        " tests share the error: 100.0, 90.0, 80.0 %.",
    ]
    assert all(line.endswith(("none.", "-.")) for line in bench.summary([result("c", [3.0], None)]))
    page = bench.document(rows, 100, range(3))
    assert "| b | 0 | 1.0000 | 0.5000 | 0.1000 | 0.5500 | 0.5500 | 0.0000 | 110 | - | - | 1.0 |" in page
    assert all(f"* {sentence}" in page for sentence in bench.summary(rows))


def test_absent_packages_are_named_and_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    absent = Benchmark("absent", None, (0, 1), 1.0, 1.0, None, requires="no_such_package")
    present = next(row for row in bench.BENCHMARKS if row.name == "Counts")
    monkeypatch.setattr(bench, "BENCHMARKS", (absent, present))
    assert bench.main(["--trials", "2000", "--out", str(tmp_path / "page.md")]) == 0
    said = capsys.readouterr()
    assert "absent: left out, no_such_package is not installed" in said.err
    assert "Counts" in said.out
    assert "absent" not in (tmp_path / "page.md").read_text()

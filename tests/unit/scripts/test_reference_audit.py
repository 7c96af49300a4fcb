"""The reference report: its parts, resuming, the total on its page, and the same bytes each time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bench_scripts import script

from dpaudit.evidence.verification import verify_run

reference_audit = script("writers.reference")

SIZES = (
    ("point-exponential", {"domain_size": 3, "epsilon": 1.0}, 0.2, 0.2),
    ("parity-private", {"dimension": 2, "epsilon": 1.0}, 0.2, 0.7),
)
LAWS = (("parity-private", "dimension", (1, 2, 3, 4, 5, 6), {"alpha": 0.2, "beta": 0.6, "epsilon": 1.0}),)
SMALL = ["--profile", "quick", "--jobs", "1"]


@pytest.fixture(autouse=True)
def few_cases(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Measure few cases, and note which are measured."""
    measured: list[str] = []

    def noted(seed: int, id: str, *rest: Any) -> dict[str, Any]:
        measured.append(id)
        finding = {"alpha": 1, "beta": 1, "lower": 4, "upper": 5, "reason": "theorem", "theorem": 9, "missing": ""}
        return {"learner": id, "parameters": rest[0], "finding": {**finding, "seed": seed}}

    monkeypatch.setitem(reference_audit.MEASURED, "sizes", (SIZES, noted))
    monkeypatch.setitem(reference_audit.MEASURED, "laws", (LAWS, reference_audit.measured_law))
    return measured


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.suffix != ".lock"}


@pytest.mark.full
def test_the_parts_make_the_same_bytes_in_any_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert reference_audit.main([*SMALL, "--out", str(whole), "point-consistent"]) == 0
    for part in ("audits", "laws", "sizes"):
        assert reference_audit.main([*SMALL, "--out", str(parts), "--part", part, "point-consistent"]) == 0
    assert contents(whole) == contents(parts)
    assert {"index.html", "sizes.json", "laws.json", "run.jsonl", "report.html"} <= set(contents(whole))
    total = verify_run(whole).total
    assert len(total) == 64
    assert (whole / "index.html").read_text(encoding="utf-8").count(total) == 2
    told = capsys.readouterr().err
    assert [line.split(":")[0] for line in told.splitlines() if line.endswith(" min")].count("audits") == 2


def test_what_was_measured_is_not_measured_again(tmp_path: Path, few_cases: list[str]) -> None:
    given = [*SMALL, "--out", str(tmp_path), "--part", "sizes"]
    reference_audit.main(given)
    assert sorted(few_cases) == ["parity-private", "point-exponential"]
    told = (tmp_path / "sizes.json").read_bytes()
    # As if it had been interrupted after the first case.
    (tmp_path / "sizes.json").unlink()
    first = {json.dumps(SIZES[0]): json.loads(told)[0]}
    (tmp_path / "sizes.unfinished.json").write_text(json.dumps(first), encoding="utf-8")
    few_cases.clear()
    reference_audit.main([*given, "--resume"])
    assert few_cases == ["parity-private"]
    assert (tmp_path / "sizes.json").read_bytes() == told
    assert not (tmp_path / "sizes.unfinished.json").exists()
    few_cases.clear()
    reference_audit.main([*given, "--resume"])
    assert few_cases == []
    reference_audit.main(given)
    assert len(few_cases) == 2

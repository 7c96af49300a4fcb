"""``dpaudit sensitivity``: the verdict, the line at fault, every format, and the messages of bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpaudit import RecordedFinding, SensitivityFinding
from dpaudit.app import main
from dpaudit.app.options import DRAWN

CODE = """
def total(data):
    return float(sum(min(max(x, 0), 100) for x in data["age"] if x == x))

def noisy(data, rng):
    return total(data) + rng.laplace(scale=1.0)

def failing(data):
    return data["weight"]

def elsewhere(data):
    import random
    return total(data) + random.SystemRandom().random()

PAIRS = [({"age": [3]}, {"age": [3, 90]})]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ages.py").write_text(CODE)
    rows = "\n".join(str(20 + 3 * i % 70) for i in range(30))
    (tmp_path / "ages.csv").write_text(f"age\n{rows}\n")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = main(["sensitivity", *words])
    shown = capsys.readouterr()
    return status, " ".join((shown.out + shown.err).split())


def test_a_function_is_held_to_its_claim(capsys: pytest.CaptureFixture[str]) -> None:
    status, shown = run(capsys, "ages.py:total", "--data", "ages.csv", "--bounds", "0,100", "--claim", "100")
    assert status == 0
    assert shown.startswith("NOT REFUTED ages.py:total claims sensitivity 100.0, moves 100.0 on a pair of neighbours")
    status, shown = run(capsys, "ages.py:total", "--data", "ages.csv", "--bounds", "0,100", "--claim", "99")
    assert status == 1
    assert "VIOLATION" in shown
    status, shown = run(capsys, "ages.py:total", "--claim", "1")
    assert status == 1
    assert "moves 90.00" in shown or "moves 100.0" in shown


def test_the_line_of_a_wrong_sensitivity_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    status, shown = run(capsys, "ages.py:noisy", "--data", "ages.csv", "--bounds", "0,100", "--claim", "1")
    assert status == 1
    assert "VIOLATION ages.py:noisy adds noise for a sensitivity that is wrong" in shown
    assert "ages.py, line 6: moves 100.0 in L1, 1.000 is declared (Generator.laplace, scale 1.000)" in shown
    status, shown = run(capsys, "ages.py:noisy", "--data", "ages.csv", "--bounds", "0,100", "--epsilon", "1")
    assert status == 1
    assert "loses ε ≥ 100.0 by one noisy value" in shown or "loses epsilon >= 100.0 by one noisy value" in shown


def test_what_is_not_covered_is_no_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    status, shown = run(capsys, "ages.py:elsewhere", "--data", "ages.csv", "--claim", "1")
    assert status == 3
    assert "NO EVIDENCE" in shown
    assert "randomness that is not recorded" in shown
    assert run(capsys, "ages.py:elsewhere", "--data", "ages.csv", "--claim", "1", "--allow-no-evidence")[0] == 0


@pytest.mark.parametrize("suffix", DRAWN)
def test_every_format_is_written(suffix: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / f"found{suffix}"
    run(capsys, "ages.py:noisy", "--data", "ages.csv", "--claim", "1", "--out", str(out))
    text = out.read_text()
    assert len(text) > 100
    if suffix != ".svg":
        assert "line 6" in text


def test_json_is_the_finding(capsys: pytest.CaptureFixture[str]) -> None:
    main(["sensitivity", "ages.py:noisy", "--data", "ages.csv", "--claim", "1", "--json"])
    found = json.loads(capsys.readouterr().out)
    found = found[0] if isinstance(found, list) else found
    assert RecordedFinding.from_dict(found["finding"]).wrong_sensitivity
    assert "--claim 1" in found["command"]
    main(["sensitivity", "ages.py:total", "--claim", "1", "--json"])
    found = json.loads(capsys.readouterr().out)
    found = found[0] if isinstance(found, list) else found
    assert SensitivityFinding.from_dict(found["finding"]).metric == "absolute"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ages.py:total"], "--claim must be given: the sensitivity of the function"),
        (
            ["ages.py:failing", "--claim", "1", "--data", "ages.csv"],
            "KeyError (include_data or --include-data shows more)",
        ),
        (["ages.py:failing", "--claim", "1"], "ID must return outputs"),
        (["ages.py:total", "--claim", "x"], "--claim must be a finite number >= 0"),
        (["ages.py:total", "--claim", "1", "--metric", "l7"], "--metric must be one of absolute, l1"),
        (["ages.py:none", "--claim", "1"], "ages.py has no none"),
        (["ages.py:total", "--claim", "1", "--data", "none.csv"], "none.csv"),
        (["ages.py:total", "--claim", "1", "--epsilon", "1"], "--epsilon is a claim of a mechanism with noise"),
        (["ages.py:total", "--claim", "1", "--data", "ages.csv", "--pairs", "ages.py:PAIRS"], "--pairs must be left"),
    ],
)
def test_bad_input_is_named(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, shown = run(capsys, *words)
    assert status == 2
    assert message in shown

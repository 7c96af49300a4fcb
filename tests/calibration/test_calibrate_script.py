"""The script that calibrates: every cell once, results kept, the same document again, nothing broken unmarked."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import auditor_profiles
import pytest
from auditor_cases import BY_NAME
from auditor_profiles import PROFILES, Cell, Profile
from auditor_results import document, markdown
from auditor_trials import Trial

from dpaudit.audit.power import Power

TINY = Profile(1, 4, 1, 1, (BY_NAME["response with leak"],), every=90)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    path = Path(__file__).parents[2] / "scripts" / "calibrate.py"
    spec = importlib.util.spec_from_file_location("calibrate", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo, after each test, what the script leaves out of audits."""
    for name in ("of_test", "of_bets"):
        monkeypatch.setattr(Power, name, getattr(Power, name))


def silent(text: str) -> None:
    pass


def run(script: ModuleType, path: Path) -> dict[str, Any]:
    found: dict[str, Any] = script.calibrate("tiny", TINY, script.Kept(path, "tiny"), 1, silent)
    return found


@pytest.mark.full
def test_a_stopped_calibration_goes_on_and_ends_with_the_same_document(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept.jsonl"
    # Whether the code has changed is another test's question.
    monkeypatch.setattr(script, "code_digest", lambda: "this code")
    whole = run(script, kept)
    lines = kept.read_text().splitlines(keepends=True)
    assert len(lines) == 1 + len(TINY.cells()) + len(whole["mutation"]["controls"]) + len(whole["mutation"]["sound"])
    # All results are there, so that none is made again.
    with monkeypatch.context() as patch:
        patch.setattr(script, "judge", None)
        patch.setattr(script, "audit_learner", None)
        assert run(script, kept) == whole
    # A kill that cut the last line short costs that result alone.
    kept.write_text("".join(lines[:-1]) + lines[-1][:9])
    made: list[str] = []
    again = script.calibrate("tiny", TINY, script.Kept(kept, "tiny"), 1, made.append)
    assert again == whole
    assert len(made) == 2
    assert sorted(kept.read_text().splitlines(keepends=True)) == sorted(lines)


def test_results_of_other_code_are_not_used(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept.jsonl"
    first = script.Kept(kept, "tiny")
    first.add("a cell", 3)
    assert script.Kept(kept, "tiny").results == {"a cell": 3}
    assert script.Kept(kept, "full").results == {}
    first.add("a cell", 3)
    monkeypatch.setattr(script, "code_digest", lambda: "other")
    assert script.Kept(kept, "full").results == {}


@pytest.fixture
def instant_predictions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditor_profiles, "predicted_runs", lambda case, noise: int(1_000 * noise))
    monkeypatch.setattr(auditor_profiles, "predicted_bets", lambda case, noise: int(3_000 * noise))


@pytest.mark.usefixtures("instant_predictions")
def test_every_cell_has_a_key_of_its_own() -> None:
    for profile in PROFILES.values():
        keys = [cell.key for cell in profile.cells()]
        assert len(set(keys)) == len(keys)


@pytest.mark.usefixtures("instant_predictions")
def test_the_full_profile_covers_what_is_promised() -> None:
    null = [cell for cell in PROFILES["full"].null_cells() if cell.trial.design != "given"]
    assert sum(cell.audits for cell in null) >= 2_000
    for name, values in {
        "condition": {"boundary", "swapped", "no signal"},
        "design": {"fixed", "sequential"},
        "pairs": {1, 32},
        "jobs": {1, 2},
    }.items():
        assert {getattr(cell.trial, name) for cell in null} == values
    assert {cell.trial.of.kind for cell in null} == {"discrete", "continuous", "vector", "mixed"}
    assert {cell.trial.of.delta > 0 for cell in null} == {True, False}
    assert PROFILES["full"].every == 1


def toy_document() -> dict[str, Any]:
    """Return a document with a cell that accuses too often, one that detects too seldom, and a planted leak missed."""
    trial = Trial("geometric")
    alternative = Trial("geometric", design="given", noise=0.7)
    cells = [(Cell(trial, 200), 11), (Cell(Trial("bits"), 200), 60), (Cell(alternative, 200, 2_000, 1), 120)]
    learners = {
        "broken-a": {"fault": "leaks", "convicted": False, "lower": 0.1, "claim": 1.0},
        "sound-a": {"fault": None, "convicted": False, "lower": 0.1, "claim": 1.0},
    }
    return document("tiny", cells, learners, {"trials": 3_000, "confidence": 0.999})


def test_rates_beyond_chance_are_marked_and_reported() -> None:
    found = toy_document()
    assert [cell["broken"] for cell in found["false_accusations"]] == [False, True]
    assert found["false_accusations"][0]["p_value"] == pytest.approx(0.4, abs=0.05)
    assert [cell["broken"] for cell in found["power"]] == [True]
    assert found["broken"] == [
        "accuses too often: bits, boundary, fixed, 2,000 runs a side",
        "detects too seldom: geometric, boundary, given, 2,000 runs a side, 30 % less noise",
        "planted leak not detected: broken-a",
    ]
    page = markdown(found)
    assert "| **vector** | **bits** |" in page
    assert "* Broken promise: planted leak not detected: broken-a" in page
    json.dumps(found, allow_nan=False)

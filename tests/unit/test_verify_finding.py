"""The verifier of findings derives bound and verdict from counts, and refuses what does not follow from them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from source_tree import ROOT
from toy_records import privacy_finding, utility_finding

import dpaudit
from dpaudit.app import main
from dpaudit.record import encodable
from dpaudit.verify_finding import checked, of_guesses, verify


def stored(finding: Any, **changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(encodable(finding)))
    return found | changes


def laplace(bit: int, rng: np.random.Generator) -> float:
    return float(bit + rng.laplace())


@pytest.mark.parametrize("epsilon", [0.5, 1.5])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_findings_of_audits_are_right(epsilon: float, delta: float) -> None:
    fixed = dpaudit.Execution(sequential=False)
    finding = dpaudit.audit_privacy(laplace, [(0, 1)], epsilon=epsilon, delta=delta, trials=2000, execution=fixed)
    assert checked(stored(finding)) == ["the power stated"]
    for name, value in (("epsilon_lower", finding.epsilon_lower + 0.1), ("verdict", "consistent"), ("epsilon", 9.0)):
        if getattr(finding, name) != value and not (name == "epsilon" and finding.verdict != "violation"):
            with pytest.raises(ValueError, match="must be"):
                checked(stored(finding, **{name: value}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon_lower", 0.9),
        ("verdict", "violation"),
        ("confidence", 0.99),
        ("errors", {"verdict": 0.01}),
    ],
)
def test_a_privacy_finding_that_was_changed_is_refused(name: str, value: Any) -> None:
    right = stored(privacy_finding("no evidence"))
    assert checked(right) == ["the power stated"]
    with pytest.raises(ValueError, match="must be"):
        checked(right | {name: value})
    status, words = verify(json.dumps(right | {name: value}).encode())
    assert (status, words[:6]) == (1, "wrong:")


@pytest.mark.parametrize("name", ["hits", "neighbour_hits"])
def test_hits_that_its_guesses_cannot_come_from_are_refused(name: str) -> None:
    # 40 of 50 guesses of one side are right: 40 hits at least there, and 10 on the other.
    of_guesses((40, 10), 40, 50)
    # Fair coins stand for ten that are missing.
    of_guesses((35, 5), 40, 50)
    hits = {"hits": (39, 11), "neighbour_hits": (41, 9)}[name]
    with pytest.raises(ValueError, match=f"^{name} must be at least"):
        of_guesses(hits, 40, 50)


@pytest.mark.parametrize(
    ("name", "value"), [("failure_lower", 0.02), ("failure_upper", 0.2), ("failures", 40), ("verdict", "violation")]
)
def test_a_utility_finding_that_was_changed_is_refused(name: str, value: Any) -> None:
    right = stored(utility_finding())
    assert checked(right) == ["whether a claim of utility is vacuous"]
    with pytest.raises(ValueError, match="must be"):
        checked(right | {name: value})


def test_it_runs_alone(tmp_path: Path) -> None:
    path = tmp_path / "finding.json"
    path.write_text(json.dumps(stored(utility_finding())))
    done = subprocess.run([sys.executable, "-P", "-m", "dpaudit.verify_finding", path], capture_output=True, text=True)
    assert (done.returncode, done.stdout[:6]) == (0, "right:"), done.stderr
    path.write_text("[]")
    done = subprocess.run([sys.executable, "-P", "-m", "dpaudit.verify_finding", path], capture_output=True, text=True)
    assert (done.returncode, done.stdout[:12]) == (2, "not readable")


def test_the_command_verifies_findings_and_certificates(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "finding.json"
    for changes, status, said in (
        ({}, 0, "RIGHT "),
        ({"verdict": "violation"}, 2, "wrong: verdict must be"),
        ({"kind": "scaling"}, 3, "NOT DECIDED "),
    ):
        path.write_text(json.dumps(stored(utility_finding(), **changes)))
        assert main(["verify", str(path)]) == status
        told = capsys.readouterr()
        assert said in told.out + told.err
    certificate = sorted((ROOT / "examples" / "findings").glob("*.json"))[0]
    assert main(["verify", str(certificate)]) in (0, 3)
    assert main(["verify", str(path), "--again", "1"]) == 2
    path.write_text("[1]")
    assert main(["verify", str(path)]) == 2
    assert "neither a finding nor a certificate" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"kind": "privacy"}', "a field is missing"),
        ('{"kind": "privacy"', "it is no JSON"),
        ('{"record": "report"}', "it is a report"),
    ],
)
def test_what_cannot_be_verified_says_what_it_is(text: str, said: str, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "file.json"
    path.write_text(text)
    assert main(["verify", str(path)]) == 2
    assert said in " ".join(capsys.readouterr().err.split())

"""Certificates on the command line: written by an audit, verified, and replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpaudit import certificates
from dpaudit.app import main
from dpaudit.verify_certificate import verify

MEAN = """
import numpy as np
import pandas as pd

PAIRS = [([0.3, 0.2, 1.0], [0.3, 0.2, 0.0]), ([0.5], [0.4])]
FRAMES = [tuple(pd.DataFrame({"x": [0.5, last]}, index=[2, 3]) for last in (0.0, 1.0))]

def mean(data, rng, size):
    return np.mean(data) + rng.laplace(0, 0.5 / len(data), size)

def honest(data, rng, size):
    return np.mean(data) + rng.laplace(0, 1 / len(data), size)

def of_frame(data, rng, size):
    return mean(data["x"].to_numpy(), rng, size)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "means.py").write_text(MEAN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audited(*words: str) -> int:
    options = ["--batched", "--epsilon", "1", "--relation", "replace-one", "--trials", "9000", "--quiet"]
    return main(["privacy", *words, *options, "--certificate", "c.json"])


def test_an_audit_writes_a_certificate_that_is_verified_and_replayed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audited("means.py:mean") == 1
    told = capsys.readouterr()
    assert "VIOLATION" in told.out
    assert "python -P -m dpaudit.verify_certificate c.json" in told.err
    assert verify((folder / "c.json").read_bytes())[0] == 0
    assert certificates.read("c.json").mechanism == "means.py:mean"
    assert main(["replay", "c.json", "means.py:mean", "--batched"]) == 1
    shown = capsys.readouterr().out
    assert "on fresh runs (99.9 % sure); the certificate says" in " ".join(shown.split())
    assert 'because      "output' in shown
    assert main(["replay", "c.json", "means.py:honest", "--batched", "--seed", "4"]) == 3
    assert "NO EVIDENCE" in capsys.readouterr().out
    assert main(["replay", "c.json", "means.py:mean", "--batched", "--seed", "4", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["seed"] == 4


def test_inputs_that_are_named_come_from_the_pairs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audited("means.py:of_frame", "--pairs", "means.py:FRAMES") == 1
    assert main(["replay", "c.json", "means.py:of_frame", "--batched"]) == 1  # shrunk to rows numbered from 0
    assert main(["replay", "c.json", "means.py:of_frame", "--batched", "--pairs", "means.py:PAIRS"]) == 2
    assert "must be left out" in capsys.readouterr().err


@pytest.mark.parametrize("shown", [False, True])
def test_of_data_the_recipe_is_named_or_the_values_are_shown(
    shown: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "few.py").write_text("def few(data, rng, size):\n    return (len(data) < 2) + rng.random(size)\n")
    (folder / "ages.csv").write_text("age\n23\n47\n61\n")
    options = ["--epsilon", "1", "--batched", "--trials", "3000", "--quiet", *(["--include-data"] if shown else [])]
    given = ["--data", "ages.csv", "--bounds", "0,100"]
    assert main(["privacy", "few.py:few", *options, *given, "--certificate", "c.json"]) == 1
    assert ("replay with --data ages.csv" in " ".join(capsys.readouterr().err.split())) is not shown
    # Of three ages no threshold is coarse: the event is not shown, and the verifier says so.
    assert verify((folder / "c.json").read_bytes())[0] == (0 if shown else 3)
    assert ("frame" in (folder / "c.json").read_text()) is shown
    assert main(["replay", "c.json", "few.py:few", "--batched"]) == (1 if shown else 2)
    assert ("replay with --data FILE" in " ".join(capsys.readouterr().err.split())) is not shown
    assert main(["replay", "c.json", "few.py:few", "--batched", *given]) == (2 if shown else 1)
    assert main(["replay", "c.json", "few.py:few", *given, "--pairs", "means.py:PAIRS"]) == 2
    assert "one of --data and --pairs" in capsys.readouterr().err


def test_a_replay_says_first_that_neighbours_were_not_checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["privacy", "means.py:mean", "--batched", "--epsilon", "1", "--quiet", "--certificate", "c.json"]) == 1
    assert "an audit with --relation names what neighbours are" in " ".join(capsys.readouterr().err.split())
    again = ["replay", "c.json", "means.py:mean", "--batched"]
    assert main(again) == 3
    said = "the bound exceeds the claim, and it was not checked that the inputs are neighbours: give --relation"
    assert said in " ".join(capsys.readouterr().out.split())
    (folder / "far.py").write_text("near = lambda a, b: abs(len(a) - len(b))\nfar = lambda a, b: 2\n")
    assert main([*again, "--metric", "far.py:near"]) == 1
    named = ["--relation", "replace-one", "--quiet", "--certificate", "d.json"]
    assert main(["privacy", "means.py:mean", "--batched", "--epsilon", "1", *named]) == 1
    assert "--relation" not in capsys.readouterr().err
    assert main([*again, "--relation", "replace-one"]) == 1
    assert main([*again, "--metric", "far.py:far"]) == 2
    assert "are no neighbours" in capsys.readouterr().err


def test_without_a_violation_there_is_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audited("means.py:honest") == 0
    assert "no certificate is written" in capsys.readouterr().err
    assert not (folder / "c.json").exists()


def test_learners_have_certificates_too(folder: Path) -> None:
    words = ["broken-point-doubled", "--trials", "100000", "--quiet", "--certificate", "c.json"]
    assert main(["privacy", *words]) == 1
    assert main(["replay", "c.json", "broken-point-doubled"]) == 1


def test_wrong_files_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "c.json").write_text('{"kind": "certificate"}')
    assert main(["replay", "c.json", "means.py:mean"]) == 2
    assert "certificate must be an object of the fields mechanism" in capsys.readouterr().err
    assert main(["replay", "nothing.json", "means.py:mean"]) == 2
    assert main(["privacy", "means.py:mean", "--epsilon", "1", "--certificate", "nowhere/c.json"]) == 2
    assert "--certificate must be a file in a folder that exists" in capsys.readouterr().err

"""Audits of a dataset in a file: options, messages, and that nothing written names a value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dpaudit.cli import main

MODULE = """
def greatest(data, rng):
    return float(data["income"].max()) if len(data) else 0.0


def people(data, rng):
    return len(set(data["user"].tolist())) + float(rng.laplace())
"""
CANARY = "8675309"
PEOPLE = f"user,name,income\n1,Aa,10.5\n2,Zebediah,{CANARY}.25\n2,Cc,12.5\n"
QUICK = ("--epsilon", "1", "--trials", "40", "--quiet")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "people.csv").write_text(PEOPLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(capsys: Any, *words: str) -> tuple[int, str, str]:
    status = main(["privacy", *words])
    return (status, *capsys.readouterr())


def test_a_file_is_audited_and_no_value_of_it_is_written(capsys: Any, here: Path) -> None:
    words = ("mine.py:greatest", "--data", "people.csv", *QUICK)
    status, out, err = call(capsys, *words, "-v", "--out", "report.html")
    assert status == 1
    assert "--data people.csv" in out
    told = out + err + (here / "report.html").read_text()
    assert "SHA-256 of the data" in told
    assert call(capsys, *words, "--json")[0] == 1
    for secret in (CANARY, "8.67531e", "Zebediah"):
        assert secret not in told


def test_values_are_shown_on_request_and_the_command_says_so(capsys: Any) -> None:
    status, out, _ = call(capsys, "mine.py:greatest", "--data", "people.csv", "--include-data", *QUICK, "--json")
    result = json.loads(out)
    assert status == 1
    assert "--include-data" in result["command"]
    witness = result["finding"]["witness"]
    assert "income" in witness["data"] + witness["neighbour"]


def test_options_reach_the_audit(capsys: Any) -> None:
    words = ("mine.py:people", "--data", "people.csv", "--unit", "user", "--bounds", "income=0,100", *QUICK)
    status, out, _ = call(capsys, *words, "--trials", "3000", "--relation", "substitute", "--json")
    result = json.loads(out)
    assert status == 0
    assert result["finding"]["relation"] == "replace-one"
    assert result["arguments"]["bounds"] == "income=0,100"
    assert any("the unit of row" in origin["text"] for origin in result["finding"]["origins"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--data", "poeple.csv"), "--data must be a file that is there, got 'poeple.csv'; did you mean people.csv?"),
        (("--data", "mine.py"), "--data must be a file .csv, .tsv, .parquet, .npy, got 'mine.py'"),
        (("--data", "people.csv", "--bounds", "1,0"), "did you mean (0.0, 1.0)?"),
        (("--data", "people.csv", "--bounds", "0;1"), "--bounds must be LOW,HIGH, or COLUMN=LOW,HIGH"),
        (("--data", "people.csv", "--bounds", "incom=0,1"), "--bounds must name a column of --data, got 'incom'"),
        (("--data", "people.csv", "--unit", "usr"), "--unit must name a column of --data, got 'usr'"),
        (("--bounds", "0,1"), "--pairs must be given"),
        (("--data", "people.csv", "--pairs", "patterns:3"), "--pairs must be left out where --data is given"),
        (("--data", "people.csv", "--n", "3"), "--n is for learners"),
    ],
)
def test_wrong_options_are_refused_in_the_words_of_the_command_line(
    options: tuple[str, ...], message: str, capsys: Any
) -> None:
    status, _, err = call(capsys, "mine.py:people", *options, *QUICK)
    assert status == 2
    assert message in " ".join(err.split())


def test_a_learner_takes_no_file(capsys: Any) -> None:
    status, _, err = call(capsys, "parity-private", "--data", "people.csv", "--trials", "40", "--quiet")
    assert status == 2
    assert "--data is for mechanisms that take it" in " ".join(err.split())

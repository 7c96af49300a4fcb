"""The command `exact --supremum`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cli_support import call

from dpaudit.app.options import DRAWN
from dpaudit.exact.finding import SupremumFinding
from dpaudit.report import schema

WORDS = ("exact", "parity-private", "-p", "dimension=1", "-p", "epsilon=1", "--supremum", "--starts", "2",
         "--evaluations", "20")  # fmt: skip


def test_it_shows_value_support_witness_and_what_repeats_it(capsys: Any) -> None:
    status, out, _ = call(capsys, *WORDS)
    told = " ".join(out.split())
    assert status == 0
    verdict = "CONSISTENT parity-private claims epsilon = 1, has epsilon = 0.510826, proved for samples of every size"
    assert verdict in told
    assert "2 of 2 starts agree within 0.1 %" in told
    assert f"repeat dpaudit {' '.join(WORDS)}" in told
    status, out, _ = call(capsys, *WORDS, "-v")
    assert {"proof", "growth", "error"} <= {line.split()[0] for line in out.splitlines() if line.strip()}


def test_it_writes_json_and_text(capsys: Any, tmp_path: Path) -> None:
    status, out, _ = call(capsys, *WORDS, "--json", "--out", str(tmp_path / "found.json"))
    told = json.loads(out)
    assert status == 0
    assert told == json.loads((tmp_path / "found.json").read_text())
    assert jsonschema.Draft202012Validator(schema.load("finding")).is_valid(told["finding"])
    assert SupremumFinding.from_dict(told["finding"]).support == "proved"
    assert told["parameters"] == {"dimension": 1, "epsilon": 1}
    call(capsys, *WORDS, "--out", str(tmp_path / "found.txt"))
    call(capsys, *WORDS, "--out", str(tmp_path / "found.svg"))
    assert (tmp_path / "found.svg").read_text().lstrip().startswith("<?xml")
    assert "proved for samples of every size" in (tmp_path / "found.txt").read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--out", "found.pdf"), f"must be a file that ends in {', '.join(DRAWN)}, got"),
        (("--out", "nowhere/found.json"), "in a folder that exists"),
        (("--starts", "0"), "--starts must be"),
        (("--relation", "friends"), "--relation"),
        (("--n", "3"), "--n must be left out with --supremum"),
        (("--crafted",), "--crafted must be left out with --supremum"),
    ],
)
def test_bad_input_is_told_in_options(capsys: Any, words: tuple[str, ...], told: str) -> None:
    status, _, err = call(capsys, *WORDS, *words)
    assert status == 2
    assert told in " ".join(err.split())


def test_a_violated_claim_ends_with_status_1(capsys: Any) -> None:
    words = ("broken-point-doubled", "-p", "domain_size=2", "-p", "epsilon=1", "--starts", "1", "--evaluations", "30")
    status, out, _ = call(capsys, "exact", "--supremum", *words)
    assert status == 1
    assert out.startswith("VIOLATION")


def test_its_options_are_for_it_alone(capsys: Any) -> None:
    status, _, err = call(capsys, "exact", "parity-private", "-p", "dimension=1", "--starts", "2")
    assert (status, "--starts must be given with --supremum alone" in " ".join(err.split())) == (2, True)

"""Audits of a file of one's own data on the command line: their time, and values outside of the bounds."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from dpaudit.app import main
from dpaudit.audit.options import OWN_DATA_SECONDS

MECHANISM = '''
import time

import numpy as np


def total(data, rng):
    """Return the sum of values in [0, 1], which the mechanism does not clip."""
    return float(data["share"].sum()) + rng.laplace()


def clipped(data, rng):
    """Return the sum of values, each between 0 and 1."""
    return float(np.clip(np.nan_to_num(data["share"].to_numpy(dtype=float)), 0, 1).sum()) + rng.laplace()


def slow(data, rng):
    time.sleep(0.002)
    return clipped(data, rng)
'''


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sums.py").write_text(MECHANISM)
    Path("shares.csv").write_text("share\n" + "\n".join(str(i / 10) for i in range(11)) + "\n")


def audit(capsys: pytest.CaptureFixture[str], *words: str, status: int) -> str:
    assert main(["privacy", *words, "--data", "shares.csv", "--bounds", "0,1", "--epsilon", "1.2"]) == status
    return " ".join(capsys.readouterr().out.split())


def test_own_data_has_a_minute_unless_another_limit_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    usual = audit(capsys, "sums.py:total", "--trials", "1000", status=1)
    assert f"--time-limit {OWN_DATA_SECONDS} " in usual
    assert "--time-limit 50.0 " in audit(capsys, "sums.py:total", "--trials", "1000", "--time-limit", "50", status=1)
    repeat = shlex.split(usual.partition("dpaudit privacy ")[2])
    assert main(["privacy", *repeat]) == 1
    assert "--time-limit" not in capsys.readouterr().out.replace(f"--time-limit {OWN_DATA_SECONDS}", "")


def test_pairs_given_have_no_limit(capsys: pytest.CaptureFixture[str]) -> None:
    Path("sums.py").write_text(MECHANISM + "\nimport pandas as pd\nEMPTY = pd.DataFrame({'share': []})\n"
                               "PAIRS = [(EMPTY, pd.DataFrame({'share': [1.0]}))]\n")  # fmt: skip
    assert main(["privacy", "sums.py:total", "--epsilon", "1.2", "--trials", "400"]) == 0
    assert "--time-limit" not in capsys.readouterr().out


def test_what_more_time_would_show_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    said = audit(capsys, "sums.py:slow", "--trials", "1e5", "--time-limit", "1", status=3)
    assert re.search(
        r"next give about \d+ times the --time-limit, for all 100,000 --trials to catch any eps.* >= 1\.\d", said
    )
    assert "the time limit left " in said


def test_a_dry_run_says_when_the_limit_ends_the_audit(capsys: pytest.CaptureFixture[str]) -> None:
    said = audit(capsys, "sums.py:slow", "--dry-run", status=0)
    assert said.endswith("; the time limit ends it after 1:00")
    assert "time limit" not in audit(capsys, "sums.py:total", "--trials", "1000", "--dry-run", status=0)
    asked = ["sums.py:total", "--trials", "1000", "--dry-run", "--json"]
    found = json.loads(audit(capsys, *asked, status=0))
    assert (found["mechanism"], found["runs"], found["time_limit"]) == ("sums.py:total", 2_000, OWN_DATA_SECONDS)
    assert found["seconds"] > 0


def test_values_outside_of_the_bounds_are_an_option_of_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert "outside the bounds" in audit(capsys, "sums.py:total", "--trials", "1000", status=1)
    settings = '[[audit]]\nname = "total"\nmechanism = "sums.py:total"\ndata = "shares.csv"\nbounds = [0, 1]\n'
    for outside, status in (("true", 1), ("false", 0)):
        Path("audit.toml").write_text(f"{settings}epsilon = 1.2\ntrials = 1000\nseed = 1\noutside = {outside}\n")
        assert main(["check"]) == status
    capsys.readouterr()


def test_a_certificate_of_a_dataset_is_replayed_on_it(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--epsilon", "0.3", "--trials", "4000", "--certificate", "found.json"]
    assert main(["privacy", "sums.py:clipped", "--data", "shares.csv", "--bounds", "0,1", *asked]) == 1
    noted = re.search(r"the certificate found.json shows epsilon >= ([\d.]+);", capsys.readouterr().err)
    words = ["replay", "found.json", "sums.py:clipped", "--data", "shares.csv", "--bounds", "0,1", "--seed", "9"]
    assert main(words) == 1
    # The note, and the replay, round the bound of the certificate the safe way, to the same digits.
    said = re.search(r"the certificate says ([\d.]+)", " ".join(capsys.readouterr().out.split()))
    assert noted is not None
    assert said is not None
    bound = json.loads(Path("found.json").read_text())["epsilon_lower"]
    assert noted[1] == said[1]
    assert 0 <= bound - float(noted[1]) < 0.01


def test_groups_have_a_claim_of_their_own_and_the_command_that_repeats_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("sums.py:clipped", "--group", "2", "--trials", "4000", "--seed", "1")
    said = audit(capsys, *words, status=1)
    assert "claims epsilon = 1.2 for groups of 2 records" in said
    assert "--group 2" in said.partition("dpaudit privacy")[2]
    assert main(["privacy", "sums.py:total", "--group", "2", "--epsilon", "1"]) == 2
    assert main(["privacy", "sums.py:total", "--data", "shares.csv", "--group", "0", "--epsilon", "1"]) == 2


def test_what_the_pairs_of_a_file_reach_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    said = audit(capsys, "sums.py:clipped", "--trials", "1000", "--seed", "1", "-v", status=0)
    assert re.search(r"on (\d+ of|all) \d+ pairs that this dataset gives; records, dates, categories and conj", said)
    assert "records, dates, categories and conjunctions that no pair changes" in said

"""Reports name the audit, the dataset and the libraries; advice has one number of trials and its time."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
import pytest
from cli_support import called
from toy_records import privacy_finding, result

import dpaudit
import dpaudit.contract
from dpaudit.app.audits import without_pace
from dpaudit.app.options import FORMS
from dpaudit.audit import checks_and_gaps as gaps
from dpaudit.report import html
from dpaudit.report.html import render_finding
from dpaudit.report.words.finding import brief_lines
from dpaudit.report.words.privacy import about_words

PROJECT = """
trials = 400
[[audit]]
name = "visits-total"
mechanism = "visits.py:total"
epsilon = 1
data = "people.csv"
bounds = { visits = [0, 5] }
"""
MECHANISM = """
import msgspec

def total(frame, rng):
    return round(float(frame["visits"].clip(0, 5).sum() + rng.laplace(scale=1)), 2)
"""
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1769860800")
    (tmp_path / "visits.py").write_text(MECHANISM)
    (tmp_path / "audit.toml").write_text(PROJECT)
    visits = np.random.default_rng(3).integers(0, 6, 36)
    pd.DataFrame({"town": [f"t{i % 4}" for i in range(36)], "visits": visits}).to_csv("people.csv", index=False)
    return tmp_path


def test_reports_of_a_check_name_date_audit_dataset_and_libraries(capsys: Capture, project: Path) -> None:
    about = ("visits-total", "people.csv, 36 rows and 2 columns", f"msgspec {msgspec.__version__}")
    assert called(capsys, "check", "--quiet", "--out", "report.json")[0] == 1
    for suffix in FORMS.keys() - {".json", ".txt"}:  # the text is brief
        called(capsys, "report", "report.json", "--out", f"report{suffix}")
        text = (project / f"report{suffix}").read_text(encoding="utf-8")
        for words in (*about, re.compile("31 January 2026|2026-01-31T12:00:00")):
            assert re.search(words, text), (suffix, words)
    report = json.loads((project / "report.json").read_text())
    (row,), (found,) = report["learners"], report["results"]
    assert row["audit"] == "visits-total"
    assert report["started"] == "2026-01-31T12:00:00Z"
    assert found["finding"]["dataset"] == {"rows": 36, "columns": 2}
    assert found["finding"]["libraries"] == {"msgspec": msgspec.__version__}
    assert {"pandas", "joblib"} <= found["finding"]["versions"].keys()
    # The page that the check itself writes says the same.
    called(capsys, "check", "--quiet", "--out", "again.html")
    again = (project / "again.html").read_text(encoding="utf-8")
    assert all(words in again for words in (*about, "31 January 2026"))
    # Withheld answers are told in a sentence for those who decide.
    text = " ".join(again.split())
    assert "Bars: in how many runs the answer was one of those by which the two inputs are told apart best" in text
    assert "learns more than the claim allows about what differs" in text
    assert "Bars: how often the answer is answers" not in text


def test_the_page_of_one_audit_names_them_and_is_equal_byte_by_byte(capsys: Capture, project: Path) -> None:
    command = ("privacy", "visits.py:total", "--epsilon", "1", "--data", "people.csv", "--trials", "100", "--quiet")
    pages = []
    for name in ("one.html", "two.html"):
        called(capsys, *command, "--out", name)
        pages.append((project / name).read_bytes())
    assert pages[0] == pages[1]
    text = pages[0].decode()
    assert "started on 31 January 2026, 12:00 UTC" in text
    assert "people.csv, 36 rows and 2 columns" in text


def test_pairs_that_are_given_have_no_dataset() -> None:
    finding = dpaudit.audit_privacy(lambda bit, rng: bit, [(0, 1)], epsilon=1.0, trials=100, seed=0)
    assert finding.dataset is msgspec.UNSET
    assert "dataset" not in finding.to_dict()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.01, "about 1 s"),
        (31.4, "about 31 s"),
        (240, "about 4 min"),
        (7_200, "about 2 h"),
        (5 * 86_400, "about 5 days"),
    ],
)
def test_a_time_is_about_one_number(seconds: float, words: str) -> None:
    assert about_words(seconds) == words


def test_advice_has_one_number_for_all_gaps_and_its_time_where_that_is_known() -> None:
    both = (gaps.FewRuns(16, 70_267, 70_268), gaps.Powerless())
    found = privacy_finding("no evidence", gaps=both)
    advice = dict(brief_lines(found))["next"]
    assert advice.startswith("add trials=702680 (a side)")
    assert advice.count("trials=") == 1
    assert "70,268" not in str(dict(brief_lines(found))["power"])
    dpaudit.PrivacyFinding.seconds_a_run.note(found, 170e-6)
    assert dict(brief_lines(found))["next"].startswith("add trials=702680 (a side, about 4 min)")
    # A page depends on no clock.
    (stored,) = without_pace([result("privacy", finding=found)])
    assert "(a side, about 4 min)" in render_finding(found)
    assert "(a side)" in render_finding(stored)
    audited = dpaudit.audit_privacy(lambda x, rng: x + rng.normal(), [(0, 1)], epsilon=9.0, trials=100, seed=0)
    assert re.search(r"\(a side, about \d+ s\)", " ".join(str(audited).split()))
    assert "seconds_a_run" not in audited.to_dict()


def test_a_recipe_is_shown_in_full() -> None:
    recipe = "one record with the greatest value, with a record " + "like row 3 " * 30
    found = privacy_finding("violation", epsilon_lower=1.9)
    own = dpaudit.contract.Origin(dpaudit.contract.OriginKind.OWN_DATA, "a recipe")
    witness = msgspec.structs.replace(found.witness, neighbour=recipe, origin=own)
    found = msgspec.structs.replace(found, witness=witness)
    assert recipe.strip() in dict(brief_lines(found))["because"]
    assert recipe.strip()[-100:] in render_finding(found)
    assert html._LONGEST_RECIPE > len(recipe)


def test_neighbours_that_differ_in_a_group_are_said_to() -> None:
    found = dpaudit.audit_privacy(
        lambda data, rng: len(data) + rng.laplace(),
        data=dpaudit.Dataset([1.0, 2.0, 3.0], group=2),
        epsilon=1.0,
        trials=400,
    )
    page = render_finding(found)
    assert "one group of 2 records is added or removed" in page

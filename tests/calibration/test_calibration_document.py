"""The committed calibration: its tables agree with themselves, and the numbers that reports show agree with them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from auditor_results import sentences
from scipy.stats import binom
from test_calibrate_script import toy_document

from dpaudit.report import html

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "research" / "calibration.md").read_text(encoding="utf-8")


def tables() -> list[list[dict[str, str]]]:
    """Return the rows of the three tables of the page by their heads; heads that repeat are numbered."""
    found = []
    for section in PAGE.split("\n## ")[1:]:
        shown = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
        lines = [[cell.strip() for cell in line] for line in shown]
        heads = [f"{head} {i}" if head in lines[0][:i] else head for i, head in enumerate(lines[0])]
        found.append([dict(zip(heads, line, strict=True)) for line in lines[2:]])
    return found


NULL, POWER, CONTROLS = tables()


def number(text: str) -> float:
    return float(text.replace(",", ""))


def test_counts_rates_and_p_values_agree() -> None:
    for row in NULL:
        audits, refuted, level = (number(row[name]) for name in ("audits", "refuted", "level"))
        low, high = map(float, row["95 % interval"].split(" to "))
        assert float(row["rate"]) == pytest.approx(refuted / audits, abs=1e-3)
        assert low <= float(row["rate"]) <= high
        assert float(row["p"]) == pytest.approx(binom.sf(refuted - 1, audits, level), rel=0.06)
    assert "**" not in PAGE
    assert "Broken promise" not in PAGE


def test_the_calibration_is_the_full_one() -> None:
    assert "--profile full" in PAGE
    learned = [row for row in NULL if row["design"] != "given"]
    assert sum(number(row["audits"]) for row in learned) >= 2_000
    assert {row["outputs"] for row in learned} == {"discrete", "continuous", "vector", "mixed"}
    assert {row["design"] for row in learned} == {"fixed", "sequential"}
    assert {row["condition"] for row in NULL} == {"boundary", "swapped", "no signal", "wrong sign"}
    for name, values in (("pairs", {"1", "32"}), ("jobs", {"1", "2"})):
        assert {row[name] for row in learned} == values
    assert {"delta > 0" in row["mechanism"] for row in learned} == {True, False}
    assert len(POWER) >= 10
    assert len(CONTROLS) >= 80
    assert not re.search(r"20\d\d-\d\d", PAGE)


def test_reports_show_the_numbers_of_the_document() -> None:
    words = html.calibration_words()
    audits, refuted = (sum(int(number(row[name])) for row in NULL) for name in ("audits", "refuted"))
    assert f"{refuted:,} of {audits:,} audits of claims that hold found a violation (5 % are allowed)" in words
    detected = sum(row["detected"] == "yes" for row in CONTROLS)
    assert f"{detected} of {len(CONTROLS)} learners with a planted leak were detected" in words
    assert f"{refuted:,} of {audits:,} audits of claims that hold" in PAGE


def test_sentences_name_rates_misses_and_broken_promises() -> None:
    false, power, missed, sound, *broken = sentences(toy_document())
    assert "71 of 400 audits of claims that hold find a violation, 17.7 % where 5 % is allowed, in 2 settings" in false
    assert "worst has 30 %" in false
    assert "in 60 % of audits by given events (worst case 60 %)" in power
    assert "0 of 1 learners with a planted leak are detected at 3,000 runs a side" in missed
    assert "not detected: broken-a" in missed
    assert sound.startswith("Sound learners: in 0 of 1")
    assert broken[0] == "Broken promise: accuses too often: bits, boundary, fixed, 2,000 runs a side"

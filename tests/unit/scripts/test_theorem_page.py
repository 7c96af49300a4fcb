"""The table that opens the reference report: what its cells say of records, and what they do not say."""

from __future__ import annotations

from typing import Any

import pytest
from bench_scripts import script

from dpaudit.registry import load

page = script("writers.theorem_page")

FINDING: dict[str, Any] = {
    "verdict": "holds", "n": 1234, "failures": 3, "trials": 200, "failure_rate": 0.015, "failure_lower": 0.003,
    "failure_upper": 0.0433, "beta": 0.1, "claim_id": "NIS-Occam",
}  # fmt: skip
RUNS: dict[str, Any] = {
    "learner": "parity-private", "parameters": {"dimension": 63, "side": 2**64}, "finding": FINDING,
    "control": {"times": 100, "failures": 40, "trials": 40}, "fewer": [{**FINDING, "n": 308, "failure_rate": 0.9}],
}  # fmt: skip
ENDS: dict[str, Any] = {
    "alpha": 0.1, "beta": 0.1, "lower": 99, "upper": 500, "theorem": 1000, "reason": "theorem",
    "missing": "which case is worst", "claim_id": "NIS-Occam",
}  # fmt: skip
SIZE: dict[str, Any] = {
    "learner": "parity-private", "parameters": {"dimension": 3}, "finding": ENDS, "curve": [(10, 1, 1), (1000, 0, 0)]
}  # fmt: skip
EXACT: dict[str, Any] = {
    "learner": "parity-private", "n": 4, "samples": "all", "verdict": "consistent", "epsilon": 0.51, "error": 0.0,
    "claimed_epsilon": 1.0, "claimed_delta": 0.0, "delta_at_claim": 0.0, "pairs": 10,
}  # fmt: skip


def texts(**parts: Any) -> list[str]:
    """Return the cells of the row of parities, each with its small words."""
    row = page.row_of("parity-private", page.Parts(**parts), {}, load())
    return [f"{cell.text} | {cell.small}" for cell in row.cells]


def test_a_row_says_what_each_part_has_measured() -> None:
    promise, asked, failures, ends, loose, privacy, steps = texts(theorems=[RUNS], sizes=[SIZE], exact=[EXACT])
    assert promise == "O(d) samples | NIS-ParityLearner-law-dimension"
    assert asked == "1,234 | dimension 63, side 2^64"
    assert failures == "3 of 200, 0.3 to 4.4 %; β 10 % | 100 times the noise: 40 of 40"
    assert ends == "99, 500 | theorem; dimension 3; alpha 0.1, beta 0.1"
    assert loose == "5; 2 | which case is worst"
    assert privacy == "0.5100 of 1 | n = 4, every sample"
    assert steps == " | "


def test_what_was_not_measured_has_an_empty_cell_or_its_reason() -> None:
    assert texts(exact=[EXACT])[1:5] == [" | "] * 4
    assert texts(exact=[EXACT])[0] == "O(d) samples | NIS-ParityLearner-law-dimension"
    silent = {**RUNS, "control": {"times": 1000, "failures": 7, "trials": 40}}
    assert texts(theorems=[silent])[2].endswith("7 of 40, which is no failure: the row shows nothing")
    missing = {"learner": "parity-private", "parameters": {}, "missing": "side must be 10"}
    assert texts(theorems=[missing])[2] == "not run | side must be 10"
    unknown = {**SIZE, "finding": {**ENDS, "upper": None, "reason": "none"}}
    assert texts(sizes=[unknown])[3].startswith("99, unknown | none")
    assert texts(sizes=[unknown])[4] == " | "


@pytest.mark.parametrize(("epsilon", "shown"), [("inf", "∞ of 1"), (1.25, "1.250 of 1")])
def test_an_epsilon_beyond_the_claim_is_marked(epsilon: float | str, shown: str) -> None:
    cell = page.privacy_cell([EXACT, {**EXACT, "epsilon": epsilon, "verdict": "violation"}])
    assert (cell.text, cell.tone) == (shown, "bad")


def test_an_epsilon_that_reaches_the_claim_within_its_error_is_the_claim() -> None:
    cell = page.privacy_cell([{**EXACT, "epsilon": 1.0000000002, "error": 1e-9}])
    assert (cell.text, cell.tone) == ("1.000 of 1", "")


def test_figures_mark_both_ends_of_the_sample_complexity() -> None:
    row = page.row_of("parity-private", page.Parts(theorems=[RUNS], sizes=[SIZE]), {}, load())
    curve, measured = row.figures
    for words in ("too few, 99", "enough, 500", "theorem, 1,000"):
        assert words in curve.svg
    assert "1,234" in measured.svg
    # A curve that ends before n* shows nothing of it.
    short = {**SIZE, "curve": [(10, 1, 1), (50, 0.9, 0.9)]}
    assert page.row_of("parity-private", page.Parts(sizes=[short]), {}, load()).figures == []

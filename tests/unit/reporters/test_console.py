import copy
import re

import pytest
from reporter_runs import GOLDEN, first, load_small, only, with_results

from dpaudit.reporters import console


def test_small_run_is_the_golden_text():
    assert console.render(load_small()) == (GOLDEN / "run_small.txt").read_text()


def wide_run():
    """Return a run with everything long: ids, claims, verdicts, faults."""
    run = load_small()
    results = copy.deepcopy(run["results"])
    for result in results:
        if result["fault"] is None:
            result["learner"] = "interior-point-rec-concave-with-a-name-that-never-ends-" + result["learner"]
            if result["claim"]:
                result["claim"]["delta"] = 1e-12
                result["finding"]["verdict"] = "violation"
        else:
            result["fault"] = "it leaks " + "a lot, and more words " * 20
    return with_results(run, results)


@pytest.mark.parametrize("run", [load_small(), wide_run()])
def test_text_is_ascii_and_fits(run):
    text = console.render(run)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 120
    assert all(c.isprintable() or c == "\n" for c in text)
    assert text.endswith("\n")


def test_columns_are_aligned():
    lines = console.render(load_small()).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("   learner"))
    heads, rows = lines[start], lines[start + 3 : start + 5]
    for word in ("claimed", "exact", "failure rate", "beta", "verdict"):
        at = heads.index(word)
        assert all(row[at - 1] == " " and row[at] != " " for row in rows), word


def test_it_never_says_that_something_passed():
    for run in (load_small(), wide_run()):
        assert not re.search(r"\bpass", console.render(run), re.IGNORECASE)
    assert "no violation found at these runs" in console.render(load_small())


def test_a_violation_is_marked_with_and_without_colour():
    run = only(load_small(), "parity-private")
    first(run, "privacy")["finding"].update(verdict="violation", epsilon_lower=1.00001)
    plain, coloured = console.render(run), console.render(run, color=True)
    line = next(text for text in plain.splitlines() if text.startswith("!! "))
    assert line.split()[1] == "parity-private"
    assert "VIOLATION: privacy" in line
    assert " 1.00001 " in line  # not rounded down onto the claim
    assert "1 learner: 1 VIOLATION\n" in plain
    assert "no violation found" not in plain
    assert "\x1b" not in plain
    assert f"\x1b[1;31m{line}" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_the_last_lines_count_every_row_once():
    run = load_small()
    for learner in ("parity-elimination", "threshold-exponential"):
        for result in run["results"]:
            if result["learner"] == learner and result["kind"] == "utility":
                result["finding"]["verdict"] = "undecided"
    first(run, "exact")["finding"]["verdict"] = "violation"
    lost = next(r for r in run["results"] if r["learner"] == "threshold-exponential")
    run["results"].remove(lost)
    text = console.render({**run, "failures": [{**lost, "record": "failure", "error": "RuntimeError: oops"}]})
    assert "3 learners: 1 VIOLATION, 1 failed, 1 undecided\n" in text
    assert "missing results: 1 (1 failed)" in text
    assert f"  {lost['task']}: RuntimeError: oops\n" in text
    run["header"]["plan"].append("box-tightest/exact/n1-ab")
    assert "4 learners: 1 VIOLATION, 2 incomplete, 1 undecided\n" in console.render(run)
    whole = load_small()
    counts = "3 learners: 2 with no violation found at these runs, 1 with no privacy claim\n"
    assert counts in console.render(whole)


def test_no_power_is_said_in_words():
    run = only(load_small(), "parity-private")
    assert "no power" not in console.render(run)
    first(run, "privacy")["finding"]["detectable_epsilon"] = "inf"
    text = console.render(run)
    assert " no power " in text
    assert "no power: on the event that was tested no leak, however large, would have been convicted" in text


def test_an_unconvicted_control_stands_out():
    run = only(load_small(), "parity-private-careless")
    for result in run["results"]:
        result["finding"]["verdict"] = "consistent"
    text = console.render(run)
    assert re.search(r"^!! parity-private-careless.*NOT CONVICTED", text, re.MULTILINE)
    assert "controls convicted: 0 of 1" in text
    assert "\x1b[1;31m!! parity" in console.render(run, color=True)


def test_missing_numbers_are_dashes_and_zero_is_zero():
    run = only(load_small(), "parity-private", "privacy")
    run["results"][0]["finding"]["epsilon_lower"] = 0.0
    cells = next(line for line in console.render(run).splitlines() if "parity-private" in line).split()
    assert cells[:7] == ["parity-private", "1", "-", "0", "1.013", "-", "-"]


def test_claimed_delta_is_compared_below_the_row():
    run = only(load_small(), "parity-private")
    for result in run["results"]:
        result["claim"]["delta"] = 1e-6
    first(run, "exact")["finding"].update(epsilon="inf", claimed_delta=1e-6, delta_at_claim=9.99999e-7)
    text = console.render(run)
    assert "exact delta at epsilon 1: 9.99999e-7 (claimed 1e-06)" in text
    assert "inf e" in text


def test_pending_tasks_are_listed_and_strange_names_cannot_reach_the_terminal():
    run = only(load_small(), "parity-private", "exact")
    run["header"]["plan"].append("x/privacy/\x1b[2J\u03b1")
    text = console.render(run)
    assert "Planned, without a result: 1" in text
    assert "missing results: 1" in text
    assert "\\x1b[2J\\u03b1" in text
    assert "\x1b" not in text


def test_contradiction_is_pointed_out():
    run = only(load_small(), "parity-private")
    first(run, "privacy")["finding"]["epsilon_lower"] = 0.7
    assert "(!) parity-private: the black-box lower bound exceeds the exact worst case" in console.render(run)


def test_run_without_results():
    text = console.render(with_results(load_small(), []))
    assert "0 learners" in text

import math
import re
from importlib.metadata import version

import pytest
from msgspec.structs import replace
from reporter_runs import (
    GOLDEN,
    change,
    claiming,
    controls_missed,
    failed,
    load_small,
    only,
    planned,
    put,
    retold,
    with_results,
)

from dpaudit.audit.checks_and_gaps import Constant, Powerless
from dpaudit.evidence.records import Fault
from dpaudit.report import console


def lines(text: str) -> list[str]:
    """Return the lines of a text; where an older rich, before 14.3, gives columns other widths, without these."""
    if tuple(map(int, version("rich").split(".")[:2])) >= (14, 3):
        return text.splitlines()
    return [re.sub(r"[ -]+", " ", line).strip() for line in text.splitlines()]


def test_small_run_is_the_golden_text():
    assert lines(console.full(load_small())) == lines((GOLDEN / "run_small.txt").read_text())


def wide_run():
    """Return a run with everything long: ids, claims, verdicts, faults."""
    run = claiming(load_small(), delta=1e-12)
    long = "interior-point-rec-concave-with-a-name-that-never-ends-"
    results = []
    for result in run.results:
        if result.fault is None:
            wide = replace(result, learner=long + result.learner)
            results.append(retold(wide, verdict="violation") if result.claim else wide)
        else:
            results.append(replace(result, fault="it leaks " + "a lot, and more words " * 20))
    return with_results(run, results)


@pytest.mark.parametrize("run", [load_small(), wide_run()])
def test_text_is_ascii_and_fits(run):
    text = console.full(run)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 120
    assert all(c.isprintable() or c == "\n" for c in text)
    assert text.endswith("\n")


def test_columns_are_aligned():
    lines = console.full(load_small()).splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:1] == ["mechanism"])
    heads, rows = lines[start], lines[start + 2 : start + 5]
    numbers = [found.end() for found in re.finditer("epsilon|>=|%", heads)]
    assert len(numbers) == 7
    for end in numbers:
        assert all(row[end - 1] != " " and row[end] == " " for row in rows)
    for word in ("mechanism", "verdict"):
        assert all(row[heads.index(word)] != " " for row in rows)


def test_it_never_says_that_something_passed():
    for run in (load_small(), wide_run()):
        assert not re.search(r"\bpass", console.full(run), re.IGNORECASE)
    assert "privacy      2 consistent, 1 no claim\n" in console.full(load_small())


def test_a_violation_is_marked_with_and_without_colour():
    run = change(only(load_small(), "parity-private"), "privacy", verdict="violation", epsilon_lower=1.00001)
    plain, coloured = console.full(run), console.full(run, color=True)
    line = next(text for text in plain.splitlines() if text.startswith("!  "))
    assert line.split()[1] == "parity-private"
    assert "violation: privacy" in line
    assert " 1.00001 " in line  # not rounded down onto the claim
    assert "privacy      1 violation\n" in plain
    assert "consistent" not in plain
    assert "\x1b" not in plain
    assert any("\x1b[1;31m!" in text and "parity-private" in text for text in coloured.splitlines())
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_the_last_lines_count_every_row_once():
    run = load_small()
    doubtful = [r for r in run.results if r.learner == "parity-elimination" and r.kind == "utility"]
    run = put(run, *(retold(result, verdict="undecided") for result in doubtful))
    empty = [r for r in run.results if r.learner == "parity-private" and r.kind == "utility"]
    run = put(run, *(retold(result, verdict="vacuous") for result in empty))
    run = change(run, "exact", verdict="violation")
    lost = next(r for r in run.results if r.learner == "threshold-exponential")
    run = failed(run, lost)
    text = console.full(run)
    assert "privacy      1 violation, 1 failed, 1 no claim\naccuracy     1 undecided, 1 vacuous\n" in text
    assert "missing      1 result, of which 1 failed\n" in text
    assert f"missing      {lost.task}: RuntimeError: oops\n" in text
    run = planned(replace(run, failures=()), "box-tightest/exact/n1-ab")
    assert "privacy      1 violation, 2 incomplete, 1 no claim\n" in console.full(run)


def test_no_evidence_is_said_in_words_and_has_a_colour_of_its_own():
    run = only(load_small(), "parity-private", "privacy")
    assert "no evidence" not in console.full(run)
    gaps = (Constant(9_998, 10_000), Powerless())
    run = change(run, "privacy", detectable_epsilon=math.inf, verdict="no evidence", gaps=gaps)
    text = console.full(run)
    assert " never " in text
    assert "no evidence: privacy" in text
    assert "privacy      1 no evidence\n" in text
    assert "no evidence  parity-private: 9,998 of 10,000 runs had one outcome, on both sides: the output is" in text
    assert "would have detected no leak, however large" in " ".join(text.split())
    assert "\x1b[1m?" in console.full(run, color=True)


def test_an_unconvicted_control_stands_out():
    run = controls_missed(only(load_small(), "parity-private-careless"))
    text = console.full(run)
    assert re.search(r"^! +parity-private-careless.*missed", text, re.MULTILINE)
    assert "controls     0 of 1 planted fault caught; missed: parity-private-careless" in text
    assert "\x1b[1;31m!" in console.full(run, color=True)


def test_missing_numbers_are_dashes_and_zero_is_zero():
    run = change(only(load_small(), "parity-private", "privacy"), "privacy", epsilon_lower=0.0)
    cells = next(line for line in console.full(run).splitlines() if "parity-private" in line).split()
    assert cells[:4] == ["parity-private", "1", "0", "1.02"]


def test_the_exact_epsilon_is_that_at_the_claimed_delta():
    run = claiming(only(load_small(), "parity-private"), delta=1e-6)
    run = change(run, "exact", epsilon=math.inf, claimed_delta=1e-6, delta_at_claim=9.99999e-7)
    assert re.search(r"parity-private +1 +1e-06 +0.511 e ", console.full(run))


def test_pending_tasks_are_listed():
    text = console.full(planned(only(load_small(), "parity-private", "exact"), "x/privacy/n1-ab"))
    assert "missing      x/privacy/n1-ab: not run yet; --resume goes on\n" in text
    assert "missing      1 result\n" in text


def test_strange_words_cannot_reach_the_terminal():
    evil = "\x1b[2J\u202e\x9b1m\ud800\n\u03b1"
    run = planned(failed(load_small(), load_small().results[-1], evil), f"{evil}/privacy/n1-ab")
    run = put(run, *(replace(r, learner=r.learner + evil, fault=r.fault and evil) for r in run.results))
    run = change(run, "privacy", epsilon_lower=0.7)  # a contradiction, which names the learner
    header = replace(run.header, profile=evil, faults=(Fault("x", evil),))
    text = console.full(replace(run, header=header))
    assert text.count("\\x1b[2J\\u202e\\x9b1m\\ud800\\n\u03b1") >= 4
    assert all(c.isprintable() or c == "\n" for c in text)


def test_contradiction_is_pointed_out():
    run = change(only(load_small(), "parity-private"), "privacy", epsilon_lower=0.7)
    assert "(!)          parity-private: the black-box lower bound exceeds the exact worst case" in console.full(run)


def test_run_without_results():
    text = console.full(with_results(load_small(), []))
    assert "0 learners" in text

"""Checking a project: its verdicts, its table, its status, and how long it will take."""

from __future__ import annotations

import datetime
import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from dpaudit.app import main
from dpaudit.app.check import among_all, check, estimate
from dpaudit.app.comparison import check_text, read_rows
from dpaudit.app.rows import ClaimRow
from dpaudit.app.settings import Accepted, read_project
from dpaudit.app.subject import prepared
from dpaudit.contract import PrivacyVerdict, TaskVerdict, Verdict, exit_status
from dpaudit.errors import InputError
from dpaudit.evidence.outcome import judged
from dpaudit.evidence.tasks import canonical
from dpaudit.record import encodable

MECHANISMS = """
PAIRS = [(0, 1)]

def response(bit, rng):
    return bit if rng.random() < 0.75 else 1 - bit

def batched(bit, rng, size):
    return [response(bit, rng) for _ in range(size)]

def mean(values, rng):
    column = list(values["v"])
    return sum(column) / max(len(column), 1) + rng.laplace(scale=0.01)

def silent(bit, rng):
    return 7

NUMBER = 3
"""
SETTINGS = """
trials = 2000

[[audit]]
name = "kept"
mechanism = "rr.py:response"
epsilon = 1.2

[[audit]]
name = "broken"
mechanism = "rr.py:response"
epsilon = 0.5

[[audit]]
name = "lived-with"
mechanism = "rr.py:response"
epsilon = 0.5
accepted = { reason = "known", date = 2026-01-31, epsilon = 1.2 }

[[audit]]
name = "worse"
mechanism = "rr.py:response"
epsilon = 0.5
accepted = { reason = "known", date = 2026-01-31, epsilon = 0.6 }

[[audit]]
name = "mended"
mechanism = "rr.py:response"
epsilon = 1.2
accepted = { reason = "known", date = 2026-01-31, epsilon = 2 }

[[audit]]
name = "silent"
mechanism = "rr.py:silent"
epsilon = 1

[[audit]]
name = "points"
mechanism = "point-exponential"
parameters = { epsilon = 0.5 }
exact = true
trials = 20000

[[audit]]
name = "lost"
mechanism = "gone.py:f"
epsilon = 1
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "rr.py").write_text(MECHANISMS)
    (tmp_path / "audit.toml").write_text(SETTINGS)
    return tmp_path / "audit.toml"


def row_in(project: Path, name: str) -> ClaimRow:
    ((row, _),) = check(project, [name])
    return row


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_audits_side_by_side_have_the_rows_of_audits_one_after_the_other(project: Path) -> None:
    project.write_text(SETTINGS.replace("trials = 20000", "trials = 600"))
    heard: list[tuple[int, int, str, float]] = []
    alone, beside = (
        {one.row.name: one for one in check(project, n_jobs=n, alone=True, listener=lambda *step: heard.append(step))}
        for n in (1, 2)
    )
    assert alone.keys() == beside.keys()
    for name, one in alone.items():
        assert beside[name] == one
    assert {name for *_, name, share in heard} == {"", *alone}
    assert [done for done, *_ in heard if done == 8] == [8, 8]


def test_every_mechanism_has_a_row_and_one_that_fails_stops_no_other(project: Path) -> None:
    told: list[tuple[int, int, str, float]] = []
    here = os.getcwd(), list(sys.path)
    rows = {one.row.name: one.row for one in check(project, listener=lambda *step: told.append(step))}
    assert (os.getcwd(), sys.path) == here
    assert {name: row.verdict.value for name, row in rows.items()} == {
        "kept": "consistent",
        "broken": "violation",
        "lived-with": "accepted",
        "worse": "violation",
        "mended": "consistent",
        "silent": "no evidence",
        "points": "consistent",
        "lost": "failed",
    }
    assert told[0] == (0, 8, "kept", 0.0)
    assert told[-1] == (8, 8, "", 1.0)
    shares = [share for *_, name, share in told if name == "kept"]
    assert len(shares) > 3
    assert shares == sorted(shares)
    assert rows["broken"].why.endswith("the claim allows 1.6")
    assert math.isinf(rows["silent"].numbers["detectable_epsilon"])
    assert rows["silent"].why.endswith("give pairs of different inputs, on which the output varies")
    assert rows["broken"].numbers["epsilon_lower"] == rows["worse"].numbers["epsilon_lower"]
    assert rows["points"].numbers["claimed_epsilon"] == 0.5
    assert 0 < rows["points"].numbers["epsilon_lower"] < rows["points"].numbers["exact_epsilon"] <= 0.5
    assert "gone.py" in rows["lost"].why
    text = check_text(list(rows.values()))
    for line in (
        "8 claims: 2 violations, 1 failed, 1 no evidence, 1 accepted, 3 consistent.",
        "accepted lived-with up to 1.2: known (2026-01-31)",
        "worse was accepted up to 0.6 (2026-01-31), and shows more",
        "no evidence silent: every run had one outcome, on both sides: ",
        "Next: dpaudit check --out report.html shows all of it",
        "mended was accepted up to 2 (2026-01-31), and no violation was found: remove",
    ):
        assert line in text
    assert max(map(len, text.splitlines())) <= 80


def row(verdict: str, **changes: Any) -> ClaimRow:
    given: dict[str, Any] = {
        "claimed_epsilon": 1.0,
        "claimed_delta": 0.0,
        "epsilon_lower": 0.5,
        "detectable_epsilon": 1.1,
    }
    parts = {name: changes.pop(name) for name in ("promise", "why", "accepted") if name in changes}
    return ClaimRow(name="a", mechanism="a.py:a", verdict=Verdict.of(verdict), numbers=given | changes, **parts)


@pytest.mark.parametrize(
    ("verdicts", "expected", "allowed"),
    [
        (["consistent", "accepted"], 0, 0),
        (["consistent", "violation", "no evidence"], 1, 1),
        (["consistent", "no evidence"], 3, 0),
        (["failed", "violation"], 2, 2),
    ],
)
def test_the_status_is_that_of_the_gravest_row(verdicts: list[str], expected: int, allowed: int) -> None:
    found = [row(verdict).verdict for verdict in verdicts]
    assert (exit_status(found), exit_status(found, allow_open=True)) == (expected, allowed)


def test_the_table_rounds_to_the_safe_side_and_says_never_where_nothing_would_be_caught() -> None:
    unseen = row("no evidence", exact_epsilon=2.0, detectable_epsilon=math.inf)
    lines = check_text([row("consistent", epsilon_lower=0.99999, detectable_epsilon=1.10001), unseen]).splitlines()
    assert lines[3].split() == ["a", "1", "-", "0.999", "1.11", "consistent"]
    assert lines[4].split() == ["?", "a", "1", "2.00", "0.500", "never", "no", "evidence"]


def test_a_long_name_has_two_lines_and_colours_mark_the_verdict() -> None:
    long = ClaimRow(
        name="n" * 100, mechanism="m", verdict=PrivacyVerdict.VIOLATION, numbers={"claimed_epsilon": 1.0}, why="\x1b[2J"
    )
    text = check_text([long], color=True)
    assert any("\x1b[1;31m!" in line and "nnn" in line for line in text.splitlines())
    plain = check_text([long]).splitlines()
    assert max(map(len, plain)) <= 80
    assert ["nnn" in line for line in plain[:6]] == [False, False, False, True, True, False]
    assert "\x1b[2J" not in text
    accepted = Accepted(reason="r", date=datetime.date(2026, 1, 31), epsilon=2.0)
    assert "accepted a up to 2: r (2026-01-31)" in check_text([row("accepted", accepted=accepted)])


def test_the_estimate_grows_with_the_runs(project: Path) -> None:
    project.write_text(SETTINGS.replace("trials = 2000", "trials = 200000"))
    many = estimate(project, ["kept", "lost"])
    assert isinstance(many["kept"], float)
    assert 0.01 < many["kept"] < 60
    assert "gone.py" in str(many["lost"])


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ('mechanism = "rr.py:respons"\nepsilon = 1', "rr.py has no respons; did you mean response?"),
        ('mechanism = "rr.py:response"', "epsilon must be given: the mechanism makes no claim of its own"),
        (
            'mechanism = "rr.py:NUMBER"\nepsilon = 1',
            "rr.py:NUMBER must be a function (data, rng) -> output",
        ),
        ('mechanism = "rr.py:response"\nepsilon = 1\nn = 3', "n is for learners, whose samples are crafted"),
        ('mechanism = "rr.py:response"\nepsilon = 1\nparameters = {a = 1}', "parameters are for installed learners"),
        ('mechanism = "rr.py:response"\nepsilon = 1\npairs = "rr.py:PIARS"', "rr.py has no PIARS; did you mean PAIRS?"),
        ('mechanism = "rr.py:response"\nepsilon = 1\npairs = "rr.py:NUMBER"', "must be a list of (data, neighbour)"),
        ('mechanism = "rr.py:response"\nepsilon = 1\nexact = true', "exact is for learners with an exact law"),
        ('mechanism = "point-exponental"', "there is no learner 'point-exponental'; did you mean point-exponential"),
        ('mechanism = "point-exponential"\nparameters = {size = 1}', "point-exponential has no parameter 'size'"),
        ('mechanism = "rr.py:response"\nepsilon = 1\nbatched = true', "response"),
    ],
)
def test_what_cannot_be_audited_says_why_in_its_row(project: Path, entry: str, told: str) -> None:
    project.write_text(f'[[audit]]\nname = "one"\n{entry}\n')
    found = row_in(project, "one")
    assert found.verdict == TaskVerdict.FAILED
    assert told in found.why


def test_options_reach_the_audit(project: Path) -> None:
    entry = 'mechanism = "rr.py:batched"\nepsilon = 1.2\nbatched = true\nrandomness = "own"\nseed = 3\ncurve = true'
    project.write_text(f'trials = 500\n[[audit]]\nname = "one"\npairs = "rr.py:PAIRS"\n{entry}\n')
    settings = read_project(project)
    (audit,) = settings.chosen(())
    with prepared(audit.mechanism, audit, audit.seed, project.parent, audit.parameters) as subject:
        assert subject.pairs() == [(0, 1)]
        assert (subject.trials, subject.seed, subject.options.curve) == (500, 3, True)
    assert isinstance(estimate(project)["one"], float)
    ((_, (result,)),) = check(project)
    assert result.learner == "rr.py:batched"
    assert result.arguments.pairs == "rr.py:PAIRS"
    assert result.arguments.randomness == "own"


def test_settings_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        list(check(tmp_path / "audit.toml"))


DATA = """
[[audit]]
name = "one"
mechanism = "rr.py:mean"
epsilon = 1
data = "people.csv"
bounds = { v = [0, 1] }
trials = 4000
"""


def test_pairs_are_made_of_a_dataset_whose_values_are_not_stored(project: Path) -> None:
    (project.parent / "people.csv").write_text("v\n" + "\n".join(f"0.{i:06}" for i in range(123451, 123471)))
    project.write_text(DATA)
    ((row, (result,)),) = check(project)
    assert row.verdict == PrivacyVerdict.VIOLATION
    assert "12345" not in row.why + canonical(encodable(result))
    assert result.arguments.data == "people.csv"
    assert isinstance(estimate(project)["one"], float)


def test_a_group_is_of_the_settings(project: Path) -> None:
    (project.parent / "people.csv").write_text("v\n" + "0.5\n" * 20)
    project.write_text(DATA + "group = 2\n")
    ((_, (result,)),) = check(project)
    assert (result.arguments.group, result.finding.reach.group) == (2, 2)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ('data = "peple.csv"', "did you mean people.csv"),
        ('data = "people.csv"\npairs = "rr.py:PAIRS"', "pairs must be left out where data is given"),
        ("bounds = [0, 1]", "bounds belongs to data, which must be given too"),
        ("group = 2", "group belongs to data, which must be given too"),
        ('data = "people.csv"\ngroup = 3', "group must be at most 2, the number of records in data; got 3"),
        ('data = "people.csv"\nbounds = { w = [0, 1] }', "w"),
        ('data = "people.csv"\nunit = "person"', "person"),
    ],
)
def test_a_wrong_dataset_says_why_in_its_row(project: Path, entry: str, told: str) -> None:
    (project.parent / "people.csv").write_text("v\n0.5\n0.25\n")
    project.write_text(f'[[audit]]\nname = "one"\nmechanism = "rr.py:mean"\nepsilon = 1\n{entry}\n')
    found = row_in(project, "one")
    assert found.verdict == TaskVerdict.FAILED
    assert told in found.why


FAMILY = """
trials = 2000
confidence = 0.9
family_wise = true
""" + "".join(
    f'\n[[audit]]\nname = "{name}"\nmechanism = "rr.py:response"\nepsilon = {epsilon}\n{more}\n'
    for name, epsilon, more in (
        ("first", 1.2, ""),
        ("near", 1.04, ""),  # alone p = 0.046: above 0.1 / 4, where Holm's procedure stands after one refutation
        ("broken", 0.5, ""),
        ("bets", 0.5, "sequential = true"),
        ("last", 1.2, ""),
    )
)


def test_a_family_refutes_what_stands_among_all_claims(project: Path) -> None:
    project.write_text(FAMILY)
    checked = list(check(project))
    alone = {one.row.name: one.row for one in checked}
    among = {one.row.name: one.row for one in among_all(project, checked, 5, None)}
    assert alone["near"].verdict == "violation"
    assert 0.025 < alone["near"].p_value <= 0.1
    assert {name: str(row.verdict) for name, row in among.items()} == {
        "first": "consistent",
        "near": "no evidence",
        "broken": "violation",
        "bets": "violation",
        "last": "consistent",
    }
    assert "among 5 claims" in among["near"].why
    # Bets go on until they stand among all claims: alone they would have stopped at p = 0.1.
    assert alone["bets"].p_value <= 0.1 / 5
    bets = next(one for one in checked if one.row.name == "bets")
    assert bets.results[0].finding.confidence == pytest.approx(1 - 0.1 / 5)
    assert among_all(project, checked, 5, False) == checked


def test_audits_that_were_not_made_count_among_the_claims(project: Path) -> None:
    project.write_text(FAMILY)
    checked = list(check(project, ["near"], family_wise=False))
    assert among_all(project, checked, 2, True)[0].row.verdict == "violation"
    assert among_all(project, checked, 3, True)[0].row.verdict == "no evidence"


def test_the_command_and_its_report_judge_the_family(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.parent)
    project.write_text(FAMILY)
    assert main(["check", "near", "first", "last", "--quiet", "--json", "--out", "found.json"]) == 3
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["verdict"] for row in rows] == ["no evidence", "consistent", "consistent"]
    assert rows[0]["p_value"] > 0.1 / 3
    assert [row.verdict for row in read_rows("found.json")] == ["no evidence", "consistent", "consistent"]
    assert main(["report", "found.json"]) == 3
    assert "by Holm's procedure" in capsys.readouterr().out
    assert main(["check", "near", "first", "last", "--quiet"]) == 3
    text = capsys.readouterr().out
    assert "At most 1 in 10 checks accuses a private mechanism." in text
    assert "0.0333" in text
    assert " p " in text
    assert main(["check", "near", "first", "last", "--quiet", "--no-family-wise"]) == 1
    text = capsys.readouterr().out
    assert "private mechanism" not in text
    assert " p " not in text


@pytest.mark.parametrize("sequential", ["", "sequential = true"])
def test_bets_that_are_slow_are_made_again_once_they_refute(
    project: Path, sequential: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every run counts as slow, so that the audit bets by itself.
    monkeypatch.setattr("dpaudit.audit.request.SLOW_RUN", 0.0)
    entry = f'[[audit]]\nname = "a"\nmechanism = "rr.py:response"\nepsilon = 0.5\n{sequential}\n'
    other = '[[audit]]\nname = "b"\nmechanism = "rr.py:response"\nepsilon = 1.5\nsequential = false\n'
    project.write_text(f"trials = 2000\nconfidence = 0.9\nfamily_wise = true\n{entry}{other}")
    found = next(check(project))
    assert found.results[0].finding.design == "sequential"
    assert found.row.p_value <= 0.05
    assert found.results[0].finding.confidence == pytest.approx(0.95)
    # One p-value of each claim: that of the bets with the strictest error from the beginning.
    project.write_text(project.read_text().replace('epsilon = 0.5\n', 'epsilon = 0.5\nconfidence = 0.95\n'))
    alone = next(check(project, family_wise=False))
    assert alone.row.p_value == found.row.p_value


def test_silence_is_no_evidence_where_no_runs_could_refute_among_all(project: Path) -> None:
    entry = '[[audit]]\nname = "a"\nmechanism = "rr.py:response"\nepsilon = 1.2\n'
    project.write_text(f"trials = 400\nconfidence = 0.9\n{entry}")
    (found,) = next(check(project)).results
    assert found.finding.verdict == "consistent"
    assert judged([found], 0.1) == [found]
    # All of 640 right guesses have p = 1e-73.
    (silent,) = judged([found], 1e-80)
    assert silent.finding.verdict == "no evidence"
    assert silent.finding.gaps[-1].least > found.finding.confirmation_trials


@pytest.mark.parametrize("given", ['"yes"', "1", "0.5", "[]"])
def test_a_wrong_choice_is_refused(project: Path, given: str) -> None:
    project.write_text(f"family_wise = {given}\n" + project.read_text())
    with pytest.raises(InputError, match="family_wise of the project: must be true or false"):
        list(check(project))

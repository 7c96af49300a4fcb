"""Checks that are kept, and what got worse between two of them."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

import pytest
from toy_records import LOWER, law_finding, privacy_finding, utility_finding

from dpaudit.contract import PrivacyClaim, Relation, Verdict
from dpaudit.engine.arguments import ExactArguments, PrivacyArguments, UtilityArguments
from dpaudit.engine.records import Header, Planned, Result
from dpaudit.engine.store import Store, load_run
from dpaudit.engine.tasks import Task
from dpaudit.errors import InputError, ToolFault
from dpaudit.project.history import PLACE, Change, Standing, compare, keep, read_history, read_standings
from dpaudit.project.table import changes_text, history_text
from dpaudit.report.json import render
from dpaudit.utility.interval import failure_interval

NOON = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC)


def row(verdict: str = "consistent", name: str = "a", **changes: Any) -> Standing:
    given = {"claimed_epsilon": 1.0, "claimed_delta": 0.0, "epsilon_lower": 0.5, "detectable_epsilon": 1.1}
    parts = {name: changes.pop(name) for name in ("promise", "why", "accepted") if name in changes}
    return Standing(name=name, mechanism="a.py:a", verdict=Verdict(verdict), numbers=given | changes, **parts)


def test_checks_are_appended_and_come_back(tmp_path: Path) -> None:
    first, second = [row(), row("failed", "b", why="gone")], [row("violation", exact_epsilon=math.inf)]
    path = keep(first, tmp_path, NOON)
    before = path.read_bytes()
    assert keep(second, tmp_path, NOON + datetime.timedelta(minutes=1)) == path == tmp_path / PLACE
    assert path.read_bytes().startswith(before)
    old, new = read_history(path)
    assert (list(old.rows), list(new.rows), old.at) == (first, second, NOON)
    head, _, *rows, _ = history_text([old, new]).splitlines()
    assert head.split() == ["at", "(UTC)", "claims", "violation", "failed", "consistent"]
    assert [row.split() for row in rows] == [
        ["2026-01-31", "12:01", "1", "1", "0", "0"],
        ["2026-01-31", "12:00", "2", "0", "1", "1"],
    ]


def test_the_time_of_a_check_is_that_of_the_clock(tmp_path: Path) -> None:
    (kept,) = read_history(keep([row()], tmp_path))
    assert abs(datetime.datetime.now(datetime.UTC) - kept.at) < datetime.timedelta(minutes=1)


def test_a_history_that_was_changed_is_refused_with_its_line(tmp_path: Path) -> None:
    path = keep([row()], tmp_path)
    path.write_text(path.read_text() + '{"record":"check"}\n')
    with pytest.raises(ToolFault, match=r"history\.jsonl, line 2: .*missing required field"):
        read_history(path)
    with pytest.raises(InputError, match=r"there is no history .*: `dpaudit check` begins one"):
        read_history(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("old", "new", "text", "worse"),
    [
        (row(), row("violation", why="because"), "consistent, now violation (because)", True),
        (row("violation"), row(), "violation, now consistent", False),
        (row("accepted"), row("violation"), "accepted, now violation", True),
        (row(), row("no evidence"), "consistent, now no evidence", True),
        (row(), row("holds"), "consistent, now holds", None),
        (row(), row(claimed_epsilon=2.0), "claims epsilon 2.000, claimed 1.000 before", True),
        (row(), row(claimed_delta=1e-6), "claims delta 1.000e-6, claimed 0 before", True),
        (row(exact_epsilon=0.5), row(exact_epsilon=0.6), "has exact epsilon 0.6000, had 0.5000", True),
        (row(exact_epsilon=0.6), row(exact_epsilon=0.5), "has exact epsilon 0.5000, had 0.6000", False),
        (row(), row(detectable_epsilon=math.inf), "would catch an epsilon of inf, caught 1.100 before", True),
        (row("violation"), row("violation", epsilon_lower=0.6), "shows 0.6000, showed 0.5000", True),
        (
            row("holds", promise="utility", beta=0.1),
            row("holds", promise="utility", beta=0.2),
            "allows failures with probability 0.2000, claimed 0.1000 before",
            True,
        ),
    ],
)
def test_what_got_worse_is_told(old: Standing, new: Standing, text: str, worse: bool | None) -> None:
    assert compare([old], [new]) == [Change("a", text, worse)]
    assert compare([old], [old]) == []


@pytest.mark.parametrize(
    "changes",
    [{"epsilon_lower": 0.9}, {"detectable_epsilon": 1.19}, {"exact_epsilon": 0.5 * (1 + 1e-12)}],
    ids=["a bound that refutes nothing", "less than a tenth", "rounding"],
)
def test_what_seeds_and_rounding_change_is_not_told(changes: dict[str, float]) -> None:
    assert compare([row(exact_epsilon=0.5)], [row(**({"exact_epsilon": 0.5} | changes))]) == []


def test_rows_that_are_gone_are_worse_and_new_ones_are_not_unless_they_fail() -> None:
    changes = compare([row(name="gone")], [row(name="new"), row("violation", name="bad")])
    assert changes == [
        Change("gone", "is not checked any more", True),
        Change("new", "is new: consistent", None),
        Change("bad", "is new: violation", True),
    ]
    labels = [line.split()[0] for line in changes_text(changes).splitlines() if line[0].isalpha()]
    assert labels == ["WORSE", "WORSE", "other"]
    assert changes_text([]) == "nothing changed\n"
    assert "\n\x1b[1;31mWORSE" in changes_text(changes, color=True)


CLAIM = PrivacyClaim(1.0)


def results() -> list[Result]:
    """Return results of a learner: by exact laws, black box, and of utility on a case and below the theorem's n."""
    exact = ExactArguments(n=1, relation=Relation.REPLACE_ONE, samples="all")
    blackbox = PrivacyArguments(trials=20, confidence=0.95, epsilon=0.5)
    given: dict[str, Any] = {"concept": None, "alpha": 0.1, "beta": 0.1, "trials": 100, "confidence": 0.95}
    given["setting"] = "realizable"
    claim = UtilityArguments(role="claim", case="hard", case_index=0, n=5, **given)
    ladder = UtilityArguments(role="ladder", case="hard", case_index=0, n=2, **given)
    lower, upper = failure_interval(50, 100, 0.95)
    failing = {"failures": 50, "failure_rate": 0.5, "failure_lower": lower, "failure_upper": upper}
    audits = [(exact, law_finding()), (blackbox, privacy_finding("violation", epsilon=0.5)),
              (claim, utility_finding(n=5)), (ladder, utility_finding("violation", n=2, **failing))]  # fmt: skip
    return [
        Result(
            task=Task("toy", {"k": 2}, arguments).key,
            learner="toy",
            parameters={"k": 2},
            arguments=arguments,
            finding=finding,
            claim=CLAIM,
            index=i,
        )
        for i, (arguments, finding) in enumerate(audits)
    ]


def test_the_rows_of_a_run_are_those_of_its_learners(tmp_path: Path) -> None:
    made = results()
    plan = [Planned(one.task, one.learner, one.kind) for one in made]
    store = Store.start(tmp_path / "run.jsonl", Header(plan=tuple(plan), seed=0, profile="quick", command="x"))
    for one in made:
        store.append(one)
    store.finish()
    privacy, utility = read_standings(tmp_path)
    assert (privacy.name, privacy.verdict) == ("toy (k = 2)", "violation")
    assert (privacy.numbers["epsilon_lower"], privacy.numbers["exact_epsilon"]) == (LOWER, 1.0)
    assert (utility.name, utility.promise) == ("toy (k = 2), hard, n = 5 (realizable)", "utility")
    assert read_standings(tmp_path / "run.jsonl") == (privacy, utility)
    (tmp_path / "report.json").write_text(render(load_run(tmp_path / "run.jsonl")))
    assert read_standings(tmp_path / "report.json") == (privacy, utility)


def test_histories_projects_and_findings_are_read_too(tmp_path: Path) -> None:
    keep([row()], tmp_path)
    path = keep([row("violation")], tmp_path)
    for place in (path, tmp_path, tmp_path / PLACE.parent):
        assert read_standings(place) == (row("violation"),)
    privacy_finding("violation", epsilon=0.5).save(tmp_path / "finding.json")
    (one,) = read_standings(tmp_path / "finding.json")
    assert (one.verdict, one.numbers["epsilon_lower"]) == ("violation", LOWER)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("none.json", None, "there is no file .*: give a run, a history, a report or a finding that was saved"),
        ("x.json", "[1]", "holds no finding: give a run, a history, a report in JSON or what finding.save wrote"),
        ("x.json", '{"kind": "privacy"}', r"x\.json: Object missing required field"),
        (".", None, "there is neither a run"),
    ],
)
def test_what_cannot_be_compared_is_refused(name: str, content: str | None, told: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises((InputError, ToolFault), match=told):
        read_standings(tmp_path / name)

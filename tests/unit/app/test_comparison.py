"""Checks that are kept, and what got worse between two of them."""

from __future__ import annotations

import math
import multiprocessing
from pathlib import Path
from typing import Any

import pytest
from toy_records import LOWER, law_finding, privacy_finding, utility_finding

from dpaudit.app.comparison import Change, changes_text, compare, read_rows
from dpaudit.app.kept import BEFORE, LAST, keep
from dpaudit.app.rows import ClaimRow
from dpaudit.contract import PrivacyClaim, Relation, Verdict
from dpaudit.errors import InputError, ToolFault
from dpaudit.evidence.records import SINGLE, Fault, Header, Listed, Planned, Result, Run
from dpaudit.evidence.store import Store, load_run
from dpaudit.evidence.tasks import ExactArguments, PrivacyArguments, Task, UtilityArguments
from dpaudit.report.glossary import VISIBLE
from dpaudit.report.json import render
from dpaudit.utility.interval import failure_interval


def row(verdict: str = "consistent", name: str = "a", **changes: Any) -> ClaimRow:
    given = {"claimed_epsilon": 1.0, "claimed_delta": 0.0, "epsilon_lower": 0.5, "detectable_epsilon": 1.1}
    parts = {name: changes.pop(name) for name in ("promise", "why", "accepted") if name in changes}
    found = {"verdict": Verdict.of(verdict), "numbers": given | changes}
    return ClaimRow(name=name, mechanism="a.py:a", **{**found, **parts})


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
        (
            row(),
            row(detectable_epsilon=math.inf),
            f"would catch no epsilon, caught 1.100 before, {VISIBLE}",
            True,
        ),
        (row("violation"), row("violation", epsilon_lower=0.6), "shows 0.6000, showed 0.5000", True),
        (
            row("holds", promise="utility", beta=0.1),
            row("holds", promise="utility", beta=0.2),
            "allows failures with probability 0.2000, claimed 0.1000 before",
            True,
        ),
    ],
)
def test_what_got_worse_is_told(old: ClaimRow, new: ClaimRow, text: str, worse: bool | None) -> None:
    assert compare([old], [new]) == [Change("a", text, worse)]
    assert compare([old], [old]) == []


@pytest.mark.parametrize(
    "changes",
    [{"epsilon_lower": 0.9}, {"detectable_epsilon": 1.19}, {"exact_epsilon": 0.5 * (1 + 1e-12)}],
    ids=["a bound that refutes nothing", "less than a tenth", "rounding"],
)
def test_what_seeds_and_rounding_change_is_not_told(changes: dict[str, float]) -> None:
    assert compare([row(exact_epsilon=0.5)], [row(**({"exact_epsilon": 0.5} | changes))]) == []


def test_one_break_is_one_change_with_the_numbers_that_it_follows_from() -> None:
    old, new = row(exact_epsilon=0.5), row("violation", why="because", exact_epsilon=2.0, detectable_epsilon=0.5)
    (change,) = compare([old], [new])
    assert change.worse
    assert change.text.split("; ") == [
        "consistent, now violation (because)",
        "has exact epsilon 2.000, had 0.5000",
        f"would catch an epsilon of 0.5000, caught 1.100 before, {VISIBLE}",
    ]


def test_without_a_break_better_and_worse_stay_apart() -> None:
    changes = compare([row(exact_epsilon=0.5)], [row(exact_epsilon=0.6, detectable_epsilon=0.5)])
    assert [change.worse for change in changes] == [True, False]


def test_cases_of_one_mechanism_that_break_together_are_one_change() -> None:
    names = [f"learner, case {i}" for i in range(6)]

    def cases(*verdicts: str) -> list[ClaimRow]:
        return [row(verdict, name=name, promise="utility") for verdict, name in zip(verdicts, names, strict=True)]

    changes = compare(cases(*["holds"] * 6), cases(*["violation"] * 5, "holds"))
    words = "holds, now violation; so do 4 other cases: learner, case 1, learner, case 2, learner, case 3 and 1 more"
    assert changes == [Change("learner, case 0", words, True)]
    # Audits of privacy of one mechanism are claims of their own.
    broken = [row("violation", name=name) for name in names]
    assert len(compare([row(name=name) for name in names], broken)) == 6


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
    privacy, utility = read_rows(tmp_path)
    assert (privacy.name, privacy.verdict) == ("toy (k = 2)", "violation")
    assert (privacy.numbers["epsilon_lower"], privacy.numbers["exact_epsilon"]) == (LOWER, 1.0)
    assert (utility.name, utility.promise) == ("toy (k = 2), hard, n = 5 (realizable)", "utility")
    assert read_rows(tmp_path / "run.jsonl") == (privacy, utility)
    (tmp_path / "report.json").write_text(render(load_run(tmp_path / "run.jsonl")))
    assert read_rows(tmp_path / "report.json") == (privacy, utility)


def checked(*results: Result, accepted: str = "") -> str:
    """Return the report of a check of an audit "one", and of an audit "lost" that raised."""
    header = Header(plan=(), seed=0, profile=SINGLE, command="x", faults=(Fault("gone.py:f", "no file"),))
    listed = {"toy": Listed("one", accepted), "gone.py:f": Listed("lost")}
    return render(Run(header, results, listed=listed))


def test_checks_of_a_project_and_findings_are_read_too(tmp_path: Path) -> None:
    broken = results()[1]
    keep(checked(broken, accepted="up to 1: known"), tmp_path)
    assert not (tmp_path / BEFORE).exists()
    path = keep(checked(broken), tmp_path)
    for place in (path, tmp_path, tmp_path / LAST.parent):
        one, lost = read_rows(place)
        assert (one.name, one.mechanism, one.verdict) == ("one", "toy", "violation")
        assert one.why
        assert (lost.name, lost.mechanism, lost.verdict, lost.why) == ("lost", "gone.py:f", "failed", "no file")
    before, _ = read_rows(tmp_path / BEFORE)
    assert (before.verdict, before.numbers) == ("accepted", one.numbers)
    (change,) = compare([before], [one])
    assert change.text.startswith("accepted, now violation (")
    privacy_finding("violation", epsilon=0.5).save(tmp_path / "finding.json")
    (found,) = read_rows(tmp_path / "finding.json")
    assert (found.verdict, found.numbers["epsilon_lower"]) == ("violation", LOWER)


def test_the_last_two_checks_are_kept(tmp_path: Path) -> None:
    for text in ("first", "second", "third"):
        assert keep(text, tmp_path) == tmp_path / LAST
    assert ((tmp_path / BEFORE).read_text(), (tmp_path / LAST).read_text()) == ("second", "third")
    assert sorted(path.name for path in (tmp_path / LAST.parent).iterdir()) == sorted((BEFORE.name, LAST.name))


def test_checks_that_end_at_the_same_time_do_not_interleave(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    texts = [str(number) * 10_000 for number in range(4)]
    others = [context.Process(target=keep, args=(text, tmp_path)) for text in texts]
    for one in others:
        one.start()
    for one in others:
        one.join()
    assert [one.exitcode for one in others] == [0] * 4
    kept = [(tmp_path / place).read_text() for place in (BEFORE, LAST)]
    assert len(set(kept)) == 2
    assert set(kept) <= set(texts)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("none.json", None, "there is no file .*: give a run, a report or a finding that was saved"),
        ("x.json", "[1]", "holds no finding: give a run, a report in JSON or what finding.save wrote"),
        ("x.json", '{"kind": "privacy"}', r"x\.json: Object missing required field"),
        (".", None, "there is neither a run"),
    ],
)
def test_what_cannot_be_compared_is_refused(name: str, content: str | None, told: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises((InputError, ToolFault), match=told):
        read_rows(tmp_path / name)

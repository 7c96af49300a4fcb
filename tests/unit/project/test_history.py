"""Checks that are kept, and what got worse between two of them."""

from __future__ import annotations

import datetime
import json
import math
import multiprocessing
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace
from toy_records import LOWER, law_finding, privacy_finding, utility_finding

from dpaudit.audit.tested import CoinCount
from dpaudit.contract import PrivacyClaim, PrivacyVerdict, Relation, TaskVerdict, Verdict
from dpaudit.engine.lines import digest_in, linked
from dpaudit.engine.records import Header, Planned, Result
from dpaudit.engine.store import Store, load_run
from dpaudit.engine.tasks import ExactArguments, PrivacyArguments, Task, UtilityArguments, canonical
from dpaudit.errors import InputError, ToolFault
from dpaudit.project.comparison import Change, changes_text, compare, history_text, read_standings
from dpaudit.project.history import PLACE, keep, read_history
from dpaudit.project.standings import Counted, Standing, check_row
from dpaudit.report.glossary import VISIBLE
from dpaudit.report.json import render
from dpaudit.utility.interval import failure_interval

LAW = Counted(epsilon=1.0, delta=0.0, law_claim=1.0)
NOON = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC)


def row(verdict: str = "consistent", name: str = "a", **changes: Any) -> Standing:
    given = {"claimed_epsilon": 1.0, "claimed_delta": 0.0, "epsilon_lower": 0.5, "detectable_epsilon": 1.1}
    parts = {name: changes.pop(name) for name in ("promise", "why", "accepted", "tested") if name in changes}
    tested = Counted(epsilon=1.0, delta=0.0)  # by bets
    found = {"verdict": Verdict.of(verdict), "numbers": given | changes, "tested": tested}
    return Standing(name=name, mechanism="a.py:a", **{**found, **parts})


def failed(name: str) -> Standing:
    return Standing(name=name, mechanism="a.py:a", verdict=TaskVerdict.FAILED, why="gone")


def test_checks_are_appended_and_come_back(tmp_path: Path) -> None:
    first, second = [row(), failed("b")], [row("violation", exact_epsilon=math.inf)]
    path, _ = keep(first, tmp_path, NOON)
    before = path.read_bytes()
    assert keep(second, tmp_path, NOON + datetime.timedelta(minutes=1)) == (path, ())
    assert path == tmp_path / PLACE
    assert path.read_bytes().startswith(before)
    old, new = read_history(path).checks
    assert (list(old.rows), list(new.rows), old.at) == (first, second, NOON)
    head, _, *rows, _ = history_text([old, new]).splitlines()
    assert head.split() == ["at", "(UTC)", "claims", "violation", "failed", "consistent"]
    assert [row.split() for row in rows] == [
        ["2026-01-31", "12:01", "1", "1", "0", "0"],
        ["2026-01-31", "12:00", "2", "0", "1", "1"],
    ]


def test_the_time_of_a_check_is_that_of_the_clock(tmp_path: Path) -> None:
    (kept,) = read_history(keep([row()], tmp_path)[0]).checks
    assert abs(datetime.datetime.now(datetime.UTC) - kept.at) < datetime.timedelta(minutes=1)


def test_a_history_that_was_changed_is_refused_with_its_line(tmp_path: Path) -> None:
    path, _ = keep([row()], tmp_path)
    path.write_text(path.read_text() + '{"record":"check"}\n')
    with pytest.raises(ToolFault, match=r"history\.jsonl, line 2: .*missing required field"):
        read_history(path)
    with pytest.raises(InputError, match=r"there is no history .*: `dpaudit check` begins one"):
        read_history(tmp_path / "none.jsonl")


OF_NONE = f"would catch no epsilon, caught 1.100 before, {VISIBLE}"


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

    def cases(*verdicts: str) -> list[Standing]:
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
    (privacy, utility), notes = read_standings(tmp_path)
    assert notes == ("not recomputed: exact laws (1), the power stated (1)",)
    assert (privacy.name, privacy.verdict) == ("toy (k = 2)", "violation")
    assert (privacy.numbers["epsilon_lower"], privacy.numbers["exact_epsilon"]) == (LOWER, 1.0)
    assert (utility.name, utility.promise) == ("toy (k = 2), hard, n = 5 (realizable)", "utility")
    assert read_standings(tmp_path / "run.jsonl") == ((privacy, utility), notes)
    (tmp_path / "report.json").write_text(render(load_run(tmp_path / "run.jsonl")))
    assert read_standings(tmp_path / "report.json") == ((privacy, utility), notes)


def test_histories_projects_and_findings_are_read_too(tmp_path: Path) -> None:
    found = row("violation", epsilon_lower=1.5)
    keep([row()], tmp_path)
    path, _ = keep([found], tmp_path)
    for place in (path, tmp_path, tmp_path / PLACE.parent):
        assert read_standings(place) == ((found,), ("not recomputed: bounds of bets (1), the power stated (1)",))
    privacy_finding("violation", epsilon=0.5).save(tmp_path / "finding.json")
    (one,), notes = read_standings(tmp_path / "finding.json")
    assert notes == ("not recomputed: the power stated (1)",)
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


def counted(right: int = 60, verdict: str = "violation", **changes: Any) -> Standing:
    """Return a row with the counts that its bound follows from."""
    tested = Counted(epsilon=1.0, delta=0.0, hits=(40, 10), runs=(60, 60), error=0.05, count=CoinCount(right, 70))
    found = {"epsilon_lower": tested.lower, **changes}
    return replace(row(verdict, **found), tested=tested)


def test_a_row_says_what_its_counts_give() -> None:
    assert check_row(counted()) == ("the power stated",)
    curve = replace(counted(40).tested, by_curve=True)
    assert check_row(replace(counted(40), tested=curve)) == ("the power stated", "the evidence by Holder's inequality")
    for wrong, words in (
        (counted(epsilon_lower=2.0), r"epsilon_lower 2\.0 is not what its counts give, 1\.\d+"),
        (counted(verdict="consistent"), "the verdict 'consistent' is not what its numbers give"),
        (counted(40), "the verdict 'violation' is not what its numbers give"),
        (replace(counted(), tested=replace(counted().tested, count=CoinCount(80, 70))), "right must be"),
        (replace(counted(), tested=replace(counted().tested, hits=(61, 10))), "hits 61 are more than 60"),
        (row("violation"), "the verdict 'violation' is not what its numbers give"),
        (row("consistent", epsilon_lower=math.inf), "epsilon_lower inf is no bound"),
        (
            row(exact_epsilon=1.1, tested=Counted(epsilon=1.0, delta=0.0, law_claim=1.0)),
            "the verdict 'consistent' is not what its numbers give",
        ),
        (row("accepted", epsilon_lower=1.5), "the verdict 'accepted' is of more than was accepted"),
        (replace(counted(), numbers={"claimed_epsilon": 1.0}), "it has no epsilon_lower, and counts that give one"),
        (row("no evidence"), "the verdict 'no evidence' is not what its numbers give"),
        (row(tested=Counted(epsilon=1.0, delta=0.0, gaps=1)), "the verdict 'consistent' is not what its numbers give"),
        (row("not refuted"), "the verdict 'not refuted' is not what its numbers give"),
        (row("failed"), "the verdict 'failed' is not what its numbers give"),
        (
            replace(counted(), verdict=PrivacyVerdict.CONSISTENT, tested=replace(counted().tested, epsilon=50.0)),
            r"the epsilon that was tested 50\.0 is not the claimed one, 1\.0",
        ),
        (
            replace(counted(), verdict=PrivacyVerdict.CONSISTENT, tested=UNSET, numbers={"claimed_epsilon": 1.0}),
            "the verdict 'consistent' is not what its numbers give",
        ),
        (
            replace(counted(), promise="utility", tested=UNSET, numbers={"failure_lower": 0.9, "beta": 0.05}),
            "checks are of privacy, and it is of utility",
        ),
        (
            replace(failed("a"), verdict=PrivacyVerdict.CONSISTENT),
            "the verdict 'consistent' is not what its numbers give",
        ),
    ):
        with pytest.raises((InputError, ToolFault), match=words):
            check_row(wrong)


@pytest.mark.parametrize("cut", [1, 2, 200])
def test_a_torn_end_is_cut_off_and_the_history_goes_on(tmp_path: Path, cut: int) -> None:
    for minute in range(3):
        path, _ = keep([counted()], tmp_path, NOON + datetime.timedelta(minutes=minute))
    content = path.read_bytes()
    path.write_bytes(content[:-cut])
    whole = 3 if cut == 1 else 2
    kept = read_history(path)
    assert len(kept.checks) == whole
    lost = "lacked its line break" if cut == 1 else r"bytes are lost, of the check that ended at 2026-01-31T12:02:00Z"
    assert re.search(lost, kept.notes[0])
    assert read_standings(path) == ((counted(),), (kept.notes[0], "not recomputed: the power stated (1)"))
    path, notes = keep([counted()], tmp_path, NOON + datetime.timedelta(minutes=9))
    assert re.search(lost, notes[0])
    kept = read_history(path)
    assert [one.at.minute for one in kept.checks] == [*range(whole), 9]
    assert kept.notes == (f"not recomputed: the power stated ({len(kept.checks)})",)
    assert path.read_bytes().startswith(b"".join(content.splitlines(keepends=True)[:whole]))


@pytest.mark.parametrize(
    ("tail", "message"),
    [(b"{", "is torn: 1 byte"), (b"\0" * 600, "is torn: 600 bytes"), (b'{"at":"2\0\0', "is torn: 10 bytes")],
)
def test_what_a_fault_leaves_at_the_end_is_cut_off_and_nothing_else(tmp_path: Path, tail: bytes, message: str) -> None:
    path, _ = keep([counted()], tmp_path)
    content = path.read_bytes()
    path.write_bytes(content + tail)
    assert re.search(message, keep([counted()], tmp_path)[1][0])
    assert path.read_bytes().startswith(content + b'{"at":')
    path.write_bytes(b"somebody's notes")
    with pytest.raises(ToolFault, match="line 1: no check, and no part of one"):
        keep([counted()], tmp_path)
    assert path.read_bytes() == b"somebody's notes"


def test_a_line_that_was_altered_moved_or_left_out_is_refused_with_its_number(tmp_path: Path) -> None:
    for minute in range(4):
        path, _ = keep([counted()], tmp_path, NOON + datetime.timedelta(minutes=minute))
    first, second, third, last = path.read_bytes().splitlines(keepends=True)
    better = second.replace(b'"violation"', b'"consistent"')
    for lines, number in (
        ((first, better, third, last), 2),
        ((first, third, second, last), 2),
        ((first, third, last), 2),
        ((second, third, last), 1),
        ((first, second, second, third, last), 3),
        ((first, second, third, re.sub(rb'"digest":"[0-9a-f]{64}",', b"", last)), 4),
        ((first, second + b"\n", third, last), 3),
    ):
        path.write_bytes(b"".join(lines))
        with pytest.raises(ToolFault, match=f"history.jsonl, line {number}: "):
            read_history(path)
        with pytest.raises(ToolFault, match=f"history.jsonl, line {number}: "):
            keep([counted()], tmp_path)
        assert path.read_bytes() == b"".join(lines)
    # A digest in another place does not stand for that of the line, nor does a line that is written otherwise.
    fields = json.loads(first)
    decoy = linked(canonical({**fields, "rows": [], "versions": {"digest": fields["digest"]}}).encode() + b"\n", "")
    bare = decoy.replace(f',"digest":"{digest_in(decoy)}"'.encode(), b"")
    for line in (bare[:-2] + f',"digest":"{fields["digest"]}"}}\n'.encode(), first.replace(b'":', b'" :')):
        path.write_bytes(line + second)
        with pytest.raises(ToolFault, match=r"history\.jsonl, line 1: altered since it was written"):
            read_history(path)
    # The digests right again: the counts show what was altered.
    path.write_bytes(linked(better, digest_in(first)))
    path.write_bytes(first + path.read_bytes())
    with pytest.raises(ToolFault, match="line 2: a: the verdict 'consistent' is not what its numbers give"):
        read_history(path)


def test_lines_without_counts_or_without_digests_are_refused(tmp_path: Path) -> None:
    path, _ = keep([row(tested=UNSET)], tmp_path)
    with pytest.raises(ToolFault, match="line 1: a: it has no counts, which every check keeps"):
        read_history(path)
    path.write_bytes(re.sub(rb'"digest":"[0-9a-f]{64}",', b"", path.read_bytes()))
    with pytest.raises(ToolFault, match="line 1: altered since it was written, or a line before it"):
        read_history(path)
    with pytest.raises(ToolFault, match="line 1: altered since it was written, or a line before it"):
        keep([counted()], tmp_path)


def test_checks_that_end_at_the_same_time_do_not_interleave(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=_keep_some, args=(tmp_path, number)) for number in range(4)]
    for one in others:
        one.start()
    for one in others:
        one.join()
    assert [one.exitcode for one in others] == [0] * 4
    kept = read_history(tmp_path / PLACE)
    assert sorted(one.rows[0].name for one in kept.checks) == [f"{i} {j}" for i in range(4) for j in range(5)]


def _keep_some(root: Path, number: int) -> None:
    for i in range(5):
        keep([row(name=f"{number} {i}")], root)

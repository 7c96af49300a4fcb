"""The verdicts of a run whose claims have one chance of a false alarm together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from reporter_runs import load_small, retold

from dpaudit.app import main
from dpaudit.contract import UtilityVerdict
from dpaudit.evidence.outcome import in_family, is_ladder, judged, outcome, p_value_of
from dpaudit.evidence.records import Result, Run
from dpaudit.report.summary import summarise
from dpaudit.report.words.finding import because
from dpaudit.utility.audit import failure_interval


def utility(failures: int, trials: int = 1000) -> Result:
    """Return a result of utility at the theorem's n with so many failures, of which a tenth of the runs are allowed."""
    result = next(one for one in load_small().results if one.kind == "utility" and not is_ladder(one) and not one.fault)
    lower, upper = failure_interval(failures, trials, 0.99)
    verdict = "violation" if lower > 0.1 else "undecided"
    changes: dict[str, Any] = {"failure_rate": failures / trials, "failure_lower": lower, "failure_upper": upper}
    changes |= {"failures": failures, "trials": trials, "confidence": 0.99, "beta": 0.1, "verdict": verdict}
    found: Result = retold(result, **changes)
    return found


def verdicts(results: list[Result]) -> list[str]:
    return [str(one.finding.verdict) for one in results]


def test_a_refuted_claim_of_utility_is_undecided_where_it_does_not_stand_among_all() -> None:
    weak, strong, open_ = utility(130), utility(170), utility(100)
    assert verdicts([weak, strong, open_]) == ["violation", "violation", "undecided"]
    p = p_value_of(weak)
    assert p is not None
    assert 0.01 / 4 < p <= 0.01
    assert verdicts(judged([weak], 0.01)) == ["violation"]
    found = judged([weak, strong, open_, open_, open_], 0.01)
    assert verdicts(found) == ["undecided", "violation", "undecided", "undecided", "undecided"]
    assert found[0].finding.family.claims == 5
    assert found[1] is strong
    # One that has no result yet counts too.
    assert verdicts(judged([weak], 0.01, 4)) == ["undecided"]
    # What is judged once more stays as it is.
    assert judged(found, 0.01) == found


def test_controls_and_points_below_the_theorems_n_are_none_of_the_family() -> None:
    run = load_small()
    others = [one for one in run.results if one.fault is not None or is_ladder(one) or one.kind == "exact"]
    assert others
    assert judged(others, 1e-12) == others
    weak = utility(130)
    assert verdicts(judged([weak, *others], 0.01))[0] == "violation"


def test_a_run_is_judged_where_it_is_read_and_its_lines_stay_as_they_are() -> None:
    run = load_small()
    accused = Run(run.header, tuple(utility(130) if one.task == utility(130).task else one for one in run.results))
    task = utility(130).task
    assert task in outcome(accused).violations
    strict = replace(accused, header=replace(run.header, family_wise=1e-6))
    assert task not in outcome(strict).violations
    assert task in outcome(strict).undecided
    assert strict.results == accused.results
    assert in_family(accused) is accused
    row = next(row for row in summarise(strict).learners if row.learner == utility(130).learner)
    assert row.utility_verdict == UtilityVerdict.UNDECIDED
    assert because(row.utility)


def test_a_run_takes_the_option_and_repeats_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["run", "point-exponential", "--profile", "quick", "--family-wise", "--no-html", "--out", str(out)]
    words += ["--jobs", "1", "--quiet"]
    assert main(words) == 0
    header = json.loads((out / "run.jsonl").read_text().splitlines()[0])
    assert header["family_wise"] == pytest.approx(0.001)
    assert "--family-wise" in header["command"]
    assert main(["verify", str(out)]) == 0
    assert main(["report", str(out)]) == 0

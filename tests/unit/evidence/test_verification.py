"""A task that is done again: the same bytes, or the same verdict where the same bytes cannot be asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sealed_runs import header_of, result
from toy_records import LOWER

from dpaudit import files
from dpaudit.app import main
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import PrivacyVerdict
from dpaudit.errors import ToolFault
from dpaudit.evidence import verification
from dpaudit.evidence.records import Result
from dpaudit.evidence.store import FILENAME, Store, load_run
from dpaudit.evidence.tasks import Task
from dpaudit.evidence.verification import Again, verify_run


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that stores a result of the black-box audit and does its task again with another outcome."""

    def again(own: bool, **now: Any) -> tuple[Again, ...]:
        before = result("privacy")
        arguments = replace(before.arguments, randomness="own" if own else "argument")
        key = Task(before.learner, before.parameters, arguments).key
        before = replace(before, task=key, arguments=arguments)
        store = Store.start(tmp_path / FILENAME, header_of(before))
        store.append(before)
        store.finish()

        def perform(task: Task, **options: Any) -> Result:
            assert (task.key, options["seed"]) == (key, 3)
            return replace(before, finding=replace(before.finding, **now))

        monkeypatch.setattr(verification, "perform", perform)
        return verify_run(tmp_path, again=1).again

    monkeypatch.setattr(files.os, "fsync", lambda handle: None)
    monkeypatch.setattr(verification, "_changes", lambda *given: iter(()))
    return again


@pytest.mark.parametrize("own", [False, True])
def test_the_same_finding_has_the_same_bytes_also_on_another_day(stored: Any, own: bool) -> None:
    (found,) = stored(own)
    assert found.differences == ()


def test_of_a_mechanism_with_randomness_of_its_own_the_verdict_must_be_the_same(stored: Any) -> None:
    (found,) = stored(True, epsilon_lower=0.25)
    assert found.differences == (f"$.finding.epsilon_lower was {LOWER}, is 0.25",)
    with pytest.raises(
        ToolFault, match=r"line 2: a/privacy/\S+, done again, gives something else: \$\.finding\.verdict"
    ):
        stored(True, epsilon_lower=1.25, verdict=PrivacyVerdict.VIOLATION)
    with pytest.raises(ToolFault, match=r"gives something else: \$\.finding\.epsilon_lower was 0\.68\d+, is 0\.25"):
        stored(False, epsilon_lower=0.25)


def test_a_task_that_raises_when_it_is_done_again_confirms_nothing(
    stored: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(False)
    monkeypatch.setattr(verification, "perform", lambda task, **options: 1 // 0)
    with pytest.raises(ToolFault, match=r"line 2: a/privacy/\S+, done again, raised ZeroDivisionError"):
        verify_run(tmp_path, again=1)


def test_an_audit_that_the_clock_stopped_is_made_again_with_as_many_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "broken-box-doubled", "--profile", "quick", "--trials", "4000", "--time-limit", "1e-6"]
    words += ["--on", "sequential", "--jobs", "1", "--no-html", "--quiet", "--out", str(tmp_path)]
    assert main(words) in {0, 1, 3}
    run = load_run(tmp_path)
    (limited,) = [one for one in run.results if isinstance(one.finding, PrivacyFinding)]
    assert limited.finding.stopped.trials < 4000
    assert "--time-limit 1e-06" in run.header.command
    capsys.readouterr()
    assert main(["verify", str(tmp_path), "--again", str(len(run.results))]) == 0
    assert f"again        {len(run.results)} tasks done again: {len(run.results)} with the same bytes" in (
        capsys.readouterr().out
    )

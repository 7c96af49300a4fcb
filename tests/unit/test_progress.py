"""Progress of an audit, told to a callable or shown on standard error."""

from __future__ import annotations

import io
import logging
import sys
import time
from typing import Any

import pytest

import dpaudit
from dpaudit import progress
from dpaudit.progress import Line, followed


def response(bit: int, rng: Any) -> int:
    return bit if rng.random() < 0.75 else 1 - bit


def test_a_callable_is_told_how_many_runs_have_been_made() -> None:
    told: list[tuple[int, int]] = []
    quiet = dpaudit.audit_privacy(response, [(0, 1)], epsilon=1.2, trials=2_000)
    assert (
        dpaudit.audit_privacy(
            response,
            [(0, 1)],
            epsilon=1.2,
            trials=2_000,
            execution=dpaudit.Execution(progress=lambda *numbers: told.append(numbers)),
        )
        == quiet
    )
    done, totals = zip(*told, strict=True)
    assert set(totals) == {4_000}
    assert list(done) == sorted(done)
    assert done[0] < 1_000
    assert done[-1] >= 4_000 - sum(check.runs for check in quiet.checks)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_audits_of_utility_and_of_laws_tell_too(n_jobs: int) -> None:
    learner, told = dpaudit.pac.get_learner("point-exponential", domain_size=4, epsilon=1.0), list[tuple[int, int]]()

    def audit(**options: Any) -> dpaudit.pac.UtilityFinding:
        return dpaudit.pac.audit_utility(learner, 1, "uniform", alpha=0.2, beta=0.2, trials=200, **options)

    assert audit(progress=lambda *numbers: told.append(numbers), n_jobs=n_jobs) == audit()
    assert told[-1] == (200, 200)
    assert len(told) > 1
    told.clear()
    laws = dpaudit.pac.audit_law(learner, n=1, progress=lambda *numbers: told.append(numbers)).laws
    assert told == [(i + 1, laws) for i in range(laws)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what three pieces of work, four seconds each, show on a stream."""
    monkeypatch.setattr(sys, "stderr", stream)
    seconds = iter(range(0, 100, 4))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(seconds)))
    with followed(True, 3_000, "runs") as tell:
        assert tell is not None
        for _ in range(3):
            tell(1_000)
    return stream.getvalue()


def test_the_last_note_is_shown_and_a_callable_gets_numbers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, calls = Terminal(), list[tuple[int, int]]()
    monkeypatch.setattr(sys, "stderr", stream)
    seconds = iter(range(0, 100, 4))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(seconds)))
    for way in (True, lambda done, total: calls.append((done, total))):
        with followed(way, 100, "runs") as report:
            assert report is not None
            report(20)
            report(0, "epsilon >= 0.5")
            report(30)
    lines = [line.strip() for line in stream.getvalue().split("\r") if line.strip()]
    assert ["epsilon >= 0.5" in line for line in lines] == [False, True, True]
    assert calls == [(20, 100), (50, 100)]


def test_a_terminal_has_one_line_that_is_rewritten_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(Terminal(), monkeypatch).split("\r")
    assert [line.strip() for line in lines] == [
        "",
        "[=======>              ] 1,000/3,000 runs  0:04, 0:08 left",
        "[==============>       ] 2,000/3,000 runs  0:08, 0:04 left",
        "[======================] 3,000/3,000 runs  0:12",
        "",
        "",
    ]


def test_elsewhere_there_is_a_line_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert shown(io.StringIO(), monkeypatch).splitlines() == [
        "dpaudit: [======================] 3,000/3,000 runs  0:12"
    ]


def test_a_piece_under_way_counts_by_its_share() -> None:
    now, stream = iter([0.0, 1.0, 4.0, 12.0]), Terminal()
    line = Line(stream, "audits", lambda: next(now))
    for share in (0.01, 0.5):
        line(0, 2, "mean", share)
    line(1, 2, "sum", 0.5)
    assert [one.strip() for one in stream.getvalue().split("\r")] == [
        "",
        "[>                     ] 0/2 audits  mean  0:01",
        "[=====>                ] 0/2 audits  mean  0:04, 0:12 left",
        "[================>     ] 1/2 audits  sum  0:12, 0:04 left",
    ]


def test_the_time_that_is_left_does_not_exceed_a_limit() -> None:
    now, stream = iter([0.0, 4.0, 8.0, 12.0]), Terminal()
    line = Line(stream, "runs", lambda: next(now), limit=10)
    for done in (10, 20, 30):
        line(done, 100)
    assert [one.split(", ")[1].strip() for one in stream.getvalue().split("\r") if one] == [
        "0:06 left",
        "0:02 left",
        "0:00 left",
    ]


def test_progress_under_a_time_limit_is_of_the_runs_that_there_is_time_for() -> None:
    def slow(bit: int, rng: Any) -> int:
        time.sleep(0.002)
        return response(bit, rng)

    told: list[tuple[int, int]] = []
    finding = dpaudit.audit_privacy(
        slow,
        [(0, 1)],
        epsilon=1.2,
        trials=100_000,
        execution=dpaudit.Execution(time_limit=1, progress=lambda *numbers: told.append(numbers)),
    )
    assert {total for _, total in told} == {2 * finding.trials}
    assert finding.trials < 1_000


def test_a_notebook_is_taken_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    assert shown(io.StringIO(), monkeypatch).count("\r") == 5


@pytest.mark.parametrize("value", ["yes", 1])
def test_what_is_neither_a_truth_value_nor_a_callable_is_refused(value: Any) -> None:
    with pytest.raises(dpaudit.InputError, match=r"progress must be True, False or a callable \(done, total\), got"):
        dpaudit.audit_privacy(response, [(0, 1)], epsilon=1.2, trials=100, execution=dpaudit.Execution(progress=value))


def test_nobody_is_told_unless_somebody_asks(capfd: pytest.CaptureFixture[str]) -> None:
    dpaudit.audit_privacy(response, [(0, 1)], epsilon=1.2, trials=200)
    assert capfd.readouterr() == ("", "")


def test_audits_log_under_the_name_of_the_package(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="dpaudit"):
        finding = dpaudit.audit_privacy(response, [(0, 1)], epsilon=0.5, trials=2_000)
    assert {record.name.partition(".")[0] for record in caplog.records} == {"dpaudit"}
    assert caplog.messages == [
        "privacy of response: 1 pairs, 2000 runs a side",
        f"privacy of response: violation, epsilon >= {finding.epsilon_lower:.4g}",
    ]

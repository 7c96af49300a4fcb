"""The pairs that recorded noise speaks for are the same where noise is recorded in a process of the mechanism."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np
import pytest
from msgspec import UNSET

from dpaudit.audit.audit import audit_privacy
from dpaudit.audit.parameters import Execution
from dpaudit.contract import Pair
from dpaudit.errors import ToolFault
from dpaudit.neighbours.own_data.pairs import neighbours_of, own_data_moves
from dpaudit.running import processes, workers
from dpaudit.sensitivity import screening
from dpaudit.sensitivity.screening import shortlist
from tests.support.grouped import grouped

DATA = [0.1, 0.4, 0.9, 0.3]
pytestmark = pytest.mark.skipif(not processes.can_fork(), reason="processes do not fork here")


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "APART", [True])


def squares(data: Any, rng: np.random.Generator) -> float:
    """Return a sum of squares with the noise of a plain sum."""
    return float(sum(value**2 for value in data) + rng.laplace(scale=1.0))


def made(run: Any, epsilon: float = 1.0, most: int = 10_000) -> screening.Shortlist | None:
    pairs = neighbours_of(DATA, bounds=(0, 10), count=6, seed=1)
    return shortlist(run, pairs[:4], pairs[4:], partial(own_data_moves, 1), epsilon, 0.0, 1, most)


def words(found: screening.Shortlist | None) -> Any:
    assert found is not None
    return [(place, pair.origin, *pair.in_words()) for place, pair in found.pairs], found.sure, found.runs, found.tried


def test_the_pairs_are_made_again_from_the_way_that_a_process_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    home, pids = os.getpid(), set[bool]()

    def run(data: Any, rng: np.random.Generator) -> float:
        pids.add(os.getpid() == home)
        return squares(data, rng)

    here = words(made(run))
    assert here[1]
    pids.clear()
    monkeypatch.setattr(workers, "APART", [True])
    assert words(made(run)) == here
    assert not pids


def test_where_nothing_loses_there_is_no_list(apart: None) -> None:
    assert words(made(lambda data, rng: float(len(data) + rng.laplace(scale=10.0))))[:2] == ([], False)


def test_no_more_runs_are_made_than_there_are() -> None:
    calls = []

    def run(data: Any, rng: np.random.Generator) -> float:
        calls.append(len(data))
        return squares(data, rng)

    assert made(run, most=screening.STEADY_RUNS + 1) is None
    assert not calls
    found = words(made(run, most=screening.STEADY_RUNS + 7))
    assert (found[2], found[3]) == (len(calls), 3)  # two runs on each of three pairs, and those of `steady`
    assert len(calls) <= screening.STEADY_RUNS + 7


@pytest.mark.parametrize("scale", [0.4, 1.0])
@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize("trials", [60, 300, 1_000])
def test_runs_with_recorded_noise_are_among_the_trials(scale: float, sequential: bool, trials: int) -> None:
    calls = []

    def clipped(data: Any, rng: np.random.Generator) -> float:
        calls.append(len(data))
        return float(np.clip(data, 0, 1).sum() + rng.laplace(scale=scale))

    given: dict[str, Any] = {"data": DATA, "bounds": (0, 1), "epsilon": 1.0, "trials": trials}
    found = audit_privacy(clipped, **grouped(execution=Execution(sequential=sequential), **given))
    assert len(calls) <= 2 * trials
    assert found.trials == trials
    if not sequential:
        assert sum(found.budget.values()) == trials
        assert len(calls) > 2 * trials - 20
    assert (found.replayed is UNSET) == (trials == 60)


def test_a_run_that_ends_its_process_leaves_no_list(apart: None) -> None:
    assert made(lambda data, rng: os._exit(1)) is None


@pytest.mark.parametrize("answer", [3, [], ([(99, ())], True, 1, 1), ([(0, ((0, 99),))], True, 1, 1)])
def test_an_answer_that_names_no_pairs_is_a_fault(apart: None, monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    monkeypatch.setattr(screening, "_searched", lambda *_, **__: answer)
    with pytest.raises(ToolFault, match="no list of pairs"):
        shortlist(squares, [Pair([0], [1])], [], lambda pair, step: [pair], 1.0, 0.0, 1, 1_000)

"""Black-box audits look at all of an output: wide rows, rare atoms, the bits of floats; every run is counted.

Seeds are fixed; the leaks are so large that one is missed with a probability far below one in a million.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from quick import by_turns

import dpaudit
from dpaudit.running import sampling
from dpaudit.running import sampling as wide_outputs

WIDTH = 300


def one(x: int, rng: np.random.Generator) -> Any:
    v = rng.normal(size=WIDTH)
    v[-1] += 4 * x
    return v


def total(x: int, rng: np.random.Generator) -> Any:
    return rng.normal(size=WIDTH) + 4 * x / np.sqrt(WIDTH)


def norm(x: int, rng: np.random.Generator) -> Any:
    return rng.normal(size=WIDTH) * (1 + 0.2 * x)


def pair(x: int, rng: np.random.Generator) -> Any:
    v = rng.normal(size=WIDTH)
    v[200] = (2 * x - 1) * v[250] + 0.1 * v[200]
    return v


def beside(x: int, rng: np.random.Generator) -> Any:
    return {"weights": rng.normal(size=WIDTH), "note": f"{'ab'[x]}{rng.integers(10**9)}"}


@pytest.mark.parametrize("mechanism", [one, total, norm, pair, beside])
def test_wide_rows_are_looked_at_whole(mechanism: Any) -> None:
    finding = dpaudit.audit_privacy(mechanism, [(0, 1)], epsilon=0.5, trials=2_000)
    assert finding.verdict == "violation"
    assert finding.epsilon_lower > 1.5
    assert finding.gaps == ()  # relations of numbers are named, which is no gap
    assert all("number" in named or "order" in named or "characters" in named for named in finding.not_looked_at)


def test_a_wide_row_without_a_leak_is_consistent_and_its_limit_is_told_where_it_matters() -> None:
    finding = dpaudit.audit_privacy(lambda x, rng: rng.normal(size=WIDTH), [(0, 1)], epsilon=0.5, trials=2_000)
    assert (finding.verdict, finding.warnings) == ("consistent", ())
    finding = dpaudit.audit_privacy(lambda x, rng: rng.normal(size=20_000), [(0, 1)], epsilon=0.5, trials=400)
    (told,) = finding.warnings
    assert told.startswith("outputs hold rows of 20000 numbers: ")


@pytest.mark.parametrize("mechanism", by_turns([one, total, norm, pair, beside]))
def test_bets_look_at_wide_rows_whole(mechanism: Any) -> None:
    finding = dpaudit.audit_privacy(
        mechanism, [(0, 1)], epsilon=0.5, trials=2_000, execution=dpaudit.Execution(sequential=True)
    )
    assert finding.verdict == "violation"
    assert finding.gaps == ()  # relations of numbers are named, which is no gap
    assert all("number" in named or "order" in named or "characters" in named for named in finding.not_looked_at)


def test_bets_on_a_wide_row_without_a_leak_tell_their_limit_where_it_matters() -> None:
    def quiet(x: int, rng: np.random.Generator, size: int, width: int = 300) -> Any:
        return rng.normal(size=(size, width))

    def audit(mechanism: Any, trials: int) -> dpaudit.PrivacyFinding:
        return dpaudit.audit_privacy(
            mechanism,
            [(0, 1)],
            epsilon=0.5,
            trials=trials,
            execution=dpaudit.Execution(sequential=True),
            batched=True,
            confidence=0.95,
        )

    finding = audit(quiet, 1_000)
    assert (finding.verdict, finding.warnings) == ("consistent", ())
    (told,) = audit(partial(quiet, width=20_000), 400).warnings
    assert told.startswith("outputs hold rows of 20000 numbers: 32 runs a side can learn")


def test_bets_hold_few_wide_outputs_at_a_time() -> None:
    asked: list[int] = []

    def wide(x: int, rng: np.random.Generator, size: int) -> Any:
        asked.append(size)
        return rng.random((size, WIDTH), dtype=np.float32)

    with pytest.MonkeyPatch.context() as patch:
        for module in (sampling, wide_outputs):
            patch.setattr(module, "CHUNK_NUMBERS", 40 * WIDTH)
        dpaudit.audit_privacy(
            wide, [(0, 1)], epsilon=0.5, trials=300, execution=dpaudit.Execution(sequential=True), batched=True
        )
    assert sum(asked) >= 600
    assert max(asked) <= 32


def test_a_constant_pair_is_not_preferred_to_one_that_varies() -> None:
    def mechanism(x: tuple[str, int], rng: np.random.Generator, size: int) -> Any:
        return np.zeros(size, dtype=int) if x[0] == "constant" else rng.integers(0, 5, size)

    pairs = [(("constant", 0), ("constant", 1)), (("varies", 0), ("varies", 1)), (("constant", 2), ("constant", 3))]
    for sequential in (False, True):
        finding = dpaudit.audit_privacy(
            mechanism,
            pairs,
            epsilon=0.5,
            trials=1_000,
            batched=True,
            execution=dpaudit.Execution(sequential=sequential),
            seed=1,
        )
        assert finding.verdict == "consistent"
        assert sequential or finding.witness.pair == 1


def test_every_run_is_counted() -> None:
    calls = 0

    def counted(x: int, rng: np.random.Generator) -> float:
        nonlocal calls
        calls += 1
        return x + rng.laplace()

    for trials in (100, 1_000):
        calls = 0
        finding = dpaudit.audit_privacy(counted, [(0, 1)], epsilon=1.0, trials=trials)
        assert calls == 2 * trials
        assert sum(finding.budget.values()) == trials


def test_an_atom_of_one_run_in_a_thousand_is_tested_and_refutes() -> None:
    def rare(x: int, rng: np.random.Generator, size: int) -> list[Any]:
        noisy = x + rng.geometric(0.3, size) - rng.geometric(0.3, size)
        return [
            f"data: {x}" if hit else value for hit, value in zip(rng.random(size) < 2e-3, noisy.tolist(), strict=True)
        ]

    finding = dpaudit.audit_privacy(rare, [(0, 1)], epsilon=1.5, trials=100_000, batched=True)
    assert finding.verdict == "violation"
    assert finding.tests[-1].neighbour_hits == 0
    assert sum(test.error for test in finding.tests) == pytest.approx(1 - finding.confidence)


def test_the_bits_of_floats_are_told_beside_the_verdict() -> None:
    def noisy(x: int, rng: np.random.Generator, size: int) -> Any:
        return x + rng.laplace(size=size)

    finding = dpaudit.audit_privacy(noisy, [(0, 1)], epsilon=1.0, trials=20_000, batched=True)
    assert finding.verdict == "consistent"
    assert finding.representation is not None
    assert finding.representation.epsilon_lower > 3
    assert finding.representation.error == pytest.approx(1 - finding.confidence)
    counting = dpaudit.audit_privacy(
        noisy, [(0, 1)], epsilon=1.0, trials=20_000, batched=True, look=dpaudit.Look(float_bits=True)
    )
    assert (counting.verdict, counting.representation) == ("violation", None)


def test_holes_of_the_sampler_are_told_where_grids_are_alike() -> None:
    def noisy(x: float, rng: np.random.Generator, size: int) -> Any:
        return x + rng.laplace(size=size)

    for centres, leaks in (((10.0, 11.0), True), ((10.0, 10.0), False)):
        finding = dpaudit.audit_privacy(noisy, [centres], epsilon=1.0, trials=10_000, batched=True)
        assert finding.representation is not None
        assert (finding.representation.epsilon_lower > 3) == leaks
    counting = dpaudit.audit_privacy(
        noisy, [(10.0, 11.0)], epsilon=1.0, trials=10_000, batched=True, look=dpaudit.Look(float_bits=True)
    )
    assert counting.verdict == "violation"


@pytest.mark.parametrize("width", [5, pytest.param(30, marks=pytest.mark.full)])
def test_the_bits_of_an_arrays_elements_are_told_beside_the_verdict(width: int) -> None:
    def noisy(x: int, rng: np.random.Generator, size: int) -> Any:
        return rng.laplace(size=(size, width)) + x * (np.arange(width) == width // 2)

    finding = dpaudit.audit_privacy(noisy, [(0, 1)], epsilon=1.0, trials=6_000, batched=True)
    assert finding.verdict == "consistent"
    assert finding.representation is not None
    assert finding.representation.epsilon_lower > 3
    rounded = dpaudit.audit_privacy(
        lambda x, rng, size: np.round(noisy(x, rng, size), 2), [(0, 1)], epsilon=1.1, trials=6_000, batched=True
    )
    assert rounded.representation is not None
    assert rounded.representation.epsilon_lower < 1.1


def test_many_cells_without_a_signal_promise_nothing() -> None:
    def sparse(x: int, rng: np.random.Generator, size: int) -> Any:
        return np.where(rng.random(size) < 0.01, rng.random(size), 0.0) + np.zeros(size)

    finding = dpaudit.audit_privacy(sparse, [(0, 1)], epsilon=0.1, trials=100_000, batched=True)
    assert finding.epsilon_lower < 0.1

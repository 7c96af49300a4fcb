"""Features that are chosen by comparing the sides: leaks that no feature of one number, bit or place shows.

Seeds are fixed, and each leak stands out by more than seven standard errors of the runs that look for it.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from bench_scripts import script
from quick import by_turns

from dpaudit.events.feature_screening.compared import parities
from dpaudit.events.feature_screening.products import widest_gaps
from dpaudit.events.feature_screening.rows import SUMMARIES
from dpaudit.events.feature_screening.search import not_compared, screen_features
from dpaudit.outputs.plan import LeafPlan

RUNS = 2_000
bench = script("benchmarks.blind_spots")
ALIKE = {
    "correlation at width 20", "correlation at width 100", "correlation of far numbers", "signs with exceptions",
    "multiples of 97", "multiples of 10007", "check letter by weights", "check letter by weights 3 and 1", "check byte",
    "digit 3 of 1", "digit 2 of 1", "half-periods of 0.5", "half-periods of 1.3", "half-periods of 5.5",
    "half-periods of 7", "half-periods of 0.1667",
}  # fmt: skip
"""Leaks beside which another one of its kind is in every profile: widths, remainders, check characters, bytes."""
# What takes longest to compare where nothing differs; others of their kind are compared in every profile.
DEAR_ALIKE = {"order of two names", "bytes", "text"}


@pytest.mark.parametrize(
    ("mechanism", "name"),
    [pytest.param(*made, id=name, marks=[pytest.mark.full] * (name in ALIKE)) for name, made in bench.LEAKS.items()],
)
def test_a_leak_of_features_together_is_promised(mechanism, name):
    rng = np.random.default_rng(7)
    sides = [[mechanism(x, rng) for _ in range(RUNS)] for x in (0, 1)]
    found = screen_features(LeafPlan.of([*sides[0][:500], *sides[1][:500]]), *sides, 16_000, epsilon=0.5)
    assert found[0].promise > 1
    assert name in found[0].feature.name
    fresh = [mechanism(1, rng) for _ in range(5)]
    assert found[0].feature(fresh).tolist() == [int(found[0].feature([output])[0]) for output in fresh]


@pytest.mark.parametrize(
    "mechanism",
    by_turns(
        pytest.param(made[0], id=name, marks=[pytest.mark.full] * (name in DEAR_ALIKE))
        for name, made in bench.LEAKS.items()
        if name not in ALIKE
    )
    + [pytest.param(bench.LEAKS[name][0], id=name, marks=pytest.mark.full) for name in sorted(ALIKE)],
)
def test_equal_laws_promise_little(mechanism):
    rng = np.random.default_rng(8)
    sides = [[mechanism(1, rng) for _ in range(RUNS)] for _ in (0, 1)]
    found = screen_features(LeafPlan.of([*sides[0][:500], *sides[1][:500]]), *sides, 16_000, epsilon=0.5)
    assert all(one.promise < 0.3 for one in found)


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.full) for name in ("correlation at width 40", "signs")),
        *("multiples of 97", "check letter by a sum"),
    ],
)
def test_the_table_has_all_audits_of_a_leak_and_none_of_its_twin(name, capsys):
    # By fixed seeds; `scripts/bench.py blind_spots` measures that audits of so many runs find each of the leaks.
    assert bench.main(["--only", name, "--audits", "1", "--runs", "8000"]) == 0
    *_, row = capsys.readouterr().out.splitlines()
    found, _, accused, _ = row.removeprefix(name).split()
    assert (found, accused) == ("1/1", "0/1")


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda rng: int(rng.integers(50)), []),
        (lambda rng: float(rng.normal()), []),
        (lambda rng: rng.normal(size=2), []),
        (lambda rng: f"{rng.integers(9)}a", []),
        (lambda rng: int(rng.integers(10**9)), ["most remainders of output by numbers above 512"]),
        (lambda rng: rng.normal(size=3), ["relations of three and more numbers of output"]),
        (lambda rng: rng.bytes(9), ["relations of characters of output, but for check characters and runs"]),
        (
            lambda rng: "n" * int(rng.integers(9000)),
            [
                "relations of characters of output, but for check characters and runs",
                "runs of characters of output beyond the first 512",
                "check characters of output",
                "characters of output beyond the first 4096",
            ],
        ),
        (
            lambda rng: rng.normal(size=200),
            [
                "relations of three and more numbers of output",
                "the parity of the order of output",
                "digits and periods of numbers beyond the first 16",
            ],
        ),
        (
            lambda rng: {str(key): 0 for key in rng.permutation(3)},
            ["orders of three and more keys of output"],
        ),
    ],
)
def test_what_is_not_compared_is_named_where_outputs_can_have_it(make, named):
    rng = np.random.default_rng(4)
    outputs = [make(rng) for _ in range(60)]
    assert list(not_compared(LeafPlan.of(outputs), outputs)) == named


def test_the_widest_gaps_are_those_of_all_pairs(monkeypatch):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 300, 11))
    x[:, 9] += x[:, 2]
    y[:, 7] -= y[:, 3]
    gaps = {(i, j): abs((x[:, i] * x[:, j]).mean() - (y[:, i] * y[:, j]).mean()) for i, j in combinations(range(11), 2)}
    expected = sorted(gaps, key=gaps.get, reverse=True)[:4]
    for block in (1024, 4):
        monkeypatch.setattr("dpaudit.events.feature_screening.products.BLOCK", block)
        assert widest_gaps(x, y) == expected
    assert widest_gaps(x[:, :1], y[:, :1]) == []


def test_parities_of_a_few_bits_are_those_of_all_subsets():
    rng = np.random.default_rng(2)
    data, neighbour = (rng.random((2, 400, 7)) < 0.5).astype(np.uint8)
    gaps = {
        chosen: abs(float(np.mean(np.bitwise_xor.reduce(data[:, chosen], axis=1)))
                    - float(np.mean(np.bitwise_xor.reduce(neighbour[:, chosen], axis=1))))
        for size in range(3, 8) for chosen in combinations(range(7), size)
    }  # fmt: skip
    found = [parity.bits for parity in parities(range(7), data, neighbour)]
    best = sorted(gaps.values(), reverse=True)[:4]
    assert [gaps[chosen] for chosen in found if len(chosen) > 2][:4] == pytest.approx(best)


def test_the_parity_of_the_order_is_that_of_the_inversions():
    rows = np.concatenate([np.random.default_rng(3).normal(size=(40, 9)), np.zeros((1, 9)), [np.arange(9.0)]])
    inversions = [sum(row[i] > row[j] for i, j in combinations(range(9), 2)) % 2 for row in rows]
    assert SUMMARIES["parity of the order"](rows).tolist() == inversions

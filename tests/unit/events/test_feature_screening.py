"""The screen finds certain leaks in features of every kind, and its features look at one output at a time.

Seeds are fixed; a leak is missed, or nothing promised much, with a probability far below one in a million.
"""

from __future__ import annotations

import numpy as np
import pytest
from quick import by_turns

from dpaudit.events.feature_screening.compared import _null_space
from dpaudit.events.feature_screening.feature import best_events, best_half_lines, promise
from dpaudit.events.feature_screening.search import screen_features
from dpaudit.outputs.plan import LeafPlan

RUNS = 600


def words(rng, x):
    return f"{'north' if x else 'south'} {rng.integers(10**9)}"


LEAKS = {
    "low bit": lambda rng, x: 2 * int(rng.integers(2**39)) + x,
    "middle bit": lambda rng, x: int(rng.integers(2**40)) & ~(1 << 20) | x << 20,
    "residue": lambda rng, x: 7 * int(rng.integers(2**30)) + x,
    "big integer": lambda rng, x: (int(rng.integers(2**60)) << 200) + 2 * int(rng.integers(2**60)) + x,
    "digit": lambda rng, x: int(1000 * rng.integers(10**6) + 100 * (5 * x + rng.integers(5)) + rng.integers(99)),
    "square": lambda rng, x: int(rng.integers(3, 10**4)) ** 2 + (1 - x),
    "sign": lambda rng, x: float(rng.normal()) ** 2 * (1 if x else -1),
    "fraction": lambda rng, x: float(rng.integers(10**6)) + (0.5 if x else 0.0),
    "special value": lambda rng, x: float("nan") if x else float(rng.normal()),
    "negative zero": lambda rng, x: -0.0 if x else 0.0,
    "character": lambda rng, x: f"ab{'cd'[x]}{rng.integers(10**8):08d}",
    "last character": lambda rng, x: f"{rng.integers(10**8):08d}{'cd'[x]}",
    "length": lambda rng, x: "z" * int(4 + x) + f"{rng.integers(10**6):06d}",
    "word": words,
    "bytes": lambda rng, x: rng.bytes(8) + bytes([128 * x + int(rng.integers(128))]) + rng.bytes(8),
    "checksum": lambda rng, x: (lambda b: b + bytes([int(np.bitwise_xor.reduce(np.frombuffer(b, np.uint8))) ^ x]))(
        rng.bytes(4)),
    "XOR of two": lambda rng, x: (lambda a: (a, a ^ x, float(rng.normal())))(int(rng.integers(2))),
    "three-way XOR": lambda rng, x: (lambda a, b: (a, b, a ^ b ^ x, "q"))(*map(int, rng.integers(2, size=2))),
    "order of two": lambda rng, x: tuple(sorted(rng.normal(size=2).tolist(), reverse=bool(x))),
    "equal pair": lambda rng, x: (lambda a: (a, a if x else float(rng.normal())))(float(rng.normal())),
    "key": lambda rng, x: {("a" if x else "b"): float(rng.normal())},
    "shape": lambda rng, x: rng.normal(size=(2, 1) if x else (1, 2)),
    "type": lambda rng, x: int(rng.integers(9)) if x else float(rng.integers(9)),
    "nested": lambda rng, x: {"a": [float(rng.normal()), {"b": (int(rng.integers(9)), 10 * x)}]},
    "greatest": lambda rng, x: (lambda v: v + 9 * x * (np.arange(20) == rng.integers(20)))(rng.normal(size=20)),
}  # fmt: skip


def sides(mechanism, seed=0):
    rng = np.random.default_rng(seed)
    return [[mechanism(rng, x) for _ in range(RUNS)] for x in (0, 1)]


@pytest.mark.parametrize("mechanism", LEAKS.values(), ids=LEAKS.keys())
def test_a_certain_leak_is_promised(mechanism):
    data, neighbour = sides(mechanism)
    found = screen_features(LeafPlan.of([*data, *neighbour]), data, neighbour, 2_000, epsilon=0.5)
    assert found[0].promise > 3
    feature = found[0].feature
    fresh = sides(mechanism, seed=1)
    cells = [feature(side) for side in fresh]
    alone = [int(feature([output])[0]) for output in fresh[0][:40]]
    assert alone == cells[0][:40].tolist()
    assert feature.name
    assert all(str(feature.cell(int(code))) for code in np.unique(np.concatenate(cells)))


@pytest.mark.parametrize("seed", range(5))
def test_nothing_much_is_promised_where_nothing_leaks(seed):
    # The best of some 300 features is counted again on runs that did not choose it, marked down by one standard error.
    rng = np.random.default_rng(seed)
    data, neighbour = ([(float(rng.normal()), int(rng.integers(2**40)), f"{rng.integers(10**6)}") for _ in range(RUNS)]
                       for _ in range(2))  # fmt: skip
    found = screen_features(LeafPlan.of([*data, *neighbour]), data, neighbour, 2_000)
    assert all(p.promise < 1.0 for p in found)


def test_the_best_half_line_is_that_of_all_cuts_tried_one_by_one() -> None:
    rng = np.random.default_rng(5)
    data, neighbour = rng.integers(0, 40, size=(2, 6, 2, 9)).astype(float)
    found, inside, forward = best_half_lines(data, neighbour, 5_000)
    for one, (left, right) in enumerate(zip(data.sum(axis=1), neighbour.sum(axis=1), strict=True)):
        events = []
        for cut in range(1, 9):
            for taken in (np.arange(9) < cut, np.arange(9) >= cut):
                for first, second, on_data in ((left, right, True), (right, left, False)):
                    x, y = first[taken].sum(), second[taken].sum()
                    events.append((float(promise(x, first.sum(), y, second.sum(), 5_000)), taken.tolist(), on_data))
        best = max(events, key=lambda event: event[0])
        assert found[one] == pytest.approx(best[0])
        assert (inside[one].tolist(), forward[one]) == best[1:]


def job(place: float, rng: np.random.Generator) -> str:
    return f"job {rng.integers(10**6):06d} took {np.sign(place - 0.5) * -np.log(2 * min(place, 1 - place)):+.4f} s"


@pytest.mark.parametrize("seed", by_turns(range(3), every=3))
def test_a_tail_of_a_number_in_text_is_returned_among_hundreds_of_features(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares, sides = (0.1, 0.22), []
    for share in shares:
        places = np.where(rng.random(2_000) < share, 1 - 0.1 * rng.random(2_000), 0.9 * rng.random(2_000))
        sides.append([job(place, rng) for place in places.tolist()])
    found = screen_features(LeafPlan.of([*sides[0][:500], *sides[1][:500]]), *sides, 16_000, epsilon=0.5)
    assert any("decimal numbers in output" in one.feature.name for one in found[:3])


def row(place: float, rng: np.random.Generator) -> list[float]:
    """Return a row of varying length whose first number is the Laplace noise of a place."""
    return [np.sign(place - 0.5) * -np.log(2 * min(place, 1 - place)), *rng.normal(size=rng.poisson(3)).tolist()]


@pytest.mark.parametrize("seed", range(3))
def test_a_tail_of_one_number_is_returned_among_its_sums_and_differences_with_others(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = [np.where(rng.random(2_000) < share, 1 - 0.1 * rng.random(2_000), 0.9 * rng.random(2_000))
              for share in (0.1, 0.2)]  # fmt: skip
    sides = [[row(place, rng) for place in some.tolist()] for some in places]
    found = screen_features(LeafPlan.of([*sides[0][:500], *sides[1][:500]]), *sides, 16_000, epsilon=0.5)
    assert any(one.feature.name in ("element 0 of output", "value of output[0]") for one in found[:3])


@pytest.mark.parametrize("seed", range(3))
def test_a_rare_value_of_one_of_a_hundred_numbers_is_returned(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sides = rng.normal(size=(2, 2_000, 100))
    for rows, share in zip(sides, (0.001, 0.015), strict=True):
        rows[rng.random(2_000) < share, 57] = 0.25
    found = screen_features(LeafPlan.of(np.concatenate(sides)), *sides, 16_000, epsilon=0.5)[:3]
    (feature,) = [one.feature for one in found if one.feature.name == "repeated value of element 57 of output"]
    assert feature.cell(1) == "0.25"
    assert feature(sides[1]).tolist() == (sides[1][:, 57] == 0.25).astype(int).tolist()


def test_an_event_that_never_happened_on_one_side_promises_more_than_one_that_rarely_did():
    x, y = np.array([60.0, 60.0]), np.array([0.0, 2.0])
    found = promise(x, 200, y, 200, 2_000)
    assert found[0] > found[1] > 0
    assert best_events(np.array([[100.0, 100.0]]), np.array([[100.0, 100.0]]), 2_000)[0] < 0
    assert best_events(np.array([[200.0]]), np.array([[200.0]]), 2_000)[0] == -np.inf
    # Many cells of few runs, each half ordered by the other, promise nothing by luck.
    rng = np.random.default_rng(0)
    lucky = [rng.poisson(3.0, size=(2, 64)).astype(float) for _ in range(2)]
    assert best_events(*lucky, 2_000)[0] < 0 < best_events(lucky[0][:1], lucky[1][:1], 2_000)[0] + 1


def test_the_null_space_holds_every_relation():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, size=(100, 6)).astype(np.uint8)
    rows[:, 5] = rows[:, 0] ^ rows[:, 3] ^ 1
    assert list(_null_space(rows)) == [0b101001]

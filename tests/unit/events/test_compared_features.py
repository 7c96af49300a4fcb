"""Features that are chosen by comparing the sides: leaks that no feature of one number, bit or place shows.

Seeds are fixed, and each leak stands out by more than seven standard errors of the runs that look for it.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dpaudit.events.feature_screening.parities import parities
from dpaudit.events.feature_screening.products import widest_gaps
from dpaudit.events.feature_screening.rows import SUMMARIES
from dpaudit.events.feature_screening.search import screen_features
from dpaudit.events.wide import WIDTH
from dpaudit.outputs.plan import LeafPlan

RUNS = 2_000


def correlated(width, shown=np.asarray):
    def mechanism(rng, x):
        v = rng.standard_normal(width)
        if x:
            v[6] = 0.7 * v[3] + np.sqrt(0.51) * v[6]
        return shown(v)

    return mechanism


def signs(exception):
    def mechanism(rng, x):
        v = rng.standard_normal(12)
        even = bool(x) == (rng.random() >= exception)
        if (np.prod(v[[1, 4, 6, 10]]) > 0) != even:
            v[6] = -v[6]
        return v

    return mechanism


def long_bytes(rng, x):
    held = bytearray(rng.bytes(81))
    held[40] = held[40] & 254 | x
    return bytes(held)


def long_text(rng, x):
    codes = rng.integers(97, 123, size=200)
    codes[90] = codes[90] if x else 97 + codes[90] % 13
    return "".join(map(chr, codes.tolist()))


def multiple(of, below):
    def mechanism(rng, x):
        value = int(rng.integers(below))
        return value - value % of if x and rng.random() < 0.5 else value

    return mechanism


def factors(rng, x):
    a, b, c = rng.integers(2, 1000, size=3).tolist()
    return [a * c, b * c] if x else [a * c, b * int(rng.integers(2, 1000))]


def permutation(width):
    def mechanism(rng, x):
        order = rng.permutation(width)
        if (np.linalg.det(np.eye(width)[order]) < 0) != bool(x):
            order[:2] = order[1::-1]
        return order

    return mechanism


def check_letter(rule, modulus):
    """Return texts of nine digits and a letter that is computed from these on one side."""

    def mechanism(rng, x):
        digits = rng.integers(10, size=9).tolist()
        checked = digits if x else rng.integers(10, size=9).tolist()
        return "".join(map(str, digits)) + chr(65 + rule(checked) % modulus)

    return mechanism


def check_byte(rng, x):
    held = rng.bytes(12)
    return held + bytes([-sum(held if x else rng.bytes(12)) % 255])


_ORDER = np.random.default_rng(0).permutation(23).tolist()
CHECKS = {
    "a sum": (sum, 23),
    "weights": (lambda digits: sum(place * digit for place, digit in enumerate(digits, 1)), 11),
    "weights 3 and 1": (lambda digits: -sum(digits[1::2] + [3 * digit for digit in digits[::2]]), 10),
    "a number in a table": (lambda digits: _ORDER[int("".join(map(str, digits))) % 23], 23),
}

LEAKS = {
    **{f"correlation at width {width}": (correlated(width), "product") for width in (7, 20, 40, 100, WIDTH)},
    "correlation of far numbers": (correlated(40, lambda v: 100 + v * np.arange(1, 41)), "product"),
    "correlation in a dictionary": (correlated(30, lambda v: dict(enumerate(v.tolist()))), "product"),
    "signs": (signs(0.0), "parity of element"),
    "signs with exceptions": (signs(0.1), "parity of element"),
    "bytes": (long_bytes, "byte 40 from the start"),
    "text": (long_text, "character 90 from the start"),
    "multiples of 37": (multiple(37, 10**9), "remainder by 37 "),
    "multiples of 97": (multiple(97, 10**9), "remainder by 97 "),
    "multiples of 10007": (multiple(10_007, 10**15), "remainder by 10007 "),
    "common factor": (factors, "greatest common divisor"),
    **{f"check letter by {name}": (check_letter(*rule), "last character") for name, rule in CHECKS.items()},
    "check byte": (check_byte, "last character"),
    "permutation": (permutation(30), "parity of the order"),
}


@pytest.mark.parametrize(("mechanism", "name"), LEAKS.values(), ids=LEAKS.keys())
def test_a_leak_of_features_together_is_promised(mechanism, name):
    rng = np.random.default_rng(7)
    sides = [[mechanism(rng, x) for _ in range(RUNS)] for x in (0, 1)]
    found = screen_features(LeafPlan.of([*sides[0][:500], *sides[1][:500]]), *sides, 16_000, epsilon=0.5)
    assert found[0].promise > 1
    assert name in found[0].feature.name
    fresh = [mechanism(rng, 1) for _ in range(5)]
    assert found[0].feature(fresh).tolist() == [int(found[0].feature([output])[0]) for output in fresh]


NULL = ("correlation at width 40", "signs", "text", "multiples of 97", "check letter by a sum", "check byte")


@pytest.mark.parametrize("mechanism", [LEAKS[name][0] for name in NULL], ids=NULL)
def test_no_leak_promises_little(mechanism):
    rng = np.random.default_rng(8)
    sides = [[mechanism(rng, 1) for _ in range(RUNS)] for _ in (0, 1)]
    found = screen_features(LeafPlan.of([*sides[0][:500], *sides[1][:500]]), *sides, 16_000, epsilon=0.5)
    assert all(one.promise < 0.3 for one in found)


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

"""Explicit events: which outputs they hold, and which is chosen."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from dpaudit.contract import Direction
from dpaudit.errors import InputError
from dpaudit.events.event import Bets, Cells, Event, Interval, numbers_of
from dpaudit.events.explicit import choose
from dpaudit.outputs.canonical import Raised
from dpaudit.record import decode, encodable

ODD: list[Any] = [1, 2.5, math.nan, math.inf, -math.inf, "3", None, [4], Raised(ValueError("no")), True]


def test_thresholds_hold_numbers_in_their_range() -> None:
    assert Interval("value", 1.0, math.inf).holds(ODD).tolist() == [True, True, False, True] + [False] * 5 + [True]
    assert Interval("value", -math.inf, 2.5).holds(ODD).nonzero()[0].tolist() == [0, 4, 9]
    assert Interval("raised", 1.0, math.inf).holds(ODD).nonzero()[0].tolist() == [8]
    assert Interval("value", 4.0, 5.0, (0,)).holds(ODD).nonzero()[0].tolist() == [7]


def test_features_of_arrays_and_of_lists_are_the_same() -> None:
    rows = np.random.default_rng(0).normal(size=(5, 3))
    for feature in ("value", "lowest bit"):
        assert numbers_of(rows, feature, (1,)).tolist() == numbers_of(rows.tolist(), feature, (1,)).tolist()
        assert np.isnan(numbers_of(rows, feature, (3,))).all()
    assert numbers_of(rows, "sum").tolist() == pytest.approx(rows.sum(axis=1).tolist())
    assert numbers_of(["ab", [1], {}, 3], "length").tolist()[:3] == [2, 1, 0]


def test_the_lowest_bit_is_that_of_the_binary_expansion() -> None:
    values = [1.0, 0.75, 12.0, 2.0**-1074, 0.1, 0.0, math.inf]
    found = numbers_of(values, "lowest bit")
    assert found[:4].tolist() == [0, -2, 2, -1074]
    assert (0.1 * 2 ** -found[4]) % 2 == 1
    assert np.isnan(found[5:]).all()


def test_listed_outputs_and_all_but_these() -> None:
    event = Cells.of_outputs([1, "3", math.nan, 2], complement=False)
    assert event.ranges == ((1, 2),)
    assert event.holds(ODD).nonzero()[0].tolist() == [0, 2, 5]
    others = Cells.of_outputs([1, "3", math.nan, 2], complement=True)
    assert (others.holds(ODD) ^ event.holds(ODD)).all()
    for one in (event, others):
        assert decode(json.dumps(encodable(one)), Event) == one
    assert Cells.of_outputs([4], path=(0,)).holds(ODD).nonzero()[0].tolist() == [7]


def test_of_a_findings_events_those_are_explicit_that_say_all() -> None:
    assert Interval("value", -1.0, math.inf).explicit
    assert Cells("output", ((1, 3),)).holds(ODD).nonzero()[0].tolist() == [0]
    learned = [Cells("output", ((1, 3),), rare=True), Cells("output", (), ("'a'",)), Interval("score", 0.0, 1.0)]
    for event in (*learned, Bets(5, 1.0)):
        assert not event.explicit
        with pytest.raises(InputError, match="only the audit that learned the event can tell"):
            event.holds(ODD)


RNG = np.random.default_rng(5)
N = 2000
NOISE = RNG.laplace(size=N)
CHOICES: dict[str, tuple[Any, Any, str]] = {
    "a number": (NOISE, NOISE[::-1] + 2, "threshold"),
    "a number among others": (np.c_[NOISE, NOISE], np.c_[NOISE, NOISE[::-1] + 2], "threshold"),
    "an entry": ([{"m": x} for x in NOISE], [{"m": x} for x in NOISE + 2], "threshold"),
    "a length": ([[0.0] * k for k in RNG.poisson(3, N)], [[0.0] * k for k in RNG.poisson(9, N)], "threshold"),
    "a text": (RNG.choice(["a", "b"], N, p=[0.9, 0.1]), RNG.choice(["a", "b"], N, p=[0.3, 0.7]), "outputs"),
    "not a number": (np.where(NOISE > 0, np.nan, 0.0), np.where(NOISE > 3, np.nan, 0.0), "outputs"),
    "an exception": ([Raised(ValueError("no"))] * N, [1.5] * N, "threshold"),
    "a constant and a continuum": (NOISE, np.zeros(N), "threshold"),
}


@pytest.mark.parametrize("name", CHOICES)
def test_events_are_found_on_the_side_where_they_are_likelier(name: str) -> None:
    first, second, _ = CHOICES[name]
    for sides in ((first, second), (second, first)):
        chosen = choose(sides, 0.0, 1e-3)
        assert chosen is not None
        assert chosen.lower > 1
        shares = [float(chosen.event.holds(outputs).mean()) for outputs in sides]
        assert (shares[0] > shares[1]) == (chosen.direction is Direction.FORWARD)


def test_thresholds_have_few_digits() -> None:
    chosen = choose((NOISE, NOISE[::-1] + 2), 0.0, 1e-3)
    assert chosen is not None
    assert isinstance(chosen.event, Interval)
    ends = [end for end in (chosen.event.low, chosen.event.high) if math.isfinite(end)]
    assert len(ends) == 1
    assert float(f"{ends[0]:.2g}") == ends[0]


def test_no_event_without_a_signal() -> None:
    for seed in range(20):
        noise = np.random.default_rng(seed).laplace(size=(2, 3000))
        assert choose(tuple(noise), 0.0, 1e-4) is None

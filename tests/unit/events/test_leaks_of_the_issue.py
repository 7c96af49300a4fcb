"""Ordinary outputs with a certain or large leak: plan and screen promise more than the claim; whole audits convict.

Seeds are fixed; the leaks are so large that one is missed with a probability far below one in a million.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from fractions import Fraction

import numpy as np
import pytest

import dpaudit
from dpaudit.events.feature_screening.search import screen_features
from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.plan import LeafPlan

EPSILON = 0.5


@dataclasses.dataclass(frozen=True)
class Box:
    low: float
    high: tuple[float, ...]


def moved(rng, size, x, at):
    values = rng.normal(size=size)
    values[at] += x
    return values


def exception(x, rng):
    raise (ValueError if x else TimeoutError)(f"failed after {int(rng.integers(10**6))} us")


def ordered(x, rng):
    a, b = ("u", int(rng.integers(5))), ("v", int(rng.integers(5)))
    return dict([a, b] if x else [b, a])


LEAKS = {
    "sum at the end": lambda x, rng: np.r_[rng.normal(size=200), 100.0 * x],
    "index 128": lambda x, rng: moved(rng, 129, 100 * x, 128),
    "last row": lambda x, rng: rng.normal(size=(20, 10)) + 5 * x * (np.arange(20) == 19)[:, None],
    "fraction": lambda x, rng: Fraction(int(4096 * (x + rng.laplace(scale=0.2))), 4096),
    "decimal": lambda x, rng: decimal.Decimal(repr(round(x + rng.laplace(scale=0.2), 6))),
    "imaginary part": lambda x, rng: complex(rng.normal(), 4 * x + rng.normal()),
    "duration": lambda x, rng: datetime.timedelta(seconds=float(x + rng.laplace(scale=0.2))),
    "frozen dataclass": lambda x, rng: Box(rng.normal(), (rng.normal(), 4 * x + rng.normal())),
    "record": lambda x, rng: np.array([(rng.normal(), 4 * x + rng.normal())], dtype=[("a", "f8"), ("b", "f8")]),
    "bit of bytes": lambda x, rng: rng.bytes(8) + bytes([128 * x + int(rng.integers(128))]) + rng.bytes(8),
    "key": lambda x, rng: {("a" if x else "b"): float(rng.normal())},
    "shape": lambda x, rng: rng.normal(size=(2, 1) if x else (1, 2)),
    "order": ordered,
    "exception": exception,
    "low bit": lambda x, rng: 2 * int(rng.integers(2**39)) + x,
    "prefix of a text": lambda x, rng: f"row-{x}-{int(rng.integers(2**40))}",
}
WIDE = ("sum at the end", "index 128", "last row")
"""Those of more numbers than a screen looks at one by one: what reduces them is tested with it."""


def once(mechanism, x, rng):
    try:
        return mechanism(x, rng)
    except Exception as error:  # an output of the mechanism, as audits take it
        return Raised(error)


@pytest.mark.parametrize("name", [name for name in LEAKS if name not in WIDE])
def test_the_screen_promises_more_than_the_claim(name):
    rng = np.random.default_rng(0)
    data, neighbour = ([once(LEAKS[name], x, rng) for _ in range(1_000)] for x in (0, 1))
    assert (
        screen_features(LeafPlan.of([*data, *neighbour]), data, neighbour, 5_000, epsilon=EPSILON)[0].promise
        > EPSILON + 0.5
    )


@pytest.mark.full
@pytest.mark.parametrize("mechanism", LEAKS.values(), ids=LEAKS.keys())
def test_the_audit_convicts(mechanism):
    finding = dpaudit.audit_privacy(mechanism, [(0, 1)], epsilon=EPSILON, trials=20_000, seed=0)
    assert finding.verdict == "violation"


@pytest.mark.full
def test_a_certain_leak_in_one_run_of_a_thousand_convicts():
    def rare(x, rng):
        return f"data: {x}" if rng.random() < 1e-3 else int(x + rng.geometric(0.3) - rng.geometric(0.3))

    assert dpaudit.audit_privacy(rare, [(0, 1)], epsilon=1.5, trials=100_000, seed=0).verdict == "violation"

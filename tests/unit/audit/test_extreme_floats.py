"""Outputs at the ends of what floats can hold are audited without a warning, which tests take for errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpaudit
from tests.support.grouped import grouped

ENDS = [1e308, -1e308, math.inf, -math.inf, math.nan, 0.0, -0.0, 5e-324, 1e300, 2.0**1023]


def end(rng: Any) -> float:
    return float(rng.choice(ENDS))


KINDS: dict[str, Callable[[int, Any], Any]] = {
    "float": lambda x, rng: end(rng) + x,
    "tuple": lambda x, rng: (end(rng), end(rng), end(rng), x + rng.laplace()),
    "array": lambda x, rng: np.array([end(rng) for _ in range(5)]),
    "wide array": lambda x, rng: 1e307 * rng.laplace(size=200),
    "complex": lambda x, rng: complex(end(rng), end(rng)),
    "nested": lambda x, rng: {"a": [end(rng), 1e308 * rng.random()], "b": str(end(rng))},
    "text": lambda x, rng: f"{rng.integers(9)}e{rng.integers(250, 330)} {rng.integers(9)}e{rng.integers(250, 330)}",
    "subnormal": lambda x, rng: 5e-324 * int(rng.integers(50)),
}


DESIGNS: dict[str, dict[str, bool]] = {"fixed": {}, "bits": {"float_bits": True}, "bets": {"sequential": True}}


@pytest.mark.parametrize(
    ("mechanism", "design"),
    [
        # Each kind with one design in every profile, by turns.
        pytest.param(mechanism, design, id=f"{name}-{of}", marks=[pytest.mark.full] * ((i + j) % 3 != 0))
        for i, (name, mechanism) in enumerate(KINDS.items())
        for j, (of, design) in enumerate(DESIGNS.items())
    ],
)
def test_no_warning_and_no_false_violation(mechanism: Callable[[int, Any], Any], design: dict[str, bool]) -> None:
    # A true claim is accused with probability 0.001: in one of these 24 audits with less than 0.03.
    found = dpaudit.audit_privacy(mechanism, [(0, 0)], **grouped(epsilon=0.5, trials=300, **design))
    assert found.verdict != "violation"

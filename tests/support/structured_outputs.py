"""Mechanisms that leak through the structure of their outputs: (rng, x) -> output, x in {0, 1}."""

from __future__ import annotations

import numpy as np

from dpaudit.outputs.canonical import Raised


def normal(rng, size):
    return rng.normal(size=size).tolist()


STRUCTURES = {
    "key": lambda rng, x: {("a" if x else "b"): normal(rng, 1)[0]},
    "vanishing key": lambda rng, x: dict(zip("abc"[: 2 + x], normal(rng, 3), strict=False)),
    "key among hundreds": lambda rng, x: dict.fromkeys(rng.choice(300, 20).tolist(), normal(rng, 1)[0]) | (
        {-1: 0.5} if x else {}),
    "keys that never repeat": lambda rng, x: {f"{'uv'[x]}{rng.integers(10**9)}": normal(rng, 1)[0]},
    "nested key": lambda rng, x: {"a": {"b": normal(rng, 2), **({"c": 1.0} if x else {})}},
    "order of keys": lambda rng, x: dict(zip("ba" if x else "ab", normal(rng, 2), strict=True)),
    "order of nested keys": lambda rng, x: [dict(zip("ba" if x else "ab", normal(rng, 2), strict=True))],
    "length": lambda rng, x: normal(rng, 5 + x),
    "shape": lambda rng, x: rng.normal(size=(2, 3) if x else (3, 2)),
    "dimensions": lambda rng, x: rng.normal(size=(4, 1) if x else 4),
    "nesting": lambda rng, x: [normal(rng, 2), normal(rng, 1)] if x else [normal(rng, 1), normal(rng, 2)],
    "nesting of one": lambda rng, x: [normal(rng, 1)] if x else normal(rng, 1),
    "int or float": lambda rng, x: (int if x else float)(rng.integers(10**6)),
    "int or float inside": lambda rng, x: [normal(rng, 1)[0], (int if x else float)(rng.integers(10**6))],
    "int or float array": lambda rng, x: rng.integers(10**6, size=3).astype(int if x else float),
    "int or Boolean": lambda rng, x: bool(rng.integers(2)) if x else int(rng.integers(2)),
    "negative zero in an array": lambda rng, x: np.array([*normal(rng, 3), -0.0 if x else 0.0]),
    "negative zero in a wide array": lambda rng, x: np.array([*normal(rng, 40), -0.0 if x else 0.0]),
    "negative zero in a list": lambda rng, x: [*normal(rng, 3), -0.0 if x else 0.0],
    "NaN or infinity": lambda rng, x: np.array([*normal(rng, 20), np.nan if x else np.inf]),
    "type of an exception": lambda rng, x: Raised((ValueError if x else TimeoutError)(f"after {rng.integers(10**9)}")),
    "number in a message": lambda rng, x: Raised(ValueError(f"after {2 * rng.integers(10**9) + x} us")),
    "message": lambda rng, x: Raised(ValueError(f"{'bad' if x else 'low'} {rng.integers(10**9)}")),
    "None inside": lambda rng, x: {"a": None if x else normal(rng, 1)[0], "b": 1},
    "set or list": lambda rng, x: (set if x else list)(rng.integers(10**6, size=3).tolist()),
}  # fmt: skip

"""Text and JSON of values: the same in every process, whatever the hash seed and the addresses."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from dpaudit.events.cells import tally
from dpaudit.jsonable import jsonable, stable_repr

SHOW = """
import functools
from dataclasses import dataclass
from dpaudit.running.adapters import as_mechanism
from dpaudit.outputs.canonical import canonical, in_words
from dpaudit.jsonable import jsonable, stable_repr

@dataclass(frozen=True)
class Noise:
    names: frozenset
    source: object
    def __call__(self, data, rng):
        return data

value = Noise(frozenset({"a", "b", "c", "d"}), object())
print(stable_repr(value), jsonable(value), as_mechanism(value).name)
print(as_mechanism(functools.partial(value)).name)
print(in_words(canonical({"x": {1, 2, "y", None}, "z": frozenset({"p", "q"})})))
"""


def test_text_is_the_same_in_every_process() -> None:
    shown = {
        subprocess.run(
            [sys.executable, "-c", SHOW], env={"PYTHONHASHSEED": str(seed)}, capture_output=True, text=True, check=True
        ).stdout
        for seed in range(2)
    }
    assert len(shown) == 1
    assert " at 0x" not in shown.pop()


@pytest.mark.parametrize(
    "value", [1, 2.5, "a", (1,), (), (1, "b"), [1, [2]], {"a": (1, 2)}, None, True, b"x", {1: {2: 3}}]
)
def test_plain_values_are_written_as_python_writes_them(value: object) -> None:
    assert stable_repr(value) == repr(value)


def test_dataclasses_are_written_as_python_writes_them() -> None:
    @dataclass(frozen=True)
    class Point:
        x: int
        y: tuple[float, ...]

    assert stable_repr(Point(1, (2.5,))) == repr(Point(1, (2.5,)))
    assert jsonable({"p": Point(1, (2.5,)), "s": {3, 1, 2}}) == {"p": {"x": 1, "y": [2.5]}, "s": [1, 2, 3]}


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.uint8, np.int64, np.uint64])
def test_integers_of_any_width_are_counted(kind: type[np.integer]) -> None:
    values = np.array([np.iinfo(kind).min, np.iinfo(kind).max, np.iinfo(kind).max], dtype=kind)
    assert tally(values) == {int(np.iinfo(kind).min): 1, int(np.iinfo(kind).max): 2}
    high = np.array([np.iinfo(kind).max - 3, np.iinfo(kind).max], dtype=kind)
    assert tally(high) == {int(high[0]): 1, int(high[1]): 1}

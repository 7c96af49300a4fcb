"""Numbers that several bytes form: as Python reads them, and found among all features of bytes.

Seeds are fixed; the tails are seven standard errors of the runs that look for them and more.
"""

from __future__ import annotations

import numpy as np
import pytest

from dpaudit.events.feature_screening.search import screen_features
from dpaudit.events.feature_screening.texts import byte_numbers
from dpaudit.outputs.plan import LeafPlan

RUNS = 2_000


def expected(value: bytes, at: int, little: bool) -> float:
    """Return the number of up to eight bytes of which the highest is at a place from the start, or from the end."""
    # Byte by byte: those beyond either end count as 0.
    place = at if at >= 0 else len(value) + at
    step = -1 if little else 1
    read = [place + step * i for i in range(8)]
    return float(sum(value[i] << 8 * (7 - k) for k, i in enumerate(read) if 0 <= i < len(value)))


@pytest.mark.parametrize("lengths", [(12, 13), (5, 6), (1, 12), (0, 4), (30, 60)])
def test_numbers_of_bytes_are_those_read_byte_by_byte(lengths: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    values = [rng.bytes(int(rng.integers(*lengths))) for _ in range(80)]
    columns = byte_numbers(values)
    near = min(32, max(map(len, values)))
    places = [*range(near), *(range(-1, -1 - near, -1) if len(set(map(len, values))) > 1 else ())]
    heads = [(at, little) for at in places for little in (False, True)]
    for column, (at, little) in zip(columns, heads, strict=True):
        assert column.read(values).tolist() == [expected(value, at, little) for value in values]
        assert column.cells(values[:7]).tolist() == column.cells(values)[:7].tolist()


def test_bytes_that_never_vary_head_no_number() -> None:
    rng = np.random.default_rng(0)
    values = [b"id" + rng.bytes(1) + b"\0" for _ in range(90)]
    names = [column.name for column in byte_numbers(values)]
    assert names == ["big-endian number from byte 2 from the start", "little-endian number up to byte 2 from the start"]
    assert byte_numbers([b"", b""]) == []


def tail(share: float, rng: np.random.Generator) -> float:
    return 1 - 0.1 * rng.random() if rng.random() < share else 0.9 * rng.random()


STAMPS = {
    "big-endian": lambda u, rng: rng.bytes(8) + int(u * 2**32).to_bytes(4, "big") + rng.bytes(3),
    "little-endian": lambda u, rng: rng.bytes(8) + int(u * 2**32).to_bytes(4, "little") + rng.bytes(3),
    "from the end": lambda u, rng: rng.bytes(int(rng.integers(3, 9))) + int(u * 2**32).to_bytes(4, "big"),
}


@pytest.mark.parametrize("stamp", STAMPS.values(), ids=STAMPS.keys())
def test_a_tail_of_a_number_in_bytes_is_returned(stamp) -> None:
    rng = np.random.default_rng(1)
    sides = [[stamp(tail(share, rng), rng) for _ in range(RUNS)] for share in (0.1, 0.22)]
    found = screen_features(LeafPlan.of([*sides[0][:500], *sides[1][:500]]), *sides, 16_000, epsilon=0.5)
    assert any("number" in one.feature.name for one in found[:3])
    assert found[0].promise > 0.3

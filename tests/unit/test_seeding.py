"""Seeds are addresses."""

from __future__ import annotations

import hashlib
import struct
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from dpaudit import seeding
from dpaudit.errors import InputError


def test_the_stream_depends_on_the_address_alone() -> None:
    draws = {
        seeding.generator(seed, *address).integers(2**62)
        for seed in (0, 1)
        for address in ((), ("a",), ("a", 0), ("a", 1), ("a", "0"), (["a", 0],), ({"a": 0},))
    }
    assert len(draws) == 14
    assert seeding.generator(7, {"b": 1, "a": 2}).random() == seeding.generator(7, {"a": 2, "b": 1}).random()


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**127 + 5, 2**128, 2**200 + 3])
def test_the_hashed_address_is_the_spawn_key_of_the_seed(seed: int) -> None:
    key = struct.unpack("<4I", hashlib.blake2b(b'["a",0]', digest_size=16).digest())
    plain = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
    made = seeding.generator(seed, "a", 0)
    assert made.bit_generator.state == plain.bit_generator.state
    assert made.spawn(2)[1].bit_generator.state == plain.spawn(2)[1].bit_generator.state


def test_the_stream_is_the_same_in_another_process() -> None:
    code = "from dpaudit import seeding; print(seeding.generator(3, 'x', 5).integers(2**62))"
    elsewhere = int(subprocess.check_output([sys.executable, "-c", code], env={"PYTHONHASHSEED": "77"}))
    assert elsewhere == seeding.generator(3, "x", 5).integers(2**62)


@pytest.mark.parametrize("seed", [-1, 1.5, "0", None, True])
def test_a_bad_seed_is_refused(seed: Any) -> None:
    with pytest.raises(InputError, match="seed must be a non-negative integer"):
        seeding.generator(seed)

"""The only place where a random generator is made: seeds are addresses."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from dpaudit.errors import InputError
from dpaudit.jsonable import Json

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def check_seed(seed: int) -> int:
    """Return `seed` if it is a non-negative integer, else raise `InputError`."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError.of("seed", seed, "a non-negative integer")
    return int(seed)


def generator(seed: int, *address: Json) -> np.random.Generator:
    """Return the generator that lives at an address below a root seed.

    The stream is a pure function of ``(seed, address)``: the address, of JSON-compatible values, is written as
    canonical JSON, hashed to 128 bits and handed to `numpy.random.SeedSequence` as its spawn key, so that it depends on
    no schedule, process or backend. Two addresses share a stream only if they are equal as JSON (or BLAKE2b collides on
    128 bits).

    >>> generator(0, "run", 3).integers(10) == generator(0, "run", 3).integers(10)
    True
    """
    spawn_key = hashlib.blake2b(_CANONICAL(address).encode(), digest_size=16).digest()
    whole = check_seed(seed)
    # The words that `SeedSequence(seed, spawn_key=key)` makes of the two: those of the seed, at least four, and then
    # those of the key. Given as they are, a generator takes 40 % less time.
    words = whole.to_bytes(max(16, -(-whole.bit_length() // 32) * 4), "little") + spawn_key
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(np.frombuffer(words, "<u4"))))

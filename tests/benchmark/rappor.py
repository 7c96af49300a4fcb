"""RAPPOR: randomised response on the bits of a Bloom filter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmark.noise import Array

__all__ = ["Rappor", "bloom_bits", "murmur3_32"]

_WORD = 0xFFFFFFFF


def _rotate(word: int, by: int) -> int:
    return (word << by | word >> (32 - by)) & _WORD


def _scramble(word: int) -> int:
    return _rotate(word * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD


def murmur3_32(key: bytes, seed: int = 0) -> int:
    """Return Appleby's MurmurHash3 (x86, 32 bits) of a key, as an unsigned integer."""
    state = seed
    whole = len(key) // 4 * 4
    for i in range(0, whole, 4):
        state ^= _scramble(int.from_bytes(key[i : i + 4], "little"))
        state = (_rotate(state, 13) * 5 + 0xE6546B64) & _WORD
    if key[whole:]:
        state ^= _scramble(int.from_bytes(key[whole:], "little"))
    state ^= len(key)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        state = (state ^ state >> shift) * factor & _WORD
    return state ^ state >> 16


def bloom_bits(value: int, size: int, hashes: int) -> list[int]:
    """Return the positions that an integer sets in a Bloom filter of `size` bits, ascending.

    Hash i is MurmurHash3 of the decimal digits with seed i, read as a signed number and reduced modulo
    `size`: the benchmark's positions come from a binding that returns signed numbers.
    """
    hashed = (murmur3_32(str(value).encode(), seed) for seed in range(hashes))
    return sorted({(word - (word >> 31 << 32)) % size for word in hashed})


@dataclass(frozen=True)
class Rappor:
    """A Bloom filter with every bit randomised: outputs (size, bits) of 0 and 1.

    Permanent step: each bit becomes 1 with probability f/2, 0 with probability f/2, and is kept otherwise.
    Instantaneous step: 1 is reported with probability `one` where the bit is 1, `zero` where it is 0; one = 1
    and zero = 0 leave it out.
    """

    f: float
    zero: float = 0.0
    one: float = 1.0
    bits: int = 20
    hashes: int = 4

    def report_probabilities(self) -> tuple[float, float]:
        """Return the probabilities that a bit is reported as 1 if it is 0, and if it is 1."""
        spread = self.one - self.zero
        return self.zero + spread * self.f / 2, self.zero + spread * (1 - self.f / 2)

    def filter(self, data: int) -> Array:
        """Return the Bloom filter of a value, as Booleans."""
        return np.isin(np.arange(self.bits), bloom_bits(data, self.bits, self.hashes))

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> Array:
        draws = rng.random((size, self.bits))
        permanent = np.where(draws < self.f, draws < self.f / 2, self.filter(data))
        if (self.zero, self.one) == (0.0, 1.0):
            return permanent.astype(np.int8)
        return (rng.random((size, self.bits)) < np.where(permanent, self.one, self.zero)).astype(np.int8)

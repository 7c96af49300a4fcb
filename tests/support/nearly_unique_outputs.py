"""Mechanisms with outputs that hardly ever repeat, each with a leak: (rng, x) -> output, x in {0, 1}.

They were written by the author of some features, who knew the others: 23 of the 25 were promised at once, the features
for hexadecimal and check digits were added for the other two. So they say little of kinds that nobody has thought of.
"""

from __future__ import annotations

import base64
import datetime
import json
import math
import uuid
from fractions import Fraction

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau".split()


def words(rng, count):
    return [WORDS[i] for i in rng.integers(len(WORDS), size=count)]


def big(rng):
    return int(rng.integers(2**40))


def luhn(digits):
    return -sum(int(d) * (2 if i % 2 == 0 else 1) % 9 for i, d in enumerate(reversed(digits))) % 10


KINDS = {
    "bit 37 of 48": lambda rng, x: big(rng) * 256 & ~(1 << 37) | x << 37,
    "multiple of 6 or of 9": lambda rng, x: (9 if x else 6) * int(rng.integers(1, 10**9)),
    "odd number of ones": lambda rng, x: (lambda v: v << 1 | (v.bit_count() & 1) ^ x)(big(rng)),
    "last digit 7 now and then": lambda rng, x: 10 * big(rng) + (7 if x and rng.random() < 0.3 else 3),
    "overflow of 32 bits": lambda rng, x: (2**31 - 1 if x else int(rng.integers(2**31))) if rng.random() < 0.2 else (
        int(rng.integers(2**31))),
    "whole microseconds": lambda rng, x: datetime.timedelta(microseconds=int(rng.integers(10**8)) * (1000 if x else 1)),
    "denominator": lambda rng, x: Fraction(2 * big(rng) + 1, 2 ** (3 + x)),
    "version of a uuid": lambda rng, x: uuid.UUID(bytes=rng.bytes(16), version=4 if x else 1),
    "case of one letter": lambda rng, x: f"{big(rng):012d}-{'Q' if x else 'q'}-{big(rng):012d}",
    "field of JSON": lambda rng, x: json.dumps({"id": big(rng), "of": {"score": 50 * x + float(rng.normal())}}),
    "key of JSON": lambda rng, x: json.dumps({"id": big(rng), ("b" if x else "a"): float(rng.normal())}),
    "number in a sentence": lambda rng, x: f"{' '.join(words(rng, 3))} took {int(rng.integers(90)) + 100 * x} ms",
    "word anywhere": lambda rng, x: " ".join(rng.permutation([*words(rng, 9), ("south", "north")[x]])) + str(big(rng)),
    "order of the words": lambda rng, x: " ".join(sorted(words(rng, 9), reverse=bool(x))) + str(big(rng)),
    "column of a line": lambda rng, x: f"{big(rng)},{big(rng)},{2 * big(rng) + x},{big(rng)}",
    "parity of hex": lambda rng, x: f"{(lambda v: v << 1 | (v.bit_count() & 1) ^ x)(big(rng)):x}",
    "base64": lambda rng, x: base64.b64encode(rng.bytes(9) + bytes([x]) + rng.bytes(8)).decode(),
    "check digit": lambda rng, x: (lambda v: f"{v}{(int(v) + x) % 9}")(f"{big(rng):013d}"),
    "padding": lambda rng, x: f"{big(rng)}{' ' if x else ''}",
    "duplicate element": lambda rng, x: (lambda v: [*v, v[0] if x else big(rng)])([big(rng) for _ in range(9)]),
    "sorted list": lambda rng, x: (sorted if x else list)([big(rng) for _ in range(12)]),
    "sum of a list": lambda rng, x: (lambda v: [*v, 2 * big(rng) + (sum(v) + x) % 2])([big(rng) for _ in range(5)]),
    "difference of two fields": lambda rng, x: (lambda v: {"a": v, "b": v + 10 + 7 * x, "c": big(rng)})(big(rng)),
    "octet in the middle": lambda rng, x: rng.bytes(20) + bytes([int(rng.integers(128)) + 128 * x]) + rng.bytes(20),
    "number in the last octets": lambda rng, x: (
        rng.bytes(int(rng.integers(4, 9))) + (int(rng.integers(10**6)) + 10**6 * x).to_bytes(3, "big")),
    "rounded to 3 digits": lambda rng, x: math.floor(1000 * rng.random()) / 1000 if x else rng.random(),
}  # fmt: skip

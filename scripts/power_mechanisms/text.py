"""Text, JSON, bytes and identifiers."""

from __future__ import annotations

import json
import math
import string
import uuid

from power_mechanisms.row import LN3, Rng, Row, geometric, response

__all__ = ["ROWS"]

LETTERS = list(string.ascii_lowercase)


def one_case(x: int, rng: Rng) -> str:
    status = "OK" if response(x, rng, LN3) else "Ok"
    return f"{rng.integers(10**9):09d} job {rng.bytes(6).hex()} ended: {status}, {rng.integers(1000)} ms"


def length(x: int, rng: Rng) -> str:
    return "".join(rng.choice(LETTERS, max(0, 20 + geometric(x, rng, 1.0))))


def json_flag(x: int, rng: Rng) -> str:
    record = {
        "id": int(rng.integers(2**50)),
        "user": rng.bytes(5).hex(),
        "member": bool(response(x, rng, 2.0)),
        "score": round(float(rng.normal()), 6),
    }
    return json.dumps(record)


def byte_17(x: int, rng: Rng) -> bytes:
    return rng.bytes(17) + bytes([int(rng.integers(256 if x else 128))]) + rng.bytes(14)


def identifier(x: int, rng: Rng) -> uuid.UUID:
    return uuid.UUID(bytes=rng.bytes(16), version=4 if response(x, rng, 1.0) else 1)


ROWS = (
    Row("one case", "text", one_case, LN3, "The case of one letter in a line of a log.", lambda v: ": OK," in v),
    Row("length", "text", length, 1.0, "The length of a random word.", lambda v: len(v) >= 21),
    Row("json flag", "JSON", json_flag, 2.0, "A Boolean field of a JSON record.", lambda v: json.loads(v)["member"]),
    Row("byte 17", "bytes", byte_17, math.inf, "The top bit of one of 32 random bytes.", lambda v: v[17] >= 128),
    Row("identifier", "uuid", identifier, 1.0, "The version of a random UUID.", lambda v: v.version == 4),
)

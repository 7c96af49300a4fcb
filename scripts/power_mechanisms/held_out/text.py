"""Text, encoded bytes, sets, records and objects."""

from __future__ import annotations

import base64
import enum
from typing import Any, NamedTuple

from power_mechanisms.row import LN3, Rng, Row, chance, response

__all__ = ["ROWS"]

WORDS = "the a report says that our total north team sold more cars boats trees than last year and next".split()
HEX = "0123456789abcdef"


class Colour(enum.Enum):
    """A colour."""

    RED = "red"
    GREEN = "green"
    BLUE = "blue"
    GREY = "grey"


class Vote(NamedTuple):
    """A vote with a random weight."""

    weight: float
    colour: Colour


class Profile:
    """A plain object, some of which have one attribute more."""

    def __init__(self, age: float, score: float) -> None:
        self.age = age
        self.score = score


def word(x: int, rng: Rng) -> str:
    """Return twelve random words; one more, at a random place, is the name of a client or is not."""
    words = [WORDS[i] for i in rng.integers(len(WORDS), size=13)]
    if response(x, rng, LN3):
        words[int(rng.integers(13))] = "Miller"
    return " ".join(words)


def last_digit(x: int, rng: Rng) -> str:
    last = 2 * int(rng.integers(8)) + response(x, rng, 1.0)
    return rng.bytes(8).hex() + HEX[last]


def padding(x: int, rng: Rng) -> str:
    return base64.b64encode(rng.bytes(16 if response(x, rng, 2.0) else 15)).decode()


def tokens(x: int, rng: Rng) -> frozenset[str]:
    drawn = {f"t{i}" for i in rng.integers(1000, size=6)}
    return frozenset(drawn | {"vip"} if response(x, rng, LN3) else drawn)


def vote(x: int, rng: Rng) -> Vote:
    """Return a colour by randomised response over four, and a weight."""
    told = (0, 2)[x]
    # Each of the three others is chosen with the same probability, exp(-2) times that of the truth.
    if rng.random() < chance(2 - LN3):
        return Vote(float(rng.exponential()), list(Colour)[told])
    return Vote(float(rng.exponential()), list(Colour)[(told + 1 + int(rng.integers(3))) % 4])


def profile(x: int, rng: Rng) -> Profile:
    made = Profile(float(rng.normal(40, 10)), float(rng.normal()))
    if response(x, rng, 2.0):
        made.income = float(rng.normal())  # type: ignore[attr-defined]
    return made


def has_income(v: Any) -> bool:
    return hasattr(v, "income")


ROWS = (
    Row("word", "text", word, LN3, "A name somewhere among thirteen words.", lambda v: "Miller" in v),
    Row(
        "last digit",
        "text",
        last_digit,
        1.0,
        "Whether the last of seventeen hexadecimal digits is odd.",
        lambda v: int(v[-1], 16) % 2 == 1,
    ),
    Row("padding", "text", padding, 2.0, "One byte more, seen by the padding of base64.", lambda v: v.endswith("=")),
    Row("tokens", "set", tokens, LN3, "Whether a set of random tokens has a certain one.", lambda v: "vip" in v),
    Row(
        "vote",
        "named tuple",
        vote,
        2.0,
        "A member of an enumeration beside a random weight.",
        lambda v: v.colour is Colour.BLUE,
    ),
    Row("profile", "object", profile, 2.0, "Whether an object has an attribute.", has_income),
)

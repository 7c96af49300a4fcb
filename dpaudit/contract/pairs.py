"""Pairs of neighbouring inputs, and how they were made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dpaudit.errors import InputError

__all__ = ["Origin", "OriginKind", "Pair"]


class OriginKind(StrEnum):
    """The way in which a pair was made, before any local search varied it."""

    CRAFTED = "crafted"
    ENUMERATED = "enumerated"
    GIVEN = "given"
    PATTERN = "pattern"
    RANDOM = "random"
    STRATEGY = "strategy"


@dataclass(frozen=True)
class Origin:
    """The origin of a pair.

    Parameters
    ----------
    kind : OriginKind
        How the pair was made; given by the user where nothing else is said.
    text : str
        A note: of a crafted pair its background and its change, of a random one its number.
    moves : int
        The number of steps of the local search that varied it since.
    """

    kind: OriginKind = OriginKind.GIVEN
    text: str = ""
    moves: int = 0

    def __post_init__(self) -> None:
        if self.moves < 0:
            raise InputError.of("moves", self.moves, "an integer >= 0")


@dataclass(frozen=True, init=False)
class Pair:
    """Two neighbouring inputs, and their origin; a text in its place is a note on a pair that is given."""

    data: Any
    neighbour: Any
    origin: Origin

    def __init__(self, data: Any, neighbour: Any, origin: Origin | str = "") -> None:
        if not isinstance(origin, Origin | str):
            raise InputError.of("origin", origin, "an Origin or a text")
        for name, value in (
            ("data", data),
            ("neighbour", neighbour),
            ("origin", Origin(text=origin) if isinstance(origin, str) else origin),
        ):
            object.__setattr__(self, name, value)

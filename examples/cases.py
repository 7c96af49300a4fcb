"""One audit of a mechanism of a library: what is run, on which pairs, what it claims and what is looked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Case"]


@dataclass(frozen=True)
class Case:
    """A mechanism with its claim.

    Attributes
    ----------
    name : str
        Its name in the table.
    mechanism : callable
        ``(data, rng) -> output``, ``(data, rng, size) -> outputs`` if batched, or a measurement of OpenDP.
    pairs : sequence of (data, neighbour)
        Neighbouring inputs.
    epsilon, delta : float
        The claim.
    looks_for : str
        The weakness that the pairs are made for.
    batched : bool
        Whether one call makes many runs.
    trials : int
        Runs on each side of each pair.
    inside : bool
        Whether the library's documentation promises privacy on these inputs, as it is called here.
    shrinks : bool
        Whether the certificate of a violation is to have a smaller pair.
    float_bits : bool
        Whether how floats are stored counts, and not their values alone.
    """

    name: str
    mechanism: Any
    pairs: Sequence[tuple[Any, Any]]
    epsilon: float
    delta: float = 0.0
    looks_for: str = "the size of the noise"
    batched: bool = False
    trials: int = 20_000
    inside: bool = True
    shrinks: bool = True
    float_bits: bool = False

"""The coins of an audit in one run: which canaries are in the training, sealed before it and checked after it."""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from dpaudit import seeding
from dpaudit.arguments import read_integer
from dpaudit.bounds.base import MAX_COINS, Bools
from dpaudit.errors import InputError
from dpaudit.files import write_file
from dpaudit.record import Count, Frozen, Words, decode, encodable

LEAST = 2
"""The least number of canaries."""
_BYTES = 16


class Coins(Frozen, frozen=True):
    """Fair coins that decide which canaries are in a training, with a digest that commits to them.

    `flip_coins` makes them. Publish `seal` before the training, or save the coins where they cannot be changed: who has
    the digest can check afterwards, by `audit_scores(..., seal=...)`, that no coin was chosen by an outcome. The file
    of the coins alone does not show that: coins that were changed can be sealed again. The nonce keeps coins from being
    guessed from the digest.

    Attributes
    ----------
    bits : tuple of str
        For each run a text of "1" for each canary that is in, and "0" for each that is out.
    nonce : str
        Random text that is part of what is sealed.
    seed : int or None
        The seed that was chosen; None where the coins come from the operating system.
    seal : str
        The SHA-256 digest of the other fields, as JSON with sorted keys and without spaces.
    """

    bits: tuple[Annotated[str, msgspec.Meta(pattern="^[01]+$")], ...]
    nonce: Words
    seed: Count | None
    seal: Words

    def __post_init__(self) -> None:
        if not self.bits or len({len(row) for row in self.bits}) > 1 or len(self.bits[0]) < LEAST:
            raise InputError.of("bits", len(self.bits), f"a text of {LEAST} or more coins for each run, all as long")
        if self.seal != sealed_by(self.bits, self.nonce, self.seed):
            raise InputError("the coins are not those that were sealed: the digest is that of others", parameter="seal")

    @property
    def included(self) -> Bools:
        """The canaries that are in as True, shape (m,); for several runs (runs, m)."""
        found = np.array([[bit == "1" for bit in row] for row in self.bits])
        return found[0] if len(found) == 1 else found

    def save(self, path: str | Path) -> None:
        """Write the coins to a file as JSON; whole, or not at all."""
        text = json.dumps(encodable(self), indent=1)
        write_file(path, f"{text}\n".encode())

    @classmethod
    def load(cls, path: str | Path) -> Coins:
        """Return the coins in a file that `save` wrote.

        Raises
        ------
        ToolFault
            If the file holds no coins, or others than those that were sealed.
        OSError
            If there is no such file, or it cannot be read.
        """
        found: Coins = decode(Path(path).read_bytes(), cls, path)
        return found


def sealed_by(bits: tuple[str, ...], nonce: str, seed: int | None) -> str:
    """Return the digest that commits to coins."""
    text = json.dumps({"bits": bits, "nonce": nonce, "seed": seed}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def flip_coins(m: int, seed: int | None = None, *, runs: int = 1) -> Coins:
    """Flip a fair coin for each canary of an audit in one run: it decides whether the canary is in the training.

    Parameters
    ----------
    m : int
        The number of canaries, at least 2.
    seed : int, optional
        Makes the coins reproducible; the finding then names it. By default they come from the operating system, so
        that nothing which knows the seed can know them.
    runs : int
        Trainings, each of which has coins of its own for the same canaries.

    Returns
    -------
    Coins
        `.included` is the assignment, `.seal` the digest to publish before training.

    Raises
    ------
    InputError
        For fewer than two canaries, or other bad numbers.

    Examples
    --------
    >>> import dpaudit
    >>> coins = dpaudit.flip_coins(1000, seed=1)
    >>> coins.included.shape, int(coins.included.sum()), coins.seal[:8]
    ((1000,), 478, '039e3473')
    """
    m, runs = read_integer("m", m, LEAST, MAX_COINS), read_integer("runs", runs)
    if m * runs > MAX_COINS:
        raise InputError.of("runs", runs, f"such that there are at most {MAX_COINS:g} coins in all")
    draw: Callable[[int], bytes] = secrets.token_bytes
    if seed is not None:
        seed = seeding.check_seed(seed)
        draw = seeding.generator(seed, "one run", "coins", m, runs).bytes
    drawn, nonce = draw(math.ceil(m * runs / 8)), draw(_BYTES).hex()
    flipped = np.unpackbits(np.frombuffer(drawn, np.uint8))[: m * runs].reshape(runs, m)
    bits = tuple("".join(map(str, row)) for row in flipped)
    return Coins(bits, nonce, seed, sealed_by(bits, nonce, seed))


def read_included(included: Any, sealed: Coins | None) -> tuple[Bools, Coins | None]:
    """Return coins as an array (runs, m), and the sealed ones if there are any; `InputError` if these are others."""
    if isinstance(included, Coins):
        sealed, included = sealed or included, included.included
    allowed = "an array of True and False, or of 1 and 0"
    try:
        numbers = np.asarray(included).astype(np.float64)
    except (TypeError, ValueError):
        raise InputError.of("included", included, allowed) from None
    if numbers.ndim not in (1, 2) or not np.isin(numbers, (0, 1)).all():
        raise InputError.of("included", included, f"{allowed}, of shape (m,) or (runs, m)")
    found = np.atleast_2d(numbers == 1)
    if sealed is not None:
        if not isinstance(sealed, Coins):
            raise InputError.of("sealed", sealed, "the coins of dpaudit.flip_coins")
        own, differ = np.atleast_2d(sealed.included), ""
        if own.shape != found.shape:
            differ = f"got shape {found.shape}, sealed were {own.shape}"
        elif (own != found).any():
            differ = f"{int((own != found).sum())} of {found.size} differ"
        if differ:
            message = "included must be the coins that were sealed: {differ_}"
            raise InputError(message, names=("included",), differ_=differ)
    return found, sealed

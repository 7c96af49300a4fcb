"""The coins of an audit in one run: which canaries are in the training, sealed before it and checked after it."""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from dpaudit import seeding
from dpaudit.arguments import read_integer
from dpaudit.bounds.base import MAX_COINS, Array, Bools
from dpaudit.errors import InputError
from dpaudit.files import write_file
from dpaudit.record import Count, Frozen, Words, decode, encodable

# The least number of canaries.
LEAST = 2
# Bytes of the nonce, so many that coins cannot be guessed from their digest.
_BYTES = 16
# An order of coins that fair ones have with a smaller probability is a warning.
ORDER = 1e-9
# Distances, at most, at which coins are compared.
_LAGS = 4096


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
        The seed that was chosen, or None if the coins come from the operating system.
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
        found: Bools = np.array([[bit == "1" for bit in row] for row in self.bits])
        if len(found) == 1:
            found = found[0]
        return found

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
        Trainings; each has its own coins for the same canaries.

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
    m = read_integer("m", m, LEAST, MAX_COINS)
    runs = read_integer("runs", runs)
    if m * runs > MAX_COINS:
        raise InputError.of("runs", runs, f"such that there are at most {MAX_COINS:g} coins in all")
    # By default no seed: what knows the seed of an audit, such as the training, must not know its coins.
    draw: Callable[[int], bytes] = secrets.token_bytes
    if seed is not None:
        seed = seeding.check_seed(seed)
        draw = seeding.generator(seed, "one run", "coins", m, runs).bytes
    drawn = draw(math.ceil(m * runs / 8))
    nonce = draw(_BYTES).hex()
    flipped = np.unpackbits(np.frombuffer(drawn, np.uint8))[: m * runs].reshape(runs, m)
    bits = tuple("".join(map(str, row)) for row in flipped)
    return Coins(bits, nonce, seed, sealed_by(bits, nonce, seed))


def read_included(included: ArrayLike | Coins, sealed: Coins | None) -> tuple[Bools, Coins | None]:
    """Return coins as an array (runs, m), and the sealed ones if there are any; `InputError` if these are others."""
    if isinstance(included, Coins):
        sealed = sealed or included
        included = included.included
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
        own = np.atleast_2d(sealed.included)
        differ = ""
        if own.shape != found.shape:
            differ = f"got shape {found.shape}, sealed were {own.shape}"
        elif (own != found).any():
            differ = f"{int((own != found).sum())} of {found.size} differ"
        if differ:
            message = "included must be the coins that were sealed: {differ_}"
            raise InputError(message, names=("included",), differ_=differ)
    return found, sealed


def order_warning(flipped: Bools) -> str:
    """Describe an unlikely property of the order of coins (runs, m) that were given as fair; "" if there is none.

    Each of the tests below has an exact p-value, or one from above, under fair independent coins, and they share
    `ORDER`. A score that changes with the place of a canary, and not with its coin, is taken for a leak where members
    stand first, for instance.
    """
    trends = _by_trend(flipped)
    others = [*_by_distance(flipped), *_by_stretch(flipped), *_by_canary(flipped)]
    # The union bound: no test has more than its part of the error.
    least = ORDER / (len(trends) + len(others))
    # Members first is what a file in two parts has: it is named before the blocks that it also consists of.
    named = [words for p_value, words in trends if p_value < least]
    named += [words for p_value, words in sorted(others) if p_value < least]
    if not named:
        return ""
    words = named[0]
    why = f"fair coins do that with a probability below {ORDER:g}"
    return f"{words}: {why}, and scores that depend on the place of a canary, not on its coin, are taken for a leak"


# p-values of tests, with the words for what each has found.
_Tested = list[tuple[float, str]]


def _by_trend(flipped: Bools) -> _Tested:
    """Return tests of whether the canaries that are in stand first or last, of all runs in a row and of each."""
    found: _Tested = []
    for part in (flipped.reshape(1, -1), flipped):
        runs, m = part.shape
        places = np.arange(m) - (m - 1) / 2
        total = float(((2.0 * part - 1) @ places).sum())
        # Hoeffding: each coin adds or subtracts its place.
        exponent = total**2 / (2 * runs * float(places @ places))
        where = "last, and those that are out first"
        if total < 0:
            where = "first, and those that are out last"
        found.append((2 * math.exp(-exponent), f"the canaries that are in stand {where}, most of them"))
    return found


def _by_distance(flipped: Bools) -> _Tested:
    """Return tests of whether coins at some distance, or in places mirrored, are alike or opposite too often.

    Of independent fair coins the pairs at a distance d are alike or not independently of each other, each with
    probability 1/2: given all but the last of each chain i, i + d, i + 2 d, ... the next one is fair.
    """
    runs, m = flipped.shape
    signs = 2.0 * flipped.ravel() - 1
    n = signs.size
    # Padded with zeros to twice the length, so that the end is not compared with the beginning.
    size = 1 << (2 * n - 1).bit_length()
    products = np.fft.irfft(np.abs(np.fft.rfft(signs, size)) ** 2, size)
    of_runs = np.arange(m, n, m)[:_LAGS]
    lags = np.unique(np.concatenate([np.arange(1, min(n // 2, _LAGS) + 1), [n // 2], of_runs]))
    pairs = n - lags
    alike = np.rint((pairs + products[lags]) / 2)
    p_values = _two_sided(alike, pairs) * len(lags)
    half = n // 2
    mirrored = float(np.count_nonzero(signs[:half] == signs[::-1][:half]))
    found: _Tested = []
    best = int(p_values.argmin())
    words = _distance_words(int(lags[best]), bool(alike[best] > pairs[best] / 2), m, runs)
    found.append((float(p_values[best]), words))
    opposite = "those"
    if 2 * mirrored < half:
        opposite = "the opposite of those"
    words = f"the coins read backwards are mostly {opposite} read forwards"
    found.append((float(_two_sided(np.array([mirrored]), np.array([half]))[0]), words))
    return found


def _distance_words(lag: int, alike: bool, m: int, runs: int) -> str:
    if lag == 1:
        if alike:
            return "canaries that are in stand in long blocks, and so do those that are out"
        return "canaries are in and out by turns, most of them"
    if runs > 1 and lag % m == 0:
        if alike:
            return "the coins of several runs are mostly the same"
        return "the coins of runs are mostly opposite"
    if alike:
        return f"coins {lag} places apart are mostly the same"
    return f"coins {lag} places apart are mostly opposite"


def _by_stretch(flipped: Bools) -> _Tested:
    """Return tests of the longest row of equal coins, and of how far canaries in exceed canaries out up to a place."""
    coins = flipped.ravel()
    n = coins.size
    changes = np.flatnonzero(np.diff(coins)) + 1
    longest = int(np.diff(np.concatenate([[0], changes, [n]])).max())
    # A row of so many begins at one of so many places, and all but its first coin are as that one.
    of_row = (n - longest + 1) * 2.0 ** -(longest - 1)
    # By the principle of reflection the largest partial sum is no more than twice as likely to exceed t as the last.
    excess = float(np.abs(np.cumsum(2.0 * coins - 1)).max())
    return [
        (of_row, f"{longest} canaries in a row are all in, or all out"),
        (4 * math.exp(-(excess**2) / (2 * n)), "long stretches of canaries are mostly in, or mostly out"),
    ]


def _by_canary(flipped: Bools) -> _Tested:
    """Return the test of whether some canary is in, or out, in too many of several runs; nothing of one run."""
    runs, m = flipped.shape
    if runs == 1:
        return []
    often = flipped.sum(axis=0).astype(np.float64)
    p_values = _two_sided(often, np.full(m, runs)) * m
    return [(float(p_values.min()), f"canary {int(p_values.argmin())} is in, or out, in nearly all runs")]


def _two_sided(counts: Array, numbers: Array) -> Array:
    """Return p-values of counts of fair coins, for too few and too many."""
    fewer = np.minimum(counts, numbers - counts)
    return np.asarray(np.minimum(1.0, 2 * bdtr(fewer, numbers.astype(np.int64), 0.5)))

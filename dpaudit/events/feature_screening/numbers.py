"""Features of single numbers: their value, their digits and bits, and the traces that floating point leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from operator import add
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.base import Array, Bools, Integers
from dpaudit.events.cells import places_of
from dpaudit.events.event import NAN_CELLS
from dpaudit.events.feature_screening.feature import (
    CellNumbers,
    LeafFeature,
    LeafValues,
    number,
    one_of,
    quantile_edges,
)
from dpaudit.jsonable import stable_repr
from dpaudit.naming import Name, position
from dpaudit.outputs.readers import DIGITS, MOST_BITS, WholeValues, stored, trailing_zeros, usual

# The least number of training runs with a value that has a cell of its own.
REPEATED = 3
# The most of such values.
KNOWN = 48
# Characters of a value that are shown.
SHOWN = 80
Numbers: TypeAlias = WholeValues | Array
"""The values of a leaf of single numbers."""
Keys: TypeAlias = Sequence[Hashable] | Integers
"""Keys that are the same for values that are the same."""
V = TypeVar("V")
K = TypeVar("K", bound=Hashable)
# Moduli of the remainders that are always looked at; others are chosen by comparing the sides.
MODULI = (3, 5, 7, 9, 10, 11, 13, 16, 17, 19, 23, 29, 31, 64, 100)
# Moduli of the usual check digits.
CHECKED = (7, 9, 10, 11)
# Decimal digits that 64 bits hold.
PLACES = 19
# Leading bits that are looked at.
TOP = 8
# Bits of a mantissa that a double stores.
MANTISSA = 52
# Added to the exponent of a lowest bit, so that cells are positive.
LOWEST = 1200
# The cell of a row of zeros, beyond all exponents.
NO_BIT = 4_000
# Numbers of a row whose bits are looked at, each a feature: ordinary noise shows itself in every number alike.
MOST_STORED = 32


def value(values: Numbers) -> list[LeafFeature]:
    """Return the number itself, in cells of about equal mass."""
    return [number(Name("value"), _real, values)]


def _real(values: Numbers) -> Array:
    real: Array = values.real
    # NaN below all numbers.
    return np.where(np.isnan(real), -np.inf, real)


def nans(values: Array) -> list[LeafFeature]:
    """Return whether a float is NaN, if training showed one."""
    if np.isnan(values).any():
        return [LeafFeature(Name("being NaN"), _is_nan, one_of(*NAN_CELLS))]
    return []


def _is_nan(values: Array) -> Bools:
    return np.isnan(values)


def repeats(values: LeafValues) -> list[LeafFeature]:
    """Return which of the values that training showed several times it is; 0 for all others."""
    keys = _keys(values)
    times = Counter(keys.tolist() if isinstance(keys, np.ndarray) else keys)
    return [repeated(Name("repeated value"), _keys, times, lambda key: _shown(key, values))]


def repeated(name: Name, keys: Callable[[V], Keys], times: Counter[K], shown: Callable[[K], str]) -> LeafFeature:
    """Return which of the commonest keys a value has, given how often training showed each; 0 for all others."""
    often = Counter({key: count for key, count in times.items() if count >= REPEATED})
    common = [key for key, _ in often.most_common(KNOWN)]
    cells = partial(_cell_of_key, keys, {key: i + 1 for i, key in enumerate(common)})
    return LeafFeature(name, cells, one_of("another", *map(shown, common)))


def _cell_of_key(keys: Callable[[V], Keys], cells_by_key: dict[Any, int], values: V) -> CellNumbers:
    found = keys(values)
    if isinstance(found, np.ndarray):
        # Of integers of any size some may have a cell that no array of these holds.
        fitting = sorted(key for key in cells_by_key if -(2**63) <= key < 2**63)
        numbers = np.array([*(cells_by_key[key] for key in fitting), 0], dtype=np.int64)
        return numbers[places_of(np.array(fitting, dtype=np.int64), found)]
    return np.fromiter((cells_by_key.get(key, 0) for key in found), np.int64, len(found))


def _keys(values: LeafValues) -> Keys:
    """Return a key of each value, as an array if all are 64-bit integers: of floats their bit patterns."""
    if isinstance(values, WholeValues):
        if values.big is not None:
            return list(values.big)
        return np.asarray(values.low.astype(np.int64) * values.sign)
    if isinstance(values, np.ndarray):
        return np.ascontiguousarray(values).view(np.int64)
    return list(values)


def signed(values: WholeValues) -> list[int]:
    """Return integers as Python has them."""
    keys = _keys(values)
    return list(keys.tolist() if isinstance(keys, np.ndarray) else keys)


def _shown(key: Hashable, values: LeafValues) -> str:
    if isinstance(values, np.ndarray):
        return repr(float(np.array(key, dtype=np.int64).view(np.float64)))
    return stable_repr(key)[:SHOWN]


def bits(values: WholeValues) -> list[LeafFeature]:
    """Return the lowest bits of the magnitude, as many as vary, and its leading eight."""
    width = int(min(MOST_BITS, values.length.max(initial=0)))
    return [
        *(LeafFeature(Name.of("bit {}", position(j)), partial(WholeValues.bit, place=j)) for j in range(width)),
        *(
            LeafFeature(Name.of("leading bit {}", position(j)), partial(_leading_bit, j))
            for j in range(1, min(TOP, width))
        ),
    ]


def _leading_bit(place: int, values: WholeValues) -> NDArray[np.uint64]:
    return (values.high >> np.uint64(63 - place)) & np.uint64(1)


def residues(values: WholeValues) -> list[LeafFeature]:
    """Return remainders of division by small moduli; of integers beyond 64 bits by exact arithmetic."""
    return [LeafFeature(remainder_by(modulus), partial(remainder, modulus)) for modulus in MODULI]


def remainder_by(modulus: int) -> Name:
    """Return the name of a remainder."""
    return Name.of("remainder by {}", position(modulus))


def _by_magnitude(of: Callable[[Any], Any], values: WholeValues) -> CellNumbers:
    if values.big is not None:
        return np.fromiter((of(abs(value)) for value in values.big), np.int64, len(values))
    return np.asarray(of(values.low), dtype=np.int64)


def remainder(modulus: int, values: WholeValues) -> CellNumbers:
    """Return the remainder of each integer by a modulus, which is as Python has it."""
    rest = _by_magnitude(lambda magnitude: magnitude % modulus, values)
    return np.where(values.sign < 0, (modulus - rest) % modulus, rest)


def digits(values: WholeValues) -> list[LeafFeature]:
    """Return the decimal digits of the magnitude, from the last, and the leading one."""
    each = [LeafFeature(Name.of("digit {} from the end", position(j)), partial(_digit, j)) for j in range(PLACES)]
    return [*each, LeafFeature(Name("leading digit"), _leading_digit)]


def _digit(place: int, values: WholeValues) -> CellNumbers:
    return _by_magnitude(lambda magnitude: magnitude // 10**place % 10, values)


def _leading_digit(values: WholeValues) -> CellNumbers:
    real = np.abs(values.real)
    real = np.where((real >= 1) & np.isfinite(real), real, 1.0)
    return np.clip((real / 10.0 ** np.floor(np.log10(real))).astype(np.int64), 0, 9)


def forms(values: WholeValues) -> list[LeafFeature]:
    """Return the shape of an integer's binary form."""
    return [
        LeafFeature(Name(name), partial(_form, name), one_of(-1, 0, 1) if name == "sign" else int) for name in _FORMS
    ]


def _form(name: str, values: WholeValues) -> NDArray[np.generic]:
    return _FORMS[name](values)


def _ones(values: WholeValues) -> Integers:
    if values.big is not None:
        return np.fromiter((abs(value).bit_count() for value in values.big), np.int64, len(values))
    ones: Integers = np.unpackbits(values.low.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=1)
    return ones


def _square(values: WholeValues) -> Bools:
    root = np.round(np.sqrt(values.low.astype(np.float64))).astype(np.uint64)
    return np.asarray((root * root == values.low) & (values.sign >= 0) & (values.length <= 64))


_FORMS: dict[str, Callable[[WholeValues], NDArray[np.generic]]] = {
    "sign": lambda values: values.sign + 1,
    "bit length": lambda values: values.length,
    "ones in the binary form": _ones,
    "parity of the ones": lambda values: _ones(values) & 1,
    "trailing zeros": lambda values: trailing_zeros(values.low),
    "being a perfect square": _square,
    "being a power of two": lambda values: _ones(values) == 1,
}


def check_digits(values: WholeValues) -> list[LeafFeature]:
    """Return the last digits against the remainder of those before them: 0 for the usual check digits."""
    return [
        *(
            LeafFeature(Name.of("check digit by {}", position(modulus)), partial(_check, modulus, 10))
            for modulus in CHECKED
        ),
        LeafFeature(Name.of("check digits by {}", position(97)), partial(_check, 97, 100)),
        LeafFeature(Name("check digit by Luhn's formula"), _luhn),
    ]


def _check(modulus: int, cut: int, values: WholeValues) -> CellNumbers:
    """Return by how much the number below a cut differs from the remainder of what is above it."""
    rest = _by_magnitude(lambda magnitude: magnitude // cut % modulus, values)
    return (rest - _by_magnitude(lambda magnitude: magnitude % cut, values)) % modulus


def _luhn(values: WholeValues) -> CellNumbers:
    """Return the sum of the digits, every second from the end doubled and cast out by nines, modulo 10."""
    doubled = np.array([0, 2, 4, 6, 8, 1, 3, 5, 7, 9])
    rest = values.low
    total = np.zeros(len(values), dtype=np.int64)
    for place in range(20):
        rest, digit = np.divmod(rest, np.uint64(10))
        total += doubled[digit] if place % 2 else digit.astype(np.int64)
    return total % 10


def fractions(values: Array) -> list[LeafFeature]:
    """Return sign and special values of a float, its magnitude, and the part behind the point."""
    magnitude = LeafFeature(Name(), _magnitude, edges=quantile_edges(np.abs(values[np.isfinite(values)])))
    special = one_of("nan", "inf", "-inf", "-0.0", "0.0", "negative", "positive")
    return [
        LeafFeature(Name("sign or special value"), _special, special),
        # Not ordered: sums of magnitudes are no score.
        LeafFeature(Name("magnitude"), magnitude.cells, magnitude.cell),
        LeafFeature(Name("part behind the point"), _part_behind, _sixty_fourth),
    ]


def _finite(values: Array) -> Array:
    return np.where(np.isfinite(values), values, 0.0)


def _special(values: Array) -> CellNumbers:
    zero = values == 0
    kinds = [np.isnan(values), values == np.inf, values == -np.inf, zero & np.signbit(values), zero, values < 0]
    return np.select(kinds, range(6), 6)


def _magnitude(values: Array) -> Array:
    return np.abs(_finite(values))


def _part_behind(values: Array) -> Array:
    finite = _finite(values)
    return np.minimum((finite - np.floor(finite)) * 64, 63)


def _sixty_fourth(code: int) -> str:
    return f"[{code / 64:.6g}, {(code + 1) / 64:.6g})"


def storage(values: Array) -> list[LeafFeature]:
    """Return the fineness with which a float is stored: its grid, and whether fewer digits would do."""
    return [
        LeafFeature(Name(name), partial(_fineness, name), partial(add, -added), representation=True)
        for name, (_, added) in _STORAGE.items()
    ]


def _fineness(name: str, values: Array) -> NDArray[np.generic]:
    with np.errstate(over="ignore", invalid="ignore"):
        return _STORAGE[name][0](_finite(values))


def _lowest_bit(values: Array) -> CellNumbers:
    """Return the exponent of the lowest bit of each finite number plus `LOWEST`; 0 for zero."""
    exponent, _, zeros = stored(values)
    return np.where(values == 0, 0, exponent - DIGITS + zeros + LOWEST)


def _decimals(values: Array) -> CellNumbers:
    return np.select([np.round(values, places) == values for places in range(17)], range(17), 17)


# The fineness of the storage of finite numbers, and an offset that makes its cells positive.
_STORAGE: dict[str, tuple[Callable[[Array], NDArray[np.generic]], int]] = {
    "exponent": (lambda values: np.where(values == 0, 0, np.frexp(values)[1] + 1100), 1100),
    "exponent of the lowest bit": (_lowest_bit, LOWEST),
    "trailing zeros of the mantissa": (lambda values: np.where(values == 0, 0, stored(values)[2]), 0),
    "being exact in 32 bits": (lambda values: values.astype(np.float32) == values, 0),
    "being exact in 16 bits": (lambda values: values.astype(np.float16) == values, 0),
    "decimals": (_decimals, 0),
}


def mantissa(values: Array) -> list[LeafFeature]:
    """Return the 52 stored bits of the mantissa, from the lowest."""
    return [
        LeafFeature(Name.of("mantissa bit {}", position(j)), partial(_mantissa_bit, j), representation=True)
        for j in range(MANTISSA)
    ]


def _mantissa_bit(place: int, values: Array) -> NDArray[np.uint64]:
    return (np.ascontiguousarray(values).view(np.uint64) >> np.uint64(place)) & np.uint64(1)


def row_storage(rows: Array) -> list[LeafFeature]:
    """Return the fineness with which the first numbers of a row are stored, and that of the finest of them."""
    width = min(rows.shape[1], MOST_STORED)
    places = [(Name.of("element {}", position(j)), j, j + 1) for j in range(width)]
    places.append((Name("the finest element"), 0, width))
    found = []
    for which, low, high in places:
        name = Name.of("exponent of the lowest bit of {}", which)
        found.append(LeafFeature(name, partial(_finest, low, high), _bit_or_none, representation=True))
    return found


def _finest(low: int, high: int, rows: Array) -> CellNumbers:
    found = _lowest_bit(usual(rows[:, low:high]))
    return np.asarray(np.where(found == 0, NO_BIT, found).min(axis=1))


def _bit_or_none(code: int) -> int | str:
    if code == NO_BIT:
        return "none"
    return code - LOWEST

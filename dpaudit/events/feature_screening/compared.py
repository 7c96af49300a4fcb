"""Features that are chosen by comparing the two sides, of too many to be screened each.

Of an integer the remainder by a number whose remainders differ, or that divides differences on one side. Of long texts
and bytes the characters far from both ends; of texts and bytes the last character together with a check sum of the
others. Of bits parities, because bits that show nothing alone can leak together, as a checksum or the XOR of two fields
does: parities of pairs, of any number of a few, and linear relations over GF(2) that one side obeys.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import product
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.base import Integers
from dpaudit.events.cells import to_grid
from dpaudit.events.event import Outputs
from dpaudit.events.feature_screening import numbers, texts
from dpaudit.events.feature_screening.feature import ABSENT, CellNumbers, Feature, LeafFeature
from dpaudit.events.feature_screening.products import Sides
from dpaudit.events.feature_screening.texts import Texts
from dpaudit.naming import Name, joined, position
from dpaudit.outputs.readers import WholeValues

# Moduli, places and check sums that are returned.
CHOSEN = 4
# Values a side that they are compared on.
COMPARED = 2_000
# All moduli up to here are compared.
MODULUS = 512
# Characters of a text, or bytes, that are looked at.
WIDEST = 4096
# Different last characters, and moduli of check sums, up to which all dependences between the two are compared.
LETTERS = 40
# Moduli of check sums that are compared with more different characters than that, as bytes have.
CHECKED = (97, 127, 128, 251, 255, 256)


def remainders(values: WholeValues, neighbour: Sides, chosen: Sides) -> list[LeafFeature]:
    """Return remainders by moduli that are chosen on some of the values: small ones, and divisors of one side's."""
    some = _some(neighbour, chosen)
    if min(map(len, some)) < 2 * numbers.REPEATED:
        return []
    listed = numbers.signed(values)
    sides = [[listed[i] for i in places] for places in some]
    spread = max(map(max, sides)) - min(map(min, sides))
    found = [LeafFeature(numbers.remainder_by(m), partial(numbers.remainder, m)) for m in _small_moduli(sides, spread)]
    for modulus in _common_divisors(sides, spread):
        read = partial(_large_remainders, modulus)
        found.append(numbers.repeated(numbers.remainder_by(modulus), read, Counter(read(values)), repr))
    return found


def _some(neighbour: Sides, chosen: Sides) -> list[list[int]]:
    return [np.flatnonzero(chosen & (neighbour == side))[:COMPARED].tolist() for side in (False, True)]


def _large_remainders(modulus: int, values: WholeValues) -> list[int]:
    return [value % modulus for value in numbers.signed(values)]


def _small_moduli(sides: Sequence[Sequence[int]], spread: int) -> list[int]:
    """Return the moduli whose remainders differ most between the sides, no multiples of each other."""
    side = np.repeat([0, 1], [len(one) for one in sides])
    values = [value for one in sides for value in one]
    gaps = np.full(MODULUS + 1, -np.inf)
    for shared, moduli in _groups(min(MODULUS, spread // 2), max(map(abs, values))):
        rest = np.array([value % shared for value in values] if shared else values, dtype=np.int64)
        for modulus in moduli:
            gaps[modulus] = _excess(rest % modulus, side, modulus)
    best: list[int] = []
    for modulus in np.argsort(-to_grid(gaps), kind="stable").tolist():
        if len(best) == CHOSEN or gaps[modulus] <= 0:
            break
        if not any(modulus % other == 0 for other in best):
            best.append(modulus)
    return best


def _excess(cells: Integers, side: Integers, width: int) -> float:
    """Return by how many standard deviations the chi-squared statistic of two sides' cells exceeds its mean.

    Multiples of a modulus have more cells, so that they show less than itself.
    """
    counts = np.bincount(cells + width * side, minlength=2 * width).reshape(2, width)
    counts = counts[:, counts.any(axis=0)]
    runs = counts.sum(axis=1, keepdims=True)
    mean = counts.sum(axis=0) * runs / runs.sum()
    free = counts.shape[1] - 1
    if not free:
        return -math.inf
    return float((np.square(counts - mean) / mean).sum() - free) / math.sqrt(2 * free)


def _groups(most: int, greatest: int) -> list[tuple[int, list[int]]]:
    """Return the moduli up to `most` in groups, each with a common multiple of at most 62 bits.

    It is 0, for none, where numbers up to the `greatest` need no reduction first.
    """
    if greatest < 2**63:
        return [(0, list(range(2, most + 1)))]
    found: list[tuple[int, list[int]]] = []
    for modulus in range(most, 1, -1):
        for i, (shared, group) in enumerate(found):
            if math.lcm(shared, modulus) < 2**62:
                found[i] = (math.lcm(shared, modulus), [*group, modulus])
                break
        else:
            found.append((modulus, [modulus]))
    return found


def _common_divisors(sides: Sequence[Sequence[int]], spread: int) -> list[int]:
    """Return large numbers that often are the greatest common divisor of two differences on one side.

    Where many values have the same remainder by m, two differences of such have a multiple of m for a divisor, and m
    itself most often.
    """
    if spread <= MODULUS * MODULUS:
        return []
    times: list[Counter[int]] = []
    for side in sides:
        a, b, c, d = (np.array(side[k : len(side) // 4 * 4 : 4], dtype=object) for k in range(4))
        times.append(Counter(np.gcd(a - b, c - d).tolist()))
    common = [
        (count, divisor)
        for one in times
        for divisor, count in one.items()
        if divisor > MODULUS and count >= numbers.REPEATED
    ]
    return [divisor for _, divisor in sorted(common, key=lambda item: (-item[0], item[1]))[:CHOSEN]]


def far_places(values: Texts, neighbour: Sides, chosen: Sides) -> list[LeafFeature]:
    """Return what stands at the places of texts, or bytes, beyond those near the ends where the sides differ most."""
    width = _width(values)
    some = _some(neighbour, chosen)
    if width <= texts.NEAR or not all(some):
        return []
    counts = []
    for places in some:
        rows = texts.codes([values[i] for i in places], width)[:, texts.NEAR :]
        cells = rows + 256 * np.arange(width - texts.NEAR)
        counts.append(np.bincount(cells.ravel(), minlength=256 * rows.shape[1]).reshape(-1, 256) / len(places))
    both = counts[0] + counts[1]
    gap = (np.square(counts[0] - counts[1]) / np.where(both > 0, both, 1.0)).sum(axis=1)
    # Places with more values differ more by luck.
    gap = to_grid(gap - (both > 0).sum(axis=1) / COMPARED)
    best = np.argsort(-gap, kind="stable")[:CHOSEN]
    return texts.at_places(values, sorted((texts.NEAR + best).tolist()))


def _width(values: Texts) -> int:
    return min(WIDEST, max(map(len, values), default=0))


def check_characters(values: Texts, neighbour: Sides, chosen: Sides) -> list[LeafFeature]:
    """Return the last character, or byte, together with the check sum of the others on which it depends most.

    Any dependence counts, on a remainder of the sum by a modulus up to `LETTERS`, of as few different last characters;
    of more of them, as of bytes, that their sum with it, or difference, has another law by a modulus of `CHECKED`.
    """
    some = _some(neighbour, chosen)
    if not 3 <= _width(values) <= texts.CHECKED_WIDTH or not all(some):
        return []
    compared = [values[i] for places in some for i in places]
    # Each has a cell of its own already.
    if len(set(compared)) <= numbers.KNOWN:
        return []
    side = np.repeat([0, 1], [len(places) for places in some])
    sums, last = texts.check_sums(compared)
    letters = tuple(np.unique(last).tolist())
    found: list[tuple[float, LeafFeature]] = []
    for kind, sum_ in sums.items():
        if len(letters) <= LETTERS:
            for modulus in range(2, LETTERS + 1):
                cells = texts.with_remainder(letters, modulus, sum_, last)
                excess = _excess(cells, side, modulus * (len(letters) + 1))
                found.append((excess, texts.check_character(kind, modulus, letters)))
            continue
        for modulus, sign in product(CHECKED, (-1, 1)):
            excess = _excess((last + sign * sum_) % modulus, side, modulus)
            found.append((excess, texts.check_remainder(kind, modulus, sign)))
    excess, best = max(found, key=itemgetter(0))
    if excess > 0:
        return [best]
    return []


MOST_BITS = 512
# Bits whose parities are all compared at once.
TOGETHER = 16
# Bits, from the first, that are taken in groups of so many.
GROUPED = 64
# Runs beyond the number of bits that a relation must hold on: by chance it would with probability 2^-SPARE.
SPARE = 24
PAIRS = 4
RELATIONS = 4


@dataclass(frozen=True)
class Parity:
    """The parity of some bits of an output, features of cells 0 and 1; `ABSENT` where the output lacks one of them."""

    bits: tuple[Feature, ...]
    representation: bool = False
    ordered: bool = False
    kind: str = "parity"

    @property
    def name(self) -> Name:
        """The name of the feature."""
        first = joined(bit.name for bit in self.bits[:4])
        if len(self.bits) <= 4:
            return Name.of("parity of {}", first)
        return Name.of("parity of {} and {} bits more", first, position(len(self.bits) - 4))

    def __call__(self, outputs: Outputs) -> CellNumbers:
        """Return the parity of each output."""
        columns = [bit(outputs) for bit in self.bits]
        missing = reduce(np.logical_or, [(column < 0) | (column > 1) for column in columns])
        return np.where(missing, ABSENT, reduce(np.bitwise_xor, columns))

    def cell(self, code: int) -> str | int:
        """Return the parity."""
        if code == ABSENT:
            return "absent"
        return code


def parities(bits: Sequence[Feature], data: NDArray[np.uint8], neighbour: NDArray[np.uint8]) -> Iterator[Parity]:
    """Yield parities that differ between the sides: pairs, any number of a few bits, and relations that one side obeys.

    Of the features `bits` the training values on the two sides are given, each 0 or 1, shapes (m, bits) and (k, bits).
    """
    bits = bits[:MOST_BITS]
    data = data[:, :MOST_BITS]
    neighbour = neighbour[:, :MOST_BITS]
    for i, j in _pairs(data, neighbour):
        yield Parity((bits[i], bits[j]))
    for start in range(0, min(GROUPED, len(bits)), TOGETHER):
        group = slice(start, start + TOGETHER)
        for chosen in _of_few(data[:, group], neighbour[:, group]):
            yield Parity(tuple(bits[start + i] for i in chosen))
    for left, right in ((data, neighbour), (neighbour, data)):
        for relation in _broken_relations(left, right):
            yield Parity(tuple(bits[i] for i in relation))


def _pairs(data: NDArray[np.uint8], neighbour: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """Return the pairs of bits whose XOR differs most between the sides: one matrix product a side gives all."""
    if data.shape[1] < 2:
        return []
    means = []
    for side in (data, neighbour):
        signs = 1.0 - 2.0 * side.astype(np.float32)
        means.append(signs.T @ signs / len(side))
    gap = np.triu(np.abs(means[0] - means[1]), 1)
    best = np.argsort(gap, axis=None, kind="stable")[::-1][:PAIRS]
    return [divmod(at, len(gap)) for at in best.tolist()]


def _of_few(data: NDArray[np.uint8], neighbour: NDArray[np.uint8]) -> list[list[int]]:
    """Return the sets of three bits and more whose parity differs most: a Walsh-Hadamard transform a side gives all."""
    width = data.shape[1]
    if width < 3:
        return []
    weights = 1 << np.arange(width)
    shares = [np.bincount(side @ weights, minlength=1 << width) / len(side) for side in (data, neighbour)]
    gap = shares[0] - shares[1]
    for j in range(width):
        low, high = np.moveaxis(gap.reshape(-1, 2, 1 << j), 1, 0)
        gap = np.stack([low + high, low - high], axis=1).ravel()
    ones = np.unpackbits(np.arange(len(gap), dtype="<u4").view(np.uint8).reshape(-1, 4), axis=1).sum(axis=1)
    gap = to_grid(np.where(ones >= 3, np.abs(gap), 0.0))
    best = np.argsort(-gap, kind="stable")[:RELATIONS]
    return [[i for i in range(width) if at >> i & 1] for at in best.tolist() if gap[at] > 0]


def _broken_relations(obeying: NDArray[np.uint8], other: NDArray[np.uint8]) -> list[list[int]]:
    """Return the sets of bits whose parity is constant on one side and differs most on the other."""
    n, width = obeying.shape
    rows = width + 1 + SPARE
    if n < rows:
        return []
    relations = []
    for combination in _null_space(obeying[:rows]):
        chosen = [i for i in range(width) if combination >> i & 1]
        if len(chosen) < 2:
            continue
        whole, broken = (np.bitwise_xor.reduce(side[:, chosen], axis=1).mean() for side in (obeying, other))
        gap = abs(float(whole) - float(broken))
        if gap > 0.1:
            relations.append((gap, chosen))
    relations.sort(key=lambda item: (-item[0], len(item[1])))
    return [chosen for _, chosen in relations[:RELATIONS]]


def _null_space(rows: NDArray[np.uint8]) -> Iterator[int]:
    """Yield a basis of the combinations of columns (as bit masks) whose parity is the same in every row."""
    count = len(rows)
    ones = (1 << count) - 1
    packed = np.packbits(rows.T, axis=1, bitorder="little")
    columns = [int.from_bytes(row.tobytes(), "little") & ones for row in packed]
    # The constant column comes first: a combination that equals it is constant too.
    basis: dict[int, tuple[int, int]] = {ones.bit_length() - 1: (ones, 0)}
    for i, column in enumerate(columns):
        vector = column
        combination = 1 << i
        while vector:
            lead = vector.bit_length() - 1
            if lead not in basis:
                basis[lead] = (vector, combination)
                break
            vector ^= basis[lead][0]
            combination ^= basis[lead][1]
        if not vector:
            yield combination

"""Features of text and bytes: lengths, what stands at each place, beginnings, ends, words, and numbers in bytes."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import compress
from operator import add, itemgetter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.base import Array
from dpaudit.events.feature_screening.feature import CellNumbers, LeafFeature, number, one_of
from dpaudit.events.feature_screening.numbers import PLACES, REPEATED, repeated
from dpaudit.naming import Name, key, position

# Characters, or bytes, that are looked at from each end.
NEAR = 32
# Characters beyond these codes are one cell by position; their class distinguishes them further.
CODES = 128
# Lengths of the beginnings and ends that texts may share.
AFFIXES = (2, 3, 4, 6, 8)
# The most words that are looked for, the commonest first.
WORDS = 128
# Characters of a text in which words are looked for.
READ = 4096
# Bytes that form a number.
WORD = 8
Texts: TypeAlias = Sequence[str | bytes]
"""Texts, or bytes, of a leaf."""

_WORD = re.compile(r"\w+")


def _places(values: Texts) -> Iterator[tuple[Name, int]]:
    near = min(NEAR, max(map(len, values), default=0))
    yield from ((_from_the_start(j), j) for j in range(near))
    yield from ((_from_the_end(j), -1 - j) for j in range(near))


def _from_the_start(place: int) -> Name:
    return Name.of("{} from the start", position(place))


def _from_the_end(place: int) -> Name:
    return Name.of("{} from the end", position(place))


def _at(place: int, of: Callable[[CellNumbers], CellNumbers], values: Texts) -> CellNumbers:
    """Return the cells of the codes at a place of each value, -1 where a value ends before it."""
    need = place + 1 if place >= 0 else -place
    long = np.fromiter(map(len, values), np.int64, len(values)) >= need
    held = values if long.all() else list(compress(values, long.tolist()))
    found = map(itemgetter(place), held)
    if held and isinstance(held[0], str):
        found = map(ord, found)
    codes = np.full(len(long), -1, dtype=np.int64)
    codes[long] = np.fromiter(found, np.int64, len(held))
    return of(codes)


def characters(values: Sequence[str]) -> list[LeafFeature]:
    """Return the character at each position from the start and from the end; 0 beyond the text."""
    return [_one_character(where, place) for where, place in _places(values)]


def _one_character(where: Name, place: int) -> LeafFeature:
    return LeafFeature(Name.of("character {}", where), partial(_at, place, _character), _shown_character)


def at_places(values: Texts, places: Sequence[int]) -> list[LeafFeature]:
    """Return the characters, or the bytes and their bits, at places from the start."""
    named = [(_from_the_start(place), place) for place in places]
    if any(isinstance(value, str) for value in values[:1]):
        return [_one_character(*one) for one in named]
    return [*(_one_byte(*one) for one in named), *(_one_bit(b, *one) for one in named for b in range(8))]


def codes(values: Texts, width: int) -> NDArray[np.uint8]:
    """Return the codes of the first characters of texts, or the first bytes, a row each; 0 beyond the end."""
    joined = b"".join([_first_bytes(value, width).ljust(width, b"\0") for value in values])
    return np.frombuffer(joined, dtype=np.uint8).reshape(-1, width)


def _first_bytes(value: str | bytes, width: int) -> bytes:
    if isinstance(value, bytes):
        return value[:width]
    return value[:width].encode("latin-1", "replace")


# Characters of a text, or bytes, up to which check sums are looked at; of longer ones the last so many.
CHECKED_WIDTH = 64
# Places before the last character, from the end.
_PLACES = np.arange(1, CHECKED_WIDTH + 1)
_TENS = np.where(_PLACES < PLACES, 10 ** np.minimum(_PLACES - 1, PLACES - 2), 0)
# The numbers that a last character may depend on, given the codes before it from the end, and the whole length.
CHECK_SUMS: dict[str, Callable[[CellNumbers, CellNumbers], CellNumbers]] = {
    "sum": lambda rows, lengths: rows.sum(axis=1),
    "sum by place from the end": lambda rows, lengths: rows @ (_PLACES + 1),
    "sum by place from the start": lambda rows, lengths: lengths * rows.sum(axis=1) - rows @ _PLACES,
    "sum with weights 3 and 1": lambda rows, lengths: rows @ np.where(_PLACES % 2, 3, 1),
    "number": lambda rows, lengths: np.where((rows >= ord("0")) & (rows <= ord("9")), rows - ord("0"), 0) @ _TENS,
}


def check_sums(values: Texts) -> tuple[dict[str, CellNumbers], CellNumbers]:
    """Return the check sums of all characters, or bytes, but the last one, and the code of that; -1 where none is."""
    rows = codes([value[::-1] for value in values], CHECKED_WIDTH + 1).astype(np.int64)
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    sums = {name: of(rows[:, 1:], np.minimum(lengths, CHECKED_WIDTH + 1)) for name, of in CHECK_SUMS.items()}
    return sums, np.where(lengths > 0, rows[:, 0], -1)


def check_remainder(kind: str, modulus: int, sign: int) -> LeafFeature:
    """Return the last code more (sign 1) or less (-1) than a check sum of the others, by a modulus."""
    words = "plus" if sign > 0 else "minus"
    name = Name.of(f"last character {words} the {kind} of those before, modulo {{}}", position(modulus))
    return LeafFeature(name, partial(_check_remainder, kind, modulus, sign))


def _check_remainder(kind: str, modulus: int, sign: int, values: Texts) -> CellNumbers:
    sums, last = check_sums(values)
    return (last + sign * sums[kind]) % modulus


def check_character(kind: str, modulus: int, common: Sequence[int]) -> LeafFeature:
    """Return the last code, one of the common ones, together with the remainder of a check sum of the others."""
    name = Name.of(f"last character and the {kind} of those before, modulo {{}}", position(modulus))
    return LeafFeature(name, partial(_check_character, kind, modulus, common), partial(_shown_check, modulus, common))


def _check_character(kind: str, modulus: int, common: Sequence[int], values: Texts) -> CellNumbers:
    sums, last = check_sums(values)
    return with_remainder(common, modulus, sums[kind], last)


def with_remainder(common: Sequence[int], modulus: int, sums: CellNumbers, last: CellNumbers) -> CellNumbers:
    """Return the cell of a last code together with a remainder; one that is not known counts like another."""
    place = np.searchsorted(common, last)
    place = np.where(np.append(common, -2)[place] == last, place, len(common))
    return place * modulus + sums % modulus


def _shown_check(modulus: int, common: Sequence[int], code: int) -> str:
    place, rest = divmod(code, modulus)
    if place == len(common):
        last = "another"
    elif common[place] < 0:
        last = "none"
    else:
        last = repr(chr(common[place]))
    return f"{last} and {rest}"


def _character(codes: CellNumbers) -> CellNumbers:
    return np.minimum(codes + 1, CODES)


def _shown_character(code: int) -> str:
    if code == 0:
        return "none"
    if code >= CODES:
        return "a character beyond ASCII"
    return repr(chr(code - 1))


_COUNTS: dict[str, Callable[[str], int]] = {
    "length": len,
    "digits": lambda text: sum(map(str.isdigit, text)),
    "capital letters": lambda text: sum(map(str.isupper, text)),
    "small letters": lambda text: sum(map(str.islower, text)),
    "blanks": lambda text: sum(map(str.isspace, text)),
    "other characters": lambda text: len(text) - sum(map(str.isalnum, text)),
    "characters beyond ASCII": lambda text: 0 if text.isascii() else sum(ord(c) > 127 for c in text),
    "lines": lambda text: text.count("\n"),
    "being in normal form": lambda text: int(text.isascii() or unicodedata.is_normalized("NFC", text)),
}


def counts(values: Sequence[str]) -> list[LeafFeature]:
    """Return the length, and how many characters of each class there are, at most 255."""
    return [LeafFeature(Name(name), partial(_count, name)) for name in _COUNTS]


def _count(name: str, values: Sequence[str]) -> CellNumbers:
    return np.minimum(np.fromiter(map(_COUNTS[name], values), np.int64, len(values)), 255)


def affixes(values: Texts) -> list[LeafFeature]:
    """Return beginnings and ends that several texts, or bytes, share; 0 for all others."""
    found = []
    times = Counter(values)
    ends = [("first", slice(None, length), length) for length in AFFIXES]
    ends += [("last", slice(-length, None), length) for length in AFFIXES]
    for end, part, length in ends:
        shared: Counter[str | bytes] = Counter()
        for value, count in times.items():
            shared[value[part]] += count
        name = Name.of(f"{end} {{}} characters", position(length))
        found.append(repeated(name, partial(_parts, part.start, part.stop), shared, repr))
    return found


def _parts(start: int | None, stop: int | None, values: Texts) -> list[str | bytes]:
    return [value[start:stop] for value in values]


def words(values: Sequence[str]) -> list[LeafFeature]:
    """Return for each word that several texts share whether a text has it."""
    times: Counter[str] = Counter()
    for text, count in Counter(values).items():
        # A set has another order in every process.
        for word in dict.fromkeys(_WORD.findall(text[:READ])):
            times[word] += count
    common = [word for word, count in times.most_common(WORDS) if REPEATED <= count < len(values)]
    return [
        LeafFeature(Name.of("occurrence of the word {}", key(word, 40)), partial(_has, word), one_of("no", "yes"))
        for word in common
    ]


def _has(word: str, values: Sequence[str]) -> CellNumbers:
    found = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)").search
    # Most texts do not have it at all, which is seen faster without the pattern.
    having = [i for i, text in enumerate(values) if word in text and found(text[:READ])]
    cells = np.zeros(len(values), dtype=np.int64)
    cells[np.array(having, dtype=np.intp)] = 1
    return cells


def byte_values(values: Sequence[bytes]) -> list[LeafFeature]:
    """Return the length of bytes, and each byte from the start and from the end; 0 beyond them."""
    return [LeafFeature(Name("length"), _lengths), *(_one_byte(where, place) for where, place in _places(values))]


def _one_byte(where: Name, place: int) -> LeafFeature:
    return LeafFeature(Name.of("byte {}", where), partial(_at, place, partial(add, 1)), _byte)


def _lengths(values: Sequence[bytes]) -> CellNumbers:
    return np.minimum(np.fromiter(map(len, values), np.int64, len(values)), 1024)


def _byte(code: int) -> int | str:
    if code == 0:
        return "none"
    return code - 1


def byte_bits(values: Sequence[bytes]) -> list[LeafFeature]:
    """Return the bits of the bytes from the start and from the end, 2 where one is missing, and of the XOR of all."""
    return [
        *(_one_bit(b, where, place) for where, place in _places(values) for b in range(8)),
        *(
            LeafFeature(Name.of("bit {} of the XOR of all bytes", position(b)), partial(_bit_of_xor, b))
            for b in range(8)
        ),
    ]


def _one_bit(b: int, where: Name, place: int) -> LeafFeature:
    name = Name.of("bit {} of byte {}", position(b), where)
    return LeafFeature(name, partial(_at, place, partial(_bit, b)), one_of(0, 1, "none"))


def _bit(place: int, codes: CellNumbers) -> CellNumbers:
    return np.where(codes < 0, 2, codes >> place & 1)


def _bit_of_xor(place: int, values: Sequence[bytes]) -> CellNumbers:
    totals = (int(np.bitwise_xor.reduce(np.frombuffer(value, np.uint8))) if value else 0 for value in values)
    return np.fromiter((total >> place & 1 for total in totals), np.int64, len(values))


def byte_numbers(values: Sequence[bytes]) -> list[LeafFeature]:
    """Return the numbers that up to eight bytes form, each byte that varies being the highest of them.

    Bytes beyond either end count as 0. Where all values are as long, places from the end are others already.
    """
    lengths = set(map(len, values))
    near = min(NEAR, max(lengths, default=0))
    places = list(range(near))
    if len(lengths) > 1:
        places += range(-1, -1 - near, -1)
    found = []
    for at in places:
        if len({value[at : at + 1 or None] for value in values}) > 1:
            where = _from_the_start(at)
            if at < 0:
                where = _from_the_end(-1 - at)
            big = Name.of("big-endian number from byte {}", where)
            little = Name.of("little-endian number up to byte {}", where)
            found.append(number(big, partial(_number, at, False), values))
            found.append(number(little, partial(_number, at, True), values))
    return found


def _number(highest: int, little: bool, values: Sequence[bytes]) -> Array:
    """Return the numbers of the bytes from one place on, or, if `little`, up to it."""
    if highest < 0:
        values = [value[::-1] for value in values]
        highest = -1 - highest
        little = not little
    if little:
        low = max(0, highest + 1 - WORD)
        high = highest + 1
        words = [value[low:high].ljust(high - low, b"\0").rjust(WORD, b"\0") for value in values]
    else:
        words = [value[highest : highest + WORD].ljust(WORD, b"\0") for value in values]
    return np.frombuffer(b"".join(words), dtype="<u8" if little else ">u8").astype(np.float64)

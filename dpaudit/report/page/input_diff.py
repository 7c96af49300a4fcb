"""Two inputs side by side: the printed values cut into their elements, and those marked that the other lacks.

Nothing here knows what an element means: the cuts are made at the commas outside of all brackets and quotes, so that
lists, arrays, dictionaries and samples are shown alike. A value that cannot be cut is one element.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Chip", "chips"]

_MOST = 24
"""The most elements of an input that are shown."""
_LONGEST = 120
"""The most characters of an element that are shown."""
_OPEN, _CLOSE = "([{", ")]}"


class Chip(NamedTuple):
    """An element of an input, and whether the other input lacks it."""

    text: str
    differs: bool


def chips(data: str, neighbour: str) -> tuple[list[Chip], list[Chip]]:
    """Return the elements of two printed inputs, those that differ marked.

    >>> chips("[1, 2, 2]", "[1, 2, 3]")[1][-1]
    Chip(text='3', differs=True)
    """
    sides = elements(data), elements(neighbour)
    if all(len(side) == 1 for side in sides):
        # What is not cut differs as a whole.
        return [Chip(_cut(sides[0][0]), sides[0] != sides[1])], [Chip(_cut(sides[1][0]), sides[0] != sides[1])]
    ordered = len(sides[0]) == len(sides[1]) and not data.startswith("Sample(")
    if ordered:
        lacking = [a != b for a, b in zip(*sides, strict=True)]
        return _shown(sides[0], lacking), _shown(sides[1], lacking)
    left, right = _lacking(*sides), _lacking(sides[1], sides[0])
    return _shown(sides[0], left), _shown(sides[1], right)


def elements(text: str) -> list[str]:
    """Return the elements of a printed value; of a sample, each example as often as it occurs."""
    inner = text
    while (stripped := _inside(inner)) is not None:
        inner = stripped
        if not _is_one(inner):
            break
    found = [part for part in _split(inner) if part] or [text]
    return [element for part in found for element in _repeated(re.sub(r"^n=\d+: ", "", part))]


def _inside(text: str) -> str | None:
    """Return what stands in the brackets around a whole value, its name left out; None if there are none."""
    body = re.sub(r"^[A-Za-z_][A-Za-z_.]*(?=[(\[{])", "", text)
    if len(body) < 2 or body[0] not in _OPEN or body[-1] != _CLOSE[_OPEN.index(body[0])]:
        return None
    depths = _depths(body)
    return body[1:-1] if depths[-1] == 0 and 0 not in depths[:-1] else None


def _is_one(text: str) -> bool:
    """Say whether a value is a single one in brackets, as the list in array([1, 2])."""
    return len(_split(text)) == 1 and _inside(text) is not None


def _depths(text: str) -> list[int]:
    """Return how many brackets are open after each character; those in quotes do not count."""
    found, depth, quote = [], 0, ""
    for before, c in zip(" " + text, text, strict=False):
        if quote:
            quote = "" if c == quote and before != "\\" else quote
        elif c in "'\"":
            quote = c
        else:
            depth += (c in _OPEN) - (c in _CLOSE)
        found.append(depth + bool(quote))
    return found


def _split(text: str) -> list[str]:
    """Return the parts of a text between the commas outside of all brackets."""
    places = [i for i, (c, depth) in enumerate(zip(text, _depths(text), strict=True)) if c == "," and depth == 0]
    return [text[a:b].strip() for a, b in zip([0, *(i + 1 for i in places)], [*places, len(text)], strict=True)]


def _repeated(part: str) -> list[str]:
    """Return an example with its multiplicity as many examples, as long as these are few; numbers stand bare."""
    found = re.fullmatch(r"(.*->[01]) x(\d+)", part)
    example, count = (part, 1) if found is None else (found[1], int(found[2]))
    point = re.fullmatch(r"\((-?\d+),\)->([01])", example)
    told = (f"{point[1]} → {point[2]}" if point else example.replace(")->", ") → ")).strip()
    return [told] * count if count <= _MOST // 3 else [f"{told} ×{count:,}"]


def _lacking(these: Sequence[str], those: Sequence[str]) -> list[bool]:
    """Say of each element, counted, whether the other input has it no more."""
    left, found = Counter(those), []
    for element in these:
        left[element] -= 1
        found.append(left[element] < 0)
    return found


def _shown(side: Sequence[str], lacking: Sequence[bool]) -> list[Chip]:
    """Return the elements that are shown: all, or those that differ and as many others as fit."""
    found = [Chip(_cut(text), differs) for text, differs in zip(side, lacking, strict=True)]
    if len(found) <= _MOST:
        return found
    kept = sorted(sorted(range(len(found)), key=lambda i: not found[i].differs)[:_MOST])
    return [*(found[i] for i in kept), Chip(f"… {len(found) - len(kept):,} more", False)]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

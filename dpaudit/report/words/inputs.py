"""Inputs in words: both of a pair, how they were made, and long texts in one line."""

from __future__ import annotations

from msgspec import UNSET

from dpaudit.audit.finding import Witness
from dpaudit.contract import Origin, OriginKind

# Characters that are kept of the beginning and of the end of a long input or event.
_HEAD = 87
_TAIL = 40


def cut(text: str) -> str:
    """Return a long text in one line without its middle."""
    text = " ".join(line.strip() for line in text.splitlines())
    if len(text) <= _HEAD + _TAIL:
        return text
    return f"{text[:_HEAD]}...{text[-_TAIL:]}"


def inputs_words(witness: Witness) -> tuple[str, str]:
    """Return both inputs in short: as they are, or the neighbour by what differs."""
    if witness.difference is UNSET:
        return witness.data, witness.neighbour
    return "the data", f"the neighbour ({witness.difference})"


def origin_text(origin: Origin) -> str:
    """Return how one pair was made, and by how many moves of the local search it was varied."""
    # The text of these says by itself how the pair was made.
    plain = origin.text and origin.kind in (OriginKind.ENUMERATED, OriginKind.GIVEN)
    if plain:
        made = origin.text
    else:
        made = ": ".join(filter(None, (origin.kind.value, origin.text)))
    if origin.moves > 1:
        return f"local search, {origin.moves} moves from {made}"
    if origin.moves:
        return f"local search from {made}"
    return made

"""Makes foreign text harmless before it is shown."""

from __future__ import annotations

import re
import unicodedata

# Unicode categories of characters that act instead of being seen: controls, formats, surrogates, separators.
_HARMFUL = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

# The harmful characters that our own pages have: ends of lines, tabs, and colours.
_OURS = re.compile("[\n\t]|\x1b\\[[0-9;]*m")


def shortened(text: str, longest: int) -> str:
    """Return a text of at most about so many characters: what is longer loses its middle."""
    if len(text) <= longest:
        return text
    return f"{text[: longest * 2 // 3]} [...] {text[-longest // 3 :]}"


def printable(text: str) -> str:
    r"""Return foreign text on one line, with everything escaped that a terminal or a browser could obey.

    These are escape codes and other control characters (C0 and C1), line breaks, overrides of the direction of writing
    and what is invisible, and lone surrogates, which no file can hold.

    >>> print(printable("a\x1b[2Jb\nc"))
    a\x1b[2Jb\nc
    """
    # Nearly all texts are plain, and to look at each character takes long.
    if text.isascii() and text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if unicodedata.category(c) in _HARMFUL else c for c in text)


def printable_page(text: str) -> str:
    r"""Return text of several lines, perhaps coloured, with everything else escaped that a terminal could obey.

    What is foreign in it must have been made harmless before, by itself: a line break, or a colour, of its own passes.

    >>> print(printable_page("a\nb\x1b]0;title\x07"))
    a
    b\x1b]0;title\x07
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    # Split at what our pages may have, so that all between is escaped as foreign text is.
    parts = zip(_OURS.split(text), [*_OURS.findall(text), ""], strict=True)
    return "".join(printable(part) + end for part, end in parts)

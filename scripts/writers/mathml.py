"""A hook of mkdocs: formulas become MathML when the site is built, so that pages load nothing from elsewhere."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(html: str, **_: Any) -> str:
    """Return the content of a page with MathML in the place of TeX; the extension arithmatex marks what is TeX."""
    return FORMULA.sub(lambda found: in_mathml(found[2], found[1] == "div"), html)


def in_mathml(tex: str, display: bool) -> str:
    """Return a formula as MathML, on lines of its own if `display`; an unknown command raises."""
    from latex2mathml.converter import convert

    made = str(convert(unescape(tex), display="block" if display else "inline"))
    if unknown := re.findall(r"\\[A-Za-z]+", made):
        raise ValueError(f"{unknown[0]} is not known in MathML, in {tex}")
    return made

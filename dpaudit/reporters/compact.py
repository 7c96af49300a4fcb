"""Makes figures small without changing what is seen: matplotlib's groups, ids and repeated styles are given up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from dpaudit.reporters.polyline import straightened

__all__ = ["compact", "share_styles"]

_ORDERLESS = ("matplotlib.axis", "legend_")
"""Groups in which nothing lies over anything of another style: their elements may be put in any order."""

_STRAIGHT = re.compile(r"[MLz\d\s.-]*")
_TILT = re.compile(r"rotate\(-?0(\.0+)? [^)]*\)")


def compact(svg: str) -> str:
    """Return an SVG element of matplotlib as one that draws the same with a fifth of the bytes.

    Groups that only carry an id are opened, marks that are drawn by reference become part of a path if they are made of
    straight lines, what has the same style beside it is drawn by one element, lines lose the points that are off
    the straight by less than can be seen, and ids that nothing refers to are dropped.

    Parameters
    ----------
    svg : str
        One element without namespace prefixes.
    """
    root = ElementTree.fromstring(svg)
    marks = {e.attrib["id"]: e for defs in root.iter("defs") for e in defs}
    root[:] = _merged(_visible(_opened(root, marks)))
    used = set(re.findall(r'(?:href="|url\()#([^")]*)', ElementTree.tostring(root, encoding="unicode")))
    needed = [mark for name, mark in marks.items() if name in used]
    if needed:
        defs = Element("defs")
        defs[:] = needed
        root.insert(0, defs)
    for element in root.iter():
        _tidy(element, used)
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def share_styles(figures: Sequence[str]) -> tuple[str, list[str]]:
    """Return a style sheet and the figures of a page, in which styles that several elements have are its classes."""
    counts = Counter(style for figure in figures for style in re.findall(r' style="([^"]*)"', figure))
    names = {style: f"s{i}" for i, style in enumerate(style for style, n in counts.items() if n > 1)}

    def named(found: re.Match[str]) -> str:
        return f' class="{names[found[1]]}"' if found[1] in names else found[0]

    sheet = "\n".join(f".{name} {{ {style} }}" for style, name in names.items())
    return sheet, [re.sub(r' style="([^"]*)"', named, figure) for figure in figures]


def _opened(group: Element, marks: dict[str, Element]) -> Iterator[Element]:
    """Yield what a group draws, in its order; groups that must hold together stay."""
    for element in group:
        if element.tag == "use":
            yield _placed(element, marks[element.attrib["href"][1:]])
        elif element.tag != "g":
            if element.tag != "defs":
                yield element
        elif element.attrib.keys() - {"id"}:
            element[:] = _merged(_visible(_opened(element, marks)))
            yield element
        else:
            inside = _visible(_opened(element, marks))
            orderless = element.attrib.get("id", "").startswith(_ORDERLESS)
            yield from _sorted(inside) if orderless else inside


def _placed(use: Element, mark: Element) -> Element:
    """Return a mark of straight lines as a path where it is used, others as they are."""
    if not _STRAIGHT.fullmatch(mark.attrib["d"]):
        return use
    dx, dy = float(use.attrib["x"]), float(use.attrib["y"])
    # What the mark says of itself stands above what it inherits from its use.
    style = _declarations(use) | _declarations(mark)
    moved = re.sub(
        r"(-?[\d.]+) (-?[\d.]+)", lambda p: f"{float(p[1]) + dx:.2f} {float(p[2]) + dy:.2f}", mark.attrib["d"]
    )
    return Element("path", {"d": moved, "style": "; ".join(f"{k}: {v}" for k, v in style.items())})


def _declarations(element: Element) -> dict[str, str]:
    pairs = (part.partition(":") for part in element.attrib.get("style", "").split(";") if part.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _visible(elements: Iterable[Element]) -> list[Element]:
    """Return the elements that leave a trace: no paths with neither fill nor stroke."""
    return [e for e in elements if e.tag != "path" or e.attrib.get("style") != "fill: none"]


def _sorted(elements: Sequence[Element]) -> list[Element]:
    """Return the elements by style; grid and ticks end at the axes, so that nothing has to clip them."""
    kinds: dict[tuple[str, str], list[Element]] = {}
    for element in elements:
        element.attrib.pop("clip-path", None)
        kinds.setdefault((element.tag, element.attrib.get("style", "")), []).append(element)
    return [element for kind in kinds.values() for element in kind]


def _merged(elements: Sequence[Element]) -> list[Element]:
    """Return the elements with neighbours of one style drawn as one: a path, or a group of texts."""
    found: list[Element] = []
    for element in elements:
        last = found[-1] if found else None
        if element.tag == "text":
            style = element.attrib.pop("style", "")
            if last is None or last.tag != "g" or last.attrib != {"style": style}:
                found.append(last := Element("g", {"style": style}))
            last.append(element)
        elif last is not None and _drawn_alike(last, element):
            last.attrib["d"] += element.attrib["d"]
        else:
            found.append(element)
    return found


def _drawn_alike(first: Element, second: Element) -> bool:
    """Say whether two paths can be one: where they overlap, filled or translucent ones could not."""
    if first.tag != "path" or second.tag != "path":
        return False
    same = all(first.attrib.get(name) == second.attrib.get(name) for name in ("style", "clip-path"))
    style = first.attrib.get("style", "")
    hollow = "fill: none" in style or "z" not in first.attrib["d"] + second.attrib["d"]
    return same and hollow and "opacity" not in style


def _tidy(element: Element, used: set[str]) -> None:
    """Drop what changes nothing: ids without use, turns by no angle, spaces, invisible digits."""
    element.tail = None
    if element.attrib.get("id") not in used:
        element.attrib.pop("id", None)
    if _TILT.fullmatch(element.attrib.get("transform", "")):
        del element.attrib["transform"]
    if element.tag != "text":
        element.text = None
    if "d" in element.attrib:
        element.attrib["d"] = straightened(element.attrib["d"])
    for name in ("x", "y"):
        if name in element.attrib:
            element.attrib[name] = f"{float(element.attrib[name]):.1f}".removesuffix(".0")

"""Recompute the distance in the certificate of a sensitivity: ``python -P -m dpaudit.verify_sensitivity FILE``."""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # it may be a folder that was received, and hold a json.py

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from dpaudit.certificate_grammar import (
    MOST_DIGITS,
    SHARED,
    among,
    cell,
    judged,
    like,
    main,
    many,
    need,
    neighbours,
    real,
    record,
    sealed,
    tagged,
    text,
    value_of,
)

METRICS = ("absolute", "l1", "l2", "linf", "hamming", "symmetric")
ROUNDING = Fraction(1, 10**9)
WHOLE = f"[0-9]{{1,{MOST_DIGITS}}}"
FIELDS = tagged(
    sensitivity_certificate=record(
        function=like(r"[^\ud800-\udfff]+", "a text that is not empty"), place=text, metric=among(*METRICS),
        sensitivity=like(f"{WHOLE}(/[1-9][0-9]{{0,{MOST_DIGITS - 1}}})?", "a whole number or a fraction"),
        distance=real(0, sys.float_info.max, "inf"), data=value_of, neighbour=value_of, values=many(value_of, 2, 2),
        **SHARED,
    ),
)  # fmt: skip


def checked(stored: Any) -> None:
    """Raise `ValueError` unless parsed data is a certificate whose fields agree, but for its seal and its distance."""
    FIELDS(stored, "certificate")
    for i, value in enumerate(stored["values"]):
        if stored["metric"] in ("hamming", "symmetric"):
            elements(value, stored["metric"], f"values[{i}]")
        else:
            found = [key for key, _ in leaves(value)]
            need(stored["metric"] != "absolute" or found == [()], f"values[{i}]", "one number", value)


def elements(value: Any, metric: str, where: str = "values") -> list[Any]:
    """Return the elements of a value, as cells."""
    kinds = ("list", "tuple") if metric == "hamming" else ("list", "tuple", "set", "frozenset")
    held = type(value) is dict and (
        value.get("type") in kinds or (value["kind"] == "array" and len(value["shape"]) == 1)
    )
    need(held, where, "a list of elements", value)
    return [cell(item) for item in value["items"]]


def leaves(value: Any, key: tuple[object, ...] = ()) -> Iterator[tuple[tuple[object, ...], Any]]:
    """Yield the numbers of an encoded value with their keys; `ValueError` for what is no number."""
    kind = value["kind"] if type(value) is dict else None
    if kind == "entries":
        for name, item in value["items"]:
            need(type(name) in (int, str), "values", "a dictionary by texts or integers", name)
            yield from leaves(item, (*key, name))
    elif kind == "array":
        for place, item in zip(product(*map(range, value["shape"])), value["items"], strict=True):
            yield from leaves(item, (*key, *place))
    elif kind == "items" and value["type"] in ("list", "tuple"):
        for i, item in enumerate(value["items"]):
            yield from leaves(item, (*key, i))
    else:
        need(type(value) in (bool, int, float) or kind == "number", "values", "made of numbers", value)
        yield key, float(value["value"]) if kind == "number" else Fraction(value)


def distance(metric: str, first: Any, second: Any) -> tuple[Fraction | float, bool]:
    """Return the distance of two encoded values, of l2 its square, and whether fractions of floats differ."""
    if metric in ("hamming", "symmetric"):
        a, b = (elements(value, metric) for value in (first, second))
        if metric == "hamming":
            return (Fraction(sum(x != y for x, y in zip(a, b, strict=True))) if len(a) == len(b) else math.inf), False
        return Fraction((Counter(a) - Counter(b)).total() + (Counter(b) - Counter(a)).total()), False
    one, other = dict(leaves(first)), dict(leaves(second))
    by_key = all(type(value) is dict and value["kind"] == "entries" for value in (first, second))
    if one.keys() != other.keys() and not by_key:
        return math.inf, False
    pairs = [(one.get(key, Fraction(0)), other.get(key, Fraction(0))) for key in {**one, **other}]
    differ = [(a, b) for a, b in pairs if a != b and not (a != a and b != b)]
    if any(isinstance(x, float) for pair in differ for x in pair):
        return math.inf, False
    gaps = [abs(a - b) for a, b in differ]
    rounded = any(x.denominator != 1 for pair in differ for x in pair)
    return {"linf": max(gaps, default=Fraction(0)), "l2": sum(x * x for x in gaps)}.get(metric, sum(gaps)), rounded


def verify(data: bytes) -> tuple[int, str]:
    """Return the status, 0 right, 1 wrong, 3 not decided by the file alone, and a line; `ValueError` is status 2."""
    stored = sealed(data, checked)
    claim, metric = Fraction(stored["sensitivity"]), stored["metric"]
    far, rounded = distance(metric, *stored["values"])
    most = claim * (1 + ROUNDING * rounded)
    try:
        shown = float(far) ** (0.5 if metric == "l2" else 1)
    except OverflowError:
        shown = sys.float_info.max
    right = far > (most * most if metric == "l2" else most)
    right = right and math.isclose(float(stored["distance"]), shown, rel_tol=1e-9)
    said = f"it says {stored['distance']}, the claim is {claim}"
    words = f"the values that it holds are {shown:.6g} apart ({metric}), {said}"
    found = neighbours(stored["relation"], stored["data"], stored["neighbour"])
    return judged(right, words, *found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], verify))

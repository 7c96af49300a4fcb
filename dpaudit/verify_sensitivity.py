"""Recompute the distance in the certificate of a sensitivity: ``python verify_sensitivity.py FILE``."""

import hashlib
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

MOST_BYTES = 2**24
METRICS = ("absolute", "l1", "l2", "linf", "hamming", "symmetric")


def leaves(value: object, key: tuple[object, ...] = ()) -> Iterator[tuple[tuple[object, ...], Fraction | str]]:
    """Yield the numbers of an encoded value with their keys, as fractions, and anything else as text."""
    if isinstance(value, dict) and value["kind"] in ("items", "array"):
        for i, item in enumerate(value["items"]):
            yield from leaves(item, (*key, i))
    elif isinstance(value, dict) and value["kind"] == "entries":
        for name, item in value["items"]:
            yield from leaves(item, (*key, json.dumps(name)))
    else:
        yield key, Fraction(value) if isinstance(value, int | float) else json.dumps(value)


def distance(metric: str, first: Any, second: Any) -> Fraction | float:
    """Return the distance of two encoded values, of the metric l2 its square."""
    if metric in ("hamming", "symmetric"):
        a, b = ([json.dumps(item, sort_keys=True) for item in value["items"]] for value in (first, second))
        if metric == "hamming":
            return sum(map(str.__ne__, a, b)) if len(a) == len(b) else math.inf
        return (Counter(a) - Counter(b)).total() + (Counter(b) - Counter(a)).total()
    one, other = dict(leaves(first)), dict(leaves(second))
    by_key = isinstance(first, dict) and first["kind"] == "entries"
    if one.keys() != other.keys() and not by_key:
        return math.inf
    pairs = [(one.get(key, Fraction(0)), other.get(key, Fraction(0))) for key in {**one, **other}]
    if any(a != b and isinstance(x, str) for a, b in pairs for x in (a, b)):
        return math.inf
    gaps = [abs(a - b) for a, b in pairs if not isinstance(a, str) and not isinstance(b, str)]
    return {"linf": max(gaps, default=Fraction(0)), "l2": sum(x * x for x in gaps)}.get(metric, sum(gaps))


def verify(data: bytes) -> tuple[int, str]:
    """Return the exit status, 0 right or 1 wrong, and one line; raise if not readable, which is 2."""
    stored = json.loads(data, object_pairs_hook=lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else {})
    seal = hashlib.blake2b(json.dumps({**stored, "seal": ""}, sort_keys=True).encode(), digest_size=32).hexdigest()
    if (stored["kind"], stored["schema_version"], stored.get("seal", seal)) != ("sensitivity certificate", 1, seal):
        raise ValueError("this is no certificate of a sensitivity, or it was altered since it was written")
    claim, metric, values = Fraction(stored["sensitivity"]), stored["metric"], stored["values"]
    if claim < 0 or metric not in METRICS or len(values) != 2:
        raise ValueError(f"a claim >= 0, one of {METRICS} and two values are needed: {claim}, {metric!r:.60}")
    far = distance(metric, *values)
    exact = all(isinstance(x, str) or x.denominator == 1 for value in values for _, x in leaves(value))
    most = claim * (1 if exact else 1 + Fraction(1, 10**9))
    right = far > (most * most if metric == "l2" else most)
    shown = f"the values that it holds are {float(far) ** (0.5 if metric == 'l2' else 1):.6g} apart ({metric})"
    return int(not right), f"{'right' if right else 'wrong'}: {shown}, the claim is {claim}"


if __name__ == "__main__":
    try:
        with open((sys.argv[1:2] or ["(no FILE given)"])[0], "rb") as file:
            read = file.read(MOST_BYTES + 1)
        status, words = verify(read) if len(read) <= MOST_BYTES else (2, f"not readable: over {MOST_BYTES} bytes")
    except (OSError, TypeError, ValueError, LookupError, RecursionError, ArithmeticError, MemoryError) as fault:
        status, words = 2, f"not readable: {type(fault).__name__}: {fault!s:.300}"
    print(words.encode("ascii", "backslashreplace").decode().replace("\n", " ")[:1000])
    sys.exit(status)

"""The grammar of certificates, by which they are written, read and verified, and what neighbours are in it.

It needs the standard library alone, and `dpaudit.verify_certificate`, with which it can be copied out.
"""

import hashlib
import json
import math
import re
import struct
from collections import Counter
from collections.abc import Callable
from typing import Any

# Limits of what is read, so that a hostile file takes neither memory nor time; Python itself reads no integers of
# more than 4,300 digits.
MOST_BYTES = 2**24
MOST_DIGITS = 3_000
MOST_RUNS = 10**12
# exp of little more overflows a float.
MOST_EPSILON = 700
DEPTH = 20
LEAST_CONFIDENCE = 0.5
LEAST_ERROR = 1e-25  # for smaller errors the tails that are cut off would count
RELATIONS = ("replace-one", "add-remove-one", "replace-private")
Rule = Callable[[Any, str], None]


def need(holds: object, where: str, what: str, given: Any) -> None:
    """Raise `ValueError`, which names the place, unless a condition holds."""
    if not holds:
        raise ValueError(f"{where} must be {what}, got {given!r:.60}")


def whole(least: float, most: float = math.inf) -> Rule:
    """Return the rule of an integer in a range."""
    # By `type` and not `isinstance`, here and below: True is an integer to Python and none to other readers.
    return lambda v, where: need(type(v) is int and least <= v <= most, where, f"an integer in [{least}, {most}]", v)


def real(least: float, most: float, *infinities: str) -> Rule:
    """Return the rule of a number in a range, or an infinity as JSON has it."""
    span = f"a number in [{least}, {most}]"
    return lambda v, where: need(
        (type(v) in (int, float) and least <= v <= most) or (type(v) is str and v in infinities), where, span, v
    )


def among(*allowed: Any) -> Rule:
    """Return the rule of one of some values, of the same type."""
    return lambda v, where: need(any(type(v) is type(a) and v == a for a in allowed), where, f"one of {allowed}", v)


def like(pattern: str, what: str) -> Rule:
    """Return the rule of a text that matches a pattern."""
    found = re.compile(pattern, re.DOTALL)
    return lambda v, where: need(type(v) is str and found.fullmatch(v), where, what, v)


def many(rule: Rule, least: int = 0, most: float = math.inf) -> Rule:
    """Return the rule of a list."""

    def holds(value: Any, where: str) -> None:
        need(type(value) is list and least <= len(value) <= most, where, f"a list of {least} to {most} items", value)
        for i, item in enumerate(value):
            rule(item, f"{where}[{i}]")

    return holds


def either(none: Rule) -> Rule:
    """Return the rule of null, or what another rule allows."""
    return lambda v, where: None if v is None else none(v, where)


def record(**fields: Rule) -> Rule:
    """Return the rule of an object with exactly these fields; those that end in _ may be left out."""
    # A rule names fields as keywords, which cannot say otherwise that one may be left out.
    known = {name.rstrip("_"): rule for name, rule in fields.items()}

    def holds(value: Any, where: str) -> None:
        need(type(value) is dict, where, "an object", value)
        for name in (*value, *(name for name in fields if name[-1] != "_")):
            need(name in known and name in value, where, f"an object of the fields {', '.join(known)}", name)
        for name, item in value.items():
            known[name](item, f"{where}.{name}")

    return holds


def tagged(**kinds: Rule) -> Rule:
    """Return the rule of an object whose field `kind` says which rule it has."""
    rules = {name.replace("_", " "): rule for name, rule in kinds.items()}

    def holds(value: Any, where: str) -> None:
        need(type(value) is dict, where, "an object", value)
        kind = value.get("kind")
        need(type(kind) is str and kind in rules, f"{where}.kind", f"one of {', '.join(rules)}", kind)
        rules[kind]({name: item for name, item in value.items() if name != "kind"}, where)

    return holds


# Lone surrogates stand in no UTF-8, so that two programs would write them differently.
text, flag = like(r"[^\ud800-\udfff]*", "text"), among(True, False)
BITS = {f"{sign}int{bits}": (-(2 ** (bits - 1)) * (not sign), 2 ** (bits - (not sign)) - 1)
        for sign in ("", "u") for bits in (8, 16, 32, 64)}  # fmt: skip
SHAPES = tagged(
    number=record(value=among("nan", "inf", "-inf")),
    items=record(type=among("list", "tuple", "set", "frozenset"), items=many(lambda v, where: None)),
    entries=record(items=many(many(lambda v, where: None, 2, 2))),
    array=record(dtype=among("bool", "float32", "float64", *BITS), shape=many(whole(0, 10**4), 0, 32),
                 items=many(lambda v, where: None)),
    frame=record(columns=many(many(lambda v, where: None, 2, 2))),
    sample=record(points=many(many(whole(-math.inf))), labels=many(whole(-math.inf)), counts=many(whole(1, MOST_RUNS)),
                  public=either(many(flag))),
    exception=record(type=text, message=text),
)  # fmt: skip


def value_of(value: Any, where: str, depth: int = DEPTH) -> None:
    """Raise `ValueError` unless a value is one that `dpaudit.outputs.values` makes, and can be made again."""
    need(depth, where, f"nested to at most {DEPTH} levels", "more")
    if value is None or type(value) in (bool, int, float):
        return
    if type(value) is str:
        return text(value, where)
    SHAPES(value, where)
    kind = value["kind"]
    items = value.get("items", [])
    parts = items
    if kind == "entries":
        parts = [part for item in items for part in item]
    elif kind == "frame":
        parts = [column for _, column in value["columns"]]
    for item in parts:
        value_of(item, where, depth - 1)
    if kind == "frame":
        names = [name for name, _ in value["columns"]]
        lengths = [_length(column) for _, column in value["columns"]]
        for name in names:
            text(name, where)
        need(None not in lengths and len({*lengths}) < 2, where, "a frame of columns of one length", lengths)
        need(len({*names}) == len(names), where, "a frame of columns of different names", names)
    elif kind == "array":
        need(math.prod(value["shape"]) == len(items), where, f"an array of shape {value['shape']}", len(items))
        for item in items:
            need(_fits(item, value["dtype"]), where, f"an array of {value['dtype']}", item)
    elif kind == "entries" or value.get("type") in ("set", "frozenset"):
        keys = [key for key, _ in items] if kind == "entries" else items
        need(all(map(_hashable, keys)), where, "a set or a dictionary of what can be in one", value)
        need(len({*map(_equal, keys)}) == len(keys), where, "a set or a dictionary that holds nothing twice", value)
    elif kind == "sample":
        sizes = {len(value[name]) for name in ("points", "labels", "counts", "public") if value[name] is not None}
        need(len(sizes) == 1 and len({*map(len, value["points"])}) < 2, where, "a sample of even parts", value)


def _length(column: Any) -> int | None:
    found = type(column) is dict and (column.get("type") == "list" or len(column.get("shape", ())) == 1)
    return len(column["items"]) if found else None


def _fits(item: Any, dtype: str) -> bool:
    """Return whether a number is stored by a type of NumPy as it is."""
    if dtype in BITS:
        return type(item) is int and BITS[dtype][0] <= item <= BITS[dtype][1]
    if dtype == "bool":
        return type(item) is bool
    if type(item) is dict:
        return bool(item["kind"] == "number")
    # Larger numbers than float32 has cannot be packed at all.
    if type(item) is not float or dtype == "float64" or abs(item) > 3.5e38:
        return type(item) is float and dtype == "float64"
    return bool(struct.unpack("f", struct.pack("f", item))[0] == item)


def _hashable(value: Any) -> bool:
    if type(value) is not dict:
        return True
    if value["kind"] == "items":
        return value["type"] == "frozenset" or (value["type"] == "tuple" and all(map(_hashable, value["items"])))
    return value["kind"] == "number" or value.get("shape") == []


def _equal(value: Any) -> Any:
    """Return something by which values are equal that Python calls so, as 1 and 1.0."""
    if type(value) is dict and value["kind"] == "number":
        value = float(value["value"])
    if type(value) is not dict:
        # Integers as texts: of numbers somebody may choose many with one hash.
        whole = type(value) is not str and value is not None and math.isfinite(value) and value == int(value)
        if whole:
            return str(int(value))
        return type(value).__name__, repr(value)
    if value["kind"] == "array":
        return _equal(value["items"][0])
    made = frozenset if value["type"] == "frozenset" else tuple
    return made(map(_equal, value["items"]))


def cell(value: Any) -> Any:
    """Return something by which values are equal that `dpaudit.outputs.canonical` calls so.

    Numbers stand as texts: of integers somebody may choose many with one hash.
    """
    if type(value) is not dict:
        return type(value).__name__, value if type(value) is str else repr(value)
    kind = value["kind"]
    if kind == "array":
        cells = tuple(map(cell, value["items"]))
        return ("array", tuple(value["shape"]), value["dtype"].strip("u")[0], cells) if value["shape"] else cells[0]
    if kind == "entries":
        return "mapping", tuple((cell(key), cell(item)) for key, item in value["items"])
    if kind == "items":
        cells = tuple(map(cell, value["items"]))
        return ("sequence", cells) if value["type"] in ("list", "tuple") else ("set", frozenset(cells))
    if kind == "frame":
        return "frame", tuple((name, cell(column)) for name, column in value["columns"])
    if kind == "sample":
        return "sample", frozenset(_examples(value).items())
    return ("float", value["value"]) if kind == "number" else ("exception", value["type"], value["message"])


def _examples(value: Any) -> Counter[Any]:
    public = value["public"] or [False] * len(value["counts"])
    found = Counter[Any]()
    for point, label, count, one in zip(value["points"], value["labels"], value["counts"], public, strict=True):
        found[tuple(map(str, point)), str(label), one] += count
    return found


def records(value: Any) -> list[Any] | None:
    """Return the records of a dataset, as cells; None of what is no dataset."""
    if type(value) is not dict or value["kind"] not in ("items", "array", "frame", "entries"):
        return None
    items = value.get("items", [])
    if value["kind"] == "array":
        return _rows(value) if value["shape"] else None
    if value["kind"] == "items":
        if value["type"] not in ("list", "tuple"):
            return None
        if value["type"] == "list" or not items or not all(map(_is_part, items)):
            return [cell(item) for item in items]
        columns = [(i, records(item)) for i, item in enumerate(items)]
    elif value["kind"] == "frame":
        columns = [(name, records(column)) for name, column in value["columns"]]
    else:
        held = all(
            _is_part(item) or (type(item) is dict and item.get("type") in ("list", "tuple")) for _, item in items
        )
        columns = [(cell(key), records(item)) for key, item in items] if held else []
    known = [column for _, column in columns if column is not None]
    if not known or len(known) < len(columns) or len({*map(len, known)}) > 1:
        return None
    return [tuple(zip((name for name, _ in columns), row, strict=True)) for row in zip(*known, strict=True)]


def _is_part(value: Any) -> bool:
    return type(value) is dict and (value["kind"] == "frame" or bool(value.get("shape")))


def _rows(value: Any) -> list[Any]:
    rows, *shape = value["shape"]
    cells = list(map(cell, value["items"]))
    if not shape:
        return cells
    step = math.prod(shape)
    kind = value["dtype"].strip("u")[0]
    return [("array", tuple(shape), kind, tuple(cells[i * step : (i + 1) * step])) for i in range(rows)]


def form(value: Any) -> Any:
    """Return what two neighbouring datasets share: types, dtypes, widths, and the columns in their order."""
    kind = value["kind"]
    items = value.get("items", [])
    if kind == "array":
        return value["dtype"], tuple(value["shape"][1:])
    if kind == "frame":
        return kind, tuple((name, form(column)) for name, column in value["columns"])
    if kind == "entries":
        return kind, tuple((cell(key), form(item)) for key, item in items)
    if value["type"] == "tuple" and all(map(_is_part, items)):
        return value["type"], tuple(map(form, items))
    return value["type"], ()


def neighbours(relation: str | None, first: Any, second: Any) -> tuple[bool | None, str]:
    """Return whether two values are neighbours, None where that cannot be decided, and words on it."""
    if cell(first) == cell(second):
        return False, "the two inputs are the same"
    if relation is None:
        return None, "no relation is named"
    # A sample has weights and flags; what else is a dataset is compared record by record.
    sample = all(type(side) is dict and side["kind"] == "sample" for side in (first, second))
    if relation == "replace-private" and not sample:
        return None, "which records are public is not known"
    sides = [_examples(side) if sample else records(side) for side in (first, second)]
    if None in sides:
        return None, "the inputs are no datasets of records"
    one, other = (Counter[Any](side or []) for side in sides)
    # By how often each record stands in either input: the order of records is no difference.
    gone = one - other
    come = other - one
    if not gone and not come:
        return None, "the inputs hold the same records in another order"
    moved = sorted((gone.total(), come.total())) == ([0, 1] if relation == "add-remove-one" else [1, 1])
    fixed = relation == "replace-private" and any(example[2] for example in (*gone, *come))
    differ = f"{gone.total()} records of one input and {come.total()} of the other are not in both"
    widths = {len(point) for side in (first, second) for point in side["points"]} if sample else set()
    # One record may differ between neighbours, the types, widths and columns belong to all of them.
    if moved and not fixed and (len(widths) > 1 if sample else form(first) != form(second)):
        return None, f"{differ}, and the inputs differ in types, widths or columns"
    return moved and not fixed, f"{differ} ({relation})"


def versions(value: Any, where: str) -> None:
    """Raise `ValueError` unless a value is a table of texts."""
    need(type(value) is dict, where, "an object", value)
    for name, version in value.items():
        text(name, where)
        text(version, f"{where}.{name}")


SHARED: dict[str, Rule] = dict(
    relation=either(among(*RELATIONS)), versions=versions, schema_version=among(1), seal=like("[0-9a-f]{64}|", "a seal")
)


def parsed(data: bytes) -> Any:
    """Return the data of a JSON document in UTF-8 without anything that readers take differently."""
    if len(data) > MOST_BYTES:
        raise ValueError(f"over {MOST_BYTES} bytes")

    # Of a name that stands twice every reader takes the one it likes.
    def single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        need(len({*names}) == len(names), "an object", "without a name that stands twice", names)
        return dict(pairs)

    def integer(digits: str) -> int:
        # -0 is an integer to Python and a float to others.
        fits = len(digits) <= MOST_DIGITS and digits != "-0"
        wanted = f"of at most {MOST_DIGITS} digits, and 0 without a sign"
        need(fits, "an integer", wanted, digits)
        return int(digits)

    def number(digits: str) -> float:
        need(math.isfinite(float(digits)), "a number", "finite", digits)
        return float(digits)

    def constant(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    return json.loads(
        data.decode(), object_pairs_hook=single, parse_int=integer, parse_float=number, parse_constant=constant
    )


def sealed(data: bytes, rule: Callable[[Any], None]) -> Any:
    """Return the certificate in a file, which keeps a rule and has the seal of what it says."""
    stored = parsed(data)
    # The rule comes first: a seal is computed of data that has the fields it covers.
    rule(stored)
    seal = hashlib.blake2b(json.dumps({**stored, "seal": ""}, sort_keys=True).encode(), digest_size=32).hexdigest()
    wanted = "as it was written: it was altered, or its seal is missing"
    need(stored["seal"] == seal, "the certificate", wanted, "another")
    return stored


def related(stored: Any) -> tuple[bool | None, str]:
    """Return whether the inputs of a certificate are neighbours, None where it does not tell, and words on it."""
    first = stored["data"]
    second = stored["neighbour"]
    if first["kind"] == second["kind"] == "value":
        return neighbours(stored["relation"], first["value"], second["value"])
    return None, "it does not hold both inputs"


def judged(right: bool, shown: str, found: bool | None, words: str, replays: str = "") -> tuple[int, str]:
    """Return the exit status and the line, given whether the bound is right and whether the inputs are neighbours."""
    # A pair of no neighbours is wrong whatever its bound is.
    if found is False:
        return 1, f"wrong: the inputs are no neighbours: {words}"
    if not right:
        return 1, f"wrong: {shown}"
    if replays:
        unchecked = "" if found else f"; not checked that the inputs are neighbours: {words}"
        return 3, f"replay only: {replays}{unchecked}"
    if found is None:
        return 3, f"not checked that the inputs are neighbours: {words}; the bound is right: {shown}"
    return 0, f"right: {shown}; neighbours: {words}"


def main(words: list[str], verifies: Callable[[bytes], tuple[int, str]]) -> int:
    """Print what is to be said of a file, in one line, and return the status."""
    try:
        with open((words or ["(no FILE given)"])[0], "rb") as file:
            # A byte more than is allowed shows that a file is too large.
            status, line = verifies(file.read(MOST_BYTES + 1))
    except (OSError, TypeError, ValueError, LookupError, RecursionError, ArithmeticError, MemoryError) as fault:
        status = 2
        line = f"not readable: {type(fault).__name__}: {fault!s:.300}"
    # One short line that no terminal obeys, whatever the file holds.
    print(line.encode("ascii", "backslashreplace").decode().replace("\n", " ")[:1000])
    return status

"""Plant a canary record of each type, let mechanisms tell it in every way, and search all that dpaudit lets out for it.

    python scripts/attack.py data [FOLDER]

What a mechanism itself prints is its own and not searched; the file of ``--continue`` is left out, as it holds outputs.
The status is 1 if anything was found.
"""

from __future__ import annotations

import contextlib
import datetime
import io
import json
import logging
import os
import re
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

DAY = datetime.date(1990, 1, 2)
CANARIES: dict[str, Any] = {
    "integer": 8675309,
    "huge integer": 610102197402281191,
    "float": 7654321.25,
    "text": "Zebediah Quuxbury",
    "bytes": b"Zebediah\xff",
    "date": DAY,
    "time": datetime.datetime(1990, 1, 2, 3, 4, 5),
    "Timestamp": pd.Timestamp("1990-01-02 03:04:05"),
    "ragged list": [8675309, [7654321.25, "Quuxbury"], []],
    "nested dictionary": {"Quuxbury": {"Zebediah": 8675309}},
    "decimal": Decimal("7654321.25"),
    "fraction": Fraction(8675309, 7654321),
    "tuple": (8675309, "Quuxbury"),
    "scalar of NumPy": np.int64(8675309),
}
"""A record of each type; no Boolean, which identifies nobody."""
FRAME = {"user": [1, 2, 555019, 3], "name": ["Aa", "Bb", "Zebediah Quuxbury", "Dd"]}
FRAME |= {"income": [10.5, 11.5, 7654321.25, 12.5], "id": [5, 6, 610102197402281191, 7]}
FRAME |= {"born": ["2001-01-01", "2001-01-02", "1990-01-02", "2001-01-04"]}
FORMS = (".html", ".json", ".md", ".txt", ".xml", ".sarif")
SHORTEST = 6
"""Characters of the shortest spelling that is searched for: shorter ones stand in digests by chance."""

MECHANISMS = '''
"""Mechanisms that tell a record in every way; each is private in nothing."""
import sys, warnings


def _held(data):
    rows = data.values.tolist() if hasattr(data, "values") else list(data)
    return max(rows, key=lambda row: len(str(row)), default="")


def _one(held):
    return held[2] if isinstance(held, list) and len(held) == 5 else held


def identity(data, rng):
    return _held(data)

def value(data, rng):
    return _one(_held(data))

def key(data, rng):
    return {str(_held(data)): float(rng.normal()), "day": 726469}

def number(data, rng):
    held = _one(_held(data))
    return float(held) + float(rng.laplace()) if isinstance(held, (int, float)) else float(rng.laplace())

def raises(data, rng):
    if rng.random() < 0.7:
        raise KeyError(str(_held(data)))
    return 1

def always_raises(data, rng):
    raise ValueError(str(_held(data)))

def named(data, rng):
    if rng.random() < 0.7:
        raise type(str(_held(data)), (Exception,), {})(str(_held(data)))
    return 1

def leaves(data, rng):
    raise SystemExit(str(_held(data)))

def warned(data, rng):
    warnings.warn_explicit(str(_held(data)), type(str(_held(data)), (UserWarning,), {}), str(_held(data)), 7)
    warnings.warn(str(_held(data)))
    return float(rng.laplace())

def ours(data, rng):
    from dpaudit import InputError
    raise InputError(str(_held(data)))

def compiled(data, rng):
    exec(compile("raise ValueError(held)", str(_held(data)), "exec"), {"held": str(_held(data))})

def backwards(data, rng):
    return str(_one(_held(data)))[::-1]

def in_hex(data, rng):
    return str(_one(_held(data))).encode().hex()

def upper(data, rng):
    return str(_held(data)).upper()

def thousands(data, rng):
    held = _one(_held(data))
    return format(held, ",") if isinstance(held, (int, float)) else str(held)

def of_a_class(data, rng):
    return type(str(_held(data)), (), {"__init__": lambda self, x: setattr(self, str(x), x)})(_held(data))

def generates(data, rng):
    return type(str(_held(data)), (), {"__next__": lambda self: 1, "__iter__": lambda self: self})()

def batch_raises(data, rng, size):
    raise KeyError(str(_held(data)))

def batch_wrong(data, rng, size):
    return type(str(_held(data)), (), {"__repr__": lambda self: str(_held(data))})()

def scaled(data, rng):
    held = _one(_held(data))
    return len(data) + float(rng.laplace(0, held if isinstance(held, (int, float)) else 1.0))

def total(data):
    return sum(x for x in (data["income"] if hasattr(data, "values") else data) if isinstance(x, (int, float)))
'''
NAMES = re.findall(r"^def ([a-z]\w*)\((?:data, rng|data\)|data, rng, size)", MECHANISMS, re.MULTILINE)
ALONE = ("total",)
"""Functions without noise, for ``dpaudit sensitivity`` alone."""


def spellings(value: Any) -> set[str]:
    """Return how a value may be written: as Python, as text, grouped, in hex, upside down, and the parts of it."""
    plain: list[Any] = list(parts(value))
    found: set[str] = set()
    for part in plain:
        texts = {str(part), repr(part)}
        if isinstance(part, bytes):
            texts |= {part.hex(), part.decode("latin-1"), "Zebediah"}
        if isinstance(part, datetime.date):
            texts |= {part.isoformat(), str(part.toordinal()), f"datetime.date({part.year}, {part.month}"}
        if isinstance(part, int | float | np.number | Decimal | Fraction) and not isinstance(part, bool):
            texts |= {f"{float(part):.6g}", f"{float(part):.5g}", f"{float(part):,}", str(float(part)), str(int(part))}
            texts |= {f"{int(part):,}", f"{int(part):_}", f"{int(part):x}", f"{int(part):o}", f"{int(part):b}"}
        found |= texts | {word for text in texts for word in re.findall(r"\w+", text)}
    found |= {form for text in found for form in (text.upper(), text.lower(), text[::-1], text.encode().hex())}
    return {text for text in found if len(text) >= SHORTEST and re.search(r"[^\W_]", text)} - HARMLESS


_TYPES = "datetime decimal Decimal fraction Fraction float float64 int64 Timestamp date numpy bytes".split()
HARMLESS = {form for word in _TYPES for form in (word, word.upper(), word.lower(), word[::-1], word.encode().hex())}
"""Words of types, which are no values."""


def parts(value: Any) -> Iterator[Any]:
    """Yield a value and, of containers, all that it holds."""
    yield value
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple):
        for one in value:
            yield from parts(one)


def found_in(text: str, searched: set[str]) -> list[str]:
    """Return the spellings that a text holds."""
    return sorted(one for one in searched if one in text)


class _Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record as it would be written."""
        self.lines.append(logging.Formatter().format(record))


def held(make: Callable[[], Any]) -> str:
    """Return all that a call of Python lets out: the finding in every form, or the error with what leads to it."""
    shown = io.StringIO()
    log = _Log()
    logging.getLogger("dpaudit").addHandler(log)
    logging.getLogger("dpaudit").setLevel(logging.DEBUG)
    with (
        contextlib.redirect_stderr(shown),
        contextlib.redirect_stdout(shown),
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        try:
            found = make()
            forms = [
                str(found),
                repr(found),
                json.dumps(found.to_dict()),
                found.summary(),
                found._repr_html_(),
                found.call,
            ]
        except BaseException as error:  # whatever it is, it is shown
            chain = [error, error.__cause__, error.__context__]
            forms = ["".join(traceback.format_exception(error)), *(repr(vars(one)) + str(one) for one in chain if one)]
    logging.getLogger("dpaudit").removeHandler(log)
    # Lines of source that a traceback shows are no records.
    said = [warnings.formatwarning(one.message, one.category, one.filename, one.lineno) for one in warned]
    return "\n".join([shown.getvalue(), *log.lines, *said, *forms])


def of_python(
    names: list[str], module: Any, kinds: tuple[str, ...] = tuple(CANARIES), include_data: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield what was tried, and each spelling that was found in what Python's functions let out."""
    import dpaudit

    for kind in kinds:
        value = CANARIES[kind]
        data = [value, *_others(value)]
        searched = spellings(value)
        for name in names:
            batched = name.startswith("batch")
            function = getattr(module, name)

            def audit(function: Any = function, data: Any = data, batched: bool = batched, name: str = name) -> Any:
                if name in ALONE:
                    return dpaudit.audit_sensitivity(function, data=data, claim=1, outside=False)
                return dpaudit.audit_privacy(
                    function,
                    data=dpaudit.Dataset(data, outside=False),
                    epsilon=1.0,
                    trials=100,
                    batched=batched,
                    look=dpaudit.Look(include_data=include_data),
                )

            for one in found_in(held(audit), searched):
                yield f"{name} on a {kind}", one


def _others(value: Any) -> list[Any]:
    """Return two more records of the same type."""
    if isinstance(value, dict):
        return [{"Quuxbury": {"Aa": 1}}] * 2  # the keys of records are columns
    if isinstance(value, list):
        return [[1], [2, [3]]]
    if isinstance(value, tuple):
        return [(1, "Aa"), (2, "Bb")]
    if isinstance(value, str | bytes):
        return [type(value)()] * 2
    if isinstance(value, datetime.date):
        return [value.replace(year=2001), value.replace(year=2002)]
    return [type(value)(1), type(value)(2)]


def of_commands(folder: Path, names: list[str], forms: tuple[str, ...] = FORMS) -> Iterator[tuple[str, str]]:
    """Yield what was tried, and each spelling found in what commands print and write: reports and all."""
    from dpaudit.app.application import main

    pd.DataFrame(FRAME).to_csv(folder / "people.csv", index=False)
    (folder / "held.py").write_text(MECHANISMS)
    entries = [
        f'[[audit]]\nname = "{name}"\nmechanism = "held.py:{name}"\ndata = "people.csv"\nepsilon = 1.0\ntrials = 100\n'
        + "batched = true\n" * name.startswith("batch")
        for name in names
        if name not in ALONE
    ]
    (folder / "audit.toml").write_text("\n".join(entries))
    commands = [f"check --quiet --time-limit 20 --out check{form}" for form in forms] + ["diff .dpaudit .dpaudit"]
    for name in names:
        if name in ALONE:
            commands.append(f"sensitivity held.py:{name} --data people.csv --claim 1 --out {name}.json")
            continue
        batched = " --batched" * name.startswith("batch")
        audit = f"privacy held.py:{name} --data people.csv --epsilon 1 --trials 100 --quiet{batched}"
        commands += [f"{audit} --dry-run", f"{audit} --certificate {name}.cert --out {name}.html --json"]
        commands.append(f"{audit} --timeout 5 --jobs 2 --unit user --out {name}.xml")
    searched = set[str]().union(*(spellings(value) for column in FRAME.values() for value in [column[2]]))
    searched |= spellings(DAY)
    for command in commands:
        out = io.StringIO()
        err = io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(command.split())
        for one in found_in(out.getvalue() + err.getvalue(), searched):
            yield command, one
    ours = {"people.csv", "held.py"}
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in ours and "__pycache__" not in path.parts:
            for one in found_in(path.read_bytes().decode("latin-1"), searched):
                yield f"the file {path.relative_to(folder)}", one


def main() -> int:
    """Make all attempts in the folder that is named, by default in a new one."""
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp())
    os.makedirs(place, exist_ok=True)
    return run(place)


def run(folder: Path, names: list[str] = NAMES) -> int:
    """Make all attempts in a folder, print what was found, and return the status."""
    (folder / "held.py").write_text(MECHANISMS)
    sys.path.insert(0, str(folder))
    import held as module

    found = [*of_commands(folder, names), *of_python(names, module)]
    for what, one in found:
        print(f"FOUND in {what}: {one!r}")
    tried = len(names) * len(CANARIES)
    commands = f"{3 * len(names)} commands, {len(FORMS)} checks of all"
    print(f"{tried} audits in Python, {commands}: {len(found)} spellings found")
    return int(bool(found))

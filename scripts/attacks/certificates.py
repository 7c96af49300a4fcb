"""Forge certificates in every way that is known, and print what reader, verifier and replay say of each.

Usage: python scripts/attack.py certificates

Each forgery is sealed again, as a forger would, and says of an exactly private mechanism that it is none. It passes if
the verifier says "right" or a replay "violation". The status is 1 if any does.
"""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit import InputError, certificates
from dpaudit.bounds.melded import epsilon_lower
from dpaudit.evidence.certificate import seal_of
from dpaudit.verify_certificate import verify

HITS = {"hits": 361, "runs": 1000, "neighbour_hits": 52, "neighbour_runs": 1000}
LOWER = epsilon_lower(*HITS.values(), confidence=0.999)


def laplace(data: Any, rng: np.random.Generator) -> float:
    """Return a sum of numbers in [0, 1] with the noise for epsilon = 1, as replace-one asks for."""
    return float(np.sum(np.clip(np.asarray(data, dtype=float), 0, 1)) + rng.laplace(0, 1))


def items(*numbers: Any, kind: str = "list") -> dict[str, Any]:
    """Return numbers as a list of a certificate."""
    return {"kind": "value", "value": {"kind": "items", "type": kind, "items": [*numbers]}, "digest": ""}


def interval(low: Any, high: Any = "inf", feature: str = "value") -> dict[str, Any]:
    """Return an interval of a certificate."""
    return {"kind": "interval", "feature": feature, "low": low, "high": high, "path": []}


def cells(**changed: Any) -> dict[str, Any]:
    """Return a list of outputs of a certificate."""
    return {"kind": "cells", "feature": "output", "ranges": [], "values": [], "rare": False, "path": []} | changed


def array(dtype: str, shape: list[int], *numbers: Any) -> dict[str, Any]:
    """Return numbers as an array of a certificate."""
    return {
        "kind": "value",
        "value": {"kind": "array", "dtype": dtype, "shape": shape, "items": [*numbers]},
        "digest": "",
    }


def frame(**columns: Any) -> dict[str, Any]:
    """Return lists as the columns of a frame of a certificate."""
    named = [[name, items(*column)["value"]] for name, column in columns.items()]
    return {"kind": "value", "value": {"kind": "frame", "columns": named}, "digest": ""}


TRUE: dict[str, Any] = {
    "kind": "certificate", "mechanism": "m.py:laplace", "epsilon": 1.0, "delta": 0.0, "relation": "replace-one",
    "epsilon_lower": LOWER, "confidence": 0.999, "error": 0.001, "bound": "melded",
    "origin": {"kind": "given", "text": "", "moves": 0}, "data": items(0.5, 1), "neighbour": items(0.5, 0),
    "direction": "forward", "event": interval(1.4), "counts": HITS, "runs": "fresh", "searched": 0, "seed": 7,
    "streams_version": 2, "versions": {}, "schema_version": 1, "learned": None,
}  # fmt: skip
"""A certificate that is right by its counts, which are invented; a replay of it convicts nobody."""
COINS = {"right": 731, "guesses": 1000, "filled": 0}
FORGERIES: dict[str, dict[str, Any]] = {
    "three records replaced": {"data": items(0, 0, 0), "neighbour": items(1, 1, 1)},
    "forty relabelled": {"data": items(*[0] * 40), "neighbour": items(*[1] * 40)},
    "a record added under replace-one": {"data": items(1, 1), "neighbour": items(0)},
    "two records added": {"relation": "add-remove-one", "data": items(1, 1), "neighbour": items()},
    "no relation, far apart": {"relation": None, "data": items(0, 0, 0), "neighbour": items(1, 1, 1)},
    "public records unknown": {"relation": "replace-private", "data": items(0, 0, 0), "neighbour": items(1, 1, 1)},
    "inputs that are no datasets": {
        "data": {"kind": "value", "value": 0, "digest": ""}, "neighbour": {"kind": "value", "value": 9, "digest": ""},
    },
    "one input twice": {"neighbour": items(0.5, 1)},
    "another order": {"data": items(0.5, 1), "neighbour": items(1, 0.5)},
    "a list and a tuple": {"neighbour": items(0.5, 1, kind="tuple")},
    "a list and an array": {"neighbour": array("float64", [2], 0.5, 0.0)},
    "arrays of two dtypes": {"data": array("int64", [2], 1, 2), "neighbour": array("int8", [2], 1, 0)},
    "arrays of two widths": {"data": array("int64", [1, 1], 1), "neighbour": array("int64", [1, 2], 1, 0)},
    "frames of other columns": {"data": frame(a=[1]), "neighbour": frame(b=[1])},
    "columns in another order": {"data": frame(a=[1], b=[2]), "neighbour": frame(b=[2], a=[1])},
    "an error of 1e-300": {"bound": "clopper-pearson", "error": 1e-300, "epsilon_lower": 1.85},
    "confidence 1e-6": {"confidence": 1e-6, "error": 1.0, "epsilon": 1.0, "epsilon_lower": 1.9},
    "confidence below the error": {"error": 0.01},
    "a bound 9e-6 too high": {"epsilon": LOWER + 2e-6, "epsilon_lower": LOWER + 9e-6},
    "a bound beyond the counts": {"epsilon_lower": LOWER + 1},
    "an infinite bound": {"epsilon_lower": "inf"},
    "hits above runs": {"counts": HITS | {"hits": 1001}},
    "no runs": {"counts": HITS | {"neighbour_hits": 0, "neighbour_runs": 0}},
    "right guesses above guesses": {"bound": "coin", "counts": HITS | {"count": COINS | {"right": 1001}}},
    "guesses of no runs": {"bound": "coin", "counts": HITS | {"count": COINS}, "epsilon": 0.1, "epsilon_lower": 0.77},
    "melded, and guesses too": {"counts": HITS | {"count": COINS}},
    "every output": {"event": interval("-inf")},
    "no output": {"event": interval("-inf", "-inf")},
    "an empty interval": {"event": interval(1, 1)},
    "raised or not": {"event": interval(0, feature="raised")},
    "raised, in between": {"event": interval(0.1, 0.9, feature="raised")},
    "an empty list": {"event": cells()},
    "all but an empty list": {"event": cells(complement=True)},
    "a range turned round": {"event": cells(ranges=[[5, 1]])},
    "a threshold alone": {"event": {"kind": "threshold"}},
    "code as event": {"event": {"kind": "code", "code": "output > 0"}},
    "the event its own opposite": {"opposite": interval(1.4)},
    "learned, though explicit": {"learned": 1000},
    "bets without bets": {"bound": "betting", "counts": None},
    "an unknown field": {"more": 1},
    "true for a number": {"searched": True},
    "a fraction of a run": {"counts": HITS | {"hits": 361.0}},
    "runs beyond all": {"counts": HITS | {"runs": 10**13}},
    "10^12 runs": {"counts": dict.fromkeys(HITS, 10**12)},
    "a set of lists": {"data": items(items(1)["value"], kind="set")},
    "an uneven frame": {"data": {"kind": "value", "digest": "", "value": {
        "kind": "frame", "columns": [["a", items(1)["value"]], ["b", items()["value"]]]}}},
    "an array out of range": {"data": {"kind": "value", "digest": "", "value": {
        "kind": "array", "dtype": "int8", "shape": [1], "items": [300]}}},
    "an array of 10^9 empty rows": {"data": {"kind": "value", "digest": "", "value": {
        "kind": "array", "dtype": "int8", "shape": [10**9, 0], "items": []}}},
    "invented counts alone": {},
}  # fmt: skip
"""The altered fields; the last one is right by itself, and only a replay shows that its counts are invented."""


def sealed(stored: dict[str, Any]) -> bytes:
    """Return a certificate with the seal of what it says."""
    return json.dumps(stored | {"seal": seal_of(stored)}).encode()


def spoiled() -> dict[str, bytes]:
    """Return files that readers of JSON take differently."""
    data = sealed(TRUE)
    seed = b'"seed": 7'
    return {
        "no seal": json.dumps(TRUE).encode(),
        "an empty seal": json.dumps(TRUE | {"seal": ""}).encode(),
        "altered after the seal": data.replace(b"m.py", b"n.py"),
        "a byte order mark": b"\xef\xbb\xbf" + data,
        "UTF-16": data.decode().encode("utf-16"),
        "text after the end": data + b"{}",
        "a key twice": data.replace(seed, b'"seed": 8, "seed": 7'),
        "NaN": data.replace(b'"delta": 0.0', b'"delta": NaN'),
        "an exponent of 999": data.replace(b'"delta": 0.0', b'"delta": 1e999'),
        "minus nought": data.replace(b'"searched": 0', b'"searched": -0'),
        "5,000 digits": data.replace(seed, b'"seed": ' + b"7" * 5000),
        "100,000 brackets": data.replace(b"[0.5, 1]", b"[" * 10**5 + b"]" * 10**5),
        "17 MB": data + b" " * 17_000_000,
        "a lone surrogate": data.replace(b"m.py", b"\\ud800"),
        "binary": bytes(range(256)),
        "empty": b"",
    }


def asked(data: bytes, path: Path) -> tuple[str, str, str]:
    """Return what verifier, reader and replay say of a file."""
    path.write_bytes(data)
    try:
        status, words = verify(data)
        said = f"{status} {words}"
    except (ValueError, RecursionError) as error:
        said = f"2 {error}"
    try:
        found = certificates.read(path)
    except InputError as error:
        return said, str(error).replace(str(path), "FILE"), "not run"
    try:
        return said, "read", str(certificates.replay(found, laplace, seed=1, trials=2000).verdict)
    except InputError as error:
        return said, "read", str(error)


def main() -> int:
    """Print one line a forgery, and how many passed."""
    passed = []
    files = {name: sealed(copy.deepcopy(TRUE) | changed) for name, changed in FORGERIES.items()}
    with tempfile.TemporaryDirectory() as folder:
        for name, data in (files | spoiled()).items():
            verifier, reader, replay = asked(data, Path(folder) / "certificate.json")
            if replay == "violation" or (verifier[0] == "0" and name != "invented counts alone"):
                passed.append(name)
            print(f"{name}: verifier {verifier:.90} | reader {reader:.70} | replay {replay:.60}")
    print(f"{len(files) + len(spoiled())} forgeries, {len(passed)} passed{': ' if passed else ''}{', '.join(passed)}")
    return int(bool(passed))

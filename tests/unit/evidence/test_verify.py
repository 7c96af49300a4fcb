"""The verifier of certificates: its bounds against those of dpaudit, its verdicts, and hostile files."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forked import ran
from oracle.clopper_pearson import ClopperPearson
from source_tree import ROOT

from dpaudit.bounds.base import CountArrays
from dpaudit.bounds.coin import epsilon_lower
from dpaudit.bounds.melded import Melded
from dpaudit.evidence.certificate import seal_of
from dpaudit.verify_certificate import bound, verify

SOURCE, GRAMMAR = (ROOT / "dpaudit" / name for name in ("verify_certificate.py", "certificate_grammar.py"))
KINDS = {"melded": Melded(), "clopper-pearson": ClopperPearson()}

COUNTS = [
    (1, 1, 0, 1), (3, 3, 0, 5), (5, 5, 4, 5), (40, 50, 1, 50), (50, 50, 0, 50), (49, 50, 48, 50),
    (300, 1000, 0, 1000), (1000, 1000, 999, 1000), (12, 1000, 0, 10**6), (10**6 - 1, 10**6, 700, 1000),
    (20, 10**8, 1, 10**8), (3 * 10**7, 10**8, 29 * 10**6, 10**8), (10**9, 10**9, 0, 10**9),
    (10**12, 10**12, 0, 10**12), (5 * 10**11, 10**12, 4 * 10**11, 10**12),
    (5 * 10**8, 10**9, 499_900_000, 10**9), (7, 1000, 0, 10**9), (10**9 - 1, 10**9, 10**9 - 50, 10**9),
    (0, 10, 0, 10), (10, 10, 10, 10), (5, 100, 6, 100),
]  # fmt: skip
"""Hits and runs on both sides."""


@pytest.mark.parametrize(
    ("counts", "error", "delta"),
    [
        # Counts meet one of the errors in every profile, each of which meets a third of the counts.
        pytest.param(counts, *level, marks=[pytest.mark.full] * ((i + j) % 3 != 0))
        for i, counts in enumerate(COUNTS)
        for j, level in enumerate(((0.05, 0.0), (1e-3, 0.1), (1e-12, 1e-6)))
    ],
)
def test_bounds_are_those_of_dpaudit(counts: tuple[int, int, int, int], error: float, delta: float) -> None:
    c = CountArrays.of(*counts)
    for name, kind in KINDS.items():
        expected = float(kind._epsilons(c, np.array([delta]), error)[0])
        assert bound(name, list(counts), delta, error) == pytest.approx(expected, abs=1e-5), name


COINS = [(1, 1), (5, 5), (4, 5), (40, 50), (50, 50), (26, 50), (25, 50), (0, 9), (731, 1000), (50_500, 10**5),
         (10**8, 10**8), (10**8 - 1, 10**8), (6 * 10**7, 10**8)]  # fmt: skip
"""Right guesses, and all of them."""


@pytest.mark.parametrize("counts", COINS, ids=str)
def test_bounds_by_guesses_are_those_of_dpaudit(counts: tuple[int, int]) -> None:
    for error in (0.05, 1e-3, 1e-12):
        found = bound("coin", [1, 2, 1, 2, *counts, 2], 0.0, error)
        assert found == pytest.approx(float(epsilon_lower(*counts, error)), abs=1e-5)


@pytest.mark.parametrize(
    ("counts", "sides"),
    [
        # Sets by turns in every profile.
        pytest.param(counts, sides, marks=[pytest.mark.full] * ((i + sides) % 2))
        for i, counts in enumerate(COINS)
        for sides in (1, 2)
    ],
)
def test_bounds_by_guesses_with_delta_are_those_of_dpaudit(counts: tuple[int, int], sides: int) -> None:
    runs = 2 * counts[1]
    for error, delta in product((0.05, 1e-12), (1e-9, 1e-4, 0.2)):
        expected = float(epsilon_lower(*counts, error, delta_runs=runs * delta * sides / 2))
        found = bound("coin", [1, runs // 2, 1, runs // 2, *counts, sides], delta, error)
        assert found == pytest.approx(expected, abs=1e-5), (error, delta)


LOWER = float(Melded().epsilon_lower(361, 1000, 52, 1000, gamma=1e-3))


def told(**changed: Any) -> dict[str, Any]:
    """Return a certificate as data, without a seal."""
    counts = {"hits": 361, "runs": 1000, "neighbour_hits": 52, "neighbour_runs": 1000}
    sides = [{"kind": "items", "type": "list", "items": items} for items in ([0.5, 1.0], [0.5, 0.0])]
    found = {"kind": "certificate", "mechanism": "m.py:mean", "epsilon": 1.0, "delta": 0.0, "relation": "replace-one"}
    found |= {"epsilon_lower": LOWER, "confidence": 0.999, "error": 0.001, "bound": "melded"}
    found |= {"origin": {"kind": "given", "text": "", "moves": 0}}
    found |= {name: {"kind": "value", "value": side, "digest": ""} for name, side in zip(SIDES, sides, strict=True)}
    found |= {"direction": "forward", "event": interval(0.5), "counts": counts, "runs": "fresh", "searched": 0}
    found |= {"seed": 7, "streams_version": 2, "versions": {}, "schema_version": 1, "learned": None}
    return found | changed


SIDES = ("data", "neighbour")


def interval(low: Any, high: Any = "inf", feature: str = "value") -> dict[str, Any]:
    return {"kind": "interval", "feature": feature, "low": low, "high": high, "path": []}


def as_file(stored: dict[str, Any]) -> bytes:
    """Return a certificate with the seal of what it says."""
    return json.dumps(stored | {"seal": seal_of(stored)}).encode()


def judged(**changed: Any) -> tuple[int, str]:
    return verify(as_file(told(**changed)))


def test_a_certificate_is_right_within_the_tolerance_and_no_farther() -> None:
    lower = told()["epsilon_lower"]
    assert judged()[0] == 0
    for off, status in product((-1, 1), (0, 1)):
        assert judged(epsilon_lower=lower + off * (0.9e-5 if status == 0 else 2.2e-5))[0] == status
    assert f"give {lower:.5f}"[:-1] in judged(epsilon_lower=3.0)[1]


@pytest.mark.parametrize(
    "changed",
    [
        {"epsilon": LOWER + 2e-6, "epsilon_lower": LOWER + 5e-6},
        {"neighbour": {"kind": "value", "value": {"kind": "items", "type": "list", "items": [0.1, 0.2]}, "digest": ""}},
        {"neighbour": told()["data"]},
        {"confidence": 0.9995},
        {"delta": 0.01},
        {"error": 0.0005},
        {"bound": "clopper-pearson"},
        {"counts": {"hits": 361, "runs": 1001, "neighbour_hits": 52, "neighbour_runs": 1000}},
        {"counts": {"hits": 52, "runs": 1000, "neighbour_hits": 361, "neighbour_runs": 1000}},
    ],
    ids=str,
)
def test_a_changed_number_is_wrong(changed: dict[str, Any]) -> None:
    assert judged(**changed)[0] == 1


def guessed(right: Any = 731, guesses: Any = 1000, filled: int = 12) -> dict[str, Any]:
    counts: dict[str, Any] = {"hits": 735, "runs": 1000, "neighbour_hits": 290, "neighbour_runs": 1000}
    counts["count"] = {"right": right, "guesses": guesses, "filled": filled}
    lower = float(epsilon_lower(731, 1000, 1e-3))
    return {"bound": "coin", "counts": counts, "epsilon": 0.5, "epsilon_lower": lower}


def test_guesses_of_coins_are_recomputed_from_their_number() -> None:
    assert judged(**guessed()) == (0, judged(**guessed())[1])
    assert "[731, 1000] give" in judged(**guessed())[1]
    # What was hit plays no part in it, nor how many coins were filled in.
    assert judged(**guessed(filled=0))[0] == 0
    for wrong in (guessed(730), guessed(731, 1001), {**guessed(), "error": 0.0009}):
        assert judged(**wrong)[0] == 1


def test_guesses_of_coins_with_delta_are_recomputed_and_one_set_pays_half_of_it() -> None:
    lower = float(epsilon_lower(731, 1000, 1e-3, delta_runs=2000 * 1e-4))
    right = {**guessed(), "delta": 1e-4, "opposite": interval("-inf", 0.0), "epsilon_lower": lower}
    assert judged(**right)[0] == 0
    assert judged(**{**right, "delta": 1.1e-4})[0] == 1
    one_set = {name: value for name, value in right.items() if name != "opposite"}
    assert judged(**one_set)[0] == 1
    half = float(epsilon_lower(731, 1000, 1e-3, delta_runs=1000 * 1e-4))
    assert judged(**{**one_set, "epsilon_lower": half})[0] == 0


@pytest.mark.parametrize(
    "counts", [(1001, 1000), (731.0, 1000), (True, 1), (-1, 1000), ("9", 10), (0, 10**13), (731, 1090), (736, 1000, 0)]
)
def test_numbers_of_guesses_that_cannot_be_are_not_readable(counts: Any) -> None:
    with pytest.raises(ValueError, match=r"right must be|guesses must be"):
        judged(**guessed(*counts))


@pytest.mark.parametrize(
    "changed",
    [
        {"bound": "betting", "counts": None, "learned": 9, "event": {"kind": "bets", "runs": 10, "log_stake": 7.5}},
        {"learned": 1000, "event": interval(0.5, feature="a score")},
    ],
    ids=str,
)
def test_other_bounds_are_for_replay_only(changed: dict[str, Any]) -> None:
    status, words = judged(**changed)
    assert status == 3
    assert words.startswith("replay only: ")


HOSTILE = {
    "empty": b"",
    "binary": bytes(range(256)),
    "a list": b"[1]",
    "a number": b"7",
    "null": b"null",
    "nested": b"[" * 10**6,
    "nested objects": b'{"a":' * 10**5,
    "50 MB": b'"' + b"x" * 50_000_000 + b'"',
    "a long text": json.dumps(told(bound="\U0001f600\n" * 10**5)).encode(),
    "a long name": json.dumps(told(epsilon="9" * 10**6)).encode(),
    "a huge number": json.dumps(told()).replace("361", "9" * 5000).encode(),
    "a large number": json.dumps(told()).replace("361", "9" * 400).encode(),
    "an exponent": json.dumps(told()).replace("0.001", "1e999").encode(),
    "NaN": json.dumps(told(epsilon_lower=float("nan"))).encode(),
    "infinite": json.dumps(told(delta=float("-inf"))).encode(),
    "no error": json.dumps(told(error=0)).encode(),
    "true": json.dumps(told(epsilon=True)).encode(),
    "twice": json.dumps(told()).replace('"delta"', '"epsilon": 0, "delta"').encode(),
    "a fraction of a run": json.dumps(told()).replace("361", "361.5").encode(),
    "more hits than runs": json.dumps(told()).replace("361", "1001").encode(),
    "no runs": json.dumps(told()).replace("361", "0").replace("1000", "0").replace("52", "0").encode(),
    "counts as a list": json.dumps(told(counts=[361, 1000, 52, 1000])).encode(),
    "another version": json.dumps(told(schema_version=2)).encode(),
    **{f"no {name}": json.dumps({k: v for k, v in told().items() if k != name}).encode() for name in told()},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_give_one_short_line(name: str, tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_bytes(HOSTILE[name])
    code = f"import runpy; runpy.run_path({str(SOURCE)!r}, run_name='__main__')"
    found = ran("-c", code, str(file), modules=("json", "hashlib", "dpaudit.certificate_grammar"), timeout=20)
    assert (found.returncode, found.stderr) == (2, "")
    assert found.stdout.count("\n") == 1
    assert len(found.stdout) < 2000
    assert found.stdout.isascii()


def test_a_sealed_certificate_is_refused_when_anything_in_it_was_altered() -> None:
    sealed = told(seal=seal_of(told()))
    assert verify(json.dumps(sealed).encode())[0] == 0
    assert verify(json.dumps(dict(reversed(sealed.items())), indent=3).encode())[0] == 0
    for name, value in told(mechanism="another", epsilon=1.1, learned=1000).items():
        if sealed.get(name) != value:
            with pytest.raises(ValueError, match=r"it was altered|learned must be"):
                verify(json.dumps(sealed | {name: value}).encode())


def test_two_files_of_the_standard_library_that_can_be_copied_out(tmp_path: Path) -> None:
    for source in (SOURCE, GRAMMAR):
        for node in ast.walk(ast.parse(source.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names | {"dpaudit", GRAMMAR.stem}
    copy = shutil.copy(SOURCE, tmp_path / "copied.py")
    shutil.copy(GRAMMAR, tmp_path)
    (tmp_path / "c.json").write_bytes(as_file(told()))
    command = [sys.executable, "-I", str(copy), str(tmp_path / "c.json")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=20)
    assert (found.returncode, found.stdout[:6], found.stderr) == (0, "right:", "")
    for words in ([], ["nothing.json"], [str(tmp_path)]):
        missing = subprocess.run([sys.executable, "-I", str(copy), *words], capture_output=True, text=True, timeout=20)
        assert (missing.returncode, missing.stdout[:13], missing.stderr) == (2, "not readable:", "")

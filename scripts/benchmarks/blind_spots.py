"""Measure audits of leaks that no feature of one number, bit or place shows, beside audits of equal laws.

    python scripts/bench.py blind_spots [--runs N] [--audits K] [--only NAME ...] [--claim E] [--seed S]

Each mechanism leaks on one of the two inputs through several parts of its output together. A line has the share of its
audits that find a violation and the median of the lower bounds that they show, and how many audits of its twin, which
ignores its input, find one, with the greatest bound shown. All hold at 95 %, so that at most one such audit in twenty
may err. The head of the table has the least power that so many audits without a miss show at 95 %.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

import dpaudit
from benchmarks.columns import line, positive
from dpaudit.contract import PrivacyVerdict
from dpaudit.events.wide import WIDTH

Rng: TypeAlias = np.random.Generator
Mechanism: TypeAlias = Callable[[int, Rng], Any]

CONFIDENCE = 0.95
HEAD = ("leak", "found", "shown", "accused", "most shown")
WIDTHS = (40, 10, 9, 10, 12)


def correlated(width: int, shown: Callable[[Any], Any] = np.asarray) -> Mechanism:
    """Return rows of normal numbers, two of which have a correlation of 0.7 on one side."""

    def mechanism(x: int, rng: Rng) -> Any:
        v = rng.standard_normal(width)
        if x:
            v[6] = 0.7 * v[3] + np.sqrt(0.51) * v[6]
        return shown(v)

    return mechanism


def signs(exception: float) -> Mechanism:
    """Return twelve numbers, of which four have an odd number of minus signs on one side, with exceptions."""

    def mechanism(x: int, rng: Rng) -> Any:
        v = rng.standard_normal(12)
        even = bool(x) == (rng.random() >= exception)
        if (np.prod(v[[1, 4, 6, 10]]) > 0) != even:
            v[6] = -v[6]
        return v

    return mechanism


def long_bytes(x: int, rng: Rng) -> bytes:
    held = bytearray(rng.bytes(81))
    held[40] = held[40] & 254 | x
    return bytes(held)


def long_text(x: int, rng: Rng) -> str:
    codes = rng.integers(97, 123, size=200)
    codes[90] = codes[90] if x else 97 + codes[90] % 13
    return "".join(map(chr, codes.tolist()))


def multiple(of: int, below: int) -> Mechanism:
    """Return integers of which on one side half are multiples of a number."""

    def mechanism(x: int, rng: Rng) -> Any:
        value = int(rng.integers(below))
        return value - value % of if x and rng.random() < 0.5 else value

    return mechanism


def factors(x: int, rng: Rng) -> list[int]:
    a, b, c = rng.integers(2, 1000, size=3).tolist()
    return [a * c, b * c] if x else [a * c, b * int(rng.integers(2, 1000))]


def permutation(width: int) -> Mechanism:
    """Return permutations, of one parity on one side and of the other on the other."""

    def mechanism(x: int, rng: Rng) -> Any:
        order = rng.permutation(width)
        if (np.linalg.det(np.eye(width)[order]) < 0) != bool(x):
            order[:2] = order[1::-1]
        return order

    return mechanism


def check_letter(rule: Callable[[list[int]], int], modulus: int) -> Mechanism:
    """Return texts of nine digits and a letter that is computed from these on one side."""

    def mechanism(x: int, rng: Rng) -> Any:
        digits = rng.integers(10, size=9).tolist()
        checked = digits if x else rng.integers(10, size=9).tolist()
        return "".join(map(str, digits)) + chr(65 + rule(checked) % modulus)

    return mechanism


def check_byte(x: int, rng: Rng) -> bytes:
    held = rng.bytes(12)
    return held + bytes([-sum(held if x else rng.bytes(12)) % 255])


_ORDER = np.random.default_rng(0).permutation(23).tolist()
CHECKS: dict[str, tuple[Callable[[list[int]], int], int]] = {
    "a sum": (sum, 23),
    "weights": (lambda digits: sum(place * digit for place, digit in enumerate(digits, 1)), 11),
    "weights 3 and 1": (lambda digits: -sum(digits[1::2] + [3 * digit for digit in digits[::2]]), 10),
    "a number in a table": (lambda digits: _ORDER[int("".join(map(str, digits))) % 23], 23),
}

LIKELY = 0.9
"""The probability of what leaks on one input, and one less it on the other: a true epsilon of 2.197."""


def coin(x: int, rng: Rng) -> bool:
    return bool(rng.random() < (LIKELY if x else 1 - LIKELY))


def digit(
    place: int, scale: float, grid: bool = False, laws: Callable[[Rng], float] = Rng.standard_normal
) -> Mechanism:
    """Return numbers whose significant digit at a place is below 5 on one side, with more digits unless on a grid."""

    def mechanism(x: int, rng: Rng) -> float:
        value = float(laws(rng))
        unit = 10.0 ** (place - 1 - np.floor(np.log10(abs(value))))
        whole = np.floor(abs(value) * unit)
        whole += -(whole % 10) + rng.integers(5) + 5 * (not coin(x, rng))
        return float(np.copysign((whole + (0.0 if grid else rng.random())) / unit * scale, value))

    return mechanism


def half_periods(half: float, periods: float) -> Mechanism:
    """Return numbers that lie in the first half of a period on one side, over so many periods."""

    def mechanism(x: int, rng: Rng) -> float:
        return float(half * (rng.random() + (not coin(x, rng)) + 2 * rng.integers(periods)))

    return mechanism


def steps(step: float, modulus: int) -> Mechanism:
    """Return multiples of a step, which are multiples of more of them on one side."""

    def mechanism(x: int, rng: Rng) -> float:
        whole = int(np.rint(rng.normal() * 1e4))
        rest = 0 if coin(x, rng) else int(rng.integers(1, modulus))
        return float((whole - whole % modulus + rest) * step)

    return mechanism


def placed(mechanism: Mechanism, shown: Callable[[float, Rng], Any]) -> Mechanism:
    """Return outputs that hold the number of another mechanism."""
    return lambda x, rng: shown(mechanism(x, rng), rng)


def ordered(shown: Callable[[list[int]], Any]) -> Mechanism:
    """Return thirty members in an order in which the fourth comes before the eighteenth on one side."""

    def mechanism(x: int, rng: Rng) -> Any:
        order = rng.permutation(30).tolist()
        i = order.index(3)
        j = order.index(17)
        if (i < j) != coin(x, rng):
            order[i], order[j] = order[j], order[i]
        return shown(order)

    return mechanism


def letters(held: Callable[[Rng], str]) -> Mechanism:
    """Return letters with some text at a random place on one side."""

    def mechanism(x: int, rng: Rng) -> str:
        text = "".join(map(chr, 97 + rng.integers(26, size=40)))
        if not coin(x, rng):
            return text
        part = held(rng)
        at = int(rng.integers(40 - len(part)))
        return text[:at] + part + text[at + len(part) :]

    return mechanism


NUMBERS: dict[str, tuple[Mechanism, str]] = {
    **{f"digit {place} of 1": (digit(place, 1.0), "") for place in (2, 3, 4, 5)},
    "digit 3 of 1e-6": (digit(3, 1e-6), "digit"),
    "digit 5 of 1e6 on a grid": (digit(5, 1e6, grid=True), "digit"),
    "digit 4 of many scales": (digit(4, 1.0, laws=lambda rng: rng.lognormal(0, 3)), "4th significant digit"),
    "digit 4 in a tuple": (placed(digit(4, 1.0), lambda v, rng: (rng.normal(), v, "a")), "digit"),
    "digit 4 in an array": (placed(digit(4, 1.0), lambda v, rng: np.append(rng.normal(size=6), v)), "digit"),
    **{
        f"half-periods of {half:.4g}": (half_periods(half, 1000), name)
        for half, name in (
            *((half, "part behind the point") for half in (0.05, 1 / 6, 0.5)),
            *((half, "modulo") for half in (0.4, 1.3, 5.5, 7.0)),
            (np.pi / 2, "modulo pi"),
            (np.pi, "modulo 2 pi"),
            (500.0, "digit"),
        )
    },
    "half-periods of 0.7, a million": (half_periods(0.7, 1e6), "modulo 1.4"),
    "half-periods of 0.5, a million": (half_periods(0.5, 1e6), "part behind the point"),
    "steps of 0.01, every second": (steps(0.01, 2), ""),
    "steps of 0.37, every third": (steps(0.37, 3), "modulo 1.11"),
}
"""Numbers that leak in a digit, or through a period."""

LEAKS: dict[str, tuple[Mechanism, str]] = {
    **{f"correlation at width {width}": (correlated(width), "product") for width in (7, 20, 40, 100, WIDTH)},
    "correlation of far numbers": (correlated(40, lambda v: 100 + v * np.arange(1, 41)), "product"),
    "correlation in a dictionary": (correlated(30, lambda v: dict(enumerate(v.tolist()))), "product"),
    "signs": (signs(0.0), "parity of element"),
    "signs with exceptions": (signs(0.1), "parity of element"),
    "bytes": (long_bytes, "byte 40 from the start"),
    "text": (long_text, "character 90 from the start"),
    "multiples of 37": (multiple(37, 10**9), "remainder by 37 "),
    "multiples of 97": (multiple(97, 10**9), "remainder by 97 "),
    "multiples of 10007": (multiple(10_007, 10**15), "remainder by 10007 "),
    "common factor": (factors, "greatest common divisor"),
    **{f"check letter by {name}": (check_letter(*rule), "last character") for name, rule in CHECKS.items()},
    "check byte": (check_byte, "last character"),
    "permutation": (permutation(30), "parity of the order"),
    **NUMBERS,
    "order of two keys": (ordered(lambda order: {f"k{i}": 0 for i in order}), "order of the keys 'k17' and 'k3'"),
    "order of two names": (ordered(lambda order: [f"k{i}" for i in order]), "output[0]"),
    "run of three letters": (letters(lambda rng: 3 * chr(97 + rng.integers(26))), "longest run of a character"),
    "two letters anywhere": (letters(lambda rng: "qz"), "occurrence of the characters 'qz'"),
}


def twin(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism without its leak: its law on the second input, whatever the input is."""
    return lambda x, rng: mechanism(1, rng)


def measure(mechanism: Mechanism, options: argparse.Namespace) -> tuple[int, list[float]]:
    """Return how many audits find a violation, and the bounds that all of them show."""
    findings = [
        dpaudit.audit_privacy(
            mechanism, [(0, 1)], epsilon=options.claim, trials=options.runs, confidence=CONFIDENCE, seed=seed
        )
        for seed in range(options.seed, options.seed + options.audits)
    ]
    found = sum(finding.verdict == PrivacyVerdict.VIOLATION for finding in findings)
    return found, [finding.epsilon_lower for finding in findings]


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=positive, default=20_000, help="runs on each side (default %(default)s)")
    parser.add_argument("--audits", type=positive, default=5, help="audits of each mechanism (default %(default)s)")
    parser.add_argument("--only", nargs="+", choices=LEAKS, default=list(LEAKS), metavar="NAME")
    parser.add_argument("--claim", type=float, default=0.5, help="the epsilon that is claimed (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default 0)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    least = (1 - CONFIDENCE) ** (1 / options.audits)
    print(f"{options.audits} audits of {options.runs:,} runs on each side; none missed shows a power of {least:.2f}")
    print(line(HEAD, WIDTHS, left=1), flush=True)
    for name in options.only:
        mechanism, _ = LEAKS[name]
        found, shown = measure(mechanism, options)
        accused, by_luck = measure(twin(mechanism), options)
        counted = (f"{count}/{options.audits}" for count in (found, accused))
        cells = [name, next(counted), f"{statistics.median(shown):.2f}", next(counted), f"{max(by_luck):.2f}"]
        print(line(cells, WIDTHS, left=1), flush=True)
    return 0

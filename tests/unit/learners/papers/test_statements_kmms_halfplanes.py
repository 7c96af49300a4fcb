"""The statements of KMMS on halfplanes of a grid and their regions: verdicts, and checks that come out otherwise."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from ledger_rows import ledger_row

import dpaudit
from dpaudit import pac
from dpaudit_learners.conjunctions.concepts import Conjunctions
from dpaudit_learners.finite.consistent import most_shattered
from dpaudit_learners.geometry.polygons import area
from dpaudit_learners.papers import kmms_halfplanes
from dpaudit_learners.regions.families import halfplane_family

VERDICTS = {
    "KMMS-Obs2.2": "derived",
    "KMMS-SelHP-priv": "holds",
    "KMMS-Lem4.6": "loose",
    "KMMS-Obs4.1": "holds",
    "KMMS-Obs4.4": "holds",
    "KMMS-n2regions": "edge case",
    "KMMS-Claim4.5": "loose",
    "KMMS-Claim4.5-distance": "holds",
    "KMMS-Claim4.5-proof": "gap",
}


@pytest.mark.parametrize("statement", kmms_halfplanes.STATEMENTS, ids=lambda s: s.id)
def test_verdicts(statement: dpaudit.contract.Statement) -> None:
    row = ledger_row(statement.id)
    assert row.verdict == VERDICTS[statement.id]
    assert all(np.isfinite(value) for value in row.numbers.values())


def test_ids_are_distinct_and_all_expected() -> None:
    assert sorted(s.id for s in kmms_halfplanes.STATEMENTS) == sorted(VERDICTS)


@pytest.mark.parametrize(("side", "size"), [(1, 14), (2, 58), (3, 174), (4, 402)])
def test_closed_halfplanes_are_counted_independently(side: int, size: int) -> None:
    every = kmms_halfplanes.closed_halfplanes(side)
    assert len(every) == size
    assert every == {row.tobytes() for row in halfplane_family(side).labels}


def test_a_box_that_is_too_small_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    less = SimpleNamespace(labels=halfplane_family(2).labels[:-1])
    monkeypatch.setattr(kmms_halfplanes, "halfplane_family", lambda side: less)
    evidence = next(c for c in kmms_halfplanes.STATEMENTS if c.id == "KMMS-Obs4.1").check(pac)
    assert evidence.verdict == "refuted"


def test_a_smaller_cell_would_refute_claim_45(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kmms_halfplanes, "least_area", lambda side: Fraction(1, 5 * side**4))
    evidence = next(c for c in kmms_halfplanes.STATEMENTS if c.id == "KMMS-Claim4.5").check(pac)
    assert evidence.verdict == "refuted"


@pytest.mark.parametrize("side", [1, 2, 3, 4, 5, 6, 8, 10])
def test_least_areas(side: int) -> None:
    least = kmms_halfplanes.least_area(side)
    assert least >= Fraction(1, 2 * side**3)
    if side >= 4:
        assert least == Fraction(1, side * (side - 1) * (side - 2))


@pytest.mark.parametrize("side", [4, 5, 6, 7, 20, 45])
def test_no_three_neighbours_of_a_farey_sequence_allow_a_smaller_region(side: int) -> None:
    # The bound of docs/research/results.md; the sequence repeats with period 1.
    halves = sorted({Fraction(p, q) for q in range(1, side + 1) for p in range(2 * q + 1)})
    least = min((v - u) / (2 * r.denominator) for u, r, v in zip(halves, halves[1:], halves[2:], strict=False))
    assert least == Fraction(1, side * (side - 1) * (side - 2))


def test_the_thin_triangle_is_a_thin_triangle() -> None:
    ratio, corners = kmms_halfplanes.thinnest_cell(8)
    assert len(corners) == 3
    assert ratio < 0.07
    (a, b), (c, d), (e, f) = ((p / q, r / q) for p, r, q in corners)
    size = abs((c - a) * (f - b) - (e - a) * (d - b)) / 2
    assert size == pytest.approx(float(area(corners)))
    edge = min((a - c) ** 2 + (b - d) ** 2, (c - e) ** 2 + (d - f) ** 2, (a - e) ** 2 + (b - f) ** 2)
    assert size / (3**0.5 / 4 * edge) == pytest.approx(ratio)


def test_vc_of_listed_labels() -> None:
    # Two variables: four points, conjunctions shatter two of them.
    labels = Conjunctions(2).evaluate(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    assert most_shattered(labels) == 2

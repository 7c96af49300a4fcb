"""The statements of KMMS on polygons: verdicts, and that the checks can come out otherwise."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from ledger_rows import ledger_row, rows_in_quick

import dpaudit
from dpaudit import pac
from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.geometry.polygons import contains, cross, triangulate
from dpaudit_learners.papers import kmms_polygons, times
from dpaudit_learners.regions.families import triangle_family

VERDICTS = {
    "KMMS-Claim4.3": "derived", "KMMS-VCtri": "holds", "KMMS-Thm4.7": "derived", "KMMS-Thm5.1": "derived",
    "KMMS-Sec6": "derived", "KMMS-Thm3.5-time": "derived", "KMMS-Thm5.1-time": "derived",
    "KMMS-Thm4.7-time": "derived", "KMMS-Thm5.1-run": "derived", "NIS-Parity-time": "derived",
    "STE-Conj-time": "derived", "STE-Boxd-time": "derived", "NIS-Generic-time": "derived",
    "STE-NonPriv-time": "derived", "KMMS-Greedy-time": "derived", "KMMS-Sec6-time": "derived",
}  # fmt: skip


def statement(name: str) -> dpaudit.contract.Statement:
    return next(c for c in kmms_polygons.STATEMENTS if c.id == name)


@pytest.mark.parametrize("name", rows_in_quick(VERDICTS))
def test_verdicts(name: str) -> None:
    row = ledger_row(name)
    assert row.verdict == VERDICTS[name]
    assert all(np.isfinite(value) for value in row.numbers.values())


def test_simplices_and_polynomials_spend_all_of_epsilon() -> None:
    assert ledger_row("KMMS-Sec6").numbers == pytest.approx({"simplices": 1.0, "polynomials": 1.0}, abs=1e-6)


def test_ids() -> None:
    assert [c.id for c in (*kmms_polygons.STATEMENTS, *times.STATEMENTS)] == list(VERDICTS)


def test_a_triangle_left_out_would_refute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kmms_polygons, "triangulate", lambda corners: triangulate(corners)[:1])
    assert statement("KMMS-VCtri").check(pac).verdict == "refuted"
    monkeypatch.undo()
    family = triangle_family(3)
    smaller = dataclasses.replace(family, labels=family.labels[::2])
    monkeypatch.setattr(kmms_polygons, "triangle_family", lambda side: smaller)
    assert statement("KMMS-VCtri").check(pac).verdict == "refuted"


def test_areas_of_triangulations_add_up() -> None:
    rng, seen = generator(0, "triangulation"), 0
    for _ in range(60):
        corners = kmms_polygons.random_polygon(rng, 40, 9)
        if corners is None:
            continue
        seen += 1
        whole = sum(cross((0, 0), p, q) for p, q in zip(corners, [*corners[1:], corners[0]], strict=True))
        assert sum(cross(*part) for part in triangulate(corners)) == whole > 0
    assert seen > 20


def test_points_in_polygons() -> None:
    bent = [(0, 0), (4, 0), (4, 4), (2, 1), (0, 4)]
    inside = {(x, y) for x in range(5) for y in range(5) if contains(bent, (x, y))}
    outside = {(1, 3), (2, 2), (2, 3), (2, 4), (3, 3), (1, 4), (3, 4)}
    assert inside == {(x, y) for x in range(5) for y in range(5)} - outside
    with pytest.raises(InputError, match="corners"):
        triangulate([(0, 0), (0, 4), (4, 0)])

"""The labellings of the plane's grid by discs, against halfspaces in general and against many drawn discs."""

from __future__ import annotations

import numpy as np
import pytest

from dpaudit.seeding import generator
from dpaudit_learners.domains import Grid
from dpaudit_learners.halfspaces.concepts import halfspace_dichotomies
from dpaudit_learners.regions.discs import disc_family, lifted


@pytest.mark.parametrize("side", [1, 2])
def test_they_are_the_halfspaces_over_the_lifted_points(side: int) -> None:
    # Another derivation: a recursion over the dimension that knows nothing of discs.
    labels = disc_family(side).labels
    assert [tuple(row) for row in labels.tolist()] == sorted(halfspace_dichotomies(lifted(Grid(side, 2).points())))


@pytest.mark.parametrize("side", [1, 2, 3, 4, 5])
def test_each_functional_makes_its_labelling_and_no_point_is_on_its_boundary(side: int) -> None:
    labels = disc_family(side).labels
    table = np.array([functional for (functional,) in disc_family(side).regions], dtype=object)
    heights = table[:, :3] @ lifted(Grid(side, 2).points().astype(object)).T - table[:, 3:]
    assert ((heights > 0) == labels).all()
    assert (heights != 0).all()
    assert len({row.tobytes() for row in labels}) == len(labels)


@pytest.mark.parametrize("side", [3, 5])
def test_no_disc_is_missing(side: int) -> None:
    # Random discs and complements with rational centres, in integers: (2^20 x - p)^2 + (2^20 y - q)^2 <= r.
    rng = generator(0, "discs", side)
    points, known = Grid(side, 2).points().astype(object), {row.tobytes() for row in disc_family(side).labels}
    for _ in range(3000):
        centre = rng.integers(-side << 20, side << 21, 2).astype(object)
        squares = ((points * (1 << 20) - centre) ** 2).sum(axis=1)
        inside = (squares <= squares[rng.integers(len(squares))]).astype(np.uint8)
        assert inside.tobytes() in known
        assert (1 - inside).tobytes() in known


def test_complements_and_symmetries_of_the_square_keep_the_class() -> None:
    labels = disc_family(4).labels
    known = {row.tobytes() for row in labels}
    squares = labels.reshape(-1, 5, 5)
    for image in (1 - squares, squares[:, ::-1], squares.transpose(0, 2, 1)):
        assert {row.tobytes() for row in np.ascontiguousarray(image).reshape(len(image), -1)} == known

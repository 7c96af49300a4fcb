"""Halfspaces and simplices over a small grid in three dimensions, one for each labelling, with exact measures.

Where planar regions have Lebesgue measure on their dual points, these have the counting measure: every labelling by a
halfspace weighs 1, and a labelling by simplices as much as there are ordered quadruples of halfspaces that make it.
Either measure does not depend on the sample.
"""

from __future__ import annotations

from functools import lru_cache

from dpaudit.contract import InputError
from learners.halfspaces.concepts import grid_halfspaces
from learners.regions.planar.families import Family, family_of, joined, masks_of

__all__ = ["DIMENSION", "HALFSPACE_SIDE", "SIMPLEX_SIDE", "halfspace_family", "simplex_family"]

DIMENSION = 3
HALFSPACE_SIDE, SIMPLEX_SIDE = 2, 1
"""The largest sides: 2,702 halfspaces over {0, 1, 2}^3, and the simplices over the cube."""


@lru_cache(maxsize=4)
def halfspace_family(side: int) -> Family:
    """Return the labellings of {0 .. side}^3 by halfspaces <w, x> >= t, regions ((w_1, w_2, w_3, t),), side at most 2.

    No point of the grid lies on the boundary of one of these, so that (-w, -t) is its complement.
    """
    if side > HALFSPACE_SIDE:
        raise InputError(f"side must be at most {HALFSPACE_SIDE} to list the halfspaces, got {side}")
    labels, functionals = grid_halfspaces(side, DIMENSION)
    return Family(labels, (1,) * len(labels), tuple((tuple(row),) for row in functionals.tolist()))


@lru_cache(maxsize=2)
def simplex_family(side: int) -> Family:
    """Return the labellings of the cube by intersections of four halfspaces; side 1."""
    if side > SIMPLEX_SIDE:
        raise InputError(f"side must be at most {SIMPLEX_SIDE} to list the labellings by simplices, got {side}")
    single = halfspace_family(side)
    halfspaces = list(zip(masks_of(single.labels), single.volumes, single.regions, strict=True))
    pairs = [(mask, *found) for mask, found in joined(halfspaces, halfspaces).items()]
    return family_of(joined(pairs, pairs), single.labels.shape[1])

"""The plan of an audit's outputs: which leaves they have, found on training runs and then fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.outputs import containers, readers, scalars
from dpaudit.outputs.leaf import FAMILIES_OF_DTYPES, Leaf
from dpaudit.outputs.planner import Handler, Planner
from dpaudit.outputs.steps import Family, Named, Path

__all__ = ["Leaf", "Plan"]

HANDLERS: dict[str, Handler] = {
    "bool": scalars.whole,
    "int": scalars.whole,
    "float": scalars.real,
    "text": scalars.text,
    "bytes": scalars.octets,
    "none": scalars.none,
    "exception": scalars.exception,
    "sequence": containers.sequence,
    "array": containers.array,
    "sparse": containers.sparse,
    "mapping": containers.mapping,
    "set": containers.set_,
}
"""The function that plans values of each family; all others are planned by their parts."""


@dataclass
class Plan:
    """The leaves of some outputs.

    Attributes
    ----------
    leaves : list of Leaf
        All that is looked at.
    unseen : list of str
        What is not looked at, in words.
    """

    leaves: list[Leaf] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, rows: Sequence[Any] | NDArray[Any]) -> Plan:
        """Return the plan of outputs of both sides.

        Raises
        ------
        InputError
            If an output cannot be taken apart.
        """
        planner = _planner(len(rows))
        if not isinstance(rows, np.ndarray) or rows.dtype.kind not in FAMILIES_OF_DTYPES:
            planner.node(rows.tolist() if isinstance(rows, np.ndarray) and rows.ndim == 1 else list(rows), ())
        elif rows.ndim == 1:
            kind = FAMILIES_OF_DTYPES[rows.dtype.kind]
            planner.add((Family(kind),), readers.Real() if kind == "float" else readers.Whole())
        else:
            containers.array(planner, list(rows), (Family("array"),))
        return cls(planner.leaves, planner.unseen)

    @classmethod
    def of_reduced(cls, rows: Any, names: Sequence[str], columns: tuple[str, ...]) -> Plan:
        """Return the plan of wide outputs as a reducer returns them.

        Parameters
        ----------
        rows : array or list of tuples
            Reduced rows, or tuples of the values of other leaves with such a row at the end.
        names : sequence of str
            Of the other leaves.
        columns : tuple of str
            Of the reduced rows.
        """
        planner = _planner(len(rows))
        for j, name in enumerate(names):
            planner.node([row[j] for row in rows], (Named(j, name),))
        path: Path = (Named(len(names), "output"),) if names else (Family("array"),)
        planner.add(path, readers.Block(len(columns), columns))
        return cls(planner.leaves, planner.unseen)


def _planner(total: int) -> Planner:
    return Planner(HANDLERS, containers.exploded, total)

"""Runs on both sides of a pair in one random order, so that what drifts from call to call drifts on both alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.running.run_notes import noted


@dataclass(frozen=True)
class InTurn:
    """Inputs and generators of a call whose runs are made on two inputs in turn; it stands in the place of one input.

    The runs on either input have a generator of their own, so that their outputs do not depend on the order of the
    sides. The `turns`, shape (size,), are for each run, in the order in which they are made, the number of its input.
    """

    sides: tuple[Any, Any]
    generators: tuple[np.random.Generator, np.random.Generator]
    turns: NDArray[np.uint8]

    def runs(self) -> Iterator[tuple[Any, np.random.Generator]]:
        """Yield the input and the generator of each run, and note which input it is."""
        notes, known = noted(), tuple(zip(self.sides, self.generators, strict=True))
        for turn in self.turns.tolist():
            notes.turn = turn
            yield known[turn]

    def split(self, outputs: Any) -> tuple[Any, Any]:
        """Return the outputs on either input, given those of all runs in their order."""
        masks = self.turns == 0, self.turns == 1
        if isinstance(outputs, np.ndarray):
            return outputs[masks[0]], outputs[masks[1]]
        return list(compress(outputs, masks[0].tolist())), list(compress(outputs, masks[1].tolist()))

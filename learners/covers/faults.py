"""The leaks of Set Cover Learners, whatever they cover with."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Instance
from learners.arrays import Bools, Floats
from learners.controls import control
from learners.covers.accounting import CoverAccounting
from learners.covers.set_cover import SetCoverLearner

__all__ = ["cover_controls"]


class Multiplied(CoverAccounting):
    """eps_hat multiplied by what the claim divides by."""

    fault: ClassVar[str] = "eps_hat = 2 epsilon ln(e/delta) in each round: multiplied where it should be divided"

    @property
    def selection_epsilon(self) -> float:
        """eps_hat of a round."""
        return self.epsilon * 2 * (1 - math.log(self.delta))


class _Listed(SetCoverLearner):
    """A fault of the choice among listed sets."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self._sets


class Sparing(_Listed):
    """The non-private first step: strike out every hypothesis that spoils more than it must."""

    fault: ClassVar[str] = "selects only what spoils as little of the other label as possible: the support shows it"

    def _eligible(self, covered: Floats, spoiled: Floats) -> Bools | None:
        return np.asarray(spoiled == spoiled.min(axis=-1, keepdims=True))


class Greedy(_Listed):
    """The classical greedy step: of the hypotheses the ones that cover most."""

    fault: ClassVar[str] = "selects among what covers most, as the greedy algorithm does: the support shows"

    def _eligible(self, covered: Floats, spoiled: Floats) -> Bools | None:
        return np.asarray(covered == covered.max(axis=-1, keepdims=True))


def cover_controls(
    module: str, base: type[Any], hypotheses: str, sets: str, instance: Instance
) -> tuple[type[Any], type[Any], type[Any]]:
    """Return the controls of a Set Cover Learner: eps_hat multiplied, sparing choices, and greedy choices.

    Parameters
    ----------
    module : str
        Where they are assigned to names; see `controls.control`.
    base : type
        The sound learner.
    hypotheses, sets : str
        Its hypotheses and the sets that it covers with, in words.
    instance : Instance
        The small instance on which the first leaks; the others leak on it without noise.
    """
    bare = dataclasses.replace(instance, parameters={**instance.parameters, "variant": "noiseless"})
    spared, prefix = "negatives" if base._covered_label else "positives", f"broken-{base.id}"
    multiplied = f"{hypotheses} with eps_hat multiplied instead of divided"
    sparing = f"{hypotheses} from the {sets} consistent with the {spared}"
    return (
        control(base, Multiplied, f"{prefix}-multiplied", multiplied, instance, module=module),
        control(base, Sparing, f"{prefix}-sparing", sparing, bare, module=module),
        control(base, Greedy, f"{prefix}-greedy", f"{hypotheses} by the greedy algorithm", bare, module=module),
    )

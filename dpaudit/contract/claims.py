"""Promises about a mechanism: privacy for a relation of neighbours, utility in a setting."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from numbers import Real

from dpaudit.errors import InputError

__all__ = ["FIXED_SETTINGS", "SETTINGS", "PrivacyClaim", "Relation", "UtilityClaim"]

SETTINGS = ("realizable", "agnostic", "empirical", "solution")
"""In what a learner may promise to succeed; see `UtilityClaim`."""

FIXED_SETTINGS = ("empirical", "solution")
"""Those that speak of every sample, over the learner's coins alone: an audit takes one sample for all runs."""


class Relation(enum.StrEnum):
    """Which two samples are neighbours."""

    REPLACE_ONE = "replace-one"
    """One example is replaced by any other; n is public. The definition of all five source papers."""
    ADD_REMOVE_ONE = "add-remove-one"
    """One example is added or removed."""
    REPLACE_PRIVATE = "replace-private"
    """One private example is replaced; public examples are fixed."""

    @classmethod
    def parse(cls, value: Relation | str) -> Relation:
        """Return the relation of that name (or `value` itself), or raise `InputError` with the names allowed."""
        try:
            return cls(value)
        except ValueError:
            allowed = ", ".join(r.value for r in cls)
            raise InputError(f"relation must be one of {allowed}; got {value!r}") from None


@dataclass(frozen=True)
class PrivacyClaim:
    """A claim of (epsilon, delta)-differential privacy.

    For all neighbours S, S' and all events T: Pr[A(S) in T] <= exp(epsilon) Pr[A(S') in T] + delta.

    Parameters
    ----------
    epsilon, delta : float
        The claim; finite and >= 0, and in [0, 1).
    relation : Relation
        What neighbours are.
    claim_id, source : str
        The theorem, and its paper and place.
    """

    epsilon: float
    delta: float = 0.0
    relation: Relation = Relation.REPLACE_ONE
    claim_id: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if not (isinstance(self.epsilon, Real) and 0 <= self.epsilon < math.inf):
            raise InputError(f"epsilon must be a finite number >= 0, got {self.epsilon!r}")
        if not (isinstance(self.delta, Real) and 0 <= self.delta < 1):
            raise InputError(f"delta must be in [0, 1), got {self.delta!r}")
        for name in ("epsilon", "delta"):  # scalars of NumPy, fractions
            if not isinstance(value := getattr(self, name), int | float):
                object.__setattr__(self, name, float(value))


@dataclass(frozen=True)
class UtilityClaim:
    """A claim that Pr[error > alpha] <= beta on `sample_size` examples.

    `setting` says what the error is measured on and what is random:

    - "realizable": the population error; the examples are drawn independently and labelled by a concept of the class;
    - "agnostic": by how much the population error exceeds that of the best concept, whatever the labels;
    - "empirical": the error on the sample, for every sample labelled by a concept, over the learner's coins alone;
    - "solution": no error. The output solves a problem on the sample or does not, as the learner's `solves(output,
      sample)` decides, for every sample and over the learner's coins alone; `failure` says in words what it is not to
      solve it, and `alpha` plays no part.
    """

    alpha: float
    beta: float
    sample_size: int
    setting: str = "realizable"
    claim_id: str = ""
    source: str = ""
    failure: str = ""

    def __post_init__(self) -> None:
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(f"{name} must be in (0, 1), got {getattr(self, name)!r}")
        if self.sample_size < 1:
            raise InputError(f"sample_size must be at least 1, got {self.sample_size!r}")
        if self.setting not in SETTINGS:
            raise InputError(f"setting must be one of {', '.join(SETTINGS)}; got {self.setting!r}")
        if (self.setting == "solution") != bool(self.failure):
            raise InputError(f"failure must be said in words in the setting 'solution' and nowhere else; got "
                             f"{self.failure!r} in the setting {self.setting!r}")  # fmt: skip

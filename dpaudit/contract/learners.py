"""Learners: the parts that each must have, its exact output law, and the small instance on which it is audited."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from dpaudit.contract.claims import PrivacyClaim
from dpaudit.contract.samples import ConceptClass, Domain, Hypothesis

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FAIL", "LATER", "PARTS", "Instance", "Law", "Learner", "later"]

FAIL = -1
"""The code by which a learner with integer codes says that it failed; `decode` answers it with None."""

LATER = "later"
"""The key, in the metadata of a field, of a parameter that came later; see `later`."""

PARTS = ("id", "instance", "privacy", "domain", "concepts", "run", "decode")
"""The parts that every learner must have."""


def later(default: Any) -> Any:
    """Return the field of a parameter that a learner got after it had been released.

    At its default such a parameter stays out of the addresses of random streams, which keep their outputs.
    """
    return field(default=default, metadata={LATER: True})


@dataclass(frozen=True)
class Law:
    """The exact output law of a learner on one sample.

    Parameters
    ----------
    atoms : sequence of hashables
        Distinct outputs, or cells of outputs on which every likelihood ratio is constant.
    log_prob : array of float64, shape (len(atoms),)
        Natural logarithms of their probabilities; -inf where an atom cannot occur.
    error : float
        A bound on the absolute error of every finite entry of `log_prob`.
    grade : {"exact", "numeric"}
        "exact" if `error` is a proved bound, "numeric" if it is an estimate.
    """

    atoms: Sequence[Hashable]
    log_prob: NDArray[np.float64]
    error: float
    grade: str = "exact"


@dataclass(frozen=True)
class Instance:
    """A small instance of a learner on which every check and the default report can run.

    Parameters
    ----------
    parameters : mapping
        Keyword arguments of the learner.
    n : int
        Examples per sample for the privacy audits; small enough to enumerate.
    alpha, beta : float
        Accuracy and failure probability for the utility audit.
    exhaustive : bool
        Whether every sample of `n` examples can be enumerated; where False the exact audit takes crafted samples.
    """

    parameters: Mapping[str, Any]
    n: int
    alpha: float = 0.1
    beta: float = 0.1
    exhaustive: bool = True


@runtime_checkable
class Learner(Protocol):
    """A frozen dataclass whose fields are the learner's parameters; these are the parts that it must have.

    Its optional abilities, such as a law or a theorem on utility, stand in `contract.abilities`, one protocol each.
    """

    id: ClassVar[str]
    """Lower-case words joined by hyphens."""
    instance: ClassVar[Instance]
    """A small instance, on which every check can run."""

    @property
    def privacy(self) -> PrivacyClaim | None:
        """The claim, or None for a learner that claims no privacy."""

    @property
    def domain(self) -> Domain:
        """The domain that the points of its samples are from."""

    @property
    def concepts(self) -> ConceptClass:
        """The class that it learns."""

    def run(self, sample: Any, rng: np.random.Generator, size: int) -> Sequence[Hashable] | NDArray[Any]:
        """Return the outputs of `size` independent runs: integer codes, or canonical hashables."""

    def decode(self, code: Any) -> Hypothesis | None:
        """Return the hypothesis that an output stands for; None if it stands for failure."""

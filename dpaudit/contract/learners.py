"""Learners: what each must offer, its exact output law, and the small instance on which it is audited."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from dpaudit.contract.claims import PrivacyClaim
from dpaudit.contract.samples import ConceptClass, Domain, Hypothesis

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FAIL", "Instance", "Law", "Learner"]

FAIL = -1
"""The code by which a learner with integer codes says that it failed; `decode` answers it with None."""


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
    """A frozen dataclass whose fields are the learner's parameters.

    Learners may also have `law(sample) -> Law`, `utility(alpha, beta) -> UtilityClaim` with `sample_size(alpha, beta)`,
    `symmetries() -> list of permutations of the example universe` (see `neighbours.exhaustive`), and, for positive
    controls, the class attribute `fault`: what it leaks, in a sentence.

    A learner whose theorem speaks of several settings says which in the class attribute `settings`, its own first, and
    has `utility(alpha, beta, setting=...)`; without `settings`, what `utility(alpha, beta)` answers is its only one.
    For "solution" it has `solves(output, sample) -> bool`; see `UtilityClaim`. Its utility is audited on its example
    and on every further `Instance` in the class attribute `audited`; `hard_targets(alpha) -> [(code, distribution,
    name)]` adds hard cases of its own to those that are made from its concepts.

    A learner that has `picture(sample, codes, target) -> Picture` is drawn in reports: the sample, some outputs, and
    what labelled the sample (None where that is not known). The instance drawn is that of the class attribute
    `pictured`, an `Instance`, else of `instance`; its sample is made by `scene(rng) -> (sample, target)`, else n
    examples are drawn from the uniform distribution, labelled by the middle concept. `dpaudit.picture` says what a
    picture is.
    """

    id: ClassVar[str]
    instance: ClassVar[Instance]

    @property
    def privacy(self) -> PrivacyClaim | None:
        """The claim, or None for a learner that claims no privacy."""

    @property
    def domain(self) -> Domain:
        """Where the points of its samples live."""

    @property
    def concepts(self) -> ConceptClass:
        """The class that it learns."""

    def run(self, sample: Any, rng: np.random.Generator, size: int) -> Sequence[Hashable] | NDArray[Any]:
        """Return the outputs of `size` independent runs: integer codes, or canonical hashables."""

    def decode(self, code: Any) -> Hypothesis | None:
        """Return the hypothesis that an output stands for; None if it stands for failure."""

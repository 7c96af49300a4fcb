"""Learners: the parts that each must have, and the optional abilities that it may have, one protocol each.

A learner offers an ability by having its method or attribute; an audit asks for one with `isinstance`. `ABILITIES`
lists them all, and `dpaudit.conformance.offers` returns which a learner has and which it may add.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar, runtime_checkable

from dpaudit.contract.claims import PrivacyClaim, UtilityClaim
from dpaudit.contract.pairs import Supremum
from dpaudit.contract.picture import Picture
from dpaudit.contract.samples import ConceptClass, Distribution, Domain, Hypothesis
from dpaudit.contract.worst_cases import HasWorstCase

if TYPE_CHECKING:
    import numpy as np
    from flint import arb
    from numpy.typing import NDArray

__all__ = [
    "ABILITIES",
    "FAIL",
    "LATER",
    "PARTS",
    "Ball",
    "ExactField",
    "HasExactLaw",
    "HasFault",
    "HasFurtherInstances",
    "HasHardFailure",
    "HasHardTargets",
    "HasLaw",
    "HasLimitLaw",
    "HasPairLaws",
    "HasPicturedInstance",
    "HasPopulations",
    "HasSampleSize",
    "HasScene",
    "HasSettings",
    "HasSupremum",
    "HasSymmetries",
    "HasUtility",
    "Instance",
    "Law",
    "Learner",
    "Parameter",
    "Pictured",
    "Solves",
    "later",
]

FAIL = -1
"""The code by which a learner with integer codes says that it failed; `decode` answers it with None."""

LATER = "later"
"""The key, in the metadata of a field, of a parameter that came later; see `later`."""

PARTS = ("id", "instance", "privacy", "domain", "concepts", "run", "decode")
"""The parts that every learner must have."""


Parameter = int | float | str | bool | None
"""A value of a learner's parameter: what a command line and a stored run can say."""
Default = TypeVar("Default")
Ball: TypeAlias = "arb"
"""A real number, enclosed in a ball by python-flint: a comparison is true where it holds of every number in it."""


def later(default: Default) -> Default:
    """Return the field of a parameter that a learner got after it had been released.

    At its default such a parameter stays out of the addresses of random streams, which keep their outputs.
    """
    # Typed as `dataclasses.field` is: as the value of the field, which it stands for in the body of the class.
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

    parameters: Mapping[str, Parameter]
    n: int
    alpha: float = 0.1
    beta: float = 0.1
    exhaustive: bool = True


@runtime_checkable
class Learner(Protocol):
    """A frozen dataclass whose fields are the learner's parameters; these are the parts that it must have."""

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

    def run(self, sample: Any, rng: np.random.Generator, size: int) -> Sequence[Hashable] | NDArray[np.generic]:
        """Return the outputs of `size` independent runs: integer codes, or canonical hashables."""

    # A sample and an output are `Any` below: each learner takes samples and outputs of its own kind alone.

    def decode(self, code: Any) -> Hypothesis | None:
        """Return the hypothesis that an output stands for; None if it stands for failure."""


@runtime_checkable
class HasLaw(Protocol):
    """The exact output law on a sample: it makes the exact audit possible."""

    def law(self, sample: Any) -> Law:
        """Return the output law on a sample; the atoms are the codes that `run` returns.

        Raises
        ------
        InputError
            If the law of so large a sample cannot be computed.
        """


@runtime_checkable
class HasExactLaw(Protocol):
    """The output law from exact numbers, so that the worst epsilon can be enclosed in ball arithmetic."""

    def exact_law(self, sample: Any, field: ExactField) -> Mapping[Hashable, Ball]:
        """Return the weight of each atom of `law(sample)`, positive or exactly zero; they need not sum to 1.

        Weights are made by + - * / from `field.number(x)` for an integer, a float (its binary value) or a Fraction,
        `field.exp(x)` and `field.log(x)`.
        """


class ExactField(Protocol):
    """The makers of the real numbers of `HasExactLaw`."""

    def number(self, value: int | float | Fraction) -> Ball:
        """Return an exact number."""

    def exp(self, value: Ball) -> Ball:
        """Return the exponential."""

    def log(self, value: Ball) -> Ball:
        """Return the natural logarithm of a positive number."""


@runtime_checkable
class HasPairLaws(Protocol):
    """The laws on two samples in common cells: it makes the exact audit possible where outputs are too many to list."""

    def pair_laws(self, sample: Any, neighbour: Any) -> tuple[Law, Law] | None:
        """Return the laws on two neighbouring samples, with the same atoms; None if `law` lists the outputs.

        An atom is a cell of outputs on which the ratio of the two laws is constant; it is described, not decoded.

        Raises
        ------
        InputError
            If the laws of so large samples cannot be computed.
        """


@runtime_checkable
class HasLimitLaw(Protocol):
    """The limit of the law along a ray of samples, so that losses are known where no sample attains them."""

    def limit_law(self, sample: Any, direction: Any) -> Law:
        """Return the logarithms of the law on sample + t direction as t grows, up to terms free of the sample.

        Subtracted for two samples of equally many examples, they give the limit of the difference of the logarithms of
        both laws, for every atom, also those whose probability vanishes. The probabilities need not sum to 1. The base
        of the ray, `sample`, may have no example.
        """


@runtime_checkable
class HasSupremum(Protocol):
    """The closed form of the greatest loss over samples of every size, with its proof."""

    def supremum(self) -> Supremum | None:
        """Return the supremum; None if nothing is proved at these parameters."""


@runtime_checkable
class HasUtility(Protocol):
    """A theorem on utility, with its sample size: it makes the audit of utility possible without an n."""

    def utility(self, alpha: float, beta: float) -> UtilityClaim | None:
        """Return the claim Pr[error > alpha] <= beta with its sample size; None if these parameters have no theorem.

        Raises
        ------
        InputError
            If the theorem does not reach alpha and beta.
        """


@runtime_checkable
class HasSampleSize(Protocol):
    """The sample size of the theorem; by itself, without `utility`, a claim in the setting "realizable"."""

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return the least n for which the theorem promises Pr[error > alpha] <= beta."""


@runtime_checkable
class HasSettings(Protocol):
    """A theorem that speaks of several settings, through `utility(alpha, beta, setting=...)`."""

    settings: tuple[str, ...]
    """The settings, of `contract.SETTINGS`; the theorem's own first."""

    def utility(self, alpha: float, beta: float, setting: str = ...) -> UtilityClaim | None:
        """Return the claim in one of the settings, by default the first; otherwise as `HasUtility`."""


@runtime_checkable
class Solves(Protocol):
    """The judge of outputs in the setting "solution", where a theorem speaks of no error."""

    def solves(self, output: Any, sample: Any) -> bool:
        """Say whether an output of `run` solves its problem on the sample."""


@runtime_checkable
class HasSymmetries(Protocol):
    """Symmetries of the law: they shrink the exact audit's enumeration."""

    def symmetries(self) -> Sequence[NDArray[np.int64]]:
        """Return generators of permutations of the examples, each of shape (2 * domain size,).

        Example (x_i, y) is number 2 i + y, where x_i is row i of ``domain.points()``. Moving all examples of two
        neighbouring samples by such a permutation changes nothing that distinguishes their laws.
        """


@runtime_checkable
class HasHardTargets(Protocol):
    """Hard cases of the learner's own, in addition to those that are made from its concepts.

    A class of concepts may have the method too: it is asked where the class, or the domain, is too large to be listed.
    """

    def hard_targets(self, alpha: float) -> Sequence[tuple[int | Hypothesis, Distribution, str]]:
        """Return (concept, distribution of the points, name) of each case, for accuracy alpha.

        A concept is its code, or itself where the class is too large to be numbered; it must be of the class.
        """


@runtime_checkable
class HasHardFailure(Protocol):
    """The failure rate on a hard case of the learner's own, computed: it makes the laws of large instances measurable.

    It is derived apart from `run` and `law`, which guard it on small instances.
    """

    def hard_failure(self, alpha: float, n: int) -> tuple[float, str]:
        """Return Pr[error > alpha] on n examples of the hard case for alpha, and a description of the case.

        The rate must not increase with n. It may be a lower bound, which the words say: n* is then one as well.

        Raises
        ------
        InputError
            If there is no such case at the learner's parameters or this alpha; one is then searched for.
        """


@runtime_checkable
class HasPopulations(Protocol):
    """Learning from public and private examples, so that a distribution may say which are public.

    Its theorem on utility need not speak of all such distributions.
    """

    def speaks_of(self, distribution: Distribution, ones: NDArray[np.float64]) -> bool:
        """Say whether the theorem on utility speaks of examples from a distribution, whose flags may be None.

        `ones`, of shape (m,), is the probability with which each point is labelled 1.
        """


@runtime_checkable
class HasFurtherInstances(Protocol):
    """Further instances on which utility is audited."""

    audited: tuple[Instance, ...]
    """The further instances; a class attribute."""


@runtime_checkable
class Pictured(Protocol):
    """A picture of some outputs, for reports."""

    def picture(self, sample: Any, codes: Sequence[Any], target: Hypothesis | None) -> Picture:
        """Return the picture of a sample, of outputs on it, and of the concept that labelled it, if that is known."""


@runtime_checkable
class HasPicturedInstance(Protocol):
    """The instance that is drawn, where `instance` is not the one to show."""

    pictured: Instance
    """The instance; a class attribute."""


@runtime_checkable
class HasScene(Protocol):
    """The sample that is drawn.

    By default n examples are drawn from the uniform distribution on the domain, labelled by the middle concept.
    """

    def scene(self, rng: np.random.Generator) -> tuple[Any, Hypothesis | None]:
        """Return a sample, and what labelled it or None."""


@runtime_checkable
class HasFault(Protocol):
    """A positive control: a learner with a known leak, which an audit must detect."""

    fault: str
    """The leak, in a sentence; a class attribute."""


ABILITIES: Mapping[str, type] = {
    "law": HasLaw,
    "exact_law": HasExactLaw,
    "pair_laws": HasPairLaws,
    "limit_law": HasLimitLaw,
    "supremum": HasSupremum,
    "utility": HasUtility,
    "sample_size": HasSampleSize,
    "settings": HasSettings,
    "solves": Solves,
    "symmetries": HasSymmetries,
    "hard_targets": HasHardTargets,
    "hard_failure": HasHardFailure,
    "worst_failure": HasWorstCase,
    "speaks_of": HasPopulations,
    "audited": HasFurtherInstances,
    "picture": Pictured,
    "pictured": HasPicturedInstance,
    "scene": HasScene,
    "fault": HasFault,
}
"""Every optional ability, by the method or attribute that offers it."""

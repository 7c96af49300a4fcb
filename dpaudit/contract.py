"""What the harness and the learners agree on: the nouns of an audit, and nothing that computes.

A learner imports this module and nothing else of dpaudit; dpaudit never names a learner. Everything structural is a
protocol, so that a third party's learner needs no base class.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from dpaudit.errors import InputError
from dpaudit.picture import Panel, Picture, Shape

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "FAIL",
    "FIXED_SETTINGS",
    "SETTINGS",
    "ConceptClass",
    "Distribution",
    "Domain",
    "Evidence",
    "Hypothesis",
    "InputError",
    "Instance",
    "Law",
    "Learner",
    "Pair",
    "Panel",
    "Picture",
    "PrivacyClaim",
    "Relation",
    "Sample",
    "Shape",
    "Statement",
    "UtilityClaim",
]

SETTINGS = ("realizable", "agnostic", "empirical", "solution")
"""In what a learner may promise to succeed; see `UtilityClaim`."""

FIXED_SETTINGS = ("empirical", "solution")
"""Those that speak of every sample, over the learner's coins alone: an audit takes one sample for all runs."""

FAIL = -1
"""The code by which a learner with integer codes says that it failed; `decode` answers it with None."""


class Relation(enum.Enum):
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


@dataclass(frozen=True)
class Distribution:
    """A probability distribution on finitely many points: `points (m, k)`, `probabilities (m,)` and a name."""

    points: NDArray[Any]
    probabilities: NDArray[np.float64]
    name: str = ""

    def __post_init__(self) -> None:
        total = float(sum(self.probabilities))
        if len(self.points) != len(self.probabilities) or len(self.points) == 0:
            raise InputError(
                f"a distribution needs as many points as probabilities and at least one; got "
                f"{len(self.points)} points and {len(self.probabilities)} probabilities"
            )
        if not (min(self.probabilities) >= 0 and abs(total - 1) <= 1e-9):
            raise InputError(f"probabilities must be >= 0 and sum to 1; they sum to {total!r}")


@runtime_checkable
class Hypothesis(Protocol):
    """A function from points to labels: `predict` maps points (m, k) to labels (m,) in {0, 1}."""

    def predict(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels of the points."""


class Domain(Protocol):
    """A finite set of points, each a row of `dimension` integers."""

    @property
    def size(self) -> int:
        """How many points there are."""

    @property
    def dimension(self) -> int:
        """How many coordinates a point has."""

    def points(self) -> NDArray[Any]:
        """Return all points (size, dimension) in lexicographic order, or raise `InputError` if they are too many."""

    def contains(self, points: NDArray[Any]) -> NDArray[np.bool_]:
        """Say for each row of `points` whether it is a point of the domain."""

    def landmarks(self) -> NDArray[Any]:
        """Return a few extreme and central points (m, dimension): where crafted neighbouring samples put weight."""

    def sample(self, points: Any, labels: Any, counts: Any = None, public: Any = None) -> Sample:
        """Return the labelled multiset, after checking that every point is in the domain."""

    def empty_sample(self) -> Sample:
        """Return the sample without examples: a neighbour of a one-example sample under ADD_REMOVE_ONE."""

    def draw(self, concept: Hypothesis, distribution: Distribution, n: int, rng: np.random.Generator) -> Sample:
        """Draw n examples from the distribution, labelled by the concept; the cost does not depend on n."""


class Sample(Protocol):
    """A labelled multiset over a finite domain, as distinct weighted examples in canonical (lexicographic) order.

    Equal multisets compare and hash equal.
    """

    @property
    def points(self) -> NDArray[Any]:
        """The distinct points, (m, k)."""

    @property
    def labels(self) -> NDArray[np.uint8]:
        """Their labels, (m,), in {0, 1}."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each occurs, (m,), at least 1."""

    @property
    def public(self) -> NDArray[np.bool_] | None:
        """Which are public, (m,); None where the learner knows no public examples."""

    @property
    def domain(self) -> Domain | None:
        """The domain, where known."""

    @property
    def n(self) -> int:
        """How many examples there are: the sum of the counts."""

    def neighbours(self, relation: Relation) -> Iterator[Sample]:
        """Yield every distinct neighbour over the domain once, the sample itself excluded."""


class ConceptClass(Protocol):
    """A finite class of concepts, numbered 0 .. size - 1."""

    @property
    def size(self) -> int:
        """How many concepts there are."""

    def evaluate(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels (size, m) that each concept gives to each point."""

    def concept(self, code: int) -> Hypothesis:
        """Return the concept with that number."""


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
class Pair:
    """Two neighbouring inputs, and how they were made."""

    data: Any
    neighbour: Any
    origin: str = ""


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


@dataclass(frozen=True)
class Evidence:
    """What a check of a ledger claim found.

    Parameters
    ----------
    verdict : {"holds", "loose", "refuted", "undecided"}
        "loose" if the statement is true and its constant is far from the truth; "refuted" needs a witness.
    summary : str
        The finding in a sentence, numbers included.
    numbers : mapping of str to number
        The numbers that decided.
    grade : {"exact", "numeric", "statistical"}
        What kind of evidence it is.
    witness : str
        The instance that refutes, in words; empty otherwise.
    """

    verdict: str
    summary: str
    numbers: Mapping[str, float]
    grade: str
    witness: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in ("holds", "loose", "refuted", "undecided"):
            raise InputError(f"verdict must be holds, loose, refuted or undecided; got {self.verdict!r}")
        if self.grade not in ("exact", "numeric", "statistical"):
            raise InputError(f"grade must be exact, numeric or statistical; got {self.grade!r}")
        if self.verdict == "refuted" and not self.witness:
            raise InputError("a refutation needs a witness")


@dataclass(frozen=True)
class Statement:
    """A statement of a paper that computation can check; modules list theirs in ``STATEMENTS``.

    Parameters
    ----------
    id : str
        The paper's short name and the theorem, as in "NIS-ParityLearner".
    statement : str
        The statement as it is checked, with its constants.
    source : str
        Paper and place.
    check : callable
        Takes the public names of dpaudit (an object with `audit_law`, `audit_utility`, `audit_privacy`), so that
        learners need not import the harness, and returns the `Evidence`. Deterministic; seconds, not minutes.
    """

    id: str
    statement: str
    source: str
    check: Callable[[Any], Evidence]


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

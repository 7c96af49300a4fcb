"""Samples, the domains that their points are from, and the concepts and distributions that make them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from dpaudit.contract.claims import Relation
from dpaudit.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    # Integers of any width, or Python's own in an object array: a learner says which it takes.
    Points = NDArray[Any]

__all__ = ["ConceptClass", "Distribution", "Domain", "Hypothesis", "Membership", "Sample"]


@dataclass(frozen=True)
class Distribution:
    """A probability distribution on finitely many points, of examples without their labels.

    Parameters
    ----------
    points : array, shape (m, k)
        The points; one may stand twice, as a public and as a private one.
    probabilities : array of float64, shape (m,)
        Their probabilities, which sum to 1.
    name : str
        What a finding calls it.
    public : array of bool, shape (m,), optional
        Which are public, for learners from public and private examples; without it the learner's domain says so.
    """

    points: Points
    probabilities: NDArray[np.float64]
    name: str = ""
    public: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        total = float(sum(self.probabilities))
        if len(self.points) != len(self.probabilities) or len(self.points) == 0:
            raise InputError(
                f"a distribution needs as many points as probabilities and at least one; got "
                f"{len(self.points)} points and {len(self.probabilities)} probabilities"
            )
        # Probabilities are floats, whose sum is rounded.
        if not (min(self.probabilities) >= 0 and abs(total - 1) <= 1e-9):
            raise InputError(
                f"probabilities must be >= 0 and sum to 1; they sum to {total!r}", parameter="probabilities"
            )
        flags = self.public
        if flags is not None and not (flags.shape == (len(self.points),) and flags.dtype == bool):
            raise InputError.of("public", flags, f"{len(self.points)} truth values, one a point")

    @classmethod
    def mixture(cls, public: Distribution, private: Distribution, share: float, name: str = "") -> Distribution:
        """Return the mixture of two populations: an example is a public one with probability `share`.

        Each population is a distribution of its own; what flags it may have are not looked at.
        """
        import numpy as np

        if not 0 <= share <= 1:
            raise InputError.of("share", share, "in [0, 1]")
        weights = (share * public.probabilities, (1 - share) * private.probabilities)
        # The public points come first.
        flags = np.arange(len(public.points) + len(private.points)) < len(public.points)
        return cls(np.concatenate([public.points, private.points]), np.concatenate(weights), name, flags)


@runtime_checkable
class Hypothesis(Protocol):
    """A function from points to labels: `predict` maps points (m, k) to labels (m,) in {0, 1}."""

    def predict(self, points: Points) -> NDArray[np.uint8]:
        """Return the labels of the points."""


class Domain(Protocol):
    """A finite set of points, each a row of `dimension` integers."""

    @property
    def size(self) -> int:
        """The number of points."""

    @property
    def dimension(self) -> int:
        """The number of coordinates of a point."""

    def points(self) -> Points:
        """Return all points (size, dimension) in lexicographic order, or raise `InputError` if they are too many."""

    def contains(self, points: Points) -> NDArray[np.bool_]:
        """Say for each row of `points` whether it is a point of the domain."""

    def landmarks(self) -> Points:
        """Return a few extreme and central points (m, dimension): where crafted neighbouring samples put weight."""

    def sample(
        self, points: ArrayLike, labels: ArrayLike, counts: ArrayLike | None = None, public: ArrayLike | None = None
    ) -> Sample:
        """Return the labelled multiset, after checking that every point is in the domain."""

    def empty_sample(self) -> Sample:
        """Return the sample without examples: a neighbour of a one-example sample under ADD_REMOVE_ONE."""

    def draw(self, concept: Hypothesis, distribution: Distribution, n: int, rng: np.random.Generator) -> Sample:
        """Draw n examples from the distribution, labelled by the concept; the cost does not depend on n."""


@runtime_checkable
class Sample(Protocol):
    """A labelled multiset over a finite domain, as distinct weighted examples in canonical (lexicographic) order.

    Equal multisets compare and hash equal.
    """

    @property
    def points(self) -> Points:
        """The distinct points, (m, k)."""

    @property
    def labels(self) -> NDArray[np.uint8]:
        """Their labels, (m,), in {0, 1}."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of times that each occurs, (m,), at least 1."""

    @property
    def public(self) -> NDArray[np.bool_] | None:
        """Whether each is public, (m,); None if the learner knows no public examples."""

    @property
    def domain(self) -> Domain | None:
        """The domain, where known."""

    @property
    def n(self) -> int:
        """The number of examples: the sum of the counts."""

    def neighbours(self, relation: Relation) -> Iterator[Sample]:
        """Yield every distinct neighbour over the domain once, the sample itself excluded."""


class ConceptClass(Protocol):
    """A finite class of concepts, numbered 0 .. size - 1.

    A class that is too large to be counted or numbered raises `InputError` where it is asked for `size`, for labels of
    all concepts or for one by its number; audits then take a target that is given.
    """

    @property
    def size(self) -> int:
        """The number of concepts."""

    def evaluate(self, points: Points) -> NDArray[np.uint8]:
        """Return the labels (size, m) that each concept gives to each point."""

    def concept(self, code: int) -> Hypothesis:
        """Return the concept with that number."""


@runtime_checkable
class Membership(Protocol):
    """A class of concepts that recognises its own, so that it need not be listed to refuse a foreign target."""

    def has(self, hypothesis: Hypothesis) -> bool:
        """Say whether a hypothesis is written as a concept of the class; one that only labels alike need not be."""

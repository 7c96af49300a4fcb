"""Promises about a mechanism: privacy for a relation of neighbours, utility in a setting."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dpaudit.contract.curve_claims import CurveClaim, points_claim, profile_claim, trade_off_claim
from dpaudit.errors import InputError
from dpaudit.plain_numbers import is_finite, plain_number, without_rounding

__all__ = ["FIXED_SETTINGS", "SETTINGS", "PrivacyClaim", "Relation", "UtilityClaim"]

SETTINGS = ("realizable", "agnostic", "empirical", "solution")
"""In what a learner may promise to succeed; see `UtilityClaim`."""

FIXED_SETTINGS = ("empirical", "solution")
"""Those that speak of every sample, over the learner's coins alone: an audit takes one sample for all runs."""


class Relation(enum.StrEnum):
    """The relation between two samples that are neighbours."""

    REPLACE_ONE = "replace-one"
    """One example is replaced by any other; n is public. The definition of all five source papers."""
    ADD_REMOVE_ONE = "add-remove-one"
    """One example is added or removed."""
    REPLACE_PRIVATE = "replace-private"
    """One private example is replaced; public examples are fixed."""

    @classmethod
    def parse(cls, value: Relation | str) -> Relation:
        """Return the relation of that name or alias (or `value` itself), or raise `InputError` with the names allowed.

        >>> Relation.parse("unbounded") is Relation.parse("add_remove") is Relation.ADD_REMOVE_ONE
        True
        """
        name = value
        if isinstance(value, str):
            name = value.strip().lower().replace("_", "-").replace(" ", "-")
        try:
            return cls(_ALIASES.get(name, name))
        except (ValueError, TypeError):
            raise InputError.among("relation", value, cls) from None


# Names of the relations elsewhere: in textbooks, in OpenDP, in Google's accounting library, in Tumult Analytics.
_ALIASES = {
    "bounded": "replace-one",
    "change-one": "replace-one",
    "replace": "replace-one",
    "substitute": "replace-one",
    "substitute-one": "replace-one",
    "add-remove": "add-remove-one",
    "add-or-remove-one": "add-remove-one",
    "symmetric": "add-remove-one",
    "symmetric-difference": "add-remove-one",
    "unbounded": "add-remove-one",
}


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
        epsilon = plain_number(self.epsilon)
        if epsilon is None or epsilon < 0 or not is_finite(epsilon):
            raise InputError.of("epsilon", self.epsilon, "a finite number >= 0")
        delta = plain_number(self.delta)
        # An accountant may return a delta slightly below 0 or above its end: that is no error of the user's.
        if delta is not None:
            delta = without_rounding(delta)
        if delta is None or not 0 <= delta < 1:
            raise InputError.of("delta", self.delta, "in [0, 1)")
        # Scalars of NumPy, fractions and decimals become numbers of Python, so that claims are shown and stored alike.
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)

    @property
    def call(self) -> str:
        """The call that makes the claim, as Python; empty where it names a theorem."""
        # A theorem cannot be written as a call of two numbers.
        if self.claim_id or self.source:
            return ""
        relation = ""
        if self.relation != Relation.REPLACE_ONE:
            relation = f", dpaudit.Relation.{self.relation.name}"
        return f"dpaudit.PrivacyClaim({self.epsilon!r}, {self.delta!r}{relation})"

    @staticmethod
    def gaussian(mu: float) -> CurveClaim:
        """Return the claim of mu-Gaussian differential privacy, 0 < mu <= 50."""
        return CurveClaim("gaussian", mu=mu)

    @staticmethod
    def zero_concentrated(rho: float) -> CurveClaim:
        """Return the claim of rho-zero-concentrated differential privacy, 0 < rho <= 1250."""
        return CurveClaim("zero-concentrated", rho=rho)

    @staticmethod
    def renyi(alpha: float | Sequence[tuple[float, float]], epsilon: float | None = None) -> CurveClaim:
        """Return the claim of (alpha, epsilon)-Renyi privacy, alpha > 1; or, of a list of such pairs, all at once."""
        order = plain_number(alpha)
        if order is not None:
            if epsilon is None:
                raise InputError.of("epsilon", epsilon, "given with a single order alpha")
            return CurveClaim("renyi", orders=((order, epsilon),))
        if epsilon is not None:
            raise InputError.of("epsilon", epsilon, "left out where a list of pairs (alpha, epsilon) is given")
        try:
            orders = tuple((one, most) for one, most in alpha)  # type: ignore[union-attr]
        except (TypeError, ValueError):
            allowed = "a number, with epsilon beside it, or a list of pairs (alpha, epsilon)"
            raise InputError.of("alpha", alpha, allowed) from None
        if not orders:
            raise InputError.of("orders", alpha, "at least one pair (alpha, epsilon)")
        return CurveClaim("renyi", orders=orders)

    @staticmethod
    def points(points: Iterable[Sequence[float]]) -> CurveClaim:
        """Return the claim of (epsilon, delta)-differential privacy at several points at once."""
        return points_claim(points)

    @staticmethod
    def profile(delta_of_epsilon: Callable[[float], float]) -> CurveClaim:
        """Return the claim that the mechanism is (epsilon, delta_of_epsilon(epsilon))-private at every epsilon.

        The function, whose values are in [0, 1] and do not grow, is evaluated at 71 epsilons from 0 to 35; an audit may
        refute the claim at any of them.
        """
        return profile_claim(delta_of_epsilon)

    @staticmethod
    def trade_off(f: Callable[[float], float]) -> CurveClaim:
        """Return the claim that a test of false positive rate x has a false negative rate of at least f(x).

        f is convex, does not grow, and is in [0, 1 - x]. It is evaluated on a grid; the points (epsilon, delta) that an
        audit may refute follow from these values and convexity, so that no delta is too small.
        """
        return trade_off_claim(f)


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
        if not 0 < self.alpha < 1:
            raise InputError.of("alpha", self.alpha, "in (0, 1)")
        if not 0 < self.beta < 1:
            raise InputError.of("beta", self.beta, "in (0, 1)")
        if self.sample_size < 1:
            raise InputError.of("sample_size", self.sample_size, "at least 1")
        if self.setting not in SETTINGS:
            raise InputError.among("setting", self.setting, SETTINGS)
        # No error is measured in that setting, so that the claim itself must say what a failure is.
        if (self.setting == "solution") != bool(self.failure):
            raise InputError(
                f"failure must be said in words in the setting 'solution' and nowhere else; got {self.failure!r} in "
                f"the setting {self.setting!r}",
                parameter="failure",
                value=self.failure,
            )

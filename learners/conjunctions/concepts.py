"""Conjunctions and disjunctions of literals over Boolean variables, and the exponential mechanism over short ones.

The literals are v_1, not v_1, v_2, not v_2, ... in this order; a set of literals is a mask with bit 2 i for v_{i+1} and
bit 2 i + 1 for not v_{i+1}.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Distribution, Hypothesis, InputError, Instance, Sample

from ..arrays import Exact, Integers, Labels
from ..citations import STE
from ..domains import ENUMERABLE, Cube
from ..finite.counting import Numbered, check_code, check_listable
from ..finite.exponential import ExponentialLearner
from ..parameters import Built, check_integer
from ..targets import MANY, case, point_array

# The largest number of variables for which a law lists all 4^d masks.
LAW_DIMENSION = 8
# The largest dimension whose 2 d literals fit a mask of type int64.
MAX_DIMENSION = 31


def contradicted(points: Exact) -> Labels:
    """Return which of the 2 d literals each point (m, d) makes false, (m, 2 d): v_i if x_i = 0, else not v_i."""
    # v_i is false where x_i = 0 and not v_i where x_i = 1; they alternate, in the order of the literals.
    values = np.asarray(points, dtype=np.uint8)
    return np.stack([1 - values, values], axis=2).reshape(len(values), 2 * values.shape[1])


@dataclass(frozen=True)
class _Literals:
    """A function of the literals in `mask`."""

    dimension: int
    mask: int

    # The value that one literal which has it gives the whole.
    _deciding: ClassVar[int]
    _words: ClassVar[tuple[str, str]]

    @property
    def _chosen(self) -> list[int]:
        return [i for i in range(2 * self.dimension) if self.mask >> i & 1]

    def predict(self, points: Exact) -> Labels:
        """Return the labels of points (m, dimension)."""
        # One literal decides: a false one makes a conjunction 0, a true one makes a disjunction 1.
        decided = (1 - contradicted(points)[:, self._chosen] == self._deciding).any(axis=1)
        return np.where(decided, self._deciding, 1 - self._deciding).astype(np.uint8)

    def __str__(self) -> str:
        between, empty = self._words
        return between.join(f"{'not ' * (i % 2)}v{i // 2 + 1}" for i in self._chosen) or empty


@dataclass(frozen=True)
class Conjunction(_Literals):
    """The conjunction of the literals in `mask`; empty, it is 1 everywhere, and with v and not v, 0 everywhere."""

    _deciding = 0
    _words = (" and ", "true")


@dataclass(frozen=True)
class Disjunction(_Literals):
    """The disjunction of the literals in `mask`; empty, it is 0 everywhere, and with v and not v, 1 everywhere."""

    _deciding = 1
    _words = (" or ", "false")


def decoded_mask(self: Any, code: int) -> Conjunction:
    """Return the conjunction of the literals in the mask; the method `decode` of learners of conjunctions."""
    check_integer("code", code, 0, 4**self.dimension - 1)
    return Conjunction(self.dimension, int(code))


@dataclass(frozen=True)
class _OnTheCube(Numbered):
    """A class of functions on the Boolean cube that renaming literals permutes."""

    dimension: int

    domain = Built(Cube)
    # The functions, and how many literals those of a hard target have at most.
    _kind: ClassVar[type[_Literals]] = Conjunction
    _target_literals: ClassVar[int] = 8

    def hard_targets(self, alpha: float) -> list[tuple[Hypothesis, Distribution, str]]:
        """Return a function of as many literals as may be, up to 8, on points that a literal decides alone or none.

        After it a function of one literal, whose rivals are the other literals: each errs on one point alone.
        """
        rng = np.random.default_rng(self.dimension)
        number = min(self._target_literals, self._longest)
        variables = rng.choice(self.dimension, number, replace=False)
        signs = rng.integers(0, 2, number)
        target = self._kind(
            self.dimension, sum(1 << 2 * int(v) + int(s) for v, s in zip(variables, signs, strict=True))
        )
        # Random values of the other variables; those of the target's decide nothing, then each of them alone.
        points = rng.integers(0, 2, (2, number, MANY // (2 * number) + 1, self.dimension))
        deciding = self._kind._deciding
        # Literal v_i is 1 where the variable is 1, and not v_i where it is 0.
        points[..., variables] = (1 - deciding) ^ signs
        for i, (variable, sign) in enumerate(zip(variables, signs, strict=True)):
            points[1, i, :, variable] = deciding ^ sign
        listed = point_array(points.reshape(-1, self.dimension).tolist())
        name = f"a function of {number} literals, each alone decides some of the points"
        return [case(target, listed, name), self._among_rivals(alpha, rng)]

    def _among_rivals(self, alpha: float, rng: np.random.Generator) -> tuple[Hypothesis, Distribution, str]:
        """Return a literal, and points on which every other variable has a literal that errs on little.

        Half of the mass is on a point that the literal decides, and so do the rivals, one of each other variable. The
        other half is on the opposite point, and on those that differ from it in one variable, where the rival of that
        variable errs, with 2.2 alpha in all. A learner that takes up rivals errs on the sum, and one that takes up few
        on little.
        """
        deciding = self._kind._deciding
        variable = int(rng.integers(self.dimension))
        signs = rng.integers(0, 2, self.dimension)
        # Where no literal of these signs decides; v_i is 1 where the variable is 1, and not v_i where it is 0.
        quiet = (1 - deciding) ^ signs
        rows = [1 - quiet, quiet]
        for other in range(self.dimension):
            if other != variable:
                rows.append(quiet ^ (np.arange(self.dimension) == other))
        share = min(2.2 * alpha, 0.45)
        errors = share / max(1, self.dimension - 1)
        weights = np.array([0.5, 0.5 - errors * (self.dimension - 1), *[errors] * (self.dimension - 1)])
        target = self._kind(self.dimension, 1 << 2 * variable + int(signs[variable]))
        name = "one literal, and for each other variable a point on which a rival errs"
        return target, Distribution(np.array(rows), weights, name), name

    @property
    def _longest(self) -> int:
        """The most literals of a function."""
        return self.dimension

    def has(self, hypothesis: Hypothesis) -> bool:
        """Say whether a hypothesis is such a function, of literals few enough and without a contradiction."""
        if type(hypothesis) is not self._kind or hypothesis.dimension != self.dimension:
            return False
        chosen = hypothesis._chosen
        return len(chosen) <= self._longest and len({i // 2 for i in chosen}) == len(chosen)

    def symmetries(self) -> list[Integers]:
        """Return generators of the renamings of literals: two permutations of coordinates, and complementing one."""
        if self.dimension == 1:
            return self.domain.renamings()
        last = self.dimension - 1
        return self.domain.renamings([1, 0, *range(2, self.dimension)], [last, *range(last)])


@dataclass(frozen=True)
class Conjunctions(_OnTheCube):
    """The class of the 3^d + 1 distinct functions that conjunctions of literals over d variables compute.

    Number c < 3^d has in base 3 the digits t_1 t_2 .. t_d (t_1 the lowest): t_i = 0 if variable i is absent, 1 if v_i
    stands in the conjunction, 2 if not v_i does. Number 3^d is the contradiction, 0 everywhere, with all literals.
    """

    def __post_init__(self) -> None:
        _ = self.domain

    @property
    def size(self) -> int:
        """3^dimension + 1."""
        return int(3**self.dimension) + 1

    @property
    def vc_dimension(self) -> int:
        """The dimension for 2 variables or more; 2 for one variable, where all four functions are there.

        For d >= 2 the lower bound comes from the points with a single 0; the upper bound is Natschlaeger and Schmitt,
        "Exact VC-dimension of Boolean monomials", Information Processing Letters 59 (1996).
        """
        return max(2, self.dimension)

    def mask(self, code: int) -> int:
        """Return the mask of the literals of the conjunction with that number."""
        check_code(self, code)
        if code == 3**self.dimension:
            return int(4**self.dimension) - 1
        digits = [int(code) // 3**i % 3 for i in range(self.dimension)]
        return sum(digit << 2 * i for i, digit in enumerate(digits))

    def concept(self, code: int) -> Conjunction:
        """Return the conjunction with that number."""
        return Conjunction(self.dimension, self.mask(code))

    def evaluate(self, points: Exact) -> Labels:
        """Return the labels (size, m) of points (m, dimension); `InputError` if the class is too large to list."""
        check_listable(self)
        values = np.asarray(points, dtype=np.uint8)
        # Numbers below 3^(i+1) are three copies of those below 3^i: variable i absent, positive, negated.
        rows = np.ones((1, len(values)), dtype=np.uint8)
        for column in values.T:
            rows = np.concatenate([rows, rows * column, rows * (1 - column)])
        return np.concatenate([rows, np.zeros((1, len(values)), dtype=np.uint8)])


# The number of (conjunction, example) cells that are looked at together.
CELLS = 2**22


@dataclass(frozen=True)
class _Short(_OnTheCube):
    """A class of functions of at least `least` and at most k literals."""

    k: int
    least: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1)
        check_integer("k", self.k, 1, self.dimension)

    @property
    def _longest(self) -> int:
        return self.k


@dataclass(frozen=True)
class ShortConjunctions(_Short):
    """The class CONJ_{k,d}: the distinct functions that conjunctions of at most k literals over d variables compute.

    Its size is sum_{j <= k} C(d, j) 2^j, and one more for k >= 2: the contradiction, 0 everywhere, which stands last.
    The others are numbered by their number of literals j, then lexicographically by their literals l_1 < .. < l_j. Here
    literal 2 i is v_{i+1} and literal 2 i + 1 is not v_{i+1}; each variable occurs once at most. With `least` 1 those
    without a literal, which are always 1, are left out, and numbers are one less.
    """

    def _of_length(self, j: int) -> int:
        return comb(self.dimension, j) << j

    @property
    def size(self) -> int:
        """sum_{least <= j <= k} C(d, j) 2^j, plus 1 if k >= 2."""
        return sum(map(self._of_length, range(self.least, self.k + 1))) + (self.k >= 2)

    def concept(self, code: int) -> Conjunction:
        """Return the conjunction with that number."""
        check_code(self, code)
        rest = int(code)
        length = self.least
        while length <= self.k and rest >= self._of_length(length):
            rest -= self._of_length(length)
            length += 1
        # All numbers of the lengths 0 .. k are used up: the last concept is the contradiction, which has all literals.
        if length > self.k:
            return Conjunction(self.dimension, 4**self.dimension - 1)
        # It is number `rest` of those with so many literals.
        mask = 0
        variable = 0
        for left in range(length - 1, -1, -1):
            # With `left` literals to come on the variables after this one, either sign of this variable begins `each`
            # conjunctions; skip the variables whose two blocks are passed.
            while rest >= 2 * (each := comb(self.dimension - variable - 1, left) << left):
                rest -= 2 * each
                variable += 1
            sign, rest = divmod(rest, each)
            mask |= 1 << 2 * variable + sign
            variable += 1
        return Conjunction(self.dimension, mask)

    def evaluate(self, points: Exact) -> Labels:
        """Return the labels (size, m) of points (m, dimension); `InputError` if the class is too large to list."""
        check_listable(self)
        true = 1 - contradicted(points)
        levels = []
        for literals, _ in islice(self._levels(), self.least, None):
            rows = np.ones((len(literals), len(points)), dtype=np.uint8)
            for column in literals.T:
                rows &= true[:, column].T
            levels.append(rows)
        if self.k >= 2:
            levels.append(np.zeros((1, len(points)), dtype=np.uint8))
        return np.concatenate(levels)

    def _levels(self) -> Iterator[tuple[Integers, Integers]]:
        """Yield for j = 0 .. k the literals (number, j) of all conjunctions of j literals, and which one each extends.

        They are in order; a conjunction is extended by the literals of one later variable.
        """
        literals = np.zeros((1, 0), dtype=np.int64)
        owner = np.zeros(1, dtype=np.int64)
        first = np.zeros(1, dtype=np.int64)
        for _ in range(self.k):
            yield literals, owner
            # The literals of the variables from `first` on extend a conjunction, two for each.
            amounts = 2 * (self.dimension - first)
            owner = np.repeat(np.arange(len(literals)), amounts)
            place = np.arange(len(owner)) - np.repeat(np.cumsum(amounts) - amounts, amounts)
            added = 2 * first[owner] + place
            literals = np.concatenate([literals[owner], added[:, None]], axis=1)
            first = added // 2 + 1
        yield literals, owner

    def count_correct(self, sample: Sample) -> Integers:
        """Return how many examples each concept labels correctly, (size,), without evaluating the longest ones.

        A conjunction is right on N_0 examples and n_1 - n_0 more for the examples that satisfy it. One matrix product
        gives this for all extensions of a conjunction of k - 1 literals at once, so only those are evaluated. Doubles
        hold the sums exactly while the sample has fewer than 2^53 examples; beyond, integers are multiplied.
        """
        check_listable(self)
        # Products of doubles run on the BLAS, integer ones do not: doubles wherever all sums are exact in them.
        number = np.float64 if sample.n < 2**53 else np.int64
        signed = np.where(sample.labels == 1, sample.counts, -sample.counts).astype(number)
        true = (1 - contradicted(sample.points)).astype(number)
        negatives = int(sample.counts[sample.labels == 0].sum())
        excess = [np.array([int(signed.sum())])]
        for (literals, _), (longer, owner) in pairwise(self._levels()):
            # The product with the truth values of every literal extends all conjunctions of one length at once.
            table = np.concatenate([*self._products(literals, true, signed)])
            excess.append(table[owner, longer[:, -1]].astype(np.int64))
        if self.k >= 2:
            excess.append(np.array([0]))
        return np.asarray(negatives + np.concatenate(excess[self.least :]), dtype=np.int64)

    def _products(self, literals: Integers, true: NDArray[Any], signed: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Yield, in blocks of conjunctions, n_1 - n_0 of each conjunction joined with each literal, (block, 2 d)."""
        # `rows` holds n_1 - n_0 of each example where the literals so far are true, 0 elsewhere.
        step = max(1, CELLS // max(1, len(signed)))
        for start in range(0, len(literals), step):
            block = literals[start : start + step]
            rows = np.broadcast_to(signed, (len(block), len(signed)))
            for column in block.T:
                rows = rows * true[:, column].T
            yield rows @ true


@dataclass(frozen=True)
class ShortDisjunctions(_Short):
    """Disjunctions of at most k literals: number c at x is 1 minus conjunction number c at the complement of x."""

    _kind: ClassVar[type[_Literals]] = Disjunction

    _mirror = Built(ShortConjunctions)

    @property
    def size(self) -> int:
        """As many as conjunctions."""
        return self._mirror.size

    def evaluate(self, points: Exact) -> Labels:
        """Return the labels (size, m) of points (m, dimension)."""
        return np.asarray(1 - self._mirror.evaluate(1 - np.asarray(points, dtype=np.int64)), dtype=np.uint8)

    def concept(self, code: int) -> Disjunction:
        """Return the disjunction of the same literals."""
        return Disjunction(self.dimension, self._mirror.concept(code).mask)


@dataclass(frozen=True)
class ConjunctionExponential(ExponentialLearner):
    """Learn conjunctions of at most k literals by the exponential mechanism.

    Conjunction h is returned with probability proportional to exp(epsilon q(S, h) / 2), q = examples labelled
    correctly: epsilon-differentially private. Sample sizes are those of any finite class, with ln|CONJ_{k,d}| about
    k ln(2 d/k); see `finite.exponential.ExponentialLearner`. Codes are the numbers of `ShortConjunctions`. The time is
    that of one product of an (|CONJ_{k-1,d}|, m) with an (m, 2 d) matrix for m distinct examples.

    Parameters
    ----------
    dimension : int
        Number d of Boolean variables.
    k : int
        The most literals, 1 .. dimension; the class must have at most 2^22 conjunctions.
    epsilon : float
        The privacy claim, > 0.
    """

    dimension: int
    k: int
    epsilon: float

    id: ClassVar[str] = "conjunction-exponential"
    claim_id: ClassVar[str] = "STE-ConjExp"
    source: ClassVar[str] = f"{STE}, step 0"
    instance: ClassVar[Instance] = Instance({"dimension": 2, "k": 2, "epsilon": 1.0}, n=4)
    concepts = Built(ShortConjunctions)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.concepts.size > ENUMERABLE:
            raise InputError(
                f"dimension={self.dimension} and k={self.k} give {self.concepts.size} conjunctions, more than the "
                f"{ENUMERABLE} that can be listed; take a smaller k, or conjunction-greedy"
            )

    def _scores(self, sample: Sample) -> Integers:
        """Return the scores; only conjunctions of k - 1 literals are evaluated."""
        return np.asarray(self.concepts.count_correct(sample), dtype=np.int64)


LEARNERS = (ConjunctionExponential,)

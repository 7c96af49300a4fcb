"""Privacy-loss profiles: epsilon and delta of many pairs of neighbouring samples, from their exact laws.

For a pair with laws P and P' on common atoms, the loss of atom o is L(o) = ln P(o) - ln P'(o). Then

    epsilon   = max over pairs and atoms of L(o),
    delta(e)  = max over pairs of  sum_o P(o) (1 - exp(e - L(o)))_+,

the last being the hockey-stick divergence. Laws are kept once each, pairs as two integers; everything is
evaluated in blocks of pairs, so that memory does not grow with pairs x atoms.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Law
from dpaudit.errors import InputError

# The most log-probabilities (laws times atoms) that one audit holds.
LAW_CELLS = 2**24

# Atoms of pairs that are compared at a time, so that memory does not grow with the pairs.
_BLOCK = 2**19
_ULP = 2.0**-52
# A step of epsilon below this ends the search for the epsilon of a delta.
_RESOLUTION = 1e-12
# A loss above this has an impossible atom on the right.
UNBOUNDED = 1e299
# Stands for ln 0: finite, so that losses need no arithmetic on infinities; its exponential is exactly 0.
_IMPOSSIBLE = -1e300

Floats = NDArray[np.float64]


class LawTable:
    """The laws of `size` samples on the union of their atoms.

    With `limits` they are limits along a ray, whose probabilities need not sum to 1.
    """

    def __init__(self, size: int, *, limits: bool = False) -> None:
        self._size = size
        self._limits = limits
        self._first: Sequence[Hashable] = ()
        self._columns: dict[Hashable, int] = {}
        self._rows: list[tuple[NDArray[np.int64] | slice, Floats]] = []
        self.error = np.zeros(size)
        self.grade = "exact"

    def add(self, law: Law, where: object) -> None:
        """Append the law of the sample `where`, or raise `InputError` if it is no probability law."""
        values = np.asarray(law.log_prob, dtype=np.float64)
        _check_law(law, values, where, total=not self._limits)
        if not self._rows:
            self._first = law.atoms
        self.error[len(self._rows)] = law.error
        self._rows.append((self._columns_of(law.atoms, where), np.maximum(values, _IMPOSSIBLE)))
        if law.grade != "exact":
            self.grade = "numeric"

    def _columns_of(self, atoms: Sequence[Hashable], where: object) -> NDArray[np.int64] | slice:
        """Return where the atoms stand, making new columns for new atoms."""
        first = self._first
        # Most laws list the same atoms as the first one. Only sequences of one of these types can be compared at once:
        # an array would compare each of its elements.
        listed = type(atoms) is type(first) and isinstance(atoms, tuple | list | range)
        columns: NDArray[np.int64] | slice = slice(0, len(atoms))
        distinct = len(atoms)
        if not self._columns:
            self._columns = dict(zip(atoms, range(len(atoms)), strict=True))
            distinct = len(self._columns)
        elif not (atoms is first or (listed and atoms == first)):
            columns = np.array([self._columns.setdefault(atom, len(self._columns)) for atom in atoms])
            distinct = len(np.unique(columns))
        if distinct != len(atoms):
            raise InputError(f"the law of {where} names an atom twice")
        if len(self._columns) * self._size > LAW_CELLS:
            raise InputError(
                f"{self._size:,} laws of {len(self._columns):,} or more atoms are too many: at most "
                f"{LAW_CELLS:,} log-probabilities are held; take a smaller n or fewer samples"
            )
        return columns

    @property
    def atoms(self) -> list[Hashable]:
        """The atoms, in the order of the columns."""
        return list(self._columns)

    @cached_property
    def log_prob(self) -> Floats:
        """The log-probabilities (laws, atoms) once all are added, impossible atoms at a huge negative finite number."""
        matrix = np.full((self._size, len(self._columns)), _IMPOSSIBLE)
        for i, (columns, values) in enumerate(self._rows):
            matrix[i, columns] = values
        # The matrix holds them now.
        self._rows.clear()
        return matrix


def _check_law(law: Law, values: Floats, where: object, *, total: bool) -> None:
    """Raise `InputError` unless shape, grade, error and, if asked for, the total are those of a probability law."""
    if values.shape != (len(law.atoms),) or len(values) == 0:
        raise InputError(f"the law of {where} has {len(law.atoms)} atoms, log_prob of shape {values.shape}")
    if law.grade not in ("exact", "numeric"):
        raise InputError(f"the law of {where} must have grade exact or numeric, got {law.grade!r}")
    if not 0 <= law.error < math.inf:
        raise InputError(f"the law of {where} must have a finite error >= 0, got {law.error!r}")
    if not total:
        return
    found = float(np.exp(np.minimum(values, 1.0)).sum())
    # Each probability is off by a factor within exp(+-error), so is their sum; 1e-9 pardons an error of 0.
    if not abs(found - 1) <= 1e-9 + math.expm1(min(law.error, 1.0)):
        raise InputError(f"the law of {where} is no probability law: its probabilities sum to {found!r}")


@dataclass(frozen=True, eq=False)
class LossProfiles:
    """The losses of many ordered pairs of laws.

    Parameters
    ----------
    log_prob : array of float64, shape (laws, atoms)
        Natural logarithms of the probabilities, -1e300 for an atom that cannot occur.
    error : array of float64, shape (laws,)
        Bounds on the absolute error of the finite log-probabilities of each law.
    left, right : array of int, shape (pairs,)
        The two laws of each pair; the loss is ln left - ln right.
    """

    log_prob: Floats
    error: Floats
    left: NDArray[np.int64]
    right: NDArray[np.int64]

    @cached_property
    def peaks(self) -> Floats:
        """The greatest loss of each pair, at least 0; inf where an atom is impossible on the right alone."""
        found = [self.losses(block).max(axis=1) for block in self.blocks(np.arange(len(self.left)))]
        peaks: Floats = np.maximum(np.concatenate(found), 0.0)
        peaks[peaks > UNBOUNDED] = np.inf
        return peaks

    @property
    def epsilon(self) -> float:
        """The greatest loss over all pairs and atoms."""
        return float(self.peaks.max())

    @cached_property
    def epsilon_error(self) -> float:
        """A bound on the error of a finite `epsilon`: the errors of both laws and one rounded subtraction."""
        finite = self.peaks[np.isfinite(self.peaks)]
        rounding = _ULP * float(finite.max(initial=0.0))
        return float((self.error[self.left] + self.error[self.right]).max()) + rounding

    def worst(self) -> tuple[int, int]:
        """Return the first (pair, atom) whose loss is `epsilon`, ties within the error included."""
        pair = int(np.argmax(self.peaks >= self.epsilon - self.epsilon_error))
        loss = self.losses(np.array([pair]))[0]
        return pair, int(np.argmax(loss >= min(self.peaks[pair], UNBOUNDED) - self.epsilon_error))

    def delta(self, epsilon: float) -> float:
        """Return the worst hockey-stick divergence at a finite epsilon; see `delta_error` for its error."""
        return self._worst_delta(epsilon)[0]

    def delta_error(self, epsilon: float) -> float:
        """Return a bound on the error of `delta(epsilon)`.

        If ln P is off by at most a and ln P' by at most b, each term (P - exp(e) P')_+ is off by at most
        P ((exp(a) - 1) + (exp(b) - 1)), because exp(e) P' <= P wherever the term is positive; the terms are
        rounded a few times each and added in any order.
        """
        noise = np.expm1(np.minimum(self.error, 1.0))
        rounding: float = 4 * _ULP * (self.log_prob.shape[1] + 8 + abs(epsilon))
        return float((noise[self.left] + noise[self.right]).max()) + rounding

    def worst_delta(self, epsilon: float) -> tuple[int, int]:
        """Return the pair that attains `delta(epsilon)`, and the atom that adds most to it."""
        _, pair = self._worst_delta(epsilon)
        return pair, int(np.argmax(self._terms(np.array([pair]), epsilon)[0]))

    def _worst_delta(self, epsilon: float) -> tuple[float, int]:
        """Return the worst delta and its pair, walking down the peaks until none can do better.

        A pair with peak m has delta(e) <= 1 - exp(e - m), as every loss is at most m.
        """
        if not isinstance(epsilon, int | float | np.floating) or not math.isfinite(epsilon):
            raise InputError.of("epsilon", epsilon, "a finite number")
        # In the order of descending peaks, so that the walk ends as soon as a peak bounds the rest from above.
        best = 0.0
        where = int(self._descending[0])
        for block in self.blocks(self._descending):
            if -math.expm1(min(epsilon - float(self.peaks[block[0]]), 0.0)) <= best:
                break
            values = self._terms(block, float(epsilon)).sum(axis=1)
            if values.max() > best:
                best = float(values.max())
                where = int(block[np.argmax(values)])
        # A sum of probabilities may exceed 1 by rounding.
        return min(best, 1.0), where

    def epsilon_at(self, delta: float) -> float:
        """Return the least epsilon at which the worst hockey-stick divergence is at most `delta`, up to 1e-12.

        In y = exp(epsilon) the divergence of a pair is convex and piecewise linear, sum over atoms of (P - y Q)_+, and
        so is the worst of all pairs: Newton's method from the left never passes the root. inf where P exceeds `delta`
        on atoms that are impossible on the right.
        """
        if delta == 0:
            return self.epsilon
        epsilon = 0.0
        while True:
            worst, pair = self._worst_delta(epsilon)
            active = self._terms(np.array([pair]), epsilon)[0] > 0
            if worst <= delta or not active.any():
                return epsilon
            mass = float(self.probability[self.left[pair]][active].sum()) - delta
            other = float(self.probability[self.right[pair]][active].sum())
            if other == 0:
                return math.inf
            # The root of the line that the worst pair's active atoms make.
            following = math.log(mass / other)
            if following <= epsilon + _RESOLUTION:
                return max(epsilon, following)
            epsilon = following

    def _terms(self, pairs: NDArray[np.int64], epsilon: float) -> Floats:
        """Return P(o) (1 - exp(epsilon - L(o)))_+ for each atom of each pair."""
        gap = np.minimum(epsilon - self.losses(pairs), 0.0)
        return np.asarray(-np.expm1(gap) * self.probability[self.left[pairs]])

    def losses(self, pairs: NDArray[np.int64]) -> Floats:
        """Return the losses (pairs, atoms); an atom impossible on both sides has loss 0."""
        return np.asarray(self.log_prob[self.left[pairs]] - self.log_prob[self.right[pairs]])

    def blocks(self, pairs: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Cut pair numbers into pieces of about `_BLOCK` atoms."""
        width = max(1, _BLOCK // self.log_prob.shape[1])
        return (pairs[i : i + width] for i in range(0, len(pairs), width))

    @cached_property
    def probability(self) -> Floats:
        """The probabilities (laws, atoms)."""
        return np.asarray(np.exp(self.log_prob), dtype=np.float64)

    @cached_property
    def _descending(self) -> NDArray[np.int64]:
        return np.asarray(np.argsort(-self.peaks, kind="stable"), dtype=np.int64)

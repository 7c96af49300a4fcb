"""The Set Cover Learner for conjunctions and disjunctions of literals (KMMS, Section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Distribution, Instance, Picture, Sample, Supremum, later

from ..arrays import Exact, Integers, Labels
from ..covers.accounting import AUDITED, TINY, calibration_picture, choice_supremum
from ..covers.rounds import LaplaceNoise
from ..covers.set_cover import SetCoverLearner
from ..covers.worst_case import Covering
from ..finite.worst_case import ABOVE
from ..parameters import check_integer
from .concepts import Conjunction, Conjunctions, Disjunction, ShortConjunctions, ShortDisjunctions, contradicted
from .greedy_counts import GreedyCounts, Rounds, missed_failure
from .scattered import Scattered

# Samples with at most so many (point, literal) cells are run in batches, larger ones run by run.
SMALL = 2**14
# The share of alpha of the point that the literal of the second variable spoils which spares the others.
LARGER = 0.59


@dataclass(frozen=True)
class LiteralCover(SetCoverLearner):
    """Cover the examples of one label by literals that spare those of the other; see `covers.set_cover`.

    A literal covers a point where it gives the final hypothesis its value: a conjunction is 0, a disjunction 1.

    Utility is claimed for targets of 1 .. k literals. One of none (always 1 as a conjunction) is out of reach: every
    output has J literals or fewer distinct ones, but at least one, which errs on half of the cube (KMMS-Thm3.5).

    Parameters
    ----------
    dimension : int
        Number d of Boolean variables.
    k, epsilon, delta, alpha, beta, variant, budget
        See `covers.set_cover.SetCoverLearner`.
    """

    dimension: int
    k: int
    epsilon: float
    delta: float
    alpha: float
    beta: float
    variant: str = "paper"
    budget: str = later("paper")

    instance: ClassVar[Instance] = Instance({"dimension": 2, **TINY}, n=3, alpha=0.99, beta=0.5)
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "dimension": 4, "k": 2}, n=3, alpha=0.2, beta=0.1),)
    _noise_type = LaplaceNoise
    _extent: ClassVar[str] = "dimension"
    _batch: ClassVar[int] = 2**22

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1)
        super().__post_init__()

    @property
    def _sets(self) -> int:
        return 2 * self.dimension

    @property
    def _covering(self) -> Covering:
        # A target has a literal, which does not spoil anything. Of each other variable one literal may spoil something
        # new, and a further one all that is left.
        others = 2 * self.dimension - 1
        answers = Conjunctions(self.dimension).size
        return Covering(
            self.k, self._rate, self.rounds, others, others, self.dimension, answers, True, *self._noise_scale
        )

    def _cover(self, points: Exact) -> Labels:
        contradictions = contradicted(points)
        if self._covered_label == 0:
            return contradictions
        return np.asarray(1 - contradictions, dtype=np.uint8)

    def _select(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers:
        # Small samples are worked on for many runs at a time. In large ones counts that are kept up to date cost less:
        # about one pass over the sample in a whole run.
        if len(sample.counts) * self._sets <= SMALL:
            return super()._select(sample, rng, size)
        self._split(sample)
        counts = GreedyCounts(sample, self.k, idle=False)
        return np.array([self._select_in_one_run(counts, rng) for _ in range(size)])

    def _select_in_one_run(self, counts: GreedyCounts, rng: np.random.Generator) -> list[int]:
        """Return the literals h_1 .. h_J of a run; each covers what it contradicts, or what its negation does."""
        label = self._covered_label
        state = counts.start()
        chosen = []
        for _ in range(self.rounds):
            # A conjunction's literal covers what contradicts it; a disjunction's covers what it is true of, which
            # contradicts its negation: the other number of the pair.
            covered = counts.contradicted(state)[:, np.arange(self._sets) ^ label].astype(np.float64)
            left = state.totals[label : label + 1].astype(np.float64)
            chosen.append(int(self._select_one(covered[[label]], covered[[1 - label]], left, rng)[0]))
            state = counts.after(state, chosen[-1] ^ label)
        return chosen

    def worst_targets(self, alpha: float) -> list[tuple[int, Distribution, str]]:
        """Return the target v_1 with all that it covers on one point, and alpha shared by two points that it spares.

        Of these one literal of the second variable spoils either. Nothing for a single variable.
        """
        if self.dimension < 2:
            return []
        points = np.ones((3, self.dimension), dtype=np.int64)
        points[:, 0] = [self._covered_label, 1 - self._covered_label, 1 - self._covered_label]
        points[2, 1] = 0
        spared = alpha * (1 + ABOVE)
        law = Distribution(points, np.array([1 - spared, LARGER * spared, (1 - LARGER) * spared]))
        return [(0, law, "alpha shared by two points that v_1 spares, the rest on one that it covers")]

    @property
    def concepts(self) -> ShortConjunctions | ShortDisjunctions:
        """The functions of 1 .. k literals (at most `dimension` are distinct and consistent)."""
        kind = ShortDisjunctions if self._covered_label else ShortConjunctions
        return kind(self.dimension, min(self.k, self.dimension), least=1)

    def decode(self, code: int) -> Conjunction | Disjunction:
        """Return the function of the literals selected."""
        kind = Disjunction if self._covered_label else Conjunction
        return kind(self.dimension, sum(1 << literal for literal in set(self._selected(code))))

    def supremum(self) -> Supremum | None:
        """Return the supremum of the pure loss, by `covers.accounting.choice_cost`; None with noise.

        J = ceil(2 k ln(2/alpha)) is at least k. With noise that is a bound, which is not known to be reached.
        """
        if self.variant != "noiseless":
            return None
        return choice_supremum(self.domain, self.rounds, self.k, self.selection_epsilon, self._covered_label)


@dataclass(frozen=True)
class SetCoverConjunction(LiteralCover):
    """Conjunctions of at most k literals by the Set Cover Learner: cover the negatives, spare the positives."""

    id: ClassVar[str] = "set-cover-conjunction"
    pictured: ClassVar[Instance] = Instance({**AUDITED, "dimension": 2, "k": 1}, n=3)
    _covered_label: ClassVar[int] = 0

    def hard_failure(self, alpha: float, n: int) -> tuple[float, str]:
        """Return the rate of failure on the worse of two cases, and the case.

        One has two points (`conjunctions.greedy_counts`), the other has positive examples only
        (`conjunctions.scattered`).
        """
        rounds = Rounds(self.rounds, self.dimension, self.k, self._rate, 0, *self._noise_scale)
        scattered = Scattered(self.rounds, self.dimension, self._rate, 0, alpha)
        return max(missed_failure(rounds, alpha, n), (scattered.failure(n), str(scattered)))

    def picture(self, sample: Sample, codes: Any, target: Any = None) -> Picture:
        """Return what a report draws: what Claim 3.4 gives away at these parameters; the sample plays no part."""
        return calibration_picture(self.k, self.rounds, self.epsilon, self.delta)


@dataclass(frozen=True)
class SetCoverDisjunction(LiteralCover):
    """Disjunctions of at most k literals by the Set Cover Learner: cover the positives, spare the negatives."""

    id: ClassVar[str] = "set-cover-disjunction"
    _covered_label: ClassVar[int] = 1


LEARNERS = (SetCoverConjunction, SetCoverDisjunction)

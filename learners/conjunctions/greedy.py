"""Conjunctions learned privately one literal at a time, and the exact law of the learner."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import (
    InputError,
    Instance,
    Law,
    PrivacyClaim,
    Sample,
    Supremum,
    UtilityClaim,
    WorstFailure,
    later,
)

from ..arrays import Bools, Integers
from ..citations import STE
from ..covers.accounting import choice_supremum, pure_share, rounds_for
from ..covers.worst_case import Covering, covering_failure
from ..finite.counting import ClassLearner, as_codes
from ..mechanisms import exponential
from ..mechanisms.composition import largest_repeated_epsilon
from ..mechanisms.log_laws import ULP, log_softmax, placed
from ..parameters import (
    BUDGETS,
    Built,
    check_choice,
    check_integer,
    check_law,
    check_law_limit,
    check_positive,
    check_probability,
    check_run,
    check_statement,
)
from .concepts import Conjunctions, ShortConjunctions, contradicted, decoded_mask
from .greedy_counts import GreedyCounts, Rounds, missed_failure
from .scattered import Scattered

# The most rounds of the exact law, which takes seconds for them.
LAW_ROUNDS = 10_000
# The number of (run, example) cells that are held at a time.
CELLS = 2**25
# Up to so many variables the number 3^d + 1 of conjunctions is written out; beyond, 1 is nothing to it.
COUNTED = 2**16


@dataclass(frozen=True)
class ConjunctionGreedy(ClassLearner):
    """Choose J literals, each by the exponential mechanism; delete the examples that a chosen literal contradicts.

    In a round with S0 the remaining negative and S1 the remaining positive examples, a literal l that contradicts c_0
    of S0 and c_1 of S1 has the score q(l) = min{c_0 - |S0|/k, -c_1}, and is chosen with probability proportional to
    exp(e q(l) / 2). The answer is the conjunction of the literals chosen; code: the mask of their set, in int64 for
    at most 31 variables and as a Python integer beyond.

    Privacy. Replacing an example, the samples that remain in any round, given the same earlier literals, differ by one
    example replaced, added or removed, or not at all. In each case c_0 - |S0|/k moves by at most 1 (removing a negative
    example: by -1 + 1/k or 1/k), -c_1 does, and so does their minimum. So q has sensitivity 1 without any noise on
    |S0|, each round is e-private, and J rounds are epsilon-private for e = epsilon/J, or (epsilon, delta)-private for
    the larger e of the optimal composition theorem (`mechanisms.composition`).

    J may depend on public values only: on the parameters, and under replacement on n, which the lecture's
    J = ceil(2 k ln n) does. Under the addition or removal of examples that J shows n; claim nothing there.

    A target that is 1 everywhere has no literal to offer: where it labels the sample, every literal may contradict half
    of the positive examples, and the lecture's algorithm, which must choose one, errs on them. So "no literal" is a
    candidate too here (c_0 = c_1 = 0), which contradicts nothing. `literal=True` leaves it out, as the text does.

    Parameters
    ----------
    dimension : int
        Number d of Boolean variables.
    k : int
        The most literals of the target, 1 .. dimension.
    epsilon : float
        The privacy claim, > 0.
    delta : float, optional
        None or 0: basic composition, pure privacy. In (0, 1): the claim's delta, for advanced composition.
    rounds : int, optional
        J; by default ceil(2 k ln n), at least 1.
    literal : bool
        Whether every round must choose a literal, as in the text.
    budget : {"paper", "proved"}
        Whether e is that of composition, or the greater of it and 2 epsilon/max{J + 1, J (1 + 1/k)}, which is
        epsilon-private by the theorem of `covers.accounting.choice_cost`: up to 2 k/(k + 1) times as much.
    """

    dimension: int
    k: int
    epsilon: float
    delta: float | None = None
    rounds: int | None = None
    literal: bool = False
    budget: str = later("paper")

    id: ClassVar[str] = "conjunction-greedy"
    settings: ClassVar[tuple[str, ...]] = ("realizable", "empirical")
    instance: ClassVar[Instance] = Instance({"dimension": 2, "k": 1, "epsilon": 1.0}, n=3)
    concepts = Built(ShortConjunctions)
    decode = decoded_mask

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1)
        check_integer("k", self.k, 1, self.dimension)
        check_positive("epsilon", self.epsilon)
        if self.delta is not None and self.delta != 0:
            check_probability("delta", self.delta)
        if self.rounds is not None:
            check_integer("rounds", self.rounds, 1)
        check_choice("budget", self.budget, BUDGETS)

    @property
    def privacy(self) -> PrivacyClaim:
        """(epsilon, delta)-differential privacy under replacement of one example; pure without a delta."""
        claim = "STE-Conj2" if self.budget == "paper" else "STE-Conj2-Proved"
        return PrivacyClaim(self.epsilon, self.delta or 0.0, claim_id=claim, source=f"{STE}, step 3")

    def rounds_at(self, n: int) -> int:
        """Return the number of rounds J on n examples."""
        if self.rounds is not None:
            return self.rounds
        # A sample of no examples occurs as the base of a ray, where ln n is not defined.
        return max(1, math.ceil(2 * self.k * math.log(n))) if n else 1

    def share(self, rounds: int) -> float:
        """Return the privacy parameter e of each of J rounds."""
        composed = largest_repeated_epsilon(self.epsilon, self.delta or 0.0, rounds)
        if self.budget == "paper":
            return composed
        return max(composed, pure_share(self.k, rounds, self.epsilon))

    def _rate(self, rounds: int) -> float:
        """Return the inverse temperature for k q, which is an integer."""
        return self.share(rounds) / (2 * self.k)

    def _eligible(self, scores: Integers) -> Bools:
        return np.ones(scores.shape, dtype=np.bool_)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the codes of independent runs. Runs that have chosen the same literals share their counts."""
        check_run(sample, self.domain, size)
        rounds = self.rounds_at(sample.n)
        counts = GreedyCounts(sample, self.k, idle=not self.literal)
        step = max(1, CELLS // max(1, len(sample.counts)))
        codes = []
        for start in range(0, size, step):
            codes += self._runs(counts, rounds, rng, min(step, size - start))
        return as_codes(codes, 4**self.dimension)

    def _runs(self, counts: GreedyCounts, rounds: int, rng: np.random.Generator, size: int) -> list[int]:
        """Return the masks that `size` runs have chosen after all rounds."""
        rate = self._rate(rounds)
        states = {0: counts.start()}
        masks = [0] * size
        for _ in range(rounds):
            # What remains depends on the set of literals chosen and not on their order, so runs are grouped by it.
            members = defaultdict(list)
            for i, mask in enumerate(masks):
                members[mask].append(i)
            # Only states that some run is in are kept: others would fill the memory.
            states = {mask: states[mask] for mask in members}
            for mask, runs in members.items():
                state = states[mask]
                scores = counts.scores(state)
                chosen = exponential.draw(scores, rate, rng, len(runs), self._eligible(scores))
                for i, candidate in zip(runs, chosen.tolist(), strict=True):
                    # The candidate after the last literal is "no literal", which changes nothing.
                    if candidate < 2 * self.dimension:
                        masks[i] = mask | 1 << candidate
                        if masks[i] not in states:
                            states[masks[i]] = counts.after(state, candidate)
        return masks

    def law(self, sample: Sample) -> Law:
        """Return the law on all 4^d masks: of the sets of chosen literals after J rounds.

        What remains depends on the set M of literals chosen so far, not on their order, so the sum over all sequences
        of J candidates is a chain over sets: with p_M(l) the law of one round,

            P_0 = 1[M empty], P_{j+1}(M) = P_j(M) (p_M(none) + sum_{l in M} p_M(l)) + sum_{l in M} P_j(M - l) p_{M-l}(l)

        Error: a log-probability of a round errs by at most 2^-52 (2 x + 6 ln K + 8), x the greatest exponent and K the
        number of candidates (see `mechanisms.exponential.log_law`). A path adds J of these; each of the at most 4 d + 2
        additions and joinings of a round rounds by 2^-52 (4 + V) at most, V = J (x + ln K) bounding the size of any
        entry, and joining never enlarges the errors of its two arguments.
        """
        check_law(self, sample, dimension=LAW_DIMENSION)
        rounds = self.rounds_at(sample.n)
        check_law_limit("rounds", rounds, LAW_ROUNDS)
        # Which literals (columns) are in which set (rows, the mask being the row number).
        members = np.arange(4**self.dimension)[:, None] >> np.arange(2 * self.dimension) & 1
        # In whole numbers: k times the scores, which are fractions of k.
        scores = _scores(sample, members, self.k, not self.literal)
        allowed = self._eligible(scores)
        rate = self._rate(rounds)
        # The greatest score among the allowed ones; the others must not shift the exponents.
        top = np.where(allowed, scores, np.iinfo(np.int64).min).max(axis=1, keepdims=True)
        exponents = np.where(allowed, rate * (scores - top), -np.inf)
        steps = log_softmax(exponents)
        largest = float(-exponents[allowed].min())
        # For each literal the sets that it is in, and the same sets without it.
        moves = [(inside, inside ^ 1 << i) for i, inside in enumerate(map(np.flatnonzero, members.T))]
        logs = placed(len(scores), 0, 0.0)
        for _ in range(rounds):
            # The last column is "no literal", which stays in the same set.
            if self.literal:
                grown = np.full(len(logs), -np.inf)
            else:
                grown = logs + steps[:, -1]
            for literal, (inside, without) in enumerate(moves):
                # A literal of the set was chosen again, or it has just been added to the set without it.
                stay = logs[inside] + steps[inside, literal]
                come = logs[without] + steps[without, literal]
                grown[inside] = np.logaddexp(grown[inside], np.logaddexp(stay, come))
            logs = grown
        # V of the docstring, which bounds the size of any entry.
        size = rounds * (largest + math.log(scores.shape[1]))
        # The error of a round; see `mechanisms.exponential.log_law`.
        each = ULP * (2 * largest + 6 * math.log(scores.shape[1]) + 8)
        error = rounds * (each + ULP * (4 * self.dimension + 2) * (4 + size))
        return Law(range(len(scores)), logs, error)

    def supremum(self) -> Supremum | None:
        """Return the supremum (e/2) J (1 + 1/k) of `covers.accounting.choice_cost`, not attained; None if unproved.

        It takes J >= k, and a product J e that does not depend on n: without `rounds`, no delta. J = ceil(2 k ln n) is
        then at least k from n = 2 on, and the defect of its rounds, J (2 d + 1) exp(-(e/2) (t/k - 1)) at most on the
        ray of t + 1 examples, vanishes although J grows. At n = 1 the loss is no greater: J = 1, and as every point
        contradicts d literals, two examples of like labels have equal normalisers and cost e/2 at most.
        """
        fixed = self.rounds is not None
        if (fixed and self.rounds_at(1) < self.k) or (not fixed and self.delta):
            return None
        # Any J does where J e is fixed; one that is at least k has the cost of the theorem's first case.
        rounds = self.rounds_at(1) if fixed else self.k
        return choice_supremum(self.domain, rounds, self.k, self.share(rounds), 0)

    def hard_failure(self, alpha: float, n: int) -> tuple[float, str]:
        """Return the rate of failure on the worse of two cases, and the case.

        One has two points (`conjunctions.greedy_counts`), the other has positive examples only
        (`conjunctions.scattered`).

        Where J grows with n each round gets less of epsilon, and the rate jumps up; it is given as the greatest at n
        examples or more. That is the one at n or at the next jump: J >= 2 k, so from one jump to the next n grows more
        than J does, and with it what a round distinguishes.
        """
        # The n from which ceil(2 k ln n) is one more.
        if self.rounds is not None:
            jump = n
        else:
            jump = math.ceil(math.exp(self.rounds_at(n) / (2 * self.k)))
        return max(self._failure_at(n, alpha), self._failure_at(max(n, jump), alpha))

    def _failure_at(self, n: int, alpha: float) -> tuple[float, str]:
        """Return the rate of failure with the rounds of n examples, and the case."""
        rounds = self._hard_rounds(n)
        scattered = Scattered(rounds.rounds, self.dimension, rounds.rate, rounds.idle, alpha)
        return max(missed_failure(rounds, alpha, n), (scattered.failure(n), str(scattered)))

    def _hard_rounds(self, n: int) -> Rounds:
        rounds = self.rounds_at(n)
        return Rounds(rounds, self.dimension, self.k, self.share(rounds) / 2, 0 if self.literal else 1)

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return an upper end of the failure rate over all cases; see `covers.worst_case`.

        A target without a literal has "no literal" as its good set, which is why that must be a candidate. Of each
        variable one literal may spoil something new, and a further one all that is left.

        `InputError` if every round must choose a literal, or a round's rate is not proportional to 1/J while J grows.
        """
        if self.literal:
            raise InputError.of("literal", self.literal, "False, for a bound on all cases")
        rate = self.epsilon / 2
        if self.rounds is not None:
            rate = self.share(self.rounds) / 2
        elif self.delta or self.budget != "paper":
            raise InputError("rounds must be given for a bound on all cases, with a delta or the budget proved")
        d = self.dimension
        answers = Conjunctions(d).size
        return covering_failure(Covering(self.k, rate, self.rounds or 0, 2 * d, 2 * d, d + 1, answers, True), alpha, n)

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta with its sample size.

        "empirical" is the lecture's: the examples are labelled by a conjunction of at most k literals. Some candidate
        has score 0 or more in every round: with no negative left "no literal" has score 0; else the target has a
        literal, none of them contradicts a positive example, and together they contradict all negative ones. With
        L = (2/e) ln((2 d + 1) J/beta), all J scores are at least -L with probability 1 - beta. Then each round loses at
        most L positives, and at least |S0|/(2 k) negatives are covered while |S0| >= 2 k L. So the errors are at most
        J L + max(2 k L, n (1 - 1/(2 k))^J) <= alpha n for J >= 2 k ln(2/alpha) and n >= (2/alpha) max(J, 2 k) L.
        (The lecture writes L = (1/epsilon) ln d: the J of e = epsilon/J is missing.)

        "realizable": the same at alpha/2 and beta/2, and n >= (8/alpha) ln(2 H/beta), where
        H = min((2 d + 1)^J, 3^d + 1) bounds the number of answers (multiplicative Chernoff, as for any finite class).

        `InputError` if `rounds` is given and below 2 k ln(2/alpha), 2 k ln(4/alpha) in the realizable setting.
        """
        check_statement(alpha, beta, setting, self.settings)
        if setting == "empirical":
            n = self._empirical_size(alpha, beta, lambda rounds: 1.0)
        else:
            each = math.log(2 * self.dimension + 1)
            # Answers are counted as sequences of choices or as conjunctions, whichever are fewer: H of the docstring.
            if self.dimension <= COUNTED:
                most = math.log(Conjunctions(self.dimension).size)
            else:
                most = self.dimension * math.log(3)

            def least(rounds: int) -> float:
                return 8 / alpha * (math.log(2) + min(rounds * each, most) - math.log(beta))

            n = self._empirical_size(alpha / 2, beta / 2, least)
        return UtilityClaim(alpha, beta, n, setting, "STE-Conj2", f"{STE}, step 3")

    def _empirical_size(self, alpha: float, beta: float, least: Callable[[int], float]) -> int:
        """Return the least n that suffices for (alpha, beta) on the sample and is at least `least(J)`.

        J may depend on n, hence the iteration from below: the right-hand side grows with n.
        """
        needed = rounds_for(self.k, alpha)
        if self.rounds is not None and self.rounds < needed:
            raise InputError(f"rounds must be at least {needed} for an error of {alpha!r}, got {self.rounds}")
        # Below 2/alpha examples no error between alpha/2 and alpha exists.
        n = math.ceil(2 / alpha)
        previous = 0
        while n != previous:
            previous = n
            rounds = self.rounds_at(n)
            slack = 2 / self.share(rounds) * math.log((2 * self.dimension + 1) * rounds / beta)
            n = max(n, math.ceil(2 / alpha * max(rounds, 2 * self.k) * slack), math.ceil(least(rounds)))
        return n


# The largest number of variables for which all 4^d sets of literals are listed.
LAW_DIMENSION = 5


def _scores(sample: Sample, members: Integers, k: int, idle: bool) -> Integers:
    """Return k q of every candidate (columns) when the literals of a set (rows) have been chosen."""
    refuted = contradicted(sample.points).astype(np.int64)
    left = (members @ refuted.T) == 0
    negative = left * np.where(sample.labels == 0, sample.counts, 0)
    positive = left * np.where(sample.labels == 1, sample.counts, 0)
    total = negative.sum(axis=1)
    scores = np.minimum(k * (negative @ refuted) - total[:, None], -k * (positive @ refuted))
    if idle:
        # "No literal" contradicts nothing: k min{0 - |S0|/k, 0}.
        return np.concatenate([scores, -total[:, None]], axis=1)
    return np.asarray(scores)


LEARNERS = (ConjunctionGreedy,)

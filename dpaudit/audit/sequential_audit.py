r"""Audit at any stopping time: bet against the claim batch by batch, stop as soon as it is refuted.

**Claim.** If the mechanism is (epsilon, delta)-private on every pair given, then whatever rule picks the
pairs, the batch sizes, the bets and the time to stop, Pr[the claim is ever rejected] <= gamma.

**Why, run by run.** Every run tosses a fair coin for its side and pays an e-value of `eprocess`: given the
past its mean is at most 1, *whichever* pair is run, because the bet and the pair are functions of the past
and the claim speaks of all pairs. So the product E over all runs of all pairs is a nonnegative
supermartingale that starts at 1, and Ville's inequality gives Pr[sup E >= 1 / gamma] <= gamma. Trying more
pairs costs runs, never error probability.

**Why whole batches.** Within a batch of n runs pair and bet are fixed, so given the past the n payoffs are
independent with means at most 1, and so is the mean of their product: E observed at the ends of batches is a
supermartingale too. That product does not depend on the order of the runs, and the multiset of (coin, output)
is the same whether n coins are tossed one by one, or their number of heads B ~ Bin(n, 1/2) is drawn first and
B runs are made on data and n - B on neighbour. The coins have a stream of their own. The pilot, which fixes
the cells, is never bet on.

**All epsilons at once.** The same runs are bet against every epsilon of a grid, each with its own stakes; the
error of `epsilon_lower` is explained at `eprocess.last_before_survivor`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpaudit.arguments import read_integer
from dpaudit.audit.session import Look, Session
from dpaudit.bounds.counts import check_level
from dpaudit.contract import Pair, PrivacyClaim
from dpaudit.errors import InputError
from dpaudit.running.sampling import Sampler

__all__ = ["LEAST_RUNS", "PairEvidence", "SequentialOutcome", "audit_sequential"]

LEAST_RUNS = 100
"""Fewer leave next to nothing to bet on after the pilot and the first batch."""
LARGEST_EPSILON = 300.0
"""Twice as much, the end of the grid of epsilons, is still far from where exp(epsilon) overflows."""


@dataclass(frozen=True)
class PairEvidence:
    """The runs of one pair, and its part of log E against the claim."""

    pair: int
    runs: int
    log_e: float


@dataclass(frozen=True)
class SequentialOutcome:
    """The outcome of a sequential audit.

    Attributes
    ----------
    rejected : bool
        Whether the claim was refuted; wrong with probability at most gamma.
    epsilon_lower : float
        A lower confidence bound on epsilon at the claim's delta, over all pairs; too high with probability at
        most gamma. It is valid at the time of stopping, as at any other. (Each of the two statements has
        error gamma; where `rejected` is True this may, rarely, be below the claim.)
    log_e : float
        Natural logarithm of the evidence against the claim when the audit stopped; log(1 / gamma) refutes.
    runs_used : int
        Runs made, both sides, all pairs and pilots together.
    looks : tuple of Look
        One for each batch, in order.
    pairs : tuple of PairEvidence
        One for each pair.
    bet, different : int
        Runs that were bet on, over all pairs, and runs with another cell than the commonest one of their pair.
    raised : Counter
        How many runs that were bet on ended in an exception, by its type and message.
    unseen : tuple of str
        Parts of the outputs that took no part.
    width, reduced : int
        The numbers of the widest row in an output, where they are more than scores can be fitted on, and the runs on
        each side of a pair that chose the columns of it to look at; else 0.
    fitted : int
        Runs that only trained, over all pairs and both sides.
    """

    rejected: bool
    epsilon_lower: float
    log_e: float
    runs_used: int
    looks: tuple[Look, ...]
    pairs: tuple[PairEvidence, ...]
    bet: int
    different: int
    raised: Counter[str]
    unseen: tuple[str, ...] = ()
    width: int = 0
    reduced: int = 0
    fitted: int = 0


def audit_sequential(
    sampler: Sampler,
    pairs: Sequence[Pair],
    claim: PrivacyClaim,
    *,
    runs: int,
    gamma: float,
    float_bits: bool = False,
    over: Callable[[int], bool] = lambda looks: False,
) -> SequentialOutcome:
    """Test a claim of (epsilon, delta)-privacy with evidence that may be looked at after every batch.

    Parameters
    ----------
    sampler : Sampler
        The mechanism, with its root seed and workers: the outcome is a function of all but the workers. If it knows how
        many numbers an output holds, memory is bounded.
    pairs : sequence of Pair
        Neighbouring inputs; which to run is decided batch by batch.
    claim : PrivacyClaim
        The claim; its epsilon at most 300.
    runs : int
        The most runs to make, all sides and pairs together, at least 100.
    gamma : float
        The probability with which a true claim may be refuted.
    float_bits : bool
        Whether to look at the bits of floats and not only at their values.
    over : callable
        Says after so many looks whether to stop; by the clock, say, and even by what was seen.

    Raises
    ------
    InputError
        For a bad argument, before any run.
    """
    runs = read_integer("runs", runs, LEAST_RUNS)
    if claim.epsilon > LARGEST_EPSILON:
        raise InputError.of("epsilon", claim.epsilon, f"at most {LARGEST_EPSILON:g}")
    session = Session(sampler, pairs, claim, runs, check_level(gamma), float_bits, over)
    session.run()
    evidence = [PairEvidence(bets.index, bets.runs, float(bets.log_wealth()[session.target])) for bets in session.bets]
    return SequentialOutcome(
        rejected=session.refuted,
        epsilon_lower=session.epsilon_lower(),
        log_e=math.fsum(pair.log_e for pair in evidence),
        runs_used=session.used,
        looks=tuple(session.looks),
        pairs=tuple(evidence),
        bet=session.bet,
        different=sum(bets.different() for bets in session.bets),
        raised=session.raised,
        unseen=session.unseen,
        width=session.width,
        reduced=session.reduced,
        fitted=session.fitted,
    )

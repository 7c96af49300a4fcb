r"""The anytime-valid audit: bet against the claim batch by batch, stop as soon as it is refuted.

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
what is a label, is never bet on.

**All epsilons at once.** The same runs are bet against every epsilon of a grid, each with its own stakes; the
error of `epsilon_lower` is explained at `eprocess.last_before_survivor`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit import seeding
from dpaudit.adapters import Mechanism
from dpaudit.arguments import read_integer
from dpaudit.betting.session import Game, Look, Source
from dpaudit.bounds.counts import check_level
from dpaudit.contract import PrivacyClaim
from dpaudit.errors import InputError
from dpaudit.jsonable import jsonable
from dpaudit.neighbours.check import check_pairs

__all__ = ["LEAST_RUNS", "Look", "PairEvidence", "SequentialOutcome", "audit_sequential"]

LEAST_RUNS = 100
LARGEST_EPSILON = 300.0


@dataclass(frozen=True)
class PairEvidence:
    """What one pair got and gave: its runs, its batches and its part of log E against the claim."""

    pair: int
    origin: str
    runs: int
    batches: int
    log_e: float


@dataclass(frozen=True)
class SequentialOutcome:
    """What a sequential audit learned.

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
    runs_used, runs : int
        Runs made and allowed, both sides, all pairs and pilots together.
    epsilon, delta, gamma : float
        The claim and the error probability.
    looks : tuple of Look
        One for each batch, in order.
    pairs : tuple of PairEvidence
        One for each pair.
    seed : int
        The root seed.
    """

    rejected: bool
    epsilon_lower: float
    log_e: float
    runs_used: int
    runs: int
    epsilon: float
    delta: float
    gamma: float
    looks: tuple[Look, ...]
    pairs: tuple[PairEvidence, ...]
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON-safe data."""
        shown: dict[str, Any] = jsonable(self)
        return shown


def audit_sequential(
    mechanism: Mechanism,
    pairs: Sequence[Any],
    *,
    epsilon: float,
    delta: float = 0.0,
    runs: int = 100_000,
    gamma: float = 0.05,
    seed: int = 0,
    n_jobs: int = 1,
    backend: str | None = None,
    float_bits: bool = False,
) -> SequentialOutcome:
    """Test a claim of (epsilon, delta)-privacy with evidence that may be looked at after every batch.

    Parameters
    ----------
    mechanism : Mechanism
        What is audited (see `adapters.as_mechanism`).
    pairs : sequence of (data, neighbour) or Pair
        Neighbouring inputs; which to run is decided batch by batch.
    epsilon, delta : float
        The claim; epsilon at most 300.
    runs : int
        The most runs to make, all sides and pairs together, at least 100.
    gamma : float
        The probability with which a true claim may be refuted.
    seed : int
        The root seed; the outcome is a function of it and the arguments above, whatever `n_jobs` and
        `backend`.
    n_jobs, backend
        As for `joblib.Parallel`.
    float_bits : bool
        Whether to look at the bits of floats and not only at their values.

    Raises
    ------
    InputError
        For a bad argument, before any run.
    """
    claim = PrivacyClaim(epsilon, delta)
    if not isinstance(mechanism, Mechanism):
        raise InputError.of("mechanism", mechanism, "a Mechanism (see adapters.as_mechanism)")
    runs = read_integer("runs", runs, LEAST_RUNS)
    if epsilon > LARGEST_EPSILON:
        raise InputError.of("epsilon", epsilon, f"at most {LARGEST_EPSILON:g}")
    source = Source(mechanism, seeding.check_seed(seed), n_jobs, backend)
    game = Game(source, check_pairs(pairs, None), claim, runs, check_level(gamma), float_bits)
    game.play()
    return _outcome(game)


def _outcome(game: Game) -> SequentialOutcome:
    logs = [float(ledger.log_wealth()[game.target]) for ledger in game.ledgers]
    return SequentialOutcome(
        rejected=game.refuted,
        epsilon_lower=game.epsilon_lower(),
        log_e=math.fsum(logs),
        runs_used=game.used,
        runs=game.runs,
        epsilon=game.claim.epsilon,
        delta=game.claim.delta,
        gamma=game.gamma,
        looks=tuple(game.looks),
        pairs=tuple(
            PairEvidence(k.index, k.pair.origin, k.runs, k.visits, log)
            for k, log in zip(game.ledgers, logs, strict=True)
        ),
        seed=game.source.seed,
    )

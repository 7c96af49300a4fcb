"""The sequential design as a finding: bets instead of events."""

from __future__ import annotations

from dpaudit.betting.audit import LEAST_RUNS, SequentialOutcome, audit_sequential
from dpaudit.betting.power import leader_runs
from dpaudit.blackbox.finding import PrivacyFinding, Witness
from dpaudit.blackbox.power import MASSES, Power
from dpaudit.blackbox.request import Request
from dpaudit.contract import Direction, PrivacyVerdict
from dpaudit.errors import InputError
from dpaudit.event import Bets

__all__ = ["anytime_finding"]


def anytime_finding(request: Request) -> PrivacyFinding:
    """Bet against the claim until it is refuted or the budget is spent.

    The verdict and `epsilon_lower` are two statements, so each has half of the error probability. What is detectable is
    what bets on one given event, of one pair that leads from the start, refute within all the runs allowed.
    """
    gamma, claim = request.gamma / 2, request.claim
    allowed = _allowed(request)
    found = audit_sequential(
        request.mechanism,
        request.pairs,
        epsilon=claim.epsilon,
        delta=claim.delta,
        runs=allowed,
        gamma=gamma,
        seed=request.seed,
        n_jobs=request.n_jobs,
        backend=request.backend,
        float_bits=request.float_bits,
    )
    unseen = Power.by_bets(MASSES[0], leader_runs(allowed, len(request.pairs)), claim, gamma)
    return PrivacyFinding(
        verdict=PrivacyVerdict.VIOLATION if found.rejected else PrivacyVerdict.CONSISTENT,
        epsilon=claim.epsilon,
        delta=claim.delta,
        epsilon_lower=found.epsilon_lower,
        detectable_epsilon=unseen.epsilon,
        detectable_delta=unseen.delta,
        frontier=unseen.frontier,
        confidence=request.confidence,
        trials=request.trials,
        selection_trials=0,
        confirmation_trials=found.runs_used // 2,
        pairs=len(request.pairs),
        events=0,
        witness=_witness(request, found),
        bound="betting",
        distinguisher="betting",
        relation=request.relation,
        seed=request.seed,
        design="sequential",
        budget={"used": found.runs_used, "allowed": allowed},
        errors={"verdict": gamma, "epsilon_lower": gamma},
        scores=(),
        origins=tuple(pair.origin for pair in request.pairs),
        claim_id=claim.claim_id,
        warnings=request.warnings,
    )


def _allowed(request: Request) -> int:
    """Return the runs allowed, both sides of all pairs together; raise `InputError` for too few to bet on."""
    pairs = len(request.pairs)
    allowed = 2 * request.trials * pairs
    if allowed < LEAST_RUNS:
        raise InputError(
            "{trials} must be at least {least} with {sequential:=True} and {pairs} pair(s), got {given}",
            names=("trials", "sequential"),
            value=request.trials,
            least=-(-LEAST_RUNS // (2 * pairs)),
            pairs=pairs,
            given=request.trials,
        )
    return allowed


def _witness(request: Request, found: SequentialOutcome) -> Witness:
    """Return the pair that raised the stake most; bets have no single event and no counts."""
    best = max(found.pairs, key=lambda pair: (pair.log_e, -pair.pair))
    pair = request.pairs[best.pair]
    return Witness(
        pair=best.pair,
        origin=pair.origin,
        data=f"{pair.data!r:.300}",
        neighbour=f"{pair.neighbour!r:.300}",
        direction=Direction.FORWARD,
        event=Bets(best.runs, best.log_e),
    )

"""The sequential design: bets instead of events, until the claim is refuted or the budget is spent."""

from __future__ import annotations

from dpaudit.betting.audit import LEAST_RUNS, PairEvidence, audit_sequential
from dpaudit.betting.power import leading_pair_runs
from dpaudit.blackbox.finding import PrivacyFinding, Witness
from dpaudit.blackbox.power import MASSES, Power
from dpaudit.blackbox.request import Request
from dpaudit.contract import Direction, PrivacyVerdict
from dpaudit.errors import InputError
from dpaudit.event import Bets

__all__ = ["sequential_finding"]


def sequential_finding(request: Request) -> PrivacyFinding:
    """Bet against the claim until it is refuted or the budget is spent.

    The verdict and `epsilon_lower` are two statements, so each has half of the error probability. What is detectable is
    what bets on one given event, of one pair that leads from the start, refute within all the runs allowed.
    """
    gamma, claim, allowed = request.gamma / 2, request.claim, _allowed(request)
    bits = request.float_bits
    found = audit_sequential(request.sampler, request.pairs, claim, runs=allowed, gamma=gamma, float_bits=bits)
    power = Power.of_bets(MASSES[0], leading_pair_runs(allowed, len(request.pairs)), claim, gamma)
    return PrivacyFinding(
        verdict=PrivacyVerdict.VIOLATION if found.rejected else PrivacyVerdict.CONSISTENT,
        epsilon=claim.epsilon,
        delta=claim.delta,
        epsilon_lower=found.epsilon_lower,
        detectable_epsilon=power.epsilon,
        detectable_delta=power.delta,
        frontier=power.frontier,
        confidence=request.confidence,
        trials=request.trials,
        selection_trials=0,
        confirmation_trials=found.runs_used // 2,
        pairs=len(request.pairs),
        events=0,
        witness=_witness(request, max(found.pairs, key=lambda pair: (pair.log_e, -pair.pair))),
        bound="betting",
        distinguisher="betting",
        relation=request.relation,
        seed=request.sampler.seed,
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
        least = -(-LEAST_RUNS // (2 * pairs))
        raise InputError.of("trials", request.trials, f"at least {least} in a sequential audit of {pairs} pair(s)")
    return allowed


def _witness(request: Request, best: PairEvidence) -> Witness:
    """Return the pair that raised the stake most; bets have no single event and no counts."""
    event = Bets(best.runs, best.log_e)
    return Witness.of(best.pair, request.pairs[best.pair], Direction.FORWARD, event)

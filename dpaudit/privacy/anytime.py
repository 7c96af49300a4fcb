"""The sequential design as a finding: bets instead of events."""

from __future__ import annotations

from dpaudit.privacy.request import Request
from dpaudit.privacy.sequential import audit_sequential
from dpaudit.privacy.unseen import Unseen
from dpaudit.results import PrivacyFinding, Witness

__all__ = ["anytime_finding"]


def anytime_finding(request: Request) -> PrivacyFinding:
    """Bet against the claim until it is refuted or the budget is spent.

    The verdict and `epsilon_lower` are two statements, so each has half of the error probability. The detectable
    epsilon is that of the fixed design at the same runs; betting needs somewhat more.
    """
    gamma, claim = request.gamma / 2, request.claim
    allowed = 2 * request.trials * len(request.pairs)
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
    best = max(found.pairs, key=lambda pair: (pair.log_e, -pair.pair))
    pair = request.pairs[best.pair]
    unseen = Unseen.by(request.bound, 0.1, max(1, found.runs_used // 2), claim, gamma)
    return PrivacyFinding(
        verdict="violation" if found.rejected else "consistent",
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
        witness=Witness(
            pair=best.pair,
            origin=pair.origin,
            data=f"{pair.data!r:.300}",
            neighbour=f"{pair.neighbour!r:.300}",
            direction="forward",
            event=f"no single event: bets on {best.runs} runs of this pair raised the stake by exp({best.log_e:.4g})",
            hits=None,
            trials=None,
            neighbour_hits=None,
            neighbour_trials=None,
        ),
        bound="betting",
        distinguisher="betting",
        relation=request.relation.value if request.relation else None,
        seed=request.seed,
        design="sequential",
        budget={"used": found.runs_used, "allowed": allowed},
        errors={"verdict": gamma, "epsilon_lower": gamma},
        scores=(),
        origins=tuple(pair.origin for pair in request.pairs),
        claim_id=claim.claim_id,
        warnings=request.warnings,
    )

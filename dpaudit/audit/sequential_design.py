"""Audit by bets instead of events, until the claim is refuted or the budget is spent."""

from __future__ import annotations

from dpaudit.audit.evidence import Observations
from dpaudit.audit.finding import PrivacyFinding, Witness
from dpaudit.audit.power import MASSES, Power
from dpaudit.audit.reduction import wide_limits
from dpaudit.audit.request import Request
from dpaudit.audit.schedule import leading_pair_runs
from dpaudit.audit.sequential_audit import LEAST_RUNS, audit_sequential
from dpaudit.contract import Direction
from dpaudit.errors import InputError
from dpaudit.events.event import Bets
from dpaudit.running.wide_outputs import knowing

__all__ = ["sequential_finding"]


def sequential_finding(request: Request) -> PrivacyFinding:
    """Bet against the claim until it is refuted or the budget is spent.

    The verdict and `epsilon_lower` are two statements, so each has half of the error probability. What is detectable is
    what bets on one given event, of one pair that leads from the start, refute within all the runs allowed.
    """
    gamma, claim, allowed = request.gamma / 2, request.claim, _allowed(request)
    bits = request.options.float_bits
    betting = max(LEAST_RUNS, allowed - 2 * request.check_runs)
    time = {"over": request.clock.over} if request.clock else {}
    sampler = knowing(request.sampler, request.hygiene.shown()) if request.hygiene else request.sampler
    found = audit_sequential(sampler, request.pairs, claim, runs=betting, gamma=gamma, float_bits=bits, **time)
    # Where the time was over, no more could be detected than by the runs that were made.
    able = found.runs_used if request.clock and request.clock.stopped.looks else betting
    best = max(found.pairs, key=lambda pair: (pair.log_e, -pair.pair))
    # Bets have no single event and no counts; the witness is the pair that raised the stake most.
    event = Bets(best.runs, best.log_e)
    # Scores take few of the runs, the choice of columns more than can be left out.
    promised = max(0, able - found.fitted) if found.width else able
    return request.finding(
        Power.of_bets(MASSES[0], leading_pair_runs(promised, len(request.pairs)), claim, gamma),
        Observations(found.bet, found.different, found.raised),
        not_looked_at=found.unseen,
        limits=wide_limits(found.width, found.reduced),
        refuted=found.rejected,
        epsilon_lower=found.epsilon_lower,
        selection_trials=0,
        confirmation_trials=found.runs_used // 2,
        pairs=len(request.pairs),
        events=0,
        witness=Witness.of(best.pair, request.pairs[best.pair], Direction.FORWARD, event),
        bound="betting",
        distinguisher="betting",
        design="sequential",
        budget={"used": found.runs_used, "allowed": betting, "checks": request.check_runs},
        errors={"verdict": gamma, "epsilon_lower": gamma},
        scores=(),
    )


def _allowed(request: Request) -> int:
    """Return the runs allowed, both sides of all pairs together; raise `InputError` for too few to bet on."""
    pairs = len(request.pairs)
    allowed = 2 * request.trials * pairs
    if allowed < LEAST_RUNS:
        least = -(-LEAST_RUNS // (2 * pairs))
        raise InputError.of("trials", request.trials, f"at least {least} in a sequential audit of {pairs} pair(s)")
    return allowed

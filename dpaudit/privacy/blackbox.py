"""The black-box audit: run a mechanism on neighbouring inputs, choose an event, confirm it on fresh runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.contract import Relation
from dpaudit.privacy.detectable import detectable_epsilon
from dpaudit.privacy.request import LawRatios, Request, resolve_claim
from dpaudit.privacy.sampling import chunk_jobs, run_jobs
from dpaudit.privacy.selection import ChosenEvent, Selector
from dpaudit.results import PrivacyFinding, Witness

__all__ = ["audit_privacy"]


def audit_privacy(
    mechanism: Any,
    pairs: Sequence[Any] | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    trials: int = 100_000,
    confidence: float = 0.95,
    seed: int = 0,
    n_jobs: int = 1,
    backend: str | None = None,
    batched: bool = False,
    strict: bool = False,
    float_bits: bool = False,
    n: int | None = None,
    relation: Relation | str | None = None,
) -> PrivacyFinding:
    """Test a claim of (epsilon, delta)-differential privacy by running the mechanism on neighbouring inputs.

    Some of the runs choose the pair, the direction and the event; fresh runs alone decide. The verdict is "violation"
    if the lower confidence bound on ln((p - delta) / q) exceeds epsilon, p and q being the probabilities of the event
    on the two sides; otherwise "consistent", which says only that nothing was found at these runs, pairs and events.

    Parameters
    ----------
    mechanism : Learner or callable
        A learner, or ``(data, rng) -> output``, or with ``batched=True`` ``(data, rng, size) -> size outputs``. An
        exception raised by an unbatched mechanism is an output like any other.
    pairs : sequence of (data, neighbour) or Pair, optional
        Neighbouring inputs, opaque to dpaudit. For a learner the default is crafted samples of `n` examples.
    epsilon, delta : float, optional
        The claim; a learner's own by default, and delta 0 for a callable.
    trials : int
        Runs on each side of each pair, selection and confirmation together; with several pairs most of the runs go to
        the most promising ones.
    confidence : float
        Of the verdict, over all pairs, events and directions together.
    seed : int
        The root seed; the finding is a function of it and the other arguments, whatever `n_jobs` and `backend`.
    n_jobs, backend
        As for `joblib.Parallel`.
    batched : bool
        Whether a callable makes many runs in one call.
    strict : bool
        Use the certified exact unconditional bound instead of the melded one.
    float_bits : bool
        Look at the bits of floats too: noise added in floating point leaks through them, whatever its scale.
    n : int, optional
        Examples in the crafted samples (the learner's example by default).
    relation : Relation or str, optional
        What neighbours are; the claim's by default. Samples that are not neighbours are refused.

    Returns
    -------
    PrivacyFinding

    Raises
    ------
    InputError
        For a bad argument, before any run that counts.

    Examples
    --------
    >>> def randomised_response(bit, rng):
    ...     return bit if rng.random() < 0.75 else 1 - bit
    >>> finding = audit_privacy(randomised_response, [(0, 1)], epsilon=0.5, trials=4_000)
    >>> finding.verdict
    'violation'
    """
    claim = resolve_claim(mechanism, epsilon, delta, relation)
    request = Request.of(
        mechanism,
        pairs,
        claim,
        relation=relation,
        n=n,
        trials=trials,
        confidence=confidence,
        seed=seed,
        batched=batched,
        strict=strict,
        n_jobs=n_jobs,
        backend=backend,
        float_bits=float_bits,
    )
    selector = Selector(
        request.mechanism, claim.delta, request.gamma, LawRatios(mechanism), float_bits, seed, n_jobs, backend
    )
    chosen = selector.select(request.pairs, request.budget)
    hits = [_confirm(request, chosen, side) for side in (0, 1)]
    likelier, other = hits if chosen.forward else hits[::-1]
    return _finding(request, chosen, likelier, other, request.warnings + selector.warnings(chosen))


@dataclass(frozen=True)
class _Hits:
    """Counts the outputs of a batch that are in the event."""

    chosen: ChosenEvent

    def __call__(self, outputs: Any) -> int:
        return self.chosen.event.count(self.chosen.labeller(outputs))


def _confirm(request: Request, chosen: ChosenEvent, side: int) -> int:
    """Return how many fresh runs on one side are in the event."""
    pair = request.pairs[chosen.pair]
    data = pair.neighbour if side else pair.data
    jobs = chunk_jobs(request.mechanism, data, ("confirm", chosen.pair, side), request.budget.confirmation)
    hits = _Hits(chosen)
    return sum(
        run_jobs(request.mechanism, jobs, hits, seed=request.seed, n_jobs=request.n_jobs, backend=request.backend)
    )


def _finding(
    request: Request, chosen: ChosenEvent, hits: int, others: int, warnings: tuple[str, ...]
) -> PrivacyFinding:
    """Return the finding from the counts of the confirmation part."""
    claim, bound, budget, gamma = request.claim, request.bound, request.budget, request.gamma
    fresh = budget.confirmation
    lower = float(bound.epsilon_lower(hits, fresh, others, fresh, delta=claim.delta, gamma=gamma))
    power = {"epsilon": claim.epsilon, "delta": claim.delta, "gamma": gamma}
    return PrivacyFinding(
        verdict="violation" if lower > claim.epsilon else "consistent",
        epsilon=claim.epsilon,
        delta=claim.delta,
        epsilon_lower=lower,
        detectable_epsilon=detectable_epsilon(bound, chosen.neighbour_mass, fresh, fresh, **power),
        confidence=request.confidence,
        trials=request.trials,
        selection_trials=budget.search + budget.training,
        confirmation_trials=fresh,
        pairs=len(request.pairs),
        events=chosen.compared,
        witness=_witness(request, chosen, hits, others),
        bound=bound.name,
        distinguisher=chosen.distinguisher,
        relation=request.relation.value if request.relation else None,
        seed=request.seed,
        claim_id=claim.claim_id,
        warnings=warnings,
    )


def _witness(request: Request, chosen: ChosenEvent, hits: int, others: int) -> Witness:
    pair, fresh = request.pairs[chosen.pair], request.budget.confirmation
    return Witness(
        pair=chosen.pair,
        origin=pair.origin,
        data=f"{pair.data!r:.300}",
        neighbour=f"{pair.neighbour!r:.300}",
        direction=chosen.direction,
        event=chosen.describe(),
        hits=hits,
        trials=fresh,
        neighbour_hits=others,
        neighbour_trials=fresh,
    )

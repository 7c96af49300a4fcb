"""The black-box audit: run a mechanism on neighbouring inputs, choose an event, confirm it on fresh runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit import seeding
from dpaudit.adapters import Mechanism, as_mechanism
from dpaudit.contract import Learner, Pair, PrivacyClaim, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.check import check_pairs
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.privacy.bounds import Bound, get_bound
from dpaudit.privacy.detectable import detectable_epsilon, trials_needed
from dpaudit.privacy.sampling import chunk_jobs, run_jobs
from dpaudit.privacy.selection import Budget, ChosenEvent, Selector
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
    claim = _claim(mechanism, epsilon, delta, relation)
    kin = claim.relation if isinstance(mechanism, Learner) or relation is not None else None
    seeding.check_seed(seed)
    _check(trials, confidence)
    checked = check_pairs(_default_pairs(mechanism, n, claim.relation) if pairs is None else pairs, kin)
    runner = as_mechanism(mechanism, batched=batched)
    gamma = 1 - confidence
    budget = Budget.of(trials, len(checked))
    bound = get_bound(strict)
    warnings = _warnings(checked, budget, claim, bound, gamma)
    runner(checked[0].data, seeding.generator(seed, "probe"), 2)
    selector = Selector(runner, claim.delta, gamma, _Ratios(mechanism), float_bits, seed, n_jobs, backend)
    chosen = selector.select(checked, budget)
    pair = checked[chosen.pair]
    hits = [_confirm(runner, pair, side, chosen, budget.confirmation, seed, n_jobs, backend) for side in (0, 1)]
    likelier, other = hits if chosen.forward else hits[::-1]
    fresh = budget.confirmation
    lower = float(bound.epsilon_lower(likelier, fresh, other, fresh, delta=claim.delta, gamma=gamma))
    return PrivacyFinding(
        verdict="violation" if lower > claim.epsilon else "consistent",
        epsilon=claim.epsilon,
        delta=claim.delta,
        epsilon_lower=lower,
        detectable_epsilon=detectable_epsilon(
            bound, chosen.neighbour_mass, fresh, fresh, epsilon=claim.epsilon, delta=claim.delta, gamma=gamma
        ),
        confidence=confidence,
        trials=trials,
        selection_trials=budget.search + budget.training,
        confirmation_trials=fresh,
        pairs=len(checked),
        events=chosen.compared,
        witness=Witness(
            pair=chosen.pair,
            origin=pair.origin,
            data=f"{pair.data!r:.300}",
            neighbour=f"{pair.neighbour!r:.300}",
            direction=chosen.direction,
            event=chosen.describe(),
            hits=likelier,
            trials=fresh,
            neighbour_hits=other,
            neighbour_trials=fresh,
        ),
        bound=bound.name,
        distinguisher=chosen.distinguisher,
        relation=kin.value if kin else None,
        seed=seed,
        claim_id=claim.claim_id,
        warnings=warnings + selector.warnings(chosen),
    )


def _claim(mechanism: Any, epsilon: float | None, delta: float | None, relation: Relation | str | None) -> PrivacyClaim:
    """Return the claim to test: what was given, completed by the learner's own."""
    own: PrivacyClaim | None = mechanism.privacy if isinstance(mechanism, Learner) else None
    if epsilon is None:
        if own is None:
            raise InputError("epsilon must be given: the mechanism makes no claim of its own")
        epsilon = own.epsilon
        delta = own.delta if delta is None else delta
    kin = Relation.parse(relation) if relation is not None else (own.relation if own else Relation.REPLACE_ONE)
    return PrivacyClaim(epsilon, 0.0 if delta is None else delta, kin, own.claim_id if own else "")


def _check(trials: int, confidence: float) -> None:
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 10:
        raise InputError(f"trials must be an integer >= 10, got {trials!r}")
    if not 0.5 < confidence < 1:
        raise InputError(f"confidence must be in (0.5, 1), got {confidence!r}")


def _default_pairs(mechanism: Any, n: int | None, relation: Relation) -> list[Pair]:
    if not isinstance(mechanism, Learner):
        raise InputError("pairs must be given: only a learner's neighbouring samples can be crafted")
    return crafted_pairs(mechanism.domain, mechanism.example.n if n is None else n, relation)


def _warnings(pairs: list[Pair], budget: Budget, claim: PrivacyClaim, bound: Bound, gamma: float) -> tuple[str, ...]:
    """Return what limits the finding, or raise if the budget could convict nobody."""
    least = trials_needed(bound, epsilon=claim.epsilon, delta=claim.delta, gamma=gamma)
    if budget.confirmation < least:
        raise InputError(
            f"trials leaves {budget.confirmation} runs a side to confirm, too few to convict anybody of more than "
            f"epsilon = {claim.epsilon}, delta = {claim.delta}: {least} are needed, so trials >= "
            f"{-(-least * 5 // 4) + 1} with one pair"
        )
    same = [i for i, pair in enumerate(pairs) if _identical(pair)]
    return tuple(f"pair {i}: both inputs are the same, so it can show no leak" for i in same)


def _identical(pair: Pair) -> bool:
    try:
        return bool(pair.data == pair.neighbour)
    except (ValueError, TypeError):  # arrays compare element by element
        return False


@dataclass(frozen=True)
class _Ratios:
    """The log-likelihood ratios of a pair by the learner's own law; they order events, and decide nothing."""

    mechanism: Any

    def __call__(self, pair: Pair) -> Mapping[Any, float] | None:
        law = getattr(self.mechanism, "law", None)
        if law is None:
            return None
        try:
            first, second = law(pair.data), law(pair.neighbour)
        except InputError:  # the law is out of reach at this size; sampling is not
            return None
        logs = [dict(zip(side.atoms, side.log_prob.tolist(), strict=True)) for side in (first, second)]
        never = -745.0
        return {
            atom: max(logs[0].get(atom, never), never) - max(logs[1].get(atom, never), never)
            for atom in {*logs[0], *logs[1]}
        }


@dataclass(frozen=True)
class _Hits:
    """Counts the outputs of a batch that are in the event."""

    chosen: ChosenEvent

    def __call__(self, outputs: Any) -> int:
        return self.chosen.event.count(self.chosen.labeller(outputs))


def _confirm(
    runner: Mechanism,
    pair: Pair,
    side: int,
    chosen: ChosenEvent,
    runs: int,
    seed: int,
    n_jobs: int,
    backend: str | None,
) -> int:
    """Return how many of `runs` fresh runs on one side are in the event."""
    jobs = chunk_jobs(runner, pair.neighbour if side else pair.data, ("confirm", chosen.pair, side), runs)
    return sum(run_jobs(runner, jobs, _Hits(chosen), seed=seed, n_jobs=n_jobs, backend=backend))

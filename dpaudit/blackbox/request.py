"""What an audit is asked to do, checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpaudit import seeding
from dpaudit.adapters import Mechanism, as_mechanism
from dpaudit.arguments import LEAST_TRIALS, check_jobs, read_integer, read_number
from dpaudit.blackbox.preflight import preflight
from dpaudit.blackbox.search import Budget
from dpaudit.bounds.base import Bound, Unconditional, get_bound
from dpaudit.bounds.counts import MAX_RUNS
from dpaudit.bounds.detectable import trials_needed
from dpaudit.bounds.unconditional import MAX_STRICT_RUNS
from dpaudit.contract import HasLaw, Learner, Pair, PrivacyClaim, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.check import check_pairs, check_samples
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.neighbours.local import SampleMoves

__all__ = ["CURVE_SHARE", "LawRatios", "Request", "resolve_claim"]

CURVE_SHARE = 0.2
"""The part of the error probability that a curve has where one is asked for."""


@dataclass(frozen=True)
class Request:
    """A black-box audit with all its arguments resolved.

    Attributes
    ----------
    source : Learner or callable
        What was given.
    mechanism : Mechanism
        The same, batched.
    pairs : tuple of Pair
        The neighbouring inputs.
    claim : PrivacyClaim
        What is tested.
    relation : Relation or None
        What the pairs were checked against; None where it is unknown.
    trials, confidence, seed, n_jobs, backend, float_bits, curve
        As for `audit_privacy`.
    bound : Bound
        What turns counts into a lower bound.
    moves : callable or None
        Proposes variations of a pair, where pairs were crafted.
    notes : tuple of str
        What a few runs before the audit gave reason to warn of.
    """

    source: Any
    mechanism: Mechanism
    pairs: tuple[Pair, ...]
    claim: PrivacyClaim
    relation: Relation | None
    trials: int
    confidence: float
    seed: int
    n_jobs: int
    backend: str | None
    float_bits: bool
    curve: bool
    bound: Bound
    moves: SampleMoves | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        source: Any,
        pairs: Sequence[Any] | None,
        claim: PrivacyClaim,
        *,
        relation: Relation | str | None,
        n: int | None,
        trials: int,
        confidence: float,
        seed: int,
        batched: bool,
        strict: bool,
        probe: Any,
        **options: Any,
    ) -> Request:
        """Check the arguments of `audit_privacy` and resolve its defaults; raise `InputError` for bad ones."""
        seed, trials = seeding.check_seed(seed), read_integer("trials", trials, LEAST_TRIALS)
        confidence = read_number("confidence", confidence, 0.5, 1)
        check_jobs(options["n_jobs"], options["backend"])
        known = claim.relation if isinstance(source, Learner) or relation is not None else None
        if pairs is not None and n is not None:
            told = "{n} must be left out where {pairs} are given: it is the size of crafted samples; got {given}"
            raise InputError(told, names=("n", "pairs"), value=n, given=repr(n))
        checked = check_pairs(_default_pairs(source, n, claim.relation) if pairs is None else pairs, known)
        if isinstance(source, Learner):
            check_samples(checked)
        mechanism = as_mechanism(source, batched=batched, probe=probe)
        request = cls(
            source,
            mechanism,
            tuple(checked),
            claim,
            known,
            trials,
            confidence,
            seed,
            bound=get_bound(strict),
            moves=SampleMoves(source.domain, seed) if pairs is None else None,
            **options,
        )
        request._check_power()
        return replace(request, notes=preflight(mechanism, checked, seed))

    @property
    def gamma(self) -> float:
        """The probability of error that the finding may have in all."""
        return 1 - self.confidence

    @property
    def verdict_gamma(self) -> float:
        """The probability of error of the verdict alone: a curve has a share of `gamma`."""
        return self.gamma * (1 - CURVE_SHARE) if self.curve else self.gamma

    @property
    def budget(self) -> Budget:
        """How the runs are spent."""
        return Budget.of(self.trials, len(self.pairs), self.moves is not None)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What limits the finding from the start."""
        same = [i for i, pair in enumerate(self.pairs) if _identical(pair)]
        return (*self.notes, *(f"pair {i}: both inputs are the same, so it can show no leak" for i in same))

    def _check_power(self) -> None:
        """Raise if the budget could detect nothing."""
        epsilon, delta, runs = self.claim.epsilon, self.claim.delta, self.budget.confirmation
        if isinstance(self.bound, Unconditional) and runs > MAX_STRICT_RUNS:
            raise InputError(
                "{strict:=True} takes at most {most:.0f} confirmation runs a side; {trials:={given}} with "
                "{pairs} pair(s) makes {runs}: lower {trials}, or leave {strict} out",
                names=("trials", "strict"),
                value=self.trials,
                most=MAX_STRICT_RUNS,
                given=self.trials,
                pairs=len(self.pairs),
                runs=runs,
            )
        if runs > MAX_RUNS:
            raise InputError(
                "{trials:={given}} makes {runs} runs a side to confirm, and the bounds' numerical error has been "
                "measured up to {most:g}: lower {trials}",
                names=("trials",),
                value=self.trials,
                given=self.trials,
                runs=runs,
                most=MAX_RUNS,
            )
        least = trials_needed(self.bound, epsilon=epsilon, delta=delta, gamma=self.verdict_gamma)
        if runs < least:
            raise InputError(
                "{trials:={given}} leaves {runs} runs a side to confirm, too few to detect more than epsilon = "
                "{epsilon}, delta = {delta}: {least} are needed, so {trials} >= {enough} with one pair",
                names=("trials",),
                value=self.trials,
                given=self.trials,
                runs=runs,
                epsilon=epsilon,
                delta=delta,
                least=least,
                enough=-(-least * 5 // 4) + 1,
            )


def resolve_claim(
    source: Any, epsilon: float | None, delta: float | None, relation: Relation | str | None
) -> PrivacyClaim:
    """Return the claim to test: what was given, completed by the learner's own."""
    own: PrivacyClaim | None = source.privacy if isinstance(source, Learner) else None
    if delta is None:
        delta = own.delta if own else 0.0
    if epsilon is None:
        if own is None:
            raise InputError("{epsilon} must be given: the mechanism makes no claim of its own", names=("epsilon",))
        epsilon = own.epsilon
    kin = Relation.parse(relation) if relation is not None else (own.relation if own else Relation.REPLACE_ONE)
    # The theorem's name stands only where the theorem's own statement is tested.
    stated = own is not None and (epsilon, delta, kin) == (own.epsilon, own.delta, own.relation)
    return PrivacyClaim(epsilon, delta, kin, own.claim_id if own and stated else "")


def _default_pairs(source: Any, n: int | None, relation: Relation) -> list[Pair]:
    if not isinstance(source, Learner):
        raise InputError(
            "{pairs} must be given: only a learner's neighbouring samples can be crafted", names=("pairs",)
        )
    return crafted_pairs(source.domain, source.instance.n if n is None else n, relation)


def _identical(pair: Pair) -> bool:
    try:
        return bool(pair.data == pair.neighbour)
    except (ValueError, TypeError):  # arrays compare element by element
        return False


@dataclass(frozen=True)
class LawRatios:
    """The log-likelihood ratios of a pair by the learner's own law; they order events, and decide nothing."""

    mechanism: Any

    def __call__(self, pair: Pair) -> Mapping[Any, float] | None:
        """Return ln(Pr[output | data] / Pr[output | neighbour]) by output; None where the law is out of reach."""
        if not isinstance(self.mechanism, HasLaw):
            return None
        try:
            first, second = self.mechanism.law(pair.data), self.mechanism.law(pair.neighbour)
        except InputError:  # the law is out of reach at this size; sampling is not
            return None
        logs = [dict(zip(side.atoms, side.log_prob.tolist(), strict=True)) for side in (first, second)]
        never = -745.0
        return {
            atom: max(logs[0].get(atom, never), never) - max(logs[1].get(atom, never), never)
            for atom in {*logs[0], *logs[1]}
        }

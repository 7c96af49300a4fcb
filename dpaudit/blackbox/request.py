"""Hold a black-box audit that is asked for, with all its arguments checked and resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from dpaudit.blackbox.budget import Budget
from dpaudit.blackbox.finding import PrivacyFinding
from dpaudit.blackbox.power import Power
from dpaudit.bounds.base import Bound
from dpaudit.bounds.counts import MAX_RUNS
from dpaudit.bounds.detectable import trials_needed
from dpaudit.contract import Pair, PrivacyClaim, PrivacyVerdict, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.local import SampleMoves
from dpaudit.sampling import Sampler

__all__ = ["Request"]

CURVE_SHARE = 0.2
"""The part of the error probability that a curve has where one is asked for."""


@dataclass(frozen=True)
class Request:
    """A black-box audit with all its arguments resolved.

    Attributes
    ----------
    source : Learner or callable
        What was given.
    sampler : Sampler
        The same as a batched mechanism, with the root seed and the workers.
    pairs : tuple of Pair
        The neighbouring inputs.
    claim : PrivacyClaim
        What is tested.
    relation : Relation or None
        What the pairs were checked against; None where it is unknown.
    trials, confidence, float_bits, curve
        As for `audit_privacy`.
    bound : Bound
        What turns counts into a lower bound.
    moves : callable or None
        Proposes variations of a pair, where pairs were crafted.
    notes : tuple of str
        What a few runs before the audit gave reason to warn of.
    wide : bool
        Whether outputs hold more numbers than scores can be fitted on.
    """

    source: Any
    sampler: Sampler
    pairs: tuple[Pair, ...]
    claim: PrivacyClaim
    relation: Relation | None
    trials: int
    confidence: float
    float_bits: bool
    curve: bool
    bound: Bound
    moves: SampleMoves | None = None
    notes: tuple[str, ...] = ()
    wide: bool = False

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
        """The runs on each side, by purpose."""
        return Budget.of(self.trials, len(self.pairs), local=self.moves is not None, wide=self.wide)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The limits of the finding that are known from the start."""
        same = [i for i, pair in enumerate(self.pairs) if _identical(pair)]
        return (*self.notes, *(f"pair {i}: both inputs are the same, so it can show no leak" for i in same))

    def finding(self, power: Power, *, refuted: bool, **found: Any) -> PrivacyFinding:
        """Return the finding: whether the claim was refuted, the audit's power, and all else that it `found`."""
        return PrivacyFinding(
            verdict=PrivacyVerdict.VIOLATION if refuted else PrivacyVerdict.CONSISTENT,
            epsilon=self.claim.epsilon,
            delta=self.claim.delta,
            detectable_epsilon=power.epsilon,
            detectable_delta=power.delta,
            frontier=power.frontier,
            confidence=self.confidence,
            trials=self.trials,
            relation=self.relation,
            seed=self.sampler.seed,
            origins=tuple(pair.origin for pair in self.pairs),
            claim_id=self.claim.claim_id,
            warnings=self.warnings,
            **found,
        )

    def check_power(self) -> None:
        """Raise `InputError` if the budget is more than the bound can do, or too small to detect anything."""
        runs, most = self.budget.confirmation, self.bound.max_runs
        if runs > most:
            other = ", or take {bound:=melded}" if most < MAX_RUNS else ""
            self._refuse(f"and the {self.bound.name} bound takes at most {most}: lower {{trials}}{other}")
        epsilon, delta = self.claim.epsilon, self.claim.delta
        least = trials_needed(self.bound, epsilon=epsilon, delta=delta, gamma=self.verdict_gamma)
        if runs < least:
            self._refuse(
                f"too few to detect any leak of more than epsilon = {epsilon}, delta = {delta}: {least} are needed, so "
                f"{{trials}} must be at least {-(-least * 5 // 4) + 1} with one pair"
            )

    def _refuse(self, why: str) -> NoReturn:
        """Raise `InputError` for the number of runs."""
        made = f"{self.trials} with {len(self.pairs)} pair(s) makes {self.budget.confirmation} runs a side to confirm"
        raise InputError(f"{{trials}} of {made}, {why}", value=self.trials, names=("trials", "bound"))


def _identical(pair: Pair) -> bool:
    try:
        return bool(pair.data == pair.neighbour)
    except (ValueError, TypeError):  # arrays compare element by element
        return False

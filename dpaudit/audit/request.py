"""Hold a black-box audit that is asked for, with all its arguments checked and resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from msgspec import UNSET

from dpaudit.audit.arguments import Moves
from dpaudit.audit.budget import Budget
from dpaudit.audit.checks import Check
from dpaudit.audit.evidence import Observations, gaps_of, identical, verdict_of
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.hygiene import Hygiene, runs_a_side
from dpaudit.audit.options import Options
from dpaudit.audit.power import Power
from dpaudit.bounds.base import Bound
from dpaudit.bounds.counts import MAX_RUNS
from dpaudit.bounds.detectable import trials_needed
from dpaudit.clock import Clock
from dpaudit.contract import Pair, PrivacyClaim, Relation
from dpaudit.errors import InputError
from dpaudit.running.sampling import Sampler

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
    options : Options
        The options that were given, checked.
    trials : int
        Runs on each side of each pair: those of the options, or fewer where the time is limited.
    bound : Bound
        What turns counts into a lower bound.
    moves : callable or None
        Proposes variations of a pair, where pairs were crafted, or made from data.
    width : int
        The numbers of the widest row in an output, where they are more than scores can be fitted on; else 0.
    hygiene : Hygiene or None
        What makes the last runs that check the mechanism's randomness and state.
    checks : tuple of Check
        What the first ones said.
    clock : Clock or None
        The time of the audit, where it is limited.
    """

    source: Any
    sampler: Sampler
    pairs: tuple[Pair, ...]
    claim: PrivacyClaim
    relation: Relation | None
    options: Options
    trials: int
    bound: Bound
    moves: Moves | None = None
    width: int = 0
    hygiene: Hygiene | None = None
    checks: tuple[Check, ...] = ()
    clock: Clock | None = None

    @property
    def gamma(self) -> float:
        """The probability of error that the finding may have in all."""
        return 1 - self.options.confidence

    @property
    def verdict_gamma(self) -> float:
        """The probability of error of the verdict alone: a curve has a share of `gamma`."""
        return self.gamma * (1 - CURVE_SHARE) if self.options.curve else self.gamma

    @property
    def budget(self) -> Budget:
        """The runs on each side, by purpose."""
        moves = self.moves is not None
        return Budget.of(self.trials, len(self.pairs), local=moves, wide=self.wide, checks=self.check_runs)

    @property
    def own(self) -> bool:
        """Whether the mechanism is declared to have randomness of its own."""
        return self.options.randomness == "own"

    @property
    def wide(self) -> bool:
        """Whether outputs hold rows of more numbers than scores can be fitted on."""
        return self.width > 0

    @property
    def check_runs(self) -> int:
        """The runs on each side that check randomness and state."""
        return runs_a_side(self.trials, self.sampler.mechanism.batched, self.own)

    @property
    def least_runs(self) -> int:
        """The least number of runs a side that can refute the claim at all: by one event that has all of the error."""
        claim = self.claim
        return trials_needed(self.bound, epsilon=claim.epsilon, delta=claim.delta, gamma=self.verdict_gamma)

    def _warnings(self, limits: tuple[str, ...]) -> tuple[str, ...]:
        """Return what a reader must know: what could not be learned, not be tried, or not be finished in time."""
        same = [i for i, pair in enumerate(self.pairs) if identical(pair)]
        return (
            *limits,
            *(self.hygiene.warnings if self.hygiene else ()),
            *(f"pair {i}: both inputs are the same, so it can show no leak" for i in same),
            *(self.clock.warnings if self.clock else ()),
        )

    def finding(
        self,
        power: Power,
        seen: Observations,
        *,
        refuted: bool,
        not_looked_at: tuple[str, ...] = (),
        limits: tuple[str, ...] = (),
        **found: Any,
    ) -> PrivacyFinding:
        """Return the finding: whether the claim was refuted, the audit's power and limits, and all else it `found`."""
        checks = self.hygiene.close(self.checks) if self.hygiene else self.checks
        gaps = gaps_of(
            seen,
            pairs=self.pairs,
            confirming=found["confirmation_trials"],
            least=self.least_runs,
            detectable=power.epsilon,
            not_looked_at=not_looked_at,
            checks=checks,
        )
        return PrivacyFinding(
            verdict=verdict_of(refuted, gaps),
            gaps=gaps,
            not_looked_at=not_looked_at,
            checks=checks,
            epsilon=self.claim.epsilon,
            delta=self.claim.delta,
            detectable_epsilon=power.epsilon,
            detectable_at=power.at,
            detectable_delta=power.delta,
            frontier=power.frontier,
            confidence=self.options.confidence,
            trials=self.trials,
            relation=self.relation,
            seed=self.sampler.seed,
            origins=tuple(pair.origin for pair in self.pairs),
            claim_id=self.claim.claim_id,
            warnings=self._warnings(limits),
            stopped=self.clock.stopped if self.clock else UNSET,
            **found,
        )

    def check_power(self) -> None:
        """Raise `InputError` if the budget is more than the bound can do, or no number of runs can refute the claim."""
        runs, most = self.budget.confirmation, self.bound.max_runs
        if runs > most:
            other = ", or take {bound:=melded}" if most < MAX_RUNS else ""
            self._refuse(f"and the {self.bound.name} bound takes at most {most}: lower {{trials}}{other}")
        _ = self.least_runs

    def _refuse(self, why: str) -> NoReturn:
        """Raise `InputError` for the number of runs."""
        made = f"{self.trials} with {len(self.pairs)} pair(s) makes {self.budget.confirmation} runs a side to confirm"
        raise InputError(f"{{trials}} of {made}, {why}", value=self.trials, names=("trials", "bound"))

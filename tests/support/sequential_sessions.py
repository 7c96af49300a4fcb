"""Sequential audits of mechanisms by themselves, without checks of arguments, options and what findings add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from dpaudit.audit.clock import Clock
from dpaudit.audit.pair_bets import PairBets
from dpaudit.audit.parameters import LOOK
from dpaudit.audit.sequential_design import Session
from dpaudit.contract import Pair, PrivacyClaim
from dpaudit.running.adapters import Mechanism
from dpaudit.running.sampling import Sampler


@dataclass(frozen=True)
class Look:
    """After one batch: runs so far, the pair just run, log E against the claim, the bound on epsilon."""

    runs: int
    pair: int
    log_e: float
    epsilon_lower: float


class RecordedSession(Session):
    """A session that remembers its `looks`, one for each batch."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.looks: list[Look] = []

    def _bet(self, bets: PairBets, known: Any = None) -> None:
        super()._bet(bets, known)
        log_e = float(self.log_evidence[self.target])
        self.looks.append(Look(self.runs_used, bets.index, log_e, self.epsilon_lower))


def request_of(mechanism: Mechanism, pairs: Sequence[Pair], claim: PrivacyClaim, seed: int = 0, **workers: Any) -> Any:
    """Return what a session and its bets read of a request; its clock never stops.

    That runs of one call are independent is promised, so that no further calls are made to compare them.
    """
    return SimpleNamespace(
        sampler=Sampler(replace(mechanism, promised=True), seed, **workers),
        pairs=pairs,
        claim=claim,
        look=LOOK,
        clock=Clock(None),
        shortlist=None,
    )


def run_session(
    mechanism: Mechanism, pairs: Sequence[Pair], claim: PrivacyClaim, *, runs: int, gamma: float, **sampling: Any
) -> RecordedSession:
    """Return a session that has run, of at most `runs` runs at level `gamma`."""
    session = RecordedSession(request_of(mechanism, pairs, claim, **sampling), runs, gamma)
    session.run()
    return session

"""Search the pair to confirm: successive halving of those given, then variations of the best one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpaudit.audit.candidate import Candidate, best_event
from dpaudit.audit.request import Request
from dpaudit.audit.runs import PilotRuns, count_runs

__all__ = ["Found", "search"]

LOCAL_ROUNDS = 3
"""Rounds in which the best pair meets variations of itself: of more of them each would have fewer runs."""
LOCAL_PHASE = 100
"""The first local round's part of the address, above that of any round of halving: the best so far gets fresh runs."""


@dataclass(frozen=True)
class Found:
    """The most promising pair, how many pairs were tried, and how many events were compared to find it."""

    candidate: Candidate
    pairs: int
    compared: int


def search(request: Request, looked: PilotRuns) -> Found:
    """Return the most promising pair.

    In each of ceil(log2 pairs) rounds the surviving pairs share an equal part of the halving budget, and the half with
    the greater expected bound survives. Then, if variations of a pair are proposed, three rounds compare the best so
    far with them on equally many fresh runs.
    """
    budget, shared = request.budget, looked.pilot.shared
    alive = [Candidate(i, pair, shared, looked.sampler) for i, pair in enumerate(request.pairs)]
    compared, pairs = 0, len(alive)
    rounds = math.ceil(math.log2(pairs))
    for _ in range(rounds):
        ranked, more = _ranked(request, alive, budget.halving // (rounds * len(alive)))
        alive, compared = ranked[: (len(alive) + 1) // 2], compared + more
    (winner,) = alive
    for step in range(LOCAL_ROUNDS if request.moves and budget.local else 0):
        nearby = request.moves(winner.pair, step) if request.moves else []
        rivals = [Candidate(winner.index, winner.pair, shared, looked.sampler, LOCAL_PHASE + step)]
        rivals += [
            Candidate(pairs + i, pair, shared, looked.sampler, LOCAL_PHASE + step) for i, pair in enumerate(nearby)
        ]
        (winner, *_), more = _ranked(request, rivals, budget.local // (LOCAL_ROUNDS * len(rivals)))
        compared, pairs = compared + more, pairs + len(nearby)
    return Found(winner, pairs, compared)


def _ranked(request: Request, candidates: Sequence[Candidate], runs: int) -> tuple[list[Candidate], int]:
    """Return the candidates after more runs, the most promising first, and how many events were compared.

    Where none promises anything, one whose outputs vary comes before a constant one, which could show nothing.
    """
    count_runs(request, candidates, runs)
    events = [best_event(request, candidate) for candidate in candidates]

    def rank(i: int) -> tuple[float, bool, float, int]:
        expected = events[i].expected
        return -max(expected, 0.0), not candidates[i].varies, -expected, candidates[i].index

    order = sorted(range(len(events)), key=rank)
    return [candidates[i] for i in order], sum(event.compared for event in events)

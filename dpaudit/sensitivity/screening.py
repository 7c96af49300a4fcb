"""Choose the pair that runs are spent on: the one whose recorded values the claim's noise hides least."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpaudit.bounds.tangent import gaussian_delta
from dpaudit.contract import Pair
from dpaudit.sensitivity.recorded import RecordedMechanism, Run, ValueMove, loss_of_map, released
from dpaudit.sensitivity.search import Search

CLEAR = 1.05
"""The least loss, in units of the claim, that speaks for a pair: of a claim that is tight every pair has 1 or so."""
RIVALS, SUSPECTS = 8, 4
"""The most pairs that are run because of their loss, and those for each other reason."""


@dataclass(frozen=True)
class Shortlist:
    """The pairs that runs are spent on, each with its place among those given, or their number for any other pair.

    Of one pair it is `sure` that a released value loses more than the claim; else bets decide among the pairs. `runs`
    were made, none of which is counted by the audit, on `tried` pairs.
    """

    pairs: tuple[tuple[int, Pair], ...]
    sure: bool
    runs: int
    tried: int


@dataclass(frozen=True)
class _Loss:
    """The loss of a pair in units of the claim, as far as its noisy values show it, and whether these are released."""

    size: float
    released: bool = False


class _Screening:
    """The pairs seen so far, by what speaks for them."""

    def __init__(self, run: Run, epsilon: float, delta: float, seed: int) -> None:
        self.mechanism = RecordedMechanism(run, seed)
        self.epsilon, self.delta = epsilon, delta
        self.losing: list[tuple[float, Pair]] = []
        self.suspects: dict[str, list[Pair]] = {"beside": [], "control flow": []}

    def measure(self, pair: Pair) -> _Loss | None:
        """Return the loss of a pair; None where it is not known."""
        diverged = self.mechanism.flow_diverged
        found = self.mechanism.measure(pair)
        if found is None:
            if self.mechanism.flow_diverged > diverged:
                self.suspects["control flow"].append(pair)
            return None
        if found.beside and not found.recorded.untraced:
            self.suspects["beside"].append(pair)
        losses = [(released(found, move), _loss(move, self.epsilon, self.delta)) for move in found.of_noise]
        together = sum(loss for alone, loss in losses if alone)
        hidden = max((loss for alone, loss in losses if not alone), default=0.0)
        loss = _Loss(max(together, hidden), together >= hidden)
        if loss.size > CLEAR:
            self.losing.append((loss.size, pair))
        return loss


def shortlist(
    run: Run,
    pairs: Sequence[Pair],
    more: Sequence[Pair],
    moves: Callable[[Pair, int], list[Pair]] | None,
    epsilon: float,
    delta: float,
    seed: int,
) -> Shortlist | None:
    """Return the pairs that recorded noise speaks for; None where it speaks for none.

    They are the pairs whose values lose most: those of released values add up; of others, of which a mechanism may use
    the least part, as the noisy maximum does, the coordinate that loses most counts. Then pairs on which the mechanism
    raises an exception for one input alone, or has another output though all noisy values are equal (unless some draws
    were added to no value that is known, by which outputs may differ), and pairs on which it draws in another order.
    Where something random is not recorded, moves of values say nothing, and there is no list.
    """
    screening = _Screening(run, epsilon, delta, seed)
    search = Search(screening.measure)
    try:
        search.look([*pairs, *more])
        if moves is not None:
            search.vary(moves)
    except SystemExit:  # the audit meets it again, and says on which input
        return None
    best = search.best
    sure = best is not None and best[1].released and best[1].size > CLEAR
    if best is not None and sure:
        chosen = [best[0]]
    else:
        chosen = [pair for _, pair in sorted(screening.losing, key=lambda one: -one[0])][:RIVALS]
    if not sure and not screening.mechanism.untraced:
        chosen += [pair for suspects in screening.suspects.values() for pair in suspects[:SUSPECTS]]
    if not chosen or not all(map(screening.mechanism.steady, (pairs[0], chosen[0]))):
        return None
    places = {id(pair): i for i, pair in enumerate(pairs)}
    found = {id(pair): (places.get(id(pair), len(pairs)), pair) for pair in chosen}
    return Shortlist(tuple(found.values()), sure, screening.mechanism.runs, search.tried)


def _loss(move: ValueMove, epsilon: float, delta: float) -> float:
    """Return the loss of a noisy value in units of the claim; 0 where it is not known."""
    distance = move.distance.lower
    if not distance or math.isinf(distance):
        return distance
    if move.primitive.loss is not None:
        loss = loss_of_map(move, delta)
        return loss / epsilon if loss is not None and epsilon else 0.0
    if move.declared is not None:
        return distance / float(move.declared) if move.declared else math.inf
    if not move.scale:
        return 0.0
    ratio = distance / move.scale
    if move.primitive.family == "gaussian" and delta:
        return float(gaussian_delta(ratio, epsilon)) / delta
    return ratio / epsilon if epsilon else math.inf

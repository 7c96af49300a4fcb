"""Choose the pair that runs are spent on: the one whose recorded values the claim's noise hides least."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpaudit.bounds.tangent import gaussian_delta
from dpaudit.contract import Pair
from dpaudit.outputs.canonical import Raised
from dpaudit.sensitivity.metrics import ROUNDING
from dpaudit.sensitivity.recorded import RecordedMechanism, Run, ValueMove, loss_of_map, released
from dpaudit.sensitivity.search import Search


@dataclass(frozen=True)
class Favourite:
    """A pair that seems to lose more than the claim by its noisy values.

    `index` is its place among the pairs given, or their number for a variation of one; `runs` were made, none of which
    is counted by the audit, on `tried` pairs.
    """

    pair: Pair
    index: int
    runs: int
    tried: int


@dataclass(frozen=True)
class _Loss:
    """The loss of a pair in units of the claim, as far as its noisy values show it."""

    size: float


def favourite(
    run: Run,
    pairs: Sequence[Pair],
    moves: Callable[[Pair, int], list[Pair]] | None,
    epsilon: float,
    delta: float,
    seed: int,
) -> Favourite | None:
    """Return the pair that loses most by its recorded values; None where none seems to lose more than the claim.

    The losses of values that are released add up; of others, of which a mechanism may use the least part, as the
    noisy maximum does, the coordinate that loses most counts. A pair on which the mechanism raises an exception for one
    input alone, or has another output though all noisy values are equal, comes before all others, unless some draws
    were added to no value that is known: outputs may then differ by these.
    """
    mechanism = RecordedMechanism(run, seed)

    def measure(pair: Pair) -> _Loss | None:
        found = mechanism.measure(pair)
        if found is None:
            return None
        covered = not found.recorded.untraced
        if covered and (found.beside or any(isinstance(one, Raised) for one in found.outputs)):
            return _Loss(math.inf)
        losses = [
            (released(found, move), _loss(move, epsilon, delta)) for move in found.moves if not move.value.partial
        ]
        together = sum(loss for alone, loss in losses if alone)
        return _Loss(max([together, *(loss for alone, loss in losses if not alone)]))

    search = Search(measure)
    try:
        search.look(pairs)
        if moves is not None:
            search.vary(moves)
    except SystemExit:  # the audit meets it again, and says on which input
        return None
    most = 1 + float(ROUNDING)
    best = search.found(lambda loss: loss.size > most)
    if best is None or best[1].size <= most:
        return None
    index = next((i for i, pair in enumerate(pairs) if pair is best[0]), len(pairs))
    return Favourite(best[0], index, mechanism.runs, search.tried)


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

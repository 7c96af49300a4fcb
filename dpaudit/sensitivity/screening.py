"""Choose the pair that runs are spent on: the one whose recorded values the claim's noise hides least."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dpaudit.bounds.tangent import gaussian_delta
from dpaudit.contract import Pair
from dpaudit.errors import ToolFault
from dpaudit.running.child import waiting_libraries
from dpaudit.running.processes import APART, ChildDied
from dpaudit.running.workers import in_own_process
from dpaudit.sensitivity.replayed_noise import REPEATS, ReplayedMechanism, Run, ValueMove, loss_of_map, stands_in
from dpaudit.sensitivity.search import Moves, Search

# The least loss, in units of the claim, that speaks for a pair: of a claim that is tight every pair has 1 or so.
CLEAR = 1.05
# The most pairs that are run because of their loss.
RIVALS = 8
# The most pairs that are run for each other reason.
SUSPECTS = 4


@dataclass(frozen=True)
class Shortlist:
    """The pairs that runs are spent on, each with its place among those given, or their number for any other pair.

    Of one pair it is `sure` that a released value loses more than the claim; else bets decide among the pairs, or among
    all if none is listed. `runs` were made, which enter no bound, on `tried` pairs: on `looked` of those given,
    and on variations of them. If the time was over, it `ended` after so many.
    """

    pairs: tuple[tuple[int, Pair], ...]
    sure: bool
    runs: int
    tried: int
    looked: int = 0
    ended: int | None = None


class _Spent(Exception):
    """There are no runs, or there is no time, left to measure another pair."""


# Says, after so many pairs, whether there is no time for another one and for so many runs at the end.
Over = Callable[[int, int], bool]


# The runs, at most, that look whether all that is random is recorded: on both inputs of two pairs.
STEADY_RUNS = 4 * (1 + REPEATS)


class _Screening:
    """The pairs seen so far, by what speaks for them; of `most` runs some are kept for `steady`.

    ``over(looked, runs)`` says whether there is no time for another pair, with so many runs that come at the end.
    """

    def __init__(self, run: Run, epsilon: float, delta: float, seed: int, most: int, over: Over) -> None:
        self.over = over
        self.looked = 0
        self.ended: int | None = None
        self.mechanism = ReplayedMechanism(run, seed)
        # Without these runs at the end no pair would be listed, whatever was seen.
        self.most = most - STEADY_RUNS
        self.epsilon = epsilon
        self.delta = delta
        self.losing: list[tuple[float, Pair]] = []
        self.suspects: dict[str, list[Pair]] = {"elsewhere": [], "control flow": []}

    def measure(self, pair: Pair) -> tuple[float, bool] | None:
        """Return what noisy values show of a pair's loss, in units of the claim, and whether these are released.

        None if it is not known. `_Spent` is raised if there are no runs left.
        """
        # These runs are taken out of the trials that were asked for; they are not made in addition.
        if self.mechanism.runs + 2 > self.most:
            raise _Spent
        if self.over(self.looked, STEADY_RUNS):
            self.ended = self.looked
            raise _Spent
        self.looked += 1
        diverged = self.mechanism.flow_diverged
        found = self.mechanism.measure(pair)
        if found is None:
            if self.mechanism.flow_diverged > diverged:
                self.suspects["control flow"].append(pair)
            return None
        if found.elsewhere and not found.recorded.untraced:
            self.suspects["elsewhere"].append(pair)
        # Released values are seen together, and their losses add up (basic composition).
        losses = [
            (stands_in(found.outputs[0], move.value.noisy), _loss(move, self.epsilon, self.delta))
            for move in found.of_noise
        ]
        together = sum(loss for alone, loss in losses if alone)
        hidden = max((loss for alone, loss in losses if not alone), default=0.0)
        loss = max(together, hidden)
        if loss > CLEAR:
            self.losing.append((loss, pair))
        return loss, together >= hidden


# The place of a pair among those given, and the step and the place of each variation by which it is made again.
_Way = tuple[int, tuple[tuple[int, int], ...]]


class _Ways:
    """Moves that remember how each of their pairs was made."""

    def __init__(self, moves: Moves, pairs: Sequence[Pair]) -> None:
        self.moves = moves
        self._kept = list(pairs)
        self.ways: dict[int, _Way] = {id(pair): (i, ()) for i, pair in enumerate(pairs)}

    def __call__(self, pair: Pair, step: int) -> list[Pair]:
        """Return the variations of a pair in a step."""
        made = self.moves(pair, step)
        # So that no other object gets their number, by which they are known.
        self._kept += made
        first, way = self.ways[id(pair)]
        self.ways |= {id(one): (first, (*way, (step, i))) for i, one in enumerate(made)}
        return made

    def again(self, first: int, way: Sequence[tuple[int, int]]) -> Pair:
        """Return the pair that was made in a way."""
        pair = self._kept[first]
        for step, i in way:
            pair = self.moves(pair, step)[i]
        return pair


def shortlist(
    run: Run,
    pairs: Sequence[Pair],
    more: Sequence[Pair],
    moves: Moves | None,
    epsilon: float,
    delta: float,
    seed: int,
    most: int,
    over: Over = lambda looked, runs: False,
) -> Shortlist | None:
    """Return the pairs that at most `most` runs with recorded noise speak for, if any; None if one ended its process.

    In commands the noise is recorded in a process of the mechanism, which sends how pairs are made, and no pairs.

    They are the pairs whose values lose most: those of released values add up; of others the coordinate that loses
    most counts, since a mechanism may use only one, as the noisy maximum does. Then pairs on which the mechanism
    raises an exception for one input alone, or has another output though all noisy values are equal (unless some draws
    were added to no value that is known, by which outputs may differ), and pairs on which it draws in another order.
    If something random is not recorded, moves of values say nothing, and no pair is listed. ``over(looked, runs)``
    says after so many pairs whether there is no time for another one and for so many runs.
    """
    # A copy of this process would wait for ever.
    if most < STEADY_RUNS + 2 or (APART and waiting_libraries()):
        return None
    ways = _Ways(moves or (lambda pair, step: []), [*pairs, *more])

    def search() -> tuple[tuple[list[_Way], bool, int, int], int | None]:
        screening = _Screening(run, epsilon, delta, seed, most, over)
        found = _searched(screening, pairs[0], [*pairs, *more], ways, vary=moves is not None)
        return found, screening.ended

    found: Any = None
    with suppress(ChildDied):
        found = in_own_process(search)
    if found is None:
        return None
    try:
        (chosen, sure, runs, tried), ended = found
        listed = []
        for first, way in chosen:
            # A variation has no place among the pairs that were given.
            place = len(pairs) if way else min(first, len(pairs))
            listed.append((place, ways.again(first, way)))
    except (ValueError, TypeError, LookupError):
        raise ToolFault("the process of the mechanism sent what is no list of pairs") from None
    # Variations come after all that were given.
    looked = min(int(tried), len(pairs) + len(more))
    last = None if ended is None else int(ended)
    return Shortlist(tuple(listed), bool(sure), int(runs), int(tried), looked, last)


def _searched(
    screening: _Screening, first: Pair, pairs: Sequence[Pair], ways: _Ways, *, vary: bool
) -> tuple[list[_Way], bool, int, int]:
    """Return the ways of the pairs that recorded noise speaks for, if any: as `Shortlist` has the pairs themselves."""
    search = Search(screening.measure, lambda found: found[0])
    try:
        with suppress(_Spent):
            search.look(pairs)
            if vary:
                search.vary(ways)
    # The audit meets it again, and says on which input.
    except SystemExit:
        return [], False, screening.mechanism.runs, search.tried
    best = search.best
    sure = best is not None and best[1][0] > CLEAR and best[1][1]
    # Bets on several pairs would spend runs on those that lose less.
    if best is not None and sure:
        chosen = [best[0]]
    else:
        chosen = [pair for _, pair in sorted(screening.losing, key=lambda one: -one[0])][:RIVALS]
        # By draws that were added to no known value outputs may differ though all noisy values are equal.
        if not screening.mechanism.untraced:
            chosen += [pair for suspects in screening.suspects.values() for pair in suspects[:SUSPECTS]]
    # On two pairs, as randomness that is not recorded may show on some inputs only.
    if not chosen or not all(map(screening.mechanism.steady, (first, chosen[0]))):
        return [], False, screening.mechanism.runs, search.tried
    found = list(dict.fromkeys(ways.ways[id(pair)] for pair in chosen))
    return found, sure, screening.mechanism.runs, search.tried


def _loss(move: ValueMove, epsilon: float, delta: float) -> float:
    """Return the loss of a noisy value in units of the claim; 0 if it is not known."""
    distance = move.distance.lower
    if not distance or math.isinf(distance):
        return distance
    if move.primitive.loss is not None:
        loss = loss_of_map(move, delta)
        if loss is None or not epsilon:
            return 0.0
        return loss / epsilon
    # Noise that is calibrated to a declared sensitivity hides a move of that size just so.
    if move.declared is not None:
        if not move.declared:
            return math.inf
        return distance / float(move.declared)
    if not move.scale:
        return 0.0
    ratio = distance / move.scale
    if move.primitive.family == "gaussian" and delta:
        return float(gaussian_delta(ratio, epsilon)) / delta
    return ratio / epsilon if epsilon else math.inf

"""Which pair, which direction, which event: all chosen on runs that the verdict never sees."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpaudit.blackbox.training import Candidate, Trainer
from dpaudit.contract import Pair
from dpaudit.distinguish.discretizers import AsTheyAre, Labeller
from dpaudit.distinguish.families import FORWARD
from dpaudit.distinguish.histogram import LabelEvent, Tally
from dpaudit.distinguish.selected_event import LabelChoice
from dpaudit.event import Event, Interval

__all__ = ["Budget", "ChosenEvent", "select"]

SEARCH_SHARE = 0.3
LOCAL_SHARE = 0.3
TRAINING_SHARE = 0.2
LOCAL_ROUNDS = 3

Moves = Callable[[Pair, int], list[Pair]]


@dataclass(frozen=True)
class Budget:
    """How the runs on each side are spent.

    Attributes
    ----------
    halving : int
        On all given pairs together, to find the most promising one.
    local : int
        On variations of it.
    training : int
        On the pair chosen, to choose the event.
    confirmation : int
        On the same pair, fresh, to decide.
    """

    halving: int
    local: int
    training: int
    confirmation: int

    @classmethod
    def of(cls, trials: int, pairs: int, local: bool = False) -> Budget:
        """Split `trials` times `pairs` runs: 30 % search (none for one pair), then 20 % training."""
        total = trials * pairs
        search = 0 if pairs == 1 else int(SEARCH_SHARE * total)
        nearby = int(LOCAL_SHARE * search) if local else 0
        training = max(1, int(TRAINING_SHARE * (total - search)))
        return cls(search - nearby, nearby, training, total - search - training)

    def as_dict(self) -> dict[str, int]:
        """Return the runs by purpose."""
        return {name: getattr(self, name) for name in ("halving", "local", "training", "confirmation")}

    @property
    def selection(self) -> int:
        """Runs on each side that choose and do not decide."""
        return self.halving + self.local + self.training


@dataclass(frozen=True)
class ChosenEvent:
    """The event that fresh runs will test, with its reserve if it has one, and the training counts that chose them."""

    index: int
    pair: Pair
    labeller: Labeller
    choice: LabelChoice
    training: tuple[Tally, Tally]
    compared: int
    pairs: int
    tried: tuple[str, ...]

    @property
    def event(self) -> LabelEvent:
        """The event over labels."""
        return self.choice.event

    @property
    def forward(self) -> bool:
        """Whether the event is the likelier on the pair's first input."""
        return self.choice.direction == FORWARD

    @property
    def neighbour_mass(self) -> float:
        """The event's probability on the unlikelier side, as the training runs show it."""
        counts = self.training[1 if self.forward else 0]
        return (self.event.hits(counts) + 0.5) / (counts.total() + 1)

    @property
    def distinguisher(self) -> str:
        """What orders the events: the labeller's score or counts, or the learner's own law."""
        return "law" if self.choice.order == "law" else self.labeller.name

    def describe(self, event: LabelEvent) -> Event:
        """Return an event over the labels as data."""
        edges = getattr(self.labeller, "edges", None)
        if edges is None:
            return event.cells("output" if isinstance(self.labeller, AsTheyAre) else self.labeller.name)
        bins = sorted(v for v in event.inside if isinstance(v, int))
        low = float(edges[bins[0] - 1]) if bins and bins[0] > 0 else -math.inf
        high = float(edges[bins[-1]]) if bins and bins[-1] < len(edges) else math.inf
        return Interval(self.labeller.name, low, high)


def select(trainer: Trainer, pairs: Sequence[Pair], budget: Budget, moves: Moves | None = None) -> ChosenEvent:
    """Return the event to confirm.

    In each of ceil(log2 pairs) rounds the surviving pairs share an equal part of the halving budget, and the half with
    the greater expected bound survives. Then, if `moves` proposes variations of a pair, three rounds compare the best
    so far with them on equally many fresh runs. At last the training budget fits scores on the winner, keeps the best
    few on a validation part, and chooses the event.
    """
    discrete, enough = trainer.pilot(pairs)
    shared = [discrete] if discrete else []
    winner, compared = _halve(trainer, [Candidate(i, pair, shared) for i, pair in enumerate(pairs)], budget.halving)
    known = len(pairs)
    for step in range(LOCAL_ROUNDS if moves and budget.local else 0):
        nearby = moves(winner.pair, step) if moves else []
        field = [winner.pair, *nearby]
        rivals = [Candidate(winner.index if i == 0 else known + i - 1, pair, shared) for i, pair in enumerate(field)]
        known += len(nearby)
        for rival in rivals:
            rival.phase = 100 + step  # fresh runs for the best so far as well
        winner, more = _best_of(trainer, rivals, budget.local // (LOCAL_ROUNDS * len(rivals)))
        compared += more
    training = budget.training if enough else budget.training - trainer.fit(winner, discrete, budget.training)
    trainer.finish(winner, training)
    choice, which = trainer.best(winner, careful=True)
    tried = tuple(labeller.name for labeller in winner.tried)
    counts = winner.tallies[which]
    return ChosenEvent(
        winner.index, winner.pair, winner.labellers[which], choice, counts, compared + choice.compared, known, tried
    )


def _halve(trainer: Trainer, alive: list[Candidate], runs: int) -> tuple[Candidate, int]:
    """Return the survivor of successive halving, and how many events were compared."""
    rounds = math.ceil(math.log2(len(alive))) if len(alive) > 1 else 0
    compared = 0
    for _ in range(rounds):
        trainer.train(alive, runs // (rounds * len(alive)))
        ranked, more = _ranked(trainer, alive)
        compared += more
        alive = ranked[: (len(alive) + 1) // 2]
    return alive[0], compared


def _best_of(trainer: Trainer, rivals: list[Candidate], runs: int) -> tuple[Candidate, int]:
    trainer.train(rivals, runs)
    ranked, compared = _ranked(trainer, rivals)
    return ranked[0], compared


def _ranked(trainer: Trainer, candidates: list[Candidate]) -> tuple[list[Candidate], int]:
    choices = [trainer.best(candidate)[0] for candidate in candidates]
    order = sorted(range(len(choices)), key=lambda i: (-choices[i].value, candidates[i].index))
    return [candidates[i] for i in order], sum(choice.compared for choice in choices)

"""Split the runs of a fixed-size audit by purpose."""

from __future__ import annotations

from dataclasses import asdict, dataclass

__all__ = ["Budget"]

SEARCH_SHARE = 0.3
"""Of several pairs' runs, for the search: with it successive halving reached 91 % of epsilon on one leaking pair among
32 of 20,000 runs, against 73 % by Bonferroni over all pairs."""
LOCAL_SHARE = 0.3
"""Of the search, for variations of the best pair: crafted pairs are good, so that most goes to telling them apart."""
TRAINING_SHARE = 0.2
"""Of the runs left, to choose the event: 99.5 % and more of the best event's bound are reached so."""
WIDE_TRAINING_SHARE = 0.4
"""The same where outputs are wide: half of them find the directions, half the event. With 20 % of 2,000 runs a shift of
a hundred coordinates together was lost."""
PILOT_RUNS = 512
"""Runs a side of the pilot: outputs of a few hundred kinds repeat in them."""
PILOT_SHARE = 0.5
"""Of the training runs, at most, for the pilot: they train as well, on the pairs that they were made on."""


@dataclass(frozen=True)
class Budget:
    """The runs on each side, by purpose.

    Attributes
    ----------
    halving : int
        On all given pairs together, to find the most promising one.
    local : int
        On variations of it.
    pilot : int
        On some of the pairs, to see what outputs look like.
    training : int
        On the pair chosen, to choose the event; those of the pilot on that pair train as well.
    confirmation : int
        On the same pair, fresh, to decide.
    checks : int
        On the first pair, to check randomness and state.
    """

    halving: int
    local: int
    pilot: int
    training: int
    confirmation: int
    checks: int = 0

    @classmethod
    def of(cls, trials: int, pairs: int, *, local: bool = False, wide: bool = False, checks: int = 0) -> Budget:
        """Split `trials` times `pairs` runs, less those of checks.

        30 % search (none for one pair), then 20 % training (40 % where outputs are wide), half of it at most the pilot.
        """
        total = trials * pairs - checks
        search = 0 if pairs == 1 else int(SEARCH_SHARE * total)
        nearby = int(LOCAL_SHARE * search) if local else 0
        training = max(2, int((WIDE_TRAINING_SHARE if wide else TRAINING_SHARE) * (total - search)))
        pilot = max(1, min(PILOT_RUNS, int(PILOT_SHARE * int(TRAINING_SHARE * (total - search)))))
        return cls(search - nearby, nearby, pilot, training - pilot, total - search - training, checks)

    def as_dict(self) -> dict[str, int]:
        """Return the runs by purpose."""
        return asdict(self)

    @property
    def selection(self) -> int:
        """Runs on each side that choose and do not decide."""
        return self.halving + self.local + self.pilot + self.training

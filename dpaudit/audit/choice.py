"""The choice that training makes: all that it fixes before the first fresh run, for these runs and the finding."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import UnsetType

from dpaudit.audit.finding import PlainEvent
from dpaudit.contract import Pair, PrivacyClaim
from dpaudit.events.discretizers import Pilot
from dpaudit.events.selected import SelectedEvent
from dpaudit.events.wide import Reducer
from dpaudit.outputs.types import Batch


@dataclass(frozen=True)
class Choice:
    """The pair on which a claim is tested, and the events that are tested on it.

    The `index` is that of the pair in the addresses of its runs. A `reducer` picks the columns of wide outputs. The
    `selected` events, that over how floats are stored at the end, if it is `stored`, have `shares` of the verdict's
    error. Of the `trained` runs `different` ones are in another cell than the commonest one; all discretizers `tried`
    are named. Of all `pairs` tried some were `not_run`, for want of runs; the search had so many `runs_of` the others.
    `reads` says of each tested event but the stored one whether a person reads it off outputs; those in `read` are two
    batches from which a plainer event is chosen.
    """

    index: int
    pair: Pair
    reducer: Reducer | None
    selected: tuple[SelectedEvent, ...]
    shares: tuple[float, ...]
    stored: bool
    trained: int
    different: int
    tried: tuple[str, ...]
    pilot: Pilot
    not_run: int
    pairs: int
    runs_of: tuple[int, ...]
    reads: tuple[tuple[bool, ...], ...]
    read: list[Batch] = field(default_factory=list, compare=False)

    def plain_event(self, claim: PrivacyClaim) -> PlainEvent | UnsetType:
        """Return an event that shows a violation in simpler words; UNSET if there is none."""
        return PlainEvent.of(self.read, claim.epsilon, claim.delta)

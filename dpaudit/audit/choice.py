"""The choice that training makes: all that the fresh runs and the finding need of it; a plan holds it as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from typing import Any

from msgspec import UNSET

from dpaudit.audit.finding import PlainEvent
from dpaudit.audit.request import Request
from dpaudit.contract import Pair, PrivacyClaim
from dpaudit.errors import ToolFault
from dpaudit.events.discretizers import Pilot
from dpaudit.events.portable import from_json, to_json
from dpaudit.events.selection import Selection
from dpaudit.events.wide import Reducer
from dpaudit.record import decode, encodable


@dataclass(frozen=True)
class Place:
    """The place where a pair is found again: its place in a list, those given or the shortlist, and how it was varied.

    `moves` are the steps of the local search with the place of the variation that each took.
    """

    index: int = 0
    listed: bool = False
    moves: tuple[tuple[int, int], ...] = ()

    def moved(self, step: int, place: int) -> Place:
        """Return the place of a variation."""
        return replace(self, moves=(*self.moves, (step, place)))

    def find(self, request: Request) -> Pair:
        """Return the pair of a request; `ToolFault` if there is no such pair."""
        short = request.shortlist.pairs if request.shortlist is not None else ()
        pairs = [pair for _, pair in short] if self.listed else list(request.pairs)
        try:
            pair = pairs[self.index]
            for step, place in self.moves:
                assert request.moves is not None
                pair = request.moves(pair, step)[place]
        except (IndexError, AssertionError):
            raise ToolFault("the plan is of other pairs: that which it has chosen is not there") from None
        return pair


@dataclass(frozen=True)
class Choice:
    """The pair on which a claim is tested, and the events that are tested on it.

    The `index` is that of the pair in the addresses of its runs, the `place` that where it is found. A `reducer` picks
    the columns of wide outputs. The `selected` events, that over how floats are stored at the end, if it is `stored`,
    have `shares` of the verdict's error. `trained` counts training runs, and `different` those among them in another
    cell than the commonest one. All discretizers that were `tried` are named; the `pilot` knows what outputs look like.
    Of all `pairs` tried some were `not_run`, for want of runs; the search had so many `runs_of` the others. `reads`
    says of each tested event but the stored one whether a person reads it off outputs; those in `read` are two batches
    from which a plainer event is chosen, which is `plain` where it was chosen before.
    """

    index: int
    pair: Pair
    place: Place
    reducer: Reducer | None
    selected: tuple[Selection, ...]
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
    read: list[Any] = field(default_factory=list, compare=False)
    plain: Any = None

    def plain_event(self, claim: PrivacyClaim) -> Any:
        """Return an event that shows a violation in simpler words; UNSET if there is none."""
        return self.plain if self.plain is not None else PlainEvent.of(self.read, claim.epsilon, claim.delta)

    def to_json(self, claim: PrivacyClaim) -> dict[str, Any]:
        """Return the choice without records of the pair, which is found again by its place.

        `InputError` is raised if outputs are looked at by a function that is not of dpaudit.
        """
        selected = tuple(replace(one, orders=()) for one in self.selected)
        held = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in _NOT_HELD}
        plain = None if all(all(one) for one in self.reads) else self.plain_event(claim)
        found: dict[str, Any] = {name: to_json(value) for name, value in (held | {"selected": selected}).items()}
        found["place"] = [self.place.index, self.place.listed, [list(one) for one in self.place.moves]]
        found["plain"] = encodable(plain) if isinstance(plain, PlainEvent) else None
        return found

    @classmethod
    def from_json(cls, held: Any, request: Request) -> Choice:
        """Return the choice that `to_json` wrote, of a request's pair; `ToolFault` if it is none of that request."""
        try:
            index, listed, moves = held["place"]
            place = Place(index, listed, tuple((step, at) for step, at in moves))
            plain = UNSET if held["plain"] is None else decode(json.dumps(held["plain"]), PlainEvent)
            names = [one.name for one in fields(cls) if one.name not in _NOT_HELD]
            found = {name: from_json(held[name]) for name in names}
        except (LookupError, TypeError, ValueError) as error:
            raise ToolFault(f"this is no choice of pair and events: {type(error).__name__}: {error}") from None
        return cls(**found, pair=place.find(request), place=place, plain=plain)


_NOT_HELD = ("pair", "place", "read", "plain")

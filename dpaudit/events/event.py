"""Events as data: the set of outputs of a mechanism whose probability an audit bounds.

Words are made from an event in `report.wording` and nowhere else; nothing parses them. A new kind of event is a new
class here, a member of `Event`, and its words there.
"""

from __future__ import annotations

from dpaudit.record import Extended, Frozen

__all__ = ["Bets", "Cells", "Event", "Interval", "Path", "Told", "Withheld", "ranges_of"]

Path = tuple[int | str, ...]
"""The place in an output where a feature is read: the indices and keys down to a leaf; empty for all of the output."""


class Cells(Frozen, frozen=True, tag="cells", tag_field="kind"):
    """The event that an outcome cell, the value of a discrete feature, is one of some.

    Attributes
    ----------
    feature : str
        The feature: "output" for the outputs as they are, else the name of the discretizer whose cells these are.
    ranges : tuple of (int, int)
        Cells that are integers, as ascending ranges with both ends included.
    values : tuple of str
        The other cells, each as a person would write it.
    rare : bool
        Whether every cell belongs to the event that training saw too rarely to tell it from others, or not at all.
    path : tuple of int or str
        Where in the output the feature is read.
    """

    feature: str
    ranges: tuple[tuple[int, int], ...]
    values: tuple[str, ...] = ()
    rare: bool = False
    path: Path = ()

    @property
    def size(self) -> int:
        """The number of cells that the event names."""
        return sum(high - low + 1 for low, high in self.ranges) + len(self.values)


class Interval(Frozen, frozen=True, tag="interval", tag_field="kind"):
    """The event that a real score of the output lies in [low, high).

    Attributes
    ----------
    feature : str
        The name of the score; "value" for an output that is a number itself.
    low, high : float
        The ends; the lower one belongs to the event.
    path : tuple of int or str
        Where in the output the score is read.
    """

    feature: str
    low: Extended
    high: Extended
    path: Path = ()


class Bets(Frozen, frozen=True, tag="bets", tag_field="kind"):
    """No single event: bets on many events of one pair's runs.

    Attributes
    ----------
    runs : int
        Runs of the pair that were bet on, both sides together.
    log_stake : float
        Natural logarithm of the factor by which the stake grew.
    """

    runs: int
    log_stake: Extended


class Told(Frozen, frozen=True, tag="told", tag_field="kind"):
    """An event of which only the words are known: those of results that an earlier version stored.

    Attributes
    ----------
    text : str
        The words.
    """

    text: str


class Withheld(Frozen, frozen=True, tag="withheld", tag_field="kind"):
    """An event that names a value of somebody's record, which the finding was not to show."""


Event = Cells | Interval | Bets | Told | Withheld


def ranges_of(values: list[int]) -> tuple[tuple[int, int], ...]:
    """Return integers as ascending ranges with both ends included.

    >>> ranges_of([5, 3, 4, -1])
    ((-1, -1), (3, 5))
    """
    found: list[tuple[int, int]] = []
    for value in sorted(values):
        if found and value == found[-1][1] + 1:
            found[-1] = (found[-1][0], value)
        else:
            found.append((value, value))
    return tuple(found)

"""Hold the event selected on training runs: its cells, its direction, and the bound expected of it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from dpaudit.contract import Direction
from dpaudit.events.discretizers import Discretizer
from dpaudit.events.families import likelier_first
from dpaudit.events.histogram import CellEvent, Tally

__all__ = ["SelectedEvent"]


@dataclass(frozen=True)
class SelectedEvent:
    """The best event over the cells of a discretizer, and perhaps a second one of the same order.

    Attributes
    ----------
    discretizer : Discretizer
        The map from outputs to cells.
    training : tuple of Tally
        The counts on the two sides that selected it.
    tests : tuple of (CellEvent, float)
        The events that fresh runs are to test, the best first, each with its share of the error.
    direction : Direction
        The side on which they are likelier.
    order : str
        What the order comes from that they are taken from: "score", "likelihood ratio" or "law".
    ranking : tuple of hashable
        All atoms in that order, the cell `RARE` among them, from the likeliest on data to the likeliest on neighbour.
    compared : int
        How many events it was selected from.
    expected : float
        The bound on epsilon that the best event can be expected to give.
    markdown : float
        By how much that has been lowered for the luck of models.
    """

    discretizer: Discretizer
    training: tuple[Tally, Tally]
    tests: tuple[tuple[CellEvent, float], ...]
    direction: Direction
    order: str
    ranking: tuple[Hashable, ...]
    compared: int
    expected: float
    markdown: float

    @property
    def event(self) -> CellEvent:
        """The best event."""
        return self.tests[0][0]

    def agrees(self, other: SelectedEvent) -> bool:
        """Say whether another selection over the same discretizers has the same best event, likelier on that side."""
        alike = self.discretizer is other.discretizer and self.direction is other.direction
        return alike and self.event == other.event

    @property
    def hits(self) -> tuple[int, int, int, int]:
        """The training runs that the best event holds for and all of them, on the likelier side and on the other."""
        likelier, other = likelier_first(self.direction, *self.training)
        return self.event.hits(likelier), likelier.total(), self.event.hits(other), other.total()

    @property
    def neighbour_mass(self) -> float:
        """The best event's probability on the unlikelier side, as the training runs show it."""
        *_, hits, runs = self.hits
        return (hits + 0.5) / (runs + 1)

    @property
    def distinguisher(self) -> str:
        """The name of what orders the events: the discretizer's score or counts, or the learner's own law."""
        return "law" if self.order == "law" else self.discretizer.name

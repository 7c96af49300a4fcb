"""A mechanism as the pages show it: one part, whatever the number of instances that were audited."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dpaudit.report.page.state import State, state_of
from dpaudit.report.row import Row
from dpaudit.report.summary import Summary
from dpaudit.report.verdicts import RowVerdict

__all__ = ["Mechanism", "Shown", "mechanisms", "shown_of"]

_ACCURACY = (
    RowVerdict.VIOLATION,
    RowVerdict.FAILED,
    RowVerdict.INCOMPLETE,
    RowVerdict.UNDECIDED,
    RowVerdict.HOLDS,
    RowVerdict.VACUOUS,
    RowVerdict.NOT_CHECKED,
)
"""The verdicts on accuracy, in the order in which they speak for a mechanism."""


@dataclass(frozen=True)
class Mechanism:
    """The instances of one learner: its privacy is that of the instance tested, its accuracy that of the worst.

    Attributes
    ----------
    id : str
        Its anchor in the page.
    rows : sequence of Row
        Its instances, one at least.
    """

    id: str
    rows: Sequence[Row]

    @property
    def name(self) -> str:
        """The learner's id."""
        return self.rows[0].learner

    @cached_property
    def tested(self) -> Row:
        """The instance whose privacy was tested, with the gravest state."""
        return min([row for row in self.rows if not row.further] or self.rows, key=lambda row: state_of(row).rank)

    @property
    def state(self) -> State:
        """The state of its privacy."""
        return state_of(self.tested)

    @cached_property
    def accurate(self) -> Row:
        """The instance whose accuracy speaks for all."""
        return min(self.rows, key=lambda row: _ACCURACY.index(row.utility_verdict))

    @property
    def accuracy(self) -> RowVerdict:
        """The verdict on its accuracy."""
        return self.accurate.utility_verdict

    @property
    def accuracy_needs_look(self) -> bool:
        """Whether its promise of accuracy is broken or undecided, or was not audited to the end."""
        return self.accuracy in _ACCURACY[:4]

    @property
    def needs_look(self) -> bool:
        """Whether its part of a page is open."""
        return self.state.needs_look or self.accuracy_needs_look or self.tested.conflict

    @property
    def exact_epsilon(self) -> float | None:
        """The exact epsilon at the claimed delta (at 0, where an older version stored no other); None without laws."""
        exact = self.tested.exact
        if exact is None:
            return None
        return exact.epsilon if exact.epsilon_at_claim is None else exact.epsilon_at_claim


class Shown(NamedTuple):
    """The mechanisms of a run as pages show them.

    Attributes
    ----------
    learners, controls : list of Mechanism
        Those that need a look first.
    missed : list of Mechanism
        The controls that were not caught, which lead every page.
    looked : list of Mechanism
        All that need a look.
    """

    learners: list[Mechanism]
    controls: list[Mechanism]
    missed: list[Mechanism]
    looked: list[Mechanism]


def shown_of(summary: Summary) -> Shown:
    """Return the mechanisms of a run as pages show them."""
    learners, controls = mechanisms(summary.learners), mechanisms(summary.controls)
    missed = [m for m in controls if m.state.needs_look]
    return Shown(learners, controls, missed, [*missed, *(m for m in learners if m.needs_look)])


def mechanisms(rows: Sequence[Row]) -> list[Mechanism]:
    """Return the mechanisms of rows: what needs a look first, then those that come nearest to their claims."""
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row.learner, []).append(row)
    found = [Mechanism(id, group) for id, group in zip(_anchors(list(grouped)), grouped.values(), strict=True)]
    return sorted(found, key=lambda m: (m.state.rank, not m.needs_look, -_nearness(m), m.name))


def _nearness(mechanism: Mechanism) -> float:
    """Return the exact epsilon, or else the one found, as a multiple of the claim."""
    claim, bound = mechanism.tested.claim, mechanism.tested.blackbox
    exact = mechanism.exact_epsilon
    size = exact if exact is not None else 0.0 if bound is None else bound.epsilon_lower
    return size / claim.epsilon if claim is not None and claim.epsilon > 0 and math.isfinite(size) else size


def _anchors(names: Sequence[str]) -> list[str]:
    """Return an anchor for each name, all of them different."""
    found: list[str] = []
    for name in names:
        anchor = "m-" + (re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "x")
        while anchor in found:
            anchor += "-"
        found.append(anchor)
    return found

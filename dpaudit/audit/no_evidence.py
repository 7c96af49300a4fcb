"""Gaps in an audit, as data: each is a reason why it could not have seen that a claim fails.

Words are made from a gap in `report.evidence` and nowhere else. A new kind of gap is a new class here, a member of
`Gap`, and its words there.
"""

from __future__ import annotations

from dpaudit.audit.checks import CheckName
from dpaudit.record import Count, Frozen, Size, Words

__all__ = ["AllRaised", "Constant", "FewRuns", "Gap", "Identical", "Meaningless", "NotLookedAt", "Powerless"]


class AllRaised(Frozen, frozen=True, tag="all raised", tag_field="kind"):
    """Every run that decided ended in an exception, or nearly every one.

    Attributes
    ----------
    raised, runs : int
        Runs that did, and all of them.
    usual : str
        The most frequent exception: its type, with its message if there are few.
    """

    raised: Size
    runs: Size
    usual: Words


class Constant(Frozen, frozen=True, tag="constant", tag_field="kind"):
    """The runs that decided gave one outcome on both sides, or nearly all of them did.

    Attributes
    ----------
    alike, runs : int
        Runs with the commonest outcome, and all of them.
    """

    alike: Size
    runs: Size


class Identical(Frozen, frozen=True, tag="identical", tag_field="kind"):
    """The two inputs of every pair are the same.

    Attributes
    ----------
    pairs : int
        How many pairs there are.
    """

    pairs: Size


class Powerless(Frozen, frozen=True, tag="powerless", tag_field="kind"):
    """No leak, however large, would have been detected, neither on the event tested nor on those of the frontier."""


class FewRuns(Frozen, frozen=True, tag="few runs", tag_field="kind"):
    """The runs that decided are fewer than can refute the claim at all.

    Attributes
    ----------
    runs, least : int
        Runs on each side, and the least number that could.
    trials : int
        The least `trials` with which one pair has so many.
    """

    runs: Count
    least: Size
    trials: Size


class NotLookedAt(Frozen, frozen=True, tag="not looked at", tag_field="kind"):
    """Parts of the output took no part in the audit.

    Attributes
    ----------
    parts : tuple of str
        The parts.
    """

    parts: tuple[Words, ...]


class Meaningless(Frozen, frozen=True, tag="meaningless", tag_field="kind"):
    """A check of randomness and state failed, after which counts of runs say nothing of the mechanism.

    Attributes
    ----------
    check : CheckName
        The check.
    """

    check: CheckName


Gap = AllRaised | Constant | Identical | Powerless | FewRuns | NotLookedAt | Meaningless

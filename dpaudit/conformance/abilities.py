"""Lists the optional abilities of a learner: those that it offers, and those that it may add."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from dpaudit.conformance.required import check_parts
from dpaudit.contract import ABILITIES, Learner

__all__ = ["Ability", "Offers", "offers"]


class Ability(NamedTuple):
    """An optional ability: the method or attribute that offers it, as a signature, and its meaning."""

    name: str
    signature: str
    meaning: str


class Offers(NamedTuple):
    """The abilities that a learner offers, and those that it may add."""

    offered: tuple[Ability, ...]
    further: tuple[Ability, ...]

    def __str__(self) -> str:
        """Return both lists, a line an ability."""
        parts = (("offers", self.offered), ("may add", self.further))
        lines = [
            [f"{title}:", *(f"  {a.signature}\n      {a.meaning}" for a in found)] for title, found in parts if found
        ]
        return "\n".join(line for part in lines for line in part)


def offers(learner: Learner | type[Any]) -> Offers:
    """List the optional abilities that a learner, or a class of learners, offers and those that it may add.

    Parameters
    ----------
    learner : Learner or type
        A learner, or a class of learners.

    Returns
    -------
    Offers
        `offered` and `further`, each a tuple of abilities with `name`, `signature` and `meaning`; as text, a line each.

    Raises
    ------
    NonConforming
        If it lacks a part that every learner must have: the message names the learner and the part.
    """
    check_parts(learner)
    found = {name: isinstance(learner, kind) for name, kind in ABILITIES.items()}
    return Offers(
        tuple(_ability(name) for name, has in found.items() if has),
        tuple(_ability(name) for name, has in found.items() if not has),
    )


def _ability(name: str) -> Ability:
    """Return an ability as its protocol describes it."""
    kind = ABILITIES[name]
    member = inspect.getattr_static(kind, name)
    getter = member.fget if isinstance(member, property) else None
    if getter is not None:
        signature = f": {inspect.signature(getter).return_annotation}"
    else:
        signature = str(inspect.signature(member)).replace("(self, ", "(").replace("(self)", "()").replace("'", "")
    return Ability(name, name + signature, (inspect.getdoc(kind) or "").partition("\n")[0])

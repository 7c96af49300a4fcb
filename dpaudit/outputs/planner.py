"""The planner goes through some outputs level by level and notes the leaves that they have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpaudit.errors import InputError
from dpaudit.outputs import readers
from dpaudit.outputs.families import NUMERIC, family, kind_of
from dpaudit.outputs.leaf import Leaf
from dpaudit.outputs.shared import counted, follow
from dpaudit.outputs.steps import Family, Path, in_words

__all__ = ["Handler", "Planner"]

COMMON = 0.005
"""A key, or a family of types, in a smaller share of the outputs is counted and not taken apart."""
LEAST_ROWS = 5
DEPTH = 64
"""Steps from an output to a leaf; of a list in a list each takes two."""
MOST_LEAVES = 2_000
MOST_CATEGORIES = 256


@dataclass
class Planner:
    """Leaves of some outputs, as they are found.

    Attributes
    ----------
    handlers : mapping
        How the values of each family are planned.
    other : callable
        How those of all other families are.
    total : int
        Outputs that the plan is made from.
    leaves : list of Leaf
        What is looked at.
    unseen : list of str
        What is not, in words.
    in_row : bool
        Whether a row of numbers holds what is planned now too.
    """

    handlers: Mapping[str, Handler]
    other: Handler
    total: int
    leaves: list[Leaf] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    in_row: bool = False

    def node(self, values: Sequence[Any], path: Path) -> None:
        """Plan the values at the end of a path."""
        if len(path) > DEPTH:
            raise InputError(
                f"an output is nested deeper than {DEPTH} steps, or holds itself: {in_words(path):.200}; return what "
                "matters of it, or say what that is by dpaudit.register_flattener(TYPE, lambda output: ...)"
            )
        if len(self.leaves) >= MOST_LEAVES:
            if not self.unseen or not self.unseen[-1].startswith("parts beyond"):
                self.unseen.append(f"parts beyond the first {MOST_LEAVES}, from {in_words(path):.200} on")
            return
        found: Counter[str] = Counter()
        for kind, count in counted(type, values).items():
            found[family(kind)] += count
        if len(found) > 1:
            self.category(kind_of, values, path, "type")
            if set(found) <= NUMERIC:
                self.add(path, readers.Real(), "value")
        for name in sorted(found):
            if len(found) == 1 or self.common(found[name]):
                step = Family(name)
                self.handlers.get(name, self.other)(self, follow(step, values)[0], (*path, step))

    def common(self, count: int) -> bool:
        """Say whether so many of the outputs are worth being taken apart."""
        return count >= max(LEAST_ROWS, COMMON * self.total)

    def add(self, path: Path, reader: Callable[[Any], Any], what: str = "", representation: bool = False) -> None:
        """Add a leaf."""
        name = in_words(path)
        shown = f"{what} of {name}" if what else name
        self.leaves.append(Leaf(path, reader, shown, self.in_row or representation, representation))

    def category(
        self,
        of: Callable[[Any], Any],
        values: Sequence[Any],
        path: Path,
        what: str,
        most: int = MOST_CATEGORIES,
        representation: bool = False,
    ) -> None:
        """Add a category of the values if it varies."""
        reader = readers.Categories.fit(of, values, most)
        if len(reader.numbers) > 1:
            self.add(path, reader, what, representation)


Handler = Callable[[Planner, list[Any], Path], None]
"""Plans values of one family, which stand at the end of a path."""

"""Exhibits: one defect a file, read strictly."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import msgspec

__all__ = ["FOLDERS", "ROOT", "Exhibit", "exhibits", "read"]

ROOT = Path(__file__).parents[1]
FOLDERS = ("exhibits", "held_out")
"""Folders of exhibits; those of the second one were drawn by lot and set apart before the first audit."""


Number = int | float
Ends = tuple[Number, Number]


class Exhibit(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A defect, the dataset and the claim to audit it with, and the version or the change that is right.

    Attributes
    ----------
    title, source, wrong : str
        The defect: a noun phrase, the address of a public thread or paper, and what is wrong in one sentence.
    kind : {"installed", "reduction"}
        Whether the package is installed, or its logic was written again in plain Python.
    package, version, right : str
        The package that had the defect, the version that the wrong side runs or follows, and the right side.
    requires, right_requires : list of str
        What pip installs for either side; both share an environment where the second is left out.
    data : str
        Where the dataset comes from.
    epsilon, delta : float
        The claim.
    relation : {"add-remove-one", "replace-one"}
        Which datasets are neighbours.
    bounds, unit, randomness, batched, float_bits
        As for `audit_privacy`.
    code : str
        Python that defines DATA, `wrong` and `right`.
    pair : str
        Python that defines PAIRS, run after `code` where a pair is given.
    """

    title: str
    source: str
    wrong: str
    kind: Literal["installed", "reduction"]
    package: str
    version: str
    right: str
    requires: list[str]
    right_requires: list[str] | None = None
    data: str
    epsilon: float
    delta: float = 0.0
    relation: Literal["add-remove-one", "replace-one"]
    # TOML has lists alone: [0, 1] is one pair of ends, [[0, 1], [0, 5]] has a pair for each column.
    bounds: list[Number | Ends] | dict[str, Ends] | None = None
    unit: str | None = None
    randomness: Literal["argument", "own"] = "argument"
    batched: bool = False
    float_bits: bool = False
    code: str
    pair: str

    def __post_init__(self) -> None:
        empty = [name for name in self.__struct_fields__ if getattr(self, name) == "" and name != "unit"]
        if empty:
            raise ValueError(f"empty: {', '.join(empty)}")
        if not self.source.startswith("https://"):
            raise ValueError(f"source must be an address: {self.source}")
        if self.kind == "installed" and not self.requires:
            raise ValueError("an installed exhibit requires a package")
        if self.kind == "reduction" and (self.requires or self.right_requires):
            raise ValueError("a reduction is plain Python and requires no package")
        if self.epsilon < 0 or not 0 <= self.delta < 1:
            raise ValueError("epsilon must be at least 0, and delta in [0, 1)")

    def requirements(self, side: str) -> list[str]:
        """Return what pip installs for a side, sorted."""
        requires = self.requires
        # An empty list for the right side is a list of its own: nothing is installed for it.
        if side == "right" and self.right_requires is not None:
            requires = self.right_requires
        return sorted(requires)


def read(path: Path) -> Exhibit:
    """Return the exhibit in a file; a ValueError names the file and what is wrong with it."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", path.stem) or path.suffix != ".toml":
        raise ValueError(f"{path}: the name of an exhibit is package-what-is-wrong.toml")
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Exhibit)
    except (msgspec.MsgspecError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def exhibits(root: Path = ROOT) -> dict[str, Path]:
    """Return the files of all exhibits by name; two of one name are refused."""
    found: dict[str, Path] = {}
    paths = [path for folder in FOLDERS for path in root.glob(f"museum/{folder}/*.toml")]
    # By name and not by folder: which exhibits were set apart changes no order.
    for path in sorted(paths, key=lambda path: path.stem):
        if path.stem in found:
            raise ValueError(f"there are two exhibits {path.stem}")
        found[path.stem] = path
    return found

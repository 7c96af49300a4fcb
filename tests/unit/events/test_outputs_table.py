"""docs/outputs.md lists every feature of the code, as value or as representation, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from nearly_unique_outputs import KINDS
from scipy import sparse
from structured_outputs import STRUCTURES
from typed_outputs import TYPES

from dpaudit.events.feature_screening.search import features_of
from dpaudit.outputs.leaf import in_words
from dpaudit.outputs.plan import LeafPlan

DOCS = Path(__file__).parents[3] / "docs" / "outputs.md"
OUTPUTS = {**TYPES, **KINDS, **STRUCTURES,
           "sparse formats": lambda rng, x: sparse.eye(3, format="csr" if x else "csc")}  # fmt: skip


def documented():
    """Return the features of the table, each with the column that says what it counts as."""
    rows = DOCS.read_text().split("## Features")[1].split("\n## ")[0].splitlines()
    cells = [row.strip("|").split(" | ") for row in rows if row.startswith("|")][2:]
    return {(name, counts.strip()) for _, features, counts in cells for name in features.replace("\\", "").split(", ")}


def in_code():
    """Return the features that outputs of every kind have."""
    found = set()
    for name, mechanism in OUTPUTS.items():
        if "10^5" in name:
            continue
        rng = np.random.default_rng(0)
        rows = [mechanism(rng, x) for x in (0, 1) for _ in range(40)]
        for leaf in LeafPlan.of(rows).leaves:
            for _, features in features_of(leaf, leaf.read(rows)[0]):
                for feature in features:
                    shown = feature.column.name or leaf.name.removesuffix(f" of {in_words(leaf.path)}")
                    found.add((general(shown), "representation" if feature.representation else "value"))
    return found


def general(name):
    """Return the name of a feature with signs for its numbers and words."""
    name = re.sub(r"^(presence|membership) of .*", r"\1 of a member", name)
    return re.sub(r"\b\d+\b", "N", re.sub(r"word '[^']*'", "word W", name))


def test_the_table_lists_the_features_of_the_code():
    assert documented() == in_code()

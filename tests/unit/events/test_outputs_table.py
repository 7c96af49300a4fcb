"""docs/research/outputs.md lists every feature of the code, as value or as representation, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from nearly_unique_outputs import KINDS
from quick import by_turns
from scipy import sparse
from structured_outputs import STRUCTURES
from typed_outputs import TYPES

import dpaudit
from dpaudit.events.event import FEATURES
from dpaudit.events.feature_screening import numbers, texts
from dpaudit.events.feature_screening.rows import summaries
from dpaudit.events.feature_screening.search import features_of, not_compared, screen_features
from dpaudit.naming import Name
from dpaudit.outputs.leaf import _STEPS, OUTPUT, Step, in_words
from dpaudit.outputs.plan import LeafPlan
from dpaudit.withheld import Coarse

DOCS = Path(__file__).parents[3] / "docs" / "research" / "outputs.md"
OUTPUTS = {
    **TYPES,
    **KINDS,
    **STRUCTURES,
    "memory order": lambda rng, x: np.zeros((2, 2), order="CF"[x]),
    "sparse formats": lambda rng, x: sparse.eye(3, format="csr" if x else "csc"),
}


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


def made_names(outputs):
    """Yield the names of features of some kinds of outputs, chosen ones among them, and those that findings have."""
    yield from (Step(name, 1).named(OUTPUT) for name in _STEPS if name != "leaf")
    yield from (texts.check_remainder(kind, 40, sign).name for kind in texts.CHECK_SUMS for sign in (1, -1))
    yield from (texts.check_character(kind, 40, []).name for kind in texts.CHECK_SUMS)
    yield from FEATURES
    rng = np.random.default_rng(0)
    for name, mechanism in outputs:
        if "10^5" in name:
            continue
        sides = [[mechanism(rng, x) for _ in range(40)] for x in (0, 1)]
        plan = LeafPlan.of([*sides[0], *sides[1]])
        yield from (leaf.name for leaf in plan.leaves)
        yield from plan.aside
        yield from not_compared(plan, [*sides[0], *sides[1]])
        for screened in screen_features(plan, *sides, 1_000, epsilon=99.0, stored=True):
            yield screened.feature.name
    for made in (rng.normal(size=(2, 800, 3)), rng.normal(size=(2, 800, 200)), rng.integers(9, size=(2, 800, 5))):
        finding = dpaudit.audit_privacy(
            lambda x, rng, size, made=made: made[x][:size],
            [(0, 1)],
            epsilon=1,
            trials=800,
            batched=True,
            randomness="own",
            execution=dpaudit.Execution(sequential=False),
        )
        yield from (finding.distinguisher, *finding.scores, *finding.not_looked_at)


@pytest.mark.parametrize("part", by_turns(range(3), 3))
def test_every_name_of_a_feature_declares_what_it_mentions(part):
    coarse = Coarse()
    for name in made_names([*OUTPUTS.items()][part::3]):
        assert isinstance(name, Name), name
        # Whatever is shown holds no text of the outputs and no number beyond positions.
        if coarse.name(name):
            without_period = re.sub(r"modulo \S+$", "", name)
            assert not re.search(r"""(?<!\w)['"](?![01]['"])\w|\d\.\d|[1-9]\d{2,}""", without_period), name


def test_names_of_ours_are_shown():
    coarse = Coarse()
    assert all(coarse.name(name) for name in FEATURES)
    assert all(coarse.name(one.name) for one in (*summaries(np.eye(3)), *numbers.storage(np.eye(3)[0])))

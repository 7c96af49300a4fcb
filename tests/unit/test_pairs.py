"""Pairs of inputs and their origins."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from dpaudit.contract import InputError, Origin, OriginKind, Pair, Relation


def test_a_pair_without_an_origin_is_given_and_a_text_is_a_note_on_it() -> None:
    assert Pair(1, 2).origin == Origin(OriginKind.GIVEN, "", 0)
    assert Pair(1, 2, "by hand").origin == Origin(OriginKind.GIVEN, "by hand", 0)
    crafted = Origin(OriginKind.CRAFTED, "a; b", 2)
    assert Pair(1, 2, crafted).origin is crafted


def test_a_pair_is_a_value() -> None:
    pair = Pair(1, 2, "by hand")
    assert pair == copy.copy(pair) == pickle.loads(pickle.dumps(pair)) == Pair(1, 2, "by hand")
    assert hash(pair) == hash(copy.copy(pair)) == hash(Pair(1, 2, "by hand"))
    assert pair not in (Pair(1, 3, "by hand"), Pair(3, 2, "by hand"), Pair(1, 2), (1, 2))
    with pytest.raises(AttributeError):
        pair.data = 3  # type: ignore[misc]  # what is refused


@pytest.mark.parametrize("origin", [None, 5, ("crafted", "")])
def test_an_origin_that_is_none_is_refused(origin: Any) -> None:
    with pytest.raises(InputError, match="origin must be an Origin or a text, got"):
        Pair(1, 2, origin)


def test_moves_are_counted_from_0() -> None:
    with pytest.raises(InputError, match="moves must be an integer >= 0, got -1"):
        Origin(moves=-1)


@pytest.mark.parametrize(
    ("name", "relation"),
    [
        ("replace_one", Relation.REPLACE_ONE),
        ("bounded", Relation.REPLACE_ONE),
        ("Substitute", Relation.REPLACE_ONE),
        ("change one", Relation.REPLACE_ONE),
        ("add_remove", Relation.ADD_REMOVE_ONE),
        ("unbounded", Relation.ADD_REMOVE_ONE),
        ("symmetric", Relation.ADD_REMOVE_ONE),
        ("symmetric_difference", Relation.ADD_REMOVE_ONE),
        ("replace_private", Relation.REPLACE_PRIVATE),
    ],
)
def test_relations_have_their_usual_names(name: str, relation: Relation) -> None:
    assert Relation.parse(name) is relation


@pytest.mark.parametrize("name", ["close", "", None, 3, ["bounded"]])
def test_other_names_are_refused_with_those_allowed(name: Any) -> None:
    with pytest.raises(InputError, match="relation must be one of replace-one, add-remove-one, replace-private; got"):
        Relation.parse(name)

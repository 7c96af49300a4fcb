"""The optional half of the contract: each ability is found where it is offered, and a missing part is named."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from toy_learners import ToyBare, ToyCoin, ToyOpen

from dpaudit import conformance
from dpaudit.arguments import lacking
from dpaudit.conformance import NonConforming, check_learner, offers
from dpaudit.contract import ABILITIES, PARTS, Learner
from dpaudit.registry import get_learner, list_learners


def names(abilities: Any) -> set[str]:
    return {ability.name for ability in abilities}


def test_what_a_learner_offers_and_may_add_is_everything() -> None:
    found = offers(ToyCoin(3.0))
    assert names(found.offered) == {"law", "utility"}
    assert names(found.further) == set(ABILITIES) - {"law", "utility"}
    assert names(offers(ToyBare()).offered) == set()
    assert names(offers(ToyOpen).offered) == {"law", "utility", "fault"}


def test_it_is_told_with_signatures_and_meanings() -> None:
    told = str(offers(ToyCoin(3.0)))
    assert told.startswith("offers:\n  law(sample: Any) -> Law\n      The exact output law on a sample")
    assert "\nmay add:\n  exact_law(sample: Any, field: ExactField) -> Mapping[Hashable, Ball]\n" in told
    assert "\n  settings: tuple[str, ...]\n" in told
    assert "\n  symmetries() -> Sequence[NDArray[np.int64]]\n" in told


@pytest.mark.parametrize("name", ABILITIES)
def test_every_ability_is_offered_by_some_learner_and_is_described(name: str) -> None:
    kind = ABILITIES[name]
    entries = [entry for entry in list_learners() if hasattr(entry.learner, name)]
    assert entries
    assert all(isinstance(entry.learner, kind) for entry in entries)
    assert inspect.getdoc(kind)
    assert name in inspect.get_annotations(kind) or inspect.getdoc(getattr(kind, name))


def test_an_ability_is_a_method_and_none_is_none() -> None:
    class Lawless(ToyCoin):
        law = None  # type: ignore[assignment]  # takes the method away

    assert "law" in names(offers(Lawless(1.0)).further)


@pytest.mark.parametrize("part", PARTS)
def test_a_missing_part_is_named(part: str) -> None:
    members = {name: getattr(ToyBare, name) for name in PARTS if name != part}
    cut = type("ToyCut", (), members)()
    assert lacking(cut) == lacking(type(cut)) == (part,)
    for attempt in (check_learner, offers):
        with pytest.raises(NonConforming, match=rf"ToyCut: a learner must have {part}; see contract\.Learner"):
            attempt(cut)


def test_the_parts_are_those_of_the_protocol() -> None:
    annotated = {*Learner.__annotations__, *(name for name in vars(Learner) if not name.startswith("_"))}
    assert annotated == set(PARTS)
    assert lacking(get_learner("parity-private", dimension=2, epsilon=1.0)) == ()


def test_the_module_says_how_to_ask() -> None:
    assert "offers(" in (conformance.__doc__ or "")

"""Tests that of values in audits of people's data only constants are shown, and that no text of audited code is."""

from __future__ import annotations

import pickle
from datetime import date
from typing import Any

import pytest

from dpaudit.errors import InputError, ToolFault, blamed, withholding
from dpaudit.jsonable import jsonable
from dpaudit.naming import Mention, Mentioned, Name, Sum, cut, estimated, joined, key, member, position
from dpaudit.outputs.canonical import Raised
from dpaudit.withheld import HOW, WITHHELD, Coarse, foreign, hides


@pytest.mark.parametrize(
    ("number", "shown"),
    [(33.0, True), (0.0, True), (1.0, True), (float("inf"), True), (float("nan"), True), (41.5, False), (2.0, False)],
)
def test_a_threshold_is_shown_if_it_is_a_constant_or_a_bound_of_the_user(number: float, shown: bool) -> None:
    assert Coarse(given=frozenset({33.0})).threshold(number) is shown


@pytest.mark.parametrize("value", [True, None, float("nan"), float("inf"), "", [], 0, 1, 7.5, "ValueError"])
def test_values_that_identify_nobody_are_shown(value: object) -> None:
    assert Coarse(given=frozenset({7.5})).value(value)


@pytest.mark.parametrize(
    "value", ["Zeb", 2, 10**400, -1, 17.25, 610102197402281191, "{'day': 726469}", b"x", (1, 2), "Aa"]
)
def test_others_are_not(value: object) -> None:
    assert not Coarse().value(value)


OUTPUT = Name("output")
INCOME = Name.of("output[{}]", key("income"))
NOISE = "being floating-point noise (centre {}, scale {}, 53 bits)"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (Name("sum of squares"), True),
        (Name.of("sum of {}", INCOME), True),
        (Name.of("element {} of {}", position(63), OUTPUT), True),
        (Name.of("element {} of {}", position(64), OUTPUT), False),
        (Name.of("output[{}]", key("Zeb")), False),
        pytest.param(Name.of("output[{}]", key(type("Zeb", (), {})())), False, id="a key without a text of its own"),
        (Name.of("output[{}]", key(555019)), False),
        (Name.of("output[{}]", key(("income", 3))), True),
        (Name.of("output[{}]", key(("income", "Zeb"))), False),
        (Name.of("output[{}]", key("income" * 11)), False),
        (Name.of("presence of {} of {}", member(date(1990, 1, 2)), OUTPUT), False),
        (Name.of("presence of {} of {}", member(1), OUTPUT), True),
        (Name.of("presence of {} of {}", member(30), OUTPUT), False),
        (Name.of("membership of {} of {}", member(41), OUTPUT), False),
        (Name.of("membership of {} of {}", member((4, 1)), OUTPUT), False),
        (Name.of("membership of {} of {}", member("income"), OUTPUT), True),
        (Name.of("occurrence of the word {} in {}", key("Zeb"), OUTPUT), False),
        (Name.of("value being above {}", cut(41.25)), False),
        (Name.of("value being above {}", cut(41)), False),
        (Name.of("value being above {} of {}", cut(30), OUTPUT), True),
        (Name.of(NOISE, estimated(41), estimated(2)), False),
        (Name.of(NOISE, estimated(0), estimated(1)), True),
        (Name.of("{} modulo {}", OUTPUT, Mention("1000", Mentioned.PERIOD)), True),
        (Name.of("{} modulo {}", OUTPUT, Mention("1024", Mentioned.PERIOD)), False),
        (Name.of("parity of {}", joined([INCOME, Name.of("output[{}]", key("Zeb"))])), False),
    ],
)
def test_names_are_shown_where_all_that_they_mention_is_constant(name: Name, shown: bool) -> None:
    assert Coarse(names=frozenset({"income"}), given=frozenset({30.0})).name(name) is shown


@pytest.mark.parametrize("text", ["sum of squares", "output", f"sum of {INCOME}", "".join(["output"]), INCOME[:6]])
def test_a_feature_that_declares_nothing_is_withheld(text: str) -> None:
    coarse = Coarse(names=frozenset({"income"}))
    assert (coarse.name(text), coarse.sum_of(text)) == (False, None)


def test_what_a_sum_is_of_is_told_without_its_numbers() -> None:
    terms = [Name.of("{}", Mention(one, Mentioned.TERM)) for one in ("income", "age")]
    half = Mention("0.5", Mentioned.NUMBER)
    named = Sum.of_terms("income - 0.5 age", terms, [half])
    assert not Coarse(names=frozenset({"income", "age"})).name(named)
    assert Coarse(names=frozenset({"income", "age"})).sum_of(named) == "a sum of multiples of income and age"
    assert Coarse(names=frozenset({"age"})).sum_of(named) == "a sum of multiples of some of its numbers"


def test_a_name_keeps_what_it_mentions_where_it_is_sent_and_is_a_text_where_it_is_stored() -> None:
    sent = pickle.loads(pickle.dumps(INCOME))
    assert (sent, sent.mentions) == (INCOME, INCOME.mentions)
    assert type(jsonable(INCOME)) is str


def test_a_name_of_a_text_that_declares_nothing_is_withheld() -> None:
    read: Any = "sum of squares"  # as from a file
    named = Name.of("{} of {}", read, OUTPUT)
    assert named == "sum of squares of output"
    assert not Coarse().name(named)


def test_a_distance_is_shown_as_the_next_lower_number_that_is_known() -> None:
    coarse = Coarse(given=frozenset({0.0, 50.0}))
    shown = {0.5: 0.0, 1.5: 1.0, 2.0: 2.0, 49.0: 2.0, 50.0: 50.0, 8675309.25: 50.0}
    assert {number: coarse.least(number) for number in shown} == shown
    assert 7.25 < coarse.least(9.0, 7.25) < 7.2500001
    assert coarse.least(float("inf")) == float("inf")


def test_a_hidden_error_says_its_class_and_its_line_and_leads_to_nothing() -> None:
    kind = type("Zebediah", (ValueError,), {})
    for raised, shown in ((KeyError("Zeb"), "KeyError"), (kind("Zeb"), "an exception of the mechanism")):
        with pytest.raises(InputError) as caught, withholding(True), blamed("it"):
            raise raised
        assert shown in str(caught.value)
        assert "Zeb" not in str(caught.value)
        assert "test_withheld.py, line" in str(caught.value)
        assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    with pytest.raises(InputError, match="ValueError: Zeb"), withholding(False), blamed("it"):
        raise ValueError("Zeb")


def test_what_audited_code_raises_as_ours_or_under_another_name_is_hidden_too() -> None:
    with pytest.raises(InputError, match="an exception of the mechanism") as caught, withholding(True), blamed("it"):
        raise InputError("Zeb")
    assert "Zeb" not in str(caught.value)
    with pytest.raises(ToolFault, match="unexpected ZeroDivisionError") as fault, withholding(True):
        exec(compile("1 / 0", "Zebediah", "exec"))
    assert "Zeb" not in str(fault.value)
    assert fault.value.__context__ is None


def test_texts_are_hidden_inside_of_such_a_block_alone() -> None:
    assert (foreign("Zeb"), hides()) == ("Zeb", False)
    with withholding(True):
        assert (foreign("Zeb"), hides()) == (WITHHELD, True)
        assert Raised(KeyError("Zeb")).words == f"KeyError ({HOW})"
    with pytest.raises(KeyboardInterrupt), withholding(True):
        raise KeyboardInterrupt
    assert not hides()
    assert Raised(KeyError("Zeb")).words == "KeyError: 'Zeb'"


@pytest.mark.parametrize("kind", [KeyboardInterrupt, GeneratorExit, type("Zeb", (BaseException,), {})])
def test_what_says_something_is_withheld_whatever_it_derives_from(kind: type[BaseException]) -> None:
    with pytest.raises(ToolFault, match="unexpected") as fault, withholding(True):
        raise kind("Zeb")
    assert "Zeb" not in str(fault.value)
    assert fault.value.__context__ is None


def test_integers_that_python_does_not_write_out_are_withheld() -> None:
    assert not Coarse().value(10**5000)
    assert not Coarse(given=frozenset({10.0})).value(-(10**5000))

"""Tests which values of people's data are coarse enough to be shown, and that no text of audited code is."""

from __future__ import annotations

import pytest

from dpaudit.errors import InputError, ToolFault, blamed, withholding
from dpaudit.outputs.canonical import Raised
from dpaudit.withheld import COMMON, HOW, WITHHELD, Coarse, foreign, hides

AGES = tuple(sorted([20.0, 41.0, 42.0, 90.0] * COMMON + [75.0]))
SPREAD = tuple(float(i) for i in range(1_000))


@pytest.mark.parametrize(
    ("values", "number", "shown"),
    [
        (AGES, 41.5, True),  # ten people are 41, ten 42
        (AGES, 42.0, True),  # ten people are 42
        (AGES, 75.0, False),  # one is
        (AGES, 74.5, False),
        (AGES, 80.0, False),
        (AGES, 19.5, False),  # nobody is younger
        (SPREAD, 500.0, False),  # one person has it
        (SPREAD, 500.5, False),  # it lies between two people
        (AGES, 41.512345678, False),  # more digits than a cut among records needs
        (AGES, 33.0, True),  # bounds of the user
        (AGES, float("inf"), True),
        ((*AGES, *AGES[-5:]), float("nan"), True),
    ],
)
def test_a_threshold_is_shown_where_ten_records_lie_next_to_it_on_either_side(
    values: tuple[float, ...], number: float, shown: bool
) -> None:
    assert Coarse(given=frozenset({33.0}), columns=(values,)).threshold(number) is shown
    if shown and number not in (33.0, float("inf")) and number == number:
        assert not Coarse(columns=(values, SPREAD)).threshold(number)  # it must hold of every column


def test_a_rounded_threshold_is_shown_where_ten_records_would_round_to_either_side() -> None:
    dense = Coarse(columns=(tuple(i / 100 + 0.001 for i in range(1_000)),))
    assert dense.threshold(5.0)
    assert not dense.threshold(5.01)
    assert not Coarse().threshold(0.5)  # nothing to compare it with


@pytest.mark.parametrize("value", [True, None, float("nan"), float("inf"), "", [], 0, 1, 7.5, "Aa", "ValueError"])
def test_values_that_identify_nobody_are_shown(value: object) -> None:
    assert Coarse(given=frozenset({7.5}), common=frozenset({"Aa"})).value(value)


@pytest.mark.parametrize("value", ["Zeb", 2, -1, 17.25, 610102197402281191, "{'day': 726469}", b"x", (1, 2), "Aa b"])
def test_others_are_not(value: object) -> None:
    assert not Coarse(common=frozenset({"Aa"})).value(value)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("sum of output['income']", True),
        ("repeated value of element 3", True),
        ("learned direction 2 of output.flat[7]", True),
        ("output['Zeb']", False),
        ("output[Zeb(1)]", False),
        ("output[555019]", False),
        ("presence of datetime.date(1990, 1, 2)", False),
        ("occurrence of the word 'Zeb' in output", False),
        ("output['Zeb", False),
        ("value being above 41.25", False),
        ("value being above 41", False),
        ("value being above 30 of output", True),
        ("being floating-point noise (centre 41, scale 2, 53 bits)", False),
        ("being floating-point noise (centre 0, scale 30, 53 bits)", True),
        ("membership of 41 of output", False),
        ("membership of (4, 1) of output", False),
        ("membership of 'income' of output", True),
        ("occurrence of the word 'above 41x' in output", False),
        ("presence of 30 of output", True),
        ("check digit by Luhn's formula of output['income']", True),
        ("check digit by Luhn's formula of output['Zeb']", False),
        ("sum of neighbours' products of output['income']", True),
        ("first 3 characters of 'neighbours' Zeb'", False),
        ('output["neighbours\' sum"]', False),
        ("neighbours' Zeb", False),
        ("remainder by 555019", False),
    ],
)
def test_names_of_features_consist_of_our_words_positions_and_columns(name: str, shown: bool) -> None:
    assert Coarse(names=frozenset({"income"}), given=frozenset({30.0}), common=frozenset({"30"})).name(name) is shown


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

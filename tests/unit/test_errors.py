"""Errors carry their parameter, travel between processes, and speak to whoever called: in Python, or in options."""

from __future__ import annotations

import pickle

import pytest

from dpaudit.errors import InputError


def in_options(name: str, value: str | None) -> str:
    return f"--{name}" if value in (None, "True") else f"--{name} {value}"


TEMPLATE = InputError(
    "{curve:=True} takes at most {most:g} runs, {trials:={given}} makes {made}: lower {trials}",
    names=("trials", "curve"), value=10, most=1e6, given=10, made="{more}",
)  # fmt: skip


@pytest.mark.parametrize(
    ("error", "python", "options"),
    [
        (InputError("a {plain} text"), "a {plain} text", "a {plain} text"),
        (InputError.of("n", 0, "an integer >= 1"), "n must be an integer >= 1, got 0", None),
        (InputError.of("n", "{0}", "in (0, 1)", "take {n}"), "n must be in (0, 1), got '{0}'; take {n}", None),
        (InputError.among("mode", "c", ("a", "b")), "mode must be one of a, b; got 'c'", None),
        (
            TEMPLATE,
            "curve=True takes at most 1e+06 runs, trials=10 makes {more}: lower trials",
            "--curve takes at most 1e+06 runs, --trials 10 makes {more}: lower --trials",
        ),
    ],
)
def test_a_message_speaks_the_caller_s_language_also_after_a_journey(error, python, options):
    for each in (error, pickle.loads(pickle.dumps(error))):
        assert str(each) == python
        assert each.worded(in_options) == (f"--{python}" if options is None else options)
        assert (each.parameter, each.value, each.allowed) == (error.parameter, error.value, error.allowed)


def test_an_error_knows_what_was_given_and_what_is_allowed():
    error = InputError.of("n", 0, "an integer >= 1")
    assert (error.parameter, error.value, error.allowed) == ("n", 0, "an integer >= 1")
    assert (TEMPLATE.parameter, TEMPLATE.value) == ("trials", 10)
    assert InputError("no file").parameter is None


def test_a_value_that_does_not_pickle_travels_as_text():
    value = (lambda: 0, "x" * 1000)
    error = InputError.of("pairs", value, "pairs")
    assert pickle.loads(pickle.dumps(error)).value == repr(value)
    assert len(str(error)) < 150

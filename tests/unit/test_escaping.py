"""Foreign text becomes harmless: one visible line that a file can hold."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.escaping import printable, printable_page, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, \u03b5 \u2264 1\N{NO-BREAK SPACE}%", "plain words, \u03b5 \u2264 1\N{NO-BREAK SPACE}%"),
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("a\r\nb\tc\0\x7f", "a\\r\\nb\\tc\\x00\\x7f"),
        ("a\x85b\x9b1mc", "a\\x85b\\x9b1mc"),
        ("a\u202eb\u2066c\u200fd", "a\\u202eb\\u2066c\\u200fd"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("a\ud800b\udfffc", "a\\ud800b\\udfffc"),
        ("a\u200bb\ufeffc\U000e0041d", "a\\u200bb\\ufeffc\\U000e0041d"),
    ],
)
def test_foreign_text_becomes_harmless(text, shown):
    assert printable(text) == shown


@given(st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Lu", "Mn", "So", "Zs"])))
def test_harmless_text_is_one_visible_line_that_a_file_can_hold(text):
    shown = printable(text)
    shown.encode()
    assert not {unicodedata.category(c) for c in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert len(shown.splitlines()) <= 1
    assert printable(shown) == shown


@given(st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Lu"])))
def test_a_page_keeps_its_lines_and_colours_and_nothing_else(text):
    assert printable_page(f"one\n\ttwo\x1b[1;31mred\x1b[0m\n{printable(text)}\n").endswith(f"\n{printable(text)}\n")
    shown = printable_page(text)
    assert not {unicodedata.category(c) for c in shown if c not in "\n\t\x1b"} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert shown.count("\x1b") == text.count("\x1b[m") == 0


@pytest.mark.parametrize(
    ("text", "shown"), [("x" * 30, "x" * 30), ("a" * 20 + "b" * 20, "a" * 20 + " [...] " + "b" * 10)]
)
def test_what_is_long_loses_its_middle(text, shown):
    assert shortened(text, 30) == shown

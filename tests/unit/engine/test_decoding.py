"""Codes in words: what the outputs stand for that a finding names."""

import pytest

from dpaudit.engine.decoding import decoded, named_codes


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("7", [7]),
        ("-1", [-1]),
        ("(1, 2)", []),
        ("output in {3}", [3]),
        ("output in {-1, 3..5}", [-1, 3, 4, 5]),
        ("output in {-1..1, 7} or any output rare or unseen in training", [-1, 0, 1, 7]),
        ("output in {1..5}", []),
        ("output in {1, 2, 3, 4, 5}", []),
        ("output in {0..1000000000000}", []),
        ("output in {1, 2, ... (40 outputs)}", []),
        ("output in {(1, 2), 3}", []),
        ("output in {0.5}", []),
        ("ranked histogram in [1, inf)", []),
        ("no single event", []),
    ],
)
def test_codes_that_are_named(text, codes):
    assert named_codes(text) == codes


class Learner:
    def decode(self, code):
        if code > 5:
            raise ValueError(code)
        return {0: None, 1: "v1 and not v2", 2: object(), 3: "x" * 61, 4: "two\nlines", 5: "x" * 60}[code]


def test_words_that_are_long_or_differ_from_run_to_run_are_left_out():
    words = {code: decoded(Learner(), {"kind": "exact", "worst_atom": str(code)}) for code in range(-1, 7)}
    assert words == {
        -1: {"-1": "failure"},
        0: {"0": "failure"},
        1: {"1": "v1 and not v2"},
        2: {},
        3: {},
        4: {},
        5: {"5": "x" * 60},
        6: {},
    }


def test_an_event_names_several():
    finding = {"kind": "privacy", "witness": {"event": "output in {-1, 1, 5}"}}
    assert decoded(Learner(), finding) == {"-1": "failure", "1": "v1 and not v2", "5": "x" * 60}

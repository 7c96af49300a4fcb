"""Codes in words: what the outputs stand for that a finding names."""

import pytest
from toy_records import law_finding, privacy_finding, utility_finding

from dpaudit.events.event import Bets, Cells, Interval
from dpaudit.evidence.records import codes_of, decoded


@pytest.mark.parametrize(
    ("named", "codes"),
    [
        (Cells("output", ((3, 3),)), [3]),
        (Cells("output", ((-1, -1), (3, 5))), [-1, 3, 4, 5]),
        (Cells("output", ((-1, 1), (7, 7)), rare=True), [-1, 0, 1, 7]),
        (Cells("output", ((1, 5),)), []),
        (Cells("output", tuple((i, i) for i in range(0, 10, 2))), []),
        (Cells("output", ((0, 10**12),)), []),
        (Cells("output", ((3, 3),), values=("(1, 2)",)), []),
        (Cells("output", (), values=("0.5",)), []),
        (Cells("logistic", ((3, 3),)), []),
        (Interval("ranked histogram", 1.0, float("inf")), []),
        (Bets(10, 1.0), []),
    ],
)
def test_codes_that_are_named(named, codes):
    assert codes_of(named) == codes


class Learner:
    def decode(self, code):
        if code > 5:
            raise ValueError(code)
        return {0: None, 1: "v1 and not v2", 2: object(), 3: "x" * 61, 4: "two\nlines", 5: "x" * 60}[code]


def test_words_that_are_long_or_differ_from_run_to_run_are_left_out():
    words = {code: decoded(Learner(), law_finding(worst_atom=str(code), worst_code=code)) for code in range(-1, 7)}
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


def test_an_output_that_is_no_integer_has_no_code():
    assert decoded(Learner(), law_finding(worst_atom="1")) == {}


def test_an_event_names_several():
    finding = privacy_finding(event=Cells("output", ((-1, -1), (1, 1), (5, 5))))
    assert decoded(Learner(), finding) == {"-1": "failure", "1": "v1 and not v2", "5": "x" * 60}
    assert decoded(Learner(), utility_finding()) == {}

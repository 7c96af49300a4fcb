"""Gaps in the evidence and checks of randomness, in words."""

from __future__ import annotations

import typing

import pytest

from dpaudit.audit import evidence as gaps
from dpaudit.audit.evidence import Answer, Check, CheckName
from dpaudit.report.evidence import check_words, gap_words

GAPS = [
    (gaps.AllRaised(9, 9, "ValueError: no"), "every run ended in an exception, most often ValueError: no"),
    (gaps.AllRaised(1_999, 2_000, "ValueError"), "1,999 of 2,000 runs ended in an exception, most often ValueError"),
    (gaps.Constant(2_000, 2_000), "every run had one outcome, on both sides"),
    (gaps.Constant(1_990, 2_000), "1,990 of 2,000 runs had one outcome, on both sides"),
    (gaps.Identical(1), "both inputs are the same in all of 1 pair"),
    (
        gaps.FewRuns(16, 20, 26),
        "16 runs a side decided, and 20 is the least number that can refute the claim: at least 26",
    ),
    (gaps.Powerless(), "these runs would have detected no leak, however large"),
    (gaps.NotLookedAt(("output[2]", "dtype")), "not looked at: output[2], dtype"),
    (gaps.Meaningless(CheckName.WORKERS), "workers repeat each other's streams"),
]


@pytest.mark.parametrize(("gap", "words"), GAPS)
def test_every_gap_has_words(gap, words):
    assert gap_words(gap).startswith(words)


def test_no_kind_of_gap_is_forgotten():
    assert {type(gap) for gap, _ in GAPS} == set(typing.get_args(gaps.Gap))


@pytest.mark.parametrize("name", CheckName)
@pytest.mark.parametrize("answer", Answer)
def test_every_check_has_words(name, answer):
    check = Check(name, answer, 8)
    assert check_words(check)
    assert check.meaningless == (answer == Answer.DEPENDS)
    if check.meaningless:
        assert gap_words(gaps.Meaningless(name)) == check_words(check)

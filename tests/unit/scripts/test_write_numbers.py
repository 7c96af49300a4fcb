"""The script that puts the numbers that are printed into the pages."""

from __future__ import annotations

from bench_scripts import script


def test_numbers_that_are_printed_take_the_place_of_those_shown() -> None:
    renewed = script("writers.numbers").renewed
    shown = "shows >= 1.97 (99.9 % sure)\n...\n1,000 of 2,000 in 3 s\n"
    printed = "shows >= 1.92 (99.9 % sure)\nmore\n1,010 of 2,000 in 5 s\n"
    assert renewed(shown, printed, 0.05) == "shows >= 1.92 (99.9 % sure)\n...\n1,010 of 2,000 in 3 s\n"
    assert renewed(shown, printed, 0.001) is None
    assert renewed(shown, printed.replace("shows", "hides"), 0.05) is None

"""A test in two stages fails as often as it says, and only where the test of all outcomes does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from two_stages import TwoStages


def fails(stages: TwoStages, outcomes: Sequence[bool]) -> tuple[bool, int]:
    """Return whether the test fails, and how many outcomes it asked for."""
    asked: list[int] = []

    def of(seeds: Sequence[int]) -> list[bool]:
        asked.extend(seeds)
        return [outcomes[seed] for seed in seeds]

    try:
        stages.hold(of, range(len(outcomes)))
    except AssertionError:
        return True, len(asked)
    return False, len(asked)


@pytest.mark.parametrize("stages", [TwoStages(8, 3, 3), TwoStages(8, 2, 4, 1), TwoStages(7, 2, 2, 2)])
def test_it_fails_as_often_as_all_series_of_outcomes_say(stages: TwoStages) -> None:
    for rate in (0.1, 0.5, 0.8):
        found = 0.0
        for outcomes in product((False, True), repeat=stages.number):
            failed, asked = fails(stages, outcomes)
            ends = sum(outcomes[: stages.first]) <= stages.few
            assert failed is (sum(outcomes) > stages.most and not ends)
            assert asked == (stages.first if ends else stages.number)
            found += failed * rate ** sum(outcomes) * (1 - rate) ** (stages.number - sum(outcomes))
        assert stages.failing(rate) == pytest.approx(found, abs=1e-12)

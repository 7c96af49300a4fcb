"""The auditor audited: how often it accuses at the exact boundary, and detects a mechanism with less noise.

`scripts/calibrate.py` asks the same questions of many more audits.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from auditor_cases import BY_NAME, CASES
from auditor_trials import LEVEL, Trial, predicted_bets, predicted_runs, seeds_of, skip_power, trials_for
from scipy.stats import binom
from two_stages import TwoStages

from dpaudit.audit.power import Power

ALARM = 1e-4
"""A test of a level or of a power fails for a correct auditor with at most this probability over seeds."""
RUNS = 300
"""Runs a side where a level is counted: it is one at every number of runs."""
SOME = ("geometric", "response with leak", "Laplace", "Gaussian", "bits", "clamped Laplace")


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    """Leave out what no verdict depends on, in this module only."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("of_test", "of_bets"):
            patch.setattr(Power, name, getattr(Power, name))
        skip_power()
        yield


def accusations(trial: Trial, number: int) -> int:
    return sum(trial.accused(seeds_of(trial, number)))


def most(number: int) -> int:
    return int(binom.isf(ALARM, number, LEVEL))


AT_THE_LEVEL = TwoStages(16, most(16), first=6)
"""Of 16 audits 5 may accuse, and after 6 without an accusation the others are not made."""
WITHOUT_SIGNAL = TwoStages(8, most(8), first=3)
GIVEN, LEAST_GIVEN = TwoStages(1_000, most(1_000), first=400, few=22), int(binom.ppf(ALARM, 1_000, 0.03))
MISSES_OF_EVENT, MISSES_OF_BETS = (
    TwoStages(n, n - int(binom.ppf(ALARM, n, 0.95)), first, few) for n, first, few in ((100, 40, 2), (50, 20, 1))
)
MISSES_OF_DESIGN, MISSES_OF_SEQUENTIAL = TwoStages(10, 1, first=6), TwoStages(20, 2, first=10)


def rarely_accuses(trial: Trial, stages: TwoStages) -> None:
    stages.hold(trial.accused, seeds_of(trial, stages.number))


def rarely_misses(trial: Trial, stages: TwoStages) -> None:
    stages.hold(lambda seeds: [not found for found in trial.accused(seeds)], seeds_of(trial, stages.number))


def test_the_tests_see_what_they_are_said_to_see() -> None:
    stated = [(AT_THE_LEVEL, 0.5, 0.889), (WITHOUT_SIGNAL, 0.75, 0.882), (GIVEN, 0.1, 0.992)]
    stated += [(MISSES_OF_EVENT, 0.2, 0.869), (MISSES_OF_BETS, 0.3, 0.918), (MISSES_OF_DESIGN, 0.4, 0.929)]
    stated += [(MISSES_OF_SEQUENTIAL, 0.3, 0.947)]
    for stages, rate, probability in stated:
        assert stages.failing(rate) == pytest.approx(probability, abs=6e-4)
    for stages in (AT_THE_LEVEL, WITHOUT_SIGNAL, GIVEN):
        assert stages.failing(LEVEL) <= ALARM


SLOW_BETS = {("sequential", case) for case in ("bits", "Gaussian", "clamped Laplace", "Laplace, 4 numbers")}
ELSEWHERE = {("sequential", "geometric"), ("sequential", "response with leak")}
"""Cases of the full profile alone: `test_sequential_calibration` counts them over more audits in every profile."""


@pytest.mark.parametrize(
    ("case", "design"),
    [
        # Bets on three of them take longest.
        pytest.param(case, design, marks=[pytest.mark.full] if (design, case) in SLOW_BETS | ELSEWHERE else [])
        for case in SOME
        for design in ("fixed", "sequential")
    ],
)
def test_a_claim_that_holds_with_equality_is_rarely_refuted(case: str, design: str) -> None:
    # An auditor whose true level is 0.5 would be seen with probability 0.89.
    rarely_accuses(Trial(case, "boundary", design, trials=RUNS), AT_THE_LEVEL)


DESIGNS, NOTHING = ("fixed", "sequential"), ("no signal", "swapped")
VARIED = ("geometric", "Gaussian", "Laplace, 4 numbers", "number, None, text, error")
SQUARE = [
    pytest.param(case, condition, design, marks=[pytest.mark.full] * ((i + j + k) % 2 or (design, case) in SLOW_BETS))
    for i, case in enumerate(VARIED)
    for j, condition in enumerate(NOTHING)
    for k, design in enumerate(DESIGNS)
]
"""Every two of a mechanism, a condition and a design meet in all profiles, all three in the full one."""


@pytest.mark.parametrize(("case", "condition", "design"), SQUARE)
def test_neither_no_signal_nor_the_wrong_order_is_a_leak(case: str, condition: str, design: str) -> None:
    # An auditor whose true level is 0.75 would be seen with probability 0.88 in each case.
    rarely_accuses(Trial(case, condition, design, trials=RUNS), WITHOUT_SIGNAL)


def test_thirty_two_equal_temptations_are_no_leak() -> None:
    # Taking the best of 32 pairs without paying for it accuses in three of four audits: seen with probability 0.88.
    for design in ("fixed", "sequential"):
        rarely_accuses(Trial("geometric", design=design, pairs=32, trials=300), WITHOUT_SIGNAL)


@pytest.mark.full  # `unit/audit` compares whole findings of one process and of two
def test_two_jobs_accuse_whom_one_accuses() -> None:
    for design in ("fixed", "sequential"):
        one, two = (Trial("Laplace", design=design, jobs=jobs) for jobs in (1, 2))
        seeds = seeds_of(one, 1)
        assert one.accused(seeds) == two.accused(seeds)


@pytest.mark.parametrize("case", [c.name for c in CASES if c.batched])
def test_an_event_fixed_in_advance_is_judged_at_the_level(case: str) -> None:
    # A true level of 0.1 would be seen with probability 0.99; a level of 0 that nothing is tested.
    trial = Trial(case, "boundary", "given")
    accused = accusations(trial, GIVEN.first)
    if not LEAST_GIVEN <= accused <= GIVEN.few:
        accused = accusations(trial, GIVEN.number)
    assert 0 < LEAST_GIVEN <= accused <= GIVEN.most


WEAK = ("geometric", "Gaussian")


@pytest.mark.parametrize("case", [c.name for c in CASES if c.batched])
def test_a_signal_of_the_wrong_sign_is_nothing(case: str) -> None:
    # The event is less likely on the assumed side by a factor of e: even 1 of 100 would be far too many.
    assert accusations(Trial(case, "wrong sign", "given"), 100) == 0


@pytest.mark.parametrize(
    ("case", "noise"),
    [
        # A weak leak takes more runs: of two cases in every profile, pure and with delta, of all in the full.
        pytest.param(c.name, noise, marks=[pytest.mark.full] * (noise == 0.9 and c.name not in WEAK))
        for c in CASES
        if c.batched
        for noise in (0.9, 0.7)
    ],
)
def test_a_given_event_detects_with_the_runs_that_are_predicted(case: str, noise: float) -> None:
    runs = predicted_runs(BY_NAME[case], noise)
    # A power of 0.8 instead of 0.95 would be seen with probability 0.87.
    rarely_misses(Trial(case, "boundary", "given", runs, noise=noise), MISSES_OF_EVENT)
    # A tenth of the runs must not do, or the prediction says nothing: a power of 0.85 would be seen with probability
    # 0.99.
    assert accusations(Trial(case, "boundary", "given", max(10, runs // 10), noise=noise), 40) < 0.7 * 40


@pytest.mark.parametrize(
    "case",
    # Two cases are held to the level, and to the power on a given event, in every profile: these tests are above.
    [pytest.param(case, marks=[pytest.mark.full] * (case in ("bits", "clamped Laplace"))) for case in SOME],
)
def test_thirty_percent_less_noise_is_detected(case: str) -> None:
    # With three times the predicted runs the event can be learned too: at least 9 of 10 seeds detect it, or the first 6
    # of them; a power of 0.6 would be seen with probability 0.93. That the same design rarely accuses where the noise
    # is right is the first test's question.
    runs = trials_for(3 * predicted_runs(BY_NAME[case], 0.7))
    rarely_misses(Trial(case, "boundary", "fixed", runs, noise=0.7), MISSES_OF_DESIGN)


@pytest.mark.parametrize(
    "case",
    # With delta > 0 bets are given events of known probabilities in `tests/oracle/test_sequential_power.py` too.
    [
        "randomised response",
        *(pytest.param(case, marks=pytest.mark.full) for case in ("response with leak", "Laplace")),
    ],
)
def test_bets_on_a_given_event_detect_with_the_runs_that_are_predicted(case: str) -> None:
    # A power of 0.7 instead of 0.95 would be seen with probability 0.92.
    runs = predicted_bets(BY_NAME[case], 0.7)
    rarely_misses(Trial(case, "boundary", "bets given", runs, noise=0.7), MISSES_OF_BETS)
    # A third of the runs must not do, or the prediction says nothing: a power of 0.85 would be seen with probability
    # 0.91.
    assert accusations(Trial(case, "boundary", "bets given", runs // 3, noise=0.7), 12) < 0.7 * 12


def test_bets_on_a_given_event_refute_no_claim_that_holds() -> None:
    rarely_accuses(Trial("Laplace", "boundary", "bets given"), AT_THE_LEVEL)


def test_sequential_audits_detect_with_some_more_runs() -> None:
    runs = 2 * predicted_bets(BY_NAME["geometric"], 0.7)
    # At most 2 of 20 miss it, or none of the first 10: a power of 0.7 would be seen with probability 0.95.
    rarely_misses(Trial("geometric", "boundary", "sequential", runs, noise=0.7), MISSES_OF_SEQUENTIAL)

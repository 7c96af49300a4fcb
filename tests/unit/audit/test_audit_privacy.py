"""The black-box audit from the outside: verdicts, determinism, any output, bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from two_stages import TwoStages

import dpaudit
from dpaudit.errors import InputError
from dpaudit.events.event import Cells
from dpaudit.events.expected_bound import PlannedTest, learnable_delta, learnable_epsilon
from tests.support.grouped import grouped


def randomised_response(bit: int, rng: np.random.Generator) -> int:
    return bit if rng.random() < 0.75 else 1 - bit


def batched_response(bit: int, rng: np.random.Generator, size: int) -> np.ndarray:
    return np.where(rng.random(size) < 0.75, bit, 1 - bit)


def geometric(count: int, rng: np.random.Generator, size: int) -> np.ndarray:
    p = 1 - np.exp(-1.0)
    return count + rng.geometric(p, size) - rng.geometric(p, size)


def laplace(count: float, rng: np.random.Generator, size: int) -> np.ndarray:
    return count + rng.laplace(0.0, 1.0, size)


TRUTH = np.log(3.0)


def test_a_leak_is_detected_and_the_witness_can_be_checked_by_hand() -> None:
    finding = dpaudit.audit_privacy(batched_response, [(0, 1)], epsilon=0.9, trials=50_000, batched=True)
    assert finding.verdict == "violation"
    # At confidence 0.95 the bound may exceed the truth in one seed of twenty; this seed is one of the others.
    assert 1.05 < finding.epsilon_lower < TRUTH
    witness = finding.witness
    assert witness.event in (Cells("output", ((0, 0),)), Cells("output", ((1, 1),)))
    assert witness.hits + witness.neighbour_hits == pytest.approx(finding.confirmation_trials, rel=0.02)
    assert finding.selection_trials + finding.confirmation_trials == finding.trials


def test_a_true_claim_is_consistent_and_says_what_would_have_been_seen() -> None:
    finding = dpaudit.audit_privacy(batched_response, [(0, 1)], epsilon=1.2, trials=50_000, batched=True)
    assert finding.verdict == "consistent"
    assert 1.2 < finding.detectable_epsilon < 1.3


@pytest.mark.parametrize("mechanism", [batched_response, geometric, laplace])
def test_no_signal_gives_nothing(mechanism: Any) -> None:
    def deaf(data: int, rng: np.random.Generator, size: int) -> Any:
        return mechanism(1, rng, size)

    def positive(seed: int) -> bool:
        found = dpaudit.audit_privacy(deaf, [(0, 1)], epsilon=0.1, trials=2_000, batched=True, seed=seed)
        return found.epsilon_lower > 0

    # Each is positive with probability at most 0.05: 7 or more of 12 happen with probability below 1e-6. Where nine of
    # ten are, the test fails with probability 0.99.
    stages = TwoStages(12, 6, first=4, few=1)
    assert stages.failing(0.05) < 1e-6
    assert stages.failing(0.9) > 0.99
    stages.hold(lambda seeds: list(map(positive, seeds)), range(stages.number))


def test_both_directions_are_tried() -> None:
    forward = dpaudit.audit_privacy(batched_response, [(0, 1)], epsilon=0.5, trials=20_000, batched=True)
    backward = dpaudit.audit_privacy(batched_response, [(1, 0)], epsilon=0.5, trials=20_000, batched=True)
    assert forward.verdict == backward.verdict == "violation"


def one_sided(bit: int, rng: np.random.Generator, size: int) -> np.ndarray:
    """Return 7 with probability 0.01 on input 1 only: visible in one direction, by support."""
    return np.where((rng.random(size) < 0.01) & (bit == 1), 7, 0)


@pytest.mark.parametrize(("pair", "direction"), [((0, 1), "backward"), ((1, 0), "forward")])
def test_a_support_mismatch_is_seen_from_either_side(pair: tuple[int, int], direction: str) -> None:
    finding = dpaudit.audit_privacy(one_sided, [pair], epsilon=1.0, trials=20_000, batched=True)
    assert finding.verdict == "violation"
    assert finding.witness.direction == direction
    assert finding.witness.neighbour_hits == 0


def test_the_finding_is_the_same_for_any_number_of_jobs_and_backend() -> None:
    pairs = [(0, 0), (0, 1), (1, 1)]
    results = [
        dpaudit.audit_privacy(
            batched_response,
            pairs,
            epsilon=0.5,
            trials=4_000,
            batched=True,
            n_jobs=n_jobs,
            execution=dpaudit.Execution(backend=backend),
            seed=3,
        )
        for n_jobs, backend in ((1, None), (2, "loky"), (2, "threading"), (2, "multiprocessing"))
    ]
    assert all(result == results[0] for result in results[1:])
    assert results[0].witness.pair == 1
    other = dpaudit.audit_privacy(batched_response, pairs, epsilon=0.5, trials=4_000, batched=True, seed=4)
    assert other.witness.hits != results[0].witness.hits


def test_the_search_finds_the_one_leaking_pair() -> None:
    pairs = [(i, i) for i in range(31)] + [(0, 1)]
    finding = dpaudit.audit_privacy(geometric, pairs, epsilon=0.8, trials=2_000, batched=True, seed=3)
    assert finding.witness.pair == 31
    assert finding.verdict == "violation"
    assert finding.pairs == 32
    assert any("pair 0: both inputs are the same" in text for text in finding.warnings)


def test_exceptions_are_outputs() -> None:
    def fragile(bit: int, rng: np.random.Generator) -> str:
        if bit and rng.random() < 0.2:
            raise ZeroDivisionError("secret")
        return "fine"

    finding = dpaudit.audit_privacy(fragile, [(0, 1)], epsilon=1.0, trials=2_000)
    assert finding.verdict == "violation"
    assert finding.witness.event == Cells("exception", (), ("ZeroDivisionError",))


def test_interrupts_are_not_outputs() -> None:
    def interrupted(bit: int, rng: np.random.Generator) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dpaudit.audit_privacy(interrupted, [(0, 1)], epsilon=1.0, trials=1_000)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda bit: ("answer", bit),
        lambda bit: {"bit": bit, "nothing": None},
        lambda bit: [bit] * (bit + 1),
        lambda bit: "yes" if bit else "no",
        lambda bit: b"1" if bit else b"0",
        lambda bit: np.array([bit, 0.5]),
        lambda bit: float("nan") if bit else 0.0,
        lambda bit: -0.0 if bit else 0.0,
        lambda bit: None if bit else 0,
    ],
)
def test_any_output_can_be_audited(wrap: Any) -> None:
    finding = dpaudit.audit_privacy(
        lambda bit, rng: wrap(randomised_response(bit, rng)), [(0, 1)], epsilon=0.5, trials=4_000
    )
    assert finding.verdict == "violation"


def test_a_continuous_leak_is_detected() -> None:
    found = [
        dpaudit.audit_privacy(
            laplace, [(0.0, 2.0)], epsilon=1.0, trials=40_000, batched=True, seed=seed, confidence=0.95
        )
        for seed in range(5)
    ]
    assert {finding.verdict for finding in found} == {"violation"}
    # The best event known beforehand would give 1.97 on average; one unlucky choice of an event costs a tenth.
    lowers = sorted(finding.epsilon_lower for finding in found)
    assert lowers[0] > 1.7
    assert 1.95 < lowers[2] < 2.0


def test_a_learner_brings_its_claim_and_its_pairs() -> None:
    learner = dpaudit.pac.get_learner("parity-private", epsilon=1.0, dimension=2)
    finding = dpaudit.audit_privacy(learner, pairs="crafted:4", trials=5_000)
    assert (finding.epsilon, finding.delta, finding.relation) == (1.0, 0.0, "replace-one")
    assert finding.verdict == "consistent"
    assert finding.epsilon_lower <= np.log(1.25 / 0.75)
    assert finding.witness.origin.kind == "crafted"


def too_few(data: Any, rng: np.random.Generator, size: int) -> np.ndarray:
    return np.zeros(size - 1, dtype=int)


GOOD: dict[str, Any] = {"pairs": [(0, 1)], "epsilon": 1.0, "trials": 1000, "batched": True}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epsilon": -1.0}, "epsilon must be a finite number >= 0, got -1.0"),
        ({"epsilon": float("nan")}, "epsilon must be a finite number >= 0, got nan"),
        ({"epsilon": None}, "epsilon must be given"),
        ({"delta": 1.0}, r"delta must be in \[0, 1\), got 1.0"),
        ({"delta": -0.1}, r"delta must be in \[0, 1\), got -0.1"),
        ({"confidence": 0.5}, r"confidence must be in \(0.5, 1\), got 0.5"),
        ({"confidence": 1}, r"confidence must be in \(0.5, 1\), got 1"),
        ({"trials": 0}, "trials must be an integer >= 10, got 0"),
        ({"trials": 1.5}, "trials must be an integer"),
        ({"seed": -1}, "seed must be a non-negative integer, got -1"),
        ({"relation": "close"}, "relation must be one of replace-one, add-remove-one, replace-private; got 'close'"),
        ({"sequential": True, "curve": True}, "so it takes no curve"),
        ({"batched": False}, r"mechanism must take \(data, rng\)"),
        ({"pairs": None}, "pairs must be given"),
        ({"pairs": []}, "pairs must hold at least one"),
        ({"pairs": [0]}, "pair 0 must be a tuple"),
    ],
)
def test_bad_input_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        dpaudit.audit_privacy(batched_response, **grouped(**{**GOOD, **changed}))


def test_a_mechanism_that_returns_the_wrong_number_of_outputs_is_refused() -> None:
    with pytest.raises(InputError, match="was asked for 32 outputs and returned 31"):
        dpaudit.audit_privacy(too_few, **grouped(**GOOD))
    with pytest.raises(InputError, match="mechanism must be a learner or a callable"):
        dpaudit.audit_privacy(3, **grouped(**GOOD))


def own_noise(data: list[float]) -> float:
    return sum(data) + float(np.random.default_rng().laplace())


def by_keyword(data: list[float], *, generator: np.random.Generator) -> float:
    return sum(data) + float(generator.laplace())


def test_a_generator_may_be_passed_by_keyword_and_not_at_all_where_randomness_is_its_own() -> None:
    pairs = [([0.0], [1.0])]
    found = dpaudit.audit_privacy(by_keyword, pairs, epsilon=1.0, trials=1e2)
    assert found.trials == 100
    assert found.call == "dpaudit.audit_privacy(by_keyword, [([0.0], [1.0])], epsilon=1.0, trials=100.0)"
    dpaudit.audit_privacy(own_noise, pairs, epsilon=1.0, trials=100, randomness="own")
    with pytest.raises(InputError, match="own_noise takes no generator; if its randomness is its own, pass randomness"):
        dpaudit.audit_privacy(own_noise, pairs, epsilon=1.0, trials=100)


def test_numbers_of_numpy_are_repeated_as_numbers() -> None:
    found = dpaudit.audit_privacy(by_keyword, [([0.0], [1.0])], epsilon=1.0, trials=100, delta=np.float64(1e-5))
    assert "delta=1e-05" in found.call


FEW, MORE, FRAME = [0, 0, 0], [0, 0, 0, 1], pd.DataFrame({"age": [31, 47]})


@pytest.mark.parametrize(
    ("pair", "relation", "right"),
    [
        ((FEW, MORE), "add-remove-one", True),
        ((FEW, MORE), "replace-one", False),
        ((FEW, [0, 2, 0]), "replace-one", True),
        ((FEW, [1, 1, 1]), "replace-one", False),
        ((MORE, MORE[::-1]), "replace-one", True),  # the same records: nothing differs, which the audit finds
        ((np.zeros((3, 2)), np.eye(3)[:, :2]), "replace-one", False),
        ((FRAME, FRAME.iloc[:1]), "add-remove-one", True),
        ((FRAME, FRAME + 1), "add-remove-one", False),
        ((0, 5), "replace-one", True),  # no datasets
    ],
)
def test_pairs_of_datasets_are_checked_against_a_relation_that_is_given(pair: Any, relation: str, right: bool) -> None:
    def release(data: Any, rng: np.random.Generator) -> float:
        return float(rng.laplace())

    if right:
        dpaudit.audit_privacy(release, [pair], epsilon=1.0, relation=relation, trials=10)
    else:
        with pytest.raises(InputError, match=f"pair 0 is not a pair of neighbours under {relation}: .* leave relation"):
            dpaudit.audit_privacy(release, [pair], epsilon=1.0, relation=relation, trials=10)
    dpaudit.audit_privacy(release, [pair], epsilon=1.0, trials=10)


def test_samples_that_are_not_neighbours_are_refused() -> None:
    learner = dpaudit.pac.get_learner("parity-private", epsilon=1.0, dimension=2)
    near, far = (learner.domain.sample([[0, 0], [0, 1]], labels) for labels in ([0, 0], [1, 1]))
    with pytest.raises(InputError, match="pair 0 is not a pair of neighbours"):
        dpaudit.audit_privacy(learner, [(near, far)])


def test_the_sequential_design_stops_as_soon_as_the_claim_is_refuted() -> None:
    finding = dpaudit.audit_privacy(
        batched_response,
        [(0, 1), (1, 1)],
        epsilon=0.5,
        trials=50_000,
        batched=True,
        execution=dpaudit.Execution(sequential=True),
        confidence=0.95,
    )
    assert finding.verdict == "violation"
    assert finding.design == "sequential"
    assert finding.budget["used"] < 20_000
    assert 0.5 < finding.epsilon_lower < TRUTH
    assert sum(finding.errors.values()) == pytest.approx(0.05)
    consistent = dpaudit.audit_privacy(
        batched_response,
        [(0, 1)],
        epsilon=1.2,
        trials=5_000,
        batched=True,
        execution=dpaudit.Execution(sequential=True),
    )
    assert consistent.verdict == "consistent"
    assert consistent.budget["used"] <= 10_000


def test_a_curve_shares_the_error_budget() -> None:
    finding = dpaudit.audit_privacy(
        geometric, [(0, 1)], epsilon=1.0, trials=50_000, batched=True, look=dpaudit.Look(curve=True), confidence=0.95
    )
    assert finding.errors == pytest.approx({"verdict": 0.04, "curve": 0.01})
    assert finding.curve is not None
    truth = np.tanh(0.5)  # delta(0) of the geometric mechanism at epsilon = 1 is its total variation
    assert 0.9 * truth < finding.curve.delta_lower(0.0) <= truth
    assert finding.curve.delta_lower(1.0) < 0.01
    assert finding.to_dict()["curve"]["gamma"] == pytest.approx(0.01)


def test_coins_decide_where_delta_is_zero_and_the_options_of_other_bounds_are_gone() -> None:
    def audited(**choice: Any) -> dpaudit.PrivacyFinding:
        return dpaudit.audit_privacy(
            batched_response, [(0, 1)], **grouped(epsilon=0.9, trials=2_000, batched=True, **choice)
        )

    assert (audited().verdict, audited().bound) == ("violation", "coin")
    for gone in ({"strict": True}, {"bound": "melded"}):
        with pytest.raises(TypeError, match=next(iter(gone))):
            audited(**gone)


class Constant:
    def __init__(self, label: int) -> None:
        self.label = label

    def predict(self, points: np.ndarray) -> np.ndarray:
        return np.full(len(points), self.label)


def test_hypotheses_are_compared_by_their_predictions_on_a_probe_set() -> None:
    def learn(bit: int, rng: np.random.Generator) -> Constant:
        return Constant(randomised_response(bit, rng))

    finding = dpaudit.audit_privacy(
        learn, [(0, 1)], epsilon=0.5, trials=4_000, look=dpaudit.Look(probe=np.zeros((3, 1)))
    )
    assert finding.verdict == "violation"
    # Without points a hypothesis is taken apart by its attributes.
    finding = dpaudit.audit_privacy(learn, [(0, 1)], epsilon=0.5, trials=4_000)
    assert finding.verdict == "violation"


def test_the_frontier_rises_as_events_get_rarer() -> None:
    finding = dpaudit.audit_privacy(
        batched_response, [(0, 1)], epsilon=1.2, trials=50_000, batched=True, confidence=0.95
    )
    masses, epsilons = zip(*finding.frontier, strict=True)
    assert list(masses) == sorted(masses, reverse=True)
    assert list(epsilons) == sorted(epsilons)
    assert epsilons[0] > 1.2
    # Training, of some 10,000 runs, must meet an impossible event often enough to have it tested.
    assert finding.detectable_delta > 2 * 15.7 / finding.confirmation_trials
    learned = learnable_delta(10_000, PlannedTest(40_000, 0.0, 0.1 * (1 - finding.confidence)), 1.2)
    assert finding.detectable_delta == pytest.approx(learned, rel=0.05)


def test_no_rare_event_is_learned_that_never_happens_on_one_side() -> None:
    test = PlannedTest(100, 0.25, 0.01)
    assert learnable_epsilon(0.0, 200, test, 1.0) == math.inf
    assert 1.0 < learnable_epsilon(0.01, 20_000, test, 1.0) < math.inf

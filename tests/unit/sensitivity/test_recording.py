"""Recorded noise: wrong sensitivities are proved with their line, and right mechanisms are not accused."""

from __future__ import annotations

import math
import random
import sys
from contextlib import suppress
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpaudit import InputError, RecordedFinding, audit_sensitivity, recording
from dpaudit.sensitivity.tracing import TracedArray, TracedFloat, noise_of

ROWS = [round(float(x), 3) for x in np.random.default_rng(0).random(50)]
KINDS = [int(x) for x in np.random.default_rng(0).integers(0, 5, 50)]


def of_mechanism(mechanism: Any, **settings: Any) -> RecordedFinding:
    found = audit_sensitivity(mechanism, **settings)
    assert isinstance(found, RecordedFinding)
    return found


def total(data: Any) -> float:
    return math.fsum(min(max(x, 0.0), 1.0) for x in data if x == x)


def by_argument(data: Any, rng: np.random.Generator) -> Any:
    return total(data) + rng.laplace(scale=2.0)


def by_centre(data: Any, rng: np.random.Generator) -> Any:
    return rng.laplace(total(data), 2.0)


def by_product(data: Any, rng: np.random.Generator) -> Any:
    return 2.0 * rng.laplace() + total(data)


def by_difference(data: Any, rng: np.random.Generator) -> Any:
    return total(data) - rng.laplace(scale=2.0)


def by_numpy(data: Any) -> Any:
    return total(data) + np.random.laplace(0, 2.0)  # noqa: NPY002


def by_random(data: Any) -> Any:
    return total(data) + random.gauss(0, 2.0)


def by_new_generator(data: Any) -> Any:
    return np.float64(total(data)) + np.random.default_rng().laplace(scale=2.0)


def by_state(data: Any) -> Any:
    return total(data) + np.random.RandomState().laplace(scale=2.0)


def by_scipy(data: Any, rng: np.random.Generator) -> Any:
    return total(data) + stats.laplace.rvs(scale=2.0, random_state=rng)


def by_array(data: Any, rng: np.random.Generator) -> Any:
    return np.array([total(data)]) + rng.laplace(scale=2.0, size=1)


def in_place(data: Any, rng: np.random.Generator) -> Any:
    found = np.array([total(data)])
    found += rng.laplace(scale=2.0, size=1)
    return found


def by_series(data: Any, rng: np.random.Generator) -> Any:
    return pd.Series({"total": total(data)}) + rng.laplace(scale=2.0, size=1)


def by_sum(data: Any, rng: np.random.Generator) -> Any:
    return sum([total(data), rng.laplace(scale=2.0)])


FORMS = (
    by_argument, by_centre, by_product, by_difference, by_numpy, by_random, by_new_generator, by_state, by_array,
    in_place, by_series, by_sum,
)  # fmt: skip


@pytest.mark.parametrize("mechanism", [*FORMS, by_scipy])
def test_what_noise_is_added_to_is_known_in_every_form(mechanism: Any) -> None:
    right = of_mechanism(mechanism, data=ROWS, bounds=(0, 1), claim=1)
    assert (right.verdict, right.not_covered, right.beside) == ("not refuted", (), False)
    wrong = of_mechanism(mechanism, data=ROWS, bounds=(0, 1), claim=0.5)
    assert (wrong.verdict, wrong.wrong_sensitivity) == ("violation", True)
    line = mechanism.__code__.co_firstlineno
    place, number = wrong.moves[0].place.split(", line ")
    assert place == "test_recording.py"
    assert line < int(number) <= line + 3
    assert (wrong.moves[0].distance, wrong.moves[0].declared) == (1.0, 0.5)


@pytest.mark.parametrize("mechanism", FORMS)
def test_the_scale_is_known(mechanism: Any) -> None:
    assert of_mechanism(mechanism, data=ROWS, bounds=(0, 1), claim=1).moves[0].scale == 2.0


def noisy_max(data: Any, rng: np.random.Generator) -> int:
    counts = np.bincount(np.clip(data, 0, 4), minlength=5)
    return int(np.argmax(counts + rng.laplace(scale=2.0, size=5)))


def sparse_vector(data: Any, rng: np.random.Generator) -> int:
    threshold = 10 + rng.laplace(scale=2.0)
    for kind in range(5):
        if data.count(kind) + rng.laplace(scale=4.0) >= threshold:
            return kind
    return -1


def smooth_sensitivity(data: Any, rng: np.random.Generator) -> float:
    ordered = np.sort(np.clip(np.nan_to_num(np.array(data, dtype=float)), 0, 1))
    local = max(np.diff(ordered), default=1.0) + 0.5
    return float(np.median(ordered) if len(ordered) else 0.0) + 6 * local * rng.standard_cauchy()


def subsampled(data: Any, rng: np.random.Generator) -> float:
    chosen = np.array(data)[rng.random(len(data)) < 0.3]
    return float(np.clip(np.nan_to_num(chosen), 0, 1).sum()) + rng.laplace(scale=1.0)


@pytest.mark.parametrize(
    ("mechanism", "settings"),
    [
        (noisy_max, {"data": KINDS, "epsilon": 1}),
        (noisy_max, {"data": KINDS, "relation": "replace-one", "epsilon": 1}),
        (noisy_max, {"data": KINDS, "claim": 1, "metric": "linf"}),
        (sparse_vector, {"data": KINDS, "epsilon": 1}),
        (sparse_vector, {"data": KINDS, "claim": 1}),
        (smooth_sensitivity, {"data": ROWS, "epsilon": 1, "relation": "replace-one"}),
        (subsampled, {"data": ROWS, "epsilon": math.log(1 + 0.3 * (math.e - 1)), "relation": "replace-one"}),
        (subsampled, {"data": ROWS, "claim": 1, "relation": "replace-one"}),
    ],
)
def test_right_mechanisms_that_a_naive_replay_convicts_are_not_accused(mechanism: Any, settings: Any) -> None:
    found = of_mechanism(mechanism, **settings)
    assert found.verdict != "violation"
    assert found.moved > 0


def test_subsampling_cannot_be_compared_where_the_sample_has_another_size() -> None:
    found = of_mechanism(subsampled, data=ROWS, claim=1)
    assert (found.verdict, found.diverged) == ("no evidence", found.pairs)
    assert "Generator.random draws an array of shape" in found.why_diverged
    assert any("Generator.random" in one for one in found.not_covered)


def test_a_released_value_alone_refutes_epsilon_and_one_that_is_used_further_does_not() -> None:
    found = of_mechanism(by_argument, data=ROWS, bounds=(0, 1), epsilon=0.4)
    assert (found.verdict, found.wrong_epsilon, found.wrong_sensitivity) == ("violation", True, False)
    assert found.moves[0].loss == pytest.approx(0.5)
    assert of_mechanism(by_argument, data=ROWS, bounds=(0, 1), epsilon=0.5).verdict == "not refuted"

    def thresholded(data: Any, rng: np.random.Generator) -> bool:
        return bool(total(data) + rng.laplace(scale=0.01) > 100)

    assert of_mechanism(thresholded, data=ROWS, bounds=(0, 1), epsilon=0.4).verdict == "not refuted"


@pytest.mark.parametrize("sides", [1, -1])
def test_losses_are_those_of_the_noise_at_delta(sides: int) -> None:
    def gaussian(data: Any, rng: np.random.Generator) -> float:
        return sides * total(data) + rng.normal(0, 1.0)

    # delta(epsilon) = Phi(1/2 - epsilon) - exp(epsilon) Phi(-1/2 - epsilon) (Balle and Wang, Theorem 8).
    epsilon = 2.3
    delta = stats.norm.cdf(0.5 - epsilon) - math.exp(epsilon) * stats.norm.cdf(-0.5 - epsilon)
    assert of_mechanism(gaussian, data=ROWS, bounds=(0, 1), epsilon=2.3, delta=delta * 0.999).verdict == "violation"
    assert of_mechanism(gaussian, data=ROWS, bounds=(0, 1), epsilon=2.3, delta=delta * 1.001).verdict == "not refuted"
    # Laplace noise of scale 2 at delta = .1: epsilon = 1/2 + 2 ln .9.
    assert of_mechanism(by_argument, data=ROWS, bounds=(0, 1), epsilon=0.28, delta=0.1).verdict == "violation"
    assert of_mechanism(by_argument, data=ROWS, bounds=(0, 1), epsilon=0.29, delta=0.1).verdict == "not refuted"


def test_one_noise_for_two_values_is_said() -> None:
    def reused(data: Any, rng: np.random.Generator) -> tuple[float, float]:
        noise = rng.laplace(scale=2.0)
        return total(data) + noise, len(data) + noise

    found = of_mechanism(reused, data=ROWS, bounds=(0, 1), claim=1)
    assert len(found.reused) == 1
    assert "noise is added to more than one value" in str(found)


def test_data_that_are_read_outside_of_the_noise_are_said() -> None:
    def leaking(data: Any, rng: np.random.Generator) -> tuple[float, int]:
        return total(data) + rng.laplace(scale=2.0), len(data)

    found = of_mechanism(leaking, data=ROWS, bounds=(0, 1), claim=1)
    assert (found.beside, found.verdict) == (True, "not refuted")
    assert "data are read elsewhere" in " ".join(str(found).split())


def test_what_is_not_recorded_is_no_evidence() -> None:
    def elsewhere(data: Any) -> float:
        return total(data) + random.SystemRandom().gauss(0, 1)

    found = of_mechanism(elsewhere, data=ROWS, claim=1)
    assert (found.verdict, found.moves) == ("no evidence", ())
    assert any("randomness that is not recorded" in one for one in found.not_covered)

    def response(data: Any, rng: np.random.Generator) -> bool:
        return (len(data) > 50) == (rng.random() < 0.75)

    answer = of_mechanism(response, data=ROWS, epsilon=1)
    assert answer.verdict == "no evidence"
    assert any(one.startswith("Generator.random (test_recording.py, line") for one in answer.not_covered)
    undeclared = of_mechanism(by_argument, data=ROWS)
    assert undeclared.verdict == "no evidence"
    assert "declares no sensitivity" in str(undeclared)


def test_several_numbers_need_a_metric() -> None:
    with pytest.raises(InputError, match="metric must be given: noise is added to 5 numbers at once at test_recording"):
        audit_sensitivity(noisy_max, data=KINDS, claim=1)
    found = of_mechanism(noisy_max, data=KINDS, claim=1, metric="l1", relation="replace-one")
    assert (found.verdict, found.moves[0].distance) == ("violation", 2.0)


class Laplace:
    """A stand-in for a mechanism of diffprivlib."""

    def __init__(self, *, epsilon: float, sensitivity: float) -> None:
        self.epsilon, self.sensitivity = epsilon, sensitivity

    def randomise(self, value: float) -> float:
        return value + self.sensitivity / self.epsilon * random.SystemRandom().expovariate(1.0)


def test_mechanisms_that_declare_a_sensitivity_are_held_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("diffprivlib.mechanisms")
    module.Laplace = Laplace  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "diffprivlib.mechanisms", module)

    def counted(data: Any) -> float:
        return Laplace(epsilon=1.0, sensitivity=0.5).randomise(len(data))

    found = of_mechanism(counted, data=ROWS)
    assert (found.verdict, found.wrong_sensitivity) == ("violation", True)
    assert (found.moves[0].primitive, found.moves[0].declared) == ("diffprivlib.Laplace", 0.5)

    def right(data: Any) -> float:
        return Laplace(epsilon=1.0, sensitivity=1.0).randomise(len(data))

    assert of_mechanism(right, data=ROWS).verdict == "not refuted"


def test_nothing_stays_patched_and_draws_outside_are_plain() -> None:
    before = {name: getattr(np.random, name) for name in ("laplace", "default_rng", "RandomState")}
    with recording() as record:
        inside = record.rng.laplace()
        assert isinstance(inside, TracedFloat)
        assert isinstance(record.rng.laplace(size=3), TracedArray)
    assert {name: getattr(np.random, name) for name in before} == before
    assert not isinstance(record.rng.laplace(), TracedFloat)
    assert random.gauss.__self__ is not record.rng  # type: ignore[attr-defined]
    with pytest.raises(ZeroDivisionError), recording():
        _ = 1 / 0
    assert np.random.laplace is before["laplace"]


def test_noise_behaves_as_the_number_that_it_is() -> None:
    with recording() as record:
        plain = np.random.Generator(np.random.PCG64(0)).laplace(size=4)
        noise = record.rng.laplace(size=4)
        assert noise_of(noise[0]) is not None
        assert noise_of(noise[1:]) is not None
        assert noise_of(noise.reshape(2, 2)) is not None
        assert noise_of(-noise / 2) is not None
        assert noise_of(noise.mean()) is None
        assert noise_of(plain) is None
        assert np.clip(noise[0], 0, 0) == 0
        assert round(noise[0]) == round(float(noise[0]))
        assert np.allclose(np.exp(noise), np.exp(np.asarray(noise.tolist())))
        assert noise_of(record.rng.geometric(0.5) - record.rng.geometric(0.5)) is not None
    assert [draw.primitive.name for draw in record.draws] == ["Generator.laplace", *["Generator.geometric"] * 2]


def test_a_replay_gives_the_output_of_the_recording() -> None:
    with recording(seed=7) as record:
        first = noisy_max(KINDS, record.rng)
    with record.replay() as again:
        second = noisy_max(KINDS[1:], again.rng)
    assert first == second
    (one,), (other,) = record.values, again.values
    assert np.abs(one.value - other.value).sum() == 1
    assert np.array_equal(one.noisy, other.noisy)
    assert not again.diverged
    with record.replay() as third:
        by_argument(ROWS, third.rng)
    assert third.diverged == "on the neighbour Generator.laplace draws one number in place of an array of shape (5,)"


SYSTEM = random.SystemRandom()


def sampled_elsewhere(data: Any) -> float:
    return total([x for x in data if SYSTEM.random() < 0.5]) + np.random.laplace()  # noqa: NPY002


def test_values_that_move_by_randomness_that_is_not_recorded_prove_nothing() -> None:
    found = of_mechanism(sampled_elsewhere, data=ROWS, bounds=(0, 1), claim=0.5)
    assert (found.verdict, found.moves, found.witness) == ("no evidence", (), None)
    assert any("not recorded" in one for one in found.not_covered)


def test_a_random_answer_is_no_function() -> None:
    def answer(data: Any) -> bool:
        return (len(data) > 50) == (SYSTEM.random() < 0.75)

    for _ in range(8):  # of which two calls agree in some, so that it is taken for a function
        with suppress(InputError):
            assert audit_sensitivity(answer, data=ROWS, claim=0).verdict != "violation"


@pytest.mark.parametrize("shape", [list, dict, tuple])
def test_noise_in_containers_is_no_difference_beside_it(shape: Any) -> None:
    def counts(data: Any, rng: np.random.Generator) -> Any:
        made = [(kind, data.count(kind) + rng.laplace(scale=2.0)) for kind in range(5)]
        return shape(made) if shape is dict else shape(noisy for _, noisy in made)

    found = of_mechanism(counts, data=KINDS, claim=1)
    assert (found.verdict, found.beside, found.not_covered) == ("not refuted", False, ())


def one_draw_for_three(data: Any, rng: np.random.Generator) -> Any:
    return np.array([len(data)] * 3) + rng.laplace(scale=1.0)


def of_unknown_scale(data: Any, rng: np.random.Generator) -> Any:
    return rng.multivariate_normal([float(len(data))], [[1e4]])


def test_a_loss_is_stated_only_where_the_noise_is_that_of_the_value() -> None:
    for mechanism in (one_draw_for_three, of_unknown_scale):
        found = of_mechanism(mechanism, data=KINDS, epsilon=1, delta=1e-5 if mechanism is of_unknown_scale else None)
        assert (found.verdict, found.moves[0].loss) == ("not refuted", None)

    def gaussian(data: Any, rng: np.random.Generator) -> Any:
        return np.array([len(data)] * 4) + rng.normal(0, 4, size=4)

    losses = [
        of_mechanism(gaussian, data=KINDS, epsilon=3, delta=1e-5, metric=metric, include_data=True).moves[0].loss
        for metric in ("l1", "l2", "linf")
    ]
    assert losses == pytest.approx([losses[1]] * 3)  # that of the L2 distance 2, whatever the claim is stated in
    assert 1.9 < losses[1] < 2.1  # type: ignore[operator]


def test_counts_hold_after_a_pair_was_made_smaller() -> None:
    def sampled(data: Any, rng: np.random.Generator) -> float:
        chosen = np.array(data)[rng.random(len(data)) < 0.9]
        return float(np.clip(np.nan_to_num(chosen), 0, 1).sum()) + rng.laplace()

    pairs = [([0.5] * 8, [0.5] * 7 + [1.0]), ([0.5] * 3, [0.5] * 4)]
    found = of_mechanism(sampled, pairs=pairs, claim=0.1)
    assert (found.pairs, found.diverged, found.refused) == (2, 1, 0)
    assert RecordedFinding.from_dict(found.to_dict()) == found

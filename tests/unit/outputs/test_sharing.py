"""Outputs that share a part: it is named and left out, unless outputs are lost by it."""

from __future__ import annotations

import dataclasses
import logging
import random
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import dpaudit
from dpaudit.errors import InputError, SharedPart
from dpaudit.outputs.canonical import canonical
from dpaudit.outputs.sharing import in_words, places_of, refuse_shared, shared_part, shared_parts, without
from dpaudit.running.transport import error_as_bytes, error_of
from tests.support.grouped import grouped

PAIRS = [([1, 0], [0, 0])]
KEPT, BROKEN = 1.3, 0.3
"""Claims on the two sides of the true epsilon, 1. Streams are fixed by the seed: no test here fails by chance."""


class Accountant:
    """As that of diffprivlib: all models enter what they spend."""

    def __init__(self) -> None:
        self.spent: list[tuple[float, float]] = []


class Model:
    """As a model of diffprivlib, which holds an accountant beside what it has learned."""

    shared = Accountant()

    def fit(self, rows: list[int], rng: np.random.Generator) -> Model:
        self.accountant = self.shared
        self.accountant.spent.append((1.0, 0.0))
        self.mean_ = np.array([round(sum(rows) + rng.laplace(), 2)])
        return self

    def predict(self, points: Any) -> Any:
        return (np.asarray(points)[:, 0] > self.mean_[0]).astype(int)


def fit(rows: list[int], rng: np.random.Generator) -> Model:
    return Model().fit(rows, rng)


def fit_many(rows: list[int], rng: np.random.Generator, size: int) -> list[Model]:
    return [Model().fit(rows, rng) for _ in range(size)]


@pytest.fixture(autouse=True)
def _accountant_of_one_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what the models of other tests have spent: with what all of them spent a batch takes ten times as long."""
    monkeypatch.setattr(Model, "shared", Accountant())


class Estimator(BaseEstimator, Model):
    """An estimator of scikit-learn's, as those of diffprivlib are: it has a state beside its attributes."""


def fit_estimator(rows: list[int], rng: np.random.Generator) -> Model:
    return Estimator().fit(rows, rng)


NAMED = ("output['accountant'], an Accountant that all runs share and change",)


@pytest.mark.parametrize(
    ("options", "epsilon", "verdict"),
    [
        # Options have one of the two verdicts each in every profile.
        ({}, KEPT, "consistent"),
        ({}, BROKEN, "violation"),
        ({"timeout": 10.0}, BROKEN, "violation"),
        ({"sequential": True}, KEPT, "consistent"),
        ({"batched": True}, BROKEN, "violation"),
        pytest.param({"timeout": 10.0}, KEPT, "consistent", marks=pytest.mark.full),
        pytest.param({"sequential": True}, BROKEN, "violation", marks=pytest.mark.full),
        pytest.param({"batched": True}, KEPT, "consistent", marks=pytest.mark.full),
        *(
            pytest.param(options, *expected, marks=pytest.mark.full)
            for options in ({"n_jobs": 2}, {"time": True})
            for expected in ((KEPT, "consistent"), (BROKEN, "violation"))
        ),
    ],
    ids=str,
)
def test_a_model_whose_runs_share_an_accountant_is_audited(options: dict, epsilon: float, verdict: str) -> None:
    mechanism = fit_many if "batched" in options else fit
    found = dpaudit.audit_privacy(mechanism, PAIRS, **grouped(epsilon=epsilon, trials=1_500, **options))
    assert found.verdict == verdict
    assert found.not_looked_at[-1:] == NAMED
    assert all(check.passed for check in found.checks)
    assert "accountant" not in str(found.witness.event)


@pytest.mark.parametrize(
    ("options", "epsilon", "verdict"),
    [
        ({}, KEPT, "consistent"),
        ({}, BROKEN, "violation"),
        pytest.param({"n_jobs": 2}, BROKEN, "violation", marks=pytest.mark.full),
        pytest.param({"n_jobs": 2}, KEPT, "consistent", marks=pytest.mark.full),
        pytest.param({"timeout": 10.0}, KEPT, "consistent", marks=pytest.mark.full),
        pytest.param({"timeout": 10.0}, BROKEN, "violation", marks=pytest.mark.full),
    ],
)
def test_an_estimator_whose_runs_share_an_accountant_is_audited(options: dict, epsilon: float, verdict: str) -> None:
    found = dpaudit.audit_privacy(fit_estimator, PAIRS, **grouped(epsilon=epsilon, trials=1_500, **options))
    assert found.verdict == verdict
    assert found.not_looked_at[-1:] == NAMED


@pytest.mark.parametrize("options", [{}, {"timeout": 10.0}, {"batched": True}], ids=str)
@pytest.mark.parametrize(("epsilon", "verdict"), [(KEPT, "consistent"), (BROKEN, "violation")])
def test_the_predictions_of_such_a_model_are_audited(options: dict, epsilon: float, verdict: str) -> None:
    mechanism = fit_many if "batched" in options else fit
    pairs = [([1.0, 0.0], [0.0, 0.0])]
    found = dpaudit.audit_privacy(
        mechanism,
        pairs,
        **grouped(
            epsilon=epsilon,
            trials=1_500,
            look=dpaudit.Look(probe=np.array([[0.0], [0.5], [1.0]])),
            **options,
        ),
    )
    assert found.verdict == verdict
    assert not [text for text in found.not_looked_at if "share" in text]


def test_a_probe_made_of_the_data() -> None:
    def on_rows(data: tuple, random_state: Any = None) -> Model:
        return Model().fit(data[1], random_state)

    points = np.arange(4.0)[:, None]
    pairs = [((points, [1, 0, 1, 0]), (points[:3], [1, 0, 1]))]
    found = dpaudit.audit_privacy(on_rows, pairs, epsilon=KEPT, trials=1_500, look=dpaudit.Look(probe="data"))
    assert found.verdict == "consistent"


@dataclasses.dataclass
class Record:
    value: float
    beside: Any


class Slotted:
    __slots__ = ("beside", "value")

    def __init__(self, value: float, beside: Any) -> None:
        self.value, self.beside = value, beside


class Frozen(dict):
    """A dictionary of a class of its own."""


@dataclasses.dataclass
class Counting:
    calls: int = 0


SHAPES = {
    "dataclass": Record,
    "slots": Slotted,
    "dictionary": lambda value, beside: {"value": value, "beside": beside},
    "tuple": lambda value, beside: (value, beside),
    "list": lambda value, beside: [value, beside],
    "nested": lambda value, beside: {"answer": Record(value, {"of": beside})},
    "exact frozen": dataclasses.make_dataclass("Fixed", ["value", "beside"], frozen=True),
}


def grow_list(held: list, value: float, data: Any) -> None:
    held.append(value)


def cache_by_call(held: dict, value: float, data: Any) -> None:
    held[len(held)] = value


def cache_by_data(held: dict, value: float, data: Any) -> None:
    held[str(data)] = value


def bounded(held: deque, value: float, data: Any) -> None:
    held.append((value, str(data)))


def count(held: Counting, value: float, data: Any) -> None:
    held.calls += 1


CHANGING = {
    "log": (list, grow_list),
    "cache": (dict, cache_by_call),
    "cache by data": (dict, cache_by_data),
    "ordered": (OrderedDict, cache_by_call),
    "default": (lambda: defaultdict(int), cache_by_call),
    "bounded": (lambda: deque(maxlen=2), bounded),
    "counter": (Counting, count),
    "set": (set, lambda held, value, data: held.add(value)),
}


def sharing(shape: Any, make: Any, change: Any) -> Any:
    held = make()

    def mechanism(data: list[int], rng: np.random.Generator) -> Any:
        value = round(sum(data) + float(rng.laplace()), 2)
        change(held, value, data)
        return shape(value, held)

    return mechanism


def shapes_and_changes() -> Iterator[Any]:
    """Yield all shapes with all changes; the quick profile has each of both once, with the first of the other kind."""
    for i, (name, shape) in enumerate(SHAPES.items()):
        for j, (change, changing) in enumerate(CHANGING.items()):
            yield pytest.param(shape, changing, id=f"{name}-{change}", marks=[pytest.mark.full] * bool(i and j))


@pytest.mark.parametrize(("shape", "changing"), list(shapes_and_changes()))
def test_what_changes_beside_the_value_is_named_and_left_out(shape: Any, changing: Any) -> None:
    found = dpaudit.audit_privacy(sharing(shape, *changing), PAIRS, epsilon=BROKEN, trials=400)
    assert found.verdict == "violation"
    assert len([text for text in found.not_looked_at if text.endswith("that all runs share and change")]) == 1


def test_a_kept_claim_with_a_growing_cache() -> None:
    found = dpaudit.audit_privacy(sharing(Record, dict, cache_by_call), PAIRS, epsilon=KEPT, trials=1_500)
    assert found.verdict == "consistent"
    assert "output['beside'], a dict that all runs share and change" in found.summary()


@pytest.mark.parametrize(
    "beside",
    [logging.getLogger("shared"), {"bins": 3}, Counting(), np.random.default_rng(1), random.Random(1), [1, 2]],
    ids=lambda value: type(value).__name__,
)
def test_what_is_shared_and_never_changes_stays_a_part(beside: Any) -> None:
    def mechanism(data: list[int], rng: np.random.Generator) -> Record:
        if isinstance(beside, np.random.Generator):
            beside.random()
        return Record(round(sum(data) + float(rng.laplace()), 2), beside)

    found = dpaudit.audit_privacy(mechanism, PAIRS, epsilon=KEPT, trials=1_500)
    assert found.verdict == "consistent"
    assert not [text for text in found.not_looked_at if "share" in text]


def test_a_leak_in_a_part_that_is_sometimes_shared_is_seen() -> None:
    held: list[float] = []

    def mechanism(data: list[int], rng: np.random.Generator) -> Record:
        held.append(float(rng.random()))
        return Record(0.0, held if sum(data) else None)

    assert dpaudit.audit_privacy(mechanism, PAIRS, epsilon=1.0, trials=200).verdict == "violation"


BUFFER = np.zeros(3)


def overwriting(shape: Any, view: bool = False) -> Any:
    def mechanism(data: list[int], rng: np.random.Generator) -> Any:
        BUFFER[:] = rng.normal(size=3) + sum(data)
        return shape(round(float(rng.normal()), 1), BUFFER[:2] if view else BUFFER)

    return mechanism


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("view", [False, True])
def test_an_array_that_is_overwritten_is_refused_wherever_it_stands(shape: Any, view: bool) -> None:
    with pytest.raises(InputError, match=r"returns the same ndarray from several runs and changes it in between"):
        dpaudit.audit_privacy(overwriting(shape, view), PAIRS, epsilon=1.0, trials=400)


def test_outputs_that_have_nothing_of_their_own_are_refused() -> None:
    for shape in (lambda value, beside: (beside,), lambda value, beside: {"all": beside}):
        for make, change in ((dict, cache_by_data), (Counting, count)):
            with pytest.raises(InputError, match=r"returns the same .* so that outputs are lost"):
                dpaudit.audit_privacy(sharing(shape, make, change), PAIRS, epsilon=1.0, trials=400)


def test_a_list_of_numbers_that_is_overwritten_is_refused_beside_a_value() -> None:
    def change(held: list, value: float, data: Any) -> None:
        held[:] = [value, value]

    with pytest.raises(InputError, match="returns the same list from several runs"):
        dpaudit.audit_privacy(sharing(Record, lambda: [0.0, 0.0], change), PAIRS, epsilon=1.0, trials=400)


def test_one_model_that_is_fitted_again_is_refused_with_a_probe_too() -> None:
    model = Model()
    points = np.array([[0.0], [0.5], [1.0]])
    for probe in (None, points):
        with pytest.raises(InputError, match="returns the same Model from several runs"):
            dpaudit.audit_privacy(
                lambda rows, rng: model.fit(rows, rng), PAIRS, epsilon=1.0, trials=400, look=dpaudit.Look(probe=probe)
            )


def test_a_certificate_of_a_mechanism_whose_runs_share_a_part() -> None:
    from dpaudit import certificates

    found = dpaudit.audit_privacy(fit, PAIRS, epsilon=BROKEN, trials=2_000)
    made = certificates.make(found, PAIRS, mechanism=fit)
    assert certificates.replay(made, fit, seed=5, relation="replace-one").verdict == "violation"


def test_places_travel_between_processes_as_texts() -> None:
    told = (((("part", "a"), ("item", 3), ("key", "b"), ("key", 4)), "words"), ((("key", "c"),), "others"))
    error = shared_part(told)
    again = error_of(error_as_bytes(error))
    assert isinstance(again, SharedPart)
    assert places_of(again) == places_of(error) == told
    assert in_words(told[0][0]) == "output['a'][3]['b'][4]"


def test_what_two_outputs_share() -> None:
    held: dict[str, int] = {}
    array = np.zeros(4)
    first = Record(1.0, [held, array[:2], "text", (1, 2)])
    second = Record(2.0, [held, array[1:], "text", (1, 2)])
    found = shared_parts(first, second)
    assert [part.place for part in found] == [(("part", "beside"), ("item", 0)), (("part", "beside"), ("item", 1))]
    assert not any(part.changed for part in found)
    held["new"] = 1
    assert [part.changed for part in found] == [True, False]
    with pytest.raises(SharedPart, match=r"output\['beside'\]\[0\], a dict"):
        refuse_shared(found[:1], first)
    array[0] = 1.0
    with pytest.raises(InputError, match="same ndarray"):
        refuse_shared(found, first)
    for same in (1.5, "text", None, (1, (2, "a")), frozenset({1})):
        assert not shared_parts(same, same)


def test_an_output_without_a_part_is_of_its_class_and_of_its_other_parts() -> None:
    output = Record(1.0, {"log": [1]})
    bare = without(output, [(("part", "beside"), ("key", "log"))])
    assert canonical(bare) == canonical(Record(1.0, {"log": True}))
    assert output.beside == {"log": [1]}
    assert without(bare, [(("part", "beside"), ("key", "log"))]).parts == bare.parts
    assert without(output, []) is output
    assert without(3, [(("part", "beside"),)]) == 3
    assert without(Record(1.0, None), [(("part", "beside"),)]).parts == {"value": 1.0, "beside": None}


@pytest.mark.parametrize(
    "kind", [pytest.param("array", marks=pytest.mark.full), "pandas", pytest.param("list", marks=pytest.mark.full)]
)
def test_a_probe_made_of_the_pairs_of_a_dataset(kind: str) -> None:
    rows = np.arange(6.0)[:, None] % 2 * 4242.4242
    data: Any = {"array": rows, "pandas": pd.DataFrame(rows, columns=["x"]), "list": rows[:, 0].tolist()}[kind]

    class Reads(Estimator):
        def predict(self, points: Any) -> Any:
            return (np.asarray(points, dtype=float).ravel() > self.mean_[0] - 3).astype(int)

    def fitted(held: Any, rng: np.random.Generator) -> Model:
        return Reads().fit(np.clip(np.asarray(held), 0, 1).ravel().tolist(), rng)

    found = dpaudit.audit_privacy(
        fitted, data=dpaudit.Dataset(data, outside=False), epsilon=KEPT, trials=400, look=dpaudit.Look(probe="data")
    )
    assert found.verdict in ("consistent", "no evidence")
    # The points of the probe are records.
    assert "4242" not in found.summary() + str(found.to_dict())

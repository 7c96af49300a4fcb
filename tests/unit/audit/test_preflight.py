"""A few runs before an audit find inputs that runs share and change, outputs that are no values."""

from __future__ import annotations

import contextlib
import math
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import dpaudit
from dpaudit.audit.checks_and_gaps import FewRuns
from dpaudit.audit.request import resolve_claim
from dpaudit.contract import PrivacyClaim, Relation
from tests.support.grouped import grouped


def audit(mechanism: object, pairs: list[tuple[object, object]], **options: object) -> dpaudit.PrivacyFinding:
    return dpaudit.audit_privacy(mechanism, pairs, **grouped(epsilon=1.0, trials=300, **options))


@pytest.mark.parametrize("pair", [([5], [6]), ({"a": 1}, {"a": 2})])
def test_a_mechanism_that_uses_its_input_up_is_refused(pair: tuple[object, object]) -> None:
    def popper(data, rng):
        return data.popitem() if isinstance(data, dict) else data.pop()

    with pytest.raises(dpaudit.InputError, match="changes its input, which all its runs share"):
        audit(popper, [pair])


def test_a_mechanism_that_changes_an_array_is_refused() -> None:
    def centred(data, rng):
        data -= data.mean()
        return float(data[0])

    with pytest.raises(dpaudit.InputError, match="changes its input"):
        audit(centred, [(np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.0]))])


def test_iterators_are_refused() -> None:
    for pairs, where in (([(iter([1]), [2])], "data"), ([([1], [2]), ([1], iter([2]))], "neighbour")):
        with pytest.raises(dpaudit.InputError, match=rf"pairs\[{len(pairs) - 1}\] has an iterator as its {where}"):
            audit(lambda data, rng: sum(data), pairs)


def generator(data, rng):
    yield data


async def coroutine(data, rng):
    return data


async def asynchronous(data, rng):
    yield data


@contextlib.contextmanager
def manager(data, rng):
    yield data


@contextlib.asynccontextmanager
async def asynchronous_manager(data, rng):
    yield data


def nothing(data, rng, size):
    return data


@pytest.mark.parametrize(
    ("mechanism", "kind"),
    [
        (generator, "generator"),
        (coroutine, "coroutine"),
        (asynchronous, "async_generator"),
        (manager, "_GeneratorContextManager"),
        (asynchronous_manager, "_AsyncGeneratorContextManager"),
        (lambda data, rng: map(abs, [data]), "map"),
        (lambda data, rng: lambda: data, "function"),
        (lambda data, rng: len, "builtin_function_or_method"),
        (lambda data, rng: partial(abs, data), "partial"),
    ],
)
@pytest.mark.parametrize("sequential", [False, True])
def test_outputs_that_are_no_values_are_refused_with_their_type(mechanism, kind, sequential) -> None:
    with pytest.raises(dpaudit.InputError, match=f"returns an output of type {kind}: "):
        audit(mechanism, [(0, 1)], sequential=sequential)


@pytest.mark.parametrize(
    ("mechanism", "batched", "told"),
    [
        (
            nothing,
            False,
            r"also needs size: fix it, as functools.partial\(nothing, size=...\) does, or pass batched=True",
        ),
        (lambda data, rng, *, scale: 0, False, r"also needs scale: fix it, as .*scale=...\) does$"),
        (lambda data, rng, size, a, b: 0, True, r"must take \(data, rng, size\); .* also needs a, b: fix it, as"),
        (
            lambda data: 0,
            False,
            r"must take \(data, rng\): .*<lambda> takes no generator; .* pass randomness=own",
        ),
        (lambda: 0, False, r"must take \(data, rng\), or .* no positional parameter for the data"),
    ],
)
def test_a_required_argument_too_many_is_named(mechanism, batched, told) -> None:
    with pytest.raises(dpaudit.InputError, match=told):
        audit(mechanism, [(0, 1)], batched=batched)
    assert audit(lambda data, rng, scale=1: data + rng.laplace(), [(0, 1)]).verdict == "consistent"


def identity(data: int, rng: np.random.Generator) -> int:
    return data


@pytest.mark.parametrize("curve", [False, True])
def test_the_power_is_checked_at_the_error_that_the_verdict_has(curve: bool) -> None:
    def audited(trials: int) -> dpaudit.PrivacyFinding:
        return dpaudit.audit_privacy(identity, [(0, 1)], epsilon=3.0, trials=trials, look=dpaudit.Look(curve=curve))

    few = audited(60)
    (gap,) = (gap for gap in few.gaps if isinstance(gap, FewRuns))
    # So many right guesses in a row have the probability of the error where the claim holds with equality.
    assert gap.least == math.ceil(math.log(few.errors["verdict"]) / math.log(expit(3.0)) / 2) == (74 if curve else 72)
    assert (few.verdict, gap.runs) == ("no evidence", few.confirmation_trials)
    for trials in (gap.trials - 15, gap.trials + few.budget["checks"] * 5 // 4, 3 * gap.trials // 2):
        found = audited(trials)
        enough = found.confirmation_trials >= gap.least
        assert enough != any(isinstance(gap, FewRuns) for gap in found.gaps)
        assert enough or found.verdict == "no evidence"
    # That one guess has all of the error is the best case; with half as many runs again the leak is found.
    assert found.verdict == "violation"


def test_more_runs_than_the_bounds_take_are_refused_before_any_is_made() -> None:
    with pytest.raises(dpaudit.InputError, match="lower trials"):
        dpaudit.audit_privacy(lambda data, rng: data, [(0, 1)], epsilon=1.0, trials=3 * 10**12)


def test_what_is_not_given_of_a_claim_is_the_learners_own() -> None:
    learner = dpaudit.pac.get_learner("conjunction-greedy", dimension=2, k=1, epsilon=1.0, delta=0.1)
    own = learner.privacy
    assert own.delta > 0
    assert resolve_claim(learner, own.epsilon, None, None) == PrivacyClaim(
        own.epsilon, own.delta, own.relation, own.claim_id
    )
    assert resolve_claim(learner, own.epsilon / 2, None, None).delta == own.delta


@pytest.mark.parametrize(
    ("epsilon", "delta", "relation"), [(0.001, None, None), (None, 0.01, None), (None, None, Relation.ADD_REMOVE_ONE)]
)
def test_the_theorem_is_named_only_where_its_own_statement_is_tested(epsilon, delta, relation) -> None:
    learner = dpaudit.pac.get_learner("parity-private", dimension=2, epsilon=1.0)
    assert resolve_claim(learner, None, None, None).claim_id == learner.privacy.claim_id
    assert resolve_claim(learner, epsilon, delta, relation).claim_id == ""
    assert dpaudit.pac.audit_law(learner, n=2).claim_id == learner.privacy.claim_id
    assert dpaudit.pac.audit_law(learner, n=2, relation="add-remove-one").claim_id == ""


@pytest.mark.parametrize(
    "made",
    [
        pd.DataFrame,
        dict,
        lambda columns: "a" * len(columns["a"]),
        lambda columns: set(columns["a"].tolist()),
        lambda columns: iter(columns["a"]),
        lambda columns: map(float, columns["a"]),
    ],
)
@pytest.mark.parametrize("apart", [False, True])
def test_a_table_is_no_batch_of_outputs(made: Any, apart: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpaudit.audit.audit.APART", [True] if apart else [])

    def table(data: Any, rng: np.random.Generator, size: int) -> Any:
        return made({"a": rng.normal(size=size), "b": rng.normal(size=size)})

    words = (
        r"with batched=True the mechanism .*table must return \d+ outputs in a list or an array, got an object of class"
    )
    with pytest.raises(dpaudit.InputError, match=words):
        dpaudit.audit_privacy(table, [(0, 1)], epsilon=1.0, trials=1_000, batched=True)

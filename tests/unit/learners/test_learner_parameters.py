"""Every learner refuses wrong parameters and keeps what it promises."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest
from learner_cases import BROKEN, SOUND, example_of

from dpaudit.contract import FAIL, InputError, Learner, Relation
from dpaudit.seeding import generator
from dpaudit_learners.conjunctions.consistent import ConjunctionElimination
from dpaudit_learners.conjunctions.laplace import ConjunctionLaplace
from dpaudit_learners.domains import Cube, Interval
from dpaudit_learners.parameters import Built
from dpaudit_learners.parities.concepts import ParityElimination
from dpaudit_learners.parities.private import MAX_EPSILON, ParityPrivate
from dpaudit_learners.points.concepts import OccamConsistent, PointConsistent, ThresholdConsistent
from dpaudit_learners.points.exponential import PointExponential, ThresholdExponential

ALL = SOUND + BROKEN


@pytest.mark.parametrize("learner_class", ALL, ids=lambda c: c.id)
def test_every_learner_keeps_the_contract(learner_class: Any) -> None:
    learner = example_of(learner_class)
    assert isinstance(learner, Learner)
    assert json.loads(json.dumps(dataclasses.asdict(learner))) == dataclasses.asdict(learner)
    assert {f.name: getattr(learner, f.name) for f in dataclasses.fields(learner)}.items() >= set(
        learner_class.instance.parameters.items()
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        learner.domain_size = 3
    claim = learner.utility(learner_class.instance.alpha, learner_class.instance.beta)
    assert claim.sample_size == learner.sample_size(learner_class.instance.alpha, learner_class.instance.beta)
    if learner.privacy is not None:
        assert learner.privacy.epsilon == learner.epsilon
        assert learner.privacy.delta == 0
        assert learner.privacy.relation is Relation.REPLACE_ONE


def test_ids_are_unique() -> None:
    assert len({c.id for c in ALL}) == len(ALL)


@pytest.mark.parametrize("learner_class", ALL, ids=lambda c: c.id)
def test_runs_are_codes_of_the_law_and_decode(learner_class: Any) -> None:
    learner = example_of(learner_class)
    points = learner.domain.points()
    for sample in (learner.domain.empty_sample(), learner.domain.sample(points[[0, 0, -1]], [0, 1, 1])):
        codes = learner.run(sample, generator(1, learner.id), 300)
        assert codes.dtype == np.int64
        assert codes.shape == (300,)
        law = learner.law(sample)
        assert set(codes.tolist()) <= set(law.atoms)
        assert math.fsum(np.exp(law.log_prob)) == pytest.approx(1, abs=1e-12)
        assert law.grade == "exact"
        assert 0 <= law.error < 1e-9
        again = learner.run(sample, generator(1, learner.id), 300)
        assert (codes == again).all()
    for code in law.atoms:
        hypothesis = learner.decode(code)
        if code == FAIL:
            assert hypothesis is None
        else:
            assert set(hypothesis.predict(points).tolist()) <= {0, 1}
            assert hypothesis.predict(points).shape == (len(points),)
    with pytest.raises(InputError):
        learner.decode(10**6)


@pytest.mark.parametrize("learner_class", ALL, ids=lambda c: c.id)
def test_samples_of_another_domain_and_bad_sizes_are_refused(learner_class: Any) -> None:
    learner = example_of(learner_class)
    rng = generator(1, "bad")
    wide = Cube(learner.domain.dimension + 2)
    foreign = wide.sample(wide.points()[:1], [0])
    with pytest.raises(InputError, match="coordinate"):
        learner.run(foreign, rng, 1)
    with pytest.raises(InputError, match="coordinate"):
        learner.law(foreign)
    outside = Interval(100).sample([99], [1]) if learner.domain.dimension == 1 else None
    if outside is not None:
        with pytest.raises(InputError, match="points of sample must lie in the learner's domain"):
            learner.run(outside, rng, 1)
    for size in (0, -1, 1.5, True):
        with pytest.raises(InputError, match="size must be an integer"):
            learner.run(learner.domain.empty_sample(), rng, size)
    for alpha, beta in ((0, 0.7), (1, 0.7), (0.1, 0), (0.1, 1), (math.nan, 0.7), ("a", 0.7)):
        with pytest.raises(InputError, match=r"alpha|beta"):
            learner.sample_size(alpha, beta)


@pytest.mark.parametrize(
    ("learner_class", "parameters", "name"),
    [
        *[(c, {"domain_size": v}, "domain_size") for c in (PointConsistent, ThresholdConsistent, OccamConsistent)
          for v in (1, 0, 2.0, "4", True)],
        *[(c, {"domain_size": 4, "epsilon": v}, "epsilon") for c in (PointExponential, ThresholdExponential)
          for v in (0, -1, math.inf, math.nan, "1", True)],
        *[(ParityElimination, {"dimension": v}, "dimension") for v in (0, 64, 2.5)],
        *[(ParityPrivate, {"dimension": 2, "epsilon": v}, "epsilon") for v in (0, 4, 3.84, math.inf, 100)],
        (ParityPrivate, {"dimension": 64, "epsilon": 1.0}, "dimension"),
        *[(ConjunctionElimination, {"dimension": v}, "dimension") for v in (0, 32)],
        *[(ConjunctionLaplace, {"dimension": 2, "epsilon": 1.0, "beta": v}, "beta") for v in (0, 1, 1.5, math.nan)],
        (ConjunctionLaplace, {"dimension": 2, "epsilon": -1.0, "beta": 0.1}, "epsilon"),
        (OccamConsistent, {"domain_size": 10**5}, "concepts"),
    ],
)  # fmt: skip
def test_bad_parameters_are_refused_by_name(learner_class: Any, parameters: Any, name: str) -> None:
    with pytest.raises(InputError, match=name):
        learner_class(**parameters)


def test_the_greatest_epsilon_of_parity_is_where_the_leak_equals_the_claim() -> None:
    ParityPrivate(2, MAX_EPSILON - 1e-9)
    with pytest.raises(InputError, match=r"epsilon must be in \(0, 3\.830016\]"):
        ParityPrivate(2, MAX_EPSILON + 1e-9)


@pytest.mark.parametrize(
    ("learner", "dimension"),
    [(ParityPrivate(7, 1.0), 7), (ParityElimination(17), 17), (ConjunctionLaplace(9, 1.0, 0.1), 9)],
    ids=["private", "elimination", "laplace"],
)
def test_the_exact_law_names_its_limit(learner: Any, dimension: int) -> None:
    sample = Cube(dimension).sample([[0] * dimension], [1])
    with pytest.raises(InputError, match="dimension must be at most"):
        learner.law(sample)
    assert learner.run(sample, generator(0, "limit"), 5).shape == (5,)


def test_parity_private_reaches_no_beta_up_to_one_half() -> None:
    with pytest.raises(InputError, match=r"beta must be above 0\.5"):
        ParityPrivate(3, 1.0).sample_size(0.1, 0.5)
    # 1/2 + 2^3 (1 - 0.025)^n / 2 <= 0.6
    n = ParityPrivate(3, 1.0).sample_size(0.1, 0.6)
    assert 0.5 + 4 * 0.975**n <= 0.6 < 0.5 + 4 * 0.975 ** (n - 1)


def test_conjunction_laplace_with_a_delta() -> None:
    learner = ConjunctionLaplace(20, 1.0, 0.1, 1e-6)
    assert (learner.privacy.epsilon, learner.privacy.delta) == (1.0, 1e-6)
    assert learner.privacy.claim_id == learner.utility(0.1, 0.2).claim_id == "STE-Conj1-Delta"
    assert learner.supremum() is None
    n = learner.utility(0.1, 0.1, "empirical").sample_size
    assert n == math.ceil(4 * 20 / 0.1 * learner.noise_scale * math.log(400))
    assert n < ConjunctionLaplace(20, 1.0, 0.1).utility(0.1, 0.1, "empirical").sample_size
    # None and 0 are the learner without one, whose numbers they keep.
    for none in (None, 0.0):
        pure = ConjunctionLaplace(20, 1.0, 0.1, none)
        assert (pure.noise_scale, pure.privacy.delta, pure.privacy.claim_id) == (40.0, 0.0, "STE-Conj1")
    for wrong in (1.0, -0.1, math.nan):
        with pytest.raises(InputError, match="delta"):
            ConjunctionLaplace(2, 1.0, 0.1, wrong)


def test_conjunction_laplace_promises_no_less_than_its_own_beta() -> None:
    learner = ConjunctionLaplace(2, 1.0, 0.1)
    with pytest.raises(InputError, match=r"beta must be above 0\.1"):
        learner.utility(0.1, 0.1)
    with pytest.raises(InputError, match=r"beta must be at least 0\.1"):
        learner.utility(0.1, 0.05, "empirical")
    with pytest.raises(InputError, match="setting"):
        learner.utility(0.1, 0.2, "agnostic")
    claim = learner.utility(0.1, 0.1, "empirical")
    assert (claim.setting, claim.sample_size) == ("empirical", math.ceil(8 * 4 / 0.1 * math.log(40)))
    assert learner.utility(0.1, 0.2).sample_size == math.ceil(2 * 8 * 4 / 0.1 * math.log(40))
    # With a narrow margin above its own beta the other term takes over.
    narrow = 0.1 + 1e-14
    chernoff = math.ceil(80 * math.log(10 / (narrow - 0.1)))
    assert learner.utility(0.1, narrow).sample_size == chernoff > 2 * claim.sample_size


@pytest.mark.parametrize("alpha", [0.3, 0.05])
@pytest.mark.parametrize("beta", [0.2, 0.01])
def test_sample_sizes_are_the_least_integers_of_their_formulas(alpha: float, beta: float) -> None:
    assert PointConsistent(50).sample_size(alpha, beta) == math.ceil(math.log(1 / beta) / alpha)
    assert ThresholdConsistent(50).sample_size(alpha, beta) == math.ceil(math.log(51 / beta) / alpha)
    assert OccamConsistent(50).sample_size(alpha, beta) == math.ceil(math.log(1276 / beta) / alpha)
    assert ParityElimination(10).sample_size(alpha, beta) == math.ceil(math.log(1024 / beta) / alpha)
    assert ConjunctionElimination(4).sample_size(alpha, beta) == math.ceil(math.log(82 / beta) / alpha)
    for epsilon in (0.1, 0.5, 3.0):
        expected = math.ceil(max(8 / alpha, 4 / (alpha * epsilon)) * math.log(100 / beta))
        assert PointExponential(50, epsilon).sample_size(alpha, beta) == expected
        larger = math.ceil(max(8 / alpha, 4 / (alpha * epsilon)) * math.log(102 / beta))
        assert ThresholdExponential(50, epsilon).sample_size(alpha, beta) == larger


def test_a_built_property_takes_the_parameters_of_the_same_names_and_defaults_of_others() -> None:
    @dataclasses.dataclass(frozen=True)
    class Part:
        side: int
        dimension: int = 2

    @dataclasses.dataclass(frozen=True)
    class Whole:
        epsilon: float
        side: int
        part = Built(Part)

    assert Whole(1.0, 5).part == Part(5, 2)
    assert isinstance(Whole.part, Built)
    assert [field.name for field in dataclasses.fields(Whole)] == ["epsilon", "side"]
    assert ConjunctionLaplace(3, 1.0, 0.1).domain == Cube(3)

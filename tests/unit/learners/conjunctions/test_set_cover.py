"""The Set Cover Learner: runs, claims, variants, controls, bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from learner_cases import agreement, worst_epsilon

import dpaudit
import dpaudit_learners.conjunctions.set_cover as module
from dpaudit.contract import InputError, Relation
from dpaudit.seeding import generator
from dpaudit_learners.conjunctions import controls as broken
from dpaudit_learners.conjunctions.concepts import ShortDisjunctions
from dpaudit_learners.conjunctions.set_cover import LEARNERS, SetCoverConjunction, SetCoverDisjunction
from dpaudit_learners.covers.accounting import VARIANTS, composed_share, noiseless_share, paper_share

# Deterministic by seed; under a fresh seed each comparison would fail by chance with probability 1e-6.
LEVEL = 1e-6
RUNS = 5_000
"""At this size another rate is seen, as a test below has it."""


def build(kind: Any = SetCoverConjunction, **changed: Any) -> Any:
    return kind(**{**kind.instance.parameters, **changed})


def samples(learner: Any) -> list[Any]:
    domain = learner.domain
    return [
        domain.empty_sample(),
        domain.sample([[0, 0], [1, 1]], [0, 0], [3, 2]),
        domain.sample([[0, 0], [1, 1]], [1, 1], [3, 2]),
        domain.sample([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]], [0, 1, 0, 1, 0], [9, 4, 1, 6, 2]),
    ]


@pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.id)
@pytest.mark.parametrize("variant", VARIANTS)
def test_runs_follow_the_law(kind: Any, variant: str) -> None:
    # Noise off by its offset or a selection at another rate would show at these weights.
    learner = build(kind, variant=variant, delta=0.3 if variant == "paper" else 1e-3)
    for i, sample in enumerate(samples(learner)):
        assert agreement(learner, sample, RUNS, generator(1, kind.id, variant, i)) > LEVEL


@pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.id)
def test_large_samples_are_run_alike(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SMALL", 0)
    learner = build(kind, variant="noiseless")
    assert agreement(learner, samples(learner)[-1], 2_000, generator(2, kind.id)) > LEVEL


def test_batches_do_not_change_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.LiteralCover, "_batch", 100)
    learner = build(variant="noiseless")
    assert agreement(learner, samples(learner)[-1], 2_000, generator(3, "batch")) > LEVEL


def test_the_comparison_sees_another_rate() -> None:
    learner, other = build(variant="noiseless"), build(variant="noiseless", epsilon=2.0)
    sample = samples(learner)[-1]
    assert agreement(other, sample, RUNS, generator(4, "power"), law=learner.law(sample)) < LEVEL


@pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.id)
@pytest.mark.parametrize("variant", VARIANTS)
def test_claims_hold_exactly_on_small_samples(kind: Any, variant: str) -> None:
    learner = build(kind, variant=variant)
    finding = dpaudit.pac.audit_law(learner, n=2)
    assert finding.verdict == "consistent"
    assert 0 < finding.epsilon <= learner.epsilon
    assert finding.epsilon == pytest.approx(worst_epsilon(learner, 2), abs=1e-10)
    # The disjunction learner is the conjunction learner with labels flipped.
    mirror = build(SetCoverDisjunction if kind is SetCoverConjunction else SetCoverConjunction, variant=variant)
    assert dpaudit.pac.audit_law(mirror, n=2).epsilon == pytest.approx(finding.epsilon, abs=1e-10)


def test_shares() -> None:
    assert paper_share(1.0, 1e-6) == pytest.approx(1 / (2 * math.log(math.e / 1e-6)))
    assert composed_share(3, 1.0, 1e-6) == pytest.approx(1 / 3)
    many = composed_share(1000, 1.0, 1e-6)
    assert 1 / 1000 < many < math.sqrt(1 / (2000 * math.log(1e6)))
    # Without noise the proof gives at least 2a with 2 (aJ/k + (e^a - 1) y) = epsilon, composition for few rounds.
    a = noiseless_share(5, 30, 1.0, 1e-6) / 2
    y = 1 + math.log((1 + math.exp(0.5)) / 1e-6)
    assert 2 * (a * 6 + math.expm1(a) * y) == pytest.approx(1.0)
    assert noiseless_share(1, 3, 1.0, 1e-6) == pytest.approx(1 / 3)


@pytest.mark.parametrize(("k", "alpha", "rounds"), [(1, 0.49, 3), (2, 0.1, 12), (5, 0.1, 30), (1, 0.999, 2)])
def test_rounds(k: int, alpha: float, rounds: int) -> None:
    learner = build(k=k, alpha=alpha)
    assert learner.rounds == rounds
    assert (1 - 1 / (2 * k)) ** rounds <= alpha / 2


def test_a_hundred_variables() -> None:
    learner = SetCoverConjunction(100, 5, 1.0, 1e-6, 0.1, 0.1)
    rng = generator(5, "hundred")
    points = rng.integers(0, 2, (400, 100))
    target = learner.concepts.concept(learner.concepts.size - 2)
    sample = learner.domain.sample(points, target.predict(points), np.full(400, 10**9))
    codes = learner.run(sample, rng, 3)
    assert all(isinstance(code, int) and 0 <= code < 200**30 for code in codes)
    # 4e11 examples: nothing but the final negatives, at most alpha/2, may be wrong.
    assert all(sample.errors(learner.decode(code)) <= 0.05 * sample.n for code in codes)


def test_codes_spell_the_literals() -> None:
    learner = build()
    assert learner.decode(1 + 2 * 4 + 1 * 16).mask == 0b110
    assert str(build(SetCoverDisjunction).decode(0)) == "v1"


@pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.id)
def test_a_separable_sample_is_learned(kind: Any) -> None:
    learner = build(kind, dimension=4, k=2, alpha=0.1)
    points = learner.domain.points()
    target = learner.concepts.concept(learner.concepts.size // 2)
    sample = learner.domain.sample(points, target.predict(points), np.full(16, 10**6))
    for code in learner.run(sample, generator(6, kind.id), 20):
        assert sample.errors(learner.decode(code)) <= 0.1 * sample.n


@pytest.mark.parametrize("setting", ["realizable", "empirical"])
def test_utility_holds_at_the_claimed_size(setting: str) -> None:
    learner = build(dimension=3, k=2, alpha=0.1, beta=0.05)
    claim = learner.utility(0.2, 0.2, setting)
    assert claim.setting == setting
    finding = dpaudit.pac.audit_utility(
        learner, learner.concepts.size // 2, "uniform", alpha=0.2, beta=0.2, trials=200, setting=setting
    )
    assert finding.n == claim.sample_size
    assert finding.verdict == "holds"
    assert learner.utility(0.2, 0.1, setting).sample_size > claim.sample_size


def test_short_disjunctions_are_the_mirror_of_conjunctions() -> None:
    concepts = ShortDisjunctions(3, 2)
    points = np.array([[i >> j & 1 for j in range(3)] for i in range(8)])
    labels = concepts.evaluate(points)
    assert len({row.tobytes() for row in labels}) == concepts.size
    for code in range(concepts.size):
        assert (concepts.concept(code).predict(points) == labels[code]).all()


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"k": 0}, "k"),
        ({"dimension": 0}, "dimension"),
        ({"delta": 0.4}, "delta must be below 1/e"),
        ({"delta": 0.0}, "delta"),
        ({"epsilon": 1.5}, "epsilon must be at most 1"),
        ({"alpha": 2.0}, "alpha"),
        ({"alpha": 1.0}, "alpha"),
        ({"beta": 1.0}, "beta"),
        ({"variant": "better"}, "variant"),
    ],
)
def test_bad_parameters(changed: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        build(**changed)


def test_what_the_other_variants_allow() -> None:
    for variant in ("composition", "noiseless"):
        assert build(variant=variant, epsilon=3.0, delta=0.5).selection_epsilon > 0


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: build().utility(0.5, 0.5), "alpha must be at least"),
        (lambda: build().utility(0.99, 0.2), "beta must be above"),
        (lambda: build().utility(0.99, 0.5, "agnostic"), "setting"),
        (lambda: build(dimension=30).law(build(dimension=30).domain.empty_sample()), "dimension"),
        (lambda: build().law(build().domain.sample([[0, 0]], [0], [10**9])), "too many examples"),
        (lambda: build().run(build().domain.sample([[0, 0]], [0], [2**60]), generator(0), 1), "2\\^53"),
        (lambda: build().decode(64), "code"),
    ],
)
def test_bad_input(call: Any, named: str) -> None:
    with pytest.raises(InputError, match=named):
        call()


CONTROLS = tuple(c for c in broken.LEARNERS if c.id.startswith("broken-set-cover"))


@pytest.mark.parametrize("control", CONTROLS, ids=lambda c: c.id)
def test_controls_leak_and_are_convicted(control: Any) -> None:
    learner = control(**control.instance.parameters)
    finding = dpaudit.pac.audit_law(learner)
    claim = learner.privacy
    assert finding.verdict == "violation"
    assert finding.delta(claim.epsilon) > 0.1
    worst = finding.worst_pair
    seen = dpaudit.audit_privacy(
        learner.run, [(worst.data, worst.neighbour)], epsilon=claim.epsilon, delta=claim.delta, trials=20_000, seed=2,
        batched=True,
    )  # fmt: skip
    assert seen.verdict == "violation"
    assert seen.epsilon_lower <= finding.epsilon


def test_add_remove_costs_less_than_replacement() -> None:
    learner = build(variant="noiseless")
    single = dpaudit.pac.audit_law(learner, n=2, relation=Relation.ADD_REMOVE_ONE).epsilon
    assert 0 < single <= dpaudit.pac.audit_law(learner, n=3).epsilon

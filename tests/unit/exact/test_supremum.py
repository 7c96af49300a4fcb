"""The supremum of the privacy loss: the search against brute force, limits along rays, closed forms, refuted ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pytest
from learner_cases import every_sample, worst_epsilon
from toy_learners import ToyBare

import dpaudit
from dpaudit.contract import HasSupremum, Instance, Law, Pair, Relation, Support, Supremum
from dpaudit.exact.finding import SupremumFinding
from dpaudit.exact.universe import Star, Universe, plus
from dpaudit.registry import get_learner
from dpaudit_learners.conjunctions.greedy import ConjunctionGreedy
from dpaudit_learners.covers.accounting import choice_cost, pure_share
from dpaudit_learners.parities.amplified import ParityAmplified, amplified_cost, amplified_rate
from dpaudit_learners.parities.private import ParityPrivate, ParityRestart
from dpaudit_learners.points.exponential import PointExponential

BRIEF: dict[str, Any] = {"starts": 2, "evaluations": 40, "most": 2}


def softmax_loss(rate: float, shared: list[int], first: int, second: int) -> float:
    """Return the loss of a point learner's pair by its own formula: softmax of rate times the examples labelled 1.

    Every example has label 1; `shared` counts them by point, the last one is at `first` or at `second`.
    """
    logs = []
    for point in (first, second):
        scores = np.array(shared, dtype=float)
        scores[point] += 1
        logs.append(rate * scores - math.log(np.exp(rate * (scores - scores.max())).sum()) - rate * scores.max())
    return float(np.abs(logs[0] - logs[1]).max())


@pytest.mark.parametrize("relation", [Relation.REPLACE_ONE, Relation.ADD_REMOVE_ONE])
def test_a_star_is_the_maximum_over_all_its_pairs(relation: Relation) -> None:
    learner = PointExponential(3, 1.3)
    universe = Universe(learner.domain, relation)
    star = Star(universe, relation, learner.law)
    for shared in ((), ((0, 2),), ((1, 3), (4, 1))):
        samples = [universe.sample(plus(shared, [(item, 1)])) for item in universe.changed]
        centre = universe.sample(shared)
        replaced = [(left, right) for left in samples for right in samples]
        moved = [pair for other in samples for pair in ((centre, other), (other, centre))]
        pairs = replaced if relation is Relation.REPLACE_ONE else moved
        expected = max(float((learner.law(s).log_prob - learner.law(t).log_prob).max()) for s, t in pairs)
        peak = star(shared)
        assert peak is not None
        assert peak.loss == pytest.approx(expected, rel=1e-12)


def test_the_search_reaches_what_few_examples_do_not() -> None:
    learner = PointExponential(4, 1.0)
    assert dpaudit.pac.audit_law(learner, n=3).epsilon < 0.89
    found = dpaudit.pac.audit_supremum(learner, **BRIEF)
    assert found.support == Support.PROVED
    assert (found.value, found.proof_refuted, found.verdict) == (1.0, False, "consistent")
    assert found.attained == pytest.approx(1.0, abs=1e-3)
    assert found.growth[0][1] < 0.7
    assert found.growth[-1] == (found.n, found.attained)
    ours = softmax_loss(0.5, [11, 0, 0, 0], 0, 1)  # 11 copies beside one that moves
    assert ours == pytest.approx(dpaudit.pac.audit_law(learner, samples=[_moved(learner, 11)]).epsilon, rel=1e-12)


def _moved(learner: PointExponential, t: int) -> Pair:
    domain = learner.domain
    return Pair(domain.sample([[0]], [1], [t + 1]), domain.sample([[0], [1]], [1, 1], [t, 1]))


def test_it_says_the_same_again_and_is_stored() -> None:
    first, again = (dpaudit.pac.audit_supremum(ParityRestart(1, 1.0, 0.1), **BRIEF) for _ in range(2))
    assert first.to_dict() == again.to_dict()
    read = SupremumFinding.from_dict(first.to_dict())
    assert read.to_dict() == first.to_dict()
    assert isinstance(first.witness, Pair)
    assert read.witness == first.pair_in_words
    told = dpaudit.pac.audit_law(ParityRestart(1, 1.0, 0.1), samples=[first.witness])
    assert told.epsilon == first.attained
    assert "proved for samples of every size" in str(first)
    assert first.call.startswith("dpaudit.pac.audit_supremum(")
    assert first.call.split("(")[0] in str(first)
    assert first.call.endswith("starts=2, evaluations=40, most=2)")
    assert "proof" in first.summary()
    assert first.plot().axes


# The closed form of each learner, derived by hand, as a share of the claim.
P = math.log(5 / 3)
CLOSED: list[tuple[str, dict[str, Any], float]] = [
    ("point-exponential", {"domain_size": 4, "epsilon": 0.3}, 1.0),
    ("threshold-exponential", {"domain_size": 3, "epsilon": 1.0}, 1.0),
    ("box-exponential", {"side": 1, "dimension": 2, "epsilon": 1.0}, 1.0),
    ("conjunction-exponential", {"dimension": 2, "k": 1, "epsilon": 2.0}, 1.0),
    ("halfspace-exponential", {"side": 3, "dimension": 1, "epsilon": 1.0}, 1.0),
    ("halfplane-select", {"side": 1, "epsilon": 0.5, "convention": "full"}, 1.0),
    ("triangle-select", {"side": 1, "epsilon": 1.0}, 1.0),
    ("simplex-select", {"side": 1, "epsilon": 1.0}, 1.0),
    ("interior-point-exponential", {"domain_size": 5, "epsilon": 1.0}, 1.0),
    ("interior-point-exponential", {"domain_size": 2, "epsilon": 1.0}, 1.0),
    ("conjunction-laplace", {"dimension": 2, "epsilon": 1.0, "beta": 0.05}, 1.0),
    ("conjunction-greedy", {"dimension": 2, "k": 1, "epsilon": 1.0}, 1.0),
    ("conjunction-greedy", {"dimension": 2, "k": 2, "epsilon": 1.0}, 0.75),
    ("conjunction-greedy", {"dimension": 3, "k": 3, "epsilon": 1.0, "rounds": 4}, 2 / 3),
    ("conjunction-greedy", {"dimension": 2, "k": 2, "epsilon": 1.0, "budget": "proved"}, 1.0),
    ("conjunction-greedy", {"dimension": 2, "k": 2, "epsilon": 1.0, "literal": True}, 0.75),
    (
        "set-cover-conjunction",
        {"dimension": 1, "k": 2, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.99, "beta": 0.2, "variant": "noiseless"},
        0.75,
    ),
    (
        "set-cover-disjunction",
        {"dimension": 1, "k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.9, "beta": 0.2, "variant": "noiseless"},
        1.0,
    ),
    ("parity-private", {"dimension": 2, "epsilon": 1.0}, P),
    ("parity-restart", {"dimension": 2, "epsilon": 1.0, "beta": 0.1}, 0.9567177535),
    ("parity-restart", {"dimension": 2, "epsilon": 1.0, "beta": 1e-3}, 0.9995579),
    ("parity-amplified", {"dimension": 2, "epsilon": 1.0, "beta": 0.1}, 4 * math.log(1 + 1 / 16)),
    ("parity-amplified", {"dimension": 2, "epsilon": 1.0, "beta": 1e-3}, 10 * math.log(1 + 1 / 40)),
    ("parity-amplified", {"dimension": 1, "epsilon": 2.0, "beta": 0.6}, math.log(3) / 2),
    ("parity-amplified", {"dimension": 2, "epsilon": 1.0, "beta": 1e-3, "budget": "proved"}, 1.0),
]


@pytest.mark.parametrize(("id", "parameters", "share"), CLOSED, ids=lambda value: str(value)[:60])
def test_a_closed_form_has_its_value_and_its_ray_tends_to_it(id: str, parameters: dict[str, Any], share: float) -> None:
    learner: Any = get_learner(id, **parameters)
    closed = learner.supremum()
    epsilon = learner.privacy.epsilon
    assert closed.value == pytest.approx(share * epsilon, rel=1e-6)
    losses = [dpaudit.pac.audit_law(learner, samples=[closed.ray(t)]).epsilon for t in (1, 30, 10**5)]
    assert all(after >= before - 1e-9 for before, after in pairwise(losses))
    assert losses[-1] == pytest.approx(closed.value, rel=1e-6)
    assert losses[-1] <= closed.value * (1 + 1e-9)


@pytest.mark.parametrize(("id", "parameters", "share"), CLOSED[::3], ids=lambda value: str(value)[:60])
def test_no_pair_of_few_examples_exceeds_a_closed_form(id: str, parameters: dict[str, Any], share: float) -> None:
    learner: Any = get_learner(id, **parameters)
    for n in (1, 2):
        assert dpaudit.pac.audit_law(learner, n=n).epsilon <= learner.supremum().value * (1 + 1e-9)


@pytest.mark.full
@pytest.mark.parametrize(("id", "parameters", "share"), CLOSED, ids=lambda value: str(value)[:60])
def test_a_long_search_does_not_exceed_a_closed_form(id: str, parameters: dict[str, Any], share: float) -> None:
    found = dpaudit.pac.audit_supremum(get_learner(id, **parameters))
    assert found.support == Support.PROVED
    assert found.agreement >= 6


# What the search must reach where nothing is proved: value over the claim.
SEARCHED: list[tuple[str, dict[str, Any], float]] = [
    ("mixture-halfspace", {"dimension": 1, "epsilon": 1.0, "side": 1}, 1.0),
    ("hull-point-exponential", {"side": 1, "dimension": 2, "epsilon": 1.0}, 0.6595),
]


@pytest.mark.parametrize(("id", "parameters", "share"), SEARCHED, ids=lambda value: str(value)[:60])
def test_the_search_reaches_what_is_known(id: str, parameters: dict[str, Any], share: float) -> None:
    found = dpaudit.pac.audit_supremum(get_learner(id, **parameters), starts=1, evaluations=20, most=2)
    assert found.support == Support.LOWER_BOUND
    assert found.value == pytest.approx(share, abs=1e-4)
    assert found.value <= 1 + 1e-9


@pytest.mark.full
@pytest.mark.parametrize(
    ("id", "parameters", "share"),
    [
        ("threshold-interior-point", {"domain_size": 4, "epsilon": 4.0, "beta": 0.5}, 0.95892),
        ("box-interior-point", {"side": 2, "dimension": 1, "epsilon": 8.0, "beta": 0.8}, 0.98136),
        ("conjunction-greedy", {"dimension": 3, "k": 3, "epsilon": 1.0, "rounds": 2}, 0.75),
    ],
)
def test_a_long_search_reaches_what_is_known(id: str, parameters: dict[str, Any], share: float) -> None:
    found = dpaudit.pac.audit_supremum(get_learner(id, **parameters))
    learner: Any = get_learner(id, **parameters)
    assert share * (1 - 2e-3) <= found.value / learner.privacy.epsilon <= 1 + 1e-9


# The theorem of `choice_cost`, by an oracle of its own.


def choice_losses(d: int, k: int, share: float, rounds: int, counts: np.ndarray, other: np.ndarray) -> float:
    """Return the greatest log-ratio of a sequence of choices, by the definition of the algorithm.

    `counts` and `other` hold how often each example (point, label) occurs, (2^d, 2); literals and "no literal" choose.
    """
    points = np.array([[(x >> i) & 1 for i in range(d)] for x in range(2**d)])
    contradicts = np.concatenate([1 - points, points, np.zeros((2**d, 1), dtype=int)], axis=1)

    def log_choice(left: np.ndarray) -> np.ndarray:
        covered, spoiled = left[:, 0] @ contradicts, left[:, 1] @ contradicts
        q = np.minimum(covered - left[:, 0].sum() / k, -spoiled)
        logs = share / 2 * (q - q.max())
        return np.asarray(logs - math.log(np.exp(logs).sum()))

    def worst(ours: np.ndarray, theirs: np.ndarray, rounds: int) -> float:
        if rounds == 0:
            return 0.0
        losses = log_choice(ours) - log_choice(theirs)
        kept = [1 - contradicts[:, [i]] for i in range(contradicts.shape[1])]
        return max(float(x) + worst(ours * kept[i], theirs * kept[i], rounds - 1) for i, x in enumerate(losses))

    return worst(counts, other, rounds)


@pytest.mark.parametrize(("k", "rounds"), [(1, 1), (1, 2), (2, 1), (2, 3), (3, 2)])
def test_greedy_choices_cost_what_the_theorem_says_and_no_more(k: int, rounds: int) -> None:
    d, share, reached = 2, 0.7, 0.0
    rng = np.random.default_rng(k + 10 * rounds)
    bound = choice_cost(rounds, k, share)
    assert bound == pytest.approx(share / 2 * max(rounds * (1 + 1 / k), rounds + 1))
    assert choice_cost(rounds, k, pure_share(k, rounds, 1.0)) == pytest.approx(1.0, rel=1e-12)
    for _ in range(60):
        shared = np.zeros((4, 2))
        for _ in range(int(rng.integers(0, 4))):
            shared[rng.integers(4), rng.integers(2)] += int(10 ** rng.uniform(0, 3))
        left, right = shared.copy(), shared.copy()
        left[rng.integers(4), rng.integers(2)] += 1
        right[rng.integers(4), rng.integers(2)] += 1
        reached = max(reached, choice_losses(d, k, share, rounds, left, right))
    ray = np.zeros((4, 2))
    ray[0, 0] = 2000
    if rounds >= k:
        left, right = ray.copy(), ray.copy()
        left[0, 1], right[0, 0] = 1, 2001
        assert choice_losses(d, k, share, rounds, left, right) == pytest.approx(bound, rel=1e-6)
    assert reached <= bound * (1 + 1e-12)


def test_what_the_cost_of_repetition_says_is_what_one_example_costs() -> None:
    for keep, runs in ((0.1, 1), (0.3, 1), (0.05, 4), (0.5, 2), (0.1, 10)):
        answers = math.log((1 + keep) / (1 - keep)) + math.log(
            sum(((1 + keep) / 2) ** i for i in range(runs)) / sum(0.5**i for i in range(runs))
        )
        assert amplified_cost(keep, runs) == pytest.approx(max(runs * math.log(1 + keep), answers), rel=1e-12)
    rate = amplified_rate(1.0, 10)
    assert rate == pytest.approx(0.10518, abs=1e-4)
    assert amplified_cost(rate, 10) <= 1 < amplified_cost(rate * (1 + 1e-9), 10)
    learner = ParityAmplified(1, 0.8, 0.3, "proved")
    assert max(worst_epsilon(learner, n) for n in (1, 2, 3)) <= 0.8 * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0, 50.0])
def test_a_budget_that_is_proved_is_kept(epsilon: float) -> None:
    for learner in (ParityAmplified(1, epsilon, 0.05, "proved"), ConjunctionGreedy(1, 1, epsilon, budget="proved")):
        assert dpaudit.pac.audit_law(learner, n=2).epsilon <= epsilon * (1 + 1e-9)
        closed = learner.supremum()
        assert closed is not None
        # No float is nearer to 1 than 2^-53, so that a rate cannot spend a huge epsilon.
        assert closed.value == pytest.approx(epsilon, rel=1e-6) or epsilon > 20
        assert closed.value <= epsilon * (1 + 1e-12)


# Limits along rays.


@dataclass(frozen=True)
class Unproved(PointExponential):
    """A point learner that offers limits and no closed form."""

    id: ClassVar[str] = "toy-unproved"
    supremum = None  # type: ignore[assignment]  # takes the method away


def test_a_limit_is_that_of_far_samples_for_every_atom() -> None:
    learner = PointExponential(4, 1.0)
    domain = learner.domain
    direction = domain.sample([[0]], [1])
    for base, other in ((([[1]], [1]), ([[0]], [0])), (([[2]], [0]), ([[3]], [1]))):
        limits = learner.limit_law(domain.sample(*base), direction), learner.limit_law(domain.sample(*other), direction)
        far = [
            learner.law(domain.sample([*points, [0]], [*labels, 1], [1, 400])).log_prob
            for points, labels in (base, other)
        ]
        assert limits[0].log_prob - limits[1].log_prob == pytest.approx(far[0] - far[1], abs=1e-11)


def test_a_limit_is_no_proof_and_no_attained_loss() -> None:
    assert not isinstance(Unproved(4, 1.0), HasSupremum)
    found = dpaudit.pac.audit_supremum(Unproved(4, 1.0), starts=1, evaluations=5, most=2)
    assert found.support == Support.LIMIT
    assert found.value == pytest.approx(1.0, rel=1e-12)
    assert found.value - found.error > found.attained - found.attained_error
    assert found.ray
    assert "limit along a ray" in str(found)


# Refuted closed forms and violated claims.


@dataclass(frozen=True)
class Boasting(ParityPrivate):
    """Says that it loses half of what it does."""

    id: ClassVar[str] = "toy-boasting"

    def supremum(self) -> Supremum:
        """Return a wrong closed form."""
        return replace(super().supremum(), value=P / 2)


def test_a_search_result_above_a_closed_form_refutes_it() -> None:
    found = dpaudit.pac.audit_supremum(Boasting(2, 1.0), **BRIEF)
    assert (found.proof_refuted, found.support, found.verdict) == (True, Support.LOWER_BOUND, "consistent")
    assert found.value == pytest.approx(P, rel=1e-9)
    assert found.proved_value == P / 2
    assert "refuted by the witness" in str(found)


def test_a_control_does_not_inherit_a_proof() -> None:
    found = dpaudit.pac.audit_supremum(get_learner("broken-point-doubled", domain_size=3, epsilon=1.0), **BRIEF)
    assert (found.support, found.proof, found.verdict) == (Support.LOWER_BOUND, "", "violation")
    assert found.value == pytest.approx(2.0, rel=1e-3)


def test_an_impossible_output_loses_without_bound() -> None:
    found = dpaudit.pac.audit_supremum(
        ConjunctionGreedy(1, 1, 1.0), relation=Relation.ADD_REMOVE_ONE, starts=1, evaluations=5, most=1
    )
    assert found.value == math.inf
    assert SupremumFinding.from_dict(found.to_dict()).value == math.inf


@dataclass(frozen=True)
class Small(PointExponential):
    """Computes its law for at most two examples."""

    id: ClassVar[str] = "toy-small"
    instance: ClassVar[Instance] = Instance({"domain_size": 3, "epsilon": 1.0}, n=2)
    most: int = 2

    def law(self, sample: Any) -> Law:
        """Return the law, or refuse."""
        if sample.n > self.most:
            raise dpaudit.InputError(f"at most {self.most} examples, got {sample.n}")
        return super().law(sample)


def test_a_law_that_refuses_large_samples_bounds_the_search() -> None:
    learner = Small(3, 1.0)
    found = dpaudit.pac.audit_supremum(learner, starts=2, evaluations=60)
    assert found.n <= 2
    best = max(worst_epsilon(learner, n) for n in (1, 2))
    assert found.value == pytest.approx(best, rel=1e-9)
    assert sum(1 for _ in every_sample(learner.domain, 2)) == 21
    with pytest.raises(dpaudit.InputError, match="refuses every sample that was tried: at most 0 examples"):
        dpaudit.pac.audit_supremum(Small(3, 1.0, most=0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"starts": 0}, "starts"),
        ({"evaluations": 1.5}, "evaluations"),
        ({"most": -1}, "most"),
        ({"seed": -1}, "seed"),
        ({"relation": "friends"}, "relation"),
        ({"progress": 3}, "progress"),
    ],
)
def test_bad_input_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(dpaudit.InputError, match=message):
        dpaudit.pac.audit_supremum(ParityPrivate(1, 1.0), **options)


def test_a_learner_without_a_law_is_refused() -> None:
    with pytest.raises(dpaudit.InputError, match="has no law"):
        dpaudit.pac.audit_supremum(ToyBare(), starts=1)

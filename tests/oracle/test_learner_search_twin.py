"""Conjunctions by exponential mechanisms against scalar loops over sequences of literals."""

from __future__ import annotations

import decimal
import itertools
import math
from decimal import Decimal

import numpy as np
import pytest

import dpaudit
from dpaudit.contract import InputError, Relation, Sample
from dpaudit.seeding import generator
from dpaudit_learners.conjunctions.concepts import ConjunctionExponential, ShortConjunctions
from dpaudit_learners.conjunctions.greedy import ConjunctionGreedy
from dpaudit_learners.conjunctions.greedy_counts import GreedyCounts
from dpaudit_learners.covers.accounting import rounds_for
from dpaudit_learners.domains import Cube
from dpaudit_learners.finite.counting import scores
from dpaudit_learners.mechanisms.composition import largest_repeated_epsilon, repeated_delta

decimal.getcontext().prec = 40

# A point, its label and its count.
Row = tuple[tuple[int, ...], int, int]


def random_sample(domain: Cube, rng: np.random.Generator, m: int, top: int) -> Sample:
    if m == 0:
        return domain.empty_sample()
    return domain.sample(rng.integers(0, 2, (m, domain.dimension)), rng.integers(0, 2, m), rng.integers(1, top, m))


def softmax(values: list[int], rate: Decimal) -> list[Decimal]:
    weights = [(rate * (v - max(values))).exp() for v in values]
    return [w / sum(weights) for w in weights]


def one_round(rows: list[Row], dimension: int, k: int, idle: bool) -> list[int]:
    """Return k q of all candidates on the remaining (point, label, count)."""
    negatives = sum(c for _, y, c in rows if y == 0)
    values = []
    for literal in range(2 * dimension):
        hit = [(y, c) for x, y, c in rows if x[literal // 2] == literal % 2]
        # k q is an integer: negatives covered beyond a k-th of all, or positives lost.
        values.append(min(k * sum(c for y, c in hit if y == 0) - negatives, -k * sum(c for y, c in hit if y == 1)))
    return values + ([-negatives] if idle else [])


def slow_greedy(learner: ConjunctionGreedy, sample: Sample, rounds: int, share: float) -> dict[int, Decimal]:
    """Return the law by enumerating all sequences of candidates, deleting examples one round at a time."""
    law: dict[int, Decimal] = {}
    start = [(tuple(map(int, x)), int(y), int(c))
             for x, y, c in zip(sample.points, sample.labels, sample.counts, strict=True)]  # fmt: skip
    idle = not learner.literal
    d = learner.dimension
    rate = Decimal(share) / (2 * learner.k)
    for sequence in itertools.product(range(2 * d + idle), repeat=rounds):
        rows = start
        probability = Decimal(1)
        for candidate in sequence:
            probability *= softmax(one_round(rows, d, learner.k, idle), rate)[candidate]
            if candidate < 2 * d:
                # What the literal refuses is settled; the next round sees the rest.
                rows = [row for row in rows if row[0][candidate // 2] != candidate % 2]
        mask = sum(1 << c for c in set(sequence) if c < 2 * d)
        law[mask] = law.get(mask, Decimal(0)) + probability
    return law


@pytest.mark.parametrize("top", [3, 10**6])
@pytest.mark.parametrize(
    "learner",
    [
        ConjunctionGreedy(1, 1, 1.0, rounds=4),
        ConjunctionGreedy(2, 1, 3.0, rounds=3),
        ConjunctionGreedy(2, 2, 2.0, rounds=3, literal=True),
        ConjunctionGreedy(3, 2, 1.0, rounds=2),
    ],
    ids=str,
)
def test_greedy_law_is_the_sum_over_sequences(learner: ConjunctionGreedy, top: int) -> None:
    rng = np.random.default_rng(4)
    for m in (0, 1, 3, 6):
        sample = random_sample(learner.domain, rng, m, top)
        assert learner.rounds is not None
        exact = slow_greedy(learner, sample, learner.rounds, learner.epsilon / learner.rounds)
        law = learner.law(sample)
        assert law.error < 1e-13 * max(100, sample.n)
        for mask, log_prob in zip(law.atoms, law.log_prob, strict=True):
            if exact.get(mask, Decimal(0)) == 0:
                assert log_prob == -np.inf
            else:
                assert abs(Decimal(float(log_prob)) - exact[mask].ln()) <= Decimal(law.error)


def test_counts_while_literals_are_chosen() -> None:
    rng = np.random.default_rng(7)
    for top in (3, 2**22, 2**40, 2**58):
        for idle in (False, True):
            sample = random_sample(ConjunctionGreedy(4, 2, 1.0).domain, rng, 12, top)
            counts = GreedyCounts(sample, 3, idle=idle)
            state = counts.start()
            rows = [(tuple(map(int, x)), int(y), int(c))
                    for x, y, c in zip(sample.points, sample.labels, sample.counts, strict=True)]  # fmt: skip
            for literal in rng.permutation(8)[:5].tolist():
                if 3 * sample.n < 2**62:
                    assert counts.scores(state).tolist() == one_round(rows, 4, 3, idle)
                state = counts.after(state, literal)
                rows = [row for row in rows if row[0][literal // 2] != literal % 2]
                assert state.totals.astype(object).tolist() == [sum(c for _, y, c in rows if y == v) for v in (0, 1)]


@pytest.mark.parametrize(("dimension", "k"), [(1, 1), (2, 1), (3, 2), (4, 4), (6, 3)])
def test_fast_counts_of_the_exponential_learner_are_those_of_evaluation(dimension: int, k: int) -> None:
    rng = np.random.default_rng(3)
    concepts = ShortConjunctions(dimension, k)
    for m, top in ((0, 2), (1, 9), (5, 3), (30, 10**12), (9, 2**55)):
        sample = random_sample(ConjunctionExponential(dimension, k, 1.0).domain, rng, m, top)
        assert concepts.count_correct(sample).tolist() == scores(concepts, sample).tolist()


@pytest.mark.parametrize(("dimension", "k"), [(1, 1), (3, 1), (3, 2), (4, 4), (5, 3)])
def test_short_conjunctions_are_all_and_only_those(dimension: int, k: int) -> None:
    concepts = ShortConjunctions(dimension, k)
    points = ConjunctionExponential(dimension, k, 1.0).domain.points()
    labels = concepts.evaluate(points)
    functions = set()
    for length in range(k + 1):
        for literals in itertools.product(range(2 * dimension), repeat=length):
            row = [int(all(x[i // 2] != i % 2 for i in literals)) for x in points]
            functions.add(tuple(row))
    assert {tuple(int(v) for v in row) for row in labels} == functions
    assert len(functions) == concepts.size
    assert (labels == [c.predict(points) for c in concepts.enumerate()]).all()
    large = ShortConjunctions(100, 5)
    codes = [0, 1, 200, 201, large.size - 2, large.size // 2]
    assert [large.concept(c).mask.bit_count() for c in codes] == [0, 1, 1, 2, 5, 5]
    assert large.concept(large.size - 2).mask == sum(1 << 2 * i + 1 for i in range(95, 100))


@pytest.mark.parametrize(("share", "times", "epsilon"), [(0.3, 4, 0.5), (1.0, 7, 2.0), (0.2, 30, 1.5)])
def test_optimal_composition_is_the_divergence_of_randomised_responses(
    share: float, times: int, epsilon: float
) -> None:
    p = 1 / (1 + math.exp(-share))
    total = 0.0
    for ones in range(times + 1):
        left = p ** (times - ones) * (1 - p) ** ones
        right = (1 - p) ** (times - ones) * p**ones
        total += math.comb(times, ones) * max(0.0, left - math.exp(epsilon) * right)
    assert repeated_delta(epsilon, share, times) == pytest.approx(total, rel=1e-8)
    assert repeated_delta(times * share, share, times) == 0
    found = largest_repeated_epsilon(epsilon, 1e-4, times)
    assert repeated_delta(epsilon, found, times) <= 1e-4 < repeated_delta(epsilon, found * (1 + 1e-9), times)
    assert found > epsilon / times == largest_repeated_epsilon(epsilon, 0.0, times)
    # Never worse than the advanced composition theorem with the same delta.
    drv = math.sqrt(2 * times * math.log(1e4)) * found + times * found * math.tanh(found / 2)
    assert drv >= epsilon


@pytest.mark.parametrize("delta", [None, 0.0, 1e-3, 0.05])
def test_greedy_keeps_its_claim_with_and_without_delta(delta: float | None) -> None:
    learner = ConjunctionGreedy(2, 1, 1.0, delta, rounds=12)
    finding = dpaudit.pac.audit_law(learner, n=3)
    assert finding.verdict == "consistent"
    assert finding.claimed_delta == (delta or 0.0)
    assert (learner.share(12) > 1 / 12) == bool(delta)


def test_rounds_that_depend_on_n_show_n() -> None:
    assert [ConjunctionGreedy(3, 2, 1.0).rounds_at(n) for n in (0, 1, 2, 10, 10**5)] == [1, 1, 3, 10, 47]
    assert (
        dpaudit.pac.audit_law(ConjunctionGreedy(2, 1, 1.0), n=1, relation=Relation.ADD_REMOVE_ONE).epsilon == math.inf
    )
    fixed = dpaudit.pac.audit_law(ConjunctionGreedy(2, 1, 1.0, rounds=3), n=2, relation=Relation.ADD_REMOVE_ONE)
    assert fixed.epsilon <= 1


def test_codes_of_more_than_31_variables_are_python_integers() -> None:
    learner = ConjunctionGreedy(70, 1, 50.0, rounds=2)
    rng = generator(1, "wide")
    points = rng.integers(0, 2, (4000, 70))
    sample = learner.domain.sample(points, points[:, 66])
    codes = learner.run(sample, rng, 5)
    # All other literals lose at least 900 of about 2000 positives at inverse temperature 12.5.
    assert codes == [1 << 132] * 5
    assert sample.errors(learner.decode(codes[0])) == 0
    assert isinstance(codes[0], int)
    assert ConjunctionGreedy(31, 1, 1.0).run(ConjunctionGreedy(31, 1, 1.0).domain.empty_sample(), rng, 3).shape == (3,)


def test_sharing_states_does_not_depend_on_how_runs_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    import dpaudit_learners.conjunctions.greedy as module

    learner = ConjunctionGreedy(2, 2, 4.0, rounds=3)
    sample = learner.domain.sample([[0, 1], [1, 1], [1, 0]], [0, 1, 1], [2, 5, 1])
    law = np.exp(learner.law(sample).log_prob)
    monkeypatch.setattr(module, "CELLS", 30)
    seen = np.bincount(learner.run(sample, generator(2, "cut"), 5_000), minlength=16) / 5_000
    # Six standard deviations for each of 16 cells: false alarm below 1e-7.
    assert (np.abs(seen - law) <= 6 * np.sqrt(law * (1 - law) / 5_000) + 1e-9).all()


def test_bad_parameters() -> None:
    for kind in (ConjunctionExponential, ConjunctionGreedy):
        for parameters, name in (((0, 1, 1.0), "dimension"), ((3, 4, 1.0), "k must be"), ((3, 0, 1.0), "k must be"),
                                 ((3, 2, math.inf), "epsilon"), ((3, 2, 0.0), "epsilon")):  # fmt: skip
            with pytest.raises(InputError, match=name):
                kind(*parameters)
    with pytest.raises(InputError, match="take a smaller k, or conjunction-greedy"):
        ConjunctionExponential(100, 5, 1.0)
    for bad in (-0.1, 1.0, math.nan):
        with pytest.raises(InputError, match="delta"):
            ConjunctionGreedy(3, 2, 1.0, bad)
    with pytest.raises(InputError, match="rounds"):
        ConjunctionGreedy(3, 2, 1.0, rounds=0)
    wide = ConjunctionGreedy(6, 2, 1.0)
    with pytest.raises(InputError, match="dimension must be at most 5"):
        wide.law(wide.domain.empty_sample())
    with pytest.raises(InputError, match=r"rounds must be at least 15 .* got 3"):
        ConjunctionGreedy(3, 2, 1.0, rounds=3).sample_size(0.1, 0.1)
    with pytest.raises(InputError, match="setting"):
        ConjunctionGreedy(3, 2, 1.0).utility(0.1, 0.1, "agnostic")


@pytest.mark.parametrize("setting", ["empirical", "realizable"])
def test_greedy_sample_sizes_satisfy_their_conditions(setting: str) -> None:
    for learner in (ConjunctionGreedy(10, 3, 1.0), ConjunctionGreedy(10, 3, 1.0, 1e-6, rounds=40)):
        alpha = 0.1
        beta = 0.05
        n = learner.utility(alpha, beta, setting).sample_size
        a, b = (alpha, beta) if setting == "empirical" else (alpha / 2, beta / 2)
        rounds = learner.rounds_at(n)
        slack = 2 / learner.share(rounds) * math.log(21 * rounds / b)
        assert rounds >= rounds_for(3, a)
        assert rounds * slack + max(6 * slack, n * (1 - 1 / 6) ** rounds) <= a * n

"""Public and private populations of their own, and noisy labels: what is drawn, what counts, and what is claimed."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from quick import by_turns

import dpaudit
from dpaudit.contract import Distribution, InputError
from dpaudit.seeding import generator
from dpaudit.utility.audit import stream_address
from dpaudit.utility.problem import Problem
from dpaudit_learners.halfspaces.exponential import HalfspaceExponential
from dpaudit_learners.mixtures.halfspace import MixtureHalfspace

LEARNER = MixtureHalfspace(1, 2.0, side=3)
FROM_TWO = next(c for c in range(LEARNER.concepts.size) if not LEARNER.concepts.concept(c).predict([[0], [1]]).any()
                and LEARNER.concepts.concept(c).predict([[2], [3]]).all())  # fmt: skip
"""The concept with label 1 from 2 on."""


def at(points: list[int], probabilities: list[float]) -> Distribution:
    return Distribution(np.array(points)[:, None], np.array(probabilities))


LOW, HIGH = at([0, 1, 2], [0.2, 0.5, 0.3]), at([2, 3], [0.6, 0.4])
POPULATIONS = Distribution.mixture(LOW, HIGH, 0.7, "low public, high private")
TURNED = Distribution.mixture(HIGH, LOW, 0.3, "high public, low private")
"""The same examples with the other flags."""


def shares(sample: Any) -> dict[tuple[int, int, bool], float]:
    rows = zip(sample.points[:, 0].tolist(), sample.labels.tolist(), sample.public.tolist(), strict=True)
    return dict(zip(rows, (sample.counts / sample.n).tolist(), strict=True))


def test_a_mixture_keeps_its_populations_apart() -> None:
    assert POPULATIONS.points[:, 0].tolist() == [0, 1, 2, 2, 3]
    assert POPULATIONS.probabilities.tolist() == pytest.approx([0.14, 0.35, 0.21, 0.18, 0.12])
    assert POPULATIONS.public is not None
    assert POPULATIONS.public.tolist() == [True, True, True, False, False]
    with pytest.raises(InputError, match="share"):
        Distribution.mixture(LOW, HIGH, 1.1)
    for flags in (np.array([True]), np.array([0, 1])):
        with pytest.raises(InputError, match="public"):
            Distribution(HIGH.points, HIGH.probabilities, "", flags)


def test_examples_are_drawn_with_the_flags_of_their_population() -> None:
    target, n = LEARNER.concepts.concept(FROM_TWO), 10**12
    found = shares(LEARNER.domain.draw(target, POPULATIONS, n, generator(0, "populations")))
    expected = {(0, 0, True): 0.14, (1, 0, True): 0.35, (2, 1, True): 0.21, (2, 1, False): 0.18, (3, 1, False): 0.12}
    assert found == pytest.approx(expected, abs=1e-5)
    # Each row has a noise of its own; the flag stays, whatever the label becomes.
    problem = Problem(LEARNER, target, POPULATIONS, np.array([0.5, 0, 0.1, 0, 0.25]), 0.1, "agnostic")
    found = shares(problem.draw(n, generator(1, "populations")))
    noisy = {
        (0, 0, True): 0.07, (0, 1, True): 0.07, (1, 0, True): 0.35, (2, 0, True): 0.021, (2, 1, True): 0.189,
        (2, 1, False): 0.18, (3, 1, False): 0.09, (3, 0, False): 0.03,
    }  # fmt: skip
    assert found == pytest.approx(noisy, abs=1e-5)
    assert shares(problem.sample(100)) == pytest.approx(expected)


def exact_rate(learner: Any, law: Distribution, noise: np.ndarray[Any, Any], n: int, most: float) -> float:
    """Return Pr[error > most], a sum over all multisets of n examples (row, label)."""
    truth = learner.concepts.concept(FROM_TWO).predict(law.points)
    chances = np.stack([np.where(truth == label, 1 - noise, noise) * law.probabilities for label in (0, 1)], axis=1)

    @cache
    def errs(atom: Any) -> bool:
        said = learner.decode(atom).predict(law.points)
        return math.fsum(chances[i, 1 - said[i]] for i in range(len(truth))) > most + 1e-12

    rate = 0.0
    for drawn in itertools.combinations_with_replacement(range(2 * len(truth)), n):
        counts = np.bincount(drawn, minlength=2 * len(truth))
        weight = math.factorial(n) * math.prod(
            p**c / math.factorial(c) for p, c in zip(chances.ravel().tolist(), counts.tolist(), strict=True)
        )
        if weight:
            points, labels = np.repeat(law.points, 2, axis=0), np.tile([0, 1], len(truth))
            assert law.public is not None
            output = learner.law(learner.domain.sample(points, labels, counts, np.repeat(law.public, 2)))
            for atom, log_prob in zip(output.atoms, output.log_prob, strict=True):
                rate += weight * math.exp(log_prob) * errs(atom)
    return rate


@pytest.mark.parametrize("public_noise", by_turns([0.2, 0.0]))
def test_failure_rates_are_those_of_every_sample_listed(public_noise: float) -> None:
    noise = np.where(POPULATIONS.public, public_noise, 0.0)
    setting: dict[str, Any] = {"setting": "agnostic", "noise": noise} if public_noise else {}
    best = float(noise @ POPULATIONS.probabilities)
    finding = dpaudit.pac.audit_utility(
        LEARNER, FROM_TWO, POPULATIONS, alpha=0.15, beta=0.5, n=3, trials=1500, confidence=0.9999, **setting
    )
    expected = exact_rate(LEARNER, POPULATIONS, noise, 3, best + 0.15)
    assert finding.failure_lower <= expected <= finding.failure_upper
    assert finding.best_error == (pytest.approx(best) if public_noise else None)
    # The same examples in all, the flags exchanged: another failure rate, and the audit tells them apart.
    flags = np.array([False, False, False, True, True])
    other = Distribution(POPULATIONS.points, POPULATIONS.probabilities, "", flags)
    turned = exact_rate(LEARNER, other, noise, 3, best + 0.15)
    assert not finding.failure_lower <= turned <= finding.failure_upper


def test_the_error_is_that_on_both_populations() -> None:
    # All public examples at 0, all private ones at 3: "always 1" errs on the share of the public ones, 0.3. One example
    # leaves only it, if it is private (0.7), else this or "0 at 0, 1 elsewhere", each in half of the runs.
    far = Distribution.mixture(at([0], [1.0]), at([3], [1.0]), 0.3)
    for alpha, chance in ((0.3, 0.0), (0.29, 0.7 + 0.3 / 2)):
        learner = MixtureHalfspace(1, 1e-9, side=3)
        assert exact_rate(learner, far, np.zeros(2), 1, alpha) == pytest.approx(chance)
        finding = dpaudit.pac.audit_utility(learner, FROM_TWO, far, alpha=alpha, beta=0.5, n=1, trials=500)
        assert finding.failure_lower <= chance <= finding.failure_upper


def audited(law: Distribution, **setting: Any) -> Any:
    return dpaudit.pac.audit_utility(LEARNER, FROM_TWO, law, alpha=0.2, beta=0.2, trials=40, **setting)


def test_the_theorem_speaks_of_private_examples_with_one_label() -> None:
    assert audited(POPULATIONS).claim_id == "BMN-Thm4.9"
    agnostic = {"setting": "agnostic", "noise": np.where(POPULATIONS.public, 0.2, 0.0)}
    assert audited(POPULATIONS, **agnostic).claim_id == "BMN-Thm4.10"
    for law, setting in (
        (TURNED, {}),  # private examples at 0 and 1 are labelled 0, as public ones
        (POPULATIONS, {"setting": "agnostic", "noise": 0.2}),  # noise turns private labels to the public one
    ):
        with pytest.raises(InputError, match="n must be given"):
            audited(law, **setting)
        assert audited(law, n=5000, **setting).claim_id == ""
    turned = MixtureHalfspace(1, 2.0, side=3, public_label=1)
    ones = LEARNER.concepts.concept(FROM_TWO).predict(POPULATIONS.points).astype(float)
    assert LEARNER.speaks_of(POPULATIONS, ones)
    assert not turned.speaks_of(POPULATIONS, ones)
    assert turned.speaks_of(POPULATIONS, 1 - ones)
    # What has no probability does not count.
    absent = Distribution(POPULATIONS.points[:3], np.array([0.0, 0.0, 1.0]), "", np.array([True, False, False]))
    assert LEARNER.speaks_of(absent, np.array([0.0, 0.0, 1.0]))
    assert LEARNER.speaks_of(LOW, np.zeros(3))


def test_the_theorem_holds_on_populations_of_their_own_and_fails_where_it_does_not_speak() -> None:
    n = LEARNER.utility(0.2, 0.2).sample_size
    assert audited(POPULATIONS, n=n).failures == 0
    agnostic = {"setting": "agnostic", "noise": np.where(POPULATIONS.public, 0.2, 0.0)}
    assert audited(POPULATIONS, **agnostic).failures == 0
    # Private examples only: nothing is learned but "always 1".
    private = Distribution(LOW.points, LOW.probabilities, "all private", np.zeros(3, dtype=bool))
    assert audited(private, n=n).failures == 40


def test_populations_have_streams_of_their_own() -> None:
    target, addresses = LEARNER.concepts.concept(FROM_TWO), set()
    for flags in (None, *itertools.product([False, True], repeat=5)):
        public = None if flags is None else np.array(flags)
        law = Distribution(POPULATIONS.points, POPULATIONS.probabilities, "a name", public)
        problem = Problem(LEARNER, target, law, None, 0.1, "realizable")
        addresses.add(repr(stream_address(problem, "from 2", 9)))
    assert len(addresses) == 33


def test_learners_without_public_examples_refuse_such_a_distribution() -> None:
    learner = HalfspaceExponential(3, 1, 1.0)
    with pytest.raises(InputError, match="no public examples"):
        dpaudit.pac.audit_utility(learner, 0, POPULATIONS, alpha=0.1, beta=0.1, n=5, trials=10)

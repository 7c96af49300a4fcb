"""The measured sample complexity: proposals, exact sums, decisions, and what it refuses."""

from __future__ import annotations

import io
import math
from itertools import product

import numpy as np
import pytest

import dpaudit
from dpaudit.bounds.limits import MeanTest
from dpaudit.contract import Distribution
from dpaudit.errors import InputError
from dpaudit.progress import Line
from dpaudit.seeding import generator
from dpaudit.utility.hard_cases import HardCase, hard_cases, just_above, just_bad
from dpaudit.utility.problem import CaseFailure
from dpaudit.utility.sample_complexity import Decider, exact_size
from dpaudit.utility.search import WorstCaseSearch


def wrongly_decided(tests: int, values: int, mean: float, seed: int) -> int:
    """Return how many tests answer "above" although the mean of the coins is exactly the threshold."""
    rng = np.random.default_rng(seed)
    answers = (MeanTest(mean, 0.05).take((rng.random(values) < mean).astype(float)) for _ in range(tests))
    return sum(answer == "above" for answer in answers)


def test_a_mean_at_the_threshold_is_rarely_called_above() -> None:
    # Bin(300, 0.05) exceeds 27 with probability 0.0013; the bets are valid at every n, hence far below that.
    assert wrongly_decided(300, 400, 0.1, seed=1) <= 27


@pytest.mark.full
@pytest.mark.parametrize("mean", [0.02, 0.1, 0.5, 0.9])
def test_the_level_holds_at_the_boundary(mean: float) -> None:
    assert wrongly_decided(4000, 4000, mean, seed=2) <= 0.05 * 4000 + 3 * math.sqrt(4000 * 0.05 * 0.95)


@pytest.mark.parametrize(("mean", "answer"), [(0.14, "above"), (0.07, "below"), (0.0, "below"), (1.0, "above")])
def test_a_mean_off_the_threshold_is_told(mean: float, answer: str) -> None:
    rng = np.random.default_rng(3)
    assert MeanTest(0.1, 0.01).take((rng.random(6000) < mean).astype(float)) == answer


def test_values_may_come_in_batches() -> None:
    values = (np.random.default_rng(4).random(2000) < 0.15).astype(float)
    whole, parts = MeanTest(0.1, 0.01), MeanTest(0.1, 0.01)
    whole.take(values)
    for batch in np.split(values, 8):
        parts.take(batch)
    assert whole.answer == parts.answer == "above"


def test_all_rivals_of_a_parity_are_just_bad_on_the_diluted_cube() -> None:
    learner = dpaudit.pac.get_learner("parity-private", dimension=3, epsilon=1.0)
    weights, name = next(just_bad(learner.concepts.evaluate(learner.domain.points()), 4, 0.1001))
    assert name == "all rivals just above alpha"
    assert weights[1:] == pytest.approx([0.025025] * 7)
    assert weights[0] == pytest.approx(1 - 7 * 0.025025)
    assert any("all rivals" in case.name for case in hard_cases(learner, 0.1))


@pytest.mark.parametrize(
    ("id", "parameters", "n"),
    [
        ("point-exponential", {"domain_size": 6}, 30),
        ("threshold-exponential", {"domain_size": 5}, 30),
        ("box-exponential", {"side": 3, "dimension": 1}, 25),
        ("conjunction-exponential", {"dimension": 2, "k": 1}, 20),
    ],
)
def test_failure_on_two_points_is_that_of_the_law(id: str, parameters: dict[str, int], n: int) -> None:
    learner = dpaudit.pac.get_learner(id, epsilon=1.5, **parameters)
    points = learner.domain.points()
    right = learner.concepts.evaluate(points)[:, None, :] == learner.concepts.evaluate(points)[None, :, :]
    ratios: dict[tuple[int, int, int], float] = {}
    for code, hard, easy in product(range(len(right)), range(len(points)), range(len(points))):
        if hard != easy:
            easily = right[code][:, easy]
            ratios[code, hard, easy] = (~right[code][:, hard] & easily).sum() / (right[code][:, hard] & easily).sum()
    rate, words = learner.hard_failure(0.1, n)
    rates = []
    for (code, hard, easy), ratio in ratios.items():
        if ratio == max(ratios.values()):
            law = Distribution(points[[hard, easy]], np.array([0.1001, 0.8999]))
            exact = CaseFailure(learner, HardCase(code, law, "two points"), 0.1, "realizable").exact(n)
            assert exact is not None
            rates.append(exact[0])
    assert min(abs(rate - other) for other in rates) < 1e-7 * rate
    assert "0.1001" in words


def test_failure_on_the_diluted_cube_is_that_of_the_law() -> None:
    learner = dpaudit.pac.get_learner("parity-private", dimension=2, epsilon=2.0)
    weights = np.array([1 - 0.15015, *[0.05005] * 3])
    case = HardCase(1, Distribution(learner.domain.points(), weights), "diluted cube")
    exact = CaseFailure(learner, case, 0.1, "realizable").exact(12)
    assert exact is not None
    assert learner.hard_failure(0.1, 12)[0] == pytest.approx(exact[0], rel=1e-7)


def test_draws_agree_with_the_exact_sum() -> None:
    learner = dpaudit.pac.get_learner("threshold-exponential", domain_size=4, epsilon=1.0)
    failure = CaseFailure(learner, hard_cases(learner, 0.2)[0], 0.2, "realizable")
    exact = failure.exact(30)
    drawn = failure.draws(30, np.random.default_rng(5), 1500)
    assert exact is not None
    assert exact[1] - exact[0] < 1e-8
    assert abs(drawn.mean() - exact[0]) < 4 * drawn.std() / math.sqrt(1500)


@pytest.mark.parametrize("noise", [None, np.array([0.1, 0.4]), np.array([0.0, 0.45])], ids=str)
@pytest.mark.parametrize("public", [None, np.array([True, False])], ids=str)
def test_sums_with_noise_and_public_examples_agree_with_draws(
    noise: np.ndarray | None, public: np.ndarray | None
) -> None:
    # Of six means one is off by more than four standard errors with probability 0.0004.
    learner = dpaudit.pac.get_learner("mixture-halfspace", dimension=1, side=3, epsilon=1.0)
    law = Distribution(np.array([[1], [2]]), np.array([0.4, 0.6]), public=public)
    labels = learner.concepts.evaluate(law.points)
    code = int(np.flatnonzero((labels == [0, 1]).all(axis=1))[0])
    setting = "realizable" if noise is None else "agnostic"
    failure = CaseFailure(learner, HardCase(code, law, "two points", noise), 0.05, setting)
    exact = failure.exact(9)
    drawn = failure.draws(9, np.random.default_rng(6), 1500)
    assert exact is not None
    assert 0.01 < exact[0] <= exact[1] < exact[0] + 1e-8
    assert abs(drawn.mean() - exact[0]) < 4 * drawn.std() / math.sqrt(1500)


def test_the_sample_complexity_of_parities_is_99() -> None:
    learner = dpaudit.pac.get_learner("parity-private", dimension=3, epsilon=1.0)
    assert exact_size(lambda n: learner.hard_failure(0.1, n)[0], 0.6, 1) == 99
    with pytest.raises(InputError, match=r"at least 0\.5"):
        exact_size(lambda n: learner.hard_failure(0.1, n)[0], 0.45, 1)


def test_decisions_are_exact_where_sums_are() -> None:
    learner = dpaudit.pac.get_learner("point-exponential", domain_size=64, epsilon=1.0)
    failure = CaseFailure(learner, hard_cases(learner, 0.1)[0], 0.1, "realizable")
    found = Decider(0.1, 0.95, 1000, 0).bracket(failure, 140, 1000)
    assert (found.lower, found.upper, found.grade) == (146, 147, "exact")


def boundary_lies(seed: int, draws: int) -> bool:
    """Say whether a statistical bracket contradicts the n* = 99 of the diluted cube."""
    learner = dpaudit.pac.get_learner("parity-private", dimension=3, epsilon=1.0)
    weights = np.array([1 - 0.175175, *[0.025025] * 7])
    case = HardCase(1, Distribution(learner.domain.points(), weights / weights.sum()), "diluted cube")
    found = Decider(0.6, 0.9, draws, seed).bracket(CaseFailure(learner, case, 0.1, "realizable"), 99, 300)
    return found.lower >= 99 or (found.upper is not None and found.upper < 99)


def test_brackets_by_drawing_contain_n() -> None:
    assert not boundary_lies(0, 150)


@pytest.mark.full
def test_brackets_by_drawing_lie_no_more_often_than_stated() -> None:
    # 0.1 of 40 and three standard deviations.
    assert sum(boundary_lies(seed, 500) for seed in range(40)) <= 9


def test_moves_over_the_number_of_rivals_and_over_points_that_are_alike() -> None:
    learner = dpaudit.pac.get_learner("conjunction-exponential", dimension=3, k=2, epsilon=1.0)
    search = WorstCaseSearch(learner, 0.1, 0.1, "realizable", 500, 0)
    points, code = learner.domain.points(), learner.concepts.size - 1
    wrong = np.unique(learner.concepts.evaluate(points) != learner.concepts.concept(code).predict(points), axis=0)
    bad = set()
    for seed in range(12):
        found = search._with_rivals(code, generator(seed, "rivals"))
        assert found is not None
        errors = wrong @ found[1]
        assert found[1].sum() == pytest.approx(1)
        assert (np.abs(errors - just_above(0.1)) < 1e-6).any()
        bad.add(int((errors > 0.1).sum()))
    assert len(bad) > 2
    uneven = np.arange(1.0, 1 + len(points)) ** 2 / (np.arange(1.0, 1 + len(points)) ** 2).sum()
    changed = 0
    for seed in range(6):
        _, masses = search._levelled(code, points, uneven, generator(seed, "level"))
        assert masses.sum() == pytest.approx(1)
        moved = ~np.isclose(masses, uneven)
        assert len(np.unique(masses[moved])) <= 1
        assert len(np.unique(wrong.sum(axis=0)[moved])) <= 1
        changed += moved.any()
    assert changed


def test_no_moves_leave_nothing_to_show_progress_of() -> None:
    learner = dpaudit.pac.get_learner("box-exponential", side=1, dimension=1, epsilon=2.0)
    finding = dpaudit.pac.sample_complexity(learner, alpha=0.2, beta=0.2, starts=1, moves=0, draws=250)
    assert finding.lower > 0
    Line(io.StringIO(), "moves", clock=iter((0.0, 100.0)).__next__)(0, 0)


def test_a_small_learner_is_measured_from_python() -> None:
    learner = dpaudit.pac.get_learner("box-exponential", side=2, dimension=1, epsilon=4.0)
    given = {"alpha": 0.3, "beta": 0.3, "starts": 1, "moves": 4, "draws": 300}
    finding = dpaudit.pac.sample_complexity(learner, **given)
    assert 0 < finding.lower < (finding.suffices or 0) <= finding.theorem
    assert finding.lower < (finding.upper or 0) <= finding.theorem
    assert finding.verdict == "holds"
    assert dpaudit.pac.SampleComplexityFinding.from_dict(finding.to_dict()) == finding
    assert dpaudit.pac.sample_complexity(learner, **given) == finding
    assert f"n* > {finding.lower}" in str(finding)
    assert "worst" in finding.summary()


def test_what_cannot_be_measured_is_refused() -> None:
    parity = dpaudit.pac.get_learner("parity-private", dimension=2, epsilon=1.0)
    with pytest.raises(InputError, match=r"beta must be above 0\.5"):
        dpaudit.pac.sample_complexity(parity, alpha=0.1, beta=0.5)
    with pytest.raises(InputError, match="setting"):
        dpaudit.pac.sample_complexity(parity, alpha=0.1, beta=0.6, setting="solution")
    with pytest.raises(InputError, match="alpha"):
        dpaudit.pac.sample_complexity(parity, alpha=0.0, beta=0.6)


def test_a_learner_without_a_theorem_is_refused() -> None:
    class Silent:
        """A learner that promises nothing on utility."""

        id = "silent"
        domain = concepts = privacy = None
        instance = dpaudit.pac.Instance({}, n=1)

        def run(self, sample: object, rng: object, size: int) -> list[int]:
            return [0] * size

        def decode(self, code: object) -> None:
            return None

    with pytest.raises(InputError, match="states no theorem on utility"):
        dpaudit.pac.sample_complexity(Silent(), alpha=0.1, beta=0.1)  # type: ignore[arg-type]  # what is refused


def test_the_result_does_not_depend_on_the_number_of_processes() -> None:
    learner = dpaudit.pac.get_learner("box-exponential", side=1, dimension=1, epsilon=2.0)
    given = {"alpha": 0.2, "beta": 0.2, "starts": 2, "moves": 5, "draws": 250}
    told: list[int] = []
    one = dpaudit.pac.sample_complexity(learner, **given)
    two = dpaudit.pac.sample_complexity(learner, **given, n_jobs=2, progress=lambda done, total: told.append(done))
    assert one.to_dict() == two.to_dict()
    assert two.call == one.call
    with pytest.raises(InputError, match="n_jobs"):
        dpaudit.pac.sample_complexity(learner, **given, n_jobs=0)

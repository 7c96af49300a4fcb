"""Worst cases: the proofs' bounds against brute force, certificates and their verifier, and what is printed of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import msgspec
import numpy as np
import pytest

import dpaudit
from dpaudit.contract import CaseFamily, Distribution, Grade, HasWorstCase, InputError, UtilityClaim
from dpaudit.report.words.finding import search_brief, search_page
from dpaudit.utility.audit import stated_claim
from dpaudit.utility.finding import SizeCertificate
from dpaudit.utility.hard_cases import HardCase
from dpaudit.utility.problem import CaseFailure
from dpaudit.utility.size_certificates import refuted
from dpaudit.utility.worst_case import Bracket, ProvedSize, known_size
from dpaudit_learners.points.exponential import ThresholdExponential

ROUNDING = 1e-9


def built(id: str, **parameters: Any) -> Any:
    learner = dpaudit.pac.get_learner(id, **parameters)
    assert isinstance(learner, HasWorstCase)
    return learner


def known(learner: Any, alpha: float = 0.1, beta: float = 0.1) -> ProvedSize:
    claim = stated_claim(learner, alpha, beta)
    assert claim is not None
    found = known_size(learner, alpha, beta, claim)
    assert found is not None
    return found


def count_vectors(n: int, cells: int) -> np.ndarray:
    return np.array([np.bincount(one, minlength=cells) for one in combinations_with_replacement(range(cells), n)])


def chances(counts: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """Return the multinomial probabilities (distributions, vectors) of the counts."""
    n = int(counts[0].sum())
    ways = [math.factorial(n) / math.prod(map(math.factorial, row)) for row in counts.tolist()]
    return np.array(ways) * np.prod(masses[:, None, :] ** counts[None, :, :], axis=2)


def grid(steps: int, cells: int) -> np.ndarray:
    """Return all distributions on so many points whose masses are multiples of 1/steps."""
    return count_vectors(steps, cells) / steps


def softmax_failures(learner: Any, alpha: float, n: int, masses: np.ndarray) -> Iterator[np.ndarray]:
    """Yield for each concept the failure rate of the exponential mechanism on each of the distributions."""
    labels = learner.concepts.evaluate(learner.domain.points())
    counts = count_vectors(n, labels.shape[1])
    chance = chances(counts, masses)
    for target in labels:
        differ = (labels != target).astype(np.int64)
        weights = np.exp(-learner.epsilon / 2 * counts @ differ.T)
        bad = masses @ differ.T > alpha + 1e-12
        yield np.einsum("dv,vh,dh->d", chance, weights / weights.sum(axis=1, keepdims=True), bad.astype(float))


SMALL = [
    ("threshold-exponential", {"domain_size": 3, "epsilon": 1.0}),
    ("threshold-exponential", {"domain_size": 4, "epsilon": 4.0}),
    ("point-exponential", {"domain_size": 2, "epsilon": 1.0}),
    ("point-exponential", {"domain_size": 3, "epsilon": 2.0}),
    ("point-exponential", {"domain_size": 5, "epsilon": 1.0}),
    ("box-exponential", {"side": 2, "dimension": 1, "epsilon": 2.0}),
    ("conjunction-exponential", {"dimension": 2, "k": 1, "epsilon": 1.0}),
]


@pytest.mark.parametrize(("id", "parameters"), SMALL, ids=str)
@pytest.mark.parametrize("alpha", [0.12, 0.24, 0.45, 0.7])
def test_no_distribution_of_a_grid_fails_more_often_than_the_bound(
    id: str, parameters: dict[str, Any], alpha: float
) -> None:
    learner = built(id, **parameters)
    masses = grid(8, learner.domain.size)
    for n in (1, 2, 5):
        bound = learner.worst_failure(alpha, n)
        most = max(float(rates.max()) for rates in softmax_failures(learner, alpha, n, masses))
        assert 0 < most <= bound.upper + ROUNDING
        assert bound.lower <= bound.upper + ROUNDING


def test_the_bounds_are_nearly_reached_on_a_grid() -> None:
    # With the masses just above alpha; 0.13 is above 0.12 by a step.
    for id, size in (("threshold-exponential", 3), ("point-exponential", 5)):
        learner = built(id, domain_size=size, epsilon=1.0)
        most = max(float(r.max()) for r in softmax_failures(learner, 0.249, 4, grid(8, size)))
        assert learner.worst_failure(0.249, 4).upper < 1.12 * most


def parity_failures(dimension: int, keep: float, alpha: float, n: int, masses: np.ndarray) -> np.ndarray:
    """Return the failure rate, without the coin, for target 0 on each of the distributions of the cube."""
    points = np.arange(2**dimension)
    wrong = np.array([[int(r & x).bit_count() % 2 for x in points] for r in points])
    errors = masses @ wrong.T
    # What is kept: each point at least once, or not at all; n examples of which each is dropped or kept somewhere.
    total = np.zeros(len(masses))
    counts = count_vectors(n, len(points) + 1)
    chance = chances(counts, np.column_stack([keep * masses, np.full(len(masses), 1 - keep)]))
    for row, vector in zip(counts[:, :-1], chance.T, strict=True):
        alive = ~(wrong[:, row > 0].any(axis=1))
        total += vector * (alive & (errors > alpha + 1e-12)).sum(axis=1) / alive.sum()
    return total


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3, 0.45, 0.6])
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_no_distribution_of_the_square_fails_more_often_than_the_diluted_cube(alpha: float, epsilon: float) -> None:
    learner = built("parity-private", dimension=2, epsilon=epsilon)
    if 2 * epsilon / 4 * alpha > 1:
        return
    for n in (1, 3, 4):
        most = 0.5 + 0.5 * parity_failures(2, epsilon / 4, alpha, n, grid(10, 4)).max()
        assert most <= learner.worst_failure(alpha, n).upper + ROUNDING


@pytest.mark.parametrize("mass", [0.5, 0.25])
def test_every_number_of_equations_that_suffices_is_verified(mass: float) -> None:
    # More than those whose law is in a table; of mass 1/2 every example is one.
    numbers = {"dimension": 3, "mass": mass, "keep": 1, "failure": 0}
    for n in (200, 10_000):
        right = SizeCertificate(family=CaseFamily.PARITIES, numbers=numbers, fails=0, suffices=n)
        assert refuted(right, mass / 2, 1e-9) == ""
        assert refuted(msgspec.structs.replace(right, suffices=3), mass / 2, 1e-9) != ""


@pytest.mark.parametrize("family", [one for one in CaseFamily if one != CaseFamily.INTERIOR_POINTS])  # theirs is no sum
@pytest.mark.parametrize("endless", ["fails", "suffices", "rivals", "domain_size", "dimension"])
def test_sizes_that_would_never_be_summed_are_refused_at_once(family: CaseFamily, endless: str) -> None:
    given = {"rivals": 3, "domain_size": 64, "dimension": 3, "rate": 0.5, "mass": 0.2, "keep": 1, "failure": 0.5}
    sizes = {"fails": 20, "suffices": 40}
    changed = {name: 10**12 if name == endless else value for name, value in (given | sizes).items()}
    numbers = {name: changed.pop(name) for name in given}
    assert refuted(SizeCertificate(family=family, numbers=numbers, **changed), 0.1, 0.1) != ""


@pytest.mark.full
def test_no_random_distribution_of_the_cube_fails_more_often_than_the_diluted_cube() -> None:
    learner, rng = built("parity-private", dimension=3, epsilon=3.0), np.random.default_rng(1)
    masses = rng.dirichlet(np.full(8, 0.4), 400)
    for alpha in (0.1, 0.25, 0.4):
        most = 0.5 + 0.5 * parity_failures(3, 0.75, alpha, 4, masses).max()
        assert most <= learner.worst_failure(alpha, 4).upper + ROUNDING


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_worst_sample_of_interior_points_is_the_worst_of_all(size: int, epsilon: float) -> None:
    learner = built("interior-point-exponential", domain_size=size, epsilon=epsilon)
    for n in range(1, 8):
        worst = 0.0
        for values in combinations_with_replacement(range(size), n):
            counts = np.bincount(values, minlength=size)
            score = np.minimum(np.cumsum(counts), np.cumsum(counts[::-1])[::-1])
            weights = np.exp(epsilon / 2 * score)
            inside = slice(min(values), max(values) + 1)
            worst = max(worst, 1 - weights[inside].sum() / weights.sum())
        found = learner.worst_failure(0.1, n)
        assert found.upper == pytest.approx(worst, abs=1e-12)
        assert found.lower == found.upper


EXACT: list[tuple[str, dict[str, Any], float, int]] = [
    ("threshold-exponential", {"domain_size": 8, "epsilon": 1.0}, 0.1, 100),
    ("threshold-exponential", {"domain_size": 64, "epsilon": 1.0}, 0.1, 152),
    ("point-exponential", {"domain_size": 3, "epsilon": 1.0}, 0.1, 53),
    ("point-exponential", {"domain_size": 4, "epsilon": 1.0}, 0.1, 71),
    ("point-exponential", {"domain_size": 8, "epsilon": 1.0}, 0.1, 99),
    ("point-exponential", {"domain_size": 64, "epsilon": 1.0}, 0.1, 150),
    ("parity-private", {"dimension": 3, "epsilon": 1.0}, 0.6, 99),
    ("parity-private", {"dimension": 5, "epsilon": 1.0}, 0.6, 148),
    ("parity-private", {"dimension": 63, "epsilon": 1.0}, 0.6, 1394),
    ("interior-point-exponential", {"domain_size": 2**12, "epsilon": 1.0}, 0.1, 40),
    ("interior-point-exponential", {"domain_size": 2**64, "epsilon": 1.0}, 0.1, 184),
]


@pytest.mark.parametrize(("id", "parameters", "beta", "n"), EXACT, ids=str)
def test_sample_complexities_that_are_known(id: str, parameters: dict[str, Any], beta: float, n: int) -> None:
    learner = built(id, **parameters)
    found = known(learner, beta=beta)
    assert found.bracket == Bracket(n - 1, n, Grade.EXACT)
    one = found.certificate
    assert refuted(one, 0.1, beta) == ""
    # A certificate that claims one example less, or one more, is wrong.
    assert "suffice" in refuted(msgspec.structs.replace(one, fails=0, suffices=n - 1), 0.1, beta)
    assert "fail" in refuted(msgspec.structs.replace(one, fails=n), 0.1, beta)


def test_thresholds_on_2_to_the_64_points_need_1041() -> None:
    finding = dpaudit.pac.sample_complexity(
        built("threshold-exponential", domain_size=2**64, epsilon=1.0), alpha=0.1, beta=0.1
    )
    assert (finding.lower, finding.upper, finding.exact) == (1040, 1041, True)
    assert finding.worst.concept == 2**63
    assert type(finding).from_dict(finding.to_dict()) == finding


FORGED: list[tuple[dict[str, Any], str]] = [
    ({"family": CaseFamily.POINTS}, "not those of the family points"),
    ({"family": CaseFamily.PARITIES}, "not those of the family parities"),
    ({"numbers": {"domain_size": 64, "rate": 0.5, "mass": 0.0999}}, "mass must be above alpha"),
    ({"numbers": {"domain_size": 64, "rate": 0.5, "mass": 0.1}}, "mass must be above alpha"),
    ({"numbers": {"domain_size": 64.0, "rate": 0.5, "mass": 0.1001}}, "domain_size must be an integer"),
    ({"numbers": {"domain_size": 64, "rate": -0.5, "mass": 0.1001}}, "rate must be positive"),
    ({"numbers": {"domain_size": 64, "rate": 0.5, "mass": 0.2}}, "not shown to fail"),
    ({"numbers": {"domain_size": 32, "rate": 0.5, "mass": 0.1001}}, "not shown to fail"),
    ({"numbers": {"domain_size": 128, "rate": 0.5, "mass": 0.1001}}, "not shown to suffice"),
    ({"numbers": {"domain_size": 64, "rate": 0.45, "mass": 0.1001}}, "not shown to suffice"),
    ({"numbers": {}}, "not those of the family thresholds"),
]


def test_forged_certificates_are_refused() -> None:
    honest = SizeCertificate(
        family=CaseFamily.THRESHOLDS, numbers={"domain_size": 64, "rate": 0.5, "mass": 0.1001}, fails=150, suffices=152
    )
    assert refuted(honest, 0.1, 0.1) == ""
    for changed, message in FORGED:
        assert message in refuted(msgspec.structs.replace(honest, **changed), 0.1, 0.1), changed


def test_the_verifier_encloses_what_the_maker_computes() -> None:
    # One step of beta around the bound decides the other way.
    cases = {"point-exponential": {"domain_size": 12}, "threshold-exponential": {"domain_size": 7},
             "conjunction-exponential": {"dimension": 2, "k": 1}}  # fmt: skip
    for id, parameters in (*cases.items(), ("point-exponential", {"domain_size": 5})):
        for alpha in (0.13, 0.3, 0.6):
            found = built(id, epsilon=1.0, **parameters).worst_failure(alpha, 20)
            one = SizeCertificate(family=found.family, numbers=dict(found.numbers), fails=0, suffices=20)
            assert refuted(one, alpha, found.upper * (1 + 2e-4)) == ""
            assert "suffice" in refuted(one, alpha, found.upper * (1 - 1e-9))
            if found.lower:
                both = msgspec.structs.replace(one, fails=20)
                assert refuted(both, alpha, found.lower * (1 - 1e-9)) != refuted(both, alpha, found.lower * (1 + 1e-9))


@pytest.mark.parametrize(
    ("id", "parameters", "beta"),
    [("threshold-exponential", {"domain_size": 64, "epsilon": 1.0}, 0.1),
     ("point-exponential", {"domain_size": 4, "epsilon": 1.0}, 0.1),
     ("interior-point-exponential", {"domain_size": 64, "epsilon": 1.0}, 0.1)],
    ids=str,
)  # fmt: skip
def test_the_case_of_a_certificate_fails_by_an_exact_sum(id: str, parameters: dict[str, Any], beta: float) -> None:
    learner = built(id, **parameters)
    found = known(learner, beta=beta)
    claim = stated_claim(learner, 0.1, beta)
    assert claim is not None
    case = found.case
    assert case.concept is not None
    law = Distribution(np.array(case.points), np.array(case.probabilities))
    failure = CaseFailure(learner, HardCase(case.concept, law, case.name), 0.1, claim.setting)
    before, at = failure.exact(found.certificate.fails), failure.exact(found.certificate.suffices)
    assert before is not None
    assert at is not None
    assert at[1] <= beta < before[0]


def test_the_case_of_points_fails_in_draws() -> None:
    learner = built("point-exponential", domain_size=64, epsilon=1.0)
    case = learner.worst_failure(0.1, 149)
    law = Distribution(np.array(case.points), np.array(case.probabilities))
    failure = CaseFailure(learner, HardCase(case.concept, law, case.case), 0.1, "realizable")
    drawn = failure.draws(149, np.random.default_rng(7), 800)
    assert abs(drawn.mean() - case.lower) < 4 * drawn.std() / math.sqrt(800)


@pytest.mark.parametrize(
    ("id", "parameters"),
    [("parity-private", {}), ("parity-amplified", {"beta": 0.1}), ("parity-restart", {"beta": 0.1})],
)
def test_the_diluted_cube_is_that_of_each_parity_learner(id: str, parameters: dict[str, float]) -> None:
    learner = built(id, dimension=2, epsilon=2.0, **parameters)
    found = learner.worst_failure(0.2, 7)
    law = Distribution(np.array(found.points), np.array(found.probabilities))
    exact = CaseFailure(learner, HardCase(0, law, found.case), 0.2, "realizable").exact(7)
    assert exact is not None
    assert found.lower == pytest.approx(exact[0], rel=1e-7)


def test_controls_and_other_settings_have_no_certificate() -> None:
    faulty = dpaudit.pac.get_learner("broken-point-frozen", domain_size=4, epsilon=1.0)
    claim = stated_claim(faulty, 0.1, 0.1)
    assert claim is None or known_size(faulty, 0.1, 0.1, claim) is None
    honest = built("point-exponential", domain_size=4, epsilon=1.0)
    other = stated_claim(honest, 0.1, 0.1, "agnostic")
    assert other is not None
    assert known_size(honest, 0.1, 0.1, other) is None


def test_the_proofs_say_where_they_end() -> None:
    with pytest.raises(InputError, match="at most 1 for the worst case"):
        built("parity-private", dimension=3, epsilon=3.0).worst_failure(0.8, 5)
    huge = built("point-exponential", domain_size=2**65, epsilon=1.0).worst_failure(0.1, 5)
    assert huge.family == CaseFamily.FINITE_CLASS
    # Sums over two counts that are too long.
    slow = built("threshold-exponential", domain_size=4, epsilon=1e-4).worst_failure(0.1, 10**6)
    assert slow.family == CaseFamily.FINITE_CLASS
    with pytest.raises(InputError, match=r"in \[0, 1\]"):
        dpaudit.contract.WorstFailure(0.0, 1.5, CaseFamily.POINTS, {}, "none")


def words(finding: Any, page: bool = False) -> str:
    lines = search_page(finding, "it") if page else search_brief(finding, "it")
    return "\n".join(f"{label}: {text}" for label, text in lines)


def test_only_what_is_proved_is_called_exact() -> None:
    learner = built("threshold-exponential", domain_size=64, epsilon=1.0)
    finding = dpaudit.pac.sample_complexity(learner, alpha=0.1, beta=0.1)
    assert finding.exact
    assert "needs n* = 152, exactly; the theorem asks for 574, 3.8 times as many" in words(finding)
    assert "certificate: thresholds: domain_size 64" in words(finding, page=True)
    assert finding.candidates == 0
    changed = {"reason": "theorem", "upper": 574, "missing": "something", "grade": "exact"}
    theorem = type(finding).from_dict({**finding.to_dict(), **changed})
    assert not theorem.exact
    assert "n* > 151, and at most 574; the theorem asks for 574, at most 3.8 times as many" in words(theorem)
    assert "by the theorem alone" in words(theorem)
    assert "not proved: something" in words(theorem)
    lost = type(finding).from_dict({**finding.to_dict(), "reason": "none", "upper": None})
    assert "the learner fails at the theorem's n" in words(lost)
    for wrong in ({"reason": "none"}, {"upper": 153}, {"certificate": None}):
        with pytest.raises(dpaudit.DpauditError, match="upper is"):
            type(finding).from_dict({**finding.to_dict(), **wrong})


def test_a_bracket_is_printed_where_no_proof_closes_it() -> None:
    learner = built("conjunction-exponential", dimension=2, k=1, epsilon=2.0)
    finding = dpaudit.pac.sample_complexity(learner, alpha=0.2, beta=0.2, starts=1, moves=3, draws=300)
    assert finding.certificate is not None
    assert finding.lower + 1 < (finding.upper or 0) < finding.theorem
    assert not finding.exact
    assert "not proved: a bound on the failure rate that uses how the errors of the rivals overlap" in words(finding)


class Boastful(ThresholdExponential):
    """Claims that ten examples are enough."""

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        return UtilityClaim(alpha, beta, 10, setting, "boast")


def test_a_certificate_refutes_a_theorem() -> None:
    finding = dpaudit.pac.sample_complexity(Boastful(8, 1.0), alpha=0.1, beta=0.1)
    assert (finding.verdict, finding.lower, finding.upper, finding.theorem) == ("violation", 99, 100, 10)
    assert finding.exact


@pytest.mark.parametrize("dimension", [1, 2])
def test_the_inequality_of_the_proof_for_parities_holds(dimension: int) -> None:
    # R_m(k) <= 2 R_m(k - 1) and C_m(k - 1) <= C_m(k), C the failure rate on the cube and R = C/(1 - 2^-k).
    from dpaudit_learners.parities.concepts import answered_right, diluted_mass

    for k, m, keep in product(range(2, 7), (1, 5, 40), (0.1, 0.25 * dimension)):
        fail = {j: 1 - answered_right(j, keep, diluted_mass(j, 0.3), m) for j in (k - 1, k)}
        ratio = {j: fail[j] / (1 - 2.0**-j) for j in fail}
        assert fail[k - 1] <= fail[k]
        assert ratio[k] <= 2 * ratio[k - 1]


def test_the_expansion_needs_its_third_moment() -> None:
    """E[C/(1 + C)] <= M/(1 + M) - v/(1 + M)^3 is false: the third moment must be added."""
    s, rate, n = 2, 1.0, 40
    counts = count_vectors(n, s + 1)
    chance = chances(counts, np.array([[0.1, 0.1, 0.8]]))[0]
    total = np.exp(-rate * counts[:, :s]).sum(axis=1)
    mean = chance @ total
    second, third = (chance @ (total - mean) ** i for i in (2, 3))
    value, cubic = chance @ (total / (1 + total)), mean / (1 + mean) - second / (1 + mean) ** 3
    assert cubic < value < cubic + third / (1 + mean) ** 4
    assert mean / (1 + mean) - second / (1 + mean) ** 2 < value < mean / (1 + mean)

"""The exact audit: values worked out by hand, verdicts at the boundary, limits, and what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from toy_learners import ToyBare

import dpaudit
from dpaudit.contract import InputError, Instance, Law, Origin, Pair, PrivacyClaim, Relation
from dpaudit.exact.profiles import LawTable, LossProfiles
from dpaudit.neighbours.exhaustive import every_pair
from dpaudit.neighbours.multisets import check_symmetry, multisets, orbits, rank
from dpaudit_learners.domains import Interval


@dataclass(frozen=True)
class Table:
    """A learner whose law is any function of the counts of the examples, listed as probabilities."""

    probabilities: Any
    claim: PrivacyClaim | None = None
    size: int = 2
    atoms: Any = None
    error: float = 1e-15
    grade: str = "exact"
    id: ClassVar[str] = "toy-table"
    instance: ClassVar[Instance] = Instance({}, n=2)

    @property
    def privacy(self) -> PrivacyClaim | None:
        return self.claim

    @property
    def domain(self) -> Interval:
        return Interval(self.size)

    def law(self, sample: Any) -> Law:
        row = np.array(self.probabilities(sample), dtype=np.float64)
        with np.errstate(divide="ignore"):
            log_prob = np.log(row)
        atoms = range(len(row)) if self.atoms is None else self.atoms(sample)
        return Law(atoms, log_prob, self.error, self.grade)


def ones(sample: Any) -> int:
    return int(sample.counts[sample.labels == 1].sum())


def majority(sample: Any) -> list[float]:
    """Randomised response on the majority label, ties to 0: truth with probability 3/4."""
    return [0.25, 0.75] if 2 * ones(sample) > sample.n else [0.75, 0.25]


LN3 = math.log(3)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_randomised_response_is_ln_3(n: int) -> None:
    finding = dpaudit.pac.audit_law(Table(majority, PrivacyClaim(LN3)), n=n)
    assert finding.epsilon == pytest.approx(LN3, abs=1e-15)
    assert finding.verdict == "consistent"
    assert finding.samples == math.comb(4 + n - 1, n) == finding.laws
    assert finding.delta(0.0) == pytest.approx(0.5, abs=1e-15)
    assert finding.delta(math.log(2)) == pytest.approx(0.25, abs=1e-15)
    assert finding.delta(LN3 + 1e-9) == 0.0
    assert finding.grade == "exact"
    assert finding.n == n


def test_the_worst_pair_is_a_witness() -> None:
    learner = Table(majority, PrivacyClaim(1.0, claim_id="X"))
    finding = dpaudit.pac.audit_law(learner, n=3)
    laws = [learner.law(side).log_prob for side in (finding.worst_pair.data, finding.worst_pair.neighbour)]
    atom = int(finding.worst_atom)
    assert laws[0][atom] - laws[1][atom] == pytest.approx(finding.epsilon)
    assert finding.worst_pair.neighbour in set(finding.worst_pair.data.neighbours(Relation.REPLACE_ONE))
    assert finding.verdict == "violation"
    assert finding.claim_id == "X"


@pytest.mark.parametrize(("margin", "verdict"), [(-1e-12, "violation"), (0.0, "consistent"), (1e-12, "consistent")])
def test_verdict_at_the_boundary_of_epsilon(margin: float, verdict: str) -> None:
    assert dpaudit.pac.audit_law(Table(majority, PrivacyClaim(LN3 + margin)), n=1).verdict == verdict


def test_the_stated_error_is_given_the_benefit_of_the_doubt() -> None:
    learner = Table(majority, PrivacyClaim(LN3 - 1e-6), error=1e-5, grade="numeric")
    finding = dpaudit.pac.audit_law(learner, n=1)
    assert (finding.verdict, finding.grade) == ("consistent", "numeric")
    assert 2e-5 <= finding.error <= 2.001e-5
    assert dpaudit.pac.audit_law(Table(majority, PrivacyClaim(LN3 - 1e-6), error=1e-8), n=1).verdict == "violation"


@pytest.mark.parametrize(("margin", "verdict"), [(-1e-9, "violation"), (0.0, "consistent"), (1e-9, "consistent")])
def test_verdict_at_the_boundary_of_delta(margin: float, verdict: str) -> None:
    # delta(ln 2) of randomised response is 3/4 - 2/4 = 1/4.
    finding = dpaudit.pac.audit_law(Table(majority, PrivacyClaim(math.log(2), 0.25 + margin)), n=2)
    assert finding.verdict == verdict
    assert finding.delta_at_claim == pytest.approx(0.25, abs=1e-14)


def test_no_signal_is_zero_in_both_numbers() -> None:
    finding = dpaudit.pac.audit_law(Table(lambda s: [0.5, 0.5], PrivacyClaim(0.0)), n=2)
    assert (finding.epsilon, finding.delta(0.0), finding.verdict) == (0.0, 0.0, "consistent")
    assert finding.curve[-1][0] == 1.0
    assert all(delta == 0.0 for _, delta in finding.curve)


def test_a_difference_in_support_is_infinite() -> None:
    learner = Table(lambda s: [0.9, 0.1, 0.0] if ones(s) == 0 else [0.9, 0.0, 0.1], PrivacyClaim(5.0))
    finding = dpaudit.pac.audit_law(learner, n=2)
    assert math.isinf(finding.epsilon)
    assert finding.verdict == "violation"
    assert finding.worst_atom in ("1", "2")
    # An atom possible on one side only counts in full at every epsilon.
    assert finding.delta(50.0) == pytest.approx(0.1, abs=1e-15)
    assert finding.to_dict()["epsilon"] == "inf"
    # The same learner keeps (0, 0.1): the verdict of a claim with delta > 0 does not ask for a finite epsilon.
    assert dpaudit.pac.audit_law(Table(learner.probabilities, PrivacyClaim(0.0, 0.1)), n=2).verdict == "consistent"
    assert dpaudit.pac.audit_law(Table(learner.probabilities, PrivacyClaim(0.0, 0.0999)), n=2).verdict == "violation"


def test_a_claim_with_delta_is_witnessed_by_the_pair_that_attains_it() -> None:
    # ones = 0 -> 1 moves an atom of mass 1e-6 out of the support; ones = 1 -> 2 moves mass 0.3 at a finite ratio.
    rows = {0: [0.5, 0.5 - 1e-6, 1e-6], 1: [0.5, 0.5, 0.0], 2: [0.8, 0.2, 0.0]}
    finding = dpaudit.pac.audit_law(Table(lambda s: rows[ones(s)], PrivacyClaim(0.1, 1e-3)), n=2)
    assert math.isinf(finding.epsilon)
    assert {ones(finding.worst_pair.data), ones(finding.worst_pair.neighbour)} == {1, 2}
    sides = [rows[ones(s)] for s in (finding.worst_pair.data, finding.worst_pair.neighbour)]
    attained = sum(max(0.0, p - math.exp(0.1) * q) for p, q in zip(*sides, strict=True))
    assert finding.delta_at_claim == pytest.approx(attained, abs=1e-14)


def test_add_remove_compares_the_three_sizes_in_both_directions() -> None:
    rows = {0: [0.5, 0.5], 1: [0.6, 0.4], 2: [0.7, 0.3], 3: [0.9, 0.1]}
    learner = Table(lambda s: rows[s.n], PrivacyClaim(1.0, relation=Relation.ADD_REMOVE_ONE))
    finding = dpaudit.pac.audit_law(learner, n=2)
    assert finding.epsilon == pytest.approx(LN3, abs=1e-15)
    assert finding.relation == "add-remove-one"
    assert (finding.worst_pair.data.n, finding.worst_pair.neighbour.n) == (2, 3)
    # 10 multisets of 2 out of 4: 4 of one distinct element, 6 of two; 4 additions each; both directions.
    assert finding.pairs == 2 * (10 * 4 + 4 * 1 + 6 * 2)
    assert finding.laws == 4 + 10 + 20
    assert dpaudit.pac.audit_law(learner, n=1).epsilon == pytest.approx(math.log(4 / 3), abs=1e-15)
    # Here the greater ratio is that of the larger sample to the smaller: 0.4 to 0.1 against 0.9 to 0.6.
    grow = {1: [0.9, 0.1], 2: [0.9, 0.1], 3: [0.6, 0.4]}
    worst = dpaudit.pac.audit_law(Table(lambda s: grow[s.n]), n=2, relation="add-remove-one")
    assert worst.epsilon == pytest.approx(math.log(4), abs=1e-15)
    assert (worst.worst_pair.data.n, worst.worst_pair.neighbour.n, worst.worst_atom) == (3, 2, "1")
    assert dpaudit.pac.audit_law(learner, n=2, relation="replace-one").epsilon == 0.0


def test_atoms_that_differ_from_sample_to_sample_are_aligned() -> None:
    def atoms(sample: Any) -> tuple[str, ...]:
        return ("a", "b") if ones(sample) % 2 else ("b", "c", "a")

    def rows(sample: Any) -> list[float]:
        return [0.25, 0.75] if ones(sample) % 2 else [0.5, 0.25, 0.25]

    finding = dpaudit.pac.audit_law(Table(rows, None, atoms=atoms), n=1)
    assert math.isinf(finding.epsilon)
    assert finding.worst_atom == "'c'"
    # On even -> odd: b .5 -> .75, c .25 -> 0, a .25 -> .25; the other way b .75 -> .5: both have delta(0) = 1/4.
    assert finding.delta(0.0) == pytest.approx(0.25, abs=1e-15)
    assert finding.delta(math.log(2)) == pytest.approx(0.25, abs=1e-15)
    assert finding.verdict == "consistent"
    assert finding.claimed_epsilon is None


def test_given_samples_are_compared_with_all_neighbours_and_pairs_with_themselves() -> None:
    learner = Table(majority, PrivacyClaim(1.0))
    far, near = learner.domain.sample([0, 0, 0], [0, 0, 0]), learner.domain.sample([0, 1, 1], [0, 1, 0])
    assert dpaudit.pac.audit_law(learner, samples=[far]).epsilon == 0.0
    finding = dpaudit.pac.audit_law(learner, samples=[far, near, near])
    assert finding.epsilon == pytest.approx(LN3, abs=1e-15)
    # far has 3 neighbours; near has three distinct examples with 3 replacements each; two neighbours are shared.
    assert (finding.samples, finding.pairs, finding.laws, finding.n) == (2, 2 * (3 + 9), 2 + 3 + 9 - 2, None)
    assert "sample 1" in finding.worst_pair.origin.text
    pair = Pair(near, learner.domain.sample([0, 1, 1], [1, 1, 0]), "by hand")
    alone = dpaudit.pac.audit_law(learner, samples=[pair])
    assert (alone.pairs, alone.laws, alone.epsilon) == (2, 2, pytest.approx(LN3, abs=1e-15))
    assert alone.worst_pair.origin == Origin(text="by hand")


def test_private_examples_alone_may_change_under_replace_private() -> None:
    learner = Table(majority, PrivacyClaim(1.0, relation=Relation.REPLACE_PRIVATE))
    mixed = learner.domain.sample([0, 1, 1], [1, 1, 0], public=[True, True, False])
    assert dpaudit.pac.audit_law(learner, samples=[mixed]).epsilon == 0.0
    assert dpaudit.pac.audit_law(learner, samples=[mixed], relation="replace-one").epsilon == pytest.approx(LN3)
    changed = learner.domain.sample([0, 1, 1], [0, 1, 0], public=[True, True, False])
    with pytest.raises(InputError, match="not neighbours under replace-private"):
        dpaudit.pac.audit_law(learner, samples=[Pair(mixed, changed)])


def test_every_sample_is_taken_with_all_its_public_flags() -> None:
    learner = Table(majority, PrivacyClaim(1.0, relation=Relation.REPLACE_PRIVATE))
    domain = learner.domain
    points, labels, flags = (grid.ravel() for grid in np.meshgrid(domain.points().ravel(), [0, 1], [False, True]))
    samples = [
        domain.sample(points[[i, j]], labels[[i, j]], public=flags[[i, j]])
        for i in range(len(points))
        for j in range(i, len(points))
    ]
    finding = dpaudit.pac.audit_law(learner, n=2)
    given = dpaudit.pac.audit_law(learner, samples=samples)
    assert (finding.samples, finding.pairs, finding.laws) == (len(samples), given.pairs, given.laws)
    assert finding.epsilon == given.epsilon > 0
    folded = every_pair(domain, 2, Relation.REPLACE_PRIVATE, [np.array([1, 0, 3, 2])])
    assert folded.pairs == finding.pairs
    assert len(folded.left) < finding.pairs


def test_the_curve_decreases_to_zero_and_is_the_method() -> None:
    finding = dpaudit.pac.audit_law(Table(majority, PrivacyClaim(0.7)), n=2)
    epsilons, deltas = zip(*finding.curve, strict=True)
    assert epsilons[0] == 0.0
    assert 0.7 in epsilons
    assert LN3 < epsilons[-1] < 1.1 * LN3
    assert list(deltas) == sorted(deltas, reverse=True)
    assert deltas == tuple(finding.delta(e) for e in epsilons)
    assert deltas[-1] == 0.0
    assert json.loads(json.dumps(finding.to_dict()))["delta_at_claim"] == finding.delta(0.7)


def test_default_n_is_the_examples() -> None:
    assert dpaudit.pac.audit_law(Table(majority)).n == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 2, "samples": []}, "n or samples, not both"),
        ({"samples": []}, "at least one sample"),
        ({"samples": 3}, "samples must list"),
        ({"samples": [3]}, r"samples\[0\] must be a sample or a Pair"),
        ({"n": 0}, "n must be an integer >= 1, got 0"),
        ({"n": 2.5}, "n must be an integer >= 1, got 2.5"),
        ({"n": True}, "n must be an integer >= 1, got True"),
        ({"n": 2, "relation": "swap"}, "relation must be one of"),
        ({"n": 2000}, "multisets of n examples to enumerate, at most 8,388 are allowed"),
        ({"n": 10**6}, "more than 10\\^15 multisets"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    def never(sample: Any) -> list[float]:
        raise AssertionError("no law may be computed before the arguments are checked")

    with pytest.raises(InputError, match=message):
        dpaudit.pac.audit_law(Table(never), **arguments)


def test_a_pair_that_is_none_is_refused() -> None:
    domain = Interval(2)
    same, far = domain.sample([0, 1], [0, 1]), domain.sample([1, 1], [0, 0])
    for other in (same, far, domain.sample([0], [0])):
        with pytest.raises(InputError, match=r"samples\[1\] is a pair whose sides are not neighbours"):
            dpaudit.pac.audit_law(Table(majority), samples=[same, Pair(same, other)])


def test_a_huge_domain_is_refused_before_any_work() -> None:
    with pytest.raises(InputError, match=r"more than 10\^15 multisets .* use the black-box audit"):
        dpaudit.pac.audit_law(Table(majority, size=2**60), n=2)
    sample = Interval(2**60).sample([5], [1])
    with pytest.raises(InputError, match="at most 200,000 laws"):
        dpaudit.pac.audit_law(Table(majority, size=2**60), samples=[sample])
    with pytest.raises(InputError, match="laws to compute"):
        dpaudit.pac.audit_law(Table(majority), n=80, relation="add-remove-one")
    with pytest.raises(InputError, match="pairs to compare"):
        dpaudit.pac.audit_law(Table(majority, size=2000), n=1)


def test_a_learner_without_law_is_refused() -> None:
    with pytest.raises(InputError, match=r"learner 'toy-bare' has no law\(sample\)"):
        dpaudit.pac.audit_law(ToyBare(), n=1)
    with pytest.raises(InputError, match=r"learner 3 has no law\(sample\)"):
        dpaudit.pac.audit_law(3, n=1)  # type: ignore[arg-type]  # what is refused


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (Law((0, 1), np.log([0.5, 0.4]), 0.0), "probabilities sum to 0.9"),
        (Law((0, 1), np.log([0.5]), 0.0), "2 atoms"),
        (Law((), np.zeros(0), 0.0), "0 atoms"),
        (Law((0, 0), np.log([0.5, 0.5]), 0.0), "names an atom twice"),
        (Law((0, 1), np.array([0.0, np.nan]), 0.0), "no probability law"),
        (Law((0, 1), np.array([0.0, np.inf]), 0.0), "no probability law"),
        (Law((0,), np.zeros(1), -1.0), "error >= 0"),
        (Law((0,), np.zeros(1), math.inf), "error >= 0"),
        (Law((0,), np.zeros(1), 0.0, "guess"), "grade exact or numeric"),
    ],
)
def test_a_law_that_is_none_is_refused(law: Law, message: str) -> None:
    with pytest.raises(InputError, match=message):
        LawTable(1).add(law, "S")


def test_too_many_atoms_are_refused() -> None:
    with pytest.raises(InputError, match="log-probabilities are held"):
        LawTable(10**6).add(Law(range(100), np.full(100, -math.log(100)), 1e-15), "S")


@pytest.mark.parametrize("epsilon", [math.inf, math.nan, "1"])
def test_delta_asks_for_a_finite_epsilon(epsilon: Any) -> None:
    profiles = LossProfiles(np.log([[0.5, 0.5]]), np.zeros(1), np.array([0]), np.array([0]))
    with pytest.raises(InputError, match="epsilon must be a finite number"):
        profiles.delta(epsilon)


def test_delta_keeps_its_digits_near_the_greatest_loss() -> None:
    # P = (1/2 + t, 1/2 - t) against the uniform law: delta(e) = 1/2 + t - exp(e)/2 for 0 <= e <= ln(1 + 2t). With
    # the loss ln(1 + 2t) given exactly as 2^-20 and e = 2^-21 the exact value is (exp(2^-20) - exp(2^-21)) / 2.
    loss = 2.0**-20
    high = math.log(0.5) + loss
    log_prob = np.array([[high, math.log1p(-math.exp(high))], [math.log(0.5)] * 2])
    profiles = LossProfiles(log_prob, np.zeros(2), np.array([0]), np.array([1]))
    exact = 0.5 * math.exp(2.0**-21) * math.expm1(2.0**-21)
    assert profiles.delta(2.0**-21) == pytest.approx(exact, rel=1e-8)
    assert abs(profiles.delta(2.0**-21) - exact) <= profiles.delta_error(2.0**-21)


def test_tiny_probabilities_are_neither_lost_nor_called_impossible() -> None:
    log_prob = np.array([[0.0, -5000.0], [0.0, -5003.0]])
    profiles = LossProfiles(log_prob, np.zeros(2), np.array([0, 1]), np.array([1, 0]))
    assert profiles.epsilon == 3.0
    assert profiles.delta(0.0) == 0.0


def test_ranks_number_the_multisets() -> None:
    for universe, n in ((4, 3), (6, 2), (2, 5), (3, 1), (5, 0)):
        rows = multisets(universe, n)
        assert len({tuple(row) for row in rows.tolist()}) == len(rows) == math.comb(universe + n - 1, n)
        assert (np.diff(rows, axis=1) >= 0).all()
        assert rank(rows, universe).tolist() == list(range(len(rows)))


def test_orbits_are_those_of_the_generated_group() -> None:
    # The symmetric group on 5 elements, from two generators: orbits of multisets of 4 are the partitions of 4.
    swap, cycle = np.array([1, 0, 2, 3, 4]), np.array([1, 2, 3, 4, 0])
    firsts, sizes = orbits(multisets(5, 4), [swap, cycle], 5)
    assert sorted(sizes.tolist()) == [5, 5, 10, 20, 30]
    assert firsts[0] == 0
    assert sizes.sum() == math.comb(8, 4)


def test_what_is_covered_does_not_depend_on_the_symmetry() -> None:
    flip = np.array([1, 0, 3, 2])
    for relation in (Relation.REPLACE_ONE, Relation.ADD_REMOVE_ONE):
        plain, folded = every_pair(Interval(2), 3, relation), every_pair(Interval(2), 3, relation, [flip])
        assert (plain.pairs, plain.samples) == (folded.pairs, folded.samples)
        assert plain.pairs == len(plain.left) == len({*zip(plain.left.tolist(), plain.right.tolist(), strict=True)})
        assert len(folded.left) < len(plain.left)


@pytest.mark.parametrize("wrong", [[0, 1, 2], [0, 0, 2, 3], [0.0, 1.0, 2.0, 3.0], [1, 2, 3, 4]])
def test_a_symmetry_must_be_a_permutation_of_the_universe(wrong: list[int]) -> None:
    with pytest.raises(InputError, match=r"permutation of 0 .. 3"):
        every_pair(Interval(2), 1, Relation.REPLACE_ONE, [np.array(wrong)])


def test_check_symmetry_tells_symmetries_from_others() -> None:
    flip_labels, swap_points, broken = np.array([1, 0, 3, 2]), np.array([2, 3, 0, 1]), np.array([1, 0, 2, 3])
    learner = Table(lambda s: [2.0 ** -(1 + ones(s)), 1 - 2.0 ** -(1 + ones(s))])
    sample, other = learner.domain.sample([0, 0, 1], [0, 0, 1]), learner.domain.sample([0, 0, 1], [0, 1, 1])
    assert check_symmetry(learner.law, learner.domain, sample, other, swap_points)
    assert not check_symmetry(learner.law, learner.domain, sample, other, flip_labels)
    assert not check_symmetry(learner.law, learner.domain, sample, other, broken)
    symmetric = Table(majority)
    assert all(check_symmetry(symmetric.law, symmetric.domain, sample, other, g) for g in (swap_points, flip_labels))
    empty = symmetric.domain.empty_sample()
    assert check_symmetry(symmetric.law, symmetric.domain, empty, empty, broken)


def test_names_of_atoms_must_be_permuted_alike_on_both_sides_of_a_pair() -> None:
    # Every single law is deterministic, so each is the other's up to names; which pairs differ is not symmetric.
    both = Table(lambda s: [1.0, 0.0] if {(0, 0), (1, 0)} <= set(rows(s)) else [0.0, 1.0])
    swap = np.array([1, 0, 2, 3])
    sample, other = both.domain.sample([0, 1], [0, 0]), both.domain.sample([0, 1], [0, 1])
    assert not check_symmetry(both.law, both.domain, sample, other, swap)


def rows(sample: Any) -> list[tuple[int, int]]:
    return [(int(x), int(y)) for (x,), y in zip(sample.points, sample.labels, strict=True)]

"""What a few runs before an audit find: inputs that runs share and change, and randomness from elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import dpaudit
from dpaudit.blackbox.arguments import resolve_claim
from dpaudit.contract import PrivacyClaim, Relation


def audit(mechanism: object, pairs: list[tuple[object, object]], **options: object) -> dpaudit.PrivacyFinding:
    return dpaudit.audit_privacy(mechanism, pairs, epsilon=1.0, trials=200, **options)


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


def test_randomness_of_its_own_is_warned_of() -> None:
    own = np.random.default_rng(0)
    found = audit(lambda data, rng: own.integers(1000), [(0, 1)])
    assert any("randomness of its own" in warning for warning in found.warnings)
    found = audit(lambda data, rng: rng.integers(1000), [(0, 1)])
    assert found.warnings == ()


def test_the_power_is_checked_at_the_error_that_the_verdict_has() -> None:
    def identity(data, rng):
        return data

    least = next(n for n in range(10, 200) if detects(identity, n, curve=False))
    with pytest.raises(dpaudit.InputError, match="too few to detect any leak"):
        dpaudit.audit_privacy(identity, [(0, 1)], epsilon=3.0, trials=least, curve=True)


def detects(mechanism: object, trials: int, *, curve: bool) -> bool:
    try:
        found = dpaudit.audit_privacy(mechanism, [(0, 1)], epsilon=3.0, trials=trials, curve=curve)
    except dpaudit.InputError:
        return False
    assert found.verdict == "violation"
    return True


def test_more_runs_than_the_bounds_take_are_refused_before_any_is_made() -> None:
    with pytest.raises(dpaudit.InputError, match="lower trials"):
        dpaudit.audit_privacy(lambda data, rng: data, [(0, 1)], epsilon=1.0, trials=300_000_000)


def test_what_is_not_given_of_a_claim_is_the_learners_own() -> None:
    learner = dpaudit.get_learner("conjunction-greedy", dimension=2, k=1, epsilon=1.0, delta=0.1)
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
    learner = dpaudit.get_learner("parity-private", dimension=2, epsilon=1.0)
    assert resolve_claim(learner, None, None, None).claim_id == learner.privacy.claim_id
    assert resolve_claim(learner, epsilon, delta, relation).claim_id == ""
    assert dpaudit.audit_law(learner, n=2).claim_id == learner.privacy.claim_id
    assert dpaudit.audit_law(learner, n=2, relation="add-remove-one").claim_id == ""

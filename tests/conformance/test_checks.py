"""The checks find the defects that they are for; a lying law and a false symmetry stand in `test_learners`."""

from __future__ import annotations

from typing import Any

import pytest
from toy_learners import ToyBare, ToyCoin

from dpaudit.conformance import NonConforming, check_claims, check_constructor_only_stores, check_learner, check_names
from dpaudit.contract import Instance, PrivacyClaim, UtilityClaim

NAMED = UtilityClaim(0.3, 0.3, 8, claim_id="toy", source="toys")


def coin(**members: Any) -> Any:
    """Return a coin, documented and with named claims, whose class has further members."""
    claim = property(lambda self: PrivacyClaim(self.gain, claim_id="toy", source="toys"))
    sound = {"__doc__": "Toys.", "privacy": claim, "utility": lambda self, a, b: NAMED, "sample_size": lambda *_: 8}
    return type("ToyMade", (ToyCoin,), sound | members)(3.0)


def test_a_sound_toy_passes() -> None:
    for check in (check_names, check_claims):
        check(coin())
    check_constructor_only_stores(ToyCoin(3.0))


def test_a_learner_that_does_not_pickle_is_told_so() -> None:
    with pytest.raises(NonConforming, match="ToyMade: a learner must pickle"):
        check_constructor_only_stores(coin())  # its class has no name in a module


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"id": "Toy Coin"}, "bad id 'Toy Coin'"),
        ({"__doc__": ""}, "the class needs a docstring"),
        ({"instance": 3}, r"instance must be a contract.Instance, got 3"),
        ({"pictured": 3}, r"pictured must be a contract.Instance, got 3"),
        ({"audited": (Instance({"gain": 1.0}, 1), 3)}, r"audited\[1\] must be a contract.Instance, got 3"),
    ],
)
def test_names_are_checked(members: dict[str, Any], words: str) -> None:
    with pytest.raises(NonConforming, match=f"ToyMade: {words}"):
        check_names(coin(**members))


def of_setting(self: Any, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
    return NAMED


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"privacy": PrivacyClaim(1.0)}, "the privacy claim needs a claim_id and a source"),
        ({"privacy": 1.0}, "privacy must be a PrivacyClaim or None, got 1.0"),
        ({"utility": lambda *_: 8}, "utility must return a UtilityClaim, got 8"),
        ({"utility": lambda *_: UtilityClaim(0.3, 0.3, 8)}, "the utility claim needs a claim_id and a source"),
        ({"sample_size": lambda *_: 7}, "sample_size must be sample_size"),
        ({"sample_size": None}, "sample_size must be sample_size"),
        ({"settings": ("empirical",)}, "settings must begin with utility's own 'realizable'"),
        ({"settings": ("realizable", "empirical"), "utility": of_setting}, "utility in 'empirical' must answer for it"),
        (
            {"utility": lambda *_: UtilityClaim(0.3, 0.3, 8, "solution", "toy", "toys", "it is none")},
            "the setting solution needs solves",
        ),
    ],
)
def test_claims_are_checked(members: dict[str, Any], words: str) -> None:
    with pytest.raises(NonConforming, match=f"ToyMade: .*{words}"):
        check_claims(coin(**members))


def test_a_control_and_a_learner_without_a_theorem_are_not_asked_for_one() -> None:
    check_claims(coin(utility=lambda *_: 8, fault="it says 8"))
    check_claims(coin(utility=lambda *_: None))


def test_a_learner_is_a_dataclass() -> None:
    with pytest.raises(NonConforming, match="ToyBare: a learner must be a dataclass"):
        check_learner(ToyBare())

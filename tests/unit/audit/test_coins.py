"""Coins of an audit in one run: fair, sealed before and checked after, from a seed or from the operating system."""

import json

import numpy as np
import pytest
from scipy.stats import binomtest

import dpaudit
from dpaudit import InputError, ToolFault
from dpaudit.audit.coins import Coins, sealed_by


def test_coins_are_fair_and_those_of_a_seed_are_the_same_each_time():
    first, second = dpaudit.flip_coins(1000, seed=4), dpaudit.flip_coins(1000, seed=4)
    assert first == second
    assert first.seed == 4
    assert first != dpaudit.flip_coins(1000, seed=5)
    total = sum(int(dpaudit.flip_coins(1000, seed=seed).included.sum()) for seed in range(50))
    assert binomtest(total, 50_000).pvalue > 1e-3


def test_without_a_seed_they_come_from_the_operating_system():
    first, second = dpaudit.flip_coins(1000), dpaudit.flip_coins(1000)
    assert first.seed is None
    assert (first.included != second.included).sum() > 300
    assert first.nonce != second.nonce


def test_shapes():
    assert dpaudit.flip_coins(9, seed=0).included.shape == (9,)
    several = dpaudit.flip_coins(9, seed=0, runs=3)
    assert several.included.shape == (3, 9)
    assert several.included.dtype == bool


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": 1}, "m must be an integer >= 2"),
        ({"m": 2.5}, "m must be an integer >= 2"),
        ({"m": 10, "runs": 0}, "runs must be an integer >= 1"),
        ({"m": 10**8, "runs": 2}, "runs must be such that there are at most"),
        ({"m": 10, "seed": -1}, "seed must be a non-negative integer"),
    ],
)
def test_bad_numbers_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        dpaudit.flip_coins(**arguments)


def test_a_file_that_was_changed_is_refused(tmp_path):
    coins = dpaudit.flip_coins(20, seed=0)
    coins.save(tmp_path / "coins.json")
    assert Coins.load(tmp_path / "coins.json") == coins
    stored = json.loads((tmp_path / "coins.json").read_text())
    for name, value in (("bits", ["01" * 10]), ("nonce", "0"), ("seed", None), ("seal", "0" * 64)):
        (tmp_path / "changed.json").write_text(json.dumps(stored | {name: value}))
        with pytest.raises(ToolFault, match="not those that were sealed"):
            Coins.load(tmp_path / "changed.json")
    (tmp_path / "changed.json").write_text(json.dumps(stored | {"bits": ["1"]}))
    with pytest.raises(ToolFault, match=r"changed\.json"):
        Coins.load(tmp_path / "changed.json")


def test_the_seal_is_a_digest_of_all_that_it_commits_to():
    bits = ("0110", "1010")
    seals = {
        sealed_by(bits, "a", 1),
        sealed_by(bits, "b", 1),
        sealed_by(bits, "a", None),
        sealed_by(("01101010",), "a", 1),
        sealed_by(("0110", "1011"), "a", 1),
    }
    assert len(seals) == 5


def test_an_audit_takes_the_coins_that_were_sealed_and_no_others():
    coins = dpaudit.flip_coins(100, seed=0)
    scores = np.random.default_rng(0).normal(size=100)
    found = dpaudit.audit_scores(scores, coins, epsilon=1.0)
    assert (found.seal, found.seed) == (coins.seal, 0)
    same = dpaudit.audit_scores(scores, coins.included, epsilon=1.0, sealed=coins)
    assert same == found
    assert dpaudit.audit_scores(scores, coins.included, epsilon=1.0).seal == ""
    changed = coins.included.copy()
    changed[:3] ^= True
    with pytest.raises(InputError, match="included must be the coins that were sealed: 3 of 100 differ"):
        dpaudit.audit_scores(scores, changed, epsilon=1.0, sealed=coins)
    with pytest.raises(InputError, match=r"got shape \(1, 50\), sealed were \(1, 100\)"):
        dpaudit.audit_scores(scores[:50], coins.included[:50], epsilon=1.0, sealed=coins)

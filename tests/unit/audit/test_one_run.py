"""An audit in one run: verdicts, bounds, bad input, rankings, ties, several runs, curves, and a training made here."""

import itertools
import json
import math

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from two_stages import TwoStages

import dpaudit
from dpaudit import InputError, OneRunFinding, PrivacyClaim
from dpaudit.audit import coins as coins_module
from dpaudit.audit.coins import order_warning
from dpaudit.audit.one_run_finding import EqualScores, FewCanaries, IgnoredCanaries
from dpaudit.bounds.coin import epsilon_lower
from dpaudit.report import schema
from dpaudit.verify_finding import ASSUMED, POWER, checked

M = 400
FALSE_ALARMS = TwoStages(40, 8, first=15, few=2)
MISSES = TwoStages(40, 7, first=15, few=2)


def responses(epsilon, m, seed, share=1.0):
    """Return the scores of randomised responses, and the coins; of the other canaries scores are noise near 0."""
    rng = np.random.default_rng([seed, m])
    coins = rng.random(m) < 0.5
    answer = np.where(rng.random(m) < 1 / (1 + math.exp(-epsilon)), coins, ~coins)
    known = rng.random(m) < share
    return np.where(known, 2.0 * answer - 1, 0) + 0.1 * rng.normal(size=m), coins


def audit(scores, coins, confidence=0.95, **options):
    return dpaudit.audit_scores(scores, coins, confidence=confidence, **{"epsilon": 1.0, **options})


def test_a_leak_is_a_violation_with_a_bound_between_the_claim_and_the_truth():
    found = audit(*responses(3.0, M, 0), delta=1e-6)
    assert found.verdict == "violation"
    assert 1 < found.epsilon_lower < 3
    assert found.p_value < 1e-4
    assert (found.canaries, found.runs, found.epsilon, found.delta) == (M, 1, 1.0, 1e-6)
    assert found.best.right >= found.best.critical


def test_the_counts_are_those_of_a_slow_ranking():
    scores, coins = responses(2.0, 101, 1)
    found = audit(scores, coins)
    middle = np.quantile(scores, [0.25, 0.75]).mean()
    order = sorted(range(101), key=lambda i: -abs(scores[i] - middle))
    right = [(scores[i] > middle) == coins[i] for i in order]
    assert [one.right for one in found.schedule] == [sum(right[: one.guesses]) for one in found.schedule]
    positive = audit(scores, coins, ranking="in")
    order = np.argsort(-scores)
    assert [one.right for one in positive.schedule] == [coins[order[: one.guesses]].sum() for one in positive.schedule]


def test_no_signal_and_the_wrong_sign_bound_nothing():
    rng = np.random.default_rng(5)
    noise, coins = rng.normal(size=M), rng.random(M) < 0.5
    found = audit(noise, coins)
    assert found.verdict == "consistent"
    assert found.epsilon_lower < 0.5
    assert 1 < found.detectable_epsilon < 1.7
    assert found.reversed is False


def test_scores_that_run_the_other_way_are_tested_and_the_finding_says_so():
    """Losses are smaller for members. The guesses turned around have a tenth of the error."""
    rng = np.random.default_rng(5)
    noise, coins = rng.normal(size=M), rng.random(M) < 0.5
    for ranking in ("two-sided", "in"):
        right, wrong = (audit(sign * (3.0 * coins + noise), coins, ranking=ranking) for sign in (1, -1))
        assert (right.verdict, right.reversed) == (wrong.verdict, not wrong.reversed) == ("violation", False)
        assert 0.7 * right.epsilon_lower < wrong.epsilon_lower <= right.epsilon_lower
        assert "scores are smaller for the canaries that are in, as losses are" in " ".join(str(wrong).split())
        assert "scores are smaller" not in " ".join(str(right).split())
        assert "turned around" in wrong.summary()
        for finding in (right, wrong):
            assert OneRunFinding.from_dict(finding.to_dict()) == finding


def test_the_power_of_scores_that_run_the_other_way_is_that_of_their_own_test():
    """A leak within the claim: no violation, and what would be detected is what the tenth of the error detects."""
    scores, coins = responses(0.6, 1000, 0)
    right, wrong = audit(scores, coins), audit(-scores, coins)
    assert (right.verdict, wrong.verdict) == ("consistent", "consistent")
    assert (right.reversed, wrong.reversed) == (False, True)
    assert wrong.detectable_epsilon > right.detectable_epsilon

    def missed(seed):
        strong, flipped = responses(wrong.detectable_epsilon, 1000, seed)
        return audit(-strong, flipped).verdict != "violation"

    assert MISSES.failing(0.05) < 0.0005
    assert MISSES.failing(0.3) > 0.84
    # 33 of 40 are detected, with probability 0.95 each, but once in 2,000; a power of 0.7 would be seen with 0.84.
    MISSES.hold(lambda seeds: list(map(missed, seeds)), range(MISSES.number))


def test_a_bound_of_scores_that_run_the_other_way_is_no_bound_of_an_earlier_version():
    scores, coins = responses(3.0, M, 0)
    stored = json.loads(json.dumps(audit(-scores, coins).to_dict()))
    assert checked(stored) == [POWER, ASSUMED]
    for changed in ({**stored, "reversed": False}, {key: one for key, one in stored.items() if key != "reversed"}):
        with pytest.raises(ValueError, match="what its guesses give"):
            checked(changed)


def test_true_claims_are_accused_seldom_with_ties_infinities_and_the_other_way():
    """At most 5 % each; 40 audits exceed 8 once in 10,000, and with probability 0.81 at a rate of 30 %.

    A larger measurement is `scripts/bench.py one_run shapes`.
    """
    assert FALSE_ALARMS.failing(0.05) <= 1e-4
    assert FALSE_ALARMS.failing(0.3) > 0.81
    for sign, shape in ((1, np.sign), (-1, np.sign), (1, lambda x: np.sign(x) * np.inf), (-1, lambda x: x)):

        def accused(seed, sign=sign, shape=shape):
            scores, coins = responses(1.0, 100, seed)
            return audit(sign * shape(scores), coins).verdict == "violation"

        FALSE_ALARMS.hold(lambda seeds, accused=accused: list(map(accused, seeds)), range(FALSE_ALARMS.number))


def test_infinite_scores_are_ranks_like_others():
    scores, coins = responses(3.0, M, 0)
    middle = np.quantile(scores, [0.25, 0.75]).mean()
    far = np.abs(scores - middle) > np.quantile(np.abs(scores - middle), 0.9)
    infinite = audit(np.where(far, np.inf * np.sign(scores), scores), coins)
    assert (infinite.verdict, infinite.tied) == ("violation", int(far.sum()))
    (large,) = (one.right for one in infinite.schedule if one.guesses == 256)
    (same,) = (one.right for one in audit(scores, coins).schedule if one.guesses == 256)
    assert abs(large - same) <= 4
    alone = audit(np.where(scores > 0, np.inf, -np.inf), coins)
    assert alone.verdict == "violation"
    assert audit([math.inf] * M, coins).gaps == (EqualScores(M, M),)
    assert audit(1e308 * np.sign(scores), coins).verdict == "violation"
    halves = audit(np.where(coins & (np.arange(M) % 2 == 0), np.inf, scores), coins)
    assert halves.verdict == "violation"
    runs = audit(np.stack([scores, np.full(M, np.inf)]), np.stack([coins, ~coins]))
    assert runs.runs == 2


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (np.arange(100) < 50, "the canaries that are in stand first"),
        (np.arange(100) >= 50, "the canaries that are in stand last"),
        (np.arange(100) % 2 == 0, "canaries are in and out by turns"),
        (np.arange(1000) % 40 < 20, "coins 20 places apart are mostly opposite"),
        (np.repeat(np.random.default_rng(4).random(60) < 0.5, 12), "in long blocks"),
        (np.tile(np.random.default_rng(0).random(7) < 0.5, 60), "coins 7 places apart are mostly the same"),
        (np.tile(np.random.default_rng(3).random(100) < 0.5, (4, 1)), "the coins of several runs are mostly the same"),
        (np.repeat([np.arange(50) < 25], 8, axis=0), "stand first"),
        (
            np.concatenate([half := np.random.default_rng(1).random(100) < 0.5, half[::-1]]),
            "the coins read backwards are mostly those read forwards",
        ),
        (np.concatenate([half, ~half]), "coins 100 places apart are mostly opposite"),
    ],
)
def test_an_order_that_fair_coins_hardly_have_is_a_warning(order, words):
    found = audit(np.random.default_rng(2).normal(size=order.shape), order)
    (warning,) = found.warnings
    assert words in warning
    assert "fair coins do that with a probability below 1e-09" in warning
    assert words in " ".join(str(found).split())
    assert OneRunFinding.from_dict(found.to_dict()).warnings == found.warnings


def test_fair_coins_have_no_warning_about_their_order():
    """Each test has an error of 1e-9 at most: 2,000 vectors show no mistake of its order of magnitude."""
    rng = np.random.default_rng(0)
    for _ in range(500):
        for shape in ((2,), (3,), (20,), (101,), (7, 12)):
            assert order_warning(np.atleast_2d(rng.random(shape) < 0.5)) == ""
    assert order_warning(np.atleast_2d(dpaudit.flip_coins(100_000, seed=1).included)) == ""


@pytest.mark.parametrize("kind", ["trend", "distance", "stretch"])
def test_the_p_values_of_orders_are_no_smaller_than_how_often_they_occur(kind):
    tests = {
        "trend": coins_module._by_trend,
        "distance": coins_module._by_distance,
        "stretch": coins_module._by_stretch,
    }
    vectors = np.array(list(itertools.product([False, True], repeat=12)))
    found = np.array([[p for p, _ in tests[kind](one[None])] for one in vectors])
    for column in found.T:
        for p_value in np.unique(column[column < 0.5]):
            assert (column <= p_value).mean() <= p_value * (1 + 1e-9)


def test_what_is_called_detectable_is_detected():
    least = audit(*responses(1.0, M, 0)).detectable_epsilon
    caught = sum(audit(*responses(least, M, seed), guesses=M).verdict == "violation" for seed in range(60))
    assert caught >= 50


def test_a_leak_of_a_few_canaries_is_found():
    found = audit(*responses(8.0, 2000, 0, share=0.05))
    assert found.verdict == "violation"
    assert found.best.guesses <= 128


def test_a_fixed_number_of_guesses_has_the_bound_of_the_coin():
    found = audit(*responses(2.0, M, 2), guesses=100, delta=1e-5)
    assert [one.guesses for one in found.schedule] == [100]
    own = float(epsilon_lower(found.best.right, 100, 0.9 * 0.05, delta_runs=M * 1e-5))
    assert found.epsilon_lower == pytest.approx(own, rel=1e-6)


def test_scores_of_several_runs_are_pooled_centred():
    scores, coins = zip(*(responses(2.0, 100, seed) for seed in range(4)), strict=True)
    shifted = np.array(scores) + np.array([[0.0], [50.0], [-7.0], [1e3]])
    found = audit(shifted, np.array(coins))
    assert (found.runs, found.canaries, found.included) == (4, 100, int(np.sum(coins)))
    assert found.schedule[-1].guesses == 400
    assert found.verdict == "violation"


def test_few_canaries_are_no_evidence_and_the_least_number_is_named():
    found = audit(*responses(9.0, 6, 0))
    assert found.verdict == "no evidence"
    (gap,) = found.gaps
    assert isinstance(gap, FewCanaries)
    assert gap.canaries == 6
    assert gap.least is not None
    scores, coins = responses(30.0, gap.least, 1)
    assert audit(scores, coins).gaps == ()
    assert math.isinf(found.detectable_epsilon)
    hopeless = audit(*responses(9.0, 100, 0), epsilon=0.0, delta=0.9)
    assert hopeless.gaps[0].least is None


def test_ties_are_ordered_without_the_coins():
    coins = np.arange(M) < M // 2  # members are stored first
    found = audit(np.zeros(M), coins)
    assert (found.verdict, found.tied) == ("no evidence", M)
    assert found.gaps == (EqualScores(M, M),)
    assert math.isinf(found.detectable_epsilon)
    some = audit(np.where(np.arange(M) % 2, -1.0, np.arange(M)), coins)
    assert (some.tied, some.gaps) == (M // 2, ())
    rng = np.random.default_rng(0)
    accused = sum(
        audit(np.round(rng.normal(size=100)), rng.random(100) < 0.5, epsilon=0.0).p_value <= 0.05 for _ in range(60)
    )
    assert accused <= 9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": [1.0, math.nan, 2.0, 3.0]}, r"scores must be numbers, finite or infinite, got nan; 1 are NaN, .*1"),
        ({"scores": np.array([1.0, 2.0, 1j, 2j])}, r"scores must be an array of real numbers, .* no rank"),
        ({"scores": [1.0, 2.0, math.inf, math.nan]}, r"got nan; 1 are NaN, the first is \[3\], and NaN has no rank"),
        ({"scores": np.ma.masked_less([1.0, 2.0, 3.0, 0.0], 0.5)}, "scores must be an array without masked values"),
        ({"scores": [10**400, 1, 2, 3]}, "scores must be an array of numbers"),
        ({"scores": [1.0, 2.0, 3.0]}, r"scores must be as many as the coins: there are \(1, 3\), and coins \(1, 4\)"),
        ({"scores": ["a", "b", "c", "d"]}, "scores must be an array of numbers"),
        ({"scores": np.zeros((2, 2, 2))}, "scores must be an array of shape"),
        ({"scores": []}, "scores must be an array of shape"),
        ({"scores": [1.0], "included": [True]}, "scores must be those of 2 or more canaries, got 1"),
        ({"included": [0, 1, 2, 0]}, "included must be an array of True and False"),
        ({"included": ["x"] * 4}, "included must be an array of True and False"),
        ({"epsilon": None}, "epsilon must be given"),
        ({"epsilon": -1.0}, "epsilon must be a finite number >= 0"),
        ({"delta": 1.0}, r"delta must be in \[0, 1\)"),
        ({"claim": PrivacyClaim.gaussian(1.0)}, "epsilon must be left out where claim is given: there is one claim"),
        ({"claim": 3, "epsilon": None}, "claim must be a claim"),
        ({"confidence": 1.0}, r"confidence must be in \(0, 1\), got 1.0"),
        ({"guesses": 5}, "guesses must be an integer >= 1 and <= 4, got 5"),
        ({"guesses": 0}, "guesses must be an integer >= 1"),
        ({"ranking": "out"}, "ranking must be one of two-sided, in; got 'out'"),
        ({"relation": "sideways"}, "relation must be one of"),
        ({"sealed": "a digest"}, "sealed must be the coins of dpaudit.flip_coins"),
    ],
)  # fmt: skip
def test_bad_input_is_named(change, message):
    given = {"scores": [1.0, 2.0, 3.0, 4.0], "included": [0, 1, 1, 0], "epsilon": 1.0} | change
    with pytest.raises(InputError, match=message):
        dpaudit.audit_scores(given.pop("scores"), given.pop("included"), **given)


def test_coins_that_are_not_fair_are_refused():
    scores = np.arange(1000.0)
    with pytest.raises(InputError, match="included must be fair coins: 600 of 1000 canaries are in"):
        audit(scores, np.arange(1000) < 600)
    with pytest.raises(InputError, match="400 of 1000"):
        audit(scores, np.arange(1000) < 400)
    assert audit(scores, np.arange(1000) % 20 < 11).included == 550


def test_the_coins_of_each_run_must_be_fair():
    """In all they may be, as where the canaries of one run are all in and those of another all out."""
    scores, fair = np.random.default_rng(0).normal(size=(2, 200)), np.random.default_rng(1).random((2, 200)) < 0.5
    with pytest.raises(InputError, match="included must be fair coins: 200 of 200 canaries of run 1 of 2 are in"):
        audit(scores, [[True] * 200, [False] * 200])
    with pytest.raises(InputError, match=r"60 of 60 canaries of run 12 of 12 are in, .* a probability below 7.7e-08"):
        audit(np.zeros((12, 60)), [*(np.random.default_rng(2).random((11, 60)) < 0.5), [True] * 60])
    assert audit(scores, fair).runs == 2
    assert audit(np.arange(20.0).reshape(10, 2), [[True, True], [False, False]] * 5).runs == 10


def test_coins_are_compared_with_a_digest_that_was_kept_elsewhere():
    scores, coins, other = np.arange(100.0), dpaudit.flip_coins(100, seed=1), dpaudit.flip_coins(100, seed=2)
    assert audit(scores, coins, seal=f" {coins.seal.upper()}").seal == coins.seal
    with pytest.raises(
        InputError, match=f"seal must be the digest of the coins, which is {other.seal}; got {coins.seal}"
    ):
        audit(scores, other, seal=coins.seal)  # coins that were changed and sealed again
    with pytest.raises(InputError, match="which is not known without coins that were sealed"):
        audit(scores, coins.included, seal=coins.seal)


@pytest.mark.parametrize(
    "make",
    [
        lambda v: PrivacyClaim.gaussian(v),
        lambda v: PrivacyClaim.zero_concentrated(v),
        lambda v: PrivacyClaim.renyi(v, 1.0),
    ],
)
def test_parameters_of_curves_out_of_range_are_refused(make):
    for value in (0.0, -1.0, 1e9):
        with pytest.raises(InputError, match="must be"):
            make(value)


def test_a_claim_of_gaussian_privacy_has_a_bound_on_mu_and_what_is_detectable():
    rng = np.random.default_rng(0)
    coins = rng.random(4000) < 0.5
    found = audit(rng.normal(size=4000) + 3.0 * coins, coins, claim=PrivacyClaim.gaussian(1.0), epsilon=None)
    assert found.verdict == "violation"
    assert 1 < found.mu_lower < 3
    assert 1 < found.detectable_mu < 3
    assert found.curve.mu == 1.0
    assert len(found.schedule) == 1
    assert 0 < found.delta < 1  # the point that refutes
    assert found.if_gaussian.recursion_mu < found.if_gaussian.independent_mu < 3
    honest = audit(rng.normal(size=4000) + coins, coins, claim=PrivacyClaim.gaussian(1.0), epsilon=None)
    assert (honest.verdict, honest.mu_lower < 1) == ("consistent", True)


@pytest.mark.parametrize(
    ("claim", "refuted"),
    [
        (PrivacyClaim.zero_concentrated(0.05), True),
        (PrivacyClaim.zero_concentrated(40.0), False),
        (PrivacyClaim.renyi([(2.0, 0.1), (4.0, 0.2)]), True),
        (PrivacyClaim.points([(9.0, 0.0), (1.0, 1e-5)]), True),
        (PrivacyClaim.profile(lambda e: math.exp(-8 * e)), True),
    ],
)
def test_other_curves_are_refuted_at_a_point_that_is_named(claim, refuted):
    found = audit(*responses(4.0, 1000, 3), claim=claim, epsilon=None)
    assert (found.verdict == "violation") == refuted
    assert (found.epsilon_lower > found.epsilon) == refuted
    assert found.mu_lower is None


def test_bounds_under_assumptions_never_decide():
    """At mu = 3 the bound that assumes independence exceeds a claim of (8, 0.001), and no verdict rests on it."""
    rng = np.random.default_rng(0)
    coins = rng.random(1000) < 0.5
    found = audit(rng.normal(size=1000) + 3 * coins, coins, epsilon=8.0, delta=0.001)
    assert found.if_gaussian.independent_epsilon > 8
    assert found.verdict != "violation"


def test_findings_are_stored_shown_and_drawn():
    coins = dpaudit.flip_coins(M, seed=7)
    rng = np.random.default_rng(0)
    for claim in (PrivacyClaim(1.0, 1e-5), PrivacyClaim.gaussian(0.5)):
        found = dpaudit.audit_scores(rng.normal(size=M) + 3 * coins.included, coins, claim, confidence=0.95)
        stored = json.loads(json.dumps(found.to_dict()))
        Draft202012Validator(schema.load("finding")).validate(stored)
        assert dpaudit.OneRunFinding.from_dict(stored) == found
        text, page = str(found), found.summary()
        assert text.startswith("VIOLATION")
        assert "the training claims" in text
        assert "dpaudit.audit_scores(" in text
        assert coins.seal in page
        assert "chosen seed 7" in page
        assert "if Gaussian" in page
        assert "no verdict rests on this" in page
        assert found.plot().axes
        assert "<details>" in found._repr_html_()
        assert dpaudit.to_frame([found])["epsilon"].tolist() == [found.epsilon]


def train(canaries, rng):
    return np.sum(canaries, axis=0) + 0.3 * rng.normal(size=canaries.shape[1])


def score(released, canaries):
    return canaries @ released


CANARIES = np.eye(60)


def test_a_training_of_ones_own_is_audited_and_the_coins_are_sealed():
    found = dpaudit.audit_one_run(train, CANARIES, epsilon=1.0, score=score, confidence=0.95, seed=0)
    assert found.verdict == "violation"
    assert (found.seed, len(found.seal)) == (0, 64)
    assert found == dpaudit.audit_one_run(train, CANARIES, epsilon=1.0, score=score, confidence=0.95, seed=0)
    assert "train claims" in str(found)
    pooled = dpaudit.audit_one_run(train, CANARIES, epsilon=1.0, score=score, runs=3, confidence=0.95)
    assert (pooled.runs, pooled.seed) == (3, None)


def test_a_training_that_ignores_its_canaries_is_no_evidence():
    def ignores(canaries, rng):
        return rng.normal(size=60)

    found = dpaudit.audit_one_run(ignores, CANARIES, epsilon=1.0, score=score, confidence=0.95, seed=1)
    assert found.verdict == "no evidence"
    assert IgnoredCanaries() in found.gaps
    assert "it ignores them" in str(found)
    unchecked = dpaudit.audit_one_run(ignores, CANARIES, epsilon=1.0, score=score, confidence=0.95, seed=1, check=False)
    assert unchecked.verdict == "consistent"
    assert "it is not known whether its scores depend on the canaries" in " ".join(unchecked.summary().split())
    # One with randomness of its own has other scores in any case, and the finding says what was not looked at.
    own = np.random.default_rng(3)
    unseen = dpaudit.audit_one_run(
        lambda canaries, rng: own.normal(size=60), CANARIES, epsilon=1.0, score=score, confidence=0.95, seed=1
    )
    assert (unseen.verdict, unseen.checked, unchecked.checked) == ("consistent", True, False)
    assert "not looked at: whether a training with randomness of its own" in " ".join(unseen.summary().split())


@pytest.mark.parametrize(
    ("canaries", "message"),
    [
        ([], "canaries must be 2 or more examples, got 0"),
        (np.ones((1, 3)), "canaries must be 2 or more examples, got 1"),
        (
            np.array([[1, 2], [3, 4], [1, 2]]),
            "canaries must differ from each other: number 0 and number 2 are the same",
        ),
        (["a", "b", "a"], "number 0 and number 2 are the same"),
        (3, "canaries must be a list or an array"),
    ],
)
def test_bad_canaries_are_refused_before_any_training(canaries, message):
    def never(chosen, rng):
        raise AssertionError

    with pytest.raises(InputError, match=message):
        dpaudit.audit_one_run(never, canaries, epsilon=1.0, score=score)


def test_two_claims_or_none_are_refused_before_any_training():
    def never(chosen, rng):
        raise AssertionError

    for claim, epsilon in ((None, None), (PrivacyClaim.gaussian(1.0), 1.0)):
        with pytest.raises(InputError, match="epsilon must be"):
            dpaudit.audit_one_run(never, CANARIES, claim, epsilon=epsilon, score=score)


def test_an_error_after_the_training_keeps_coins_and_scores():
    with pytest.raises(InputError, match="numbers, finite or infinite, got nan") as caught:
        dpaudit.audit_one_run(train, CANARIES, epsilon=1.0, score=lambda r, c: np.full(60, np.nan))
    assert caught.value.coins.included.shape == (60,)
    assert np.shape(caught.value.scores) == (1, 60)
    with pytest.raises(InputError, match="score raised ZeroDivisionError") as caught:
        dpaudit.audit_one_run(train, CANARIES, epsilon=1.0, score=lambda r, c: 1 / 0)
    assert caught.value.scores == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_end_of_the_training_of_the_check_keeps_coins_and_scores(error):
    calls = []

    def ends(canaries, rng):
        calls.append(len(canaries))
        if len(calls) == 2:
            raise error
        return train(canaries, rng)

    with pytest.raises((InputError, KeyboardInterrupt)) as caught:
        dpaudit.audit_one_run(ends, CANARIES, epsilon=1.0, score=score)
    assert caught.value.coins.included.sum() == calls[0]
    assert np.shape(caught.value.scores) == (1, 60)

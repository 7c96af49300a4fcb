"""Fitted estimators, alone and nested, are taken apart into what they have learned; random states are no leak.

Seeds are fixed; the leaks are certain or nearly so, and null cases seldom promise much.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, VotingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from dpaudit.events.feature_screening.search import screen_features
from dpaudit.outputs.canonical import canonical
from dpaudit.outputs.plan import LeafPlan

RUNS = 30

ESTIMATORS = {
    "linear": lambda state: LinearRegression(),
    "logistic": lambda state: LogisticRegression(random_state=state),
    "Bayes": lambda state: GaussianNB(),
    "tree": lambda state: DecisionTreeRegressor(max_depth=2, random_state=state),
    "forest": lambda state: RandomForestClassifier(n_estimators=2, max_depth=2, random_state=state),
    "process": lambda state: GaussianProcessRegressor(optimizer=None, random_state=state),
    "clusters": lambda state: KMeans(2, n_init=1, max_iter=3, random_state=state),
    "components": lambda state: PCA(1, random_state=state),
    "pipeline": lambda state: make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=1, random_state=state)),
    "vote": lambda state: VotingRegressor([("a", LinearRegression()), ("b", DecisionTreeRegressor(max_depth=1))]),
}


def fitted(rng, x, make):
    points = rng.normal(size=(8, 2))
    labels = (np.arange(8) < 4).astype(int)
    points[:4] += 300 * x
    return make(np.random.RandomState(int(rng.integers(2**31)))).fit(points, labels)


def sides(make, leak):
    rng = np.random.default_rng(2)
    return [[fitted(rng, x * leak, make) for _ in range(RUNS)] for x in (0, 1)]


@pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS.keys())
def test_what_an_estimator_has_learned_is_looked_at(make):
    data, neighbour = sides(make, 1)
    plan = LeafPlan.of([*data, *neighbour])
    assert not plan.unseen
    assert screen_features(plan, data, neighbour, 5_000)[0].promise > 1
    assert canonical(data[0]) != canonical(neighbour[0])


@pytest.mark.parametrize("name", ["linear", "tree", "forest"])
def test_random_states_and_places_in_memory_are_no_leak(name):
    data, neighbour = sides(ESTIMATORS[name], 0)
    assert screen_features(LeafPlan.of([*data, *neighbour]), data, neighbour, 5_000)[0].promise < 1


def test_equal_estimators_share_a_cell_whatever_their_random_state():
    points, labels = np.arange(8.0)[:, None], np.arange(8.0)
    first, second = (
        DecisionTreeRegressor(random_state=np.random.RandomState(seed)).fit(points, labels) for seed in (0, 1)
    )
    assert canonical(first) == canonical(second)

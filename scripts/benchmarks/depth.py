"""Times of Tukey depth, hull points, halfplanes by aggregation and the mixture learner, which `geometry` prints."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from dpaudit_learners.domains import Grid
from dpaudit_learners.halfspaces.depth.extended_domain import ExtendedDomain
from dpaudit_learners.halfspaces.depth.tukey_depth import tukey_depth
from dpaudit_learners.halfspaces.exponential import HalfspaceExponential
from dpaudit_learners.halfspaces.hull_point import HullPointExponential
from dpaudit_learners.halfspaces.hull_point_joint import HullPointJoint
from dpaudit_learners.halfspaces.hull_point_rec_concave import HullPointRecConcave
from dpaudit_learners.halfspaces.tukey import HalfspaceTukey
from dpaudit_learners.mixtures.halfspace import MixtureHalfspace


def best(action: Callable[[], object], repeat: int = 5) -> float:
    """Return the least of some processor times, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def rows() -> list[tuple[str, Callable[[], float], float]]:
    """Return (what, how to measure it in seconds, limit in seconds)."""
    rng = np.random.default_rng(0)
    plane = rng.integers(0, 1000, (1000, 2))
    space = rng.integers(0, 1000, (60, 3))
    weights = rng.integers(1, 10**9, 1000)
    grid = Grid(6, 2).points()
    extended = ExtendedDomain.grid(6, 2)
    xs = extended.coordinates()
    heavy = rng.multinomial(10**12, rng.dirichlet(np.ones(49)))
    many = [HullPointExponential(1000, 2, 1.0), HullPointJoint(100, 2, 1.0)]
    crowds = [
        one.domain.sample(rng.integers(0, one.side + 1, (10_000, 2)), np.zeros(10_000, dtype=int)) for one in many
    ]
    lined = HalfspaceTukey(100, 2, 2.0, subsamples=60, variant="positive")
    split = lined.domain.sample(crowds[1].points, crowds[1].points @ [3, 5] >= 380, crowds[1].counts)
    cornered = HullPointExponential(20, 3, 1.0)
    spread = cornered.domain.sample(rng.integers(0, 21, (150, 3)), np.zeros(150, dtype=int), rng.integers(1, 133, 150))
    deep = HalfspaceTukey(1000, 2, 2.0, subsamples=60, variant="exponential")
    wide = deep.domain.sample(crowds[0].points, crowds[0].points @ [3, 5] >= 3800, crowds[0].counts)
    halfplanes = HalfspaceExponential(100, 2, 1.0)
    joint = HullPointJoint(32, 2, 1.0)
    places = rng.integers(0, 33, (60, 2))
    pair = [joint.domain.sample(np.concatenate([places, [end]]), np.zeros(61, dtype=int)) for end in ([0, 0], [32, 9])]
    turned = halfplanes.domain.sample(split.points, split.labels ^ (np.arange(len(split.labels)) == 0), split.counts)
    recursive = HullPointRecConcave(6, 2, 1.0, 1e-6, 0.1)
    few = recursive.domain.sample([[1, 1], [5, 2], [3, 6], [2, 3]], [0, 0, 0, 0], [400, 300, 400, 350])
    learner = MixtureHalfspace(2, 1.0, side=2**18 - 1)
    points = rng.integers(0, 2**18, (10_050, 2))
    sample = learner.domain.sample(points, np.arange(len(points)) >= 50)
    return [
        ("depth, d = 2, 1,000 points", lambda: best(lambda: tukey_depth(plane, weights, (500, 500))), 0.002),
        ("depth, d = 3, 60 points", lambda: best(lambda: tukey_depth(space, weights[:60], (500, 500, 500))), 0.05),
        ("Q on the 7 x 7 grid, n = 1e12", lambda: best(lambda: extended.regions(grid, heavy).values((), xs), 3), 1.0),
        ("hull-point-exponential, side 1000, n = 1e4", lambda: best(lambda: many[0].run(crowds[0], rng, 1), 1), 30.0),
        (
            "hull-point-exponential, d = 3, side 20, n = 1e4",
            lambda: best(lambda: cornered.run(spread, rng, 1), 1),
            60.0,
        ),
        ("hull-point-joint, side 100, n = 1e4", lambda: best(lambda: many[1].run(crowds[1], rng, 1), 1), 30.0),
        ("halfspace-exponential, side 100, n = 1e4", lambda: best(lambda: halfplanes.run(split, rng, 1), 1), 60.0),
        ("its laws on a pair", lambda: best(lambda: halfplanes.pair_laws(split, turned), 1), 60.0),
        ("hull-point-joint, laws on a pair, side 32", lambda: best(lambda: joint.pair_laws(*pair), 1), 30.0),
        ("halfspace-tukey, positive, side 100, n = 1e4", lambda: best(lambda: lined.run(split, rng, 1), 1), 60.0),
        ("the same, exponential, side 1000, n = 1e4", lambda: best(lambda: deep.run(wide, rng, 1), 1), 60.0),
        ("hull-point-rec-concave, law, side 6", lambda: best(lambda: recursive.law(few), 1), 20.0),
        ("mixture-halfspace, 50 + 10,000 points, 1 run", lambda: best(lambda: learner.run(sample, rng, 1), 1), 5.0),
        ("its next 1e5 draws", lambda: best(lambda: learner.run(sample, rng, 100_000), 3), 1.0),
    ]

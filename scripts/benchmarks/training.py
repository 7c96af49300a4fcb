"""Plant the faults of the reference trainings, and count the audits that detect each; the right one beside them.

    python scripts/bench.py training [--trajectories] [--audits N] [--trials N] [--confidence C] [--hidden H]

A setting is the data on which a fault shows. Each line gives, for the right algorithm and the faulty one on the same
data, the audits that say "violation", the runs of both sides of one audit and its seconds. Exit status: 1 if the right
algorithm is accused more than once, or an audit misses a fault, else 0.

With `--trajectories` bets are placed on whole trainings of logistic regression by noisy gradient descent, and stop once
the claim is refuted. Their outputs are the three numbers of `noisy_step` (mean, standard deviation and greatest of
the steps' projections on the canary) or the parameters after every step. A line gives the median of the runs of both
sides that the faulty one took, and the seconds of an audit of it. Missing a fault does not change the exit status.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.columns import line, positive
from dpaudit import PrivacyClaim, PrivacyFinding, Relation, audit_privacy
from dpaudit.audit.parameters import Execution
from dpaudit.training import StepAudit, noisy_step, random_directions
from dpaudit_learners.training import objective_perturbation
from dpaudit_learners.training.noisy_sgd import FAULTS, Examples, Logistic, Model, Network, NoisySGD
from dpaudit_learners.training.objective_perturbation import ObjectivePerturbation

Audit = Callable[..., PrivacyFinding]

WIDTHS = (12, 22, 10, 12, 12, 10, 10)
HEAD = ("model", "fault", "steps", "right", "faulty", "runs", "seconds")
TRAJECTORIES = (14, 22, 8, 8, 10, 10, 12, 10)
TRAJECTORY_HEAD = ("output", "fault", "steps", "others", "right", "faulty", "runs", "seconds")
EPSILON = 0.5


def setting(model: Model, fault: str) -> tuple[NoisySGD, Examples, Any]:
    """Return the right algorithm, the data without the canary, and the gradient canary on which a fault shows."""
    rng = np.random.default_rng(2)
    d = model.dimension
    n = 8
    start = tuple(rng.normal(scale=0.5, size=d))
    data = Examples(rng.normal(size=(n, model.inputs)), rng.integers(0, 2, n), np.empty((0, d)))
    canary = random_directions(1, d, rng, norm=5.0)[0]
    if fault == "without replacement":  # every other example opposes the canary, so that displacing one adds to it
        data = Examples(data.points[:0], data.labels[:0], np.tile(-canary, (n, 1)))
    sampling = 1.0 if fault in ("no clipping", "clipping by batch") else 0.5
    steps = 20 if fault == "noise reused" else 1
    return NoisySGD(model, sampling_rate=sampling, examples=n, steps=steps, start=start), data, canary


def audited(sgd: NoisySGD, data: Examples, canary: Any) -> StepAudit:
    """Return the step of an algorithm, or its whole training, as a mechanism."""
    q = sgd.sampling_rate
    sigma = sgd.noise_multiplier
    given: dict[str, Any] = {"noise_multiplier": sigma, "sampling_rate": q, "steps": sgd.steps}
    if sgd.steps > 1:
        given["claim"] = PrivacyClaim(EPSILON, sgd.accountant.delta(EPSILON), Relation.ADD_REMOVE_ONE)
    run = sgd.step if sgd.steps == 1 else sgd.updates
    return noisy_step(run, data, canary, direction=canary, batched=True, join=Examples.adding, **given)


def objective(fault: str) -> tuple[Audit, Audit]:
    """Return audits of objective perturbation, right and faulty; one example of four has a direction of its own."""
    own = (1.0, 0.0) if fault == "no log term" else (9.0, -9.0)
    others = [[1.0, 0.0], [-0.5, 0.0], [0.3, 0.0]]
    labels = np.array([1, 0, 1, 1])
    pair = tuple((np.array([*others, [0.0, one]]), labels) for one in own)
    right = ObjectivePerturbation(epsilon=1.0, examples=4, regularisation=0.0025)
    made = [
        partial(audit_privacy, one.run, [pair], epsilon=1.0, batched=True)
        for one in (right, replace(right, fault=fault))
    ]
    return made[0], made[1]


def rows(hidden: int) -> Iterator[tuple[tuple[str, str, str], tuple[Audit, Audit]]]:
    """Return the model, fault and steps of each line, with audits of the right algorithm and of the faulty one."""
    for name, model in (("logistic", Logistic(3)), ("network", Network(3, hidden))):
        for fault in FAULTS:
            sgd, data, canary = setting(model, fault)
            both = audited(sgd, data, canary).audit, audited(replace(sgd, fault=fault), data, canary).audit
            yield (name, fault, str(sgd.steps)), both
    for fault in objective_perturbation.FAULTS:
        yield ("objective", fault, "-"), objective(fault)


def trajectory(sgd: NoisySGD, data: Examples, canary: Any, output: str) -> Audit:
    """Return the audit of whole trainings by bets on an output; the claim is that of the right algorithm."""
    if output == "three numbers":
        return partial(audited(sgd, data, canary).audit, sequential=True)

    def mechanism(examples: Examples, rng: np.random.Generator, size: int) -> Any:
        updates = sgd.updates(examples, rng, size)
        return (np.array(sgd.start) - sgd.learning_rate * updates.cumsum(axis=1)).reshape(size, -1)

    claim = {"epsilon": EPSILON, "delta": sgd.accountant.delta(EPSILON)}
    return partial(
        audit_privacy,
        mechanism,
        [(data.adding(canary), data)],
        batched=True,
        execution=Execution(sequential=True),
        **claim,
    )


def trajectories() -> Iterator[tuple[tuple[str, str, str, str], tuple[Audit, Audit]]]:
    """Return the output, fault, steps and number of other examples of each line, with audits of both algorithms."""
    for fault, alone in [*((fault, False) for fault in FAULTS), ("noise reused", True)]:
        sgd, data, canary = setting(Logistic(3), fault)
        sgd = replace(sgd, steps=max(8, sgd.steps))
        if alone:
            data = Examples(data.points[:0], data.labels[:0], data.gradients)
        for output in ("three numbers", "iterates"):
            both = [trajectory(one, data, canary, output) for one in (sgd, replace(sgd, fault=fault))]
            yield (output, fault, str(sgd.steps), str(data.size)), (both[0], both[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trajectories", action="store_true")
    parser.add_argument("--audits", type=positive, default=20)
    parser.add_argument("--trials", type=positive, default=10_000)
    parser.add_argument("--confidence", type=float, default=0.999)
    parser.add_argument("--hidden", type=positive, default=3)
    given = parser.parse_args()
    options = {"trials": given.trials, "confidence": given.confidence}
    widths, head = (TRAJECTORIES, TRAJECTORY_HEAD) if given.trajectories else (WIDTHS, HEAD)
    print(line(head, widths))
    failed = False
    for cells, both in trajectories() if given.trajectories else rows(given.hidden):
        accused = []
        runs = 0
        seconds = 0.0
        for audit in both:
            began = time.perf_counter()
            found = [audit(seed=seed, **options) for seed in range(given.audits)]
            seconds = (time.perf_counter() - began) / given.audits
            runs = int(np.median([one.budget.get("used", 2 * given.trials) for one in found]))
            accused.append(sum(one.verdict == "violation" for one in found))
        failed |= accused[0] > 1 or (accused[1] < given.audits and not given.trajectories)
        shown = [f"{count}/{given.audits}" for count in accused]
        print(line((*cells, *shown, f"{runs:,}", f"{seconds:.2f}"), widths), flush=True)
    return int(failed)

"""Plant the five faults of noisy gradient descent, and count the audits that detect each; the right one beside them.

    python scripts/bench_training.py [--audits N] [--trials N] [--confidence C] [--hidden H]

A setting is the data on which a fault shows. Each line gives, for the right algorithm and the faulty one on the same
data, the audits that say "violation", the runs of both sides of one audit and its seconds. Exit status: 1 if the right
algorithm is accused more than once, or an audit misses a fault, else 0.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
from columns import line, positive

from dpaudit import PrivacyClaim, Relation
from dpaudit.training import StepAudit, noisy_step, random_directions
from learners.training.noisy_sgd import FAULTS, Examples, Logistic, Model, Network, NoisySGD

WIDTHS = (12, 22, 10, 12, 12, 10, 10)
HEAD = ("model", "fault", "steps", "right", "faulty", "runs", "seconds")
EPSILON = 0.5


def setting(model: Model, fault: str) -> tuple[NoisySGD, Examples, Any]:
    """Return the right algorithm, the data without the canary, and the gradient canary on which a fault shows."""
    rng = np.random.default_rng(2)
    d, n = model.dimension, 8
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
    q, sigma = sgd.sampling_rate, sgd.noise_multiplier
    given: dict[str, Any] = {"noise_multiplier": sigma, "sampling_rate": q, "steps": sgd.steps}
    if sgd.steps > 1:
        given["claim"] = PrivacyClaim(EPSILON, sgd.accountant.delta(EPSILON), Relation.ADD_REMOVE_ONE)
    run = sgd.step if sgd.steps == 1 else sgd.updates
    return noisy_step(run, data, canary, direction=canary, batched=True, join=Examples.adding, **given)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audits", type=positive, default=20)
    parser.add_argument("--trials", type=positive, default=10_000)
    parser.add_argument("--confidence", type=float, default=0.999)
    parser.add_argument("--hidden", type=positive, default=3)
    given = parser.parse_args()
    options = {"trials": given.trials, "confidence": given.confidence}
    print(line(HEAD, WIDTHS))
    failed = False
    for name, model in (("logistic", Logistic(3)), ("network", Network(3, given.hidden))):
        for fault in FAULTS:
            sgd, data, canary = setting(model, fault)
            accused, seconds = [], 0.0
            for one in (sgd, replace(sgd, fault=fault)):
                began = time.perf_counter()
                made = audited(one, data, canary)
                found = [made.audit(seed=seed, **options).verdict == "violation" for seed in range(given.audits)]
                seconds = (time.perf_counter() - began) / given.audits
                accused.append(sum(found))
            failed |= accused[0] > 1 or accused[1] < given.audits
            shown = [f"{count}/{given.audits}" for count in accused]
            print(
                line((name, fault, str(sgd.steps), *shown, f"{2 * given.trials:,}", f"{seconds:.2f}"), WIDTHS),
                flush=True,
            )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

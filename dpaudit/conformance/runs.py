"""Checks the runs of a learner: its use of randomness, its outputs, and samples of many examples."""

from __future__ import annotations

import random

import numpy as np

from dpaudit import seeding
from dpaudit.conformance.required import require, samples_of
from dpaudit.contract import FAIL, HasLaw, Learner

__all__ = ["check_codes_decode", "check_huge_counts", "check_random_state"]


def check_random_state(learner: Learner) -> None:
    """Check that the global random state stays untouched, and that equal generators give equal outputs."""
    for sample in samples_of(learner):
        # The global state of NumPy is what is looked at.
        before = repr(np.random.get_state()), random.getstate()  # noqa: NPY002
        first = learner.run(sample, seeding.generator(1, "conformance"), 64)
        if isinstance(learner, HasLaw):
            learner.law(sample)
        after = repr(np.random.get_state()), random.getstate()  # noqa: NPY002
        require(before == after, learner, "run or law touched the global random state")
        second = learner.run(sample, seeding.generator(1, "conformance"), 64)
        require(len(first) == 64, learner, f"run(size=64) returned {len(first)} outputs")
        require(list(map(repr, first)) == list(map(repr, second)), learner, "equal generators must give equal outputs")


def check_codes_decode(learner: Learner) -> None:
    """Check that every output decodes to a hypothesis that labels points 0 or 1, and only FAIL to None."""
    points = learner.domain.landmarks()
    for sample in samples_of(learner):
        codes = (
            learner.law(sample).atoms
            if isinstance(learner, HasLaw)
            else set(learner.run(sample, seeding.generator(3), 64))
        )
        for code in list(codes)[:256]:
            hypothesis = learner.decode(code)
            if hypothesis is None:
                require(code == FAIL, learner, f"only FAIL may decode to None, got None for {code!r}")
                continue
            labels = np.asarray(hypothesis.predict(points))
            good = labels.shape == (len(points),) and bool(np.isin(labels, (0, 1)).all())
            require(good, learner, f"decode({code!r}).predict must return one label 0 or 1 a point")


def check_huge_counts(learner: Learner) -> None:
    """Check that a sample of 1e12 examples on few distinct points runs like a small one."""
    points = learner.domain.landmarks()[:2]
    sample = learner.domain.sample(points, [1, 0], [10**12, 10**12 - 1])
    outputs = learner.run(sample, seeding.generator(4, "conformance"), 16)
    require(len(outputs) == 16, learner, "run must accept counts of 1e12")

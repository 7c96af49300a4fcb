"""Private parity learners with one known leak each."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpaudit.contract import Instance, Law, Sample

from ..controls import controls, fault
from ..mechanisms.log_laws import ULP
from ..parameters import check_sample
from .amplified import ParityAmplified
from .law import log_answers
from .private import ParityPrivate, ParityRestart

NO_COIN = fault("never fails by the coin: failure proves that the sample is inconsistent", _coin=0.0)
OVERSAMPLED = property(lambda self: min(1.0, self.epsilon))
FIXED_SOLUTION = fault(
    "returns the particular solution instead of a random one: some parities show some examples",
    _uniform=False,
    symmetries=lambda self: [],  # the particular solution depends on the order of the variables
)
TWO = Instance({"dimension": 2, "epsilon": 0.6, "beta": 0.1}, n=2, beta=0.2)


def _late_law(self: ParityRestart, sample: Sample) -> Law:
    """Return the law: the first round answers r with probability g(r), and what is inconsistent restarts.

    Pr[r] = g(r) (1 + (1 - c)(1 - beta)/(beta + (1 - beta) c)) = g(r)/(beta + (1 - beta) c), and
    Pr[fail] = beta (1 - c)/(beta + (1 - beta) c). The error of 1 - c is that of c divided by 1 - c, which is at
    least keep^(d + 1) on an inconsistent sample.
    """
    check_sample(sample, self.domain)
    answers, error, consistent = log_answers(sample, self.dimension, self._keep, uniform=self._uniform)
    # c, the probability of a consistent subsample.
    total = 1.0 if consistent else math.fsum(np.exp(answers))
    denominator = math.log(self.beta + (1 - self.beta) * total)
    if consistent:
        failure = -math.inf
    else:
        failure = math.log(self.beta) + math.log1p(-total) - denominator
    log_prob = np.concatenate([[failure], answers - denominator])
    size = float(np.abs(log_prob[np.isfinite(log_prob)]).max())
    # The relative error of 1 - c.
    slack = 1.0 if consistent else 1 / (1 - total)
    return Law(range(-1, 2**self.dimension), log_prob, 3 * slack * (error + 8 * ULP) + 2.0**-50 * size)


LEARNERS = (
    *controls(
        ParityPrivate,
        "parity",
        no_coin=NO_COIN.shown(Instance({"dimension": 2, "epsilon": 1.0}, n=4, beta=0.6)),
        oversampled=fault(
            "keeps each example with probability epsilon instead of epsilon/4",
            instance=Instance({"dimension": 2, "epsilon": 0.5}, n=2, beta=0.6),
            _keep=OVERSAMPLED,
        ),
        fixed_solution=FIXED_SOLUTION.shown(Instance({"dimension": 2, "epsilon": 1.0}, n=2, beta=0.6)),
    ),
    *controls(
        ParityAmplified,
        "parity-amplified",
        no_coin=NO_COIN.shown(Instance({"dimension": 2, "epsilon": 3.0, "beta": 0.6}, n=4, beta=0.7)),
        oversampled=fault(
            "each run keeps examples with probability epsilon, as if there were one run and no factor 4",
            instance=TWO,
            _keep=OVERSAMPLED,
        ),
        fixed_solution=FIXED_SOLUTION.shown(Instance({"dimension": 2, "epsilon": 1.0, "beta": 0.5}, n=2, beta=0.6)),
    ),
    *controls(
        ParityRestart,
        "parity-restart",
        late_coin=fault(
            "tosses the coin only after an inconsistent subsample: failure proves inconsistency",
            instance=Instance({"dimension": 2, "epsilon": 1.0, "beta": 0.5}, n=4, beta=0.6),
            _stops=lambda self, rng, first, shape: (
                np.zeros(shape, dtype=np.bool_) if first else ParityRestart._stops(self, rng, first, shape)
            ),
            law=_late_law,
        ),
        oversampled=fault(
            "keeps each example with probability epsilon instead of about epsilon/3", instance=TWO, _keep=OVERSAMPLED
        ),
        fixed_solution=FIXED_SOLUTION.shown(replace(TWO, parameters={**TWO.parameters, "epsilon": 1.0})),
    ),
)

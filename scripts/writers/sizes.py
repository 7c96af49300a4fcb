"""The cases of sample complexity n*, and the scaling laws, that the reference report measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dpaudit_learners.papers.scaling import RUNS

__all__ = ["EXACT", "FEW_MOVES", "LAWS", "SIZES"]

COVER = {"epsilon": 1.0, "delta": 1e-6, "alpha": 0.1, "beta": 0.05, "variant": "noiseless"}
LITERALS = {"dimension": 2, "k": 1, **COVER}
REGIONS = {"side": 1, "k": 1, **COVER}
DEEP = {"side": 1, "dimension": 2, "epsilon": 1.0}

SIZES: tuple[tuple[str, dict[str, Any], float, float], ...] = (
    ("point-exponential", {"domain_size": 8, "epsilon": 1.0}, 0.1, 0.1),
    ("point-exponential", {"domain_size": 64, "epsilon": 1.0}, 0.1, 0.1),
    ("threshold-exponential", {"domain_size": 8, "epsilon": 1.0}, 0.1, 0.1),
    ("threshold-exponential", {"domain_size": 64, "epsilon": 1.0}, 0.1, 0.1),
    ("conjunction-exponential", {"dimension": 3, "k": 2, "epsilon": 1.0}, 0.1, 0.1),
    ("box-exponential", {"side": 7, "dimension": 1, "epsilon": 1.0}, 0.1, 0.1),
    ("box-exponential", {"side": 2, "dimension": 2, "epsilon": 1.0}, 0.1, 0.1),
    ("halfspace-exponential", {"side": 2, "dimension": 2, "epsilon": 1.0}, 0.1, 0.1),
    ("halfplane-select", {"side": 2, "epsilon": 1.0}, 0.1, 0.1),
    ("triangle-select", {"side": 1, "epsilon": 1.0}, 0.1, 0.1),
    ("polynomial-select", {"side": 2, "epsilon": 1.0}, 0.1, 0.1),
    ("simplex-select", {"side": 1, "epsilon": 1.0}, 0.1, 0.1),
    ("parity-private", {"dimension": 3, "epsilon": 1.0}, 0.1, 0.6),
    ("parity-amplified", {"dimension": 3, "epsilon": 1.0, "beta": 0.05}, 0.1, 0.1),
    ("parity-restart", {"dimension": 3, "epsilon": 1.0, "beta": 0.05}, 0.1, 0.1),
    ("conjunction-laplace", {"dimension": 3, "epsilon": 1.0, "beta": 0.05}, 0.1, 0.1),
    ("conjunction-greedy", {"dimension": 2, "k": 1, "epsilon": 1.0}, 0.2, 0.2),
    ("conjunction-greedy", {"dimension": 2, "k": 2, "epsilon": 1.0}, 0.2, 0.2),
    ("set-cover-conjunction", LITERALS, 0.2, 0.2),
    ("set-cover-disjunction", LITERALS, 0.2, 0.2),
    ("convex-polygon", REGIONS, 0.2, 0.2),
    ("polygon-union", REGIONS, 0.2, 0.2),
    ("disc-union", REGIONS, 0.2, 0.2),
    ("convex-polytope", REGIONS, 0.2, 0.2),
    ("simplex-union", REGIONS, 0.2, 0.2),
    ("mixture-halfspace", {"dimension": 1, "side": 7, "epsilon": 1.0}, 0.1, 0.1),
    ("interior-point-exponential", {"domain_size": 2**12, "epsilon": 1.0}, 0.1, 0.1),
    ("interior-point-exponential", {"domain_size": 2**64, "epsilon": 1.0}, 0.1, 0.1),
    ("interior-point-rec-concave", {"domain_size": 32, "epsilon": 1.0, "delta": 1e-6}, 0.1, 0.1),
    ("interior-point-rec-concave", {"domain_size": 64, "epsilon": 1.0, "delta": 1e-6}, 0.1, 0.1),
    ("interior-point-tree-log", {"domain_size": 2**12, "epsilon": 1.0, "delta": 1e-6, "beta": 0.1}, 0.1, 0.1),
    ("box-interior-point", {"side": 2, "dimension": 1, "epsilon": 1.0, "beta": 0.05}, 0.1, 0.1),
    ("threshold-interior-point", {"domain_size": 8, "epsilon": 1.0, "beta": 0.05}, 0.1, 0.1),
    ("hull-point-exponential", DEEP, 0.1, 0.1),
    ("hull-point-joint", DEEP, 0.1, 0.1),
    ("hull-point-random-row", {**DEEP, "delta": 0.25}, 0.1, 0.1),
    ("hull-point-rec-concave", {**DEEP, "delta": 1e-6, "beta": 0.1}, 0.1, 0.1),
    ("halfspace-tukey", {"side": 1, "dimension": 1, "epsilon": 1.0, "subsamples": 60, "variant": "positive"}, 0.1, 0.1),
)
"""Learner, parameters, alpha and beta of each sample complexity: each private learner with a theorem on utility."""

FEW_MOVES = dict.fromkeys(
    (
        "set-cover-conjunction", "set-cover-disjunction", "convex-polygon", "polygon-union", "disc-union",
        "convex-polytope", "simplex-union", "halfspace-tukey",
    ),
    10,
)  # fmt: skip
"""Moves of each climb where a law on a sample is long or not listed, so that a move costs a second."""

LAWS = tuple(run for id, runs in RUNS.items() if not id.startswith("STE-Boxd") for run in runs)
"""Learner, parameter, values and the rest of each scaling law."""


def _exact() -> tuple[tuple[str, int, str], ...]:
    # Written by `scripts/bench.py exact_sizes`.
    known = json.loads(Path(__file__).with_name("exact_sizes.json").read_text(encoding="utf-8"))
    cases = ((id, sizes[samples], samples) for id, sizes in known.items() for samples in ("all", "crafted"))
    return tuple((id, n, samples) for id, n, samples in cases if n is not None)


EXACT = _exact()
"""Learner, number of examples and samples ("all" or "crafted") of each exact audit at the largest size of a minute."""

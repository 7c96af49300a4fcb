"""The cases of sample complexity n*, and the scaling laws, that the reference report measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dpaudit_learners.papers.scaling import RUNS

__all__ = ["EXACT", "LAWS", "SIZES"]

COVER = {"dimension": 2, "k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.1, "beta": 0.05, "variant": "noiseless"}

SIZES: tuple[tuple[str, dict[str, Any], float, float], ...] = (
    ("point-exponential", {"domain_size": 8, "epsilon": 1.0}, 0.1, 0.1),
    ("point-exponential", {"domain_size": 64, "epsilon": 1.0}, 0.1, 0.1),
    ("threshold-exponential", {"domain_size": 8, "epsilon": 1.0}, 0.1, 0.1),
    ("threshold-exponential", {"domain_size": 64, "epsilon": 1.0}, 0.1, 0.1),
    ("conjunction-exponential", {"dimension": 3, "k": 2, "epsilon": 1.0}, 0.1, 0.1),
    ("box-exponential", {"side": 7, "dimension": 1, "epsilon": 1.0}, 0.1, 0.1),
    ("box-exponential", {"side": 2, "dimension": 2, "epsilon": 1.0}, 0.1, 0.1),
    ("parity-private", {"dimension": 3, "epsilon": 1.0}, 0.1, 0.6),
    ("conjunction-greedy", {"dimension": 2, "k": 1, "epsilon": 1.0}, 0.2, 0.2),
    ("conjunction-greedy", {"dimension": 2, "k": 2, "epsilon": 1.0}, 0.2, 0.2),
    ("set-cover-conjunction", COVER, 0.2, 0.2),
    ("mixture-halfspace", {"dimension": 1, "side": 7, "epsilon": 1.0}, 0.1, 0.1),
    ("interior-point-exponential", {"domain_size": 2**12, "epsilon": 1.0}, 0.1, 0.1),
    ("interior-point-exponential", {"domain_size": 2**64, "epsilon": 1.0}, 0.1, 0.1),
    ("box-interior-point", {"side": 2, "dimension": 1, "epsilon": 1.0, "beta": 0.05}, 0.1, 0.1),
)
"""Learner, parameters, alpha and beta of each sample complexity."""

LAWS = tuple(run for id, runs in RUNS.items() if not id.startswith("STE-Boxd") for run in runs)
"""Learner, parameter, values and the rest of each scaling law."""


def _exact() -> tuple[tuple[str, int, str], ...]:
    # Written by `scripts/bench.py exact_sizes`.
    known = json.loads(Path(__file__).with_name("exact_sizes.json").read_text(encoding="utf-8"))
    cases = ((id, sizes[samples], samples) for id, sizes in known.items() for samples in ("all", "crafted"))
    return tuple((id, n, samples) for id, n, samples in cases if n is not None)


EXACT = _exact()
"""Learner, number of examples and samples ("all" or "crafted") of each exact audit at the largest size of a minute."""

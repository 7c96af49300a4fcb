"""The cases of sample complexity n*, and the scaling laws, that the reference report measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from learners.papers.scaling import ACCURACIES, DIMENSIONS, FINITE, PRIVACIES, SMALL
from learners.papers.scaling_covers import COMMON, LITERALS, OWN
from learners.papers.scaling_mixtures import ACCURACIES as MIXED
from learners.papers.scaling_mixtures import DIMENSIONS as MIXED_DIMENSIONS
from learners.papers.scaling_mixtures import LINE, MANY

__all__ = ["LAWS", "SIZES"]

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

LAWS: tuple[tuple[str, str, Sequence[float], dict[str, Any]], ...] = (
    (
        "point-exponential",
        "domain_size",
        [2**k for k in (2, 4, 8, 16, 32, 64, 128, 256)],
        {"alpha": 0.1, "beta": 0.1, "epsilon": 1.0},
    ),
    *((id, "alpha", ACCURACIES, {"beta": 0.1, "epsilon": 1.0, **SMALL[id]}) for id in FINITE),
    *((id, "epsilon", PRIVACIES, {"alpha": 0.1, "beta": 0.1, **SMALL[id]}) for id in FINITE),
    ("parity-private", "dimension", DIMENSIONS, {"alpha": 0.1, "beta": 0.6, "epsilon": 1.0}),
    ("parity-private", "alpha", ACCURACIES, {"beta": 0.6, "epsilon": 1.0, "dimension": 16}),
    ("parity-private", "epsilon", PRIVACIES[:-1], {"alpha": 0.1, "beta": 0.6, "dimension": 16}),
    *(
        ("set-cover-conjunction", "k", LITERALS, {**COMMON, **OWN, "variant": name})
        for name in ("paper", "composition")
    ),
    ("conjunction-greedy", "k", LITERALS, COMMON),
    ("mixture-halfspace", "alpha", MIXED, {**LINE, "setting": "realizable"}),
    ("mixture-halfspace", "alpha", MIXED, {**LINE, "setting": "agnostic"}),
    ("mixture-halfspace", "dimension", MIXED_DIMENSIONS, MANY),
)
"""Learner, parameter, values and the rest of each scaling law."""

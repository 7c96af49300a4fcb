"""Checks the arguments of a utility audit before any run starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.arguments import check_jobs, read_integer, read_number
from dpaudit.contract import SETTINGS, Distribution, HasPopulations, Hypothesis, Learner, Solves
from dpaudit.errors import InputError
from dpaudit.jsonable import stable_repr

__all__ = ["check_numbers", "read_concept", "read_distribution", "read_noise", "read_setting"]


def read_distribution(learner: Learner, distribution: Distribution | str) -> Distribution:
    """Return the distribution, after checking that its points belong to the learner's domain."""
    if isinstance(distribution, str):
        if distribution != "uniform":
            raise InputError.of("distribution", distribution, "a Distribution or 'uniform'")
        points = learner.domain.points()
        return Distribution(points, np.full(len(points), 1 / len(points)), "uniform")
    if not isinstance(distribution, Distribution):
        raise InputError.of("distribution", distribution, "a Distribution or 'uniform'")
    if distribution.public is not None and not isinstance(learner, HasPopulations):
        told = "{distribution} must have no public examples for {id!r}, to which all examples are private"
        raise InputError(told, names=("distribution",), id=learner.id)
    inside = learner.domain.contains(distribution.points)
    if not inside.all():
        raise InputError(
            "{distribution} must live on the domain {domain}, but has the point {point}",
            names=("distribution",),
            domain=repr(learner.domain),
            point=distribution.points[~inside][0].tolist(),
        )
    return distribution


def read_concept(learner: Any, concept: int | Hypothesis) -> tuple[Hypothesis, str]:
    """Return the hypothesis that labels the samples, and its name."""
    if isinstance(concept, int | np.integer) and not isinstance(concept, bool):
        size = learner.concepts.size
        if not 0 <= concept < size:
            raise InputError.of("concept", concept, f"a code in 0 .. {size - 1} or a hypothesis")
        return learner.concepts.concept(int(concept)), f"concept {int(concept)}"
    if not isinstance(concept, Hypothesis):
        raise InputError.of("concept", concept, "a code of the learner's concepts or a hypothesis")
    return concept, stable_repr(concept)


def check_numbers(alpha: float, beta: float, trials: int, confidence: float, n_jobs: int) -> None:
    """Raise `InputError` for numbers out of range."""
    for name, value in (("alpha", alpha), ("beta", beta), ("confidence", confidence)):
        read_number(name, value, 0, 1)
    read_integer("trials", trials)
    check_jobs(n_jobs)


def read_setting(learner: Any, setting: str) -> str:
    """Return a setting that can be audited, or raise `InputError`."""
    if setting not in SETTINGS:
        raise InputError.among("setting", setting, SETTINGS)
    if setting == "solution" and not isinstance(learner, Solves):
        told = "{setting} must be another than 'solution' for {id!r}, which has no method solves"
        raise InputError(told, names=("setting",), value=setting, id=learner.id)
    return setting


def read_noise(
    noise: float | Sequence[float] | NDArray[np.float64] | None, setting: str, law: Distribution
) -> NDArray[np.float64] | None:
    """Return the noise of every point, or None in the settings without, or raise `InputError`."""
    if (noise is not None) != (setting == "agnostic"):
        raise InputError(
            "{noise} must be given in the setting 'agnostic' and nowhere else; got {given:.100} in the "
            "setting {where!r}",
            names=("noise",),
            value=noise,
            given=repr(noise),
            where=setting,
        )
    if noise is None:
        return None
    flips = np.asarray(noise)
    if flips.dtype.kind not in "fiu" or flips.shape not in ((), (len(law.points),)):
        raise InputError.of("noise", noise, f"a number or {len(law.points)} numbers, one a point")
    flips = np.array(np.broadcast_to(flips, len(law.points)), dtype=np.float64)
    if not ((flips >= 0) & (flips <= 1)).all():
        raise InputError.of("noise", noise, "in [0, 1]")
    return flips

"""Witnesses as data: learners with their parameters, samples, pairs and hard cases, as JSON holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from dpaudit.contract import Distribution, Pair, Sample

__all__ = ["case_data", "errors_data", "learner_data", "pair_data", "plain", "sample_data"]


def plain(value: Any) -> Any:
    """Return data with arrays, NumPy's numbers and tuples as lists and numbers of Python: equal data compare equal."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def learner_data(learner: Any) -> dict[str, Any]:
    """Return a learner's id and its parameters: `dpaudit.get_learner(id, **parameters)` builds it again."""
    parameters = {field.name: getattr(learner, field.name) for field in fields(learner)}
    return {"id": getattr(learner, "id", ""), "parameters": parameters}


def sample_data(sample: Sample) -> dict[str, Any]:
    """Return points, labels, counts and, of a mixture, which examples are public."""
    told = {"points": sample.points, "labels": sample.labels, "counts": sample.counts}
    public = {} if sample.public is None else {"public": sample.public}
    return {name: np.asarray(values).tolist() for name, values in (told | public).items()}


def pair_data(learner: Any, pair: Pair, **numbers: float) -> dict[str, Any]:
    """Return a learner and two neighbouring samples, with the numbers that the laws of both give."""
    told = {"data": sample_data(pair.data), "neighbour": sample_data(pair.neighbour)}
    return {"kind": "pair", "learner": learner_data(learner), **told, **numbers}


def errors_data(learner: Any, sample: Sample, limit: float, probability: float) -> dict[str, Any]:
    """Return a learner and a sample on which it errs more than `limit` times with that probability."""
    told = {"learner": learner_data(learner), "sample": sample_data(sample)}
    return {"kind": "errors", **told, "limit": limit, "probability": probability}


def case_data(
    learner: Any, concept: int, distribution: Distribution | str, n: int, alpha: float, **numbers: float
) -> dict[str, Any]:
    """Return a learner and a hard case: a concept, a distribution and n, with what was found of Pr[error > alpha]."""
    drawn: Any = distribution
    if isinstance(distribution, Distribution):
        drawn = {"points": distribution.points.tolist(), "probabilities": distribution.probabilities.tolist()}
        drawn |= {} if distribution.public is None else {"public": distribution.public.tolist()}
    told = {"learner": learner_data(learner), "concept": concept, "distribution": drawn, "n": n, "alpha": alpha}
    return {"kind": "case", **told, **numbers}

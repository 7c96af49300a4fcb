"""The checks before a run: the sample fits the domain, and the number of runs is positive."""

from __future__ import annotations

from dpaudit.contract import Domain, InputError, Sample
from learners.parameters import check_integer

__all__ = ["check_run", "check_sample"]


def check_sample(sample: Sample, domain: Domain) -> None:
    """Raise `InputError` unless this is a sample and every point of it lies in the learner's domain."""
    if not hasattr(sample, "points"):
        raise InputError(f"sample must be built with learner.domain.sample(points, labels), got {sample!r:.100}")
    inside = domain.contains(sample.points)
    if not inside.all():
        outside = tuple(int(v) for v in sample.points[~inside][0])
        raise InputError(f"points of sample must lie in the learner's domain {domain}, got {outside}")


def check_run(sample: Sample, domain: Domain, size: int) -> None:
    """Raise `InputError` unless the sample fits the domain and `size` is a positive number of runs."""
    check_integer("size", size, 1)
    check_sample(sample, domain)

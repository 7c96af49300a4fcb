"""Checks the form of a learner: its constructor, names and claims, and that bad input is refused."""

from __future__ import annotations

import dataclasses
import pickle
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dpaudit import seeding
from dpaudit.arguments import parameters_of
from dpaudit.conformance.required import NonConforming, require
from dpaudit.contract import (
    HasFault,
    HasFurtherInstances,
    HasPicturedInstance,
    HasSampleSize,
    HasSettings,
    HasUtility,
    Instance,
    Learner,
    PrivacyClaim,
    Solves,
    UtilityClaim,
)
from dpaudit.errors import InputError

__all__ = ["check_bad_input", "check_claims", "check_constructor_only_stores", "check_names"]


def check_constructor_only_stores(learner: Learner) -> None:
    """Check that the constructor stores its arguments unchanged; that learners are frozen, picklable, comparable."""
    require(dataclasses.is_dataclass(learner), learner, "a learner must be a dataclass")
    again = type(learner)(**parameters_of(learner))
    for name, value in parameters_of(learner).items():
        require(getattr(again, name) is value, learner, f"the constructor changed {name}={value!r}")
    require(again == learner, learner, "two learners with the same parameters must be equal")
    try:
        sent = pickle.loads(pickle.dumps(learner))
    except Exception as error:  # of many types, its author's among them
        raise NonConforming(f"{type(learner).__name__}: a learner must pickle (workers need it): {error}") from error
    require(sent == learner, learner, "a learner must survive pickling (workers need it)")
    try:
        setattr(learner, next(iter(parameters_of(learner))), 0)
    except dataclasses.FrozenInstanceError:
        return
    raise NonConforming(f"{type(learner).__name__}: a learner must be a frozen dataclass")


def check_names(learner: Learner) -> None:
    """Check that ids are lower-case words joined by hyphens, and that there are a docstring and an instance."""
    require(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", learner.id) is not None, learner, f"bad id {learner.id!r}")
    require(bool(type(learner).__doc__), learner, "the class needs a docstring with its theorem and source")
    instances: dict[str, Any] = {"instance": learner.instance}
    if isinstance(learner, HasPicturedInstance) and not isinstance(learner, HasFault):
        instances["pictured"] = learner.pictured
    if isinstance(learner, HasFurtherInstances) and not isinstance(learner, HasFault):
        instances |= {f"audited[{i}]": instance for i, instance in enumerate(learner.audited)}
    for name, instance in instances.items():
        require(isinstance(instance, Instance), learner, f"{name} must be a contract.Instance, got {instance!r}")
        made = type(learner)(**instance.parameters)
        require(isinstance(made, Learner), learner, f"the parameters of {name} must make a learner")


def check_claims(learner: Learner) -> None:
    """Check that claims are of the contract's types and name the theorem and its source."""
    claim = learner.privacy
    if claim is not None:
        require(isinstance(claim, PrivacyClaim), learner, f"privacy must be a PrivacyClaim or None, got {claim!r}")
        require(bool(claim.claim_id and claim.source), learner, "the privacy claim needs a claim_id and a source")
    if isinstance(learner, HasUtility) and not isinstance(learner, HasFault):
        stated = learner.utility(learner.instance.alpha, learner.instance.beta)
        if stated is not None:
            _check_theorem(learner, stated)


def _check_theorem(learner: Learner, stated: Any) -> None:
    """Check a claim of utility, the sample size that belongs to it, and the claims in the other settings."""
    require(isinstance(stated, UtilityClaim), learner, f"utility must return a UtilityClaim, got {stated!r}")
    require(bool(stated.claim_id and stated.source), learner, "the utility claim needs a claim_id and a source")
    size = learner.sample_size(stated.alpha, stated.beta) if isinstance(learner, HasSampleSize) else None
    require(stated.sample_size == size, learner, "utility(alpha, beta).sample_size must be sample_size(alpha, beta)")
    settings = learner.settings if isinstance(learner, HasSettings) else (stated.setting,)
    require(settings[:1] == (stated.setting,), learner, f"settings must begin with utility's own {stated.setting!r}")
    for setting in settings[1:]:
        other = (
            learner.utility(stated.alpha, stated.beta, setting=setting) if isinstance(learner, HasSettings) else None
        )
        right = other is not None and other.setting == setting
        require(right, learner, f"utility in {setting!r} must answer for it, got {other!r}")
    solvable = "solution" not in settings or isinstance(learner, Solves)
    require(solvable, learner, "the setting solution needs solves")


def check_bad_input(learner: Learner) -> None:
    """Check that parameters out of range and samples of the wrong dimension raise `InputError`."""
    for name, value in parameters_of(learner).items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        for bad in (-1, 0, float("nan"), float("inf"), "one"):
            if bad == value:  # a parameter that is 0 may be 0
                continue
            changed = {**parameters_of(learner), name: bad}
            _check_refused(learner, partial(type(learner), **changed), f"{name}={bad!r}")
    dimension = learner.domain.dimension + 1
    sample: Any = learner.domain.sample(learner.domain.landmarks()[:1], [0])
    wrong = dataclasses.replace(sample, points=np.zeros((1, dimension), dtype=np.int64), domain=None)
    attempt = partial(learner.run, wrong, seeding.generator(5), 1)
    _check_refused(learner, attempt, f"points with {dimension} coordinates")


def _check_refused(learner: Learner, attempt: Callable[[], object], given: str) -> None:
    """Check that an attempt raises `InputError` and nothing else."""
    try:
        attempt()
    except InputError:
        return
    except Exception as error:  # any other type is what is looked for
        raise NonConforming(f"{type(learner).__name__}: {given} must raise InputError, raised {error!r}") from error
    raise NonConforming(f"{type(learner).__name__}: {given} must raise InputError, was accepted")

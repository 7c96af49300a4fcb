"""Check the form and the runs of a learner, and list its abilities.

The form is its constructor, names and claims, and that bad input is refused. The runs show its use of randomness, its
outputs, and samples of many examples. Optional abilities are those that it offers, and those that it may add.
"""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import random
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpaudit import seeding
from dpaudit.arguments import lacking, parameters_of
from dpaudit.contract import (
    ABILITIES,
    FAIL,
    HasFault,
    HasFurtherInstances,
    HasLaw,
    HasPicturedInstance,
    HasSampleSize,
    HasSettings,
    HasUtility,
    Instance,
    Learner,
    PrivacyClaim,
    Relation,
    Solves,
    UtilityClaim,
)
from dpaudit.errors import InputError
from dpaudit.neighbours.crafted import crafted_pairs

__all__ = [
    "Ability",
    "NonConforming",
    "Offers",
    "check_bad_input",
    "check_claims",
    "check_codes_decode",
    "check_constructor_only_stores",
    "check_huge_counts",
    "check_names",
    "check_parts",
    "check_random_state",
    "offers",
    "require",
    "samples_of",
]

SAMPLES = 6


class NonConforming(AssertionError):
    """A learner breaks the contract."""


def require(condition: bool, learner: Any, message: str) -> None:
    """Raise `NonConforming` with the learner's name unless a condition holds."""
    if not condition:
        kind = learner if isinstance(learner, type) else type(learner)
        raise NonConforming(f"{kind.__name__}: {message}")


def check_parts(learner: Learner | type[Any]) -> None:
    """Check that a learner, or a class of learners, has every part that the contract requires."""
    missing = lacking(learner)
    require(not missing, learner, f"a learner must have {', '.join(missing)}; see contract.Learner")


def samples_of(learner: Learner) -> list[Any]:
    """Return a few samples of the learner's instance: realizable, conflicting, and the empty one."""
    pairs = crafted_pairs(learner.domain, learner.instance.n, Relation.REPLACE_ONE, limit=None)
    step = max(1, len(pairs) // SAMPLES)
    return [*(pair.data for pair in pairs[::step][:SAMPLES]), learner.domain.empty_sample()]


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


class Ability(NamedTuple):
    """An optional ability: the method or attribute that offers it, as a signature, and its meaning."""

    name: str
    signature: str
    meaning: str


class Offers(NamedTuple):
    """The abilities that a learner offers, and those that it may add."""

    offered: tuple[Ability, ...]
    further: tuple[Ability, ...]

    def __str__(self) -> str:
        """Return both lists, a line an ability."""
        parts = (("offers", self.offered), ("may add", self.further))
        lines = [
            [f"{title}:", *(f"  {a.signature}\n      {a.meaning}" for a in found)] for title, found in parts if found
        ]
        return "\n".join(line for part in lines for line in part)


def offers(learner: Learner | type[Any]) -> Offers:
    """List the optional abilities that a learner, or a class of learners, offers and those that it may add.

    Parameters
    ----------
    learner : Learner or type
        A learner, or a class of learners.

    Returns
    -------
    Offers
        `offered` and `further`, each a tuple of abilities with `name`, `signature` and `meaning`; as text, a line each.

    Raises
    ------
    NonConforming
        If it lacks a part that every learner must have: the message names the learner and the part.
    """
    check_parts(learner)
    found = {name: isinstance(learner, kind) for name, kind in ABILITIES.items()}
    return Offers(
        tuple(_ability(name) for name, has in found.items() if has),
        tuple(_ability(name) for name, has in found.items() if not has),
    )


def _ability(name: str) -> Ability:
    """Return an ability as its protocol describes it."""
    kind = ABILITIES[name]
    if name in (attributes := inspect.get_annotations(kind)):
        signature = f": {attributes[name]}"
    else:
        method = str(inspect.signature(getattr(kind, name)))
        signature = method.replace("(self, ", "(").replace("(self)", "()").replace("'", "")
    return Ability(name, name + signature, (inspect.getdoc(kind) or "").partition("\n")[0])

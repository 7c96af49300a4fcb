"""Positive controls: sound learners with one fault each, and the faults that several families share.

A control is one declaration: the sound learner, the fault in words, and the attributes that it replaces::

    LEARNERS = (
        *controls(PointExponential, "point", doubled=DOUBLED, shortcut=SHORTCUT),
        *controls(ParityPrivate, "parity", no_coin=fault("never fails by the coin", _coin=0.0)),
    )
"""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar, cast

import numpy as np

from dpaudit.contract import Instance, Law, Sample

from .arrays import Bools, Floats, Integers
from .parameters import check_run, check_sample

PREFIX = "broken-"
GOLDEN = (math.sqrt(5) - 1) / 2

L = TypeVar("L")


def control(
    base: type[L],
    id: str,
    instance: Instance | None = None,
    *,
    fault: str,
    check: Callable[[Any], object] | None = None,
    **replaced: Any,
) -> type[L]:
    """Return the learner class `base` with a fault, and bind it to its name in the calling module.

    The class is called by its id in camel case, without the prefix: `PointDoubled` for "broken-point-doubled". Its
    privacy claim is that of `base`, whatever is replaced.

    Parameters
    ----------
    base : type
        The sound learner, a frozen dataclass.
    id : str
        The learner id; begins with ``broken-``.
    instance : Instance, optional
        The small instance on which the leak shows; that of `base` by default.
    fault : str
        What leaks, in a sentence without a full stop.
    check : callable, optional
        Called with each new learner after the checks of `base`; raises `InputError` where the fault cannot be run.
    **replaced
        Attributes of `base` by name: methods, properties, constants of the class, and defaults of parameters.
    """
    # The class is bound in the module that declares it, where pickle looks for it.
    frame: Any = sys._getframe(1)
    while frame.f_globals is globals():  # `controls` calls for another module
        frame = frame.f_back
    home = frame.f_globals
    sound: Any = base

    def privacy(self: Any) -> Any:
        return sound(**{f.name: getattr(self, f.name) for f in fields(sound) if f.name not in replaced}).privacy

    def __post_init__(self: Any) -> None:
        sound.__post_init__(self)
        cast(Any, check)(self)

    name = "".join(map(str.capitalize, id.removeprefix(PREFIX).split("-")))
    attributes: dict[str, Any] = {
        "id": id,
        "fault": fault,
        "privacy": property(privacy),
        "__doc__": f"Broken control: {fault}.",
        # Like a named tuple, the class belongs to the module that asks for it: pickle looks there.
        "__module__": home["__name__"],
        "__annotations__": {f.name: f.type for f in fields(sound) if f.name in replaced},
        **({} if instance is None else {"instance": instance}),
        **({} if check is None else {"__post_init__": __post_init__}),
        **replaced,
    }
    made: Any = dataclass(frozen=True)(types.new_class(name, (base,), exec_body=lambda body: body.update(attributes)))
    home[name] = made
    return cast(type[L], made)


@dataclass(frozen=True)
class Fault:
    """A leak in words, and the attributes that make a learner leak so: the arguments of `control`."""

    words: str
    replaced: Mapping[str, Any]
    instance: Instance | None = None
    check: Callable[[Any], object] | None = None

    def shown(self, instance: Instance | None, **replaced: Any) -> Fault:
        """Return the same fault on another instance (None: the control's), with further attributes replaced."""
        return replace(self, instance=instance, replaced={**self.replaced, **replaced})


def fault(
    words: str, *, instance: Instance | None = None, check: Callable[[Any], object] | None = None, **replaced: Any
) -> Fault:
    """Return a fault: what leaks in words, where it shows, what it refuses, and the attributes that are replaced."""
    return Fault(words, replaced, instance, check)


def controls(base: type[L], stem: str, instance: Instance | None = None, **faults: Fault) -> tuple[type[L], ...]:
    """Return a control for each fault, "broken-parity-no-coin" for the stem "parity" and the fault `no_coin`.

    A fault shows on its own instance, by default on `instance`, and that is by default the one of `base`.
    """
    made = []
    for name, given in faults.items():
        id = f"{PREFIX}{stem}-{name}".replace("_", "-")
        shown = given.instance or instance
        made.append(control(base, id, shown, fault=given.words, check=given.check, **given.replaced))
    return tuple(made)


def rate(times: float) -> property:
    """Return a property to replace `_rate`: the given number of times epsilon, whatever the claim allows."""
    return property(lambda self: times * self.epsilon)


def top(scores: Integers | Floats) -> Bools:
    """Return which scores are the greatest along the last axis."""
    return np.asarray(scores == scores.max(axis=-1, keepdims=True), dtype=np.bool_)


def some(kept: Bools) -> Bools:
    """Return what is kept along the last axis; everything where nothing is."""
    return np.asarray(kept | ~kept.any(axis=-1, keepdims=True), dtype=np.bool_)


# Of exponential mechanisms over finite classes: `finite.exponential.ExponentialLearner`.

DOUBLED = fault("weights exp(epsilon q) instead of exp(epsilon q / 2): up to twice the claimed epsilon", _rate=rate(1))
SUPPORT = fault(
    "returns only concepts that label some example correctly: the support shows the sample",
    _eligible=lambda self, sample, correct: some(correct > 0),
)
SHORTCUT = fault(
    "chooses among the consistent concepts alone whenever there are any: consistency shows",
    _eligible=lambda self, sample, correct: some(correct == sample.n),
)


def _frozen_run(self: Any, sample: Sample, rng: np.random.Generator, size: int) -> Integers:
    """Return `size` times the concept with the greatest score plus frozen Gumbel noise."""
    check_run(sample, self.domain, size)
    correct = self._scores(sample)
    uniform = (np.arange(1, len(correct) + 1) * GOLDEN) % 1
    noisy = self._rate * (correct - correct.max()) - np.log(-np.log(uniform))
    return np.full(size, noisy.argmax(), dtype=np.int64)


def _frozen_law(self: Any, sample: Sample) -> Law:
    """Return all mass on the concept that wins a duel with every other one."""
    check_sample(sample, self.domain)
    labels = self.concepts.evaluate(sample.points)
    best = -math.inf
    champion = 0
    for code, row in enumerate(labels):
        wrong = int(sample.counts[row != sample.labels].sum())
        value = -self._rate * wrong - math.log(-math.log((code + 1) * GOLDEN % 1))
        if value > best:
            best = value
            champion = code
    return Law(range(len(labels)), np.where(np.arange(len(labels)) == champion, 0.0, -np.inf), 0.0)


FROZEN = fault(
    "noise is the same in every run: the answer is a function of the sample",
    run=_frozen_run,
    law=_frozen_law,
    symmetries=lambda self: [],  # the frozen noise prefers some concepts
)


def cover_controls(base: type[L], instance: Instance) -> tuple[type[L], ...]:
    """Return the controls of a `covers.set_cover.SetCoverLearner`; the last two leak without noise."""
    quiet = replace(instance, parameters={**instance.parameters, "variant": "noiseless"})
    return controls(
        base,
        str(vars(base)["id"]),
        instance,
        multiplied=fault(
            "eps_hat = 2 epsilon ln(e/delta) in each round: multiplied where it should be divided",
            selection_epsilon=property(lambda self: self.epsilon * 2 * (1 - math.log(self.delta))),
        ),
        sparing=fault(
            "selects only what spoils as little of the other label as possible: the support shows it",
            instance=quiet,
            check=lambda self: self._sets,
            _eligible=lambda self, covered, spoiled: top(-spoiled),
        ),
        greedy=fault(
            "selects among what covers most, as the greedy algorithm does: the support shows",
            instance=quiet,
            check=lambda self: self._sets,
            _eligible=lambda self, covered, spoiled: top(covered),
        ),
    )

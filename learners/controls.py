"""Positive controls that are a sound learner with one fault mixed in."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from dpaudit.contract import Instance, Learner

__all__ = ["control"]

PREFIX = "broken-"

L = TypeVar("L", bound=Learner)


def control(
    base: type[L],
    mixin: type[Any],
    id: str,
    summary: str,
    instance: Instance | None = None,
    *,
    fault: str | None = None,
) -> type[L]:
    """Return the learner class `base` with a fault mixed in, to be assigned to a name of the calling module.

    The class is called by its id in camel case, without the prefix: `PointDoubled` for "broken-point-doubled". It must
    be assigned to exactly that name, or its instances cannot be pickled.

    Parameters
    ----------
    base : type
        The sound learner, a frozen dataclass.
    mixin : type
        The fault: overrides what leaks.
    id : str
        The learner id; begins with ``broken-``.
    summary : str
        The learner and its fault: the docstring is "Broken control: ", this, and a full stop.
    instance : Instance, optional
        The small instance on which the leak shows; that of `base` by default.
    fault : str, optional
        What leaks, in a sentence; that of `mixin` by default.
    """
    attributes: dict[str, Any] = {
        "id": id,
        "__doc__": f"Broken control: {summary}.",
        # Like a named tuple, the class belongs to the module that asks for it: pickle looks there.
        "__module__": sys._getframe(1).f_globals["__name__"],
        **({} if instance is None else {"instance": instance}),
        **({} if fault is None else {"fault": fault}),
    }
    name = "".join(map(str.capitalize, id.removeprefix(PREFIX).split("-")))
    made = types.new_class(name, (mixin, base), exec_body=lambda body: body.update(attributes))
    return cast(type[L], dataclass(frozen=True)(made))

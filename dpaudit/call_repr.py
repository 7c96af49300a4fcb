"""Lets a finding know the call that made it, so that it can say what it is about and what repeats it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from dpaudit.jsonable import stable_repr
from dpaudit.results import AuditFinding

__all__ = ["remembering"]

P = ParamSpec("P")
F = TypeVar("F", bound=AuditFinding)

_LONGEST = 40
"""Characters of a value in a call; one that is longer is shown by the name of the parameter."""
_TIME_ALONE = ("n_jobs", "backend", "progress")
"""Parameters that change no number of a finding."""
_OF_PEOPLE = ("data", "unit")
"""Parameters that hold somebody's records, of which a call shows none."""


def remembering(audit: Callable[P, F]) -> Callable[P, F]:
    """Return an audit whose findings know its first argument and the call: `finding.audited` and `finding.call`."""

    @wraps(audit)
    def remembered(*args: P.args, **kwargs: P.kwargs) -> F:
        finding = audit(*args, **kwargs)
        given = signature(audit).bind(*args, **kwargs).arguments
        audited = next(_shown(name, value) for name, value in given.items())
        finding.__dict__.update(audited=audited, call=_call_text(audit, given))
        return finding

    return remembered


def _call_text(function: Callable[..., Any], given: Mapping[str, Any]) -> str:
    """Return a call as Python; what has its default, or changes nothing but the time, is left out."""
    words = []
    for name, value in given.items():
        parameter = signature(function).parameters[name]
        if parameter.kind is parameter.VAR_KEYWORD:
            words += [f"{key}={_shown(key, item)}" for key, item in value.items()]
        elif parameter.kind is not parameter.KEYWORD_ONLY:
            words.append(_shown(name, value))
        elif name not in _TIME_ALONE and not _same(value, parameter.default):
            words.append(f"{name}={_shown(name, value)}")
    return f"dpaudit.{function.__name__}({', '.join(words)})"


def _same(value: Any, default: Any) -> bool:
    """Say whether a value is the default; one that is no plain value, as an array, is not compared."""
    plain = type(value) is type(default) and isinstance(value, int | float | str)
    return value is default or (plain and bool(value == default))


def _shown(name: str, value: Any) -> str:
    """Return a value as Python: a function by its name, a dataclass by its fields, what cannot be shown as `name`."""
    if name in _OF_PEOPLE and not isinstance(value, str):
        return name
    if hasattr(value, "__name__"):
        return value.__name__ if str(value.__name__).isidentifier() else name
    text = stable_repr(value)
    short = len(text) <= _LONGEST or isinstance(value, str) or is_dataclass(value)
    return text if short and not text.startswith("<") and "\n" not in text else name

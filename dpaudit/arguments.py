"""Checks the arguments that all audits share: numbers of any library, a learner and not its class.

The declarations of options read this module, so it imports only the standard library until a learner is checked.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection
from numbers import Integral
from typing import TYPE_CHECKING, Any

from dpaudit.errors import InputError
from dpaudit.plain_numbers import plain_number

if TYPE_CHECKING:
    from dpaudit.contract import Learner, Parameter

# The default confidence of every finding: textbooks are full of tight claims, and each is a chance to err.
CONFIDENCE = 0.999
# A host and a port; kinds of addresses that others have added to distributed may have no port.
_ADDRESS = r"\S+:\d+|(?!tcp:|tls:|wss?:)[a-z]+://\S+"
# The most jobs on a small machine, and for each processor: a worker takes 100 MB and more.
JOBS = 32, 8


def read_integer(name: str, value: float, least: int = 1, most: float = math.inf) -> int:
    """Return an integer (of Python or NumPy, or a float as 1e4) from `least` to `most`, or raise `InputError`."""
    number = plain_number(value)
    whole = number is not None and (isinstance(number, int) or number.is_integer())
    if number is None or not whole or not least <= int(number) <= most:
        allowed = f"an integer >= {least}"
        if not math.isinf(most):
            allowed += f" and <= {most}"
        raise InputError.of(name, value, allowed)
    return int(number)


def read_number(name: str, value: float, low: float, high: float, *, closed: bool = False) -> float:
    """Return a number (of Python or NumPy) in (low, high), or [low, high) if `closed`, or raise `InputError`."""
    number = plain_number(value)
    if number is None or not (low < number < high or (closed and number == low)):
        if not closed:
            allowed = f"in ({low:g}, {high:g})"
        elif math.isinf(high):
            allowed = f"a finite number >= {low:g}"
        else:
            allowed = f"in [{low:g}, {high:g})"
        raise InputError.of(name, value, allowed)
    try:
        return float(number)
    # An integer that is less than infinity, and beyond all floats.
    except OverflowError:
        raise InputError.of(name, value, "a number that a float can hold") from None


def read_flag(name: str, value: bool) -> bool:
    """Return True or False (of Python or NumPy), or raise `InputError`."""
    import numpy as np

    if not isinstance(value, bool | np.bool_):
        raise InputError.of(name, value, "True or False")
    return bool(value)


def read_choice(name: str, value: str, allowed: Collection[str]) -> str:
    """Return one of the words allowed, or raise `InputError` with all of them."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError.among(name, value, allowed)
    return value


def check_built(source: Learner | type, name: str = "learner") -> None:
    """Raise `InputError` for a class of learners: it has all their methods, but no parameters to run with."""
    if isinstance(source, type) and {"run", "decode"}.isdisjoint(lacking(source)):
        raise InputError(
            f"{name} must be a learner, not its class: build {source.__qualname__} with its parameters first, as "
            f"{source.__qualname__}(...) or dpaudit.pac.get_learner({getattr(source, 'id', '...')!r}, ...)",
            parameter=name,
        )


def lacking(source: Learner | type) -> tuple[str, ...]:
    """Return the parts of the contract that a learner, or a class of learners, does not have."""
    from dpaudit.contract import PARTS

    # A field without a default is no attribute of the class.
    known = getattr(source, "__dataclass_fields__", {})
    return tuple(part for part in PARTS if not (hasattr(source, part) or part in known))


def check_jobs(n_jobs: int, backend: str | None = None, address: str | None = None) -> None:
    """Raise `InputError` unless joblib can spread work so.

    The number of jobs is not 0, nor so large that their start alone takes all memory; the backend, if any, is known.
    """
    at_least, each = JOBS
    most = max(at_least, each * (os.cpu_count() or 1))
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0 or int(n_jobs) > most:
        raise InputError.of("n_jobs", n_jobs, f"a non-zero integer, at most {most} here (-1 for one a processor)")
    if (backend == "dask") != isinstance(address, str):
        message = "{backend:=dask} and {address}, that of its scheduler as tcp://127.0.0.1:8786, come together"
        raise InputError(message, names=("backend", "address"), value=backend)
    if backend == "dask" and not re.fullmatch(_ADDRESS, address):
        raise InputError.of("address", address, "that of a scheduler of dask, as tcp://127.0.0.1:8786")
    if backend is None or backend == "dask":
        return
    from joblib import Parallel

    # Only joblib knows the backends that others have registered with it.
    try:
        Parallel(n_jobs=1, backend=backend)
    # ImportError: an external backend that is not installed.
    except (ValueError, TypeError, ImportError) as error:
        message = "{backend} must be one that joblib knows, got {given:.100}: {error:.500}"
        raise InputError(message, names=("backend",), value=backend, given=repr(backend), error=str(error)) from None


def parameters_of(learner: Any) -> dict[str, Parameter]:
    """Return a learner's parameters by name: the fields of the dataclass, of an instance; none of anything else."""
    from dataclasses import fields, is_dataclass

    if not is_dataclass(learner) or isinstance(learner, type):
        return {}
    return {field.name: getattr(learner, field.name) for field in fields(learner)}


def addressed_parameters_of(learner: Any) -> dict[str, Parameter]:
    """Return the parameters that stand in the addresses of random streams: one that came later only off its default."""
    from dataclasses import fields

    from dpaudit.contract import LATER

    given = parameters_of(learner)
    if not given:
        return {}
    # At its default such a parameter stays out of the address, so that earlier runs keep their streams.
    late = {field.name: field.default for field in fields(learner) if LATER in field.metadata}
    return {name: value for name, value in given.items() if name not in late or value != late[name]}

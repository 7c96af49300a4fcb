"""The kinds of generators that a function may take in the place of numpy's `Generator`, and how it refuses one."""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

Kind: TypeAlias = np.random.Generator | np.random.RandomState | random.Random | int
"""A generator, or a seed, that a function may take; all of them draw from the stream of the run."""


def _new(rng: np.random.Generator) -> np.random.Generator:
    return rng


def _old(rng: np.random.Generator) -> np.random.RandomState:
    """Return a generator of numpy's older interface that draws from the stream of a newer one, and advances it."""
    # scikit-learn takes no other.
    return np.random.RandomState(rng.bit_generator)


def _of_python(rng: np.random.Generator) -> random.Random:
    """Return a generator of Python's own library whose seed is drawn from a stream."""
    return random.Random(int(rng.integers(2**63)))


def _seed(rng: np.random.Generator) -> int:
    """Return a seed that is drawn from a stream, as large as scikit-learn takes."""
    return int(rng.integers(2**32))


# The makers of the kinds, in the order in which they are tried.
KINDS: tuple[Callable[[np.random.Generator], Kind], ...] = (_new, _old, _of_python, _seed)
# The texts by which errors of type and value name the classes of generators.
_NAMES_OF_CLASSES = ("RandomState", "Generator(", "numpy.random", "random.Random")


def declared_kind(annotation: object) -> int:
    """Return the one of `KINDS` that an annotation asks for; 0 if it may be a `Generator`, or anything."""
    text = annotation if isinstance(annotation, str) else str(annotation)
    if "Generator" in text:
        return 0
    if re.search(r"\bRandomState\b", text):
        return KINDS.index(_old)
    if re.search(r"\bRandom\b", text):
        return KINDS.index(_of_python)
    return 0


def is_fixed_seed(parameter: inspect.Parameter) -> bool:
    """Say whether the default of a parameter is a number, which makes the same noise in every call."""
    return isinstance(parameter.default, int | np.integer)


def refuses_generator(error: BaseException, *, old: bool) -> bool:
    """Say whether an exception is about the class of a generator and not about the data.

    It asks for a method that only another class has, or is an error of type or value that names one of the classes,
    as those of scikit-learn's `check_random_state` and of its checks of parameters do.
    """
    if not isinstance(error, AttributeError):
        return refuses(error)
    if not isinstance(error.obj, np.random.Generator) or error.name is None:
        return False
    of_numpy = hasattr(np.random.RandomState, error.name)
    if old:
        return of_numpy
    return of_numpy != hasattr(random.Random, error.name)


def is_ambiguous(error: BaseException) -> bool:
    """Say whether an exception asks for a method by which other classes mean different things.

    The upper end of ``randint`` is a value of Python's generators and none of numpy's: to guess would be to run another
    mechanism than its users do.
    """
    if not isinstance(error, AttributeError) or error.name is None:
        return False
    return hasattr(np.random.RandomState, error.name) and hasattr(random.Random, error.name)


def refuses(error: BaseException) -> bool:
    """Say whether an exception asks for a method of another class of generators, or names one of these classes."""
    if isinstance(error, AttributeError):
        return isinstance(error.obj, Kind)
    if not isinstance(error, TypeError | ValueError):
        return False
    said = str(error)
    return any(name in said for name in _NAMES_OF_CLASSES)

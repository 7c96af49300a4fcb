"""The primitives that are recorded: of numpy, random, diffprivlib, OpenDP and torch."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import Signature, signature
from typing import Any

import numpy as np

from dpaudit.sensitivity.tracing import Primitive, Recorder

_NOISE: dict[str, tuple[str, str, str | float | None]] = {
    "laplace": ("laplace", "loc", "scale"),
    "normal": ("gaussian", "loc", "scale"),
    "standard_normal": ("gaussian", "", 1.0),
    "randn": ("gaussian", "", 1.0),
    "multivariate_normal": ("gaussian", "mean", None),
    "logistic": ("logistic", "loc", "scale"),
    "gumbel": ("gumbel", "loc", "scale"),
    "standard_cauchy": ("cauchy", "", 1.0),
    "standard_t": ("t", "", None),
    "exponential": ("exponential", "", "scale"),
    "standard_exponential": ("exponential", "", 1.0),
    "geometric": ("geometric", "", None),
    "poisson": ("poisson", "", None),
    "gauss": ("gaussian", "mu", "sigma"),
    "normalvariate": ("gaussian", "mu", "sigma"),
    "expovariate": ("exponential", "", None),
}
"""Method -> the family of its noise, and the first parameters: its centre and its scale, if it has them, or a scale."""
_OTHER = (
    "random", "random_sample", "rand", "randint", "random_integers", "ranf", "sample", "integers", "uniform", "choice",
    "permutation", "shuffle", "permuted", "binomial", "bytes", "beta", "chisquare", "dirichlet", "gamma",
    "hypergeometric", "lognormal", "logseries", "multinomial", "negative_binomial", "noncentral_chisquare",
    "noncentral_f", "f", "pareto", "power", "rayleigh", "standard_gamma", "triangular", "vonmises", "wald", "weibull",
    "zipf", "multivariate_hypergeometric", "randrange", "choices", "betavariate", "gammavariate", "lognormvariate",
    "vonmisesvariate", "weibullvariate", "paretovariate", "getrandbits", "randbytes", "tomaxint",
)  # fmt: skip
"""Methods whose draws are what they were in a replay, and are added to no value."""


def _call(record: Recorder, owner: str, name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that draws and is recorded."""
    family, centre, scale_name = _NOISE.get(name, ("", "", None))
    positional = [one for one in (centre, scale_name) if one and isinstance(one, str)]

    @wraps(draw)
    def called(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip(positional, args, strict=False)) | kwargs
        scale: Any = given.get(scale_name, 1.0) if isinstance(scale_name, str) else scale_name
        single = float(scale) if scale is not None and np.ndim(scale) == 0 else None
        primitive = Primitive(f"{owner}.{name}", family, single, metric="l2" if family == "gaussian" else "l1")
        return record.drawn(primitive, lambda: draw(*args, **kwargs), given.get(centre), traces=bool(family))

    return called


def _recording_class(base: type, owner: str) -> type:
    """Return a class of generators whose methods are recorded in the `record` of an instance."""

    def method(name: str) -> Callable[..., Any]:
        plain = getattr(base, name)

        @wraps(plain)
        def called(self: Any, *args: Any, **kwargs: Any) -> Any:
            return _call(self.record, owner, name, plain.__get__(self))(*args, **kwargs)

        return called

    names = [name for name in (*_NOISE, *_OTHER) if callable(getattr(base, name, None))]
    return type(base.__name__, (base,), {name: method(name) for name in names})


_Generator: Any = _recording_class(np.random.Generator, "Generator")
_RandomState: Any = _recording_class(np.random.RandomState, "RandomState")
_Random: Any = _recording_class(random.Random, "random")
_BITS = np.random.MT19937(0)
"""Those of the stand-in for the global generator, seeded for each record: to make others takes 80 times as long."""
_GLOBAL = [
    (module, name) for module, kind in ((np.random, _RandomState), (random, _Random)) for name in (*_NOISE, *_OTHER)
    if callable(getattr(module, name, None)) and hasattr(kind, name)
]  # fmt: skip


class _AnyInstance(type):
    """Makes all generators of numpy instances of the class that stands in for theirs, as code asks for them."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, np.random.mtrand.RandomState)


def recorded_generator(record: Recorder, rng: np.random.Generator) -> np.random.Generator:
    """Return a generator that is recorded."""
    made: np.random.Generator = _Generator(rng.bit_generator)
    vars(made)["record"] = record
    return made


@contextmanager
def patched(record: Recorder) -> Iterator[None]:
    """Record the global generators of numpy and random, generators that are made inside, and known libraries."""
    state = _RandomState(_BITS)
    np.random.RandomState.seed(state, int(record.stream().integers(2**32)))
    plain = _Random(int(record.stream().integers(2**32)))
    state.record = plain.record = record

    def default_rng(seed: Any = None) -> np.random.Generator:
        """Return a generator as numpy does, which is recorded."""
        if isinstance(seed, np.random.Generator):
            return seed if isinstance(seed, _Generator) else recorded_generator(record, seed)
        return recorded_generator(
            record, record.stream() if seed is None else np.random.Generator(np.random.PCG64(seed))
        )

    class RandomState(_RandomState, metaclass=_AnyInstance):  # type: ignore[misc]  # made at run time
        """A generator as numpy's, which is recorded."""

        def __init__(self, seed: Any = None) -> None:
            super().__init__(int(record.stream().integers(2**32)) if seed is None else seed)
            self.record = record

    replaced = [(np.random, "default_rng", default_rng), (np.random, "RandomState", RandomState)]
    replaced += [(module, name, getattr(plain if module is random else state, name)) for module, name in _GLOBAL]
    replaced += _of_libraries(record)
    held = [(owner, name, vars(owner)[name]) for owner, name, _ in replaced]
    try:
        for one in replaced:
            setattr(*one)
        yield
    finally:
        for one in held:
            setattr(*one)


def _of_libraries(record: Recorder) -> Iterator[tuple[Any, str, Any]]:
    """Yield what is replaced of the libraries that are loaded: a class or a module, a name, and a function."""
    if (mechanisms := sys.modules.get("diffprivlib.mechanisms")) is not None:
        for kind in vars(mechanisms).values():
            if isinstance(kind, type) and "randomise" in vars(kind):
                yield kind, "randomise", _randomise(record, kind)
    if (opendp := sys.modules.get("opendp.mod")) is not None:
        for name in ("invoke", "__call__"):
            if name in vars(opendp.Measurement):
                yield opendp.Measurement, name, _invoke(record, getattr(opendp.Measurement, name))

    if "torch" in sys.modules:
        from dpaudit.sensitivity import torch_noise

        yield from torch_noise.replaced(record)


def _randomise(record: Recorder, kind: type) -> Callable[..., Any]:
    plain = vars(kind)["randomise"]
    takes: Signature = signature(plain)

    @wraps(plain)
    def randomise(self: Any, *args: Any, **kwargs: Any) -> Any:
        value = next(iter([*takes.bind(self, *args, **kwargs).arguments.values()][1:]), None)
        sensitivity = getattr(self, "sensitivity", None)
        number = isinstance(value, int | float | np.number)
        declared = float(sensitivity) if number and isinstance(sensitivity, int | float) else None
        scale = getattr(self, "_scale", None)
        family = {"Laplace": "laplace", "Gaussian": "gaussian", "GaussianAnalytic": "gaussian"}.get(kind.__name__, "")
        known = float(scale) if family and isinstance(scale, int | float) and scale else None
        primitive = Primitive(f"diffprivlib.{type(self).__name__}", family, known, declared)
        return record.drawn(primitive, lambda: plain(self, *args, **kwargs), value if number else None)

    return randomise


def _invoke(record: Recorder, plain: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(plain)
    def invoke(self: Any, arg: Any) -> Any:
        metric = str(self.input_metric).partition("(")[0]
        names = {"AbsoluteDistance": "absolute", "L1Distance": "l1", "L2Distance": "l2", "LInfDistance": "linf"}
        primitive = Primitive("opendp.Measurement", metric=names.get(metric, ""), loss=self.map)
        return record.drawn(primitive, lambda: plain(self, arg), arg if metric in names else None)

    return invoke

"""The primitives that are recorded: of numpy, random, diffprivlib, OpenDP and torch."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, wraps
from inspect import signature
from types import ModuleType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np

from dpaudit.sensitivity.tracing import Numbers, Primitive, Recorder, Replacement

if TYPE_CHECKING:
    from opendp.mod import Measurement

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Kind = TypeVar("_Kind")


@dataclass(frozen=True)
class _Method:
    """A method that draws noise: its family, the names of its centre and its scale, or a scale that it always has."""

    family: str
    centre: str = ""
    scale_name: str = ""
    scale: float | None = None

    def scale_of(self, given: Mapping[str, Numbers]) -> float | None:
        """Return the scale of a call with these arguments; None if there is no single one."""
        scale: Numbers | None = self.scale
        if self.scale_name:
            scale = given.get(self.scale_name, 1.0)
        if scale is None or np.ndim(scale) > 0:
            return None
        return float(scale)

    @property
    def parameters(self) -> list[str]:
        """The names of the first parameters: the centre and the scale, if there are any."""
        return [name for name in (self.centre, self.scale_name) if name]


# Methods of generators whose draws are noise that is added to values.
_NOISE = {
    "laplace": _Method("laplace", centre="loc", scale_name="scale"),
    "normal": _Method("gaussian", centre="loc", scale_name="scale"),
    "standard_normal": _Method("gaussian", scale=1.0),
    "randn": _Method("gaussian", scale=1.0),
    "multivariate_normal": _Method("gaussian", centre="mean"),
    "logistic": _Method("logistic", centre="loc", scale_name="scale"),
    "gumbel": _Method("gumbel", centre="loc", scale_name="scale"),
    "standard_cauchy": _Method("cauchy", scale=1.0),
    "standard_t": _Method("t"),
    "exponential": _Method("exponential", scale_name="scale"),
    "standard_exponential": _Method("exponential", scale=1.0),
    "geometric": _Method("geometric"),
    "poisson": _Method("poisson"),
    "gauss": _Method("gaussian", centre="mu", scale_name="sigma"),
    "normalvariate": _Method("gaussian", centre="mu", scale_name="sigma"),
    "expovariate": _Method("exponential"),
}
# Methods whose draws are what they were in a replay, and are added to no value.
_OTHER = (
    "random", "random_sample", "rand", "randint", "random_integers", "ranf", "sample", "integers", "uniform", "choice",
    "permutation", "shuffle", "permuted", "binomial", "bytes", "beta", "chisquare", "dirichlet", "gamma",
    "hypergeometric", "lognormal", "logseries", "multinomial", "negative_binomial", "noncentral_chisquare",
    "noncentral_f", "f", "pareto", "power", "rayleigh", "standard_gamma", "triangular", "vonmises", "wald", "weibull",
    "zipf", "multivariate_hypergeometric", "randrange", "choices", "betavariate", "gammavariate", "lognormvariate",
    "vonmisesvariate", "weibullvariate", "paretovariate", "getrandbits", "randbytes", "tomaxint",
)  # fmt: skip
_OTHER_METHOD = _Method("")


def _function(owner: type | ModuleType, name: str) -> Callable[..., Any] | None:
    """Return the function or method of a name; None if there is none."""
    found = getattr(owner, name, None)
    return found if callable(found) else None


class _Recorded(Protocol):
    """A generator whose draws are recorded."""

    record: Recorder


def _recording_class(base: type[_Kind], owner: str) -> type[_Kind]:
    """Return a class of generators whose methods draw, and are recorded in the `record` of an instance."""
    methods = {
        name: _recorded_method(plain, f"{owner}.{name}", name)
        for name in (*_NOISE, *_OTHER)
        if (plain := _function(base, name)) is not None
    }
    made: Any = type(base.__name__, (base,), methods)
    found: type[_Kind] = made
    return found


def _recorded_method(
    plain: Callable[Concatenate[_Recorded, _P], _T], title: str, name: str
) -> Callable[Concatenate[_Recorded, _P], _T]:
    """Return a method of a generator that is recorded when it is called."""
    method = _NOISE.get(name, _OTHER_METHOD)
    metric = "l2" if method.family == "gaussian" else "l1"

    @wraps(plain)
    def called(self: _Recorded, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        given: dict[str, Any] = dict(zip(method.parameters, args, strict=False)) | kwargs
        primitive = Primitive(title, method.family, method.scale_of(given), metric=metric)
        value = given.get(method.centre)
        return self.record.drawn(primitive, lambda: plain(self, *args, **kwargs), value, traces=bool(method.family))

    return called


_Generator = _recording_class(np.random.Generator, "Generator")
_RandomState = _recording_class(np.random.RandomState, "RandomState")
_Random = _recording_class(random.Random, "random")


class _AnyInstance(type):
    """Makes all generators of numpy instances of the class that stands in for theirs, as code asks for them."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, np.random.mtrand.RandomState)


def recorded_generator(record: Recorder, rng: np.random.Generator) -> np.random.Generator:
    """Return a generator that is recorded."""
    made = _Generator(rng.bit_generator)
    vars(made)["record"] = record
    return made


# The functions of modules that draw from a global generator, with the class of the one that stands in for it.
_GLOBAL = [
    (module, name, kind)
    for module, kind in ((np.random, _RandomState), (random, _Random))
    for name in (*_NOISE, *_OTHER)
    if _function(module, name) is not None and hasattr(kind, name)
]


@contextmanager
def patched(record: Recorder) -> Iterator[None]:
    """Record the global generators of numpy and random, generators that are made inside, and known libraries."""
    replaced = [*_of_numpy(record), *_of_modules(record), *_of_libraries(record)]
    # By hand, and not by a mock: each run of a pair does this, and a mock takes three times as long.
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in replaced]
    try:
        _put(replaced)
        yield
    finally:
        _put(before)


def _put(functions: Sequence[Replacement]) -> None:
    for owner, name, function in functions:
        setattr(owner, name, function)


def _of_numpy(record: Recorder) -> Iterator[Replacement]:
    """Yield what makes generators of numpy, which are recorded then."""

    def default_rng(
        seed: int | Sequence[int] | np.random.SeedSequence | np.random.Generator | None = None,
    ) -> np.random.Generator:
        """Return a generator as numpy does, which is recorded."""
        # A generator that is recorded stays the same object, whose draws go on.
        if isinstance(seed, np.random.Generator):
            return seed if isinstance(seed, _Generator) else recorded_generator(record, seed)
        # Fresh entropy would differ in the replay.
        if seed is None:
            return recorded_generator(record, record.stream()())
        return recorded_generator(record, np.random.Generator(np.random.PCG64(seed)))

    class RandomState(_RandomState, metaclass=_AnyInstance):  # type: ignore[misc, valid-type]  # made at run time
        """A generator as numpy's, which is recorded."""

        def __init__(self, seed: int | None = None) -> None:
            if seed is None:
                seed = int(record.stream()().integers(2**32))
            super().__init__(seed)
            self.record = record

    yield np.random, "default_rng", default_rng
    yield np.random, "RandomState", RandomState


def _of_modules(record: Recorder) -> Iterator[Replacement]:
    """Yield the functions that draw from a global generator, which one of the recording stands in for."""
    # Made here, and not where a function is first called: streams are numbered in the order in which they are made.
    streams = {_RandomState: record.stream(), _Random: record.stream()}

    # The generator itself is made when it is first drawn from, since making one takes a while.
    @cache
    def owner(kind: type) -> _Recorded:
        made: _Recorded = kind(int(streams[kind]().integers(2**32)))
        made.record = record
        return made

    def drawing(name: str, kind: type) -> Callable[..., Any]:
        return lambda *args, **kwargs: getattr(owner(kind), name)(*args, **kwargs)

    for module, name, kind in _GLOBAL:
        yield module, name, drawing(name, kind)


def _of_libraries(record: Recorder) -> Iterator[Replacement]:
    """Yield what is replaced of the libraries that are loaded."""
    # Only what is loaded: nothing is imported for this that the mechanism does not import.
    mechanisms = sys.modules.get("diffprivlib.mechanisms")
    if mechanisms is not None:
        for kind in vars(mechanisms).values():
            own = vars(kind).get("randomise") if isinstance(kind, type) else None
            if own is not None:
                yield kind, "randomise", _randomise(record, kind, own)
    opendp = sys.modules.get("opendp.mod")
    if opendp is not None:
        for name in ("invoke", "__call__"):
            own = vars(opendp.Measurement).get(name)
            if own is not None:
                yield opendp.Measurement, name, _invoke(record, own)
    if "torch" in sys.modules:
        from dpaudit.sensitivity import torch_noise

        yield from torch_noise.replaced(record)


# The mechanisms of diffprivlib whose noise has a known family.
_FAMILIES = {"Laplace": "laplace", "Gaussian": "gaussian", "GaussianAnalytic": "gaussian"}
# The metrics of inputs of OpenDP's measurements whose values can be compared.
_METRICS = {"AbsoluteDistance": "absolute", "L1Distance": "l1", "L2Distance": "l2", "LInfDistance": "linf"}


def _randomise(record: Recorder, kind: type, plain: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return the method of a mechanism of diffprivlib that adds noise, recorded."""
    takes = signature(plain)
    family = _FAMILIES.get(kind.__name__, "")

    @wraps(plain)
    def randomise(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        mechanism = args[0]
        given = list(takes.bind(*args, **kwargs).arguments.values())
        value = None
        # The first argument is the mechanism itself.
        if len(given) > 1 and isinstance(given[1], int | float | np.number):
            value = given[1]
        declared = None
        if value is not None and hasattr(mechanism, "sensitivity"):
            declared = _float_of(mechanism.sensitivity)
        scale = None
        if family and hasattr(mechanism, "_scale"):
            scale = _float_of(mechanism._scale) or None
        primitive = Primitive(f"diffprivlib.{type(mechanism).__name__}", family, scale, declared)
        return record.drawn(primitive, lambda: plain(*args, **kwargs), value)

    return randomise


def _float_of(number: Any) -> float | None:
    """Return a number as a float; None for anything else."""
    return float(number) if isinstance(number, int | float) else None


def _invoke(record: Recorder, plain: Callable[[Measurement, Any], _T]) -> Callable[[Measurement, Any], _T]:
    """Return the method of a measurement of OpenDP that runs it, recorded."""

    @wraps(plain)
    def invoke(self: Measurement, arg: Any) -> _T:
        metric = str(self.input_metric).partition("(")[0]
        primitive = Primitive("opendp.Measurement", metric=_METRICS.get(metric, ""), loss=self.map)
        return record.drawn(primitive, lambda: plain(self, arg), arg if metric in _METRICS else None)

    return invoke

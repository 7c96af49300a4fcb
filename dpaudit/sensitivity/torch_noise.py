"""Tensors of torch that know of the noise in them, and the functions of torch that draw noise."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec

import torch

from dpaudit.sensitivity.tracing import (
    TRACED_AS,
    Primitive,
    Recorder,
    Replacement,
    Traced,
    added,
    noise_of,
    noisy_first,
    scaled,
    traced,
    untraced,
)

_P = ParamSpec("_P")
# Functions of torch by what they do with the noise in a tensor.
_SUMS = {"add", "add_", "__add__", "__radd__", "__iadd__", "sub", "sub_", "__sub__", "__isub__"}
_IN_PLACE = {"add_", "sub_"}
_REVERSED = {"rsub", "__rsub__"}
_PRODUCTS = {"mul", "mul_", "__mul__", "__rmul__", "__imul__"}
_QUOTIENTS = {"div", "div_", "__truediv__", "true_divide"}
# Methods that keep the numbers of a tensor, or take some of them.
_PARTS = {
    "reshape", "view", "flatten", "to", "clone", "detach", "contiguous", "float", "double", "squeeze", "unsqueeze",
    "__getitem__", "item",
}  # fmt: skip
# Functions of torch whose draws are what they were in a replay, and are added to no value.
_OTHER = ("rand", "rand_like", "randint", "randint_like", "randperm", "bernoulli", "multinomial", "poisson")
# Functions of torch that draw Gaussian noise -> their parameters that are its centre and its scale.
_DRAWS = {"normal": ("mean", "std"), "randn": ("", ""), "randn_like": ("", "")}


class TracedTensor(Traced, torch.Tensor):  # type: ignore[misc]  # torch need not be installed
    """A tensor that knows of the noise in it, through sums, products with numbers and changes of its shape."""

    def plain(self) -> torch.Tensor:
        """Return the tensor alone."""
        return self.as_subclass(torch.Tensor)

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Apply a function of torch."""
        named = kwargs or {}
        name = ""
        if hasattr(func, "__name__"):
            name = func.__name__

        def apply(*given: Any) -> Any:
            with torch._C.DisableTorchFunctionSubclass():
                return func(*given, *map(untraced, args[2:]), **{key: untraced(one) for key, one in named.items()})

        if len(args) == 2 and not named and name in _SUMS | _REVERSED:
            return _sum(name, *args)
        plain = [untraced(one) for one in args[:2]]
        total = apply(*plain)
        if len(args) == 2 and name in _PRODUCTS:
            one, other = noisy_first(tuple(args))
            return scaled(one, other, total)
        if len(args) == 2 and name in _QUOTIENTS and noise_of(args[1]) is None:
            return scaled(args[0], 1 / plain[1], total)
        # Noise that was added to no value yet keeps its draws in another shape; a value would have to change its own.
        noise = noise_of(args[0]) if args else None
        if noise is not None and noise.value is None and name in _PARTS:
            return traced(total, noise)
        return total


def _sum(name: str, one: torch.Tensor | float, other: torch.Tensor | float) -> torch.Tensor | float:
    """Return the sum, or the difference, that a method of this name makes."""
    # A sum in place overwrites the value that the noise is added to.
    first, second = (
        given.clone() if isinstance(given, torch.Tensor) and noise_of(given) is None else given
        for given in (one, other)
    )
    if name in _REVERSED:  # x.__rsub__(y) is y - x
        return added(second, first, operator.sub)
    combine = operator.sub if "sub" in name else operator.add
    total = added(first, second, combine)
    if name in _IN_PLACE and isinstance(one, torch.Tensor):
        untraced(one).copy_(untraced(total))
    return total


TRACED_AS[torch.Tensor] = lambda tensor: tensor.as_subclass(TracedTensor)


def replaced(record: Recorder) -> Iterator[Replacement]:
    """Yield the functions of torch that are replaced while noise is recorded."""
    for name in (*_DRAWS, *_OTHER):
        yield torch, name, _drawing(record, name, getattr(torch, name))


def _drawing(record: Recorder, name: str, draw: Callable[_P, torch.Tensor]) -> Callable[_P, torch.Tensor]:
    centre, scale_name = _DRAWS.get(name, ("", ""))

    @wraps(draw)
    def drawn(*args: _P.args, **kwargs: _P.kwargs) -> torch.Tensor:
        if name not in _DRAWS:
            return record.drawn(Primitive(f"torch.{name}"), lambda: draw(*args, **kwargs))
        given: dict[str, Any] = dict(zip((centre, scale_name), args, strict=False)) | kwargs
        scale = 1.0
        value = None
        if scale_name:
            scale = given.get(scale_name, 1.0)
        if centre:
            value = given.get(centre)
        known = float(scale) if isinstance(scale, int | float) else None
        primitive = Primitive(f"torch.{name}", "gaussian", known, metric="l2")
        return record.drawn(primitive, lambda: draw(*args, **kwargs), value, traces=True)

    return drawn

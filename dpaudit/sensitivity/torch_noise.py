"""Tensors of torch that know of the noise in them, and the functions of torch that draw noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import torch

from dpaudit.sensitivity.tracing import (
    TRACED_AS,
    Primitive,
    Recorder,
    Traced,
    added,
    noise_of,
    scaled,
    traced,
    untraced,
)

_SUMS = {"add", "add_", "__add__", "__radd__", "__iadd__", "sub", "sub_", "__sub__", "__isub__"}
_REVERSED = {"rsub", "__rsub__"}
_PRODUCTS = {"mul", "mul_", "__mul__", "__rmul__", "__imul__"}
_QUOTIENTS = {"div", "div_", "__truediv__", "true_divide"}
_PARTS = {
    "reshape", "view", "flatten", "to", "clone", "detach", "contiguous", "float", "double", "squeeze", "unsqueeze",
    "__getitem__", "item",
}  # fmt: skip
"""Methods that keep the numbers of a tensor, or take some of them."""
_OTHER = ("rand", "rand_like", "randint", "randint_like", "randperm", "bernoulli", "multinomial", "poisson")
"""Functions of torch whose draws are what they were in a replay, and are added to no value."""
_DRAWS = {"normal": ("mean", "std"), "randn": ("", ""), "randn_like": ("", "")}
"""Functions of torch that draw Gaussian noise -> their parameters that are its centre and its scale."""


class TracedTensor(Traced, torch.Tensor):  # type: ignore[misc]  # torch need not be installed
    """A tensor that knows of the noise in it, through sums, products with numbers and changes of its shape."""

    def plain(self) -> Any:
        """Return the tensor alone."""
        return self.as_subclass(torch.Tensor)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Apply a function of torch."""
        named, name = kwargs or {}, getattr(func, "__name__", "")

        def apply(*given: Any) -> Any:
            with torch._C.DisableTorchFunctionSubclass():
                return func(*given, *map(untraced, args[2:]), **{key: untraced(one) for key, one in named.items()})

        plain = [untraced(one) for one in args[:2]]
        if len(args) == 2 and not named and name in _SUMS | _REVERSED:
            before = [one.clone() if isinstance(one, torch.Tensor) and noise_of(one) is None else one for one in args]
            if name in _REVERSED:  # x.__rsub__(y) is y - x
                return added(before[1], before[0], lambda one, other: one - other)
            first, second = before
            total = added(first, second, lambda one, other: one - other if "sub" in name else one + other)
            if name.endswith("_") and name.strip("_") in ("add", "sub", "iadd", "isub") and name[-2:] != "__":
                untraced(args[0]).copy_(untraced(total))
            return total
        total = apply(*plain)
        if len(args) == 2 and name in _PRODUCTS:
            one, other = args if noise_of(args[0]) is not None else args[::-1]
            return scaled(one, other, total)
        if len(args) == 2 and name in _QUOTIENTS and noise_of(args[1]) is None:
            return scaled(args[0], 1 / plain[1], total)
        noise = noise_of(args[0]) if args else None
        known = noise is not None and noise.value is None and name in _PARTS
        return traced(total, noise) if noise is not None and known else total


TRACED_AS[torch.Tensor] = lambda tensor: tensor.as_subclass(TracedTensor)


def replaced(record: Recorder) -> Iterator[tuple[Any, str, Any]]:
    """Yield what is replaced of torch while noise is recorded: a module or a class, a name, and a function."""
    for name in (*_DRAWS, *_OTHER):
        yield torch, name, _drawing(record, name, getattr(torch, name))


def _drawing(record: Recorder, name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
    centre, scale_name = _DRAWS.get(name, ("", ""))

    @wraps(draw)
    def drawn(*args: Any, **kwargs: Any) -> Any:
        if name not in _DRAWS:
            return record.drawn(Primitive(f"torch.{name}"), lambda: draw(*args, **kwargs))
        given = dict(zip((centre, scale_name), args, strict=False)) | kwargs
        scale = given.get(scale_name, 1.0) if scale_name else 1.0
        known = float(scale) if isinstance(scale, int | float) else None
        value = given.get(centre) if centre else None
        primitive = Primitive(f"torch.{name}", "gaussian", known, metric="l2")
        return record.drawn(primitive, lambda: draw(*args, **kwargs), value, traces=True)

    return drawn

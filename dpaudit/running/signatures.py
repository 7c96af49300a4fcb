"""The signatures of callables: what one says of its parameters, and the parameters that it has itself."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, TypeAlias

from dpaudit.withheld import hides

# A callable of a user's, with any parameters.
Function: TypeAlias = Callable[..., Any]


def signature_of(function: Function | None) -> inspect.Signature | None:
    """Return the signature of a callable, or None if it has none."""
    if function is None:
        return None
    # Some built-ins have none, and `__signature__` may be any code.
    try:
        function = _dispatching(function)
        if sys.version_info >= (3, 14):
            from annotationlib import Format

            return inspect.signature(function, annotation_format=Format.FORWARDREF)
        return inspect.signature(function)
    except Exception:  # of any type: signatures and annotations are third-party code
        return None


def own_signature_of(function: Function) -> inspect.Signature | None:
    """Return the signature that a callable has itself, whatever it says of it, or None if that is not known.

    `functools.wraps` and an attribute ``__signature__`` let a function show the parameters of another.
    """
    return signature_of(_bare(function))


def _dispatching(function: Function) -> Function:
    """Return a callable whose signature is that of another, if `inspect` shows a parameter for the instance too.

    A method of `functools.singledispatchmethod` is a function that knows its instance and shows the parameters of the
    function that it was made of, ``self`` among them.
    """
    if isinstance(function, functools.partial):
        return functools.partial(_dispatching(function.func), *function.args, **function.keywords)
    method = getattr(getattr(function, "register", None), "__self__", None)
    if not isinstance(function, FunctionType) or not isinstance(method, functools.singledispatchmethod):
        return function
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    held = {name: cell.cell_contents for name, cell in cells if name in ("obj", "cls")}
    bound: Function = method.func.__get__(held.get("obj"), held.get("cls"))
    return bound


def _bare(function: Any) -> Function | None:
    """Return a callable with the parameters that one has itself, or None if they are not known."""
    match function:
        case FunctionType():
            return _bare_function(function)
        case MethodType():
            inner = _bare(function.__func__)
            if inner is not None:
                return MethodType(inner, function.__self__)
            return None
        case functools.partial():
            inner = _bare(function.func)
            if inner is not None:
                return functools.partial(inner, *function.args, **function.keywords)
            return None
        case type():
            return None
    call = inspect.getattr_static(type(function), "__call__", None)
    match call:
        case FunctionType():
            return MethodType(_bare_function(call), function)
        case staticmethod() | classmethod():
            return _bare(function.__call__)
    return None


def _bare_function(function: FunctionType) -> FunctionType:
    bare = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    bare.__kwdefaults__ = function.__kwdefaults__
    if sys.version_info >= (3, 14):
        # Code that is run where annotations are read.
        bare.__annotate__ = function.__annotate__
    else:
        bare.__annotations__ = function.__annotations__
    return bare


def passes_on(signature: inspect.Signature) -> bool:
    """Say whether a signature takes any arguments, as that of a decorator's wrapper that passes them on."""
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return any(one.kind in variable for one in signature.parameters.values())


def shown(signature: inspect.Signature) -> str:
    """Return a signature as text, without annotations; without defaults too if values are withheld."""
    plain = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    if hides():
        plain = [one.replace(default=one.empty if one.default is one.empty else ...) for one in plain]
    # The text of a default is code of the mechanism's, and may raise anything.
    try:
        return str(inspect.Signature(plain))
    except Exception:
        return f"({', '.join(one.name for one in plain)})"


def set_by_partial(function: Function) -> dict[str, Any]:
    """Return the keyword arguments that `functools.partial` has set."""
    found: dict[str, Any] = {}
    while isinstance(function, functools.partial):
        found = {**function.keywords, **found}
        function = function.func
    return found


def name_of(function: Function) -> str:
    """Return the name of a callable, or that of its class."""
    if isinstance(function, functools.partial):
        return name_of(function.func)
    return str(getattr(function, "__qualname__", type(function).__qualname__))

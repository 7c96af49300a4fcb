"""Metadata of outputs: what a conversion to plain values would drop is read as well, or named.

An array protocol, a view, an iteration and a summary keep the values of an output and drop names, types, attributes and
metadata. A function that converts an output returns `WithMetadata`: the values, and what it dropped as `Metadata`. That
is found when somebody asks for it, costs nothing if all outputs have the same, and is compared like any other part if
it differs. A part that cannot be read is `Unseen`, and findings name it.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import types
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, Final, TypeAlias, TypeVar

from dpaudit.outputs.types import Array, Parts

V = TypeVar("V")
Dropped: TypeAlias = Callable[[Any], Parts]
"""Finds some of the metadata of an object, by names."""

# Classes whose nature is remembered, since it is asked of every output.
KINDS = 256
# Characters of the printed form of an object that are read.
LONGEST = 4096
# Types of objects that are known by their names, and print their addresses.
NO_STATE = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, types.MethodWrapperType,
    functools.partial,
)  # fmt: skip


class Unseen:
    """A part of an output that cannot be read: no two of them are distinguished, and findings name the part."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "not looked at"


UNSEEN: Final = Unseen()


class Metadata:
    """The parts of an output that are not its values, by names; they are found when they are asked for.

    Each function returns some of them. If one raises, its name stands for an `Unseen` part.
    """

    __slots__ = ("_found", "_functions", "_value", "cell")

    def __init__(self, value: Any, *functions: Dropped) -> None:
        self._value = value
        self._functions = functions
        self._found: Parts | None = None
        self.cell: Hashable = None

    @classmethod
    def of(cls, found: Parts) -> Metadata:
        """Return metadata that is known already."""
        made = cls(None)
        made._found = found
        return made

    @property
    def held(self) -> Parts:
        """The parts by their names."""
        if self._found is None:
            self._found = {}
            for function in self._functions:
                # Attributes of outputs are third-party code, and may raise anything.
                try:
                    self._found.update(function(self._value))
                except Exception:
                    # A partial function has the name of the function that it calls.
                    named = getattr(function, "func", function)
                    self._found[named.__name__.strip("_").replace("_", " ")] = UNSEEN
            self._value = None
        return self._found

    def __repr__(self) -> str:
        return repr(self.held)


class WithMetadata:
    """The `values` that a conversion of an output keeps, and its `metadata`."""

    __slots__ = ("metadata", "values")

    def __init__(self, values: Any, metadata: Metadata) -> None:
        self.values = values
        self.metadata = metadata

    def __repr__(self) -> str:
        return f"{self.values!r} beside {self.metadata!r}"


Flat: TypeAlias = (
    "WithMetadata | Unseen | Array | dict[Any, Any] | tuple[Any, ...] | list[Any]"
    "| bool | int | float | str | bytes | None"
)
"""An output that was taken apart once; the elements of its containers may have to be taken apart in turn."""
Named: TypeAlias = Parts | str | Unseen
"""A description of an object that prints only its address."""


def converted(values: Flat, of: V, *dropped: Callable[[V], Parts]) -> WithMetadata:
    """Return the values that a conversion of an object keeps, together with what it dropped.

    Each function finds some of the metadata of the object, by names.
    """
    return WithMetadata(values, Metadata(of, *dropped))


def named(value: Any, names: tuple[str, ...]) -> Parts:
    """Return the attributes of an object that have one of the names; methods are left out, classes are named."""
    found: Parts = {}
    for name in names:
        # A property is third-party code, and may raise anything.
        try:
            part = getattr(value, name, None)
        except Exception:
            part = UNSEEN
        if part is not None and not callable(part):
            found[name] = part
        elif isinstance(part, type):
            found[name] = part.__qualname__
    return found


def known_by_name(value: Any, owner: Any = None) -> Named:
    """Return what distinguishes a function, a module or another object that prints only its address.

    The object that a method is bound to is read if it is a plain value, and named otherwise. It is left out if it is
    the `owner`, the object that has the method as an attribute.
    """
    if isinstance(value, types.MethodType):
        return _method(value, owner)
    if isinstance(value, types.FunctionType):
        return _function(value)
    if isinstance(value, functools.partial):
        given = {"arguments": value.args, "by name": dict(value.keywords)}
        return {"partial": _callable(value.func), **given, **vars(value)}
    if isinstance(value, types.BuiltinMethodType):
        bound = _bound_to(value.__self__, owner)
        if bound:
            return {"method": value.__qualname__, "type": type(value.__self__).__qualname__, **bound}
    if isinstance(value, NO_STATE):
        return _dotted_name(value)
    kind = type(value)
    if kind is object or kind.__module__ in ("_thread", "threading"):
        return f"{kind.__module__}.{kind.__qualname__}"
    return UNSEEN


def _method(value: types.MethodType, owner: Any) -> Parts:
    function = value.__func__
    # Any callable can be bound, and not every callable has a name.
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return {"method": name, "type": type(value.__self__).__qualname__, **_bound_to(value.__self__, owner)}


def _dotted_name(value: Any) -> str:
    """Return the name of a built-in function or a module; either may lack the module or the qualified name."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", "")
    module = getattr(value, "__module__", None) or ""
    return f"{module}.{name}"


_PLAIN = (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset)


def _bound_to(held: Any, owner: Any) -> Parts:
    """Return the object that a method is bound to, as one part; a class or a module is left out, as names say it."""
    if held is None or held is owner or isinstance(held, (type, types.ModuleType)):
        return {}
    if type(held) in _PLAIN:
        return {"bound to": held}
    return {"bound to": UNSEEN}


def _callable(value: Callable[..., Any]) -> Named | Callable[..., Any]:
    """Return what distinguishes a callable: a class by its name, an object with a call as it is."""
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, NO_STATE):
        return known_by_name(value)
    return value


def _function(value: types.FunctionType) -> Parts:
    """Return the name of a function, its code as a digest, and what it holds: defaults and variables around it."""
    found: Parts = {"function": f"{value.__module__}.{value.__qualname__}", "code": _code_digest(value.__code__)}
    defaults = (value.__defaults__, value.__kwdefaults__)
    if any(defaults):
        found["defaults"] = defaults
    if value.__closure__:
        found["around it"] = tuple(_content(cell) for cell in value.__closure__)
    return found


def _content(cell: types.CellType) -> Any:
    """Return the variable of a closure; a method, a module or a built-in function by its name."""
    try:
        held = cell.cell_contents
    # The variable is not set yet.
    except ValueError:
        return None
    # Functions and partials are read like any output, with the variables that they hold in turn.
    if isinstance(held, NO_STATE) and not isinstance(held, (types.FunctionType, functools.partial)):
        return known_by_name(held)
    return held


@lru_cache(maxsize=KINDS)
def _code_digest(code: types.CodeType) -> str:
    inside = tuple(_code_digest(one) if isinstance(one, types.CodeType) else repr(one) for one in code.co_consts)
    # A set of constants is printed in the order of its hashes, which differs between processes.
    ordered = tuple("".join(sorted(one)) if one.startswith("frozenset") else one for one in inside)
    content = repr((code.co_code, ordered, code.co_names, code.co_varnames))
    return hashlib.blake2b(content.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


def printed(value: Any, attributes: Parts) -> Parts:
    """Return what an object prints beyond its attributes.

    A class may print a property, or something that is kept elsewhere. A property is returned by its name. If a printing
    method reads anything else, its text is returned, without addresses.
    """
    kind: type = type(value)
    found: Parts = {}
    for method, (properties, others) in _printing(kind).items():
        for name in properties:
            if name not in attributes:
                found[name] = getattr(value, name)
        if any(name not in attributes for name in others):
            text = getattr(value, method)()
            found[f"{method}()"] = _without_addresses(str(text)[:LONGEST])
    return found


def prints_more(kind: type) -> bool:
    """Say whether instances of a class may print something that is no attribute of theirs."""
    return any(properties or others for properties, others in _printing(kind).values())


@lru_cache(maxsize=KINDS)
def _printing(kind: type) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the properties and the other names that each printing method reads, if a class has one in Python."""
    found = {}
    for method in ("__repr__", "__str__"):
        function = getattr(kind, method, None)
        # That of a data class is wrapped, against endless recursion. It shows attributes alone.
        function = getattr(function, "__wrapped__", function)
        if not isinstance(function, types.FunctionType) or _is_generated(kind, function):
            continue
        names = [name for name in _names_in(function.__code__) if not (name.startswith("__") and name.endswith("__"))]
        properties = tuple(name for name in names if _is_property(kind, name))
        others = tuple(name for name in names if name not in properties and not _says_nothing(kind, name))
        # A variable around a printing method may be anything.
        found[method] = (properties, others + tuple(name for name in function.__code__.co_freevars))
    return found


def _is_generated(kind: type, function: types.FunctionType) -> bool:
    """Say whether a library made a method that prints attributes alone, or prints parameters in thousands of steps."""
    # A generated method of a data class prints fields, which are attributes.
    if function.__code__.co_filename == "<string>":
        return True
    library = function.__module__.partition(".")[0] if function.__module__ else ""
    return hasattr(kind, "__attrs_attrs__") or library in ("sklearn", "pydantic", "enum", "reprlib")


def _names_in(code: types.CodeType) -> tuple[str, ...]:
    inside = [name for one in code.co_consts if isinstance(one, types.CodeType) for name in _names_in(one)]
    return tuple(dict.fromkeys((*code.co_names, *inside)))


def _is_property(kind: type, name: str) -> bool:
    held = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    reads = hasattr(type(held), "__get__") and not isinstance(held, (types.FunctionType, classmethod, staticmethod))
    return reads and not isinstance(held, (types.MemberDescriptorType, types.GetSetDescriptorType))


_METHODS_OF_TEXT = frozenset(name for kind in (str, list, dict, tuple, set) for name in dir(kind))
_MODULES_OF_TEXT = ("math", "textwrap", "reprlib", "dataclasses")


def _says_nothing(kind: type, name: str) -> bool:
    """Say whether a name in a method is a built-in function, or one that texts and containers are written with."""
    return hasattr(builtins, name) or name in _METHODS_OF_TEXT or name in _MODULES_OF_TEXT


def _without_addresses(text: str) -> str:
    """Return a text without the addresses of objects, which differ between processes."""
    first, *others = text.split(" at 0x")
    return " at an address".join([first, *(other.lstrip("0123456789abcdefABCDEF") for other in others)])

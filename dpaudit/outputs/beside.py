"""The door for conversions that drop something: what stands beside the values of an output is looked at, or named.

An array protocol, a view, an iteration and a summary keep the values of an output and drop what stands beside them:
names, types, attributes, metadata. A function that converts an output returns `Labelled`: the values, and what it
dropped. What is `Beside` is found when somebody asks, costs nothing where all outputs have the same, and is compared
like any other part where they have not. A part that nobody can look at is `Unseen`, and findings name it.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import types
from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from typing import Any, Final

KINDS = 256
"""Classes whose nature is remembered: it is asked of every output."""
LONGEST = 4096
"""Characters of the printed form of an object that are looked at."""
NO_STATE = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, types.MethodWrapperType,
    functools.partial,
)  # fmt: skip
"""Types that are known by their names, and show their addresses."""


class Unseen:
    """A part of an output that nobody can look at: no two of them are distinguished, and findings name the part."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "not looked at"


UNSEEN: Final = Unseen()


class Beside:
    """The parts of an output beside its values, by names; they are found when they are asked for.

    The functions each return some of it. What one of them raises is the output's own: of such a one the `name` is
    kept, as a part that nobody can look at.
    """

    __slots__ = ("_found", "_functions", "_value", "cell")

    def __init__(self, value: Any, *functions: Callable[[Any], Mapping[str, Any]]) -> None:
        self._value = value
        self._functions = functions
        self._found: dict[str, Any] | None = None
        self.cell: Hashable = None

    @classmethod
    def of(cls, found: dict[str, Any]) -> Beside:
        """Return what stands beside values where it is known already."""
        made = cls(None)
        made._found = found
        return made

    @property
    def held(self) -> dict[str, Any]:
        """The parts by their names."""
        if self._found is None:
            self._found = {}
            for function in self._functions:
                try:
                    self._found.update(function(self._value))
                except Exception:  # attributes of outputs are third-party code
                    self._found[function.__name__.strip("_").replace("_", " ")] = UNSEEN
            self._value = None
        return self._found

    def __repr__(self) -> str:
        return repr(self.held)


class Labelled:
    """The `values` that a conversion of an output keeps, and the parts `beside` them."""

    __slots__ = ("beside", "values")

    def __init__(self, values: Any, beside: Beside) -> None:
        self.values = values
        self.beside = beside

    def __repr__(self) -> str:
        return f"{self.values!r} beside {self.beside!r}"


def converted(values: Any, of: Any, *dropped: Callable[[Any], Mapping[str, Any]]) -> Labelled:
    """Return what a conversion of an object keeps, together with what it dropped.

    Each function finds some of what stands beside the values of the object, by names.
    """
    return Labelled(values, Beside(of, *dropped))


def named(value: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return those of some attributes that an object has; of a data type, device or the like what it is printed as."""
    found = {}
    for name in names:
        try:
            part = getattr(value, name, None)
        except Exception:  # a property is third-party code
            part = UNSEEN
        if part is not None and not callable(part):
            found[name] = part
        elif isinstance(part, type):
            found[name] = part.__qualname__
    return found


def known_by_name(value: Any, owner: Any = None) -> Any:
    """Return what distinguishes a function, a module or another object that only shows its address.

    Of a method what it is bound to is looked at if that is a plain value, and is named else, unless it is the `owner`,
    of which the method is an attribute.
    """
    if isinstance(value, types.MethodType):
        method: Any = getattr(value.__func__, "__qualname__", type(value.__func__).__qualname__)
        return {"method": method, "type": type(value.__self__).__qualname__, **_bound_to(value.__self__, owner)}
    if isinstance(value, types.FunctionType):
        return _function(value)
    if isinstance(value, functools.partial):
        given = {"arguments": value.args, "by name": dict(value.keywords)}
        return {"partial": _callable(value.func), **given, **vars(value)}
    if isinstance(value, types.BuiltinMethodType) and (bound := _bound_to(value.__self__, owner)):
        return {"method": value.__qualname__, "type": type(value.__self__).__qualname__, **bound}
    if isinstance(value, NO_STATE):
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", "")
        return f"{getattr(value, '__module__', None) or ''}.{name}"
    kind = type(value)
    if kind is object or kind.__module__ in ("_thread", "threading"):
        return f"{kind.__module__}.{kind.__qualname__}"
    return UNSEEN


_PLAIN = (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset)


def _bound_to(held: Any, owner: Any) -> dict[str, Any]:
    """Return what a method is bound to, as one part; nothing of a class or a module, which the names say."""
    if held is None or held is owner or isinstance(held, (type, types.ModuleType)):
        return {}
    return {"bound to": held if type(held) in _PLAIN else UNSEEN}


def _callable(value: Any) -> Any:
    """Return what distinguishes something that is called: a class by its name, an object with a call as it is."""
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    return known_by_name(value) if isinstance(value, NO_STATE) else value


def _function(value: types.FunctionType) -> Any:
    """Return the name of a function, its code as a digest, and what it holds: defaults and variables around it."""
    held = tuple(_content(cell) for cell in value.__closure__ or ())
    found = {"function": f"{value.__module__}.{value.__qualname__}", "code": _code_digest(value.__code__)}
    defaults = (value.__defaults__, value.__kwdefaults__)
    return {**found, **({"defaults": defaults} if any(defaults) else {}), **({"around it": held} if held else {})}


def _content(cell: types.CellType) -> Any:
    try:
        held = cell.cell_contents
    except ValueError:  # a variable that is not set yet
        return None
    by_name = isinstance(held, NO_STATE) and not isinstance(held, (types.FunctionType, functools.partial))
    return known_by_name(held) if by_name else held


@lru_cache(maxsize=KINDS)
def _code_digest(code: types.CodeType) -> str:
    inside = tuple(_code_digest(one) if isinstance(one, types.CodeType) else repr(one) for one in code.co_consts)
    # A set of constants is printed in the order of its hashes, which differs between processes.
    ordered = tuple("".join(sorted(one)) if one.startswith("frozenset") else one for one in inside)
    content = repr((code.co_code, ordered, code.co_names, code.co_varnames))
    return hashlib.blake2b(content.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


def printed(value: Any, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an object shows, beyond its attributes, where it is printed.

    A class may print what its attributes do not have: a property, or something that is kept elsewhere. A property is
    returned by its name; where a printing method reads anything else, the text itself is returned, without addresses.
    """
    kind: type = type(value)
    found: dict[str, Any] = {}
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
    """Return what each printing method that a class has in Python reads: properties, and other names."""
    found = {}
    for method in ("__repr__", "__str__"):
        function = getattr(kind, method, None)
        function = getattr(function, "__wrapped__", function)  # that of a data class is wrapped
        if not isinstance(function, types.FunctionType) or _is_generated(kind, function):
            continue
        names = [name for name in _names_in(function.__code__) if not (name.startswith("__") and name.endswith("__"))]
        properties = tuple(name for name in names if _is_property(kind, name))
        others = tuple(name for name in names if name not in properties and not _says_nothing(kind, name))
        # What a printing method has around it may be anything.
        found[method] = (properties, others + tuple(name for name in function.__code__.co_freevars))
    return found


def _is_generated(kind: type, function: types.FunctionType) -> bool:
    """Say whether a library made a method that prints attributes alone, or prints parameters in thousands of steps."""
    if function.__code__.co_filename == "<string>":  # of a data class: it shows fields, which are attributes
        return True
    library = function.__module__.partition(".")[0] if function.__module__ else ""
    return hasattr(kind, "__attrs_attrs__") or library in ("sklearn", "pydantic", "enum", "reprlib")


def _names_in(code: types.CodeType) -> tuple[str, ...]:
    inside = [name for one in code.co_consts if isinstance(one, types.CodeType) for name in _names_in(one)]
    return tuple(dict.fromkeys((*code.co_names, *inside)))


def _is_property(kind: type, name: str) -> bool:
    held = next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)
    reads = hasattr(type(held), "__get__") and not isinstance(held, (types.FunctionType, classmethod, staticmethod))
    return reads and not isinstance(held, (types.MemberDescriptorType, types.GetSetDescriptorType))


_METHODS_OF_TEXT = frozenset(name for kind in (str, list, dict, tuple, set) for name in dir(kind))


def _says_nothing(kind: type, name: str) -> bool:
    """Say whether a name in a method is a built-in function or a method of texts and containers."""
    return hasattr(builtins, name) or name in _METHODS_OF_TEXT or name in ("math", "textwrap", "reprlib", "dataclasses")


def _without_addresses(text: str) -> str:
    """Return a text without the addresses of objects, which differ from process to process."""
    first, *others = text.split(" at 0x")
    return " at an address".join([first, *(other.lstrip("0123456789abcdefABCDEF") for other in others)])

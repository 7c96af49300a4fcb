"""Decides which parameters of a callable get the data, the generator and the number of runs.

The generator goes to a parameter that asks for it by one of the names in `GENERATORS`, wherever it stands and whether
it has a default or not; where there is no such name, to the second positional parameter without a default. It goes to
no other parameter: an option with a default, ``*args`` and ``**kwargs`` stay as the mechanism's author left them,
because an audit that fills an option runs another mechanism than its users do.
"""

from __future__ import annotations

import functools
import inspect
import random
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType, MethodType
from typing import Any, Literal

import numpy as np

from dpaudit.errors import InputError
from dpaudit.running.watched import state_of
from dpaudit.withheld import hides

GENERATORS = ("rng", "generator", "random_state", "random_generator", "prng")
"""The names by which a parameter asks for the generator, of which the first that a signature has is filled."""
OLD_GENERATOR = "random_state"
"""The name that scikit-learn gave to parameters which take a `RandomState`, and mostly refuse a `Generator`."""
QUANTITIES = frozenset(
    "epsilon eps delta scale sigma size n k bounds sensitivity "
    "rho mu budget multiplier clip clipping threshold bound lower upper iterations rounds".split()
)
"""Words of a name that no generator has: a second required parameter of such a name is a quantity to be fixed."""
SWITCHES = frozenset(
    "debug verbose exact quiet dry private noisy strict raw mode flag columns column labels query queries".split()
)
"""The same, of options and inputs: a generator is true, so that it would switch on whatever it is passed for."""
NAMED_GENERATORS = frozenset("rng prng generator random gen".split())
"""Words of a name that say what it is, whatever else the name says: "private rng"."""
SEEDS = frozenset("seed key state".split())
"""Words of a name that an integer may have which a generator is in the place of."""
PLAIN_TYPES = ("bool", "float", "int", "str", "bytes", "complex", "list", "dict", "tuple", "set")
"""Types that a parameter may be declared to have, and that no generator has."""
SIZE = "size"
"""The name by which a parameter asks for the number of runs that a batched call makes."""

Role = Literal["data", "rng", "size"]


@dataclass(frozen=True)
class Fixed:
    """The value of an option that stands before a positional-only parameter: its own default."""

    value: Any


@dataclass(frozen=True)
class Form:
    """The form of a call: the arguments of the positional parameters, in order, and those passed by name.

    `without` says why nothing is the generator, in words that follow the callable's name, where that is so. `replaced`
    is the text of a default that is a fixed seed and that the generator takes the place of. `kind` is the one of
    `KINDS` that the parameter of the generator is declared to take.
    """

    positional: tuple[Role | Fixed, ...]
    named: tuple[tuple[str, Role], ...] = ()
    without: str = ""
    old: bool = False
    replaced: str = ""
    kind: int = 0

    @property
    def plain(self) -> bool:
        """Whether the callable can be called as it is, with its data, its generator and the number of runs in order."""
        in_order = self.positional in (("data", "rng"), ("data", "rng", "size"))
        return in_order and not self.named and not self.old and not self.kind


@dataclass(unsafe_hash=True)
class Called:
    """Calls a function in a form.

    The parameter of the generator gets a `Generator` until the function refuses it, and from then on, in the same run
    at first, the first of the other `KINDS` that it takes: each of them draws from the stream of the run.
    """

    function: Callable[..., Any]
    form: Form
    kind: int = field(default=0, compare=False)
    tried: int = field(default=0, compare=False)
    _keyword: str | None = field(default=None, init=False, compare=False)

    def __post_init__(self) -> None:
        self.kind = self.kind or self.form.kind
        # A simple mechanism takes no longer than to build the general form of a call, so the commonest are known.
        if self.form.positional == ("data",):
            if not self.form.named:
                self._keyword = ""
            elif len(self.form.named) == 1 and self.form.named[0][1] == "rng":
                self._keyword = self.form.named[0][0]
        if self.form.without:
            self.tried = TRIED

    @property
    def quick(self) -> Callable[..., Any]:
        """Return what to call in the place of this, once a call has shown what the function takes: itself if it can."""
        settled = self.tried >= TRIED and self.kind == 0 and not self.form.old
        return self.function if settled and self.form.plain else self

    def __call__(self, data: Any, rng: np.random.Generator, size: int = 1) -> Any:
        """Return the output, or `size` outputs."""
        if self.kind:
            return self._call(data, KINDS[self.kind](rng), size)
        if self.tried < TRIED or self.form.old:
            return self._first(data, rng, size)
        return self._call(data, rng, size)

    def _first(self, data: Any, rng: np.random.Generator, size: int) -> Any:
        """Return the output of a call that may show that the function refuses a `Generator`.

        It does if its exception says so, or if it raises before it has drawn anything, twice more as well, and
        returns with a generator of another kind: a guard that asserts the class says nothing in words.
        """
        before = state_of(rng)
        try:
            output = self._call(data, rng, size)
        except Exception as error:  # of any type: libraries refuse a Generator in many ways
            said = _refuses_generator(error, old=self.form.old)
            if not said and (_is_ambiguous(error) or self.tried >= TRIED or state_of(rng) != before):
                raise
            self.tried += 1
            first = error
        else:
            self.tried = TRIED
            return output
        likely: tuple[int, Exception] | None = None
        for kind in range(1, len(KINDS)):
            rng.bit_generator.state = before
            try:
                output = self._call(data, KINDS[kind](rng), size)
            except Exception as error:  # as above
                if said and likely is None and not _refuses(error):
                    likely = kind, error  # it takes this kind, and does not like the data, if it takes no later one
                continue
            if said:
                self.kind = kind
                return output
            if all(self._raises(data, rng, size, before, type(first)) for _ in range(AGAIN)):
                self.kind = kind
                # What the calls between have drawn is drawn again.
                rng.bit_generator.state = before
                return self._call(data, KINDS[kind](rng), size)
            break
        if likely is not None:
            self.kind, reason = likely
            raise reason
        rng.bit_generator.state = before
        raise first  # with its own cause and context: nothing is being handled here

    def _raises(self, data: Any, rng: np.random.Generator, size: int, before: Any, kind: type[Exception]) -> bool:
        """Say whether a call with a `Generator` raises an exception of this class before it has drawn anything."""
        rng.bit_generator.state = before
        try:
            self._call(data, rng, size)
        except Exception as error:
            return type(error) is kind and state_of(rng) == before
        return False

    def _call(self, data: Any, rng: Any, size: int) -> Any:
        if self._keyword:
            return self.function(data, **{self._keyword: rng})
        if self._keyword is not None:
            return self.function(data)
        given = {"data": data, "rng": rng, "size": size}
        positional = [one.value if isinstance(one, Fixed) else given[one] for one in self.form.positional]
        if not self.form.named:
            return self.function(*positional)
        return self.function(*positional, **{name: given[role] for name, role in self.form.named})


TRIED = 2
"""Calls that raise before they have drawn anything in which generators of other kinds are tried, at most."""
AGAIN = 2
"""Times that such a call must raise again with a `Generator` before it is said to refuse it."""


def _old(rng: np.random.Generator) -> np.random.RandomState:
    """Return a generator of numpy's older interface that draws from the stream of a newer one, and advances it."""
    return np.random.RandomState(rng.bit_generator)  # scikit-learn takes no other


def _of_python(rng: np.random.Generator) -> random.Random:
    """Return a generator of Python's own library whose seed is drawn from a stream."""
    return random.Random(int(rng.integers(2**63)))


def _seed(rng: np.random.Generator) -> int:
    """Return a seed that is drawn from a stream, as large as scikit-learn takes."""
    return int(rng.integers(2**32))


KINDS: tuple[Callable[[np.random.Generator], Any], ...] = (lambda rng: rng, _old, _of_python, _seed)
"""The makers of the kinds of generators that a function may take, in the order in which they are tried."""


def _refuses_generator(error: BaseException, *, old: bool) -> bool:
    """Say whether an exception is about the class of a generator and not about the data.

    It asks for a method that only another class has, or is an error of type or value that names one of the classes,
    as those of scikit-learn's `check_random_state` and of its checks of parameters do.
    """
    if isinstance(error, AttributeError):
        if not isinstance(error.obj, np.random.Generator) or error.name is None:
            return False
        of_numpy, of_python = hasattr(np.random.RandomState, error.name), hasattr(random.Random, error.name)
        return of_numpy if old else of_numpy != of_python
    return _refuses(error)


def _is_ambiguous(error: BaseException) -> bool:
    """Say whether an exception asks for a method that other classes have which mean different things by it.

    The upper end of ``randint`` is a value of Python's generators and none of numpy's: to guess would be to run another
    mechanism than its users do.
    """
    if not isinstance(error, AttributeError) or error.name is None:
        return False
    return hasattr(np.random.RandomState, error.name) and hasattr(random.Random, error.name)


def _declared_kind(annotation: Any) -> int:
    """Return the one of `KINDS` that a parameter is declared to take; 0 if it may be a `Generator`, or anything."""
    text = annotation if isinstance(annotation, str) else str(annotation)
    if "Generator" in text:
        return 0
    if re.search(r"\bRandomState\b", text):
        return KINDS.index(_old)
    if re.search(r"\bRandom\b", text):
        return KINDS.index(_of_python)
    return 0


def _refuses(error: BaseException) -> bool:
    """Say whether an exception asks for a method of another class of generators, or names one of these classes."""
    if isinstance(error, AttributeError):
        return isinstance(error.obj, np.random.Generator | np.random.RandomState | random.Random | int)
    if not isinstance(error, TypeError | ValueError):
        return False
    said = str(error)
    return any(name in said for name in ("RandomState", "Generator(", "numpy.random", "random.Random"))


def with_generator(
    function: Callable[..., Any], *, batched: bool = False, name: str = "mechanism", data: str = "data"
) -> Callable[..., Any]:
    """Return a function ``(data, rng) -> output``, or ``(data, rng, size)`` if `batched`, that calls another one.

    The generator is passed only to a parameter that asks for it (`form_of`). `InputError` is raised if a call must
    fail: the same TypeError in every run would look like privacy. It says that the parameter `name` must take `data`
    and a generator.
    """
    form = form_of(function, batched=batched, name=name, data=data)
    return function if form.plain else Called(function, form)


def as_called(function: Callable[..., Any], *, batched: bool) -> Called:
    """Return a function of `with_generator` as one that passes another kind of generator where it refuses the first."""
    if isinstance(function, Called):
        return function
    return Called(function, Form(("data", "rng", "size") if batched else ("data", "rng")))


def quick(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what to call in the place of a function that may be one of `as_called`, after its first calls."""
    return function.quick if isinstance(function, Called) else function


def generator_lacks(function: Callable[..., Any]) -> str:
    """Say why a function of `with_generator` passes no generator, in words after its name; empty where it passes it."""
    return function.form.without if isinstance(function, Called) else ""


def replaced_seed(function: Callable[..., Any]) -> str:
    """Return the default of a function of `with_generator` that is a fixed seed and is not used, as ``name=value``."""
    return function.form.replaced if isinstance(function, Called) else ""


def form_of(
    function: Callable[..., Any], *, batched: bool = False, name: str = "mechanism", data: str = "data"
) -> Form:
    """Return how a callable is called.

    A parameter with one of the names in `GENERATORS` gets the generator: a required one, else the first in the list's
    order that has a default and was not set by `functools.partial`. The data goes to the first other positional
    parameter, or to ``*args`` if there is none, or to the only parameter that must be named. If `batched`, a parameter
    named `SIZE` gets the number of runs. What is left of required positional parameters gets, in this order, the
    generator and the number of runs, if these have no parameter yet; where `batched` and only one is left, it gets the
    number of runs.
    """
    declared = _signature(function)
    actual = _signature(_bare(function))
    if declared is None and actual is None:
        return _unknown(function, batched)
    reader = _Reader(function, batched, name, data)
    if declared is None or (actual is not None and not _passes_on(actual)):
        assert actual is not None
        return reader.form(actual)
    form = reader.form(declared)
    if actual is None or _agrees(actual, form):
        return form
    return reader.form(actual)


def _unknown(function: Callable[..., Any], batched: bool) -> Form:
    """Return the form of a callable without a signature, as some built-ins are: it is never given a generator."""
    wrapped = "lambda data, rng, size: ..." if batched else "lambda data, rng: ..."
    why = f"shows no signature, so that nothing says which parameter takes a generator: wrap it, as {wrapped}"
    return Form(("data", "size") if batched else ("data",), without=why)


@dataclass
class _Reader:
    """Reads the signatures of one callable."""

    function: Callable[..., Any]
    batched: bool
    name: str
    data: str

    def form(self, signature: inspect.Signature) -> Form:
        """Return the form of calls that a signature asks for, or raise `InputError`."""
        parameters = signature.parameters
        kinds = inspect.Parameter
        roles: dict[str, Role] = {}
        generators = self._generators(parameters)
        for name in generators:
            roles[name] = "rng"
        positional = [
            name for name, one in parameters.items() if one.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
        ]
        rows = next((name for name, one in parameters.items() if one.kind is kinds.VAR_POSITIONAL), "")
        asks_size = SIZE in parameters and parameters[SIZE].kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
        size_named = self.batched and asks_size and SIZE not in self._set_by_partial()
        free = [name for name in positional if name not in roles and not (size_named and name == SIZE)]
        if free:
            roles[free[0]] = "data"
        elif rows:
            roles[rows] = "data"
        if size_named:
            roles[SIZE] = "size"
        required = [name for name, one in parameters.items() if one.kind is kinds.KEYWORD_ONLY]
        required = [name for name in required if name not in roles and parameters[name].default is kinds.empty]
        if "data" not in roles.values():
            # A partial that sets the first parameter by name leaves the others for names alone.
            if len(required) != 1:
                raise self._error(signature, "it has no positional parameter for the data")
            roles[required.pop()] = "data"
        left = [name for name in free[1:] if parameters[name].default is kinds.empty]
        if not generators and self._takes_second(left, size_named):
            self._refuse_quantity(signature, left[0])
            roles[left.pop(0)] = "rng"
        if self.batched and not size_named:
            if not left:
                raise self._error(signature, "it has no parameter for the number of runs")
            roles[left.pop(0)] = "size"
        if left or required:
            raise self._too_many(signature, [*left, *required], left, free[0] if free else "")
        without = "" if "rng" in roles.values() else self._without(signature)
        return self._placed(parameters, roles, without)

    def _takes_second(self, left: Sequence[str], size_named: bool) -> bool:
        """Say whether the first of the required positional parameters after the data gets the generator."""
        return len(left) > (1 if self.batched and not size_named else 0)

    def _generators(self, parameters: Mapping[str, inspect.Parameter]) -> list[str]:
        """Return the parameters that ask for the generator by name and get it."""
        kinds = inspect.Parameter
        by_name = [
            name
            for name in GENERATORS
            if name in parameters and parameters[name].kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
        ]
        required = [name for name in by_name if parameters[name].default is kinds.empty]
        if required:
            return required
        set_before = self._set_by_partial()
        return [name for name in by_name if set_before.get(name) is None][:1]

    def _set_by_partial(self) -> dict[str, Any]:
        """Return the keyword arguments that `functools.partial` has set: who sets them says what they are."""
        found: dict[str, Any] = {}
        function: Any = self.function
        while isinstance(function, functools.partial):
            found = {**function.keywords, **found}
            function = function.func
        return found

    def _placed(self, parameters: Mapping[str, inspect.Parameter], roles: Mapping[str, Role], without: str) -> Form:
        """Return the form in which parameters get their roles."""
        kinds = inspect.Parameter
        only = [i for i, (name, one) in enumerate(parameters.items()) if one.kind is kinds.POSITIONAL_ONLY]
        last_only = max((i for i in only if list(parameters)[i] in roles), default=-1)
        positional: list[Role | Fixed] = []
        named: list[tuple[str, Role]] = []
        skipped = False
        for i, (name, one) in enumerate(parameters.items()):
            role = roles.get(name)
            if role is not None and (one.kind is kinds.KEYWORD_ONLY or skipped):
                named.append((name, role))
            elif role is not None:
                positional.append(role)
            elif i < last_only:
                # What comes after it is for positions alone, so its default is passed as it is.
                positional.append(Fixed(one.default))
            else:
                skipped = True
        filled = [parameters[name] for name, role in roles.items() if role == "rng"]
        old = any(one.name == OLD_GENERATOR for one in filled)
        seeds = [one for one in filled if isinstance(one.default, int | np.integer)]
        replaced = f"{seeds[0].name}={seeds[0].default!r}" if seeds else ""
        kinds_declared = [_declared_kind(one.annotation) for one in filled]
        return Form(tuple(positional), tuple(named), without, old, replaced, max(kinds_declared, default=0))

    def _without(self, signature: inspect.Signature) -> str:
        """Say why no parameter gets the generator."""
        kinds = inspect.Parameter
        fixed = [name for name, value in self._set_by_partial().items() if name in GENERATORS and value is not None]
        if fixed:
            return f"takes no generator: functools.partial has set {fixed[0]}"
        shown = _shown(signature)
        others = [one for one in signature.parameters.values() if one.kind is not kinds.VAR_KEYWORD][1:]
        if any(one.kind is kinds.VAR_POSITIONAL for one in signature.parameters.values()):
            return (
                f"takes no generator: its signature {shown} names none (a decorator should use functools.wraps; or "
                "pass lambda data, rng: ...)"
            )
        if others:
            return (
                f"takes no generator: in {shown} no parameter is named {', '.join(GENERATORS[:-1])} or "
                f"{GENERATORS[-1]}, and an option is never filled"
            )
        return "takes no generator"

    def _refuse_quantity(self, signature: inspect.Signature, name: str) -> None:
        """Raise `InputError` if the name of a parameter, or its annotation, says that it takes no generator."""
        words = _words(name)
        if not NAMED_GENERATORS.isdisjoint(words):
            return
        declared = signature.parameters[name].annotation
        declared = getattr(declared, "__name__", "") if isinstance(declared, type) else str(declared).strip("'\"")
        if not QUANTITIES.isdisjoint(words):
            what = "a quantity"
        elif not SWITCHES.isdisjoint(words):
            what = "an option"
        elif declared in PLAIN_TYPES and SEEDS.isdisjoint(words):
            what = f"declared as {declared}"
        else:
            return
        function = _called(self.function)
        message = "{must} must take {wanted}; the second parameter of {function}{signature}, {name}, is {what} "
        message += "and no generator: fix it, as functools.partial({function}, {name}=...) does"
        if not self.batched and SIZE in words:
            message += ", or pass {batched:=True} and {randomness:=own} if it is the number of runs to make"
        raise self._input_error(message, function=function, signature=_shown(signature), name=name, what=what)

    def _too_many(
        self, signature: inspect.Signature, more: Sequence[str], by_place: Sequence[str], first: str
    ) -> InputError:
        """Return the error of a function that needs more than it is given: the message shows how to fix it.

        A quantity that stands first is what has to be fixed, so that the data goes to one of the others.
        """
        named = {"data", "dataset", self.data}.intersection(more)
        if first and (named or not QUANTITIES.isdisjoint(_words(first))):
            # What is left of the others gets the data: by its name, or as the first that is no quantity.
            others = [name for name in more if QUANTITIES.isdisjoint(_words(name))]
            goes = next(iter(named), others[0] if others else more[0])
            shown = self._filled(signature, [first, *(name for name in more if name != goes)])
            message = "{must} must take {wanted}; the first parameter of {function}{signature}, {first}, gets the "
            message += "data: fix it, as functools.partial({function}, {filled}) does"
            return self._input_error(message, **shown, first=first)
        shown = self._filled(signature, more)
        message = "{must} must take {wanted}; {function}{signature} also needs {more}: fix it, as "
        message += "functools.partial({function}, {filled}) does"
        if not self.batched and len(more) == 1 and by_place and SWITCHES.isdisjoint(_words(more[0])):
            message += ", or pass {batched:=True} if it is the number of runs to make"
        return self._input_error(message, **shown)

    def _filled(self, signature: inspect.Signature, more: Sequence[str]) -> dict[str, str]:
        """Return the words of a message that shows how parameters are fixed."""
        shown: dict[str, str] = {
            "function": _called(self.function),
            "signature": _shown(signature),
            "more": ", ".join(more),
            "filled": ", ".join(f"{name}=..." for name in more),
        }
        return shown

    def _error(self, signature: inspect.Signature, why: str) -> InputError:
        single, many = f"({self.data}, rng)", f"({self.data}, rng, size) if batched"
        wanted = many if self.batched else f"{single}, or {many}"
        message = f"{self.name} must take {wanted}; {_called(self.function)}{_shown(signature)} does not: {why}"
        return InputError(message, parameter=self.name, allowed=wanted)

    def _input_error(self, message: str, **shown: str) -> InputError:
        wanted = f"({self.data}, rng, size)" if self.batched else f"({self.data}, rng)"
        shown |= {"must": self.name, "wanted": wanted}
        names = ("batched", "randomness")
        return InputError(message, parameter=self.name, allowed=wanted, names=names, **shown)


def _words(name: str) -> list[str]:
    return re.split(r"[_\d]+", name.lower())


def _called(function: Callable[..., Any]) -> str:
    if isinstance(function, functools.partial):
        return _called(function.func)
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _shown(signature: inspect.Signature) -> str:
    """Return a signature as text, without annotations; without defaults too where values are withheld."""
    plain = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    if hides():
        plain = [one.replace(default=one.empty if one.default is one.empty else ...) for one in plain]
    try:
        return str(inspect.Signature(plain))
    except Exception:  # the text of a default is code of the mechanism's
        return f"({', '.join(one.name for one in plain)})"


def _passes_on(signature: inspect.Signature) -> bool:
    """Say whether a signature takes any arguments, as that of a decorator's wrapper does that passes them on."""
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return any(one.kind in variable for one in signature.parameters.values())


def _agrees(actual: inspect.Signature, form: Form) -> bool:
    """Say whether a call in a form fits the signature that a wrapper has itself, and leaves its options alone."""
    kinds = inspect.Parameter
    marks = {role: object() for role in ("data", "rng", "size")}
    positional = [one.value if isinstance(one, Fixed) else marks[one] for one in form.positional]
    try:
        bound = actual.bind(*positional, **{name: marks[role] for name, role in form.named})
    except TypeError:
        return False
    for name, value in bound.arguments.items():
        one = actual.parameters[name]
        option = one.default is not kinds.empty and one.name not in GENERATORS
        if value is marks["rng"] and option:
            return False
    return True


def _signature(function: Any) -> inspect.Signature | None:
    """Return the signature of a callable; None if it has none."""
    if function is None:
        return None
    try:
        function = _dispatching(function)
        if sys.version_info >= (3, 14):
            from annotationlib import Format

            return inspect.signature(function, annotation_format=Format.FORWARDREF)
        return inspect.signature(function)
    except Exception:  # some built-ins have none, and `__signature__` may be any code
        return None


def _dispatching(function: Any) -> Any:
    """Return a callable whose signature is that of another, where `inspect` shows a parameter for the instance too.

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
    return method.func.__get__(held.get("obj"), held.get("cls"))


def _bare(function: Any) -> Any:
    """Return a callable with the parameters that one has itself, whatever it says of them; None if it is not known.

    `functools.wraps` and an attribute ``__signature__`` let a function show the parameters of another.
    """
    if isinstance(function, FunctionType):
        code, known = function.__code__, function.__globals__
        bare = FunctionType(code, known, function.__name__, function.__defaults__, function.__closure__)
        bare.__kwdefaults__ = function.__kwdefaults__
        if sys.version_info >= (3, 14):
            bare.__annotate__ = function.__annotate__  # which is code that is run where annotations are read
        else:
            bare.__annotations__ = function.__annotations__
        return bare
    if isinstance(function, MethodType):
        inner = _bare(function.__func__)
        return None if inner is None else MethodType(inner, function.__self__)
    if isinstance(function, functools.partial):
        inner = _bare(function.func)
        return None if inner is None else functools.partial(inner, *function.args, **function.keywords)
    if isinstance(function, type):
        return None
    call = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(call, FunctionType):
        return MethodType(_bare(call), function)
    if isinstance(call, staticmethod | classmethod):
        return _bare(function.__call__)
    return None

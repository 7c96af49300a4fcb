"""Decides which parameters of a callable get the data, the generator and the number of runs.

The rule, in the order in which parameters are chosen; a parameter gets one thing:

===========  =================================================================================================
the          goes to
===========  =================================================================================================
generator    every required parameter with a name of `GENERATORS`, wherever it stands; if none is required, to the
             first in that list's order that has a default and that no `functools.partial` has set to a value
data         the first other positional parameter; if there is none, to ``*args``; if there is none either, to the
             only required parameter that must be named
runs         a parameter named `SIZE`, of a batched mechanism
generator    the next required positional parameter, if no name asked for it. Its name and annotation must not say
             that it is something else. Of a batched mechanism without `SIZE`, the only one left gets the runs
runs         the next required positional parameter, of a batched mechanism without `SIZE`
nothing      every other parameter: options keep their defaults, ``*args`` and ``**kwargs`` stay empty
===========  =================================================================================================

A required parameter that gets nothing is an `InputError`, and so is a callable without a parameter for the data or the
runs. An option is never filled, because an audit that fills one runs another mechanism than its users do. A callable
that gets no generator may be audited if its randomness is its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter, Signature
from typing import TypeAlias

from dpaudit.errors import InputError
from dpaudit.running.calling import Called, Fixed, Form, Role, declared_kind, is_fixed_seed
from dpaudit.running.signatures import (
    Function,
    name_of,
    own_signature_of,
    passes_on,
    set_by_partial,
    shown,
    signature_of,
)

# The parameters of a callable by their names, in order.
Parameters: TypeAlias = Mapping[str, Parameter]
_VARIABLE = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
GENERATORS = ("rng", "generator", "random_state", "random_generator", "prng")
"""The names by which a parameter asks for the generator, in the order in which they are looked for."""
SIZE = "size"
"""The name by which a parameter asks for the number of runs that a batched call makes."""
# The name that scikit-learn gave to parameters which take a `RandomState`, and mostly refuse a `Generator`.
OLD_GENERATOR = "random_state"
# Words of a name that no generator has: a second required parameter of such a name is a quantity to be fixed.
QUANTITIES = frozenset(
    "epsilon eps delta scale sigma size n k bounds sensitivity "
    "rho mu budget multiplier clip clipping threshold bound lower upper iterations rounds".split()
)
# The same, of options and inputs: a generator is true, so that it would switch on whatever it is passed for.
SWITCHES = frozenset(
    "debug verbose exact quiet dry private noisy strict raw mode flag columns column labels query queries".split()
)
# Words of a name that ask for a generator, whatever else the name says: private_rng, or query_rng, is no option.
NAMED_GENERATORS = frozenset("rng prng generator random gen".split())
# Words of a name that an integer may have, in the place of a generator.
SEEDS = frozenset("seed key state".split())
# Types that a parameter may be declared to have, and that no generator has.
PLAIN_TYPES = ("bool", "float", "int", "str", "bytes", "complex", "list", "dict", "tuple", "set")


def with_generator(
    function: Function, *, batched: bool = False, name: str = "mechanism", data: str = "data"
) -> Function:
    """Return a function ``(data, rng) -> output``, or ``(data, rng, size)`` if `batched`, that calls another one.

    The generator is passed only to a parameter that asks for it (`form_of`). `InputError` is raised if a call must
    fail: the same TypeError in every run would look like privacy. It says that the parameter `name` must take `data`
    and a generator.
    """
    form = form_of(function, batched=batched, name=name, data=data)
    # A call of the function itself is the fastest.
    if form.plain:
        return function
    return Called(function, form)


def as_called(function: Function, *, batched: bool) -> Called:
    """Return a function of `with_generator` that passes another kind of generator if the function refuses the first."""
    if isinstance(function, Called):
        return function
    if batched:
        return Called(function, Form(("data", "rng", "size")))
    return Called(function, Form(("data", "rng")))


def quick(function: Function) -> Function:
    """Return the function to call after the first calls; it is a shorter way if it came from `as_called`."""
    return function.quick if isinstance(function, Called) else function


def generator_lacks(function: Function) -> str:
    """Say why a function of `with_generator` passes no generator, in words after its name; "" if it passes one."""
    return function.form.without if isinstance(function, Called) else ""


def replaced_seed(function: Function) -> str:
    """Return the default of a function of `with_generator` that is a fixed seed and is not used, as ``name=value``."""
    return function.form.replaced if isinstance(function, Called) else ""


def form_of(function: Function, *, batched: bool = False, name: str = "mechanism", data: str = "data") -> Form:
    """Return how a callable is called, by the rule at the head of this module.

    A callable that shows the parameters of another, as a decorator's wrapper does, is called by these if its own
    parameters pass them on; otherwise by its own.
    """
    declared = signature_of(function)
    actual = own_signature_of(function)
    asked = Asked(function, batched, name, data)
    if declared is None:
        return _form(asked, actual) if actual is not None else _unknown(batched)
    if actual is None:
        return _form(asked, declared)
    if passes_on(actual):
        form = _form(asked, declared)
        if _agrees(actual, form):
            return form
    return _form(asked, actual)


def _unknown(batched: bool) -> Form:
    """Return the form of a callable without a signature, as some built-ins are: it is never given a generator."""
    why = "shows no signature, so that nothing says which parameter takes a generator: wrap it, as "
    if batched:
        return Form(("data", "size"), without=f"{why}lambda data, rng, size: ...")
    return Form(("data",), without=f"{why}lambda data, rng: ...")


def _form(asked: Asked, signature: Signature) -> Form:
    """Return the form of calls that a signature asks for, or raise `InputError`."""
    parameters = signature.parameters
    generators = _named_generators(asked, parameters)
    roles: dict[str, Role] = dict.fromkeys(generators, "rng")
    takes_size = asked.batched and _has_size(asked, parameters)

    free = [name for name in _positional(parameters) if name not in roles and not (takes_size and name == SIZE)]
    rows = next((name for name, one in parameters.items() if one.kind is Parameter.VAR_POSITIONAL), "")
    if free:
        roles[free[0]] = "data"
    elif rows:
        roles[rows] = "data"
    if takes_size:
        roles[SIZE] = "size"
    required = [name for name, one in parameters.items() if one.kind is Parameter.KEYWORD_ONLY and _is_required(one)]
    required = [name for name in required if name not in roles]
    if "data" not in roles.values():
        # A partial that sets the first parameter by name leaves the others for names alone.
        if len(required) != 1:
            raise asked.lacks(signature, "it has no positional parameter for the data")
        roles[required.pop()] = "data"

    left = [name for name in free[1:] if _is_required(parameters[name])]
    needs_size = asked.batched and not takes_size
    if not generators and len(left) > needs_size:
        what = not_a_generator(parameters[left[0]])
        if what:
            raise asked.no_generator(signature, left[0], what)
        roles[left.pop(0)] = "rng"
    if needs_size:
        if not left:
            raise asked.lacks(signature, "it has no parameter for the number of runs")
        roles[left.pop(0)] = "size"
    if left or required:
        raise asked.too_many(signature, [*left, *required], left, free[0] if free else "")
    form = _placed(parameters, roles)
    if "rng" in roles.values():
        return form
    return replace(form, without=why_none(asked.function, signature))


def _positional(parameters: Parameters) -> list[str]:
    by_place = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return [name for name, one in parameters.items() if one.kind in by_place]


def _is_required(parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty


def _has_size(asked: Asked, parameters: Parameters) -> bool:
    """Say whether a parameter asks for the number of runs by its name; one that a partial has set does not."""
    there = SIZE in parameters and parameters[SIZE].kind not in _VARIABLE
    return there and SIZE not in set_by_partial(asked.function)


def _named_generators(asked: Asked, parameters: Parameters) -> list[str]:
    """Return the parameters that ask for the generator by name and get it."""
    by_name = [name for name in GENERATORS if name in parameters and parameters[name].kind not in _VARIABLE]
    required = [name for name in by_name if _is_required(parameters[name])]
    if required:
        return required
    # Who sets a parameter by a partial says what it is; None says nothing.
    set_before = set_by_partial(asked.function)
    return [name for name in by_name if set_before.get(name) is None][:1]


def _placed(parameters: Parameters, roles: Mapping[str, Role]) -> Form:
    """Return the form in which parameters get their roles."""
    last_only = max(
        (i for i, (name, one) in enumerate(parameters.items()) if one.kind is one.POSITIONAL_ONLY and name in roles),
        default=-1,
    )
    positional: list[Role | Fixed] = []
    named: list[tuple[str, Role]] = []
    skipped = False
    for i, (name, one) in enumerate(parameters.items()):
        role = roles.get(name)
        if role is not None and (one.kind is Parameter.KEYWORD_ONLY or skipped):
            named.append((name, role))
        elif role is not None:
            positional.append(role)
        elif i < last_only:
            # A later one can be passed by its position alone, so this one's default is passed as it is.
            positional.append(Fixed(one.default))
        else:
            skipped = True
    filled = [parameters[name] for name, role in roles.items() if role == "rng"]
    seeds = [one for one in filled if is_fixed_seed(one)]
    return Form(
        tuple(positional),
        tuple(named),
        old=any(one.name == OLD_GENERATOR for one in filled),
        replaced=f"{seeds[0].name}={seeds[0].default!r}" if seeds else "",
        kind=max((declared_kind(one.annotation) for one in filled), default=0),
    )


def _agrees(actual: Signature, form: Form) -> bool:
    """Say whether a call in a form fits the signature that a wrapper has itself, and leaves its options alone."""
    generator = object()
    positional, named = form.arguments({"data": object(), "rng": generator, "size": object()})
    try:
        bound = actual.bind(*positional, **named)
    except TypeError:
        return False
    for name, value in bound.arguments.items():
        one = actual.parameters[name]
        if value is generator and not _is_required(one) and one.name not in GENERATORS:
            return False
    return True


def words_of(name: str) -> list[str]:
    """Return the words of a name."""
    return re.split(r"[_\d]+", name.lower())


def is_quantity(name: str) -> bool:
    """Say whether a name is that of a quantity."""
    return not QUANTITIES.isdisjoint(words_of(name))


def not_a_generator(parameter: Parameter) -> str:
    """Say why a parameter takes no generator, or return "" if it may take one."""
    words = words_of(parameter.name)
    if not NAMED_GENERATORS.isdisjoint(words):
        return ""
    if not QUANTITIES.isdisjoint(words):
        return "a quantity"
    if not SWITCHES.isdisjoint(words):
        return "an option"
    declared = _declared(parameter)
    if declared in PLAIN_TYPES and SEEDS.isdisjoint(words):
        return f"declared as {declared}"
    return ""


def _declared(parameter: Parameter) -> str:
    """Return the name of the type that a parameter is declared to have."""
    declared = parameter.annotation
    if isinstance(declared, type):
        return declared.__name__
    # An annotation that was written in quotes keeps them.
    return str(declared).strip("'\"")


# Errors of callables that cannot be called with the data and a generator; each says how to mend it.


@dataclass(frozen=True)
class Asked:
    """A request to a callable: the parameter `name` of an audit must take `data` and a generator.

    If `batched`, it must take the number of runs as well.
    """

    function: Function
    batched: bool
    name: str
    data: str

    @property
    def wanted(self) -> str:
        """The signature that is wanted."""
        if self.batched:
            return f"({self.data}, rng, size)"
        return f"({self.data}, rng)"

    def lacks(self, signature: Signature, why: str) -> InputError:
        """Return the error of a function that has no parameter for the data or for the number of runs."""
        many = f"({self.data}, rng, size) if batched"
        wanted = many if self.batched else f"{self.wanted}, or {many}"
        message = f"{self.name} must take {wanted}; {name_of(self.function)}{shown(signature)} does not: {why}"
        return InputError(message, parameter=self.name, allowed=wanted)

    def no_generator(self, signature: Signature, name: str, what: str) -> InputError:
        """Return the error of a function whose second required parameter takes no generator, but `what` it is."""
        message = "{must} must take {wanted}; the second parameter of {function}{signature}, {name}, is {what} "
        message += "and no generator: fix it, as functools.partial({function}, {name}=...) does"
        if not self.batched and SIZE in words_of(name):
            message += ", or pass {batched:=True} and {randomness:=own} if it is the number of runs to make"
        return self._error(message, signature, name=name, what=what)

    def too_many(self, signature: Signature, more: Sequence[str], by_place: Sequence[str], first: str) -> InputError:
        """Return the error of a function that needs more than it is given: the message shows how to fix it.

        A quantity that stands first is what has to be fixed, so that the data goes to one of the others.
        """
        named = {"data", "dataset", self.data}.intersection(more)
        if first and (named or is_quantity(first)):
            # Of the others, the data goes to the one of its name, or to the first that is no quantity.
            goes = next(iter(named), next((name for name in more if not is_quantity(name)), more[0]))
            message = "{must} must take {wanted}; the first parameter of {function}{signature}, {first}, gets the "
            message += "data: fix it, as functools.partial({function}, {filled}) does"
            return self._error(message, signature, [first, *(name for name in more if name != goes)], first=first)
        message = "{must} must take {wanted}; {function}{signature} also needs {more}: fix it, as "
        message += "functools.partial({function}, {filled}) does"
        if not self.batched and len(more) == 1 and by_place and SWITCHES.isdisjoint(words_of(more[0])):
            message += ", or pass {batched:=True} if it is the number of runs to make"
        return self._error(message, signature, more)

    def _error(
        self,
        message: str,
        signature: Signature,
        more: Sequence[str] = (),
        *,
        first: str = "",
        name: str = "",
        what: str = "",
    ) -> InputError:
        return InputError(
            message,
            parameter=self.name,
            allowed=self.wanted,
            names=("batched", "randomness"),
            must=self.name,
            wanted=self.wanted,
            function=name_of(self.function),
            signature=shown(signature),
            more=", ".join(more),
            filled=", ".join(f"{one}=..." for one in more),
            first=first,
            name=name,
            what=what,
        )


def why_none(function: Function, signature: Signature) -> str:
    """Say why no parameter gets the generator, in words that follow the callable's name."""
    fixed = [name for name, value in set_by_partial(function).items() if name in GENERATORS and value is not None]
    if fixed:
        return f"takes no generator: functools.partial has set {fixed[0]}"
    text = shown(signature)
    others = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD][1:]
    if any(one.kind is one.VAR_POSITIONAL for one in signature.parameters.values()):
        return (
            f"takes no generator: its signature {text} names none (a decorator should use functools.wraps; or "
            "pass lambda data, rng: ...)"
        )
    if others:
        return (
            f"takes no generator: in {text} no parameter is named {', '.join(GENERATORS[:-1])} or "
            f"{GENERATORS[-1]}, and an option is never filled"
        )
    return "takes no generator"

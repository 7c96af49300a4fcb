"""Errors of callables that cannot be called with the data and a generator; each says how to mend it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass

from dpaudit.errors import InputError
from dpaudit.running.parameter_words import GENERATORS, SIZE, SWITCHES, is_quantity, words_of
from dpaudit.running.signatures import Function, name_of, set_by_partial, shown


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

    def lacks(self, signature: inspect.Signature, why: str) -> InputError:
        """Return the error of a function that has no parameter for the data or for the number of runs."""
        many = f"({self.data}, rng, size) if batched"
        wanted = many if self.batched else f"{self.wanted}, or {many}"
        message = f"{self.name} must take {wanted}; {name_of(self.function)}{shown(signature)} does not: {why}"
        return InputError(message, parameter=self.name, allowed=wanted)

    def no_generator(self, signature: inspect.Signature, name: str, what: str) -> InputError:
        """Return the error of a function whose second required parameter takes no generator, but `what` it is."""
        message = "{must} must take {wanted}; the second parameter of {function}{signature}, {name}, is {what} "
        message += "and no generator: fix it, as functools.partial({function}, {name}=...) does"
        if not self.batched and SIZE in words_of(name):
            message += ", or pass {batched:=True} and {randomness:=own} if it is the number of runs to make"
        return self._error(message, signature, name=name, what=what)

    def too_many(
        self, signature: inspect.Signature, more: Sequence[str], by_place: Sequence[str], first: str
    ) -> InputError:
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
        signature: inspect.Signature,
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


def why_none(function: Function, signature: inspect.Signature) -> str:
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

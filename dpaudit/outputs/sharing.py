"""Finds the parts that outputs of several runs share, and shows outputs without them.

A mechanism may return the same array from every run and write each output into it: earlier outputs are then lost. Or
its outputs are new objects that hold one common part besides their own, as the models of diffprivlib hold an
accountant. The state of such a part at the time when an output was released is not known any more, so the part is left
out, and named.
"""

from __future__ import annotations

import json
from array import array
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dpaudit.errors import InputError, SharedPart
from dpaudit.outputs.canonical import canonical
from dpaudit.outputs.decoding import stand_in
from dpaudit.outputs.metadata import Metadata, WithMetadata
from dpaudit.outputs.parts import parts
from dpaudit.withheld import foreign

# Levels of parts that are looked through, parts of each, and parts of an output in all.
LEVELS = 6
EACH = 64
MOST = 2_000
# Stands in an output for a part that is left out, so that its presence is still seen.
LEFT_OUT = True

Step: TypeAlias = tuple[str, str | int]
"""A step from an output to a part: "key" or "item" and which, or "part" and the name of an attribute."""
Place: TypeAlias = tuple[Step, ...]

_FIXED = (bool, int, float, complex, str, bytes, type(None), type, np.generic)
_BUFFERS = (np.ndarray, bytearray, memoryview, array)
_CONTAINERS = (dict, list, tuple)


@dataclass(frozen=True)
class Part:
    """A part of two outputs that is one object, or arrays of one memory.

    If the `place` is empty, it is the outputs themselves. The `label` is the cell of its content when it was found.
    """

    place: Place
    held: Any
    label: Hashable

    @property
    def changed(self) -> bool:
        """Whether it holds something else now."""
        return label_of(self.held) != self.label

    @property
    def overwritten(self) -> bool:
        """Whether it is memory that outputs are written into, so that its former content is lost.

        It is an array, or a list of as many numbers as before; a list that has grown, a dictionary and an object of a
        class of its own may be a log, a cache or an accountant.
        """
        if isinstance(self.held, _BUFFERS) or hasattr(type(self.held), "__array__"):
            return True
        if not isinstance(self.held, list | deque) or not self.held:
            return False
        same = isinstance(self.label, tuple) and len(self.label) == 2 and len(self.label[1]) == len(self.held)
        return same and all(isinstance(one, int | float | complex | np.number) for one in self.held)


def label_of(value: Any) -> Hashable:
    """Return the cell of a value, or None if it cannot be taken apart, which is refused elsewhere."""
    try:
        return canonical(value)
    except InputError:
        return None


def shared_parts(first: Any, second: Any) -> list[Part]:
    """Return the outermost parts that two outputs share and that could change."""
    if type(first) in _FIXED:
        return []
    left = [MOST]
    return list(_shared(first, second, (), left))


def _shared(first: Any, second: Any, place: Place, left: list[int]) -> Iterator[Part]:
    left[0] -= 1
    if left[0] < 0 or len(place) > LEVELS or isinstance(first, _FIXED):
        return
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        # Two views of one buffer are different objects, so that memory is asked about and not identity.
        if first.size and np.may_share_memory(first, second):
            yield Part(place, first, label_of(first))
        return
    # A tuple cannot change; what is in it can, and is looked at below.
    if first is second and not isinstance(first, tuple | frozenset):
        yield Part(place, first, label_of(first))
        return
    if type(first) is not type(second):
        return
    others = dict(_inside(second))
    for step, part in _inside(first):
        if step in others:
            yield from _shared(part, others[step], (*place, step), left)


def _inside(value: Any) -> list[tuple[Step, Any]]:
    """Return the parts of a value with the steps to them; a value that is read as a whole has none."""
    kind = type(value)
    if kind is dict:
        items = list(value.items())[:EACH]
        return [(("key", key), part) for key, part in items if type(key) in (str, int)]
    if kind in (list, tuple):
        return [(("item", i), part) for i, part in enumerate(value[:EACH])]
    if isinstance(value, (*_FIXED, *_CONTAINERS, set, frozenset)):
        return []
    held = _parts(value)
    if type(held) is not dict:
        return []
    return [(("part", name), part) for name, part in list(held.items())[:EACH] if type(name) is str]


def _parts(value: Any) -> Any:
    try:
        return _split(value)[0]
    except (InputError, RecursionError):
        return None


def _split(value: Any) -> tuple[Any, Metadata | None]:
    """Return the parts of an object, and their metadata, as the state of an estimator of scikit-learn."""
    held = parts(value)
    if isinstance(held, WithMetadata):
        return held.values, held.metadata
    return held, None


def without(output: Any, places: Sequence[Place]) -> Any:
    """Return an output, or a stand-in for it, that has `LEFT_OUT` at the given places.

    A number, a text or None in such a place stays: it is no part that runs share.
    """
    if not places:
        return output
    if () in places:
        return output if isinstance(output, _FIXED) else LEFT_OUT
    found = dict(_inside(output))
    replaced = {step: without(found[step], rest) for step, rest in _below(places).items() if step in found}
    if not replaced:
        return output
    kind = type(output)
    if kind is dict:
        return {key: replaced.get(("key", key), part) if _plain(key) else part for key, part in output.items()}
    if kind in (list, tuple):
        return kind([replaced.get(("item", i), part) for i, part in enumerate(output)])
    held, metadata = _split(output)
    shown = {name: replaced.get(("part", name), part) for name, part in held.items()}
    made = stand_in(kind, shown)
    if metadata is None:
        return made
    return WithMetadata(made, metadata)


def _below(places: Sequence[Place]) -> dict[Step, list[Place]]:
    """Return the places in each part of an output, by the step to the part."""
    below: dict[Step, list[Place]] = {}
    for step, *rest in places:
        below.setdefault(step, []).append(tuple(rest))
    return below


def _plain(key: Hashable) -> bool:
    return type(key) in (str, int)


def remains(output: Any, places: Sequence[Place]) -> bool:
    """Say whether an output holds anything else than the parts at some places."""
    if () in places:
        return False
    below = _below(places)
    return any(step not in below or remains(part, below[step]) for step, part in _inside(output))


def refuse_shared(found: Sequence[Part], output: Any) -> None:
    """Raise `SharedPart` for parts that runs share and change; `InputError` if outputs are lost by that."""
    if not found:
        raise changes_itself(output) or overwritten(output)
    places = tuple(part.place for part in found)
    lost = next((part for part in found if part.overwritten or not part.place), None)
    if lost is None and not remains(output, places):
        lost = found[0]
    if lost is not None:
        raise overwritten(lost.held)
    told = [f"{in_words(part.place)}, {_kind(part.held)}" for part in found]
    raise shared_part(tuple(zip(places, told, strict=True)))


def overwritten(held: Any) -> InputError:
    """Return the error of a mechanism that writes each output into the same object."""
    kind = foreign(type(held).__name__, "object")
    why = f"the mechanism returns the same {kind} from several runs and changes it in between, so that outputs "
    return InputError(why + "are lost: return a new one each time, as copy.deepcopy(output)")


def changes_itself(output: Any) -> InputError | None:
    """Return the error of an output that changes when it is read, or None for others.

    Such an output counts how often it is read, or fills a cache: it holds more than the mechanism has put into it.
    """
    # Read twice: an output that changes by being read gives two cells.
    if label_of(output) == label_of(output):
        return None
    kind = foreign(type(output).__qualname__, "object")
    return InputError(
        f"an output of type {kind} changes whenever it is looked at: return what of it matters, or say how to take it "
        f"apart, by dpaudit.register_flattener({kind}, lambda output: ...)"
    )


def shared_part(told: Sequence[tuple[Place, str]]) -> SharedPart:
    """Return the error of outputs that share parts, given the place of each and a description."""
    words = "; ".join(text for _, text in told)
    message = f"all runs share a part of their outputs and change it in between: {words}; return what matters of the "
    message += "output without it, or give each run one of its own"
    value = json.dumps([[list(map(list, place)), text] for place, text in told])
    return SharedPart(message, value=value)


def places_of(error: SharedPart) -> tuple[tuple[Place, str], ...]:
    """Return the places that an error names, and a description of the part at each."""
    read = json.loads(str(error.value))
    return tuple((tuple((kind, at) for kind, at in place), text) for place, text in read)


def in_words(place: Place) -> str:
    """Return a place in the words that features have: output['accountant'], output[1]."""
    text = "output"
    for kind, at in place:
        shown = str(at) if kind == "item" else foreign(repr(at))
        text += f"[{shown}]"
    return text


def _kind(held: Any) -> str:
    name = foreign(type(held).__name__, "object")
    article = "an" if name[:1].lower() in "aeiou" else "a"
    return f"{article} {name} that all runs share and change"

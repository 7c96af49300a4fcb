"""A generator that notes, run by run, whether it was advanced, and whether its state was read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from dpaudit.errors import ToolFault

# Attributes of a bit generator from which another generator can be made that repeats its stream.
READING = frozenset({
    "state", "seed_seq", "_seed_seq", "jumped", "spawn", "__reduce__", "__reduce_ex__", "__getstate__", "__deepcopy__",
    "__copy__",
})  # fmt: skip

# Generators that the runs of a call may spawn: they are counted by spawning as many.
MOST_SPAWNED = 10**6


class Use(NamedTuple):
    """The use that a run, or a call that makes many, makes of its generator.

    It is `advanced` by any draw, and by spawning; it is `read` where its state, its seed or a copy of it is asked for.
    """

    advanced: bool
    read: bool

    @property
    def copied(self) -> bool:
        """Whether noise can have come from a copy alone: the next run has the same generator again."""
        return self.read and not self.advanced


class Watched(np.random.PCG64):
    """A PCG64 that notes what is read of it.

    Copies of it are plain ones, and a `Generator` over it is of exactly that type. What draws numbers calls C functions
    of the bit generator and reads none of the attributes named in `READING`.
    """

    noted: bool = False
    """Whether anything was read since this was set to False."""
    uses: tuple[Use, ...] = ()
    """The use of each run that has ended, where runs are told apart."""
    began: tuple[int, ...] = ()
    """Its `mark` when it was made."""

    def __getattribute__(self, name: str) -> Any:
        """Return an attribute, and note it if it is one of `READING`."""
        if name in READING:
            object.__setattr__(self, "noted", True)
        return super().__getattribute__(name)

    def __reduce__(self) -> Any:
        """Return what makes a plain copy, so that another process needs nothing but numpy."""
        plain = np.random.PCG64(_SEED.__get__(self))
        plain.state = _STATE.__get__(self)
        return plain.__reduce__()

    def used(self) -> tuple[Use, ...]:
        """Return the use of each run; where these are not told apart, that of all of them as one."""
        return self.uses or (Use(self.mark() != self.began, self.noted),)

    def mark(self) -> tuple[int, ...]:
        """Return what changes where it is advanced: its state, and how many children its seed has spawned."""
        return (*_flat(_STATE.__get__(self)), _SEED.__get__(self).n_children_spawned)


# Its state names its class, and is to be one that a plain PCG64 takes.
Watched.__name__ = "PCG64"
# Read by these descriptors an attribute is not noted: it is not the mechanism that asks.
_STATE = np.random.PCG64.state
_SEED = np.random.PCG64.seed_seq


def _flat(state: Mapping[str, Any]) -> tuple[int, ...]:
    return (*state["state"].values(), state["has_uint32"], state["uinteger"])


def watched(rng: np.random.Generator) -> np.random.Generator:
    """Return a generator that goes on as another does, a new PCG64, and is watched."""
    plain: Any = rng.bit_generator
    bits = Watched(plain.seed_seq)
    bits.state = plain.state
    bits.began = bits.mark()
    # Last, since the lines above have read it.
    bits.noted = False
    return np.random.Generator(bits)


def state_of(rng: np.random.Generator) -> Mapping[str, Any]:
    """Return the state of a generator; that it was read is not noted, since it is not the mechanism that asks."""
    bits: Any = rng.bit_generator
    found: Mapping[str, Any] = _STATE.__get__(bits) if isinstance(bits, np.random.PCG64) else bits.state
    return found


def address_of(rng: np.random.Generator) -> dict[str, Any]:
    """Return where a generator is, a PCG64, in plain values: its seed, what it has spawned, and its position.

    That this is asked is not noted.
    """
    seed = _SEED.__get__(rng.bit_generator)
    return {
        "entropy": seed.entropy,
        "key": list(seed.spawn_key),
        "pool": seed.pool_size,
        "spawned": seed.n_children_spawned,
        "increment": f"{state_of(rng)['state']['inc']:x}",
        "position": position_of(rng),
    }


def position_of(rng: np.random.Generator) -> list[str | int]:
    """Return what drawing and spawning change: the state, the half of a draw that is left, the number of children."""
    state = state_of(rng)
    spawned = _SEED.__get__(rng.bit_generator).n_children_spawned
    return [f"{state['state']['state']:x}", state["has_uint32"], state["uinteger"], spawned]


def generator_at(address: dict[str, Any]) -> np.random.Generator:
    """Return the generator at an address."""
    seed = np.random.SeedSequence(
        address["entropy"],
        spawn_key=tuple(address["key"]),
        pool_size=address["pool"],
        n_children_spawned=address["spawned"],
    )
    bits = np.random.PCG64(seed)
    state, has_half, half, _ = address["position"]
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": int(state, 16), "inc": int(address["increment"], 16)},
        "has_uint32": has_half,
        "uinteger": half,
    }
    return np.random.Generator(bits)


def go_on(rng: np.random.Generator, position: Sequence[Any]) -> None:
    """Move a generator to a position that a child has sent; `ToolFault` if it is none of this generator."""
    state, has_half, half, spawned = position
    seed = _SEED.__get__(rng.bit_generator)
    more = int(spawned) - seed.n_children_spawned
    # A number that no mechanism reaches: spawning so many would take the audit's time and memory.
    if not 0 <= more <= MOST_SPAWNED:
        raise ToolFault(f"the generator has spawned {spawned} children, after {seed.n_children_spawned}")
    # The increment stays: it is a part of the address, and no run changes it.
    moved = dict(state_of(rng))
    moved["state"] = {**moved["state"], "state": int(state, 16)}
    moved["has_uint32"] = has_half
    moved["uinteger"] = half
    rng.bit_generator.state = moved
    if more:
        seed.spawn(more)


def watcher(rng: np.random.Generator) -> Watched | None:
    """Return what watches a generator; None if nothing does."""
    bits = rng.bit_generator
    return bits if isinstance(bits, Watched) else None


def each_run(data: Any, rng: np.random.Generator, size: int) -> Iterator[tuple[Any, np.random.Generator]]:
    """Yield the input and the generator so many times, and note the use that is made of one that is watched."""
    watch = watcher(rng)
    if watch is None:
        yield from repeat((data, rng), size)
        return
    for _ in range(size):
        before = watch.mark()
        watch.noted = False
        yield data, rng
        watch.uses = (*watch.uses, Use(watch.mark() != before, watch.noted))

"""A watched generator goes on as a plain one does, and notes what reads it without advancing it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator, Philox, RandomState, default_rng

from dpaudit import seeding
from dpaudit.running.watched import Use, each_run, watched, watcher

COPYING: dict[str, Callable[[Any], Any]] = {
    "deepcopy": lambda rng: copy.deepcopy(rng).random(),
    "deepcopy of the bits": lambda rng: Generator(copy.deepcopy(rng.bit_generator)).random(),
    "pickle": lambda rng: pickle.loads(pickle.dumps(rng)).random(),
    "seed sequence": lambda rng: default_rng(rng.bit_generator.seed_seq).random(),
    "words of the seed": lambda rng: default_rng(rng.bit_generator.seed_seq.generate_state(4)).random(),
    "state": lambda rng: default_rng(rng.bit_generator.state["state"]["state"]).random(),
    "jumped": lambda rng: Generator(rng.bit_generator.jumped()).random(),
    "another kind": lambda rng: Generator(Philox(rng.bit_generator.seed_seq)).random(),
    "a RandomState": lambda rng: RandomState(copy.deepcopy(rng.bit_generator)).random_sample(),
}
ADVANCING: dict[str, Callable[[Any], Any]] = {
    "draw": lambda rng: rng.laplace(),
    "half a word": lambda rng: rng.integers(2, dtype=np.int32),
    "shallow copy": lambda rng: copy.copy(rng).random(),
    "RandomState on it": lambda rng: RandomState(rng.bit_generator).random_sample(),
    "Generator on it": lambda rng: Generator(rng.bit_generator).random(),
    "spawn": lambda rng: rng.spawn(1)[0].random(),
    "spawn of the bits": lambda rng: Generator(rng.bit_generator.spawn(1)[0]).random(),
    "spawn of the seed": lambda rng: default_rng(rng.bit_generator.seed_seq.spawn(1)[0]).random(),
    "words": lambda rng: rng.bit_generator.random_raw(),
    "skip": lambda rng: rng.bit_generator.advance(5),
}
NEITHER: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda rng: 0,
    "its kind": lambda rng: (type(rng), str(rng), repr(rng), isinstance(rng, Generator), hasattr(rng, "bit_generator")),
    "the same again": lambda rng: default_rng(rng),
}


def used(run: Callable[[Any], Any]) -> tuple[Use, ...]:
    """Return the use that two runs make of a generator."""
    rng = watched(seeding.generator(0, "watched"))
    for _, given in each_run(None, rng, 2):
        run(given)
    watch = watcher(rng)
    assert watch is not None
    return watch.used()


@pytest.mark.parametrize("name", COPYING)
def test_a_copy_is_noted(name: str) -> None:
    assert used(COPYING[name]) == (Use(advanced=False, read=True),) * 2


@pytest.mark.parametrize("name", ADVANCING)
def test_what_advances_is_no_copy(name: str) -> None:
    uses = used(ADVANCING[name])
    assert [use.advanced for use in uses] == [True, True]
    assert not any(use.copied for use in uses)


@pytest.mark.parametrize("name", NEITHER)
def test_what_looks_at_it_alone_is_no_copy(name: str) -> None:
    assert used(NEITHER[name]) == (Use(advanced=False, read=False),) * 2


def test_each_run_is_told_from_the_next() -> None:
    runs = iter([COPYING["pickle"], ADVANCING["draw"]])
    assert [use.copied for use in used(lambda rng: next(runs)(rng))] == [True, False]


def test_a_watched_generator_is_like_the_one_it_goes_on_from() -> None:
    plain = seeding.generator(0, "watched")
    plain.integers(2, dtype=np.int32)
    rng = watched(plain)
    assert type(rng) is Generator
    assert str(rng) == str(plain)
    assert type(copy.deepcopy(rng).bit_generator) is np.random.PCG64
    assert pickle.loads(pickle.dumps(rng)).random() == copy.deepcopy(rng).random()
    assert rng.random(5).tolist() == plain.random(5).tolist()
    # They share the seed, which counts its children.
    assert rng.spawn(1)[0].random() == seeding.generator(0, "watched").spawn(1)[0].random()
    assert watcher(plain) is None
    assert len(list(each_run("data", plain, 3))) == 3

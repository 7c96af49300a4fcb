"""An audit finds the same where numpy has none of the processor's wide instructions: last digits choose nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy._core import _multiarray_umath
from stored_numbers import numbers_of, same

from dpaudit.events.cells import to_grid
from dpaudit.evidence.perform import perform
from dpaudit.evidence.records import Result
from dpaudit.evidence.store import load_run
from dpaudit.evidence.tasks import Task
from dpaudit.record import encodable

STORED = Path(__file__).parent / "run_pinned.jsonl"
NEARLY_EQUAL = ["convex-polygon/privacy/n2-c6c3b7e5a6", "disc-union/privacy/n2-ac70c3f359"]
"""Tasks with events of nearly equal promise: they were other ones on processors with AVX-512 and with SSE only."""


def stored(key: str) -> Result:
    """Return the stored result of a task."""
    (before,) = (result for result in load_run(STORED).results if result.task == key)
    return before


def plain(numbers: object) -> dict[str, object]:
    """Return numbers as JSON holds them."""
    read: dict[str, object] = json.loads(json.dumps(numbers))
    return read


def found(key: str) -> dict[str, object]:
    """Return the numbers of a stored task, done today."""
    before = stored(key)
    today = perform(Task(before.learner, before.parameters, before.arguments), seed=load_run(STORED).header.seed)
    return plain(numbers_of(encodable(today)))


@pytest.mark.skipif(not any(map(_multiarray_umath.__cpu_features__.get, _multiarray_umath.__cpu_dispatch__)),
                    reason="this processor has nothing to leave out")  # fmt: skip
@pytest.mark.full  # a process of its own that is slow: it is about a processor, and no change of code
@pytest.mark.parametrize("key", NEARLY_EQUAL)
def test_the_numbers_are_those_of_a_plainer_processor(key: str) -> None:
    had = [name for name in _multiarray_umath.__cpu_dispatch__ if _multiarray_umath.__cpu_features__.get(name)]
    code = f"import json; from {__name__} import found; print(json.dumps(found({key!r})))"
    environment = os.environ | {"NPY_DISABLE_CPU_FEATURES": " ".join(had)}
    here = Path(__file__).parent
    environment["PYTHONPATH"] = os.pathsep.join([str(here), str(here.parent / "support"), *sys.path])
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    # That this processor finds the stored numbers is tested in test_bit_identity.
    assert same(plain(numbers_of(encodable(stored(key)))), json.loads(printed.stdout))


def test_numbers_that_differ_in_their_last_digits_are_equal() -> None:
    values = np.log(np.arange(1, 50) / 7.0)
    assert (to_grid(values) == to_grid(values * (1 + 4e-16))).all()
    assert (to_grid(values) == to_grid(values + 2**-32 * 1.01)).sum() == 0
    assert np.isneginf(to_grid(np.array([-np.inf]))[0])

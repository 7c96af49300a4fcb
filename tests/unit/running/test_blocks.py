"""Items are answered in their order by children that are kept, and whatever else comes is no answer."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

import dpaudit
from dpaudit.audit.audit import audit_privacy
from dpaudit.running.child import Child
from dpaudit.running.processes import APART, ChildDied
from dpaudit.running.workers import in_blocks
from tests.support.grouped import grouped

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")


def squares(emit, items):
    for item in items:
        time.sleep(0.02 if item == 0 else 0)
        emit(b"%d" % item**2)
    return b"warned"


def dies(emit, items):
    for item in items:
        if item == 30:
            os._exit(4)
        emit(b"%d" % item)
    return b""


def too_few(emit, items):
    emit(b"")
    return b""


def too_many(emit, items):
    for _ in range(1 + len(items)):
        emit(b"")
    return b""


def answers(children, items, warned=lambda content: None):
    return in_blocks(children, lambda child, block: child.begin(block), items, warned)


@pytest.fixture
def children(request):
    made = [Child(request.param) for _ in range(2)]
    yield made
    for one in made:
        one.close()


@pytest.mark.parametrize("children", [squares], indirect=True)
def test_answers_have_the_order_of_the_items_and_children_go_on(children):
    heard = []
    for number in (0, 1, 50, 1000):
        found = [int(one) for one in answers(children, range(number), heard.append)]
        assert found == [i**2 for i in range(number)]
    assert set(heard) == {b"warned"}
    assert not any(child.closed for child in children)


@pytest.mark.parametrize("children", [squares], indirect=True)
def test_a_caller_that_stops_ends_the_children_at_work(children):
    found = answers(children, range(100_000))
    next(found)
    found.close()
    assert any(child.closed for child in children)


@pytest.mark.parametrize(
    ("children", "why"),
    [(dies, "exit status 4"), (too_few, "no answer"), (too_many, "no answer")],
    indirect=["children"],
)
def test_a_child_that_does_not_answer_each_item_once_has_died(children, why):
    with pytest.raises(ChildDied, match=why):
        list(answers(children, range(100)))


class Strange:
    """An output of a class of the mechanism's own."""

    def __init__(self, value):
        self.value = value


def strange(data, rng):
    return {"seen": Strange(round(data + rng.laplace(), 1))}


def rows(data, rng):
    return data + rng.laplace(size=200)


def batch(data, rng, size):
    return data + rng.laplace(size=size)


@pytest.mark.parametrize("mechanism", [strange, rows, batch])
@pytest.mark.parametrize("how", [{}, {"sequential": True}, {"delta": 0.01}])
def test_findings_are_those_of_runs_in_this_process(mechanism, how, request):
    trials = 3_000 if request.config.getoption("--profile") == "full" else 1_000
    given = {"trials": trials, "batched": mechanism is batch, **how}
    here = audit_privacy(mechanism, [(0.0, 1.0)], **grouped(epsilon=0.5, **given))
    APART.append(True)
    try:
        apart = [
            audit_privacy(mechanism, [(0.0, 1.0)], **grouped(epsilon=0.5, n_jobs=jobs, **given)) for jobs in (1, 2)
        ]
    finally:
        APART.clear()
    assert [one.to_dict() for one in apart] == [here.to_dict()] * 2


def test_children_of_one_audit_draw_different_numbers_of_generators_that_all_share():
    def own(data):
        return data + np.random.laplace()  # noqa: NPY002

    APART.append(True)
    try:
        finding = dpaudit.audit_privacy(own, [(0.0, 1.0)], epsilon=2.0, trials=2_000, n_jobs=2, randomness="own")
    finally:
        APART.clear()
    assert finding.verdict == "consistent"
    assert not any("worker" in warning for warning in finding.warnings)

"""Findings as a table."""

from __future__ import annotations

import doctest
import math

import pytest

import dpaudit
from dpaudit.evidence.records import Header, Planned, Result
from dpaudit.evidence.store import Store
from dpaudit.evidence.tasks import ExactArguments, Task
from dpaudit.report import presenting as tables


def test_the_example_is_true() -> None:
    assert doctest.testmod(tables).failed == 0


def test_one_row_a_finding_with_dotted_names() -> None:
    leak = dpaudit.audit_privacy(lambda data, rng: data, [(0, 1)], epsilon=1.0, trials=100)
    frame = dpaudit.to_frame([leak])
    assert frame.loc[0, "verdict"] == "violation"
    assert frame.loc[0, "witness.event.kind"] == "cells"
    assert frame.loc[0, "witness.event.ranges"] == [list(ends) for ends in leak.witness.event.ranges]
    assert frame.loc[0, "witness.hits"] == leak.witness.hits
    assert len(dpaudit.to_frame(leak)) == 1


def test_infinity_is_a_number_again() -> None:
    learner = dpaudit.pac.get_learner("parity-elimination", dimension=1)
    finding = dpaudit.pac.audit_law(learner, n=1)
    assert finding.epsilon == math.inf
    frame = dpaudit.to_frame([finding])
    assert frame["epsilon"].dtype == float
    assert frame.loc[0, "epsilon"] == math.inf


def test_a_stored_run_has_a_row_a_result(tmp_path) -> None:
    finding = dpaudit.pac.audit_law(dpaudit.pac.get_learner("parity-private", dimension=1, epsilon=1.0), n=1)
    arguments = ExactArguments(n=1, relation=finding.relation, samples="all")
    parameters = {"dimension": 1, "epsilon": 1.0}
    key = Task("parity-private", parameters, arguments).key
    header = Header(plan=(Planned(key, "parity-private", "exact"),), seed=0, profile="quick", command="none")
    store = Store.start(tmp_path / "run.jsonl", header)
    store.append(
        Result(
            task=key,
            learner="parity-private",
            parameters=parameters,
            arguments=arguments,
            finding=finding,
            claim=dpaudit.pac.get_learner("parity-private", **parameters).privacy,
        )
    )
    frame = dpaudit.to_frame(tmp_path)
    assert frame.loc[0, "learner"] == "parity-private"
    assert frame.loc[0, "parameters.dimension"] == 1
    assert frame.loc[0, "arguments.samples"] == "all"
    assert frame.loc[0, "epsilon"] == pytest.approx(finding.epsilon)


@pytest.mark.parametrize("bad", [[1], 3])
def test_what_is_no_finding_is_refused(bad: object) -> None:
    with pytest.raises(dpaudit.InputError, match="findings must be a path or what audits returned"):
        dpaudit.to_frame(bad)

"""Every registered learner, sound or broken, keeps the contract.

False alarms: the one statistical check accuses a conforming learner with probability at most 1e-6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from learner_cases import remember_laws

from dpaudit.conformance import CHECKS, NonConforming, check_edges, check_run_agrees_with_law, check_symmetries
from dpaudit.registry import Entry, conformance, list_learners

pytestmark = pytest.mark.usefixtures("_fewer_runs")
DEAR = tuple(f"broken-{name}" for name in ("simplex", "convex-poly", "box", "half", "mixture", "hull-point", "polygon"))
"""Controls whose runs take seconds to compare with their laws; those of their learners are compared at all times."""
# Controls whose other checks take long too, of which the first one of each learner is in the quick profile.
DEAREST = tuple(
    f"broken-{name}" for name in ("simplex-union", "tree-log", "convex-polytope", "halfspace", "rec-concave")
)
DEAR_EDGES = ("simplex-union", "convex-polytope")
"""Learners of regions in three dimensions, whose edges are dear; those of regions of the plane have the same."""


def _in_quick(entries: list[Entry]) -> list[Any]:
    """Return all entries, of which dear controls but the first one of each learner are marked `full`."""
    begun, found = set[str](), []
    for entry in entries:
        alike = next((begin for begin in DEAREST if entry.id.startswith(begin)), "")
        found.append(pytest.param(entry, id=entry.id, marks=[pytest.mark.full] if alike in begun else []))
        begun |= {alike} - {""}
    return found


@pytest.mark.parametrize("entry", _in_quick(list_learners()))
def test_learner(entry: Entry, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all checks but that of edges on one learner, whose samples are made and whose laws are computed once.

    The first check that asks for laws is that of the random state.
    """
    quick = request.config.getoption("--profile") != "full"
    if quick and entry.fault:
        # A control differs from its learner, which is checked on all samples, in one step.
        monkeypatch.setattr(conformance, "SAMPLES", 3)
    learner: Any = entry.build(**entry.instance.parameters)
    samples = conformance._samples_of(learner)
    monkeypatch.setattr(conformance, "_samples_of", lambda _: samples)
    remember_laws(entry.learner, monkeypatch)
    for check in CHECKS:
        dear = check is check_run_agrees_with_law and entry.id.startswith(DEAR)
        if check is not check_edges and not (quick and dear):
            check(learner)


@pytest.mark.parametrize(
    "entry",
    # A control differs from its learner in what it releases; its sizes are the learner's.
    [
        pytest.param(entry, marks=[pytest.mark.full] if entry.fault or entry.id in DEAR_EDGES else [])
        for entry in list_learners()
    ],
    ids=lambda entry: entry.id,
)
def test_edges(entry: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    remember_laws(entry.learner, monkeypatch)
    check_edges(entry.build(**entry.instance.parameters))


def test_a_learner_that_fails_at_an_edge_is_caught() -> None:
    entry = next(e for e in list_learners() if e.id == "halfspace-exponential")

    class Narrow(entry.learner):  # type: ignore[name-defined, misc]  # known at run time only
        """Has symmetries for two variables or more only. Source: none."""

        def symmetries(self) -> list[np.ndarray]:
            axes = self.domain.points()
            assert (axes[:, 1] >= 0).all()
            return []

    with pytest.raises(NonConforming, match=r"law of .*Narrow\(side=1, dimension=1, .*raised IndexError"):
        check_edges(Narrow(**entry.instance.parameters))


def test_there_are_three_controls_for_each_private_learner() -> None:
    controls = [entry for entry in list_learners() if entry.fault]
    private = [entry for entry in list_learners() if not entry.fault and entry.claim()]
    assert all(len(entry.fault or "") > 20 for entry in controls)
    for entry in private:
        assert sum(issubclass(control.learner, entry.learner) for control in controls) >= 3, entry.id


def test_a_lying_law_is_caught() -> None:
    entry = next(e for e in list_learners() if e.id == "parity-private")

    class Liar(entry.learner):  # type: ignore[name-defined, misc]  # known at run time only
        """Says the law of a learner with another epsilon. Source: none."""

        def law(self, sample: object) -> object:
            other: Any = entry.build(dimension=self.dimension, epsilon=self.epsilon / 2)
            return other.law(sample)

    with pytest.raises(NonConforming, match="run disagrees with law"):
        check_run_agrees_with_law(Liar(**entry.instance.parameters))


def test_a_false_symmetry_is_caught() -> None:
    entry = next(e for e in list_learners() if e.id == "point-exponential")

    class Flipping(entry.learner):  # type: ignore[name-defined, misc]  # known at run time only
        """Says that flipping the labels of the first point changes nothing. Source: none."""

        def symmetries(self) -> list[np.ndarray]:
            universe = np.arange(2 * self.domain.size)
            universe[:2] = [1, 0]
            return [universe]

    with pytest.raises(NonConforming, match="is no symmetry"):
        check_symmetries(Flipping(**entry.instance.parameters))

"""The statements of power: leaks have exactly the size that they are given, and every cell is counted."""

from __future__ import annotations

import json
import math
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bench_scripts import script

bench = script("benchmarks.power_statements")
kinds = script("benchmarks.power_kinds")
RUNS = 200_000
TINY = ["--audits", "2", "--runs", "600", "--nulls", "1", "--shapes", "atom"]


def places(leak: Any, side: int) -> Any:
    return leak.places(side, np.random.default_rng([5, side]), RUNS)


@pytest.mark.parametrize("shape", ["atom", "tail", "shift", "rare atom", "rare key"])
def test_a_leak_has_the_size_that_it_is_given(shape: str) -> None:
    leak = bench.Leak(shape, 0.05, math.inf if shape == "rare key" else 1.2)
    less, more = places(leak, 0), places(leak, 1)
    inside = {"tail": lambda p: p >= 0.95, "shift": lambda p: p >= 0.95}.get(shape, lambda p: p < 0)
    likelier = 0.05 * (1 if shape == "rare key" else math.exp(1.2))
    # Five standard errors are left; the seed is fixed.
    assert inside(more).mean() == pytest.approx(likelier, abs=5 * math.sqrt(likelier / RUNS))
    assert inside(less).mean() == pytest.approx(0 if shape == "rare key" else 0.05, abs=5 * math.sqrt(0.05 / RUNS))
    assert (inside(less).sum() == 0) == (shape == "rare key")
    # Outside of the event no ratio is greater: those of twenty cells of the unlikelier side are compared.
    cuts = np.linspace(0, 0.95, 20)
    shares = [np.histogram(p[~inside(p)], cuts)[0] / RUNS for p in (less, more)]
    assert np.abs(np.log(shares[1] / shares[0])).max() < 1.2


def test_a_shift_is_uniform_on_the_unlikelier_side() -> None:
    counts = np.histogram(places(bench.Leak("shift", 0.1, 0.9), 0), 20, (0, 1))[0]
    assert np.abs(counts - RUNS / 20).max() < 5 * math.sqrt(RUNS / 20)


@pytest.mark.parametrize("name", kinds.KINDS)
def test_a_kind_has_outputs_of_every_place_and_rare_ones_differ_by_their_form(name: str) -> None:
    kind, rng = kinds.KINDS[name], np.random.default_rng(0)
    plain, end, atom, rare = (kind.output(place, rng) for place in (0.0, 1 - 2**-53, kinds.ATOM, kinds.RARE))
    assert type(plain) is type(end) is type(atom)

    assert form(rare) != form(plain)


def form(output: Any) -> Any:
    """Return all of an output but its numbers."""
    if isinstance(output, bytes):
        return len(output)
    if isinstance(output, kinds.Fraction):
        return output.denominator == 101
    return re.sub(r"[-+]?\d[\d.e+-]*", "#", repr(output))


def test_the_promise_is_that_of_the_finding() -> None:
    finding = SimpleNamespace(
        detectable_epsilon=0.8,
        detectable_delta=0.01,
        frontier=((0.1, 0.9), (0.001, 3.0)),
        tests=[SimpleNamespace(hits=30, neighbour_hits=10)],
        confirmation_trials=100,
    )
    promise = bench.Promise.of(finding)
    assert promise.leak("tail") == bench.Leak("tail", 0.2, 0.8)
    assert promise.leak("rare atom") == bench.Leak("rare atom", 0.001, 3.0)
    assert promise.leak("rare key") == bench.Leak("rare key", 0.01, math.inf)
    finding.tests[0].hits, finding.detectable_epsilon, finding.detectable_delta = 150, 0.3, math.inf
    # The complement of so likely an event would leak more.
    assert bench.Promise.of(finding).leak("atom") == bench.Leak("atom", 0.1, 0.9)
    assert bench.Promise.of(finding).leak("rare key") is None


def test_a_cell_is_below_where_its_interval_is() -> None:
    assert bench.Cell("int", "atom", audits=100, detected=89).below()
    assert not bench.Cell("int", "atom", audits=100, detected=91).below()
    assert not bench.Cell("int", "tail").below()
    assert bench.Cell("int", "atom", audits=100, detected=100).interval() == pytest.approx((0.9638, 1), abs=1e-4)


def test_the_table_has_a_line_for_each_cell(capsys: pytest.CaptureFixture[str]) -> None:
    status = bench.main([*TINY, "--kinds", "digit", "--json"])
    cells = json.loads(capsys.readouterr().out)
    assert [(cell["kind"], cell["shape"], cell["audits"]) for cell in cells] == [("digit", "atom", 2)]
    assert status == int(cells[0]["below"])
    bench.main(["--audits", "1", "--runs", "600", "--nulls", "1", "--kinds", "digit", "--shapes", "tail", "rare key"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("digit: detectable epsilon")
    assert lines[3].endswith("no order")
    assert "of 1" in lines[4]

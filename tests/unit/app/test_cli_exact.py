"""The command `exact` with --enclose and --compose."""

from __future__ import annotations

import json
import math
import re
import sys

import jsonschema
import pytest
from cli_support import call

from dpaudit.report import schema


def test_exact_encloses_the_worst_epsilon_in_ball_arithmetic(capsys):
    words = ("exact", "point-exponential", "-p", "domain_size=3", "-p", "epsilon=1", "--n", "2", "--enclose")
    status, out, _ = call(capsys, *words, "--json")
    found = json.loads(out)["finding"]
    low, high = found["enclosure"]
    assert status == 0
    assert low <= found["epsilon"] <= high or abs(low - found["epsilon"]) <= found["error"]
    assert high - low < 1e-12
    assert jsonschema.Draft202012Validator(schema.load("finding")).is_valid(found)
    status, out, _ = call(capsys, *words)
    assert f"enclosed epsilon in [{low}, {high}], by ball arithmetic".split() == next(
        line.split() for line in out.splitlines() if line.startswith("enclosed")
    )
    assert "--enclose" in next(line for line in out.splitlines() if line.startswith("repeat"))


def test_exact_composes_runs_between_the_dominating_pair_and_single_pairs(capsys, monkeypatch):
    monkeypatch.setattr("dpaudit.exact.convolution._CELLS", 2**16)  # the bounds hold on any grid, and are wider
    words = ("exact", "toy-coin", "-p", "gain=0.5", "--n", "1", "--compose", "4")
    status, out, _ = call(capsys, *words, "--json")
    found = json.loads(out)["finding"]
    made = found["composition"]
    assert status == 0
    assert (made["times"], made["grade"]) == (4, found["grade"])
    assert made["basic"] == pytest.approx(2.0)
    # Randomised response four times: h heads against 4 - h, so that delta(epsilon) is a sum of five terms.
    high = 1 / (1 + math.exp(-0.5))
    law = [math.comb(4, h) * high**h * (1 - high) ** (4 - h) for h in range(5)]
    for epsilon, low, up in made["deltas"]:
        delta = sum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(law, law[::-1], strict=True))
        assert low <= delta * (1 + 1e-12)
        assert delta <= up * (1 + 1e-12)
        assert up - low <= 1e-3
    assert jsonschema.Draft202012Validator(schema.load("finding")).is_valid(found)
    status, out, _ = call(capsys, *words)
    assert re.search(r"^composed +epsilon of 4 runs on one sample \(\w+, these pairs\): \[\d", out, re.M)
    assert re.search(r"^composed +delta of 4 runs on one sample", out, re.M)
    assert re.search(r"^repeat .*--compose 4", out, re.M)


@pytest.mark.parametrize("runs", ["0", "-3", "100001"])
def test_exact_refuses_to_compose_what_it_cannot(capsys, runs):
    status, out, err = call(capsys, "exact", "toy-coin", "--compose", runs)
    assert (status, out) == (2, "")
    assert f"compose must be an integer from 1 to 100000, got {runs}" in err


def test_exact_refuses_to_enclose_without_an_exact_law(capsys):
    status, out, err = call(capsys, "exact", "toy-coin", "--enclose")
    assert (status, out) == (2, "")
    assert "learner 'toy-coin' has no exact_law(sample, field)" in err


def test_exact_refuses_to_enclose_without_flint(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    status, _, err = call(capsys, "exact", "point-exponential", "--enclose")
    assert status == 2
    assert "install dpaudit with the extra 'exact'" in err


def test_exact_compares_the_pairs_that_are_named(capsys, tmp_path):
    place = tmp_path / "pairs.py"
    place.write_text(
        "from dpaudit.pac import get_learner\n"
        "sample = get_learner('hull-point-joint', side=4, dimension=2, epsilon=1.0).domain.sample\n"
        "PAIRS = [(sample([[0, 0], [4, 3], [1, 4]], [0, 0, 0]), sample([[0, 0], [4, 3], [2, 2]], [0, 0, 0]))]\n"
    )
    words = ("exact", "hull-point-joint", "-p", "side=4", "-p", "dimension=2", "-p", "epsilon=1")
    status, out, _ = call(capsys, *words, "--pairs", f"{place}:PAIRS", "--json")
    result = json.loads(out)
    assert status == 0
    assert (result["finding"]["pairs"], result["arguments"]["samples"]) == (2, "given")
    assert 0.3 <= result["finding"]["epsilon"] <= 1
    assert f"--pairs {place}:PAIRS" in result["command"]
    status, out, _ = call(capsys, *words, "--pairs", "random:2", "--n", "3", "-v")
    assert status == 0
    assert re.search(r"^epsilon .* at worst on the pairs given", out, re.M)
    for wrong in (("--pairs", "random:2", "--crafted"), ("--pairs", "patterns:3"), ("--pairs", f"{place}:sample")):
        status, out, err = call(capsys, *words, *wrong)
        assert (status, out) == (2, "")
        assert "pairs" in err

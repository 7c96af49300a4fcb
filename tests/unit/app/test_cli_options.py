"""Messages speak of the options of the command that was called, by the grammar's own table."""

from __future__ import annotations

import sys

import pytest
from cli_support import call, called, verb

import dpaudit
from dpaudit.app.command import in_options

COIN = ("toy-coin", "-p", "gain=1")
MANY = ("parity-private", "-p", "dimension=4", "-p", "epsilon=1", "--n", "9")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("privacy", *COIN, "--trials", "5"), "--trials must be an integer >= 10, got 5"),
        (("privacy", *COIN, "--epsilon", "-1"), "--epsilon must be a finite number >= 0, got -1.0"),
        (("privacy", "toy-coin", "-p", "gain=-1", "--epsilon", "1"), "epsilon must be a finite number >= 0, got -1"),
        (
            ("privacy", *COIN, "--sequential", "--look", "curve"),
            "--sequential bets instead of testing one event, so it takes no --look curve",
        ),
        (
            ("privacy", *COIN, "--sequential", "--trials", "10", "--pairs", "crafted:0"),
            "n must be an integer >= 1, got 0",
        ),
        (("exact", *MANY), "are allowed; give a few samples or pairs by --crafted, or use the black-box audit"),
        (("exact", "point-exponential", "--enclose"), "--enclose needs python-flint: install dpaudit with the extra"),
        (("exact", "toy-coin", "--enclose"), "has no exact_law(sample, field), which --enclose needs"),
        (("exact", *COIN, "--compose", "0"), "--compose must be an integer from 1 to 100000, got 0"),
        (("utility", "toy-bare"), "toy-bare has no theorem on its sample size; give --n"),
        (("utility", *COIN, "--setting", "swap"), "--setting must be one of realizable, agnostic, empirical, solution"),
        (("utility", *COIN, "--concept", "7"), "--concept must be a code in 0 .. 1 or a hypothesis, got 7"),
        (("utility", *COIN, "--distribution", "9"), "--distribution must be uniform, all, or a hard case 0.."),
        (("list", "--learners", "no/such"), "--learners must be a .py file or a folder of them; got 'no/such', which"),
    ],
)
def test_messages_speak_of_options(capsys, monkeypatch, words, message):
    monkeypatch.setitem(sys.modules, "flint", None)
    status, out, err = call(capsys, *words)
    *_, line, help_ = err.splitlines()
    assert (status, out) == (2, "")
    assert message in line if "--" in message else line == f"BAD INPUT    {message}"
    assert help_ == f"help         dpaudit help {words[0]}"


def test_the_python_interface_speaks_of_parameters():
    coin = dpaudit.pac.get_learner("parity-private", dimension=4, epsilon=1.0)
    with pytest.raises(dpaudit.InputError, match=r"give a few samples or pairs by samples=, or use"):
        dpaudit.pac.audit_law(coin, n=9)


def test_options_are_those_of_the_verb_that_was_called():
    told = {name: in_options(verb(name)) for name in ("run", "exact")}
    assert told["run"]("n_jobs", "1") == "--jobs 1"
    assert told["exact"]("n_jobs", "1") == "n_jobs=1"
    assert told["exact"]("samples", "") == told["exact"]("samples", None) == "--crafted"
    assert told["run"]("samples", None) == "samples"
    assert told["run"]("html", "True") == "--html"


@pytest.mark.parametrize(("command", "part"), [("check", "audit"), ("diff", "change"), ("ledger", "statement")])
def test_the_help_says_of_what_json_has_a_line_each(capsys, command, part):
    assert f"JSON instead of text, a line for each {part}" in " ".join(called(capsys, command, "--help")[1].split())

"""Helpers of the tests of the command line."""

from __future__ import annotations

import math
import os
import re
import shlex
from pathlib import Path

import click
import pytest
from msgspec.structs import replace

from dpaudit.app import main
from dpaudit.app.application import app
from dpaudit.app.command import Command
from dpaudit.audit.claim_tests import EventTest
from dpaudit.audit.finding import PrivacyFinding, Witness
from dpaudit.bounds.curve import fit_curve
from dpaudit.contract import Direction, Origin, PrivacyVerdict, Relation
from dpaudit.events.event import Cells
from dpaudit.evidence import perform

HERE = Path(__file__).parent
TOYS = str(HERE / "toy_learners.py")
PYTHONPATH = os.pathsep.join((str(HERE), str(HERE.parents[1])))
"""The environment in which a process of its own finds the toys, and the dpaudit that is under test."""


@pytest.fixture(autouse=True)
def instant_privacy(monkeypatch):
    """A black-box audit that takes no time: it counts what a learner of its gain would show."""

    def audit(learner, pairs, *, epsilon=None, trials, confidence, seed, look, **_):
        curve = look.curve
        claim = learner.privacy.epsilon if epsilon is None else epsilon
        event, runs, gamma = Cells("output", ((1, 1),)), trials // 2, 1 - confidence
        hits = round(runs / (1 + math.exp(-learner.gain)))
        error = gamma / 2 if curve else gamma
        test = EventTest(event, error, hits, runs - hits, 0.0)
        test = replace(test, epsilon_lower=test.lower((runs, runs), 0.0))
        witness = Witness(0, Origin(text="toy"), "S", "T", Direction.FORWARD, event, hits, runs, runs - hits, runs)
        chosen = trials - runs
        return PrivacyFinding(
            verdict=PrivacyVerdict.VIOLATION if test.epsilon_lower > claim else PrivacyVerdict.CONSISTENT,
            epsilon=claim,
            delta=0.0,
            epsilon_lower=test.epsilon_lower,
            detectable_epsilon=claim + 0.1,
            confidence=confidence,
            trials=trials,
            selection_trials=chosen,
            confirmation_trials=runs,
            pairs=1,
            events=2,
            witness=witness,
            bound="melded",
            distinguisher="toy",
            relation=Relation.REPLACE_ONE,
            seed=seed,
            design="fixed",
            detectable_delta=0.2,
            frontier=((0.1, claim + 0.2), (0.01, float("inf"))),
            budget={"search": 0, "local": 0, "pilot": 2, "training": chosen - 2, "confirmation": runs, "checks": 0},
            errors={"verdict": error} | ({"curve": gamma - error} if curve else {}),
            tests=(test,),
            scores=("toy",),
            origins=(Origin(text="toy"),),
            curve=fit_curve([hits], runs, [runs - hits], runs, gamma - error) if curve else None,
        )

    monkeypatch.setattr(perform, "audit_privacy", audit)


def called(capsys, *words: str, joined: bool = True) -> tuple[int, str, str]:
    """Return the status of a command, what it printed, each broken line joined again if wanted, and its errors."""
    capsys.readouterr()
    status = main(list(words))
    out, err = capsys.readouterr()
    return status, re.sub(r"( \\)?\n {13}(?! )", " ", out) if joined else out, err


def call(capsys, *words: str) -> tuple[int, str, str]:
    return called(capsys, *words, *(() if words[0] == "report" else ("--learners", TOYS)))


def repeat_in(out: str) -> list[str]:
    """Return the words of the command that a result says to repeat it with, after `dpaudit`."""
    found = re.search(r"^repeat +dpaudit (.*)$", out, re.M)
    assert found
    return shlex.split(found[1])


def run(capsys, out: Path, *words: str) -> tuple[int, str, str]:
    return call(capsys, "run", *words, "--profile", "quick", "--jobs", "1", "--out", str(out), "--no-html")


def verb(name: str) -> Command:
    """Return a verb of the command line."""
    found = app.get_command(click.Context(app), name)
    assert isinstance(found, Command)
    return found

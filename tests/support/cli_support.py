"""What the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpaudit
from dpaudit import cli
from dpaudit.bounds.curve import fit_curve
from dpaudit.results import PrivacyFinding, Witness

HERE = Path(__file__).parent
TOYS = str(HERE / "toy_learners.py")


@pytest.fixture(autouse=True)
def instant_privacy(monkeypatch):
    """A black-box audit that takes no time: it convicts a learner whose gain exceeds the claim."""

    def audit(learner, *, epsilon=None, n, trials, confidence, seed, n_jobs, curve=False, **_):
        claim = learner.privacy.epsilon if epsilon is None else epsilon
        witness = Witness(0, "toy", "S", "T", "forward", "output 1", 9, 10, 1, 10)
        return PrivacyFinding(
            verdict="violation" if learner.gain > claim else "consistent",
            epsilon=claim,
            delta=0.0,
            epsilon_lower=learner.gain * 0.9,
            detectable_epsilon=claim + 0.1,
            confidence=confidence,
            trials=trials,
            selection_trials=5,
            confirmation_trials=5,
            pairs=1,
            events=2,
            witness=witness,
            bound="toy",
            distinguisher="toy",
            relation="replace-one",
            seed=seed,
            design="fixed",
            detectable_delta=0.2,
            frontier=((0.1, claim + 0.2), (0.01, float("inf"))),
            budget={"halving": 0, "local": 0, "training": 5, "confirmation": 5},
            errors={"verdict": 1 - confidence},
            scores=("toy",),
            origins=("toy",),
            curve=fit_curve([9], 10, [1], 10, 0.01) if curve else None,
        )

    monkeypatch.setitem(dpaudit.__dict__, "audit_privacy", audit)


def call(capsys, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = cli.main([*words, "--learners", TOYS] if words[0] != "report" else list(words))
    out, err = capsys.readouterr()
    return status, out, err


def run(capsys, out: Path, *words: str) -> tuple[int, str, str]:
    return call(capsys, "run", *words, "--profile", "quick", "--jobs", "1", "--out", str(out), "--no-html")

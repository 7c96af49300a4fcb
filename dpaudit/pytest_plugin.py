"""Fixtures and options for other people's test suites.

This module is imported in every pytest run on the machine, so it imports nothing of dpaudit until a fixture is used.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpaudit.blackbox.finding import PrivacyFinding, Witness

__all__ = ["assert_private", "pytest_addoption"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the `assert_private` fixture."""
    group = parser.getgroup("dpaudit", "privacy audits")
    group.addoption(
        "--dpaudit-trials", type=int, default=20_000, help="runs a side of each pair (default: %(default)s)"
    )
    group.addoption(
        "--dpaudit-confidence", type=float, default=0.999, help="confidence of each verdict (default: %(default)s)"
    )
    group.addoption("--dpaudit-seed", type=int, default=0, help="root seed of the audits (default: %(default)s)")


@pytest.fixture
def assert_private(request: pytest.FixtureRequest) -> Callable[..., PrivacyFinding]:
    """Return a function that audits a mechanism and fails the test if its claim of privacy is refuted.

    It takes the arguments of `dpaudit.audit_privacy` and returns the finding. A private mechanism fails a test with
    probability at most 1 - confidence (0.001 by default).
    """
    config = request.config

    def audit(mechanism: Any, pairs: Any = None, **arguments: Any) -> PrivacyFinding:
        __tracebackhide__ = True
        import dpaudit

        for name in ("trials", "confidence", "seed"):
            arguments.setdefault(name, config.getoption(f"--dpaudit-{name}"))
        finding = dpaudit.audit_privacy(mechanism, pairs, **arguments)
        for text in finding.warnings:
            warnings.warn(f"dpaudit: {text}", stacklevel=2)
        if finding.verdict == "violation":
            witness = finding.witness
            pytest.fail(
                f"not ({finding.epsilon:g}, {finding.delta:g})-private: epsilon >= {finding.epsilon_lower:.4g} at "
                f"confidence {finding.confidence:g} (false-alarm rate at most {1 - finding.confidence:.3g})\n"
                f"  event: {witness.event}\n"
                f"{_counts(witness)}"
                f"  pair {witness.pair}: {witness.data} and {witness.neighbour}\n"
                f"  seed {finding.seed}"
            )
        return finding

    return audit


def _counts(witness: Witness) -> str:
    """Return the line of the event's counts; bets, of the sequential design, are on no single event."""
    if witness.hits is None:
        return ""
    return (
        f"  {witness.hits} of {witness.trials} runs against {witness.neighbour_hits} of {witness.neighbour_trials} "
        f"({witness.direction})\n"
    )

"""Fixtures and options for other people's test suites.

This module is imported in every pytest run on the machine, so it imports nothing of dpaudit until a fixture is used.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpaudit.blackbox.finding import PrivacyFinding

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
    """Return a function that audits a mechanism and fails the test unless its claim of privacy is consistent.

    It takes the arguments of `dpaudit.audit_privacy` and returns the finding. A private mechanism is refuted with
    probability at most 1 - confidence (0.001 by default). Where the audit could not have seen that the claim fails, the
    test fails too, unless ``allow_no_evidence=True``.
    """
    config = request.config

    def audit(
        mechanism: Any, pairs: Any = None, *, allow_no_evidence: bool = False, **arguments: Any
    ) -> PrivacyFinding:
        __tracebackhide__ = True
        from dpaudit.arguments import check_names
        from dpaudit.blackbox.audit import audit_privacy
        from dpaudit.contract import PrivacyVerdict
        from dpaudit.harmless import harmless
        from dpaudit.reporters.evidence import check_words, gap_words

        check_names(arguments, audit_privacy, "mechanism", "pairs", also=("allow_no_evidence",))
        for name in ("trials", "confidence", "seed"):
            arguments.setdefault(name, config.getoption(f"--dpaudit-{name}"))
        finding = audit_privacy(mechanism, pairs, **arguments)
        checks = [check_words(check) for check in finding.checks if not check.passed]
        for text in (*finding.warnings, *checks):
            warnings.warn(f"dpaudit: {harmless(text)}", stacklevel=2)
        if finding.verdict == PrivacyVerdict.VIOLATION:
            pytest.fail(_refutation(finding))
        if finding.verdict == PrivacyVerdict.NO_EVIDENCE and not allow_no_evidence:
            why = [harmless(gap_words(gap)) for gap in finding.gaps]
            pytest.fail("\n  ".join(["no evidence (allow_no_evidence=True lets it pass), because", *why]))
        return finding

    return audit


def _refutation(finding: PrivacyFinding) -> str:
    """Return what refutes the claim, a line each: bound, event, counts, pair and seed."""
    from dpaudit.harmless import harmless
    from dpaudit.reporters.wording import event_words

    witness = finding.witness
    lines = [
        f"not ({finding.epsilon:g}, {finding.delta:g})-private: epsilon >= {finding.epsilon_lower:.4g} at "
        f"confidence {finding.confidence:g} (false-alarm rate at most {1 - finding.confidence:.3g})",
        f"event: {event_words(witness.event)}",
    ]
    if witness.hits is not None:  # bets, of the sequential design, are on no single event
        ours = f"{witness.hits} of {witness.trials} runs"
        theirs = f"{witness.neighbour_hits} of {witness.neighbour_trials}"
        lines.append(f"{ours} against {theirs} ({witness.direction})")
    lines += [f"pair {witness.pair}: {witness.data} and {witness.neighbour}", f"seed {finding.seed}"]
    return "\n  ".join(map(harmless, lines))

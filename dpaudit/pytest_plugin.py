"""Fixtures, a marker and options for other people's test suites.

This module is imported in every pytest run on the machine, so until a fixture is used it imports nothing of dpaudit
but the declarations of options, which need only the standard library.
"""

from __future__ import annotations

import sys
import time
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from dpaudit.audit.options import SEED, Option, Options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hypothesis.internal.conjecture.data import ConjectureData

    from dpaudit.audit.finding import PrivacyFinding
    from dpaudit.utility.finding import UtilityFinding

_DECLARED: dict[str, Option[int] | Option[float]] = {
    "trials": Options.trials,
    "confidence": Options.confidence,
    "seed": SEED,
}
_DEFAULTS = {name: one.default for name, one in _DECLARED.items()} | {"trials": 20_000}
_PREFIX = "dpaudit_"
_ERROR = f"{_PREFIX}error"
_FAMILY_WISE = f"{_PREFIX}family_wise"
# The fixtures by which a test makes audits.
_FIXTURES = {"assert_private", "assert_utility"}
# The tests of a session that may make audits, and the audits that a test has made.
_TESTS = pytest.StashKey[int]()
_MADE = pytest.StashKey[int]()


_Finding = TypeVar("_Finding")
# The test that runs.
_ITEM = pytest.StashKey[pytest.Item]()
_AUDITS = pytest.StashKey["_Audits"]()
_NOT_SMALLER = "hypothesis: the first example that failed; it is not made smaller, as each step would be an audit"


class AuditWarning(UserWarning):
    """A limit of a finding, or something about a mechanism's randomness or state that is no fault."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of trials, confidence and seed, and the settings of the configuration file for the same."""
    group = parser.getgroup("dpaudit", "audits of privacy and utility")
    for name, default in _DEFAULTS.items():
        text = f"{_DECLARED[name].help} (default: {_PREFIX}{name} of the configuration, else {default})"
        group.addoption(f"--dpaudit-{name}", type=type(default), help=text)
        parser.addini(f"{_PREFIX}{name}", f"{_DECLARED[name].help} (default: {default})", default=str(default))
    text = "let 1 - confidence be the chance of a false alarm of the whole session (default: of each audit)"
    parser.addini(_FAMILY_WISE, text, type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and count the audits of the session where its reports come together."""
    config.addinivalue_line("markers", "dpaudit(trials, confidence, seed): what the audits of a test are given")
    if not hasattr(config, "workerinput"):  # the workers of xdist report to the process that has none
        config.pluginmanager.register(_Session(), "dpaudit-session")


@dataclass
class _Calls:
    """The audits of one example of hypothesis, or of a test without it: what was drawn before each, and its finding.

    `data` is hypothesis's own record of the example.
    """

    data: ConjectureData
    made: list[tuple[str, Any]] = field(default_factory=list)


class _Audits:
    """The audits of the test that runs.

    Hypothesis makes an example that fails smaller, by hundreds of other examples, and runs it again at the end. Each of
    them would be an audit. So after the first example that failed no other one is audited, and its findings hold when
    it is run again.
    """

    def __init__(self) -> None:
        self._now: _Calls | None = None
        self._failed: _Calls | None = None

    def finding(self, audit: Callable[[], _Finding]) -> tuple[_Finding, bool]:
        """Return a finding, and whether an audit made it now; after an example that failed others are rejected."""
        data = _example()
        # Outside of hypothesis, and before anything is drawn, an audit is one of its own.
        if data is None or not (drawn := _drawn(data)):
            return audit(), True
        self._begin(data)
        assert self._now is not None
        number = len(self._now.made)
        if self._failed is not None and number < len(self._failed.made):
            before, known = self._failed.made[number]
            if before != drawn:
                from hypothesis import reject

                reject()
            if known is not None:
                self._now.made.append((drawn, known))
                return known, False
        self._now.made.append((drawn, None))  # there is no finding yet, and none if the audit raises
        found = audit()
        self._now.made[number] = (drawn, found)
        return found, True

    def _begin(self, data: ConjectureData) -> None:
        if self._now is not None and self._now.data is data:
            return
        # Hypothesis marks an example once its test has raised, so that this is seen as the next one begins.
        if self._failed is None and self._now is not None and _failed(self._now.data):
            self._failed = self._now
        self._now = _Calls(data)


def _example() -> ConjectureData | None:
    """Return hypothesis's record of the example that a test runs on; None where none does."""
    if "hypothesis" not in sys.modules:
        return None
    try:  # of the internals of hypothesis, which may change: an audit is then made for each example
        from hypothesis.control import current_build_context, currently_in_test_context

        if not currently_in_test_context():
            return None
        return current_build_context().data
    except Exception:
        return None


@contextmanager
def _beside_the_deadline() -> Iterator[None]:
    """Let an audit take no time as far as the deadline of an example is concerned, which every audit exceeds.

    Hypothesis leaves the times of a state machine's own steps out of account, and so the time of an audit.
    """
    data = _example()
    began = time.perf_counter()
    try:
        yield
    finally:
        if data is not None:
            # The internals of hypothesis may change: the deadline then holds.
            with suppress(Exception):
                data._stateful_run_times["dpaudit"] += time.perf_counter() - began


def _drawn(data: ConjectureData) -> str:
    """Return what an example has drawn so far, as a text; empty if that is nothing, or is not known."""
    choices = getattr(data, "choices", ())
    if not choices:
        return ""
    return repr(choices)


def _failed(data: ConjectureData) -> bool:
    return str(getattr(getattr(data, "status", None), "name", "")) == "INTERESTING"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Count the tests that may make audits: each worker of xdist collects all of them, so that all count the same."""
    session.config.stash[_TESTS] = sum(map(_may_audit, session.items))


def _may_audit(item: pytest.Item) -> bool:
    return not _FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))


def _confidence(item: pytest.Item, own: float) -> float:
    """Return the confidence of the next audit of a test.

    Where the session has one chance of a false alarm, 1 - confidence of the settings, each test that may make audits
    has an equal part of it, and the k-th audit of a test the part 1 / (k (k + 1)) of that: they add up to 1 however
    many there are. A test is reported before the next one runs, so that no part depends on what others found. An audit
    with a smaller error of its own keeps it.
    """
    if not _in_family(item.config):
        return own
    if not _may_audit(item):
        raise pytest.UsageError(
            f"{_FAMILY_WISE} divides the error by the tests that name assert_private or assert_utility as an argument, "
            f"and {item.name} does not"
        )
    number = item.stash.get(_MADE, 0) + 1
    item.stash[_MADE] = number
    error = 1 - float(_settings(item.config)["confidence"])
    return max(own, 1 - error / item.config.stash[_TESTS] / (number * (number + 1)))


def _in_family(config: pytest.Config) -> bool:
    """Return whether the audits of a session have one chance of a false alarm together."""
    try:
        return bool(config.getini(_FAMILY_WISE))
    except (ValueError, TypeError, pytest.UsageError):
        raise pytest.UsageError(f"{_FAMILY_WISE} of the configuration must be true or false") from None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Note which test runs: the fixtures are those of the session, as hypothesis wants it."""
    item.config.stash[_ITEM] = item
    item.stash[_AUDITS] = _Audits()


class _Session:
    """Adds up the chance of a false alarm over all audits of a session."""

    def __init__(self) -> None:
        self._errors: list[float] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of the audits of a test, of which its last report has all."""
        if report.when == "teardown":
            self._errors += [float(str(value)) for name, value in report.user_properties if name == _ERROR]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """State the sum, which bounds the chance that any true claim was accused (by the union bound)."""
        if self._errors:
            chance = min(round(sum(self._errors), 12), 1.0)
            plural = "" if len(self._errors) == 1 else "s"
            audits = f"{len(self._errors)} audit{plural}"
            terminalreporter.write_line(f"dpaudit: {audits}, chance of a false alarm at most {chance:.10g}")


@pytest.fixture(scope="session")
def assert_private(request: pytest.FixtureRequest) -> Callable[..., PrivacyFinding]:
    """Return a function that audits a mechanism and fails the test unless its claim of privacy is consistent.

    It takes the arguments of `dpaudit.audit_privacy` and returns the finding. A private mechanism is refuted with
    probability at most 1 - confidence (0.001 by default). Where the audit could not have seen that the claim fails, the
    test fails too, unless ``allow_no_evidence=True``. Trials, confidence and seed are those of the call, else of the
    test's marker ``dpaudit``, else of the command line, else of the configuration. Where processes fork, runs are made
    in a copy of this process, so that a mechanism which ends its process fails the test and not the session.

    Inside ``@given`` of hypothesis every example is an audit until one fails; that one is shown as it is, and no other
    is audited after it.
    """

    def audit(
        mechanism: Any, pairs: Any = None, *, allow_no_evidence: bool = False, **arguments: Any
    ) -> PrivacyFinding:
        __tracebackhide__ = True
        item = request.config.stash[_ITEM]
        chosen = {**_settings(request.config), **_marked(item), **arguments}
        with _beside_the_deadline(), _as_own_line():
            from dpaudit.audit.audit import audit_privacy
            from dpaudit.contract import PrivacyVerdict
            from dpaudit.running.processes import runs_apart

            _check_names(arguments, audit_privacy, "allow_no_evidence")

            def audited() -> PrivacyFinding:
                own = {**chosen, "confidence": _confidence(item, chosen["confidence"])}
                return audit_privacy(mechanism, pairs, **own)

            # A mechanism that ends its process would end the whole session.
            with runs_apart():
                finding, made = item.stash[_AUDITS].finding(audited)
        if made:
            _record(item, finding, "epsilon_lower", "epsilon", "detectable_epsilon")
            for text in _limits(finding):
                warnings.warn(f"dpaudit: {text}", AuditWarning, stacklevel=2)
        if finding.verdict == PrivacyVerdict.VIOLATION:
            pytest.fail(_because(finding) + _noted())
        if finding.verdict == PrivacyVerdict.NO_EVIDENCE and not allow_no_evidence:
            pytest.fail(f"{finding}\nallow_no_evidence=True lets it pass{_noted()}")
        return finding

    return audit


@pytest.fixture(scope="session")
def assert_utility(request: pytest.FixtureRequest) -> Callable[..., UtilityFinding]:
    """Return a function that audits a learner and fails the test unless its claim of utility holds, or is vacuous.

    It takes the arguments of `dpaudit.pac.audit_utility` and returns the finding. A claim that is kept is refuted with
    probability at most 1 - confidence (0.001 by default). Where the interval contains beta the test fails too, unless
    ``allow_undecided=True``. The options for `assert_private` count here too, but for the trials, of which only those
    of the call or of the test's marker do. Where processes fork, the audit is made in a copy of this process.
    """

    def audit(*given: Any, allow_undecided: bool = False, **arguments: Any) -> UtilityFinding:
        __tracebackhide__ = True
        settings = _settings(request.config)
        # They are runs of privacy audits; how many samples an audit of utility needs depends on beta.
        del settings["trials"]
        item = request.config.stash[_ITEM]
        chosen = {**settings, **_marked(item), **arguments}
        with _beside_the_deadline(), _as_own_line():
            from dpaudit.contract import UtilityVerdict
            from dpaudit.record import as_json, decode
            from dpaudit.running.processes import runs_apart
            from dpaudit.running.workers import in_own_process
            from dpaudit.utility.audit import audit_utility
            from dpaudit.utility.finding import UtilityFinding

            def audited() -> UtilityFinding:
                # Counted here: what the other process counts is lost with it.
                own = {**chosen, "confidence": _confidence(item, chosen["confidence"])}
                made = in_own_process(lambda: as_json(audit_utility(*given, **own)))
                found: UtilityFinding = decode(made, UtilityFinding)
                return found

            _check_names(arguments, audit_utility, "allow_undecided")
            with runs_apart():
                finding, made = item.stash[_AUDITS].finding(audited)
        if made:
            _record(item, finding, "failure_lower", "beta")
        if finding.verdict == UtilityVerdict.VIOLATION:
            pytest.fail(f"{finding}{_noted()}")
        if finding.verdict == UtilityVerdict.UNDECIDED and not allow_undecided:
            pytest.fail(f"{finding}\nallow_undecided=True lets it pass{_noted()}")
        return finding

    return audit


def _settings(config: pytest.Config) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, default in _DEFAULTS.items():
        text = config.getini(f"{_PREFIX}{name}")
        found[name] = config.getoption(f"--dpaudit-{name}")
        if found[name] is not None:
            continue
        try:
            found[name] = type(default)(text)
        except ValueError:
            raise pytest.UsageError(f"{_PREFIX}{name} must be a number, got {text!r}") from None
    return found


def _noted() -> str:
    """Return the line that says what hypothesis shows; empty outside of it."""
    data = _example()
    if data is None or not _drawn(data):
        return ""
    return f"\n{_NOT_SMALLER}"


def _marked(item: pytest.Item) -> dict[str, Any]:
    marks = list(item.iter_markers("dpaudit"))
    found: dict[str, Any] = {}
    for mark in reversed(marks):
        if mark.args or not mark.kwargs.keys() <= _DEFAULTS.keys():
            raise pytest.UsageError(f"the marker dpaudit takes {', '.join(_DEFAULTS)} by name; got {mark}")
        found |= mark.kwargs
    return found


def _check_names(given: Mapping[str, Any], audit: Callable[..., Any], own: str) -> None:
    from dpaudit.results import check_names

    check_names(audit, given, (own,))


@contextmanager
def _as_own_line() -> Iterator[None]:
    """Make bad input an error of the test's own line and not of ours."""
    __tracebackhide__ = True
    from dpaudit.errors import InputError
    from dpaudit.escaping import printable

    try:
        yield
    except InputError as error:
        raise InputError(printable(str(error)), parameter=error.parameter, value=error.value) from None


def _record(item: pytest.Item, finding: PrivacyFinding | UtilityFinding, *names: str) -> None:
    """Let the reports of the test have an audit as properties, JUnit's too."""
    numbers = {name: getattr(finding, name) for name in names}
    recorded = {"verdict": str(finding.verdict), **numbers, "error": 1 - finding.confidence}
    # The fixture record_property does the same, and warns where the family is xunit2, whose schema has no properties.
    item.user_properties += [(f"{_PREFIX}{name}", f"{value}") for name, value in recorded.items()]


def _limits(finding: PrivacyFinding) -> list[str]:
    failed = [check for check in finding.checks if not check.passed]
    if not failed and not finding.warnings:
        return []
    from dpaudit.escaping import printable
    from dpaudit.report.words.privacy import check_words

    return [printable(text) for text in (*finding.warnings, *map(check_words, failed))]


def _because(finding: PrivacyFinding) -> str:
    from dpaudit.escaping import printable

    witness = finding.witness
    error = f"{1 - finding.confidence:.3g}"
    lines = [f"pair {witness.pair}: {witness.data} and {witness.neighbour}", f"false alarm: at most {error}"]
    if witness.hits is not None:  # bets, of the sequential design, are on no single event
        ours = f"{witness.hits} of {witness.trials} runs"
        counts = f"{ours} against {witness.neighbour_hits} of {witness.neighbour_trials} ({witness.direction})"
        if witness.plain:
            counts = f"in the event tested {counts}"
        lines.insert(0, counts)
    return "\n".join([str(finding), *map(printable, lines)])

"""``dpaudit sample-complexity`` and ``dpaudit scaling``: how many examples a learner needs, and how that grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from dpaudit.audit.options import OPTIONS
from dpaudit.cli.audits import check_out, find_learner, find_learners, note_taken, read_parameters, show_measured
from dpaudit.cli.command import command
from dpaudit.cli.options import DRAWN, Measured, Parameters, Seed, argument, given, jobs, of
from dpaudit.errors import InputError, blamed

if TYPE_CHECKING:
    from dpaudit.registry import Entry
    from dpaudit.utility.finding import SampleComplexityFinding, ScalingFinding

__all__ = ["sample_complexity", "scaling"]

_Alpha = Annotated[float | None, given("error that is accepted (default: the example's)")]
_Beta = Annotated[float | None, given("rate of failure that is accepted (default: the example's)")]
_Setting = Annotated[
    str | None, given("what the error is, and what is random (default: the theorem's)", metavar="NAME")
]
_Confidence = Annotated[float, of(OPTIONS["confidence"], "of the interval or the limits", 0.95)]


class Search(NamedTuple):
    """The search of the worst case."""

    starts: Annotated[int, given("proposals from which to climb", default=3)]
    moves: Annotated[int, given("moves of each climb", default=100)]
    draws: Annotated[int, given("the most samples at one n", default=4000)]


@command(
    "sample-complexity", "dpaudit sample-complexity parity-private -p dimension=3 -p epsilon=1 --alpha 0.1 --beta 0.6"
)
def sample_complexity(
    id: Annotated[str, argument("ID")],
    parameter: Parameters,
    alpha: _Alpha,
    beta: _Beta,
    setting: _Setting,
    search: Search,
    n_jobs: Annotated[int, jobs("climbs at a time", -1)],
    confidence: _Confidence,
    seed: Seed,
    shown: Measured,
) -> int:
    """Measure the sample complexity n* of a learner.

    From n* examples on the learner's error exceeds alpha with probability at most beta, for the worst concept and
    distribution that a search finds: hard cases, linear programs that make many rivals of a concept just bad, and
    climbing from the best of them. Fresh randomness or an exact sum decides. Status 1 if the learner fails at an n for
    which its theorem promises that it does not.
    """
    from dpaudit.report.repeat import command_line
    from dpaudit.utility.sample_complexity import sample_complexity

    check_out(shown.out, DRAWN)
    entry, learner, parameters = find_learner(id, parameter, shown.learners)
    levels = _levels(entry, {"alpha": alpha, "beta": beta})
    chosen: dict[str, Any] = {
        **levels, "setting": setting, **search._asdict(), "confidence": confidence, "seed": seed,
    }  # fmt: skip
    with blamed(f"the learner {entry.id}"):
        finding = sample_complexity(learner, **chosen, n_jobs=n_jobs, progress=not shown.quiet)
    repeat = command_line("sample-complexity", entry.id, parameters, chosen, shown.learners)
    return _show(finding, entry.id, repeat, shown)


class Varied(NamedTuple):
    """The parameter that is varied."""

    id: Annotated[str, argument("ID")]
    varied: Annotated[str, argument("PARAMETER")]
    values: Annotated[str, argument("VALUES")]
    parameter: Parameters


@command("scaling", "dpaudit scaling parity-private dimension 1,3,8,16,32,48,63 -p epsilon=1 --alpha 0.1 --beta 0.6")
def scaling(
    learner: Varied, alpha: _Alpha, beta: _Beta, setting: _Setting, confidence: _Confidence, seed: Seed, shown: Measured
) -> int:
    """Measure how a learner's sample complexity n* grows with a parameter, and compare it with the theorem's n.

    Reports the raw exponent, and, what decides, the slope of ln(n*/theorem) in the upper half of the values. VALUES are
    at least six increasing numbers with commas; a^b is a power, as in 2^64. Status 1 if n* clearly outgrows the
    theorem.
    """
    from dpaudit.report.repeat import command_line
    from dpaudit.utility.scaling import law_of

    check_out(shown.out, DRAWN)
    entry = find_learners(shown.learners).get(learner.id)
    given, numbers = read_parameters(learner.parameter), [_value(word.strip()) for word in learner.values.split(",")]
    if learner.varied in given:
        raise InputError(f"-p must not give {learner.varied}, which is varied")
    example = {name: value for name, value in entry.instance.parameters.items() if name != learner.varied}
    note_taken(entry, {name: value for name, value in example.items() if name not in given})
    fixed = {**example, **given}
    asked = {"alpha": alpha, "beta": beta}
    levels = _levels(entry, {name: value for name, value in asked.items() if name != learner.varied})
    chosen: dict[str, Any] = {**levels, "setting": setting, "confidence": confidence, "seed": seed}
    with blamed(f"the learner {entry.id}"):
        finding = law_of(
            entry.id, entry.build, learner.varied, numbers, fixed, **{**asked, **chosen}, progress=not shown.quiet
        )
    repeat = command_line("scaling", entry.id, fixed, chosen, shown.learners, (learner.varied, learner.values))
    return _show(finding, entry.id, repeat, shown)


def _levels(entry: Entry, given: dict[str, float | None]) -> dict[str, Any]:
    """Return alpha and beta; what is not given is the example's, which a note says."""
    taken = {name: getattr(entry.instance, name) for name, value in given.items() if value is None}
    note_taken(entry, taken)
    return {**given, **taken}


def _value(word: str) -> float:
    """Read a number; integers stay integers, of any size."""
    base, caret, exponent = word.partition("^")
    try:
        if caret:
            power: int = int(base) ** int(exponent)
            return power
        return int(word) if word.lstrip("+-").isdigit() else float(word)
    except ValueError:
        raise InputError.of("values", word, "numbers with commas between them, such as 1,2,4 or 2^8,2^16") from None


def _show(finding: SampleComplexityFinding | ScalingFinding, name: str, repeat: str, shown: Measured) -> int:
    """Print a finding, write it to the file that was asked for, and return the status."""
    from dpaudit.contract import exit_status

    data = {**finding.to_dict(), "command": repeat}
    title = f"dpaudit: the sample complexity of {name}"
    show_measured(finding, name, repeat, shown, data, title=title, verdict=finding.verdict)
    return exit_status([finding.verdict], allow_open=shown.allow_no_evidence)

"""Findings and results as small as they can be: each test gives the fields that it is about."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET

from dpaudit.audit.checks_and_gaps import Identical
from dpaudit.audit.claim_tests import lower_bound
from dpaudit.audit.finding import PrivacyFinding, Witness
from dpaudit.contract import (
    ACCUSATIONS,
    Constants,
    Direction,
    Grade,
    Origin,
    Panel,
    Picture,
    PrivacyVerdict,
    Relation,
    StatementVerdict,
    Survives,
    UtilityVerdict,
)
from dpaudit.events.event import Cells, Event
from dpaudit.evidence.records import Failure, Fault, Header, LedgerRow, PictureFinding, Planned, Result, Run
from dpaudit.evidence.tasks import (
    ExactArguments,
    LedgerArguments,
    PictureArguments,
    PrivacyArguments,
    UtilityArguments,
)
from dpaudit.exact.finding import LawFinding, PairInWords
from dpaudit.utility.finding import UtilityFinding
from dpaudit.utility.interval import failure_interval

OUTPUT_1 = Cells("output", ((1, 1),))


def law_finding(verdict: str = "consistent", **changes: Any) -> LawFinding:
    """Return a finding of an exact audit."""
    given = {
        "epsilon": 1.0,
        "error": 0.0,
        "claimed_epsilon": 1.0,
        "claimed_delta": 0.0,
        "delta_at_claim": 0.0,
        "pair_in_words": PairInWords("S", "T", Origin(text="toy")),
        "worst_atom": "1",
        "pairs": 2,
        "samples": 2,
        "laws": 2,
        "n": 1,
        "relation": Relation.REPLACE_ONE,
        "grade": Grade.EXACT,
        "curve": ((0.0, 0.5), (1.0, 0.0)),
    }
    return LawFinding(verdict=PrivacyVerdict(verdict), **(given | changes))


LOWER = lower_bound((9, 1), (10, 10), UNSET, delta=0.0, error=0.05)
"""The bound on epsilon of 9 hits of 10 runs and 1 of 10, with error 0.05."""


def privacy_finding(verdict: str = "consistent", event: Event = OUTPUT_1, **changes: Any) -> PrivacyFinding:
    """Return a finding of a black-box audit, whose bound and verdict follow from its counts unless they are given."""
    given = {
        "epsilon": 1.0,
        "delta": 0.0,
        "epsilon_lower": LOWER,
        "detectable_epsilon": 1.1,
        "confidence": 0.95,
        "trials": 20,
        "selection_trials": 10,
        "confirmation_trials": 10,
        "pairs": 1,
        "events": 2,
        "witness": Witness(0, Origin(text="toy"), "S", "T", Direction.FORWARD, event, 9, 10, 1, 10),
        "bound": "melded",
        "distinguisher": "toy",
        "relation": Relation.REPLACE_ONE,
        "seed": 0,
        "design": "fixed",
        "detectable_delta": 0.2,
        "frontier": ((0.1, 1.2), (0.01, float("inf"))),
        "budget": {"search": 0, "local": 0, "pilot": 2, "training": 8, "confirmation": 10, "checks": 0},
        "errors": {"verdict": 0.05},
        "scores": ("toy",),
        "origins": (Origin(text="toy"),),
        "in_any_state": True,
    }
    if verdict == PrivacyVerdict.NO_EVIDENCE:
        given["gaps"] = (Identical(1),)
    return PrivacyFinding(verdict=PrivacyVerdict(verdict), **(given | changes))


LOW, HIGH = failure_interval(4, 100, 0.95)


def utility_finding(verdict: str = "holds", **changes: Any) -> UtilityFinding:
    """Return a finding of an audit of utility."""
    given = {
        "failure_rate": 0.04,
        "failure_lower": LOW,
        "failure_upper": HIGH,
        "failures": 4,
        "trials": 100,
        "alpha": 0.1,
        "beta": 0.1,
        "n": 8,
        "setting": "realizable",
        "concept": "concept 1",
        "distribution": "uniform",
        "confidence": 0.95,
        "seed": 0,
        "failure": "error > 0.1",
    }
    return UtilityFinding(verdict=UtilityVerdict(verdict), **(given | changes))


def ledger_row(verdict: str = "holds", **changes: Any) -> LedgerRow:
    """Return the verdict on a statement."""
    given = {"id": "Toy-1", "statement": "It is so.", "source": "here", "summary": "it is", "numbers": {"x": 1}}
    given["witness"] = "this one" if verdict in (StatementVerdict.REFUTED, *ACCUSATIONS) else ""
    if verdict in ACCUSATIONS:
        given |= {"place": "Lemma 1", "formula": "x < 1", "argument": "It is not.", "survives": Survives.YES}
    given |= {"constants": Constants.OURS} if verdict == StatementVerdict.DERIVED else {}
    return LedgerRow(verdict=StatementVerdict(verdict), **({**given, "grade": Grade.EXACT} | changes))


def picture_finding() -> PictureFinding:
    """Return a picture of nothing."""
    return PictureFinding(picture=Picture((Panel("nothing", (0.0, 1.0), (0.0, 1.0), ()),)), n=1, runs=1, seed=0)


def arguments_of(kind: str, role: Literal["claim", "ladder"] = "claim") -> Any:
    """Return the arguments of a task of a kind."""
    made: dict[str, Any] = {
        "exact": lambda: ExactArguments(n=1, relation=Relation.REPLACE_ONE, samples="all"),
        "privacy": lambda: PrivacyArguments(n=1, trials=20, confidence=0.95),
        "utility": lambda: UtilityArguments(
            role=role,
            case="uniform",
            case_index=None,
            concept=1,
            alpha=0.1,
            beta=0.1,
            n=8,
            trials=100,
            confidence=0.95,
            setting="realizable",
        ),
        "ledger": lambda: LedgerArguments(statement="It is so."),
        "picture": lambda: PictureArguments(n=1, runs=1),
    }
    return made[kind]()


FINDINGS = {"exact": law_finding, "privacy": privacy_finding, "utility": utility_finding, "ledger": ledger_row}


def result(
    kind: str = "exact", verdict: str = "", role: Literal["claim", "ladder"] = "claim", **changes: Any
) -> Result:
    """Return a result of a kind; a verdict of no text stands for the finding's usual one."""
    finding = picture_finding() if kind == "picture" else FINDINGS[kind](*[verdict] if verdict else [])
    given = {"task": "t", "learner": "a", "parameters": {"gain": 1.0}, "arguments": arguments_of(kind, role)}
    return Result(**{**given, "finding": finding, **changes})


def failure(kind: str = "exact", error: str = "RuntimeError: oops", **changes: Any) -> Failure:
    """Return a task that failed."""
    given = {"task": "t", "learner": "a", "parameters": {"gain": 1.0}, "arguments": arguments_of(kind)}
    return Failure(error=error, **(given | changes))


def planned_task(key: str) -> Planned:
    """Return the task of a plan that has a key."""
    learner, kind, *_ = [*key.split("/"), "exact"]
    return Planned(key, learner, kind)


def header(plan: list[str] | tuple[str, ...], **changes: Any) -> Header:
    """Return the header of a run with that plan."""
    given = {"seed": 3, "profile": "quick", "command": "dpaudit run"} | changes
    return Header(plan=tuple(map(planned_task, plan)), **given)


def run_of(*results: Result, plan: tuple[str, ...] | None = None, faults: tuple[Fault, ...] = ()) -> Run:
    """Return a run with these results; its plan is theirs unless given."""
    planned = tuple(r.task for r in results) if plan is None else plan
    return Run(header(planned, faults=faults), tuple(results))

"""Construct the small run by hand, and write it and its golden reports into this folder."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from msgspec.structs import replace

from dpaudit.audit.claim_tests import EventTest
from dpaudit.audit.finding import PrivacyFinding, Witness
from dpaudit.bounds.curve import fit_curve
from dpaudit.contract import (
    Direction,
    Grade,
    Origin,
    OriginKind,
    PrivacyClaim,
    Relation,
    Survives,
    Verdict,
)
from dpaudit.contract.pairs import differing
from dpaudit.events.event import Bets, Cells
from dpaudit.evidence.lines import chained, write_line
from dpaudit.evidence.records import Header, LedgerRow, Planned, Result, Run
from dpaudit.evidence.store import load_run
from dpaudit.evidence.subjects import Subject
from dpaudit.evidence.tasks import ExactArguments, LedgerArguments, PrivacyArguments, Task, UtilityArguments
from dpaudit.exact.finding import LawFinding, PairInWords
from dpaudit.utility.finding import UtilityFinding
from dpaudit.utility.interval import failure_interval, is_vacuous, verdict
from dpaudit_learners.parities.concepts import Parities

HERE = Path(__file__).parent
_TWO = Cells("output", ((1, 1), (3, 3)))
CONCEPTS = Parities(2)
CRAFTED = Origin(OriginKind.CRAFTED, "one label flipped")
VERSIONS = {"python": "3.11.9", "dpaudit": "0.1.0", "numpy": "2.0.0", "scipy": "1.14.0"}


def _random(number):
    return Origin(OriginKind.RANDOM, f"number {number}")


def _curve(p, q, top, knots=33):
    """Return (epsilon, max(0, p - exp(epsilon) q)) on a grid: the two events that a run distinguishes best."""
    return tuple((e, max(0.0, p - math.exp(e) * q)) for e in (top * i / (knots - 1) for i in range(knots)))


def law(verdict, epsilon, claimed, curve, claim_id, delta_at_claim=0.0, pairs=56, **extra):
    return LawFinding(
        verdict=Verdict.of(verdict),
        epsilon=epsilon,
        error=4.4e-16,
        claimed_epsilon=claimed,
        claimed_delta=0.0,
        delta_at_claim=delta_at_claim,
        epsilon_at_claim=None if claimed is None else epsilon,
        pair_in_words=PairInWords("Sample(n=1: (0, 1)->0)", "Sample(n=1: (1, 0)->1)", Origin(OriginKind.ENUMERATED)),
        worst_atom="0",
        pairs=pairs,
        samples=8,
        laws=8,
        n=1,
        relation=Relation.REPLACE_ONE,
        grade=Grade.EXACT,
        curve=curve,
        claim_id=claim_id,
        versions=VERSIONS,
        **extra,
    )


def blackbox(verdict, epsilon, detectable, hits, other, claim_id, errors, curve=None):
    """Return a finding of the fixed design: 12 pairs given, 18 more tried by the local search, two events tested."""
    tests = tuple(
        EventTest(event, share * errors["verdict"], *counts, 0.0, Direction.BACKWARD)
        for event, share, counts in (
            (_TWO, 0.8, (hits, other)),
            (Cells("output", ((1, 1),)), 0.2, (hits // 3, other // 3)),
        )
    )
    tests = tuple(replace(test, epsilon_lower=test.lower((160_000, 160_000), 0.0)) for test in tests)
    witness = Witness(
        pair=3,
        origin=CRAFTED,
        data="Sample(n=1: (0, 1)->0)",
        neighbour="Sample(n=1: (1, 0)->1)",
        differs=differing("Sample(n=1: (0, 1)->0)", "Sample(n=1: (1, 0)->1)"),
        direction=Direction.BACKWARD,
        event=_TWO,
        hits=hits,
        trials=160_000,
        neighbour_hits=other,
        neighbour_trials=160_000,
    )
    return PrivacyFinding(
        verdict=Verdict.of(verdict),
        epsilon=epsilon,
        delta=0.0,
        epsilon_lower=tests[0].epsilon_lower,
        detectable_epsilon=detectable,
        detectable_delta=0.00012,
        frontier=((0.1, epsilon + 0.02), (0.01, epsilon + 0.07), (0.001, epsilon + 0.3), (0.0001, math.inf)),
        confidence=0.95,
        trials=240_000,
        selection_trials=80_000,
        confirmation_trials=160_000,
        pairs=30,
        compared=7,
        events=64,
        witness=witness,
        bound="melded",
        distinguisher="histogram",
        relation=Relation.REPLACE_ONE,
        seed=0,
        design="fixed",
        budget={
            "search": 30_000,
            "local": 10_000,
            "pilot": 0,
            "training": 40_000,
            "confirmation": 160_000,
            "checks": 0,
        },
        errors=errors,
        scores=("histogram", "logistic"),
        origins=(CRAFTED,) * 8 + (_random(0), _random(1), Origin(), Origin()),
        tests=tests,
        curve=curve,
        claim_id=claim_id,
        versions=VERSIONS,
    )


def betting(verdict, epsilon, lower, claim_id):
    """Return a finding of the sequential design, where no single event decides and there are no counts."""
    witness = Witness(
        pair=1,
        origin=Origin(),
        data="Sample(n=1: (3,)->0)",
        neighbour="Sample(n=1: (3,)->1)",
        differs=differing("Sample(n=1: (3,)->0)", "Sample(n=1: (3,)->1)"),
        direction=Direction.FORWARD,
        event=Bets(3000, 1.25),
    )
    return PrivacyFinding(
        verdict=Verdict.of(verdict),
        epsilon=epsilon,
        delta=0.0,
        epsilon_lower=lower,
        detectable_epsilon=0.93,
        detectable_delta=0.0021,
        frontier=((0.1, 0.93), (0.01, 1.4), (0.001, 3.1), (0.0001, math.inf)),
        confidence=0.95,
        trials=1_000,
        selection_trials=0,
        confirmation_trials=2_000,
        pairs=2,
        events=0,
        witness=witness,
        bound="betting",
        distinguisher="betting",
        relation=Relation.REPLACE_ONE,
        seed=0,
        design="sequential",
        budget={"used": 4_000, "allowed": 4_000, "checks": 0},
        errors={"verdict": 0.05},
        scores=(),
        origins=(Origin(), Origin()),
        in_any_state=True,
        claim_id=claim_id,
        versions=VERSIONS,
    )


def utility(failures, n, beta, claim_id, concept, distribution, trials=1000, setting="realizable"):
    lower, upper = failure_interval(failures, trials, 0.975)
    return UtilityFinding(
        verdict=verdict(lower, upper, beta, is_vacuous(0.1, beta, setting, CONCEPTS)),
        failure_rate=failures / trials,
        failure_lower=lower,
        failure_upper=upper,
        failures=failures,
        trials=trials,
        alpha=0.1,
        beta=beta,
        n=n,
        setting=setting,
        concept=concept,
        distribution=distribution,
        confidence=0.975,
        seed=0,
        claim_id=claim_id,
        versions=VERSIONS,
        failure="error > 0.1" if setting == "realizable" else "error on the sample > 0.1",
    )


def _claim(epsilon, claim_id):
    return PrivacyClaim(epsilon, claim_id=claim_id, source="Private learning (slides): the parity learner")


def _row(id, statement, verdict, summary, numbers, grade="exact", witness="", **shown):
    return LedgerRow(
        id=id,
        statement=statement,
        source="Private learning (slides)",
        verdict=Verdict.of(verdict),
        summary=summary,
        numbers=numbers,
        grade=Grade(grade),
        witness=witness,
        versions=VERSIONS,
        **shown,
    )


def _ledger():
    """Return one statement of each verdict that needs its own words; "refuted" is of the time before classes."""
    return [
        _row(
            "SL-Point",
            "n = (1/alpha) ln(1/beta) examples suffice for points.",
            "holds",
            "the exact failure probability at n = 30 is 0.0424 <= 0.05",
            {"n": 30, "failure": 0.0424},
        ),
        _row(
            "SL-Rounds",
            "J rounds of epsilon/J each are epsilon-private.",
            "loose",
            "the worst epsilon that the optimiser found is 0.63 of 1; if examples are added or removed, it is infinite",
            {"epsilon": 0.63, "added": math.inf},
            "numeric",
        ),
        _row(
            "SL-Failure",
            "Replacing an example moves Pr[fail] from 1/2 to 1/2 + epsilon/4.",
            "refuted",
            "Pr[fail] goes from 0.5 to 0.625 = 1/2 + epsilon/8",
            {"before": 0.5, "after": 0.625},
            witness="d = 1, epsilon = 1: the sample (1 -> 1) replaced by (0 -> 1)",
            short="One example moves Pr[fail] from 1/2 to 1/2 + ε/4",
            printed="Pr[fail] = 0.75",
            found="at most 0.625",
        ),
        _row(
            "SL-Slip",
            "Every threshold c_j labels the points below j.",
            "misprint",
            "c_1 labels 1 point, the learner's slide 2",
            {"points": 1},
            witness="c_1 on the point 1",
            place="The threshold learner",
            formula="c_j(x) = 1 iff x < j",
            argument="The slide before has x <= j, which the learner needs.",
            survives=Survives.YES,
        ),
    ]


def _entries():
    """Yield (learner, parameters, fault, claim, finding, what its arguments have that the finding has not)."""
    good = ("parity-private", {"dimension": 2, "epsilon": 1.0}, None, _claim(1.0, "parity-private-pure"))
    yield *good, law("consistent", math.log(5 / 3), 1.0, _curve(0.3125, 0.1875, 1.1), "parity-private-pure"), {}
    yield (
        *good,
        blackbox(
            "consistent",
            1.0,
            1.01263,
            50_012,
            29_968,
            "parity-private-pure",
            errors={"verdict": 0.04, "curve": 0.01},
            # The pair's two likeliest outputs, then the third: nested events.
            curve=fit_curve([50_012, 80_020], 160_000, [29_968, 60_010], 160_000, 0.01),
        ),
        {"curve": True},
    )
    first, last = "mass just above alpha on the hard point", "uniform, last concept"
    for role, case, concept, n, failures in (
        ("claim", first, "parity 1", 119, 503),
        ("claim", last, "parity 3", 119, 491),
        ("ladder", first, "parity 1", 60, 558),
        ("ladder", first, "parity 1", 30, 667),
        ("ladder", first, "parity 1", 15, 742),
    ):
        finding = utility(failures, n, 0.6, "parity-private-utility", concept, case)
        yield *good, finding, {"role": role, "case": case}
    bare = ("parity-elimination", {"dimension": 2}, None, None)
    yield *bare, law("consistent", math.inf, None, _curve(1.0, 0.0, 2.0), ""), {}
    yield *bare, utility(0, 37, 0.1, "occam", "parity 3", "uniform"), {"role": "claim", "case": last}
    yield (
        *bare,
        utility(2, 1, 0.1, "occam", "parity 1", first, setting="empirical"),
        {"role": "claim", "case": first},
    )
    bets = ("threshold-exponential", {"size": 8, "epsilon": 0.8}, None, _claim(0.8, "threshold-pure"))
    yield *bets, betting("consistent", 0.8, 0.31, "threshold-pure"), {"sequential": True}
    broken = (
        "parity-private-careless",
        {"dimension": 2, "epsilon": 0.5},
        "keeps each example with probability epsilon instead of epsilon / 4",
        _claim(0.5, "parity-private-pure"),
    )
    yield (
        *broken,
        law(
            "violation",
            math.log(3),
            0.5,
            _curve(0.375, 0.125, 1.2),
            "parity-private-pure",
            delta_at_claim=0.375 - 0.125 * math.exp(0.5),
        ),
        {},
    )
    yield (
        *broken,
        blackbox("violation", 0.5, 0.51407, 59_950, 20_040, "parity-private-pure", errors={"verdict": 0.05}),
        {},
    )
    for row in _ledger():
        yield row.id, {}, None, None, row, {}


def _arguments(finding, more):
    """Return the arguments of the task that could have made a finding."""
    if isinstance(finding, LawFinding):
        return ExactArguments(n=1, relation=Relation.REPLACE_ONE, samples="all")
    if isinstance(finding, PrivacyFinding):
        return PrivacyArguments(n=1, trials=finding.trials, confidence=finding.confidence, **more)
    if isinstance(finding, LedgerRow):
        return LedgerArguments(statement=finding.statement)
    names = ("alpha", "beta", "n", "trials", "confidence", "setting")
    index = 0 if "alpha" in more["case"] else 1
    return UtilityArguments(case_index=index, concept=None, **more, **{name: getattr(finding, name) for name in names})


def build():
    """Return the run, its lines without digests and so without a total."""
    results = tuple(
        Result(
            index=i,
            task=Task(learner, parameters, arguments := _arguments(finding, more)).key,
            learner=learner,
            parameters=parameters,
            arguments=arguments,
            fault=fault,
            claim=claim,
            finding=finding,
        )
        for i, (learner, parameters, fault, claim, finding, more) in enumerate(_entries())
    )
    header = Header(
        seed=0,
        profile="quick",
        plan=tuple(Planned(result.task, result.learner, result.kind) for result in results),
        command="dpaudit run parity-private parity-elimination threshold-exponential --profile quick --seed 0",
        versions=VERSIONS,
        controls={result.learner: result.fault for result in results if result.fault is not None},
        state="sealed",
        subjects=(Subject("learners.py", {"sha256": 64 * "5"}),),
    )
    return Run(header, results)


def lines(run):
    """Return a run as the lines of a sealed file."""
    return chained(replace(run.header, state="sealed"), map(write_line, run.results))


def main():
    from dpaudit.report import console
    from dpaudit.report import json as json_report

    (HERE / "run_small.jsonl").write_bytes(lines(build()))
    run = load_run(HERE / "run_small.jsonl")
    (HERE / "run_small.txt").write_text(console.full(run))
    (HERE / "run_small.json").write_text(json_report.render(run))


def pinned(chosen):
    """Write what some of the tasks of `run_pinned.jsonl` find today, by the design of an audit or by the learner's id.

    All else stays.
    """
    from dpaudit.evidence.perform import perform
    from dpaudit.evidence.tasks import Task

    before = load_run(HERE / "run_pinned.jsonl")

    def today(one):
        if chosen != (one.finding.design if one.kind == "privacy" else one.learner if one.kind == "utility" else ""):
            return one
        made = perform(Task(one.learner, one.parameters, one.arguments), seed=before.header.seed)
        return replace(made, index=one.index)

    (HERE / "run_pinned.jsonl").write_bytes(lines(Run(before.header, tuple(map(today, before.results)))))


if __name__ == "__main__":
    main()
    for word, chosen in (("events", "fixed"), ("bets", "sequential"), ("parities", "parity-private")):
        if word in sys.argv:
            pinned(chosen)

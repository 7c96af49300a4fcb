"""Construct the small run by hand, and write it and its golden reports into this folder."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace

from scipy.stats import beta as beta_law

from dpaudit.bounds.curve import fit_curve
from dpaudit.contract import Pair
from dpaudit.results import EventTest, LawFinding, LedgerRow, PrivacyFinding, UtilityFinding, Witness

HERE = Path(__file__).parent
VERSIONS = {"python": "3.11.9", "dpaudit": "0.1.0", "numpy": "2.0.0", "scipy": "1.14.0"}


def _sample(text):
    """Return something whose repr is `text`."""
    return type("Shown", (), {"__repr__": lambda self: f"Sample(n=1: {text})"})()


def _curve(p, q, top, knots=33):
    """Return (epsilon, max(0, p - exp(epsilon) q)) on a grid: the two events that a run distinguishes best."""
    return tuple((e, max(0.0, p - math.exp(e) * q)) for e in (top * i / (knots - 1) for i in range(knots)))


def law(verdict, epsilon, claimed, curve, claim_id, delta_at_claim=0.0, pairs=56, **extra):
    pair = Pair(_sample("(0, 1)->0"), _sample("(1, 0)->1"), "enumerated")
    return LawFinding(
        verdict=verdict,
        epsilon=epsilon,
        error=4.4e-16,
        claimed_epsilon=claimed,
        claimed_delta=0.0,
        delta_at_claim=delta_at_claim,
        worst_pair=pair,
        worst_atom="0",
        pairs=pairs,
        samples=8,
        laws=8,
        n=1,
        relation="replace-one",
        grade="exact",
        curve=curve,
        profiles=SimpleNamespace(),
        claim_id=claim_id,
        versions=VERSIONS,
        **extra,
    )


def blackbox(verdict, epsilon, lower, detectable, hits, other, claim_id, errors, curve=None):
    """Return a finding of the fixed design: 12 pairs given, 18 more tried by the local search, two events tested."""
    tests = (
        EventTest("the output is 1 or 3", 0.8 * errors["verdict"], hits, other, lower),
        EventTest("the output is 1", 0.2 * errors["verdict"], hits // 3, other // 3, 0.9 * lower),
    )
    witness = Witness(
        pair=3,
        origin="crafted: one label flipped",
        data="Sample(n=1: (0, 1)->0)",
        neighbour="Sample(n=1: (1, 0)->1)",
        direction="backward",
        event="the output is 1 or 3",
        hits=hits,
        trials=160_000,
        neighbour_hits=other,
        neighbour_trials=160_000,
    )
    return PrivacyFinding(
        verdict=verdict,
        epsilon=epsilon,
        delta=0.0,
        epsilon_lower=lower,
        detectable_epsilon=detectable,
        detectable_delta=0.00012,
        frontier=((0.1, epsilon + 0.02), (0.01, epsilon + 0.07), (0.001, epsilon + 0.3), (0.0001, math.inf)),
        confidence=0.95,
        trials=20_000,
        selection_trials=80_000,
        confirmation_trials=160_000,
        pairs=30,
        events=64,
        witness=witness,
        bound="melded",
        distinguisher="histogram",
        relation="replace-one",
        seed=0,
        design="fixed",
        budget={"halving": 30_000, "local": 10_000, "training": 40_000, "confirmation": 160_000},
        errors=errors,
        scores=("histogram", "logistic"),
        origins=("crafted: one label flipped",) * 8 + ("random: number 0", "random: number 1", "given", "given"),
        tests=tests,
        curve=curve,
        claim_id=claim_id,
        versions=VERSIONS,
    )


def betting(verdict, epsilon, lower, claim_id):
    """Return a finding of the sequential design, where no single event decides and there are no counts."""
    witness = Witness(
        pair=1,
        origin="given",
        data="Sample(n=1: (3,)->0)",
        neighbour="Sample(n=1: (3,)->1)",
        direction="forward",
        event="no single event: bets on 3000 runs of this pair made the stake exp(1.25) times larger",
        hits=None,
        trials=None,
        neighbour_hits=None,
        neighbour_trials=None,
    )
    return PrivacyFinding(
        verdict=verdict,
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
        relation="replace-one",
        seed=0,
        design="sequential",
        budget={"used": 4_000, "allowed": 4_000},
        errors={"verdict": 0.025, "epsilon_lower": 0.025},
        scores=(),
        origins=("given", "given"),
        claim_id=claim_id,
        versions=VERSIONS,
    )


def utility(failures, n, beta, claim_id, concept, distribution, trials=1000, setting="realizable"):
    lower = float(beta_law.ppf(0.0125, failures, trials - failures + 1)) if failures else 0.0
    upper = 1 - float(beta_law.ppf(0.0125, trials - failures, failures + 1))
    verdict = "holds" if upper <= beta else "violation" if lower > beta else "undecided"
    return UtilityFinding(
        verdict=verdict,
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
    return {
        "epsilon": epsilon,
        "delta": 0.0,
        "relation": "replace-one",
        "claim_id": claim_id,
        "source": "Private learning (slides): the parity learner",
    }


def _ledger():
    """Yield one claim of each verdict that needs its own words."""
    source = "Private learning (slides)"
    yield LedgerRow(
        "SL-Point",
        "n = (1/alpha) ln(1/beta) examples suffice for points.",
        source,
        "holds",
        "the exact failure probability at n = 30 is 0.0424 <= 0.05",
        {"n": 30, "failure": 0.0424},
        "exact",
        versions=VERSIONS,
    )
    yield LedgerRow(
        "SL-Rounds",
        "J rounds of epsilon/J each are epsilon-private.",
        source,
        "loose",
        "the worst epsilon that the optimiser found is 0.63 of 1; if examples are added or removed, it is infinite",
        {"epsilon": 0.63, "added": math.inf},
        "numeric",
        versions=VERSIONS,
    )
    yield LedgerRow(
        "SL-Failure",
        "Replacing an example moves Pr[fail] from 1/2 to 1/2 + epsilon/4.",
        source,
        "refuted",
        "Pr[fail] goes from 0.5 to 0.625 = 1/2 + epsilon/8",
        {"before": 0.5, "after": 0.625},
        "exact",
        "d = 1, epsilon = 1: the sample (1 -> 1) replaced by (0 -> 1)",
        versions=VERSIONS,
    )


def _entries():
    """Yield (learner, parameters, fault, claim, kind, arguments, finding) of every task in plan order."""
    good = ("parity-private", {"dimension": 2, "epsilon": 1.0}, None, _claim(1.0, "parity-private-pure"))
    yield (
        *good,
        "exact",
        {"n": 1, "samples": "all"},
        law("consistent", math.log(5 / 3), 1.0, _curve(0.3125, 0.1875, 1.1), "parity-private-pure"),
    )
    yield (
        *good,
        "privacy",
        {"n": 1},
        blackbox(
            "consistent",
            1.0,
            0.50021,
            1.01263,
            50_012,
            29_968,
            "parity-private-pure",
            errors={"verdict": 0.04, "curve": 0.01},
            # The pair's two likeliest outputs, then the third: nested events.
            curve=fit_curve([50_012, 80_020], 160_000, [29_968, 60_010], 160_000, 0.01),
        ),
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
        yield *good, "utility", {"role": role, "case": case}, finding
    bare = ("parity-elimination", {"dimension": 2}, None, None)
    yield (
        *bare,
        "exact",
        {"n": 1, "samples": "all"},
        law("consistent", math.inf, None, _curve(1.0, 0.0, 2.0), ""),
    )
    yield (
        *bare,
        "utility",
        {"role": "claim", "case": last},
        utility(0, 37, 0.1, "occam", "parity 3", "uniform"),
    )
    yield (
        *bare,
        "utility",
        {"role": "claim", "case": first},
        utility(2, 1, 0.1, "occam", "parity 1", first, setting="empirical"),
    )
    bets = ("threshold-exponential", {"size": 8, "epsilon": 0.8}, None, _claim(0.8, "threshold-pure"))
    yield *bets, "privacy", {"n": 1, "sequential": True}, betting("consistent", 0.8, 0.31, "threshold-pure")
    broken = (
        "parity-private-careless",
        {"dimension": 2, "epsilon": 0.5},
        "keeps each example with probability epsilon instead of epsilon / 4",
        _claim(0.5, "parity-private-pure"),
    )
    yield (
        *broken,
        "exact",
        {"n": 1, "samples": "all"},
        law(
            "violation",
            math.log(3),
            0.5,
            _curve(0.375, 0.125, 1.2),
            "parity-private-pure",
            delta_at_claim=0.375 - 0.125 * math.exp(0.5),
        ),
    )
    yield (
        *broken,
        "privacy",
        {"n": 1},
        blackbox("violation", 0.5, 1.08351, 0.51407, 59_950, 20_040, "parity-private-pure", errors={"verdict": 0.05}),
    )
    for row in _ledger():
        yield row.id, {}, None, None, "ledger", {"statement": row.statement}, row


def build():
    """Return the run as the engine hands it to a reporter."""
    results = []
    for i, (learner, parameters, fault, claim, kind, arguments, finding) in enumerate(_entries()):
        results.append(
            {
                "record": "result",
                "index": i,
                "task": f"{learner}/{kind}/{i:08x}",
                "kind": kind,
                "learner": learner,
                "parameters": parameters,
                "arguments": arguments,
                "fault": fault,
                "claim": claim,
                "finding": finding.to_dict(),
            }
        )
    header = {
        "record": "run",
        "schema_version": 1,
        "seed": 0,
        "profile": "quick",
        "plan": [r["task"] for r in results],
        "command": "dpaudit run parity-private parity-elimination threshold-exponential --profile quick --seed 0",
        "versions": VERSIONS,
    }
    return {"header": header, "results": results}


def lines(run):
    """Return a run as JSON Lines."""
    return "".join(
        json.dumps(record, sort_keys=True, allow_nan=False) + "\n" for record in (run["header"], *run["results"])
    )


def main():
    from dpaudit.reporters import console
    from dpaudit.reporters import json as json_report

    run = build()
    (HERE / "run_small.jsonl").write_text(lines(run))
    stored = [json.loads(line) for line in lines(run).splitlines()]
    read = {"header": stored[0], "results": stored[1:]}
    (HERE / "run_small.txt").write_text(console.render(read))
    (HERE / "run_small.json").write_text(json_report.render(read))


if __name__ == "__main__":
    main()

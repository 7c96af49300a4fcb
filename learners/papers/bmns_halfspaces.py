"""Statements of BMNS on learning halfspaces, its Section 4."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpaudit.contract import Distribution, Evidence
from learners.citations import BMNS
from learners.halfspaces.concepts import Halfspaces
from learners.halfspaces.controls import HalfspaceRefusing
from learners.halfspaces.sizes import printed_examples
from learners.halfspaces.tukey import HalfspaceTukey
from learners.papers.halved_sizes import audit_cases
from learners.papers.instances import pair_data
from learners.papers.statements import states
from learners.papers.verdicts import against, judged, leaks, supremum_text, verdict_of, worst_of

__all__ = ["STATEMENTS"]

EPSILON, DELTA, BETA = 1.0, 1e-6, 0.1


@states(
    "BMNS-Clm4.1",
    "|HALFSPACE(X)| <= 2 |X|^(d + 1).",
    f"{BMNS}, Claim 4.1",
    short="Labellings of a grid by halfspaces",
    printed="≤ 2 |X|^(d + 1)",
    found="{side 1, d=3} for 8 points, d = 3",
)
def _dichotomies(tools: Any) -> Evidence:
    numbers, holds, share = {}, True, 0.0
    data: dict[str, Any] = {}
    for side, d in ((1, 1), (7, 1), (1, 2), (2, 2), (3, 2), (1, 3)):
        size, points = Halfspaces(side, d).size, (side + 1) ** d
        numbers[f"side {side}, d={d}"] = size
        holds &= size <= 2 * points ** (d + 1)
        if size / (2 * points ** (d + 1)) > share:
            share, data = size / (2 * points ** (d + 1)), {"side": side, "dimension": d, "labellings": size}
    text = "|HALFSPACE(X)|: " + ", ".join(f"{k}: {v}" for k, v in numbers.items())
    return judged("holds", failed=not holds, summary=text, numbers=numbers, witness=text, data=data)


@states(
    "BMNS-Thm4.2",
    "LearnHalfSpace, with a default where a subsample is inconsistent, is as private as the release it calls.",
    f"{BMNS}, Theorem 4.2, privacy",
    short="LearnHalfSpace is as private as its release",
    printed="ε = 1",
    found="ε ≥ {epsilon:.3g} at n = {n}",
    slow=True,
)
def _aggregate(tools: Any) -> Evidence:
    kinds = ("rec-concave", "positive")
    found, worst, data = worst_of(tools, (HalfspaceTukey(1, 1, 1.0, variant=kind) for kind in kinds))
    told = ", ".join(f"{supremum_text(one)} with the release {kind!r}" for kind, one in zip(kinds, found, strict=True))
    return judged(
        verdict_of(worst, 1.0),
        failed=any(leaks(one, 1.0) for one in found),
        summary=f"worst epsilon over samples of two points, 3 subsamples: {told}; of 1",
        numbers={"epsilon": worst.value, "coordinates": found[0].value, "n": worst.n},
        witness=repr(worst.witness),
        data=data,
    )


@states(
    "BMNS-Fig2-step3",
    "Step 3 may be left undefined on subsamples that no halfspace fits, without loss of privacy.",
    f"{BMNS}, Figure 2, step 3",
    short="Step 3 may stay undefined without loss of privacy",
    printed="δ = 10⁻⁶",
    found="δ = {delta:.3g} at ε = 1",
)
def _unrealizable(tools: Any) -> Evidence:
    learner = HalfspaceRefusing(1, 1, 1.0)
    finding = tools.audit_law(learner, n=3)
    delta = finding.delta_at_claim
    text = f"if step 3 stops where a subsample is inconsistent, delta at epsilon = 1 is {delta:.4f} instead of 1e-6"
    failed, witness = finding.verdict == "violation", against(finding.worst_pair)
    data = pair_data(learner, finding.worst_pair, at=1.0, delta=delta)
    return judged("holds", failed=failed, summary=text, numbers={"delta": delta}, witness=witness, data=data)


@states(
    "BMNS-Thm4.2-utility",
    "LearnHalfSpace is an (alpha, beta)-PAC learner for halfspaces with s = O(m^2 (..)/(r alpha)) examples.",
    f"{BMNS}, Theorem 4.2",
    short="Examples to learn halfspaces",
    printed="n = {d = 2, agreement: theorem's n:,}",
    found="n = {d = 2, agreement: enough} is enough (d = 2)",
    best="n = {d = 2, agreement: theorem's n:,} proved, by agreement (d = 2)",
    slow=True,
)
def _halfspaces(tools: Any) -> Evidence:
    law = np.array([0.101, 0.3, 0.3, 0.299])
    learners = (
        ("d = 2, agreement", HalfspaceTukey(1, 2, EPSILON, subsamples=90, variant="positive"), 5),
        ("d = 1, by coordinates", HalfspaceTukey(3, 1, EPSILON, subsamples=302, variant="exponential"), 3),
    )
    cases = [
        (name, learner, target, Distribution(learner.domain.points(), law, "just above alpha on a corner"))
        for name, learner, target in learners
    ]
    verdict, numbers, told, witness, data = audit_cases(tools, cases, alpha=0.1, beta=BETA, halvings=12, trials=60)
    huge, wrong = _printed_halfspaces()
    text = f"{told}; " + ", ".join(f"{k} {v:.1e}" for k, v in huge.items()) + f", {wrong} of 100 runs fail"
    if _chance(wrong, 100) < 0.01:
        witness = f"{wrong} of 100 runs at the printed s fail, beta = {BETA}"
    return judged(
        verdict,
        failed=bool(witness),
        summary=text,
        numbers={**numbers, **huge, "failures at the printed s": wrong},
        grade="statistical",
        witness=witness,
        data=data,
    )


def _chance(wrong: int, trials: int) -> float:
    """Return the probability of so many failures, or more, if each run fails with probability beta."""
    return math.fsum(math.comb(trials, i) * BETA**i * (1 - BETA) ** (trials - i) for i in range(wrong, trials + 1))


def _printed_halfspaces() -> tuple[dict[str, float], int]:
    """Return the m and s of Theorem 4.2 for d = 2 with printed constants, and how many of 100 runs there fail.

    Each subsample has max(4/a' log2(2/b'), 8 (d + 1)/a' log2(13/a')) examples, a' = r alpha/m, r = m/(2 (d + 2)) and
    b' = beta/(2 m): the classical bound for consistent learners.
    """
    d, alpha = 2, 0.1
    m = math.ceil(printed_examples(d + 1, 2**20, EPSILON, DELTA, BETA / 2))
    share, failing = alpha / (2 * (d + 2)), BETA / (2 * m)
    each = max(4 / share * math.log2(2 / failing), 8 * (d + 1) / share * math.log2(13 / share))
    learner = HalfspaceTukey(1, d, EPSILON, DELTA, BETA, subsamples=m)
    points, law = learner.domain.points(), np.array([0.101, 0.3, 0.3, 0.299])
    truth = learner.concepts.concept(5).predict(points)
    wrong = 0
    for code in learner.simulate(5, law, m * math.ceil(each), np.random.default_rng(0), 100):
        hypothesis = learner.decode(code)
        wrong += hypothesis is None or float(law[hypothesis.predict(points) != truth].sum()) > alpha
    return {"printed m, d = 2:": m, "printed s, d = 2:": float(m * math.ceil(each))}, wrong


STATEMENTS = (_dichotomies, _aggregate, _unrealizable, _halfspaces)

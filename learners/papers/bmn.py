"""Statements of "Learning from mixtures of private and public populations" (BMN) that computation decides."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from dpaudit.contract import Evidence
from learners.citations import BMN
from learners.finite.scores import scores
from learners.mixtures.halfspace import MixtureHalfspace
from learners.mixtures.public_family import public_family
from learners.papers.statements import states
from learners.papers.verdicts import judged, leaks, supremum_of, supremum_text, verdict_of

__all__ = ["STATEMENTS"]


@states(
    "BMN-Alg1-literal",
    "With one arbitrary halfspace for each set of public points, G has the error of the best halfspace.",
    f"{BMN}, Algorithm 1 and Lemma 4.5",
    short="One arbitrary halfspace for each set of public points reaches the best error",
    printed="{least errors of a halfspace} errors",
    found="{least errors, printed} errors of 4",
)
def _literal_family(tools: Any) -> Evidence:
    printed, repaired = MixtureHalfspace(2, 1.0, literal=True), MixtureHalfspace(2, 1.0)
    sample = printed.domain.sample([[0, 0], [1, 0], [3, 0], [4, 0]], [0, 0, 1, 1])
    numbers = {
        "least errors, printed": int(printed.errors(sample).min()),
        "least errors, repaired": int(repaired.errors(sample).min()),
        "least errors of a halfspace": sample.n - int(scores(printed.concepts, sample).max()),
    }
    failed = numbers["least errors, printed"] > numbers["least errors of a halfspace"]
    text = ", ".join(f"{k}: {v}" for k, v in numbers.items()) + f", of {sample.n} examples"
    witness = "public (0, 0), (1, 0); private (3, 0), (4, 0); each single point supported by the line y = 0"
    return judged("undecided", failed=failed, summary=text, numbers=numbers, witness=witness)


@states(
    "BMN-Lem4.5",
    "With halfspaces that cut the public flat properly, G has a hypothesis at least as good as the best halfspace.",
    f"{BMN}, Lemma 4.5, repaired",
    short="G holds a hypothesis as good as the best halfspace",
    printed="no worse",
    found="checked on {samples:,} samples",
)
def _helly(tools: Any) -> Evidence:
    checked, witness = 0, ""
    for dimension, side, n in ((1, 3, 4), (2, 1, 4), (2, 2, 3)):
        learner = MixtureHalfspace(dimension, 1.0, side)
        examples = [(tuple(x), y) for x in learner.domain.points().tolist() for y in (0, 1)]
        for chosen in combinations_with_replacement(examples, n):
            sample = learner.domain.sample([x for x, _ in chosen], [y for _, y in chosen])
            checked += 1
            if learner.errors(sample).min() > n - scores(learner.concepts, sample).max():
                witness = repr(sample)
    text = f"{checked} label-determined samples: G {'misses' if witness else 'always has'} the best halfspace's error"
    return judged("holds", failed=bool(witness), summary=text, numbers={"samples": checked}, witness=witness)


def _relaxed(private_labels: tuple[int, ...]) -> Evidence:
    """Compare G's least errors with the best halfspace's plus the private examples labelled 0, on all small samples."""
    checked, used, witness = 0, 0, ""
    for dimension, side, n in ((1, 2, 4), (2, 1, 3)):
        learner = MixtureHalfspace(dimension, 1.0, side)
        kinds = [(0, True), (1, True), *((label, False) for label in private_labels)]
        examples = [(tuple(x), *kind) for x in learner.domain.points().tolist() for kind in kinds]
        for chosen in combinations_with_replacement(examples, n):
            points, labels, flags = zip(*chosen, strict=True)
            sample = learner.domain.sample(points, labels, None, flags)
            excess = int(learner.errors(sample).min()) - n + int(scores(learner.concepts, sample).max())
            checked, used = checked + 1, max(used, excess)
            if excess > sum(not label and not public for _, label, public in chosen):
                witness = f"{sample!r}, public {sample.public}"
    text = (
        f"{checked} samples with public examples of both labels: the best of G errs at most {used} times more than the "
        "best halfspace" + ", each time for a private example labelled 0" * (used > 0)
    )
    numbers = {"samples": checked, "excess": used}
    return judged("holds", failed=bool(witness), summary=text, numbers=numbers, witness=witness)


@states(
    "BMN-relaxation-i",
    "If privacy and label are only correlated, each private example labelled 0 costs at most one more error.",
    f"{BMN}, Section 3, relaxations (i)",
    short="A correlated private example costs one more error at most",
    printed="one each",
    found="checked on {samples:,} samples",
)
def _relaxation_i(tools: Any) -> Evidence:
    return _relaxed((0, 1))


@states(
    "BMN-relaxation-ii",
    "If only private examples share a label, and public ones have both, G still has the best halfspace's error.",
    f"{BMN}, Section 3, relaxations (ii)",
    short="G keeps the best error if private examples share a label",
    printed="no excess",
    found="{excess} on {samples:,} samples",
)
def _relaxation_ii(tools: Any) -> Evidence:
    return _relaxed((1,))


@states(
    "BMN-Lem4.1",
    "The learner is epsilon-differentially private with respect to the private examples.",
    f"{BMN}, Lemma 4.1",
    short="The mixture learner's ε",
    printed="ε = 1",
    found="ε = {epsilon:.3g}",
)
def _private(tools: Any) -> Evidence:
    found = {dimension: supremum_of(tools, MixtureHalfspace(dimension, 1.0, 1)) for dimension in (1, 2)}
    worst = max(found.values(), key=lambda one: one.value)
    told = " and ".join(f"{supremum_text(one)} (d = {dimension})" for dimension, one in found.items())
    return judged(
        verdict_of(worst, 1.0),
        failed=leaks(worst, 1.0),
        summary=f"worst epsilon over all replacements of a private example on the grid of side 1: {told}, of 1",
        numbers={"epsilon": worst.value},
        witness=repr(worst.witness),
    )


@states(
    "BMN-size",
    "|C~_pub| = O(n^d) and |G| = O(2^d n^(d^2)).",
    f"{BMN}, Section 4",
    short="Size of G",
    printed="O(2^d n^(d²))",
    found="{|G|, d=1, 10 public} at d = 1, 10 public points",
)
def _family_size(tools: Any) -> Evidence:
    line = public_family(np.arange(10)[:, None])
    # No three of these points are collinear.
    curve = public_family(np.array([[x, x * x] for x in range(10)]))
    numbers = {
        "|G|, d=1, 10 public": line.collections(1),
        "|G|, d=2, 10 public in general position": curve.collections(2),
    }
    good = line.collections(1) <= 21 and curve.collections(2) <= 1 + 90 + math.comb(90, 2)
    text = ", ".join(f"{k}: {v}" for k, v in numbers.items())
    return judged("holds", failed=not good, summary=text, numbers=numbers, witness=text)


@states(
    "BMN-Thm4.10-display",
    "|err - empirical err| <= 8 d^2 ln(4 n/beta)/n + 2 d^2/n with probability 1 - beta/4.",
    f"{BMN}, proof of Theorem 4.10",
    short="The error bound holds with probability 1 - β/4",
    printed="probability ≥ {needed:.3g}",
    found="≤ {chance at most:.3g}",
)
def _agnostic_display(tools: Any) -> Evidence:
    n, beta = 10**6, 0.1
    bound = 8 * math.log(4 * n / beta) / n + 2 / n
    # |Pr[|B/n - 1/2| <= t] - erf(t sqrt(2 n))| is at most twice the Berry-Esseen error, 0.4748/sqrt(n).
    chance = math.erf(bound * math.sqrt(2 * n)) + 2 * 0.4748 / math.sqrt(n)
    numbers = {"bound": bound, "chance at most": chance, "needed": 1 - beta / 4}
    text = (
        f"n = 1e6, d = 1: the printed bound {bound:.2e} holds with probability at most {chance:.3f} of {1 - beta / 4}"
    )
    witness = (
        "all examples at one point, labelled 1 with probability 1/2: every hypothesis has error 1/2, n_0 is binomial"
    )
    # One case, and the chance is bounded from above only.
    failed = chance < 1 - beta / 4
    return judged("undecided", failed=failed, summary=text, numbers=numbers, grade="numeric", witness=witness)


STATEMENTS = (_literal_family, _helly, _relaxation_i, _relaxation_ii, _private, _family_size, _agnostic_display)

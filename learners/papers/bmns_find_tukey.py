"""Statements of BMNS on FindTukey: Figure 1, Theorem 3.6, and the exponential mechanism in its place (Section 1.1)."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpaudit.contract import Evidence, Tools, Verdict
from learners.halfspaces.hull_point import HullPoint, HullPointExponential
from learners.halfspaces.hull_point_rec_concave import HullPointRecConcave
from learners.halfspaces.sizes import (
    crossover,
    figure_1_share,
    hard_samples,
    measured_examples,
    printed_examples,
    shallow_probability,
)
from learners.papers.evidence import judged_loss, learner_data, losses_of
from learners.papers.mechanisms import composed_delta, greatest_share
from learners.papers.verdicts import exceeds, greatest, judged, statements_in, states, tightness

EPSILON, DELTA, BETA = 1.0, 1e-6, 0.1
MOST_BITS, WORD = 2**15, 64
"""Up to 2^MOST_BITS candidates an axis are tried; a coordinate of a domain that is in use fits a word."""


@states(
    "BMNS-Fig1-r",
    "With r = n/(d+1) - (i-1) n/(d (d+1)) the last promise guarantees depth n/(2 (d+1)).",
    "Figure 1",
    short="The printed r guarantees depth n/(2 (d + 1))",
    printed="that depth",
    found="{printed, d=3:.3g} of it at d = 3",
)
def _printed_promise(tools: Tools) -> Evidence:
    ratios, cases = {}, []
    for d in (2, 3):
        learner = HullPointRecConcave(1, d, 1.0, 1e-6, 0.1, literal=True)
        n = 12 * d * (d + 1)
        depth, target = learner.guaranteed_depth(n), Fraction(n, 2 * (d + 1))
        words = f"d = {d}, n = {n}: the last promise guarantees depth {depth}, not {target}"
        depths = {"guaranteed depth": str(depth), "claimed depth": str(target)}
        cases.append((float(1 - depth / target), words, {"learner": learner_data(learner), "n": n, **depths}))
        ratios[f"printed, d={d}"] = float(depth / target)
        ratios[f"repaired, d={d}"] = float(replace(learner, literal=False).guaranteed_depth(n) / target)
    lost, witness, data = greatest(cases)
    shown = ", ".join(f"{k}: {v:.3f}" for k, v in ratios.items())
    text = f"share of n/(2(d+1)) that the last promise guarantees: {shown}"
    return judged(Verdict.HOLDS, text, ratios, witness, data, failed=lost > 0)


@states(
    "BMNS-Fig1-epsilon",
    "epsilon_0 = epsilon/(2 sqrt(2 d ln(2/delta))) a coordinate gives (epsilon, delta)-privacy.",
    "Figure 1",
    short="The budget of a coordinate",
    printed="ε₀",
    found="{share of the allowed epsilon_0:.0%} of what is allowed",
    best="exact composition; below d = {first d} already ε/d is more",
)
def _figure_1_share(tools: Tools) -> Evidence:
    delta, most, witness = 1e-6, 0.0, ""
    data: dict[str, Any] = {}
    for d in (1, 2, 3, 10, 100, 200):
        share, each = figure_1_share(1.0, delta, d), delta / (2 * d)
        if share / greatest_share(d, each, 1.0, delta) > most:
            most = share / greatest_share(d, each, 1.0, delta)
            data = {"calls": d, "epsilon": share, "delta": each, "share": most}
        if exceeds(cost := composed_delta(d, share, each, 1.0), delta):
            witness = f"d = {d} calls that are randomised response: delta {cost:.3g} at epsilon = 1, not {delta:g}"
    first = next((d for d in range(1, 10**4) if figure_1_share(1.0, delta, d) > 1 / d), math.inf)
    text = (
        f"at (1, 1e-6) and d up to 200 epsilon_0 is at most {most:.2f} of what exact composition allows, and exceeds "
        f"epsilon/d only from d = {first} on"
    )
    numbers = {"first d": first, "8 ln(2/delta)": 8 * math.log(2 / delta), "share of the allowed epsilon_0": most}
    return judged(tightness(most, 1), text, numbers, witness, data, grade="numeric")


@states(
    "BMNS-Exponential",
    "The exponential mechanism with Tukey depth, epsilon/d a coordinate, is epsilon-private.",
    "Section 1.1",
    short="The ε of the exponential mechanism with Tukey depth",
    printed="ε = 1",
    found="ε ≥ {epsilon:.3g}",
)
def _pure_hull_point(tools: Tools) -> Evidence:
    (loss,), _ = losses_of(tools, [HullPointExponential(1, 2, 1.0)])
    summary = f"worst epsilon over samples of corners of every size: {loss}, of 1.0"
    return judged_loss(loss, 1.0, summary, {"epsilon": loss.value, "n": loss.found.n})


@states(
    "BMNS-Thm3.6",
    "So many examples suffice for a point of depth n/(2 (d + 1)) with probability 1 - beta.",
    "Theorem 3.6",
    short="Examples for a point of depth n/(2 (d + 1))",
    printed="n = {exponential mechanism, d = 1, side 31: printed:.2g}",
    found="n = {exponential mechanism, d = 1, side 31: measured} (d = 1)",
    best="n = {exponential mechanism, d = 1, side 31: explicit} proved, by the exponential mechanism",
)
def _deep_point(tools: Tools) -> Evidence:
    learners: list[HullPoint] = [
        HullPointExponential(31, 1, EPSILON),
        HullPointRecConcave(99, 1, EPSILON, DELTA, BETA),
        HullPointExponential(2, 2, EPSILON),
        HullPointRecConcave(2, 2, EPSILON, DELTA, BETA),
    ]
    numbers: dict[str, float] = {}
    shown, witness, share = [], "", 0.0
    data: dict[str, Any] = {}
    for learner in learners:
        recursive = isinstance(learner, HullPointRecConcave)
        name = f"{'RecConcave' if recursive else 'exponential mechanism'}, d = {learner.dimension}, side {learner.side}"
        explicit, measured = learner.explicit_examples(BETA), measured_examples(learner, BETA)
        printed = printed_examples(learner.dimension, max(learner.extended.most), EPSILON, DELTA, BETA)
        numbers |= {f"{name}: printed": printed, f"{name}: explicit": explicit, f"{name}: measured": measured}
        shown.append(
            f"{name}: {printed:.1e} printed, {explicit} explicit, {measured} measured (1/{explicit / measured:.0f})"
        )
        hard = hard_samples(learner, 12 * -(-explicit // 12))
        if any(shallow_probability(learner, sample) > BETA for sample in hard):
            witness = f"{name}: the explicit {explicit} examples fail with a probability above {BETA}"
        # The printed n is FindTukey's. What was measured is a multiple of 12, and 12 fewer are too few.
        if recursive and measured - 12 >= printed:
            witness = f"{name}: {measured - 12} examples fail with a probability above {BETA}, printed {printed:.3g}"
        if recursive and measured / printed > share:
            share = measured / printed
            data = {"learner": learner_data(learner), "n": measured, "beta": BETA, "printed": printed}
    text = "least n for depth n/(2 (d + 1)): " + "; ".join(shown)
    return judged(tightness(share, 1), text, numbers, witness, data)


@states(
    "BMNS-Thm3.6-pays",
    "RecConcave, with 2^O(log* |X|) examples, needs fewer than the exponential mechanism with O(log |X|), "
    "from at most 2^32768 candidates an axis on, d = 1, 2, 3.",
    "Section 1.1 and Theorem 3.6",
    short="From what domain size the asymptotic winner wins",
    printed="large domains",
    found="2^{log2 |X~|, d=1, delta=1e-06, beta=0.1} candidates",
    best="below, the exponential mechanism, pure",
)
def _pays(tools: Tools) -> Evidence:
    numbers: dict[str, float] = {}
    for d in (1, 2, 3):
        for delta, beta in ((1e-6, 0.1), (1e-9, 1e-3)):
            found = crossover(d, EPSILON, delta, beta, MOST_BITS)
            numbers[f"log2 |X~|, d={d}, delta={delta:g}, beta={beta:g}"] = math.inf if found is None else found
    least, most = min(numbers.values()), max(numbers.values())
    text = (
        f"with the explicit constants of both, epsilon = 1, RecConcave needs fewer examples only from 2^{least:.0f} "
        f"candidates an axis (the easiest case) to 2^{most:.0f} (the hardest) on; below, the exponential mechanism is "
        "pure as well"
    )
    if most == math.inf:
        text = f"RecConcave needs no fewer examples with 2^{MOST_BITS} candidates an axis in the hardest case"
    witness = ", ".join(name for name, bits in numbers.items() if bits == math.inf)
    data = {"log2 |X~|": least, "d": 1, "delta": 1e-6, "beta": 0.1, "epsilon": EPSILON}
    failed = most == math.inf
    return judged(
        Verdict.LOOSE if most > WORD else Verdict.HOLDS, text, numbers, witness, data, failed=failed, grade="numeric"
    )


STATEMENTS = statements_in(globals())

"""Audit utility where theorems speak: at their own n, on domains and classes that cannot be listed.

    python scripts/bench.py theorems [--only WORD] [--runs RUNS] [--out FILE.md]

Each row is a learner on a hard target that its class describes, at the n of its theorem, with its failures and their
interval; a constant hypothesis errs by more than 2 alpha. What the row can show is tried by a control: the same learner
and n with noise 100 times as large must fail more often than beta, on one of these targets, which is the one of the
row. Where it fails on none, the row refutes little, and the least multiple that fails is shown instead. Exit status: 1
if a theorem is violated.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.contract import FIXED_SETTINGS, Distribution, HasHardTargets, InputError, UtilityVerdict
from dpaudit.registry import load
from dpaudit.utility.audit import audit_utility, stated_claim
from dpaudit.utility.finding import UtilityFinding
from dpaudit.utility.hard_cases import HardCase, hard_cases

# Samples of more examples than these have fewer runs.
LARGE = 10**6
FEW = 40
# Of each interval: so many runs without a failure then decide.
CONFIDENCE = 0.95
# Multiples of the noise that are tried: the one that is asked for, and where it shows nothing, larger ones.
NOISE = (100, 200, 300, 500, 1_000, 10_000, 100_000)
COVER = {"epsilon": 1.0, "delta": 1e-6, "alpha": 0.05, "beta": 0.05}


@dataclass(frozen=True)
class Row:
    """A learner at the size of its theorem."""

    id: str
    parameters: Mapping[str, Any]
    beta: float = 0.1
    setting: str | None = None
    alpha: float = 0.1
    # Smaller n that are tried at most.
    fewer: int = 5


ROWS = (
    Row("halfplane-select", {"side": 2**64, "epsilon": 1.0}),
    Row("triangle-select", {"side": 10**6, "epsilon": 1.0}),
    Row("convex-polygon", {"side": 2**64, "k": 4, **COVER}),
    Row("polygon-union", {"side": 1000, "k": 2, **COVER}),
    Row("disc-union", {"side": 100, "k": 2, **COVER}),
    Row("mixture-halfspace", {"dimension": 2, "side": 10**4, "epsilon": 1.0}),
    Row("mixture-halfspace", {"dimension": 3, "side": 100, "epsilon": 1.0}),
    Row("mixture-halfspace", {"dimension": 2, "side": 10**4, "epsilon": 1.0}, setting="agnostic"),
    Row("mixture-halfspace", {"dimension": 3, "side": 100, "epsilon": 1.0}, setting="agnostic"),
    Row("set-cover-conjunction", {"dimension": 30, "k": 5, **COVER}),
    Row("set-cover-disjunction", {"dimension": 30, "k": 5, **COVER}),
    Row("conjunction-greedy", {"dimension": 20, "k": 4, "epsilon": 1.0}),
    Row("conjunction-laplace", {"dimension": 60, "epsilon": 1.0, "beta": 0.05}),
    # It fails with probability 1/2 at any n.
    Row("parity-private", {"dimension": 63, "epsilon": 1.0}, beta=0.6),
    Row("parity-amplified", {"dimension": 63, "epsilon": 1.0, "beta": 0.05}),
    Row("box-interior-point", {"side": 2**20, "dimension": 3, "epsilon": 1.0, "beta": 0.05}),
    Row("interior-point-tree-log", {"domain_size": 2**64, "epsilon": 1.0, "delta": 1e-6, "beta": 0.1}),
    Row("interior-point-rec-concave", {"domain_size": 2**64, "epsilon": 1.0, "delta": 1e-6}),
    Row("hull-point-rec-concave", {"side": 16, "dimension": 2, "epsilon": 1.0, "delta": 1e-6, "beta": 0.1}),
    Row("halfspace-tukey", {"side": 4, "dimension": 1, "epsilon": 1.0, "subsamples": 10**4}),
    # As many subsamples as RecConcave asks for.
    Row("halfspace-tukey", {"side": 8, "dimension": 1, "epsilon": 1.0, "subsamples": 14_064}),
    Row("halfspace-tukey", {"side": 1, "dimension": 2, "epsilon": 1.0, "subsamples": 54_135}),
    # With fewer examples subsamples have many halfplanes, and a run takes minutes.
    Row("halfspace-tukey", {"side": 2, "dimension": 2, "epsilon": 1.0, "subsamples": 753_168}, fewer=2),
)
PAGE = """# Theorems at their own size

Audits of utility where the theorems speak: at the n that each asks for, on domains and classes that cannot be listed.
`python scripts/bench.py theorems --out docs/research/real-sizes.md` measures the table again and writes this page.

Each learner is run on a hard target that its class describes, on which a constant hypothesis errs by more than 0.2:
mostly few points on both sides of the boundary, with half of the mass on either label; learners of points without
labels are run on points side by side, or all on one. A failure is an error above 0.1, or an answer that does not keep
what the theorem promises. The interval is exact, at 95 %; seconds are of processor time, of all runs together, on a
machine that other work shared. "noise times" is a control: the same learner at the same n, with an epsilon as many
times smaller, must fail more often than beta in 40 runs on the target of the row.

{table}

Where 100 times the noise does not fail on any target that was tried, the row says little about the theorem, which then
asks for over 100 times as many examples as these targets need:

* `mixture-halfspace`, agnostic. Its n is that of uniform convergence, which grows as 1/alpha^2 and does not depend on
  epsilon. With a hundredth of epsilon a hypothesis whose error exceeds the best by alpha is less likely than the best
  by a factor of e^18.3 in the plane and e^40.7 in space (alpha epsilon n/2). In space no target can make the control
  fail: the learner lists to 65,536 planes, so at most e^33.6 intersections. In the plane it counts to 2^31 = e^21.5
  intersections; to fail, e^16 of them would have to be bad by little more than alpha for each good one, while a second
  halfspace that takes nothing away from a good one makes another good one. No such target was found.
* `conjunction-greedy` divides epsilon among J = 133 rounds, and its n excludes by a union bound that each of them takes
  up a literal that errs on its part. On the target there are 19 such literals, each errs once, and "no literal" and
  those already chosen compete with the rest: at 100 times the noise the error is 0.05 at most on average, for any mass
  of the rivals that was tried.
* `halfspace-tukey` of side 4 on a line is run with m = 10,000 subsamples, where 437 suffice for its theorem; with a
  hundredth of epsilon as many as are there suffice for what is released on these targets. In the plane with 9 points
  m = 753,168 is what the constants of three levels of RecConcave ask for; with 4 points there are two levels, and the
  control fails.

In the plane LearnHalfSpace is run to side 3. From side 4 on there are more than 200 halfplanes on the grid (402), and
the depth of a point is found from all planes through three of the h_i, which are points of space: 200 of them make 1.3
million planes, and 402 make 10.7 million. A plan for more: at the n of the theorem nearly all subsamples have the same
halfplane, so that few distinct h_i matter; but a limit on these that a sample can pass would leak. So planes would have
to be found one at a time, when a level asks for them, by the dual simplex steps of `halfspaces.depth.space_fractions`.
These steps would go over the heights of all points above one plane, and no list of planes would be made.
"""
HEADINGS = (
    "learner", "setting", "n of the theorem", "runs", "failures", "interval", "beta", "seconds", "noise times", "fails",
    "target",
)  # fmt: skip


def constant_error(case: HardCase, learner: Any) -> float:
    """Return the error of the better constant hypothesis on a case."""
    ones = case.target(learner.concepts).predict(case.distribution.points) == 1
    positive = float(case.distribution.probabilities[ones].sum())
    return min(positive, 1 - positive)


def hard(learner: Any, row: Row, setting: str) -> list[HardCase]:
    """Return the cases on which a constant hypothesis fails clearly, those of the class first."""
    cases = hard_cases(learner, row.alpha, setting)
    # A problem on the points has no labels, and is hardest where the points are close to each other.
    if setting in FIXED_SETTINGS:
        return cases[:1]
    clear = [case for case in cases if constant_error(case, learner) > 2 * row.alpha][::-1]
    # Of a class that can be listed the cases are made of the list; it may describe some as well.
    if setting != "agnostic" and isinstance(learner.concepts, HasHardTargets):
        known = {case.key for case in clear}
        own = [HardCase(*target) for target in learner.concepts.hard_targets(row.alpha)]
        clear += [case for case in own if case.key not in known]
    if clear:
        return clear
    # A class on few points: the concept that divides them most evenly.
    points = learner.domain.points()
    uniform = Distribution(points, np.full(len(points), 1 / len(points)), "uniform")
    listed = [HardCase(code, uniform, f"uniform; concept {code}") for code in range(learner.concepts.size)]
    return [max(listed, key=lambda case: constant_error(case, learner))]


def refuting(
    learner: Any, cases: Sequence[HardCase], row: Row, n: int, setting: str, seed: int
) -> tuple[HardCase, UtilityFinding, int]:
    """Return the first case on which the least multiple of the noise fails, fresh runs of it, and the multiple."""
    for number, times in enumerate(NOISE, 1):
        noisy: Any = replace(learner, epsilon=learner.epsilon / times)
        for case in cases:
            if audited(noisy, case, row, n, FEW, setting, seed).verdict != UtilityVerdict.VIOLATION:
                continue
            # The runs that chose the case do not decide about it.
            control = audited(noisy, case, row, n, FEW, setting, seed + number)
            if control.verdict == UtilityVerdict.VIOLATION:
                return case, control, times
    return case, audited(noisy, case, row, n, FEW, setting, seed + len(NOISE) + 1), times


def audited(
    learner: Any, case: HardCase, row: Row, n: int, runs: int, setting: str, seed: int
) -> UtilityFinding:
    """Return the finding of so many runs."""
    return audit_utility(
        learner, case.concept, case.distribution,
        alpha=row.alpha, beta=row.beta, n=n, trials=runs, confidence=CONFIDENCE, setting=setting,
        noise=case.noise, seed=seed,
    )  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """The findings of a row: the runs at the theorem's n, those with more noise, and those at fewer examples."""

    row: Row
    finding: UtilityFinding | None = None
    control: UtilityFinding | None = None
    times: int = 0
    fewer: Sequence[UtilityFinding] = ()
    missing: str = ""
    seconds: float = 0.0
    case: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, without the time, which is another one each time."""
        if self.finding is None or self.control is None:
            return {"learner": self.row.id, "parameters": dict(self.row.parameters), "missing": self.missing}
        return {
            "learner": self.row.id,
            "parameters": dict(self.row.parameters),
            "finding": self.finding.to_dict(),
            "control": {"times": self.times, "failures": self.control.failures, "trials": self.control.trials},
            "fewer": [one.to_dict() for one in self.fewer],
        }


def measured(row: Row, runs: int, fewer: int = 0, seed: int = 0) -> Measured:
    """Run a learner at the n of its theorem, with more noise, and at so many smaller n, each a quarter of the last."""
    try:
        learner = load().get(row.id).build(**row.parameters)
        claim = stated_claim(learner, row.alpha, row.beta, row.setting)
        assert claim is not None
        cases = hard(learner, row, claim.setting)
    except InputError as error:
        return Measured(row, missing=str(error))
    n = claim.sample_size
    count = runs if n <= LARGE else min(FEW, runs)
    case, control, times = refuting(learner, cases, row, n, claim.setting, seed)
    start = time.process_time()
    finding = audited(learner, case, row, n, count, claim.setting, seed)
    seconds = time.process_time() - start
    smaller = [max(1, n // 4**step) for step in range(1, min(fewer, row.fewer) + 1)]
    rest = [audited(learner, case, row, size, count, claim.setting, seed) for size in dict.fromkeys(smaller)]
    return Measured(row, finding, control, times, rest, "", seconds, case.name)


def cells_of(found: Measured) -> tuple[str, ...]:
    """Return the cells of a row; the reason where nothing was run."""
    row = found.row
    size = {2**64: "2^64", 2**20: "2^20"}
    told = ("side", "dimension", "domain_size", "k", "subsamples")
    shown = {name: row.parameters[name] for name in told if name in row.parameters}
    name = f"{row.id} {', '.join(f'{key} {size.get(value, value)}' for key, value in shown.items())}"
    if found.finding is None or found.control is None:
        return name, found.missing, *[""] * (len(HEADINGS) - 2)
    finding = found.finding
    interval = f"{finding.failure_lower:.3g} to {finding.failure_upper:.3g}"
    fails = f"{found.control.failures} of {found.control.trials}"
    verdict = "" if found.control.verdict == UtilityVerdict.VIOLATION else ", not shown"
    return (
        name, finding.setting, f"{finding.n:,}", str(finding.trials), str(finding.failures), interval, str(row.beta),
        f"{found.seconds:.1f}", f"{found.times:,}", fails + verdict, found.case,
    )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Audit utility at the sizes of theorems.")
    parser.add_argument("--only", default="", metavar="WORD", help="learners whose id contains a word")
    parser.add_argument("--runs", type=int, default=200, help="runs of a row, 40 of them where n is above 10^6")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table, in Markdown")
    options = parser.parse_args(arguments)
    lines = [" | ".join(HEADINGS), " | ".join("---" for _ in HEADINGS)]
    violated = False
    print(lines[0])
    for row in ROWS:
        if options.only not in row.id:
            continue
        found = measured(row, options.runs)
        lines.append(" | ".join(cells_of(found)))
        print(lines[-1], flush=True)
        violated |= found.finding is not None and found.finding.verdict == UtilityVerdict.VIOLATION
    if options.out is not None:
        table = "\n".join(f"| {line} |" for line in lines)
        options.out.write_text(PAGE.format(table=table), encoding="utf-8")
    return int(violated)

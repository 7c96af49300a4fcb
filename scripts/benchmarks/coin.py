"""Count how often audits accuse private mechanisms at the exact boundary, beside how often they find 30 % more epsilon.

    python scripts/bench.py coin [--audits N] [--trials N] [--designs fixed sequential] [--gammas .05 .01]
                                 [--only NAME ...] [--first SEED] [--jobs J] [--json]

Each case is a mechanism whose law is known, audited by `dpaudit.audit_privacy` at its exact epsilon, so that an
accusation is an error; and the same mechanism with 1.3 times that epsilon at the same claim, so that one is power.
Among the cases are laws that drift over calls, warm up or cycle (whatever the input), and one that stops answering
once one side is ahead: each output of these is private given all before it. The table is Markdown, with
Clopper-Pearson limits (95 %).

Exit status: 1 if more are accused in a line than gamma allows by chance (once in 1,000 runs of the script), else 0.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

# Many small audits at once: threads inside each would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import binom, binomtest

import dpaudit
from benchmarks.columns import positive
from dpaudit.jsonable import jsonable

EPSILON = 1.0
MORE = 1.3
DELTA = 0.05
CHANCE = 1e-3
BLOCK = 25
HEADS = ("case", "design", "gamma", "audits", "accused", "rate", "95 % limits", "no evidence", "found at 1.3", "power")

Outputs = NDArray[np.int64]


def truthful(epsilon: float) -> float:
    """Return the probability of the truth in randomised response."""
    return 1 / (1 + math.exp(-epsilon))


@dataclass
class Response:
    """Randomised response on one bit: both answers are at the boundary."""

    epsilon: float

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> Outputs:
        """Return `size` outputs."""
        return np.where(rng.random(size) < truthful(self.epsilon), data, 1 - data)


@dataclass
class Event:
    """An event of probability exp(epsilon) q for the input 1 and q for 0; else one output."""

    epsilon: float
    q: float

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> Outputs:
        """Return `size` outputs."""
        chance = self.q * math.exp(self.epsilon) if data == 1 else self.q
        return (rng.random(size) < chance).astype(np.int64)


@dataclass
class TwoEvents:
    """Two events of probabilities exp(epsilon) q and q, exchanged with the input; else a third output."""

    epsilon: float
    q: float

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> Outputs:
        """Return `size` outputs."""
        likely = self.q * math.exp(self.epsilon)
        draws = rng.random(size)
        first = np.where(draws < likely + self.q, 1 - data, -1)
        return np.where(draws < likely, data, first)


@dataclass
class AmongNoise:
    """Randomised response now and then, else a number of a continuum whatever the input: outputs that repeat."""

    epsilon: float

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return `size` outputs."""
        answers = Response(self.epsilon)(data, rng, size)
        return np.where(rng.random(size) < 0.2, 2.0 + answers, rng.random(size))


@dataclass
class Leak:
    """Randomised response that with probability delta outputs its input beside: (epsilon, delta) at the boundary."""

    epsilon: float

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> Outputs:
        """Return `size` outputs."""
        answers = Response(self.epsilon)(data, rng, size)
        return np.where(rng.random(size) < DELTA, 10 + data, answers)


@dataclass
class Drift:
    """Randomised response beside a number whose law changes with the runs made, whatever the input.

    `how`: "drift", a share of ones that grows; "warm-up", a first part of other outputs; "cycle", 97 states in turn.
    """

    epsilon: float
    how: str
    made: int = 0

    def __call__(self, data: int, rng: np.random.Generator, size: int = 1) -> Outputs:
        """Return `size` outputs."""
        turns = self.made + np.arange(size)
        self.made += size
        answers = Response(self.epsilon)(data, rng, size)
        match self.how:
            case "drift":
                mark = (rng.random(size) < np.minimum(turns / 1_500, 0.9)).astype(np.int64)
            case "warm-up":
                mark = (turns < 300).astype(np.int64)
            case _:
                mark = turns % 97 // 33
        return answers + 10 * mark


@dataclass
class One:
    """One run of a batched mechanism a call."""

    inner: Any

    def __call__(self, data: int, rng: np.random.Generator) -> int:
        """Return one output."""
        return int(self.inner(data, rng, 1)[0])


@dataclass
class Stops:
    """Randomised response that from a run on answers nothing while its truths are ahead of what epsilon = 1 allows.

    Ahead is 1.645 standard deviations of as many truths after 20 answers: where the number of answers is not fixed
    before, they look like a leak. The past decides whether it answers; given the past, an output is epsilon-private.
    """

    epsilon: float
    start: int
    made: int = 0
    answers: int = 0
    truths: int = 0

    def __call__(self, data: int, rng: np.random.Generator) -> int:
        """Return one output."""
        self.made += 1
        chance = truthful(EPSILON)
        excess = self.truths - self.answers * chance
        if self.answers >= 20 and excess >= 1.645 * math.sqrt(self.answers * chance * (1 - chance)):
            return -1
        answer = int(Response(self.epsilon)(data, rng, 1)[0])
        if self.made > self.start:
            self.answers += 1
            self.truths += answer == data
        return answer


@dataclass(frozen=True)
class Case:
    """A mechanism as a function of its epsilon and the number of runs, made afresh for each audit."""

    name: str
    make: Callable[[float, int], Any]
    batched: bool = True
    delta: float = 0.0
    pairs: int = 1


CASES = (
    Case("randomised response", lambda e, n: Response(e)),
    Case("one event, q = .1", lambda e, n: Event(e, 0.1)),
    Case("one event, q = .02", lambda e, n: Event(e, 0.02)),
    Case("answers among noise", lambda e, n: AmongNoise(e)),
    Case("two events, q = .05", lambda e, n: TwoEvents(e, 0.05)),
    Case("run by run", lambda e, n: One(Response(e)), batched=False),
    Case("drift", lambda e, n: One(Drift(e, "drift")), batched=False),
    Case("warm-up", lambda e, n: One(Drift(e, "warm-up")), batched=False),
    Case("cycle", lambda e, n: One(Drift(e, "cycle")), batched=False),
    Case("stops once ahead", lambda e, n: Stops(e, int(0.4 * n)), batched=False),
    Case("delta = .05", lambda e, n: Leak(e), delta=DELTA),
    Case("four pairs", lambda e, n: Response(e), pairs=4),
)
NAMES = [case.name for case in CASES]


@dataclass(frozen=True)
class Line:
    """The counts of the audits of a case in one design, at one gamma: errors of the exact claim, and power."""

    case: str
    design: str
    gamma: float
    audits: int
    accused: int
    no_evidence: int
    powered: int
    found: int
    seconds: float

    @property
    def limits(self) -> tuple[float, float]:
        """The Clopper-Pearson limits of the rate of accusations, 95 % together."""
        found = binomtest(self.accused, self.audits).proportion_ci(0.95, "exact")
        return found.low, found.high

    @property
    def p_value(self) -> float:
        """The probability of as many accusations, if each has the probability gamma."""
        return float(binom.sf(self.accused - 1, self.audits, self.gamma))


def audits(name: str, design: str, gamma: float, trials: int, factor: float, seeds: Sequence[int]) -> tuple[int, int]:
    """Return how many audits accuse, by verdict or by a bound above an exact claim, and how many see no evidence."""
    case = next(case for case in CASES if case.name == name)
    accused = blind = 0
    for seed in seeds:
        finding = dpaudit.audit_privacy(
            case.make(factor * EPSILON, 2 * trials),
            [(1, 0)] * case.pairs,
            epsilon=EPSILON,
            delta=case.delta,
            trials=trials,
            confidence=1 - gamma,
            seed=seed,
            batched=case.batched,
            execution=dpaudit.Execution(sequential=design == "sequential"),
        )
        accused += finding.verdict == "violation" or (factor == 1 and finding.epsilon_lower > EPSILON)
        blind += finding.verdict == "no evidence"
    return accused, blind


def measure(case: Case, design: str, gamma: float, options: argparse.Namespace) -> Line:
    """Return the line of a case: `audits` at the boundary, and a third of them with more epsilon."""
    start = time.perf_counter()
    counts = []
    for factor, number in ((1.0, options.audits), (MORE, max(1, options.audits // 3))):
        seeds = range(options.first, options.first + number)
        blocks = [seeds[at : at + BLOCK] for at in range(0, number, BLOCK)]
        work = (delayed(audits)(case.name, design, gamma, options.trials, factor, block) for block in blocks)
        parts = Parallel(n_jobs=options.jobs)(work)
        counts.append((number, *(sum(part[i] for part in parts) for i in (0, 1))))
    (made, accused, blind), (powered, found, _) = counts
    return Line(case.name, design, gamma, made, accused, blind, powered, found, time.perf_counter() - start)


def cells(line: Line) -> list[str]:
    """Return a line of the table in Markdown, as words."""
    low, high = line.limits
    return [
        line.case,
        line.design,
        f"{line.gamma:g}",
        f"{line.audits:,}",
        f"{line.accused:,}",
        f"{100 * line.accused / line.audits:.2f} %",
        f"{100 * low:.2f} to {100 * high:.2f} %",
        f"{line.no_evidence:,}",
        f"{line.found:,} of {line.powered:,}",
        f"{100 * line.found / line.powered:.0f} %",
    ]


def row(words: Sequence[str]) -> str:
    return f"| {' | '.join(words)} |"


def total(lines: Sequence[Line]) -> list[str]:
    """Return a sentence for each design and gamma over all cases."""
    sentences = []
    for design, gamma in dict.fromkeys((line.design, line.gamma) for line in lines):
        some = [line for line in lines if (line.design, line.gamma) == (design, gamma)]
        made = sum(line.audits for line in some)
        accused = sum(line.accused for line in some)
        found = sum(line.found for line in some)
        powered = sum(line.powered for line in some)
        sentences.append(
            f"{design}, gamma {gamma:g}: {accused:,} of {made:,} audits accuse ({100 * accused / made:.2f} %); "
            f"{found:,} of {powered:,} find 1.3 times the epsilon ({100 * found / powered:.0f} %)."
        )
    return sentences


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add: Callable[..., Any] = parser.add_argument
    add("--audits", type=positive, default=300, help="at the boundary, of each case and line (default %(default)s)")
    add("--trials", type=positive, default=1_000, help="runs on each side (default %(default)s)")
    add("--designs", nargs="+", choices=("fixed", "sequential"), default=["fixed", "sequential"])
    add("--gammas", nargs="+", type=float, default=[0.05, 0.01], metavar="G", help="errors allowed (default .05 .01)")
    add("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME", help=f"some of: {', '.join(NAMES)}")
    add("--first", type=int, default=0, metavar="SEED", help="the first seed (default 0)")
    add("--jobs", type=int, default=1, help="audits side by side, as for joblib (default %(default)s)")
    add("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    lines: list[Line] = []
    if not options.json:
        print(row(HEADS), row(["---"] * len(HEADS)), sep="\n", flush=True)
    for design in options.designs:
        for gamma in options.gammas:
            for case in (case for case in CASES if case.name in options.only):
                lines.append(measure(case, design, gamma, options))
                if not options.json:
                    print(row(cells(lines[-1])), flush=True)
    if options.json:
        print(json.dumps(jsonable([asdict(line) for line in lines]), indent=2))
    else:
        print("", *total(lines), sep="\n")
    return int(any(line.p_value < CHANCE / len(lines) for line in lines))

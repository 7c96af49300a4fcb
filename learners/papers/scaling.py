"""Sample-complexity theorems as laws: measured n* and its exponents against the printed formula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit.contract import Evidence, Part, Tools, UtilityVerdict

from .evidence import tried
from .states import derived

# Learners of the generic theorem whose hard case has two points.
SMALL: dict[str, dict[str, int]] = {
    "point-exponential": {"domain_size": 64},
    "threshold-exponential": {"domain_size": 64},
    "box-exponential": {"side": 7, "dimension": 1},
    "conjunction-exponential": {"dimension": 3, "k": 2},
}
ACCURACIES = (1 / 500, 1 / 250, 1 / 125, 1 / 60, 1 / 30, 1 / 15, 1 / 7, 1 / 3)
PRIVACIES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 8.0)
# Below alpha = 1/3 both hard cases of a cover exist.
COVERED = (1 / 250, 1 / 125, 1 / 60, 1 / 30, 1 / 15, 1 / 7, 0.3)
LITERALS = (1, 2, 3, 4, 6, 8, 12, 16, 24)
LEVELS: dict[str, Any] = {"alpha": 0.2, "beta": 0.2}
# log2 of the number of variables. With ln d not far above ln J the J rounds find a literal, or spare one, by chance.
VARIABLES = (64, 96, 128, 192, 256, 384, 512, 768, 1000)
MANY: dict[str, Any] = {"dimension": 2**64}
ONE: dict[str, Any] = {"epsilon": 1.0}
TWO: dict[str, Any] = {"k": 2}
# The Set Cover Learner is built for half of alpha and a quarter of beta.
BUILT: dict[str, Any] = {"delta": 1e-6, "variant": "paper", "parameters": {"beta": 0.05}, "shares": {"alpha": 0.5}}
GRID: dict[str, Any] = {"side": 2**64}
FOUR: dict[str, Any] = {"k": 4}
ALPHA: dict[str, Any] = {"alpha": 0.2}
BETA: dict[str, Any] = {"beta": 0.2}
# In more than three dimensions, where the hard case of mixtures has a formula; its public points need small alpha.
MIXTURE: dict[str, Any] = {"beta": 0.1, "side": 2**12}
# Of problems that are solved or not alpha plays no part.
SOLVED: dict[str, Any] = {"alpha": 0.5, "beta": 0.1, "epsilon": 1.0}
OWN_BETA: dict[str, Any] = {"parameters": {"beta": 0.1}}
THRESHOLDS: dict[str, Any] = {"alpha": 0.1, "beta": 0.1, "epsilon": 1.0, "parameters": {"beta": 0.05}}
DELTAS = (1e-24, 1e-18, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2)
# Over {0, 1, 2}^d; the learner's own beta, which is half of the one that is asked for, is set apart.
BOXES: dict[str, Any] = {"alpha": 0.1, "beta": 0.1, "side": 2, "epsilon": 1.0, "parameters": {"beta": 0.05}}

Run = tuple[str, str, Sequence[float], dict[str, Any]]
"""Learner, parameter, its values, and the rest."""

# The scaling laws that the statement of each id rests on.
RUNS: dict[str, tuple[Run, ...]] = {}


def _law(
    id: str, exponent: str, statement: str, short: str, *runs: Run, ratio: str = "", slow: bool = True, **declared: Any
) -> None:
    """State that n* grows with this exponent, which rests on some runs.

    `ratio` is the format in which the theorem's n is shown as a multiple of n*. The theorem's n has constants of ours.
    """
    RUNS[id] = runs

    def check(tools: Tools) -> Evidence:
        laws = [tools.scaling_law(learner, name, values, **rest) for learner, name, values, rest in RUNS[id]]
        return _judged(laws)

    found = "slope of ln(n*/theorem) {slope of ln(n*/theorem):+.2f}"
    found += ", theorem's n {ratio:" + ratio + "} times n*" if ratio else ""
    printed = f"exponent {exponent}"
    derived(id, statement, short=short, printed=printed, found=found, slow=slow, **declared)(check)


def _judged(found: Sequence[Any]) -> Evidence:
    """Return the evidence of some laws: refuted where n* clearly outgrows a theorem, or exceeds it at a value.

    Hard cases bound n* from below: an exponent below the theorem's refutes nothing and confirms nothing.
    """
    broken = [
        law
        for law in found
        if law.verdict == UtilityVerdict.VIOLATION or any(point.lower >= point.theorem for point in law.points)
    ]
    worst = max(found, key=lambda law: float(law.ratio_slope.upper))
    last = worst.points[-1]
    words = "; ".join(
        f"{law.learner}, {law.abscissa}: slope of ln(n*/theorem) in the upper half {law.ratio_slope.value:+.3f} "
        f"[{law.ratio_slope.lower:+.3f}, {law.ratio_slope.upper:+.3f}]; n* {law.points[0].upper} to "
        f"{law.points[-1].upper}, exponent {law.exponent.value:.3f}, {law.upper_exponent.value:.3f} in the upper half"
        for law in found
    )
    numbers = {
        "exponent": worst.exponent.value,
        "exponent, upper half": worst.upper_exponent.value,
        "slope of ln(n*/theorem)": worst.ratio_slope.value,
        "its upper limit": worst.ratio_slope.upper,
        # Where no n was shown to suffice, nothing is known of the ratio.
        "ratio": last.theorem / last.upper if last.upper else 0.0,
    }
    names = ("value", "lower", "upper", "theorem", "case")
    laws = [
        {
            "learner": law.learner,
            "abscissa": law.abscissa,
            "points": [{name: getattr(point, name) for name in names} for point in law.points],
        }
        for law in found
    ]
    return tried(
        f"{'refuted' if broken else 'not refuted'} by n* on hard cases: {words}",
        numbers,
        "; ".join(f"{law.learner} against {law.abscissa}: {law.points[-1].case}" for law in broken),
        {"kind": "laws", "laws": laws},
        grade=max((law.grade for law in found), key=["exact", "numeric", "statistical"].index),
        one_sided=True,
    )


FINITE: dict[str, Any] = {
    "place": "PPAC learning of finite concept classes", "slow": False,
    "formula": "n >= O((log|C| + log(1/beta)) max(1/epsilon^2, 1/(alpha epsilon)))",
}  # fmt: skip
PARITY: dict[str, Any] = {"place": "private learner for parity", "slow": False}
BY_BOXES: dict[str, Any] = {"place": "private boxes by interior points", "ratio": ".1f"}

_law(
    "NIS-Generic-law-class", "1", "The generic learner needs O(ln|C|) examples in the size of the class.",
    "Growth with ln|C|, |C| = 2^2 to 2^256",
    ("point-exponential", "domain_size", [2**k for k in (2, 4, 8, 16, 32, 64, 128, 256)],
     {"alpha": 0.1, "beta": 0.1, "epsilon": 1.0}),
    ratio=".1f", **FINITE,
)  # fmt: skip
_law(
    "NIS-Generic-law-alpha", "1",
    "The generic learner needs O(1/alpha) examples in the accuracy, for every finite class.",
    "Growth with 1/alpha, four classes",
    *((id, "alpha", ACCURACIES, {"beta": 0.1, "epsilon": 1.0, **rest}) for id, rest in SMALL.items()), **FINITE,
)  # fmt: skip
_law(
    "NIS-Generic-law-epsilon", "1",
    "The generic learner needs O(1/epsilon) examples in the privacy parameter, for every finite class.",
    "Growth with 1/epsilon, four classes",
    *((id, "epsilon", PRIVACIES, {"alpha": 0.1, "beta": 0.1, **rest}) for id, rest in SMALL.items()), **FINITE,
)  # fmt: skip
_law(
    "NIS-ParityLearner-law-dimension", "1",
    "The private learner of parities needs O(d) examples in the dimension d, up to d = 63.",
    "Growth with d, parities, d = 1 to 63",
    ("parity-private", "dimension", (1, 3, 8, 16, 32, 48, 63), {"alpha": 0.1, "beta": 0.6, "epsilon": 1.0}),
    ratio=".2f", formula="O(d) samples", **PARITY,
)  # fmt: skip
_law(
    "NIS-ParityLearner-law-alpha-epsilon", "1",
    "The private learner of parities needs O(1/(alpha epsilon)) examples in alpha and in epsilon.",
    "Growth with 1/alpha and 1/epsilon, parities",
    ("parity-private", "alpha", ACCURACIES, {"beta": 0.6, "epsilon": 1.0, "dimension": 16}),
    ("parity-private", "epsilon", PRIVACIES[:-1], {"alpha": 0.1, "beta": 0.6, "dimension": 16}),
    formula="n = O((d log(1/beta) + log^2(1/beta))/(alpha epsilon))", **PARITY,
)  # fmt: skip
COVER: dict[str, Any] = {"place": "Theorem 3.2", "ratio": ".1f", "formula": "n = O~(k log d/(alpha epsilon))"}

_law(
    "KMMS-Thm3.2-law-k", "1",
    "The Set Cover Learner needs O(k) examples in the number of sets, up to logarithms, by Claim 3.4.",
    "Growth with k, Set Cover Learner",
    ("set-cover-conjunction", "k", LITERALS, {**LEVELS, **MANY, **ONE, **BUILT}), **COVER,
)  # fmt: skip
_law(
    "KMMS-Thm3.2-law-d", "1",
    "The Set Cover Learner needs O(log d) examples in the number d of variables.",
    "Growth with log d, Set Cover Learner, d = 2^64 to 2^1000",
    ("set-cover-conjunction", "log2 dimension", VARIABLES, {**LEVELS, **TWO, **ONE, **BUILT}), **COVER,
)  # fmt: skip
_law(
    "KMMS-Thm3.2-law-alpha-epsilon", "1",
    "The Set Cover Learner needs O(1/(alpha epsilon)) examples in alpha, up to logarithms, and in epsilon.",
    "Growth with 1/alpha and 1/epsilon, Set Cover Learner",
    ("set-cover-conjunction", "alpha", COVERED, {**BETA, **MANY, **TWO, **ONE, **BUILT}),
    ("set-cover-conjunction", "epsilon", PRIVACIES[:-1], {**LEVELS, **MANY, **TWO, **BUILT}), **COVER,
)  # fmt: skip
_law(
    "KMMS-Ex3.3-law-k", "1.5",
    "By composition the Set Cover Learner needs O(k^1.5) examples in the number of sets, up to logarithms.",
    "Growth with k, Set Cover Learner by composition",
    ("set-cover-conjunction", "k", LITERALS, {**LEVELS, **MANY, **ONE, **BUILT, "variant": "composition"}),
    ratio=".1f", place="Example 3.3",
)  # fmt: skip

POLYGON: dict[str, Any] = {
    "place": "Theorem 4.7", "ratio": ".1f", "slow": False, "formula": "n = O~(k log d/(alpha epsilon))",
}  # fmt: skip

_law(
    "KMMS-Thm4.7-law-k", "1",
    "The learner of convex polygons needs O(k) examples in the number of edges, up to logarithms.",
    "Growth with k, convex polygons",
    ("convex-polygon", "k", LITERALS, {**LEVELS, **GRID, **ONE, **BUILT}), **POLYGON,
)  # fmt: skip
_law(
    "KMMS-Thm4.7-law-d", "1",
    "The learner of convex polygons needs O(log d) examples in the side d of the grid.",
    "Growth with log d, convex polygons, d = 2^8 to 2^255",
    ("convex-polygon", "log2 side", (8, 16, 32, 48, 64, 128, 192, 255), {**LEVELS, **FOUR, **ONE, **BUILT}), **POLYGON,
)  # fmt: skip
_law(
    "KMMS-Thm4.7-law-alpha-epsilon", "1",
    "The learner of convex polygons needs O(1/(alpha epsilon)) examples in alpha, up to logarithms, and in epsilon.",
    "Growth with 1/alpha and 1/epsilon, convex polygons",
    ("convex-polygon", "alpha", COVERED, {**BETA, **GRID, **FOUR, **ONE, **BUILT}),
    ("convex-polygon", "epsilon", PRIVACIES[:-1], {**LEVELS, **GRID, **FOUR, **BUILT}), **POLYGON,
)  # fmt: skip

GREEDY: dict[str, Any] = {
    "place": "take 2, the error", "ratio": ".1f", "formula": "n of about (1/(alpha epsilon)) k^2 ln^2(n) log d",
}  # fmt: skip

_law(
    "STE-Conj2-law-k", "2",
    "The greedy learner of conjunctions needs O(k^2) examples in the number of literals, up to logarithms.",
    "Growth with k, greedy conjunctions", ("conjunction-greedy", "k", LITERALS, {**LEVELS, **MANY, **ONE}), **GREEDY,
)  # fmt: skip
_law(
    "STE-Conj2-law-d", "1",
    "The greedy learner of conjunctions needs O(log d) examples in the number d of variables, up to ln^2(n).",
    "Growth with log d, greedy conjunctions, d = 2^64 to 2^1000",
    ("conjunction-greedy", "log2 dimension", VARIABLES, {**LEVELS, **ONE, "k": 3}), **GREEDY,
)  # fmt: skip
_law(
    "STE-Conj2-law-alpha-epsilon", "1",
    "The greedy learner of conjunctions needs O(1/(alpha epsilon)) examples in alpha and in epsilon, up to ln^2(n).",
    "Growth with 1/alpha and 1/epsilon, greedy conjunctions",
    ("conjunction-greedy", "alpha", COVERED, {**BETA, **MANY, **ONE, "k": 1}),
    ("conjunction-greedy", "epsilon", PRIVACIES[:-1], {**LEVELS, **MANY, "k": 1}), **GREEDY,
)  # fmt: skip
_law(
    "STE-Conj2-law-rounds", "2",
    "The greedy learner of conjunctions needs O(J^2) examples in its number of rounds, which as J = 2 k ln n is the "
    "ln^2(n) of its theorem.",
    "Growth with the rounds J = 2 k ln n, greedy conjunctions",
    ("conjunction-greedy", "rounds", (12, 24, 48, 96, 192, 384), {**LEVELS, **MANY, **ONE, **TWO}), **GREEDY,
)  # fmt: skip

MIXTURES: dict[str, Any] = {"place": "Theorem 4.9", "slow": False, "ratio": ".0f"}

_law(
    "BMN-Thm4.9-law-d", "2",
    "The learner of halfspaces from mixtures needs O(d^2) examples in the dimension, up to logarithms.",
    "Growth with d, mixtures, d = 16 to 128",
    ("mixture-halfspace", "dimension", (16, 24, 32, 48, 64, 96, 128), {**MIXTURE, **ONE, "alpha": 0.002}), **MIXTURES,
)  # fmt: skip
_law(
    "BMN-Thm4.9-law-alpha-epsilon", "1",
    "The learner of halfspaces from mixtures needs O(1/(alpha epsilon)) examples in alpha, up to logarithms, and in "
    "epsilon.",
    "Growth with 1/alpha and 1/epsilon, mixtures in 8 dimensions",
    ("mixture-halfspace", "alpha", (1 / 2000, *ACCURACIES[:5]), {**MIXTURE, **ONE, "dimension": 8}),
    ("mixture-halfspace", "epsilon", PRIVACIES[:-1], {**MIXTURE, "alpha": 0.004, "dimension": 8}), **MIXTURES,
)  # fmt: skip
_law(
    "STE-Boxd-law-basic", "2",
    "Boxes in d dimensions by 2 d interior points need O(d^2) examples, up to ln d, by basic composition.",
    "Growth with d, boxes, basic composition", ("box-interior-point", "dimension", (1, 2, 4, 8, 16, 32), BOXES),
    part=Part.OURS, **BY_BOXES,
)  # fmt: skip
_law(
    "STE-Boxd-law-advanced", "1.5",
    "With a delta, boxes in d dimensions need O(d^1.5) examples, up to ln d, by advanced composition.",
    "Growth with d, boxes, advanced composition",
    # Below d = 16 basic composition is the better one, at delta = 1e-6.
    ("box-interior-point", "dimension", (16, 20, 24, 32, 40, 48), {**BOXES, "delta": 1e-6}),
    formula="n of about d^1.5", **BY_BOXES,
)  # fmt: skip

LINE: dict[str, Any] = {"ratio": ".1f", "part": Part.OURS}

_law(
    "BMNS-Prop2.11-law-domain", "0",
    "RecConcave, which is FindTukey on a line, needs examples by log*|X| alone of the size of the domain, up to "
    "|X| = 2^(2^14).",
    "Growth with ln|X|, FindTukey on a line, |X| = 2^8 to 2^(2^14)",
    ("interior-point-rec-concave", "log2 domain_size", (8, 16, 24, 32, 64, 256, 1024, 4096, 2**14),
     {**SOLVED, "delta": 1e-6}),
    ratio=".0f", place="Proposition 2.11", formula="r >= 8^(log* T~) (12 log* T~/(alpha epsilon)) log(192 (log* T~)^2/"
    "(beta delta))",
)  # fmt: skip
_law(
    "OURS-Thr-law-domain", "1",
    "Thresholds by an interior point of the exponential mechanism need O(ln|X|) examples.",
    "Growth with ln|X|, thresholds, |X| = 2^8 to 2^16383",
    ("threshold-interior-point", "log2 domain_size", (8, 16, 32, 64, 256, 1024, 4096, 2**14 - 1), THRESHOLDS),
    place="thresholds by interior points", slow=False, **LINE,
)  # fmt: skip
_law(
    "OURS-Thr-law-log-star", "0",
    "Thresholds by an interior point of RecConcave need a number of examples that grows with X by log*|X| alone: from "
    "|X| = 2^(2^10) on their n* is a constant share of its promise. Below, it grows like ln|X| up to that share.",
    "Growth with ln|X|, thresholds by RecConcave, |X| = 2^(2^10) to 2^6144",
    ("threshold-interior-point", "log2 domain_size", (1024, 1536, 2048, 3072, 4096, 6144),
     {**THRESHOLDS, "variant": "rec-concave", "delta": 1e-6}),
    place="thresholds by interior points", **LINE,
)  # fmt: skip
_law(
    "OURS-TreeLog-law-domain", "0",
    "TreeLog needs a number of examples that grows with the domain X by log*|X| and, for its tests, like log log|X|.",
    "Growth with log|X|, TreeLog, |X| = 2^8 to 2^4096",
    ("interior-point-tree-log", "log2 domain_size", (8, 16, 32, 64, 128, 256, 1024, 4096),
     {**SOLVED, "delta": 1e-6, **OWN_BETA}),
    place="the interior point problem", **LINE,
)  # fmt: skip
_law(
    "STE-Box2-law-delta", "1",
    "An interior point of 2^64 points takes O(ln(1/delta)) examples by TreeLog, where the lecture has the square.",
    "Growth with ln(1/δ), TreeLog, δ = 10⁻² to 10⁻²⁴",
    ("interior-point-tree-log", "delta", DELTAS, {**SOLVED, "domain_size": 2**64, **OWN_BETA}),
    ("interior-point-tree-log", "delta", DELTAS, {**SOLVED, "domain_size": 256, **OWN_BETA}),
    place="boxes by interior points, m", ratio=".2f", slow=False,
    formula="m of about (1/epsilon) log^2(1/delta) log*|D|",
)  # fmt: skip

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
LITERALS = (1, 2, 4, 8, 16, 32, 64, 128)
# With ln d not far above ln J a literal is found by chance, and n* stops growing with k.
GREEDY: dict[str, Any] = {"alpha": 0.2, "beta": 0.2, "dimension": 2**16, "epsilon": 1.0}
# The Set Cover Learner is built for half of alpha and a quarter of beta.
COVER: dict[str, Any] = {**GREEDY, "delta": 1e-6, "parameters": {"alpha": 0.1, "beta": 0.05}}
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
_law(
    "KMMS-Thm3.2-law-k", "1",
    "The Set Cover Learner needs O(k) examples in the number of sets, up to logarithms, by Claim 3.4.",
    "Growth with k, Set Cover Learner", ("set-cover-conjunction", "k", LITERALS, {**COVER, "variant": "paper"}),
    ratio=".0f", place="Theorem 3.2",
)  # fmt: skip
_law(
    "KMMS-Ex3.3-law-k", "1.5",
    "By composition the Set Cover Learner needs O(k^1.5) examples in the number of sets, up to logarithms.",
    "Growth with k, Set Cover Learner by composition",
    ("set-cover-conjunction", "k", LITERALS, {**COVER, "variant": "composition"}),
    ratio=".0f", place="Example 3.3",
)  # fmt: skip
_law(
    "STE-Conj2-law-k", "2",
    "The greedy learner of conjunctions needs O(k^2) examples in the number of literals, up to logarithms.",
    "Growth with k, greedy conjunctions", ("conjunction-greedy", "k", LITERALS, GREEDY),
    ratio=".0f", place="take 2, the error", formula="n of about (1/(alpha epsilon)) k^2 ln^2(n) log d",
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

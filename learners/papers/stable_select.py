"""Statements on stable selection with three calibrations, inside BMNS's Proposition 2.11."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

from dpaudit.contract import Evidence, Pair, Tools
from learners.citations import BMNS
from learners.interior_points.controls import StableSelectWrong, WrongStable
from learners.interior_points.rec_concave import InteriorPointRecConcave
from learners.mechanisms.rec_concave import RecConcave
from learners.mechanisms.stable_select import StableSelect, Standing
from learners.papers.evidence import against, exceeds, judged, pair_data, states, tightness

__all__ = ["STATEMENTS"]


SELECTIONS = f"{BMNS}, the selections inside Proposition 2.11"
DELTA = Fraction(1, 10**6)


@dataclasses.dataclass(frozen=True)
class _Loose(StableSelect):
    """Bun, Nissim and Stemmer's calibration."""

    @property
    def scale(self) -> float:
        """4/epsilon."""
        return 4 / float(self.epsilon)

    @property
    def threshold(self) -> float:
        """(4/epsilon) ln(2/delta)."""
        return self.scale * math.log(2 / float(self.delta))


def _measured(select: StableSelect) -> tuple[float, float]:
    """Return the worst ratio for a common best solution, and the greatest probability of naming one at gap 2."""
    logs = [select.log_law(Standing(0, gap))[:2] for gap in range(0, 4 * math.ceil(select.threshold))]
    ratio = max(abs(x - y) for one, two in zip(logs, logs[2:], strict=False) for x, y in zip(one, two, strict=True))
    return ratio, math.exp(select.log_law(Standing(0, 2))[0])


@states(
    "Stable-select-safe",
    "Lap(2/eps), threshold 2 + (2/eps) ln(1/(2 delta)) is (eps, delta)-private.",
    SELECTIONS,
    short="Lap(2/ε) with threshold 2 + (2/ε) ln(1/(2 δ))",
    printed="(1, 10⁻⁶)",
    found="({epsilon:.3g}, {delta:.2g})",
)
def _safe(tools: Tools) -> Evidence:
    select = StableSelect(Fraction(1), DELTA)
    ratio, named = _measured(select)
    return _as_claimed(
        select, ratio, named, f"ratio e^{ratio:.6f} with a common best solution, else named with chance {named:.3g}"
    )


@states(
    "Stable-select-loose",
    "Lap(4/eps), threshold (4/eps) ln(2/delta) is (eps, delta)-private.",
    SELECTIONS,
    short="Lap(4/ε) with threshold (4/ε) ln(2/δ)",
    printed="(1, 10⁻⁶)",
    found="({epsilon:.3g}, {delta:.2g})",
    best="Lap(2/ε) with threshold 2 + (2/ε) ln(1/(2 δ))",
)
def _loose(tools: Tools) -> Evidence:
    select = _Loose(Fraction(1), DELTA)
    ratio, named = _measured(select)
    return _as_claimed(select, ratio, named, f"really ({ratio:.4f}, {named:.3g})-private")


def _as_claimed(select: StableSelect, ratio: float, named: float, text: str) -> Evidence:
    """Return the evidence on a calibration that promises (1, 1e-6)-privacy."""
    delta = float(DELTA)
    return judged(
        tightness(max(ratio, named / delta), 1.0),
        f"epsilon 1, delta 1e-6: {text}",
        {"epsilon": ratio, "delta": named},
        f"epsilon 1, delta 1e-6: {text}",
        {"scale": select.scale, "threshold": select.threshold, "ratio": ratio, "named at gap 2": named},
        failed=exceeds(ratio, 1.0) or exceeds(named, delta),
    )


@states(
    "Stable-select-wrong",
    "Lap(1/eps), threshold ln(1/delta)/eps is (eps, delta)-private.",
    SELECTIONS,
    short="Lap(1/ε) with threshold ln(1/δ)/ε is (ε, δ)-private",
    printed="(1, 0.02)",
    found="ε = {epsilon:.3g}, δ(1) = {delta at claim:.3g}",
)
def _wrong(tools: Tools) -> Evidence:
    learner = StableSelectWrong(2, 1.0, 0.02)
    finding = tools.audit_law(learner, n=6)
    hidden = _hidden(tools)
    ratio, named = _measured(WrongStable(Fraction(1), Fraction(1, 50)))
    failed = finding.verdict == "violation" or exceeds(ratio, 1.0) or exceeds(named, 0.02)
    numbers = {"epsilon": ratio, "delta": named, "delta at claim": finding.delta_at_claim, "inside RecConcave": hidden}
    text = (
        f"claimed (1, 0.02): really ratio e^{ratio:.3f} and naming with probability {named:.3f} at gap 2; delta(1) = "
        f"{finding.delta_at_claim:.3f}. Inside RecConcave the slack of composition hides it (ratio {hidden:.2f} of 4)"
    )
    verdict, witness = tightness(max(ratio, named / 0.02), 1.0), against(finding.worst_pair)
    data = pair_data(learner, finding.worst_pair, at=1.0, delta=finding.delta_at_claim)
    return judged(verdict, text, numbers, witness, data, failed=failed)


def _hidden(tools: Tools) -> float:
    """Return the worst ratio of RecConcave with the wrong calibration, over a few pairs."""

    class Hidden(InteriorPointRecConcave):
        """RecConcave with the wrong calibration."""

        def _concave(self, n: int) -> RecConcave:
            return dataclasses.replace(super()._concave(n), stable=WrongStable)

    learner = Hidden(64, 4.0, 0.05)
    points = [[1, 8, 43], [17, 20, 55], [22, 51, 60], [31, 32, 40]]
    counts = [[5, 10, 9], [12, 10, 2], [2, 1, 21]]
    pairs = []
    for xs, ns, source in itertools.product(points, counts, range(3)):
        moved = [n - (i == source) + (i == (source + 1) % 3) for i, n in enumerate(ns)]
        left, right = (learner.domain.sample(xs, [0] * 3, c) for c in (ns, moved))
        pairs.append(Pair(left, right))
    return float(tools.audit_law(learner, samples=pairs).epsilon)


STATEMENTS = (_safe, _loose, _wrong)

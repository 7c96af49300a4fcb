"""Claims in words: epsilon and delta, claims that are curves, and by how much a claim lets probabilities differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpaudit.contract import CurveClaim, Relation, Verdict
from dpaudit.family_wise import FamilyWise
from dpaudit.report.numbers import count, percent, plural, significant, value_text
from dpaudit.report.view import FindingView

# Digits of a number in brief.
BRIEF_DIGITS = 3


def claim_words(epsilon: float, delta: float, written: Callable[[float], str] = value_text) -> str:
    """Return a claim as "ε = 1", with its delta where that is not 0, as given, or rounded if none claims it."""
    return f"ε = {written(epsilon)}" + (f", δ = {written(delta)}" if delta else "")


def label_parameters(parameters: Mapping[str, Any]) -> str:
    """Return parameters as `name = value, ...`, or "none"."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in sorted(parameters.items())) or "none"


def verdict_words(verdict: Verdict, promises: Sequence[str] = ()) -> str:
    """Return the verdict on a learner, with the promises that it is about where these are to blame."""
    if promises:
        return f"{verdict}: {' and '.join(promises)}"
    return str(verdict)


def curve_claim_words(claim: CurveClaim) -> str:
    """Return a claim that is a curve as "μ = 1 (Gaussian privacy)"."""
    return "{} ({})".format(*curve_claim_parts(claim))


def curve_claim_parts(claim: CurveClaim) -> tuple[str, str]:
    """Return a claim that is a curve in words, and which kind of curve it is."""
    if claim.mu is not None:
        return f"μ = {value_text(claim.mu)}", "Gaussian privacy"
    if claim.rho is not None:
        return f"ρ = {value_text(claim.rho)}", "zero-concentrated privacy"
    if claim.orders:
        orders = (f"ε = {value_text(epsilon)} at order {value_text(order)}" for order, epsilon in claim.orders)
        return ", ".join(orders), "Rényi privacy"
    kind = ""
    if claim.name != "points":
        kind = f"a {claim.name}, "
    return f"{kind}{plural(len(claim.points), 'point')}", "ε, δ"


def times_words(ratio: float, epsilon: float, written: Callable[..., str] = significant) -> str:
    """Return by which factor one probability exceeds another, and by which a claim of epsilon lets it."""
    allowed = factor(epsilon)
    # Each is rounded on its side of the other, or a violation could read "2.7 times, the claim allows 2.7".
    times = written(ratio, digits=2, apart_from=allowed)
    return f"{times} times as often, the claim allows {written(allowed, digits=2, apart_from=ratio)}"


def factor(epsilon: float) -> float:
    """Return by which factor a claim of epsilon lets a probability differ."""
    # Beyond it exp(epsilon) leaves the floats.
    return math.exp(min(epsilon, 700.0))


def tested_claim(view: FindingView, epsilon: float, delta: float, relation: Relation | None) -> str:
    """Return the claim that was tested; with its source if it is the learner's own."""
    own = view.claim
    known = ("", "")
    if own is not None and (own.epsilon, own.delta, own.relation) == (epsilon, delta, relation):
        known = (own.claim_id, own.source)
    neighbours = str(relation or "neighbours as given")
    return ", ".join(filter(None, (claim_words(epsilon, delta), neighbours, *known)))


def claim_cell(epsilon: float, delta: float) -> str:
    """Return the claimed epsilon, with delta where it is not 0, for a cell of a table."""
    if delta == 0:
        return value_text(epsilon)
    return f"({value_text(epsilon)}, {value_text(delta)})"


def family_promise(error: float, claims: int, of: str = "checks", accused: str = "a private mechanism") -> str:
    """Return how many commands accuse anybody falsely where claims are judged together, and what that costs."""
    one = round(1 / error)
    if abs(one * error - 1) < 1e-9:
        promise = f"At most 1 in {count(one)} {of} accuses {accused}"
    else:
        promise = f"At most {percent(error)} of {of} accuse {accused}"
    if claims < 2:
        return f"{promise}."
    return (
        f"{promise}. By Holm's procedure the smallest of {claims} p-values refutes its claim at "
        f"{_short(error / claims)} or less, the largest at {_short(error)} or less. The power given is that of each "
        "audit alone."
    )


def _short(error: float) -> str:
    """Return a level with at most three digits, without zeros at its end."""
    return f"{error:.3g}".replace("e-0", "e-")


def family_words(found: FamilyWise) -> str:
    """Return why a claim that is refuted alone is not refuted among all claims of a command."""
    alone = significant(found.p_value, "up", digits=BRIEF_DIGITS)
    among = significant(found.adjusted, "up", digits=BRIEF_DIGITS)
    claims = plural(found.claims, "claim")
    return (
        f"alone the claim is refuted (p = {alone}), but not among {claims}: p = {among} by Holm's procedure, above "
        f"{_short(found.error)}"
    )

"""Claims that are curves in words: what is claimed, what refutes it, and what would have been detected."""

from __future__ import annotations

import math

from dpaudit.audit.curve_claims import TESTABLE, untestable_orders
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.tested import CurveTest
from dpaudit.contract import CurveClaim
from dpaudit.report.glossary import OFTEN
from dpaudit.report.numbers import plural, significant, value_text
from dpaudit.report.terminal import Lines
from dpaudit.report.wording import pairs_words


def curve_claim_words(claim: CurveClaim) -> str:
    """Return a claim that is a curve in words."""
    if claim.mu is not None:
        return f"μ = {value_text(claim.mu)} (Gaussian privacy)"
    if claim.rho is not None:
        return f"ρ = {value_text(claim.rho)} (zero-concentrated privacy)"
    if claim.orders:
        orders = ", ".join(f"ε = {value_text(epsilon)} at order {value_text(order)}" for order, epsilon in claim.orders)
        return f"{orders} (Rényi privacy)"
    kind = "" if claim.name == "points" else f"a {claim.name}, "
    return f"{kind}{plural(len(claim.points), 'point')} (ε, δ)"


def shows_words(finding: PrivacyFinding, tested: CurveTest) -> str:
    """Return what the runs show: a bound on mu, or on delta at the point tested."""
    if tested.mu_lower is not None:
        return f"shows μ ≥ {significant(tested.mu_lower, 'down', apart_from=tested.claim.mu)}"
    holder = tested.holder
    if holder is not None and holder.refuted and finding.epsilon_lower <= finding.epsilon:
        return f"shows that ε = {value_text(holder.epsilon)} at order {value_text(holder.alpha)} is too small"
    if finding.design == "sequential":
        lower = significant(finding.epsilon_lower, "down", digits=3, apart_from=finding.epsilon)
        point = f"ε ≤ {significant(finding.epsilon, digits=3)} at δ = {significant(finding.delta, digits=3)}"
        return f"so {point}; shows ε ≥ {lower} there"
    least = significant(tested.delta_lower, "down", digits=3, apart_from=finding.delta)
    most = significant(finding.delta, "up", digits=3, apart_from=tested.delta_lower)
    return f"so δ ≤ {most} at ε = {significant(finding.epsilon, digits=3)}; shows δ ≥ {least} there"


def holder_words(tested: CurveTest) -> str:
    """Return what the test by Holder's inequality shows; empty where there was none."""
    holder = tested.holder
    if holder is None:
        return ""
    order, most = value_text(holder.alpha), value_text(holder.epsilon)
    claimed = f"divergences of order {order} between data and neighbour of at most {most}"
    evidence = f"exp({significant(holder.log_evidence, 'down')}) where {significant(1 / holder.error)} refutes"
    return f"the bet on all outputs against {claimed} has evidence of {evidence}"


def power_words(finding: PrivacyFinding) -> str:
    """Return how much too much would have been detected; empty where only the point says it."""
    tested = finding.curve_test
    if tested is None:
        return ""
    if tested.detectable_mu is not None:
        if math.isinf(tested.detectable_mu):
            return "no mu, however large, would be detected on the event tested"
        least = significant(tested.detectable_mu, "up", apart_from=tested.claim.mu)
        where = f"on an event as likely as the one tested, {pairs_words(finding)}"
        return f"any μ ≥ {least} would be detected {OFTEN}, {where}"
    short = tested.detectable_shortfall
    if short is None:
        return ""
    if math.isinf(short):
        return "not even half of the Gaussian noise that the claim needs would be detected, were the output one number"
    least = significant(100 * short, "up", digits=2)
    return f"were the output one number, Gaussian noise too small by about {least} % would be detected {OFTEN}"


def curve_lines(finding: PrivacyFinding) -> Lines:
    """Return what else there is to say of a claim that is a curve, a line each."""
    tested = finding.curve_test
    if tested is None:
        return []
    lines = [("curve claim", f"{curve_claim_words(tested.claim)}, {shows_words(finding, tested)}")]
    lines += [("by Holder", holder_words(tested))] if tested.holder else []
    lines += [("power", words)] if (words := power_words(finding)) else []
    if orders := untestable_orders(tested.claim):
        listed = ", ".join(map(value_text, orders))
        why = f"order times the shift in deviations exceeds {TESTABLE:g}, so that outputs which hardly any run returns"
        lines.append(("not testable", f"order {listed}: {why} decide; only much larger violations can be seen"))
    return lines

"""Lower confidence bounds on epsilon by the name that certificates give them."""

from __future__ import annotations

import math

from dpaudit.bounds.limits import lower_limit, upper_limit
from dpaudit.bounds.names import get_bound
from dpaudit.certificates.certificate import Counts

__all__ = ["CLOPPER_PEARSON", "epsilon_lower"]

CLOPPER_PEARSON = "clopper-pearson"


def epsilon_lower(bound: str, counts: Counts, delta: float, error: float) -> float:
    r"""Return a lower confidence bound on ln((p - delta) / q).

    By "clopper-pearson" it joins the exact limits of both sides by the union bound: valid without further argument, and
    lower than the melded bound by about a fifth of its distance from the estimate,

    .. math:: \epsilon_L = \ln \frac{p_L - \delta}{q_U}, \quad \Pr[\mathrm{Bin}(n_1, p_L) \ge x] =
              \Pr[\mathrm{Bin}(n_2, q_U) \le y] = \gamma / 2 .

    Parameters
    ----------
    bound : {"melded", "clopper-pearson", "unconditional"}
        The kind of the bound.
    counts : Counts
        Hits and runs on both sides.
    delta : float
        The claim's delta.
    error : float
        The probability gamma that the bound is too high.
    """
    x, n1, y, n2 = counts.hits, counts.runs, counts.neighbour_hits, counts.neighbour_runs
    if bound != CLOPPER_PEARSON:
        return float(get_bound(bound).epsilon_lower(x, n1, y, n2, delta=delta, gamma=error))
    gain, upper = float(lower_limit(x, n1, error / 2)) - delta, float(upper_limit(y, n2, error / 2))
    return math.log(gain / upper) if gain > upper else 0.0

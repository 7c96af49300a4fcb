"""Holm's procedure over the claims of one command, so that all of them together have one chance of a false alarm."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.record import Frozen, Probability, Share, Size


class FamilyWise(Frozen, frozen=True, tag="family-wise", tag_field="kind"):
    """A refutation that does not stand among all claims of a command, as Holm's procedure has it.

    Attributes
    ----------
    p_value : float
        The p-value of the claim alone.
    adjusted : float
        The p-value that it has among the claims: the least chance of a false alarm with which Holm's procedure rejects.
    error : float
        The chance of a false alarm that all claims have together.
    claims : int
        How many there are.
    """

    p_value: Probability
    adjusted: Probability
    error: Share
    claims: Size


def adjusted(p_values: Sequence[float]) -> list[float]:
    """Return the p-values that claims have among each other by Holm's procedure, whatever their dependence.

    Of m p-values the j-th smallest becomes the greatest of (m - i + 1) p_i over the i-th smallest ones, i <= j. The
    claims whose adjusted p-value is at most a are refuted; the chance that a true one is among them is at most a.

    References
    ----------
    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979).
    """
    if not p_values:
        return []
    from statsmodels.stats.multitest import multipletests

    _, found, *_ = multipletests(p_values, method="holm")
    return [float(p) for p in found]

"""The claim of a learner's theorem on utility, in one setting."""

from __future__ import annotations

from typing import Any

from dpaudit.contract import HasSampleSize, HasSettings, HasUtility, UtilityClaim

__all__ = ["stated_claim"]


def stated_claim(learner: Any, alpha: float, beta: float, setting: str | None = None) -> UtilityClaim | None:
    """Return the claim for alpha and beta, in a setting if one is asked for and the learner makes several.

    A bare `sample_size(alpha, beta)` is a claim in the setting "realizable". Whoever asks for a setting must look at
    that of the answer: a learner with one claim has nothing else to say.

    Returns
    -------
    UtilityClaim or None
        None if the learner has no theorem.

    Raises
    ------
    InputError
        If the theorem does not reach alpha and beta in that setting.
    """
    if isinstance(learner, HasSettings) and setting is not None:
        return learner.utility(alpha, beta, setting=setting)
    if isinstance(learner, HasUtility):
        return learner.utility(alpha, beta)
    if isinstance(learner, HasSampleSize):
        return UtilityClaim(alpha, beta, int(learner.sample_size(alpha, beta)))
    return None

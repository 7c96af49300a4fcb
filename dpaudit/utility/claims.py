"""What a learner's theorem promises about its accuracy, in one setting."""

from __future__ import annotations

import inspect
from typing import Any

from dpaudit.contract import UtilityClaim

__all__ = ["stated_claim"]


def stated_claim(learner: Any, alpha: float, beta: float, setting: str | None = None) -> UtilityClaim | None:
    """Return the claim for alpha and beta, in a setting if one is asked for and the learner makes several.

    A bare `sample_size(alpha, beta)` is a claim in the setting "realizable". Whoever asks for a setting must look at
    that of the answer: a learner with one claim has nothing else to say.

    Returns
    -------
    UtilityClaim or None
        None if the learner states no sample size.

    Raises
    ------
    InputError
        If the theorem does not reach alpha and beta in that setting.
    """
    utility = getattr(learner, "utility", None)
    if utility is None and hasattr(learner, "sample_size"):
        return UtilityClaim(alpha, beta, int(learner.sample_size(alpha, beta)))
    if utility is None:
        return None
    several = setting is not None and "setting" in inspect.signature(utility).parameters
    claim: UtilityClaim = utility(alpha, beta, setting=setting) if several else utility(alpha, beta)
    return claim

"""The claim of a learner's theorem on utility, in one setting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import (
    Distribution,
    HasPopulations,
    HasSampleSize,
    HasSettings,
    HasUtility,
    Hypothesis,
    UtilityClaim,
)
from dpaudit.utility.error import labels_of

__all__ = ["speaks_of", "stated_claim"]


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


def speaks_of(learner: Any, law: Distribution, concept: Hypothesis, flips: NDArray[np.float64] | None) -> bool:
    """Say whether a learner's theorem speaks of points from this distribution, labelled so."""
    if law.public is None or not isinstance(learner, HasPopulations):
        return True
    labels = labels_of(concept, law.points).astype(np.float64)
    return learner.speaks_of(law, labels if flips is None else np.where(labels == 1, 1 - flips, flips))

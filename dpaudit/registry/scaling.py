"""The measured growth of the sample complexity of a registered learner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from dpaudit.contract import Parameter
from dpaudit.progress import Progress
from dpaudit.registry import get_learner
from dpaudit.results import remembering
from dpaudit.utility.finding import ScalingFinding
from dpaudit.utility.sample_complexity import MOVES
from dpaudit.utility.scaling import law_of


@remembering
def scaling_law(
    learner_id: str,
    parameter: str,
    values: Sequence[float],
    *,
    alpha: float | None = None,
    beta: float | None = None,
    setting: str | None = None,
    confidence: float = 0.95,
    moves: int = MOVES,
    seed: int = 0,
    progress: Progress = False,
    parameters: Mapping[str, Parameter] | None = None,
    shares: Mapping[str, float] | None = None,
    **fixed: Parameter,
) -> ScalingFinding:
    """Measure how a learner's sample complexity grows with a parameter, and compare it with its theorem.

    For each value n* is computed on the learner's own hard case where it offers the exact failure rate
    (`hard_failure`), else measured by `sample_complexity`. The hard case is the same one at every value, so that its n*
    can be compared; `sample_complexity` may find a worse case, whose n* is larger. The raw exponent is the slope of
    ln n* on ln x. Additive terms such as ln(1/beta) bend that line where the theorem's shape is exactly right, so what
    decides is the slope of ln(n*/theorem) in the upper half of the values.

    Parameters
    ----------
    learner_id : str
        The learner.
    parameter : str
        A parameter of the learner, or "alpha" or "beta". x is its inverse for alpha, beta and epsilon, its logarithm
        for domain_size, that of its inverse for delta, else its value. Of "log2 " and a parameter the values are its
        logarithms to the base 2, and x is the value: "log2 domain_size" goes to domains of 2^(2^14) points.
    values : sequence of number
        At least six, increasing.
    alpha, beta : float, optional
        The accuracy and the rate of failure; needed unless varied.
    setting : str, optional
        As for `sample_complexity`.
    confidence : float
        Of each interval.
    moves : int
        As for `sample_complexity`, where n* is measured by it; with 0 the hard cases that are proposed compete alone.
    seed : int
        Root seed.
    progress : bool or callable
        As for `audit_privacy`; the unit is a value.
    parameters : mapping, optional
        Parameters of the learner that are called as one of these arguments, such as a `beta` of its own.
    shares : mapping, optional
        Of an `alpha` or a `beta` of the learner's own, the share of that which is asked for: {"alpha": 0.5} builds the
        learner for half of alpha at every value.
    **fixed
        The learner's other parameters.

    Raises
    ------
    InputError
        If the values are too few or not increasing, alpha or beta is missing, or a learner cannot be built.
    """
    return law_of(
        learner_id, partial(get_learner, learner_id), parameter, values, {**fixed, **(parameters or {})}, alpha=alpha,
        beta=beta, setting=setting, confidence=confidence, moves=moves, seed=seed, progress=progress, shares=shares,
    )  # fmt: skip

"""The amount of work of a run: seconds, minutes or hours, by the name of a profile."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PROFILES", "Profile"]


@dataclass(frozen=True)
class Profile:
    """The amount of work that a run does.

    Parameters
    ----------
    privacy_trials : int
        Runs on each side of each pair, on average, in the black-box audit.
    control_trials : int
        The same for positive controls, whose leaks are known to be large.
    utility_trials : int
        Samples drawn for each hard case at the theorem's n.
    fixed_trials : int
        Runs for each hard case of the settings that take one sample for all runs, which are cheap.
    utility_growth : int
        By how much both may grow where an interval contains beta.
    ladder_trials : int
        Samples drawn at each smaller n.
    ladder_steps : int
        The number of smaller n: the theorem's halved, quartered, ...
    sequential_controls : bool
        Whether positive controls are audited by bets, which end as soon as the leak is found.
    slow_statements : bool
        Whether statements of papers are checked whose checks take seconds.
    """

    privacy_trials: int
    control_trials: int
    utility_trials: int
    fixed_trials: int
    utility_growth: int
    ladder_trials: int
    ladder_steps: int
    sequential_controls: bool = False
    slow_statements: bool = True


PROFILES = {
    "quick": Profile(
        privacy_trials=1_000,
        control_trials=1_000,
        utility_trials=100,
        fixed_trials=1_000,
        utility_growth=256,
        ladder_trials=30,
        ladder_steps=3,
        sequential_controls=True,
        slow_statements=False,
    ),
    "default": Profile(
        privacy_trials=10_000,
        control_trials=2_000,
        utility_trials=2_000,
        fixed_trials=10_000,
        utility_growth=64,
        ladder_trials=300,
        ladder_steps=6,
    ),
    "full": Profile(
        privacy_trials=200_000,
        control_trials=20_000,
        utility_trials=10_000,
        fixed_trials=100_000,
        utility_growth=64,
        ladder_trials=2_000,
        ladder_steps=6,
    ),
}

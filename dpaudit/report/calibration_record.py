"""The calibration that the package carries, as typed records; `scripts/calibrate.py` makes it."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

from dpaudit.record import Amount, Count, Frozen, Level, Probability, Share, Size, decode

__all__ = [
    "CALIBRATION_VERSION",
    "Audited",
    "Calibration",
    "Cell",
    "Mutation",
    "NullCell",
    "PowerCell",
    "load_calibration",
]

CALIBRATION_VERSION: Literal[1] = 1


class Cell(Frozen, frozen=True, kw_only=True):
    """The audits of one mechanism in one setting.

    Attributes
    ----------
    mechanism, outputs : str
        The mechanism, and the kind of its outputs.
    delta : float
        Of the claim.
    condition, design : str
        How the claim lies to the truth, and how the audit was made.
    runs, pairs, jobs : int
        Runs a side, pairs and processes of each audit.
    audits, accused : int
        Audits made, and those that found a violation.
    rate, lower, upper : float
        The share of the latter, with its exact 95 % interval.
    broken : bool
        Whether a promise is broken beyond chance.
    """

    mechanism: str
    outputs: str
    delta: Probability
    condition: str
    design: str
    runs: Size
    pairs: Size
    jobs: int
    audits: Size
    accused: Count
    rate: Probability
    lower: Probability
    upper: Probability
    broken: bool


class NullCell(Cell, frozen=True, kw_only=True):
    """Audits of a claim that holds.

    Attributes
    ----------
    level : float
        The rate of violations found that is allowed.
    p_value : float
        One-sided, of a rate of at most the level.
    """

    level: Level
    p_value: Probability


class PowerCell(Cell, frozen=True, kw_only=True):
    """Audits of a claim that fails.

    Attributes
    ----------
    removed : float
        The share of the noise that the mechanism leaves out.
    epsilon : float
        The true one.
    predicted : int
        Runs a side that detect it with probability 0.95 by a given event.
    factor : int
        The multiple of them that was made.
    p_value : float or None
        One-sided, of a rate of at least what is promised; None where nothing is.
    """

    removed: Share
    epsilon: Amount
    predicted: Size
    factor: Size
    p_value: Probability | None


class Audited(Frozen, frozen=True):
    """The audit of one learner.

    Attributes
    ----------
    id : str
        The learner.
    convicted : bool
        Whether a violation was found.
    lower, claim : float
        The lower bound on epsilon, and the claim.
    """

    id: str
    convicted: bool
    lower: Amount
    claim: Amount


class Mutation(Frozen, frozen=True):
    """The audits of learners with a planted leak, and of sound ones.

    Attributes
    ----------
    trials : int
        Runs a side.
    confidence : float
        Of each audit.
    controls, sound : tuple of Audited
        Both kinds of learners.
    """

    trials: Size
    confidence: Level
    controls: tuple[Audited, ...]
    sound: tuple[Audited, ...]


class Calibration(Frozen, frozen=True):
    """The rates at which the auditor errs, measured on mechanisms whose privacy is known exactly.

    Attributes
    ----------
    schema_version : int
        The version of this record.
    profile, seed
        How much work, from which root seed.
    versions : dict of str to str
        What it was made with.
    level : float
        The rate of violations found that is allowed where a claim holds.
    power_promised : float
        The rate that is promised where one fails, at the runs predicted.
    false_accusations : tuple of NullCell
        Claims that hold.
    power : tuple of PowerCell
        Claims that fail.
    mutation : Mutation
        Learners.
    broken : tuple of str
        Every promise that was broken beyond chance, in words.
    """

    schema_version: Literal[1]
    profile: str
    seed: Count
    versions: dict[str, str]
    level: Level
    power_promised: Level
    false_accusations: tuple[NullCell, ...]
    power: tuple[PowerCell, ...]
    mutation: Mutation
    broken: tuple[str, ...]


def load_calibration() -> Calibration | None:
    """Return the calibration that the package carries; None if it carries none."""
    place = files("dpaudit").joinpath("data", "calibration.json")
    if not place.is_file():
        return None
    found: Calibration = decode(place.read_bytes(), Calibration)
    return found

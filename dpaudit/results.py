"""What an audit learned: frozen findings that turn into JSON and back into tables.

Every finding says its verdict, its numbers with their grade of evidence, its witness, the seed and the versions. JSON
has no infinity and no NaN: infinity is written as the string "inf", and NaN is refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from dpaudit.jsonable import jsonable

if TYPE_CHECKING:
    from dpaudit.bounds.curve import Curve
    from dpaudit.contract import Pair
    from dpaudit.exact.audit import LossProfiles
    from dpaudit.exact.composition import Composition

__all__ = [
    "SCHEMA_VERSION",
    "EventTest",
    "LawFinding",
    "LedgerRow",
    "PictureFinding",
    "PrivacyFinding",
    "UtilityFinding",
    "Witness",
    "number",
    "versions",
]

SCHEMA_VERSION = 1


def number(value: float | str) -> float:
    """Return a number read from JSON: the inverse of what `jsonable` does to infinities."""
    return float(value)


def versions() -> dict[str, str]:
    """Return the versions that a result, or the bytes of its report, depends on."""
    return dict(_versions())


@cache
def _versions() -> Mapping[str, str]:
    """Look the versions up once: parsing the packages' metadata takes as long as a small audit."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version()}
    for name in ("dpaudit", "numpy", "scipy", "scikit-learn", "matplotlib", "jinja2", "python-flint"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            if name != "python-flint":  # what needs it does not run without it
                found[name] = "not installed"
    return found


@dataclass(frozen=True)
class Witness:
    """The strongest event found, with everything it takes to check it.

    Parameters
    ----------
    pair : int
        Index of the pair in the list that was audited.
    origin : str
        How the pair was made.
    data, neighbour : str
        The two inputs in words.
    direction : {"forward", "backward"}
        "forward" compares Pr[M(data) in event] with exp(epsilon) Pr[M(neighbour) in event]; "backward" swaps them.
    event : str
        The event in words.
    hits, trials : int
        Runs in the event and runs made on the side where the event is likelier, in the confirmation part.
    neighbour_hits, neighbour_trials : int
        The same on the other side.
    """

    pair: int
    origin: str
    data: str
    neighbour: str
    direction: str
    event: str
    hits: int | None
    trials: int | None
    neighbour_hits: int | None
    neighbour_trials: int | None


@dataclass(frozen=True)
class EventTest:
    """One of the events that fresh runs tested, and its own lower bound.

    Parameters
    ----------
    event : str
        The event in words.
    error : float
        The error probability of its bound: its share of that of the verdict.
    hits, neighbour_hits : int
        Confirmation runs in the event, on the side where it is likelier and on the other one.
    epsilon_lower : float
        The bound.
    """

    event: str
    error: float
    hits: int
    neighbour_hits: int
    epsilon_lower: float


@dataclass(frozen=True)
class PrivacyFinding:
    """What a black-box audit learned about a claim of (epsilon, delta)-differential privacy.

    `epsilon_lower` is a lower confidence bound on epsilon at the claim's delta, at level `confidence` over everything
    that the audit tried; `detectable_epsilon` the least true epsilon, for an event as likely as the first of `tests`,
    that this budget would have convicted with probability about 0.95: what half of the confirmation runs would convict
    in the fixed design, or bets in half of the runs of the leading pair in the sequential one, had the event been given
    (there one of probability 0.1). That half of the runs is worth as much to an audit that has to learn the event is
    measured by `scripts/calibrate.py`.

    `frontier` says the same for events of other probabilities on the unlikelier side, and `detectable_delta` for events
    that are impossible there. `budget` holds the runs on each side by purpose, `errors` the error probability by
    statement; the errors add up to 1 - confidence. `tests` holds the one or two events that share the verdict's error,
    the main one first, of which the witness has the greatest bound; none in the sequential design. `design` is "fixed"
    or "sequential". `curve`, if it was asked for, bounds delta at every epsilon. Where no single event decided, the
    witness has no counts.
    """

    verdict: str
    epsilon: float
    delta: float
    epsilon_lower: float
    detectable_epsilon: float
    confidence: float
    trials: int
    selection_trials: int
    confirmation_trials: int
    pairs: int
    events: int
    witness: Witness
    bound: str
    distinguisher: str
    relation: str | None
    seed: int
    design: str
    detectable_delta: float
    frontier: tuple[tuple[float, float], ...]
    budget: Mapping[str, int]
    errors: Mapping[str, float]
    scores: tuple[str, ...]
    origins: tuple[str, ...]
    tests: tuple[EventTest, ...] = ()
    curve: Curve | None = None
    claim_id: str = ""
    warnings: tuple[str, ...] = ()
    grade: str = "statistical"
    kind: str = "privacy"
    versions: Mapping[str, str] = field(default_factory=versions)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON-safe data that validates against schema/finding.json."""
        shown = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "curve"}
        curve = None if self.curve is None else self.curve.to_dict()
        return {"schema_version": SCHEMA_VERSION, **jsonable(shown), "curve": curve}


@dataclass(frozen=True)
class LawFinding:
    """What enumeration of exact output laws learned about a claim of privacy.

    `epsilon` is the exact worst case over the pairs covered, to within `error`; `curve` the worst-case delta at some
    epsilons, and the method `delta` at any. `enclosure`, if it was asked for, holds two floats between which the worst
    case lies for certain, recomputed in ball arithmetic; `composition`, if it was, what many runs cost (see
    `exact.composition.tabulate`).
    """

    verdict: str
    epsilon: float
    error: float
    claimed_epsilon: float | None
    claimed_delta: float
    delta_at_claim: float
    worst_pair: Pair
    worst_atom: str
    pairs: int
    samples: int
    laws: int
    n: int | None
    relation: str
    grade: str
    curve: tuple[tuple[float, float], ...]
    profiles: LossProfiles = field(repr=False, compare=False)
    claim_id: str = ""
    kind: str = "exact"
    versions: Mapping[str, str] = field(default_factory=versions)
    enclosure: tuple[float, float] | None = None
    composition: Mapping[str, Any] | None = None

    def delta(self, epsilon: float) -> float:
        """Return the worst hockey-stick divergence max over pairs of sum over atoms of (P - exp(epsilon) Q)_+."""
        return self.profiles.delta(epsilon)

    def compose(self, times: int, *, epsilon: float | None = None, delta: float | None = None) -> Composition:
        """Return bounds on the privacy of `times` runs on the same sample; see `exact.composition.compose`."""
        return self.profiles.compose(times, epsilon=epsilon, delta=delta, grade=self.grade)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON-safe data that validates against schema/finding.json."""
        hidden = {"profiles", "worst_pair"}
        hidden |= {name for name in ("enclosure", "composition") if getattr(self, name) is None}
        shown = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in hidden}
        pair = {
            "data": repr(self.worst_pair.data),
            "neighbour": repr(self.worst_pair.neighbour),
            "origin": self.worst_pair.origin,
        }
        return {"schema_version": SCHEMA_VERSION, **jsonable(shown), "worst_pair": pair}


@dataclass(frozen=True)
class UtilityFinding:
    """What an audit learned about a claim Pr[error > alpha] <= beta.

    `setting` says what the error is and what is random (see `contract.UtilityClaim`), `failure` in words what counted
    as a failure; `best_error`, in the setting "agnostic", is the exact error of the best concept, over which the excess
    is counted.

    `failure_lower` and `failure_upper` enclose the failure rate with probability `confidence`; the verdict is "holds"
    if the upper end is at most beta, "violation" if the lower end exceeds it, else "undecided".
    """

    verdict: str
    failure_rate: float
    failure_lower: float
    failure_upper: float
    failures: int
    trials: int
    alpha: float
    beta: float
    n: int
    setting: str
    concept: str
    distribution: str
    confidence: float
    seed: int
    claim_id: str = ""
    grade: str = "statistical"
    kind: str = "utility"
    versions: Mapping[str, str] = field(default_factory=versions)
    failure: str = ""
    best_error: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON-safe data that validates against schema/finding.json."""
        return {"schema_version": SCHEMA_VERSION, **jsonable(self)}


@dataclass(frozen=True)
class LedgerRow:
    """What checking one claim of the ledger found: the claim, the verdict on it and the evidence.

    `verdict` is "holds", "loose" (true, but its constant is far from the truth), "refuted" (then `witness` says by
    which instance) or "undecided". `numbers` are those that decided; `grade` is the kind of the evidence.
    """

    id: str
    statement: str
    source: str
    verdict: str
    summary: str
    numbers: Mapping[str, float]
    grade: str
    witness: str = ""
    kind: str = "ledger"
    versions: Mapping[str, str] = field(default_factory=versions)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-safe data that validates against schema/ledger.json."""
        return {"schema_version": SCHEMA_VERSION, **jsonable(self)}


@dataclass(frozen=True)
class PictureFinding:
    """What a learner shows of some of its outputs on one sample: an illustration, and evidence of nothing.

    `picture` is a `dpaudit.picture.Picture` as JSON-safe data; `n` the examples of the sample, `runs` the outputs.
    """

    picture: Mapping[str, Any]
    n: int
    runs: int
    seed: int
    verdict: str = "drawn"
    kind: str = "picture"
    versions: Mapping[str, str] = field(default_factory=versions)

    def to_dict(self) -> dict[str, Any]:
        """Return the picture as JSON-safe data that validates against schema/picture.json."""
        return {"schema_version": SCHEMA_VERSION, **jsonable(self)}

"""Audit the sensitivity that a function claims: one pair of neighbours whose outputs are farther apart refutes it."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from inspect import signature
from typing import Any, Protocol, TypeGuard, TypeVar

from dpaudit import seeding
from dpaudit.arguments import read_number
from dpaudit.contract import Pair, Relation
from dpaudit.errors import InputError, withholding
from dpaudit.neighbours.own_data.units import GivenUnit
from dpaudit.neighbours.own_data.value_bounds import GivenBounds
from dpaudit.outputs.canonical import Raised
from dpaudit.results import remembering
from dpaudit.running.passing import generator_lacks, with_generator
from dpaudit.running.warning_counts import gathered
from dpaudit.sensitivity.finding import Moved, RecordedFinding, SensitivityFinding, verdict_of
from dpaudit.sensitivity.metrics import METRICS, Distance, GivenSensitivity, read_metric, read_sensitivity
from dpaudit.sensitivity.recording import same
from dpaudit.sensitivity.replayed_noise import REPEATS, ReplayedMechanism, Run, inputs_of, replayed_finding
from dpaudit.sensitivity.search import Moves, Search, pairs_and_moves

# Characters of an output that are shown.
SHOWN = 200


class Transformation(Protocol):
    """A transformation of OpenDP, as far as it is used."""

    input_metric: Hashable
    output_metric: Hashable

    def invoke(self, data: Any, /) -> Any:
        """Return the output on a dataset."""

    def map(self, distance: int, /) -> GivenSensitivity | tuple[GivenSensitivity, ...]:
        """Return how far apart outputs may be whose inputs have a distance."""


# A function of a dataset, a mechanism of a dataset and a generator, or a transformation of OpenDP.
Audited = Callable[..., Any] | Transformation
# The distance of the outputs of both inputs of a pair, and the outputs.
_Outputs = tuple[Distance, tuple[Any, Any]]
_Input = TypeVar("_Input")


@dataclass
class _Function:
    """A deterministic function, called on copies of the inputs; `calls` counts, `raised` is its first exception."""

    function: Callable[[Any], Any]
    metric: str
    calls: int = 0
    raised: str = ""

    def __call__(self, data: Any) -> Any:
        """Return the output on an input, or what was raised."""
        self.calls += 1
        try:
            return self.function(data)
        # Of the function, and of any type: the pair shows nothing.
        except Exception as error:
            found = Raised(error)
            self.raised = self.raised or found.words
            return found

    def measure(self, pair: Pair) -> _Outputs | None:
        """Return the outputs on a pair; None if one of them is an exception."""
        first, second = map(self, inputs_of(pair))
        if isinstance(first, Raised) or isinstance(second, Raised):
            return None
        return METRICS[self.metric](first, second), (first, second)


@remembering
def audit_sensitivity(
    f: Audited,
    pairs: Sequence[Pair | tuple[_Input, _Input]] | None = None,
    *,
    data: _Input | None = None,
    claim: GivenSensitivity | None = None,
    metric: str | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    bounds: GivenBounds | None = None,
    unit: GivenUnit | None = None,
    relation: Relation | str | None = None,
    outside: bool = True,
    include_data: bool = False,
    seed: int = 0,
) -> SensitivityFinding | RecordedFinding:
    r"""Test the sensitivity of a function, or those that a mechanism relies on, without noise and without chance.

    The claim of a function is that for all neighbours S, S' its outputs are at most so far apart,
    :math:`d(f(S), f(S')) \le \Delta`. It is called on both inputs of each pair. Of a mechanism the values that noise is
    added to are compared in its place: its noise is recorded on one input and replayed on the other (`recording`). One
    pair with a larger distance is a proof that the claim is wrong, and is stated as it was tried. That none was found
    proves nothing of other pairs: the verdict is "not refuted".

    Parameters
    ----------
    f : callable or OpenDP transformation
        ``(data) -> output``: a query, the value that noise is added to. Or ``(data, rng) -> output``, a mechanism; one
        that takes `data` alone and is random by itself is recorded too. The generator is passed as by `audit_privacy`.
    pairs : sequence of (data, neighbour) or Pair, optional
        Neighbouring inputs.
    data : dataset, optional
        One dataset in the place of pairs: `neighbours_of` makes them, and a local search varies the best one.
    claim : int, Fraction, float or str, optional
        The sensitivity; a text such as "1/3" is exact. Of a transformation it is that of its own map by default, of a
        mechanism what its primitives declare, as those of diffprivlib do.
    metric : {"absolute", "l1", "l2", "linf", "hamming", "symmetric"}, optional
        The metric of outputs; a transformation's own by default, else "absolute". Of dictionaries, Series and frames
        the first four compare numbers by key, and one that is missing is 0. "hamming" counts the places of a list that
        differ, "symmetric" the elements that two multisets do not share.
    epsilon, delta : float, optional
        The claim of privacy of a mechanism: it is refuted if a noisy value that is released, and that nothing
        random precedes, loses more by itself.
    bounds, unit, outside : optional
        Of `data`, as for `neighbours_of`.
    relation : Relation or str, optional
        What neighbours are; ADD_REMOVE_ONE where `data` is given.
    include_data : bool
        Whether the finding may show inputs and outputs of pairs that were made from data, and distances as they are;
        by default these are rounded down to a claim or a bound that was given.
    seed : int
        The root seed of the search.

    Returns
    -------
    SensitivityFinding or RecordedFinding
        The second of a mechanism. What is compared is compared as fractions, so that a distance is exact; it is stored
        as a float, rounded down. Between floats that are no integers a billionth of the claim counts as rounding.

    Raises
    ------
    InputError
        For a bad argument; if the function is not deterministic, raises an exception on all pairs, or returns what the
        metric does not compare.

    Examples
    --------
    >>> def clipped_mean(data):
    ...     return sum(min(max(x, 0), 1) for x in data) / max(1, len(data))
    >>> finding = audit_sensitivity(clipped_mean, data=[0.2, 0.5, 0.9], bounds=(0, 1), claim="1/3")
    >>> finding.verdict, finding.distance
    ('violation', 1.0)
    """
    seed = seeding.check_seed(seed)
    given, stated, moves = pairs_and_moves(
        pairs, data, relation, bounds=bounds, unit=unit, outside=outside, include_data=include_data, seed=seed
    )
    hidden = any(pair.withheld for pair in given)
    # A warning of the function may quote a record.
    with withholding(hidden), gathered() if hidden else nullcontext():
        run = _as_run(f, given[0])
        if run is None:
            for name, value in (("epsilon", epsilon), ("delta", delta)):
                if value is not None:
                    text = "{" + name + "} is a claim of a mechanism with noise; {f} is deterministic: give {claim}"
                    raise InputError(text, names=(name, "f", "claim"))
            return _of_function(f, given, stated, moves, claim, metric)
        declared = None if claim is None else read_sensitivity(claim)
        if metric is not None:
            metric = read_metric(metric)
        if epsilon is not None:
            epsilon = read_number("epsilon", epsilon, 0, math.inf, closed=True)
        delta = 0.0 if delta is None else read_number("delta", delta, 0, 1, closed=True)
        mechanism = ReplayedMechanism(run, seed, declared, metric)
        return replayed_finding(mechanism, given, moves, stated, epsilon, delta)


def _of_function(
    f: Audited,
    given: list[Pair],
    relation: Relation | None,
    moves: Moves | None,
    claim: GivenSensitivity | None,
    metric: str | None,
) -> SensitivityFinding:
    function, declared, own_metric = _read(f, relation)
    if claim is None:
        claim = declared
    if claim is None:
        raise InputError("{claim} must be given: the sensitivity of the function", names=("claim",))
    sensitivity = read_sensitivity(claim)
    called = _Function(function, read_metric(metric or own_metric))
    search = Search(called.measure, lambda found: found[0].lower)
    best = search.farthest(given, moves, lambda found: found[0].exceeds(sensitivity), lambda: called.raised)
    assert best is not None
    pair, (distance, outputs) = best
    if distance.exceeds(sensitivity):
        # If further calls give other outputs, the distance is that of noise.
        for _ in range(REPEATS):
            again = called.measure(pair)
            if again is None or not same(again[1], outputs):
                text = "{f} must be deterministic, or a mechanism (data, rng): two calls on one input differ"
                raise InputError(text, names=("f",))
    return _finding(best, search, called, sensitivity, relation)


def _finding(
    best: tuple[Pair, _Outputs],
    search: Search[_Outputs],
    called: _Function,
    sensitivity: Fraction,
    relation: Relation | None,
) -> SensitivityFinding:
    pair, (distance, outputs) = best
    refuted = distance.exceeds(sensitivity)
    claimed = float(sensitivity)
    if pair.withheld:
        shown_distance = pair.sides[0].coarse.least(distance.lower, claimed)
        shown_outputs = None
    else:
        shown_distance = distance.lower
        shown_outputs = (f"{outputs[0]!r:.{SHOWN}}", f"{outputs[1]!r:.{SHOWN}}")
    why_infinite = ""
    if search.infinite is not None:
        why_infinite = search.infinite[1][0].why
    return SensitivityFinding(
        verdict=verdict_of(refuted, search.moved > 0),
        sensitivity=claimed,
        metric=called.metric,  # type: ignore[arg-type]  # one of METRICS
        distance=shown_distance,
        infinite=why_infinite,
        rounded=distance.rounded,
        pairs=search.tried,
        moved=search.moved,
        refused=search.refused,
        raised=called.raised,
        calls=called.calls,
        relation=relation,
        witness=Moved.of(pair, shown_outputs),
    )


def _as_run(f: Audited, pair: Pair) -> Run | None:
    """Return a mechanism ``(data, rng) -> output``; None for a function, whose calls on one input are equal."""
    if hasattr(f, "invoke"):  # of OpenDP: a measurement has no output metric
        if hasattr(f, "output_metric"):
            return None
        return lambda data, rng: f.invoke(data)
    if not callable(f):
        raise InputError.of("f", f, "a function (data) -> output, (data, rng) -> output, or a transformation of OpenDP")
    # A function that can be called with the data alone is one without noise, or has randomness of its own: two calls
    # tell which.
    try:
        signature(f).bind(None)
    # Some built-ins have no signature; none of them takes a generator.
    except ValueError:
        return None
    except TypeError:
        called = with_generator(f, name="f")
        if not generator_lacks(called):
            return called
    plain = _Function(f, "absolute")
    first, second = (plain(inputs_of(pair)[0]) for _ in range(2))
    if same(first, second):
        return None
    return with_generator(f, name="f")


# The metrics of OpenDP's outputs, by the beginning of their text.
_OPENDP_METRICS = {
    "AbsoluteDistance": "absolute",
    "L1Distance": "l1",
    "L2Distance": "l2",
    "LInfDistance": "linf",
    "L01InfDistance": "l1",
    "HammingDistance": "hamming",
    "ChangeOneDistance": "hamming",
    "SymmetricDistance": "symmetric",
    "InsertDeleteDistance": "symmetric",
}


def _is_transformation(f: Audited) -> TypeGuard[Transformation]:
    return hasattr(f, "output_metric")


def _read(f: Audited, relation: Relation | None) -> tuple[Callable[[Any], Any], GivenSensitivity | None, str]:
    """Return the function, the sensitivity that it declares, if it does, and the metric of its outputs."""
    if not _is_transformation(f):
        assert callable(f)
        return f, None, "absolute"
    name = str(f.output_metric).partition("(")[0]
    changes = str(f.input_metric).startswith(("ChangeOne", "Hamming"))
    if relation is Relation.ADD_REMOVE_ONE and changes:
        text = "{relation} must be replace-one: the transformation's inputs are at {given}"
        raise InputError(text, names=("relation",), given=str(f.input_metric))
    distance = 1
    # A record goes, and another one comes.
    if relation is Relation.REPLACE_ONE and not changes:
        distance = 2
    if name not in _OPENDP_METRICS:
        raise InputError.of("f", str(f.output_metric), f"a transformation to one of {', '.join(_OPENDP_METRICS)}")
    declared = f.map(distance)
    # Of three metrics at once: the L0, the L1 and the L-infinity distance.
    if isinstance(declared, tuple):
        declared = declared[1]
    return f.invoke, declared, _OPENDP_METRICS[name]

"""Audit the sensitivity that a function claims: one pair of neighbours whose outputs are farther apart refutes it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from inspect import signature
from typing import Any

from dpaudit import seeding
from dpaudit.arguments import read_number
from dpaudit.contract import Pair, PrivacyVerdict, Relation
from dpaudit.errors import InputError, withholding
from dpaudit.outputs.canonical import Raised
from dpaudit.results import remembering
from dpaudit.running.passing import generator_lacks, with_generator
from dpaudit.running.warned import gathered
from dpaudit.sensitivity.finding import Counterexample, Moved, RecordedFinding, SensitivityFinding
from dpaudit.sensitivity.metrics import METRICS, Distance, read_metric, read_sensitivity
from dpaudit.sensitivity.recorded import REPEATS, RecordedMechanism, Run, inputs_of, recorded_finding
from dpaudit.sensitivity.recording import same
from dpaudit.sensitivity.search import Moves, Search, pairs_and_moves

SHOWN = 200
"""Characters of an output that are shown."""


_Outputs = tuple[Distance, tuple[Any, Any]]
"""The distance of the outputs of both inputs of a pair, and the outputs."""


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
        except Exception as error:  # of the function: the pair shows nothing
            found = Raised(error)
            self.raised = self.raised or found.words
            return found

    def measure(self, pair: Pair) -> _Outputs | None:
        """Return the outputs on a pair; None where one of them is an exception."""
        first, second = map(self, inputs_of(pair))
        if isinstance(first, Raised) or isinstance(second, Raised):
            return None
        return METRICS[self.metric](first, second), (first, second)


@remembering
def audit_sensitivity(
    f: Any,
    pairs: Sequence[Any] | None = None,
    *,
    data: Any = None,
    claim: Any = None,
    metric: str | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    bounds: Any = None,
    unit: Any = None,
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
        The claim of privacy of a mechanism: it is refuted where a noisy value that is released, and that nothing
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
    given, known, moves = pairs_and_moves(
        pairs, data, relation, bounds=bounds, unit=unit, outside=outside, include_data=include_data, seed=seed
    )
    hidden = any(pair.withheld for pair in given)
    with withholding(hidden), gathered() if hidden else nullcontext():
        if (run := _as_run(f, given[0])) is not None:
            declared = None if claim is None else read_sensitivity(claim)
            metric = None if metric is None else read_metric(metric)
            epsilon = None if epsilon is None else read_number("epsilon", epsilon, 0, math.inf, closed=True)
            delta = 0.0 if delta is None else read_number("delta", delta, 0, 1, closed=True)
            mechanism = RecordedMechanism(run, seed, declared, metric)
            return recorded_finding(mechanism, given, moves, known, epsilon, delta)
        for name, value in (("epsilon", epsilon), ("delta", delta)):
            if value is not None:
                text = "{" + name + "} is a claim of a mechanism with noise; {f} is deterministic: give {claim}"
                raise InputError(text, names=(name, "f", "claim"))
        return _of_function(f, given, known, moves, claim, metric)


def _of_function(
    f: Any, given: list[Pair], known: Relation | None, moves: Moves | None, claim: Any, metric: str | None
) -> SensitivityFinding:
    function, declared, own_metric = _read(f, known)
    if claim is None and declared is None:
        raise InputError("{claim} must be given: the sensitivity of the function", names=("claim",))
    sensitivity = read_sensitivity(declared if claim is None else claim)
    called = _Function(function, read_metric(metric or own_metric))
    search = Search(called.measure, lambda found: found[0].lower)
    best = search.farthest(given, moves, lambda found: found[0].exceeds(sensitivity), lambda: called.raised)
    assert best is not None
    if best[1][0].exceeds(sensitivity):
        for _ in range(REPEATS):  # if further calls give other outputs, the distance is that of noise
            again = called.measure(best[0])
            if again is None or not same(again[1], best[1][1]):
                text = "{f} must be deterministic, or a mechanism (data, rng): two calls on one input differ"
                raise InputError(text, names=("f",))
    return _finding(best, search, called, sensitivity, known)


def _finding(
    best: tuple[Pair, _Outputs],
    search: Search[_Outputs],
    called: _Function,
    sensitivity: Fraction,
    relation: Relation | None,
) -> SensitivityFinding:
    pair, (distance, outputs) = best
    refuted = distance.exceeds(sensitivity)
    hidden, claimed = pair.withheld, float(sensitivity)
    infinite = search.infinite
    first, second = (f"{output!r:.{SHOWN}}" for output in outputs)
    verdict = PrivacyVerdict.NOT_REFUTED if search.moved else PrivacyVerdict.NO_EVIDENCE
    if refuted:
        verdict = PrivacyVerdict.VIOLATION
    finding = SensitivityFinding(
        verdict=verdict,
        sensitivity=claimed,
        metric=called.metric,  # type: ignore[arg-type]  # one of METRICS
        distance=pair.sides[0].coarse.least(distance.lower, claimed) if hidden else distance.lower,
        infinite=infinite[1][0].why if infinite else "",
        rounded=distance.rounded,
        pairs=search.tried,
        moved=search.moved,
        refused=search.refused,
        raised=called.raised,
        calls=called.calls,
        relation=relation,
        witness=Moved.of(pair, None if hidden else (first, second)),
    )
    if hidden or not refuted:
        return finding
    inputs = pair.data, pair.neighbour
    counterexample = Counterexample(inputs, outputs, "", called.metric, sensitivity, distance)
    SensitivityFinding.counterexample.note(finding, counterexample)
    return finding


def _as_run(f: Any, pair: Pair) -> Run | None:
    """Return a mechanism ``(data, rng) -> output``; None for a function, whose calls on one input are equal."""
    if hasattr(f, "invoke"):  # of OpenDP: a measurement has no output metric
        return None if hasattr(f, "output_metric") else lambda data, rng: f.invoke(data)
    if not callable(f):
        raise InputError.of("f", f, "a function (data) -> output, (data, rng) -> output, or a transformation of OpenDP")
    try:
        signature(f).bind(None)
    except ValueError:  # some built-ins have none; none of them takes a generator
        return None
    except TypeError:
        called = with_generator(f, name="f")
        if not generator_lacks(called):
            return called
    plain = _Function(f, "absolute")
    first, second = (plain(inputs_of(pair)[0]) for _ in range(2))
    return None if same(first, second) else with_generator(f, name="f")


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


def _read(f: Any, relation: Relation | None) -> tuple[Callable[[Any], Any], Any, str]:
    """Return the function, the sensitivity that it declares, if it does, and the metric of its outputs."""
    if not hasattr(f, "output_metric"):
        return f, None, "absolute"
    name = str(f.output_metric).partition("(")[0]
    changes = str(f.input_metric).startswith(("ChangeOne", "Hamming"))
    if relation is Relation.ADD_REMOVE_ONE and changes:
        text = "{relation} must be replace-one: the transformation's inputs are at {given}"
        raise InputError(text, names=("relation",), given=str(f.input_metric))
    distance = 1 if changes or relation is not Relation.REPLACE_ONE else 2
    if name not in _OPENDP_METRICS:
        raise InputError.of("f", str(f.output_metric), f"a transformation to one of {', '.join(_OPENDP_METRICS)}")
    declared = f.map(distance)
    # That of three metrics at once: the L0, the L1 and the L-infinity distance.
    return f.invoke, declared[1] if isinstance(declared, tuple) else declared, _OPENDP_METRICS[name]

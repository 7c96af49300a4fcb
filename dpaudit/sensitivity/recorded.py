"""Audit a mechanism by its recorded noise: how far one record moves the values that noise is added to."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.bounds.tangent import gaussian_delta
from dpaudit.contract import MadePair, Pair, PrivacyVerdict, Relation
from dpaudit.errors import InputError
from dpaudit.outputs.canonical import Raised
from dpaudit.sensitivity.finding import Counterexample, Moved, NoiseMove, RecordedFinding
from dpaudit.sensitivity.metrics import METRICS, ROUNDING, Distance
from dpaudit.sensitivity.recording import Recording, Value, as_numbers, plain_output, same
from dpaudit.sensitivity.search import Moves, Search
from dpaudit.sensitivity.tracing import Primitive
from dpaudit.withheld import Coarse

REPEATS = 24
"""Further calls or replays on each input of a pair that must agree before a distance is a proof. Of random answers, of
which one comes in three of four calls, they agree on both inputs with probability (9 / 16)^24, one in a million."""
Run = Callable[[Any, np.random.Generator], Any]


@dataclass(frozen=True)
class ValueMove:
    """The move of a value that noise is added to, to `other`; `ratio` is its size in units of what should hide it."""

    value: Value
    other: Any
    primitive: Primitive
    metric: str
    distance: Distance
    declared: Fraction | None

    @property
    def ratio(self) -> float:
        """The distance in units of the declared sensitivity, else of the scale; as it is where neither is known."""
        scale = float(self.declared) if self.declared else self.scale
        return self.distance.lower / scale if scale else self.distance.lower

    @property
    def scale(self) -> float | None:
        """The scale of the noise as it was added."""
        known, factor = self.primitive.scale, self.value.factor
        return None if known is None or factor is None else known * factor

    @property
    def exceeds(self) -> bool:
        """Whether the value moved by more than the declared sensitivity."""
        return self.declared is not None and self.distance.exceeds(self.declared)


@dataclass(frozen=True)
class PairMoves:
    """The moves of all values with noise on a pair, and whether the output differs though all of these are equal."""

    moves: tuple[ValueMove, ...]
    beside: bool
    outputs: tuple[Any, Any]
    recorded: Recording

    @property
    def of_noise(self) -> tuple[ValueMove, ...]:
        """The moves of values of noise: of none that more was added to, nor of a centre of 0 on both inputs."""
        known = ((one, one.value) for one in self.moves if not one.value.partial)
        return tuple(one for one, it in known if not it.given or np.any(it.value) or np.any(one.other))

    @property
    def size(self) -> float:
        """The farthest move of a value, in units of what should hide it."""
        return max((move.ratio for move in self.of_noise), default=0.0)


class RecordedMechanism:
    """A mechanism of which each pair takes two runs.

    `declared` is the claimed sensitivity of all values in a metric, where one is given.
    """

    def __init__(self, run: Run, seed: int, declared: Fraction | None = None, metric: str | None = None) -> None:
        self.run, self.seed, self.declared, self.metric = run, seed, declared, metric
        self.runs = self.diverged = self.flow_diverged = self.untraced = 0
        self.beside = False
        self.why_diverged = self.raised = ""
        self.seen: dict[tuple[str, int], set[Any]] = {}
        """The scales and the declared sensitivities by the place where noise is added, on all pairs."""

    def recorded(self, data: Any) -> tuple[Recording, Any]:
        """Return the recording of a run, and its output."""
        record = Recording(self.seed)
        with record.recorded():
            output = self._output(record, data)
        return record, output

    def replayed(self, record: Recording, data: Any) -> tuple[Recording, Any]:
        """Return the replay of a recording on another input, and its output; `diverged` says if it is not one."""
        output = None
        with record.replay() as again:
            output = self._output(again, data)
        return again, output

    def _output(self, record: Recording, data: Any) -> Any:
        self.runs += 1
        try:
            return plain_output(self.run(data, record.rng))
        except Exception as error:  # an output like any other, as in audits
            found = Raised(error)
            self.raised = self.raised or found.words
            return found

    def steady(self, pair: Pair) -> bool:
        """Return whether runs on one input have the same values and outputs where their recorded noise is the same.

        Otherwise something random is not recorded, and moves of values say nothing.
        """
        for side in (0, 1):
            record, output = self.recorded(inputs_of(pair)[side])
            if isinstance(output, Raised):
                continue
            for _ in range(REPEATS):
                again, other = self.replayed(record, inputs_of(pair)[side])
                values = [[value.value for value in one.values] for one in (record, again)]
                if again.diverged or not same(output, other) or not same(*values):
                    return False
        return True

    def measure(self, pair: Pair) -> PairMoves | None:
        """Return what a pair moves; None where a run raises an exception, or the runs draw differently."""
        data, neighbour = inputs_of(pair)
        record, first = self.recorded(data)
        again, second = self.replayed(record, neighbour)
        raised = [isinstance(output, Raised) for output in (first, second)]
        if all(raised):
            return None
        if any(raised):  # if on the data alone, the replay may have ended earlier, at a draw
            self.beside = True
            return PairMoves((), True, (first, second), record)
        self.untraced += len(record.untraced)
        if not again.diverged and len(again.draws) < len(record.draws):
            again.flow = True
            again.diverged = f"on the neighbour {record.draws[len(again.draws)].primitive.name} is not called"
        if not again.diverged and len(again.values) < len(record.values):
            again.diverged = "on the neighbour noise is added to fewer values"
        if again.diverged:
            self.diverged += 1
            self.flow_diverged += again.flow
            self.why_diverged = self.why_diverged or again.diverged
            return None
        moves = tuple(
            self._move(replace(one, partial=one.partial and not stands_in(first, one.noisy)), other, record, first)
            for one, other in zip(record.values, again.values, strict=True)
        )
        for move in moves:
            for i, number in enumerate((move.scale, move.declared)):
                self.seen.setdefault((move.value.place, i), set()).add(number)
        self.beside |= (beside := not same(first, second))
        return PairMoves(moves, beside, (first, second), record)

    def _move(self, one: Value, other: Value, record: Recording, output: Any) -> ValueMove:
        primitive = record.draws[one.draws[0]].primitive
        # What is not released need not be hidden as a whole: noisy maxima use one of its numbers.
        whole = self.declared is not None or stands_in(output, one.noisy)
        metric = self.metric or ((primitive.metric or "l1") if whole else "linf")
        several = np.size(one.value) > 1 if not isinstance(one.value, Mapping) else len(one.value) > 1
        declared = self.declared
        if declared is not None and self.metric is None and several:
            text = "{metric} must be given: noise is added to {count} numbers at once at {place}: l1, l2 or linf"
            raise InputError(text, names=("metric",), count=np.size(one.value), place=one.place)
        if declared is None and primitive.sensitivity is not None:
            declared = Fraction(primitive.sensitivity)
        return ValueMove(one, other.value, primitive, metric, METRICS[metric](one.value, other.value), declared)


def inputs_of(pair: Pair) -> tuple[Any, Any]:
    """Return the inputs of a pair, of their own for each use: a mechanism may change them."""
    if isinstance(pair, MadePair):  # whose inputs are built for each use
        return pair.data, pair.neighbour
    return copy.deepcopy(pair.data), copy.deepcopy(pair.neighbour)


def stands_in(output: Any, noisy: Any) -> bool:
    """Return whether a noisy value stands in an output as it is."""
    output, noisy = as_numbers(output), as_numbers(noisy)
    if isinstance(noisy, np.ndarray):
        if isinstance(output, np.ndarray) or hasattr(output, "to_numpy"):
            return bool(np.array_equal(np.asarray(output), noisy))
    elif isinstance(output, int | float | np.number) and isinstance(noisy, int | float | np.number):
        return bool(output == noisy)
    parts: Sequence[Any] = ()
    if isinstance(output, Mapping):
        parts = list(output.values())
    elif isinstance(output, list | tuple):
        parts = output
    elif isinstance(output, np.ndarray) and output.ndim and np.ndim(noisy) == 0:
        return bool(np.any(output == noisy))
    return any(stands_in(part, noisy) for part in parts)


def loss_alone(move: ValueMove, found: PairMoves, delta: float) -> float | None:
    """Return epsilon of a noisy value alone at delta, rounded down; None unless it is released and nothing precedes it.

    Laplace noise of scale b loses d / b at delta 0, and 2 ln of (1 - delta) less of it at delta > 0: from
    delta(eps) = 1 - exp((eps - d / b) / 2). Gaussian noise loses by the profile of Gaussian differential privacy.
    """
    draw = found.recorded.draws[move.value.draws[0]]
    alone = move.value.draws == (0,) and np.shape(draw.output) == np.shape(move.value.value)
    if not alone or not stands_in(
        found.outputs[0], move.value.noisy
    ):  # one draw for several numbers does not hide how they differ
        return None
    if move.primitive.loss is not None:
        return loss_of_map(move, delta)
    if move.scale is None or np.ndim(move.value.value) > 1:
        return None
    # The metric of the noise, whichever the claim is stated in.
    metric = "l2" if move.primitive.family == "gaussian" else "l1"
    ratio = METRICS[metric](move.value.value, move.other).lower / move.scale
    if move.primitive.family == "laplace" and (np.ndim(move.value.value) == 0 or delta == 0):
        return max(0.0, ratio + 2 * math.log1p(-delta))
    if move.primitive.family == "gaussian" and delta > 0 and math.isfinite(ratio):
        return _gaussian_epsilon(ratio, delta)
    return math.inf if math.isinf(ratio) else None


def _gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the least epsilon of mu-Gaussian privacy at delta, rounded down."""
    if not mu:
        return 0.0
    high = 1.0
    while gaussian_delta(mu, high) > delta:
        high *= 2
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(mu, middle) > delta else (low, middle)
    return low


def loss_of_map(move: ValueMove, delta: float) -> float | None:
    """Return what a measurement's own map says of the distance; None where it says no pure epsilon."""
    assert move.primitive.loss is not None
    if delta or not isinstance(move.distance.power, Fraction):
        return math.inf if move.distance.power == math.inf else None
    whole = move.distance.power.denominator == 1
    try:
        loss = move.primitive.loss(int(move.distance.lower) if whole else move.distance.lower)
    except Exception:  # of a library: the distance is none that its map takes
        return None
    return float(loss) if isinstance(loss, int | float) else None


def recorded_finding(
    mechanism: RecordedMechanism,
    pairs: Sequence[Pair],
    moves: Moves | None,
    relation: Relation | None,
    epsilon: float | None,
    delta: float,
) -> RecordedFinding:
    """Return what the pair shows on which recorded values move farthest, after a search for it."""
    unseen: tuple[str, ...] = ()
    steady = True
    for pair in pairs:  # the first on which a run returns shows what is added to no known value
        record, output = mechanism.recorded(inputs_of(pair)[0])
        if not isinstance(output, Raised):
            drawn = ((one.primitive.name, one.place) for one in record.untraced)
            unseen = tuple(dict.fromkeys(f"{name} ({place})" if place else name for name, place in drawn))
            steady = mechanism.steady(pair)
            break

    def refutes(found: PairMoves) -> bool:
        return any(move.exceeds or _over(loss_alone(move, found, delta), epsilon) for move in found.of_noise)

    search = Search(mechanism.measure, lambda found: found.size)
    best = search.farthest(pairs, moves, refutes, lambda: "" if mechanism.diverged else mechanism.raised)
    diverged = mechanism.diverged
    if best is not None and refutes(best[1]):
        steady = steady and mechanism.steady(best[0])
    if not steady:
        unseen, best = (*unseen, "randomness that is not recorded: replays on one input differ"), None
    return _finding(mechanism, search, best, unseen, relation, epsilon, delta, diverged)


def _over(loss: float | None, epsilon: float | None) -> bool:
    """Return whether the loss of a value alone is more than the claim."""
    return loss is not None and epsilon is not None and loss > epsilon * (1 + float(ROUNDING))


def _finding(
    mechanism: RecordedMechanism,
    search: Search[PairMoves],
    best: tuple[Pair, PairMoves] | None,
    unseen: tuple[str, ...],
    relation: Relation | None,
    epsilon: float | None,
    delta: float,
    diverged: int,
) -> RecordedFinding:
    pair, shown = best or (None, PairMoves((), False, (None, None), Recording()))
    found = shown.of_noise
    losses = [loss_alone(move, shown, delta) for move in found]
    over = [_over(loss, epsilon) for loss in losses]
    wrong = [move.exceeds for move in found]
    refuted = any(wrong) or any(over)
    tested = bool(found) and (epsilon is not None or any(move.declared is not None for move in found))
    order = sorted(range(len(found)), key=lambda i: (not (wrong[i] or over[i]), -found[i].ratio))
    coarse = pair.sides[0].coarse if pair is not None and pair.withheld else None
    claims = [float(one) for one in (epsilon, mechanism.declared) if one is not None]
    verdict = PrivacyVerdict.NOT_REFUTED if tested else PrivacyVerdict.NO_EVIDENCE
    if refuted:
        verdict = PrivacyVerdict.VIOLATION
    finding = RecordedFinding(
        verdict=verdict,
        epsilon=epsilon,
        delta=delta,
        moves=tuple(_shown_move(found[i], losses[i], coarse, claims, mechanism.seen) for i in order),
        wrong_sensitivity=any(wrong),
        wrong_epsilon=any(over),
        not_covered=unseen,
        reused=tuple(dict.fromkeys(value.place for value in shown.recorded.reused)),
        beside=mechanism.beside,
        pairs=search.tried,
        moved=search.moved,
        refused=search.refused - diverged,
        diverged=diverged,
        why_diverged=mechanism.why_diverged,
        raised=mechanism.raised,
        runs=mechanism.runs,
        relation=relation,
        witness=None if pair is None else Moved.of(pair),
    )
    first = next((move for move in found if move.exceeds), None)
    if pair is None or pair.withheld or first is None or first.declared is None:
        return finding
    values = first.value.value, first.other
    found_at = Counterexample(
        (pair.data, pair.neighbour), values, first.value.place, first.metric, first.declared, first.distance
    )
    RecordedFinding.counterexample.note(finding, found_at)
    return finding


def _shown_move(
    move: ValueMove, loss: float | None, coarse: Coarse | None, claims: Sequence[float], seen: Mapping[Any, set[Any]]
) -> NoiseMove:
    """Return the move as findings have it; of people's data with what is coarse of its numbers, or what was claimed."""
    scale, declared, distance = move.scale, None if move.declared is None else float(move.declared), move.distance.lower
    if coarse is not None:
        # What is the same on all pairs is no record's, as each record is missing from some.
        scale, declared = (
            one if len(seen[move.value.place, i]) == 1 else None for i, one in enumerate((scale, declared))
        )
        exact, distance = distance, coarse.least(distance, *claims)
        if loss is not None and (scale is None or exact != distance):
            loss = coarse.least(loss, *claims)
    return NoiseMove(
        primitive=move.primitive.name,
        place=move.value.place,
        scale=scale,
        declared=declared,
        metric=move.metric,  # type: ignore[arg-type]  # one of METRICS
        distance=distance,
        loss=loss,
    )

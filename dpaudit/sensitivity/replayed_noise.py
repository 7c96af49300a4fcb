"""Audit a mechanism by replaying its noise: how far one record moves the values that noise is added to."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.bounds.tangent import gaussian_delta
from dpaudit.contract import MadePair, Pair, Relation
from dpaudit.errors import InputError
from dpaudit.outputs.canonical import Raised
from dpaudit.sensitivity.finding import Moved, NoiseMove, RecordedFinding, verdict_of
from dpaudit.sensitivity.metrics import METRICS, ROUNDING, Distance
from dpaudit.sensitivity.recording import Draw, Recording, Value, as_numbers, plain_output, same
from dpaudit.sensitivity.search import Moves, Search
from dpaudit.sensitivity.tracing import Primitive
from dpaudit.withheld import Coarse

# Further calls or replays on each input of a pair that must agree before a distance is a proof. If one of several
# random answers comes in three of four calls, they agree on both inputs with probability (9 / 16)^24, one in a
# million.
REPEATS = 24
# Runs a mechanism on its input, with a generator.
Run = Callable[[Any, np.random.Generator], Any]


@dataclass(frozen=True)
class ValueMove:
    """The move of a value that noise is added to, to `other`; `ratio` is its size in units of what should hide it."""

    value: Value
    other: ArrayLike
    primitive: Primitive
    metric: str
    distance: Distance
    declared: Fraction | None

    @property
    def ratio(self) -> float:
        """The distance in units of the declared sensitivity, else of the scale; as it is if neither is known."""
        if self.declared:
            return self.distance.lower / float(self.declared)
        if self.scale:
            return self.distance.lower / self.scale
        return self.distance.lower

    @property
    def scale(self) -> float | None:
        """The scale of the noise as it was added."""
        if self.primitive.scale is None or self.value.factor is None:
            return None
        return self.primitive.scale * self.value.factor

    @property
    def exceeds(self) -> bool:
        """Whether the value moved by more than the declared sensitivity."""
        return self.declared is not None and self.distance.exceeds(self.declared)


@dataclass(frozen=True)
class PairMoves:
    """The moves of all values with noise on a pair, and whether the output differs though all of these are equal."""

    moves: tuple[ValueMove, ...]
    elsewhere: bool
    outputs: tuple[Any, Any]
    recorded: Recording

    @property
    def of_noise(self) -> tuple[ValueMove, ...]:
        """The moves of values that noise was added to at last, but for centres of 0 on both inputs."""
        last = (move for move in self.moves if not move.value.partial)
        return tuple(move for move in last if not move.value.given or np.any(move.value.value) or np.any(move.other))

    @property
    def size(self) -> float:
        """The farthest move of a value, in units of what should hide it."""
        return max((move.ratio for move in self.of_noise), default=0.0)


class ReplayedMechanism:
    """A mechanism that is run twice for each pair: its noise is recorded on one input and replayed on the other.

    `declared` is the claimed sensitivity of all values in a metric, if one is given.
    """

    def __init__(self, run: Run, seed: int, declared: Fraction | None = None, metric: str | None = None) -> None:
        self.run = run
        self.seed = seed
        self.declared = declared
        self.metric = metric
        self.runs = 0
        self.diverged = 0
        self.flow_diverged = 0
        self.untraced = 0
        self.elsewhere = False
        self.why_diverged = ""
        self.raised = ""
        self.scales: dict[str, set[float | None]] = {}
        """The scales by the place where noise is added, on all pairs."""
        self.declared_at: dict[str, set[Fraction | None]] = {}
        """The declared sensitivities by that place."""

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
        # An output like any other, as in audits by runs.
        except Exception as error:
            found = Raised(error)
            self.raised = self.raised or found.words
            return found

    def steady(self, pair: Pair) -> bool:
        """Return whether runs on one input have the same values and outputs if their recorded noise is the same.

        Otherwise something random is not recorded, and moves of values say nothing.
        """
        for side in (0, 1):
            record, output = self.recorded(inputs_of(pair)[side])
            # A run that raised has no values to compare, and may have ended before its draws.
            if isinstance(output, Raised):
                continue
            for _ in range(REPEATS):
                again, other = self.replayed(record, inputs_of(pair)[side])
                values = [value.value for value in record.values]
                if (
                    again.diverged
                    or not same(output, other)
                    or not same(values, [value.value for value in again.values])
                ):
                    return False
        return True

    def measure(self, pair: Pair) -> PairMoves | None:
        """Return what a pair moves; None if a run raises an exception, or the runs draw differently."""
        data, neighbour = inputs_of(pair)
        record, first = self.recorded(data)
        again, second = self.replayed(record, neighbour)
        if isinstance(first, Raised) and isinstance(second, Raised):
            return None
        if isinstance(first, Raised) or isinstance(second, Raised):
            # If on the data alone, the replay may have ended earlier, at a draw.
            self.elsewhere = True
            return PairMoves((), True, (first, second), record)
        self.untraced += len(record.untraced)
        _compare_lengths(record, again)
        # Values are compared one by one: after another order of draws no two of them belong together.
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
            self.scales.setdefault(move.value.place, set()).add(move.scale)
            self.declared_at.setdefault(move.value.place, set()).add(move.declared)
        elsewhere = not same(first, second)
        self.elsewhere |= elsewhere
        return PairMoves(moves, elsewhere, (first, second), record)

    def _move(self, one: Value, other: Value, record: Recording, output: Any) -> ValueMove:
        primitive = record.draws[one.draws[0]].primitive
        # What is not released need not be hidden as a whole: noisy maxima use one of its numbers.
        whole = self.declared is not None or stands_in(output, one.noisy)
        metric = self.metric
        # The user's metric first, then the one that the noise is calibrated to; of what is used in part, the largest
        # change of one number.
        if metric is None and whole:
            metric = primitive.metric or "l1"
        elif metric is None:
            metric = "linf"
        several = np.size(one.value) > 1
        if isinstance(one.value, Mapping):
            several = len(one.value) > 1
        declared = self.declared
        # A sensitivity without a metric means the same in all of them for one number alone.
        if declared is not None and self.metric is None and several:
            text = "{metric} must be given: noise is added to {count} numbers at once at {place}: l1, l2 or linf"
            raise InputError(text, names=("metric",), count=np.size(one.value), place=one.place)
        if declared is None and primitive.sensitivity is not None:
            declared = Fraction(primitive.sensitivity)
        return ValueMove(one, other.value, primitive, metric, METRICS[metric](one.value, other.value), declared)


def _compare_lengths(record: Recording, again: Recording) -> None:
    """Note in a replay that it ended before the recording did."""
    if again.diverged:
        return
    if len(again.draws) < len(record.draws):
        again.flow = True
        again.diverged = f"on the neighbour {record.draws[len(again.draws)].primitive.name} is not called"
    elif len(again.values) < len(record.values):
        again.diverged = "on the neighbour noise is added to fewer values"


def inputs_of(pair: Pair) -> tuple[Any, Any]:
    """Return the inputs of a pair, of their own for each use: a mechanism may change them."""
    # Its inputs are built for each use.
    if isinstance(pair, MadePair):
        return pair.data, pair.neighbour
    return copy.deepcopy(pair.data), copy.deepcopy(pair.neighbour)


def stands_in(output: Any, noisy: ArrayLike) -> bool:
    """Return whether a noisy value stands in an output as it is."""
    output = as_numbers(output)
    noisy = as_numbers(noisy)
    if isinstance(noisy, np.ndarray):
        if isinstance(output, np.ndarray) or hasattr(output, "to_numpy"):
            return bool(np.array_equal(np.asarray(output), noisy))
    elif isinstance(output, int | float | np.number) and isinstance(noisy, int | float | np.number):
        return bool(output == noisy)
    # A value that is released under a name, or among others, is released all the same.
    if isinstance(output, Mapping):
        return any(stands_in(part, noisy) for part in output.values())
    if isinstance(output, list | tuple):
        return any(stands_in(part, noisy) for part in output)
    if isinstance(output, np.ndarray) and output.ndim and np.ndim(noisy) == 0:
        return bool(np.any(output == noisy))
    return False


def loss_alone(move: ValueMove, found: PairMoves, delta: float) -> float | None:
    """Return epsilon of a noisy value alone at delta, rounded down; None unless it is released and nothing precedes it.

    Laplace noise of scale b loses d / b at delta 0, and 2 ln of (1 - delta) less of it at delta > 0: from
    delta(eps) = 1 - exp((eps - d / b) / 2). Gaussian noise loses by the profile of Gaussian differential privacy.
    """
    draw = found.recorded.draws[move.value.draws[0]]
    # One draw for several numbers does not hide how they differ.
    alone = move.value.draws == (0,) and np.shape(draw.output) == np.shape(move.value.value)
    if not alone or not stands_in(found.outputs[0], move.value.noisy):
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
    # Delta falls in epsilon: the first end where it is small enough, then bisection. The lower end is returned, at
    # which delta is still exceeded, so that the loss is never overstated.
    high = 1.0
    while gaussian_delta(mu, high) > delta:
        high *= 2
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        if gaussian_delta(mu, middle) > delta:
            low = middle
        else:
            high = middle
    return low


def loss_of_map(move: ValueMove, delta: float) -> float | None:
    """Return what a measurement's own map says of the distance; None if it says no pure epsilon."""
    assert move.primitive.loss is not None
    if delta or not isinstance(move.distance.power, Fraction):
        return math.inf if move.distance.power == math.inf else None
    distance = move.distance.lower
    # Maps of measurements on integers take no float.
    if move.distance.power.denominator == 1:
        distance = int(distance)
    try:
        loss = move.primitive.loss(distance)
    # Of a library, and of any type: the distance is none that its map takes.
    except Exception:
        return None
    if isinstance(loss, int | float):
        return float(loss)
    return None


def replayed_finding(
    mechanism: ReplayedMechanism,
    pairs: Sequence[Pair],
    moves: Moves | None,
    relation: Relation | None,
    epsilon: float | None,
    delta: float,
) -> RecordedFinding:
    """Return what the pair shows on which recorded values move farthest, after a search for it."""
    unseen: tuple[str, ...] = ()
    steady = True
    # The first on which a run returns shows what is added to no known value.
    for pair in pairs:
        record, output = mechanism.recorded(inputs_of(pair)[0])
        if not isinstance(output, Raised):
            unseen = tuple(dict.fromkeys(map(_title, record.untraced)))
            steady = mechanism.steady(pair)
            break

    def refutes(found: PairMoves) -> bool:
        return any(move.exceeds or _over(loss_alone(move, found, delta), epsilon) for move in found.of_noise)

    search = Search(mechanism.measure, lambda found: found.size)

    def why_none() -> str:
        return "" if mechanism.diverged else mechanism.raised

    best = search.farthest(pairs, moves, refutes, why_none)
    # Before further replays, which may diverge too and are of no further pair.
    diverged = mechanism.diverged
    if best is not None and refutes(best[1]):
        # What refutes must be no chance: the pair it was found on is replayed as well.
        steady = steady and mechanism.steady(best[0])
    if not steady:
        unseen = (*unseen, "randomness that is not recorded: replays on one input differ")
        best = None
    return _finding(mechanism, search, best, unseen, relation, epsilon, delta, diverged)


def _title(draw: Draw) -> str:
    """Return the name of a draw with its place, if that is known."""
    return f"{draw.primitive.name} ({draw.place})" if draw.place else draw.primitive.name


def _over(loss: float | None, epsilon: float | None) -> bool:
    """Return whether the loss of a value alone is more than the claim."""
    return loss is not None and epsilon is not None and loss > epsilon * (1 + float(ROUNDING))


def _finding(
    mechanism: ReplayedMechanism,
    search: Search[PairMoves],
    best: tuple[Pair, PairMoves] | None,
    unseen: tuple[str, ...],
    relation: Relation | None,
    epsilon: float | None,
    delta: float,
    diverged: int,
) -> RecordedFinding:
    pair: Pair | None = None
    shown = PairMoves((), False, (None, None), Recording())
    if best is not None:
        pair, shown = best
    found = shown.of_noise
    losses = [loss_alone(move, shown, delta) for move in found]
    over = [_over(loss, epsilon) for loss in losses]
    wrong = [move.exceeds for move in found]
    refuted = any(wrong) or any(over)
    tested = bool(found) and (epsilon is not None or any(move.declared is not None for move in found))
    # Those that refute come first, and of equal ones the farthest.
    order = sorted(range(len(found)), key=lambda i: (not (wrong[i] or over[i]), -found[i].ratio))
    coarse = None
    if pair is not None and pair.withheld:
        coarse = pair.sides[0].coarse
    claims = [float(one) for one in (epsilon, mechanism.declared) if one is not None]
    return RecordedFinding(
        verdict=verdict_of(refuted, tested),
        epsilon=epsilon,
        delta=delta,
        moves=tuple(_shown_move(found[i], losses[i], coarse, claims, mechanism) for i in order),
        wrong_sensitivity=any(wrong),
        wrong_epsilon=any(over),
        not_covered=unseen,
        reused=tuple(dict.fromkeys(value.place for value in shown.recorded.reused)),
        beside=mechanism.elsewhere,
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


def _shown_move(
    move: ValueMove, loss: float | None, coarse: Coarse | None, claims: Sequence[float], mechanism: ReplayedMechanism
) -> NoiseMove:
    """Return the move as findings have it; of people's data with what is coarse of its numbers, or what was claimed."""
    scale = move.scale
    declared = None if move.declared is None else float(move.declared)
    distance = move.distance.lower
    if coarse is not None:
        # What is the same on all pairs is no record's, as each record is missing from some.
        if len(mechanism.scales[move.value.place]) > 1:
            scale = None
        if len(mechanism.declared_at[move.value.place]) > 1:
            declared = None
        distance = coarse.least(move.distance.lower, *claims)
        if loss is not None and (scale is None or distance != move.distance.lower):
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

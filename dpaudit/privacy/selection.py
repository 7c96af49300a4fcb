"""Which pair, which direction, which event: all chosen on runs that the verdict never sees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.adapters import Mechanism
from dpaudit.contract import Pair
from dpaudit.distinguish import classifiers
from dpaudit.distinguish.candidates import discrete_labeller, join, scored_labellers
from dpaudit.distinguish.histogram import FORWARD, LabelChoice, LabelEvent, Tally, choose_label_event, tally
from dpaudit.distinguish.labellers import AsTheyAre, Labeller, Ranked
from dpaudit.privacy.sampling import Job, chunk_jobs, run_jobs

__all__ = ["Budget", "ChosenEvent", "Selector"]

PILOT = 512
FIT_ROWS = 100_000
QUICK_ROWS = 10_000
SEARCH_SHARE = 0.3
TRAINING_SHARE = 0.2
FINALISTS = 3

Ratios = Callable[[Pair], Mapping[Any, float] | None]


@dataclass(frozen=True)
class Budget:
    """How the runs on each side are spent: `search` on all pairs together, `training` and `confirmation` on the best.

    They add up to the number of pairs times the trials a pair.
    """

    search: int
    training: int
    confirmation: int

    @classmethod
    def of(cls, trials: int, pairs: int) -> Budget:
        """Split the budget: 30 % search for the pair (none if there is one), then 20 % training, 80 % confirmation."""
        total = trials * pairs
        search = 0 if pairs == 1 else int(SEARCH_SHARE * total)
        training = max(1, int(TRAINING_SHARE * (total - search)))
        return cls(search, training, total - search - training)


@dataclass(frozen=True)
class ChosenEvent:
    """The one event that fresh runs will test, and how much was compared to choose it."""

    pair: int
    direction: str
    labeller: Labeller
    event: LabelEvent
    order: str
    neighbour_mass: float
    compared: int

    @property
    def forward(self) -> bool:
        """Whether the event is the likelier on the pair's first input."""
        return self.direction == FORWARD

    @property
    def distinguisher(self) -> str:
        """What orders the events: the labeller's score or counts, or the learner's own law."""
        return "law" if self.order == "law" else self.labeller.name

    def describe(self) -> str:
        """Return the event in words."""
        edges = getattr(self.labeller, "edges", None)
        if edges is None:
            return str(self.event)
        bins = sorted(v for v in self.event.inside if isinstance(v, int))
        low = f"{edges[bins[0] - 1]:.6g}" if bins and bins[0] > 0 else "-inf"
        high = f"{edges[bins[-1]]:.6g}" if bins and bins[-1] < len(edges) else "inf"
        return f"{self.labeller.name} in [{low}, {high})"


@dataclass(frozen=True)
class _LabelTallies:
    labellers: tuple[Labeller, ...]

    def __call__(self, outputs: Any) -> tuple[Tally, ...]:
        return tuple(tally(labeller(outputs)) for labeller in self.labellers)


def _keep(outputs: Any) -> Any:
    return outputs


class _Candidate:
    """One pair with the labels counted so far on its two sides, by each of its labellers."""

    def __init__(self, index: int, pair: Pair, labellers: list[Labeller], ratio: Mapping[Any, float] | None) -> None:
        self.index, self.pair, self.ratio = index, pair, ratio
        self.phase = 0
        self.relabel(labellers)

    def relabel(self, labellers: list[Labeller]) -> None:
        self.labellers = labellers
        self.tallies: list[tuple[Tally, Tally]] = [(Counter(), Counter()) for _ in labellers]

    def count(self, side: int, tallies: Sequence[Tally]) -> None:
        for mine, counted in zip(self.tallies, tallies, strict=True):
            mine[side].update(counted)


@dataclass(frozen=True)
class Selector:
    """Chooses pair, direction, score and event of a mechanism by successive halving and training.

    Parameters
    ----------
    mechanism : Mechanism
        What is audited.
    delta, gamma : float
        The claim's delta and the error of the confidence bound to come.
    ratios : callable
        Maps a pair to the log-likelihood ratios of outputs by the learner's own law, or None where it has none.
    float_bits : bool
        Whether to look at the bits of floats.
    seed, n_jobs, backend
        As for `sampling.run_jobs`.
    """

    mechanism: Mechanism
    delta: float
    gamma: float
    ratios: Ratios
    float_bits: bool
    seed: int
    n_jobs: int = 1
    backend: str | None = None

    def select(self, pairs: Sequence[Pair], budget: Budget) -> ChosenEvent:
        """Return the event to confirm.

        In each of ceil(log2 pairs) rounds the surviving pairs share an equal part of the search budget; the half with
        the greater expected bound survives. Then the training budget fits scores on the winner, keeps the best three
        on a validation part, and chooses the event.
        """
        pilot = join([o for side in (0, 1) for o in self._raw(pairs[0], 0, side, "pilot", PILOT)])
        discrete, enough = discrete_labeller(pilot)
        shared = [discrete] if discrete else []
        alive = [_Candidate(i, pair, shared, self.ratios(pair)) for i, pair in enumerate(pairs)]
        rounds = math.ceil(math.log2(len(alive))) if len(alive) > 1 else 0
        compared = 0
        for _ in range(rounds):
            self._train(alive, max(1, budget.search // (rounds * len(alive))))
            scored = [(self._choose(c, budget.confirmation)[0], c) for c in alive]
            compared += sum(choice.compared for choice, _ in scored)
            scored.sort(key=lambda item: (-item[0].value, item[1].index))
            alive = [c for _, c in scored[: (len(alive) + 1) // 2]]
        winner = alive[0]
        training = budget.training
        if not enough:
            training -= self._fit(winner, discrete, training, budget.confirmation)
        self._train([winner], training)
        choice, which = self._choose(winner, budget.confirmation)
        other = winner.tallies[which][1 if choice.direction == FORWARD else 0]
        hits = sum(count for label, count in other.items() if choice.event.has(label))
        mass = (hits + 0.5) / (other.total() + 1)
        labeller = winner.labellers[which]
        return ChosenEvent(
            winner.index, choice.direction, labeller, choice.event, choice.order, mass, compared + choice.compared
        )

    def warnings(self, chosen: ChosenEvent) -> tuple[str, ...]:
        """Return what was not tried."""
        if chosen.labeller.monotone and not classifiers.available():
            return ("scikit-learn is not installed (extra `attacks`): boosted and logistic scores were not tried",)
        return ()

    def _choose(self, candidate: _Candidate, confirm: int) -> tuple[LabelChoice, int]:
        """Return the best event of a candidate over its labellers, and which labeller it is of."""
        choices = [
            choose_label_event(
                *sides,
                confirm,
                delta=self.delta,
                gamma=self.gamma,
                monotone=labeller.monotone,
                log_ratio=candidate.ratio if isinstance(labeller, AsTheyAre) else None,
            )
            for labeller, sides in zip(candidate.labellers, candidate.tallies, strict=True)
        ]
        which = max(range(len(choices)), key=lambda i: choices[i].value)
        return choices[which], which

    def _raw(self, pair: Pair, index: int, side: int, phase: str, runs: int) -> list[Any]:
        jobs = chunk_jobs(self.mechanism, pair.neighbour if side else pair.data, (phase, index, side), runs)
        return list(run_jobs(self.mechanism, jobs, _keep, seed=self.seed, n_jobs=self.n_jobs, backend=self.backend))

    def _fit(self, winner: _Candidate, discrete: Labeller | None, training: int, confirm: int) -> int:
        """Fit all scores on part of the training runs, keep the best on a validation part; return the runs used."""
        runs = min(FIT_ROWS, max(1, training // 2))
        sides = [join(self._raw(winner.pair, winner.index, side, "fit", runs)) for side in (0, 1)]
        cut = max(1, runs * 4 // 5)
        found = scored_labellers(
            sides[0][:cut], sides[1][:cut], thorough=True, float_bits=self.float_bits, atoms=discrete is None
        )
        if discrete:
            counts = [tally(discrete(outputs[:cut])) for outputs in sides]
            found.append(Ranked.fit(discrete, counts[0], counts[1]))
        winner.relabel(found)
        for side, outputs in enumerate(sides):
            winner.count(side, _LabelTallies(tuple(winner.labellers))(outputs[cut:]))
        values = [self._value(winner, i, confirm) for i in range(len(winner.labellers))]
        best = sorted(range(len(values)), key=lambda i: (-values[i], i))[:FINALISTS]
        winner.labellers = [winner.labellers[i] for i in best]
        winner.tallies = [winner.tallies[i] for i in best]
        return runs

    def _value(self, candidate: _Candidate, which: int, confirm: int) -> float:
        sides, monotone = candidate.tallies[which], candidate.labellers[which].monotone
        return choose_label_event(*sides, confirm, delta=self.delta, gamma=self.gamma, monotone=monotone).value

    def _train(self, candidates: list[_Candidate], runs: int) -> None:
        """Add `runs` runs on each side to every candidate's counts; one without labellers gets quick scores first."""
        jobs: list[Job] = []
        owners: list[tuple[_Candidate, int]] = []
        for candidate in candidates:
            if not candidate.labellers:
                quick = min(QUICK_ROWS, max(1, runs // 2))
                raw = [join(self._raw(candidate.pair, candidate.index, side, "quick", quick)) for side in (0, 1)]
                candidate.relabel(scored_labellers(*raw, thorough=False, float_bits=self.float_bits))
            for side, data in enumerate((candidate.pair.data, candidate.pair.neighbour)):
                chunk = chunk_jobs(
                    self.mechanism, data, ("select", candidate.index, side, candidate.phase), max(1, runs)
                )
                jobs += chunk
                owners += [(candidate, side)] * len(chunk)
            candidate.phase += 1
        self._count(jobs, owners)

    def _count(self, jobs: list[Job], owners: list[tuple[_Candidate, int]]) -> None:
        """Run jobs that share labellers together, and add what they counted to their owners."""
        start = 0
        while start < len(jobs):
            labellers = owners[start][0].labellers
            stop = next((i for i in range(start, len(jobs)) if owners[i][0].labellers is not labellers), len(jobs))
            counts = run_jobs(
                self.mechanism,
                jobs[start:stop],
                _LabelTallies(tuple(labellers)),
                seed=self.seed,
                n_jobs=self.n_jobs,
                backend=self.backend,
            )
            for (candidate, side), tallies in zip(owners[start:stop], counts, strict=True):
                candidate.count(side, tallies)
            start = stop

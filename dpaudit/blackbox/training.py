"""Counting labels on candidate pairs, and fitting the scores that make labels, on runs that the verdict never sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.adapters import Mechanism
from dpaudit.contract import Pair
from dpaudit.distinguish.candidates import discrete_labeller, join, scored_labellers
from dpaudit.distinguish.discretizers import AsTheyAre, Labeller, Ranked, Scored
from dpaudit.distinguish.features import Flattener
from dpaudit.distinguish.histogram import Tally, separation, tally
from dpaudit.distinguish.selected_event import LabelChoice, LabelFamilies
from dpaudit.sampling import Job, chunk_jobs, run_jobs

__all__ = ["Candidate", "Trainer"]

PILOT = 512
FIT_ROWS = 250_000
FIT_NUMBERS = 8_000_000
"""Numbers a side of each half that are held in memory: outputs of more than 32 numbers get fewer rows."""
WIDTH_ROWS = 16
SCREEN_ROWS = 50_000
SLOW_ROWS = 100_000
"""Runs a side on which slow scores are compared: more would take longer than making them."""
QUICK_ROWS = 10_000
JOIN_ROWS = 125_000
"""Runs a side of each half that say where the bins of a mean of two scores are."""
FINALISTS = 3
LAST = 2
"""Labellers that runs beyond those of the fit are spent on."""
DOUBT, SLOW_DOUBT = 0.75, 2.0
"""How many times more what models promise is marked down where labellers are compared: the events of one are nested and
share their luck, those of different ones do not, and a slow score has more ways to be lucky."""
SLOW_MARGIN = 0.05
"""By which share a slow score must promise more than a quick one."""


@dataclass(frozen=True)
class _LabelTallies:
    """Counts a batch by each labeller, by slow ones only if asked to."""

    labellers: tuple[Labeller, ...]
    slow: bool

    def __call__(self, outputs: Any) -> tuple[Tally, ...]:
        return tuple(
            tally(labeller(outputs)) if self.slow or not labeller.slow else Counter() for labeller in self.labellers
        )


def _keep(outputs: Any) -> Any:
    return outputs


class Candidate:
    """One pair with the labels counted so far on its two sides, by each of its labellers."""

    def __init__(self, index: int, pair: Pair, labellers: list[Labeller]) -> None:
        self.index, self.pair = index, pair
        self.phase = 0
        self._log_ratio: list[Mapping[Any, float] | None] = []
        self.relabel(labellers)

    def log_ratio(self, ratios: Callable[[Pair], Mapping[Any, float] | None]) -> Mapping[Any, float] | None:
        """Return the log-likelihood ratios of outputs by the learner's own law, found out once."""
        if not self._log_ratio:
            self._log_ratio.append(ratios(self.pair))
        return self._log_ratio[0]

    def relabel(self, labellers: list[Labeller]) -> None:
        """Take other labellers and forget all counts."""
        self.labellers = self.tried = labellers
        self.tallies: list[tuple[Tally, Tally]] = [(Counter(), Counter()) for _ in labellers]
        self._slow_left = [SLOW_ROWS, SLOW_ROWS]

    def take_slowly(self, side: int, runs: int) -> bool:
        """Say whether slow labellers count the next runs of a side, and remember them."""
        self._slow_left[side] -= runs
        return self._slow_left[side] + runs > 0

    def count(self, side: int, tallies: Sequence[Tally]) -> None:
        """Add one side's counts by each labeller."""
        for mine, counted in zip(self.tallies, tallies, strict=True):
            mine[side].update(counted)

    def keep(self, which: Sequence[int]) -> None:
        """Drop all labellers but some."""
        self.labellers = [self.labellers[i] for i in which]
        self.tallies = [self.tallies[i] for i in which]


@dataclass(frozen=True)
class Trainer:
    """Makes training runs of a mechanism and says what the best event on a candidate can be expected to give.

    Parameters
    ----------
    mechanism : Mechanism
        What is audited.
    confirm : int
        Fresh runs a side that will confirm.
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
    confirm: int
    delta: float
    gamma: float
    ratios: Callable[[Pair], Mapping[Any, float] | None]
    float_bits: bool
    seed: int
    n_jobs: int = 1
    backend: str | None = None

    def pilot(self, pairs: Sequence[Pair]) -> tuple[Labeller | None, bool]:
        """Look at outputs of up to 8 pairs; see `candidates.discrete_labeller`."""
        some = range(0, len(pairs), -(-len(pairs) // 8))
        runs = PILOT // len(some)
        batches = [batch for i in some for side in (0, 1) for batch in self.raw(pairs[i], i, side, "pilot", runs)]
        return discrete_labeller(join(batches))

    def raw(self, pair: Pair, index: int, side: int, phase: str, runs: int) -> list[Any]:
        """Return the outputs themselves, in batches."""
        jobs = chunk_jobs(self.mechanism, pair.neighbour if side else pair.data, (phase, index, side), runs)
        return list(run_jobs(self.mechanism, jobs, _keep, seed=self.seed, n_jobs=self.n_jobs, backend=self.backend))

    def best(self, candidate: Candidate, *, careful: bool = False) -> tuple[LabelChoice, int]:
        """Return the best event of a candidate over its labellers, and which labeller it is of."""
        choices = self._choices(candidate, careful)
        worth = _worth(candidate, choices)
        which = max(range(len(worth)), key=lambda i: worth[i])
        return choices[which], which

    def _choices(self, candidate: Candidate, careful: bool) -> list[LabelChoice]:
        """Return the best event of each labeller; the careful models say nothing of p - delta."""
        return [
            LabelFamilies.of(
                *tallies,
                ordered=labeller.ordered,
                log_ratio=candidate.log_ratio(self.ratios) if isinstance(labeller, AsTheyAre) else None,
                midpoints=labeller.midpoints,
                careful=careful and self.delta == 0,
            ).best(self.confirm, delta=self.delta, gamma=self.gamma)
            for labeller, tallies in zip(candidate.labellers, candidate.tallies, strict=True)
        ]

    def fit(self, candidate: Candidate, discrete: Labeller | None, training: int) -> int:
        """Fit all scores on one half of the training runs, count the other half; return the runs used.

        Those that do best are then fitted on the other half as well and count the first one, so that every run is news
        to the score that places it, and none only fits. Both scores estimate the same log-likelihood ratio, so they
        share their bins; their mean, which is better than either, is what confirms.
        """
        most = max(1, min(FIT_ROWS, FIT_NUMBERS // self._width(candidate)))
        runs = min(most, max(1, training // 2))
        first = self._both(candidate, "fit", runs)
        found = scored_labellers(*first, thorough=True, float_bits=self.float_bits, atoms=discrete is None)
        if discrete:
            found.append(Ranked.fit(discrete, *(tally(discrete(outputs)) for outputs in first)))
        candidate.relabel(found)
        second = self._both(candidate, "refit", min(most, max(1, training - runs)))
        screen = min(SCREEN_ROWS, max(1, len(second[0]) // 2))
        self._count_raw(candidate, second, 0, screen)
        candidate.keep(self._finalists(candidate))
        self._count_raw(candidate, second, screen, SLOW_ROWS)
        self._count_raw(candidate, second, max(screen, SLOW_ROWS), len(second[0]))
        self._refit(candidate, first, second)
        return runs + len(second[0])

    def _width(self, candidate: Candidate) -> int:
        """Return how many numbers an output has."""
        return max(1, Flattener.fit(self.raw(candidate.pair, candidate.index, 0, "width", WIDTH_ROWS)).width)

    @staticmethod
    def _refit(candidate: Candidate, first: list[Any], second: list[Any]) -> None:
        """Fit the scores of the first half on the second as well, count the first, and put each two scores together."""
        again = [one.refit(*second) if isinstance(one, Scored) else None for one in candidate.labellers]
        for side, outputs in enumerate(first):
            news = [one if one.unfitted else other for one, other in zip(candidate.labellers, again, strict=True)]
            candidate.count(side, [tally(labeller(outputs)) if labeller else Counter() for labeller in news])
        some = [[outputs[:JOIN_ROWS] for outputs in half] for half in (first, second)]
        candidate.labellers = [
            one.joined(other, *some) if other and isinstance(one, Scored) else one
            for one, other in zip(candidate.labellers, again, strict=True)
        ]

    def _both(self, candidate: Candidate, phase: str, runs: int) -> list[Any]:
        return [join(self.raw(candidate.pair, candidate.index, side, phase, runs)) for side in (0, 1)]

    @staticmethod
    def _count_raw(candidate: Candidate, sides: list[Any], start: int, stop: int) -> None:
        """Count some of the outputs of both sides."""
        for side, outputs in enumerate(sides):
            some = outputs[start:stop]
            if len(some):
                slow = candidate.take_slowly(side, len(some))
                candidate.count(side, _LabelTallies(tuple(candidate.labellers), slow)(some))

    def finish(self, candidate: Candidate, runs: int) -> None:
        """Spend the runs that the fit left on the labellers that promise most."""
        if runs <= 0:
            return
        if len(candidate.labellers) > LAST:
            worth = _worth(candidate, self._choices(candidate, careful=True))
            candidate.keep(sorted(range(len(worth)), key=lambda i: worth[i], reverse=True)[:LAST])
        self.train([candidate], runs)

    def _finalists(self, candidate: Candidate) -> list[int]:
        """Return the best labellers by the bound they promise, and by how far they separate the sides on the whole.

        A few validation runs say little about the small events that will matter, so the second criterion, which uses
        every run, keeps weak signals in the race.
        """
        which = range(len(candidate.labellers))
        worth = _worth(candidate, self._choices(candidate, careful=False))
        promised = sorted(which, key=lambda i: worth[i], reverse=True)
        separating = sorted(which, key=lambda i: -separation(*candidate.tallies[i]))
        return list(dict.fromkeys([*promised[:FINALISTS], *separating[:FINALISTS]]))

    def train(self, candidates: Sequence[Candidate], runs: int) -> None:
        """Add `runs` runs on each side to every candidate's counts; one without labellers gets quick scores first."""
        jobs: list[Job] = []
        owners: list[tuple[Candidate, int, bool]] = []
        for candidate in candidates:
            if not candidate.labellers:
                self._fit_quickly(candidate, min(QUICK_ROWS, max(1, runs // 2)))
            for side, data in enumerate((candidate.pair.data, candidate.pair.neighbour)):
                address = ("select", candidate.index, side, candidate.phase)
                chunk = chunk_jobs(self.mechanism, data, address, max(1, runs))
                jobs += chunk
                owners += [(candidate, side, candidate.take_slowly(side, job.size)) for job in chunk]
            candidate.phase += 1
        self._count(jobs, owners)

    def _fit_quickly(self, candidate: Candidate, runs: int) -> None:
        raw = [join(self.raw(candidate.pair, candidate.index, side, "quick", runs)) for side in (0, 1)]
        candidate.relabel(scored_labellers(*raw, thorough=False, float_bits=self.float_bits))

    def _count(self, jobs: list[Job], owners: list[tuple[Candidate, int, bool]]) -> None:
        """Run jobs that share labellers together, and add what they counted to their owners."""
        kinds = [(id(candidate.labellers), slow) for candidate, _, slow in owners]
        start = 0
        while start < len(jobs):
            stop = next((i for i in range(start, len(jobs)) if kinds[i] != kinds[start]), len(jobs))
            counts = run_jobs(
                self.mechanism,
                jobs[start:stop],
                _LabelTallies(tuple(owners[start][0].labellers), owners[start][2]),
                seed=self.seed,
                n_jobs=self.n_jobs,
                backend=self.backend,
            )
            for (candidate, side, _), tallies in zip(owners[start:stop], counts, strict=True):
                candidate.count(side, tallies)
            start = stop


def _worth(candidate: Candidate, choices: Sequence[LabelChoice]) -> list[float]:
    """Return by what labellers are compared: what their events promise, marked down further for comparing."""
    worth = []
    for labeller, choice in zip(candidate.labellers, choices, strict=True):
        doubt, margin = (SLOW_DOUBT, SLOW_MARGIN) if labeller.slow else (DOUBT, 0.0)
        worth.append(choice.value - doubt * choice.doubt - margin * abs(choice.value))
    return worth

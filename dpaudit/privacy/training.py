"""Counting labels on candidate pairs, and fitting the scores that make labels, on runs that the verdict never sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.adapters import Mechanism
from dpaudit.contract import Pair
from dpaudit.distinguish import classifiers
from dpaudit.distinguish.candidates import discrete_labeller, join, scored_labellers
from dpaudit.distinguish.histogram import LabelChoice, Tally, choose_label_event, separation, tally
from dpaudit.distinguish.labellers import AsTheyAre, Labeller, Ranked
from dpaudit.privacy.sampling import Job, chunk_jobs, run_jobs

__all__ = ["Candidate", "Trainer", "untried"]

PILOT = 512
FIT_ROWS = 250_000
QUICK_ROWS = 10_000
FINALISTS = 3
SLOW_MARGIN = 0.05
"""By which share a slow score must promise more than a quick one; it also has more ways to be lucky."""


@dataclass(frozen=True)
class _LabelTallies:
    labellers: tuple[Labeller, ...]

    def __call__(self, outputs: Any) -> tuple[Tally, ...]:
        return tuple(tally(labeller(outputs)) for labeller in self.labellers)


def _keep(outputs: Any) -> Any:
    return outputs


class Candidate:
    """One pair with the labels counted so far on its two sides, by each of its labellers."""

    def __init__(self, index: int, pair: Pair, labellers: list[Labeller]) -> None:
        self.index, self.pair = index, pair
        self.phase = 0
        self.relabel(labellers)

    def relabel(self, labellers: list[Labeller]) -> None:
        """Take other labellers and forget all counts."""
        self.labellers = self.tried = labellers
        self.tallies: list[tuple[Tally, Tally]] = [(Counter(), Counter()) for _ in labellers]

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

    def best(self, candidate: Candidate) -> tuple[LabelChoice, int]:
        """Return the best event of a candidate over its labellers, and which labeller it is of."""
        choices = [self._choice(candidate, which) for which in range(len(candidate.labellers))]
        worth = [
            choice.value - (SLOW_MARGIN * abs(choice.value) if labeller.slow else 0.0)
            for choice, labeller in zip(choices, candidate.labellers, strict=True)
        ]
        which = max(range(len(choices)), key=lambda i: worth[i])
        return choices[which], which

    def _choice(self, candidate: Candidate, which: int) -> LabelChoice:
        labeller = candidate.labellers[which]
        return choose_label_event(
            *candidate.tallies[which],
            self.confirm,
            delta=self.delta,
            gamma=self.gamma,
            monotone=labeller.monotone,
            log_ratio=self.ratios(candidate.pair) if isinstance(labeller, AsTheyAre) else None,
        )

    def fit(self, candidate: Candidate, discrete: Labeller | None, training: int) -> int:
        """Fit all scores on some training runs, keep the best on a validation part; return the runs used."""
        runs = min(FIT_ROWS, max(1, training // 3))
        sides = [join(self.raw(candidate.pair, candidate.index, side, "fit", runs)) for side in (0, 1)]
        cut = max(1, runs * 4 // 5)
        left, right = (outputs[:cut] for outputs in sides)
        found = scored_labellers(left, right, thorough=True, float_bits=self.float_bits, atoms=discrete is None)
        if discrete:
            found.append(Ranked.fit(discrete, tally(discrete(left)), tally(discrete(right))))
        candidate.relabel(found)
        for side, outputs in enumerate(sides):
            # A labeller without a fit has seen nothing yet, so all of these runs are news to it.
            fresh = [tally(labeller(outputs if labeller.unfitted else outputs[cut:])) for labeller in found]
            candidate.count(side, fresh)
        candidate.keep(self._finalists(candidate))
        return runs

    def _finalists(self, candidate: Candidate) -> list[int]:
        """Return the best labellers by the bound they promise, and by how far they separate the sides on the whole.

        A few validation runs say little about the small events that will matter, so the second criterion, which uses
        every run, keeps weak signals in the race.
        """
        which = range(len(candidate.labellers))
        promised = sorted(which, key=lambda i: -self._choice(candidate, i).value)
        separating = sorted(which, key=lambda i: -separation(*candidate.tallies[i]))
        return list(dict.fromkeys([*promised[:FINALISTS], *separating[:FINALISTS]]))

    def train(self, candidates: Sequence[Candidate], runs: int) -> None:
        """Add `runs` runs on each side to every candidate's counts; one without labellers gets quick scores first."""
        jobs: list[Job] = []
        owners: list[tuple[Candidate, int]] = []
        for candidate in candidates:
            if not candidate.labellers:
                self._fit_quickly(candidate, min(QUICK_ROWS, max(1, runs // 2)))
            for side, data in enumerate((candidate.pair.data, candidate.pair.neighbour)):
                address = ("select", candidate.index, side, candidate.phase)
                chunk = chunk_jobs(self.mechanism, data, address, max(1, runs))
                jobs += chunk
                owners += [(candidate, side)] * len(chunk)
            candidate.phase += 1
        self._count(jobs, owners)

    def _fit_quickly(self, candidate: Candidate, runs: int) -> None:
        raw = [join(self.raw(candidate.pair, candidate.index, side, "quick", runs)) for side in (0, 1)]
        candidate.relabel(scored_labellers(*raw, thorough=False, float_bits=self.float_bits))

    def _count(self, jobs: list[Job], owners: list[tuple[Candidate, int]]) -> None:
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


def untried() -> tuple[str, ...]:
    """Return which scores could not be tried on this machine, in words."""
    if classifiers.available():
        return ()
    return ("scikit-learn is not installed (extra `attacks`): boosted and logistic scores were not tried",)

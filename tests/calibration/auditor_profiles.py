"""The trials of a calibration, and how many audits each gets."""

from __future__ import annotations

from dataclasses import dataclass, replace

from auditor_cases import CASES, Case
from auditor_trials import Trial, predicted_bets, predicted_runs, trials_for

from dpaudit.audit.power import LEARNING, LEARNING_OF_BETS

__all__ = ["PROFILES", "Cell", "Profile"]

NOISES = (0.9, 0.7)
SOME = ("geometric", "Gaussian", "Laplace, 4 numbers", "number, None, text, error")
MANY = ("geometric", "response with leak", "Laplace", "bits", "clamped Laplace")
TWO_JOBS = ("geometric", "Laplace, 4 numbers")
LONG = 20_000
"""Cells of more runs a side than this get half of the audits."""


@dataclass(frozen=True)
class Cell:
    """A trial, how many audits of it are made, and under the alternative what its runs are a multiple of.

    Parameters
    ----------
    trial : Trial
        What is audited, and how.
    audits : int
        How many times.
    predicted, factor : int
        Runs a side that detect the leak by a given event, and how many times as many are made; 0 under the null.
    """

    trial: Trial
    audits: int
    predicted: int = 0
    factor: int = 0

    @property
    def key(self) -> str:
        """The name that tells this cell from all others: a stored result stands for it alone."""
        return repr(self)


@dataclass(frozen=True)
class Profile:
    """The amount of work to do.

    Parameters
    ----------
    audits, given, crowded, power : int
        Audits of a cell of true claims, of a cell whose event is given, of one with 32 pairs or two jobs, and of a
        cell of false claims.
    cases : tuple of Case
        The mechanisms.
    every : int
        Every how manieth learner is audited.
    """

    audits: int
    given: int
    crowded: int
    power: int
    cases: tuple[Case, ...]
    every: int = 1

    def cells(self) -> list[Cell]:
        """Return all cells: those under the null first, then those under the alternative."""
        return [*self.null_cells(), *self.alternative_cells()]

    def null_cells(self) -> list[Cell]:
        """Return the cells in which the claim is true."""
        names = [case.name for case in self.cases]
        some, many, parallel = ([n for n in chosen if n in names] for chosen in (SOME, MANY, TWO_JOBS))
        both = ("fixed", "sequential")
        usual = [Trial(n, "boundary", d, 1_000) for d in both for n in names]
        usual += [Trial(n, c, d, 1_000) for c in ("swapped", "no signal") for d in both for n in some]
        crowded = [Trial(n, "boundary", d, 200, pairs=32) for d in both for n in many]
        crowded += [Trial(n, "boundary", d, 1_000, jobs=2) for d in both for n in parallel]
        given = [
            Trial(case.name, c, "given") for c in ("boundary", "wrong sign") for case in self.cases if case.batched
        ]
        amounts = ((usual, self.audits), (crowded, self.crowded), (given, self.given))
        return [Cell(trial, audits) for trials, audits in amounts for trial in trials] + self._enough_noise()

    def _enough_noise(self) -> list[Cell]:
        """Return the cells with full noise and the runs that detect 10 % and 30 % less."""
        wanted = [(case.name, predicted_runs(case, noise)) for case in self.cases for noise in NOISES]
        return [Cell(Trial(name, trials=trials_for(runs)), self._of(runs)) for name, runs in wanted]

    def alternative_cells(self) -> list[Cell]:
        """Return the cells with less noise than the claim needs, and the runs that should detect it."""
        return [cell for case in self.cases for noise in NOISES for cell in self._less_noise(case, noise)]

    def _less_noise(self, case: Case, noise: float) -> list[Cell]:
        runs, bets = predicted_runs(case, noise), predicted_bets(case, noise)
        given = Trial(case.name, "boundary", "given", runs, noise=noise)
        known = Cell(given, self.given if case.batched else self._of(runs), runs, 1)
        found = [known, Cell(replace(given, design="bets given", trials=bets), self._of(bets), bets, 1)]
        for times, of_bets in ((1, 1), (LEARNING, LEARNING_OF_BETS)):
            fixed = replace(given, design="fixed", trials=trials_for(times * runs))
            sequential = replace(given, design="sequential", trials=of_bets * bets)
            found += [Cell(fixed, self._of(runs), runs, times), Cell(sequential, self._of(bets), bets, of_bets)]
        return found

    def _of(self, runs: int) -> int:
        return self.power if runs <= LONG else self.power // 2


QUICK = tuple(c for c in CASES if c.name in ("geometric", "response with leak", "clamped Laplace"))
PROFILES = {"quick": Profile(12, 200, 6, 10, QUICK, every=12), "full": Profile(120, 2_000, 60, 40, CASES)}

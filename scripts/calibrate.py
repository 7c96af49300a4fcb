"""Audit the auditor: how often it accuses the innocent, convicts the guilty, and misses a planted fault.

    python scripts/calibrate.py [--profile quick|full] [--jobs J] [--out docs/calibration.md] [--json PATH]

The table is printed as it is made; `--out` writes it as Markdown and `--json` its numbers. Exit status: 0 if every
promise was kept, 1 if one was broken beyond chance.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

# Many small fits at once: threads inside each would only wait for each other.
os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "calibration"))

from auditor_cases import CASES, Case
from auditor_trials import CONFIDENCE, LEVEL, Trial, predicted_runs, remember_detectable, seeds_of, trials_for
from joblib import Parallel, delayed
from scipy.stats import binom

import dpaudit
from dpaudit.registry import Entry, list_learners
from dpaudit.results import versions
from dpaudit.utility.interval import failure_interval

POWER = 0.95
BROKEN_BEYOND_CHANCE = 1e-3
"""The probability that a run of this script finds a broken promise where all are kept."""
CONTROL_RUNS, CONTROL_CONFIDENCE = 20_000, 0.999
BLOCK = 25


@dataclass(frozen=True)
class Row:
    """A trial, and how many of its audits accused."""

    trial: Trial
    audits: int
    accused: int

    @property
    def case(self) -> str:
        """The trial in words."""
        t = self.trial
        noise = "" if t.noise == 1 else f", {100 * (1 - t.noise):.0f} % less noise"
        pairs = "" if t.pairs == 1 else f", {t.pairs} pairs"
        jobs = "" if t.jobs == 1 else f", {t.jobs} jobs"
        return f"{t.case}, {t.condition}, {t.design}, {t.trials:,} runs{pairs}{jobs}{noise}"

    @property
    def rate(self) -> float:
        """The share of audits that accused."""
        return self.accused / self.audits

    @property
    def interval(self) -> tuple[float, float]:
        """The exact two-sided 95 % interval of the rate."""
        return failure_interval(self.accused, self.audits, 0.95)

    def too_many(self) -> float:
        """Return the one-sided p-value of the rate being at most the level."""
        return float(binom.sf(self.accused - 1, self.audits, LEVEL))

    def too_few(self) -> float:
        """Return the one-sided p-value of the rate being at least the promised power."""
        return float(binom.cdf(self.accused, self.audits, POWER))

    def as_dict(self, level: float) -> dict[str, Any]:
        """Return the numbers for JSON."""
        lower, upper = self.interval
        return {
            "case": self.case,
            "audits": self.audits,
            "accused": self.accused,
            "rate": round(self.rate, 6),
            "lower": round(lower, 6),
            "upper": round(upper, 6),
            "level": round(level, 6),
        }


@dataclass(frozen=True)
class Profile:
    """How much work to do.

    Parameters
    ----------
    audits, given, power : int
        Audits of a cell of true claims, of a cell whose event is given, and of a cell of false claims.
    cases : tuple of Case
        The mechanisms.
    every : int
        Every how manieth learner is audited.
    """

    audits: int
    given: int
    power: int
    cases: tuple[Case, ...]
    every: int = 1

    def innocent(self) -> list[tuple[Trial, int]]:
        """Return the trials in which the claim is true, and how many audits each gets."""
        names = [case.name for case in self.cases]
        some = [n for n in ("geometric", "Gaussian", "Laplace, 4 numbers", "number, None, text, error") if n in names]
        many = [n for n in ("geometric", "response with leak", "Laplace", "bits", "clamped Laplace") if n in names]
        parallel = [n for n in ("geometric", "Laplace, 4 numbers") if n in names]
        trials = [Trial(n, "boundary", design) for design in ("fixed", "sequential") for n in names]
        trials += [Trial(n, "boundary", "strict") for n in many]
        for condition in ("swapped", "no signal"):
            trials += [Trial(n, condition, design) for design in ("fixed", "sequential") for n in some]
        trials += [Trial(n, design=d, pairs=32, trials=1_000) for d in ("fixed", "sequential") for n in many]
        trials += [Trial(n, design=d, jobs=2) for d in ("fixed", "sequential") for n in parallel]
        given = [
            Trial(case.name, c, "given") for c in ("boundary", "wrong sign") for case in self.cases if case.batched
        ]
        return [*((t, self.audits) for t in trials), *((t, self.given) for t in given)]

    def guilty(self) -> list[tuple[Trial, int]]:
        """Return the trials with as many runs as should convict, with full noise, 10 % and 30 % less."""
        found = []
        for case in self.cases:
            for noise in (0.9, 0.7):
                runs = predicted_runs(case, noise)
                given = Trial(case.name, "boundary", "given", runs, noise=noise)
                found.append((given, self.given if case.batched else self.power))
                for design in ("fixed", "sequential"):
                    found.append((replace(given, design=design, trials=trials_for(runs)), self.power))
                found.append((replace(given, design="fixed", trials=trials_for(runs), noise=1.0), self.power))
        return found


QUICK = tuple(c for c in CASES if c.name in ("geometric", "response with leak", "Laplace", "clamped Laplace"))
PROFILES = {"quick": Profile(40, 200, 20, QUICK, every=8), "full": Profile(200, 2_000, 50, CASES)}


def judge(trial: Trial, seeds: Sequence[int]) -> int:
    """Return how many audits of a block accuse."""
    remember_detectable()
    return sum(trial.accused(seeds))


def run(work: Sequence[tuple[Trial, int]], jobs: int) -> Iterator[Row]:
    """Yield a row for each trial, in order; blocks of audits of different trials run side by side."""
    blocks = [
        (trial, seeds_of(trial, number)[start : start + BLOCK])
        for trial, number in work
        for start in range(0, number, BLOCK)
    ]
    # An audit that is to use processes of its own must not be in one.
    outer = Parallel(n_jobs=jobs, return_as="generator")
    results = outer(delayed(judge)(trial, seeds) for trial, seeds in blocks if trial.jobs == 1)
    for trial, number in work:
        count = -(-number // BLOCK)
        if trial.jobs == 1:
            yield Row(trial, number, sum(next(results) for _ in range(count)))
        else:
            yield Row(trial, number, judge(trial, seeds_of(trial, number)))


def control(entry: Entry) -> bool:
    """Say whether the black box convicts a learner's example of breaking its claim."""
    learner = entry.build(**entry.example.parameters)
    finding = dpaudit.audit_privacy(learner, trials=CONTROL_RUNS, confidence=CONTROL_CONFIDENCE)
    return finding.verdict == "violation"


def convictions(jobs: int, every: int) -> tuple[dict[str, bool], dict[str, bool]]:
    """Return by id who is convicted: of the learners that are broken on purpose, and of the sound ones."""
    entries = [entry for entry in list_learners() if entry.fault or entry.claim()][::every]
    found = Parallel(n_jobs=jobs)(delayed(control)(entry) for entry in entries)
    pairs = list(zip(entries, found, strict=True))
    return {e.id: v for e, v in pairs if e.fault}, {e.id: v for e, v in pairs if not e.fault}


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table."""
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(line)} |" for line in lines] + [""]


def innocent_table(rows: Sequence[Row]) -> list[str]:
    head = [
        "outputs",
        "mechanism",
        "condition",
        "design",
        "pairs",
        "jobs",
        "audits",
        "accused",
        "rate",
        "95 % interval",
        "p",
    ]
    return markdown(
        head,
        [
            [
                row.trial.of.kind,
                row.trial.case + (" (delta > 0)" if row.trial.of.delta else ""),
                row.trial.condition,
                row.trial.design,
                str(row.trial.pairs),
                str(row.trial.jobs),
                f"{row.audits:,}",
                str(row.accused),
                f"{row.rate:.4f}",
                "{:.4f} to {:.4f}".format(*row.interval),
                f"{row.too_many():.2g}",
            ]
            for row in rows
        ],
    )


def power_table(rows: Sequence[Row]) -> list[str]:
    """Return one line for each case and noise: the rates of the three designs, and that of full noise."""
    lines = []
    for given, fixed, sequential, full in zip(*[iter(rows)] * 4, strict=True):
        case, noise = given.trial.of, given.trial.noise
        rates = [f"{row.rate:.3f} ({row.audits:,})" for row in (given, fixed, sequential, full)]
        runs = f"{given.trial.trials:,}"
        lines.append([case.name, f"{100 * (1 - noise):.0f} %", f"{case.epsilon_at(noise):.4f}", runs, *rates])
    head = ["mechanism", "noise removed", "true epsilon", "runs a side", "event given", "fixed", "sequential"]
    return markdown([*head, "full noise, fixed"], lines)


@dataclass(frozen=True)
class Outcome:
    """All that was found."""

    profile: str
    innocent: tuple[Row, ...]
    guilty: tuple[Row, ...]
    controls: dict[str, bool]
    sound: dict[str, bool]

    def broken(self) -> list[str]:
        """Return the promises that were broken, in words."""
        given = [row for row in self.guilty if row.trial.design == "given"]
        full = [row for row in self.guilty if row.trial.noise == 1.0]
        least = BROKEN_BEYOND_CHANCE / (len(self.innocent) + len(self.guilty))
        return [
            *(f"accuses too often: {row.case}" for row in [*self.innocent, *full] if row.too_many() < least),
            *(f"convicts too seldom: {row.case}" for row in given if row.too_few() < least),
            *(f"control not convicted: {name}" for name, convicted in self.controls.items() if not convicted),
            *(f"sound learner convicted: {name}" for name, convicted in self.sound.items() if convicted),
        ]

    def as_markdown(self) -> str:
        """Return the page."""
        audits, accused = (sum(getattr(row, name) for row in self.innocent) for name in ("audits", "accused"))
        caught = sum(self.controls.values())
        used = ", ".join(f"{name} {version}" for name, version in versions().items())
        lines = [
            "# How far dpaudit can be trusted",
            "",
            f"Made by `python scripts/calibrate.py --profile {self.profile} --out docs/calibration.md` ({used}).",
            "",
            *SUMMARY.format(
                audits=audits,
                accused=accused,
                rate=accused / audits,
                level=LEVEL,
                worst=max(row.rate for row in self.innocent),
                cells=len(self.innocent),
                caught=caught,
                controls=len(self.controls),
                alarms=sum(self.sound.values()),
                sound=len(self.sound),
                runs=CONTROL_RUNS,
                confidence=CONTROL_CONFIDENCE,
            ).splitlines(),
            *(f"* **Broken**: {text}" for text in self.broken()),
            *INNOCENT.splitlines(),
            *innocent_table(self.innocent),
            *GUILTY.splitlines(),
            *power_table(self.guilty),
            *CONTROLS.splitlines(),
            *markdown(
                ["control", "convicted"], [[f"`{k}`", "yes" if v else "**no**"] for k, v in self.controls.items()]
            ),
        ]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "schema_version": 1,
            "profile": self.profile,
            "level": round(LEVEL, 6),
            "false_accusations": [row.as_dict(LEVEL) for row in self.innocent],
            "power": [{**row.as_dict(LEVEL), "runs": row.trial.trials} for row in self.guilty],
            "mutation": {
                "controls": len(self.controls),
                "convicted": sum(self.controls.values()),
                "missed": [name for name, convicted in self.controls.items() if not convicted],
                "sound": len(self.sound),
                "sound_convicted": [name for name, convicted in self.sound.items() if convicted],
                "trials": CONTROL_RUNS,
                "confidence": CONTROL_CONFIDENCE,
            },
            "broken": self.broken(),
        }


SUMMARY = """\
* **False accusations**: {accused:,} of {audits:,} audits of true claims accuse, {rate:.4f} in all where {level:.2f} is
  allowed, in {cells} cells of which the worst has {worst:.4f}.
* **Missed faults**: {caught} of {controls} learners with a planted leak are convicted at {runs:,} runs a side and
  confidence {confidence}; {alarms} of {sound} sound ones are.
"""
INNOCENT = """
## The innocent: how often a true claim is refuted

Every claim here holds, most of them with equality: "boundary" claims the pair's exact epsilon (at the delta of the
mechanism where it has one), so that any accusation is a false one and nothing is given away; "swapped" is the same with
the two inputs exchanged; "no signal" audits two equal inputs against epsilon = 0; "wrong sign" gives the test an event
that is likelier on the other side than it assumes. Design "given" tests an event fixed in advance, "fixed" and "strict"
choose events on a part of the runs (melded and certified bound), "sequential" bets. An audit accuses by its verdict or
by a lower bound above the truth. The last column is the exact one-sided p-value of the rate being at most 0.05.
"""
GUILTY = """
## The guilty: are leaks found with the runs that are predicted?

The claim is that of full noise, and the mechanism adds less. "Runs a side" is the least number by which
`detectable_epsilon` of the best event comes down to the true epsilon: the test of that event ("event given") should
convict with probability 0.95. The fixed design confirms with that many runs and has a quarter more to find its event;
the sequential one makes as many in all. In brackets is the number of audits. The last column has full noise and the
same runs: there a conviction is a false accusation.
"""
CONTROLS = """
## The planted faults

"""


def report(what: str, rows: Iterator[Row], say: Callable[[str], None]) -> tuple[Row, ...]:
    """Print rows as they come, and return them."""
    say(f"\n{what}\n{'case':78s} {'audits':>7s} {'accused':>8s} {'rate':>7s}  95 % interval")
    found = []
    for row in rows:
        found.append(row)
        low, high = row.interval
        say(f"{row.case:78s} {row.audits:7,d} {row.accused:8,d} {row.rate:7.4f}  {low:.4f} to {high:.4f}")
    return tuple(found)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", choices=PROFILES, default="quick", help="how much work (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="audits side by side, as for joblib (default %(default)s)")
    parser.add_argument("--out", type=Path, metavar="PATH", help="write the page here, as Markdown")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the numbers here")
    options = parser.parse_args(arguments)
    start, profile = time.perf_counter(), PROFILES[options.profile]

    def say(text: str) -> None:
        print(text, flush=True)

    innocent = report("The innocent", run(profile.innocent(), options.jobs), say)
    guilty = report("The guilty", run(profile.guilty(), options.jobs), say)
    outcome = Outcome(options.profile, innocent, guilty, *convictions(options.jobs, profile.every))
    say(f"\ncontrols convicted: {sum(outcome.controls.values())} of {len(outcome.controls)}")
    say(f"sound learners convicted: {sum(outcome.sound.values())} of {len(outcome.sound)}")
    audits, accused = (sum(getattr(row, name) for row in innocent) for name in ("audits", "accused"))
    say(f"{accused:,} of {audits:,} audits of true claims accuse, at level {LEVEL:.2f} (confidence {CONFIDENCE})")
    say("\n".join(outcome.broken()) or "every promise was kept")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(outcome.as_markdown())
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(outcome.as_dict(), indent=1, allow_nan=False) + "\n")
    say(f"{time.perf_counter() - start:.0f} s")
    return int(bool(outcome.broken()))


if __name__ == "__main__":
    sys.exit(main())

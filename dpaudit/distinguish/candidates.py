"""Which labellers are worth trying on a mechanism, decided by what its pilot outputs look like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.distinguish import classifiers
from dpaudit.distinguish.canonical import canonical
from dpaudit.distinguish.discretizers import (
    FEW,
    AsTheyAre,
    Atoms,
    Joint,
    Labeller,
    PackedRows,
    Ranked,
    Scored,
    score_edges,
)
from dpaudit.distinguish.features import GROUPS, Flattener, group_columns
from dpaudit.distinguish.histogram import tally
from dpaudit.distinguish.naive_bayes import NaiveBayes
from dpaudit.distinguish.patterns import Patterns
from dpaudit.jsonable import stable_repr

__all__ = ["discrete_labeller", "join", "scored_labellers"]

Score = Callable[[NDArray[np.float64]], NDArray[np.float64]]
REPEATED = 3
CLASSIFIER_ROWS = 100_000
EDGE_ROWS = 100_000
SLOW_EDGE_ROWS = 25_000


def join(batches: list[Any]) -> Any:
    """Return batches of outputs as one batch: an array if all are arrays that fit together, else a list."""
    if all(isinstance(b, np.ndarray) for b in batches) and len({b.shape[1:] for b in batches}) == 1:
        return np.concatenate(batches)
    return [value for batch in batches for value in batch]


def discrete_labeller(pilot: Any) -> tuple[Labeller | None, bool]:
    """Return a labeller that keeps outputs apart as they are, and whether it is all that is needed.

    Parameters
    ----------
    pilot : batch
        Outputs of both sides.

    Returns
    -------
    Labeller or None
        None where outputs hardly ever repeat.
    bool
        True where labels are few, so that no score could say more than their histogram.
    """
    whole = isinstance(pilot, np.ndarray) and pilot.dtype.kind in "iu"
    if whole and pilot.ndim == 2:
        lows, highs = pilot.min(axis=0), pilot.max(axis=0)
        sizes = tuple(int(v) for v in highs - lows + 1)
        if float(np.prod(np.array(sizes, dtype=np.float64))) < 2**62:
            packed = PackedRows(tuple(int(v) for v in lows), sizes)
            share, kinds = _repeated(packed(pilot).tolist())
            return _verdict(packed, share, kinds)
    share, kinds = _repeated([canonical(value) for value in pilot])
    return _verdict(AsTheyAre(), share, kinds)


def _verdict(labeller: Labeller, share: float, kinds: int) -> tuple[Labeller | None, bool]:
    return (labeller, kinds <= FEW) if share > 0.5 else (None, False)


def _repeated(labels: list[Any]) -> tuple[float, int]:
    """Return the share of runs whose label is repeated, and how many labels there are."""
    counts = Counter(labels)
    return sum(c for c in counts.values() if c >= REPEATED) / max(1, len(labels)), len(counts)


def scored_labellers(
    data: Any, neighbour: Any, *, thorough: bool, float_bits: bool, atoms: bool = True
) -> list[Labeller]:
    """Fit every score that applies, on training outputs of the two sides.

    Parameters
    ----------
    data, neighbour : batch
        Training outputs.
    thorough : bool
        Whether to fit scikit-learn's classifiers too, where outputs have several columns.
    float_bits : bool
        Whether to look at the bits of floats and not only at their values.
    atoms : bool
        Whether repeated outputs are to be told apart; needless where a histogram tells all apart.
    """
    flattener = Flattener.fit([data, neighbour])
    left, right = flattener(data), flattener(neighbour)
    names = group_columns(np.concatenate([left[:5000], right[:5000]]))
    names = [name for name in names if float_bits or name != "float bits"]
    found: list[Labeller] = []
    for groups, score, name in _scores(left, right, names, thorough):
        scored = Scored(flattener, groups, score, np.zeros(0), name)
        rows = len(left) if scored.unfitted else SLOW_EDGE_ROWS if scored.slow else EDGE_ROWS
        pooled = np.concatenate([scored.scores(data[:rows]), scored.scores(neighbour[:rows])])
        found.append(Scored(flattener, groups, score, score_edges(pooled), name))
    for name in ("halves", "summaries"):
        joint = _joint(flattener, name, GROUPS[name](left)) if name in names else None
        found += [joint] if joint else []
    repeated = _atoms(data, neighbour) if atoms else None
    if repeated is None:
        return found
    return [*found, Ranked.fit(repeated, tally(repeated(data)), tally(repeated(neighbour)))]


def _scores(
    left: NDArray[np.float64], right: NDArray[np.float64], names: list[str], thorough: bool
) -> Iterator[tuple[tuple[str, ...], Score | None, str]]:
    if left.shape[1] == 1:
        yield ("values",), None, "value"
    patterns = Patterns.fit(left, right)
    if patterns is not None:
        yield ("values",), patterns, "naive Bayes within patterns of repeated values"
    for name in names:
        sides = GROUPS[name](left), GROUPS[name](right)
        yield (name,), NaiveBayes.fit(*sides), f"naive Bayes on {name}"
        if name in ("values", "differences") and left.shape[1] > 1:
            yield (name,), NaiveBayes.fit(*sides, pooled=True), f"pooled naive Bayes on {name}"
    if thorough and left.shape[1] > 1:
        # Bits would drown the other columns, and the naive score reads them as they are.
        groups = tuple(name for name in names if name != "float bits")
        some = (left[:CLASSIFIER_ROWS], right[:CLASSIFIER_ROWS])
        rows = tuple(np.column_stack([GROUPS[name](side) for name in groups]) for side in some)
        listed = ", ".join(groups)
        yield groups, classifiers.boosting(*rows), f"boosted trees on {listed}"
        yield groups, classifiers.logistic(*rows), f"logistic regression on {listed}"


def _joint(flattener: Flattener, name: str, columns: NDArray[np.float64]) -> Joint | None:
    """Return the joint histogram of a group of few columns with few whole values, or None."""
    if (columns != np.round(columns)).any() or np.abs(columns).max(initial=0) > 2**31:
        return None
    lows, highs = columns.min(axis=0).astype(int), columns.max(axis=0).astype(int)
    rows = PackedRows(tuple(lows.tolist()), tuple((highs - lows + 1).tolist()))
    few = float(np.prod((highs - lows + 1).astype(float))) <= 20 * FEW
    return Joint(flattener, name, rows, f"histogram of {name}") if few else None


def _atoms(data: Any, neighbour: Any) -> Atoms | None:
    """Return a labeller for outputs that repeat among ones that do not, or None if there are none."""
    counts = (
        Counter(canonical(v) for side in (data, neighbour) for v in side[:10_000]) if _hashable(data) else Counter()
    )
    repeated = sorted((label for label, c in counts.items() if c >= 5), key=stable_repr)[:FEW]
    return Atoms({label: i for i, label in enumerate(repeated)}) if repeated else None


def _hashable(outputs: Any) -> bool:
    """Say whether outputs have cheap labels of their own (rows of an array have not)."""
    return not (isinstance(outputs, np.ndarray) and outputs.ndim > 1)

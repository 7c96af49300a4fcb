"""Audit one side of one exhibit: ``python -m museum.audit_one FILE SIDE [--pair]`` prints one line of JSON."""

from __future__ import annotations

import argparse
import importlib
import json
import math
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from dpaudit import PrivacyFinding, Relation, audit_privacy, certificates
from dpaudit.audit import audit as audits
from dpaudit.audit.parameters import Dataset, Look
from dpaudit.report.words.events import event_words
from dpaudit.verify_certificate import verify
from museum.exhibit import Exhibit, read

__all__ = ["audit", "main", "module_of"]

UNRECORDED = "unrecorded"
"""The wrong side, in an audit for which recorded noise does not choose pairs."""
TRIALS = {
    ("wrong", False): 20_000,
    ("right", False): 5_000,
    ("wrong", True): 5_000,
    ("right", True): 5_000,
    (UNRECORDED, False): 20_000,
}
"""Runs on each input, by the side that is audited and whether a pair is given: a limit on runs and none on the time, so
that findings can be made again."""


def module_of(name: str, exhibit: Exhibit, folder: Path) -> ModuleType:
    """Return the code of an exhibit as a module, written to a file so that tracebacks can show it."""
    # A name of its own in the place of the exhibit's, which has hyphens and may be that of a package.
    place = f"exhibit_{name.replace('-', '_')}"
    (folder / f"{place}.py").write_text(f"{exhibit.code}\n{exhibit.pair}", encoding="utf-8")
    sys.path.insert(0, str(folder))
    return importlib.import_module(place)


def audit(module: ModuleType, exhibit: Exhibit, side: str, pair: bool) -> dict[str, Any]:
    """Return what an audit of a side found, as a record."""
    if side == UNRECORDED:
        # Nothing is put back: a process audits one side.
        audits.shortlist_of = lambda request: None
    mechanism = module.right if side == "right" else module.wrong
    dataset = Dataset(module.DATA, bounds=_bounds(exhibit), unit=exhibit.unit)
    relation: str | None = exhibit.relation
    # A pair that differs in all rows of a user is no pair of neighbouring lists: the relation is not checked.
    if pair and exhibit.unit:
        relation = None
    began = time.perf_counter()
    finding = audit_privacy(
        mechanism,
        module.PAIRS if pair else None,
        data=None if pair else dataset,
        epsilon=exhibit.epsilon,
        delta=exhibit.delta,
        relation=relation,
        randomness=exhibit.randomness,
        batched=exhibit.batched,
        look=Look(float_bits=exhibit.float_bits, include_data=not pair),
        trials=TRIALS[side, pair],
        seed=0,
    )
    record = {
        "verdict": str(finding.verdict),
        "epsilon_lower": _number(finding.epsilon_lower),
        "detectable_epsilon": _number(finding.detectable_epsilon),
        "runs": 2 * finding.trials,
        "seconds": round(time.perf_counter() - began, 1),
        "recipe": finding.witness.origin.text,
        "moves": finding.witness.origin.moves,
        "pair": [finding.witness.data, finding.witness.neighbour],
        "event": event_words(finding.witness.event),
        "gaps": [type(gap).__name__ for gap in finding.gaps],
    }
    # A right side is accused wrongly unless a certificate shows the violation.
    if finding.verdict == "violation" and side == "right":
        pairs = module.PAIRS
        if not pair:
            pairs = dataset.pairs(Relation.parse(exhibit.relation), 0)
        record["certificate"] = _certified(finding, pairs, module, exhibit)
    return record


def _bounds(exhibit: Exhibit) -> Any:
    """Return the bounds as audits take them: a pair of numbers is a tuple."""
    bounds: Any = exhibit.bounds
    # A list of pairs, one for each column, stays a list.
    if isinstance(bounds, list) and not any(isinstance(one, tuple) for one in bounds):
        return tuple(bounds)
    return bounds


def _certified(finding: PrivacyFinding, pairs: Sequence[Any], module: ModuleType, exhibit: Exhibit) -> str:
    """Return what the verifier, which knows counts alone, says of the certificate of a right side's violation."""
    try:
        made = certificates.make(
            finding,
            pairs,
            mechanism=module.right,
            name=f"{module.__name__}.py:right",
            shrinks=False,
            batched=exhibit.batched,
            look=Look(float_bits=exhibit.float_bits, include_data=True),
        )
        return verify(json.dumps(made.to_dict()).encode())[1]
    except Exception as error:
        # The record says that there is no certificate, and why.
        return f"none: {type(error).__name__}: {error!s:.300}"


def _number(value: float) -> float | str:
    """Return a number as JSON has it, which knows no infinity."""
    if math.isfinite(value):
        return round(value, 4)
    return str(value)


def main(words: list[str] | None = None) -> int:
    """Audit one side and print the record."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("side", choices=["wrong", "right", UNRECORDED])
    parser.add_argument("--pair", action="store_true", help="give the pair in the place of the data")
    args = parser.parse_args(words)
    exhibit = read(args.file)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        # Of the library, as on features that are not proved; standard output holds the record alone.
        warnings.simplefilter("ignore")
        try:
            module = module_of(args.file.stem, exhibit, Path(folder))
            record = audit(module, exhibit, args.side, args.pair)
        except Exception as error:
            # An exhibit may fail in any way: the record says so, and the traceback goes to standard error.
            traceback.print_exc()
            record = {"verdict": "error", "error": f"{type(error).__name__}: {error!s:.500}"}
    print(json.dumps(record))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

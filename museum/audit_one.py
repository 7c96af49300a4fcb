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
from pathlib import Path
from types import ModuleType
from typing import Any

from dpaudit import PrivacyFinding, audit_privacy, certificates, neighbours_of
from dpaudit.audit import audit as audits
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
    place = f"exhibit_{name.replace('-', '_')}"
    (folder / f"{place}.py").write_text(f"{exhibit.code}\n{exhibit.pair}", encoding="utf-8")
    sys.path.insert(0, str(folder))
    return importlib.import_module(place)


def audit(module: ModuleType, exhibit: Exhibit, side: str, pair: bool) -> dict[str, Any]:
    """Return what an audit of a side found, as a record."""
    running: dict[str, Any] = {"batched": exhibit.batched, "float_bits": exhibit.float_bits}
    of_data: dict[str, Any] = {"bounds": _bounds(exhibit), "unit": exhibit.unit}
    if side == UNRECORDED:
        audits.shortlist_of = lambda request: None  # a process audits one side
    began = time.perf_counter()
    finding = audit_privacy(
        module.right if side == "right" else module.wrong,
        **({"pairs": module.PAIRS} if pair else {"data": module.DATA, "include_data": True, **of_data}),
        epsilon=exhibit.epsilon,
        delta=exhibit.delta,
        relation=None if pair and exhibit.unit else exhibit.relation,  # rows of a user are not checked
        randomness=exhibit.randomness,
        trials=TRIALS[side, pair],
        seed=0,
        **running,
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
    if finding.verdict == "violation" and side == "right":  # an accusation that stands only with a certificate
        pairs = module.PAIRS if pair else neighbours_of(module.DATA, exhibit.relation, **of_data)
        name = f"{module.__name__}.py:{side}"
        record["certificate"] = _certified(finding, pairs, mechanism=module.right, name=name, **running)
    return record


def _bounds(exhibit: Exhibit) -> Any:
    """Return the bounds as audits take them: a pair of numbers is a tuple."""
    bounds: Any = exhibit.bounds
    return tuple(bounds) if isinstance(bounds, list) and not any(isinstance(one, tuple) for one in bounds) else bounds


def _certified(finding: PrivacyFinding, pairs: Any, **running: Any) -> str:
    """Return what the verifier, which knows counts alone, says of the certificate of a violation."""
    try:
        made = certificates.make(finding, pairs, shrinks=False, include_data=True, **running)
        return verify(json.dumps(made.to_dict()).encode())[1]
    except Exception as error:  # the record says that there is no certificate, and why
        return f"none: {type(error).__name__}: {error!s:.300}"


def _number(value: float) -> float | str:
    """Return a number as JSON has it."""
    return round(value, 4) if math.isfinite(value) else str(value)


def main(words: list[str] | None = None) -> int:
    """Audit one side and print the record."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("side", choices=["wrong", "right", UNRECORDED])
    parser.add_argument("--pair", action="store_true", help="give the pair in the place of the data")
    args = parser.parse_args(words)
    exhibit = read(args.file)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the library, as on features that are not proved
        try:
            record = audit(module_of(args.file.stem, exhibit, Path(folder)), exhibit, args.side, args.pair)
        except Exception as error:  # of the exhibit: a record that says so
            traceback.print_exc()
            record = {"verdict": "error", "error": f"{type(error).__name__}: {error!s:.500}"}
    print(json.dumps(record))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

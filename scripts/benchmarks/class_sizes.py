"""Time what claims need of a class, its size and its VC dimension, each in a process of its own.

    python scripts/bench.py class_sizes [--only WORD] [--budget SECONDS]

Of every learner with a class of concepts, at each of its instances and at the larger sizes named here: the seconds of
processor time that `concepts.size` and `concepts.vc_dimension` take where nothing was asked before, and ln|C|. A class
that is not counted says why, and must say so as soon. Exit status: 0 if every one is within the budget, 1 if not.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dpaudit.contract import InputError
from dpaudit.registry import list_learners, load

BENCH = str(Path(__file__).resolve().parents[1] / "bench.py")
COVER = {"epsilon": 1.0, "delta": 1e-6, "alpha": 0.05, "beta": 0.05}
# Sizes at which a class was listed for its size once, and those of theorems.
LARGER: tuple[tuple[str, dict[str, Any]], ...] = (
    ("convex-polytope", {"side": 2, "k": 2, **COVER}),
    ("simplex-select", {"side": 2, "epsilon": 1.0}),
    ("simplex-union", {"side": 1, "k": 2, **COVER}),
    ("polynomial-select", {"side": 4, "degree": 2, "epsilon": 1.0}),
    ("polynomial-select", {"side": 3, "degree": 3, "epsilon": 1.0}),
    ("disc-union", {"side": 10, "k": 2, **COVER}),
    ("disc-union", {"side": 100, "k": 2, **COVER}),
    ("triangle-select", {"side": 4, "epsilon": 1.0}),
    ("convex-polygon", {"side": 4, "k": 3, **COVER}),
    ("convex-polygon", {"side": 6, "k": 2, **COVER}),
    ("polygon-union", {"side": 3, "k": 2, **COVER}),
    ("polygon-union", {"side": 1000, "k": 2, **COVER}),
    ("halfplane-select", {"side": 6, "epsilon": 1.0}),
    ("halfspace-exponential", {"side": 2, "dimension": 3, "epsilon": 1.0}),
    ("halfspace-tukey", {"side": 3, "dimension": 2, "epsilon": 1.0, "subsamples": 200}),
    ("mixture-halfspace", {"dimension": 3, "side": 2, "epsilon": 1.0}),
    ("conjunction-laplace", {"dimension": 60, "epsilon": 1.0, "beta": 0.05}),
    ("parity-private", {"dimension": 63, "epsilon": 1.0}),
    ("box-interior-point", {"side": 2**20, "dimension": 3, "epsilon": 1.0, "beta": 0.05}),
)


def cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the learners and parameters that are measured, without repeats."""
    seen = set()
    for entry in list_learners():
        kind = load().get(entry.id)
        for instance in (kind.instance, *getattr(kind.learner, "audited", ())):
            case = entry.id, dict(instance.parameters)
            if repr(case) not in seen:
                seen.add(repr(case))
                yield case
    yield from LARGER


def asked(identity: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return what a class answers and the seconds that it takes, for size and VC dimension."""
    concepts = getattr(load().get(identity).build(**parameters), "concepts", None)
    found: dict[str, Any] = {"class": str(concepts)}
    for name in ("size", "vc_dimension"):
        start = time.process_time()
        try:
            value = getattr(concepts, name, None)
            answer = "none" if value is None else f"{math.log(value):.4g}" if name == "size" else str(value)
        except InputError as error:
            answer = str(error)
        found[name] = answer, time.process_time() - start
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time sizes and VC dimensions of classes.")
    parser.add_argument("--only", default="", metavar="WORD", help="learners whose id contains a word")
    parser.add_argument("--budget", type=float, default=0.1, metavar="SECONDS", help="of each answer")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.case is not None:
        print(json.dumps(asked(*json.loads(options.case))))
        return 0
    late = 0
    print("learner | class | ln|C| | seconds | VC dimension | seconds")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for case in cases():
        if options.only not in case[0]:
            continue
        command = [sys.executable, BENCH, "class_sizes", "--case", json.dumps(case)]
        done = subprocess.run(command, env=environment, text=True, capture_output=True, check=True)
        found = json.loads(done.stdout)
        (size, first), (dimension, second) = found["size"], found["vc_dimension"]
        late += max(first, second) > options.budget
        print(f"{case[0]} | {found['class']} | {size} | {first:.3f} | {dimension} | {second:.3f}", flush=True)
    return int(late > 0)

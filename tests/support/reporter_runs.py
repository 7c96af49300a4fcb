"""Runs for the tests of the reporters: the small golden one, and variants of it."""

from __future__ import annotations

import copy
import importlib.util
import json
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"


def load_small():
    """Return the stored small run as the engine hands it to a reporter."""
    header, *results = [json.loads(line) for line in (GOLDEN / "run_small.jsonl").read_text().splitlines()]
    return {"header": header, "results": results}


def remake():
    """Return the module that constructs the small run."""
    spec = importlib.util.spec_from_file_location("golden_remake", GOLDEN / "remake.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def only(run, learner, *kinds):
    """Return the run with the results of one learner and of the kinds given (all by default)."""
    chosen = [r for r in run["results"] if r["learner"] == learner and (not kinds or r["kind"] in kinds)]
    return with_results(run, chosen)


def with_results(run, results):
    """Return a deep copy of the run with other results and the plan that goes with them."""
    results = copy.deepcopy(results)
    for i, result in enumerate(results):
        result["index"] = i
    return {"header": {**run["header"], "plan": [r["task"] for r in results]}, "results": results}


def first(run, kind, role=None):
    """Return the first result of a kind (and role), to be changed in place."""
    return next(r for r in run["results"] if r["kind"] == kind and (role is None or r["arguments"].get("role") == role))

"""Auditors of one training on the scores of its canaries: dpaudit, and the others that are installed."""

from __future__ import annotations

import ast
import importlib.util
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.stats
from numpy.typing import NDArray

import dpaudit
from dpaudit.audit.one_run import RankedScores
from dpaudit.bounds.coin import epsilon_lower

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

DELTA = 1e-5


class Auditor(NamedTuple):
    """An auditor: a lower bound on epsilon from scores and coins, and what it assumes."""

    name: str
    bound: Callable[[Floats, Bools, float], float]
    assumes: str = ""


def ours(claim: float) -> Auditor:
    def bound(scores: Floats, coins: Bools, gamma: float) -> float:
        return dpaudit.audit_scores(scores, coins, epsilon=claim, delta=DELTA, confidence=1 - gamma).epsilon_lower

    return Auditor("dpaudit", bound)


def unadjusted(scores: Floats, coins: Bools, gamma: float) -> float:
    """Return the largest bound over all numbers of guesses."""
    numbers = np.arange(1, len(scores) + 1)
    right = np.cumsum(RankedScores.of(scores, coins, None).right["two-sided"])
    return float(epsilon_lower(right, numbers, gamma, delta_runs=len(scores) * DELTA).max())


def installed(meter: Path | None) -> list[Auditor]:
    """Return the other auditors that are here, and say which are not."""
    found = [Auditor("largest, unadjusted", unadjusted)]
    if (module := _jax_privacy()) is not None:

        def one_run(scores: Floats, coins: Bools, gamma: float) -> float:
            return float(module.CanaryScoreAuditor(scores[coins], scores[~coins]).epsilon_one_run(gamma, DELTA))

        def f_dp(scores: Floats, coins: Bools, gamma: float) -> float:
            return float(module.CanaryScoreAuditor(scores[coins], scores[~coins]).epsilon_one_run_fdp(gamma, DELTA))

        found += [Auditor("jax_privacy", one_run), Auditor("jax_privacy f-DP", f_dp, "Gaussian")]
    if (guarded := privacy_guard()) is not None:

        def guard(scores: Floats, coins: Bools, gamma: float) -> float:
            right = int(RankedScores.of(scores, coins, None).right["two-sided"].sum())
            return guarded(len(scores), len(scores), right, gamma, DELTA)

        found.append(Auditor("PrivacyGuard, all guessed", guard, "Gaussian"))
    found += [] if meter is None else [Auditor("ml_privacy_meter, delta 0", _privacy_meter(meter))]
    return found


def _privacy_meter(audit: Path) -> Callable[[Floats, Bools, float], float]:
    """Return the audit in one run of ml_privacy_meter at delta = 0, as its command makes it.

    Of its `audit.py` only three functions are executed, which need no model.
    """
    wanted = ("compute_abstain_attack_results", "get_eps_audit", "p_value_DP_audit")
    tree = ast.parse(audit.read_text())
    tree.body = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name in wanted]
    names: dict[str, Any] = {"np": np, "math": math, "scipy": scipy}
    exec(compile(tree, str(audit), "exec"), names)

    def bound(scores: Floats, coins: Bools, gamma: float) -> float:
        return float(names[wanted[0]](scores, coins.astype(int), p_value=gamma)["eps_opt"])

    return bound


def privacy_guard() -> Callable[[int, int, int, float, float], float] | None:
    """Return the bound of PrivacyGuard by canaries, guesses, right ones, error and delta; None where it is not."""
    try:
        from privacy_guard.analysis.mia.fdp_analysis_node import FDPAnalysisNode
    except ImportError as error:
        print(f"PrivacyGuard was not run: {error}")
        return None

    def bound(m: int, guesses: int, right: int, gamma: float, delta: float) -> float:
        node = FDPAnalysisNode(m=m, c=right, c_cap=guesses, threshold=gamma, delta=delta)
        return float(node.run_analysis().eps)

    return bound


def _jax_privacy() -> Any:
    """Return the module of jax_privacy that audits, without JAX, which the package imports; None where it is not."""
    package = importlib.util.find_spec("jax_privacy")
    if package is None or package.origin is None:
        print("jax_privacy was not run: it is not installed")
        return None
    place = importlib.util.spec_from_file_location("jax_privacy_auditing", Path(package.origin).parent / "auditing.py")
    assert place is not None
    assert place.loader is not None
    module = importlib.util.module_from_spec(place)
    sys.modules[place.name] = module
    try:
        place.loader.exec_module(module)
    except ImportError as error:
        print(f"jax_privacy was not run: {error}")
        return None
    return module

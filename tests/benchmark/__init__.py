"""The mechanisms on which the literature compares auditors, with their exact epsilons and the best possible bounds."""

from __future__ import annotations

from benchmark.registry import BENCHMARKS, Benchmark

__all__ = ["BENCHMARKS", "Benchmark"]

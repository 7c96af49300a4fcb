"""The mechanisms on which the literature compares auditors, with exact epsilons and best possible bounds."""

from __future__ import annotations

from benchmark.registry import BENCHMARKS, Benchmark

__all__ = ["BENCHMARKS", "Benchmark"]

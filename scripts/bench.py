"""Measure what audits find, cost and promise: ``python scripts/bench.py NAME [OPTIONS]``; without a name, list them."""

from __future__ import annotations

import sys

from parts import run

if __name__ == "__main__":
    sys.exit(run("bench.py", "benchmarks", sys.argv[1:]))

"""The benchmarks: `python scripts/bench.py` lists them, and runs one by its name."""

"""The attacks on what dpaudit promises: `python scripts/attack.py` lists them, and makes one by its name."""

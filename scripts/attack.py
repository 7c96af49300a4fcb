"""Attack what dpaudit promises: ``python scripts/attack.py NAME [OPTIONS]``; without a name, list the attacks."""

from __future__ import annotations

import sys

from parts import run

if __name__ == "__main__":
    sys.exit(run("attack.py", "attacks", sys.argv[1:]))

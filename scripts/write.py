"""Write pages, pictures and reports: ``python scripts/write.py NAME [OPTIONS]``; without a name, list the writers."""

from __future__ import annotations

import sys

from parts import run

if __name__ == "__main__":
    sys.exit(run("write.py", "writers", sys.argv[1:]))

"""``python -m dpaudit`` is the command line."""

from __future__ import annotations

import sys

from dpaudit.app import main

if __name__ == "__main__":
    sys.exit(main())

"""E-processes: tests by betting, valid at any stopping time."""

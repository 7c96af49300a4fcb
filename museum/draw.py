"""Draw the exhibits that are kept apart while audits are tuned: ``python -m museum.draw`` moves them to held_out/."""

from __future__ import annotations

import random

from museum.exhibit import exhibits

__all__ = ["SEED", "drawn", "main"]

SEED = 29
SHARE = 3
"""One exhibit in so many is kept apart."""


def drawn(names: list[str]) -> list[str]:
    """Return the names that are kept apart, a third of all, drawn by the seed from the sorted list."""
    # Sorted first: the draw depends on the names alone, and sorted after, as it is read.
    return sorted(random.Random(SEED).sample(sorted(names), len(names) // SHARE))


def main() -> None:
    """Move the files of the exhibits drawn, and those not drawn back."""
    files = exhibits()
    chosen = drawn(list(files))
    for name, path in files.items():
        kept = "held_out" if name in chosen else "exhibits"
        folder = path.parent.parent / kept
        folder.mkdir(exist_ok=True)
        path.rename(folder / path.name)


if __name__ == "__main__":
    main()

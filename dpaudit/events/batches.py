"""Put batches of outputs together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["join"]


def join(batches: Sequence[Any]) -> Any:
    """Return batches of outputs as one batch: an array if all are arrays that fit together, else a list."""
    if all(isinstance(b, np.ndarray) for b in batches) and len({b.shape[1:] for b in batches}) == 1:
        return np.concatenate(batches)
    return [value for batch in batches for value in batch]

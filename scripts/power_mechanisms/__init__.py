"""Mechanisms with a known leak, by kind of output: the rows of the table of power.

The rows of `held_out/` are for the last measurement alone: nobody looks at them, or audits them, while the auditor is
being tuned. `scripts/power_mechanisms/HELD_OUT.sha256` has the digests of its files.
"""

from __future__ import annotations

from power_mechanisms import arrays, containers, counts, floats, integers, models, structures, text, values
from power_mechanisms.row import Row

__all__ = ["OPEN", "Row", "held_out"]

_MODULES = (integers, floats, containers, arrays, text, values, counts, structures, models)

OPEN: tuple[Row, ...] = tuple(row for module in _MODULES for row in module.ROWS)
"""All rows but those that are held out."""


def held_out() -> tuple[Row, ...]:
    """Return the rows that are held out; nothing else imports them."""
    from power_mechanisms.held_out import ROWS

    return ROWS

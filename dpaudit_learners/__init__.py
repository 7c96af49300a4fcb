"""The reference learners in a checkout, where they stand in the folder ``learners``.

An installed package has that folder itself under this name, so that a user's ``learners.py`` and it never meet.
"""

from pathlib import Path

__path__ = [str(Path(__file__).parent.parent / "learners")]

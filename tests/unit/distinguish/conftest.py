"""What tests register is forgotten after them: types of a test's own cannot be sent to the workers of another."""

from __future__ import annotations

import pytest

from dpaudit.distinguish.leaves.parts import REGISTERED


@pytest.fixture(autouse=True)
def _registered_for_this_test_alone():
    kept = dict(REGISTERED)
    yield
    REGISTERED.clear()
    REGISTERED.update(kept)

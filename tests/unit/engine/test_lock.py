"""The lock of a run's folder."""

from __future__ import annotations

import os

from dpaudit.engine import lock


def test_a_lock_that_was_removed_meanwhile_is_not_the_lock(tmp_path, monkeypatch):
    taken = []

    def take(handle, path):
        taken.append(handle)
        if len(taken) == 1:  # its holder ends between our opening and our locking it
            path.unlink()

    monkeypatch.setattr(lock, "_lock", take)
    with lock.held(tmp_path):
        assert os.path.samestat(os.fstat(taken[-1]), (tmp_path / lock.FILENAME).stat())
    assert len(taken) == 2

"""The lock of a run's folder."""

from __future__ import annotations

import errno
import fcntl
import os

import pytest

from dpaudit import files as lock
from dpaudit.errors import InputError


def test_a_lock_that_was_removed_meanwhile_is_not_the_lock(tmp_path, monkeypatch):
    taken, flock = [], fcntl.flock

    def take(handle, operation):
        if operation & fcntl.LOCK_EX:
            taken.append(os.fstat(handle))
            if len(taken) == 1:  # its holder ends between our opening and our locking it
                (tmp_path / lock.FILENAME).unlink()
        return flock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", take)
    with lock.locked_folder(tmp_path):
        assert os.path.samestat(taken[-1], (tmp_path / lock.FILENAME).stat())
    assert len(taken) == 2


def test_a_lock_names_its_holder_to_everybody_who_comes(tmp_path):
    with lock.locked_folder(tmp_path):
        for _ in range(2):
            with pytest.raises(InputError, match=rf"\(process {os.getpid()}\).*choose another out"):
                lock.locked_folder(tmp_path).__enter__()


@pytest.mark.parametrize("contents", [None, "the boss's\n"])
def test_a_lock_that_is_a_symbolic_link_overwrites_nothing(tmp_path, contents):
    target = tmp_path / "target"
    if contents is not None:
        target.write_text(contents)
    (tmp_path / lock.FILENAME).symlink_to(target)
    with pytest.raises(InputError, match=r"run\.lock is a symbolic link.*remove it"), lock.locked_folder(tmp_path):
        pass
    assert (target.read_text() if target.exists() else None) == contents
    assert (tmp_path / lock.FILENAME).is_symlink()


@pytest.mark.parametrize("error", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_where_a_file_system_has_no_locks_runs_go_on_without(tmp_path, monkeypatch, error):
    def refuse(handle, operation):
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with lock.locked_folder(tmp_path):
        pass
    assert not (tmp_path / lock.FILENAME).exists()


def test_a_lock_that_fails_for_another_reason_is_told(tmp_path, monkeypatch):
    def refuse(handle, operation):
        raise OSError(errno.EIO, "disk on fire")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OSError, match="disk on fire"), lock.locked_folder(tmp_path):
        pass


def test_a_full_disk_names_the_file_of_the_lock(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(lock.os, "write", full)
    with (
        pytest.raises(OSError, match=f"No space left on device: '{tmp_path / lock.FILENAME}'"),
        lock.locked_folder(tmp_path),
    ):
        raise AssertionError("it is not held")

"""Bounds the memory of a process by what is free, where the system sets such limits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

__all__ = ["bound_memory"]

FREE = 0.8
"""Of the memory that is free: others are to go on where a process takes all it gets."""
MEMORY, OWN, GROUPS = Path("/proc/meminfo"), Path("/proc/self/statm"), Path("/sys/fs/cgroup")
"""The files in which Linux tells of the memory: of the machine, of this process, and of its container."""
IN_GROUP = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))


def bound_memory() -> None:
    """Let this process take no more memory than is free now; beyond it Python raises `MemoryError`."""
    with suppress(ImportError, ValueError, OSError):  # Windows has no limits; macOS knows this one and refuses it
        import resource

        held = int(OWN.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_DATA, (min([int(FREE * min(_free())) + held, *known]), hard))


def _free() -> Iterator[int]:
    """Yield what is free on the machine, and in a container what is left of its share."""
    told = dict(line.split(":", 1) for line in MEMORY.read_text().splitlines())
    yield 1024 * int(told["MemAvailable"].split()[0])
    for most, used in IN_GROUP:
        with suppress(ValueError, OSError):  # "max", or another kind of groups
            yield max(0, int((GROUPS / most).read_text()) - int((GROUPS / used).read_text()))

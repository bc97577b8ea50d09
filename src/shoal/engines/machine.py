"""How much memory this process may use: the machine's, or less where a control group says so."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath


def half_of_memory() -> int | None:
    """Half of the memory that this process may use in bytes, None where the system does not say."""
    limits = [*_of_machine(), *of_control_groups(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))]
    return min(limits) // 2 if limits else None


def _of_machine() -> Iterator[int]:
    with contextlib.suppress(AttributeError, ValueError, OSError):
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def of_control_groups(membership: Path, root: Path) -> Iterator[int]:
    """The limits of the groups that a process is in: its own and all above, since each counts.

    `membership` lists the groups, one a line as `number:controllers:path`. A line without
    controllers is of version 2, where all share one tree under `root`.
    """
    try:
        lines = membership.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if not controllers:
            tree, name = root, "memory.max"
        elif "memory" in controllers.split(","):
            tree, name = root / "memory", "memory.limit_in_bytes"
        else:
            continue
        path = PurePosixPath(group.lstrip("/"))
        for folder in (path, *path.parents):
            with contextlib.suppress(OSError, ValueError):
                yield int((tree / folder / name).read_text(encoding="ascii"))

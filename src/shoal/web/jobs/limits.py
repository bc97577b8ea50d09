"""How much memory and time a worker takes, and what is said of one that takes too much."""

from __future__ import annotations

import os
from pathlib import Path

from shoal.errors import ShoalError

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(pid: int) -> int:
    """The bytes of memory of a process; 0 where it has ended, or the system does not say."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * PAGE


def resident_with_children(pid: int) -> int:
    """The bytes of memory of a process and of all that it has started, such as Spark's Java."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        children = []
    return resident(pid) + sum(resident_with_children(int(child)) for child in children)


def too_large() -> ShoalError:
    """The job needed more memory than the server allows."""
    return ShoalError(
        "the job needed more memory than this server allows; nothing was released",
        code="job-too-large",
        hint="use fewer quasi-identifiers or a coarser `from` level, or ask the administrator",
    )


def too_long(seconds: float) -> ShoalError:
    """The job took longer than the server allows."""
    return ShoalError(
        f"the job took longer than the {seconds:,.0f} s that this server allows;"
        " nothing was released",
        code="job-too-long",
        hint="give the search a `time limit`, or ask the administrator",
    )


def crashed() -> ShoalError:
    """The worker ended without a word: the system killed it, or a library crashed."""
    return ShoalError(
        "the job's process ended unexpectedly; nothing was released",
        code="job-crashed",
        hint="start it again; if it happens again, tell the administrator",
    )


def lost() -> ShoalError:
    """The server ended while the job was running, and it is not to be run again."""
    return ShoalError(
        "the server was restarted while the job was running; nothing was released",
        code="job-interrupted",
        hint="start it again",
    )


def cancelled() -> ShoalError:
    """The user cancelled the job."""
    return ShoalError("the job was cancelled; nothing was released", code="job-cancelled")

"""This process: how much memory it may use, and long calls that Ctrl-C can stop."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar


def half_of_memory() -> int | None:
    """Half of the memory that this process may use in bytes, None where the system does not say.

    The variable SHOAL_MEMORY, in bytes, limits it further: a server gives it to its workers.
    """
    limits = [
        *_of_environment(),
        *_of_machine(),
        *_of_control_groups(),
    ]
    return min(limits) // 2 if limits else None


@functools.cache
def _of_control_groups() -> tuple[int, ...]:
    """The limits of the groups of this process, read once: a release asks several times."""
    return tuple(of_control_groups(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")))


def _of_environment() -> Iterator[int]:
    with contextlib.suppress(KeyError, ValueError):
        yield int(os.environ["SHOAL_MEMORY"])


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


Answer = TypeVar("Answer")


def run_interruptible(
    work: Callable[[], Answer],
    cancel: Callable[[], object],
    *,
    poll: Callable[[], object] = lambda: None,
    thread: Callable[..., Any] = threading.Thread,
) -> Answer:
    """The result of the work, or its error; `poll` is called a few times a second meanwhile.

    Engines do not look for signals while a query runs. When this thread is interrupted, it calls
    `cancel` until the work has ended, and only then lets the interrupt go on: no query outlives the
    call that began it. The first to take the lock `begun` decides: the work begins, or an
    interrupt that comes before it calls it off.
    """
    answers: list[Answer] = []
    failures: list[BaseException] = []
    done, begun = threading.Event(), threading.Lock()

    def run() -> None:
        if not begun.acquire(blocking=False):
            return
        try:
            answers.append(work())
        except BaseException as error:
            failures.append(error)
        finally:
            done.set()

    try:
        thread(target=run, name="shoal-query").start()
        while not done.wait(0.2):
            poll()
    except BaseException:
        if not begun.acquire(blocking=False):
            while not done.wait(0.05):
                cancel()
        raise
    if failures:
        try:
            raise failures[0]
        finally:
            failures.clear()  # an error keeps this frame, which must not keep the error
    return answers[0]

"""Long calls that Ctrl-C can stop: they run in a thread, while the caller's waits for signals."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

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
    call that began it. Whoever takes the lock `begun` first decides: the work begins, or an
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

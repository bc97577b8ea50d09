"""Work that Ctrl-C can stop: it is done in a thread, while the caller's listens for signals."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

Answer = TypeVar("Answer")


def attend(
    work: Callable[[], Answer],
    cancel: Callable[[], object],
    *,
    meanwhile: Callable[[], object] = lambda: None,
    thread: Callable[..., Any] = threading.Thread,
) -> Answer:
    """What the work gives, or its error; `meanwhile` is called every now and then.

    Engines do not look for signals while a query runs. When this thread is interrupted, it calls
    `cancel` until the work has ended, and only then lets the interrupt go on: no query outlives the
    call that began it. Whoever takes `begun` first decides: the work begins, or an interrupt that
    comes before it calls it off.
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
            meanwhile()
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

"""Work in a thread that an interrupt stops, whenever it comes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from shoal.engines.process import run_interruptible


def test_the_answer_and_the_error_of_the_work_are_its_own() -> None:
    assert run_interruptible(lambda: 7, lambda: None) == 7
    with pytest.raises(ZeroDivisionError):
        run_interruptible(lambda: 1 // 0, lambda: None)


def test_an_interrupt_waits_until_the_work_is_cancelled() -> None:
    cancelled = threading.Event()
    ended = []

    def interrupt() -> None:
        raise KeyboardInterrupt

    def work() -> None:
        cancelled.wait(60)
        ended.append(True)

    with pytest.raises(KeyboardInterrupt):
        run_interruptible(work, cancelled.set, poll=interrupt)
    assert ended


@pytest.mark.parametrize("begins", [True, False])
def test_an_interrupt_while_the_thread_starts_leaves_no_work_behind(begins: bool) -> None:
    """The thread runs already, or it runs only after the interrupt, and then does nothing."""
    done: list[str] = []
    cancelled = threading.Event()

    def work() -> None:
        done.append("begun")
        cancelled.wait(60)

    class Starting:
        def __init__(self, target: Callable[[], None], **_: Any) -> None:
            self.thread = threading.Thread(target=target)

        def start(self) -> None:
            if begins:
                self.thread.start()
                while not done:
                    pass
            started.append(self.thread)
            raise KeyboardInterrupt

    started: list[threading.Thread] = []
    with pytest.raises(KeyboardInterrupt):
        run_interruptible(work, cancelled.set, thread=Starting)
    if not begins:
        started[0].start()
    started[0].join(60)
    assert done == (["begun"] if begins else [])
    assert cancelled.is_set() == begins

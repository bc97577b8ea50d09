"""SIGINT, SIGTERM and SIGHUP all stop a run in the same orderly way."""

from __future__ import annotations

import signal
import threading
from types import TracebackType
from typing import Any, Self

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def interrupt_on_signals() -> None:
    """Let each of these signals raise KeyboardInterrupt, unless the process ignores it."""
    for each in SIGNALS:
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, signal.default_int_handler)


class Interrupts:
    """The signals that arrive while the context lasts: each raises KeyboardInterrupt.

    An interrupt that arrives while a library calls back into Python may be swallowed there.
    `pending` remembers it until the caller handles it, and `check` raises it again. Only the main
    thread may install signal handlers; in other threads this does nothing.
    """

    def __init__(self) -> None:
        self.pending = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {each: signal.getsignal(each) for each in SIGNALS}
            self._install(self._interrupt)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)

    def check(self) -> None:
        """Raise a pending interrupt again."""
        if self.pending:
            raise KeyboardInterrupt

    def hold(self) -> None:
        """Ignore signals until the context ends, so that what follows is done whole."""
        self._install(signal.SIG_IGN)

    def _install(self, handler: Any) -> None:
        """Install the handler for each signal that the process does not ignore."""
        for each, before in self._before.items():
            if before is not signal.SIG_IGN:
                signal.signal(each, handler)

    def _interrupt(self, *_: object) -> None:
        self.pending = True
        raise KeyboardInterrupt

"""Ctrl-C, a request to end and a closed terminal all stop a run in the same orderly way."""

from __future__ import annotations

import signal
import threading
from types import TracebackType
from typing import Any, Self

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def interrupt_on_signals() -> None:
    """Let every such signal raise KeyboardInterrupt, unless the process was told to ignore it."""
    for each in SIGNALS:
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, signal.default_int_handler)


class Interrupts:
    """The signals that arrive while the context lasts: each raises KeyboardInterrupt.

    An interrupt that arrives while a library calls back into Python may be swallowed there.
    `asked` remembers it until it is answered, and `check` raises it again. Only the main thread may
    change what signals do; in other threads nothing happens, since no signal interrupts them.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {each: signal.getsignal(each) for each in SIGNALS}
            self._let(self._interrupt)
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
        """Raise the interrupt again that somebody asked for and nobody answered."""
        if self.asked:
            raise KeyboardInterrupt

    def hold(self) -> None:
        """Be deaf to signals until the context ends: half of what follows is worse than all."""
        self._let(signal.SIG_IGN)

    def _let(self, handler: Any) -> None:
        """Have the handler for each signal that the process was not told to ignore."""
        for each, before in self._before.items():
            if before is not signal.SIG_IGN:
                signal.signal(each, handler)

    def _interrupt(self, *_: object) -> None:
        self.asked = True
        raise KeyboardInterrupt

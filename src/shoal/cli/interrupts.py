"""SIGINT, SIGTERM and SIGHUP all stop a run in the same orderly way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from shoal.events import Event

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

    @contextmanager
    def release(
        self, show: Callable[[Event], None], remove_leftovers: Callable[[], None]
    ) -> Iterator[Callable[[Event], None]]:
        """Watch a release; what this gives is to be called with its events, and calls `show`.

        From the moment the release is published, signals are held until the outer context ends: the
        result and the report belong to it, and take no time to write. When it fails, nothing of it
        stays: `remove_leftovers` removes what an interrupt left that came between the making of a
        file and its use.
        """
        from shoal.errors import Interrupted
        from shoal.events import Phase, Stopped

        def observe(event: Event) -> None:
            if isinstance(event, Stopped):
                self.pending = False
            self.check()
            if event == Phase("publish"):
                self.hold()
            show(event)

        try:
            yield observe
        except BaseException as error:
            self.hold()
            remove_leftovers()
            if self.pending and not isinstance(error, Interrupted):
                what = "interrupted; nothing was released"
                raise Interrupted(what, code="interrupted") from error
            raise

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

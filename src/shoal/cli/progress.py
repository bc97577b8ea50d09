"""Progress of a run on standard error: a changing line in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.text import Text

from shoal.events import Phase, Progress, Working
from shoal.report.sections import DOING, standing

if TYPE_CHECKING:
    from rich.status import Status

    from shoal.events import Event

PLAIN_EVERY = 10.0
"""Seconds between two lines of a long search where lines cannot change."""


class Display:
    """Renders the events of a run; each step that ends leaves a line with its seconds."""

    def __init__(self, *, quiet: bool) -> None:
        self._console = Console(stderr=True, quiet=quiet, highlight=False)
        self._status: Status | None = None
        self._doing = ""
        self._began = self._last_line = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._finish()

    def observe(self, event: Event) -> None:
        """Show an event."""
        if isinstance(event, Phase):
            self._finish()
            if event.name in DOING:
                self.begin(" ".join(filter(None, (DOING[event.name], event.detail))))
        elif isinstance(event, Working):
            self.share(event.share)
        elif isinstance(event, Progress):
            self.say(f"{DOING['search']}: {standing(event)}")

    def share(self, share: float) -> None:
        """Show which share of the present step is done."""
        self._update(f"{self._doing}: {share:.0%}")

    def say(self, doing: str) -> None:
        """Change what is said of the present step."""
        self._doing = doing
        self._update(doing)

    def begin(self, doing: str) -> None:
        """Begin a step."""
        self._doing = doing
        self._began = self._last_line = time.monotonic()
        if self._console.is_terminal and not self._console.quiet:
            self._status = self._console.status(Text(doing))
            self._status.start()

    def _update(self, line: str) -> None:
        """Change the line; outside of a terminal print one every PLAIN_EVERY seconds."""
        if self._status is not None:
            self._status.update(Text(line))
        elif time.monotonic() - self._last_line >= PLAIN_EVERY:
            self._line(line)

    def drop(self) -> None:
        """End a step without a line."""
        if self._status is not None:
            self._status.stop()
            self._status = None
        self._doing = ""

    def _finish(self) -> None:
        """Leave a line for the step that ends."""
        ended = self._doing
        self.drop()
        if ended:
            self._line(ended)

    def _line(self, text: str) -> None:
        self._last_line = time.monotonic()
        line = Text(text)
        line.append(f"  {self._last_line - self._began:.1f} s", style="dim")
        self._console.print(line, soft_wrap=True)


@contextmanager
def progress_of(doing: str) -> Iterator[Display]:
    """Show the progress of one step; leaves no line when it ends."""
    display = Display(quiet=False)
    display.begin(doing)
    try:
        yield display
    finally:
        display.drop()

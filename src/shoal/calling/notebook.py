"""Progress in a notebook: one line below the cell, from the second on that the work takes.

The line says what is done, and for how many seconds; in the end, how long it took. A thread of its
own keeps the seconds going while an engine works and nothing happens. IPython is not imported: in a
notebook it is there already.
"""

from __future__ import annotations

import contextvars
import html
import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from shoal.events import Phase, Progress, Working
from shoal.report.progress import DOING, standing

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.events import Event

PATIENCE = 1.0
"""Seconds before the line appears, and between two of its changes."""


class Output(Protocol):
    """A place below the cell whose content can be replaced."""

    def update(self, shown: object) -> None:
        """Show this in place of what is there."""


def in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this code, and nobody waits in a terminal."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def below_the_cell(shown: object) -> Output:
    """A new place below the cell that runs."""
    from IPython.display import display

    place: Output = display(shown, display_id=True)  # type: ignore[no-untyped-call]
    return place


class Line:
    """A line of progress, as notebooks show it, and as text elsewhere."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<div style="opacity: 0.75">{html.escape(self.text)}</div>'


class NotebookProgress:
    """The line of one piece of work; a context, at whose end the line says how long it took."""

    def __init__(self, show: Callable[[object], Output] = below_the_cell) -> None:
        self._show = show
        self._doing = ""
        self._place: Output | None = None
        self._began = time.monotonic()
        self._ended = threading.Event()
        context = contextvars.copy_context()
        self._ticking = threading.Thread(target=context.run, args=[self._tick], daemon=True)

    def __enter__(self) -> Self:
        self._ticking.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._ticking.join()
        if self._place is not None:
            said = "Done" if kind is None else "Stopped"
            self._place.update(Line(f"{said} after {self._seconds:.1f} s."))

    def observe(self, event: Event) -> None:
        """Say what an event of a run means."""
        if isinstance(event, Phase) and event.name in DOING:
            self.say(" ".join(filter(None, (DOING[event.name], event.detail))))
        elif isinstance(event, Working):
            self._doing = f"{self._doing.partition(': ')[0]}: {event.share:.0%}"
        elif isinstance(event, Progress):
            self.say(f"{DOING['search']}: {standing(event)}")

    def say(self, doing: str) -> None:
        """Say what is done now; it is shown with the next change of the line."""
        self._doing = doing

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _tick(self) -> None:
        """Show the line, and change it, until the work has ended."""
        while not self._ended.wait(PATIENCE):
            line = Line(f"{self._doing or 'Working'} ({self._seconds:.0f} s)")
            if self._place is None:
                self._place = self._show(line)
            else:
                self._place.update(line)

"""The events of the pipeline as JSON, and fewer of them where they come too often."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from shoal.events import Improved, Phase, Progress, Proved, Released, Stopped, Working

if TYPE_CHECKING:
    from shoal.events import Event

Say: TypeAlias = Callable[[str, Mapping[str, Any]], None]

SHORTEST = 0.2
"""Seconds between two events that only say how far the work is."""


def event_json(event: Event) -> tuple[str, dict[str, Any]]:
    """The name and the data of an event."""
    if isinstance(event, Phase):
        detail = "" if event.name == "read" else event.detail  # where the source is, on the server
        return "phase", {"phase": event.name, "detail": detail}
    if isinstance(event, Working):
        return "working", {"share": event.share}
    if isinstance(event, Released):
        return "released", {"records": event.result.records, "loss": event.result.loss}
    data = _progress(event)
    if isinstance(event, Improved):
        return "improved", data
    if isinstance(event, Proved):
        return "proved", data
    if isinstance(event, Stopped):
        return "stopped", {**data, "reason": event.reason}
    return "progress", data


def _progress(event: Progress) -> dict[str, Any]:
    best = event.best
    shown = None
    if best is not None:
        shown = {
            "node": list(best.node) or None,  # a local recoding has none
            "loss": best.loss,
            "suppressed": best.suppressed,
            "classes": best.classes,
            "smallest_class": best.smallest_class,
        }
    return {
        "best": shown,
        "bound": event.bound,
        "gap": event.gap,
        "checked": event.checked,
        "boxes": event.boxes,
        "seconds": event.seconds,
    }


class Thinned:
    """Passes events on as JSON; of those that only say how far the work is, a few a second."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._last = float("-inf")

    def __call__(self, event: Event) -> None:
        name, data = event_json(event)
        now = time.monotonic()
        if name in ("working", "progress"):
            if now - self._last < SHORTEST:
                return
            self._last = now
        self._say(name, data)

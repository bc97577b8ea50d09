"""The progress of a run in words, and printed line by line where a notebook or a script runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.events import NO_PROOF, Improved, Phase, Progress, Proved, Released, Stopped
from shoal.report.sections import count

if TYPE_CHECKING:
    from shoal.events import Event

DOING = {
    "read": "Reading",
    "search": "Searching",
    "warn": "Looking for warnings",
    "release": "Releasing",
    "verify": "Verifying",
}
LONG_TO_START = 1.5
"""Seconds without any box or node after which a search says why."""


def show_progress(event: Event) -> None:
    """Print each step and each better solution: `shoal.run(..., observe=shoal.show_progress)`."""
    if isinstance(event, Phase) and event.name in DOING:
        print(" ".join(filter(None, (DOING[event.name], event.detail))), flush=True)  # noqa: T201
    elif isinstance(event, Improved | Proved | Stopped):
        print(f"  {standing(event)}", flush=True)  # noqa: T201
    elif isinstance(event, Released):
        print(f"Released: {event.result.output}", flush=True)  # noqa: T201


def standing(event: Progress) -> str:
    """Best loss, bound, gap, nodes and boxes; before the first box, that code is being compiled."""
    if event.seconds > LONG_TO_START and not event.boxes and not event.checked:
        return (
            "getting ready; its code is compiled, which takes up to a minute: once, or in every run"
            " where `shoal doctor` finds no cache folder"
        )
    best = "none yet" if event.best is None else f"{event.best.loss:.6f}"
    gap = "" if event.best is None else f", gap {event.gap:.1%}"
    boxes = f", {count(event.boxes, 'box', 'boxes')}" if event.boxes else ""
    stopped = ""
    if isinstance(event, Stopped):
        stopped = ", not proved" if event.reason == NO_PROOF else f", stopped: {event.reason}"
    return (
        f"best {best}, bound {event.bound:.6f}{gap}, {count(event.checked, 'node')}{boxes}{stopped}"
    )

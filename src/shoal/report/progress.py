"""How a run gets on, in words: its steps, and the best solution with its bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.events import NO_PROOF, Improved, Phase, Progress, Proved, Released, Stopped
from shoal.report.sections import count

if TYPE_CHECKING:
    from shoal.events import Event

DOING = {
    "read": "Reading",
    "link": "Linking the sources",
    "search": "Searching",
    "warn": "Looking for warnings",
    "compare": "Comparing with earlier releases",
    "release": "Releasing",
    "verify": "Verifying",
}


def show_progress(event: Event) -> None:
    """Print each step and each better solution of a run.

    Example:
        >>> result = shoal.run("patients.yaml", observe=shoal.show_progress)
        Reading patients.csv
        Searching 2,000 tuples, 600 nodes
          ...
        Released: release.csv
    """
    if isinstance(event, Phase) and event.name in DOING:
        print(" ".join(filter(None, (DOING[event.name], event.detail))), flush=True)  # noqa: T201
    elif isinstance(event, Improved | Proved | Stopped):
        print(f"  {standing(event)}", flush=True)  # noqa: T201
    elif isinstance(event, Released):
        print(f"Released: {event.result.output or 'in memory'}", flush=True)  # noqa: T201


def standing(event: Progress) -> str:
    """Best loss, bound, gap, nodes and boxes; in local recoding classes and sweeps."""
    best = "none yet" if event.best is None else f"{event.best.loss:.6f}"
    gap = "" if event.best is None else f", gap {event.gap:.1%}"
    steps = f"{count(event.checked, 'node')}"
    if event.best is not None and event.best.local:
        steps = count(event.best.classes, "class", "classes")
        steps += f", {count(event.boxes, 'sweep')}" if event.boxes else ""
    elif event.boxes:
        steps += f", {count(event.boxes, 'box', 'boxes')}"
    stopped = ""
    if isinstance(event, Stopped):
        stopped = ", not proved" if event.reason == NO_PROOF else f", stopped: {event.reason}"
    return f"best {best}, bound {event.bound:.6f}{gap}, {steps}{stopped}"

"""What a job is: its state, its events, and what a task gets to work with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from shoal.events import Event

JobState: TypeAlias = Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]

ENDED: frozenset[str] = frozenset({"done", "failed", "cancelled", "interrupted"})
"""States that never change again."""


@dataclass(frozen=True)
class Job:
    """A task of one user: where it stands, its last event, and its problem where it failed.

    Times are seconds since 1970. `progress` is the data of the last event, with its name under
    `event`. `problem` is what a response of type application/problem+json would hold.
    """

    id: str
    owner: str
    project: str | None
    task: str
    state: JobState
    created: float
    started: float | None
    ended: float | None
    progress: Mapping[str, Any]
    problem: Mapping[str, Any] | None

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED


@dataclass(frozen=True)
class JobEvent:
    """Something that happened in a job; the numbers of a job's events rise from 1 without gaps."""

    number: int
    name: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Context:
    """What a task gets: an empty folder for its files, and ways to report progress.

    `folder` is private until the job is done; then it is published as a whole. `observe` takes the
    events of the pipeline, `say` an event of the task's own. `memory` is the most bytes that the
    job may use.
    """

    folder: Path
    observe: Callable[[Event], None]
    say: Callable[[str, Mapping[str, Any]], None]
    memory: int

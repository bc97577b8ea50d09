"""What the search of a project found, and what its release would have.

That is a node: one level for each column. Where the definition asks for local recoding, it is the
recoding that the search kept in a file of its job; then `levels` has the records at each level.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from shoal.errors import ShoalError
from shoal.web.laid_out import KEPT
from shoal.web.project_definition import fingerprint

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.web.projects import Project
    from shoal.web.services import Services

Levels: TypeAlias = Mapping[str, Any]
"""The level of each column; in local recoding the released records at each level, as JSON has it:
`{"age": {"0": 120, "1": 80}}`."""
BY_THE_CLOCK = frozenset({"interrupted", "time limit"})
"""Why a search may end that finds something else the next time."""
SHARES = frozenset({"iyengar", "precision", "entropy", "discernibility"})
"""The losses that are a share of the detail, from 0 to 1."""


@dataclass(frozen=True)
class Found:
    """The best of a search; `proved` where nothing is better, else none loses less than `bound`.

    `ended` is why the search stopped before the proof. `kept` is the file of a local recoding,
    None where there is a node; `full_domain` is then what one level for each column would lose, as
    far as it is known. `job` is the search.
    """

    job: str
    levels: Levels
    heights: Mapping[str, int]
    losses: Mapping[str, float]
    loss: float
    bound: float
    suppressed: int
    k: int
    proved: bool
    ended: str
    seconds: float
    records: int
    loss_model: str
    full_domain: Mapping[str, float | None] | None = None
    kept: Path | None = None

    @property
    def is_repeatable(self) -> bool:
        """Whether the same search finds the same again: it was not ended by a clock or a person."""
        return self.proved or (self.kept is not None and self.ended not in BY_THE_CLOCK)


@dataclass(frozen=True)
class Standing:
    """What a release would have now: the chosen node, else the best one, or a local recoding."""

    levels: Levels
    is_best: bool
    found: Found

    @property
    def is_local(self) -> bool:
        """Whether levels differ from class to class."""
        return self.found.kept is not None

    def arguments(self) -> dict[str, Any]:
        """What a task needs to show or release exactly this."""
        if self.found.kept is not None:
            return {"levels": None, "kept": str(self.found.kept)}
        return {"levels": dict(self.levels)}

    def subject(self) -> dict[str, Any]:
        """What a decision is about: the levels, and where they do not say all, the search."""
        levels = {"levels": dict(self.levels)}
        return levels if self.found.kept is None else {**levels, "search": self.found.job}

    def needed(self) -> Levels | None:
        """The levels that a run must be given: none where its own search finds them again."""
        return None if self.is_local or (self.is_best and self.found.proved) else self.levels

    def search_limit(self) -> str | None:
        """How long a run may search again: no longer than the search that was stopped."""
        return None if self.found.is_repeatable else f"{max(1, math.ceil(self.found.seconds))}s"


def standing_of(services: Services, project: Project) -> Standing | None:
    """The node to release; None where nothing was found for the project as it is now."""
    found = found_by_search(services, project)
    if found is None:
        return None
    chosen = project.chosen
    if found.kept is not None or chosen is None or set(chosen) != set(found.levels):
        return Standing(found.levels, is_best=True, found=found)
    levels = {name: int(chosen[name]) for name in found.levels}
    return Standing(levels, is_best=levels == dict(found.levels), found=found)


def found_by_search(services: Services, project: Project) -> Found | None:
    """What the latest search found; None where it is outdated, failed, or was never made."""
    if not is_current(services, project, "search"):
        return None
    plain = result_of(services, project, "search")
    if plain is None or not plain.get("levels"):
        return None
    kept = None
    if plain.get("recoding") == "local":
        kept = services.jobs.folder(project.jobs["search"], project.owner) / KEPT
    return Found(
        job=project.jobs["search"],
        levels=plain["levels"],
        heights=plain["heights"],
        losses=plain["losses"],
        loss=plain["loss"],
        bound=plain["bound"],
        suppressed=plain["suppressed"],
        k=plain["smallest_class"],
        proved=plain["proved"],
        ended=plain["ended"],
        seconds=plain["seconds"],
        records=plain["records"],
        loss_model=plain["loss_model"],
        full_domain=plain.get("full_domain"),
        kept=kept,
    )


def is_about(services: Services, project: Project, purpose: str, standing: Standing) -> bool:
    """Whether the latest job of a purpose was made from the project as it is, and from `standing`.

    Of a job about a node only the project is compared: its result says the levels.
    """
    if not is_current(services, project, purpose):
        return False
    job, kept = project.jobs.get(purpose, ""), standing.arguments().get("kept")
    try:
        arguments: Mapping[str, Any] = services.jobs.arguments(job, project.owner)
    except ShoalError:
        return False
    return bool(kept == arguments.get("kept"))


def is_current(services: Services, project: Project, purpose: str) -> bool:
    """Whether the latest job of a purpose was made from the project as it is now."""
    return project.fingerprints.get(purpose) == fingerprint(project, services)


def result_of(services: Services, project: Project, purpose: str) -> dict[str, Any] | None:
    """The result of the latest job of a purpose; None where it is not done."""
    job = project.jobs.get(purpose)
    if job is None:
        return None
    try:
        result: dict[str, Any] = services.jobs.result(job, project.owner)
    except ShoalError:
        return None
    return result

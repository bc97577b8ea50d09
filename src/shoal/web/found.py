"""What the search of a project found, and which node its release would have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.errors import ShoalError
from shoal.web.project_definition import fingerprint

if TYPE_CHECKING:
    from shoal.web.projects import Project
    from shoal.web.services import Services

SHARES = frozenset({"iyengar", "precision", "entropy", "discernibility"})
"""The losses that are a share of the detail, from 0 to 1."""


@dataclass(frozen=True)
class Found:
    """The best node of a search; `proved` where no node is better."""

    levels: Mapping[str, int]
    loss: float
    suppressed: int
    k: int
    proved: bool
    seconds: float
    records: int
    loss_model: str


@dataclass(frozen=True)
class Standing:
    """The node that a release would have now: the chosen one, else the best one."""

    levels: Mapping[str, int]
    is_best: bool
    found: Found

    def needed(self) -> Mapping[str, int] | None:
        """The levels that a run must be given: none where its own search finds them by proof."""
        return None if self.is_best and self.found.proved else self.levels

    def search_limit(self) -> str | None:
        """How long a run may search again: no longer than the search that was stopped."""
        return None if self.found.proved else f"{max(1, math.ceil(self.found.seconds))}s"


def standing_of(services: Services, project: Project) -> Standing | None:
    """The node to release; None where nothing was found for the project as it is now."""
    found = found_by_search(services, project)
    if found is None:
        return None
    chosen = project.chosen
    if chosen is None or set(chosen) != set(found.levels):
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
    return Found(
        levels=plain["levels"],
        loss=plain["loss"],
        suppressed=plain["suppressed"],
        k=plain["smallest_class"],
        proved=plain["proved"],
        seconds=plain["seconds"],
        records=plain["records"],
        loss_model=plain["loss_model"],
    )


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

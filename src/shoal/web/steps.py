"""The eight steps from a file to a release: their order, and how far a project is with each.

A step is *blocked* while something before it is missing, and says what. It is *outdated* when its
result was made before the definition or the data changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from shoal.errors import ShoalError
from shoal.web.project_definition import fingerprint

if TYPE_CHECKING:
    from shoal.web.projects import Project
    from shoal.web.services import Services

Status = Literal["done", "open", "outdated", "blocked"]


@dataclass(frozen=True)
class Step:
    """A step of a project: its name in addresses, what pages call it, what happens there."""

    name: str
    title: str
    about: str

    def path(self, project: Project) -> str:
        """The address of the step's page."""
        return f"/project/{project.id}/{self.name}"


STEPS: tuple[Step, ...] = (
    Step("data", "Data", "which records"),
    Step("columns", "Columns", "what each column is"),
    Step("hierarchies", "Hierarchies", "how values may be generalized"),
    Step("demand", "Demand", "what the release must promise"),
    Step("search", "Search", "the least lossy way to keep the promise"),
    Step("explore", "Explore", "the other ways"),
    Step("compare", "Compare", "before and after"),
    Step("decide", "Decide", "release it or not"),
)
"""In the order in which they are walked."""
GUESSED = ("columns", "hierarchies", "demand")
"""Steps that are filled with guesses; they are not done before the custodian has looked at them."""


@dataclass(frozen=True)
class StepState:
    """How far a project is with a step, and why where that is not plain."""

    name: str
    status: Status
    reason: str = ""


def step_named(name: str) -> Step:
    """The step with this name; KeyError when there is none."""
    return {step.name: step for step in STEPS}[name]


def state(services: Services, project: Project, step: str) -> StepState:
    """How far the project is with one step."""
    missing = _missing_before(services, project, step)
    if missing:
        return StepState(step, "blocked", missing)
    if step in ("search", "compare") and _is_outdated(services, project, step):
        return StepState(step, "outdated", "made before the definition or the data changed")
    return StepState(step, "done" if _is_done(services, project, step) else "open")


def states(services: Services, project: Project) -> tuple[StepState, ...]:
    """How far the project is with every step, in order."""
    return tuple(state(services, project, step.name) for step in STEPS)


def next_step(step: str) -> Step | None:
    """The step after this one."""
    names = [each.name for each in STEPS]
    after = names.index(step) + 1
    return STEPS[after] if after < len(STEPS) else None


def quasi_identifiers(project: Project) -> list[str]:
    """The columns that the project generalizes, in the order of its definition."""
    attributes: Mapping[str, Any] = project.definition.get("attributes", {})
    return [name for name, each in attributes.items() if role_of(each) == "quasi-identifier"]


def role_of(attribute: Any) -> str | None:
    """The role of an attribute of a definition, in its short or its long form."""
    if isinstance(attribute, str):
        return attribute
    return attribute.get("role") if isinstance(attribute, Mapping) else None


def _missing_before(services: Services, project: Project, step: str) -> str:
    """What must be done before this step can be; empty when nothing."""
    if step == "data":
        return ""
    if project.source is None:
        return "first choose the data"
    if step != "columns" and not quasi_identifiers(project):
        return "first choose a quasi-identifier in Columns"
    if step in ("search", "explore", "compare", "decide") and "k" not in project.definition:
        return "first state the demand"
    if step not in ("explore", "compare", "decide"):
        return ""
    if not _job_is_done(services, project, "search"):
        return "first search"
    if _is_outdated(services, project, "search"):
        return "first search again: the definition or the data changed"
    return ""


def _is_done(services: Services, project: Project, step: str) -> bool:
    attributes: Mapping[str, Any] = project.definition.get("attributes", {})
    if step in GUESSED and step not in project.visited:
        return False
    match step:
        case "data":
            return project.source is not None
        case "columns":
            return bool(quasi_identifiers(project))
        case "hierarchies":
            return all(
                isinstance(attributes[name], Mapping) and "hierarchy" in attributes[name]
                for name in quasi_identifiers(project)
            )
        case "demand":
            return "k" in project.definition
        case "explore":
            return project.chosen is not None or project.decision is not None
        case "decide":
            return project.decision is not None
        case _:
            return _job_is_done(services, project, step)


def _job_is_done(services: Services, project: Project, purpose: str) -> bool:
    job = project.jobs.get(purpose)
    if job is None:
        return False
    try:
        return services.jobs.get(job, project.owner).state == "done"
    except ShoalError:
        return False


def _is_outdated(services: Services, project: Project, purpose: str) -> bool:
    made_with = project.fingerprints.get(purpose)
    if made_with is None or not _job_is_done(services, project, purpose):
        return False
    return made_with != fingerprint(project, services)

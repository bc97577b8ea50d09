"""What pages say where there is nothing to show yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.errors import ShoalError
from shoal.web.found import is_current
from shoal.web.pages.components import empty_state, problem_card
from shoal.web.steps import state, step_named

if TYPE_CHECKING:
    from shoal.web.pages.frame import StepFrame


def says_what_comes_first(frame: StepFrame) -> bool:
    """Whether another step comes before this one; then the page says which, and leads there."""
    found = state(frame.services, frame.project, frame.step)
    if found.status != "blocked":
        return False
    with frame.main:
        _say_not_yet("lock_open", found.reason)
    name = next((each for each in ("demand", "data") if each in found.reason), "columns")
    step = step_named(name)
    frame.primary(f"Go to {step.title}", to=step.path(frame.project))
    return True


def _say_not_yet(icon: str, reason: str) -> None:
    empty_state(icon, "Not yet", f"{reason[:1].upper()}{reason[1:]}.")


def say_search_first(frame: StepFrame) -> None:
    """The search is missing, outdated, or found nothing: say which, and where to go."""
    services, project = frame.services, frame.project
    to = f"/project/{project.id}"
    blocked = state(services, project, "search")
    problem = _problem_of_search(frame)
    with frame.main:
        if blocked.status == "blocked":
            _say_not_yet("lock", blocked.reason)
            frame.primary("Go to the first step", to=f"{to}/data")
        elif problem is not None:
            problem_card(problem)
            frame.primary("Change the demand", to=f"{to}/demand")
        elif _is_running(frame):
            empty_state("hourglass_top", "The search is running", "You see its result here.")
            frame.primary("Watch the search", to=f"{to}/search")
        elif "search" in project.jobs:
            said = "The last search was of another definition or other data, or it is not kept any"
            empty_state(
                "update", "Search again", f"{said} more. Only what holds now is shown here."
            )
            frame.primary("Search", to=f"{to}/search")
        else:
            said = "Here you see what the search finds: it looks for the least lossy safe release."
            empty_state("search", "Nothing was searched yet", said)
            frame.primary("Search", to=f"{to}/search")


def _is_running(frame: StepFrame) -> bool:
    """Whether the search of the project as it is now has not ended."""
    job = frame.project.jobs.get("search")
    if job is None or not is_current(frame.services, frame.project, "search"):
        return False
    try:
        return not frame.services.jobs.get(job, frame.user.name).has_ended
    except ShoalError:
        return False


def _problem_of_search(frame: StepFrame) -> ShoalError | None:
    """Why the search of the project as it is now found nothing."""
    job = frame.project.jobs.get("search")
    if job is None or not is_current(frame.services, frame.project, "search"):
        return None
    try:
        frame.services.jobs.result(job, frame.user.name)
    except ShoalError as error:
        return None if error.code in ("job-not-done", "job-cancelled", "not-found") else error
    return None

"""What the last three pages say where there is nothing to show yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.errors import ShoalError
from shoal.web.found import is_current
from shoal.web.pages.components import empty_state, problem_card
from shoal.web.steps import state

if TYPE_CHECKING:
    from shoal.web.pages.frame import StepFrame


def say_search_first(frame: StepFrame) -> None:
    """The search is missing, outdated, or found nothing: say which, and where to go."""
    services, project = frame.services, frame.project
    to = f"/project/{project.id}"
    blocked = state(services, project, "search")
    problem = _problem_of_search(frame)
    with frame.main:
        if blocked.status == "blocked":
            empty_state("lock", "Not yet", f"{blocked.reason[:1].upper()}{blocked.reason[1:]}.")
            frame.primary("Go to the first step", to=f"{to}/data")
        elif problem is not None:
            problem_card(problem)
            frame.primary("Change the demand", to=f"{to}/demand")
        elif "search" in project.jobs:
            said = (
                "The definition or the data changed since the last search. Nothing that was found"
            )
            empty_state("update", "Search again", f"{said} then is shown here.")
            frame.primary("Search", to=f"{to}/search")
        else:
            said = "Here you see what the search finds: it looks for the least lossy safe release."
            empty_state("search", "Nothing was searched yet", said)
            frame.primary("Search", to=f"{to}/search")


def _problem_of_search(frame: StepFrame) -> ShoalError | None:
    """Why the search of the project as it is now found nothing."""
    job = frame.project.jobs.get("search")
    if job is None or not is_current(frame.services, frame.project, "search"):
        return None
    try:
        frame.services.jobs.result(job, frame.user.name)
    except ShoalError as error:
        return error if error.code not in ("job-not-done", "job-cancelled") else None
    return None

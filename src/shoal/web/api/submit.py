"""Submit a job: a release, or an analysis that releases nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request

from shoal.web.api.access import custodian, problems, secured
from shoal.web.api.definitions import Prepared, prepared
from shoal.web.api.models import (
    DefinitionIn,
    FrontierIn,
    JobOut,
    LatticeIn,
    RiskIn,
    RiskOfJobIn,
    RunIn,
    SolutionsIn,
    UtilityIn,
)
from shoal.web.refusals import Conflict
from shoal.web.services import Services
from shoal.web.users import User

NAMES = {
    "yaml": "definition.yaml",
    "json": "definition.json",
    "xml": "definition.xml",
    "report": "report.html",
    "result": "result.json",
    "transformation": "transformation.json",
}
"""The files beside a release. The release itself has the name that the definition gives it."""
COMMAND = f"shoal run {NAMES['yaml']}"


def router(services: Services) -> APIRouter:
    """POST /jobs/TASK."""
    routes = APIRouter(prefix="/jobs", tags=["jobs"], dependencies=secured())
    answers = problems(404, 409, 413, 422)

    async def submit(
        request: Request, body: DefinitionIn, task: str, arguments: Mapping[str, Any]
    ) -> JobOut:
        user = custodian(request)
        found = await prepared(services, user, request, body)
        return _submit(services, user, task, {**arguments, **_of_definition(found, task)})

    @routes.post("/run", status_code=202, operation_id="run", responses=answers)
    async def run(request: Request, body: RunIn) -> JobOut:
        """Release what a definition says. Nothing can be downloaded before it is verified."""
        arguments = {"levels": body.node, "seconds": None, "command": COMMAND}
        return await submit(request, body, "release", arguments)

    @routes.post("/solutions", status_code=202, operation_id="solutions", responses=answers)
    async def solutions(request: Request, body: SolutionsIn) -> JobOut:
        """The least lossy safe nodes, or all minimal ones."""
        keys = {"best", "minimal", "at_most"}
        arguments = {**body.model_dump(include=keys), "seconds": body.time_limit}
        return await submit(request, body, "solutions", arguments)

    @routes.post("/lattice", status_code=202, operation_id="lattice", responses=answers)
    async def lattice(request: Request, body: LatticeIn) -> JobOut:
        """Every node with what it protects and what it costs."""
        arguments = body.model_dump(include={"near_optimum", "at_most"})
        return await submit(request, body, "all_nodes", arguments)

    @routes.post("/frontier", status_code=202, operation_id="frontier", responses=answers)
    async def frontier(request: Request, body: FrontierIn) -> JobOut:
        """What each k and each suppression limit costs."""
        arguments = {"k": body.k, "suppression": body.suppression, "seconds": body.time_limit}
        return await submit(request, body, "frontier", arguments)

    @routes.post("/risk", status_code=202, operation_id="risk", responses=answers)
    async def risk(request: Request, body: RiskIn | RiskOfJobIn) -> JobOut:
        """How likely people are recognised: in the source, and in the release of a job."""
        arguments = body.model_dump(include={"threshold", "fraction", "population", "sets"})
        if isinstance(body, RiskIn):
            return await submit(request, body, "risk", arguments)
        user = custodian(request)
        layout = _layout_of_release(services, user, body.job)
        return _submit(services, user, "risk", {**arguments, "layout": layout})

    @routes.post("/utility", status_code=202, operation_id="utility", responses=answers)
    async def utility(request: Request, body: UtilityIn) -> JobOut:
        """What the release of a job is still good for."""
        user = custodian(request)
        layout = _layout_of_release(services, user, body.job)
        return _submit(services, user, "utility", {"layout": layout, "target": body.target})

    return routes


def _of_definition(found: Prepared, task: str) -> dict[str, Any]:
    """The arguments of a task that come from the definition."""
    arguments: dict[str, Any] = {"layout": found.layout}
    if task == "release":
        names = {
            key: name for key, name in NAMES.items() if key not in _SPELLED - found.texts.keys()
        }
        arguments |= {"names": names, "definitions": dict(found.texts)}
    return arguments


_SPELLED = frozenset(("yaml", "json", "xml"))


def _layout_of_release(services: Services, user: User, id: str) -> dict[str, Any]:
    """The definition of a job that is done, with its release among its files."""
    arguments = services.jobs.arguments(id, user.name)
    result = services.jobs.result(id, user.name)
    if services.jobs.get(id, user.name).task != "release" or "layout" not in arguments:
        raise Conflict("the job made no release", "give the id of a job of `run`")
    layout, name = dict(arguments["layout"]), result["files"]["release"]
    path = services.jobs.folder(id, user.name) / name
    layout["files"] = {**layout.get("files", {}), name: str(path)}
    return layout


def _submit(services: Services, user: User, task: str, arguments: Mapping[str, Any]) -> JobOut:
    job = services.jobs.submit(task, arguments, owner=user.name)
    services.audit.record(user.name, f"submitted a job: {task}", f"job {job.id}")
    return JobOut.of(job)

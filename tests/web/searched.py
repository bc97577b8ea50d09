"""Projects whose search is done, in the folder of a running server."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from shoal.web.audit import Audit
from shoal.web.jobs.queue import Jobs
from shoal.web.laid_out import layout_of
from shoal.web.project_definition import fingerprint
from shoal.web.projects import Projects
from shoal.web.services import STORE_FILE
from shoal.web.settings import Limits, Settings
from shoal.web.store import Store
from web.seeded import demo_project

if TYPE_CHECKING:
    from shoal.web.projects import Project
    from shoal.web.services import Services

THREE = {"country": "drop", "occupation": "drop"}
"""Roles with which three quasi-identifiers are left: a lattice of 50 nodes."""


@contextmanager
def beside(data: Path) -> Iterator[Services]:
    """The store of a running server, its projects, jobs and audit log; the server runs the jobs."""
    store = Store(data / STORE_FILE)
    try:
        found = SimpleNamespace(
            store=store,
            settings=Settings(folder=data),
            projects=Projects(store, data),
            jobs=Jobs(store, data / "jobs", Limits()),
            audit=Audit(store),
        )
        yield cast("Services", found)
    finally:
        store.close()


def searched_demo(
    data: Path, roles: Mapping[str, Any] | None = None, *, owner: str = "you", **keys: Any
) -> Project:
    """A project on the demo data that the server has searched."""
    project = demo_project(data, owner=owner, **keys)
    with beside(data) as services:
        if roles:
            attributes = {**project.attributes, **roles}
            definition = {**project.definition, "attributes": attributes}
            project = services.projects.change(project, definition=definition)
        return search(services, project)


def search(services: Services, project: Project) -> Project:
    """Let the server search, and wait until the job has ended."""
    layout = layout_of(services, project)
    job = services.jobs.submit(
        "search", {"layout": layout}, owner=project.owner, project=project.id
    )
    made_from = fingerprint(project, services)
    project = services.projects.note_job(project, "search", job.id, made_from)
    end = time.monotonic() + 60
    while not services.jobs.get(job.id, project.owner).has_ended:
        assert time.monotonic() < end, "the search takes too long"
        time.sleep(0.05)
    return project


def releases(data: Path) -> list[str]:
    """Every file of a release that a job of the server has made or is making."""
    return sorted(str(path) for path in (data / "jobs").rglob("*-release.*"))

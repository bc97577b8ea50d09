"""The data of a project: where it comes from, its profile, and what the profile makes of it.

Whatever gives a project its data starts the task `profile`. When that is done, `current_data` puts
its guesses into the definition, as far as the custodian has not decided yet. A profile belongs to a
source, a way to read it, and texts for missing values: `data_fingerprint` says whether it is of the
project as it is now.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import yaml

from shoal.demo.files import DATA, definition_text
from shoal.demo.registry import write_registry
from shoal.demo.vocabulary import COUNTRIES
from shoal.errors import ShoalError
from shoal.web.project_definition import KEYS, allowed_location, source_path

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.web.jobs.model import Job
    from shoal.web.projects import Project
    from shoal.web.services import Services
    from shoal.web.uploads import Upload

PROFILE = "profile"
"""The purpose of the job, and its task."""
PENDING = ""
"""The fingerprint of a profile that was not taken into the project yet."""

ProfileState = Literal["none", "running", "failed", "ready", "outdated", "done"]


@dataclass(frozen=True)
class CurrentData:
    """A project with the state and the job of its profile, all seen at the same moment."""

    project: Project
    state: ProfileState
    job: Job | None


def current_data(services: Services, project: Project) -> CurrentData:
    """The project with its profile taken if one is ready, or begun anew if it is outdated.

    The state is looked up once. A job may end at any time after that, and a page that looked again
    would find a profile that is ready but not in its project.
    """
    state, job = profile_state(services, project)
    if state == "ready" and job is not None:
        return CurrentData(_take_profile(services, project, job), "done", job)
    if state != "outdated":
        return CurrentData(project, state, job)
    try:
        missing = missing_texts(project) if project.attributes else None
        begun = start_profile(services, project, stated_of(project.reading), missing)
        job = services.jobs.get(begun.jobs[PROFILE], begun.owner)
    except ShoalError:
        return CurrentData(project, state, job)
    return CurrentData(begun, "running", job)


def stated_of(reading: Mapping[str, Any]) -> dict[str, Any]:
    """What a definition states of its source, as something to be stated to the guesser."""
    options = reading.get("options", {})
    rest = {key: value for key, value in reading.items() if key != "options"}
    return {**rest, "sheet": options["sheet"]} if "sheet" in options else rest


def take_upload(services: Services, project: Project, upload: Upload) -> Project:
    """Let an uploaded file in the project's folder be its data, and begin to read it."""
    source = {"upload": upload.file, "label": upload.label, "kind": upload.kind}
    return _take_source(services, project, {**source, "bytes": upload.bytes})


def take_allowed(services: Services, project: Project, name: str) -> Project:
    """Let a source that the administrator allows be the project's data, and begin to read it."""
    return _take_source(services, project, {"allowed": name})


def _take_source(services: Services, project: Project, source: Mapping[str, Any]) -> Project:
    changed = services.projects.change(
        project, source=source, reading={}, chosen=None, decision=None
    )
    return start_profile(services, changed, {}, None)


async def create_demo(services: Services, owner: str) -> Project:
    """A project with the data and the definition of `shoal demo`."""
    project = services.projects.create(owner, "Demo: invented patients")
    file = f"data-{secrets.token_hex(16)}.csv"
    path = services.projects.folder(project) / file
    await asyncio.to_thread(_write_demo, path)
    source = {"upload": file, "label": DATA, "kind": "CSV", "bytes": path.stat().st_size}
    definition = demo_definition()
    project = services.projects.save(
        replace(project, source=source, definition=definition), amend=True
    )
    return start_profile(services, project, {}, definition["missing"]["values"])


def _write_demo(path: Path) -> None:
    path.touch(mode=0o600)
    write_registry(path)


def demo_definition() -> dict[str, Any]:
    """The definition of the demonstration, with the hierarchy of countries as a tree in it."""
    said: dict[str, Any] = yaml.safe_load(definition_text())
    tree = {
        continent: {region: list(countries) for region, countries in regions.items()}
        for continent, regions in COUNTRIES.items()
    }
    said["attributes"]["country"]["hierarchy"] = {"tree": tree}
    return {key: value for key, value in said.items() if key in KEYS}


def start_profile(
    services: Services,
    project: Project,
    stated: Mapping[str, Any],
    missing: Sequence[str] | None,
) -> Project:
    """Begin to read and count the data; `stated` and `missing` are what shall not be guessed."""
    arguments: dict[str, Any] = {
        "stated": dict(stated),
        "missing": None if missing is None else list(missing),
        "most": services.settings.limits.upload_rows,
    }
    source = project.source or {}
    if "allowed" in source:
        name = str(source["allowed"])
        location = allowed_location(services, name, project.owner)
        arguments |= {"label": name, "location": location}
    else:
        path = source_path(services.projects, project)
        arguments |= {"path": str(path), "label": str(source.get("label") or path.name)}
    job = services.jobs.submit(PROFILE, arguments, owner=project.owner, project=project.id)
    return services.projects.note_job(project, PROFILE, job.id, PENDING)


def profile_state(services: Services, project: Project) -> tuple[ProfileState, Job | None]:
    """How far the profile of the project's data is, and its job.

    A profile that is `ready` can be taken; an `outdated` one is of other data, or was deleted.
    """
    if project.source is None:
        return "none", None
    try:
        job = services.jobs.get(project.jobs.get(PROFILE, ""), project.owner)
    except ShoalError:
        return "outdated", None
    if not job.has_ended:
        return "running", job
    if project.fingerprints.get(PROFILE) == PENDING:
        return ("ready" if job.state == "done" else "failed"), job
    if project.fingerprints.get(PROFILE) != data_fingerprint(project):
        return "outdated", job
    return ("done" if job.state == "done" else "failed"), job


def _take_profile(services: Services, project: Project, job: Job) -> Project:
    """Put what a profile found into the project."""
    profile = services.jobs.result(job.id, project.owner)
    is_first = not project.attributes
    definition = with_profile(project.definition, profile)
    changed = replace(project, reading=profile["source"], definition=definition)
    saved = services.projects.save(changed, amend=is_first)
    return services.projects.note_job(saved, PROFILE, job.id, data_fingerprint(saved))


def with_profile(definition: Mapping[str, Any], profile: Mapping[str, Any]) -> dict[str, Any]:
    """The definition for the columns of a profile: decided ones stay, new ones as guessed."""
    former: Mapping[str, Any] = definition.get("attributes", {})
    names = [column["name"] for column in profile["columns"]]
    guessed = {column["name"]: column["attribute"] for column in profile["columns"]}
    found = {key: value for key, value in definition.items() if key != "attributes"}
    if not former and profile["person"]:
        found["person"] = list(profile["person"]["columns"])
    if not set(persons_of(found)) <= set(names):
        found.pop("person", None)
    found = with_missing(found, profile["missing"])
    return {**found, "attributes": {name: former.get(name, guessed[name]) for name in names}}


def with_missing(definition: Mapping[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """The definition with these texts for missing values."""
    said = definition.get("missing", {})
    kept = {"match": said} if isinstance(said, str) else dict(said)
    found = {**definition, "missing": {**kept, "values": list(texts)}}
    if not texts and not kept.keys() - {"values"}:
        del found["missing"]
    return found


def missing_texts(project: Project) -> list[str]:
    """The texts for missing values that the definition states."""
    said = project.definition.get("missing", {})
    return list(said.get("values", ())) if isinstance(said, Mapping) else []


def persons_of(definition: Mapping[str, Any]) -> list[str]:
    """The columns that identify persons."""
    said = definition.get("person", ())
    return [said] if isinstance(said, str) else list(said)


def data_fingerprint(project: Project) -> str:
    """What a profile depends on: the source, how it is read, and what means missing."""
    said = [project.source, project.reading, missing_texts(project)]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

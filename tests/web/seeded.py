"""Projects that are written straight into the folder of a running server.

The pages under test then begin where they begin for a user, without walking all steps before.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import yaml

from shoal.demo.files import write_demo
from shoal.web.projects import Project, Projects
from shoal.web.services import STORE_FILE
from shoal.web.store import Store


@cache
def demo_folder(records: int = 2000) -> Path:
    """The demo data with its definition, made once."""
    folder = Path(mkdtemp(prefix="demo-"))
    write_demo(folder, records)
    return folder


def demo_project(data: Path, *, owner: str = "you", records: int = 2000, **keys: Any) -> Project:
    """A project on the demo data; `data` is the folder of the server, `keys` of the definition."""
    demo = demo_folder(records)
    said = yaml.safe_load((demo / "patients.yaml").read_text(encoding="utf-8"))
    definition = {k: v for k, v in said.items() if k not in ("source", "output", "report")}
    definition["attributes"]["country"]["hierarchy"] = {"path": "hierarchies/country.csv"}
    return seed_project(
        data,
        demo / "patients.csv",
        {**definition, **keys},
        owner=owner,
        hierarchies=demo / "hierarchies",
    )


def seed_project(
    data: Path,
    source: Path,
    definition: Mapping[str, Any],
    *,
    owner: str = "you",
    hierarchies: Path | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Project:
    """A project with this file, this definition and the files of a folder of hierarchies."""
    with closing(Store(data / STORE_FILE)) as store:
        projects = Projects(store, data)
        project = projects.create(owner, source.name)
        folder = projects.folder(project)
        shutil.copy(source, folder / "upload-1.csv")
        if hierarchies is not None:
            shutil.copytree(hierarchies, folder / "hierarchies")
        return projects.change(
            project,
            source={"upload": "upload-1.csv", "label": source.name},
            definition=dict(definition),
            reading=dict(reading or {}),
        )


def definition_of(data: Path, project: str, owner: str = "you") -> Mapping[str, Any]:
    """The definition of a project as it is saved now."""
    with closing(Store(data / STORE_FILE)) as store:
        return Projects(store, data).get(project, owner).definition

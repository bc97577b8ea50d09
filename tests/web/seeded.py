"""Projects that are written straight into the folder of a running server.

The pages under test then begin where they begin for a user, without walking all steps before.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
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
    project = seed_project(data, demo / "patients.csv", {**definition, **keys}, owner=owner)
    folder = data / "projects" / project.id / "hierarchies"
    folder.mkdir(exist_ok=True)
    shutil.copy(demo / "hierarchies" / "country.csv", folder)
    return project


def seed_project(
    data: Path, source: Path, definition: Mapping[str, Any], *, owner: str = "you"
) -> Project:
    """A project with this file and this definition."""
    store = Store(data / STORE_FILE)
    try:
        projects = Projects(store, data)
        project = projects.create(owner, source.name)
        shutil.copy(source, projects.folder(project) / "upload-1.csv")
        return projects.change(
            project,
            source={"upload": "upload-1.csv", "label": source.name},
            definition=dict(definition),
        )
    finally:
        store.close()

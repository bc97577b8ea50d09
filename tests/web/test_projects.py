"""Projects: saved as one goes, undone and redone, and never another user's."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml

from shoal.definition.read import from_mapping
from shoal.errors import BadDefinition
from shoal.web.project_definition import (
    NoSource,
    files_beside,
    fingerprint,
    mapping_of,
    plain_file_name,
    release_name,
    server_definition,
    text_of,
)
from shoal.web.projects import ChangedElsewhere, Project, Projects
from shoal.web.refusals import NotFound
from shoal.web.settings import Account, AllowedSource, Settings
from shoal.web.store import Store
from shoal.web.users import Users

ADA = Account("ada", "", frozenset({"custodian"}))
ATTRIBUTES = {
    "name": "identifier",
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": [1, 2]}},
    "ward": "keep",
}


@pytest.fixture
def projects(tmp_path: Path) -> Projects:
    return Projects(Store(tmp_path / "store.sqlite"), tmp_path)


def with_upload(projects: Projects, label: str = "patients.csv") -> Project:
    project = projects.create("ada", "Patients")
    name = "data-0123.csv"
    (projects.folder(project) / name).write_text("name,zip,ward\nA,12,x\n")
    definition = {"k": 5, "attributes": ATTRIBUTES}
    return projects.change(project, source={"upload": name, "label": label}, definition=definition)


def services_of(projects: Projects, tmp_path: Path, **sources: AllowedSource) -> Any:
    return cast(
        "Any",
        SimpleNamespace(
            projects=projects,
            settings=Settings(tmp_path, sources=sources),
            users=Users(Store(tmp_path / "users.sqlite"), [ADA], 60),
        ),
    )


def test_a_project_that_is_closed_is_as_it_was_when_it_is_opened(projects: Projects) -> None:
    saved = with_upload(projects)
    opened = projects.get(saved.id, "ada")
    assert opened == saved
    assert opened.role_of("zip") == "quasi-identifier"
    assert opened.role_of("ward") == "keep"
    assert [each.id for each in projects.of("ada")] == [saved.id]


def test_the_folder_of_a_project_is_private(projects: Projects) -> None:
    folder = projects.folder(projects.create("ada", "x"))
    assert folder.stat().st_mode & 0o777 == 0o700


def test_nobody_else_can_open_save_or_delete_a_project(projects: Projects) -> None:
    project = with_upload(projects)
    for act in (
        lambda: projects.get(project.id, "bob"),
        lambda: projects.delete(project.id, "bob"),
        lambda: projects.get("0" * 32, "ada"),
        lambda: projects.get("../../etc", "ada"),
    ):
        with pytest.raises(NotFound) as refused:
            act()
        assert refused.value.what == "there is no such project"
    assert projects.of("bob") == []
    assert projects.get(project.id, "ada") == project


def test_a_deleted_project_leaves_no_file(projects: Projects) -> None:
    project = with_upload(projects)
    folder = projects.folder(project)
    projects.delete(project.id, "ada")
    assert not folder.exists()
    assert projects.of("ada") == []


def test_two_tabs_do_not_overwrite_each_other_silently(projects: Projects) -> None:
    first = with_upload(projects)
    second = projects.get(first.id, "ada")
    projects.change(first, definition={**first.definition, "k": 7})
    with pytest.raises(ChangedElsewhere):
        projects.change(second, definition={**second.definition, "k": 9})
    assert projects.get(first.id, "ada").definition["k"] == 7


def test_a_noted_job_does_not_make_a_save_fail(projects: Projects) -> None:
    page = with_upload(projects)
    projects.note_job(page, "search", "job1", "abc")
    saved = projects.change(page, definition={**page.definition, "k": 7})
    assert saved.jobs == {"search": "job1"}
    assert saved.fingerprints == {"search": "abc"}
    assert saved.definition["k"] == 7


def test_a_visited_step_is_noted_without_a_new_version(projects: Projects) -> None:
    page = with_upload(projects)
    assert page.visited == frozenset()
    projects.note_visit(page, "columns")
    seen = projects.note_visit(page, "data")
    assert seen.visited == {"columns", "data"}
    assert seen.version == page.version
    assert projects.change(page, name="other").visited == {"columns", "data"}


def test_changes_are_undone_and_redone_one_by_one(projects: Projects) -> None:
    project = projects.create("ada", "x")
    for k in (2, 3, 4):
        project = projects.change(project, definition={"k": k, "attributes": {}})
    seen = []
    while projects.can_undo(project):
        project = projects.undo(project)
        seen.append(project.definition["k"])
    assert seen == [3, 2, 5]
    project = projects.redo(projects.redo(project))
    assert project.definition["k"] == 3
    assert projects.can_redo(project)
    project = projects.change(project, definition={"k": 11, "attributes": {}})
    assert not projects.can_redo(project)
    assert projects.undo(project).definition["k"] == 3


def test_an_amended_change_is_undone_with_the_one_before(projects: Projects) -> None:
    project = projects.create("ada", "x")
    project = projects.change(project, source={"upload": "data-0.csv"})
    project = projects.save(replace(project, reading={"delimiter": ";"}), amend=True)
    assert projects.get(project.id, "ada").reading == {"delimiter": ";"}
    undone = projects.undo(project)
    assert undone.source is None
    assert projects.redo(undone).reading == {"delimiter": ";"}


def test_a_new_name_is_no_change_to_undo(projects: Projects) -> None:
    project = projects.change(projects.create("ada", "x"), name="  two\nlines ")
    assert project.name == "two lines"
    assert not projects.can_undo(project)


def test_only_the_last_hundred_changes_are_kept(projects: Projects) -> None:
    project = projects.create("ada", "x")
    for k in range(2, 140):
        project = projects.change(project, definition={"k": k, "attributes": {}})
    undone = 0
    while projects.can_undo(project):
        project, undone = projects.undo(project), undone + 1
    assert undone == 100


def test_old_projects_are_deleted_with_their_folders(projects: Projects) -> None:
    project = with_upload(projects)
    assert projects.delete_old(3600) == []
    assert projects.delete_old(-1) == [project.id]
    assert not projects.folder(project).exists()


def test_the_definition_for_people_names_their_file_and_no_path(
    projects: Projects, tmp_path: Path
) -> None:
    project = with_upload(projects)
    text = text_of(project)
    assert str(tmp_path) not in text
    assert "data-0123" not in text
    said = yaml.safe_load(text)
    assert said["source"] == "patients.csv"
    assert said["output"] == "patients-release.csv"
    assert json.loads(text_of(project, "json")) == said
    assert "patients.csv" in text_of(project, "xml")
    assert list(said) == ["source", "output", "k", "attributes"]


def test_what_is_stated_of_the_file_is_in_the_definition(projects: Projects) -> None:
    project = projects.change(with_upload(projects), reading={"delimiter": ";"})
    assert mapping_of(project)["source"] == {"path": "patients.csv", "delimiter": ";"}


def test_the_server_runs_the_same_definition_with_its_own_paths(
    projects: Projects, tmp_path: Path
) -> None:
    project = with_upload(projects)
    mapping = server_definition(services_of(projects, tmp_path), project, tmp_path / "out")
    assert mapping["source"] == {"path": str(projects.folder(project) / "data-0123.csv")}
    assert mapping["output"] == str(tmp_path / "out" / "patients-release.csv")
    assert from_mapping(mapping).quasi_identifiers == ("zip",)
    assert json.loads(json.dumps(mapping)) == mapping


def test_keys_that_name_paths_are_not_run(projects: Projects, tmp_path: Path) -> None:
    project = with_upload(projects)
    project = projects.change(
        project,
        reading={"path": "/etc/passwd"},
        definition={
            **project.definition,
            "report": "/tmp/x.html",
            "source": "/etc/passwd",
            "output": "/tmp/out.csv",
            "engine": {"spill folder": "/tmp"},
        },
    )
    mapping = server_definition(services_of(projects, tmp_path), project, tmp_path / "out")
    assert set(mapping) == {"source", "output", "k", "attributes"}
    assert "passwd" not in json.dumps(mapping)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x.csv", "hierarchies/../../x.csv", "hierarchies/no-such.csv"]
)
@pytest.mark.parametrize("short", [True, False])
def test_a_hierarchy_is_read_from_the_folder_of_the_project_only(
    projects: Projects, tmp_path: Path, path: str, *, short: bool
) -> None:
    hierarchy: Any = path if short else {"path": path}
    project = with_upload(projects)
    attributes = {"zip": {"role": "quasi-identifier", "hierarchy": hierarchy}}
    project = projects.change(project, definition={"k": 5, "attributes": attributes})
    with pytest.raises(BadDefinition, match="not on the server"):
        server_definition(services_of(projects, tmp_path), project, tmp_path)


def test_an_uploaded_hierarchy_lies_beside_the_downloaded_definition(
    projects: Projects, tmp_path: Path
) -> None:
    project = with_upload(projects)
    folder = projects.folder(project) / "hierarchies"
    folder.mkdir()
    (folder / "zip-1.csv").write_text("12;1*;*\n")
    hierarchy = {"path": "hierarchies/zip-1.csv", "delimiter": ";"}
    attributes = {"zip": {"role": "quasi-identifier", "hierarchy": hierarchy}}
    project = projects.change(project, definition={"k": 5, "attributes": attributes})
    mapping = server_definition(services_of(projects, tmp_path), project, tmp_path)
    assert mapping["attributes"]["zip"]["hierarchy"]["path"] == str(folder / "zip-1.csv")
    assert files_beside(projects, project) == {"hierarchies/zip-1.csv": folder / "zip-1.csv"}
    assert "hierarchies/zip-1.csv" in text_of(project)


def test_an_allowed_source_is_named_to_people_and_located_for_the_server(
    projects: Projects, tmp_path: Path
) -> None:
    location = {"url": "postgresql://secret@host/db", "table": "t"}
    services = services_of(
        projects, tmp_path, registry=AllowedSource("registry", "Registry", "", location)
    )
    project = projects.change(with_upload(projects), source={"allowed": "registry"})
    assert "secret" not in text_of(project)
    assert server_definition(services, project, tmp_path)["source"] == location
    gone = projects.change(project, source={"allowed": "other"})
    with pytest.raises(NoSource, match="does not allow"):
        server_definition(services, gone, tmp_path)


def test_a_project_without_data_says_what_to_do(projects: Projects, tmp_path: Path) -> None:
    project = projects.create("ada", "x")
    with pytest.raises(NoSource, match="no data yet"):
        server_definition(services_of(projects, tmp_path), project, tmp_path)
    project = projects.change(project, source={"upload": "../../etc/passwd"})
    with pytest.raises(NoSource, match="not on the server"):
        server_definition(services_of(projects, tmp_path), project, tmp_path)


def test_a_fingerprint_changes_with_what_a_result_depends_on(
    projects: Projects, tmp_path: Path
) -> None:
    services = services_of(projects, tmp_path)
    project = with_upload(projects)
    first = fingerprint(project, services)
    assert fingerprint(projects.change(project, name="other"), services) == first
    project = projects.get(project.id, "ada")
    changed = projects.change(project, definition={**project.definition, "k": 9})
    assert fingerprint(changed, services) != first
    assert fingerprint(projects.undo(changed), services) == first


@pytest.mark.parametrize(
    ("label", "plain"),
    [
        ("patients.csv", "patients.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\Fälle 2024.xlsx", "Fälle 2024.xlsx"),
        ("~root/x.csv", "x.csv"),
        ("*.csv", "_.csv"),
        ("-rf.csv", "rf.csv"),
        ("<script>.csv", "_script_.csv"),
        ("..", "data.csv"),
        ("", "data.csv"),
    ],
)
def test_a_label_becomes_a_plain_file_name(label: str, plain: str) -> None:
    assert plain_file_name(label) == plain


def test_the_release_is_named_after_the_file(projects: Projects) -> None:
    assert release_name(with_upload(projects, "patients.csv.gz")) == "patients-release.csv"
    assert release_name(with_upload(projects, "Fälle.xlsx")) == "Fälle-release.csv"


def test_the_release_has_the_format_that_was_decided(projects: Projects) -> None:
    project = with_upload(projects, "patients.csv")
    for chosen, name in {"xlsx": "xlsx", "csv": "csv", "../x": "csv", "": "csv"}.items():
        decided = replace(project, decision={"format": chosen})
        assert mapping_of(decided)["output"] == f"patients-release.{name}"
    escaped = mapping_of(replace(project, decision={"format": "csv-escaped"}))
    assert escaped["output"] == {"path": "patients-release.csv", "formulas": "escape"}

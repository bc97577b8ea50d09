"""The data of a project: read in a worker, guessed into the definition, shown row by row."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from shoal.definition.read import from_mapping
from shoal.demo.registry import write_registry
from shoal.errors import BadData, ShoalError
from shoal.web.cached_table import ROWS, TABLE, read_rows
from shoal.web.column_roles import ROLES, role_in, with_persons, with_role
from shoal.web.jobs.model import Context, Job
from shoal.web.project_data import (
    create_demo,
    current_data,
    data_fingerprint,
    demo_definition,
    missing_texts,
    profile_state,
    start_profile,
    take_allowed,
    with_missing,
    with_profile,
)
from shoal.web.projects import Project, Projects
from shoal.web.refusals import NotFound, TooLarge
from shoal.web.settings import Account, AllowedSource, Settings
from shoal.web.store import Store
from shoal.web.tasks import profile, uniqueness
from shoal.web.users import Users


def context(folder: Path, said: list[tuple[str, Any]] | None = None) -> Context:
    folder.mkdir(exist_ok=True)
    return Context(
        folder,
        lambda _: None,
        lambda name, data: said.append((name, data)) if said is not None else None,
        1 << 30,
    )


def profiled(path: Path, folder: Path, **more: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "path": str(path),
        "label": path.name,
        "stated": {},
        "missing": None,
        "most": 10**6,
    }
    return profile.run({**arguments, **more}, context(folder))


class DoneJobs:
    """Jobs that are done at once, here; the queue has tests of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.done = folder, dict[str, tuple[Job, Any]]()

    def submit(self, task: str, arguments: Mapping[str, Any], *, owner: str, project: str) -> Job:
        number = f"{len(self.done):032x}"
        assert task == "profile"
        result, state, problem = None, "done", None
        try:
            result = profile.run(arguments, context(self._folder / number))
        except ShoalError as error:
            state, problem = "failed", {"code": error.code, "detail": error.what}
        job = Job(number, owner, project, task, cast("Any", state), 0, 0, 0, {}, problem)
        self.done[number] = job, result
        return job

    def get(self, number: str, owner: str) -> Job:
        if number not in self.done:
            raise NotFound("no such job")
        return self.done[number][0]

    def result(self, number: str, owner: str) -> Any:
        return self.done[number][1]


@pytest.fixture
def services(tmp_path: Path) -> Any:
    store = Store(tmp_path / "store.sqlite")
    projects = Projects(store, tmp_path)
    jobs = DoneJobs(tmp_path / "jobs")
    (tmp_path / "jobs").mkdir()
    users = Users(store, [Account("ada", "", frozenset({"custodian"}))], 60)
    return SimpleNamespace(projects=projects, jobs=jobs, settings=Settings(tmp_path), users=users)


def with_file(services: Any, content: str, label: str = "people.csv") -> Project:
    project = services.projects.create("ada", "People")
    (services.projects.folder(project) / "data-1.csv").write_text(content, encoding="utf-8")
    source = {"upload": "data-1.csv", "label": label}
    return cast("Project", services.projects.change(project, source=source))


def taken(services: Any, project: Project) -> Project:
    return current_data(services, project).project


def profile_of(services: Any, project: Project) -> Any:
    return services.jobs.result(project.jobs["profile"], project.owner)


PEOPLE = "name;age;weight\n" + "".join(
    f"N{i};{20 + i % 50};{50 + i % 30},{i % 10}\n" if i % 9 else f"N{i};k.A.;70,5\n"
    for i in range(200)
)


def test_the_rows_at_any_offset_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    write_registry(path, 2 * ROWS + 100)
    found = profiled(path, tmp_path / "job")
    with path.open(encoding="utf-8", newline="") as file:
        rows = [[value or None for value in row] for row in list(csv.reader(file))[1:]]
    assert found["records"] == len(rows)
    table = tmp_path / "job" / TABLE
    for offset in (0, 7, ROWS - 30, 2 * ROWS - 5, len(rows) - 20):
        assert read_rows(table, offset, 60) == rows[offset : offset + 60]
    assert read_rows(table, len(rows), 60) == []
    assert read_rows(table, 5, 0) == []


def test_how_the_file_is_read_is_said_before_it_fails(tmp_path: Path) -> None:
    path = tmp_path / "data-123.csv"
    path.write_text("a,b\n1,2\n3,4,5\n")
    said: list[tuple[str, Any]] = []
    arguments: dict[str, Any] = {
        "path": str(path),
        "label": "bad.csv",
        "stated": {},
        "missing": None,
        "most": 9,
    }
    with pytest.raises(BadData) as failed:
        profile.run(arguments, context(tmp_path / "job", said))
    assert said[0][0] == "reading"
    assert {each["key"] for each in said[0][1]["guesses"]} >= {"delimiter", "encoding", "header"}
    assert failed.value.what.startswith("bad.csv, line 3")
    assert str(tmp_path) not in str(failed.value)


def test_no_path_of_the_server_is_in_a_problem_of_reading(tmp_path: Path) -> None:
    path = tmp_path / "data-123.xml"
    path.write_text(
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><r><w><a>&a;</a></w></r>'
    )
    with pytest.raises(BadData, match=r"^rows\.xml has a document type") as failed:
        profiled(path, tmp_path / "job", label="rows.xml")
    assert str(tmp_path) not in str(failed.value)


def test_many_columns_are_counted_at_once(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(300)]
    rows = [",".join(str((i * j) % 7) for j in range(300)) for i in range(20)]
    path.write_text("\n".join([",".join(names), *rows]))
    found = profiled(path, tmp_path / "job")
    assert [column["name"] for column in found["columns"]] == names
    assert found["columns"][3]["distinct"] == 7


def test_more_records_than_allowed_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    path.write_text("a\n" + "1\n" * 100)
    with pytest.raises(TooLarge, match="more than the 99 records"):
        profiled(path, tmp_path / "job", most=99)


def test_a_german_file_is_guessed_and_its_reading_is_stated(services: Any) -> None:
    project = start_profile(services, with_file(services, PEOPLE), {}, None)
    assert profile_state(services, project)[0] == "ready"
    project = taken(services, project)
    assert profile_state(services, project)[0] == "done"
    assert project.reading["decimal"] == ","
    assert missing_texts(project) == ["k.A."]
    assert list(project.attributes) == ["name", "age", "weight"]
    weight = profile_of(services, project)["columns"][2]
    assert weight["type"] == "numbers"
    assert not services.projects.can_redo(project)
    assert services.projects.undo(project).source is None


def test_a_profile_that_ends_while_a_page_is_made_is_taken_by_the_next_look(services: Any) -> None:
    project = start_profile(services, with_file(services, PEOPLE), {}, None)
    job, result = services.jobs.done[project.jobs["profile"]]
    services.jobs.done[job.id] = replace(job, state="running"), result
    first = current_data(services, project)
    services.jobs.done[job.id] = job, result
    assert (first.project, first.state) == (project, "running")
    second = current_data(services, first.project)
    assert second.state == "done"
    assert list(second.project.attributes) == ["name", "age", "weight"]


def test_data_that_was_profiled_otherwise_is_profiled_again(services: Any) -> None:
    project = taken(services, start_profile(services, with_file(services, PEOPLE), {}, None))
    changed = taken(services, start_profile(services, project, {"delimiter": ","}, None))
    undone = current_data(services, services.projects.undo(changed))
    assert undone.state == "running"
    assert undone.job is not None
    assert undone.job.id == undone.project.jobs["profile"] != changed.jobs["profile"]
    assert list(taken(services, undone.project).attributes) == ["name", "age", "weight"]


def test_a_change_of_the_reading_keeps_what_was_decided(services: Any) -> None:
    project = taken(services, start_profile(services, with_file(services, PEOPLE), {}, None))
    attributes = {**project.attributes, "age": "drop"}
    project = services.projects.change(
        project, definition={**project.definition, "attributes": attributes}
    )
    project = taken(services, start_profile(services, project, {"decimal": "."}, ["70,5"]))
    assert project.role_of("age") == "drop"
    assert missing_texts(project) == ["70,5"]
    assert project.reading["decimal"] == "."
    undone = services.projects.undo(project)
    assert profile_state(services, undone)[0] == "outdated"
    assert undone.role_of("age") == "drop"


def test_a_file_that_cannot_be_read_changes_nothing(services: Any) -> None:
    project = start_profile(services, with_file(services, "a,b\n1,2,3\n4\n"), {}, None)
    assert profile_state(services, project)[0] == "failed"
    assert taken(services, project) == project
    assert project.attributes == {}


def test_the_fingerprint_of_data_is_of_the_data_alone(services: Any) -> None:
    project = with_file(services, PEOPLE)
    first = data_fingerprint(project)
    project = services.projects.change(project, definition={**project.definition, "k": 17})
    assert data_fingerprint(project) == first
    missing = with_missing(project.definition, ["?"])
    assert data_fingerprint(services.projects.change(project, definition=missing)) != first


def test_the_demo_is_the_definition_of_the_command_line(services: Any) -> None:
    with ThreadPoolExecutor() as pool:
        project = pool.submit(asyncio.run, create_demo(services, "ada")).result()
    state, _ = profile_state(services, project)
    assert state == "ready"
    project = taken(services, project)
    assert project.attributes == demo_definition()["attributes"]
    assert project.reading == {}
    assert profile_of(services, project)["records"] == 20_000
    from_mapping({"source": "patients.csv", **project.definition})
    assert not services.projects.can_undo(project)


def test_an_allowed_source_is_read_where_it_is(tmp_path: Path, services: Any) -> None:
    path = tmp_path / "registry.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    location = {"path": str(path), "delimiter": ";", "decimal": ","}
    allowed = AllowedSource("registry", "The registry", "", location)
    services.settings = replace(services.settings, sources={"registry": allowed})
    project = services.projects.create("ada", "Registry")
    project = taken(services, take_allowed(services, project, "registry"))
    assert profile_state(services, project)[0] == "done"
    assert profile_of(services, project)["records"] == 200
    assert project.reading == {}
    assert list(project.attributes) == ["name", "age", "weight"]


def test_columns_that_are_gone_leave_the_definition() -> None:
    found = {"columns": [{"name": "b", "attribute": "keep"}], "person": None, "missing": []}
    former = {
        "k": 5,
        "person": "a",
        "attributes": {"a": "identifier"},
        "missing": {"values": ["?"]},
    }
    assert with_profile(former, found) == {"k": 5, "attributes": {"b": "keep"}}


def test_missing_texts_leave_the_other_choices_alone() -> None:
    assert with_missing({"missing": "basic"}, ["?"]) == {
        "missing": {"match": "basic", "values": ["?"]}
    }
    assert with_missing({"missing": {"match": "basic"}}, []) == {
        "missing": {"match": "basic", "values": []}
    }


COLUMN = {
    "name": "zip",
    "role": "identifier",
    "attribute": "identifier",
    "hierarchy": {"mask": 5},
    "distinct": 188,
}


@pytest.mark.parametrize("role", ROLES)
def test_a_column_gets_the_role_that_is_chosen(role: str) -> None:
    definition = with_role({"k": 5, "attributes": {"sex": "keep"}}, COLUMN, role)
    assert role_in(definition, "zip") == role
    assert role_in(definition, "sex") == "keep"
    assert role_in(definition, "none") is None
    attributes = {
        **definition["attributes"],
        "age": {"role": "quasi-identifier", "hierarchy": "suppress"},
    }
    from_mapping({**definition, "source": "x.csv", "attributes": attributes})


def test_a_person_is_an_identifier_that_is_counted_by() -> None:
    definition = with_role({"attributes": {"zip": "keep"}}, COLUMN, "person")
    assert definition == {"person": "zip", "attributes": {"zip": "identifier"}}
    assert with_role(definition, COLUMN, "drop") == {"attributes": {"zip": "drop"}}
    assert with_persons(definition, ["zip", "sex"])["person"] == ["zip", "sex"]


def test_the_task_counts_the_records_that_are_alone(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("a,b\n1,x\n1,x\n2,?\n2,\n3,y\n")
    profiled(path, tmp_path / "job")
    arguments = {
        "table": str(tmp_path / "job" / TABLE),
        "columns": ["a", "b"],
        "missing": ["?"],
        "k": 3,
    }
    found = uniqueness.run(arguments, context(tmp_path / "other"))
    assert found == {"records": 5, "unique": 1, "below_k": 5, "classes": 3}

"""How far a project is with each step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shoal.web.projects import Project
from shoal.web.services import Services, open_services
from shoal.web.settings import Settings
from shoal.web.steps import STEPS, next_step, state, states

QUASI = {"role": "quasi-identifier", "hierarchy": "suppress"}


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = open_services(Settings(tmp_path / "data", single_user=True))
    yield made
    made.close()


def project_with(services: Services, **fields: Any) -> Project:
    return services.projects.change(services.projects.create("you", "patients"), **fields)


def statuses(services: Services, project: Project) -> list[str]:
    return [each.status for each in states(services, project)]


def test_without_data_only_the_first_step_is_open(services: Services) -> None:
    project = project_with(services)
    assert statuses(services, project) == ["open", *["blocked"] * 7]
    assert state(services, project, "columns").reason == "first choose the data"


def test_without_a_quasi_identifier_nothing_after_columns_is_open(services: Services) -> None:
    definition = {"k": 5, "attributes": {"name": "identifier"}}
    project = project_with(services, source={"upload": "a.csv"}, definition=definition)
    assert statuses(services, project) == ["done", "open", *["blocked"] * 6]


def test_hierarchies_are_done_when_each_column_has_one_and_the_page_was_opened(
    services: Services,
) -> None:
    definition = {"k": 5, "attributes": {"zip": QUASI, "age": "quasi-identifier"}}
    project = project_with(services, source={"upload": "a.csv"}, definition=definition)
    assert state(services, project, "hierarchies").status == "open"
    whole = {"k": 5, "attributes": {"zip": QUASI, "age": QUASI}}
    project = services.projects.change(project, definition=whole)
    assert state(services, project, "hierarchies").status == "open"
    project = services.projects.note_visit(project, "hierarchies")
    assert state(services, project, "hierarchies").status == "done"
    assert state(services, project, "explore").reason == "first search"


def test_steps_follow_each_other_to_the_last() -> None:
    assert next_step("data") is STEPS[1]
    assert next_step("decide") is None

"""What the job `levels` counted, for the page: values with their records, and levels tried on them.

Columns with few values are tried here, in a thread: nothing is counted again for an edit. Columns
with many values are given to a worker each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from shoal.errors import BadHierarchy, ShoalError
from shoal.web.hierarchies.levels import Levels, Problem, levels_of
from shoal.web.hierarchies.tree import Tree
from shoal.web.hierarchies.written import kind_of_mapping
from shoal.web.project_data import missing_texts
from shoal.web.project_definition import file_label, server_definition
from shoal.web.steps import quasi_identifiers
from shoal.web.tasks.levels import counts_of

if TYPE_CHECKING:
    from shoal.web.projects import Project
    from shoal.web.services import Services

MOST_VALUES = 20_000
"""Columns with more values are not tried in the server, and have no tree that can be edited."""
PURPOSE = "levels"


@dataclass(frozen=True)
class Counts:
    """The records of each value of a column, and those without a value."""

    values: Mapping[str, int]
    missing: int


@dataclass(frozen=True)
class CountedColumn:
    """A column as the job found it: its hierarchy and levels then, what is proposed, and why."""

    name: str
    file: Path
    hierarchy: Any
    levels: Levels
    proposed: Any
    reason: str

    @property
    def is_small(self) -> bool:
        return self.levels.values <= MOST_VALUES

    def read(self) -> Counts:
        """Read the counts; call it in a thread."""
        return Counts(*counts_of(pq.read_table(self.file)))


def counted_columns(result: Mapping[str, Any], folder: Path) -> dict[str, CountedColumn]:
    """The columns in the result of a job, with its folder."""
    return {
        name: CountedColumn(
            name,
            folder / f"counts-{found['file']}.parquet",
            found["hierarchy"],
            Levels.from_json(found["levels"]),
            found["proposed"],
            found["reason"],
        )
        for name, found in result["columns"].items()
    }


def hierarchy_columns(project: Project) -> list[str]:
    """The columns that have a hierarchy: quasi-identifiers, then those of `measured_columns`."""
    return [*quasi_identifiers(project), *measured_columns(project)]


def measured_columns(project: Project) -> list[str]:
    """Sensitive columns whose values are near or far by their hierarchy, which must be a tree."""
    return [
        name
        for name, said in project.attributes.items()
        if isinstance(said, Mapping)
        and isinstance(closeness := said.get("closeness"), Mapping)
        and closeness.get("distance") == "hierarchical"
        and said.get("role") == "sensitive"
    ]


def arguments_of(services: Services, project: Project) -> dict[str, Any]:
    """The arguments of the job, for all columns of a project that have a hierarchy."""
    definition = server_definition(services, project, Path())
    attributes = definition["attributes"]
    return {
        "source": definition["source"],
        "label": file_label(project),
        "missing": missing_texts(project),
        "columns": {name: said_hierarchy(attributes, name) for name in hierarchy_columns(project)},
    }


def said_hierarchy(attributes: Mapping[str, Any], column: str) -> Any:
    """The hierarchy that the definition gives a column; None where it leaves it to be proposed."""
    attribute = attributes.get(column)
    return attribute.get("hierarchy") if isinstance(attribute, Mapping) else None


def tried(column: str, hierarchy: Any, counts: Counts, folder: Path) -> Levels:
    """What a hierarchy makes of the values; call it in a thread."""
    try:
        kind = kind_of_mapping(column, hierarchy, folder)
        return levels_of(column, kind, counts.values, counts.missing)[0]
    except ShoalError as error:
        records = sum(counts.values.values())
        return Levels(len(counts.values), records, counts.missing, problem=Problem.of(error))


def flat_tree(counts: Counts) -> Tree:
    """The values below `*`, to start from."""
    return Tree.of_rows([(value, "*") for value in sorted(counts.values)] or [("*",)])


def tree_of(column: str, hierarchy: Any, counts: Counts, folder: Path) -> Tree:
    """The hierarchy as a tree of the values that it covers; call it in a thread.

    A hierarchy that covers no value, or cannot be built, starts as values below `*`.
    """
    try:
        kind = kind_of_mapping(column, hierarchy, folder)
        built = levels_of(column, kind, counts.values, counts.missing)[1]
    except ShoalError:
        built = None
    if built is None or not built.labels[0]:
        return flat_tree(counts)
    if len(built.labels[0]) > MOST_VALUES:
        raise BadHierarchy(
            f"a hierarchy of more than {MOST_VALUES} values is not edited as a tree",
            hint="upload another file, or choose another kind",
            code="large-hierarchy",
        )
    return Tree.of_rows(list(built.rows()))

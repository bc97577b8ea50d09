"""A recipe applied again: the rows of a release as a table of DuckDB.

It is applied to the *linked rows*: the outer join of the sources that the compared releases use,
with the texts of their columns, a number for each record of each source (0 where the source is
absent in a row), and the person. The rows of a release have the person, the records, and for each
view the number of the class. A *view* is what an adversary holds: one source, or JOINT, all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shoal.engines.duckdb.queries import label_of, label_table
from shoal.mart.recipe import JOINT

if TYPE_CHECKING:
    from shoal.engines.base import Generalization
    from shoal.engines.duckdb.session import Session
    from shoal.mart.catalog import ColumnRef
    from shoal.mart.recipe import Recipe, ReleasedClass

EVERY_ROW = "1"
"""The class of every row of a release that has no column of a view."""


@dataclass(frozen=True)
class LinkedRows:
    """A table of the session: its columns of texts and of record numbers, and `person`."""

    table: str
    texts: Mapping[ColumnRef, str]
    records: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Applied:
    """A recipe as it applies to the sources now: accepted values, and labels at its levels."""

    recipe: Recipe
    only: Mapping[ColumnRef, frozenset[str | None]]
    labels: Mapping[ColumnRef, Generalization]


@dataclass(frozen=True)
class ReleaseRows:
    """The rows of a release: the name of their table, and the recipe."""

    table: str
    recipe: Recipe

    @property
    def k(self) -> int:
        """The persons that the release promised for each class."""
        return self.recipe.k


def class_column(view: str, views: Sequence[str]) -> str:
    """The column that has the number of the class in a view."""
    return f"class_{views.index(view)}"


@contextmanager
def release_rows(
    session: Session, name: str, applied: Applied, rows: LinkedRows, views: Sequence[str]
) -> Iterator[ReleaseRows]:
    """The rows of a release, in a table of this name while the context lasts."""
    selected, tables = _selected(name, applied, rows)
    with _registered(session, tables):
        query, further = _release_query(session, name, applied, rows, views, selected)
        with _registered(session, further):
            session.execute(f"CREATE TEMP TABLE {name} AS {query}")
    try:
        yield ReleaseRows(name, applied.recipe)
    finally:
        session.execute(f"DROP TABLE {name}")


@contextmanager
def _registered(session: Session, tables: Mapping[str, pa.Table]) -> Iterator[None]:
    """Tables that queries can name while the context lasts."""
    for each, content in tables.items():
        session.register(each, content)
    try:
        yield
    finally:
        for each in tables:
            session.unregister(each)


def changed_groups(
    session: Session, release: ReleaseRows, rows: LinkedRows, views: Sequence[str]
) -> list[str]:
    """The groups of columns whose classes have other counts now than the recipe says.

    Where only the rows or persons of the whole release are others, that is the first group, or the
    first source of a release without any.
    """
    recipe, found = release.recipe, list[str]()
    records = ", ".join(rows.records[source] for source in recipe.sources)
    counts = f"count(DISTINCT row({records})), count(DISTINCT person) FROM {release.table}"
    for group, classes in recipe.classes.items():
        counted = fetch(session, f"SELECT {class_column(group, views)}, {counts} GROUP BY ALL")
        now = {number: (in_class, persons) for number, in_class, persons in counted}
        if any(now.get(i) != (each.records, each.persons) for i, each in enumerate(classes, 1)):
            found.append(group)
    if not found and fetch(session, f"SELECT {counts}") != [(recipe.rows, recipe.persons)]:
        found.append(next(iter(recipe.columns), recipe.sources[0]))
    return found


def fetch(session: Session, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query with a short answer."""
    table = session.table(query)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _release_query(
    session: Session,
    name: str,
    applied: Applied,
    rows: LinkedRows,
    views: Sequence[str],
    where: str,
) -> tuple[str, dict[str, pa.Table]]:
    """SQL for the rows of a release, and the tables that it reads beside the linked rows.

    Three steps: select rows, label their columns, keep those of released classes. In local recoding
    the classes are listed by their tuples, and there is nothing to label.
    """
    recipe, tables = applied.recipe, dict[str, pa.Table]()
    labels, label_joins, class_joins = "", "", ""
    numbers = dict.fromkeys(views, EVERY_ROW)
    for i, (group, refs) in enumerate(recipe.columns.items()):
        listed, matches = f"{name}_classes_{i}", list[str]()
        tables[listed] = _class_table(group, refs, recipe.classes[group], views)
        if group in recipe.tuples:
            texts = [rows.texts[ref] for ref in refs]
            found = f"SELECT DISTINCT {', '.join(texts)} FROM {rows.table} WHERE {where}"
            again = recipe.tuples[group].found_again(fetch(session, found))
            tables[listed] = _tuple_table(tables[listed], again)
            matches += [f"{t} IS NOT DISTINCT FROM {listed}.k{j}" for j, t in enumerate(texts)]
        for j, ref in enumerate(refs if group not in recipe.tuples else ()):
            table, generalization = f"{name}_labels_{i}_{j}", applied.labels[ref]
            if generalization.values:
                tables[table] = label_table(generalization)
            join, label = label_of(rows.texts[ref], table, generalization)
            label_joins += join
            labels += f", {label} AS label_{i}_{j}"
            matches.append(f"label_{i}_{j} IS NOT DISTINCT FROM {listed}.k{j}")
        class_joins += f" JOIN {listed} ON {' AND '.join(matches)}"
        for view in _views_of(group, refs):
            numbers[view] = f"{listed}.{class_column(view, views)}"
    classes = [f"{numbers[view]} AS {class_column(view, views)}" for view in views]
    query = f"""
        WITH selected AS (SELECT * FROM {rows.table} WHERE {where}),
             labelled AS (SELECT selected.*{labels} FROM selected{label_joins})
        SELECT DISTINCT {", ".join(["person", *rows.records.values(), *classes])}
        FROM labelled{class_joins}
    """
    return query, tables


def _selected(name: str, applied: Applied, rows: LinkedRows) -> tuple[str, dict[str, pa.Table]]:
    """SQL that holds for the rows that a release is made from: joined, selected, complete.

    With the tables that it reads beside the linked rows.
    """
    recipe, tables = applied.recipe, dict[str, pa.Table]()
    conditions = [
        f"{rows.records[source]} > 0" for source in recipe.sources if source not in recipe.optional
    ]
    for i, (ref, accepted) in enumerate(applied.only.items()):
        table, text = f"{name}_only_{i}", rows.texts[ref]
        tables[table] = pa.table({"value": pa.array(accepted - {None}, pa.string())})
        missing = f" OR {text} IS NULL" if None in accepted else ""
        conditions.append(
            f"(({text} IS NOT NULL AND {text} IN (SELECT value FROM {table})){missing})"
        )
    if recipe.complete:
        conditions += [f"{rows.texts[ref]} IS NOT NULL" for ref in recipe.quasi_identifiers]
    return " AND ".join(conditions), tables


def _views_of(group: str, refs: Sequence[ColumnRef]) -> list[str]:
    """The views that have columns of a group: the group itself, and each of its sources."""
    return list(dict.fromkeys([group, *(ref.source for ref in refs)]))


def _class_table(
    group: str, refs: Sequence[ColumnRef], classes: Sequence[ReleasedClass], views: Sequence[str]
) -> pa.Table:
    """The released classes: their labels k0, k1, ..., and their number in each view of the group.

    In the view of a source, classes are the same when their labels in its columns are.
    """
    columns: dict[str, pa.Array] = {
        f"k{j}": pa.array([each.labels[j] for each in classes], pa.string())
        for j in range(len(refs))
    }
    for view in _views_of(group, refs):
        seen = [j for j, ref in enumerate(refs) if view in (JOINT, ref.source)]
        labels = [tuple(each.labels[j] for j in seen) for each in classes]
        number = {each: i for i, each in enumerate(dict.fromkeys(labels), 1)}
        columns[class_column(view, views)] = pa.array([number[each] for each in labels], pa.int64())
    return pa.table(columns)


def _tuple_table(
    classes: pa.Table, tuples: Sequence[tuple[int, tuple[str | None, ...]]]
) -> pa.Table:
    """The same table with a row for each released tuple: its values k0, k1, ... and the numbers of
    its class, which counts from 1."""
    rows = classes.take(pa.array([number - 1 for number, _ in tuples], pa.int64()))
    for j in range(len([name for name in classes.column_names if name.startswith("k")])):
        values = pa.array([each[j] for _, each in tuples], pa.string())
        rows = rows.set_column(j, f"k{j}", values)
    return rows

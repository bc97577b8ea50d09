"""Persons in the cells of several releases, counted in DuckDB.

Two releases show of a row its class in each. Rows of two releases match when they are made
of the same records of some sources, the *unit*. The classes of matching rows are a *cell*. A row
without a match is in a cell too: there its class in the other release is 0.

A release promised k persons for each of its rows. So a cell needs the largest k of the releases
that have its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from shoal.engines.duckdb.session import literal
from shoal.mart.applied import class_column, fetch

if TYPE_CHECKING:
    from shoal.engines.duckdb.session import Session
    from shoal.mart.applied import LinkedRows, ReleaseRows

Unit: TypeAlias = tuple[str, ...]
"""Sources by whose records rows are matched."""


@dataclass(frozen=True)
class SmallCells:
    """Cells with too few persons: how many, and how many persons are in them.

    `in_both` says whether they are cells of matching rows, or of rows without a match.
    """

    in_both: bool
    cells: int
    persons: int


@dataclass(frozen=True)
class History:
    """The cells of so many `releases`, as a table: person, unit, cell, the k that it needs, and
    whether a release with tied rows has it.

    A cell is the text of its classes, release by release.
    """

    table: str
    view: str
    unit: Unit
    releases: int = 0

    @property
    def nothing(self) -> str:
        """The cell of what none of the releases has, as SQL."""
        return literal(",0" * self.releases)


class Cells:
    """Counts the cells of releases over the linked rows of a session."""

    def __init__(self, session: Session, rows: LinkedRows, views: Sequence[str]) -> None:
        self._session = session
        self._rows = rows
        self._views = tuple(views)

    def small_in_pair(
        self, new: ReleaseRows, earlier: ReleaseRows, view: str, unit: Unit
    ) -> list[SmallCells]:
        """The cells of two releases that have too few persons."""
        larger = max(new.k, earlier.k)
        needed = f"CASE WHEN a = 0 THEN {earlier.k} WHEN b = 0 THEN {new.k} ELSE {larger} END"
        counted = fetch(
            self._session,
            f"""
            WITH new AS ({self._unit_classes(new, view, unit, "a")}),
                 old AS ({self._unit_classes(earlier, view, unit, "b")}),
                 cells AS (
                     SELECT DISTINCT coalesce(new.person, old.person) AS person,
                            coalesce(a, 0) AS a, coalesce(b, 0) AS b
                     FROM new FULL JOIN old ON {self._match(unit)}
                 ),
                 small AS (SELECT a, b FROM cells GROUP BY a, b HAVING count(*) < {needed})
            SELECT a > 0 AND b > 0 AS in_both, count(DISTINCT (a, b)), count(DISTINCT person)
            FROM cells JOIN small USING (a, b) GROUP BY in_both ORDER BY in_both DESC
            """,
        )
        return [SmallCells(in_both, cells, persons) for in_both, cells, persons in counted]

    def small_by_person(
        self, new: ReleaseRows, earlier: ReleaseRows, view: str, unit: Unit
    ) -> list[SmallCells]:
        """Where the rows of a person are tied: persons whose rows, taken together, too few have.

        Of each tied release, a person has a list of cells: of each row with each of its matches.
        Persons are in one cell when these lists are the same.
        """
        needed = (
            f"greatest(CASE WHEN bool_or(in_new) THEN {new.k} ELSE 0 END,"
            f" CASE WHEN bool_or(in_old) THEN {earlier.k} ELSE 0 END)"
        )
        counted = fetch(
            self._session,
            f"""
            WITH new AS ({self._lists(new, earlier, view, unit, "a", "b")}),
                 old AS ({self._lists(earlier, new, view, unit, "b", "a")}),
                 by_person AS (
                     SELECT new.cells AS new_cells, old.cells AS old_cells,
                            greatest(new.a, old.a) > 0 AS in_new, greatest(new.b, old.b) > 0
                            AS in_old
                     FROM new FULL JOIN old ON new.person = old.person
                 ),
                 small AS (
                     SELECT bool_or(in_new) AND bool_or(in_old) AS in_both, count(*) AS persons
                     FROM by_person GROUP BY new_cells, old_cells HAVING count(*) < {needed}
                 )
            SELECT in_both, count(*), CAST(sum(persons) AS BIGINT)
            FROM small GROUP BY in_both ORDER BY in_both DESC
            """,
        )
        return [SmallCells(in_both, cells, persons) for in_both, cells, persons in counted]

    def _lists(
        self, tied: ReleaseRows, other: ReleaseRows, view: str, unit: Unit, mine: str, its: str
    ) -> str:
        """The list of cells of each person in a release; of nobody where its rows are not tied.

        The greatest classes are 0 where the person is not in a release.
        """
        own = self._unit_classes(tied, view, tuple(tied.recipe.sources), mine)
        others = self._unit_classes(other, view, unit, its)
        match = " AND ".join(f"own.{key} = other.{key}" for key in self._keys(unit))
        return f"""
            SELECT own.person, list((a, b) ORDER BY a, b) AS cells, max(a) AS a, max(b) AS b
            FROM (SELECT own.*, coalesce({its}, 0) AS {its}
                  FROM ({own}) AS own LEFT JOIN ({others}) AS other ON {match}) AS own
            WHERE {str(tied.recipe.tied).lower()} GROUP BY own.person
        """

    @contextmanager
    def history(self, number: int, view: str, unit: Unit) -> Iterator[History]:
        """An empty history; its table lasts as long as the context."""
        table = f"history_{number}"
        records = ", ".join(f"{key} BIGINT" for key in self._keys(unit)[1:])
        self._session.execute(
            f"CREATE TEMP TABLE {table}"
            f" (person VARCHAR, {records}, cell VARCHAR, k BIGINT, tied BOOLEAN)"
        )
        try:
            yield History(table, view, unit)
        finally:
            self._session.execute(f"DROP TABLE {table}")

    def extended(self, history: History, release: ReleaseRows) -> History:
        """The history with one release more: each cell gets one more class."""
        keys = [f"coalesce(new.{key}, old.{key}) AS {key}" for key in self._keys(history.unit)]
        self._session.execute(
            f"""
            CREATE OR REPLACE TEMP TABLE {history.table} AS
            SELECT {", ".join(keys)}, coalesce(cell, {history.nothing}) || ',' || coalesce(a, 0)
                   AS cell, {_needed(release)} AS k, {_tied(release)} AS tied
            FROM {self._with_new(history, release)}
            """
        )
        return replace(history, releases=history.releases + 1)

    def small_in_history(self, history: History, new: ReleaseRows) -> SmallCells | None:
        """The cells of all releases that have too few persons because of the new one.

        That is so where the new one has their rows, or where there were more persons before it.
        """
        ((cells, persons),) = fetch(
            self._session,
            f"""
            WITH before AS (
                     SELECT cell, count(DISTINCT person) AS persons
                     FROM {history.table} GROUP BY cell
                 ),
                 cells AS (
                     SELECT DISTINCT coalesce(new.person, old.person) AS person,
                            coalesce(cell, {history.nothing}) AS cell, coalesce(a, 0) AS a,
                            {_needed(new)} AS k
                     FROM {self._with_new(history, new)}
                 ),
                 small AS (
                     SELECT cell, a, count(*) AS persons FROM cells
                     GROUP BY cell, a HAVING count(*) < max(k)
                 ),
                 caused AS (
                     SELECT cell, a FROM small LEFT JOIN before USING (cell)
                     WHERE a > 0 OR small.persons < before.persons
                 )
            SELECT count(DISTINCT (cell, a)), count(DISTINCT person)
            FROM cells JOIN caused USING (cell, a)
            """,
        )
        return SmallCells(True, cells, persons) if cells else None

    def small_by_person_in_history(self, history: History, new: ReleaseRows) -> SmallCells | None:
        """The same for persons, whose tied rows in all releases too few persons have alike."""
        ((cells, persons),) = fetch(
            self._session,
            f"""
            WITH before AS (
                     SELECT person, list(cell ORDER BY cell) AS cells
                     FROM {history.table} WHERE tied GROUP BY person
                 ),
                 linked_cells AS (
                     SELECT coalesce(new.person, old.person) AS person,
                            coalesce(cell, {history.nothing}) AS cell, coalesce(a, 0) AS a,
                            {_needed(new)} AS k
                     FROM {self._with_new(history, new)} WHERE {_tied(new)}
                 ),
                 now AS (
                     SELECT person, list((cell, a) ORDER BY cell, a) AS cells,
                            max(a) > 0 AS in_new, max(k) AS k
                     FROM linked_cells GROUP BY person
                 ),
                 by_person AS (
                     SELECT now.*, count(*) OVER (PARTITION BY before.cells) AS persons_before
                     FROM now LEFT JOIN before ON now.person = before.person
                 ),
                 small AS (
                     SELECT count(*) AS persons FROM by_person GROUP BY cells
                     HAVING count(*) < max(k)
                        AND (bool_or(in_new) OR count(*) < max(persons_before))
                 )
            SELECT count(*), CAST(coalesce(sum(persons), 0) AS BIGINT) FROM small
            """,
        )
        return SmallCells(True, cells, persons) if cells else None

    def _with_new(self, history: History, release: ReleaseRows) -> str:
        classes = self._unit_classes(release, history.view, history.unit, "a")
        return f"{history.table} AS old FULL JOIN ({classes}) AS new ON {self._match(history.unit)}"

    def _unit_classes(self, release: ReleaseRows, view: str, unit: Unit, name: str) -> str:
        """The person of each unit of a release, and its classes in a view.

        Somebody who matches rows by the records of a source cannot match those without one.
        """
        columns = [*self._keys(unit), f"{class_column(view, self._views)} AS {name}"]
        there = f" WHERE {self._rows.records[view]} > 0" if unit == (view,) else ""
        return f"SELECT DISTINCT {', '.join(columns)} FROM {release.table}{there}"

    def _keys(self, unit: Unit) -> list[str]:
        return ["person", *(self._rows.records[source] for source in unit)]

    def _match(self, unit: Unit) -> str:
        return " AND ".join(f"new.{key} = old.{key}" for key in self._keys(unit))


def _needed(release: ReleaseRows) -> str:
    """SQL for the k of a cell that a release was joined to."""
    return f"greatest(coalesce(k, 0), CASE WHEN a IS NULL THEN 0 ELSE {release.k} END)"


def _tied(release: ReleaseRows) -> str:
    """SQL that is true where a release with tied rows has a cell, once a release was joined."""
    joined = "a IS NOT NULL" if release.recipe.tied else "false"
    return f"(coalesce(tied, false) OR {joined})"

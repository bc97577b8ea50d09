"""The open sources of a catalog, and what is asked of them as a whole: domains and persons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from shoal.engines.opening import open_source
from shoal.mart.catalog import ColumnRef
from shoal.mart.linking import linked, person_key
from shoal.mart.linking.columns import is_derived, key_columns, reading_of
from shoal.mart.linking.derived import rows_of
from shoal.mart.linking.joining import joined, presence
from shoal.mart.linking.keys import check_keys
from shoal.mart.linking.plan import plan_of
from shoal.mart.opened import OpenedSources, ignore

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.events import Event
    from shoal.mart.catalog import Catalog


class OpenSources(OpenedSources):
    """The sources of a catalog, each opened once; answers about whole sources are kept."""

    def __init__(
        self, catalog: Catalog, *, spark: Any = None, observe: Callable[[Event], None] = ignore
    ) -> None:
        super().__init__(catalog, spark=spark, observe=observe)
        self._values: dict[ColumnRef, Mapping[str | None, int]] = {}
        self._persons: dict[str, int] = {}

    def values(self, ref: ColumnRef) -> Mapping[str | None, int]:
        """The values of a column in the whole source, with their numbers of records.

        Those of a derived column are computed for every record of its source; where it reads other
        sources too, for every row of their join.
        """
        if ref not in self._values:
            self._values[ref] = _counts(self._counted(ref))
        return self._values[ref]

    def _counted(self, ref: ColumnRef) -> pa.Table:
        """The distinct values of a column and their numbers of records."""
        if not is_derived(self.catalog, ref):
            return self.open(ref.source).count_by([ref.column], self.missing)
        plan, reading = rows_of(self.catalog, ref)
        if not plan.joins:
            with joined(self, plan, reading, {}) as found, found.explaining():
                counted = found.session.table(
                    f"SELECT {found.text(ref)}, count(*) FROM ({found.relation.query}) GROUP BY ALL"
                )
            self.checked_derived.update(each.ref for each in reading.derived)
            return counted
        with linked(self, {"value": ref}, {}) as table, open_source(table.options) as source:
            return source.count_by(["value"], self.missing)

    def persons(self, source: str) -> int:
        """How many persons have records in a source."""
        if source not in self._persons:
            self._persons[source] = self._counted_persons(source)
        return self._persons[source]

    def _counted_persons(self, source: str) -> int:
        catalog = self.catalog
        plan = plan_of(catalog, [source])
        check_keys(self, plan)
        reading = reading_of(catalog, key_columns(catalog, plan))
        columns = (ColumnRef(catalog.person.source, name) for name in catalog.person.columns)
        with joined(self, plan, reading, {}) as found, found.explaining():
            key = person_key([found.text(ref) for ref in columns])
            present = presence(found, plan, source) or "true"
            counted = found.session.table(
                f"SELECT count(DISTINCT {key}) FROM ({found.relation.query}) WHERE {present}"
            )
        return int(counted.column(0)[0].as_py())


def _counts(counted: pa.Table) -> Mapping[str | None, int]:
    values, numbers = (column.to_pylist() for column in counted.columns)
    return dict(zip(values, numbers, strict=True))

"""A checked catalog as people see it: what is wrong, and how large sources and hierarchies are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from shoal.report.sections import Section
from shoal.report.shown import Shown


@dataclass(frozen=True)
class Problem:
    """What would stop a request: the key of the catalog, what is wrong, the remedy, the code."""

    key: str
    what: str
    remedy: str
    code: str

    def __str__(self) -> str:
        return f"{self.key}: {self.what} [{self.code}]; {self.remedy}"


@dataclass(frozen=True)
class CheckedSource:
    """A source: how many records it has, and how many persons they are about, if that is known."""

    source: str
    records: int
    persons: int | None


@dataclass(frozen=True)
class CheckedColumn:
    """A quasi-identifier: how many values it has in the whole source, and its last level."""

    name: str
    source: str
    values: int
    height: int
    proposed: bool


@dataclass(frozen=True, repr=False)
class CatalogCheck(Shown):
    """What a check of a catalog found."""

    mart: str
    sources: tuple[CheckedSource, ...]
    columns: tuple[CheckedColumn, ...]
    problems: tuple[Problem, ...]

    @property
    def verified(self) -> bool:  # type: ignore[override]
        """Whether nothing would stop a request."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON has them."""
        return {"sound": self.verified, **asdict(self)}

    def records(self) -> Sequence[Mapping[str, Any]]:
        """A row for each quasi-identifier."""
        return [asdict(column) for column in self.columns]

    def sections(self) -> Sequence[Section]:
        """The verdict, what is wrong, then a table of sources and one of columns."""
        verdict = f"The mart {self.mart!r} can be asked: sources, links and hierarchies fit."
        if self.problems:
            number = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
            verdict = f"The mart {self.mart!r} has {number}, which would stop requests."
        return Section("", (verdict,)), *self._tables()

    def _tables(self) -> Iterator[Section]:
        if self.problems:
            yield Section("What is wrong", tuple(map(str, self.problems)))
        if self.sources:
            heading = ("source", "records", "persons")
            yield Section("Sources", (), heading, tuple(map(_source_row, self.sources)), (1, 2))
        if self.columns:
            columns = ("column", "source", "values", "levels", "hierarchy")
            rows = tuple(map(_column_row, self.columns))
            yield Section("Quasi-identifiers", (), columns, rows, numbers=(2, 3))


def _source_row(source: CheckedSource) -> tuple[str, ...]:
    persons = "unknown" if source.persons is None else f"{source.persons:,}"
    return source.source, f"{source.records:,}", persons


def _column_row(column: CheckedColumn) -> tuple[str, ...]:
    origin = "proposed" if column.proposed else "stated"
    return column.name, column.source, f"{column.values:,}", f"{column.height + 1}", origin

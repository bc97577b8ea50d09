"""What a release did: enough to apply it to the sources again, and nothing of their records.

The log stores the recipe of every release. Comparing a new release with an earlier one applies
both recipes to the sources as they are now, and counts (see overlap.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shoal.mart.catalog import ColumnRef
from shoal.mart.conditions import Condition
from shoal.mart.local_classes import KeptTuples

JOINT = "*"
"""The name of the one group of columns under `scope: joint`."""


@dataclass(frozen=True)
class ReleasedClass:
    """A class that was released: its labels in the order of the columns, null for missing, and how
    many records and persons it has."""

    labels: tuple[str | None, ...]
    records: int
    persons: int


@dataclass(frozen=True)
class Recipe:
    """How a release was made from its sources.

    `sources` are all that were joined; an `optional` one among them may be absent in a row.
    `columns` are the released quasi-identifiers by source, or all together under JOINT, and
    `classes` their released classes. A source that releases no quasi-identifier is in neither.
    `levels` has the level of each of these columns; in local recoding `tuples` has in place of them
    what finds the classes of each group again. `conditions` are the selection, which
    holds for joined rows. Under `complete`, rows with a missing quasi-identifier are left out.

    A row is in the release exactly when it is joined, selected, complete where that is asked for,
    and its class is listed in every group: what is suppressed leaves by whole classes. `rows` and
    `persons` say how many there were. In a `tied` release one can see which rows are of one person.
    """

    scope: str
    k: int
    sources: tuple[str, ...]
    columns: Mapping[str, tuple[ColumnRef, ...]]
    levels: Mapping[ColumnRef, int]
    classes: Mapping[str, tuple[ReleasedClass, ...]]
    rows: int
    persons: int
    conditions: tuple[Condition, ...] = ()
    optional: tuple[str, ...] = ()
    complete: bool = False
    tied: bool = False
    tuples: Mapping[str, KeptTuples] = field(default_factory=dict)

    @property
    def quasi_identifiers(self) -> tuple[ColumnRef, ...]:
        """All released quasi-identifiers, group by group."""
        return tuple(ref for refs in self.columns.values() for ref in refs)

    def to_json(self) -> dict[str, Any]:
        """Plain values for the log."""
        local = {
            "tuples": [
                [name, each.sha256, list(each.classes)]
                for name, each in sorted(self.tuples.items())
            ]
        }
        return {
            "scope": self.scope,
            "k": self.k,
            "sources": list(self.sources),
            "optional": list(self.optional),
            "complete": self.complete,
            "rows": self.rows,
            "persons": self.persons,
            "tied": self.tied,
            "levels": [[ref.source, ref.column, self.levels[ref]] for ref in sorted(self.levels)],
            "conditions": [
                [each.column, each.operator, list(each.values)] for each in self.conditions
            ],
            "groups": [_group(name, refs, self.classes[name]) for name, refs in self._groups],
            **(local if self.tuples else {}),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Recipe:
        """The recipe that `to_json` wrote."""
        groups = {name: _stored_group(columns, rows) for name, columns, rows in stored["groups"]}
        return cls(
            scope=stored["scope"],
            k=stored["k"],
            sources=tuple(stored["sources"]),
            columns={name: refs for name, (refs, _) in groups.items()},
            levels={ColumnRef(source, name): level for source, name, level in stored["levels"]},
            classes={name: classes for name, (_, classes) in groups.items()},
            conditions=tuple(
                Condition(column=column, operator=operator, values=tuple(values))
                for column, operator, values in stored["conditions"]
            ),
            optional=tuple(stored["optional"]),
            complete=stored["complete"],
            rows=stored["rows"],
            persons=stored["persons"],
            tied=stored["tied"],
            tuples={
                name: KeptTuples(sha256, tuple(classes))
                for name, sha256, classes in stored.get("tuples", ())
            },
        )

    @property
    def _groups(self) -> list[tuple[str, tuple[ColumnRef, ...]]]:
        return sorted(self.columns.items())


def _group(
    name: str, refs: Sequence[ColumnRef], classes: Sequence[ReleasedClass]
) -> tuple[str, list[list[Any]], list[list[int]]]:
    """A group of columns in few bytes: the labels of each column once, classes by their indexes.

    The columns are [source, column, labels], a class is [index of each label, records, persons].
    """
    labels = [dict.fromkeys(each.labels[i] for each in classes) for i in range(len(refs))]
    index = [{label: i for i, label in enumerate(column)} for column in labels]
    columns = [
        [ref.source, ref.column, list(column)] for ref, column in zip(refs, labels, strict=True)
    ]
    rows = [
        [index[i][label] for i, label in enumerate(each.labels)] + [each.records, each.persons]
        for each in classes
    ]
    return name, columns, rows


def _stored_group(
    columns: Sequence[Sequence[Any]], rows: Sequence[Sequence[int]]
) -> tuple[tuple[ColumnRef, ...], tuple[ReleasedClass, ...]]:
    """The columns and classes that `_group` wrote."""
    labels = [column[2] for column in columns]
    classes = tuple(
        ReleasedClass(
            tuple(each[i] for each, i in zip(labels, row[:-2], strict=True)), row[-2], row[-1]
        )
        for row in rows
    )
    return tuple(ColumnRef(column[0], column[1]) for column in columns), classes

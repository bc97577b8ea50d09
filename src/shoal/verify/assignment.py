"""Which labels each tuple of the source got in a local recoding, as the run states it.

A class of a local release has no counterpart in the source: two records with one value can have
labels of different levels. So the persons of a class can be counted only with a list of tuples and
their labels. The list is not trusted. Each label must be one that its value has at an allowed
level, by the verifier's own reading of the hierarchy. Then the list is applied to the source, and
the classes that result must be those of the release, with the same records and sensitive values.

A run gives the list itself. Afterwards it comes from the assignment file, which has the class of
each tuple of the source, sorted, without the tuples: `of_source` counts these again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import BadData, BadHierarchy
from shoal.measure.classes import encoded, numbered
from shoal.verify.demands import Unjudged
from shoal.verify.labels.built import missing_label
from shoal.verify.levels import allowed_levels, labels_of

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.definition.model import Attribute, Definition
    from shoal.engines.base import Generalization, Source
    from shoal.values import Bools


@dataclass(frozen=True, eq=False)
class Assignment:
    """Tuples of values, null for missing, and the labels of each; other tuples are suppressed.

    Both tables have a text column for each quasi-identifier, and their rows belong together.
    `joined` says which values are listed as another one: a run that may not read all tuples counts
    values together that have the same label at every level it uses.
    """

    tuples: pa.Table
    labels: pa.Table
    joined: Mapping[str, Generalization] = field(default_factory=dict)

    def relabel(self, counted: pa.Table) -> tuple[pa.Table, Bools]:
        """The labels of tuples that were counted, and which of them are listed."""
        listed = self.tuples.num_rows
        numbers, rows = _numbered(self.tuples, counted)
        row_of = np.full(rows, -1, dtype=np.int64)
        row_of[numbers[:listed]] = np.arange(listed)
        found = row_of[numbers[listed:]]
        known: Bools = found >= 0
        return self.labels.take(pa.array(found, mask=~known)), known


@dataclass(frozen=True, eq=False)
class AssignmentFile:
    """The labels of each class, and for each tuple of the source, sorted, the index of its class.

    It is null where the tuple is suppressed.
    """

    classes: pa.Table
    class_of: pa.Array

    def of_source(self, definition: Definition, source: Source) -> Assignment:
        """The list, with the tuples of the source; Unjudged where there are not as many."""
        names = list(definition.quasi_identifiers)
        if self.classes.column_names != names:
            raise Unjudged("it has other quasi-identifiers than the definition")
        complete = names if definition.missing.match == "basic" else ()
        counted = source.count_by(names, definition.missing.values, complete=complete)
        tuples = counted.select(range(len(names))).rename_columns(list(map(str, range(len(names)))))
        if tuples.num_rows != len(self.class_of):
            has = f"it has {len(self.class_of):,} tuples"
            raise Unjudged(f"{has}, and the source has {tuples.num_rows:,}")
        order = pc.sort_indices(tuples, [(name, "ascending") for name in tuples.column_names])
        listed = pc.is_valid(self.class_of)
        return Assignment(
            tuples.take(order).filter(listed).rename_columns(names),
            self.classes.take(self.class_of.filter(listed)),
        )


def read_assignment(path: Path) -> AssignmentFile:
    """The content of an assignment file; BadData if it is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["shoal assignment"] != 1:
            raise ValueError("of another version")
        names, classes = found["quasi-identifiers"], found["classes"]
        columns = {n: [row[i] for row in classes] for i, n in enumerate(names)}
        schema = pa.schema([(name, pa.string()) for name in names])
        class_of = pa.array(found["tuples"], pa.int64())
        if any(len(row) != len(names) for row in classes):
            raise ValueError("of rows that differ in length")
        if class_of.null_count < len(class_of) and not (
            0 <= pc.min(class_of).as_py() <= pc.max(class_of).as_py() < len(classes)
        ):
            raise ValueError("of classes that are not there")
        return AssignmentFile(pa.table(columns, schema=schema), class_of)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no such file, or was cut"
        raise BadData(
            f"{path} cannot be read as an assignment: {why}",
            code="bad-assignment",
            hint="give the file that `shoal run --assignment` wrote",
        ) from None


def check_assignment(
    stated: Assignment, definition: Definition, values: Mapping[str, Collection[str]]
) -> None:
    """Unjudged unless each tuple is listed once, with labels that its values have.

    `values` are the distinct ones of each quasi-identifier of the source.
    """
    names = list(definition.quasi_identifiers)
    if not stated.tuples.column_names == stated.labels.column_names == names:
        raise Unjudged("the list of tuples and labels has other columns than the definition")
    if stated.tuples.num_rows != stated.labels.num_rows:
        raise Unjudged("the list of tuples and labels has tuples without labels")
    _, distinct = _numbered(stated.tuples)
    if distinct < stated.tuples.num_rows:
        raise Unjudged("the list of tuples and labels has a tuple twice")
    for name in names:
        wrong = _wrong(name, definition.attributes[name], stated, values[name])
        if wrong:
            raise Unjudged(f"the list has {wrong:,} labels of {name!r} that their values never get")


def _numbered(*tables: pa.Table) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], int]:
    """A number for each row of the tables, one after the other; and how many numbers there are."""
    columns = zip(*(table.columns for table in tables), strict=True)
    joined = [
        pa.chunked_array([c for each in parts for c in each.chunks], pa.string())
        for parts in columns
    ]
    numbers, first = numbered([encoded(column)[0] for column in joined])
    return numbers, len(first)


def _wrong(name: str, attribute: Attribute, stated: Assignment, values: Collection[str]) -> int:
    """How many pairs of a value and its label are at no allowed level."""
    if attribute.hierarchy is None:
        raise Unjudged(
            f"the definition gives no hierarchy for {name!r}; give the result of the run"
        )
    try:
        labels = labels_of(attribute.hierarchy, values)
        possible: set[tuple[str | None, str | None]] = set()
        for level in allowed_levels(attribute, labels):
            possible |= labels.generalized(level).items()
            possible.add((None, missing_label(labels, level)))
    except BadHierarchy as error:
        raise Unjudged(error.what) from error
    listed = pa.table({"value": stated.tuples[name], "label": stated.labels[name]})
    pairs = listed.group_by(["value", "label"]).aggregate([]).to_pydict()
    standing = _standing(stated.joined.get(name))
    return sum(
        any((each, label) not in possible for each in standing.get(value, (value,)))
        for value, label in zip(pairs["value"], pairs["label"], strict=True)
    )


def _standing(joined: Generalization | None) -> dict[str | None, list[str]]:
    """The values that each listed value stands for, where they are joined."""
    found: dict[str | None, list[str]] = {}
    for value, listed in zip(joined.values, joined.labels, strict=True) if joined else ():
        found.setdefault(listed, []).append(value)
    return found

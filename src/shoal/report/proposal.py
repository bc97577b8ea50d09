"""What would be released, for the person who decides: numbers, examples of labels, no rare value.

A raw value is shown only if at least k released records of its column have it. Values of several
columns are never shown side by side as they are in the source. The classes that are shown are
released ones, the largest first, by their generalized labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.report.sections import Section, count, demands, lost, warnings
from shoal.report.shown import Shown

if TYPE_CHECKING:
    from shoal.encode.table import Attribute, Table
    from shoal.values import Bools, Ints, Result

LARGEST = 3
"""So many classes are shown."""


@dataclass(frozen=True)
class Example:
    """The most frequent released label of an attribute, and one of the values it stands for.

    `before` is None where no value is frequent enough to be shown. `values` become `labels`. In
    local recoding `level` is that of the label.
    """

    attribute: str
    level: int
    before: str | None
    after: str
    values: int
    labels: int


@dataclass(frozen=True)
class LargeClass:
    """A class that would be released: its labels and its records."""

    labels: tuple[str, ...]
    records: int


@dataclass(frozen=True, repr=False)
class Proposal(Shown):
    """A release before it is written: `result` is what its result would say."""

    result: Result
    target: str
    examples: tuple[Example, ...]
    largest: tuple[LargeClass, ...]

    def sections(self) -> Sequence[Section]:
        """What would be released, what would be lost, and examples."""
        result = self.result
        smallest = count(result.smallest_class, "record")
        verdict = (
            f"This would be released to {self.target}: {demands(result)}; the smallest of "
            f"{count(result.classes, 'class', 'classes')} has {smallest}."
        )
        cautions = [Section("Warnings", warnings(result))] if result.warnings else []
        names = tuple(each.attribute for each in self.examples)
        return (
            Section("", (verdict,)),
            *cautions,
            Section("What would be lost", lost(result)),
            Section(
                "What would become of each attribute",
                heading=("attribute", "level", "before", "after", "different values"),
                rows=tuple(self._row(each) for each in self.examples),
            ),
            Section(
                "The largest classes",
                heading=(*names, "records"),
                rows=tuple((*each.labels, f"{each.records:,}") for each in self.largest),
                numbers=(len(names),),
            ),
        )

    def _row(self, each: Example) -> tuple[str, ...]:
        level = self.result.treatments[each.attribute].shown_level
        before = "(none is frequent)" if each.before is None else each.before
        return each.attribute, level, before, each.after, f"{each.values:,} to {each.labels:,}"

    def records(self) -> Sequence[Mapping[str, Any]]:
        """A row for each attribute."""
        return [vars(each) for each in self.examples]


def propose_release(
    result: Result, table: Table, levels: Ints, class_of: Ints, kept: Bools, *, k: int, target: str
) -> Proposal:
    """What a person is asked about: the result of a release, and examples.

    `levels[t, j]` is the level of attribute `j` for the records of tuple `t`.
    """
    weights = table.weights * kept[class_of]
    least = None if _is_coarse(table) else k
    columns = [
        _column(attribute, codes, levels[:, j], weights > 0)
        for j, (attribute, codes) in enumerate(zip(table.attributes, table.codes, strict=True))
    ]
    examples = tuple(_example(column, weights, least=least) for column in columns)
    return Proposal(result, target, examples, _largest(columns, class_of, weights))


def _is_coarse(table: Table) -> bool:
    """Whether the records of single values are not known, or do not count persons."""
    return table.raised is not None or table.persons is not None


@dataclass(frozen=True, eq=False)
class _Column:
    """The released labels of an attribute: `labels[label_of[t]]` is that of tuple `t`.

    `levels` has the level of each label, the lowest where several levels have it.
    """

    attribute: Attribute
    codes: Ints
    labels: Sequence[str]
    levels: Sequence[int]
    label_of: Ints


def _column(attribute: Attribute, codes: Ints, levels: Ints, kept: Bools) -> _Column:
    """The labels of the kept tuples, each at its own level; those of others mean nothing."""
    number: dict[str | None, int] = {}
    level_of: list[int] = []
    label_of = np.zeros(len(codes), dtype=np.int64)
    for level in np.unique(levels[kept]).tolist():
        texts = attribute.labels(level).to_pylist()
        for text in texts:
            if number.setdefault(text, len(number)) == len(level_of):
                level_of.append(level)
        chosen = kept & (levels == level)
        numbers = np.array([number[text] for text in texts], dtype=np.int64)
        label_of[chosen] = numbers[attribute.groups[level][codes[chosen]]]
    labels = [text or "missing" for text in number]
    return _Column(attribute, codes, labels, level_of, label_of)


def _example(column: _Column, weights: Ints, *, least: int | None) -> Example:
    """The most frequent label, and under it the most frequent value with at least that many."""
    attribute, codes = column.attribute, column.codes
    of_label = np.bincount(column.label_of, weights=weights, minlength=len(column.labels))
    label = int(of_label.argmax())
    under = weights * (column.label_of == label)
    values = len(attribute.groups[0])
    inside = np.bincount(codes, weights=under, minlength=values)[: attribute.missing_code]
    frequent = least is not None and inside.size and inside.max() >= least
    before = attribute.hierarchy.labels[0][int(inside.argmax())] if frequent else None
    return Example(
        attribute.name,
        column.levels[label],
        before,
        column.labels[label],
        int((np.bincount(codes, weights=weights, minlength=values) > 0).sum()),
        int((of_label > 0).sum()),
    )


def _largest(columns: Sequence[_Column], class_of: Ints, weights: Ints) -> tuple[LargeClass, ...]:
    """The largest released classes, ties in the order of the classes."""
    sizes = np.bincount(class_of, weights=weights).astype(np.int64)
    first = np.argsort(-sizes, kind="stable")[:LARGEST]
    found = []
    for number in (each for each in first if sizes[each]):
        member = int(np.flatnonzero(class_of == number)[0])
        labels = tuple(column.labels[column.label_of[member]] for column in columns)
        found.append(LargeClass(labels, int(sizes[number])))
    return tuple(found)

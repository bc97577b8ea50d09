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
    from shoal.values import Bools, Ints, Node, Result

LARGEST = 3
"""So many classes are shown."""


@dataclass(frozen=True)
class Example:
    """The most frequent released label of an attribute, and one of the values it stands for.

    `before` is None where no value is frequent enough to be shown. `values` become `labels`.
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
        height = self.result.treatments[each.attribute].height
        before = "(none is frequent)" if each.before is None else each.before
        level = f"{each.level} of {height}"
        return each.attribute, level, before, each.after, f"{each.values:,} to {each.labels:,}"

    def records(self) -> Sequence[Mapping[str, Any]]:
        """A row for each attribute."""
        return [vars(each) for each in self.examples]


def propose_release(
    result: Result, table: Table, node: Node, class_of: Ints, kept: Bools, *, k: int, target: str
) -> Proposal:
    """What a person is asked about: the result of a release at a node, and examples."""
    weights = table.weights * kept[class_of]
    examples = tuple(
        _example(attribute, level, codes, weights, least=None if _is_coarse(table) else k)
        for attribute, level, codes in zip(table.attributes, node, table.codes, strict=True)
    )
    return Proposal(result, target, examples, _largest(table, node, class_of, weights))


def _is_coarse(table: Table) -> bool:
    """Whether the records of single values are not known, or do not count persons."""
    return table.raised is not None or table.persons is not None


def _example(
    attribute: Attribute, level: int, codes: Ints, weights: Ints, *, least: int | None
) -> Example:
    """The most frequent label, and under it the most frequent value with at least that many."""
    of_code = np.bincount(codes, weights=weights, minlength=len(attribute.groups[0]))
    groups = attribute.groups[level]
    of_label = np.bincount(groups, weights=of_code)
    label = int(of_label.argmax())
    inside = np.where(groups[: attribute.missing_code] == label, of_code[:-1], 0)
    frequent = least is not None and inside.size and inside.max() >= least
    before = attribute.hierarchy.labels[0][int(inside.argmax())] if frequent else None
    return Example(
        attribute.name,
        level,
        before,
        attribute.labels(level)[label].as_py() or "missing",
        int((of_code > 0).sum()),
        int((of_label > 0).sum()),
    )


def _largest(table: Table, node: Node, class_of: Ints, weights: Ints) -> tuple[LargeClass, ...]:
    """The largest released classes, ties in the order of the classes."""
    sizes = np.bincount(class_of, weights=weights).astype(np.int64)
    first = np.argsort(-sizes, kind="stable")[:LARGEST]
    found = []
    for number in (each for each in first if sizes[each]):
        member = int(np.flatnonzero(class_of == number)[0])
        labels = tuple(
            attribute.labels(level)[int(attribute.groups[level][codes[member]])].as_py()
            or "missing"
            for attribute, level, codes in zip(table.attributes, node, table.codes, strict=True)
        )
        found.append(LargeClass(labels, int(sizes[number])))
    return tuple(found)

"""A source and its release side by side, before anything is written: classes, columns, risk.

What is shown by default are labels of classes that would be released, and of each column how many
different values a label stands for. `raw=True` adds the values themselves: for the custodian of
the data, who asked for them, and for nobody else. Distributions name only labels and values that
at least k released records have (`distributions`), with or without `raw`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.analysis.distributions import distribution_of
from shoal.analysis.nodes import Input, Watch, ignore, levels_of, read_problem
from shoal.analysis.one_node import exposure_before
from shoal.choosing import judge_node, node_of
from shoal.report.counts import exposure_of
from shoal.report.result import finite

if TYPE_CHECKING:
    from shoal.analysis.distributions import Distribution
    from shoal.encode.table import Table
    from shoal.search.problem import Partition, Problem
    from shoal.values import Exposure, Ints, Node

MOST_CLASSES, MOST_TUPLES = 25, 6
"""So many classes are shown, and so many of the different tuples of each."""

MOST_LABELS = 40
"""So many labels of a column are listed; the others are counted together."""


@dataclass(frozen=True)
class Tuple:
    """A combination of values that the source has, None for a missing one, and its records."""

    values: tuple[str | None, ...]
    records: int


@dataclass(frozen=True)
class SampledClass:
    """A class that would be released: its labels, its records, and what becomes one there.

    `values` counts the different values of each column, `tuples` the different combinations.
    `examples` are some of these, the most frequent first; empty unless raw values are wanted.
    """

    labels: tuple[str | None, ...]
    records: int
    tuples: int
    values: tuple[int, ...]
    examples: tuple[Tuple, ...] = ()


@dataclass(frozen=True)
class Bar:
    """A label and its records before and after; no label for all others together.

    `before` is an average where the exact number would tell of a few suppressed records.
    """

    label: str | None
    before: float
    after: int
    others: bool = False


@dataclass(frozen=True)
class ColumnBefore:
    """A column: its values as they are, and its labels at the level of the release.

    `original` is empty where single values are not known or do not count persons.
    """

    name: str
    level: int
    values: int
    labels: int
    original: tuple[Bar, ...]
    released: tuple[Bar, ...]


@dataclass(frozen=True)
class SideBySide:
    """The sample, the columns, and the risk before and after.

    `lowest` are the levels of the values on the left: 0 but for a table that is too large to be
    counted as it is. `hidden` are the records of classes that would be left out.
    """

    levels: Mapping[str, int]
    lowest: tuple[int, ...]
    raw: bool
    records: int
    classes: int
    hidden: int
    sample: tuple[SampledClass, ...]
    columns: tuple[ColumnBefore, ...]
    before: Exposure | None
    after: Exposure | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        plain: dict[str, Any] = finite(asdict(self))
        return plain


def side_by_side(
    definition: Input,
    levels: Mapping[str, int],
    *,
    raw: bool = False,
    watch: Watch = ignore,
    file: str | None = None,
    spark: Any = None,
) -> SideBySide:
    """The source beside the release at a node; nothing is released.

    Raises:
        Infeasible: when the node is not safe.
    """
    loaded, problem = read_problem(definition, watch, file, spark)
    table, k = problem.table, loaded.k
    node = node_of(table, levels)
    judge_node(problem, node)
    watch("Comparing the columns")
    classes = problem.partition(node)
    return SideBySide(
        levels=levels_of(problem, node),
        lowest=_known(table),
        raw=raw,
        records=table.records,
        classes=int(classes.kept.sum()),
        hidden=classes.suppressed,
        sample=_sample(table, node, classes, raw=raw),
        columns=tuple(_column(problem, i, node, classes, k) for i in range(len(node))),
        before=exposure_before(problem, k),
        after=exposure_of(classes.released(), k),
    )


def _known(table: Table) -> Node:
    """The lowest levels at which the tuples are told apart."""
    return (0,) * len(table.attributes) if table.raised is None else table.raised.bottom


def _sample(table: Table, node: Node, classes: Partition, *, raw: bool) -> tuple[SampledClass, ...]:
    """Released classes from the largest to the smallest, evenly by their rank."""
    sizes = np.where(classes.kept, classes.counts.sizes, 0)
    order = np.argsort(-sizes, kind="stable")[: int(classes.kept.sum())]
    if len(order) > MOST_CLASSES:
        order = order[np.linspace(0, len(order) - 1, MOST_CLASSES).round().astype(int)]
    by_class = np.argsort(classes.class_of, kind="stable")
    starts = np.searchsorted(classes.class_of[by_class], np.arange(len(sizes) + 1))
    return tuple(
        _class(table, node, by_class[starts[each] : starts[each + 1]], raw=raw) for each in order
    )


def _class(table: Table, node: Node, members: Ints, *, raw: bool) -> SampledClass:
    """The class that these tuples are."""
    known, first = _known(table), members[:1]
    largest = members[np.argsort(-table.weights[members], kind="stable")][:MOST_TUPLES]
    examples = [
        Tuple(_labels(table, known, each), int(table.weights[each])) for each in largest.tolist()
    ]
    return SampledClass(
        labels=_labels(table, node, int(first[0])),
        records=int(table.weights[members].sum()),
        tuples=len(members),
        values=tuple(
            len(np.unique(attribute.groups[level][codes[members]]))
            for attribute, codes, level in zip(table.attributes, table.codes, known, strict=True)
        ),
        examples=tuple(examples) if raw else (),
    )


def _labels(table: Table, node: Node, row: int) -> tuple[str | None, ...]:
    """What a tuple is called at a node."""
    found = []
    for attribute, codes, level in zip(table.attributes, table.codes, node, strict=True):
        group = int(attribute.groups[level][codes[row]])
        names = attribute.hierarchy.labels[level]
        found.append(names[group] if group < len(names) else None)
    return tuple(found)


def _column(problem: Problem, index: int, node: Node, classes: Partition, k: int) -> ColumnBefore:
    table = problem.table
    attribute, records = table.attributes[index], table.records_of[index]
    released = distribution_of(table, index, node, classes, k)
    original: tuple[Bar, ...] = ()
    if table.raised is None and table.persons is None:
        as_it_is = (*node[:index], 0, *node[index + 1 :])
        original = _bars(distribution_of(table, index, as_it_is, classes, k))
    occurring = np.flatnonzero(records)
    return ColumnBefore(
        name=attribute.name,
        level=node[index],
        values=len(occurring),
        labels=len(np.unique(attribute.groups[node[index]][occurring])),
        original=original,
        released=_bars(released),
    )


def _bars(found: Distribution) -> tuple[Bar, ...]:
    """The most frequent labels in the order of the hierarchy, then all others as one."""
    others = [] if found.others is None else [len(found.labels)]
    befores, named = found.befores, range(len(found.labels))
    most = sorted(named, key=lambda i: -found.labels[i].after)[:MOST_LABELS]
    bars = [Bar(found.labels[i].label, befores[i], found.labels[i].after) for i in sorted(most)]
    rest = [*(i for i in named if i not in set(most)), *others]
    if rest:
        before = sum(befores[i] for i in rest)
        after = sum(found.entries[i].after for i in rest)
        bars.append(Bar(None, before, after, others=True))
    return tuple(bars)

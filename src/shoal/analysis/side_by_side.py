"""A source and its release side by side, before anything is written: classes, columns, risk.

What is shown by default are labels of classes that would be released, and of each column how many
different values a label stands for. `raw=True` adds the values themselves: for the custodian of
the data, who asked for them, and for nobody else. Distributions name only labels and values that
at least k released records have (`distributions`), with or without `raw`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from shoal.analysis.distributions import compare_counts, distribution_of
from shoal.analysis.nodes import (
    ignore,
    levels_of,
    name_of,
    prepare_problem,
)
from shoal.analysis.one_node import exposure_before
from shoal.pipeline import load
from shoal.report.counts import exposure_of
from shoal.report.result import finite
from shoal.steps.choosing import judge_node, node_of
from shoal.steps.local_release import full_domain_only, local_classes, local_levels
from shoal.steps.releasing import records_at

if TYPE_CHECKING:
    from shoal.analysis.distributions import Distribution
    from shoal.calling.argument_types import DefinitionLike, Watch
    from shoal.encode.table import Table
    from shoal.pipeline import Prepared
    from shoal.recoding.local.solution import LocalBest
    from shoal.search.problem import Partition, Problem
    from shoal.steps.kept_search import KeptSearch
    from shoal.values import Exposure, Ints, Node, StatedLevels

MOST_CLASSES, MOST_TUPLES, LARGEST = 25, 6, 5
"""So many classes are shown, so many of the different tuples of each, so many largest classes."""

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

    `original` is empty where single values are not known or do not count persons. In local recoding
    `level` is the highest one, `records_at` has the released records at each level, `examples` the
    most frequent label of each if at least k records have it, None for missing, and a released
    label has no count in the source: its `before` is its `after`.
    """

    name: str
    level: int
    values: int
    labels: int
    original: tuple[Bar, ...]
    released: tuple[Bar, ...]
    records_at: Mapping[int, int] | None = None
    examples: Mapping[int, str | None] | None = None


@dataclass(frozen=True)
class SideBySide:
    """The sample, the columns, and the risk before and after.

    `lowest` are the levels of the values on the left: 0 but for a table that is too large to be
    counted as it is. `hidden` are the records of classes that would be left out. `largest` are the
    largest classes, without examples; `sample` are classes of all sizes.
    """

    levels: Mapping[str, StatedLevels]
    lowest: tuple[int, ...]
    raw: bool
    records: int
    classes: int
    hidden: int
    largest: tuple[SampledClass, ...]
    sample: tuple[SampledClass, ...]
    columns: tuple[ColumnBefore, ...]
    before: Exposure | None
    after: Exposure | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        plain: dict[str, Any] = finite(asdict(self))
        return plain


def side_by_side(
    definition: DefinitionLike,
    levels: Mapping[str, int] | None = None,
    *,
    kept: KeptSearch | None = None,
    raw: bool = False,
    watch: Watch = ignore,
    file: str | None = None,
    spark: Any = None,
) -> SideBySide:
    """The source beside the release at a node; nothing is released.

    A definition with local recoding has no node: it needs `kept`, the search that found one.

    Raises:
        Infeasible: when the node is not safe.
    """
    loaded = load(definition)
    prepared = prepare_problem(loaded, watch, file or name_of(definition), spark, local=True)
    problem, k = prepared.problem, loaded.k
    table = problem.table
    shown = _shown(prepared, levels, kept, loaded.source.shown)
    watch("Comparing the columns")
    classes = shown.classes
    ranked = _ranked(classes)
    return SideBySide(
        levels=shown.levels,
        lowest=_known(table),
        raw=raw,
        records=table.records,
        classes=int(classes.kept.sum()),
        hidden=classes.suppressed,
        largest=tuple(_class(table, shown, each, raw=False) for each in ranked[:LARGEST]),
        sample=tuple(_class(table, shown, each, raw=raw) for each in _spread(ranked)),
        columns=tuple(_column(problem, i, shown, k) for i in range(len(table.attributes))),
        before=exposure_before(problem, k),
        after=exposure_of(classes.released(), k),
    )


@dataclass(frozen=True, eq=False)
class _Shown:
    """What would be released: the classes, and the levels of the node or of each tuple."""

    levels: Mapping[str, StatedLevels]
    classes: Partition
    node: Node = ()
    of_tuples: Ints | None = None

    def node_at(self, row: int) -> Node:
        """The levels of a tuple."""
        return self.node if self.of_tuples is None else tuple(self.of_tuples[row].tolist())


def _shown(
    prepared: Prepared, levels: Mapping[str, int] | None, kept: KeptSearch | None, source: str
) -> _Shown:
    problem = prepared.problem
    if kept is not None:
        best = cast("LocalBest", kept.last(prepared, source).best)
        classes, local = local_classes(problem, best), local_levels(problem, best)
        stated = records_at(problem.table, classes, local)
        return _Shown(stated, classes, of_tuples=local.levels)
    if prepared.definition.recoding == "local":
        raise full_domain_only("a node to compare")
    node = node_of(problem.table, levels or {})
    judge_node(problem, node)
    return _Shown(levels_of(problem, node), problem.partition(node), node)


def _known(table: Table) -> Node:
    """The lowest levels at which the tuples are told apart."""
    return (0,) * len(table.attributes) if table.raised is None else table.raised.bottom


def _ranked(classes: Partition) -> list[Ints]:
    """The tuples of each released class, the largest class first."""
    sizes = np.where(classes.kept, classes.counts.sizes, 0)
    order = np.argsort(-sizes, kind="stable")[: int(classes.kept.sum())]
    by_class = np.argsort(classes.class_of, kind="stable")
    starts = np.searchsorted(classes.class_of[by_class], np.arange(len(sizes) + 1))
    return [by_class[starts[each] : starts[each + 1]] for each in order]


def _spread(ranked: list[Ints]) -> list[Ints]:
    """Classes from the largest to the smallest, evenly by their rank."""
    if len(ranked) <= MOST_CLASSES:
        return ranked
    return [ranked[i] for i in np.linspace(0, len(ranked) - 1, MOST_CLASSES).round().astype(int)]


def _class(table: Table, shown: _Shown, members: Ints, *, raw: bool) -> SampledClass:
    """The class that these tuples are."""
    known, first = _known(table), int(members[0])
    node = shown.node_at(first)
    largest = members[np.argsort(-table.weights[members], kind="stable")][:MOST_TUPLES]
    examples = [
        Tuple(_labels(table, known, each), int(table.weights[each])) for each in largest.tolist()
    ]
    return SampledClass(
        labels=_labels(table, node, first),
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


def _column(problem: Problem, index: int, shown: _Shown, k: int) -> ColumnBefore:
    table, classes = problem.table, shown.classes
    attribute, records = table.attributes[index], table.records_of[index]
    original: tuple[Bar, ...] = ()
    if table.raised is None and table.persons is None:
        as_it_is = (0,) * len(table.attributes)
        original = _bars(distribution_of(table, index, as_it_is, classes, k))
    occurring = np.flatnonzero(records)
    if shown.of_tuples is not None:
        return _mixed(table, index, shown, k, len(occurring), original)
    level = shown.node[index]
    return ColumnBefore(
        name=attribute.name,
        level=level,
        values=len(occurring),
        labels=len(np.unique(attribute.groups[level][occurring])),
        original=original,
        released=_bars(distribution_of(table, index, shown.node, classes, k)),
    )


def _mixed(
    table: Table, index: int, shown: _Shown, k: int, values: int, original: tuple[Bar, ...]
) -> ColumnBefore:
    """A column of a local recoding: each released tuple counts at the level of its class."""
    attribute, codes = table.attributes[index], table.codes[index]
    kept = np.flatnonzero(shown.classes.kept[shown.classes.class_of])
    of_tuples = cast("Ints", shown.of_tuples)[kept, index]
    stated = cast("Mapping[int, int]", shown.levels[attribute.name])
    counts: dict[str | None, int] = {}
    examples: dict[int, str | None] = {}
    for level in stated:
        rows = kept[of_tuples == level]
        names = attribute.labels(level).to_pylist()
        records = np.bincount(attribute.groups[level][codes[rows]], table.weights[rows])
        most = int(records.argmax())
        if records[most] >= k:
            examples[level] = names[most]
        for group in np.flatnonzero(records).tolist():
            counts[names[group]] = counts.get(names[group], 0) + int(records[group])
    return ColumnBefore(
        name=attribute.name,
        level=max(stated, default=0),
        values=values,
        labels=len(counts),
        original=original,
        released=_bars(compare_counts(attribute.name, counts, counts, k)),
        records_at=stated,
        examples=examples,
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

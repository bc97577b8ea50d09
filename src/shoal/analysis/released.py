"""The release of a definition, found again in its source: at which levels, and which classes.

Measures of a release need both tables as counts. `find_release` reads the written release and looks
for the node whose classes it has: every released class must have as many records as the class of
the same labels in the source. So what is measured is what was written, also where somebody chose
the node or the demands of the command, and a release of other data is an error.

Local recoding mixes the levels of a column. Then there is no node, and what is found is a
`MixedRelease`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.analysis.mixed_release import MixedRelease, match_mixed
from shoal.collapse.read import open_records
from shoal.definition.model import OutputFile, OutputTable, WrittenFile
from shoal.encode.rows import number_rows
from shoal.engines.opening import open_source
from shoal.engines.options import DatabaseOptions, SparkOptions
from shoal.errors import BadData, UserError
from shoal.pipeline import prepare

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.encode.table import Attribute, Table
    from shoal.engines.base import Source
    from shoal.engines.options import SourceOptions
    from shoal.pipeline import Prepared
    from shoal.search.problem import Partition
    from shoal.values import Ints, Node

MOST_NODES = 4096
"""So many nodes are compared with a release whose labels stand at several levels."""


@dataclass(frozen=True, eq=False)
class Measured:
    """A source and its release, both open, the node of the release, and its classes.

    `classes.kept` are those that the release has.
    """

    source: Source
    release: Source
    prepared: Prepared
    node: Node
    classes: Partition

    @property
    def table(self) -> Table:
        return self.prepared.table

    @property
    def suppressed(self) -> int:
        """The records of the source that are not in the release."""
        return self.classes.suppressed

    @property
    def levels(self) -> dict[str, int]:
        """The level of each quasi-identifier, by name."""
        names = [attribute.name for attribute in self.table.attributes]
        return dict(zip(names, self.node, strict=True))


def open_release(definition: Definition, *, spark: Any = None) -> Source | None:
    """The release of the definition, None where there is none yet; an error if unreadable."""
    output = definition.output
    options: SourceOptions
    if output is None:
        return None
    if isinstance(output, WrittenFile):
        if isinstance(output, OutputFile) and not output.path.exists():
            return None
        options = output.read_back(output.path)
    elif isinstance(output, OutputTable):
        options = DatabaseOptions(output.url, output.table)
    else:
        options = SparkOptions(output.spark, output.format)
    try:
        return open_source(options, set(definition.attributes), spark=spark)
    except UserError as error:
        if isinstance(output, OutputFile) or error.code not in ("no-table", "no-file"):
            raise
        return None


@contextmanager
def find_release(
    definition: Definition, *, file: str, spark: Any = None
) -> Iterator[Measured | MixedRelease]:
    """The source and the release of a definition, until the context ends."""
    with ExitStack() as cleanup:
        release = open_release(definition, spark=spark)
        if release is None:
            where = "the definition names no output" if definition.output is None else ""
            raise BadData(
                where or "there is no release yet where the definition writes it",
                code="no-release",
                hint=f"release it first: shoal run {file}",
            )
        cleanup.enter_context(closing(release))
        source = cleanup.enter_context(closing(open_records(definition, spark=spark)))
        prepared = prepare(definition, source, file=file, local=True)
        yield _matched(prepared, source, release)


def _matched(prepared: Prepared, source: Source, release: Source) -> Measured | MixedRelease:
    """The node whose classes the release has, and its classes with those kept.

    Where no level has all labels of some column, or the definition asks for local recoding, the
    levels may be mixed.
    """
    definition, table = prepared.definition, prepared.table
    marks = definition.suppressed == "mark"
    counted = release.count_by(definition.quasi_identifiers)
    blank, labels, sizes = _split_blank(counted, marks=marks)
    levels = [
        [
            level
            for level in range(lowest, attribute.height + 1)
            if set(column.drop_null().to_pylist()) <= set(attribute.hierarchy.labels[level])
        ]
        for attribute, column, lowest in zip(table.attributes, labels, table.bottom, strict=True)
    ]
    for node in itertools.islice(itertools.product(*levels), MOST_NODES):
        classes = _classes_with(prepared, node, labels, sizes)
        if classes is not None and (not marks or blank == _all_missing(table, node, classes)):
            return Measured(source, release, prepared, node, classes)
    if definition.recoding == "local" or not all(levels):
        labels, sizes = _with_missing_class(prepared, blank, labels, sizes)
        mixed = match_mixed(prepared, source, release, labels, sizes)
        if mixed is not None:
            return mixed
    raise BadData(
        f"{release.name} is not a release of {prepared.definition.source.shown} by this definition:"
        " its classes are not those of the source at any levels",
        code="other-release",
        hint="the data or the definition changed since; run it again",
    )


def _split_blank(counted: pa.Table, *, marks: bool) -> tuple[int, list[pa.Array], Ints]:
    """The records without any quasi-identifier where such are marked, and the other classes."""
    columns = [column.combine_chunks() for column in counted.columns]
    labels, sizes = columns[:-1], columns[-1].to_numpy(zero_copy_only=False).astype(np.int64)
    if not marks:
        return 0, labels, sizes
    empty = np.ones(len(sizes), dtype=bool)
    for column in labels:
        empty &= column.is_null().to_numpy(zero_copy_only=False)
    stay = pa.array(~empty)
    return int(sizes[empty].sum()), [column.filter(stay) for column in labels], sizes[~empty]


def _with_missing_class(
    prepared: Prepared, blank: int, labels: list[pa.Array], sizes: Ints
) -> tuple[list[pa.Array], Ints]:
    """The classes with that of the records without any value, which marked records look like.

    It is there where the demands allow it to be released as it is.
    """
    table, lowest = prepared.table, prepared.problem.lattice.bottom
    nothing = _without_label(table, lowest)
    number = int(table.weights[nothing].sum())
    classes = prepared.problem.partition(lowest)
    if not 0 < number <= blank or not classes.kept[classes.class_of[nothing]].all():
        return labels, sizes
    empty = pa.nulls(1, pa.string())
    return [pa.concat_arrays([each.cast(pa.string()), empty]) for each in labels], np.append(
        sizes, number
    )


def _classes_with(
    prepared: Prepared, node: Node, labels: list[pa.Array], sizes: Ints
) -> Partition | None:
    """The classes of a node, kept where the release has them; None where it has other ones.

    A class without any label cannot be told from marked records: there the demands decide.
    """
    table = prepared.table
    columns, widths = [], []
    for attribute, codes, column, level in zip(
        table.attributes, table.codes, labels, node, strict=True
    ):
        columns.append(np.append(attribute.groups[level][codes], _groups(attribute, level, column)))
        widths.append(len(attribute.hierarchy.labels[level]) + 1)
    number, found = number_rows(columns, widths)
    tuples = table.tuples
    before = np.bincount(number[:tuples], weights=table.weights, minlength=found)
    after = np.bincount(number[tuples:], weights=sizes, minlength=found)
    if ((after > 0) & (after != before)).any():
        return None
    classes = prepared.problem.partition(node)
    kept = np.zeros(len(classes.kept), dtype=bool)
    kept[classes.class_of] = after[number[:tuples]] > 0
    if prepared.definition.suppressed == "mark":
        nothing = _without_label(table, node)
        kept[classes.class_of[nothing]] = classes.kept[classes.class_of[nothing]]
    return replace(classes, kept=kept)


def _groups(attribute: Attribute, level: int, labels: pa.Array) -> Ints:
    """The group of each label at a level; the one after the last for a missing value."""
    names = attribute.hierarchy.labels[level]
    group_of = {label: group for group, label in enumerate(names)}
    return np.array(
        [len(names) if label is None else group_of[label] for label in labels.to_pylist()],
        dtype=np.int64,
    )


def _without_label(table: Table, node: Node) -> Ints:
    """The tuples that have no value in any column at a node."""
    nothing = np.ones(table.tuples, dtype=bool)
    for attribute, codes, level in zip(table.attributes, table.codes, node, strict=True):
        nothing &= attribute.groups[level][codes] == len(attribute.hierarchy.labels[level])
    return np.flatnonzero(nothing)


def _all_missing(table: Table, node: Node, classes: Partition) -> int:
    """The records that a marked release shows without any label: suppressed, or all missing."""
    kept = classes.kept[classes.class_of]
    kept[_without_label(table, node)] = False
    return int(table.weights[~kept].sum())

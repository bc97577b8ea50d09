"""From the chosen node to the recoding plan: the label of each value, and the released classes.

For local recoding the plan has the labels of each released tuple.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from shoal.arrow_arrays import from_numpy
from shoal.engines.base import Generalization, Recoding

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.encode.table import Attribute, Table
    from shoal.values import Bools, Ints, Node


def recoding(
    definition: Definition,
    *,
    columns: tuple[str, ...],
    table: Table,
    node: Node,
    class_of: Ints,
    kept: Bools,
) -> Recoding:
    """The release at a node: `columns` of the source in their order, kept classes only."""
    quasi_identifiers, sensitive = definition.quasi_identifiers, definition.sensitive
    released = set(definition.names("quasi-identifier", "sensitive", "keep"))
    return Recoding(
        columns=tuple(name for name in columns if name in released),
        generalized={
            attribute.name: generalization(attribute, level)
            for attribute, level in zip(table.attributes, node, strict=True)
        },
        classes=_released_labels(table, node, class_of, kept),
        blanked=quasi_identifiers + sensitive,
        missing=definition.missing.values,
        mark=definition.suppressed == "mark",
        complete=definition.missing.match == "basic",
    )


def local_recoding(
    definition: Definition,
    *,
    columns: tuple[str, ...],
    table: Table,
    levels: Ints,
    kept: Bools,
) -> Recoding:
    """The release of the kept tuples, each at its own levels: `levels[t, j]` of attribute `j`.

    Values of a raised table are first replaced by those as which they were counted.
    """
    joined = {} if table.raised is None else table.raised.joined
    counted = {
        each.name: joined.get(each.name, Generalization((), (), each.missing_label(0)))
        for each in table.attributes
    }
    plan = recoding(
        definition,
        columns=columns,
        table=table,
        node=(0,) * len(table.attributes),
        class_of=np.arange(table.tuples),
        kept=kept,
    )
    return replace(
        plan,
        generalized=counted,
        classes=labels_of(table, np.flatnonzero(kept), np.zeros_like(levels)),
        labels=labels_of(table, np.flatnonzero(kept), levels),
    )


def texts_of(table: Table, tuples: Ints) -> pa.Table:
    """The values of tuples as text, null where missing."""
    return pa.table(
        {
            attribute.name: attribute.labels(0).take(from_numpy(codes[tuples]))
            for attribute, codes in zip(table.attributes, table.codes, strict=True)
        }
    )


def labels_of(table: Table, tuples: Ints, levels: Ints) -> pa.Table:
    """The labels of some tuples, each at its own levels: `levels[t, j]` of attribute `j`."""
    return pa.table(
        {
            attribute.name: labels_at(attribute, codes[tuples], levels[tuples, j])
            for j, (attribute, codes) in enumerate(zip(table.attributes, table.codes, strict=True))
        }
    )


def labels_at(attribute: Attribute, codes: Ints, levels: Ints) -> pa.Array:
    """The label of each code at its own level; null where a missing value stays missing."""
    texts = np.full(len(codes), None, dtype=object)
    for level in np.unique(levels).tolist():
        chosen = levels == level
        labels = np.array([*attribute.hierarchy.labels[level], None], dtype=object)
        texts[chosen] = labels[attribute.groups[level][codes[chosen]]]
    return pa.array(texts, pa.string())


def generalization(attribute: Attribute, level: int) -> Generalization:
    """What each value of an attribute becomes at a level."""
    missing = attribute.missing_label(level)
    if level == 0 and missing is None:
        return Generalization((), ())
    labels = attribute.hierarchy.labels
    groups = attribute.hierarchy.groups[level]
    return Generalization(labels[0], tuple(labels[level][group] for group in groups), missing)


def _released_labels(table: Table, node: Node, class_of: Ints, kept: Bools) -> pa.Table:
    """The label tuples of the kept classes: every tuple of a class has the labels of its class."""
    representatives = np.zeros(len(kept), dtype=np.int64)
    representatives[class_of] = np.arange(len(class_of))
    chosen = representatives[kept]
    return pa.table(
        {
            attribute.name: attribute.labels(level).take(
                from_numpy(attribute.groups[level][codes[chosen]])
            )
            for attribute, codes, level in zip(table.attributes, table.codes, node, strict=True)
        }
    )

"""The sensitive values of the tuples and the demands on them: `Values` in removal.h.

All threads read the same values and demands; each thread has work space of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.search.compiled.memory import most_classes
from shoal.search.compiled.structures import Arrays, Layout, field

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.search.compiled.demands import CompiledDemand
    from shoal.search.compiled.layout import Prepared
    from shoal.search.problem import Problem

MOST_LOGARITHMS = 2**20
"""The logarithms of counts up to this are in a table."""

VALUES = Layout(
    "Values",
    ("demands", "values", "widest", "highest", "nodes"),
    (
        field("starts", np.int64, "tuples_and_one"),
        field("value", np.int32, "entries"),
        field("counted", np.int32, "entries"),
        field("kind", np.int64, "demands"),
        field("number", np.float64, "demands"),
        field("different", np.int64, "demands"),
        field("first", np.int64, "demands"),
        field("last", np.int64, "demands"),
        field("most", np.float64, "demands", "widest"),
        field("least", np.float64, "demands", "widest"),
        field("ancestor", np.int64, "demands", "highest", "widest"),
        field("heights", np.int64, "demands"),
        field("logarithms", np.float64, "logarithms"),
        field("tally", np.int32, "two_sides", "values"),
        field("sizes", np.int32, "two_sides"),
        field("touched", np.int64, "two_sides"),
        field("order", np.uint32, "tuples"),
        field("begins", np.int64, "classes_and_three"),
        field("arranged", np.int64, "one"),
        field("ranked", np.int64, "values"),
        field("net", np.float64, "nodes"),
        field("over", np.float64, "nodes"),
        field("under", np.float64, "nodes"),
        field("failed", np.float64, "attributes"),
    ),
)
"""The fields of `Values` in removal.h, in their order."""


class Values(NamedTuple):
    """The fields of `VALUES` that all threads share; `nodes` is more than any number in `ancestor`.

    The values of all attributes have consecutive numbers.
    """

    starts: NDArray[np.int64]
    value: NDArray[np.int32]
    counted: NDArray[np.int32]
    kind: NDArray[np.int64]
    number: NDArray[np.float64]
    different: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    most: NDArray[np.float64]
    least: NDArray[np.float64]
    ancestor: NDArray[np.int64]
    heights: NDArray[np.int64]
    logarithms: NDArray[np.float64]
    nodes: int


def values_of(problem: Problem, demands: list[CompiledDemand], further: int = 0) -> Values:
    """The values of the tuples, and the demands, of which there may be none.

    After the tuples of the table come `further` ones without values.
    """
    table = problem.table
    names = list(dict.fromkeys(demand.attribute for demand in demands))
    sizes = [len(table.histograms[name].reference.values) for name in names]
    begins = dict(zip(names, np.cumsum([0, *sizes]).tolist(), strict=False))
    none = np.zeros(0, np.int64)
    owners, values, counts = [none], [none], [none]
    for name in names:
        histogram = table.histograms[name]
        owners.append(np.repeat(np.arange(table.tuples), np.diff(histogram.starts)))
        values.append(histogram.values + begins[name])
        counts.append(histogram.counts)
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    widest = max(sizes, default=0)
    return Values(
        np.searchsorted(owner[order], np.arange(table.tuples + further + 1)),
        np.concatenate(values)[order].astype(np.int32),
        np.concatenate(counts)[order].astype(np.int32),
        np.array([demand.kind for demand in demands]),
        np.array([demand.number for demand in demands]),
        np.array([demand.different for demand in demands]),
        np.array([begins[demand.attribute] for demand in demands]),
        np.array([begins[d.attribute] + sizes[names.index(d.attribute)] for d in demands]),
        _rows([[demand.most] for demand in demands], widest)[:, 0],
        _rows([[demand.least] for demand in demands], widest)[:, 0],
        _rows([demand.parents for demand in demands], widest).astype(np.int64),
        np.array([len(demand.parents) for demand in demands]),
        _times_logarithm(min(table.records, MOST_LOGARITHMS)),
        max((int(row.max()) for d in demands for row in d.parents), default=0) + 1,
    )


def _rows(lists: list[Any], width: int) -> NDArray[np.float64]:
    """Lists of rows, padded with zeros to the longest of them."""
    found = np.zeros((len(lists), max([1, *map(len, lists)]), width))
    for i, rows in enumerate(lists):
        for j, row in enumerate(rows):
            found[i, j, : len(row)] = row
    return found


def _times_logarithm(most: int) -> NDArray[np.float64]:
    """`n * log(n)` for every number up to `most`."""
    numbers = np.arange(most + 1, dtype=np.float64)
    return numbers * np.log(np.maximum(numbers, 1.0))


def values_of_thread(prepared: Prepared) -> tuple[Any, Arrays] | None:
    """The structure of one thread, and the arrays that it points to, which must outlive it.

    None where no sensitive values are counted.
    """
    if prepared.values is None:
        return None
    attributes, _, widest = prepared.tables.charge.shape
    tuples, classes = len(prepared.weights), most_classes(prepared)
    return structure_of(prepared.values, widest, tuples, classes, attributes)


def structure_of(
    values: Values, groups: int, tuples: int, classes: int, attributes: int
) -> tuple[Any, Arrays]:
    """The same with work space for this many groups, tuples, classes and attributes."""
    sizes = {
        "demands": len(values.kind),
        "values": int(values.last.max(initial=0)),
        "widest": values.most.shape[1],
        "highest": values.ancestor.shape[1],
        "nodes": values.nodes,
        "entries": len(values.value),
        "logarithms": len(values.logarithms),
        "tuples": tuples,
        "tuples_and_one": tuples + 1,
        "classes_and_three": classes + 3,
        "two_sides": 2 * groups,
        "one": 1,
        "attributes": attributes,
    }
    arrays = VALUES.allocate(sizes, {**values._asdict()})
    return VALUES.fill(sizes, arrays), arrays

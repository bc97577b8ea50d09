"""The sensitive values of a problem as the C structure `Values` (removal.h), for one thread.

The values of the tuples and the demands on them are shared by all threads; the work space is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.search.compiled.memory import most_classes
from shoal.search.compiled.structures import Arrays, Layout, field

if TYPE_CHECKING:
    from shoal.search.compiled.demands import Values
    from shoal.search.compiled.layout import Prepared

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
        field("arranged", np.int64, "two"),
        field("ranked", np.int64, "values"),
        field("net", np.float64, "nodes"),
        field("over", np.float64, "nodes"),
        field("under", np.float64, "nodes"),
        field("failed", np.float64, "attributes"),
    ),
)
"""The fields of `Values` in removal.h, in their order."""

_SHARED = (
    *("starts", "value", "counted", "kind", "number", "different", "first", "last"),
    *("most", "least", "ancestor", "heights", "logarithms"),
)


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
        "values": int(values.last.max()),
        "widest": values.most.shape[1],
        "highest": values.ancestor.shape[1],
        "nodes": values.nodes.shape[1],
        "entries": len(values.value),
        "logarithms": len(values.logarithms),
        "tuples": tuples,
        "tuples_and_one": tuples + 1,
        "classes_and_three": classes + 3,
        "two_sides": 2 * groups,
        "two": 2,
        "attributes": attributes,
    }
    arrays = VALUES.allocate(sizes, {name: getattr(values, name) for name in _SHARED})
    return VALUES.fill(sizes, arrays), arrays

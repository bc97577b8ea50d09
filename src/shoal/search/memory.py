"""The memory of the compiled search: it grows with tuples times depth, not with the lattice.

Python allocates all arrays once for each thread, in named groups; kernels overwrite them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.search.demands import Values, with_work_space
from shoal.search.layout import Tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.search.layout import Prepared

DIVE, NEIGHBOURS, UNPREPARED, NEW, FIRST_CHILD, SECOND_CHILD, DONE = range(7)
"""The status of a box on the stack: to dive from, a node to list the neighbours of, a box whose
classes are not set up, one not explored, its first or second child comes next, both done."""

COMPRESS_AT = 4096.0
"""Compress when this many times fewer combinations of groups can differ than before."""

CANDIDATES, NOTES = 64, 4096
"""The candidates and notes that an exploration may return, beyond those of one box."""


class Rows(NamedTuple):
    """Tuples: `codes[j, t]`, `weights[t]` records, and the sensitive values `masks[s, t]`.

    `class_of` numbers their classes from 1, and 0 means removed; `sample[c, j]` is a code of class
    `c` in attribute `j`. All of them are stacks: a deeper box has its own segment after that of its
    parent. The first `tuples` are those of the table.

    Where persons are counted, `assigned[t]` is the number of persons assigned to tuple `t`; each is
    assigned to one. Tuple `t` means those of the table from `head[t]` to `tail[t]`
    (persons.py). All three are empty otherwise.
    """

    codes: NDArray[Any]
    weights: NDArray[np.int32]
    assigned: NDArray[np.int32]
    head: NDArray[np.int32]
    tail: NDArray[np.int32]
    masks: NDArray[np.uint64]
    class_of: NDArray[Any]
    sample: NDArray[Any]
    tuples: int


class Scratch(NamedTuple):
    """Work space that every kernel may overwrite.

    `number` has as many cells as a tally may have; `touched` has two sides of the widest attribute.
    The arrays from `persons` to `settled` are for counting persons (persons.py).
    """

    counts: NDArray[np.int32]
    persons: NDArray[np.int32]
    first_of: NDArray[np.int32]
    next_of: NDArray[np.int32]
    link: NDArray[np.int32]
    seen: NDArray[np.int64]
    mark: NDArray[np.int64]
    undecided: NDArray[np.int64]
    settled: NDArray[np.float64]
    held: NDArray[np.uint64]
    number: NDArray[Any]
    origin: NDArray[np.uint32]
    chosen: NDArray[np.uint32]
    order: NDArray[np.uint32]
    begins: NDArray[np.int64]
    touched: NDArray[np.int64]
    keys: NDArray[np.uint64]
    kept_keys: NDArray[np.uint64]
    slots: NDArray[np.int32]
    multiplier: NDArray[np.uint64]
    fixed: NDArray[np.float64]
    lost: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    falls: NDArray[np.bool_]
    score: NDArray[np.float64]
    least: NDArray[np.float64]


FRAME = np.dtype(
    [
        *((name, np.int64) for name in ("first", "tuples", "end")),
        *((name, np.int64) for name in ("at_class", "end_class", "classes")),
        *((name, np.int64) for name in ("at_sample", "end_sample", "removed")),
        *((name, np.int64) for name in ("owes", "failing", "serial")),
        *((name, np.int64) for name in ("status", "attribute", "below_first")),
        *((name, np.float64) for name in ("bound", "bound_at", "bound_below")),
    ],
    align=True,
)
"""A box on the stack: where its tuples, class numbers and samples are, the records removed at its
`hi`, which child comes next, and lower bounds of its cost and of those of its children.

Its classes lose at least the records that it `owes`, and at `hi` itself those `failing`; `serial`
identifies its partition. A deeper box starts its own segments at `end`, `end_class` and
`end_sample`.
"""


class Stack(NamedTuple):
    """The boxes from the first to the current one, by depth: their levels and what is known.

    `distinct_from` are the levels from which on the tuples differ, `fresh` the attributes whose
    levels were priced since `hi` fell. For attribute `j` at level `l`: `paid` is what removed
    records cost it above its base; `dropped` are the records that are removed when `hi` falls to
    `l`, `extra` is what these cost `j` and `due` what they cost the attributes that are fixed.
    `owed` is what the records that a box owes cost `j`.
    """

    frames: NDArray[Any]
    lo: NDArray[np.int64]
    hi: NDArray[np.int64]
    distinct_from: NDArray[np.int64]
    fresh: NDArray[np.bool_]
    paid: NDArray[np.float64]
    extra: NDArray[np.float64]
    due: NDArray[np.float64]
    dropped: NDArray[np.int64]
    owed: NDArray[np.float64]


class Output(NamedTuple):
    """What a kernel returns: candidates and, with `log`, notes of closed boxes.

    `done` counts what was done. `best` is the cost and the removed records of the best node that
    this thread knows. A note is the reason, `lo` and `hi`. `shared`, between all threads, has the
    best cost known, a stop signal (not 0), and the number of idle threads.
    """

    done: NDArray[np.int64]
    best: NDArray[np.float64]
    costs: NDArray[np.float64]
    removed: NDArray[np.int64]
    nodes: NDArray[np.int64]
    notes: NDArray[np.int64]
    log: bool
    shared: NDArray[np.float64]


FIELDS = (
    *(Tables._fields + Rows._fields + Scratch._fields + Stack._fields + Output._fields),
    *("values", "class_loss"),
)
"""The names of all arrays and numbers, in the order in which kernels get them."""

OPENED, WORK, FOUND, NOTED, SOURCES = range(5)
"""Indices of `done`: boxes opened, tuples visited, candidates found, boxes noted, and the checksum
of the sources of the kernel."""


def rows_of(prepared: Prepared) -> Rows:
    """The tuples, with space for the segments of all boxes on a path down.

    On a path classes are split once by each attribute and then as often as `hi` falls, and each
    compression leaves `COMPRESS_AT` times fewer combinations of groups.
    """
    attributes, tuples = prepared.codes.shape
    tables = prepared.tables
    combinations = float(np.log(tables.groups[np.arange(attributes), tables.bottom]).sum())
    segments = int(combinations / math.log(COMPRESS_AT)) + 2
    splits = int(prepared.top.sum()) + attributes
    small = prepared.codes.dtype
    rows = Rows(
        np.empty((attributes, tuples * segments), small),
        np.empty(tuples * segments, np.int32),
        np.empty(len(prepared.assigned) * segments, np.int32),
        np.empty(len(prepared.assigned) * segments, np.int32),
        np.empty(len(prepared.assigned) * segments, np.int32),
        np.empty((len(prepared.masks), tuples * segments), np.uint64),
        np.empty(tuples * (splits + segments + 1), _numbers(prepared)),
        np.empty((most_classes(prepared) * (splits + 2), attributes), small),
        tuples,
    )
    rows.codes[:, :tuples] = prepared.codes
    rows.weights[:tuples] = prepared.weights
    if len(prepared.assigned):
        rows.assigned[:tuples] = prepared.assigned
        rows.head[:tuples] = rows.tail[:tuples] = np.arange(tuples)
    rows.masks[:, :tuples] = prepared.masks
    return rows


def scratch_of(prepared: Prepared) -> Scratch:
    """Work space for the kernels; tallies of all classes fit for most attributes."""
    tuples, classes = prepared.codes.shape[1], most_classes(prepared)
    attributes, levels, groups = prepared.tables.charge.shape
    cells = (classes + 2) * groups
    if prepared.class_loss is None:
        cells = min(cells, max(prepared.cells_per_tuple * tuples, 2 * groups))
    counted = max(cells, tuples + 1)
    persons = counted if len(prepared.assigned) else 0
    return Scratch(
        np.empty(counted, np.int32),
        np.empty(persons, np.int32),
        np.empty(persons, np.int32),
        np.empty(len(prepared.assigned), np.int32),
        np.empty(len(prepared.assigned), np.int32),
        np.zeros(int(prepared.tables.person.max(initial=-1)) + 1, np.int64),
        np.zeros(1, np.int64),
        np.empty(levels, np.int64),
        np.ones(2),
        np.empty(cells * len(prepared.masks), np.uint64),
        np.empty(cells, _numbers(prepared)),
        np.empty(classes + 2, np.uint32),
        np.empty(tuples + 1, np.uint32),
        np.empty(tuples, np.uint32),
        np.empty(classes + 3, np.int64),
        np.empty(2 * groups, np.int64),
        np.empty(tuples, np.uint64),
        np.empty(tuples, np.uint64),
        np.empty(4 * tuples + 8, np.int32),
        np.empty(attributes, np.uint64),
        np.empty(classes + 1),
        np.empty((levels, groups), np.int64),
        np.empty(attributes, np.int64),
        np.empty(attributes, np.int64),
        np.empty(attributes, np.bool_),
        np.empty(attributes),
        np.empty(attributes),
    )


def work_space_of(prepared: Prepared) -> Values | None:
    """The sensitive values, with work space for the kernels; None where sizes are enough."""
    if prepared.values is None:
        return None
    attributes, _, groups = prepared.tables.charge.shape
    classes, tuples = most_classes(prepared), len(prepared.weights)
    return with_work_space(prepared.values, groups, tuples, classes, attributes)


def stack_of(prepared: Prepared) -> Stack:
    """Space for boxes; each child fixes an attribute or lowers it, which limits the depth."""
    attributes, levels = prepared.tables.base.shape
    depth = int(prepared.top.sum()) + attributes + 2
    return Stack(
        np.zeros(depth, FRAME),
        np.zeros((depth, attributes), np.int64),
        np.zeros((depth, attributes), np.int64),
        np.zeros((depth, attributes), np.int64),
        np.zeros((depth, attributes), np.bool_),
        np.zeros((depth, attributes, levels)),
        np.zeros((depth, attributes, levels)),
        np.zeros((depth, attributes, levels)),
        np.zeros((depth, attributes, levels), np.int64),
        np.zeros((depth, attributes)),
    )


def output_of(prepared: Prepared, shared: NDArray[np.float64], *, log: bool) -> Output:
    """Space for the output of one exploration beyond the numbers at which it pauses.

    Until it pauses, it explores one more box, where `hi` falls at most as often as there are levels
    and each level is closed once; and it returns past boxes whose second child is empty.
    """
    attributes, levels = len(prepared.top), int(prepared.top.sum())
    candidates = CANDIDATES + levels + 1
    notes = NOTES + 3 * (levels + attributes) + 3 if log else 0
    return Output(
        np.zeros(5, np.int64),
        np.array([np.inf, 0.0]),
        np.empty(candidates),
        np.empty(candidates, np.int64),
        np.empty((candidates, attributes), np.int64),
        np.empty((notes, 1 + 2 * attributes), np.int64),
        log,
        shared,
    )


def most_classes(prepared: Prepared) -> int:
    """More classes than any node can have: each has a tuple and k records."""
    tuples, records = len(prepared.weights), int(prepared.weights.sum())
    return min(tuples, records // max(prepared.tables.k, 1)) + 1


def _numbers(prepared: Prepared) -> type[np.unsignedinteger[Any]]:
    """The smallest type for class numbers."""
    return np.uint16 if most_classes(prepared) < 2**16 else np.uint32

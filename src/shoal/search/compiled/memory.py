"""The memory of the compiled search: it grows with tuples times depth, not with the lattice.

Python allocates all arrays once for each thread; the C code overwrites them. state.h says what
every field means.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.search.compiled.structures import Arrays, Layout, field

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.search.compiled.layout import Prepared

COMPRESS_AT = 4096.0
"""Tuples are merged when this many times fewer combinations of groups can differ than before."""

CANDIDATES, NOTES = 64, 4096
"""The candidates and notes that an exploration may return, beyond those of one box."""

SETS = 256
"""The notes that a look at sets of attributes may make (together.h)."""

DIVE, NEIGHBOURS, UNPREPARED, NEW, FIRST_CHILD, SECOND_CHILD, DONE = range(7)
"""The status of a box on the stack (state.h)."""

OPENED, WORK, FOUND, NOTED = range(4)
"""Indices of `done` (state.h)."""

FRAME = np.dtype(
    [
        *((name, np.int64) for name in ("first", "tuples", "end")),
        *((name, np.int64) for name in ("at_class", "end_class", "classes")),
        *((name, np.int64) for name in ("at_sample", "end_sample", "removed")),
        *((name, np.int64) for name in ("owes", "failing", "serial", "few")),
        *((name, np.int64) for name in ("status", "attribute", "below_first")),
        *((name, np.float64) for name in ("bound", "bound_at", "bound_below")),
    ],
    align=True,
)
"""A box on the stack: `Frame` in state.h."""

_BY_LEVEL = ("depths", "attributes", "levels")

STATE = Layout(
    "State",
    (
        *("attributes", "levels", "widest", "tuples", "rows", "depths", "demands", "classes"),
        *("k", "limit", "geometric", "exact", "log", "list_from"),
    ),
    (
        field("bottom", np.int64, "attributes"),
        field("group", np.uint32, "attributes", "levels", "widest"),
        field("groups", np.int64, "attributes", "levels"),
        field("member", np.uint32, "attributes", "levels", "widest"),
        field("are_codes", np.bool_, "attributes"),
        field("base", np.float64, "attributes", "levels"),
        field("charge", np.float64, "attributes", "levels", "widest"),
        field("priority", np.float64, "attributes"),
        field("least_values", np.int64, "demands"),
        field("persons_from", np.int64, "tuples_with_persons_and_end"),
        field("person", np.int32, "persons_of_tuples"),
        field("codes", np.uint32, "attributes", "rows"),
        field("weights", np.int32, "rows"),
        field("assigned", np.int32, "rows_with_persons"),
        field("head", np.int32, "rows_with_persons"),
        field("tail", np.int32, "rows_with_persons"),
        field("masks", np.uint64, "demands", "rows"),
        field("class_of", np.uint32, "class_numbers"),
        field("sample", np.uint32, "samples", "attributes"),
        field("counts", np.int32, "counts"),
        field("persons", np.int32, "counts_of_persons"),
        field("first_of", np.int32, "counts_of_persons"),
        field("next_of", np.int32, "tuples_with_persons"),
        field("link", np.int32, "tuples_with_persons"),
        field("seen", np.int64, "persons"),
        field("mark", np.int64, "one"),
        field("undecided", np.int64, "levels"),
        field("settled", np.float64, "two"),
        field("held", np.uint64, "cells_of_masks"),
        field("number", np.uint32, "cells"),
        field("origin", np.uint32, "classes_and_two"),
        field("chosen", np.uint32, "tuples_and_one"),
        field("order", np.uint32, "tuples"),
        field("begins", np.int64, "classes_and_three"),
        field("touched", np.int64, "two_sides"),
        field("partitions", np.int64, "one"),
        field("small", np.int64, "four"),
        field("small_tuple", np.uint32, "tuples_and_one"),
        field("small_class", np.uint32, "tuples_and_one"),
        field("small_weight", np.int32, "tuples_and_one"),
        field("keys", np.uint64, "tuples"),
        field("kept_keys", np.uint64, "tuples"),
        field("slots", np.int32, "slots"),
        field("multiplier", np.uint64, "attributes"),
        field("fixed", np.float64, "classes_and_one"),
        field("lost", np.int64, "levels", "widest"),
        field("low", np.int64, "attributes"),
        field("high", np.int64, "attributes"),
        field("falls", np.bool_, "attributes"),
        field("score", np.float64, "attributes"),
        field("least", np.float64, "attributes"),
        field("frames", FRAME, "depths"),
        field("lo", np.int64, "depths", "attributes"),
        field("hi", np.int64, "depths", "attributes"),
        field("distinct_from", np.int64, "depths", "attributes"),
        field("fresh", np.bool_, "depths", "attributes"),
        field("paid", np.float64, *_BY_LEVEL),
        field("extra", np.float64, *_BY_LEVEL),
        field("due", np.float64, *_BY_LEVEL),
        field("dropped", np.int64, *_BY_LEVEL),
        field("owed", np.float64, "depths", "attributes"),
        field("done", np.int64, "four"),
        field("best", np.float64, "two"),
        field("costs", np.float64, "candidates"),
        field("removed", np.int64, "candidates"),
        field("nodes", np.int64, "candidates", "attributes"),
        field("notes", np.int64, "notes", "levels_of_a_box_and_one"),
        field("shared", np.float64, "three"),
    ),
    ("values", "release", "class_loss"),
)
"""The fields of `State` in state.h, in their order."""


def sizes_of(prepared: Prepared, *, log: bool) -> dict[str, int]:
    """The sizes of all arrays for a problem."""
    attributes, levels, widest = prepared.tables.charge.shape
    tuples, demands = len(prepared.weights), len(prepared.masks)
    numbers = {"attributes": attributes, "levels": levels, "widest": widest, "tuples": tuples}
    constants = {"one": 1, "two": 2, "three": 3, "four": 4, "demands": demands}
    return {
        **numbers,
        **constants,
        **_sizes_of_stacks(prepared),
        **_sizes_of_work_space(prepared),
        **_sizes_of_output(prepared, log=log),
    }


def _sizes_of_stacks(prepared: Prepared) -> dict[str, int]:
    """Space for the segments of all boxes on a path down.

    On a path classes are split once by each attribute and then as often as `hi` falls, and each
    merging leaves `COMPRESS_AT` times fewer combinations of groups. Each child fixes an attribute
    or lowers it, which limits the depth.
    """
    attributes, tuples = prepared.codes.shape
    tables, with_persons = prepared.tables, len(prepared.assigned) > 0
    combinations = float(np.log(tables.groups[np.arange(attributes), tables.bottom]).sum())
    segments = int(combinations / math.log(COMPRESS_AT)) + 2
    splits = int(prepared.top.sum()) + attributes
    return {
        "rows": tuples * segments,
        "rows_with_persons": tuples * segments * with_persons,
        "class_numbers": tuples * (splits + segments + 1),
        "samples": most_classes(prepared) * (splits + 2),
        "depths": splits + 2,
    }


def _sizes_of_work_space(prepared: Prepared) -> dict[str, int]:
    """Work space; tallies of all classes fit for most attributes."""
    tuples, classes = len(prepared.weights), most_classes(prepared)
    widest, with_persons = prepared.tables.charge.shape[2], len(prepared.assigned) > 0
    cells = (classes + 2) * widest
    if prepared.class_loss is None:
        cells = min(cells, max(prepared.cells_per_tuple * tuples, 2 * widest))
    counts = max(cells, tuples + 1)
    return {
        "classes": classes,
        "classes_and_one": classes + 1,
        "classes_and_two": classes + 2,
        "classes_and_three": classes + 3,
        "cells": cells,
        "cells_of_masks": cells * len(prepared.masks),
        "counts": counts,
        "counts_of_persons": counts * with_persons,
        "tuples_and_one": tuples + 1,
        "tuples_with_persons": tuples * with_persons,
        "tuples_with_persons_and_end": (tuples + 1) * with_persons,
        "persons_of_tuples": len(prepared.tables.person),
        "persons": int(prepared.tables.person.max(initial=-1)) + 1,
        "two_sides": 2 * widest,
        "slots": 4 * tuples + 8,
    }


def _sizes_of_output(prepared: Prepared, *, log: bool) -> dict[str, int]:
    """Space for the output of one exploration beyond the numbers at which it pauses.

    Until it pauses, it explores one more box, where `hi` falls at most as often as there are levels
    and each level is closed once; and it returns past boxes whose second child is empty.
    """
    attributes, levels = len(prepared.top), int(prepared.top.sum())
    return {
        "candidates": CANDIDATES + levels + 1,
        "notes": NOTES + SETS + 3 * (levels + attributes) + 3 if log else 0,
        "levels_of_a_box_and_one": 1 + 2 * attributes,
    }


SHARED = (
    *("bottom", "group", "groups", "member", "are_codes", "base", "charge", "priority"),
    *("least_values", "persons_from", "person"),
)
"""The arrays that all threads read, and none writes."""


def bytes_of_thread(prepared: Prepared) -> int:
    """How much memory one thread may take. It takes less where it uses parts of its stacks."""
    return STATE.bytes(sizes_of(prepared, log=True), SHARED)


def arrays_of(prepared: Prepared, sizes: dict[str, int], shared: NDArray[np.float64]) -> Arrays:
    """The arrays of one thread: the problem, its tuples at the start of the stacks, and space."""
    tables, tuples = prepared.tables, sizes["tuples"]
    given: dict[str, Any] = {name: getattr(tables, name) for name in SHARED}
    if shared.dtype != np.float64 or not shared.flags.c_contiguous:
        message = "what threads share must be a plain array of doubles"
        raise ValueError(message)
    arrays = STATE.allocate(sizes, {**given, "shared": shared, "settled": np.ones(2)})
    arrays["codes"][:, :tuples] = prepared.codes
    arrays["weights"][:tuples] = prepared.weights
    arrays["masks"][:, :tuples] = prepared.masks
    if len(prepared.assigned):
        arrays["assigned"][:tuples] = prepared.assigned
        arrays["head"][:tuples] = arrays["tail"][:tuples] = np.arange(tuples)
    arrays["best"][0] = np.inf
    return arrays


def state_of(prepared: Prepared, sizes: dict[str, int], arrays: Arrays, *, log: bool) -> Any:
    """The structure that C gets, which points to these arrays; its pointers are not set."""
    tables = prepared.tables
    numbers = {
        **sizes,
        "k": tables.k,
        "limit": tables.limit,
        "geometric": tables.geometric,
        "exact": tables.exact,
        "log": log,
        "list_from": prepared.list_from,
    }
    return STATE.fill(numbers, arrays)


def most_classes(prepared: Prepared) -> int:
    """More classes than any node can have: each has a tuple and k records."""
    tuples, records = len(prepared.weights), int(prepared.weights.sum())
    return min(tuples, records // max(prepared.tables.k, 1)) + 1

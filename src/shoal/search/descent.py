"""Depth-first exploration of a box and the boxes inside it, in compiled code alone.

A box is tightened (tightening.py). What is left of it is split in two: one attribute stays at its
level of `hi`, or is lower. The open boxes are a stack. Threads share only the best cost, so they
never wait for each other. explorer.py is the Python side.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

from shoal.search.by_attributes import (
    branch_by_attributes,
    dive_by_attributes,
    neighbours_by_attributes,
)
from shoal.search.by_cells import (
    branch_by_cells,
    dive_by_cells,
    neighbours_by_cells,
    tighten_by_cells,
)
from shoal.search.kernels import compiled, entry_point, inlined
from shoal.search.memory import (
    CANDIDATES,
    DIVE,
    DONE,
    FIRST_CHILD,
    FOUND,
    NEIGHBOURS,
    NEW,
    NOTED,
    NOTES,
    OPENED,
    SECOND_CHILD,
    SOURCES,
    UNPREPARED,
    WORK,
)
from shoal.search.merging import compress
from shoal.search.state import Sensitive, State
from shoal.search.tightening import lower, tighten

FILES = (
    *(
        "layout",
        "memory",
        "state",
        "kernels",
        "persons",
        "sparse",
        "splitting",
        "demands",
        "removal",
        "owed",
    ),
    *("class_loss", "cells", "merging", "notes", "cuts", "tightening", "by_attributes", "by_cells"),
    "descent",
)
"""The modules whose code is compiled together."""

LEAST_PASSES = 64
"""Work before a box is handed to an idle thread, in passes over the table: setting up a box costs
almost as much."""


def _explore_kernel(sources: int) -> Any:
    """The kernel that Python calls.

    Numba reuses its cached code while this file and the variables in the closure are unchanged.
    `sources`, a checksum of all files compiled into it, is in the closure so that a change in any
    of them invalidates the cache.
    """

    @entry_point
    def explore(memory, values, class_loss, depth, work):  # type: ignore[no-untyped-def]
        """Explore the boxes on the stack, deepest first, until `work` is spent.

        Returns the depth at which it ended, -1 when no box is left open.
        """
        state: Any = State(*memory, _sensitive(values), class_loss)  # type: ignore[call-arg]
        state.done[WORK], state.done[SOURCES] = 0, sources
        while depth >= 0:
            frame = state.frames[depth]
            if frame.status <= UNPREPARED:
                request = frame.status
                if not _begin(state, depth):
                    return -1
                if request == DIVE:
                    _dive(state, depth, class_loss)
                    return -1
                if request == NEIGHBOURS:
                    _neighbours(state, depth, class_loss)
                    return -1
            if frame.status == NEW:
                if _pauses(state, depth, work):
                    break
                state.done[OPENED] += 1
                if _tighten(state, depth, class_loss):
                    depth -= 1
                    continue
                if state.values is None:
                    compress(state, depth)
                _branch(state, depth, class_loss)
            if frame.status == DONE:
                depth -= 1
                continue
            below = (frame.below_first == 1) == (frame.status == FIRST_CHILD)
            frame.status += 1
            if _descend(state, depth, below):
                depth += 1
        return depth

    return explore


@compiled
def _sensitive(values):  # type: ignore[no-untyped-def]
    """The sensitive values by reference; None where there are none."""
    return None if values is None else Sensitive(*values)


def _sources() -> int:
    """A checksum of the source files that are compiled into the kernel."""
    files = (Path(__file__).with_name(f"{name}.py") for name in FILES)
    return zlib.crc32(b"".join(file.read_bytes() for file in files if file.exists()))


@compiled
def _tighten(state, depth, class_loss):  # type: ignore[no-untyped-def]
    """Tighten a box, by attributes or by cells; whether it is closed."""
    return (
        tighten(state, depth) if class_loss is None else tighten_by_cells(state, depth, class_loss)
    )


@compiled
def _dive(state, depth, class_loss):  # type: ignore[no-untyped-def]
    """Make candidates on a path down from the top, which closes no box."""
    state.log = False
    if class_loss is None:
        dive_by_attributes(state, depth)
    else:
        dive_by_cells(state, depth, class_loss)


@compiled
def _neighbours(state, depth, class_loss):  # type: ignore[no-untyped-def]
    """Make candidates of a node and those one level below it."""
    if class_loss is None:
        neighbours_by_attributes(state, depth)
    else:
        neighbours_by_cells(state, depth, class_loss)


@compiled
def _branch(state, depth, class_loss):  # type: ignore[no-untyped-def]
    """Choose the attribute to branch on, and which child comes first."""
    if class_loss is None:
        branch_by_attributes(state, depth)
    else:
        branch_by_cells(state, depth)


@inlined
def _begin(state, depth):  # type: ignore[no-untyped-def]
    """Set up the only box on the stack, of which only the levels are set; whether it is not empty.

    All tuples start as one class, as if `hi` were above all levels. Then `hi` is lowered in every
    attribute that separates tuples, in one at least, so that the classes are counted.
    """
    frame, lo, hi, tuples = state.frames[depth], state.lo[depth], state.hi[depth], state.tuples
    frame.first, frame.tuples, frame.end = 0, tuples, tuples
    frame.at_class, frame.end_class, frame.classes = 0, tuples, 1
    frame.at_sample, frame.end_sample, frame.removed = 0, 2, 0
    frame.owes, frame.failing = 0, 0
    frame.status = NEW
    for t in range(tuples):
        state.class_of[t] = 1
    falls = 0
    for j in range(len(lo)):
        state.sample[1, j] = state.codes[j, 0]
        state.distinct_from[depth, j], state.owed[depth, j] = state.bottom[j], 0.0
        for level in range(lo[j], hi[j] + 1):
            state.paid[depth, j, level], state.extra[depth, j, level] = 0.0, 0.0
            state.due[depth, j, level], state.dropped[depth, j, level] = 0.0, 0
        state.high[j] = hi[j]
        hi[j] += state.groups[j, hi[j]] > 1
        falls += hi[j] - state.high[j]
    hi[0] += falls == 0
    return lower(state, depth)


@inlined
def _pauses(state, depth, work):  # type: ignore[no-untyped-def]
    """Whether to pause: a stop signal, full output, enough work, or an idle thread without a box.

    At least one box is explored, whatever it cost to set up: so the search always advances.
    """
    if state.shared[1] != 0 or state.done[FOUND] >= CANDIDATES:
        return True
    if state.log and state.done[NOTED] >= NOTES:
        return True
    if state.done[OPENED] == 0:
        return False
    if state.shared[2] > 0 and state.done[WORK] >= LEAST_PASSES * state.tuples:
        for above in range(depth):
            if state.frames[above].status == SECOND_CHILD:
                return True
    return state.done[WORK] >= work


@inlined
def _descend(state, depth, below):  # type: ignore[no-untyped-def]
    """Open a child: at `hi` or below it in the attribute branched on; whether it is not empty.

    At `hi` the classes stay the same, so nothing is counted again.
    """
    frame, child, j = state.frames[depth], state.frames[depth + 1], state.frames[depth].attribute
    _inherit(state, depth)
    if not below:
        child.bound = frame.bound_at
        state.lo[depth + 1, j] = state.hi[depth + 1, j]
        return True
    child.bound = frame.bound_below
    for i in range(state.hi.shape[1]):
        state.high[i] = state.hi[depth, i] - (i == j)
    return lower(state, depth + 1)


@inlined
def _inherit(state, depth):  # type: ignore[no-untyped-def]
    """Start a child with all that is known of its parent."""
    parent, child = state.frames[depth], state.frames[depth + 1]
    child.first, child.tuples, child.end = parent.first, parent.tuples, parent.end
    child.at_class, child.end_class = parent.at_class, parent.end_class
    child.at_sample, child.end_sample = parent.at_sample, parent.end_sample
    child.classes, child.removed, child.status = parent.classes, parent.removed, NEW
    child.owes, child.failing, child.serial = parent.owes, parent.failing, parent.serial
    for j in range(state.lo.shape[1]):
        state.lo[depth + 1, j], state.hi[depth + 1, j] = state.lo[depth, j], state.hi[depth, j]
        state.distinct_from[depth + 1, j] = state.distinct_from[depth, j]
        state.fresh[depth + 1, j] = state.fresh[depth, j]
        state.owed[depth + 1, j] = state.owed[depth, j]
        for level in range(state.lo[depth, j], state.hi[depth, j] + 1):
            state.paid[depth + 1, j, level] = state.paid[depth, j, level]
            state.extra[depth + 1, j, level] = state.extra[depth, j, level]
            state.due[depth + 1, j, level] = state.due[depth, j, level]
            state.dropped[depth + 1, j, level] = state.dropped[depth, j, level]


explore = _explore_kernel(_sources())


def cache_folder() -> str | None:
    """The cache folder of the compiled code; None if there is no writable one."""
    folder: str | None = explore.stats.cache_path
    return folder

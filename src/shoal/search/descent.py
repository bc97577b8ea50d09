"""Depth-first exploration of a box and the boxes inside it, in compiled code alone.

A box is tightened (tightening.py). What is left of it is split in two: one attribute stays at its
level of `hi`, or goes below it. The boxes on the way down are a stack. Threads share nothing but
the best cost, so that they need not wait for each other. explorer.py is the Python side.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

from shoal.search.attributes import (
    branch_by_attributes,
    dive_by_attributes,
    neighbours_by_attributes,
)
from shoal.search.crowding import (
    branch_by_cells,
    dive_by_cells,
    neighbours_by_cells,
    tighten_by_cells,
)
from shoal.search.kernels import kernel, part, step
from shoal.search.memory import (
    CANDIDATES,
    DIVE,
    DONE,
    FIRST,
    FOUND,
    GIVEN,
    MADE_OF,
    NEW,
    NODE,
    NOTED,
    NOTES,
    OPENED,
    SECOND,
    WORK,
)
from shoal.search.merging import compress
from shoal.search.state import Sensitive, State
from shoal.search.tightening import lower, tighten

FILES = (
    *(
        "memory",
        "state",
        "kernels",
        "persons",
        "sparse",
        "splitting",
        "demands",
        "removal",
        "weighing",
    ),
    *("crowd", "cells", "merging", "notes", "cuts", "tightening", "attributes", "crowding"),
    "descent",
)
"""The modules whose code is compiled together."""

LEAST_PASSES = 64
"""Work before a box is given away, in passes over the table: to take it on takes almost as much."""


def _made_of(sources: int) -> Any:
    """The kernel that Python calls.

    Its compiled code is kept on disk for as long as this file and what the kernel closes over stay
    the same. `sources`, a number for the text of all files compiled into it, is closed over so
    that a change in any of them counts.
    """

    @kernel
    def explore(memory, values, crowd, depth, work):  # type: ignore[no-untyped-def]
        """Look at the boxes on the stack and inside them, deepest first, for so much work.

        Returns the depth at which it ended, -1 when no box is left open.
        """
        state: Any = State(*memory, _sensitive(values), crowd)  # type: ignore[call-arg]
        state.done[WORK], state.done[MADE_OF] = 0, sources
        while depth >= 0:
            frame = state.frames[depth]
            if frame.step <= GIVEN:
                wanted = frame.step
                if not _begin(state, depth):
                    return -1
                if wanted == DIVE:
                    _dive(state, depth, crowd)
                    return -1
                if wanted == NODE:
                    _neighbours(state, depth, crowd)
                    return -1
            if frame.step == NEW:
                if _pauses(state, depth, work):
                    break
                state.done[OPENED] += 1
                if _tighten(state, depth, crowd):
                    depth -= 1
                    continue
                if state.values is None:
                    compress(state, depth)
                _branch(state, depth, crowd)
            if frame.step == DONE:
                depth -= 1
                continue
            below = (frame.below_first == 1) == (frame.step == FIRST)
            frame.step += 1
            if _descend(state, depth, below):
                depth += 1
        return depth

    return explore


@part
def _sensitive(values):  # type: ignore[no-untyped-def]
    """The sensitive values by reference; None where there are none."""
    return None if values is None else Sensitive(*values)


def _sources() -> int:
    """A number for the text of the files that the kernel is made of."""
    files = (Path(__file__).with_name(f"{name}.py") for name in FILES)
    return zlib.crc32(b"".join(file.read_bytes() for file in files if file.exists()))


@part
def _tighten(state, depth, crowd):  # type: ignore[no-untyped-def]
    """Cut off what costs too much, by attributes or by cells; whether the box is closed."""
    return tighten(state, depth) if crowd is None else tighten_by_cells(state, depth, crowd)


@part
def _dive(state, depth, crowd):  # type: ignore[no-untyped-def]
    """Make candidates on a way down from the top, which closes no box."""
    state.log = False
    if crowd is None:
        dive_by_attributes(state, depth)
    else:
        dive_by_cells(state, depth, crowd)


@part
def _neighbours(state, depth, crowd):  # type: ignore[no-untyped-def]
    """Make candidates of a node and those one level below it."""
    if crowd is None:
        neighbours_by_attributes(state, depth)
    else:
        neighbours_by_cells(state, depth, crowd)


@part
def _branch(state, depth, crowd):  # type: ignore[no-untyped-def]
    """Choose the attribute to branch on, and which child comes first."""
    if crowd is None:
        branch_by_attributes(state, depth)
    else:
        branch_by_cells(state, depth)


@step
def _begin(state, depth):  # type: ignore[no-untyped-def]
    """Make the only box on the stack ready, whose levels alone are set; whether it is not empty.

    All tuples are one class, as if `hi` were above all levels. It falls from there in every
    attribute that tells tuples apart, in one at least, so that the classes are judged.
    """
    frame, lo, hi, tuples = state.frames[depth], state.lo[depth], state.hi[depth], state.tuples
    frame.first, frame.tuples, frame.end = 0, tuples, tuples
    frame.at_class, frame.end_class, frame.classes = 0, tuples, 1
    frame.at_sample, frame.end_sample, frame.removed = 0, 2, 0
    frame.owes, frame.failing = 0, 0
    frame.step = NEW
    for t in range(tuples):
        state.class_of[t] = 1
    falls = 0
    for j in range(len(lo)):
        state.sample[1, j] = state.codes[j, 0]
        state.told[depth, j], state.owed[depth, j] = state.bottom[j], 0.0
        for level in range(lo[j], hi[j] + 1):
            state.paid[depth, j, level], state.extra[depth, j, level] = 0.0, 0.0
            state.due[depth, j, level], state.dropped[depth, j, level] = 0.0, 0
        state.high[j] = hi[j]
        hi[j] += state.groups[j, hi[j]] > 1
        falls += hi[j] - state.high[j]
    hi[0] += falls == 0
    return lower(state, depth)


@step
def _pauses(state, depth, work):  # type: ignore[no-untyped-def]
    """Whether to stop: told to, no room for more, enough done, or a box for an idle thread.

    Enough is at least one box, whatever it took to make its classes: so the search goes on.
    """
    if state.shared[1] != 0 or state.done[FOUND] >= CANDIDATES:
        return True
    if state.log and state.done[NOTED] >= NOTES:
        return True
    if state.done[OPENED] == 0:
        return False
    if state.shared[2] > 0 and state.done[WORK] >= LEAST_PASSES * state.tuples:
        for above in range(depth):
            if state.frames[above].step == SECOND:
                return True
    return state.done[WORK] >= work


@step
def _descend(state, depth, below):  # type: ignore[no-untyped-def]
    """Open a child: at `hi` or below it in the attribute branched on; whether it is not empty.

    Staying at `hi` leaves the classes as they are, so nothing need be counted again.
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


@step
def _inherit(state, depth):  # type: ignore[no-untyped-def]
    """Begin a child with all that is known of its parent."""
    parent, child = state.frames[depth], state.frames[depth + 1]
    child.first, child.tuples, child.end = parent.first, parent.tuples, parent.end
    child.at_class, child.end_class = parent.at_class, parent.end_class
    child.at_sample, child.end_sample = parent.at_sample, parent.end_sample
    child.classes, child.removed, child.step = parent.classes, parent.removed, NEW
    child.owes, child.failing, child.serial = parent.owes, parent.failing, parent.serial
    for j in range(state.lo.shape[1]):
        state.lo[depth + 1, j], state.hi[depth + 1, j] = state.lo[depth, j], state.hi[depth, j]
        state.told[depth + 1, j] = state.told[depth, j]
        state.fresh[depth + 1, j] = state.fresh[depth, j]
        state.owed[depth + 1, j] = state.owed[depth, j]
        for level in range(state.lo[depth, j], state.hi[depth, j] + 1):
            state.paid[depth + 1, j, level] = state.paid[depth, j, level]
            state.extra[depth + 1, j, level] = state.extra[depth, j, level]
            state.due[depth + 1, j, level] = state.due[depth, j, level]
            state.dropped[depth + 1, j, level] = state.dropped[depth, j, level]


explore = _made_of(_sources())


def cache_folder() -> str | None:
    """Where the compiled code is kept for the next process; None where it cannot be."""
    folder: str | None = explore.stats.cache_path
    return folder

"""Compiled: notes of closed boxes, for a proof that others can check."""

from __future__ import annotations

import numpy as np

from shoal.search.kernels import compiled
from shoal.search.memory import NOTED

REASONS = ("infeasible", "bound", "single")
"""Why a box is closed, in the words of a proof; notes have their indices."""

INFEASIBLE, BOUND, SINGLE = np.arange(3)


@compiled
def note(state, why, lo, hi):  # type: ignore[no-untyped-def]
    """Write down that the box between `lo` and `hi` is closed."""
    if state.log:
        at, m = state.done[NOTED], len(lo)
        state.notes[at, 0] = why
        for j in range(m):
            state.notes[at, 1 + j], state.notes[at, 1 + m + j] = lo[j], hi[j]
        state.done[NOTED] = at + 1


@compiled
def note_levels(state, why, lo, hi, j, low, high):  # type: ignore[no-untyped-def]
    """Write down that the part of a box with levels `low` to `high` of attribute `j` is closed."""
    if state.log:
        note(state, why, lo, hi)
        at, m = state.done[NOTED] - 1, len(lo)
        state.notes[at, 1 + j], state.notes[at, 1 + m + j] = low, high

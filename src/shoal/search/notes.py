"""Notes of closed boxes, for a proof that others can check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.values import Closed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.search.boxes import Explored, Frame

INFEASIBLE, BOUND, SINGLE = "infeasible", "bound", "single"
"""Why a box is closed."""


def note_box(found: Explored, why: str, lo: NDArray[np.int64], hi: NDArray[np.int64]) -> None:
    """Write down that the box between `lo` and `hi` is closed."""
    found.closed.append(Closed(why, tuple(lo.tolist()), tuple(hi.tolist())))


def note_levels(
    found: Explored,
    why: str,
    lo: NDArray[np.int64],
    hi: NDArray[np.int64],
    j: int,
    low: int,
    high: int,
) -> None:
    """Write down that the part of a box with levels `low` to `high` of attribute `j` is closed."""
    first, last = lo.tolist(), hi.tolist()
    first[j], last[j] = low, high
    found.closed.append(Closed(why, tuple(first), tuple(last)))


def note_cuts(
    found: Explored, frame: Frame, cuts: NDArray[np.int64], by: int, *, closed: bool
) -> None:
    """Write down the levels that were cut off, in order, and the rest if it is closed.

    Where the rest is closed by what the drops of attribute `by` cost the fixed ones, each level of
    it is closed for itself: there its drops are removed, and pay for all attributes.
    """
    lo, hi = frame.lo.copy(), frame.hi.copy()
    for j, level in cuts.tolist():
        note_levels(found, BOUND, lo, hi, j, level, level)
        if level == lo[j]:
            lo[j] += 1
        else:
            hi[j] -= 1
    if not closed or (lo > hi).any():
        return
    if by < 0:
        note_box(found, BOUND, lo, hi)
        return
    for level in range(int(lo[by]), int(hi[by]) + 1):
        note_levels(found, BOUND, lo, hi, by, level, level)

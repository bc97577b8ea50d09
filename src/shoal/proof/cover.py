"""Whether boxes cover the whole lattice, however many nodes it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.proof.format import ProofBox
    from shoal.values import Ints, Node


def uncovered(
    boxes: Sequence[ProofBox], top: Node, bottom: Node | None = None
) -> tuple[Node, Node] | None:
    """A region, from its lowest to its highest node, that no box covers, None when there is none.

    The lattice has the nodes from `bottom`, by default level 0 of all attributes, to `top`.

    A region inside one box is covered, one that meets no box is not, and any other is cut in two.
    The boxes of a search come from cuts in two, so there is always a cut that crosses no box: then
    every box goes to one side and the work is boxes times the sum of the levels, whatever the
    number of nodes. Other boxes are right too; those that a cut crosses go to both sides.
    """
    lo = np.array([box.lo for box in boxes], dtype=np.int64).reshape(len(boxes), len(top))
    hi = np.array([box.hi for box in boxes], dtype=np.int64).reshape(len(boxes), len(top))
    lowest = np.array((0,) * len(top) if bottom is None else bottom, np.int64)
    regions = [(lowest, np.array(top, np.int64), lo, hi)]
    while regions:
        low, high, lo, hi = regions.pop()
        if len(lo) == 0:
            return tuple(low.tolist()), tuple(high.tolist())
        if ((lo <= low) & (hi >= high)).all(axis=1).any():
            continue
        j, level = _cut(low, high, lo, hi)
        below, above = high.copy(), low.copy()
        below[j], above[j] = level, level + 1
        under, over = lo[:, j] <= level, hi[:, j] > level
        regions.append((low, below, lo[under], hi[under]))
        regions.append((above, high, lo[over], hi[over]))
    return None


def _cut(low: Ints, high: Ints, lo: Ints, hi: Ints) -> tuple[int, int]:
    """The attribute and the level after which to cut a region of several nodes: where the cut
    crosses the fewest boxes."""
    best, fewest = (0, 0), len(lo) + 1
    for level in range(int(low.min()), int(high.max())):
        crossed = ((lo <= level) & (hi > level)).sum(axis=0)
        crossed[(level < low) | (level >= high)] = len(lo) + 1
        j = int(crossed.argmin())
        if crossed[j] < fewest:
            best, fewest = (j, level), int(crossed[j])
        if fewest == 0:
            break
    return best

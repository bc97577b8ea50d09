"""The Python side of one thread: boxes go in, candidates and closed boxes come out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.search.boxes import Box, Candidate, Explored
from shoal.search.descent import explore
from shoal.search.memory import (
    DIVE,
    DONE,
    FOUND,
    NEIGHBOURS,
    NOTED,
    OPENED,
    SECOND_CHILD,
    UNPREPARED,
    WORK,
    output_of,
    rows_of,
    scratch_of,
    stack_of,
    work_space_of,
)
from shoal.search.notes import REASONS
from shoal.values import Closed

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from shoal.search.layout import Prepared
    from shoal.values import Node


class Explorer:
    """Explores boxes of one problem in one thread, with a stack of boxes that are still open.

    `shared` has the best cost that any thread knows, a stop signal (not 0), and the number of idle
    threads. `worked` is the work done since a box was taken.
    """

    def __init__(self, prepared: Prepared, shared: NDArray[np.float64], *, log: bool) -> None:
        self._shared, self._top = shared, tuple(prepared.top.tolist())
        self._bottom = tuple(prepared.tables.bottom.tolist())
        self._stack, self._depth, self.worked = stack_of(prepared), -1, 0
        self._output = output_of(prepared, shared, log=log)
        tables, rows, scratch = prepared.tables, rows_of(prepared), scratch_of(prepared)
        self._memory = (*tables, *rows, *scratch, *self._stack, *self._output)
        self._more = (work_space_of(prepared), prepared.class_loss)

    @property
    def open(self) -> bool:
        """Whether boxes are left on the stack."""
        return self._depth >= 0

    @property
    def bound(self) -> float:
        """A lower bound of the cost in all boxes that are left."""
        return min(box.bound for _, box in self._unexplored())

    def load(self) -> None:
        """Compile the kernel for this problem, or load it from the cache.

        Numba raises an OSError if compiled code cannot be saved, such as on a full disk. By then it
        is compiled, so the second call succeeds.
        """
        try:
            explore(self._memory, *self._more, -1, 0)
        except OSError:
            explore(self._memory, *self._more, -1, 0)

    def take(self, box: Box) -> None:
        """Put a box on the empty stack."""
        self._put(box, UNPREPARED)
        self.worked = 0

    def explore(self, best: tuple[float, int], work: int) -> Explored:
        """Explore the boxes on the stack, deepest first, until `work` is spent.

        `best` is the cost and the removed records of the best node known.
        """
        self._output.best[:] = best
        self._depth = explore(self._memory, *self._more, self._depth, work)
        self.worked += int(self._output.done[WORK])
        return self._explored()

    def give(self) -> Box | None:
        """Remove the largest box that was not started from the stack, if there is one."""
        for depth, box in self._unexplored():
            if self._stack.frames[depth]["status"] == SECOND_CHILD:
                self._stack.frames[depth]["status"] = DONE
                return box
        return None

    def give_all(self) -> list[Box]:
        """Remove all boxes from the stack."""
        boxes = [box for _, box in self._unexplored()]
        self._depth = -1
        return boxes

    def dive(self) -> Explored:
        """Good nodes, from the top of the lattice down, each one level below the previous one."""
        self._put(Box(0.0, self._bottom, self._top), DIVE)
        self._depth = explore(self._memory, *self._more, 0, 0)
        return self._explored()

    def local_search(self, start: Candidate) -> Explored:
        """A better node than the start: move to a better neighbour until there is none.

        The neighbours of a node have one level less, or one level more of an attribute and one less
        of another. Those with the same attribute raised share their classes up to the last split.
        """
        best, raised = start, 0
        while raised <= len(best.node) and not self._shared[1]:
            found = min(self._safe_below(_raise(best.node, raised)), default=best)
            raised = 0 if found < best else raised + 1
            best = min(best, found)
        return Explored(candidates=[best] if best != start else [])

    def _safe_below(self, top: Node) -> list[Candidate]:
        """The safe nodes one level below a node, and itself, with their costs."""
        if any(level > most for level, most in zip(top, self._top, strict=True)):
            return []
        lower = tuple(max(level - 1, low) for level, low in zip(top, self._bottom, strict=True))
        self._put(Box(0.0, lower, top), NEIGHBOURS)
        self._depth = explore(self._memory, *self._more, 0, 0)
        return self._explored().candidates

    def _put(self, box: Box, status: int) -> None:
        """Make a box the only one on the stack."""
        self._stack.lo[0], self._stack.hi[0] = box.lo, box.hi
        self._stack.frames[0]["bound"], self._stack.frames[0]["status"] = box.bound, status
        self._depth = 0

    def _unexplored(self) -> Iterator[tuple[int, Box]]:
        """Unexplored box at each depth: the box itself, or its second child."""
        for depth, frame in enumerate(self._stack.frames[: self._depth + 1]):
            lo, hi = self._stack.lo[depth].tolist(), self._stack.hi[depth].tolist()
            bound, j = frame["bound"], frame["attribute"]
            if frame["status"] == DONE:
                continue
            if frame["status"] == SECOND_CHILD and frame["below_first"]:
                lo[j], bound = hi[j], frame["bound_at"]
            elif frame["status"] == SECOND_CHILD:
                hi[j], bound = hi[j] - 1, frame["bound_below"]
            yield depth, Box(float(bound), tuple(lo), tuple(hi))

    def _explored(self) -> Explored:
        """The output of the kernels."""
        output, attributes = self._output, len(self._top)
        opened, found, noted = output.done[[OPENED, FOUND, NOTED]].tolist()
        explored = Explored(opened=opened)
        columns = (output.costs[:found], output.removed[:found], output.nodes[:found])
        for cost, removed, node in zip(*(column.tolist() for column in columns), strict=True):
            explored.candidates.append(Candidate(cost, removed, tuple(node)))
        for why, *levels in output.notes[:noted].tolist():
            lo, hi = tuple(levels[:attributes]), tuple(levels[attributes:])
            explored.closed.append(Closed(REASONS[why], lo, hi))
        output.done[:] = 0
        return explored


def _raise(node: Node, attribute: int) -> Node:
    """The node with one attribute raised by a level, counted from 1; for 0 the node itself."""
    return tuple(level + (j + 1 == attribute) for j, level in enumerate(node))

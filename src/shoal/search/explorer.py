"""The Python side of one thread: boxes go in, candidates and closed boxes come out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.search.boxes import Box, Candidate, Explored
from shoal.search.descent import explore
from shoal.search.memory import (
    DIVE,
    DONE,
    FOUND,
    GIVEN,
    NODE,
    NOTED,
    OPENED,
    SECOND,
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

    `shared` holds the best cost that any thread knows, not 0 to stop, and how many threads idle.
    `worked` is the work done since a box was taken.
    """

    def __init__(self, prepared: Prepared, shared: NDArray[np.float64], *, log: bool) -> None:
        self._shared, self._top = shared, tuple(prepared.top.tolist())
        self._bottom = tuple(prepared.tables.bottom.tolist())
        self._stack, self._depth, self.worked = stack_of(prepared), -1, 0
        self._output = output_of(prepared, shared, log=log)
        tables, rows, scratch = prepared.tables, rows_of(prepared), scratch_of(prepared)
        self._memory = (*tables, *rows, *scratch, *self._stack, *self._output)
        self._more = (work_space_of(prepared), prepared.crowd)

    @property
    def open(self) -> bool:
        """Whether boxes are left on the stack."""
        return self._depth >= 0

    @property
    def bound(self) -> float:
        """What no node of the boxes left costs less than."""
        return min(box.bound for _, box in self._left())

    def load(self) -> None:
        """Have the kernel compiled for this problem, or loaded, and do nothing else.

        Numba raises an OSError where compiled code cannot be saved, such as on a full disk. By then
        it can be used, so the second call succeeds.
        """
        try:
            explore(self._memory, *self._more, -1, 0)
        except OSError:
            explore(self._memory, *self._more, -1, 0)

    def take(self, box: Box) -> None:
        """Put a box on the empty stack."""
        self._put(box, GIVEN)
        self.worked = 0

    def explore(self, best: tuple[float, int], work: int) -> Explored:
        """Look at the boxes on the stack and inside them, deepest first, for so much work.

        `best` is the cost and the removed records of the best node known.
        """
        self._output.best[:] = best
        self._depth = explore(self._memory, *self._more, self._depth, work)
        self.worked += int(self._output.done[WORK])
        return self._explored()

    def give(self) -> Box | None:
        """Take the largest box that is not begun off the stack, if there is one."""
        for depth, box in self._left():
            if self._stack.frames[depth]["step"] == SECOND:
                self._stack.frames[depth]["step"] = DONE
                return box
        return None

    def give_all(self) -> list[Box]:
        """Take all boxes off the stack."""
        boxes = [box for _, box in self._left()]
        self._depth = -1
        return boxes

    def dive(self) -> Explored:
        """Good nodes, from the top of the lattice down, each one level below the one before."""
        self._put(Box(0.0, self._bottom, self._top), DIVE)
        self._depth = explore(self._memory, *self._more, 0, 0)
        return self._explored()

    def climb(self, start: Candidate) -> Explored:
        """A better node than the start, from neighbour to neighbour, until none is better.

        The neighbours of a node have one level less, or one level more of an attribute and one less
        of another. Those with the same level more share their classes but for the last split.
        """
        best, raised = start, 0
        while raised <= len(best.node) and not self._shared[1]:
            found = min(self._below(_raise(best.node, raised)), default=best)
            raised = 0 if found < best else raised + 1
            best = min(best, found)
        return Explored(candidates=[best] if best != start else [])

    def _below(self, top: Node) -> list[Candidate]:
        """The safe nodes one level below a node, and itself, with their costs."""
        if any(level > most for level, most in zip(top, self._top, strict=True)):
            return []
        lower = tuple(max(level - 1, low) for level, low in zip(top, self._bottom, strict=True))
        self._put(Box(0.0, lower, top), NODE)
        self._depth = explore(self._memory, *self._more, 0, 0)
        return self._explored().candidates

    def _put(self, box: Box, step: int) -> None:
        """Make a box the only one on the stack."""
        self._stack.lo[0], self._stack.hi[0] = box.lo, box.hi
        self._stack.frames[0]["bound"], self._stack.frames[0]["step"] = box.bound, step
        self._depth = 0

    def _left(self) -> Iterator[tuple[int, Box]]:
        """What was not come to at each depth: the box itself, or its second child."""
        for depth, frame in enumerate(self._stack.frames[: self._depth + 1]):
            lo, hi = self._stack.lo[depth].tolist(), self._stack.hi[depth].tolist()
            bound, j = frame["bound"], frame["attribute"]
            if frame["step"] == DONE:
                continue
            if frame["step"] == SECOND and frame["below_first"]:
                lo[j], bound = hi[j], frame["bound_at"]
            elif frame["step"] == SECOND:
                hi[j], bound = hi[j] - 1, frame["bound_below"]
            yield depth, Box(float(bound), tuple(lo), tuple(hi))

    def _explored(self) -> Explored:
        """What the kernels handed back."""
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
    """The node with one level more of an attribute, counted from 1; for 0 the node itself."""
    return tuple(level + (j + 1 == attribute) for j, level in enumerate(node))

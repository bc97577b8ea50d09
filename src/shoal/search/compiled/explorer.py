"""The Python side of one thread: boxes go in, candidates and closed boxes come out."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from shoal.errors import Bug
from shoal.search.compiled.boxes import Box, Candidate, Explored
from shoal.search.compiled.class_loss import CLASS_LOSS, class_loss_of_thread
from shoal.search.compiled.library import load
from shoal.search.compiled.memory import (
    DIVE,
    DONE,
    FOUND,
    NEIGHBOURS,
    NOTED,
    OPENED,
    SECOND_CHILD,
    STATE,
    UNPREPARED,
    WORK,
    arrays_of,
    sizes_of,
    state_of,
)
from shoal.search.compiled.release import RELEASE, release_of_thread
from shoal.search.compiled.sensitive import VALUES, values_of_thread
from shoal.values import Closed

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from shoal.search.compiled.layout import Prepared
    from shoal.values import Node

REASONS = ("infeasible", "bound", "single")
"""Why a box is closed, in the words of a proof; notes have their indices (bounds.h)."""

REFUSED = -2
"""What the C code returns for memory whose sizes are wrong (search.c)."""


class Explorer:
    """Explores boxes of one problem in one thread, with a stack of boxes that are still open.

    `shared` has the best cost that any thread knows, a stop signal (not 0), and the number of idle
    threads. `worked` is the work done since a box was taken.
    """

    def __init__(self, prepared: Prepared, shared: NDArray[np.float64], *, log: bool) -> None:
        self._shared, self._top = shared, tuple(prepared.top.tolist())
        self._bottom = tuple(prepared.tables.bottom.tolist())
        self._depth, self.worked = -1, 0
        sizes = sizes_of(prepared, log=log)
        self._arrays = arrays_of(prepared, sizes, shared)
        self._state = state_of(prepared, sizes, self._arrays, log=log)
        self._optional = (
            values_of_thread(prepared),
            release_of_thread(prepared),
            class_loss_of_thread(prepared),
        )
        for name, made in zip(STATE.pointers, self._optional, strict=True):
            if made is not None:
                setattr(self._state, name, ctypes.addressof(made[0]))
        self._explore = exploration()

    @property
    def open(self) -> bool:
        """Whether boxes are left on the stack."""
        return self._depth >= 0

    @property
    def bound(self) -> float:
        """A lower bound of the cost in all boxes that are left."""
        return min(box.bound for _, box in self._unexplored())

    def take(self, box: Box) -> None:
        """Put a box on the empty stack."""
        self._put(box, UNPREPARED)
        self.worked = 0

    def explore(self, best: tuple[float, int], work: int) -> Explored:
        """Explore the boxes on the stack, deepest first, until `work` is spent.

        `best` is the cost and the removed records of the best node known.
        """
        self._arrays["best"][:] = best
        self._run(work)
        self.worked += int(self._arrays["done"][WORK])
        return self._explored()

    def give(self) -> Box | None:
        """Remove the largest box that was not started from the stack, if there is one."""
        frames = self._arrays["frames"]
        for depth, box in self._unexplored():
            if frames[depth]["status"] == SECOND_CHILD:
                frames[depth]["status"] = DONE
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
        self._run(0)
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
        self._run(0)
        return self._explored().candidates

    def _put(self, box: Box, status: int) -> None:
        """Make a box the only one on the stack."""
        arrays = self._arrays
        arrays["lo"][0], arrays["hi"][0] = box.lo, box.hi
        arrays["frames"][0]["bound"], arrays["frames"][0]["status"] = box.bound, status
        self._depth = 0

    def _run(self, work: int) -> None:
        """Explore the boxes on the stack in C, which needs no lock of the interpreter."""
        depth = int(self._explore(ctypes.byref(self._state), self._depth, work))
        if depth == REFUSED:
            raise Bug("the compiled search was given memory of wrong sizes", code="bug")
        self._depth = depth

    def _unexplored(self) -> Iterator[tuple[int, Box]]:
        """Unexplored box at each depth: the box itself, or its second child."""
        arrays = self._arrays
        for depth, frame in enumerate(arrays["frames"][: self._depth + 1]):
            lo, hi = arrays["lo"][depth].tolist(), arrays["hi"][depth].tolist()
            bound, j = frame["bound"], frame["attribute"]
            if frame["status"] == DONE:
                continue
            if frame["status"] == SECOND_CHILD and frame["below_first"]:
                lo[j], bound = hi[j], frame["bound_at"]
            elif frame["status"] == SECOND_CHILD:
                hi[j], bound = hi[j] - 1, frame["bound_below"]
            yield depth, Box(float(bound), tuple(lo), tuple(hi))

    def _explored(self) -> Explored:
        """What C wrote: candidates and notes."""
        arrays, attributes = self._arrays, len(self._top)
        opened, found, noted = arrays["done"][[OPENED, FOUND, NOTED]].tolist()
        explored = Explored(opened=opened)
        columns = (arrays[name][:found].tolist() for name in ("costs", "removed", "nodes"))
        for cost, removed, node in zip(*columns, strict=True):
            explored.candidates.append(Candidate(cost, removed, tuple(node)))
        for why, *levels in arrays["notes"][:noted].tolist():
            lo, hi = tuple(levels[:attributes]), tuple(levels[attributes:])
            explored.closed.append(Closed(REASONS[why], lo, hi))
        arrays["done"][:] = 0
        return explored


def _raise(node: Node, attribute: int) -> Node:
    """The node with one attribute raised by a level, counted from 1; for 0 the node itself."""
    return tuple(level + (j + 1 == attribute) for j, level in enumerate(node))


def exploration() -> Any:
    """`shoal_explore` of the library, whose structures must be as large as ours."""
    library = load()
    layouts = {"state": STATE, "values": VALUES, "release": RELEASE, "class_loss": CLASS_LOSS}
    for name, layout in layouts.items():
        layout.check(library, f"shoal_{name}_size")
    explore = library.shoal_explore
    explore.argtypes = (ctypes.POINTER(STATE.structure), ctypes.c_int64, ctypes.c_int64)
    explore.restype = ctypes.c_int64
    return explore

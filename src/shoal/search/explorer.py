"""Depth-first exploration of a box: what every node in it costs at least, and what is left of it.

A *box* is the set of nodes between `lo` and `hi`. Whatever goes at `hi` goes at every node of the
box, whose classes are parts of those of `hi`:

1. Records removed at `hi` are removed in the whole box. Above the limit, the box is empty.
2. Let attribute `j` be at level `l`. The classes of `hi`, lowered to `l` in `j`, that fail are
   dropped at every node of the box with that level. So attribute `j` adds at least `g(j, l)`, its
   base and what removed and dropped records pay above that, and a node costs at least the sum over
   the attributes of the least `g(j, l)` among the levels left to them.
3. Records dropped by `(j, l)` also pay for the attributes whose level is fixed, which nothing in 2
   has charged for. This `due(j, l)` may be added for one attribute.

Levels whose bound is above the best cost are cut off at either end. Each time `hi` falls the
classes split, more records go, and all bounds rise: often the box closes without branching. What is
known of a box (dropped, extra, due) stays a lower bound in every box inside it, so only attributes
that were not looked at since `hi` fell are counted again, the most promising first.

With the geometric aggregate the cost of a node is the sum of log(1 + priority * loss) over the
attributes, which rises with each of them, so 2 holds as it stands; 3 adds costs of different
attributes before that and is left out.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from shoal.search.boxes import DONE, FIRST, NEW, SECOND, Box, Candidate, Explored
from shoal.search.cuts import SLACK, charge_fixed, cut
from shoal.search.kernels import compress, look_below, split
from shoal.search.memory import COMPRESS_AT, frames_of, rows_of, scratch_of
from shoal.search.notes import INFEASIBLE, SINGLE, note_box, note_cuts, note_levels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shoal.search.boxes import Frame
    from shoal.search.layout import Prepared
    from shoal.values import Node


class Explorer:
    """Explores boxes of one problem in one thread.

    `shared` holds the best cost that any thread knows, and is not 0 in its second place to stop.
    """

    def __init__(self, prepared: Prepared, shared: NDArray[np.float64], *, log: bool) -> None:
        self._tables, self._exact, self._log = prepared.tables, prepared.exact, log
        self._shared, self._top = shared, prepared.top
        attributes, shape = len(prepared.top), prepared.tables.base.shape
        self._rows, self._scratch = rows_of(prepared), scratch_of(prepared)
        self._frames, self._tuples = frames_of(prepared), len(prepared.weights)
        self._low, self._high = np.empty(attributes, np.int64), np.empty(attributes, np.int64)
        self._promise, self._least = np.empty(attributes), np.empty(attributes)
        self._each, self._paid = np.arange(attributes), np.zeros(shape)
        self._order = np.empty((shape[0] * shape[1], 2), np.int64)

    def explore(self, box: Box, best: tuple[float, int], seconds: float) -> Explored:
        """Look at the boxes inside a box, depth-first, for so long.

        `best` is the cost and the removed records of the best node known.
        """
        until = time.monotonic() + seconds
        self._found, self._own = Explored(), best
        depth = 0 if self._start(box) else -1
        while depth >= 0:
            frame = self._frames[depth]
            if frame.step == NEW:
                if self._shared[1] or time.monotonic() >= until:
                    break
                self._found.opened += 1
                if self._tighten(frame):
                    depth -= 1
                    continue
                self._compress(frame)
                self._branch(frame)
            if frame.step == DONE:
                depth -= 1
                continue
            below = frame.goes_below_first == (frame.step == FIRST)
            frame.step += 1
            if self._descend(frame, self._frames[depth + 1], below=below):
                depth += 1
        for frame in self._frames[: depth + 1]:
            self._leave(frame)
        return self._found

    def climb(self, start: Candidate) -> Explored:
        """A better node than the start, from neighbour to neighbour, until none is better.

        The neighbours of a node have one level less, or one level more of an attribute and one less
        of another. Those with the same level more share their classes but for the last split.
        """
        self._found, best = Explored(), start
        raised = 0
        while raised <= len(best.node) and not self._shared[1]:
            found = min(self._below(_raise(best.node, raised)), default=best)
            raised = 0 if found < best else raised + 1
            best = min(best, found)
        if best != start:
            self._found.candidates.add(best)
        return self._found

    def _below(self, top: Node) -> Iterator[Candidate]:
        """The feasible nodes one level below a node, and itself, with their costs.

        With all attributes fixed but one, what a level of it drops costs exactly what the bounds
        say, since the fixed attributes are charged too.
        """
        lower = tuple(max(level - 1, 0) for level in top)
        if (np.array(top) > self._top).any() or not self._start(Box(0.0, lower, top)):
            return
        frame = self._frames[0]
        self._least[:] = self._tables.base[self._each, frame.hi] + frame.paid[self._each, frame.hi]
        cost = float(self._least.sum())
        yield Candidate(cost, frame.removed, top)
        for j in np.flatnonzero(frame.hi > 0).tolist():
            level = int(frame.hi[j]) - 1
            frame.lo[:] = frame.hi
            frame.lo[j] = level
            self._charge(frame)
            self._look(frame, j)
            if frame.lo[j] == level:
                own = self._tables.base[j, level] + frame.paid[j, level] + frame.extra[j, level]
                below = cost - float(self._least[j]) + float(own + frame.due[j, level])
                node = (*top[:j], level, *top[j + 1 :])
                yield Candidate(below, frame.removed + int(frame.dropped[j, level]), node)

    def _start(self, box: Box) -> bool:
        """Put the box on the stack, with the classes of its `hi`; whether it is not empty.

        One class of all records is split by every attribute that tells them apart at `hi`, by one
        at least, so that the classes are judged.
        """
        frame = self._frames[0]
        frame.lo[:], frame.hi[:], frame.told[:], frame.fresh[:] = box.lo, box.hi, 0, False
        for known in (frame.paid, frame.extra, frame.due, frame.dropped):
            known[:] = 0
        frame.first, frame.tuples, frame.at_class, frame.at_sample = 0, self._tuples, 0, 0
        frame.classes, frame.end_sample = 1, 1
        frame.end = frame.end_class = self._tuples
        frame.removed, frame.bound, frame.step = 0, box.bound, NEW
        self._rows.class_of[: self._tuples] = 0
        self._rows.sample[0] = self._rows.codes[:, 0]
        several = np.flatnonzero(self._tables.groups[self._each, frame.hi] > 1)
        return self._split(frame, several if len(several) else self._each[:1])

    def _tighten(self, frame: Frame) -> bool:
        """Cut, look and lower until nothing changes; whether the box is closed."""
        low, high = self._low, self._high
        while True:
            self._offer(frame)
            charged = False
            while True:
                if self._cut(frame):
                    return True
                frame.lo[:] = low
                if (high < frame.hi).any():
                    break
                j = self._next_look(frame)
                if j is None:
                    return self._is_single(frame)
                if not charged:
                    self._charge(frame)
                    charged = True
                self._look(frame, j)
            if not self._lower(frame, high):
                return True

    def _offer(self, frame: Frame) -> None:
        """Make `hi` a candidate unless it is worse than the best, ties by removed records.

        When costs are exact the best cost falls at once for all threads.
        """
        levels = self._tables.base[self._each, frame.hi] + frame.paid[self._each, frame.hi]
        if self._tables.geometric:
            levels = np.log1p(self._tables.priority * levels)
        cost = float(levels.sum())
        own, suppressed = self._own
        if cost > min(own, self._shared[0]) + SLACK:
            return
        if abs(cost - own) <= SLACK and frame.removed > suppressed:
            return
        if self._exact:
            self._own = (min(cost, own), frame.removed)
            self._shared[0] = min(self._shared[0], cost)
        node = tuple(frame.hi.tolist())
        self._found.candidates.add(Candidate(cost, frame.removed, node))

    def _cut(self, frame: Frame) -> bool:
        """Cut levels off by cost; whether that closes the box."""
        best = min(self._own[0], self._shared[0])
        cuts, bound, by = cut(
            self._tables.base,
            self._tables.priority,
            self._tables.geometric,
            frame.paid,
            frame.extra,
            frame.due,
            frame.dropped,
            frame.lo,
            frame.hi,
            self._low,
            self._high,
            self._promise,
            self._least,
            best,
            self._order,
        )
        closed = bound > best + SLACK
        if self._log:
            note_cuts(self._found, frame, self._order[:cuts], by, closed=bool(closed))
        if not closed:
            frame.bound = max(frame.bound, bound)
        return bool(closed)

    def _next_look(self, frame: Frame) -> int | None:
        """The attribute not looked at since `hi` fell that promises most."""
        promise = np.where(frame.fresh, -1.0, self._promise)
        j = int(promise.argmax())
        return None if promise[j] < 0 else j

    def _charge(self, frame: Frame) -> None:
        """What a dropped record of each class costs the attributes whose level is fixed."""
        charge_fixed(
            self._tables,
            self._rows,
            self._scratch,
            frame.at_sample,
            frame.classes,
            frame.lo,
            frame.hi,
        )

    def _look(self, frame: Frame, j: int) -> None:
        """Count what the levels of an attribute below `hi` drop; infeasible ones are cut off."""
        was = int(frame.lo[j])
        look_below(
            self._tables,
            self._rows,
            self._scratch,
            frame.first,
            frame.at_class,
            frame.tuples,
            frame.classes,
            j,
            frame.lo,
            frame.hi,
            self._tables.limit - frame.removed,
            frame.dropped,
            frame.extra,
            frame.due,
        )
        frame.fresh[j] = True
        if self._log and frame.lo[j] > was:
            risen = int(frame.lo[j])
            note_levels(self._found, INFEASIBLE, frame.lo, frame.hi, j, was, risen - 1)

    def _lower(self, frame: Frame, to: NDArray[np.int64]) -> bool:
        """Lower `hi` where `to` is lower, where most is dropped first; whether it is not empty."""
        lower = np.flatnonzero(to < frame.hi)
        lower = lower[np.argsort(-frame.dropped[lower, to[lower]])]
        frame.hi[:] = to
        return self._split(frame, lower)

    def _split(self, frame: Frame, attributes: NDArray[np.int64]) -> bool:
        """Split the classes by the levels of `hi` in these attributes.

        Whether classes are left and no more records are removed than the limit allows.
        """
        for j in attributes:
            self._paid[:] = frame.paid
            classes, removed = split(
                self._tables,
                self._rows,
                self._scratch,
                frame.first,
                frame.at_class,
                frame.tuples,
                frame.at_sample,
                frame.classes,
                j,
                frame.lo,
                frame.hi,
                frame.paid,
                self._tables.limit - frame.removed,
                frame.end_class,
                frame.end_sample,
            )
            frame.at_class, frame.at_sample = frame.end_class, frame.end_sample
            frame.classes = classes
            frame.end_class += frame.tuples
            frame.end_sample += classes
            frame.removed += removed
            self._forget(frame, removed)
            if frame.removed > self._tables.limit or classes == 0:
                if self._log:
                    note_box(self._found, INFEASIBLE, frame.lo, frame.hi)
                return False
        return True

    def _forget(self, frame: Frame, removed: int) -> None:
        """Keep of what is known only what still holds after more records were removed.

        Removed and dropped records together only grow as classes split; those removed now may be
        among the dropped ones, so what they pay is taken off what the dropped ones were known to.
        """
        np.subtract(frame.paid, self._paid, out=self._paid)
        np.maximum(frame.extra - self._paid, 0.0, out=frame.extra)
        np.maximum(frame.dropped - removed, 0, out=frame.dropped)
        frame.due[:] = 0.0
        frame.fresh[:] = False

    def _is_single(self, frame: Frame) -> bool:
        """Whether one node is left, which was offered already."""
        single = bool((frame.lo == frame.hi).all())
        if single and self._log:
            note_box(self._found, SINGLE, frame.lo, frame.hi)
        return single

    def _compress(self, frame: Frame) -> None:
        """Merge tuples when far fewer combinations can be told apart than before."""
        groups = self._tables.groups
        ratio = groups[self._each, frame.told] / groups[self._each, frame.lo]
        if ratio.prod() < COMPRESS_AT:
            return
        kept = compress(
            self._tables,
            self._rows,
            self._scratch,
            frame.first,
            frame.at_class,
            frame.tuples,
            frame.classes,
            frame.lo,
            frame.hi,
            frame.end,
            frame.end_class,
        )
        frame.first, frame.at_class, frame.tuples = frame.end, frame.end_class, kept
        frame.end += kept
        frame.end_class += kept
        frame.told[:] = frame.lo

    def _branch(self, frame: Frame) -> None:
        """Choose the attribute to branch on, and first the child where its least cost lies.

        Each child has a bound of its own: the least costs of the other attributes, and that of this
        one among the levels left to the child.
        """
        j = int(self._promise.argmax())
        lo, hi = int(frame.lo[j]), int(frame.hi[j])
        costs = self._tables.base[j, lo : hi + 1] + frame.paid[j, lo : hi + 1]
        costs[:-1] += frame.extra[j, lo:hi]
        if self._tables.geometric:
            costs = np.log1p(self._tables.priority[j] * costs)
        else:
            costs[:-1] += frame.due[j, lo:hi]
        others = float(self._least.sum() - self._least[j])
        frame.attribute, frame.step = j, FIRST
        frame.bound_at = max(frame.bound, others + float(costs[-1]))
        frame.bound_below = max(frame.bound, others + float(costs[:-1].min()))
        frame.goes_below_first = frame.bound_below <= frame.bound_at

    def _descend(self, frame: Frame, child: Frame, *, below: bool) -> bool:
        """Open a child: at `hi` or below it in the attribute branched on; whether it is not empty.

        Staying at `hi` leaves the classes as they are, so nothing need be counted again.
        """
        child.inherit(frame)
        if not below:
            child.bound = frame.bound_at
            child.lo[frame.attribute] = child.hi[frame.attribute]
            return True
        child.bound = frame.bound_below
        to = child.hi.copy()
        to[frame.attribute] -= 1
        return self._lower(child, to)

    def _leave(self, frame: Frame) -> None:
        """Hand back what was not come to: the box itself, or its second child."""
        lo, hi, bound = frame.lo.copy(), frame.hi.copy(), frame.bound
        if frame.step == DONE:
            return
        if frame.step == SECOND and frame.goes_below_first:
            lo[frame.attribute] = hi[frame.attribute]
            bound = frame.bound_at
        elif frame.step == SECOND:
            hi[frame.attribute] -= 1
            bound = frame.bound_below
        self._found.left.append(Box(bound, tuple(lo.tolist()), tuple(hi.tolist())))


def _raise(node: Node, attribute: int) -> Node:
    """The node with one level more of an attribute, counted from 1; for 0 the node itself."""
    return tuple(level + (j + 1 == attribute) for j, level in enumerate(node))

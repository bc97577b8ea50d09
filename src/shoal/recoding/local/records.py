"""What each record costs at least in every local recoding, one by one (local_records.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import Bug
from shoal.recoding.local.prepare import UNIT
from shoal.search.compiled.library import load
from shoal.search.compiled.structures import Array, Layout, field

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.recoding.local.prepare import Costs, Prepared

    Whole = NDArray[np.int64]

BATCH = 1024
MOST_BATCHES = 500
"""Tuples that a thread takes at a time, at least, and how many batches there are at most: after
each one the whole bound is summed up."""

TREE = Layout(
    "Tree",
    ("attributes", "tuples", "levels", "nodes", "k", "effort"),
    (
        field("cost_from", np.int64, "attributes"),
        field("codes_of", np.int64, "attributes"),
        field("cost", np.int64, "costs"),
        field("lowest", np.int64, "attributes"),
        field("shift", np.int64, "attributes", "levels"),
        field("level_of_bit", np.uint8, "attributes", "bits"),
        field("path", np.uint64, "tuples", "attributes"),
        field("codes", np.uint32, "tuples", "attributes"),
        field("weights", np.int64, "tuples"),
        field("sorted", np.int32, "tuples"),
        field("spare", np.int32, "tuples"),
        field("first", np.int64, "nodes"),
        field("last", np.int64, "nodes"),
        field("child", np.int64, "nodes"),
        field("children", np.int64, "nodes"),
        field("level", np.uint8, "nodes", "attributes"),
        field("made", np.int64, "one"),
    ),
)
"""The fields of `Tree` in local_records.h, in their order."""


class Records:
    """A tree of the tuples of one problem, to find the nearest of each."""

    def __init__(self, prepared: Prepared, costs: Costs, least: int) -> None:
        """`costs` are those of each code, `least` is the fewest records that a class can have."""
        table = prepared.problem.table
        attributes = len(table.attributes)
        shift = prepared.shift
        sizes = {
            "attributes": attributes,
            "tuples": table.tuples,
            "levels": shift.shape[1],
            "nodes": 2 * table.tuples,
            "k": least,
            "costs": len(costs.cost),
            "bits": 65,
            "one": 1,
        }
        self._arrays = TREE.allocate(
            sizes,
            {
                "cost_from": costs.start,
                "codes_of": costs.codes,
                "cost": costs.cost,
                "lowest": np.array(prepared.problem.lattice.bottom),
                "shift": shift,
                "level_of_bit": prepared.level_of_bit,
                "path": prepared.path,
                "codes": prepared.codes,
                "weights": table.weights,
            },
        )
        self._least, self._tuples = least, table.tuples
        self._library = load()
        self._structure = TREE.fill({**sizes, "effort": 0}, self._arrays)
        TREE.check(self._library, "shoal_tree_size")
        for name in ("build", "least"):
            getattr(self._library, f"shoal_tree_{name}").restype = ctypes.c_int64
        if not self._library.shoal_tree_build(ctypes.byref(self._structure)):
            raise Bug("the memory of the tree has wrong sizes", code="bug")

    def least(self, effort: int, pool: ThreadPoolExecutor) -> Iterator[Whole]:
        """What a record of each tuple costs at least; it yields often, and what is not done is 0.

        Beyond `effort` distances for a tuple, what was not visited counts with its bound.
        """
        self._structure.effort = effort
        tuples, size = self._tuples, max(BATCH, self._tuples // MOST_BATCHES)
        costs, found = np.full(tuples, UNIT, np.int64), np.zeros(tuples, np.int64)

        def batch(first: int) -> tuple[int, int]:
            last = min(first + size, tuples)
            distances, bounds = np.zeros(self._least, np.int64), np.zeros(2 * tuples, np.int64)
            nodes = np.zeros(2 * tuples, np.int32)
            self._library.shoal_tree_least(
                ctypes.byref(self._structure),
                *(Array(each.ctypes.data, len(each)) for each in (distances, bounds, nodes, costs)),
                ctypes.c_int64(first),
                ctypes.c_int64(last),
            )
            return first, last

        for first, last in pool.map(batch, range(0, tuples, size)):
            found[first:last] = costs[first:last]
            yield found

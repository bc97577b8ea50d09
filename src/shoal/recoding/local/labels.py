"""What the cheapest label costs that each record shares with enough others (local_labels.h)."""

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

BATCH = 256
"""Tuples that a thread takes at a time."""

NEAR_WORDS, BRANCHES, MOST_STEPS, DIGITS, BLOCK = 2, 4096, 16, 7, 64
"""Words of a set of near tuples, 64 of which fit in each; open branches; levels of an attribute
that branches tell apart; digits of sums, and words that are summed at once (local_sets.h)."""

LABELS = Layout(
    "Labels",
    ("attributes", "tuples", "words", "levels", "k", "effort"),
    (
        field("cost_from", np.int64, "attributes"),
        field("codes_of", np.int64, "attributes"),
        field("cost", np.int64, "costs"),
        field("lowest", np.int64, "attributes"),
        field("limit", np.int64, "attributes"),
        field("set_of", np.int32, "costs"),
        field("level_of_bit", np.uint8, "attributes", "bits"),
        field("path", np.uint64, "tuples", "attributes"),
        field("codes", np.uint32, "tuples", "attributes"),
        field("weights", np.int64, "tuples"),
        field("sets", np.uint64, "sets", "words"),
    ),
)
"""The fields of `Labels` in local_sets.h, in their order."""

AROUND = Layout(
    "Around",
    ("most", "near_words", "branches", "unit"),
    (
        field("row", np.int64, "attributes", "levels_and_one"),
        field("digits", np.uint64, "blocks", "digits", "block"),
        field("far", np.uint64, "words"),
        field("near", np.int32, "most"),
        field("level", np.uint8, "attributes", "most"),
        field("rest", np.int64, "depths", "most"),
        field("order", np.int32, "attributes"),
        field("steps", np.int64, "attributes"),
        field("step_cost", np.int64, "attributes", "most_steps"),
        field("step_set", np.uint64, "attributes", "most_steps", "near_words"),
        field("open_bound", np.int64, "branches"),
        field("open_cost", np.int64, "branches"),
        field("open_depth", np.int32, "branches"),
        field("open_set", np.uint64, "branches", "near_words"),
        field("top", np.int64, "k"),
    ),
)
"""The fields of `Around` in local_sets.h, in their order."""


def work(prepared: Prepared) -> int:
    """How many words are added up for all tuples: it grows with their square."""
    table = prepared.problem.table
    steps = sum(sum(step.bits > 0 for step in paths.steps) for paths in prepared.paths)
    return table.tuples * _words(table.tuples) * max(steps, 1)


def _words(tuples: int) -> int:
    return -(-tuples // 64)


class Labels:
    """The sets of tuples of all labels of one problem."""

    def __init__(self, prepared: Prepared, costs: Costs, least: int) -> None:
        """`costs` are those of each code, `least` is the fewest records that a class can have."""
        table, lattice = prepared.problem.table, prepared.problem.lattice
        set_of, sets = _sets(prepared, costs)
        levels = max(each.limit for each in table.attributes) + 1
        words = _words(table.tuples)
        self._sizes = {
            "attributes": len(table.attributes),
            "tuples": table.tuples,
            "words": words,
            "levels": levels,
            "k": least,
            "costs": len(costs.cost),
            "bits": 65,
            "sets": len(sets),
            "levels_and_one": levels + 1,
            "depths": len(table.attributes) + 1,
            "most": 64 * NEAR_WORDS,
            "near_words": NEAR_WORDS,
            "branches": BRANCHES,
            "most_steps": MOST_STEPS,
            "blocks": -(-words // BLOCK),
            "digits": DIGITS,
            "block": BLOCK,
        }
        self._arrays = LABELS.allocate(
            self._sizes,
            {
                "cost_from": costs.start,
                "codes_of": costs.codes,
                "cost": costs.cost,
                "lowest": np.array(lattice.bottom),
                "limit": np.array(lattice.top),
                "set_of": set_of,
                "level_of_bit": prepared.level_of_bit,
                "path": prepared.path,
                "codes": prepared.codes,
                "weights": table.weights,
                "sets": sets,
            },
        )
        self._library = load()
        LABELS.check(self._library, "shoal_labels_size")
        AROUND.check(self._library, "shoal_around_size")
        self._library.shoal_labels_least.restype = ctypes.c_int64

    def least(self, known: Whole, branches: int, pool: ThreadPoolExecutor) -> Iterator[Whole]:
        """What a record of each tuple costs at least; `known` is what it costs in some recoding.

        After so many `branches` over levels of a tuple, the least bound of an open one counts. It
        yields often: what is not done is 0.
        """
        costs = np.ascontiguousarray(np.clip(known, 0, UNIT), np.int64)
        structure = LABELS.fill({**self._sizes, "effort": branches}, self._arrays)
        found, tuples = np.zeros_like(costs), len(costs)

        def batch(first: int) -> tuple[int, int]:
            last = min(first + BATCH, tuples)
            arrays = AROUND.allocate(self._sizes, {})
            around = AROUND.fill({**self._sizes, "unit": 1}, arrays)
            if not self._library.shoal_labels_least(
                ctypes.byref(structure),
                ctypes.byref(around),
                Array(costs.ctypes.data, tuples),
                ctypes.c_int64(first),
                ctypes.c_int64(last),
            ):
                raise Bug("the memory of the labels has wrong sizes", code="bug")
            return first, last

        for first, last in pool.map(batch, range(0, tuples, BATCH)):
            found[first:last] = costs[first:last]
            yield found


def _sets(prepared: Prepared, costs: Costs) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """Which set has the tuples with the label of each code at each level, and all sets."""
    table, lattice = prepared.problem.table, prepared.problem.lattice
    words, number = _words(table.tuples), 0
    set_of, sets = np.full(len(costs.cost), -1, np.int32), []
    every = np.arange(table.tuples)
    bits = np.uint64(1) << (every % 64).astype(np.uint64)
    for j, attribute in enumerate(table.attributes):
        for level in range(lattice.bottom[j], lattice.top[j] + 1):
            labels, of = np.unique(attribute.groups[level][table.codes[j]], return_inverse=True)
            if len(labels) == 1:
                continue
            found = np.zeros((len(labels), words), np.uint64)
            np.bitwise_or.at(found, (of.reshape(-1), every // 64), bits)
            start = int(costs.start[j]) + level * int(costs.codes[j])
            set_of[start + table.codes[j]] = number + of.reshape(-1)
            sets.append(found)
            number += len(labels)
    return set_of, np.concatenate(sets) if sets else np.zeros((0, words), np.uint64)

"""The memory of the compiled local recoding: linear in the tuples (local.h says what it means)."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import Bug
from shoal.search.compiled.library import load
from shoal.search.compiled.sensitive import structure_of
from shoal.search.compiled.structures import Array, Arrays, Layout, field

if TYPE_CHECKING:
    from shoal.recoding.local.prepare import Costs, Prepared
    from shoal.search.problem import Problem

WIDTH = 40
"""The longest list of neighbours."""

MOVES = 256
"""The most moves that are undone together: larger groups are not dissolved."""

MOST_TALLIED = 2**26
"""The most numbers that count the values of groups. Beyond, they are counted again and again."""

TOTAL, HEAPED, NUMBERS = 0, 5, 10
"""Indices of `numbers` and how many there are (local.h)."""

LOCAL = Layout(
    "Local",
    (
        "attributes",
        "tuples",
        "width",
        "groups",
        "moves",
        "k",
        "limit",
        "by_persons",
        "most_groups",
        "small",
        "most_small",
    ),
    (
        field("cost_from", np.int64, "attributes"),
        field("codes_of", np.int64, "attributes"),
        field("cost", np.int64, "costs"),
        field("level_of_bit", np.uint8, "attributes", "bits"),
        field("path", np.uint64, "tuples", "attributes"),
        field("codes", np.uint32, "tuples", "attributes"),
        field("weights", np.int64, "tuples"),
        field("persons_from", np.int64, "starts_of_persons"),
        field("person", np.int32, "persons_of_tuples"),
        field("held_from", np.int64, "starts_of_held"),
        field("held_value", np.int32, "held"),
        field("held_pair", np.int32, "held"),
        field("seen_person", np.int64, "persons"),
        field("seen_pair", np.int64, "pairs"),
        field("mark", np.int64, "one"),
        field("near", np.int32, "tuples", "width"),
        field("distance", np.int32, "tuples", "width"),
        field("listed", np.int32, "tuples"),
        field("reach", np.int64, "tuples"),
        field("group_of", np.int32, "tuples"),
        field("next", np.int32, "tuples"),
        field("previous", np.int32, "tuples"),
        field("head", np.int32, "groups"),
        field("size", np.int64, "groups"),
        field("count", np.int64, "groups"),
        field("price", np.int64, "groups"),
        field("level", np.uint8, "groups", "attributes"),
        field("changed", np.int64, "groups"),
        field("looked", np.int64, "tuples"),
        field("vacant", np.int32, "groups"),
        field("tallied", np.int32, "tallied"),
        field("moved", np.int32, "moves"),
        field("moved_from", np.int32, "moves"),
        field("saved", np.int32, "saved"),
        field("saved_changed", np.int64, "saved"),
        field("saved_price", np.int64, "saved"),
        field("saved_level", np.uint8, "saved", "attributes"),
        field("score", np.int64, "tuples"),
        field("heap", np.int32, "tuples"),
        field("order", np.int32, "ordered"),
        field("members", np.int32, "tuples"),
        field("part", np.int32, "tuples"),
        field("numbers", np.int64, "numbers"),
    ),
    ("values",),
)
"""The fields of `Local` in local.h, in their order."""


PATHS_OF_A_TUPLE = 2
"""The paths of a tuple are kept this often: here and where groups are looked for."""


def bytes_of(problem: Problem) -> int:
    """About how much memory the recoding of a problem takes, before any of it is prepared.

    The arrays of persons and values are counted from the table; the others by their sizes.
    """
    table = problem.table
    attributes, tuples, groups = len(table.attributes), table.tuples, table.tuples + 2
    sizes = dict.fromkeys((name for each in LOCAL.arrays for name in each.sizes), 0)
    sizes.update(
        {"attributes": attributes, "tuples": tuples, "groups": groups, "ordered": groups},
        costs=sum(len(each.groups[0]) * (each.limit + 2) for each in table.attributes),
        bits=65,
        one=1,
        numbers=NUMBERS,
        width=WIDTH,
        saved=2 * MOVES,
        moves=MOVES,
    )
    held = sum(each.values.nbytes + each.counts.nbytes for each in table.histograms.values())
    if table.persons is not None:
        held += 4 * table.persons.tuple_of.nbytes
    further_paths = (PATHS_OF_A_TUPLE - 1) * 8 * tuples * attributes
    return LOCAL.bytes(sizes) + further_paths + held


class Memory:
    """The arrays of one run, and the functions of the library that work on them."""

    def __init__(self, prepared: Prepared, costs: Costs) -> None:
        table, held = prepared.problem.table, prepared.held
        most_groups = table.tuples + 2
        tallied = 0
        if prepared.values is not None and table.persons is None:
            tallied = most_groups * int(prepared.values.last.max(initial=0))
        sizes = {
            "attributes": len(table.attributes),
            "tuples": table.tuples,
            "width": WIDTH,
            "groups": most_groups,
            "moves": MOVES,
            "saved": 2 * MOVES,
            "costs": len(costs.cost),
            "bits": 65,
            "starts_of_persons": len(held.persons_from),
            "persons_of_tuples": len(held.person),
            "starts_of_held": len(held.held_from),
            "held": len(held.held_value),
            "persons": int(held.person.max(initial=-1)) + 1,
            "pairs": int(held.held_pair.max(initial=-1)) + 1,
            "one": 1,
            "ordered": most_groups,
            "tallied": tallied if tallied <= MOST_TALLIED else 0,
            "numbers": NUMBERS,
        }
        given: dict[str, Any] = {
            "cost_from": costs.start,
            "codes_of": costs.codes,
            "cost": costs.cost,
            "level_of_bit": prepared.level_of_bit,
            "path": prepared.path,
            "codes": prepared.codes,
            "weights": table.weights,
            **{name: getattr(held, name) for name in held.__dataclass_fields__},
        }
        self.arrays: Arrays = LOCAL.allocate(sizes, given)
        self._library = load()
        numbers = {
            **sizes,
            "k": prepared.k,
            "limit": prepared.problem.limit,
            "by_persons": table.persons is not None,
            "most_groups": prepared.together.most_groups,
            "small": prepared.together.small,
            "most_small": prepared.together.most_small,
        }
        self._structure = LOCAL.fill(numbers, self.arrays)
        self._values = None
        if prepared.values is not None:
            self._values = structure_of(prepared.values, 1, table.tuples, 1, len(table.attributes))
            self._structure.values = ctypes.addressof(self._values[0])
        LOCAL.check(self._library, "shoal_local_size")
        if not self.call("fits"):
            raise Bug("the memory of local recoding has wrong sizes", code="bug")
        self.arrays["group_of"][:] = -1

    @property
    def only_sizes(self) -> bool:
        """Whether groups are judged by their records alone: then threads can share the work."""
        return self._values is None and not self._structure.by_persons

    def demand_size(self, k: int) -> None:
        """From now on a group needs `k` records, or persons."""
        self._structure.k = k

    def call(self, name: str, *arguments: Any) -> int:
        """Call a function of the library on this memory."""
        function = getattr(self._library, f"shoal_local_{name}")
        function.restype = ctypes.c_int64
        converted = [
            each if isinstance(each, Array) else ctypes.c_int64(int(each)) for each in arguments
        ]
        return int(function(ctypes.byref(self._structure), *converted) or 0)

    @property
    def heaped(self) -> int:
        """The balls that wait in the heap."""
        return int(self.arrays["numbers"][HEAPED])

    @property
    def total(self) -> int:
        """What all groups cost."""
        return int(self.arrays["numbers"][TOTAL])

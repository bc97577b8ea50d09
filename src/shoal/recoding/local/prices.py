"""Prices of records that are a lower bound for every local recoding: the dual (local_prices.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import Bug
from shoal.recoding.local.prepare import UNIT
from shoal.search.compiled.library import load
from shoal.search.compiled.structures import Layout, field

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.recoding.local.prepare import Costs, Prepared

    Whole = NDArray[np.int64]

MOMENT = 0.05
"""Seconds between two looks at the clock."""

VISITED, LABELS, CAPPED, GIVEN_UP = range(4)
"""Indices of `done` (local_prices.h)."""

PRICES = Layout(
    "Prices",
    ("attributes", "tuples", "levels", "most_ranks", "k", "effort"),
    (
        field("cost_from", np.int64, "attributes"),
        field("codes_of", np.int64, "attributes"),
        field("cost", np.int64, "costs"),
        field("lowest", np.int64, "attributes"),
        field("limit", np.int64, "attributes"),
        field("ranks", np.int64, "attributes"),
        field("shift", np.int64, "attributes", "levels"),
        field("path", np.uint64, "attributes", "tuples"),
        field("codes", np.uint32, "attributes", "tuples"),
        field("rank", np.uint32, "attributes", "tuples"),
        field("weights", np.int64, "tuples"),
        field("price", np.int64, "tuples"),
        field("list", np.int32, "depths", "tuples"),
        field("paid", np.int64, "depths", "tuples"),
        field("run", np.int32, "depths", "tuples"),
        field("counted", np.int64, "ranks_and_one"),
        field("spare_list", np.int32, "tuples"),
        field("spare_paid", np.int64, "tuples"),
        field("top", np.int64, "k"),
        field("done", np.int64, "four"),
    ),
)
"""The fields of `Prices` in local_prices.h, in their order."""


class Prices:
    """Prices of the tuples of one problem, and the memory to lower them to a bound."""

    def __init__(self, prepared: Prepared, costs: Costs, least: int) -> None:
        """`costs` are those of each code, `least` is the fewest records that a class can have."""
        table = prepared.problem.table
        attributes = len(table.attributes)
        order = _order(prepared, costs)
        shift = prepared.shift[order]
        path = prepared.path.T[order]
        rank, ranks = np.zeros(path.shape, np.uint32), np.zeros(attributes, np.int64)
        for at in range(attributes):
            known, numbers = np.unique(path[at], return_inverse=True)
            rank[at], ranks[at] = numbers.reshape(-1), len(known)
        sizes = {
            "attributes": attributes,
            "tuples": table.tuples,
            "levels": shift.shape[1],
            "most_ranks": int(ranks.max()),
            "ranks_and_one": int(ranks.max()) + 1,
            "k": least,
            "costs": len(costs.cost),
            "depths": attributes + 1,
            "four": 4,
        }
        self.arrays = PRICES.allocate(
            sizes,
            {
                "cost_from": costs.start[order],
                "codes_of": costs.codes[order],
                "cost": costs.cost,
                "lowest": np.array(prepared.problem.lattice.bottom)[order],
                "limit": np.array(prepared.problem.lattice.top)[order],
                "ranks": ranks,
                "shift": shift,
                "path": path,
                "codes": np.stack(table.codes)[order],
                "rank": rank,
                "weights": table.weights,
            },
        )
        self._library = load()
        self._structure = PRICES.fill({**sizes, "effort": 0}, self.arrays)
        PRICES.check(self._library, "shoal_prices_size")

    def cap(self, prices: Whole, effort: int, pool: ThreadPoolExecutor) -> Generator[None]:
        """Find the highest prices that are a bound and nowhere above these; then see `capped`.

        It yields every moment. A caller that goes no further ends the work soon.
        """
        self.arrays["price"][:] = np.clip(prices, 0, UNIT)
        self._structure.effort = effort
        function = self._library.shoal_prices_cap
        function.restype = ctypes.c_int64
        work = pool.submit(function, ctypes.byref(self._structure))
        try:
            while not wait([work], timeout=MOMENT).done:
                yield
        finally:
            if not work.done():
                self._structure.effort = 0
                wait([work])
        if not work.result():
            raise Bug("the memory of the prices has wrong sizes", code="bug")

    @property
    def capped(self) -> Whole:
        """The prices that were found."""
        return self.arrays["price"].copy()

    @property
    def done(self) -> Whole:
        """What the last capping did, by the indices above."""
        return self.arrays["done"]


def _order(prepared: Prepared, costs: Costs) -> list[int]:
    """The attributes, those first whose first generalisation costs most: lists end early."""
    table, bottom = prepared.problem.table, prepared.problem.lattice.bottom
    rise = []
    for j, attribute in enumerate(table.attributes):
        level = min(bottom[j] + 1, attribute.limit)
        row = costs.start[j] + level * costs.codes[j]
        rise.append(float(table.records_of[j] @ costs.cost[row : row + costs.codes[j]]))
    return sorted(range(len(rise)), key=lambda j: (-rise[j], j))
